"""What is taken where nothing is given: the share of noise, λ and the margin, from public numbers only."""

import math

import pytest

import objpert_core.accounting as acc
from objpert_core.accounting.mechanisms.base import ADJACENCIES


def test_default_noise_ratio():
    """The paper's 1.3 where nothing less would do; otherwise a share of σ that fades at both ends of ε."""
    assert acc.default_noise_ratio("glm", 1.0) == acc.default_noise_ratio("logistic", 1.0, "rdp") == 1.3
    shares = [acc.default_noise_ratio("logistic", epsilon) for epsilon in (1e-6, 0.01, 1.0, 8.0, 100.0, 1e6)]
    assert all(1 < share <= 1.02 for share in shares)
    assert max(shares) == shares[2]
    assert acc.default_noise_ratio("monotone", 1.0) > acc.default_noise_ratio("logistic", 1.0)
    with pytest.raises(ValueError, match=r"bound must be one of .*, got 'kifer2012'"):
        acc.default_noise_ratio("kifer2012", 1.0)


def test_recommended_lam_regularises_where_rows_are_few_for_the_noise_and_never_much_more_than_privacy_asks():
    many, few = (acc.recommended_lam(1.0, 1e-5, n, 100) for n in (10**6, 10**3))
    least = acc.calibrate_objective_perturbation(1.0, 1e-5).lam
    assert many < least < few
    sigma = acc.calibrate_gaussian(1.0, 1e-5).sigma
    assert many == pytest.approx(2 * sigma**2 * 100 / 10**6)
    assert few == acc.recommended_lam(1.0, 1e-5, 10, 10**4) == pytest.approx(2 / (1 + 0.5 / sigma**2))
    assert acc.calibrate_objective_perturbation(1.0, 1e-5, lam=few).sigma == pytest.approx(sigma)
    scaled = acc.recommended_lam(1.0, 1e-5, 10**6, 100, lipschitz=3.0)
    assert scaled == pytest.approx(9 * many)  # λ has the units of the curvature


def test_recommended_margin_goes_by_the_noise_and_vanishes_with_it():
    sigma = acc.calibrate_gaussian(1.0, 1e-5).sigma
    wanted = 2 * sigma**2 * 100 / 10**6
    assert acc.recommended_margin(1.0, 1e-5, 10**6, 100) == pytest.approx(1.5 * wanted / (wanted + 0.01))
    over_epsilon = [acc.recommended_margin(e, 1e-5, 10**4, 100) for e in (0.01, 1.0, 100.0, 1e6)]
    assert over_epsilon == sorted(over_epsilon, reverse=True)
    assert over_epsilon[0] == pytest.approx(1.5, rel=1e-3)
    assert 0 < over_epsilon[-1] < 1e-3
    assert acc.recommended_margin(1.0, 1e-5, 50, 100) > acc.recommended_margin(1.0, 1e-5, 5000, 100)


DELTA = 1e-5
NOTHING = acc.Standardisation(None, None)


def steps(epsilon, rows, columns, **options):
    plan = acc.recommended_standardisation(epsilon, DELTA, rows, columns, **options)
    return plan.center_noise is not None, plan.scale_noise is not None


@pytest.mark.parametrize(
    ("epsilon", "rows", "columns", "wanted"),
    [
        (0.05, 300, 10, (False, False)),  # one entry of the centre is lost in noise
        (0.1, 300, 10, (True, False)),
        (0.1, 300, 100, (False, False)),  # its norm is
        (1.0, 300, 100, (True, True)),
        (0.025, 20_000, 100, (True, True)),
        (0.025, 2000, 1000, (False, False)),
        (0.1, 2000, 1000, (True, True)),
    ],
)
def test_a_step_is_taken_where_its_noise_leaves_something_to_see(epsilon, rows, columns, wanted):
    assert steps(epsilon, rows, columns) == wanted


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("people", [1, 3])
@pytest.mark.parametrize("columns", [1, 20, 700, 5000])
def test_more_rows_never_take_a_step_away_and_scales_never_go_without_centre(adjacency, people, columns):
    options = {"adjacency": adjacency, "rows_per_person": people}
    taken = [steps(0.5, rows, columns, **options) for rows in (10, 30, 100, 300, 1000, 3000, 10**4, 10**5, 10**6)]
    assert taken == sorted(taken)
    assert taken[0] == (False, False)
    assert taken[-1] == (True, True)
    assert (False, True) not in taken


def test_what_is_taken_has_the_noise_of_the_full_plan():
    full = acc.full_standardisation(0.1, DELTA, 300, 10)
    assert acc.recommended_standardisation(0.1, DELTA, 300, 10) == acc.Standardisation(full.center_noise, None)
    assert acc.recommended_standardisation(1.0, DELTA, 300, 10) == acc.full_standardisation(1.0, DELTA, 300, 10)
    assert acc.recommended_standardisation(1e-3, DELTA, 300, 10) == NOTHING


def test_the_margin_doubles_on_standardised_rows_and_triples_where_they_are_wide_and_well_centred():
    def factor(epsilon, rows, columns):
        numbers = epsilon, DELTA, rows, columns
        return acc.recommended_margin(*numbers, standardised=True) / acc.recommended_margin(*numbers)

    assert factor(1.0, 100_000, 100) == pytest.approx(2.0, abs=2e-3)
    assert factor(20.0, 5000, 5000) == pytest.approx(3.0, abs=2e-3)
    assert factor(20.0, 5000, 50_000) == pytest.approx(3.0, abs=2e-2)
    assert factor(0.01, 500, 500) == pytest.approx(2.0, abs=2e-3)
    noise = acc.calibrate_gaussian(0.5, DELTA).sigma * math.sqrt(400) / 800
    assert factor(0.5, 800, 400) == pytest.approx(2 + 0.5 / (1 + (noise / 0.15) ** 2))


def test_the_margin_goes_by_noise_relative_to_the_gradients_bound():
    """R scales σ alone; with r far above 0.01 only q is left, which has no unit."""
    values = [acc.recommended_margin(0.1, DELTA, 50, 50, radius, standardised=True) for radius in (1.0, 100.0)]
    assert values[0] == pytest.approx(values[1], rel=1e-4)


def test_the_margin_is_finite_at_the_ends_of_doubles():
    assert acc.recommended_margin(1e-30, 1e-300, 1, 10**6, 1e50, standardised=True) == pytest.approx(3.0)
