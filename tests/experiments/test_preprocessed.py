"""DP-SGD on rows that were centred and scaled privately: the map, its cost and what is left are our learner's own."""

from dataclasses import replace

import numpy as np
import pytest

from objpert_core.accounting import DPSGD, compose, recommended_standardisation, remaining_epsilon
from objpert_core.datasets import load
from objpert_core.experiments import preprocessed
from objpert_core.experiments.learners import LEARNERS, MAPPED
from objpert_core.experiments.methods import Parameters, estimator, fit
from objpert_core.experiments.preprocessed import map_rule, prepared, slopes
from objpert_core.learning.dp_sgd.budget import dpsgd_budget
from objpert_core.learning.dp_sgd.training import Schedule
from objpert_core.learning.noise import noise_source
from objpert_core.learning.row_sources import take_alone

QUICK = Parameters(epochs=2, learning_rates=(0.01, 0.1), fine_learning_rates=(0.1, 0.3), mean_runs=3.0)
RIVALS = [name for name, learner in LEARNERS.items() if learner.standardised == MAPPED]


@pytest.fixture(scope="module")
def data():
    return load("synthetic-l", split_seed=20)


def ready(name, data, epsilon=1.0, seed=3, **changes):
    parameters = replace(QUICK, **changes)
    return prepared(LEARNERS[name], estimator(name, epsilon, parameters, seed), data.X_train, data.X_test)


@pytest.mark.thorough
@pytest.mark.parametrize("name", RIVALS)
def test_the_rival_pays_for_the_map_what_ours_pays_and_has_what_is_left(name, data):
    rows, columns = data.X_train.shape
    found = ready(name, data)
    plan = recommended_standardisation(1.0, QUICK.delta, rows, columns)
    assert found.plan == plan
    assert found.model.epsilon == remaining_epsilon(1.0, QUICK.delta, plan.mechanisms()) < 1.0
    assert found.model.public_rows == rows
    ours = fit(data, "tight", 1.0, 0, 3, QUICK)
    theirs = fit(data, name, 1.0, 0, 3, QUICK)
    assert (ours.center_noise, ours.scale_noise) == pytest.approx((plan.center_noise, plan.scale_noise), rel=1e-9)
    assert theirs.noise[4:] == ours.noise[4:]
    assert theirs.epsilon == 1.0


@pytest.mark.thorough
@pytest.mark.parametrize(("rows", "columns"), [(455, 30), (4000, 5000), (36_177, 105)])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
def test_the_whole_of_the_rival_costs_what_it_says(rows, columns, epsilon):
    # What is left of ε goes by the Gaussian mechanism's arithmetic, and DP-SGD with large batches is nearly Gaussian.
    before = recommended_standardisation(epsilon, 1e-5, rows, columns).mechanisms()
    left = remaining_epsilon(epsilon, 1e-5, before)
    schedule = Schedule.of_epochs(rows, 4096, 60, "poisson")
    noise = dpsgd_budget(left, 1e-5, schedule).noise_multiplier
    whole = compose(*before, DPSGD(noise, schedule.sample_rate, schedule.steps))
    assert whole.epsilon(1e-5) == pytest.approx(epsilon, rel=1e-3)


def test_the_map_is_released_from_the_training_rows_with_a_seed_of_its_own(data):
    first, same, other = (ready("dpsgd-standardised", data, seed=seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first.row_map.center, same.row_map.center)
    np.testing.assert_array_equal(first.row_map.scale, same.row_map.scale)
    assert (first.row_map.scale != other.row_map.scale).any()
    own = take_alone(first.plan, data.X_train, noise_source(3))
    assert (own.scale != first.row_map.scale).any()  # the noise of DP-SGD comes from seed 3
    np.testing.assert_array_equal(first.X_test, first.row_map.apply(data.X_test))
    # Whatever the test rows are, the map is the same.
    turned = prepared(LEARNERS["dpsgd-standardised"], same.model.set_params(epsilon=1.0), data.X_train, -data.X_test)
    np.testing.assert_array_equal(turned.row_map.scale, first.row_map.scale)


def test_where_ours_skips_both_steps_so_does_the_rival(data):
    few = replace(data, X_train=data.X_train[:40].copy(), y_train=data.y_train[:40].copy())
    found = ready("dpsgd-standardised", few, epsilon=0.025)
    assert found.row_map is None
    assert found.model.epsilon == 0.025
    assert found.X_train is few.X_train


def test_clipped_rows_are_not_mapped(data):
    found = ready("dpsgd-standardised", data, row_norm="clip")
    assert (found.row_map, found.model.epsilon) == (None, 1.0)


@pytest.mark.thorough
def test_centred_only_is_our_learner_without_its_second_step(data):
    run = fit(data, "tight-centred", 1.0, 0, 3, QUICK)
    ours = fit(data, "tight", 1.0, 0, 3, QUICK)
    assert run.center_noise == ours.center_noise is not None
    assert run.scale_noise is None
    assert run.map_rule == ours.map_rule
    raw = fit(data, "tight-raw", 1.0, 0, 3, QUICK)
    assert (raw.center_noise, raw.scale_noise, raw.map_rule) == (None, None, None)
    assert len({run.sigma, ours.sigma, raw.sigma}) == 3
    assert raw.sigma < run.sigma < ours.sigma


@pytest.mark.parametrize("name", ["tight", "dpsgd-standardised"])
def test_slopes_are_the_mean_gradient_of_the_score_in_the_given_rows(name, data):
    found = ready(name, data)
    judges = {} if name == "tight" else {"X_val": found.X_test, "y_val": data.y_test}
    found.model.fit(found.X_train, data.y_train, **judges)
    row_map = found.map
    theta = found.model.coef_[0]

    def score(rows):
        mapped = row_map.apply(rows)
        return mapped @ theta  # before the norm is brought to one

    step = 1e-4 * np.eye(data.X_test.shape[1])
    row = data.X_test[:1]
    moved = np.array([score(row + one)[0] - score(row - one)[0] for one in step]) / 2e-4
    found_slopes = slopes(found)
    assert found_slopes.shape == (1, 20)
    # Along the sphere the map is linear but for the norm: the directions agree.
    tangent = np.eye(20) - row.T @ row
    mean_norm = np.linalg.norm(row_map.apply(data.X_test), axis=1).mean()
    np.testing.assert_allclose(tangent @ found_slopes[0] * mean_norm, moved, atol=1e-5 * np.abs(moved).max())


def test_the_rule_s_number_changes_with_the_rule(monkeypatch):
    before = map_rule()
    assert map_rule() == before
    map_rule.cache_clear()

    def other(*arguments):
        found = take_alone(*arguments)
        return replace(found, scale=found.scale * 1.001)

    monkeypatch.setattr(preprocessed, "take_alone", other)
    assert map_rule() != before
    map_rule.cache_clear()
