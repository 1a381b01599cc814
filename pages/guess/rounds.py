"""The people and the rounds of the game: what is drawn, what is published, and what the best attacker makes of it.

The attacker knows twelve people, and one may be in the data or not. All rows have norm at most 1, as the proofs ask,
and all are invented.

A setting decides its twenty rounds: everybody with the same link plays the same ones. The address does not name them;
who runs this file can compute them, as with every seed. All that is remembered here is shared by everybody.
"""

import hashlib
import math
from dataclasses import astuple, dataclass, replace
from functools import lru_cache

import numpy as np
from scipy.special import expit

import objpert_core.accounting as acc
from objpert_core.accounting.terms import Terms
from objpert_core.learning.fit import Problem
from objpert_core.learning.objective_perturbation import perturb_and_solve_draws
from objpert_core.learning.problem.losses import LOGISTIC
from objpert_core.theory import naive_noise
from objpert_core.theory.minimiser_law import (
    Estimate,
    MinimiserLaw,
    counted_success,
    log_odds,
    sampled_success,
    success_allowed,
)
from objpert_core.theory.one_dimensional import OneDimensionalLogistic
from ui import bounds as proofs

PLANE, LINE = "plane", "line"
PLACES = (PLANE, LINE)
"""A row is a point of the plane, a model two numbers; or both are one number."""

IN_THE_PLANE = (
    (0.62, 0.38),
    (0.25, 0.71),
    (0.83, -0.12),
    (0.41, 0.16),
    (-0.15, 0.52),
    (0.56, -0.47),
    (-0.58, -0.41),
    (-0.30, -0.77),
    (-0.81, 0.09),
    (-0.44, -0.13),
    (0.12, -0.55),
    (-0.49, 0.46),
)
ON_THE_LINE = (0.9, 0.7, 0.5, 0.8, 0.3, 0.6, -0.8, -0.6, -0.9, -0.4, -0.7, 0.2)
LABELS = (1, 1, 1, 1, -1, 1, -1, -1, -1, 1, -1, -1)
COUNT = len(LABELS)

DISAGREES, AGREES = "disagrees with the others", "agrees with the others"
LABEL = {DISAGREES: -1, AGREES: 1}
"""The marked person's label; her row lies on the side where most have the label +1."""
ROW = {PLANE: (0.8, 0.6), LINE: (1.0,)}
"""The marked person's row, of norm 1."""


def rows(place: str) -> list[list[float]]:
    """The rows of those whom the attacker knows."""
    return [list(row) for row in IN_THE_PLANE] if place == PLANE else [[x] for x in ON_THE_LINE]


ROUNDS = 20
DELTA = 1e-5
PRIVATE, BARE, SMALL, DIGITS = "private model", "no privacy", "noise too small", "careless digits"
GAMES = (PRIVATE, BARE, SMALL, DIGITS)
TAU = 1e-9
_OUTPUT_SHARE = 1e-3  # of the tilt's sensitivity over noise: what the output noise of a real fit takes
_CERTAIN = Estimate(1.0, 1.0, 1.0, 0)


@dataclass(frozen=True)
class Setting:
    """One game of twenty rounds. `sigma` is the noise that the promise needs, 0 where there is none."""

    game: str
    sigma: float
    lam: float
    place: str
    person: str
    seed: int

    @property
    def added(self) -> float:
        """σ of the noise that is really added; `SMALL`'s was divided by the number of rows once too often."""
        return self.sigma / COUNT if self.game == SMALL else self.sigma

    @property
    def left(self) -> MinimiserLaw:
        """The law of the model without the person; of one with σ = 1 where there is no noise."""
        return _laws(self.place, self.person, self.added or 1.0, self.lam)[0]

    @property
    def joined(self) -> MinimiserLaw:
        """The law of the model with the person."""
        return _laws(self.place, self.person, self.added or 1.0, self.lam)[1]

    @property
    def proved(self) -> proofs.Setting:
        """The mechanism as the proofs name it: rows of norm 1 and the logistic loss."""
        return proofs.Setting(self.sigma, self.lam, 0.25, 1.0)


@dataclass(frozen=True)
class Round:
    """What was published, the truth, and the chance that the best attacker gives to "in" after having seen it."""

    theta: tuple[float, ...]
    inside: bool
    posterior: float

    @property
    def best(self) -> bool:
        """What the best attacker says: in or not."""
        return self.posterior >= 0.5


@lru_cache(maxsize=500)
def _laws(place: str, person: str, sigma: float, lam: float) -> tuple[MinimiserLaw, MinimiserLaw]:
    left = MinimiserLaw(rows(place), LABELS, sigma=sigma, lam=lam)
    return left, left.add(ROW[place], LABEL[person])


def mechanism(sigma: float, lam: float) -> acc.ApproximateMinima:
    """What a real fit with this σ and λ is accounted as: its solver stops at τ, its output noise hides that."""
    objective = acc.ObjectivePerturbation(sigma, lam, lipschitz=1.0)
    return acc.ApproximateMinima(objective, TAU, 2 * TAU / lam * sigma / _OUTPUT_SHARE)


