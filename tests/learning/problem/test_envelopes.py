"""Losses with corners, and envelopes: against brute force, and against exact arithmetic where rounding is promised."""

import math

import mpmath
import numpy as np
import pytest
from scipy.optimize import minimize

import objpert_core.learning as learn
from objpert_core.learning.problem.envelopes import proximal_probability
from objpert_core.learning.problem.rounding import gradient_norm_bound
from tests.learning.problem.every import EVERY, difference, every, targets_of
from tests.learning.problem.exact import exact_gradient, exact_norm

UNIT = 2.0**-53


@pytest.fixture(autouse=True)
def sixty_digits():
    with mpmath.workdps(60):
        yield


@every
def test_what_has_corners_is_refused_by_every_objective_and_its_envelope_is_not(loss):
    rows, targets = learn.Rows(np.eye(3), "clip"), targets_of(loss, 3)
    if math.isinf(loss.smoothness):
        with pytest.raises(ValueError, match=r"^loss must have no corners, got .*Loss\(.*: give its MoreauEnvelope"):
            learn.PerturbedObjective(rows, targets, 1.0, np.zeros(3), loss)
        with pytest.raises(ValueError, match=r"^loss must have no corners"):
            learn.PerturbedObjective(rows, targets, 1.0, np.zeros(3), learn.ClippedLoss(loss, 0.5))
    objective = learn.PerturbedObjective(rows, targets, 1.0, np.zeros(3), learn.MoreauEnvelope(loss, 0.5))
    assert learn.solve(objective, tau=1e-9).converged


# The envelope against brute force


def brute(loss, u, y, t):
    """The proximal point and the value of the envelope, by a search."""

    def objective(p):
        return float(loss.value(np.array([p]), y)[0]) + (u - p) ** 2 / (2 * t)

    reach = 1e-9 + t * min(loss.lipschitz, abs(u) + 5 + abs(y))
    low, high = u - reach, u + reach
    for _ in range(150):  # thirds: SciPy's search stops at 1e-8, too early at a corner
        first, second = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, second) if objective(first) <= objective(second) else (first, high)
    return (low + high) / 2, objective((low + high) / 2)


@pytest.mark.thorough
@every
@pytest.mark.parametrize("step", [0.05, 1.0, 30.0])
def test_the_proximal_point_and_the_value_are_those_of_a_search(loss, step):
    rng = np.random.default_rng(3)
    scores, targets = 4 * rng.normal(size=12), targets_of(loss, 12)
    envelope = learn.MoreauEnvelope(loss, step)
    points, values = zip(*(brute(loss, u, y, step) for u, y in zip(scores, targets, strict=True)), strict=True)
    np.testing.assert_allclose(envelope.proximal_point(scores, targets), points, atol=2e-5)
    found = envelope.value(scores, targets)
    np.testing.assert_allclose(found, values, rtol=1e-9, atol=1e-9)
    assert np.all(found <= np.array(values) + 1e-13)  # a search ends above the minimum


@every
def test_slopes_solve_the_equation_of_the_proximal_point(loss):
    """g is a slope of f at u − t·g: between the slopes on either side of it."""
    rng = np.random.default_rng(4)
    scores, targets, steps = 5 * rng.normal(size=2000), targets_of(loss, 2000), 10 ** rng.uniform(-4, 4, 2000)
    envelope = learn.MoreauEnvelope(loss, steps)
    slopes, points = envelope.derivatives(scores, targets)[0], envelope.proximal_point(scores, targets)
    room = 1e-9 * (1 + np.abs(points))
    least, greatest = (loss.derivatives(points + sign * room, targets)[0] for sign in (-1, 1))
    scale = 1e-12 if math.isinf(loss.smoothness) else 1e-9
    assert np.all(least - scale <= slopes)
    assert np.all(slopes <= greatest + scale)


