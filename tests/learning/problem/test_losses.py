"""Losses by themselves: formulas, derivatives, the constants the privacy proofs use, and where their slope is what."""

import math

import numpy as np
import pytest

from objpert_core.learning import (
    LOSSES,
    HuberisedHingeLoss,
    HuberLoss,
    LogisticLoss,
    SquaredHingeLoss,
    SquaredLoss,
    loss_named,
)

LOSS = LogisticLoss()
EVERY = [
    LogisticLoss(),
    LogisticLoss(1.6),
    SquaredHingeLoss(),
    HuberisedHingeLoss(0.5),
    HuberisedHingeLoss(2.0),
    SquaredLoss(),
    HuberLoss(1.0),
    HuberLoss(0.2),
]
every = pytest.mark.parametrize("loss", EVERY, ids=repr)


def targets_of(loss, n, seed=0):
    rng = np.random.default_rng(seed)
    return rng.choice([-1.0, 1.0], n) if loss.monotone else 3 * rng.normal(size=n)


def test_value_is_the_textbook_formula_where_that_is_accurate():
    margins = np.linspace(-30, 30, 601)
    np.testing.assert_allclose(LOSS.value(margins), np.log1p(np.exp(-margins)), rtol=1e-12)


@pytest.mark.parametrize(
    ("loss", "formula"),
    [
        (LogisticLoss(2.0), lambda m: math.log1p(math.exp(2.0 - m))),
        (SquaredHingeLoss(), lambda m: max(0.0, 1 - m) ** 2 / 2),
        (HuberisedHingeLoss(0.3), lambda m: 0.0 if m > 1.3 else 1 - m if m < 0.7 else (1.3 - m) ** 2 / 1.2),
        (SquaredLoss(), lambda r: r * r / 2),
        (HuberLoss(0.7), lambda r: r * r / 2 if abs(r) <= 0.7 else 0.7 * (abs(r) - 0.35)),
    ],
    ids=["logistic with a margin", "squared hinge", "huberised hinge", "squares", "huber"],
)
def test_value_is_the_published_formula_of_the_margin_or_the_residual(loss, formula):
    scores, targets = np.linspace(-5, 5, 401), targets_of(loss, 401)
    argument = targets * scores if loss.monotone else scores - targets
    np.testing.assert_allclose(loss.value(scores, targets), [formula(float(z)) for z in argument], atol=1e-15)


def test_extreme_margins_keep_their_tails_and_raise_no_warning():
    margins = np.array([-1e6, -800.0, 800.0, 1e6])
    with np.errstate(all="raise", under="ignore"):
        value = LOSS.value(margins)
        slope, curvature = LOSS.derivatives(np.array([-700.0, 700.0]))
    np.testing.assert_array_equal(value, [1e6, 800.0, 0.0, 0.0])
    np.testing.assert_allclose(slope, [-1.0, -np.exp(-700.0)], rtol=1e-12)
    np.testing.assert_allclose(curvature, np.exp(-700.0), rtol=1e-12)  # not 0 on the wrong side


@pytest.mark.parametrize("margin", [-5.0, -0.3, 0.0, 1.7, 12.0])
def test_derivatives_match_finite_differences(margin):
    step = 1e-5
    around = np.array([margin - step, margin, margin + step])
    slope, curvature = LOSS.derivatives(around)
    values = LOSS.value(around)
    assert slope[1] == pytest.approx((values[2] - values[0]) / (2 * step), abs=1e-9)
    assert curvature[1] == pytest.approx((slope[2] - slope[0]) / (2 * step), abs=1e-9)


@pytest.mark.parametrize("margin", [0.0, 0.7, 1.5, 30.0])
def test_with_any_margin_slope_and_curvature_go_together_as_the_tight_bound_needs(margin):
    """ℓ' = −p and ℓ'' = p(1 − p): the theorem uses nothing else."""
    slope, curvature = LogisticLoss(margin).derivatives(np.linspace(-40, 40, 801))
    assert np.all((slope <= 0) & (slope >= -1))
    np.testing.assert_allclose(curvature, -slope * (1 + slope), rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("margin", [0.0, 0.5, 3.0])
def test_log_odds_are_those_for_which_the_score_has_the_least_expected_loss(margin):
    loss, scores, step = LogisticLoss(margin), np.linspace(-4, 4, 41), 1e-5
    share = 1 / (1 + np.exp(-loss.log_odds(scores)))

    def expected(u):
        return share * loss.value(u, 1.0) + (1 - share) * loss.value(u, -1.0)

    np.testing.assert_allclose((expected(scores + step) - expected(scores - step)) / (2 * step), 0.0, atol=1e-9)
    assert np.all(np.diff(share) > 0)
    np.testing.assert_array_equal(np.sign(loss.log_odds(scores)), np.sign(scores))


@every
def test_slopes_and_curvatures_are_derivatives_of_the_value_for_either_target(loss):
    scores, targets, step = np.random.default_rng(1).normal(size=400) * 3, targets_of(loss, 400), 1e-6
    slope, curvature = loss.derivatives(scores, targets)
    numeric = (loss.value(scores + step, targets) - loss.value(scores - step, targets)) / (2 * step)
    np.testing.assert_allclose(slope, numeric, atol=1e-7)
    (above, _), (below, _) = loss.derivatives(scores + step, targets), loss.derivatives(scores - step, targets)
    agree = np.abs((above - below) / (2 * step) - curvature) < 1e-6
    assert agree.mean() > 0.99  # all but the scores with a corner of f' between the two


@every
def test_the_constants_the_privacy_proofs_use_hold_and_are_the_best(loss):
    scores, target = np.linspace(-40, 40, 10_001), 1.0
    slope, curvature = loss.derivatives(scores, target)
    assert np.abs(slope).max() <= loss.lipschitz
    assert np.all((curvature >= 0) & (curvature <= loss.smoothness))
    assert curvature.max() == pytest.approx(loss.smoothness)
    if math.isfinite(loss.lipschitz):
        assert np.abs(slope).max() == pytest.approx(loss.lipschitz)
    else:
        assert np.abs(loss.derivatives(np.array([-1e9]), target)[0]) > 1e8
    for label in (-1.0, 1.0):
        signs = np.sign(loss.derivatives(scores, label)[0])
        assert loss.monotone == (np.all(signs <= 0) or np.all(signs >= 0))


@every
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


def test_losses_are_found_by_name_with_their_constant():
    for name, kind in LOSSES.items():
        assert loss_named(name) == kind()
        assert loss_named(name, kind().parameter) == kind()
    assert loss_named("huberised-hinge", 0.25) == HuberisedHingeLoss(0.25)
    with pytest.raises(ValueError, match=r"loss must be one of 'logistic'.*got 'absolute'"):
        loss_named("absolute")
    with pytest.raises(ValueError, match=r"parameter must be None for the loss 'squared', got 2\.0"):
        loss_named("squared", 2.0)


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf, "1", None])
@pytest.mark.parametrize(("kind", "name"), [(HuberLoss, "threshold"), (HuberisedHingeLoss, "width")])
def test_constants_out_of_range_are_named(kind, name, bad):
    with pytest.raises(ValueError, match=f"{name} must be a finite number > 0, got {bad!r}"):
        kind(bad)


@pytest.mark.parametrize("bad", [-0.1, math.nan, math.inf, "1", None])
def test_a_margin_out_of_range_is_named(bad):
    with pytest.raises(ValueError, match=f"margin must be a finite number >= 0, got {bad!r}"):
        LogisticLoss(bad)
