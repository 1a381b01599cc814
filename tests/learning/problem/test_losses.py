"""Losses by themselves: formulas, derivatives, the constants the privacy proofs use, and where their slope is what."""

import math
from functools import partial

import numpy as np
import pytest

import objpert_core.learning as learn
from objpert_core.learning.problem.derived import ClippedLoss, RestWeighted, WeightedLoss
from objpert_core.learning.problem.losses import HuberLoss, LogisticLoss, SquaredLoss
from objpert_core.learning.problem.objective import PerturbedObjective
from objpert_core.learning.problem.rows import Rows
from objpert_core.learning.solvers import SOLVERS, solve
from tests.learning.problem.every import CORNERED, EVERY, SMOOTH, cornered, difference, targets_of

FORMULAS = [
    (learn.LogisticLoss(2.0), lambda m: math.log1p(math.exp(2.0 - m))),
    (learn.SquaredHingeLoss(), lambda m: max(0.0, 1 - m) ** 2 / 2),
    (learn.HuberisedHingeLoss(0.3), lambda m: 0.0 if m > 1.3 else 1 - m if m < 0.7 else (1.3 - m) ** 2 / 1.2),
    (learn.SquaredLoss(), lambda r: r * r / 2),
    (learn.HuberLoss(0.7), lambda r: r * r / 2 if abs(r) <= 0.7 else 0.7 * (abs(r) - 0.35)),
    (learn.HingeLoss(), lambda m: max(0.0, 1 - m)),
    (learn.AbsoluteLoss(), abs),
    (learn.PinballLoss(0.2), lambda r: 0.8 * r if r > 0 else -0.2 * r),
    (learn.EpsilonInsensitiveLoss(0.3), lambda r: max(0.0, abs(r) - 0.3)),
]


@pytest.mark.parametrize(("loss", "formula"), FORMULAS, ids=lambda value: getattr(value, "name", ""))
def test_value_is_the_published_formula_of_the_margin_or_the_residual(loss, formula):
    scores, targets = np.linspace(-5, 5, 401), targets_of(loss, 401)
    argument = targets * scores if loss.monotone else scores - targets
    np.testing.assert_allclose(loss.value(scores, targets), [formula(float(z)) for z in argument], atol=1e-15)


def test_extreme_margins_keep_their_tails_and_raise_no_warning():
    loss, margins = learn.LogisticLoss(), np.array([-1e6, -800.0, 800.0, 1e6])
    with np.errstate(all="raise", under="ignore"):
        value = loss.value(margins)
        slope, curvature = loss.derivatives(np.array([-700.0, 700.0]))
    np.testing.assert_array_equal(value, [1e6, 800.0, 0.0, 0.0])
    np.testing.assert_allclose(slope, [-1.0, -np.exp(-700.0)], rtol=1e-12)
    np.testing.assert_allclose(curvature, np.exp(-700.0), rtol=1e-12)  # not 0 on the wrong side
    moderate = np.linspace(-30, 30, 601)
    np.testing.assert_allclose(loss.value(moderate), np.log1p(np.exp(-moderate)), rtol=1e-12)


@pytest.mark.parametrize("margin", [0.0, 0.7, 1.5, 30.0])
def test_with_any_margin_slope_and_curvature_go_together_as_the_tight_bound_needs(margin):
    """ℓ' = −p and ℓ'' = p(1 − p): the theorem uses nothing else."""
    slope, curvature = learn.LogisticLoss(margin).derivatives(np.linspace(-40, 40, 801))
    assert np.all((slope <= 0) & (slope >= -1))
    np.testing.assert_allclose(curvature, -slope * (1 + slope), rtol=1e-9, atol=1e-15)


WITH_LOG_ODDS = [
    learn.LogisticLoss(0.0),
    learn.LogisticLoss(0.5),
    learn.LogisticLoss(3.0),
    *(RestWeighted(2.5, w) for w in (1.0, 1 / 3, 0.001)),
]


@pytest.mark.parametrize("loss", WITH_LOG_ODDS, ids=str)
def test_log_odds_are_those_for_which_the_score_has_the_least_expected_loss(loss):
    scores = np.linspace(-4, 4, 41)
    share = 1 / (1 + np.exp(-loss.log_odds(scores)))
    one = np.ones(41)
    np.testing.assert_allclose(-share * loss.slopes(scores, one), (1 - share) * loss.slopes(scores, -one), rtol=1e-9)
    assert np.all(np.diff(share) > 0)
    if isinstance(loss, learn.LogisticLoss) and not isinstance(loss, RestWeighted):
        np.testing.assert_array_equal(np.sign(loss.log_odds(scores)), np.sign(scores))


