"""Every number of docs/paper: a name for each, and the call or the stored file that it comes from.

The text (docs/paper/paper.in.md) writes {{name}} where a number belongs. Promises are rounded up. What they are
compared with, where nothing smaller can be true, is rounded down. Everything else is rounded to the nearest.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, ndtr

from benchmarks import additive_tables, shared
from benchmarks.claim_tables import TARGETS, fight
from benchmarks.shared import crossed, each, markdown, methods
from benchmarks.tables import ADULT, adult, stored
from objpert_core.accounting import (
    REPLACE_ONE,
    Gaussian,
    ObjectivePerturbation,
    calibrate_gaussian,
    calibrate_objective_perturbation,
    calibrate_quadratic_perturbation,
    repeat,
    replace_one,
    symmetrised,
    via_rdp,
)
from objpert_core.accounting.numerics.rounding import significant
from objpert_core.experiments import paper
from objpert_core.experiments.quadratic.stored import Excess
from objpert_core.learning.problem.objective import PerturbedObjective
from objpert_core.learning.problem.rounding import gradient_norm_bound
from objpert_core.learning.problem.rows import Rows
from objpert_core.theory.one_dimensional import OneDimensionalLogistic

DELTA = 1e-5
SHAPES = ((10.0, 5.0), (10.0, 1.0), (10.0, 0.1), (5.0, 20.0), (3.0, 0.3))  # σ, λ
PUSH = 20  # rows of norm 1/20 push θ farther than rows of norm 1, which are right soon
WORST = ((10.0, 5.0, 4000), (2.0, 8.0, 2000), (3.0, 20.0, 4000))  # σ, λ, rows that push θ away
COPIES, LENGTHS = (1, 3, 10, 30, 100), (0.05, 0.2, 1.0)
FITS = (1, 10, 100, 1000)
Bend = tuple[float, float, int, int]
BEND: Bend = (0.5, 0.01, 100, 200)  # ε, δ, dimension, degrees of freedom


def up(value: float, digits: int = 3) -> str:
    return _plain(value, digits, 1)


def down(value: float, digits: int = 3) -> str:
    return _plain(value, digits, -1)


def near(value: float, digits: int = 3) -> str:
    return _plain(value, digits, 0)


def _plain(value: float, digits: int, side: int) -> str:
    """Towards +∞ (1), −∞ (−1) or to the nearest (0); – where nothing is proved."""
    if not math.isfinite(value):
        return "–"
    found = -significant(-value, digits, up=True) if side < 0 else significant(value, digits, up=side > 0)
    found = significant(float(found), digits, up=False)  # 9.995 becomes 10.00, which has a digit too many
    return f"{found:,f}"


def numbers() -> dict[str, str]:
    """Name → text, tables included."""
    return dict(_all())


def filled(text: str) -> str:
    """`text` with every {{name}} replaced."""
    return shared.filled(text, numbers())


def _all() -> Iterator[tuple[str, str]]:
    yield from _bounds()
    yield from _calibration()
    yield from _margins()
    yield from _many()
    yield from _replaced()
    yield from _floating()
    yield from _bends()
    yield from _accuracies()


def _bounds() -> Iterator[tuple[str, str]]:
    sigma, lam = SHAPES[0]
    one = ObjectivePerturbation(sigma, lam)
    published = ObjectivePerturbation(sigma, lam, bound="glm")
    yield "σ", f"{sigma:g}"
    yield "λ", f"{lam:g}"
    yield "2012", up(ObjectivePerturbation(sigma, lam, bound="kifer2012").epsilon(DELTA))
    yield "2023", up(published.epsilon(DELTA))
    yield "ours", up(one.epsilon(DELTA))
    yield "least", down(one.gaussian.epsilon(DELTA))
    yield "found sets", str(len(COPIES) * len(LENGTHS))
    yield "found rows", str(max(COPIES))
    yield "found λ", f"{SHAPES[2][1]:g}"
    rows = []
    for sigma, lam in SHAPES:
        own = ObjectivePerturbation(sigma, lam)
        glm = ObjectivePerturbation(sigma, lam, bound="glm")
        others = (ObjectivePerturbation(sigma, lam, bound="kifer2012"), glm, via_rdp(glm), own)
        values = [up(mechanism.epsilon(DELTA)) for mechanism in others]
        least, start = own.gaussian.epsilon(DELTA), own.gaussian_from
        rows.append([f"{sigma:g}, {lam:g}", *values, down(least), up(start), down(true_epsilon(sigma, lam))])
    yield (
        "table bounds",
        markdown(["σ, λ", "2012", "2023", "2023, Rényi", "Theorem 1", "Gaussian", "ε*", "found"], rows),
    )
    worst = []
    for sigma, lam, count in WORST:
        data = OneDimensionalLogistic([1 / PUSH] * count, [-1] * count, sigma=sigma, lam=lam)
        exact = data.pair_epsilon(data.add(1.0, 1), DELTA, cells=1000)
        certified = ObjectivePerturbation(sigma, lam).epsilon(DELTA)
        worst.append([f"{sigma:g}, {lam:g}", f"{count:,}", down(exact), up(certified), down(exact / certified)])
    yield "worst inverse", str(PUSH)
    yield "table worst", markdown(["σ, λ", "rows", "true ε of these data", "certified ε", "ratio"], worst)


def true_epsilon(sigma: float, lam: float) -> float:
    """The largest ε that one more row (1, +1) costs beside n rows (x, −1), n in `COPIES` and x in `LENGTHS`."""
    found = 0.0
    for count in COPIES:
        for x in LENGTHS:
            data = OneDimensionalLogistic([x] * count, [-1] * count, sigma=sigma, lam=lam)
            found = max(found, data.pair_epsilon(data.add(1.0, 1), DELTA, cells=1500))
    return found


def _calibration() -> Iterator[tuple[str, str]]:
    rows = []
    for epsilon in (0.1, 1.0, 8.0):
        own = calibrate_objective_perturbation(epsilon=epsilon, delta=DELTA)
        other = calibrate_objective_perturbation(epsilon=epsilon, delta=DELTA, bound="glm")
        least = calibrate_gaussian(epsilon=epsilon, delta=DELTA).sigma
        rows.append([f"{epsilon:g}", up(own.sigma), up(own.lam), up(other.sigma), up(other.lam), down(least)])
    heads = ["ε", "σ, Theorem 1", "λ, Theorem 1", "σ, 2023", "λ, 2023", "σ, Gaussian mechanism"]
    yield "table calibration", markdown(heads, rows)


def _margins() -> Iterator[tuple[str, str]]:
    rows, positive, sigma, lam, margin = 80, 48, 4.0, 1.0, 1.5
    yield "margin rows", str(rows)
    yield "margin positive", str(positive)
    yield "margin σ", f"{sigma:g}"
    yield "margin λ", f"{lam:g}"
    yield "margin", f"{margin:g}"
    for name, k in (("margin without", 0.0), ("margin with", margin)):
        labels = [1] * positive + [-1] * (rows - positive)
        crowd = OneDimensionalLogistic([1.0] * rows, labels, sigma=sigma, lam=lam, margin=k)
        yield name, near(crowd.pair_epsilon(crowd.add(1.0, 1), DELTA))
    yield "margin certified", up(ObjectivePerturbation(sigma, lam).epsilon(DELTA))
    yield "margin slope", near(float(expit(margin)), 2)


def _many() -> Iterator[tuple[str, str]]:
    sigma, lam = 8.0, 10.0
    fit, published = ObjectivePerturbation(sigma, lam), ObjectivePerturbation(sigma, lam, bound="glm")
    rows = [
        ["published pair", *(up(repeat(published, k).epsilon(DELTA)) for k in FITS)],
        ["T composed as it stands", *(up(repeat(fit, k).epsilon(DELTA)) for k in FITS)],
        ["symmetric pair of T", *(up(repeat(symmetrised(fit), k).epsilon(DELTA)) for k in FITS)],
        ["k Gaussian mechanisms", *(down(Gaussian(sigma / k**0.5).epsilon(DELTA)) for k in FITS)],
    ]
    yield "many σ", f"{sigma:g}"
    yield "many λ", f"{lam:g}"
    yield "table many", markdown(["k", *(f"{k:,}" for k in FITS)], rows)


def _replaced() -> Iterator[tuple[str, str]]:
    rows = []
    for sigma, lam in ((10.0, 5.0), (10.0, 1.0), (5.0, 50.0), (3.0, 20.0)):
        one = ObjectivePerturbation(sigma, lam)
        most = one.epsilon(DELTA)
        half = brentq(lambda e, m=one: math.log1p(math.exp(e)) + math.log(m.delta(e)) - math.log(DELTA), 0.0, 3 * most)
        cells = [up(one.epsilon(DELTA)), up(2 * half), up(replace_one(one).epsilon(DELTA))]
        rows.append([f"{sigma:g}, {lam:g}", *cells, down(Gaussian(sigma / 2).epsilon(DELTA)), near(2 / lam)])
    heads = ["σ, λ", "added or removed", "replaced, two steps", "replaced, Theorem 5", "Gaussian of 2R", "2R²/λ"]
    yield "table replaced", markdown(heads, rows)


def _floating() -> Iterator[tuple[str, str]]:
    # Canonne, Kamath and Steinke's discrete Gaussian at σ = h = Δ = 1 and ε = 1: a sum in place of an integral
    points = np.arange(-60, 61)
    mass = np.exp(-(points**2) / 2.0)
    mass /= mass.sum()
    shifted = np.exp(-((points - 1) ** 2) / 2.0) / np.exp(-(points**2) / 2.0).sum()
    discrete = float(np.maximum(shifted - math.e * mass, 0).sum())
    continuous = float(ndtr(-0.5) - math.e * ndtr(-1.5))
    yield "discrete δ", near(discrete, 4)
    yield "continuous δ", near(continuous, 4)
    epsilon, delta = 0.01, 1e-6
    yield "attack ε", f"{epsilon:g}"
    yield "attack allowed", near(100 * (math.exp(epsilon) + delta) / (1 + math.exp(epsilon)), 4)
    rng = np.random.default_rng(0)
    count, dimension = 20_000, 20
    rows = Rows(rng.standard_normal((count, dimension)), "clip")
    labels = rng.choice([-1.0, 1.0], count)
    objective = PerturbedObjective(rows, labels, 5.0, 10.0 * rng.standard_normal(dimension))
    theta = rng.standard_normal(dimension)
    excess = gradient_norm_bound(objective, theta) - float(np.linalg.norm(objective.gradient(theta)[0]))
    yield "rounding rows", f"{count:,}"
    yield "rounding columns", str(dimension)
    mantissa, exponent = f"{float(significant(excess, 1, up=True)):.0e}".split("e")
    yield "rounding excess", f"{mantissa}·10<sup>{int(exponent):d}</sup>".replace("-", "−")


def _bends() -> Iterator[tuple[str, str]]:
    epsilon, delta, dimension, degrees = BEND
    yield "bend ε", f"{epsilon:g}"
    yield "bend δ", f"{delta:g}"
    yield "bend d", str(dimension)
    yield "bend m", str(degrees)

    def scale(bound: str, adjacency: str = REPLACE_ONE) -> str:
        found = calibrate_quadratic_perturbation(
            epsilon, delta, dimension, degrees_of_freedom=degrees, bound=bound, adjacency=adjacency
        )
        return up(found.scale)

    yield "bend published", scale("published")
    yield "bend sharpened", scale("sharpened")
    yield "bend exact", scale("exact")
    yield "bend added", scale("exact", "add/remove one row")
    yield "bend smooth", scale("glm", "add/remove one row")
    matter = stored("quadratic_matter")
    sizes = sorted({int(row["n"]) for row in matter})
    labels = {"published": "as published", "sharpened": "sharpened", "exact": "Theorem 6"}

    def mean(method: str, n: int) -> str:
        found = [float(row["excess"]) for row in matter if (row["method"], int(row["n"])) == (method, n)]
        return near(sum(found) / len(found))

    rows = methods(labels | {"anchor": "the anchor alone, no data"})
    yield "matter d", str(Excess.DIMENSION)
    yield "matter ε", f"{Excess.EPSILON:g}"
    yield "matter draws", str(len(Excess.SEEDS))
    asked = stored("quadratic_regression")
    yield "regressions", str(len({(row["n"], row["d"], row["epsilon"]) for row in asked}))
    yield "table matter", crossed("mean excess of the objective", rows, each("n = {:,}", "n", sizes), mean)


def _accuracies() -> Iterator[tuple[str, str]]:
    names = ("our defaults", "published recipe, run by us", "published recipe, as printed", "without privacy")
    yield "table adult", adult(dict(zip(ADULT, names, strict=True)))
    yield from additive_tables.of_adult()
    (splits,) = {row["splits"] for row in stored("adult_accuracy")}
    yield "splits", splits
    yield "recipe σ", f"{paper.NOISE_RATIO:g}"
    _, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in fight().splitlines())
    yield "data sets", str(len(rows))
    yield "targets", " / ".join(f"{target:g}" for target in TARGETS)
    yield "epsilons", str(sum(int(count) for count in rows[0][4].split(" / ")))
    kept = (0, 1, 2, 4, 5)
    short = ["data set", "ours, %", "best unpaid DP-SGD, %", "ahead / even / behind", "beside the standardised"]
    yield "table fight", markdown(short, [[row[i] for i in kept] for row in rows])
