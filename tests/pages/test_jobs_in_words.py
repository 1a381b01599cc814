"""Where a job of a page is, and how it ended: each page says it of its own results, all in the same way."""

from functools import partial

import pytest

from objpert_core.datasets import load
from objpert_core.experiments.compare import Settings, compare
from objpert_core.experiments.studies.noise_ratios import Plan, sample
from objpert_core.experiments.studies.tuning_runs import Settings as TuningSettings
from objpert_core.experiments.studies.tuning_runs import tuning_runs
from pages.accuracy import again, rows
from pages.planner import sampling
from pages.training import words
from pages.tuning import trained
from tests.pages.accuracy.test_rows import curve
from tests.pages.apps import job_view
from ui.live import Meter
from ui.request import Meter as Steps

QUICK = TuningSettings(epochs=1, draws=1, mean_runs=2.0, learning_rates=(0.1,))
PARTS = {
    "planner": (sampling.progress, sampling.outcome, lambda: list(sample(Plan(rows=300, features=3, draws=2)))[-1]),
    "training": (words.progress, words.outcome, lambda: list(compare(load("breast-cancer"), Settings(repeats=2)))[2]),
    "tuning": (
        partial(trained.progress, meter=Meter()),
        trained.outcome,
        lambda: list(tuning_runs(load("breast-cancer"), QUICK))[-1],
    ),
    "rows": (rows.progress, None, partial(curve, draws=1)),
    "again": (partial(again.progress, meter=Steps(), expected=10.0), None, lambda: None),
}


@pytest.mark.thorough
@pytest.mark.parametrize("page", PARTS)
def test_a_job_says_where_it_is_and_how_it_ended(page):
    progress, outcome, made = PARTS[page]
    latest = made()
    assert progress(job_view("waiting", ahead=2)) == (0.0, "Waiting for a free slot (2 ahead of you).")
    share, told = progress(job_view("running", seconds=0.0))
    assert (share, bool(told)) == (0.0, True)
    assert progress(job_view("running", latest, stopping=True))[1] == "Stopping …"
    assert latest is None or 0 < progress(job_view("running", latest, seconds=500.0))[0] <= 1
    if outcome is not None:
        assert outcome(job_view("finished", latest)) is None
        assert outcome(job_view("failed", message="it broke")).startswith("It broke.")
        assert outcome(job_view("stopped", latest)).startswith("Stopped after")
        assert outcome(job_view("stopped")).startswith("Stopped ")


def test_a_point_is_never_said_to_be_done_before_it_is():
    meter = Steps()
    meter.tell(7)
    assert again.progress(job_view("running", seconds=500.0), meter, 10.0)[0] < 1
