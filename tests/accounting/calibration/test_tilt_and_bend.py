"""Calibrations of bend and tilt meet their target and waste little."""

import pytest

from objpert_core.accounting import ADD_REMOVE, REPLACE_ONE, QuadraticPerturbation, TiltAndBend, calibrate_tilt_and_bend


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("epsilon", "delta", "d", "adjacency"),
    [(1.0, 1e-5, 5, ADD_REMOVE), pytest.param(0.1, 1e-8, 2, REPLACE_ONE, marks=pytest.mark.slow)],
)
def test_the_target_is_met_and_a_hundredth_less_noise_exceeds_it(epsilon, delta, d, adjacency):
    both = calibrate_tilt_and_bend(epsilon, delta, d, residual_bound=2.0, smoothness=3.0, adjacency=adjacency)
    assert both.sensitivity == pytest.approx(2.0 * 3.0**0.5 * (1 if adjacency == ADD_REMOVE else 2))
    assert both.delta(epsilon) <= delta
    bend = both.bend
    less = QuadraticPerturbation(0.99 * bend.scale, bend.degrees_of_freedom, d, 3.0, adjacency)
    assert TiltAndBend(less, both.sigma, both.sensitivity).delta(epsilon) > delta


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"tilt_share": 1.0}, "tilt_share must be a number strictly between 0 and 1, got 1.0"),
        ({"degrees_of_freedom": 3}, r"degrees_of_freedom must be at least dimension \+ 1 = 6, got 3"),
    ],
)
def test_what_is_out_of_range_is_refused(arguments, words):
    valid = {"epsilon": 1.0, "delta": 1e-5, "dimension": 5, "residual_bound": 1.0}
    with pytest.raises(ValueError, match=words):
        calibrate_tilt_and_bend(**{**valid, **arguments})
