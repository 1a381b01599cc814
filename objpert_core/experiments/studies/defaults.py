"""Which λ, which constant for the intercept and which margin train best: the study behind the package's defaults.

    python -m objpert_core.experiments.defaults synthetic --out data/results/defaults.csv
    python -m objpert_core.experiments.defaults margin --draws 3 --out data/results/defaults_margin.csv
    python -m objpert_core.experiments.defaults confirm --out data/results/defaults_confirmed.csv

The first two parts make the choices, on synthetic rows that are nobody's. On each `Design` every candidate is fitted at
every ε, and judged by what it loses against the best candidate *of its study* there: in accuracy, and in mean loss on
fresh rows (a proper score, which a shrunken model cannot please by luck). Rows of the first file, by study:

* "objective": objective perturbation with λ a multiple of the λ that the Gaussian mechanism's noise allows ("x2"), on
  the frontier towards more noise and less λ ("f=1.1"), by privacy alone ("least"), by `recommended_lam` ("rule"), and
  by the published recipe ("published", f = 1.3 through Rényi).
* "output": output perturbation with λ = c·(σ²R²n)^⅓ ("c=0.5" is the rule).
* "intercept": the rule at another constant s ("s=0.3" is the signature's default).

What came out, and what the choices cost: docs/studies.md.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from objpert_core import _provenance, datasets
from objpert_core._validation import FloatArray, nonnegative_integer, positive_integer
from objpert_core.accounting import (
    calibrate_gaussian,
    calibrate_objective_perturbation,
    calibrate_published,
    recommended_lam,
    recommended_margin,
)
from objpert_core.datasets import Dataset
from objpert_core.estimators import ObjPertLogisticRegression, OutputPerturbationLogisticRegression
from objpert_core.experiments.learners import declared
from objpert_core.experiments.summary import mean_interval
from objpert_core.learning import LogisticLoss, PerturbedObjective, Rows, recommended_output_lam, solve
from objpert_core.learning.problem.losses import LOGISTIC
from objpert_core.learning.problem.rows import row_radius

DELTA = 1e-5
EPSILONS = (0.1, 1.0, 8.0)
SHAPES = ((300, 10), (3000, 60), (600, 300), (500, 1000))
MARGIN_SHAPES = ((300, 10), (3000, 60), (600, 300), (20_000, 30))
MARGINS = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0)
TEST_ROWS = 2000
SCALING = 0.3  # the estimators' default
SCALINGS = (0.1, 0.2, 0.3, 0.5, 1.0)
MULTIPLES = (1.0, 2.0, 4.0, 16.0)
RATIOS = (1.1, 1.3)
CONSTANTS = (0.125, 0.25, 0.5, 1.0, 2.0)
CONFIRMED_ON = ("adult", "adult-synthetic", "breast-cancer", "digits-4-9", "synthetic-l")
_COMMAND = "python -m objpert_core.experiments.defaults"
_TAU = 1e-3  # of a gradient that is a sum over all rows: differences this small do not show in an accuracy


@dataclass(frozen=True)
class Design:
    """A synthetic data set: feature j varies with standard deviation j**-decay before rows are scaled to norm 1."""

    rows: int
    features: int
    decay: float = 0.0
    offset: float = 0.0
    positive: float = 0.5
    flipped: float = 0.04

    def draw(self, seed: int) -> tuple[FloatArray, FloatArray]:
        """Rows and targets (±1): the training part first, then `TEST_ROWS` for the test."""
        generator = np.random.default_rng(seed)
        count = self.rows + TEST_ROWS
        scales = np.arange(1.0, self.features + 1.0) ** -self.decay
        X = generator.standard_normal((count, self.features)) * (scales / np.linalg.norm(scales))
        scores = X @ generator.standard_normal(self.features)
        targets = np.where(scores > np.quantile(scores, 1 - self.positive), 1.0, -1.0)
        targets[generator.permutation(count)[: round(self.flipped * count)]] *= -1
        mean = generator.standard_normal(self.features)
        return X + self.offset * mean / np.linalg.norm(mean), targets


def designs(shapes: Iterable[tuple[int, int]] = SHAPES) -> Iterator[Design]:
    """Every shape with even and uneven columns, centred or not, balanced with little or lopsided with more label noise.

    >>> len(list(designs()))
    32
    """
    kinds = itertools.product((0.0, 1.0), (0.0, 2.0), ((0.5, 0.04), (0.3, 0.1)))
    for (rows, features), (decay, offset, (positive, flipped)) in itertools.product(shapes, tuple(kinds)):
        yield Design(rows, features, decay, offset, positive, flipped)


@dataclass(frozen=True)
class Score:
    """Means of accuracy and loss over the noise draws, on fresh rows, of one candidate on one design."""

    study: str
    design: Design
    epsilon: float
    candidate: str
    sigma: float
    lam: float
    accuracy: float
    loss: float


def candidates(epsilon: float, design: Design, constant: float = SCALING) -> dict[str, tuple[float, float]]:
    """(σ, λ) of every candidate of the study "objective".

    >>> found = candidates(1.0, Design(rows=300, features=60))
    >>> found["rule"][1] > found["least"][1], found["x1"][1] < found["x2"][1]
    (True, True)
    """
    radius = row_radius(constant)

    def calibrated(**options: Any) -> tuple[float, float]:
        mechanism: Any = calibrate_objective_perturbation(epsilon, DELTA, radius, **options)
        return mechanism.sigma, mechanism.lam

    wanted = recommended_lam(epsilon, DELTA, design.rows, design.features + 1, radius)
    sigma, lam = calibrated(noise_ratio=1.0)
    published: Any = calibrate_published(epsilon, DELTA, radius)
    return {
        "rule": calibrated(lam=wanted),
        "least": calibrated(),
        **{f"f={f:g}": calibrated(noise_ratio=f) for f in RATIOS},
        **{f"x{k:g}": (sigma, k * lam) for k in MULTIPLES},
        "published": (published.sigma, published.lam),
    }


class _Bench:
    """One design's rows with the constant s, and the noise that all candidates share."""

    def __init__(self, design: Design, seed: int, draws: int, constant: float) -> None:
        X, targets = design.draw(seed)
        self.train = Rows(X[: design.rows], "normalize", constant)
        self.test = Rows(X[design.rows :], "normalize", constant)
        self.here, self.there = targets[: design.rows], targets[design.rows :]
        self.noise = np.random.default_rng(seed).standard_normal((draws, self.train.dimension))

    def solution(self, lam: float, linear: FloatArray, loss: LogisticLoss = LOGISTIC) -> FloatArray:
        solver = "newton" if self.train.dimension < 200 else "newton-cg"
        return solve(PerturbedObjective(self.train, self.here, lam, linear, loss), tau=_TAU, solver=solver).theta

    def judge(self, thetas: Iterable[FloatArray], trained: LogisticLoss = LOGISTIC) -> tuple[float, float]:
        """Accuracy, and logistic loss of the log-odds, on the test rows."""
        odds = [trained.log_odds(self.test.margins(theta)) * self.there for theta in thetas]
        loss = [LOGISTIC.value(m, 1.0).mean() for m in odds]
        return float(np.mean([np.mean(m > 0) for m in odds])), float(np.mean(loss))


