"""Every study that is watched while it runs: its results grow from nothing, and it stops as soon as it is told to."""

import itertools

import pytest

from objpert_core.datasets import load
from objpert_core.experiments import compare
from objpert_core.experiments.studies import noise_ratios, subsampling, tuning_runs

CURVE = subsampling.Plan("synthetic-l", sizes=(100, 200), draws=3)
TUNING = tuning_runs.Settings(learning_rates=(0.05, 0.3), mean_runs=2.0, epochs=2, judges=40, draws=2, seed=5)
STUDIES = {  # how a study begins, given when to stop, and the fits that one of its results has
    "compare": (
        lambda stop: compare.compare(load("breast-cancer", split_seed=3), compare.Settings(repeats=3), stop),
        lambda state: state.fits,
    ),
    "noise ratios": (
        lambda stop: noise_ratios.sample(noise_ratios.Plan(rows=600, features=4, draws=3, seed=5), stop),
        lambda state: range(state.fits),
    ),
    "learning curve": (lambda stop: subsampling.learning_curve(CURVE, stop), lambda state: state.fits),
    "tuning runs": (
        lambda stop: tuning_runs.tuning_runs(load("breast-cancer"), TUNING, stop),
        lambda state: state.draws,
    ),
}
SIZES = {"compare": [0, 1, 4, 7], "learning curve": [*range(7)], "tuning runs": [0, 1, 2]}
"""How many fits there are in each result; of "noise ratios" always one more."""


@pytest.mark.thorough
@pytest.mark.parametrize("name", STUDIES)
def test_results_grow_from_nothing_and_it_stops_at_the_first_yes(name):
    begin, fits_of = STUDIES[name]
    asked = []
    whole = [fits_of(state) for state in begin(lambda: asked.append(1))]
    assert [len(fits) for fits in whole] == SIZES.get(name, [*range(len(whole))])
    assert all(after[: len(before)] == before for before, after in itertools.pairwise(whole))

    most, again = 3 * len(asked) // 4, []

    def stop():
        again.append(1)
        return len(again) >= most

    *_, last = stopped = list(begin(stop))
    assert len(again) == most  # before fits and in every iteration, and never after the first yes
    assert 0 < len(fits_of(last)) < len(whole[-1])  # a fit that is under way is dropped
    assert [len(fits_of(state)) for state in stopped] == [len(fits) for fits in whole[: len(stopped)]]
    assert not getattr(last, "complete", False)
    assert all(len(fits_of(state)) == 0 for state in begin(lambda: True))
