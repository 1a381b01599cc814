"""Chords lie above the curves, and hardly above them."""

import sys

import numpy as np
import pytest
from dp_accounting import NeighboringRelation
from dp_accounting.pld import PLDAccountant
from dp_accounting.pld import privacy_loss_distribution as google

import objpert_core.accounting as acc
from objpert_core.accounting.mechanisms.tabulated import Tabulated, tabulated

BASES = {
    "gaussian": acc.Gaussian(5.0),
    "gaussian, much noise": acc.Gaussian(3000.0),
    "gaussian, no privacy": acc.Gaussian(0.1),
    "objective": acc.ObjectivePerturbation(4.0, 0.7),
    "objective, published": acc.via_rdp(acc.ObjectivePerturbation(7.0, 4.0, bound="glm")),
    "objective, Rényi": acc.via_rdp(acc.ObjectivePerturbation(4.0, 0.7)),
    "dp-sgd": acc.DPSGD(2.0, 0.01, 300),
    "dp-sgd, Rényi": acc.via_rdp(acc.DPSGD(3.0, 0.0071, 8520)),
    "not glm": acc.ObjectivePerturbation(10.0, 20.0, bound="non-glm", dimension=5),
}


def convolved(base):
    return isinstance(base, acc.DPSGD)


@pytest.mark.slow
@pytest.mark.parametrize("base", BASES.values(), ids=BASES)
def test_the_renyi_curve_is_bounded_closely_from_above(base):
    alpha = np.unique(np.concatenate([1 + np.geomspace(1e-3, 9e5, 400), [1.5, 2, 3, 17, 100]]))
    exact, quick = base.rdp(alpha), tabulated(base).rdp(alpha)
    finite = np.isfinite(exact)
    assert (quick >= exact).all()
    matters = finite & (exact * (alpha - 1) < 1e4)
    assert matters.any()
    assert (quick[matters] <= exact[matters] * (1 + 2e-4)).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    "delta",
    [
        1e-2,
        1e-5,
        pytest.param(1e-9, marks=pytest.mark.exhaustive),
        pytest.param(1e-12, marks=pytest.mark.exhaustive),
        1e-20,
    ],
)
@pytest.mark.parametrize("base", BASES.values(), ids=BASES)
def test_epsilon_is_bounded_closely_from_above(base, delta):
    quick = tabulated(base).epsilon(delta)
    exact = (acc.via_rdp(base) if base == BASES["not glm"] else base).epsilon(delta)
    assert quick >= exact * (1 - (1e-3 if convolved(base) else 1e-9))
    loosest = exact if delta > 1e-13 else acc.via_rdp(base).epsilon(delta)  # beyond the profile's table
    assert quick <= loosest * 1.002


@pytest.mark.slow
@pytest.mark.parametrize("eta", [None, 1.0, 0.0])
@pytest.mark.parametrize("name", ["gaussian", "dp-sgd, Rényi", "dp-sgd"])
def test_private_selection_is_what_it_is_without_the_table(name, eta):
    base = BASES[name]
    for mean in (3.0, 15.4, 200.0):
        exact = acc.PrivateSelection(base, mean, eta).epsilon(1e-5)
        quick = acc.PrivateSelection(tabulated(base), mean, eta).epsilon(1e-5)
        assert exact * (1 - 1e-3) <= quick <= exact * (1 + 1e-3)


def test_a_table_of_a_table_is_the_table():
    quick = tabulated(acc.Gaussian(5.0))
    assert tabulated(quick) is quick
    assert isinstance(quick, Tabulated)


EXACT = [
    acc.Gaussian(2.0),
    acc.OutputPerturbation(2.0, 0.4),
    acc.ObjectivePerturbation(5.0, 50.0),
    acc.ObjectivePerturbation(10.0, 5.0),
    acc.ObjectivePerturbation(10.0, 5.0, bound="monotone"),
    acc.ObjectivePerturbation(10.0, 5.0, bound="two-signed"),
    acc.ApproximateMinima(acc.ObjectivePerturbation(10.0, 5.0), 1e-6, 0.01),
    acc.HalfNormal(3.0),
    acc.ObjectivePerturbation(10.0, 5.0, smoothness=0.25, bound="kifer2012"),
    acc.repeat(acc.Gaussian(10.0), 7),
]


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", EXACT, ids=str)
def test_there_and_back_epsilon_is_the_same_and_never_smaller(mechanism):
    theirs = mechanism.to_pld()
    back = acc.Tabulated.from_dp_accounting(theirs)
    for delta in (1e-3, 1e-5):
        own = mechanism.epsilon(delta)
        assert theirs.get_epsilon_for_delta(delta) == pytest.approx(own, rel=1e-6)
        assert own * (1 - 1e-9) <= back.epsilon(delta)
        assert back.epsilon(delta) == pytest.approx(theirs.get_epsilon_for_delta(delta), rel=1e-9)
        assert back.delta(back.epsilon(delta)) <= delta


