"""Private selection: the bounds against the exact law of the selected output, over finite outcomes and every K."""

import math
from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest
from dp_accounting.dp_event import GaussianDpEvent, RepeatAndSelectDpEvent
from dp_accounting.rdp.rdp_privacy_accountant import RdpAccountant
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import objpert_core.accounting as acc
from objpert_core.accounting import (
    DPSGD,
    ApproximateMinima,
    Gaussian,
    Mechanism,
    ObjectivePerturbation,
    PrivateSelection,
    liu_talwar_epsilon,
    poisson_mean,
    repeat,
    via_rdp,
)
from objpert_core.accounting.selection.one_run import OneRun
from objpert_core.accounting.selection.tuning import mean_runs
from tests.second_opinion.chosen import BestAnswer, law

PAPER = 15.406641171976514
SHAPES = (None, 1.0, 0.0, -0.5, 2.5)


@dataclass(frozen=True)
class Finite(Mechanism):
    """A pair of distributions over finitely many outcomes, listed from the worst score to the best."""

    p: tuple[float, ...]
    q: tuple[float, ...]

    @property
    def pairs(self):
        p, q = np.array(self.p), np.array(self.q)
        return ((p, q), (q, p))

    def _log_delta(self, epsilon):
        with np.errstate(divide="ignore"):
            return np.log(np.max([hockey_stick(p, q, epsilon) for p, q in self.pairs], axis=0))

    def _rdp(self, alpha):
        return np.max([renyi(p, q, alpha) for p, q in self.pairs], axis=0)


def hockey_stick(p, q, epsilon):
    return np.maximum(p - np.exp(np.asarray(epsilon))[..., None] * q, 0.0).sum(axis=-1)


def renyi(p, q, alpha):
    """log(1 + Σ q·[x^α − α(x − 1) − 1])/(α − 1) at x = p/q: the tangent adds nothing, and nothing cancels."""
    alpha, x = np.asarray(alpha, dtype=float)[..., None], p / q - 1
    near = np.abs(x) * alpha < 1e-3
    small, bent = np.where(near, x, 0.0), np.where(near, alpha, 2.0)
    series = small**2 * bent / 2 * (1 + (bent - 2) / 3 * small * (1 + (bent - 3) / 4 * small))
    order = np.where(alpha > 1, alpha - 1, 1.0)
    with np.errstate(over="ignore"):
        far = (np.expm1(alpha * np.log1p(x)) - alpha * x) / order
    total = np.sum(q * np.where(near, series, np.where(alpha > 1, far, (1 + x) * np.log1p(x) - x)), axis=-1)
    return np.where(alpha[..., 0] > 1, np.log1p(order[..., 0] * total) / order[..., 0], total)


def exact_pairs(selection):
    """The best of K runs by the second opinion, for the base's pair in both orders; the last outcome is the best."""
    slope = law(selection.mean_runs, selection.eta)
    return [BestAnswer(np.log(p), np.log(q), slope) for p, q in selection.base.pairs]


RARE_BEST = Finite((1 - 1e-4, 1e-4), (1 - 1e-8, 1e-8))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("mean", [1.5, 10.0])
def test_one_per_cent_less_is_refuted(shape, mean):
    """Where the best outcome is rare and the evidence, the bounds are attained: the curve, and the profile."""
    selection = PrivateSelection(RARE_BEST, mean, shape)
    exact = exact_pairs(selection)[0]
    assert 0.99 * selection.rdp(5.0) < exact.renyi(5.0)[0] <= selection.rdp(5.0)
    if shape is not None:
        assert 0.99 * selection.delta(3.0) < math.exp(exact.log_delta(3.0)[0]) <= selection.delta(3.0)


def test_small_means_are_attained_too():
    """Below one run on average the published logarithm is negative; the bound is not, and is still attained."""
    selection = PrivateSelection(RARE_BEST, 0.01)
    assert 0.99 * selection.rdp(5.0) < exact_pairs(selection)[0].renyi(5.0)[0] <= selection.rdp(5.0)
    quiet = PrivateSelection(Gaussian(100.0), 0.01)
    alpha = np.array([1.0, 2.0, 10.0])
    assert np.all(quiet.rdp(alpha) > 0)
    assert np.all(quiet.rdp(alpha) < 0.011 * Gaussian(100.0).rdp(alpha) * np.exp(0.01 * alpha))


