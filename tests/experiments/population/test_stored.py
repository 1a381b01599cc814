"""Stored excess risks: what the specification says they are, and what is claimed of them."""

import io
import math

import pytest

from objpert_core.experiments.__main__ import main
from objpert_core.experiments.population import promises, stored
from objpert_core.experiments.population.sweep import Piece, Sweep, run
from objpert_core.experiments.results import Run
from objpert_core.experiments.store import Store, session

LOGISTIC = stored.EXPERIMENTS["logistic"]
# × 10⁻⁴, mean and standard error at n = 10³ and 10⁴, and the slope: population_risk.md, logistic, d = 10, M = 4
REFERENCE = {
    ("sgd", 0.5): ((839, 30), (177, 6), -0.79),
    ("gd", 0.5): ((584, 24), (66, 3), -1.01),
    ("objective", 0.5): ((868, 27), (294, 5), -0.57),
    ("objective-least", 0.5): ((477, 31), (15.1, 1.7), -1.46),
    ("objective-bound", 0.5): ((584, 29), (126, 3), -0.71),
    ("phased", 0.5): ((1038, 27), (256, 11), -0.87),
    ("no-privacy", 0.5): ((49, 3), (4.4, 0.4), -1.01),
    ("sgd", 2.0): ((615, 11), (173, 2), -0.73),
    ("gd", 2.0): ((334, 10), (53, 1.3), -0.90),
    ("objective", 2.0): ((667, 9), (265, 3), -0.51),
    ("objective-least", 2.0): ((105, 7), (5.0, 0.4), -1.16),
    ("objective-bound", 2.0): ((401, 7), (120, 2), -0.64),
    ("phased", 2.0): ((553, 19), (113, 4), -0.90),
}
ABSOLUTE = {  # ε = .5, d = 10
    "sgd": (0.0840, 0.00565),
    "gd": (0.0365, 0.00243),
    "objective-tight": (0.0697, 0.00219),
    "phased": (0.119, 0.00782),
    "objective": (0.0800, 0.00879),
}
HARD = {"objective-tight": 0.0126, "gd": 0.0168, "objective": 0.0191, "phased": 0.0205}  # n = 10⁴, d = 500, ε = .5


def assert_agrees(point, mean, error):
    allowed = 4 * math.hypot(point.error, error) + 0.03 * mean
    assert point.excess.mean == pytest.approx(mean, abs=allowed)


@pytest.mark.thorough
@pytest.mark.parametrize(("method", "epsilon"), REFERENCE)
def test_the_reference_values_of_logistic_regression_are_met(method, epsilon):
    found = stored.load("logistic")
    thousand, ten_thousand, slope = REFERENCE[method, epsilon]
    for n, (mean, error) in ((1000, thousand), (10_000, ten_thousand)):
        assert_agrees(found.point(n, 10, epsilon, method), 1e-4 * mean, 1e-4 * error)
    assert found.slope(10, epsilon, method) == pytest.approx(slope, abs=0.12)


@pytest.mark.parametrize("method", ABSOLUTE)
def test_the_reference_values_of_the_absolute_loss_are_met(method):
    found = stored.load("absolute")
    for n, mean in zip((1000, 10_000), ABSOLUTE[method], strict=True):
        point = found.point(n, 10, 0.5, method)
        assert_agrees(point, mean, point.error)  # the reference has no standard error


@pytest.mark.parametrize("method", HARD)
def test_the_reference_values_of_the_hard_instance_are_met(method):
    assert_agrees(stored.load("hard").point(10_000, 500, 0.5, method), HARD[method], 1e-4)


@pytest.mark.thorough
def test_published_methods_are_far_behind_where_rows_are_many():
    """n = 10⁴, ε = 2, d = 10: 30 times the excess risk of the tight method for SGD, 50 for objective perturbation."""
    found = stored.load("logistic")
    tight = found.point(10_000, 10, 2.0, "objective-tight").excess.mean
    assert found.point(10_000, 10, 2.0, "sgd").excess.mean > 30 * tight
    assert found.point(10_000, 10, 2.0, "objective").excess.mean > 50 * tight


@pytest.mark.parametrize("population", [pytest.param("logistic", marks=pytest.mark.exhaustive), "absolute", "hard"])
def test_the_tight_method_is_nowhere_behind_a_published_one(population):
    assert stored.load(population).behind() == []