@every
@pytest.mark.parametrize("step", [0.1, 4.0])
def test_slopes_and_curvatures_are_derivatives_of_the_value(loss, step):
    envelope, small = learn.MoreauEnvelope(loss, step), 1e-5
    scores, targets = 3 * np.random.default_rng(1).normal(size=400), targets_of(loss, 400)
    slopes, curvature = envelope.derivatives(scores, targets)
    numeric = difference(lambda u: envelope.value(u, targets), scores, small)
    np.testing.assert_allclose(slopes, numeric, atol=2e-4)
    assert (np.abs(slopes - numeric) < 1e-8).mean() > 0.98
    change = difference(lambda u: envelope.derivatives(u, targets)[0], scores, small)
    assert (np.abs(change - curvature) < 1e-7).mean() > 0.98  # all but where the curvature jumps


@pytest.mark.parametrize("loss", [loss for loss in EVERY if math.isfinite(loss.lipschitz)], ids=repr)
def test_the_envelope_is_below_the_loss_by_the_bias_at_most_and_reaches_it(loss):
    scores, targets, step = np.linspace(-60, 60, 2001), targets_of(loss, 2001), 0.8
    envelope = learn.MoreauEnvelope(loss, step)
    gap = loss.value(scores, targets) - envelope.value(scores, targets)
    assert envelope.bias == pytest.approx(loss.lipschitz**2 * step / 2)
    assert np.all((gap >= -1e-12) & (gap <= envelope.bias * (1 + 1e-9)))
    assert gap.max() == pytest.approx(envelope.bias, rel=1e-6)  # on the steepest piece it is that much


@pytest.mark.thorough
@every
def test_the_envelope_of_a_clipped_loss_is_the_clipped_envelope(loss):
    """So nothing else is needed: here the proximal point of the clipped loss is searched for."""
    scores, targets, slope, step = np.linspace(-6, 6, 13), targets_of(loss, 13), 0.15, 0.9
    clipped = learn.ClippedLoss(learn.MoreauEnvelope(loss, step), slope)
    wanted = [brute(learn.ClippedLoss(loss, slope), u, y, step)[1] for u, y in zip(scores, targets, strict=True)]
    np.testing.assert_allclose(clipped.value(scores, targets), wanted, atol=1e-9)
    with pytest.raises(ValueError, match=r"^loss must be one of HingeLoss, .*, got ClippedLoss"):
        learn.MoreauEnvelope(learn.ClippedLoss(loss, slope), step)
    with pytest.raises(ValueError, match=r"^loss must be one of HingeLoss, .*, got MoreauEnvelope"):
        learn.MoreauEnvelope(learn.MoreauEnvelope(loss, step), step)


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf, 1e-200, 1e200, "1", None, np.array([1.0, 0.0])])
def test_steps_out_of_range_are_named(bad):
    with pytest.raises(ValueError, match=r"^step must be "):
        learn.MoreauEnvelope(learn.HingeLoss(), bad)


# The envelope of a row


@pytest.mark.parametrize("loss", [learn.HingeLoss(), learn.AbsoluteLoss(), learn.LogisticLoss()], ids=repr)
def test_a_rows_envelope_in_theta_has_the_step_that_goes_with_its_norm(loss):
    """min over v of f(xᵀv) + β/2‖w − v‖², searched for in the plane, is f_t(xᵀw) with t = ‖x‖²/β."""
    x, w, y, beta = np.array([0.6, -0.3]), np.array([1.5, 2.0]), -1.0, 3.0
    rows = learn.Rows(x[None, :], "clip")
    steps = learn.envelope_steps(rows, beta)
    assert steps == pytest.approx([x @ x / beta], rel=1e-12)

    def inner(v):
        return float(loss.value(np.array([x @ v]), y)[0]) + beta / 2 * (w - v) @ (w - v)

    found = minimize(inner, w, method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-14, "maxiter": 4000})
    envelope = learn.MoreauEnvelope(loss, steps)
    assert envelope.value(rows.margins(w), np.array([y]))[0] == pytest.approx(found.fun, abs=1e-9)


