"""The attack of Mironov (2012) on noise in floating point: whose data make every published digit reachable?

The attacker knows all rows but one, and everything of the mechanism but its noise. For either answer (the row was in,
or it was not) the attacker computes what the noise would have been, coordinate by coordinate, and asks whether the
sampler can give a number that leads to exactly the published double. A sampler that passes 53 bits through Φ⁻¹ cannot,
for most doubles. So the wrong answer is found impossible, whatever ε was promised.

`old_normal` is the sampler that this project had: the control, against which the attack succeeds.
"""

from collections import Counter

import numpy as np
import pytest
from scipy.special import ndtr, ndtri
from scipy.stats import beta
from sklearn.base import clone

from objpert_core.accounting import ApproximateMinima, ObjectivePerturbation, calibrate_gaussian
from objpert_core.estimators import DPSGDLogisticRegression
from objpert_core.learning import PerturbedObjective, Rows, perturb_and_solve, solve
from objpert_core.learning.dp_sgd.training import Gradients, NoisySums, Schedule, sum_spacing, train_candidates
from objpert_core.learning.lattice import release_on_lattice
from objpert_core.learning.output_perturbation import output_sensitivity, recommended_output_lam, solve_and_perturb
from tests.learning.posterior.fixed import Fixed

CHANCE = 1e-9  # noise is the operating system's: a test fails by chance once in so many runs