def scores(design: Design, seed: int, draws: int, epsilons: Iterable[float] = EPSILONS) -> Iterator[Score]:
    """All candidates of the three studies on one design; all share the rows and the noise of `seed`."""
    nonnegative_integer("seed", seed), positive_integer("draws", draws)
    epsilons = tuple(epsilons)
    bench = _Bench(design, seed, draws, SCALING)
    for epsilon in epsilons:
        for name, (sigma, lam) in candidates(epsilon, design).items():
            fitted = (bench.solution(lam, sigma * noise) for noise in bench.noise)
            yield Score("objective", design, epsilon, name, sigma, lam, *bench.judge(fitted))
    radius = row_radius(SCALING)
    for epsilon, c in itertools.product(epsilons, CONSTANTS):
        lam = 2 * c * recommended_output_lam(epsilon, DELTA, design.rows, radius)
        sigma = calibrate_gaussian(epsilon, DELTA, radius).sigma / lam
        center = bench.solution(lam, np.zeros(bench.train.dimension))
        judged = bench.judge(center + sigma * noise for noise in bench.noise)
        yield Score("output", design, epsilon, f"c={c:g}", sigma, lam, *judged)
    for constant in SCALINGS:
        bench = _Bench(design, seed, draws, constant)
        for epsilon in epsilons:
            sigma, lam = candidates(epsilon, design, constant)["rule"]
            fitted = (bench.solution(lam, sigma * noise) for noise in bench.noise)
            yield Score("intercept", design, epsilon, f"s={constant:g}", sigma, lam, *bench.judge(fitted))


def margin_scores(design: Design, seed: int, draws: int, epsilons: Iterable[float] = EPSILONS) -> Iterator[Score]:
    """The candidates of the study "margin" on one design; arguments as in `scores`."""
    nonnegative_integer("seed", seed), positive_integer("draws", draws)
    bench, radius = _Bench(design, seed, draws, SCALING), row_radius(SCALING)
    for epsilon in epsilons:
        sigma, lam = candidates(epsilon, design)["rule"]
        rule = recommended_margin(epsilon, DELTA, design.rows, design.features + 1, radius)
        for name, margin in {**{f"k={k:g}": k for k in MARGINS}, "rule": rule}.items():
            loss = LogisticLoss(margin)
            fitted = (bench.solution(lam, sigma * noise, loss) for noise in bench.noise)
            yield Score("margin", design, epsilon, name, sigma, lam, *bench.judge(fitted, loss))


