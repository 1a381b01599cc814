"""Figure 2 of Redberg, Zhu and Wang (2023), corrected: what labels by noisy majority cost where teachers agree.

400 simulated teachers with much, some or little agreement, and 100 teachers trained on disjoint parts of the digits
that come with scikit-learn, label 200 rows; `counts` has shape (rows, classes). One teacher may change all its votes.
Orders, budgets and test parameters are the best ones for these votes; that choice is not paid for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

from objpert_core._validation import FloatArray, choice, positive
from objpert_core.accounting import Gaussian, GNMax, rdp_to_epsilon
from objpert_core.experiments.results import Row

DELTA, QUERIES, SURE = 1e-5, 200, 0.95
"""δ; T; how likely the distance test is to pass."""
SEED = 0
_SPREAD: Mapping[str, tuple[float, ...]] = {  # a teacher's chance to name each class
    "high": (0.8, *9 * (0.0222,)),
    "mid": (0.7, 0.1, *8 * (0.025,)),
    "low": (0.34, 0.22, *8 * (0.055,)),
}
SOURCES: Mapping[str, str] = MappingProxyType(
    {
        "high": "400 teachers, four in five agree",
        "mid": "400 teachers, seven in ten agree",
        "low": "400 teachers, one in three agrees",
        "digits": "100 teachers of handwritten digits",
    }
)
"""Whose votes, by key."""
SIGMAS = (5.0, 10.0, 15.0, 20.0, 30.0, 40.0, 60.0, 80.0, 100.0)
DIGITS_SIGMAS = (2.0, 5.0, 7.0, 10.0, 15.0, 20.0)
DIGITS_TEACHERS, DIGITS_ROWS = 100, 1400
"""Teachers of the digits, and how many of the 1797 rows they share."""
ORDERS = np.unique(np.concatenate([np.arange(2.0, 41.0), np.round(np.geomspace(40, 1000, 30))]))
_SMOOTH_SHARE = 0.2  # β·α, as published

LABELS: Mapping[str, str] = MappingProxyType(
    {
        "independent": "Any votes, Rényi",
        "exact": "Any votes, exact",
        "known": "These votes, not private",
        "smooth": "Smooth sensitivity, corrected",
        "distance": "Distance test",
        "distance-tight": "Distance test, tight conversion",
    }
)
"""The analyses, by their keys."""


@dataclass(frozen=True)
class Price(Row):
    """What the labels cost by one analysis: ε at δ = 10⁻⁵, with noise of standard deviation `sigma` on each count."""

    VALUE = "value"

    source: str
    sigma: float
    method: str
    value: float
    right: float


@lru_cache(maxsize=8)
def votes(source: str) -> tuple[FloatArray, FloatArray]:
    """The teachers' votes, shape (T, 10), and the right answers, shape (T,)."""
    if choice("source", source, tuple(SOURCES)) == "digits":
        return _digits()
    chances = np.array(_SPREAD[source])
    counts = np.random.default_rng(SEED).multinomial(400, chances / chances.sum(), QUERIES)
    return counts.astype(np.float64), np.zeros(QUERIES)


def _digits() -> tuple[FloatArray, FloatArray]:
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(SEED).permutation(len(y))
    mine, asked = order[:DIGITS_ROWS], order[DIGITS_ROWS : DIGITS_ROWS + QUERIES]
    counts = np.zeros((QUERIES, 10))
    for part in np.array_split(mine, DIGITS_TEACHERS):
        teacher = LogisticRegression(C=0.01, max_iter=500).fit(X[part], y[part])
        counts[np.arange(QUERIES), teacher.predict(X[asked])] += 1
    return counts, y[asked].astype(np.float64)


def labels(counts: FloatArray, sigma: float) -> FloatArray:
    """One draw of the noisy winners."""
    noise = np.random.default_rng([SEED, 1]).standard_normal(counts.shape)
    return np.argmax(counts + positive("sigma", sigma) * noise, axis=1).astype(np.float64)


def converted(order: float, rdp: float, delta: float = DELTA) -> float:
    """ε by the paper's conversion: rdp + log(1/δ)/(α − 1)."""
    return rdp + math.log(1 / delta) / (order - 1)