@pytest.mark.slow
@pytest.mark.parametrize(
    "run",
    [
        acc.DPSGD(1.0, 0.01, 30),
        pytest.param(acc.DPSGD(1.0, 0.1, 5, adjacency=acc.REPLACE_ONE), marks=pytest.mark.exhaustive),
    ],
    ids=str,
)
def test_dp_sgd_there_and_back_lies_between_its_bounds(run):
    theirs = run.to_pld()
    low, high = run.epsilon_bounds(1e-5, 1e-6)
    there = theirs.get_epsilon_for_delta(1e-5)
    assert low <= there <= high * (1 + 2e-5)
    assert acc.Tabulated.from_dp_accounting(theirs, run.adjacency).epsilon(1e-5) == pytest.approx(there, rel=1e-9)


@pytest.mark.thorough
def test_distributions_of_one_interval_compose_over_there():
    first, second = acc.Gaussian(8.0).to_pld(1e-3), acc.ObjectivePerturbation(9.0, 400.0).to_pld(1e-3)
    together = first.compose(second).get_epsilon_for_delta(1e-5)
    assert together == pytest.approx(
        acc.compose(acc.Gaussian(8.0), acc.ObjectivePerturbation(9.0, 400.0)).epsilon(1e-5), rel=0.1
    )


def test_imported_losses_compose_here():
    imported = acc.Tabulated.from_dp_accounting(google.from_gaussian_mechanism(8.0, value_discretization_interval=1e-3))
    low, high = acc.compose(imported, acc.Gaussian(8.0)).epsilon_bounds(1e-5)
    exact = acc.Gaussian(8.0 / 2**0.5).epsilon(1e-5)
    assert exact * (1 - 1e-3) < low <= high < exact * (1 + 1e-3)
    assert high >= exact
    laplace = acc.Tabulated.from_dp_accounting(google.from_laplace_mechanism(2.0, value_discretization_interval=1e-3))
    assert laplace.epsilon(1e-9) == pytest.approx(0.5, abs=1e-3)
    assert laplace.rdp(2.0) == np.inf  # dp_accounting put what it cut off at +∞
    assert acc.repeat(laplace, 3).epsilon(1e-3) <= 1.5 + 3e-3


def test_replaced_rows_of_dp_sgd_are_for_an_accountant_of_replaced_rows():
    run = acc.DPSGD(1.0, 0.1, 5, adjacency=acc.REPLACE_ONE)
    accountant = PLDAccountant(NeighboringRelation.REPLACE_ONE, 1e-3)
    accountant.compose(run.to_dp_event())
    assert accountant.get_epsilon(1e-5) == pytest.approx(run.epsilon(1e-5), rel=1e-3)


@pytest.mark.parametrize(
    "mechanism",
    [
        acc.ObjectivePerturbation(10.0, 5.0),
        acc.HalfNormal(3.0),
        acc.PrivateSelection(acc.Gaussian(5.0), 3.0),
        acc.DPSGD(1.0, 0.1, 5, adjacency=acc.REPLACE_ONE, group_size=2),
    ],
    ids=str,
)
def test_what_has_no_event_says_so(mechanism):
    with pytest.raises(NotImplementedError, match=r"dp_accounting has no event .* use to_pld\(\)"):
        mechanism.to_dp_event()


def test_without_dp_accounting_one_is_told_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "dp_accounting.dp_event", None)
    with pytest.raises(ImportError, match="pip install dp-accounting"):
        acc.Gaussian(1.0).to_dp_event()
    with pytest.raises(ImportError, match="pip install dp-accounting"):
        acc.Gaussian(1.0).to_pld()
