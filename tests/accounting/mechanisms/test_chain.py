"""Chains of neighbours: an attacker's errors go link by link, and a search on a table finds what the slow one does."""

import numpy as np
import pytest

from objpert_core.accounting import (
    ApproximateDP,
    ApproximateMinima,
    Gaussian,
    LaplaceVote,
    ObjectivePerturbation,
    group,
    replace_one,
)
from objpert_core.accounting.numerics import chain
from objpert_core.accounting.numerics.tradeoff import false_negative_rates

RATES = np.sin(np.linspace(0, np.pi / 2, 7)) ** 2
FIT = ObjectivePerturbation(3.0, 1.0)


@pytest.mark.covered
@pytest.mark.slow
@pytest.mark.parametrize("bound", ["monotone", "glm", "kifer2012"])
@pytest.mark.parametrize("change", [replace_one, lambda fit: group(fit, 2), lambda fit: group(fit, 4)])
def test_errors_link_by_link_say_what_the_chains_profile_does(bound, change):
    several = change(ObjectivePerturbation(5.0, 20.0, bound=bound))
    missed = several.tradeoff(RATES)
    known = false_negative_rates(several._log_delta, RATES)
    assert (missed >= known - 1e-5).all()
    if bound != "kifer2012":  # whose profile is one at a single split, and the errors are over all of them
        np.testing.assert_allclose(missed, known, atol=1e-4)
    assert (missed <= several.lower_bound.tradeoff(RATES) + 1e-12).all()
    assert isinstance(several.tradeoff(0.05), float)


@pytest.mark.slow
def test_errors_of_a_replaced_row_of_logistic_regression_are_the_gaussians_where_the_profile_is():
    replaced, gaussian = replace_one(FIT), Gaussian(3.0, 2.0)
    assert replaced.tradeoff(1e-3) == pytest.approx(gaussian.tradeoff(1e-3), rel=1e-3)
    assert (replaced.tradeoff(RATES) <= gaussian.tradeoff(RATES) + 1e-12).all()
    assert group(ObjectivePerturbation(3.0, 18.0), 2).tradeoff(0.05) == Gaussian(3.0, 2.0).tradeoff(0.05)
    solved = replace_one(ApproximateMinima(FIT, 1e-6, 0.01)).tradeoff(0.05)
    assert 0.99 * replaced.tradeoff(0.05) < solved < replaced.tradeoff(0.05)


def test_a_chain_answers_what_its_link_does_and_says_what_that_has_not():
    by_curve = group(ObjectivePerturbation(5.0, 20.0, bound="non-glm", dimension=3), 2)
    by_profile = replace_one(ObjectivePerturbation(50.0, 20.0, bound="kifer2012"))
    for call, reason in (
        (lambda: by_curve.delta(1.0), "Rényi divergence only"),
        (lambda: by_curve.tradeoff(0.1), "Rényi divergence only"),
        (lambda: by_curve.pld(), "Rényi divergence only"),
        (lambda: by_profile.rdp(2.0), "no Rényi curve"),
        (lambda: by_profile.pld(), "bounds δ at ε only"),
    ):
        with pytest.raises(NotImplementedError, match=reason):
            call()
    gaussian = replace_one(ObjectivePerturbation(5.0, 50.0))
    assert gaussian.quick_profile
    assert gaussian.rdp(3.0) == pytest.approx(Gaussian(2.5).rdp(3.0), rel=1e-12)
    assert gaussian.losses() == Gaussian(2.5).losses()


@pytest.mark.parametrize("size", [2, 3])
def test_the_renyi_curve_of_a_chain_is_nowhere_above_that_of_its_zcdp(size):
    several = group(ObjectivePerturbation(5.0, 20.0, bound="glm"), size)
    orders = np.array([1.0, 1.01, 2.0, 8.0])
    assert (several.rdp(orders) <= orders * several.rho()).all()


