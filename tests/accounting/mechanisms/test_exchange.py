"""To dp_accounting and back."""

import sys

import numpy as np
import pytest
from dp_accounting import NeighboringRelation
from dp_accounting.pld import PLDAccountant
from dp_accounting.pld import privacy_loss_distribution as google

from objpert_core.accounting import (
    DPSGD,
    REPLACE_ONE,
    ApproximateMinima,
    Gaussian,
    HalfNormal,
    ObjectivePerturbation,
    OutputPerturbation,
    PrivateSelection,
    Tabulated,
    compose,
    repeat,
)

EXACT = [
    Gaussian(2.0),
    OutputPerturbation(2.0, 0.4),
    ObjectivePerturbation(5.0, 50.0),
    ObjectivePerturbation(10.0, 5.0),
    ObjectivePerturbation(10.0, 5.0, bound="monotone"),
    ObjectivePerturbation(10.0, 5.0, bound="two-signed"),
    ApproximateMinima(ObjectivePerturbation(10.0, 5.0), 1e-6, 0.01),
    HalfNormal(3.0),
    ObjectivePerturbation(10.0, 5.0, smoothness=0.25, bound="kifer2012"),
    repeat(Gaussian(10.0), 7),
]


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", EXACT, ids=str)
def test_there_and_back_epsilon_is_the_same_and_never_smaller(mechanism):
    theirs = mechanism.to_pld()
    back = Tabulated.from_dp_accounting(theirs)
    for delta in (1e-3, 1e-5):
        own = mechanism.epsilon(delta)
        assert theirs.get_epsilon_for_delta(delta) == pytest.approx(own, rel=1e-6)
        assert own * (1 - 1e-9) <= back.epsilon(delta)
        assert back.epsilon(delta) == pytest.approx(theirs.get_epsilon_for_delta(delta), rel=1e-9)
        assert back.delta(back.epsilon(delta)) <= delta


@pytest.mark.slow
@pytest.mark.parametrize(
    "run",
    [DPSGD(1.0, 0.01, 30), pytest.param(DPSGD(1.0, 0.1, 5, adjacency=REPLACE_ONE), marks=pytest.mark.exhaustive)],
    ids=str,
)
def test_dp_sgd_there_and_back_lies_between_its_bounds(run):
    theirs = run.to_pld()
    low, high = run.epsilon_bounds(1e-5, 1e-6)
    there = theirs.get_epsilon_for_delta(1e-5)
    assert low <= there <= high * (1 + 2e-5)
    assert Tabulated.from_dp_accounting(theirs, run.adjacency).epsilon(1e-5) == pytest.approx(there, rel=1e-9)


@pytest.mark.thorough
def test_distributions_of_one_interval_compose_over_there():
    first, second = Gaussian(8.0).to_pld(1e-3), ObjectivePerturbation(9.0, 400.0).to_pld(1e-3)
    together = first.compose(second).get_epsilon_for_delta(1e-5)
    assert together == pytest.approx(compose(Gaussian(8.0), ObjectivePerturbation(9.0, 400.0)).epsilon(1e-5), rel=0.1)


def test_imported_losses_compose_here():
    imported = Tabulated.from_dp_accounting(google.from_gaussian_mechanism(8.0, value_discretization_interval=1e-3))
    low, high = compose(imported, Gaussian(8.0)).epsilon_bounds(1e-5)
    exact = Gaussian(8.0 / 2**0.5).epsilon(1e-5)
    assert exact * (1 - 1e-3) < low <= high < exact * (1 + 1e-3)
    assert high >= exact
    laplace = Tabulated.from_dp_accounting(google.from_laplace_mechanism(2.0, value_discretization_interval=1e-3))
    assert laplace.epsilon(1e-9) == pytest.approx(0.5, abs=1e-3)
    assert laplace.rdp(2.0) == np.inf  # dp_accounting put what it cut off at +∞
    assert repeat(laplace, 3).epsilon(1e-3) <= 1.5 + 3e-3


def test_replaced_rows_of_dp_sgd_are_for_an_accountant_of_replaced_rows():
    run = DPSGD(1.0, 0.1, 5, adjacency=REPLACE_ONE)
    accountant = PLDAccountant(NeighboringRelation.REPLACE_ONE, 1e-3)
    accountant.compose(run.to_dp_event())
    assert accountant.get_epsilon(1e-5) == pytest.approx(run.epsilon(1e-5), rel=1e-3)


@pytest.mark.parametrize(
    "mechanism",
    [
        ObjectivePerturbation(10.0, 5.0),
        HalfNormal(3.0),
        PrivateSelection(Gaussian(5.0), 3.0),
        DPSGD(1.0, 0.1, 5, adjacency=REPLACE_ONE, group_size=2),
    ],
    ids=str,
)
def test_what_has_no_event_says_so(mechanism):
    with pytest.raises(NotImplementedError, match=r"dp_accounting has no event .* use to_pld\(\)"):
        mechanism.to_dp_event()


def test_what_proves_nothing_has_no_distribution():
    with pytest.raises(NotImplementedError, match="λ > β"):
        ObjectivePerturbation(5.0, 0.1, smoothness=1.0, bound="glm").to_pld()


def test_optimistic_and_other_objects_are_refused():
    optimistic = google.from_gaussian_mechanism(1.0, pessimistic_estimate=False, value_discretization_interval=1e-2)
    with pytest.raises(ValueError, match="pessimistic"):
        Tabulated.from_dp_accounting(optimistic)
    with pytest.raises(ValueError, match="PrivacyLossDistribution of dp_accounting, got 3"):
        Tabulated.from_dp_accounting(3)
    with pytest.raises(ValueError, match="adjacency must be"):
        Tabulated.from_dp_accounting(Gaussian(1.0).to_pld(1e-2), "swap")


def test_without_dp_accounting_one_is_told_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "dp_accounting.dp_event", None)
    with pytest.raises(ImportError, match="pip install dp-accounting"):
        Gaussian(1.0).to_dp_event()
    with pytest.raises(ImportError, match="pip install dp-accounting"):
        Gaussian(1.0).to_pld()
