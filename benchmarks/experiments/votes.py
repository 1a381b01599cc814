"""Two figures of Redberg, Zhu and Wang (2023), corrected, that are about votes.

Figure 3: a majority vote, its privacy at a gap and at equal error. Figure 2: what labels by noisy majority cost where
teachers agree. 400 simulated teachers with much, some or little agreement, and 100 teachers trained on disjoint parts
of the digits that come with scikit-learn, label 200 rows; `counts` has shape (rows, classes). One teacher may change
all its votes. Orders, budgets and test parameters are the best ones for these votes; that choice is not paid for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache

import numpy as np
from scipy.optimize import brentq
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

from benchmarks.experiments.experiment import Experiment
from objpert_core._validation import FloatArray, choice, positive
from objpert_core.accounting import GNMax, LaplaceVote, OptimalVote, rdp_to_epsilon
from objpert_core.experiments.ptr.stored import Cost, Price
from objpert_core.experiments.ptr.teachers import ORDERS, converted, exact, known

_PLACES = (np.arange(20_000) + 0.5) / 20_000


def printed(epsilon: float, gap: int) -> float:
    """The paper's formula for ε at a gap: |ε·log(1 − ε/(2 + ε(t + 1)))|, which lacks the summand ε."""
    return -epsilon * math.log1p(-epsilon / (2 + epsilon * (gap + 1)))


def classic(error: float, gap: int) -> float:
    """ε of the classic test at which a vote errs with this probability, above 0 and at most ¼."""
    return math.log(1 / (4 * Cost.DELTA * error)) / (gap - 1)


def mean_cost(epsilon: float, gap: int) -> float:
    """ε̃ = ε/2 for a noisy lower bound on the gap, plus the mean of what the bound promises."""
    asked = positive("epsilon", epsilon) / 2
    noise = np.where(_PLACES < 0.5, np.log(2 * _PLACES), -np.log(2 * (1 - _PLACES))) / asked
    below = np.maximum(np.ceil(gap - math.log(1 / Cost.DELTA) / asked + noise), 0.0)
    gaps, counts = np.unique(below, return_counts=True)
    costs = [LaplaceVote(epsilon).epsilon_at(int(one), Cost.DELTA) for one in gaps]
    return asked + float(np.average(costs, weights=counts))


def passing_cost(epsilon: float, gap: int) -> float:
    """The least ε̃ + ε' of a test that passes with probability 0.95 at this gap, over the lower bounds to ask for."""
    vote = LaplaceVote(epsilon)
    room = math.log(1 / Cost.DELTA) + math.log(0.5 / (1 - Cost.SURE))
    return min(room / (gap - bound) + vote.epsilon_at(bound, Cost.DELTA) for bound in range(gap))


def optimal(error: float, gap: int) -> float:
    """The least ε at which the optimal vote errs with probability `error` at most."""
    return float(brentq(lambda one: OptimalVote(one, Cost.DELTA).error(gap) - error, 1e-6, 50.0, xtol=1e-12))


_COSTS: Mapping[str, Callable[[float, int], float]] = {
    "noise": lambda epsilon, gap: epsilon,
    "pure": lambda epsilon, gap: LaplaceVote(epsilon).local_epsilon(gap),
    "here": lambda epsilon, gap: LaplaceVote(epsilon).local_epsilon(gap, Cost.DELTA),
    "from-here": lambda epsilon, gap: LaplaceVote(epsilon).epsilon_at(gap, Cost.DELTA),
    "printed": printed,
    "classic": lambda epsilon, gap: classic(LaplaceVote(epsilon).error(gap), gap),
    "mean": mean_cost,
    "passing": passing_cost,
    "laplace": lambda epsilon, gap: LaplaceVote(epsilon).epsilon_at(0, Cost.DELTA),
    "optimal": lambda epsilon, gap: optimal(LaplaceVote(epsilon).error(gap), gap),
}


def costs(panel: str, epsilon: float) -> Iterator[Cost]:
    """Every curve of panel "a" or "b" at one ε, for "a" a key of `Cost.GAPS`."""
    labels = Cost.LABELS[choice("panel", panel, tuple(Cost.LABELS))]
    for gap in Cost.GAPS[epsilon] if panel == "a" else (Cost.GAP,):
        for method in labels:
            yield Cost(panel, epsilon, gap, method, float(_COSTS[method](epsilon, gap)))


