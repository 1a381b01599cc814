import dataclasses
import itertools

import numpy as np
import pytest
from sklearn.model_selection import ParameterGrid

from objpert_core import datasets
from objpert_core.accounting import PrivateSelection, compose
from objpert_core.datasets import load
from objpert_core.estimators import DPSGDLogisticRegression, ObjPertLogisticRegression, PrivateSearch, dp_sgd
from objpert_core.experiments.studies.searches import GRID, searched
from objpert_core.experiments.studies.tuning_runs import FIXED_RATE, JURIES, WAYS, Settings, tuning_runs

QUICK = Settings(
    epsilon=2.0, learning_rates=(1e-4, 0.05, 0.3), mean_runs=4.0, batch_size=64, epochs=3, judges=40, draws=2, seed=5
)


@pytest.fixture(scope="module")
def data():
    return load("breast-cancer")


@pytest.fixture(scope="module")
def last(data):
    *_, last = tuning_runs(data, QUICK)
    return last


@pytest.mark.slow
def test_paid_tuning_is_the_estimators_run_by_run(data, last):
    for draw in last.draws:
        model = DPSGDLogisticRegression(
            2.0, learning_rates=QUICK.learning_rates, mean_runs=4.0, batch_size=64, epochs=3, random_state=draw.seed,
            public_rows=len(data.y_train),
        ).fit(data.X_train, data.y_train)  # fmt: skip
        assert [tried["learning_rate"] for tried in model.candidates_] == draw.runs.tolist()
        np.testing.assert_allclose([tried["score"] for tried in model.candidates_], draw.scores, rtol=1e-12)
        assert model.learning_rate_ == (None if draw.released is None else draw.runs[draw.released])
        assert model.privacy_.noise_multiplier == last.paid.noise_multiplier
        assert model.privacy_.score_noise == last.paid.score_noise
        assert dataclasses.replace(model.privacy_, coefficients_sha256=None) == last.paid_certificate
        fresh = np.random.default_rng([draw.seed, 0]).permutation(len(data.y_test))[40:]
        assert draw.honest == pytest.approx(model.score(data.X_test[fresh], data.y_test[fresh]))


@pytest.mark.slow
def test_unpaid_tuning_is_the_estimators_chosen_by_the_judges(data, last):
    for draw in last.draws:
        order = np.random.default_rng([draw.seed, 0]).permutation(len(data.y_test))
        judges, fresh = order[:40], order[40:]
        model = DPSGDLogisticRegression(
            2.0, learning_rates=sorted(QUICK.learning_rates), tuning="dishonest", batch_size=64, epochs=3,
            random_state=draw.seed, public_rows=len(data.y_train),
        ).fit(data.X_train, data.y_train, X_val=data.X_test[judges], y_val=data.y_test[judges])  # fmt: skip
        np.testing.assert_allclose([tried["score"] for tried in model.candidates_], draw.judged, rtol=1e-12)
        assert model.learning_rate_ == draw.rates[draw.chosen]
        assert draw.of("fresh") == pytest.approx(model.score(data.X_test[fresh], data.y_test[fresh]))
        assert draw.of("judges") == draw.judged.max()
        assert model.privacy_.noise_multiplier == last.one.noise_multiplier
        assert dataclasses.replace(model.privacy_, coefficients_sha256=None) == dataclasses.replace(
            last.unpaid_certificate, candidates=tuple(sorted(QUICK.learning_rates))
        )


@pytest.mark.slow
def test_the_fixed_rate_is_a_run_of_its_own(data, last):
    draw = last.draws[0]
    fresh = np.random.default_rng([draw.seed, 0]).permutation(len(data.y_test))[40:]
    model = DPSGDLogisticRegression(2.0, learning_rate=FIXED_RATE, batch_size=64, epochs=3, random_state=draw.seed)
    model.fit(data.X_train, data.y_train)
    assert draw.fixed == pytest.approx(model.score(data.X_test[fresh], data.y_test[fresh]))
    assert FIXED_RATE not in draw.rates
    assert dp_sgd._RATE == FIXED_RATE  # the rate of many rows, unless told


