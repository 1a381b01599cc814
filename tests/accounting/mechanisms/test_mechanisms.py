"""What every mechanism answers: values, order among the bounds, shape, vectorisation, refusals."""

import dataclasses
import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import strategies as st

from objpert_core.accounting import (
    ADD_REMOVE,
    DPSGD,
    REPLACE_ONE,
    ApproximateMinima,
    Gaussian,
    HalfNormal,
    ObjectivePerturbation,
    OutputPerturbation,
    PrivateSelection,
    best_guess,
    compose,
    distance_to_optimality,
    group,
    repeat,
    replace_one,
    symmetrised,
    tabulated,
    via_rdp,
)

sigmas, lams = st.floats(-3, 6).map(lambda x: 10.0**x), st.floats(-6, 9).map(lambda x: 10.0**x)


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


EITHER = [Gaussian(2.0), OutputPerturbation(2.0, 1.5), HalfNormal(2.0)]
ADD_REMOVE_ONLY = [ObjectivePerturbation(3.0, 2.0), DPSGD(1.0, 0.01, 10)]
FITS = [ObjectivePerturbation(3.0, 2.0), ApproximateMinima(ObjectivePerturbation(3.0, 2.0), 1e-3, 0.1)]
WRAPPERS = [via_rdp, tabulated, symmetrised, lambda m: PrivateSelection(m, 5.0), lambda m: repeat(m, 3), compose]


# --- adjacency ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mechanism", [*EITHER, *ADD_REMOVE_ONLY], ids=lambda m: type(m).__name__)
def test_adjacency_is_a_keyword_only_field_that_defaults_to_add_remove(mechanism):
    assert mechanism.adjacency == ADD_REMOVE == "add/remove one row"
    (field,) = [field for field in dataclasses.fields(mechanism) if field.name == "adjacency"]
    assert field.kw_only


@pytest.mark.parametrize("mechanism", EITHER, ids=lambda m: type(m).__name__)
def test_noise_on_a_value_goes_with_either_adjacency(mechanism):
    replaced = dataclasses.replace(mechanism, adjacency=REPLACE_ONE)
    assert replaced.adjacency == "replace one row"
    assert replaced != mechanism
    assert replaced.epsilon(1e-5) == mechanism.epsilon(1e-5)  # the sensitivity is meant under it
    assert replaced.lower_bound.adjacency == REPLACE_ONE


@pytest.mark.parametrize("adjacency", [ADD_REMOVE, REPLACE_ONE])
@pytest.mark.parametrize("wrap", WRAPPERS)
def test_wrappers_take_it_from_their_part(wrap, adjacency):
    assert wrap(Gaussian(2.0, adjacency=adjacency)).adjacency == adjacency


# --- what it can answer ------------------------------------------------------------------------------------------


SILENT = [
    ObjectivePerturbation(3.0, 1.0, smoothness=1.0, bound="glm"),
    ObjectivePerturbation(3.0, 0.5, smoothness=1.0, bound="non-glm", dimension=2),
]
FEW_RUNS = lambda m: PrivateSelection(m, 5.0, 1.0)  # noqa: E731
IN_COMPANY = lambda m: compose(Gaussian(4.0), m)  # noqa: E731
MINIMA = lambda m: ApproximateMinima(m, 0.1, 0.1)  # noqa: E731
SEVERAL = lambda m: group(m, 3)  # noqa: E731


@pytest.mark.parametrize("silent", SILENT, ids=lambda m: m.bound)
@pytest.mark.parametrize("wrap", [lambda m: m, *WRAPPERS, FEW_RUNS, IN_COMPANY, MINIMA, SEVERAL, replace_one])
def test_what_is_made_of_a_bound_that_proves_nothing_proves_nothing_and_says_why(wrap, silent):
    whole = wrap(silent)
    assert whole.explain() == silent.explain()
    assert f"λ > β; λ = {silent.lam:g} is not above β = 1" in whole.explain()
    assert whole.rdp(2.0) == whole.mu() == whole.rho() == math.inf
    if silent.has_profile or wrap is via_rdp:
        assert whole.delta([0.0, 1.0, 700.0]).tolist() == [1.0] * 3
        assert whole.epsilon([1e-5, 0.999]).tolist() == [math.inf] * 2
        assert whole.tail(1.0) == best_guess(whole) == 1.0
        assert whole.tradeoff([0.0, 0.01, 0.5, 0.99]).tolist() == [0.0] * 4
        assert whole.odds(1e-5) == math.inf
    if hasattr(whole, "epsilon_bounds") and whole.has_losses:
        assert whole.epsilon_bounds(1e-5)[1] == math.inf


KIFER = ObjectivePerturbation(30.0, 20.0, bound="kifer2012")


@pytest.mark.parametrize("base", [KIFER, MINIMA(KIFER), symmetrised(KIFER), replace_one(KIFER)], ids=repr)
def test_what_has_no_renyi_curve_is_not_composed_nor_accounted_for_by_one(base):
    assert not base.has_rdp
    assert base.mu() == math.inf
    for call in (base.rdp, *WRAPPERS, IN_COMPANY):
        if call is not symmetrised:
            with pytest.raises(NotImplementedError, match=r"Kifer.*no Rényi curve"):
                call(2.0 if call == base.rdp else base)


# --- output perturbation -----------------------------------------------------------------------------------------


def test_output_perturbation_is_the_gaussian_mechanism_in_all_but_name():
    fit, plain = OutputPerturbation(0.5, 0.2, adjacency=REPLACE_ONE), Gaussian(0.5, 0.2, adjacency=REPLACE_ONE)
    assert repeat(fit, 9).epsilon(1e-5) == repeat(plain, 9).epsilon(1e-5)
    assert fit != plain
    assert distance_to_optimality(fit, 1e-5) == 1.0


# --- what it adds to an objective --------------------------------------------------------------------------------


@pytest.mark.parametrize("mechanism", FITS, ids=lambda m: type(m).__name__)
def test_objective_perturbation_adds_a_linear_term_and_lambda(mechanism):
    assert mechanism.perturbs_objective
    drawn = mechanism.perturbation(np.random.default_rng(3), 5)
    assert (drawn.linear == 3.0 * np.random.default_rng(3).standard_normal(5)).all()
    assert drawn.quadratic == 2.0


@pytest.mark.parametrize("mechanism", [*EITHER, DPSGD(1.0, 0.01, 10), via_rdp(FITS[0])], ids=lambda m: type(m).__name__)
def test_what_does_not_perturb_an_objective_says_so(mechanism):
    assert not mechanism.perturbs_objective
    with pytest.raises(NotImplementedError, match=f"{type(mechanism).__name__} does not perturb an objective"):
        mechanism.perturbation(np.random.default_rng(0), 2)