REST = [RestWeighted(margin, weight) for margin in (0.0, 2.5) for weight in (1.0, 1 / 3, 0.001)]


@pytest.mark.parametrize("loss", [*SMOOTH, *REST], ids=repr)
def test_slopes_and_curvatures_are_derivatives_of_the_value_for_either_target(loss):
    scores, targets, step = np.random.default_rng(1).normal(size=400) * 3, targets_of(loss, 400), 1e-6
    slope, curvature = loss.derivatives(scores, targets)
    np.testing.assert_allclose(slope, difference(lambda u: loss.value(u, targets), scores, step), atol=1e-7)
    change = difference(lambda u: loss.derivatives(u, targets)[0], scores, step)
    assert (np.abs(change - curvature) < 1e-6).mean() > 0.99  # all but the scores with a corner of f' between the two


@pytest.mark.parametrize("loss", [*SMOOTH, *(learn.ClippedLoss(loss, 0.5) for loss in SMOOTH)], ids=repr)
def test_a_target_that_is_not_told_is_1(loss):
    scores = np.linspace(-3.0, 3.0, 13)
    np.testing.assert_array_equal(loss.derivatives(scores), loss.derivatives(scores, 1.0))


@cornered
def test_slopes_of_corners_are_those_of_the_value_and_never_steeper_than_they_say(loss):
    scores, targets = 3 * np.random.default_rng(1).normal(size=400), targets_of(loss, 400)
    slopes, curvature = loss.derivatives(scores, targets)
    numeric = difference(lambda u: loss.value(u, targets), scores, 1e-6)
    assert (np.abs(slopes - numeric) < 1e-7).mean() > 0.99
    assert np.abs(slopes).max() == loss.lipschitz
    assert not curvature.any()
    assert math.isinf(loss.smoothness)


def test_the_pinball_loss_is_least_at_the_quantile():
    targets = np.random.default_rng(0).normal(size=2001)
    total = [learn.PinballLoss(0.2).value(np.full(2001, u), targets).sum() for u in targets]
    assert np.mean(targets < targets[np.argmin(total)]) == pytest.approx(0.2, abs=1e-3)


ENVELOPES = [learn.MoreauEnvelope(loss, step) for loss in EVERY for step in (0.01, 1.0, 25.0)]


@pytest.mark.parametrize(
    "loss", [*SMOOTH, *(pytest.param(one, marks=pytest.mark.thorough) for one in ENVELOPES)], ids=repr
)
def test_the_constants_the_privacy_proofs_use_hold_and_are_the_best(loss):
    scores, target, off = np.linspace(-80, 80, 20_001), 1.0, 1e-4 if loss in ENVELOPES else 1e-6
    slopes, curvature = loss.derivatives(scores, target)
    assert np.abs(slopes).max() <= loss.lipschitz
    assert np.all((curvature >= 0) & (curvature <= loss.smoothness))
    assert curvature.max() == pytest.approx(loss.smoothness, rel=off)
    assert np.all(np.abs(np.diff(slopes)) <= loss.smoothness * np.diff(scores) * (1 + 1e-9) + 1e-14)
    if math.isfinite(loss.lipschitz):
        assert np.abs(slopes).max() == pytest.approx(loss.lipschitz, rel=1e-9)
    elif loss not in ENVELOPES:
        assert np.abs(loss.derivatives(np.array([-1e9]), target)[0]) > 1e8
    for label in (-1.0, 1.0):
        signs = np.sign(loss.derivatives(scores, label)[0])
        assert loss.monotone == (np.all(signs <= 0) or np.all(signs >= 0))
    if loss in ENVELOPES:
        assert loss.lipschitz == loss.loss.lipschitz
        assert loss.smoothness == pytest.approx(1 / (loss.step + 1 / loss.loss.smoothness))