@pytest.mark.parametrize("row_norm", ["clip", "normalize"])
def test_steps_by_row_make_every_row_as_smooth_as_asked(row_norm):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3)) * 10.0 ** rng.uniform(-6, 1, size=(40, 1))
    X[7] = 0.0
    rows = learn.Rows(X, row_norm, 0.0)
    envelope = learn.MoreauEnvelope(learn.AbsoluteLoss(), learn.envelope_steps(rows, 5.0))
    objective = learn.PerturbedObjective(rows, rng.normal(size=40), 0.1, np.zeros(3), envelope)
    assert objective.row_smoothness <= 5.0 * (1 + 1e-12)
    assert objective.smoothness <= 40 * 5.0 + 0.1 + 1e-9
    assert np.all(learn.envelope_steps(rows, 5.0) <= (1 + 1e-12) / 5.0)
    for part in objective.parts(7):
        assert part.smoothness() <= 7 * 5.0 * (1 + 1e-9)
        hessian = (part.rows.matrix * part.rows.factors[:, None]).T * part.loss.smoothness_of_rows
        hessian = hessian @ (part.rows.matrix * part.rows.factors[:, None])
        assert np.linalg.eigvalsh(hessian)[-1] <= part.smoothness() * (1 + 1e-12)


# The logistic proximal point


def exact_probability(a, t):
    """s with log(s/(1 − s)) + a + t·s = 0, to 60 digits."""
    a, t = mpmath.mpf(a), mpmath.mpf(t)
    low, high = max(-a - t, -max(a, 0) - mpmath.log(1 + t)), -a
    for _ in range(260):
        middle = (low + high) / 2
        if middle + a + t / (1 + mpmath.exp(-middle)) > 0:
            high = middle
        else:
            low = middle
    return 1 / (1 + mpmath.exp(-low))


def test_the_case_on_which_newtons_method_in_the_slope_cycles():
    a, t = -5.770414, 66.9474
    found = proximal_probability(np.array([a]), t)[0]
    assert found == pytest.approx(float(exact_probability(a, t)), rel=1e-14)
    assert 0.10 < found < 0.12
    envelope = learn.MoreauEnvelope(learn.LogisticLoss(), t)
    assert envelope.derivatives(np.array([a]), 1.0)[0][0] == -found


