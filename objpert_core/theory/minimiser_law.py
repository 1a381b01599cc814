"""The exact law of objective perturbation's minimiser in a few dimensions, and what the best attacker makes of it.

Conventions
    J(θ) = Σ log(1 + exp(−yᵢ xᵢᵀθ)) + λ/2 ‖θ‖²,  xᵢ in R^D, yᵢ ∈ {−1, +1}
    M    = argmin J(θ) + bᵀθ with b ~ N(0, σ² I)
    θ has shape (…, D), rows have shape (n, D)

b ↦ M is one to one with inverse b(θ) = −∇J(θ), so by change of variables M has density φ_σ(∇J(θ)) · det ∇²J(θ). The
ratio of two such densities is all that an attacker can use who has to tell two data sets apart.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import betaincinv, expit

from objpert_core._validation import (
    FloatArray,
    check_fields,
    in_open_unit,
    nonnegative_integer,
    positive,
    positive_integer,
    privacy_budget_array,
    sign_labels,
    unit_array,
)

_ITERATIONS = 400  # of Newton's method; a dozen are usual
_ROUNDING = 1e-9  # relative: a gradient below it that does not get smaller is as small as doubles allow


@dataclass(frozen=True)
class MinimiserLaw:
    """The law of objective perturbation's minimiser for logistic regression with a few parameters.

    The change of variables is that of Redberg et al. (2023), proof of Theorem 3.1.

    `rows` have shape (n, D), `labels` are n values in {-1, +1}, and n may be 0; `sigma` and `lam` are > 0.

    >>> law = MinimiserLaw([[0.6, 0.8], [-1.0, 0.0]], [1, -1], sigma=2.0, lam=1.0)
    >>> side = np.linspace(-12, 12, 241)
    >>> grid = np.stack(np.meshgrid(side, side), axis=-1)
    >>> round(float(np.exp(law.log_density(grid)).sum() * 0.1**2), 5)
    1.0
    """

    rows: Any
    labels: Any
    sigma: float
    lam: float

    def __post_init__(self) -> None:
        x = np.array(self.rows, dtype=float)
        if x.ndim != 2 or not x.shape[1] or not np.isfinite(x).all():
            raise ValueError(f"rows must be finite numbers of shape (n, D), got {self.rows!r}")
        y = sign_labels(self.labels, len(x), "rows")
        for name, value in (("rows", x), ("labels", y)):
            value.setflags(write=False)
            object.__setattr__(self, name, value)
        check_fields(self, positive, "sigma", "lam")

    @property
    def dimension(self) -> int:
        """D, how many parameters there are."""
        return int(self.rows.shape[1])

    def add(self, row: Any, label: int) -> MinimiserLaw:
        """The neighbouring data set with one more row."""
        return replace(self, rows=np.vstack([self.rows, row]), labels=np.append(self.labels, label))

    def gradient(self, theta: Any) -> FloatArray:
        """∇J(θ), shape (…, D): −b at the minimiser θ."""
        return self._derivatives(np.asarray(theta, dtype=float))[0]

    def log_density(self, theta: Any) -> FloatArray:
        """Natural logarithm of the density of the released minimiser, shape (…)."""
        gradient, hessian = self._derivatives(np.asarray(theta, dtype=float))
        constant = self.dimension * (math.log(self.sigma) + 0.5 * math.log(2 * math.pi))
        squares = np.square(gradient / self.sigma).sum(axis=-1)
        return np.asarray(np.linalg.slogdet(hessian)[1] - squares / 2 - constant)

    def minimiser(self, tilt: Any) -> FloatArray:
        """The θ that minimises J(θ) + tiltᵀθ, for tilts b of shape (…, D).

        Each answer depends on its own tilt alone, to the last digit: who knows the tilt can compute the very same
        double.
        """
        b = np.asarray(tilt, dtype=float)
        tilts = b.reshape(-1, self.dimension)
        theta, step = np.zeros_like(tilts), np.ones(len(tilts))
        gradient, hessian = self._derivatives(theta)
        gradient += tilts
        least = _ROUNDING * (1.0 + np.sqrt(_squares(tilts)))
        lanes = np.arange(len(tilts))  # those not done yet
        for _ in range(_ITERATIONS):
            size = _squares(gradient[lanes])
            direction = np.linalg.solve(hessian[lanes], gradient[lanes][..., None])[..., 0]
            tried = theta[lanes] - step[lanes, None] * direction
            there, curved = self._derivatives(tried)
            there += tilts[lanes]
            nearer = _squares(there) < size
            moved = lanes[nearer]
            theta[moved], gradient[moved], hessian[moved], step[moved] = tried[nearer], there[nearer], curved[nearer], 1
            step[lanes[~nearer]] /= 2  # the gradient's norm falls along Newton's direction, if the step is short enough
            lanes = lanes[nearer | (size > least[lanes] ** 2)]
            if not len(lanes):
                break
        return theta.reshape(b.shape)

    def releases(self, count: int, random: np.random.Generator) -> FloatArray:
        """Released minimisers of `count` random tilts, shape (count, D); `random` is numpy's, for simulations."""
        tilts = random.standard_normal((positive_integer("count", count), self.dimension))
        return self.minimiser(self.sigma * tilts)

    def _derivatives(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """∇J and ∇²J at each θ, row by row: the order of all sums is the same for one θ and for many."""
        dimension = range(self.dimension)
        gradient = self.lam * theta
        hessian = np.zeros((*theta.shape, self.dimension))
        hessian[..., dimension, dimension] = self.lam
        for z in self.labels[:, None] * self.rows:
            ahead = theta[..., 0] * z[0]
            for i in dimension[1:]:
                ahead = ahead + theta[..., i] * z[i]
            wrong = expit(-ahead)
            curved = wrong * expit(ahead)
            for i in dimension:
                gradient[..., i] -= wrong * z[i]
                for j in dimension[: i + 1]:
                    hessian[..., i, j] += curved * (z[i] * z[j])
        for i in dimension:
            hessian[..., :i, i] = hessian[..., i, :i]
        return gradient, hessian


def _squares(vectors: FloatArray) -> FloatArray:
    """‖·‖² of each, summed in the same order for one vector and for many."""
    total = np.square(vectors[..., 0])
    for i in range(1, vectors.shape[-1]):
        total = total + np.square(vectors[..., i])
    return total


def log_odds(joined: MinimiserLaw, left: MinimiserLaw, theta: Any) -> FloatArray:
    """Logarithm of the odds that θ came from `joined` and not from `left`, both equally likely before, shape (…).

    >>> left = MinimiserLaw([[0.6, 0.8]] * 5, [1, 1, 1, -1, -1], sigma=2.0, lam=1.0)
    >>> [round(float(value), 2) for value in log_odds(left.add([0.6, 0.8], -1), left, [[1.0, 1.0], [-1.0, -1.0]])]
    [-0.48, 0.25]
    """
    return joined.log_density(theta) - left.log_density(theta)


@dataclass(frozen=True)
class Estimate:
    """A chance that was sampled in `draws` draws: its `value` and the interval from `low` to `high` around it."""

    value: float
    low: float
    high: float
    draws: int


def sampled_success(
    joined: MinimiserLaw, left: MinimiserLaw, *, draws: int = 4000, seed: int = 0, outside: float = 0.05
) -> Estimate:
    """How often the best attacker tells which of two equally likely data sets a release came from, by sampling.

    The mean of max(p, 1 − p), p the posterior of each release, which has the chance as its expectation and varies less
    than hits do. The interval is Maurer and Pontil's (2009, Theorem 4): it holds for every law, not only for large
    samples.

    Each of the `draws` >= 2 comes from either law with a coin's chance. The interval misses the exact chance, (1 +
    total variation)/2, with probability `outside` at most.

    >>> left = MinimiserLaw([[1.0, 0.0]] * 5, [1] * 5, sigma=2.0, lam=1.0)
    >>> found = sampled_success(left.add([0.6, 0.8], -1), left)
    >>> found.low < found.value < found.high, found.draws
    (True, 4000)
    """
    count = positive_integer("draws", draws)
    if count < 2:
        raise ValueError(f"draws must be a whole number >= 2, got {draws!r}")
    log_slack = math.log(4 / in_open_unit("outside", outside))
    random = np.random.default_rng(nonnegative_integer("seed", seed))
    inside = int(random.binomial(count, 0.5))
    parts = [law.releases(size, random) for law, size in ((joined, inside), (left, count - inside)) if size]
    chances = expit(np.abs(log_odds(joined, left, np.concatenate(parts))))
    mean = float(chances.mean())
    half = math.sqrt(2 * float(chances.var(ddof=1)) * log_slack / count) + 0.5 * 7 * log_slack / (3 * (count - 1))
    return Estimate(mean, max(mean - half, 0.5), min(mean + half, 1.0), count)


def counted_success(hits: int, rounds: int, *, outside: float = 0.05) -> Estimate:
    """How often an attacker is right who was right in 0 <= `hits` <= `rounds` independent rounds, `rounds` >= 1.

    The interval, Clopper and Pearson's, misses the chance with at most the probability `outside`.

    >>> found = counted_success(20, 20)
    >>> found.value, round(found.low, 3), found.high
    (1.0, 0.832, 1.0)
    """
    trials, right = positive_integer("rounds", rounds), nonnegative_integer("hits", hits)
    if right > trials:
        raise ValueError(f"hits must be a whole number from 0 to rounds, {trials}, got {hits!r}")
    tail = in_open_unit("outside", outside) / 2
    low = float(betaincinv(right, trials - right + 1, tail)) if right else 0.0
    high = float(betaincinv(right + 1, trials - right, 1 - tail)) if right < trials else 1.0
    return Estimate(right / trials, low, high, trials)


def coin_hits(rounds: int, *, outside: float = 0.05) -> tuple[int, int]:
    """The least and the most hits of a coin, but for a chance of at most half of `outside` on either side."""
    trials, tail = nonnegative_integer("rounds", rounds), in_open_unit("outside", outside) / 2
    low, below = 0, 0.5**trials  # the chance of `low` hits or fewer
    while below <= tail:
        low += 1
        below += math.comb(trials, low) * 0.5**trials
    return low, trials - low


def success_allowed(epsilon: float, delta: float) -> float:
    """The largest chance with which an attacker guesses a fair coin from an (ε, δ)-private release.

    (e^ε + δ)/(1 + e^ε), rounded up, for ε >= 0, infinite where nothing is promised, and δ from 0 to 1 (Kairouz, Oh and
    Viswanath 2015). A whole profile allows less: `objpert_core.accounting.best_guess`.

    >>> round(success_allowed(1.0, 0.0), 4), success_allowed(0.0, 0.0)
    (0.7311, 0.5)
    """
    budget, slack = float(privacy_budget_array(epsilon)), float(unit_array(delta, "delta"))
    wrong = (1 - slack) * float(expit(-budget))
    return 0.5 if budget == slack == 0 else min(float(np.nextafter(1 - wrong * (1 - 1e-15), 2.0)), 1.0)
