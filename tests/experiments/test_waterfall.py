"""The waterfall: paired differences that add up, from stored runs and from live draws."""

from dataclasses import replace

import numpy as np
import pytest

from objpert_core.datasets import load
from objpert_core.experiments import waterfall
from objpert_core.experiments.compare import Settings, compare
from objpert_core.experiments.indexed import indexed
from objpert_core.experiments.learners import PUBLISHED, TIGHT, TIGHT_CENTRED, TIGHT_RAW
from objpert_core.experiments.results import Results, Run
from objpert_core.experiments.summary import mean_interval

MEANS = dict(zip(waterfall.CHAIN, (0.80, 0.81, 0.83, 0.82, 0.90), strict=True))


def stored(trials=5, without=(), centre=9.0, scale=9.0):
    rng = np.random.default_rng(3)
    noise = {TIGHT_CENTRED: {"center_noise": centre}, TIGHT: {"center_noise": centre, "scale_noise": scale}}
    runs = [
        Run("adult", m, 1.0, 1e-5, trial, trial, 7, float(mean + rng.normal(0, 0.01)), 0.1, **noise.get(m, {}))
        for m, mean in MEANS.items()
        for trial in range(trials)
    ]
    return indexed("adult", Results("adult", "0.1.0", {}, (), tuple(run for run in runs if run.method not in without)))


def test_gains_are_paired_and_add_up():
    found = waterfall.of_stored(stored(), 1.0)
    assert [step.name for step in found.steps] == ["2023 theorem", "our theorem", "margin", "centring", "scaling"]
    assert (found.label, found.epsilon, found.delta) == ("adult", 1.0, 1e-5)
    shares = {method: [run.accuracy for run in stored().runs(method, 1.0)] for method in MEANS}
    for before, step in zip(found.steps, found.steps[1:], strict=False):
        pairs = [own - its for own, its in zip(shares[step.method], shares[before.method], strict=True)]
        assert step.gain == mean_interval(pairs)
        assert step.accuracy == mean_interval(shares[step.method])
    assert found.steps[0].gain is None
    assert sum(step.gain.mean for step in found.steps[1:]) == pytest.approx(found.total.mean, abs=1e-15)
    assert found.largest.name == "scaling"


def test_only_trials_that_all_steps_have_count():
    full = stored()
    fewer = tuple(run for run in full.results.runs if (run.method, run.trial) != (TIGHT_RAW, 2))
    found = waterfall.of_stored(indexed("adult", replace(full.results, runs=fewer)), 1.0)
    assert {step.accuracy.count for step in found.steps} == {found.total.count} == {4}


def test_a_step_that_was_not_run_leaves_nothing_to_say_unless_it_is_the_centre():
    assert waterfall.of_stored(stored(without=(TIGHT_RAW,)), 1.0) is None
    assert waterfall.of_stored(stored(without=(PUBLISHED,)), 1.0) is None
    assert waterfall.of_stored(stored(), 2.0) is None
    found = waterfall.of_stored(stored(without=(TIGHT_CENTRED,)), 1.0)
    assert [step.name for step in found.steps][-2:] == ["margin", waterfall.BOTH]
    assert found.total == waterfall.of_stored(stored(), 1.0).total


def test_a_skipped_step_changes_nothing_though_its_runs_have_other_noise():
    full = waterfall.of_stored(stored(), 1.0)
    found = waterfall.of_stored(stored(scale=None), 1.0)
    assert [step.skipped for step in found.steps] == [False] * 4 + [True]
    *_, centring, scaling = found.steps
    assert (scaling.gain.low, scaling.gain.mean, scaling.gain.high) == (0.0, 0.0, 0.0)
    assert centring.accuracy == scaling.accuracy == full.steps[-1].accuracy
    assert centring.gain.mean == pytest.approx(full.steps[-1].gain.mean + full.steps[-2].gain.mean)
    neither = waterfall.of_stored(stored(centre=None, scale=None), 1.0)
    assert [step.skipped for step in neither.steps] == [False] * 3 + [True] * 2
    assert neither.steps[2].accuracy == neither.steps[-1].accuracy
    assert full.total == found.total == neither.total
    both = waterfall.of_stored(stored(without=(TIGHT_CENTRED,), scale=None), 1.0)  # the centre was not skipped
    assert not both.steps[-1].skipped
    assert waterfall.of_stored(stored(without=(TIGHT_CENTRED,), centre=None, scale=None), 1.0).steps[-1].skipped


def test_live_draws_give_one_too():
    settings = Settings(epsilon=1.0, repeats=2, seed=4, methods=tuple(waterfall.CHAIN))
    *_, last = compare(load("breast-cancer", split_seed=1), settings)
    found = waterfall.of_comparison(last)
    assert [step.method for step in found.steps] == list(waterfall.CHAIN)
    assert found.steps[-1].accuracy == last.accuracy(TIGHT)
    assert found.total == last.difference(TIGHT, PUBLISHED)
    assert waterfall.of_comparison(replace(last, fits=last.fits[:1])) is None
