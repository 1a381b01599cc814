"""Certificates of draws and of noisy sums: better promises are convicted, weaker ones verify."""

import dataclasses
import math

import numpy as np
import pytest

from objpert_core.estimators import AdaOPSRegressor, AdaSSPRegressor, OPSPTRRegressor
from objpert_core.learning import PrivacyCertificate

rng = np.random.default_rng(6)
X = rng.normal(size=(400, 3))
Y = 0.3 * X[:, 0]
JUDGES = (X[:20], Y[:20])
MODELS = {
    "tight": AdaOPSRegressor(random_state=0),
    "best": OPSPTRRegressor(random_state=0, mean_runs=3, validation=JUDGES),
    "split": AdaOPSRegressor(random_state=0, accounting="split"),
    "best, split": OPSPTRRegressor(random_state=0, mean_runs=3, validation=JUDGES, accounting="split", lams=[300.0]),
    "sums": AdaSSPRegressor(random_state=0),
}
EVERY = [
    {"delta": 0.9e-5},
    {"epsilon": 0.5},
    {"rows_per_person": 2},
    {"adjacency": "replace one row"},
    {"adjacency": "replace up to 2 rows of one person"},
    {"accountant": "rdp"},
    {"mechanism": "ApproximateMinima"},
    {"target_bound": 0.0},
    {"target_bound": math.nan},
    {"reproducible": False},
    {"rows_declared": True},
    {"schema": 1},
    {"lattice": 0.3},
    {"lattice": None, "coefficients_sha256": "0" * 64},
]
OF_A_DRAW = [
    {"eigenvalue_mu": 5.0},
    {"norm_mu": 5.0},
    {"failure": 2e-5},
    {"mean_runs": 10.0},
    {"mean_runs": 0.5},
    {"public_validation": 1},
]
OWN = {
    "tight": [*OF_A_DRAW, {"separation": 0.3}, {"leverage": 0.4}, {"leverage": 2.0}],
    "best": [*OF_A_DRAW, {"separation": 0.3}, {"leverage": 0.4}, {"public_validation": False}],
    "split": [
        *OF_A_DRAW,
        {"release_epsilon": 0.6},
        {"release_delta": 9e-6},
        {"test_epsilon": 0.2},  # 0.4 holds: two releases together cost less than their shares
        {"test_delta": 1e-12},
        {"certified": False},
        {"shifted": False},
        {"tail": 3.0},
        {"mechanism": "PrivateSelection"},
    ],
    "best, split": [
        *OF_A_DRAW,
        {"release_epsilon": 0.8},
        {"test_epsilon": 0.01},
        {"public_validation": False},
        {"tail": 3.0},
        {"mechanism": "ProposeTestRelease"},
    ],
    "sums": [
        {"gram_noise": 5.0},
        {"moment_noise": 5.0},
        {"eigenvalue_noise": 5.0},
        {"gram_noise": 0.0},
        {"dimension": 0},
        {"lattice": None},
    ],
}


@pytest.fixture(
    scope="module",
    params=[pytest.param(kind, marks=[pytest.mark.slow] if "best" in kind else []) for kind in MODELS],
)
def fitted(request):
    return request.param, MODELS[request.param].fit(X, Y)


def test_a_fit_is_certified_and_named(fitted):
    _, model = fitted
    spent = model.privacy_
    assert spent.verify()
    assert spent.verify(model)
    assert PrivacyCertificate.from_json(spent.to_json()) == spent
    assert PrivacyCertificate.from_json(spent.to_json()).verify(model)
    assert type(spent).DIAGNOSTICS == ()
    model.coef_ = model.coef_ + spent.lattice
    assert not spent.verify(model)
    model.coef_ = model.coef_ - spent.lattice
    moved = spent.about(model.coef_, 1e-9)
    model.intercept_ = 1e-9
    assert not moved.verify(model)  # an offset from elsewhere
    model.intercept_ = 0.0
    assert spent.verify(model)


def test_better_promises_are_convicted(fitted):
    kind, model = fitted
    spent = model.privacy_
    for changes in EVERY + OWN[kind]:
        forged = dataclasses.replace(spent, **changes)
        assert not forged.verify(), changes
        assert "differential privacy" in repr(forged) or "no fit has written" in repr(forged)


def test_weaker_promises_verify(fitted):
    kind, model = fitted
    own = {
        "tight": {"separation": 0.1},
        "best": {"leverage": 0.01},
        "split": {"tail": 9.0},
        "best, split": {"eigenvalue_mu": 1e-3},
        "sums": {"gram_noise": 9.0},
    }[kind]
    for changes in ({"epsilon": 1.1}, {"delta": 2e-5}, {"on_error": "release"}, own):
        assert dataclasses.replace(model.privacy_, **changes).verify(), changes


def test_coefficients_off_the_lattice_are_nobodys(fitted):
    kind, model = fitted
    if kind == "sums":  # θ is solved from what lies on a lattice
        return
    coarser = dataclasses.replace(model.privacy_, lattice=2**20 * model.privacy_.lattice)
    assert not coarser.verify(model)


NASTY = (None, True, 0, -1, 10**400, 0.0, -1.0, math.nan, math.inf, 5e-324, 1.7e308, "", b"x", [], {}, (1.0,))


@pytest.mark.slow
def test_no_nonsense_in_any_field_verifies_or_raises(fitted):
    _, model = fitted
    spent = model.privacy_
    harmless = {
        "epsilon": (1.7e308,),
        "lattice": (5e-324,),
        "public_validation": (True,),
        "dimension": (10**400,),
        "coefficients_sha256": (None,),
        "gram_noise": (1.7e308,),
        "moment_noise": (1.7e308,),
        "eigenvalue_noise": (1.7e308,),
        "separation": (0.0,),
        "tail": (1.7e308,),
        "failure": (5e-324,),
        "release_delta": (5e-324,),
        "release_epsilon": (5e-324,),
        "eigenvalue_mu": (5e-324,),
        "norm_mu": (5e-324,),
    }
    for field in dataclasses.fields(spent):
        for value in NASTY:
            forged = dataclasses.replace(spent, **{field.name: value})
            own = [type(one) is type(value) and one == value for one in harmless.get(field.name, ())]
            same = type(value) is type(getattr(spent, field.name)) and value == getattr(spent, field.name)
            assert forged.verify() <= (any(own) or same), (field.name, value)
            repr(forged)