def epsilon(sigma: float, lam: float) -> float:
    """ε that is proved of a real fit at `DELTA`; infinite without noise."""
    return proofs.at(mechanism(sigma, lam), "epsilon", DELTA) if sigma else math.inf


def minimiser_epsilon(sigma: float, lam: float) -> float:
    """ε of the exact minimiser, a little less: to search with."""
    return proofs.at(mechanism(sigma, lam).objective, "epsilon", DELTA)


@lru_cache(maxsize=500)
def allowed(sigma: float, lam: float) -> tuple[float, float]:
    """How often any attacker is right at most: by ε and δ alone, and by the whole proof.

    The minimiser's own profile, and the output noise's beside it: total variations of two releases add up at most.
    """
    if not sigma:
        return 1.0, 1.0
    fit = mechanism(sigma, lam)
    whole = acc.best_guess(fit.objective) + acc.best_guess(acc.Gaussian(fit.sigma_out, 2 * TAU / lam)) - 0.5
    by_epsilon = success_allowed(epsilon(sigma, lam), DELTA)
    return by_epsilon, min(math.nextafter(whole, 2.0), by_epsilon, 1.0)


def _random(setting: Setting) -> np.random.Generator:
    """Numbers that differ for every setting, so that one game's truths do not tell another's."""
    digest = hashlib.sha256(repr(astuple(setting)).encode()).digest()
    return np.random.default_rng(int.from_bytes(digest, "little"))


@lru_cache(maxsize=500)
def _published(setting: Setting) -> tuple[tuple[bool, tuple[float, ...]], ...]:
    """Of each round whether the person was in, and the published θ."""
    random = _random(setting)
    inside = random.integers(0, 2, ROUNDS).astype(bool)
    laws = {False: setting.left, True: setting.joined}
    thetas = np.empty((ROUNDS, setting.left.dimension))
    if setting.game == BARE:
        thetas[:] = [laws[bool(one)].minimiser(np.zeros(thetas.shape[1])) for one in inside]
    elif setting.game == DIGITS:
        words = naive_noise.random_words(ROUNDS, thetas.shape[1], random)
        thetas[:] = [naive_noise.naive_release(laws[bool(one)], word) for one, word in zip(inside, words, strict=True)]
    else:
        seeds = random.integers(0, 2**31, ROUNDS).tolist()
        for one, law in laws.items():
            places = np.flatnonzero(inside == one)
            problem = Problem(law.rows, law.labels, LOGISTIC, solving={"intercept_scaling": 0.0, "row_norm": "clip"})
            terms = Terms(epsilon(setting.added, setting.lam), DELTA)
            states = [seeds[place] for place in places]
            released = perturb_and_solve_draws(problem, terms, mechanism(setting.added, setting.lam), states)
            thetas[places] = [release.theta for release in released]
    return tuple((bool(one), tuple(theta.tolist())) for one, theta in zip(inside, thetas, strict=True))


@lru_cache(maxsize=5000)
def round_of(setting: Setting, number: int) -> Round:
    """Round `number` of a game, counted from 0."""
    inside, theta = _published(setting)[number]
    published = np.array(theta)
    if setting.game == BARE:
        chance = float(np.array_equal(published, setting.joined.minimiser(np.zeros(len(theta)))))
    elif setting.game == DIGITS:
        chance = naive_noise.digits_posterior(setting.joined, setting.left, published)
    else:
        chance = float(expit(log_odds(setting.joined, setting.left, published)))
    return Round(theta, inside, chance)


def long_run(setting: Setting) -> Estimate | None:
    """How often the best attacker is right in the long run; None for `DIGITS`, where there is no law to compute with.

    Exact on the line, up to the cells of an integral; sampled in the plane.
    """
    return _long_run(replace(setting, seed=0))


@lru_cache(maxsize=500)
def _long_run(setting: Setting) -> Estimate | None:
    if setting.game == BARE:
        return _CERTAIN
    if setting.game == DIGITS:
        return None
    if setting.place == PLANE:
        return sampled_success(setting.joined, setting.left)
    left = OneDimensionalLogistic(ON_THE_LINE, LABELS, sigma=setting.added, lam=setting.lam)
    chance = 0.5 + 0.5 * left.hockey_stick(left.add(ROW[LINE][0], LABEL[setting.person]), 0.0)
    return Estimate(chance, chance, chance, 0)


@lru_cache(maxsize=5000)
def fitting_draws(setting: Setting, number: int) -> tuple[int | None, int | None]:
    """How many draws of textbook noise lead to exactly this round's θ, with the person and without."""
    theta = np.array(_published(setting)[number][1])
    return naive_noise.preimages(setting.joined, theta), naive_noise.preimages(setting.left, theta)


@lru_cache(maxsize=500)
def by_digits(setting: Setting) -> tuple[Estimate, Estimate]:
    """The attack on digits, counted: on this game's textbook noise, and on the package's noise at the same setting."""
    hits = sum(played.best == played.inside for played in (round_of(setting, k) for k in range(ROUNDS)))
    private = replace(setting, game=PRIVATE)
    held = 0
    for inside, theta in _published(private):
        held += (naive_noise.digits_posterior(private.joined, private.left, np.array(theta)) >= 0.5) == inside
    return counted_success(hits, ROUNDS), counted_success(held, ROUNDS)