@pytest.mark.thorough
def test_the_root_is_found_for_scores_and_steps_of_every_size():
    rng = np.random.default_rng(0)
    size = 50_000
    a = rng.choice([-1.0, 1.0], size) * 10 ** rng.uniform(-6, 12, size)
    t = 10 ** rng.uniform(-12, 12, size)
    a[: size // 2] = -t[: size // 2] * rng.uniform(-0.5, 1.5, size // 2)  # where the two terms nearly cancel
    s = proximal_probability(a, t)
    assert np.all((s >= 0) & (s <= 1))
    inside = (s > 1e-250) & (s < 1)
    left = np.log(s[inside]) - np.log1p(-s[inside]) + a[inside] + t[inside] * s[inside]
    # how far log(s/(1 − s)) + a + ts is from 0, for s off by a few units in the last place
    slack = 1 / (1 - s[inside]) + t[inside] * s[inside] + np.abs(np.log(s[inside])) + np.abs(a[inside])
    assert np.all(np.abs(left) <= 32 * UNIT * slack)
    assert inside.mean() > 0.3


def test_slopes_never_leave_their_range_whatever_the_score():
    scores = np.array([-1e308, -1e150, -1e15, -700.0, 0.0, 700.0, 1e15, 1e150, 1e308])
    for step in (1e-150, 1e-9, 1.0, 1e9, 1e150):
        for loss in EVERY:
            for target in (-1.0, 1.0):
                slopes = learn.MoreauEnvelope(loss, step).derivatives(scores, target)[0]
                assert np.all(np.abs(slopes) <= loss.lipschitz)


def test_slopes_stay_within_l_where_the_iteration_is_stopped(monkeypatch):
    monkeypatch.setattr("objpert_core.learning.problem.envelopes._MOST_STEPS", 1)
    rng = np.random.default_rng(0)
    s = proximal_probability(1e3 * rng.normal(size=1000), 10 ** rng.uniform(-3, 6, 1000))
    assert np.all((s >= 0) & (s <= 1))


@pytest.mark.slow
@pytest.mark.parametrize("loss", EVERY, ids=repr)
def test_slopes_are_as_accurate_as_the_bound_on_gradients_takes_them_to_be(loss):
    """Off by β·8u·(1 + |score| + |target| + |parameter|) + 16u·|slope| at most: `rounding`."""
    rng = np.random.default_rng(2)
    scores, steps = rng.choice([1.0, 8.0, 300.0], 70) * rng.normal(size=70), 10 ** rng.uniform(-5, 5, 70)
    targets = targets_of(loss, 70)
    envelope = learn.MoreauEnvelope(loss, steps)
    found = envelope.derivatives(scores, targets)[0]
    own = abs(loss.parameter or 0.0)
    for u, y, t, beta, slope in zip(scores, targets, steps, envelope.smoothness_of_rows, found, strict=True):
        allowed = beta * 8 * UNIT * (1 + abs(u) + abs(y) + own) + 16 * UNIT * abs(slope)
        assert abs(mpmath.mpf(slope) - exact_slope(loss, u, y, t)) <= allowed


def exact_slope(loss, u, y, t):
    u, y, t = (value if isinstance(value, mpmath.mpf) else mpmath.mpf(float(value)) for value in (u, y, t))
    own = mpmath.mpf(loss.parameter or 0.0)

    def cut(value, low, high):
        return min(max(value, mpmath.mpf(low)), mpmath.mpf(high))

    match loss:
        case learn.HingeLoss():
            return -y * cut((1 - y * u) / t, 0, 1)
        case learn.AbsoluteLoss():
            return cut((u - y) / t, -1, 1)
        case learn.PinballLoss():
            return cut((u - y) / t, -own, 1 - own)
        case learn.EpsilonInsensitiveLoss():
            return mpmath.sign(u - y) * cut((abs(u - y) - own) / t, 0, 1)
        case learn.HuberLoss():
            return cut((u - y) / (1 + t), -own, own)
        case learn.SquaredLoss():
            return (u - y) / (1 + t)
        case learn.SquaredHingeLoss():
            return -y * max(mpmath.mpf(0), 1 - y * u) / (1 + t)
        case learn.HuberisedHingeLoss():
            return -y * cut((1 + own - y * u) / (2 * own + t), 0, 1)
        case learn.LogisticLoss():
            return -y * exact_probability(y * u - own, t)
    raise AssertionError(loss)


@pytest.mark.slow
@pytest.mark.parametrize("loss", [learn.HingeLoss(), learn.LogisticLoss(), learn.PinballLoss(0.3)], ids=repr)
def test_the_bound_on_a_gradient_holds_for_envelopes(loss):
    """Where b cancels all but the last digits, nothing is left of the gradient but its rounding."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(30, 3)) * 10.0 ** rng.uniform(-4, 0, size=(30, 1))
    rows, targets, theta = learn.Rows(X, "clip", 0.0), targets_of(loss, 30), 4 * rng.normal(size=3)
    steps = learn.envelope_steps(rows, 20.0)
    envelope = learn.MoreauEnvelope(loss, steps)
    b = -learn.PerturbedObjective(rows, targets, 0.5, np.zeros(3), envelope).gradient(theta)[0]
    found = gradient_norm_bound(learn.PerturbedObjective(rows, targets, 0.5, b, envelope), theta)
    step = iter(steps)
    total = exact_gradient(X, targets, rows, theta, 0.5, lambda u, y: exact_slope(loss, u, y, next(step)))
    exact = exact_norm(total, b)
    assert exact <= found < 1e-9  # the shortest rows are a thousand times steeper in their slopes than the longest
