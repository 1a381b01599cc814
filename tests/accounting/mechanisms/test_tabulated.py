"""Chords lie above the curves, and hardly above them."""

import numpy as np
import pytest

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


def test_what_proves_nothing_says_so():
    nothing = tabulated(acc.ObjectivePerturbation(10.0, 0.5, smoothness=1.0, bound="glm"))
    assert nothing.epsilon(1e-5) == np.inf
    assert nothing.delta(1.0) == 1.0
    assert "λ > β" in nothing.explain()


def test_a_table_of_a_table_is_the_table():
    quick = tabulated(acc.Gaussian(5.0))
    assert tabulated(quick) is quick
    assert isinstance(quick, Tabulated)


def test_what_has_no_renyi_curve_is_refused():
    with pytest.raises(NotImplementedError):
        tabulated(acc.ObjectivePerturbation(5.0, 5.0, bound="kifer2012"))
