import math
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import objpert_core.accounting as acc

DELTA = 1e-5
RADIUS = math.sqrt(1.09)


def objective(left, **options):
    return acc.calibrate_objective_perturbation(left, DELTA, lipschitz=RADIUS, tau=1e-6, **options)


def test_the_whole_of_one_fit_alone_is_the_fit():
    fit = objective(1.0)
    assert acc.composed_fit(fit) is fit
    assert acc.composed_fit(fit, rows_per_person=2) == acc.group(fit, 2)
    assert acc.composed_fit(fit, accountant="rdp") == acc.via_rdp(fit)


def test_several_fits_are_composed_by_their_symmetric_pairs():
    fit, before = objective(0.5), acc.Standardisation(20.0, None).mechanisms()
    assert acc.composed_fit(fit, before, copies=4) == acc.compose(*before, acc.repeat(acc.symmetrised(fit), 4))


def test_rows_that_are_replaced_pay_root_two_for_the_sizes():
    fit = acc.OutputPerturbation(4.0, 2.0, adjacency=acc.REPLACE_ONE)
    before = acc.Standardisation(10.0, 10.0).mechanisms(acc.REPLACE_ONE)
    ratio = math.hypot(0.5, 0.2, math.sqrt(2) / 10)
    assert acc.composed_fit(fit, before).delta(1.0) == pytest.approx(acc.Gaussian(1 / ratio).delta(1.0), rel=1e-9)


# --- what is left for the fit ----------------------------------------------------------------------------------------


def test_one_fit_alone_is_calibrated_as_ever():
    asked = []

    def calibrate(left):
        asked.append(left)
        return objective(left)

    assert acc.calibrate_remaining(0.7, DELTA, calibrate) == objective(0.7)
    assert asked == [0.7]
    assert acc.remaining_epsilon(0.7, DELTA) == 0.7


@pytest.mark.thorough
@settings(deadline=None, max_examples=12)
@given(
    epsilon=st.floats(0.02, 10),
    share=st.floats(0.001, 0.4),
    lam=st.sampled_from([0.0, 0.5, 20.0]),
    bound=st.sampled_from(["logistic", "monotone", "two-signed"]),
)
def test_the_whole_never_exceeds_its_target_and_nearly_reaches_it(epsilon, share, lam, bound):
    sigma = acc.calibrate_gaussian(epsilon, DELTA).sigma / math.sqrt(share)
    before = acc.Standardisation(sigma, 1.5 * sigma).mechanisms()
    asked = []

    def calibrate(left):
        asked.append(left)
        return objective(left, bound=bound, lam=lam)

    whole = acc.composed_fit(acc.calibrate_remaining(epsilon, DELTA, calibrate, before), before)
    assert DELTA * (1 - 1e-8) <= whole.delta(epsilon) <= DELTA
    assert whole.epsilon(DELTA) <= epsilon
    assert len(asked) <= 6  # each takes some 20 ms
    assert max(asked) < epsilon


def gaussian(left, sensitivity=0.2, **options):
    return acc.OutputPerturbation(acc.calibrate_gaussian(left, DELTA, sensitivity).sigma, sensitivity, **options)


def replaced(left):
    return gaussian(left, 2.0, adjacency=acc.REPLACE_ONE)


TEN, BY_CURVE, MINE = {"copies": 10}, {"accountant": "rdp"}, {"rows_per_person": 2}
REPLACED = {"adjacency": acc.REPLACE_ONE}


@pytest.mark.parametrize(
    ("epsilon", "calibrate", "about", "whole", "unused", "most"),
    [
        *(
            pytest.param(epsilon, objective, {}, TEN, 2e-2, 6, marks=pytest.mark.thorough)
            for epsilon in (0.1, 1.0, 8.0)
        ),
        (1.0, gaussian, {}, BY_CURVE, 1e-6, 8),
        (1.0, replaced, REPLACED, {}, 1e-6, 8),
        # a calibration takes seconds
        pytest.param(1.0, partial(objective, **REPLACED), REPLACED, {}, 2e-2, 1, marks=pytest.mark.slow),
        pytest.param(1.0, partial(objective, **MINE), MINE, MINE, 2e-2, 1, marks=pytest.mark.slow),
    ],
)
def test_what_is_left_is_used_up_to_the_target_in_few_calibrations(epsilon, calibrate, about, whole, unused, most):
    adjacency = about.get("adjacency", acc.ADD_REMOVE)
    before = acc.full_standardisation(epsilon, DELTA, 1000, 30, **about).mechanisms(adjacency)
    asked = []
    fit = acc.calibrate_remaining(epsilon, DELTA, lambda left: asked.append(left) or calibrate(left), before, **whole)
    assert DELTA * (1 - unused) <= acc.composed_fit(fit, before, **whole).delta(epsilon) <= DELTA
    assert len(asked) <= most


@pytest.mark.thorough
@pytest.mark.parametrize("epsilon", [0.5, 4.0])
def test_fits_of_much_regularisation_add_up_as_gaussian_mechanisms(epsilon):
    before = acc.full_standardisation(epsilon, DELTA, 1000, 30).mechanisms()
    ten, three = (
        acc.calibrate_remaining(epsilon, DELTA, lambda left: objective(left, lam=1e4), before, copies=copies).objective
        for copies in (10, 3)
    )
    assert ten.sigma / three.sigma == pytest.approx(math.sqrt(10 / 3), rel=2e-3)


def test_output_perturbation_has_the_gaussian_closed_form():
    before = acc.full_standardisation(1.0, DELTA, 1000, 30).mechanisms()
    fit = acc.calibrate_remaining(1.0, DELTA, gaussian, before)
    assert acc.composed_fit(fit, before).delta(1.0) <= DELTA
    left = acc.calibrate_gaussian(1.0, DELTA).sigma ** -2 - sum(part.a**2 for part in before)
    assert fit.a**2 == pytest.approx(left, rel=1e-5)
    assert gaussian(acc.remaining_epsilon(1.0, DELTA, before)).sigma == pytest.approx(fit.sigma, rel=1e-5)


def test_a_calibration_that_bends_ends_on_the_safe_side():
    """Whatever the rule does with what is left: a staircase, which no secant follows."""
    before = acc.Standardisation(20.0, 20.0).mechanisms()

    def calibrate(left):
        return acc.calibrate_gaussian(1.05 ** math.floor(math.log(left, 1.05)), DELTA)

    whole = acc.composed_fit(acc.calibrate_remaining(1.0, DELTA, calibrate, before), before)
    assert whole.delta(1.0) <= DELTA
    assert whole.delta(1.0) > 0.2 * DELTA