@pytest.mark.thorough
def test_what_paying_afterwards_would_cost(last):
    assert last.true_epsilon == PrivateSelection(last.one.mechanism, 4.0).epsilon(1e-5) > 2.0


@pytest.mark.slow
def test_judges_flatter_whom_they_choose_and_nobody_else():
    """Many candidates about equally good, few judges: the curse is there; for a fixed rate it is not."""
    settings = dataclasses.replace(QUICK, learning_rates=tuple(np.geomspace(0.01, 0.3, 15)), judges=20, draws=4)
    *_, last = tuning_runs(load("digits-4-9"), settings)
    chosen = np.concatenate([draw.curse for draw in last.draws])
    fixed = np.concatenate([draw.no_curse for draw in last.draws])
    assert chosen.shape == (4 * JURIES,)
    assert chosen.mean() > 0.005
    assert chosen.mean() > fixed.mean() + 0.005
    assert abs(fixed.mean()) < 0.02
    assert last.optimism.mean == pytest.approx(chosen.mean())


@pytest.mark.thorough
def test_means_are_over_the_draws_and_differences_in_pairs(last):
    for way in WAYS:
        assert last.mean(way).mean == pytest.approx(np.mean([draw.of(way) for draw in last.draws]))
    gap = [draw.of("fresh") - draw.of("honest") for draw in last.draws]
    assert last.difference("fresh", "honest").mean == pytest.approx(np.mean(gap))
    assert last.complete


@pytest.mark.slow
def test_no_run_releases_zero(data):
    settings = dataclasses.replace(QUICK, mean_runs=0.01, draws=1)
    *_, last = tuning_runs(data, settings)
    draw = last.draws[0]
    assert (draw.released, len(draw.runs), len(draw.scores)) == (None, 0, 0)
    fresh = np.random.default_rng([draw.seed, 0]).permutation(len(data.y_test))[40:]
    assert draw.honest == pytest.approx(np.mean(data.y_test[fresh] == 0))


@pytest.mark.thorough
def test_it_tells_which_run_it_is_at(data):
    told = []
    next(itertools.islice(tuning_runs(data, QUICK, tell=lambda *where: told.append(where)), 1, None))
    assert {run for run, _, _ in told} >= {0, 1}
    assert all(run <= runs for run, runs, _ in told if run)


def test_judges_are_at_most_half_of_the_test_rows(data):
    first = next(tuning_runs(data, dataclasses.replace(QUICK, judges=10_000)))
    assert first.judges == len(data.y_test) // 2


# A search seen from inside is the search: the same runs, the same winner, the same ε for each fit


@pytest.mark.thorough
def test_the_runs_are_those_of_a_private_search_with_the_same_seed():
    data = datasets.load("breast-cancer")
    found = searched(data, 4.0, 1e-5, 7)
    own = ObjPertLogisticRegression(classes=[0, 1], public_rows=len(data.X_train))
    search = PrivateSearch(own, GRID, 4.0, 1e-5, random_state=7).fit(data.X_train, data.y_train)
    assert [one.setting for one in found.candidates] == list(ParameterGrid(dict(GRID)))
    assert found.best is found.candidates[search.best_index_]
    assert found.best.score.value == search.best_score_
    assert found.best.worth == search.score(data.X_test, data.y_test)
    assert found.fit_epsilon == search.privacy_.fit_certificate.epsilon
    alone = ObjPertLogisticRegression(4.0, 1e-5, classes=[0, 1], public_rows=len(data.X_train), random_state=7)
    assert found.fixed == alone.fit(data.X_train, data.y_train).score(data.X_test, data.y_test)


@pytest.mark.thorough
def test_unpaid_fits_spend_what_their_certificates_compose_to():
    found = searched(datasets.load("digits-4-9"), 1.0, 1e-5, 0)
    assert found.fit_epsilon < 1 < found.unpaid_epsilon
    one = ObjPertLogisticRegression(1.0, 1e-5, classes=[0, 1], public_rows=200, random_state=0)
    data = datasets.load("digits-4-9")
    fit = one.fit(data.X_train, data.y_train).privacy_
    assert compose(*[fit.rebuild()] * 4).epsilon(1e-5) == pytest.approx(found.unpaid_epsilon, rel=0.1)