@dataclass(frozen=True)
class Regret:
    """What one candidate loses, over cases (design, ε), against the best candidate of its study: means, and the worst
    cases.
    """

    study: str
    candidate: str
    cases: int
    accuracy: float
    tenth: float
    worst_accuracy: float
    loss: float
    worst_loss: float


def regrets(found: Iterable[Score]) -> list[Regret]:
    """Every candidate's regret, least mean loss first within a study."""
    cases: dict[tuple[str, Design, float], list[Score]] = defaultdict(list)
    for score in found:
        cases[score.study, score.design, score.epsilon].append(score)
    lost: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    for (study, *_), group in cases.items():
        accuracy, loss = max(s.accuracy for s in group), min(s.loss for s in group)
        for s in group:
            lost[study, s.candidate].append((accuracy - s.accuracy, s.loss - loss))
    results = []
    for (study, candidate), pairs in lost.items():
        accuracy, loss = np.array(pairs).T
        tenth = float(np.quantile(accuracy, 0.9))
        means = float(accuracy.mean()), tenth, float(accuracy.max()), float(loss.mean()), float(loss.max())
        results.append(Regret(study, candidate, len(pairs), *means))
    return sorted(results, key=lambda r: (r.study, r.loss))


CONFIRMED = ("rule", "no-margin", "least", "published", "output")


def confirmed_estimator(method: str, epsilon: float, seed: int) -> Any:
    """The estimator of one method of `CONFIRMED`, all with the same constant.

    >>> confirmed_estimator("least", 1.0, 0).lam
    0.0
    """
    shared: dict[str, Any] = {"epsilon": epsilon, "delta": DELTA, "classes": (0, 1), "random_state": seed}
    if method == "output":
        return OutputPerturbationLogisticRegression(**shared)
    if method == "published":
        return ObjPertLogisticRegression.published(**shared, intercept_scaling=SCALING)
    if method == "least":
        return ObjPertLogisticRegression(**shared, lam=0.0)
    return ObjPertLogisticRegression(**shared, margin=0.0 if method == "no-margin" else None)


def confirm(name: str, splits: int, draws: int) -> Iterator[dict[str, Any]]:
    """Accuracy by method and ε on one data set: the rules, no margin, the least λ, and other recipes."""
    for epsilon, method in itertools.product(EPSILONS, CONFIRMED):
        accuracy = []
        for split in range(splits):
            data: Dataset = datasets.load(name, split_seed=split)
            for draw in range(draws):
                model = declared(confirmed_estimator(method, epsilon, 1000 * split + draw), len(data.y_train))
                model.fit(data.X_train, data.y_train)
                accuracy.append(model.score(data.X_test, data.y_test))
        interval = mean_interval(accuracy)
        yield {
            "dataset": name,
            "epsilon": epsilon,
            "method": method,
            "accuracy": f"{interval.mean:.5f}",
            "half_width_95": f"{interval.half_width:.5f}",
            "lam": f"{model.privacy_.lam:.6g}",
            "fits": len(accuracy),
        }


def _summary(part: str, seed: int, draws: int) -> Iterator[dict[str, Any]]:
    judge, drawn = (margin_scores, designs(MARGIN_SHAPES)) if part == "margin" else (scores, designs())
    found = [score for number, design in enumerate(drawn) for score in judge(design, seed + number, draws)]
    for regret in regrets(found):
        yield {name: f"{value:.5f}" if isinstance(value, float) else value for name, value in vars(regret).items()}


def main(arguments: list[str] | None = None) -> None:
    """The command line; see the top of this file."""
    parser = argparse.ArgumentParser(prog=_COMMAND, description="defaults study")
    parser.add_argument("part", choices=("synthetic", "margin", "confirm"))
    parser.add_argument("--out", type=Path)
    parser.add_argument("--seed", type=int, default=0, help="of the first design; the others follow")
    parser.add_argument("--draws", type=int, default=1)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--datasets", nargs="+", default=[n for n in CONFIRMED_ON if datasets.available(n)])
    given = parser.parse_args(arguments)
    if given.part != "confirm":
        rows = _summary(given.part, given.seed, given.draws)
        seeds = f"design i has seed {given.seed} + i, {given.draws} noise draws"
    else:
        rows = (row for name in given.datasets for row in confirm(name, given.splits, given.draws))
        seeds = f"splits 0 to {given.splits - 1}, noise 1000*split + 0 to {given.draws - 1}"
    words = sys.argv[1:] if arguments is None else arguments
    command = f"{_COMMAND} {' '.join(words)}"
    _provenance.write_study(given.out or sys.stdout, rows, command, f"{seeds}; delta = {DELTA:g}")


if __name__ == "__main__":
    main()