@pytest.mark.parametrize("loss", [*SMOOTH, *REST, *(learn.MoreauEnvelope(loss, 0.6) for loss in EVERY)], ids=repr)
@pytest.mark.parametrize("slope", [1e-3, 0.15, 0.5, 0.999, 1.0, 7.0])
def test_kinks_are_where_the_slope_is_what_was_asked_for(loss, slope):
    targets = targets_of(loss, 200)
    low, high = loss.kinks(slope, targets)
    assert np.all(low < high)
    for kink, sign in ((low, -1), (high, 1)):
        finite = np.isfinite(kink)
        at, _ = loss.derivatives(kink[finite], targets[finite])
        np.testing.assert_allclose(at, sign * slope, rtol=1e-9)
        beyond, _ = loss.derivatives(kink[finite] + sign * 1.0, targets[finite])
        assert np.all(sign * beyond >= slope * (1 - 1e-12))
        far, _ = loss.derivatives(np.full(np.sum(~finite), sign * 1e6), targets[~finite])
        assert np.all(sign * far <= slope)  # there is no kink because the slope is never reached


@cornered
@pytest.mark.parametrize("slope", [0.1, 0.5, 0.9, 1.0])
def test_kinks_of_corners_are_the_corners_that_are_steep_enough(loss, slope):
    targets = targets_of(loss, 50)
    low, high = loss.kinks(slope, targets)
    for kink, sign in ((low, -1), (high, 1)):
        finite = np.isfinite(kink)
        beyond, _ = loss.derivatives(np.where(finite, kink + sign * 1e-9, sign * 1e6), targets)
        assert np.all(np.where(finite, sign * beyond > slope, sign * beyond <= slope))
        before, _ = loss.derivatives(np.where(finite, kink - sign * 1e-9, 0.0), targets)
        assert np.all(np.where(finite, sign * before <= slope, True))


def test_losses_are_found_by_name_with_their_constant():
    assert set(learn.EVERY_LOSS) == {*learn.LOSSES, *learn.NON_SMOOTH_LOSSES}
    assert not set(learn.LOSSES) & set(learn.NON_SMOOTH_LOSSES)
    assert {type(loss) for loss in CORNERED} == set(learn.NON_SMOOTH_LOSSES.values())
    for name, kind in learn.EVERY_LOSS.items():
        assert learn.loss_named(name, kind().parameter, learn.EVERY_LOSS) == kind()
    for name, kind in learn.LOSSES.items():
        assert learn.loss_named(name) == learn.loss_named(name, kind().parameter) == kind()
    assert learn.loss_named("huberised-hinge", 0.25) == learn.HuberisedHingeLoss(0.25)
    assert learn.loss_named("pinball", 0.3, learn.EVERY_LOSS) == learn.PinballLoss(0.3)
    for name in learn.NON_SMOOTH_LOSSES:
        with pytest.raises(ValueError, match=rf"^loss must be one of 'logistic'.*got '{name}'"):
            learn.loss_named(name)
    with pytest.raises(ValueError, match=r"parameter must be None for the loss 'squared', got 2\.0"):
        learn.loss_named("squared", 2.0)


NO_NUMBERS = (-0.2, math.nan, "1", None)


OUT_OF_RANGE = [
    (learn.HuberLoss, "threshold must be a finite number > 0", (0.0, math.inf, *NO_NUMBERS)),
    (learn.HuberisedHingeLoss, "width must be a finite number > 0", (0.0, math.inf, *NO_NUMBERS)),
    (learn.LogisticLoss, "margin must be a finite number >= 0", (math.inf, *NO_NUMBERS)),
    (learn.EpsilonInsensitiveLoss, "width must be a finite number >= 0", (math.inf, *NO_NUMBERS)),
    (partial(RestWeighted, 0.0), "weight must be .*", (0.0, 1.01, -0.5, math.nan)),
    (learn.PinballLoss, "quantile must be a number strictly between 0 and 1", (0.0, 1.0, *NO_NUMBERS)),
]


@pytest.mark.parametrize(("kind", "said", "values"), OUT_OF_RANGE)
def test_constants_out_of_range_are_named(kind, said, values):
    for bad in values:
        with pytest.raises(ValueError, match=f"{said}, got {bad!r}"):
            kind(bad)


# One class against all others, whose rows are shorter ones


SCORES = np.linspace(-9.0, 9.0, 37)
SIDES = (np.ones(37), -np.ones(37))


@pytest.mark.parametrize("loss", REST, ids=str)
def test_a_row_of_another_class_is_one_that_is_shorter(loss):
    plain, (_, rest) = LogisticLoss(loss.margin), SIDES
    np.testing.assert_array_equal(loss.value(SCORES, rest), plain.value(loss.weight * SCORES, rest))
    slopes, curvature = loss.derivatives(SCORES, rest)
    assert (np.abs(slopes) <= loss.weight).all()
    assert (curvature <= loss.weight**2 / 4).all()
    np.testing.assert_array_equal(slopes, loss.slopes(SCORES, rest))
    np.testing.assert_array_equal(loss.value(SCORES, SIDES[0]), plain.value(SCORES, SIDES[0]))


