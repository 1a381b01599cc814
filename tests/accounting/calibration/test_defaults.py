"""What is taken where nothing is given: the share of noise, λ and the margin, from public numbers only."""

import pytest

from objpert_core.accounting import (
    calibrate_gaussian,
    calibrate_objective_perturbation,
    default_noise_ratio,
    recommended_lam,
    recommended_margin,
)


def test_default_noise_ratio():
    """The paper's 1.3 where nothing less would do; otherwise a share of σ that fades at both ends of ε."""
    assert default_noise_ratio("glm", 1.0) == default_noise_ratio("logistic", 1.0, "rdp") == 1.3
    shares = [default_noise_ratio("logistic", epsilon) for epsilon in (1e-6, 0.01, 1.0, 8.0, 100.0, 1e6)]
    assert all(1 < share <= 1.02 for share in shares)
    assert max(shares) == shares[2]
    assert default_noise_ratio("monotone", 1.0) > default_noise_ratio("logistic", 1.0)
    with pytest.raises(ValueError, match=r"bound must be one of .*, got 'kifer2012'"):
        default_noise_ratio("kifer2012", 1.0)


def test_recommended_lam_regularises_where_rows_are_few_for_the_noise_and_never_much_more_than_privacy_asks():
    many, few = (recommended_lam(1.0, 1e-5, n, 100) for n in (10**6, 10**3))
    least = calibrate_objective_perturbation(1.0, 1e-5).lam
    assert many < least < few
    sigma = calibrate_gaussian(1.0, 1e-5).sigma
    assert many == pytest.approx(2 * sigma**2 * 100 / 10**6)
    assert few == recommended_lam(1.0, 1e-5, 10, 10**4) == pytest.approx(2 / (1 + 0.5 / sigma**2))
    assert calibrate_objective_perturbation(1.0, 1e-5, lam=few).sigma == pytest.approx(sigma)
    scaled = recommended_lam(1.0, 1e-5, 10**6, 100, lipschitz=3.0)
    assert scaled == pytest.approx(9 * many)  # λ has the units of the curvature


def test_recommended_margin_goes_by_the_noise_and_vanishes_with_it():
    sigma = calibrate_gaussian(1.0, 1e-5).sigma
    wanted = 2 * sigma**2 * 100 / 10**6
    assert recommended_margin(1.0, 1e-5, 10**6, 100) == pytest.approx(1.5 * wanted / (wanted + 0.01))
    over_epsilon = [recommended_margin(e, 1e-5, 10**4, 100) for e in (0.01, 1.0, 100.0, 1e6)]
    assert over_epsilon == sorted(over_epsilon, reverse=True)
    assert over_epsilon[0] == pytest.approx(1.5, rel=1e-3)
    assert 0 < over_epsilon[-1] < 1e-3
    assert recommended_margin(1.0, 1e-5, 50, 100) > recommended_margin(1.0, 1e-5, 5000, 100)