@pytest.mark.parametrize("sigma", [0.8, 300.0])
def test_running_sums_give_the_profile_of_a_discrete_loss(sigma):
    loss = group(ObjectivePerturbation(sigma, 20.0, bound="monotone"), 3)._loss
    epsilons = np.concatenate((np.linspace(-2, 5, 40), np.geomspace(1e-8, 300, 40)))
    quick, exact = loss.log_profile(epsilons), np.minimum(loss._added_up(epsilons), 0.0)
    assert (quick >= exact - 1e-13).all()
    assert (quick <= exact + 2e-9).all()


# --- at the ends of what doubles hold ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sigma", "lam", "bound", "size"),
    [
        (0.25, 0.001, "kifer2012", 10),
        (0.3, 0.001, "kifer2012", 5),
        (1.0, 0.001, "kifer2012", 20),
        (0.6, 0.5, "glm", 20),
    ],
)
def test_a_chain_whose_first_vertices_underflow_promises_no_more_than_is_true(sigma, lam, bound, size):
    """A vertex at x = e^−1000 counted as one at 0 of the height before it: δ was 4e-5 where it is 1."""
    several = group(ObjectivePerturbation(sigma, lam, smoothness=0.25, bound=bound), size)
    epsilons = np.array([400.0, 495.0, 500.0, 510.0, 600.0, 700.0, 800.0])
    found = several.log_delta(epsilons)
    assert (found >= several.lower_bound.log_delta(epsilons) * (1 + 1e-12) - 1e-12).all()
    assert several.epsilon(1e-4) >= several.lower_bound.epsilon(1e-4)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("fit", "size"),
    [
        pytest.param(ObjectivePerturbation(0.6, 0.5), 20, marks=pytest.mark.slow),
        pytest.param(ObjectivePerturbation(0.52, 3.67, bound="monotone"), 20, marks=pytest.mark.slow),
        (ObjectivePerturbation(1.3, 0.27, bound="monotone"), 3),
        pytest.param(ObjectivePerturbation(1.0, 0.001, bound="kifer2012"), 2, marks=pytest.mark.slow),
    ],
    ids=lambda value: getattr(value, "bound", value),
)
def test_what_cannot_be_told_is_one_and_never_not_a_number(fit, size):
    several = group(fit, size)
    assert np.isfinite(several.delta(np.linspace(1, 1000, 300))).all()
    for delta in (1e-3, 1e-6, 1e-100):
        epsilon = several.epsilon(delta)
        assert epsilon >= several.lower_bound.epsilon(delta) * (1 - 1e-12)
        assert several.delta(epsilon) <= delta


def test_the_chord_below_a_corner_does_not_cancel():
    def jump(t):
        return np.where(t < 1.0, 0.0, -60.0)

    for short, exact in ((1e-16, -37.05006226), (1e-15, -34.85283768), (1e-12, -27.94430494)):
        found = chain.log_delta_of_split(jump, np.array([[1 - short, 2.0]]), 1.0)[0]
        assert exact - 1e-8 <= found <= exact + 1e-7
    assert chain.log_delta_of_split(jump, np.array([[np.inf, 2.0], [np.nan, 2.0]]), 400.0).tolist() == [0.0, 0.0]


@pytest.mark.thorough
@pytest.mark.parametrize(
    "several",
    [group(LaplaceVote(1.0), 2), group(ApproximateDP(85.0, 0.0), 31), group(ObjectivePerturbation(0.6, 0.5), 3)],
    ids=["vote", "pure", "fit"],
)
def test_the_renyi_curve_rises_in_the_order(several):
    orders = np.array([1.0, 1 + 1e-12, 1 + 1e-6, 1.01, 2.0, 3.16, 8.0, 1e3, 1e6])
    together = several.rdp(orders)
    alone = np.array([several.rdp(order) for order in orders])
    assert (np.diff(together) >= 0).all()
    np.testing.assert_allclose(alone, together, rtol=1e-3)
    if isinstance(several.base, LaplaceVote):  # two voters: no order is above twice ε
        assert alone[0] < 2.0
        assert (alone <= 2.0 * (1 + 1e-3)).all()
