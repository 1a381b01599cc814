"""Fits in a ball and of envelopes: what is released, what the certificate says of it, and what no forgery gets past."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize

import objpert_core.learning as learn
from objpert_core.accounting import ApproximateMinima, ObjectivePerturbation
from objpert_core.accounting.mechanisms.perturbation import Perturbation
from objpert_core.learning.problem.envelopes import envelope_steps
from tests.learning.solvers.test_ball import by_scipy
from tests.test_toy_family import TOY

TAU, DELTA = 1e-6, 1e-5


def logistic(lam=120.0):
    """Rows are replaced; λ ≥ 2σ², so that accounting is a closed form."""
    return ApproximateMinima(ObjectivePerturbation(7.5, lam, adjacency="replace one row"), TAU, 1e-4)


def generalised(bound="two-signed", smoothness=1.0, lipschitz=1.0, lam=20.0):
    return ApproximateMinima(ObjectivePerturbation(9.0, lam, lipschitz, smoothness, bound), TAU, 1e-3)


def data(n=300, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * rng.uniform(0.2, 1.0, size=(n, 1))
    score = X @ np.array([2.0, -1.0, 0.5, 1.0])[:d] + 0.2 * rng.normal(size=n)
    return X, score


def labelled(**options):
    X, score = data(**options)
    return X, np.where(score > 0, 1.0, -1.0)


def released(X, targets, mechanism, **options):
    return learn.perturb_and_solve(
        X, targets, mechanism, **{"delta": DELTA, "intercept_scaling": 0.0, "random_state": 3} | options
    )


# In a ball


@pytest.mark.parametrize("radius", [0.05, 0.3, 50.0])
@pytest.mark.parametrize("on_error", ["raise", "release"])
def test_the_release_is_the_minimum_over_the_ball_plus_output_noise(radius, on_error):
    X, t = labelled()
    mechanism = logistic()
    release = released(X, t, mechanism, radius=radius, on_error=on_error)
    source, spent = learn.noise_source(3), release.certificate
    objective = learn.PerturbedObjective(learn.Rows(X, "normalize"), t, 120.0, 7.5 * source.standard_normal(4))
    exact = learn.solve(objective, tau=1e-10, radius=radius).theta
    noise = source.rounded_normal(mechanism.sigma_out / spent.lattice, 4) * spent.lattice
    np.testing.assert_allclose(release.theta - noise, exact, rtol=0, atol=TAU / 120)
    assert np.linalg.norm(release.theta - noise) <= radius + 2 * spent.lattice  # the ball is kept but for the noise
    assert (np.linalg.norm(exact) < radius * (1 - 1e-9)) == (radius == 50.0)
    assert spent.gradient_norm <= TAU
    assert spent.ball_radius == radius
    assert f"  ball       ‖θ‖ ≤ {radius:g}, before the output noise" in repr(spent)
    assert spent.verify()


@pytest.mark.parametrize("radius", [0.01, 10.0])
def test_the_answer_for_no_data_is_the_shortened_noise(radius):
    none = released(np.zeros((0, 4)), np.zeros(0), logistic(), radius=radius, on_error="release")
    b = 7.5 * learn.noise_source(3).standard_normal(4)
    exact = -b / 120 * min(1.0, radius * 120 / np.linalg.norm(b))
    np.testing.assert_allclose(none.theta, exact, rtol=0, atol=6e-4)  # the output noise
    assert none.certificate.verify()


@pytest.mark.parametrize("radius", [0.1, 20.0])
def test_a_matrix_has_its_answer_for_no_data_too(radius):
    quadratic, linear = np.diag([1.0, 3.0, 10.0]), np.array([3.0, -2.0, 5.0])
    fit = learn.Fit(
        np.zeros((0, 3)), np.zeros(0), learn.LogisticLoss(), intercept_scaling=0.0, random_state=0, on_error="release"
    )
    facts = {"epsilon": 1.0, "delta": DELTA, "accountant": "profile", "stop_at": TAU, "output_noise": 1e-4}
    release = fit.release(TOY, Perturbation(linear, quadratic), learn.LogisticLoss(), radius=radius, **facts)
    free = -linear / np.diag(quadratic)
    peer = minimize(
        lambda w: w @ quadratic @ w / 2 + linear @ w,
        np.zeros(3),
        constraints={"type": "ineq", "fun": lambda w: radius**2 - w @ w},
        options={"ftol": 1e-12},
    )
    np.testing.assert_allclose(release.theta, free if radius == 20.0 else peer.x, atol=1e-3)


def test_a_solver_that_stops_early_is_followed_by_a_sure_one_in_the_ball():
    X, t = labelled()
    early = released(X, t, logistic(), radius=0.3, on_error="release", max_iter=1)
    usual = released(X, t, logistic(), radius=0.3, on_error="release")
    np.testing.assert_allclose(early.theta, usual.theta, rtol=0, atol=2 * TAU / 120 + usual.certificate.lattice)
    assert early.certificate.verify()


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name in ("radius", "envelope") for value in (0.0, -1.0, math.nan, "1")]
)
def test_numbers_out_of_range_are_named_before_the_data_are_touched(name, value):
    with pytest.raises(ValueError, match=f"^{name} must be a finite number > 0, got {value!r}"):
        learn.perturb_and_solve(None, None, logistic(), delta=DELTA, **{name: value})


def test_a_family_whose_certificate_cannot_name_them_has_neither():
    for option in ({"radius": 1.0}, {"envelope": 1.0}):
        (name,) = option
        with pytest.raises(ValueError, match=f"{name} must be None for a PublicPriorCertificate, which cannot name it"):
            learn.perturb_and_solve(*labelled(), TOY, delta=DELTA, **option)


# Envelopes

EVERY_ENVELOPE = [
    (learn.HingeLoss(), "monotone", None),
    (learn.LogisticLoss(), "monotone", None),
    (learn.AbsoluteLoss(), "two-signed", None),
    (learn.PinballLoss(0.2), "two-signed", None),
    (learn.EpsilonInsensitiveLoss(0.1), "two-signed", None),
    (learn.HuberLoss(1.0), "glm", None),
    (learn.SquaredLoss(), "two-signed", 0.5),
    (learn.AbsoluteLoss(), "two-signed", 0.5),
]


@pytest.mark.parametrize(("loss", "bound", "clip"), EVERY_ENVELOPE, ids=str)
def test_envelopes_are_fitted_certified_and_verified(loss, bound, clip):
    X, targets = labelled() if loss.monotone else data()
    mechanism = generalised(bound)
    options = {"loss": loss, "envelope": 1.0, "clip": clip, "row_norm": "clip", "radius": 0.5}
    release = released(X, targets, mechanism, **options)
    spent = release.certificate
    assert (spent.loss, spent.loss_parameter, spent.envelope, spent.clip) == (loss.name, loss.parameter, 1.0, clip)
    assert spent.verify()
    assert "its envelope of smoothness 1" in repr(spent)
    if clip is None:  # the minimum that SciPy finds, of envelopes with each row's own step
        rows = learn.Rows(X, "clip")
        own = learn.MoreauEnvelope(loss, envelope_steps(rows, 1.0))
        assert (own.smoothness_of_rows * np.minimum(np.linalg.norm(X, axis=1), 1.0) ** 2 <= 1.0 + 1e-15).all()
        objective = learn.PerturbedObjective(rows, targets, 20.0, 9.0 * learn.noise_source(3).standard_normal(4), own)
        peer = by_scipy(objective, 0.5)
        np.testing.assert_allclose(release.theta, peer.x, atol=5e-3)  # the output noise


UNCOVERED = [
    (generalised(), learn.HingeLoss(), {}, "loss must be one of 'logistic', .*got HingeLoss"),
    (
        logistic(),
        learn.LogisticLoss(),
        {"envelope": 0.1},
        "bound must not be 'logistic' for the loss 'envelope of logis",
    ),
    (generalised(), learn.HingeLoss(), {"envelope": 1.1}, r"smoothness must be at least 1\.09999.*, got 1.0"),
    (generalised(lipschitz=0.9), learn.HingeLoss(), {"envelope": 1.0}, r"lipschitz must be at least 1\.0, got 0.9"),
    (generalised("monotone"), learn.AbsoluteLoss(), {"envelope": 1.0}, "bound must not be 'monotone' for the loss"),
    (generalised(), learn.SquaredLoss(), {"envelope": 1.0}, "lipschitz must be at least inf, got 1.0"),
    (generalised(), learn.HingeLoss(), {"envelope": 1.0, "intercept_scaling": 0.5}, r"lipschitz must be at least 1\.1"),
]


@pytest.mark.parametrize(("mechanism", "loss", "options", "message"), UNCOVERED, ids=str)
def test_what_the_theorem_does_not_cover_is_refused(mechanism, loss, options, message):
    X, t = labelled()
    with pytest.raises(ValueError, match=message):
        released(X, t, mechanism, loss=loss, **options)
