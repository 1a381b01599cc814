"""Coefficients that a fit cannot have ended at do not verify, whatever fingerprint stands in the certificate."""

import copy
import math
from typing import Any

import numpy as np
import pytest

import objpert_core.estimators as est

X = np.random.default_rng(0).standard_normal((60, 3))
Y = (X[:, 0] > 0).astype(int)
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
SHARED: dict[str, Any] = {"classes": [0, 1], "random_state": 1}
FITS: dict[str, Any] = {
    "objective": est.ObjPertLogisticRegression(**SHARED, public_rows=60, standardize=False),
    "objective, rows read off": est.ObjPertLogisticRegression(**SHARED, standardize=False, fit_intercept=False),
    "objective, standardised": est.ObjPertLogisticRegression(**SHARED, public_rows=60, epsilon=8.0, standardize=True),
    "objective, few rows declared": est.ObjPertLogisticRegression(**SHARED, public_rows=20, epsilon=20.0),
    "objective, three classes": est.ObjPertLogisticRegression(classes=[0, 1, 2], random_state=1, public_rows=60),
    "output": est.OutputPerturbationLogisticRegression(**SHARED, public_rows=60),
    "sgd": est.DPSGDLogisticRegression(**SHARED, learning_rates=[0.5], public_rows=60, optimizer="sgd", epochs=2),
    "adam": est.DPSGDLogisticRegression(**SHARED, learning_rates=[1.0], public_rows=60, optimizer="adam", epochs=2),
    "noisy sgd": est.NoisySGDClassifier(**SHARED, radius=2.0, public_rows=60),
    "phased": est.PhasedERMClassifier(**SHARED, radius=2.0, public_rows=60),
}


@pytest.fixture(scope="module", params=FITS)
def fitted(request: pytest.FixtureRequest) -> Any:
    return copy.deepcopy(FITS[request.param]).fit(X, Y)


def changed(model: Any, **arrays: Any) -> Any:
    """The model with other numbers, and a certificate that names them."""
    other = copy.copy(model)
    for name, values in arrays.items():
        setattr(other, name, values)
    other.privacy_ = model.privacy_.about(other.coef_, other.intercept_, vars(other))
    return other


def maps(model: Any) -> dict[str, Any]:
    return {name: getattr(model, name, None) for name in ("center_", "scale_")}


def verifies(model: Any) -> bool:
    return bool(model.privacy_.verify(model))


def at_length(model: Any, length: float, *, intercept: bool = False) -> Any:
    """The model with coefficients, or an intercept, that are so long, on its lattice."""
    constant = model.privacy_.intercept_scaling
    spacing = model.privacy_.lattice * max(constant, 1.0)
    coef, moved = np.zeros_like(model.coef_), np.zeros_like(model.intercept_)
    if intercept:
        moved[-1] = length * constant
    else:
        coef[-1, 0] = math.floor(length / spacing) * spacing
    return changed(model, coef_=coef, intercept_=moved)


@pytest.mark.thorough
def test_what_a_fit_released_is_within_reach(fitted: Any) -> None:
    assert verifies(fitted)
    assert verifies(fitted.release())


@pytest.mark.thorough
def test_coefficients_beyond_the_bound_do_not_verify(fitted: Any) -> None:
    constant = fitted.privacy_.intercept_scaling > 0
    reach = fitted.privacy_.reach(3 + constant)
    assert reach is not None
    assert verifies(at_length(fitted, 0.99 * reach))
    assert not verifies(at_length(fitted, 1.01 * reach))
    assert not verifies(changed(fitted, coef_=np.full_like(fitted.coef_, math.inf)))
    if constant:
        assert verifies(at_length(fitted, 0.99 * reach, intercept=True))
        assert not verifies(at_length(fitted, 1.01 * reach, intercept=True))


def test_the_bound_of_a_fit_is_that_of_the_document() -> None:
    found = copy.deepcopy(FITS["objective"]).fit(X, Y).privacy_
    noise = 10 * math.sqrt(4)
    by_hand = (10 * 60 * found.lipschitz + noise * found.sigma + found.tau) / found.lam + noise * found.sigma_out
    assert found.reach(4) == pytest.approx(by_hand, rel=1e-12)


@pytest.mark.thorough
def test_a_centre_outside_the_ball_and_weights_beyond_the_floor_do_not_verify() -> None:
    model = copy.deepcopy(FITS["objective, standardised"]).fit(X, Y)
    assert verifies(changed(model, center_=model.center_ / 2, scale_=model.scale_ / 2))
    assert not verifies(changed(model, center_=np.full(3, 0.6)))
    for scale in (np.full(3, 10.01), np.zeros(3), np.full(3, np.nan), -model.scale_):
        assert not verifies(changed(model, scale_=scale))


@pytest.mark.parametrize(
    "model", [est.ObjPertSVC(**SHARED), est.OutputPerturbationLogisticRegression(**SHARED, lam=3.0)]
)
def test_where_no_rule_reads_the_number_of_rows_nothing_bounds_the_coefficients(model: Any) -> None:
    model.fit(X, Y)
    assert model.privacy_.public_rows is None
    assert model.privacy_.reach(4) is None
    assert verifies(at_length(model, 1e6))