SEED = 0
_SPREAD: Mapping[str, tuple[float, ...]] = {  # a teacher's chance to name each class
    "high": (0.8, *9 * (0.0222,)),
    "mid": (0.7, 0.1, *8 * (0.025,)),
    "low": (0.34, 0.22, *8 * (0.055,)),
}
DIGITS_TEACHERS, DIGITS_ROWS = 100, 1400
"""Teachers of the digits, and how many of the 1797 rows they share."""
_SMOOTH_SHARE = 0.2  # β·α, as published


@lru_cache(maxsize=8)
def votes(source: str) -> tuple[FloatArray, FloatArray]:
    """The teachers' votes, shape (T, 10), and the right answers, shape (T,)."""
    if choice("source", source, tuple(Price.SOURCES)) == "digits":
        return _digits()
    chances = np.array(_SPREAD[source])
    counts = np.random.default_rng(SEED).multinomial(400, chances / chances.sum(), Price.QUERIES)
    return counts.astype(np.float64), np.zeros(Price.QUERIES)


def _digits() -> tuple[FloatArray, FloatArray]:
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(SEED).permutation(len(y))
    mine, asked = order[:DIGITS_ROWS], order[DIGITS_ROWS : DIGITS_ROWS + Price.QUERIES]
    counts = np.zeros((Price.QUERIES, 10))
    for part in np.array_split(mine, DIGITS_TEACHERS):
        teacher = LogisticRegression(C=0.01, max_iter=500).fit(X[part], y[part])
        counts[np.arange(Price.QUERIES), teacher.predict(X[asked])] += 1
    return counts, y[asked].astype(np.float64)


def labels(counts: FloatArray, sigma: float) -> FloatArray:
    """One draw of the noisy winners."""
    noise = np.random.default_rng([SEED, 1]).standard_normal(counts.shape)
    return np.argmax(counts + positive("sigma", sigma) * noise, axis=1).astype(np.float64)


def independent(counts: FloatArray, sigma: float) -> float:
    """ε of T Gaussian mechanisms of sensitivity √2, through Rényi orders."""
    return min(converted(order, len(counts) * GNMax(sigma).rdp(order)) for order in ORDERS)


def smooth(counts: FloatArray, sigma: float) -> float:
    """Algorithm 4: the mean of ε' + ε̂ where its test just passes, at the best ε̂."""
    found, mechanism, half = [], GNMax(sigma), math.log(2 / Price.DELTA)
    for order in ORDERS[(ORDERS >= 3) & (ORDERS <= 40)]:
        spent = 2 * half / (order - 1)
        sigma_s, beta = math.sqrt((3 * order + 2) / spent), _SMOOTH_SHARE / order
        far = math.sqrt(2 * math.log(4 / Price.DELTA))
        bound = mechanism.smooth_sensitivity(counts, order, beta)
        raised = sigma_s * far * bound * math.exp(beta * sigma_s * far + (beta * sigma_s) ** 2 / 2)
        asked = order / (2 * sigma_s**2) + _scaled_noise_rdp(order, beta, sigma_s)
        found.append(converted(order, mechanism.rdp_at(counts, order) + raised + asked, Price.DELTA / 2))
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
    return _tested(counts, sigma, lambda order, rdp: float(rdp_to_epsilon([order], [rdp], Price.DELTA)))


def _tested(counts: FloatArray, sigma: float, convert: Callable[[float, float], float]) -> float:
    mechanism, room = GNMax(sigma), math.log(1 / Price.DELTA) + math.log(0.5 / (1 - Cost.SURE))
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


VOTING = Experiment(
    Cost,
    "the ε of a vote between two, against the gap and at equal error",
    (*(("a", epsilon) for epsilon in Cost.GAPS), *(("b", epsilon) for epsilon in Cost.EPSILONS)),
    costs,
    by=("panel", "epsilon"),
    seeds="none: nothing is random",
)
PATE = Experiment(
    Price,
    "the ε of labels by a noisy majority of teachers, by analyses of their votes",
    tuple(
        (source, sigma)
        for source in Price.SOURCES
        for sigma in (Price.DIGITS_SIGMAS if source == "digits" else Price.SIGMAS)
    ),
    prices,
    by=("source", "sigma"),
    seeds=f"{SEED} for votes, parts and labels",
)