def independent(counts: FloatArray, sigma: float) -> float:
    """ε of T Gaussian mechanisms of sensitivity √2, through Rényi orders."""
    return min(converted(order, len(counts) * GNMax(sigma).rdp(order)) for order in ORDERS)


def exact(counts: FloatArray, sigma: float) -> float:
    """ε of the same T mechanisms exactly: they are one Gaussian mechanism of sensitivity √(2T)."""
    return Gaussian(sigma, math.sqrt(2 * len(counts))).epsilon(DELTA)


def known(counts: FloatArray, sigma: float) -> float:
    """ε of these votes, a number that itself says something about the votes."""
    return min(converted(order, GNMax(sigma).rdp_at(counts, order)) for order in ORDERS)


def smooth(counts: FloatArray, sigma: float) -> float:
    """Algorithm 4: the mean of ε' + ε̂ where its test just passes, at the best ε̂."""
    found, mechanism, half = [], GNMax(sigma), math.log(2 / DELTA)
    for order in ORDERS[(ORDERS >= 3) & (ORDERS <= 40)]:
        spent = 2 * half / (order - 1)
        sigma_s, beta = math.sqrt((3 * order + 2) / spent), _SMOOTH_SHARE / order
        far = math.sqrt(2 * math.log(4 / DELTA))
        bound = mechanism.smooth_sensitivity(counts, order, beta)
        raised = sigma_s * far * bound * math.exp(beta * sigma_s * far + (beta * sigma_s) ** 2 / 2)
        asked = order / (2 * sigma_s**2) + _scaled_noise_rdp(order, beta, sigma_s)
        found.append(converted(order, mechanism.rdp_at(counts, order) + raised + asked, DELTA / 2))
    return min(found)


def _scaled_noise_rdp(order: float, beta: float, sigma: float) -> float:
    """The largest Rényi divergence of N(0, 1) from N(min(1, e^u)/σ, e^{2u}) over |u| <= β."""
    u = np.linspace(-beta, beta, 201)
    mixed = order * np.exp(2 * u) + 1 - order
    if mixed.min() <= 0:
        return math.inf
    shift = np.minimum(1.0, np.exp(u)) / sigma
    return float((order * shift**2 / (2 * mixed) + (order * u - np.log(mixed) / 2) / (order - 1)).max())


def distance(counts: FloatArray, sigma: float) -> float:
    """ε of a test that passes with probability 0.95, by the distance to a Rényi budget."""
    return _tested(counts, sigma, converted)


def distance_tight(counts: FloatArray, sigma: float) -> float:
    """As `distance`, with the sharper conversion of Canonne, Kamath and Steinke (2020)."""
    return _tested(counts, sigma, lambda order, rdp: float(rdp_to_epsilon([order], [rdp], DELTA)))


def _tested(counts: FloatArray, sigma: float, convert: Callable[[float, float], float]) -> float:
    mechanism, room = GNMax(sigma), math.log(1 / DELTA) + math.log(0.5 / (1 - SURE))
    best = math.inf
    for order in ORDERS[ORDERS <= 200]:
        most = len(counts) * mechanism.rdp(order)
        best = min(best, convert(order, most))  # nothing to test: all votes are within this budget
        least = mechanism.rdp_at(counts, order)
        for budget in np.geomspace(max(least, 1e-6 * most) * 1.000001, most, _BUDGETS, endpoint=False):
            without = convert(order, budget)
            if without < best:
                best = min(best, without + room / mechanism.distance(counts, order, float(budget)))
    return best


_BUDGETS = 30
_PRICES: Mapping[str, Callable[[FloatArray, float], float]] = {
    "independent": independent,
    "exact": exact,
    "known": known,
    "smooth": smooth,
    "distance": distance,
    "distance-tight": distance_tight,
}


def prices(source: str, sigma: float) -> Iterator[Price]:
    """What every analysis makes of some votes and noise."""
    counts, truth = votes(source)
    right = float((labels(counts, sigma) == truth).mean())
    for method, price in _PRICES.items():
        yield Price(source, sigma, method, float(price(counts, sigma)), right)


PIECES = tuple((source, sigma) for source in SOURCES for sigma in (DIGITS_SIGMAS if source == "digits" else SIGMAS))