@pytest.mark.parametrize("population", ["logistic", "absolute", "hard"])
def test_no_mean_is_above_its_bound_and_files_are_whole(population):
    found = stored.load(population)
    assert found.rows[0] == 100
    assert found.rows[-1] == 100_000
    assert found.epsilons == (0.5, 2.0)
    assert found.results.sessions[0]["command"].startswith("python -m objpert_core.experiments population")
    sizes = {point.excess.count for point in found.points.values()}
    assert min(sizes) >= 10
    for n, d, epsilon, method in found.points:
        point = found.point(n, d, epsilon, method)
        assert point.excess.mean > -1e-9
        assert point.seconds >= 0


# Sweeps


def tiny(**changes):
    small = {"rows": (100,), "dimensions": (2,), "epsilons": (2.0,), "trials": 2, "methods": ("gd", "phased")}
    return Sweep(**small | changes)


@pytest.mark.slow
def test_a_sweep_goes_on_where_it_stopped(tmp_path):
    for trials, stored_then in ((1, 2), (2, 4), (2, 4)):
        with LOGISTIC.store(session("test"), tmp_path) as store:
            assert run(tiny(trials=trials), store, stream=io.StringIO()) == ()
        assert len(LOGISTIC.results(tmp_path).runs) == stored_then
    found = stored.load("logistic", tmp_path)
    assert found.methods == ("gd", "phased")
    point = found.point(100, 2, 2.0, "gd")
    again = [Piece(tiny().pieces()[0].setting, ("gd",), trial)()[0] for trial in range(2)]
    assert point.excess.mean == pytest.approx(sum(fit.excess for fit in again) / 2, rel=1e-12)
    assert "Noisy gradient descent" in stored.report(found)


@pytest.mark.thorough
def test_a_row_is_there_once_and_another_kind_of_rows_does_not_mix_in(tmp_path):
    one = tiny(methods=("gd",)).pieces()[0]()[0]
    with LOGISTIC.store(session("test"), tmp_path) as store:
        store.append(one)
        with pytest.raises(ValueError, match="there is a row for"):
            store.append(one)
    with pytest.raises(ValueError, match="the columns must be"):
        Store(LOGISTIC.path(tmp_path), Run, session("test"), dataset="logistic")


def test_a_failing_trial_is_told_and_not_stored(tmp_path, monkeypatch):
    stale = Piece(tiny().pieces()[0].setting, ("gd",), 0, version="0")
    monkeypatch.setattr(Sweep, "pieces", lambda self, done: [stale])
    told = io.StringIO()
    with LOGISTIC.store(session("test"), tmp_path) as store:
        (failed,) = run(tiny(), store, stream=told)
        assert store.done == set()
    assert "the sweep was started with 0" in failed.error
    assert "trial 0 n = 100, d = 2, ε = 2 FAILED" in told.getvalue()


def test_the_command_runs_and_reports(tmp_path, capsys):
    given = ["population", "--populations", "logistic", "--rows", "100", "--dimensions", "2", "--epsilons", "2"]
    given += ["--trials", "1", "--methods", "phased", "--out", str(tmp_path)]
    assert main(given) == 0
    assert "Phased ERM" in capsys.readouterr().out
    assert main([*given, "--report"]) == 0
    assert main(["population", "--populations", "hard", "--report", "--out", str(tmp_path)]) == 2
    assert "There are no stored results for 'hard'" in capsys.readouterr().err
    assert main([*given[:-4], "--methods", "adam", "--out", str(tmp_path)]) == 2


@pytest.mark.slow
def test_what_is_published_promises_as_much_as_the_accountant_says(tmp_path, capsys):
    given = ["promises", "--rows", "100", "--dimensions", "3", "--epsilons", "2", "--out", str(tmp_path)]
    assert main(given) == 0
    assert "written: " in capsys.readouterr().out
    found = promises.load(tmp_path)
    assert found.notes["command"] == f"python -m objpert_core.experiments {' '.join(given)}"
    assert found.runs == tuple(promises.accounted(method, 100, 3, 2.0) for method in ("sgd", "objective"))
    assert found.values(method="sgd", n=100, d=3, target=2.0) == [found.runs[0].epsilon]
    assert found.values(method="sgd", n=100, d=4, target=2.0) == []
