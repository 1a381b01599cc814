"""What every mechanism answers: values, order among the bounds, shape, vectorisation, refusals."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from objpert_core.accounting import ApproximateMinima, Gaussian, ObjectivePerturbation, via_rdp

PROFILES = ("logistic", "monotone", "glm")
sigmas, lams = st.floats(-3, 6).map(lambda x: 10.0**x), st.floats(-6, 9).map(lambda x: 10.0**x)


@pytest.mark.parametrize(
    ("sigma", "lam", "epsilon", "delta"),
    [(5, 20, 0.1, 4.1482e-02), (10, 5, 0.1, 9.6278e-03), (10, 5, 0.3, 4.4352e-05), (1, 0.5, 1.0, 1.2799e-01),
     (3, 0.3, 0.6, 7.6798e-02)],
)  # fmt: skip
def test_check_values_of_the_note(sigma, lam, epsilon, delta):
    assert ObjectivePerturbation(sigma, lam).delta(epsilon) == pytest.approx(delta, rel=2e-5)


# --- order and shape --------------------------------------------------------------------------------------------

CORNERS = [(sigma, lam) for sigma in (1e-3, 1.0, 1e6) for lam in (1e-6, 1.0, 1e9)]


def each_below_the_next(values, slack):
    return all((smaller <= larger * slack + 1e-300).all() for smaller, larger in pairwise(values))


@pytest.mark.thorough
@pytest.mark.parametrize("lipschitz", [1.0, 0.1, 2**0.5])
@pytest.mark.parametrize(("sigma", "lam"), CORNERS)
def test_a_theorem_for_more_losses_promises_no_more_anywhere_and_nothing_warns(sigma, lam, lipschitz):
    names = ("logistic", "monotone", "two-signed", "glm", "non-glm")
    bounds = [ObjectivePerturbation(sigma, lam, lipschitz, bound=name, dimension=7) for name in names]
    chain = [Gaussian(sigma, lipschitz), *bounds]
    epsilons = np.concatenate(([0, 1e-12, 1e-6], np.geomspace(1e-4, 700, 30)))
    orders = np.concatenate(([1, 1 + 1e-12, 1 + 1e-8], 1 + np.geomspace(1e-4, 1e6 - 1, 30)))
    rounding = 1e-11 * (1 + epsilons * sigma / lipschitz)  # of ε itself, in units of a
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        assert each_below_the_next([one.delta(epsilons) for one in chain[:-1]], 1 + rounding)
        assert each_below_the_next([one.rdp(orders) for one in chain], 1 + 1e-12)


@pytest.mark.slow
@given(
    sigma=sigmas,
    lam=lams,
    bound=st.sampled_from(PROFILES),
    grow=st.floats(1.0001, 3),
    scale=st.sampled_from([0.1, 8.0]),
)
@settings(deadline=None, max_examples=60)
def test_monotone_in_noise_and_regularisation_and_free_of_units(sigma, lam, bound, grow, scale):
    """More noise or more regularisation never hurts; (σ, L, λ, β) → (cσ, cL, c²λ, c²β) changes nothing."""
    base = ObjectivePerturbation(sigma, lam, bound=bound)
    epsilon = np.geomspace(1e-3, 50, 9)
    alpha = np.array([1.0, 1.3, 4, 60])
    for better in (
        ObjectivePerturbation(sigma * grow, lam, smoothness=0.25, bound=bound),
        ObjectivePerturbation(sigma, lam * grow, smoothness=0.25, bound=bound),
    ):
        assert (better.delta(epsilon) <= base.delta(epsilon) * (1 + 1e-11) + 1e-300).all()
        assert (better.rdp(alpha) <= base.rdp(alpha) * (1 + 1e-12)).all()
    scaled = ObjectivePerturbation(scale * sigma, scale**2 * lam, scale, scale**2 / 4, bound)
    loose = 1e-10 + 1e-13 * sigma
    np.testing.assert_allclose(scaled.log_delta(epsilon), base.log_delta(epsilon), rtol=loose, atol=loose)
    np.testing.assert_allclose(scaled.rdp(alpha), base.rdp(alpha), rtol=1e-11)


def test_seam_of_kifers_condition():
    """Nothing below ε = 2β/λ, the exponential tail from there on; ε(δ) never lands below the seam."""
    mechanism = ObjectivePerturbation(sigma=20.0, lam=4.0, smoothness=1.0, bound="kifer2012")
    assert mechanism.delta(0.5) < 1
    assert mechanism.delta(math.nextafter(0.5, 0)) == 1.0
    assert mechanism.epsilon(0.99) == 0.5
    value = mechanism.epsilon(1e-9)
    assert mechanism.delta(value) <= 1e-9 <= mechanism.delta(value * (1 - 1e-12))
    for lam in (3.0, 7.3, 0.1):  # 2β/λ is not a double
        least = ObjectivePerturbation(1e3, lam, smoothness=1.0, bound="kifer2012").epsilon(0.9)
        assert least * lam >= 2 > math.nextafter(least, 0) * lam


# --- inverse ------------------------------------------------------------------------------------------------------


def test_epsilon_is_zero_where_the_profile_starts_below():
    mechanism = Gaussian(10.0)
    assert mechanism.epsilon(mechanism.delta(0.0) * 1.01) == 0.0
    assert mechanism.epsilon(mechanism.delta(0.0) * 0.99) > 0.0


# --- interface ----------------------------------------------------------------------------------------------------


def test_defaults_are_the_logistic_loss_of_the_radius():
    target = ObjectivePerturbation(2, 3, lipschitz=2)
    assert target.smoothness == 1.0
    assert target.bound == "logistic"
    assert target.gaussian == Gaussian(2, 2)
    assert isinstance(target.sigma, float)
    assert target.adjacency == "add/remove one row"
    # the logistic bound knows its own curvature
    assert ObjectivePerturbation(2, 3, 2, 99.0).delta(0.7) == target.delta(0.7)
    assert ApproximateMinima(target, 0.75, 2).output == Gaussian(2, 0.5)


@pytest.mark.parametrize("dimension", [None, 0, 2.0, True])
def test_a_bound_for_losses_of_several_numbers_asks_for_the_dimension(dimension):
    with pytest.raises(ValueError, match=f"dimension must be a whole number >= 1, got {dimension}"):
        ObjectivePerturbation(1, 1, bound="non-glm", dimension=dimension)


def test_a_fit_is_by_one_of_the_bounds_and_its_minima_are_those_of_a_fit():
    for bound in ("tight", None):
        with pytest.raises(ValueError, match=f"bound must be one of 'logistic', .*, got {bound!r}"):
            ObjectivePerturbation(1, 1, bound=bound)
    with pytest.raises(ValueError, match="objective must be an ObjectivePerturbation, got Gaussian"):
        ApproximateMinima(Gaussian(1), 1, 1)


def test_what_a_bound_cannot_answer():
    kifer = ObjectivePerturbation(5, 20, bound="kifer2012")
    general = ObjectivePerturbation(5, 20, bound="non-glm", dimension=3)
    for call, reason in [
        (lambda: kifer.rdp(2.0), "no Rényi curve"),
        (lambda: general.delta(1.0), "Rényi divergence only"),
        (lambda: general.epsilon(1e-5), "Rényi divergence only"),
        (lambda: ApproximateMinima(kifer, 0.1, 0.1).rdp(2.0), "no Rényi curve"),
        (lambda: ApproximateMinima(general, 0.1, 0.1).epsilon(0.1), "'non-glm' has no privacy loss law"),
        (lambda: kifer.pld(), "bounds δ at ε only"),
        (lambda: general.pld(), "Rényi divergence only"),
    ]:
        with pytest.raises(NotImplementedError, match=reason):
            call()
    assert ApproximateMinima(general, 0.1, 0.1).rdp(2.0) > general.rdp(2.0)


def test_explanations():
    kifer = ObjectivePerturbation(50, 5, smoothness=1.0, bound="kifer2012")
    assert kifer.explain() is None
    assert "λ = 5 is below 2β/ε = 20 at ε = 0.1" in kifer.explain(0.1)
    assert "2β/ε = inf at ε = 0" in kifer.explain(0.0)
    assert kifer.explain(1.0) is None
    weak = ObjectivePerturbation(0.1, 5, smoothness=1.0, bound="kifer2012")
    assert weak.explain(1.0).startswith("At ε = 1 this bound says nothing yet")
    assert Gaussian(1.0).explain() is None
    assert Gaussian(1.0).explain(0.0) is None
    assert Gaussian(1e-3).explain(1.0).startswith("At ε = 1 this bound says nothing yet")
    assert ObjectivePerturbation(5, 20, smoothness=1.0, bound="glm").explain(0.1) is None
    assert ObjectivePerturbation(5, 20, smoothness=1.0, bound="non-glm", dimension=2).explain(0.1) is None
    assert ApproximateMinima(ObjectivePerturbation(5, 20), 0.1, 1.0).explain(0.5) is None
    assert via_rdp(Gaussian(1.0)).explain(0.5) is None