def data(n, d, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.where(X[:, 0] + rng.normal(size=n) > 0, 1.0, -1.0)


def old_normal(words):
    magnitude = -ndtri(((words >> np.uint64(1)).astype(np.float64) + 0.5) * 2.0**-64)
    return np.where(words & np.uint64(1), magnitude, -magnitude)


def reachable(published, publish, noise):
    """In how many coordinates `publish` of some number of the old sampler near `noise` is what was published."""
    u = ndtr(-np.abs(noise))
    found = np.zeros(len(published), dtype=bool)
    spacing = np.maximum(np.spacing(u), 2.0**-64)
    for steps in range(-12, 13):
        x = -ndtri(np.clip(u + steps * spacing, 2.0**-65, 0.5)) * np.sign(noise)
        found |= publish(x) == published
    return int(found.sum())


def old_guess(case, published, coin):
    """The answer under which more coordinates are reachable; a coin's where there are as many."""
    publishers = [case.publisher(centre) for centre in case.centres]
    pairs = zip(publishers, case.noises(published), strict=True)
    scores = [reachable(published, publish, noise) for publish, noise in pairs]
    return scores.index(max(scores)) if scores[0] != scores[1] else int(coin)


def test_no_zero_on_a_lattice_has_a_sign():
    below = np.array([-1e-9, -0.0, 0.0, 1e-9])
    sums = NoisySums(Rows(np.eye(4), "normalize", 0.0), 1.0, 1.0, 4, [Fixed()], n_rows=4)
    totals = below[:, None].copy()
    sums.add(totals, np.zeros((4, 1)), 0, 1)
    for released in (release_on_lattice(below, 1.0, 2.0**-10, Fixed()), totals[:, 0]):
        assert (released == 0).all()
        assert not np.signbit(released).any()


def lattice_guess(published, centres, spacing, coin):
    """The same attack on a release on a lattice: which answer makes all of it reachable?"""
    reachable = [bool(np.all((published - np.rint(centre / spacing) * spacing) % spacing == 0)) for centre in centres]
    assert reachable == [True, True]  # there is nothing to find
    return int(coin)


def likelier(published, centres, coin):
    """The best attack that ε allows: the nearer centre."""
    distances = [float(np.linalg.norm(published - centre)) for centre in centres]
    return int(np.argmin(distances)) if distances[0] != distances[1] else int(coin)


def assert_private(right, trials, epsilon, delta):
    """Clopper–Pearson: so many right answers are no evidence of more than (ε, δ) allows."""
    least = beta.ppf(CHANCE, right, trials - right + 1) if right else 0.0
    at_most = (np.exp(epsilon) + delta) / (1 + np.exp(epsilon))  # of guesses at one of two equally likely answers
    assert least <= at_most, f"{right} of {trials} right"


class OutputCase:
    """500 rows of 60 features at (0.01, 10⁻⁶), as in the attack that was reported."""

    epsilon, delta, tau, rows, features = 0.01, 1e-6, 1e-6, 500, 60

    def __init__(self):
        X, y = data(self.rows + 1, self.features)
        self.sets = (X[:-1], y[:-1]), (X, y)
        self.lam = recommended_output_lam(self.epsilon, self.delta, self.rows)
        sensitivity = output_sensitivity(self.lam, 1.0, self.tau)
        self.sigma = calibrate_gaussian(self.epsilon, self.delta, sensitivity).sigma
        self.centres = []
        for X, y in self.sets:
            objective = PerturbedObjective(Rows(X, "normalize"), y, self.lam, np.zeros(self.features))
            self.centres.append(solve(objective, tau=self.tau / 2).theta)

    def publisher(self, centre):
        return lambda x: centre + self.sigma * x

    def noises(self, published):
        return [(published - centre) / self.sigma for centre in self.centres]

    def guesses(self, answer, coin):
        told = {"epsilon": self.epsilon, "delta": self.delta, "public_rows": self.rows, "intercept_scaling": 0.0}
        release = solve_and_perturb(*self.sets[answer], **told)
        return {
            "old": old_guess(self, release.theta, coin),
            "lattice": lattice_guess(release.theta, self.centres, release.certificate.lattice, coin),
            "likelier": likelier(release.theta, self.centres, coin),
        }


class StepCase:
    """One step of DP-SGD on 300 rows, all of them in the batch: plain gradient descent from 0."""

    epsilon, delta, eta, features = 0.5, 1e-6, 0.1, 40

    def __init__(self):
        X, y = data(301, self.features, seed=3)
        self.sets = (X[:-1], y[:-1]), (X, y)
        self.schedule = Schedule.of_epochs(300, 1000, 1)
        told = {"optimizer": "sgd", "fit_intercept": False, "margin": 0.0, "public_rows": 300, "classes": [-1.0, 1.0]}
        self.model = DPSGDLogisticRegression(  # fitted anew for every trial
            self.epsilon, self.delta, learning_rate=self.eta, batch_size=1000, epochs=1, **told
        )
        self.multiplier = self.model.fit(*self.sets[0]).privacy_.noise_multiplier
        self.centres = []
        for X, y in self.sets:
            gradients = Gradients(Rows(X, "normalize"), y, 1.0)
            self.centres.append(gradients.total(np.arange(len(y)), np.zeros((self.features, 1)))[:, 0])

    def publisher(self, centre):
        return lambda x: 0.0 - self.eta * ((centre + x * (self.multiplier * 1.0)) / self.schedule.batch_size)

    def sums(self, published):
        return published / -self.eta * self.schedule.batch_size

    def noises(self, published):
        return [(self.sums(published) - centre) / self.multiplier for centre in self.centres]

    def guesses(self, answer, coin):
        published = clone(self.model).fit(*self.sets[answer]).coef_[0]
        return {"old": old_guess(self, published, coin), "likelier": likelier(self.sums(published), self.centres, coin)}


class ObjectiveCase:
    """Algorithm 1: under either answer the attacker computes the noise that leads to these coefficients.

    It is a number of the old sampler in no more coordinates for one answer than for the other, and its length tells no
    more than (ε, δ) allows. The old sampler gave nothing away here either: the output noise hid its digits.
    """

    delta = 1e-6
    mechanism = ApproximateMinima(ObjectivePerturbation(sigma=8.0, lam=130.0), 1e-6, 1e-6)

    def __init__(self):
        X, y = data(301, 8, seed=6)
        self.sets = (X[:-1], y[:-1]), (X, y)
        self.epsilon = self.mechanism.epsilon(self.delta)
        self.rng = np.random.default_rng(8)

    def objective(self, answer, linear=np.zeros(8)):  # noqa: B008 - nobody writes to it
        X, y = self.sets[answer]
        return PerturbedObjective(Rows(X, "normalize"), y, 130.0, linear)

    def noises(self, theta):
        return [-self.objective(answer).gradient(theta)[0] / 8.0 for answer in (0, 1)]

    def by_digits(self, theta, coin):
        scores = [reachable(noise, lambda x: x, noise) for noise in self.noises(theta)]
        return scores.index(max(scores)) if scores[0] != scores[1] else int(coin)

    def guesses(self, answer, coin):
        release = perturb_and_solve(*self.sets[answer], self.mechanism, delta=self.delta, intercept_scaling=0.0)
        assert np.all(release.theta % release.certificate.lattice == 0)
        words = self.rng.integers(0, 2**64, 16, dtype=np.uint64)
        old = solve(self.objective(answer, 8.0 * old_normal(words[:8])), tau=1e-6).theta + 1e-6 * old_normal(words[8:])
        return {
            "digits": self.by_digits(release.theta, coin),
            "digits of the old sampler": self.by_digits(old, coin),
            "lengths": int(np.argmin([np.linalg.norm(noise) for noise in self.noises(release.theta)])),
        }


@pytest.mark.parametrize("kind", [OutputCase, StepCase])
def test_the_attack_finds_the_row_behind_the_old_samplers_noise(kind):
    """The control: forty of forty, at ε = 0.01 where 50.25 % would be allowed, and behind a step of DP-SGD."""
    case, rng = kind(), np.random.default_rng(1)
    for answer in rng.integers(0, 2, 40):
        words = rng.integers(0, 2**64, case.features, dtype=np.uint64)
        published = case.publisher(case.centres[answer])(old_normal(words))
        assert old_guess(case, published, rng.integers(2)) == answer


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::objpert_core.exceptions.PrivacyBudgetWarning")
@pytest.mark.parametrize("kind", [OutputCase, StepCase, ObjectiveCase])
def test_no_release_gives_its_row_away(kind):
    case, rng, trials, right = kind(), np.random.default_rng(2), 150, Counter()
    for answer in rng.integers(0, 2, trials):
        right.update(name for name, guess in case.guesses(answer, rng.integers(2)).items() if guess == answer)
    print(f"{kind.__name__} at ε = {case.epsilon:.3g}: of {trials} {dict(right)}")
    for count in right.values():
        assert_private(count, trials, case.epsilon, case.delta)


def test_the_sums_of_dp_sgd_lie_on_the_lattice():
    X, y = data(50, 3)
    schedule = Schedule(1.0, 1, 64.0)
    theta = train_candidates(Rows(X, "normalize"), y, [1.0], schedule, noise_multiplier=2.0, clip=1.0, optimizer="sgd")[
        0
    ]
    points = theta * 64 / sum_spacing(1.0, 3)  # a rate of 1 and a batch of 64 rows lose no digit
    np.testing.assert_array_equal(points, np.rint(points))
