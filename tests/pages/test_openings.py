"""How the pages of curves open: at the paper's values, with the core's numbers, without a ghost.

Whatever else they show once a control was moved is slow, and stands in each page's own folder.
"""

from functools import partial

import numpy as np
import pytest

from objpert_core.datasets import load
from objpert_core.experiments.compare import Settings, compare
from objpert_core.experiments.studies.noise_ratios import Plan, sample
from objpert_core.experiments.studies.tuning_runs import Settings as TuningSettings
from objpert_core.experiments.studies.tuning_runs import tuning_runs
from objpert_core.learning import HuberLoss, SquaredLoss
from pages.accuracy import again, rows
from pages.planner import sampling
from pages.training import words
from pages.tuning import trained
from pages.tuning.price import Price
from tests.pages.accuracy.test_rows import curve
from tests.pages.apps import curves, job_view, open_app, said, tables
from tests.pages.bounds import test_page as bounds
from tests.pages.composition import test_page as composition
from tests.pages.distance import test_page as distance
from tests.pages.planner import test_page as planner
from tests.pages.renyi import test_page as renyi
from ui.live import Meter
from ui.request import Meter as Steps

AT = {
    "bounds": bounds.AT_FIRST,
    "distance": dict(zip(distance.KEYS, distance.PANELS["Figure 4b"], strict=True)),
    "renyi": renyi.AT_FIRST,
    "composition": composition.FIGURE_3,
    "planner": planner.PAPER,
    "solvers": {"solvers_n": 500, "solvers_lambda": 1.0, "solvers_sigma": 4.0, "solvers_tau": 1e-6},
}


def opened(page, **query):
    """The page with its controls where they belong, and no ghost."""
    app = open_app(f"pages/{page}/page.py", **query)
    assert {key: app.session_state[key] for key in AT.get(page, {})} == AT.get(page, {})
    assert curves(app)[1] == []
    return app


LAWS = {
    "bounds": {name: mechanism.delta for name, mechanism in bounds.mechanisms(5.0, 20.0, 1.0, 1.0).items()},
    "distance": {name: mechanism.rdp for name, mechanism in distance.mechanisms(10.0, 2.0, 1.0, 1.0).items()},
    "renyi": {name: mechanism.rdp for name, mechanism in renyi.mechanisms(renyi.AT_FIRST).items()},
}
LEVELS = {"bounds": [], "distance": pytest.mark.thorough, "renyi": pytest.mark.slow}


@pytest.mark.parametrize("page", [pytest.param(page, marks=LEVELS[page]) for page in LAWS])
def test_its_curves_are_the_cores(page):
    shown, _ = curves(opened(page))
    if page != "renyi":  # it has guides in its legend, too
        assert list(shown) == list(LAWS[page])
    for name, law in LAWS[page].items():
        x, y = shown[name]
        assert 200 <= len(x) <= 400
        np.testing.assert_array_equal(y, law(x))


@pytest.mark.thorough
@pytest.mark.parametrize("page", [page for page in AT if page not in LAWS])
def test_it_opens_at_the_papers_values_without_a_ghost(page):
    assert curves(opened(page))[0]


def test_losses_shows_hubers_loss_as_clipped_squares():
    app = opened("losses")
    shown, _ = curves(app)
    assert list(shown) == ["f clipped at C", "f", "kinks"]
    x, y = shown["f"]
    assert 200 <= len(x) <= 400
    np.testing.assert_array_equal(y, SquaredLoss().value(x, 0.0))
    x, y = shown["f clipped at C"]
    np.testing.assert_allclose(y, HuberLoss(1.0).value(x, 0.0), atol=1e-15)
    assert shown["kinks"][0].tolist() == [-1.0, 1.0]
    slopes, _ = curves(app, 1)
    np.testing.assert_array_equal(slopes["f′ clipped at C"][1], np.clip(slopes["f′ clipped at C"][0], -1, 1))
    assert "the squared loss is Huber’s: a straight line beyond a residual of ±1." in said(app)


def test_tunings_table_holds_the_marked_numbers_rounded_up():
    app = opened("tuning", tuning_settings="20")
    rows = tables(app)[0]
    for row, value in zip(rows.itertuples(index=False), Price(settings=20).ways().values(), strict=True):
        assert value <= float(row[2]) <= value * 1.01
    assert rows["Runs"].tolist()[:2] == ["20", "20"]
    assert rows["Runs"].tolist()[2].endswith("on average")


def test_the_panels_of_distance_show_what_the_paper_says_about_them():
    """Appendix I: the gap to the half-normal vanishes as λ grows; with σ the curves meet at larger α."""
    alpha = np.geomspace(1, 1e4, 400)
    found = {
        panel: {k: m.rdp(alpha) for k, m in distance.mechanisms(*values).items()}
        for panel, values in zip(("4a", "4b", "4c", "4d"), distance.PANELS.values(), strict=True)
    }
    gap = {k: (v["2023 theorem"] - v["Half-normal (λ → ∞)"])[0] for k, v in found.items()}
    assert max(gap["4a"], gap["4c"]) < 0.02 < 0.6 < min(gap["4b"], gap["4d"])
    meet = {k: alpha[np.argmax(v["2023 theorem"] < 1.1 * v["Gaussian lower bound"])] for k, v in found.items()}
    assert meet["4a"] > 3 * meet["4c"]
    assert meet["4b"] > 3 * meet["4d"]


# Where a job of a page is, and how it ended: each page says it of its own results, all in the same way


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