@pytest.mark.slow
@pytest.mark.parametrize("sigma", [1.0, 4.0, 20.0])
@pytest.mark.parametrize("mean", [1.0, PAPER, 300.0])
@pytest.mark.parametrize("shape", [math.inf, 1.0, 0.0, 0.5])
def test_against_dp_accounting(sigma, mean, shape):
    """At the orders they use, and with δ̂ by the Rényi curve as they have it: never above, and near for Poisson."""
    orders = np.arange(2, 200)
    accountant = RdpAccountant(orders)
    accountant.compose(RepeatAndSelectDpEvent(GaussianDpEvent(sigma), mean, shape))
    theirs = accountant._rdp
    selection = PrivateSelection(via_rdp(Gaussian(sigma)), mean, None if shape == math.inf else shape)
    ours = selection.rdp(orders)
    assert np.all(ours <= theirs * (1 + 1e-5))
    epsilon = via_rdp(selection).epsilon(1e-5)
    assert epsilon <= accountant.get_epsilon(1e-5) * (1 + 1e-9)
    if shape == math.inf and mean < 100:
        assert epsilon >= 0.93 * accountant.get_epsilon(1e-5)


@given(more_than=st.integers(0, 2000), probability=st.floats(1e-6, 1 - 1e-6))
@settings(deadline=None, max_examples=40)
def test_poisson_mean(more_than, probability):
    mean = poisson_mean(more_than, probability)
    assert stats.poisson.sf(more_than, mean) == pytest.approx(probability, rel=1e-9)
    assert poisson_mean(more_than + 1, probability) > mean


@given(shape=st.floats(-0.95, 50), log_gamma=st.floats(-30, -1e-9))
@settings(deadline=None, max_examples=40)
def test_gamma_round_trip(shape, log_gamma):
    gamma = math.exp(log_gamma)
    given_gamma = PrivateSelection.negative_binomial(Gaussian(8.0), shape, gamma)
    assert given_gamma.gamma == gamma
    again = PrivateSelection(Gaussian(8.0), given_gamma.mean_runs, shape)
    assert math.log(again.gamma) == pytest.approx(log_gamma, rel=1e-9, abs=1e-9)
    assert math.exp(again._log_mean_runs) >= given_gamma.mean_runs


BASES = [
    Gaussian(0.05),
    Gaussian(5.0),
    Gaussian(1e5),
    ObjectivePerturbation(5, 20, smoothness=1.0, bound="glm"),
    ObjectivePerturbation(5, 20),
    ObjectivePerturbation(5, 20, bound="non-glm", dimension=4),
    ApproximateMinima(ObjectivePerturbation(4, 3, bound="monotone"), 0.01, 0.1),
    via_rdp(Gaussian(5.0)),
    repeat(Gaussian(9.0), 4),
    DPSGD(2.0, 0.02, 200),
    PrivateSelection(Gaussian(9.0), 4.0),
]


@pytest.mark.slow
@pytest.mark.parametrize("shape", [pytest.param(None, marks=pytest.mark.exhaustive), 1.0])
@pytest.mark.parametrize("base", BASES, ids=repr)
def test_every_kind_of_mechanism(base, shape):
    """Finite, not below one run, monotone in α, in E[K] and in δ, and (ε, δ) agree both ways."""
    few, many = PrivateSelection(base, 3.0, shape), PrivateSelection(base, 30.0, shape)
    alpha = np.concatenate(([1.0, 1 + 1e-12, 1.0001], np.geomspace(1.01, 1e4, 40)))
    curves = base.rdp(alpha), few.rdp(alpha), many.rdp(alpha)
    assert np.all(np.isfinite(curves))
    assert np.all(curves[1] >= curves[0] * (1 - 1e-9))
    assert np.all(curves[2] >= curves[1] * (1 - 1e-9))
    assert np.all(np.diff(curves[2]) >= -1e-9 * curves[2][1:])
    for selection in (few, many):
        epsilon = selection.epsilon(np.array([1e-9, 1e-5, 1e-2]))
        assert np.all(np.diff(epsilon)[epsilon[:-1] > 0] < 0)
        rounding = 1e-3 if isinstance(base, DPSGD) else 0.0  # its ε(δ) and δ(ε) come from grids of their own
        assert np.all(selection.delta(epsilon) <= np.array([1e-9, 1e-5, 1e-2]) * (1 + rounding))
        tight = selection.delta(epsilon) >= np.array([1e-9, 1e-5, 1e-2]) * (1 - 1e-2)
        assert np.all(tight | (epsilon == 0))
        assert selection.explain() is None
        assert selection.epsilon(1e-5) <= via_rdp(selection).epsilon(1e-5) * (1 + 1e-9)
    if base.has_profile:
        assert base.epsilon(1e-9) < few.epsilon(1e-9) < many.epsilon(1e-9)


@pytest.mark.parametrize("shape", SHAPES[1:])
def test_one_run_costs_what_it_costs(shape):
    """With E[K] = 1 the truncated law is a single run."""
    base = Gaussian(4.0)
    selection, alpha = PrivateSelection(base, 1.0, shape), np.array([1.0, 1.5, 30.0])
    np.testing.assert_allclose(selection.rdp(alpha), base.rdp(alpha), rtol=1e-8)
    assert selection.epsilon(1e-5) == pytest.approx(base.epsilon(1e-5), rel=1e-12)
    assert liu_talwar_epsilon(base, 1e-5, 1.0) == pytest.approx(base.epsilon(1e-5), rel=1e-12)


