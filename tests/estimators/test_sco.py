"""Objective perturbation in a ball for the population risk: what it fits, what it promises, what it refuses."""

import math
import warnings

import numpy as np
import pytest

from objpert_core.estimators import NoisySGDClassifier, ObjPertSCOClassifier, ObjPertSCORegressor, PrivacyCertificate
from objpert_core.estimators.noisy_sgd import descent_plan
from objpert_core.learning import SOLVERS
from objpert_core.theory.population_risk import AbsoluteWithLaplace, LogisticOnSphere
from tests.estimators.contract.case import Untouchable, assert_unfitted

CLOSED = {"lam": 200.0, "classes": [-1, 1], "random_state": 0}  # λ ≥ 2σ²: accounting is a closed form


def rows(n=500, d=5, seed=0):
    return LogisticOnSphere(d).sample(n, seed=seed)


def residuals(n=500, d=4, seed=0):
    return AbsoluteWithLaplace(d).sample(n, seed=seed)


# The ball


@pytest.mark.parametrize("radius", [0.01, 0.1, 30.0])
@pytest.mark.parametrize("intercept", [False, True])
def test_the_model_is_in_the_ball_but_for_output_noise(radius, intercept):
    model = ObjPertSCOClassifier(radius=radius, fit_intercept=intercept, **CLOSED).fit(*rows())
    spent = model.privacy_
    theta = np.append(model.coef_, model.intercept_ / 0.3 if intercept else [])
    assert np.linalg.norm(theta) <= radius + 10 * spent.sigma_out
    assert (np.linalg.norm(theta) < radius - 10 * spent.sigma_out) == (radius == 30.0)
    assert spent.ball_radius == radius
    assert spent.adjacency == "replace one row"
    assert spent.verify(model)


@pytest.mark.parametrize("solver", [name for name in SOLVERS if name != "sag"])
def test_every_solver_gives_the_same_model(solver):
    X, y = rows()
    newton = ObjPertSCOClassifier(radius=0.1, **CLOSED).fit(X, y)
    other = ObjPertSCOClassifier(radius=0.1, solver=solver, max_iter=5000, **CLOSED).fit(X, y)
    atol = 2 * newton.tau / 200 + 2 * newton.privacy_.lattice  # the noise is the same
    assert np.linalg.norm(other.coef_ - newton.coef_) <= atol
    assert other.privacy_.verify(other)


# What is promised


OTHER_LOSSES = [
    ({"loss": "absolute"}, "two-signed", "absolute", True),
    ({"loss": "squared", "clip": 0.5, "radius": 0.01}, "two-signed", "squared", False),
]


@pytest.mark.slow
@pytest.mark.parametrize(("parameters", "bound", "loss", "enveloped"), OTHER_LOSSES, ids=str)
def test_other_losses_read_no_number_of_rows(parameters, bound, loss, enveloped):
    X, y = residuals()
    model = ObjPertSCORegressor(**{"radius": 2.0, "random_state": 0} | parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        spent = model.fit(X, y).privacy_
    assert (spent.bound, spent.loss, spent.envelope is not None) == (bound, loss, enveloped)
    assert (spent.adjacency, spent.public_rows, spent.clip) == ("replace one row", None, parameters.get("clip"))
    assert spent.verify(model)
    assert PrivacyCertificate.from_json(spent.to_json()) == spent


@pytest.mark.slow
def test_it_learns():
    population = LogisticOnSphere(10)
    X, y = population.sample(20_000, seed=1)
    model = ObjPertSCOClassifier(0.5, 1e-9, 4.0, classes=[-1, 1], random_state=0).fit(X, y)
    assert population.excess(model.coef_.ravel()) < 0.02 * population.excess(np.zeros(10))
    population = AbsoluteWithLaplace(4)
    X, y = population.sample(20_000, seed=1)
    model = ObjPertSCORegressor(1.0, 1e-5, 2.0, random_state=0).fit(X, 3 + 2 * y)
    scaled = ObjPertSCORegressor(1.0, 1e-5, 2.0, random_state=0, target_range=(1.0, 5.0)).fit(X, 3 + 2 * y)
    assert population.excess(scaled.coef_ / 2) < 0.02 * population.excess(np.zeros(4))
    assert np.abs(scaled.predict(X) - (3 + 2 * y)).mean() < np.abs(model.predict(X) - (3 + 2 * y)).mean()


# What is refused, before the data are touched


UNCLAIMED = [
    ({"epsilon": 1.5}, "epsilon must be at most 1 for what is published, got 1.5"),
    ({"public_rows": 1000, "delta": 1e-5}, "delta must be at most 1/n² = 1e-06 for what is published, got 1e-05"),
    ({"lam": 1.0}, "lam must be None for schedule='bassily2019', which has its own, got 1.0"),
]


@pytest.mark.parametrize(("parameters", "message"), UNCLAIMED, ids=str)
def test_what_the_paper_does_not_claim_is_refused(parameters, message):
    for kind in (ObjPertSCOClassifier, ObjPertSCORegressor):
        model = kind(schedule="bassily2019", **parameters)
        with pytest.raises(ValueError, match=f"^{message}"):
            model.fit(Untouchable(), Untouchable())
        assert_unfitted(model)


def test_what_depends_on_the_shape_of_the_data_is_refused_by_it():
    X, y = rows(n=400)
    for parameters, message in (
        ({"delta": 1e-5}, r"delta must be at most 1/n² = 6\.25e-06 for what is published, got 1e-05"),
        ({"delta": 1e-6, "radius": 1e4}, r"smoothness must be at most epsilon\*lam/2 = 0\.0\d* .*got 0\.25"),
    ):
        model = ObjPertSCOClassifier(schedule="bassily2019", classes=[-1, 1], **parameters)
        with pytest.raises(ValueError, match=f"^{message}"):
            model.fit(X, y)
        assert_unfitted(model)


@pytest.mark.thorough
def test_the_column_for_the_intercept_lengthens_rows_and_gradients():
    model = NoisySGDClassifier(epsilon=0.5, delta=1e-8, radius=4.0, fit_intercept=True)
    plan = descent_plan(model.settings, 10_000, 11)
    assert plan.lipschitz == pytest.approx(math.hypot(1.0, 0.3), rel=1e-12)
