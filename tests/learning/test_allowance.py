"""What rounding can take of τ, by public numbers: no data may take more, and a τ that is too small is refused first."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import objpert_core.learning as learn
from objpert_core.accounting import ApproximateMinima, ObjectivePerturbation, calibrate_objective_perturbation
from objpert_core.exceptions import ConvergenceError
from objpert_core.learning.allowance import Allowance
from objpert_core.learning.noise import noise_source
from objpert_core.learning.problem.envelopes import MoreauEnvelope, envelope_steps, widest_envelope
from objpert_core.learning.problem.fine import FineRows, fine
from objpert_core.learning.problem.objective import PerturbedObjective
from objpert_core.learning.problem.rounding import gradient_norm_bound
from objpert_core.learning.problem.rows import Rows, row_radius
from objpert_core.learning.solvers import residual_bound, solve
from tests.learning.test_objective_perturbation import DELTA, calibrated, data

LOSSES = (
    (learn.LogisticLoss(), None),
    (learn.LogisticLoss(1.5), None),
    (learn.HuberisedHingeLoss(0.1), None),
    (learn.SquaredHingeLoss(), 1.0),
    (learn.SquaredLoss(), 0.5),
    (learn.HuberLoss(3.0), None),
    (learn.AbsoluteLoss(), None),
    (learn.PinballLoss(0.9), None),
    (learn.HingeLoss(), None),
)
SMOOTH = 2.0  # of envelopes


def hostile(loss, seed, n=700, d=30):
    """Rows all alike but for some, and targets that pull θ as far as they can."""
    rng = np.random.default_rng(seed)
    X = np.ones((n, d)) + (seed % 3) * rng.normal(size=(n, d))
    if loss.takes_margins:
        return X, np.where(rng.random(n) < 0.1 * (seed % 2), -1.0, 1.0)
    return X, rng.normal(size=n) + 10.0 ** (seed % 4)


@pytest.mark.thorough
@pytest.mark.parametrize("ball", [None, 0.7])
@pytest.mark.parametrize(("loss", "clip"), LOSSES, ids=lambda value: getattr(value, "name", None))
@pytest.mark.parametrize("seed", range(4))
def test_no_data_take_more_than_is_allowed(loss, clip, seed, ball):
    X, targets = hostile(loss, seed)
    lam, constant, tau, noise = (0.05, 3.0)[seed % 2], 0.3, 1e-6, 4.0
    rows = Rows((np.asarray, sp.csr_array)[seed // 2](X), "normalize", constant)
    longest, own, promised = row_radius(constant), loss, loss
    if not math.isfinite(loss.smoothness):
        own, promised = MoreauEnvelope(loss, envelope_steps(rows, SMOOTH)), widest_envelope(loss, SMOOTH, longest)
    if clip is not None:
        own = learn.ClippedLoss(own, rows.slopes_of_norm(clip))
    gradient = min(promised.lipschitz * longest, clip or math.inf)
    public = {"n_rows": len(X), "dimension": rows.dimension, "longest": longest, "loss": promised, "lam": lam}
    allowed = Allowance(**public, gradient=gradient, noise=noise, ball=ball or math.inf)
    b = noise * noise_source(seed).standard_normal(rows.dimension)
    objective = PerturbedObjective(rows, targets, lam, b, own)
    result = solve(objective, tau=tau / 2, radius=ball)
    assert np.linalg.norm(result.theta) <= allowed.length(tau) * (1 + 1e-12)
    if ball is None:
        bound = gradient_norm_bound(fine(objective), result.theta)
    else:
        bound = residual_bound(fine(objective), result.theta, result.multiplier, ball)
    off = bound - longer_norm(X, objective, result)  # what was computed may be off, and the bound adds as much again
    assert off <= 2 * allowed.rounding(tau)
    assert allowed.least_tau() < tau


def longer_norm(X, objective, result):
    """‖∇J(θ) + νθ‖ with eleven binary digits more, or as many as the machine has."""
    rows = objective.rows
    wide = np.hstack([X.astype(np.longdouble) * rows.factors[:, None], np.full((len(X), 1), np.longdouble(0.3))])
    theta = result.theta.astype(np.longdouble)
    slopes = objective.loss.slopes(wide @ theta, objective.targets.astype(np.longdouble))
    gradient = slopes @ wide + (np.longdouble(objective.lam) + result.multiplier) * theta + objective.linear
    return float(np.sqrt((gradient**2).sum()))


@pytest.mark.parametrize("length", [1e-3, 1.0, 1e5])
def test_the_longest_theta_is_allowed_for(length):
    """Rounding at any θ as long as λ lets it be, not at the minimum alone."""
    rng = np.random.default_rng(0)
    X, targets = rng.normal(size=(900, 200)), np.ones(900)
    rows = Rows(X, "normalize")
    theta = rng.normal(size=200)
    theta *= length / np.linalg.norm(theta)
    plain = PerturbedObjective(rows, targets, 900 / length, np.zeros(200))
    objective = PerturbedObjective(rows, targets, plain.lam, -plain.gradient(theta)[0])
    noise = float(np.linalg.norm(objective.linear)) / (math.sqrt(200) + 10)
    allowed = numbers(n_rows=900, dimension=200, lam=plain.lam, noise=noise)
    assert length <= allowed.length(1e-6)
    assert gradient_norm_bound(fine(objective), theta) <= 2 * allowed.rounding(1e-6)


def numbers(**changes):
    told = {
        "n_rows": 10**5,
        "dimension": 100,
        "longest": 1.0,
        "loss": learn.LogisticLoss(),
        "gradient": 1.0,
        "lam": 1.0,
    }
    return Allowance(**(told | {"noise": 4.0} | changes))


def test_the_longest_theta_is_allowed_for_where_short_rows_have_narrow_envelopes():
    """Their hinges are hardly rounded, so that they pull θ farther than rows of full length would."""
    loss, smooth, size = learn.HingeLoss(), 0.01, 2.0**-5
    rows = Rows(np.full((1000, 1), size), "clip")
    lam = 1000 * size**2
    own = MoreauEnvelope(loss, envelope_steps(rows, smooth))
    objective = PerturbedObjective(rows, np.ones(1000), lam, np.zeros(1), own)
    result = solve(objective, tau=1e-6)
    allowed = numbers(n_rows=1000, dimension=1, loss=widest_envelope(loss, smooth, 1.0), lam=lam, noise=0.0)
    assert 20 < result.theta[0] <= allowed.length(1e-6)


def test_what_rounding_takes_grows_no_faster_than_the_rows():
    few, many = numbers(), numbers(n_rows=10**7)
    assert few.least_tau() < many.least_tau() < 110 * few.least_tau()
    wide = numbers(dimension=200_000)
    assert wide.least_tau() < 1.2 * few.least_tau()
    assert numbers(lam=1e-300).least_tau() > 1  # θ may be so long that nothing is known of it


@pytest.mark.thorough
@pytest.mark.parametrize("release", ["one", "several", "output"])
def test_a_tau_that_is_too_small_is_refused_before_the_fit_with_one_that_would_do(release, monkeypatch):
    X, t = data(n=3000)

    def fitted(tau):
        if release == "output":
            return learn.solve_and_perturb(X, t, epsilon=1.0, delta=DELTA, lam=5.0, tau=tau)
        mechanism = calibrated(tau=tau)
        if release == "one":
            return learn.perturb_and_solve(X, t, mechanism, delta=DELTA)
        return learn.perturb_and_solve(X, np.array([t, -t]), mechanism, delta=DELTA)

    with monkeypatch.context() as patched:
        for name in ("solve", "solve_together", "solve_surely", "gradient_norm_bound"):
            patched.setattr(learn.minimum, name, lambda *_, **__: pytest.fail("the fit had begun"))
        with pytest.raises(ConvergenceError, match=r"^tau is too small .* got 1e-12; nothing was released$") as raised:
            fitted(1e-12)
    (least,) = re.findall(r"must be at least (\S+) for 3000 rows, \d+ parameters", str(raised.value))
    assert fitted(float(least)).certificate.verify()
    with pytest.raises(ConvergenceError, match="must be at least"):
        fitted(float(least) / 1.2)


def test_the_refusal_goes_by_public_numbers_alone():
    """The rows, their targets and which of them can be used are of no matter."""
    said = set()
    for seed in range(3):
        X, t = data(n=400, seed=seed)
        X[seed] = np.nan
        with pytest.raises(ConvergenceError) as raised:
            learn.perturb_and_solve(X * 10.0**seed, t, calibrated(tau=1e-13), delta=DELTA, on_error="release")
        said.add(str(raised.value))
    assert len(said) == 1


def test_a_fit_whose_quick_bound_is_enough_is_not_looked_at_again(monkeypatch):
    monkeypatch.setattr(learn.minimum, "fine", lambda problem: pytest.fail("the quick bound was enough"))
    assert learn.perturb_and_solve(*data(), calibrated(), delta=DELTA).certificate.verify()


@pytest.mark.thorough
def test_without_the_second_look_a_wide_fit_would_fail(monkeypatch):
    X = sp.random_array((3000, 60_000), density=1e-3, format="csr", rng=0)
    t = np.where(np.arange(3000) % 2, 1.0, -1.0)
    mechanism = calibrate_objective_perturbation(1.0, DELTA, lipschitz=1.044031, tau=1e-6)
    released = learn.perturb_and_solve(X, t, mechanism, delta=DELTA, random_state=0)
    assert released.certificate.verify()
    assert released.certificate.gradient_norm <= 1e-6
    monkeypatch.setattr(learn.minimum, "fine", lambda problem: problem)
    with pytest.raises(ConvergenceError, match="with all rounding the norm may be"):
        learn.perturb_and_solve(X, t, mechanism, delta=DELTA, random_state=0)


@pytest.mark.parametrize("on_error", ["raise", "release"])
def test_where_long_sums_mislead_the_solver_it_goes_on_with_short_ones(on_error, monkeypatch):
    """A solver that stops where the gradient seems short and is not, as sums of millions of equal rows make it."""

    def misled(problem, **options):
        found = solve(problem, **options)
        return found if isinstance(problem.rows, FineRows) else replace(found, theta=found.theta + 1e-6)

    monkeypatch.setattr(learn.minimum, "solve", misled)
    X, t = data(n=400)
    released = learn.perturb_and_solve(X, t, calibrated(), delta=DELTA, random_state=0, on_error=on_error)
    monkeypatch.undo()
    plain = learn.perturb_and_solve(X, t, calibrated(), delta=DELTA, random_state=0, on_error=on_error)
    np.testing.assert_allclose(released.theta, plain.theta, atol=2e-6)
    assert released.certificate.verify()


def test_a_norm_of_b_beyond_what_is_allowed_for_is_next_to_impossible():
    """P(‖b‖ > σ(√D + t)) ≤ e^{−t²/2}: the norm is 1-Lipschitz in a normal vector."""
    assert math.exp(-(learn.allowance.DEVIATIONS**2) / 2) < 1e-21
    for dimension in (1, 100, 10_000):
        norm = np.linalg.norm(4 * noise_source(dimension).standard_normal(dimension))
        assert norm < 4 * (math.sqrt(dimension) + learn.allowance.DEVIATIONS)


def test_a_declared_number_of_rows_decides_and_not_one_row_more():
    """Else a τ between the two numbers' least would tell by its refusal whether somebody is there."""
    mechanism = ApproximateMinima(ObjectivePerturbation(5.0, 1.0), 1e-15, 1e-12)
    rows, words = np.eye(2).repeat(400, axis=0), set()
    for n in (800, 799, 700):
        with pytest.raises(ConvergenceError) as told:
            learn.perturb_and_solve(
                rows[:n], np.ones(n), mechanism, delta=1e-5, public_rows=800, rows_declared=True,
                intercept_scaling=0.0, on_error="release",
            )  # fmt: skip
        words.add(str(told.value))
    assert len(words) == 1