@pytest.mark.parametrize("margin", [0.0, 1.5])
def test_with_full_weight_it_is_the_logistic_loss_bit_by_bit(margin):
    loss, plain = RestWeighted(margin), LogisticLoss(margin)
    np.testing.assert_array_equal(loss.log_odds(SCORES), plain.log_odds(SCORES))
    for targets in SIDES:
        np.testing.assert_array_equal(loss.derivatives(SCORES, targets), plain.derivatives(SCORES, targets))


@pytest.mark.parametrize("loss", REST, ids=str)
def test_log_odds_rise_with_the_score_and_stay_finite(loss):
    odds = loss.log_odds(np.array([-1e300, *SCORES, 1e300]))
    assert np.isfinite(odds).all()
    assert (np.diff(odds) > 0).all()


def test_single_precision_stays_single():
    scores, targets = SCORES.astype(np.float32), SIDES[1].astype(np.float32)
    assert RestWeighted(1.5, 0.3).slopes(scores, targets).dtype == np.float32


# Weighted losses: w times the loss, its slopes and its curvatures, row by row


RNG = np.random.default_rng(0)
WEIGHTS, SOME = RNG.uniform(0.01, 1.0, 40), RNG.normal(size=40)
SIGNS = np.where(RNG.random(40) < 0.5, 1.0, -1.0)
OF_WEIGHTS = [LogisticLoss(0.5), HuberLoss(0.5), ClippedLoss(SquaredLoss(), RNG.uniform(0.2, 1.0, 40))]


@pytest.mark.parametrize("loss", OF_WEIGHTS, ids=lambda loss: loss.name)
def test_all_that_a_loss_has_is_multiplied_by_the_weights(loss):
    weighted = WeightedLoss(loss, WEIGHTS)
    slopes, curvature = weighted.derivatives(SOME, SIGNS)
    np.testing.assert_array_equal(slopes, WEIGHTS * loss.derivatives(SOME, SIGNS)[0])
    np.testing.assert_array_equal(curvature, WEIGHTS * loss.derivatives(SOME, SIGNS)[1])
    np.testing.assert_array_equal(weighted.slopes(SOME, SIGNS), slopes)
    np.testing.assert_array_equal(weighted.value(SOME, SIGNS), WEIGHTS * loss.value(SOME, SIGNS))
    assert (np.abs(slopes) <= weighted.lipschitz_of_rows).all()
    assert (curvature <= weighted.smoothness_of_rows).all()
    assert (weighted.name, weighted.lipschitz, weighted.smoothness) == (loss.name, loss.lipschitz, loss.smoothness)
    low, high = weighted.kinks(0.1, SIGNS)
    for edge in (low, high):
        at = np.isfinite(edge)
        sizes = np.abs(weighted.slopes(np.where(at, edge, 0.0), SIGNS))[at]
        assert (sizes <= 0.1 + 1e-12).all()
    part = weighted.part(slice(5, 9))
    np.testing.assert_array_equal(part.slopes(SOME[5:9], SIGNS[5:9]), slopes[5:9])


@pytest.mark.parametrize("weights", [[0.0, 1.0], [1.01], [np.nan], [-0.5], [[0.5]], 0.5])
def test_a_weight_is_above_0_and_at_most_1(weights):
    with pytest.raises(ValueError, match="weights must be one number above 0 and at most 1 for each row"):
        WeightedLoss(LogisticLoss(), weights)


@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solver_finds_the_weighted_minimum(solver):
    """Weights of 1/3 on three copies of each row are the rows themselves."""
    X = RNG.normal(size=(40, 3))
    once = PerturbedObjective(Rows(X, "normalize", 0.3), SIGNS, 0.5, np.full(4, 0.3))
    thrice = PerturbedObjective(
        Rows(np.repeat(X, 3, axis=0), "normalize", 0.3),
        np.repeat(SIGNS, 3),
        0.5,
        np.full(4, 0.3),
        WeightedLoss(LogisticLoss(), np.full(120, 1 / 3)),
    )
    options = {"solver": solver, "tau": 1e-8, "max_iter": 5000}
    np.testing.assert_allclose(solve(thrice, **options).theta, solve(once, **options).theta, atol=1e-7)
