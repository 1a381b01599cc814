"""What a press on "Run" will train, how long it takes, and what the page says of it meanwhile."""

from dataclasses import replace

import pytest

from objpert_core.experiments.compare import METHODS, NON_PRIVATE, TIGHT, Settings
from objpert_core.experiments.learners import HONEST
from pages.training import controls as training_controls
from pages.training import jobs
from pages.training import words as text
from pages.training.jobs import Request, together
from ui.words import GRIDS

MORE_WORK = [{}, {"repeats": 4}, {"repeats": 4, "epochs": 60}, {"repeats": 4, "epochs": 60, "mean_runs": 30.0}]


def test_differences_name_what_moved_and_only_that():
    shown = Request("adult", 0, Settings(epsilon=1.0))
    assert text.differences(shown, Request("adult", 0, Settings(epsilon=1.0))) is None
    words = text.differences(shown, Request("adult", 3, Settings(epsilon=2.0)))
    assert words.startswith("These results are for split seed = 0 (now 3), ε = 1 (now 2). Press Run")
    words = text.differences(shown, Request("adult", 0, Settings(methods=(NON_PRIVATE, HONEST))))
    assert (
        "methods = no privacy, Algorithm 1 with the 2023 theorem, Algorithm 1 with our theorem "
        "(now no privacy, DP-SGD paid)" in words
    )


def test_request_works_in_a_plain_loop_without_threads():
    *_, last = Request("breast-cancer", 1, Settings(repeats=2)).work(lambda: False)
    assert last.complete
    assert last.data.split_seed == 1


def test_what_no_method_depends_on_does_not_decide_a_request():
    base = Request("adult", 0, Settings(methods=(NON_PRIVATE, TIGHT, HONEST)))
    many = replace(base, settings=replace(base.settings, repeats=50))
    for change, moved in (
        ({"epsilon": 2.0}, (TIGHT, HONEST)),
        ({"bound": "glm"}, (TIGHT,)),
        ({"solver": "lbfgs"}, (TIGHT,)),
        ({"mean_runs": 3.0, "batch_size": 64}, (HONEST,)),
    ):
        other = replace(base, settings=replace(base.settings, **change))
        assert [m for m in base.settings.methods if base.of(m) != other.of(m)] == list(moved)
    assert [part.settings.methods for part in base.at_once] == [(NON_PRIVATE,), (TIGHT,)]
    assert base.later == base.of(HONEST)
    assert replace(base, name="gisette-like").at_once == ()
    assert many.later == many.of(TIGHT, HONEST)


def test_parts_together_are_the_comparison():
    request = Request("breast-cancer", 1, Settings(repeats=3))
    parts = [part.result() for part in request.at_once]
    whole = request.result()
    joined = together(request.settings, parts)
    made, expected = ([(fit.method, fit.seed, fit.accuracy) for fit in one.fits] for one in (joined, whole))
    assert made == expected
    assert joined.complete


def test_a_longer_run_is_said_to_take_longer_before_it_is_started(monkeypatch):
    monkeypatch.setattr(jobs, "_unit", lambda: 2e-4)
    asked = Settings(methods=(HONEST,), repeats=2, batch_size=32)
    took = [jobs.seconds(Request("breast-cancer", 0, replace(asked, **more))) for more in MORE_WORK]
    assert sorted(took) == took
    assert took[1] == pytest.approx(2 * took[0])
    monkeypatch.setattr(jobs, "seconds", lambda request: float(request.split_seed))
    said = {rough: text.estimate(Request("breast-cancer", rough, asked)) for rough in (1, 7, 36, 165)}
    assert said[1] == "Two models: a moment, longer while other people train."
    assert [said[rough].split(": ")[1].split(",")[0] for rough in (7, 36, 165)] == [
        "about 7 seconds",
        "about 40 seconds",
        "about 3 minutes",
    ]


def test_a_run_under_way_is_named_by_its_setting():
    before, now = (Request("adult", 0, Settings(epsilon=epsilon)) for epsilon in (1.0, 2.0))
    words = text.differences(before, now, under_way=True)
    assert words.startswith("The run under way is for ε = 1 (now 2). Press Run")


def test_the_page_opens_with_the_comparisons_own_defaults():
    assert training_controls.LEARNED.default == METHODS
    asked = Settings()
    assert training_controls.BATCH.default == asked.batch_size
    assert training_controls.EPOCHS.default == asked.epochs
    assert training_controls.SOLVER.default == asked.solver
    assert training_controls.MEAN_RUNS.default == asked.mean_runs
    assert GRIDS[training_controls.RATES.default] == asked.learning_rates