@pytest.mark.slow
def test_extreme_orders():
    """No NaN and no warning from orders next to 1 to far beyond any use."""
    alpha = np.array([1.0, math.nextafter(1.0, 2.0), 1e17, 1e100])
    for base in BASES[:5]:
        for shape in (None, 0.0):
            for mean in (1.0, 1e6):
                curve = PrivateSelection(base, mean, shape).rdp(alpha)
                assert not np.isnan(curve).any()
                assert np.all(curve > 0)


class Convolved(Gaussian):
    """A mechanism with a known profile, said to be slow."""

    quick_profile = False


def test_profile_of_a_run_that_is_asked_once():
    run, exact = OneRun(Convolved(3.0), math.log(PAPER)), Gaussian(3.0)
    epsilon = np.linspace(0.0, exact.epsilon(1e-8), 37)
    chords = run.log_delta(epsilon)
    assert np.all(chords >= exact.log_delta(epsilon) - 1e-12)
    assert np.all(chords <= exact.log_delta(epsilon) + 1e-2)
    both = np.array([epsilon[5], 40.0])  # beyond the grid by the Rényi curve
    assert run.log_delta(both)[0] == chords[5]
    assert exact.log_delta(40.0) <= run.log_delta(both)[1] <= 0.9 * exact.log_delta(40.0)


# --- Liu and Talwar's random stopping ----------------------------------------------------------------------------


@pytest.mark.slow
@given(bias=st.floats(-0.49, 0.49), epsilon=st.floats(0.01, 2), mean=st.floats(1, 1000))
@settings(deadline=None, max_examples=40)
def test_three_epsilon_without_delta(bias, epsilon, mean):
    """Liu and Talwar (2019), Theorem 3.2: a base that is (ε, 0)-DP."""
    low, high = 1 / (1 + math.exp(epsilon)), 1 / (1 + math.exp(-epsilon))
    coin = Finite((low, high), (high, low))
    total = liu_talwar_epsilon(coin, 1e-12, mean)
    assert total <= 3 * epsilon * (1 + 1e-9)
    selection = PrivateSelection(coin, mean, 1)
    for exact in exact_pairs(selection):
        assert exact.log_delta(total * (1 + 1e-6) + 1e-9)[0] < -20


@pytest.mark.slow
def test_random_stopping_is_private_selection_with_a_geometric_law():
    for base in (Gaussian(8.0), DPSGD(2.0, 0.02, 200), ObjectivePerturbation(5, 20, smoothness=1.0, bound="glm")):
        deltas = np.array([1e-9, 1e-5])
        by_densities = liu_talwar_epsilon(base, deltas, PAPER)
        assert by_densities.shape == (2,)
        assert np.all(PrivateSelection(base, PAPER, 1).epsilon(deltas) <= by_densities * (1 + 1e-12))
        assert np.all(by_densities > base.epsilon(deltas))
        assert type(liu_talwar_epsilon(base, 1e-5, PAPER)) is float


def test_random_stopping_needs_no_renyi_curve():
    base = ObjectivePerturbation(50, 2000, smoothness=1.0, bound="kifer2012")
    assert base.epsilon(1e-5) < liu_talwar_epsilon(base, 1e-5, 5.0) < math.inf
    assert liu_talwar_epsilon(ObjectivePerturbation(5, 0.5, smoothness=1.0, bound="glm"), 1e-5, 5.0) == math.inf


# --- what is refused ---------------------------------------------------------------------------------------------


def test_has_no_privacy_loss_distribution():
    with pytest.raises(NotImplementedError, match="no pair of distributions is known"):
        PrivateSelection(Gaussian(1.0), 3.0).pld()
    assert "larger ε" in PrivateSelection(Gaussian(0.1), 1e3).explain(0.0)


@pytest.mark.parametrize(("eta", "more"), [(0, 0.5), *product((0.25, 0.5, 2.0, 10.0), (0.1, 0.5, 0.9))])
def test_negative_binomial_and_logarithmic_laws_against_scipy(eta, more):
    selection = acc.PrivateSelection(acc.Gaussian(5.0), mean_runs(10, more, eta), eta)
    law = stats.nbinom(eta, selection.gamma) if eta else stats.logser(1 - selection.gamma)
    assert law.sf(10) / law.sf(0) == pytest.approx(more, rel=1e-7)
    assert law.mean() / law.sf(0) == pytest.approx(selection.mean_runs, rel=1e-9)
