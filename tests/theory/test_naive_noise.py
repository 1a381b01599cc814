"""The attack of Mironov (2012) on objective perturbation with a textbook sampler, and on the package's own release."""

import numpy as np
import pytest
from scipy.stats import beta, kstest

import objpert_core.accounting as acc
from objpert_core.learning.objective_perturbation import described, perturb_and_solve_draws
from objpert_core.theory import naive_noise
from objpert_core.theory.minimiser_law import MinimiserLaw, log_odds

SIGMA, LAM, DELTA = 20.0, 1.0, 1e-5
ROWS = np.array([[0.6, 0.2], [0.1, 0.9], [-0.7, -0.3], [0.4, -0.6], [-0.2, 0.5]])
LABELS = np.array([1.0, 1.0, -1.0, -1.0, 1.0])
LEFT = MinimiserLaw(ROWS, LABELS, sigma=SIGMA, lam=LAM)
JOINED = LEFT.add([-0.6, 0.8], -1)
CHANCE = 1e-6


def least_chance(hits, trials):
    return float(beta.ppf(CHANCE, hits, trials - hits + 1))


def test_the_textbook_sampler_looks_normal():
    words = naive_noise.random_words(4000, 2, np.random.default_rng(1))
    assert kstest(naive_noise.textbook_normal(words).ravel(), "norm").pvalue > 0.01


@pytest.mark.slow
def test_digits_give_the_person_away_whatever_epsilon_promises():
    """The densities know next to nothing, the digits nearly everything."""
    random, trials = np.random.default_rng(2), 60
    words = naive_noise.random_words(trials, 2, random)
    by_digits = by_densities = 0
    for truth, word in zip(random.integers(0, 2, trials), words, strict=True):
        theta = naive_noise.naive_release(JOINED if truth else LEFT, word)
        assert naive_noise.preimages(JOINED if truth else LEFT, theta) >= 1
        by_digits += (naive_noise.digits_posterior(JOINED, LEFT, theta) > 0.5) == truth
        by_densities += (log_odds(JOINED, LEFT, theta) > 0) == truth
    allowed = acc.best_guess(acc.ObjectivePerturbation(SIGMA, LAM))
    assert allowed < 0.57
    assert least_chance(by_digits, trials) > allowed
    assert least_chance(by_densities, trials) < allowed


@pytest.mark.slow
def test_the_packages_own_noise_defeats_the_same_attack():
    """Real releases by Algorithm 1 on a lattice: digits, densities and the lattice tell no more than is allowed."""
    mechanism = acc.ApproximateMinima(acc.ObjectivePerturbation(SIGMA, LAM), tau=1e-8, sigma_out=4e-5)
    trials, hits, random = 60, {"digits": 0, "densities": 0}, np.random.default_rng(3)
    for truth, law in ((0, LEFT), (1, JOINED)):
        released = perturb_and_solve_draws(
            *described(law.rows, law.labels, mechanism, delta=DELTA, intercept_scaling=0.0, row_norm="clip"),
            mechanism,
            [None] * (trials // 2),
        )
        for release in released:
            assert np.all(release.theta % release.certificate.lattice == 0)  # whoever was in the data
            out, joined = (naive_noise.preimages(law, release.theta) for law in (LEFT, JOINED))
            hits["digits"] += (joined > out if joined != out else random.integers(2)) == truth
            hits["densities"] += (log_odds(JOINED, LEFT, release.theta) > 0) == truth
    for count in hits.values():
        assert least_chance(count, trials) < acc.best_guess(mechanism)
    assert least_chance(trials - 5, trials) > acc.best_guess(mechanism)  # what the attack finds in textbook noise


def test_every_word_that_fits_is_counted():
    """Words next to each other can lead to one double: in the tails of a coarse answer, many do."""
    law = MinimiserLaw([[1.0]], [1], sigma=0.05, lam=1.0)
    words = 2**52 + np.arange(-200, 201)[:, None]
    theta = naive_noise.naive_release(law, words)
    values, counts = np.unique(theta, return_counts=True)
    middle = slice(len(values) // 3, 2 * len(values) // 3)
    assert counts[middle].max() > 3
    for value, count in list(zip(values, counts, strict=True))[middle]:
        assert naive_noise.preimages(law, np.array([value])) == count


def test_equal_numbers_of_words_are_even_odds_and_none_leave_it_to_the_densities(monkeypatch):
    theta = np.array([0.3, -0.2])
    for counts, expected in (((2, 2), 0.5), ((3, 1), 0.75), ((0, 1), 0.0)):
        monkeypatch.setattr(naive_noise, "preimages", lambda law, _, c=counts: c[0] if law is JOINED else c[1])
        assert naive_noise.digits_posterior(JOINED, LEFT, theta) == expected
    odds = np.exp(log_odds(JOINED, LEFT, theta))
    for count in (0, None):
        monkeypatch.setattr(naive_noise, "preimages", lambda *_, c=count: c)
        assert naive_noise.digits_posterior(JOINED, LEFT, theta) == pytest.approx(odds / (1 + odds))


def test_where_words_are_too_many_to_count_the_densities_decide():
    left = MinimiserLaw([[1.0]] * 3, [1, 1, -1], sigma=1e-6, lam=1.0)
    joined = left.add([1.0], -1)
    theta = naive_noise.naive_release(joined, np.array([2**52 + 5]))
    assert naive_noise.preimages(joined, theta) is None
    assert naive_noise.digits_posterior(joined, left, theta) == 1.0
