"""What Bassily et al. (2019) publish: its numbers, what it costs by an accountant, and the two theorems that fail."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.stats import binom, norm

import objpert_core.accounting as acc
from objpert_core.accounting.population.published import (
    DRAWINGS,
    corrected_objective_noise,
    published_objective_lam,
    published_objective_noise,
    published_sgd_mechanism,
    published_sgd_schedule,
)
from objpert_core.accounting.population.sizes import Sizes
from tests.accounting.one_dimensional import Loss, Release, hockey_stick

N, D, TARGET = 10_000, 50, 1.0
LOOSER = {"strict": False}  # δ = 1e-6 is above 1/n²


# Algorithm 1


def test_the_schedule_is_the_papers():
    plan = published_sgd_schedule(Sizes(N, D, TARGET, 1e-6, radius=3.0, lipschitz=2.0), **LOOSER)
    assert (plan.steps, plan.batch_size) == (1250, 142)
    assert plan.noise == pytest.approx(2 * math.sqrt(8 * 1250 * math.log(1e6)) / N, rel=1e-12)
    assert plan.noise / 2 == pytest.approx(0.03717, abs=5e-6)
    assert plan.step_size == pytest.approx(3 / (2 * math.sqrt(1250)), rel=1e-12)
    assert plan.largest_smoothness * plan.step_size == pytest.approx(2, rel=1e-12)


def test_a_dimension_so_large_that_no_step_is_left_leaves_one():
    plan = published_sgd_schedule(Sizes(N, 10**7, TARGET, 1e-8))
    assert (plan.steps, plan.batch_size) == (1, 5000)
    assert published_sgd_schedule(Sizes(5, 1, 0.01, 1e-3), strict=False).batch_size == 1


def test_its_drawings_are_the_mechanisms_they_say():
    made = {how: published_sgd_mechanism(N, D, TARGET, 1e-8, lipschitz=7.0, sampling=how) for how in DRAWINGS}
    noise = published_sgd_schedule(Sizes(N, D, TARGET, 1e-8)).noise
    assert isinstance(made["with replacement"], acc.SampledWithReplacement)
    assert isinstance(made["without replacement"], acc.SampledWithoutReplacement)
    assert isinstance(made["poisson"], acc.DPSGD)
    assert made["poisson"].sample_rate == 0.0142
    assert made["full batch"].gaussian_ratio == pytest.approx(2 * math.sqrt(1250) / (noise * N), rel=1e-12)
    for how, mechanism in made.items():
        assert (mechanism.adjacency, mechanism.steps) == (acc.REPLACE_ONE, 1250)
        rows = N if how == "full batch" else 142
        assert mechanism.noise_multiplier == pytest.approx(noise * rows, rel=1e-12)


@pytest.mark.slow
def test_at_the_published_schedule_the_target_is_kept():
    """From below: a row that is drawn once at most, and all others point the other way; drawn more often, ε ≥ .843."""
    mechanism = published_sgd_mechanism(N, D, TARGET, 1e-6, **LOOSER)
    assert mechanism.epsilon_bounds(1e-6)[1] == pytest.approx(0.9611, abs=2e-4)
    attained = acc.DPSGD(mechanism.noise_multiplier / 2, mechanism.batch_size / N, mechanism.steps)
    assert attained.epsilon_bounds(1e-6)[0] > 0.8415
    others = [published_sgd_mechanism(N, D, TARGET, 1e-6, sampling=how, **LOOSER) for how in DRAWINGS[1:]]
    assert [other.epsilon_bounds(1e-6)[1] for other in others] == pytest.approx([0.9437, 0.7904, 0.7904], abs=1e-4)


@pytest.mark.slow
def test_a_single_step_leaks_thousands_of_times_its_delta():
    """Theorem 3.1 has no condition on T. All other rows −g, and a row g that becomes −g: enumerated on a line."""
    mechanism = published_sgd_mechanism(N, 100_000, TARGET, 1e-8)
    assert (mechanism.steps, mechanism.batch_size) == (1, 5000)
    times = np.arange(40)
    shares = binom.pmf(times, 5000, 1 / N)
    u = np.linspace(-80.0, 160.0, 240_001)
    noise = mechanism.noise_multiplier
    first = sum(share * norm.pdf(u, 2 * k, noise) for k, share in zip(times, shares, strict=True))
    second = norm.pdf(u, 0, noise)
    true = {epsilon: np.maximum(first - math.exp(epsilon) * second, 0).sum() * (u[1] - u[0]) for epsilon in (1.0, 2.19)}
    assert true[1.0] == pytest.approx(3540e-8, rel=1e-3)
    assert true[2.19] > 1e-8
    assert mechanism.delta(1.0) > true[1.0]
    assert mechanism.epsilon(1e-8) > 2.19
    # what is drawn by coins keeps the target in this step, and different rows do not
    assert published_sgd_mechanism(N, 100_000, TARGET, 1e-8, sampling="poisson").epsilon(1e-8) < 1
    assert published_sgd_mechanism(N, 100_000, TARGET, 1e-8, sampling="without replacement").epsilon(1e-8) > 1


# Algorithm 2


def test_its_noise_and_its_regularisation():
    assert published_objective_noise(1.0, 1e-6, 3.0) == pytest.approx(3 * math.sqrt(10 * math.log(1e6)), rel=1e-12)
    assert corrected_objective_noise(1.0, 1e-6) == pytest.approx(2 * math.sqrt(8 * math.log(2e6) + 4), rel=1e-12)
    spread = math.sqrt(2 / N + 4 * D * math.log(1e8) / (0.5 * N) ** 2)
    lam = published_objective_lam(Sizes(N, D, 0.5, 1e-8, radius=4.0, lipschitz=3.0))
    assert lam == pytest.approx(2 * N * 1.5 * spread, rel=1e-12)


@pytest.mark.slow
def test_where_rows_are_replaced_the_printed_noise_is_too_little_for_any_theorem():
    lam = published_objective_lam(Sizes(N, D, 0.5, 1e-8))

    def made(noise, bound="logistic"):
        return acc.ObjectivePerturbation(noise(0.5, 1e-8), lam, bound=bound, adjacency=acc.REPLACE_ONE)

    assert made(corrected_objective_noise).epsilon(1e-8) < made(published_objective_noise).epsilon(1e-8)
    assert made(published_objective_noise, "kifer2012").epsilon(1e-8) > 0.5


def huber(curvature):
    """f' = clip(β(t − y) + 1, −1, 1): a parabola just below y, straight elsewhere."""
    return Loss(
        first=lambda t, y: np.clip(curvature * (t - y) + 1, -1.0, 1.0),
        second=lambda t, y: np.where((t < y) & (t > y - 2 / curvature), curvature, 0.0),
        smoothness=curvature,
    )


@dataclass(frozen=True)
class Kinked(Release):
    """A release whose density leaps: the integral is cut there."""

    def grid(self, reach=14.0, panels=200):
        return np.sort(np.concatenate((super().grid(reach, panels), self.y, self.y - 2 / self.loss.smoothness)))


def leak(sigma, corner, epsilon, curvature):
    """δ at ε where one row, a parabola below θ = −corner, is replaced by a straight one; Λ = 1."""
    loss = huber(curvature)
    curved, straight = (
        Kinked(loss, sigma, 1.0, np.ones(1), np.array([y]), np.ones(1)) for y in (-corner, 100.0 * sigma)
    )
    return float(hockey_stick(curved, straight, np.array([epsilon]))[0])


def test_the_printed_noise_of_objective_perturbation_is_too_small():
    """Theorem 5.2 is false. β = εΛ/2 is its own condition; in one dimension only β/Λ and σ matter."""
    epsilon, delta = 0.5, 1e-8
    printed, corrected = (noise(epsilon, delta) for noise in (published_objective_noise, corrected_objective_noise))
    assert leak(printed, 113.85, epsilon, epsilon / 2) == pytest.approx(4.382e-8, rel=2e-3)
    worst = max(leak(corrected, corner, epsilon, epsilon / 2) for corner in (113.85, 200.0, 280.0, 360.0, 440.0))
    assert worst < 1e-6 * delta
    for sigma, true in ((printed, 4.382e-8), (corrected, worst)):
        by_accountant = acc.ObjectivePerturbation(sigma, 1.0, 1.0, epsilon / 2, "two-signed", adjacency=acc.REPLACE_ONE)
        assert by_accountant.delta(epsilon) > true
