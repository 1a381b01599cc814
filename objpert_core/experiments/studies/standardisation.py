"""Which private centring and scaling pays, how much noise it should have, and what else was tried.

    python -m objpert_core.experiments.standardisation synthetic --out data/results/standardisation.csv
    python -m objpert_core.experiments.standardisation confirm --out data/results/standardisation_confirmed.csv

The first part made the choices, on data that look like real ones and are nobody's (`shapes`). Every candidate is judged
by the accuracy that it gains over the fit on raw rows with the same noise, by ε and by kind of data set. The rest of ε
for a fit is worked out as if the fit were a Gaussian mechanism (`remaining_epsilon`), which is right to a per cent. The
second part checks on real data, with splits that no constant was chosen by, whether the choice holds.

What came out, and what was tried besides and left: docs/studies.md.
"""

from __future__ import annotations

import argparse
import itertools
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from objpert_core import _provenance, datasets
from objpert_core._validation import FloatArray, nonnegative_integer, positive_integer
from objpert_core.accounting import (
    Gaussian,
    Standardisation,
    calibrate_gaussian,
    calibrate_objective_perturbation,
    full_standardisation,
    recommended_lam,
    recommended_margin,
    recommended_standardisation,
    remaining_epsilon,
)
from objpert_core.estimators import ObjPertLogisticRegression
from objpert_core.experiments.learners import declared
from objpert_core.experiments.studies.shapes import SHAPES, Shape
from objpert_core.learning import LogisticLoss, PerturbedObjective, Rows, noise_source, solve
from objpert_core.learning.problem.rows import row_radius
from objpert_core.learning.standardisation import release_map

DELTA = 1e-5
EPSILONS = (0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 8.0)
CONFIRMED_AT = (0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 8.0)
CONFIRMED_ON = ("adult", "adult-synthetic", "breast-cancer", "digits-4-9", "gisette-like", "synthetic-h", "synthetic-l")
FIRST_SPLIT = 20
"""Splits below are those of Figure 2 and those that were seen while the recipe was being found."""
SCALING = 0.3  # the estimators' default
RAW, RULES = "raw", "rules"
_FEW_NUMBERS = 30_000  # of rows times columns, below which a fit is so cheap that noise is drawn more often
_MORE = 6  # times
_SUBSPACE_SHARE = 0.15  # of what is left of the squared ratio, for a noisy second moment
_COMMAND = "python -m objpert_core.experiments.standardisation"
_TAU = 1e-3  # of a gradient that is a sum over all rows: differences this small do not show in an accuracy

PlanRule = Callable[[float, float, int, int], Standardisation]


def _nothing(*_: float) -> Standardisation:
    return Standardisation(None, None)


def _center_only(*numbers: Any) -> Standardisation:
    return replace(full_standardisation(*numbers), scale_noise=None)


def _scale_only(*numbers: Any) -> Standardisation:
    return replace(full_standardisation(*numbers), center_noise=None)


def _priced(center: float, scale: float) -> PlanRule:
    """The recommended steps at other prices: shares of the squared ratio, multiplied by `center` and `scale`."""

    def plan(*numbers: Any) -> Standardisation:
        found = recommended_standardisation(*numbers)
        noises = (found.center_noise, found.scale_noise)
        return Standardisation(*(s and s / math.sqrt(price) for s, price in zip(noises, (center, scale), strict=True)))

    return plan


@dataclass(frozen=True)
class Candidate:
    """A way to fit."""

    plan: PlanRule = recommended_standardisation
    margin: float | None = None
    scaling: float = SCALING
    lam: float = 1.0
    fits: int = 1
    chained: bool = False
    projected: int | None = None
    subspace: int | None = None
    without_mean: bool = False


CANDIDATES: Mapping[str, Candidate] = MappingProxyType(
    {
        RAW: Candidate(_nothing),
        "raw, margin x2": Candidate(_nothing, margin=2.0),
        "raw, margin x3": Candidate(_nothing, margin=3.0),
        "scale": Candidate(_scale_only),
        "centre": Candidate(_center_only),
        "both": Candidate(full_standardisation),
        "both, margin x1": Candidate(full_standardisation, margin=1.0),
        RULES: Candidate(),
        "rules, margin x1": Candidate(margin=1.0),
        "rules, margin x2": Candidate(margin=2.0),
        "rules, margin x3": Candidate(margin=3.0),
        "centre at half the price": Candidate(_priced(0.5, 1.0)),
        "centre at twice the price": Candidate(_priced(2.0, 1.0)),
        "scale at half the price": Candidate(_priced(1.0, 0.5)),
        "scale at twice the price": Candidate(_priced(1.0, 2.0)),
        "s=0.2": Candidate(scaling=0.2),
        "s=0.45": Candidate(scaling=0.45),
        "lam x0.5": Candidate(lam=0.5),
        "lam x2": Candidate(lam=2.0),
        "second fit towards the first": Candidate(fits=2, chained=True),
        "mean of 2 fits": Candidate(fits=2),
        "mean of 4 fits": Candidate(fits=4),
        "projected to 60": Candidate(projected=60),
        "projected to 200": Candidate(projected=200),
        "10 principal directions": Candidate(subspace=10),
        "noisy centroid": Candidate(margin=10.0),
        "rows without their mean": Candidate(without_mean=True),
    }
)
"""All that is compared; "rules" is what `standardize="auto"` does."""


def _without_mean(X: FloatArray) -> FloatArray:
    return X - X.mean(axis=1, keepdims=True)


def _unit(X: FloatArray) -> FloatArray:
    norms = np.linalg.norm(X, axis=1, keepdims=True)
    return X / np.where(norms > 0, norms, 1.0)


@dataclass(frozen=True)
class Sample:
    """Rows of one shape, dealt out; `here` and `there` are the targets of `train` and `test`, ±1."""

    train: FloatArray
    test: FloatArray
    here: FloatArray
    there: FloatArray

    @classmethod
    def of(cls, shape: Shape, seed: int) -> Sample:
        """One data set of this shape."""
        X, targets = shape.sample(nonnegative_integer("seed", seed))
        return cls(X[: shape.rows], X[shape.rows :], targets[: shape.rows], targets[shape.rows :])

    def accuracy(self, epsilon: float, candidate: Candidate, draw: int) -> float:
        """Accuracy on the test part after one private fit; candidates share the noise of what they have in common."""
        (rows, columns), extra = self.train.shape, np.random.default_rng([draw, 1])
        train, test = self.train, self.test
        if candidate.projected is not None and candidate.projected < columns:
            directions = extra.standard_normal((columns, candidate.projected))
            train, test, columns = _unit(train) @ directions, _unit(test) @ directions, candidate.projected
        plan = candidate.plan(epsilon, DELTA, rows, columns)
        if candidate.without_mean and plan.center_noise is None:
            train, test = _without_mean(train), _without_mean(test)
        row_map = release_map(train, plan, noise_source(draw))
        train, test = _unit(row_map.apply(train)), _unit(row_map.apply(test))
        before = plan.mechanisms()
        if candidate.subspace is not None and candidate.subspace < columns:
            left = calibrate_gaussian(remaining_epsilon(epsilon, DELTA, before), DELTA).sigma
            before += (Gaussian(left / math.sqrt(_SUBSPACE_SHARE)),)
            # ‖wwᵀ‖ = 1: entries off the diagonal count twice, so that √2 less noise on them is the same price
            noise = before[-1].sigma * extra.standard_normal((columns, columns))
            directions = np.linalg.eigh(train.T @ train + (noise + noise.T) / 2)[1][:, -candidate.subspace :]
            train, test, columns = train @ directions, test @ directions, candidate.subspace
        left = remaining_epsilon(epsilon, DELTA, before, copies=candidate.fits)
        theta = self._fitted(Rows(train, "normalize", candidate.scaling), candidate, left, plan != _nothing(), draw)
        scores = Rows(test, "normalize", candidate.scaling).margins(theta)
        return float(np.mean((scores > 0) == (self.there > 0)))

    def _fitted(self, rows: Rows, candidate: Candidate, left: float, standardised: bool, draw: int) -> FloatArray:
        radius = row_radius(candidate.scaling)
        numbers = left, DELTA, rows.n_rows, rows.dimension, radius
        wanted = candidate.lam * recommended_lam(*numbers)
        mechanism: Any = calibrate_objective_perturbation(left, DELTA, radius, lam=wanted)
        loss = LogisticLoss(
            recommended_margin(*numbers, standardised=standardised)
            if candidate.margin is None
            else candidate.margin * recommended_margin(*numbers)
        )
        noises = np.random.default_rng([draw, 0]).standard_normal((candidate.fits, rows.dimension))
        found: list[FloatArray] = []
        for noise in noises:
            linear = mechanism.sigma * noise
            if candidate.chained and found:
                linear = linear - mechanism.lam * found[-1]  # λ/2·‖θ − θ₁‖², but for a constant
            solver = "newton" if rows.dimension < 200 else "newton-cg"
            objective = PerturbedObjective(rows, self.here, mechanism.lam, linear, loss)
            found.append(solve(objective, tau=_TAU, solver=solver).theta)
        return found[-1] if candidate.chained else np.mean(found, axis=0)


@dataclass(frozen=True)
class Score:
    """How one candidate did on one data set at one ε: accuracies, one for each draw of noise."""

    shape: str
    candidate: str
    epsilon: float
    accuracies: tuple[float, ...]


def scores(
    names: Iterable[str], candidates: Mapping[str, Candidate], seed: int, draws: int, epsilons: Iterable[float]
) -> Iterator[Score]:
    """Every candidate on every data set; six times as many noise draws where a fit is cheap."""
    nonnegative_integer("seed", seed), positive_integer("draws", draws)
    epsilons = tuple(epsilons)
    for name in names:
        sample = Sample.of(SHAPES[name], seed)
        count = draws * (_MORE if sample.train.size < _FEW_NUMBERS else 1)
        for (label, candidate), epsilon in itertools.product(candidates.items(), epsilons):
            accuracies = tuple(sample.accuracy(epsilon, candidate, draw) for draw in range(count))
            yield Score(name, label, epsilon, accuracies)


def gains(found: Iterable[Score]) -> Iterator[dict[str, Any]]:
    """What every candidate gains over "raw" in points of accuracy, by group of data sets and ε, and in all.

    >>> pair = [Score("pixels", name, 1.0, (a,)) for name, a in (("raw", 0.7), ("both", 0.8))]
    >>> [row["gain"] for row in gains(pair) if row["candidate"] == "both"]
    ['10.00', '10.00', '10.00', '10.00']
    """
    mean = {(s.shape, s.candidate, s.epsilon): 100 * float(np.mean(s.accuracies)) for s in found}
    names, labels = list(dict.fromkeys(n for n, *_ in mean)), list(dict.fromkeys(label for _, label, _ in mean))
    epsilons = list(dict.fromkeys(e for *_, e in mean))
    groups = {group: [n for n in names if SHAPES[n].group == group] for group in {SHAPES[n].group: 0 for n in names}}
    for group, members in [*groups.items(), ("all", names)]:
        for label, epsilon in itertools.product(labels, [*epsilons, None]):
            at = epsilons if epsilon is None else [epsilon]
            cases = {(n, e): mean[n, label, e] - mean[n, RAW, e] for n, e in itertools.product(members, at)}
            by_set = [float(np.mean([cases[n, e] for e in at])) for n in members]
            worst = min(cases, key=lambda case: cases[case])
            spread = float(np.std(by_set, ddof=1)) / math.sqrt(len(by_set)) if len(by_set) > 1 else math.nan
            yield {
                "group": group,
                "candidate": label,
                "epsilon": "all" if epsilon is None else epsilon,
                "sets": len(members),
                "accuracy": f"{np.mean([mean[n, label, e] for n, e in cases]):.2f}",
                "gain": f"{np.mean(by_set):.2f}",
                "standard_error": f"{spread:.2f}",
                "worst_gain": f"{cases[worst]:.2f}",
                "worst_set": worst[0],
                "worst_epsilon": worst[1],
            }


def confirm(name: str, splits: int, draws: int, epsilons: Iterable[float] = CONFIRMED_AT) -> Iterator[dict[str, Any]]:
    """Accuracy with and without standardisation on one data set, and the gain on the same splits (seeds 20, 21, …)."""
    epsilons = tuple(epsilons)
    found: dict[tuple[float, bool], list[float]] = {}
    for split in range(FIRST_SPLIT, FIRST_SPLIT + splits):
        data = datasets.load(name, split_seed=split)
        for epsilon, standardised in itertools.product(epsilons, (False, True)):
            accuracy = []
            for draw in range(draws):
                model = ObjPertLogisticRegression(
                    epsilon=epsilon,
                    delta=DELTA,
                    classes=(0, 1),
                    random_state=1000 * split + draw,
                    standardize="auto" if standardised else False,
                )
                model = declared(model, len(data.y_train)).fit(data.X_train, data.y_train)
                accuracy.append(model.score(data.X_test, data.y_test))
            found.setdefault((epsilon, standardised), []).append(100 * float(np.mean(accuracy)))
    for epsilon in epsilons:
        raw, standard = (np.array(found[epsilon, which]) for which in (False, True))
        spread = float(np.std(standard - raw, ddof=1)) / math.sqrt(splits) if splits > 1 else math.nan
        yield {
            "dataset": name,
            "epsilon": epsilon,
            "raw": f"{raw.mean():.2f}",
            "standardised": f"{standard.mean():.2f}",
            "gain": f"{(standard - raw).mean():.2f}",
            "standard_error": f"{spread:.2f}",
            "splits": splits,
            "draws": draws,
        }


def main(arguments: list[str] | None = None) -> None:
    """The command line; see the top of this file."""
    parser = argparse.ArgumentParser(prog=_COMMAND, description="study of private centring and scaling")
    parser.add_argument("part", choices=("synthetic", "confirm"))
    parser.add_argument("--out", type=Path)
    parser.add_argument("--seed", type=int, default=0, help="of the synthetic rows")
    parser.add_argument("--draws", type=int, default=1)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--shapes", nargs="+", default=list(SHAPES), choices=list(SHAPES), metavar="SHAPE")
    parser.add_argument("--datasets", nargs="+", default=[n for n in CONFIRMED_ON if datasets.available(n)])
    given = parser.parse_args(arguments)
    rows: Iterator[dict[str, Any]]
    if given.part == "synthetic":
        rows = gains(scores(given.shapes, CANDIDATES, given.seed, given.draws, EPSILONS))
        seeds = f"rows {given.seed}, noise 0 to {given.draws - 1}, or {_MORE * given.draws - 1} for small sets"
    else:
        rows = (row for name in given.datasets for row in confirm(name, given.splits, given.draws))
        last = FIRST_SPLIT + given.splits - 1
        seeds = f"splits {FIRST_SPLIT} to {last}, noise 1000*split + 0 to {given.draws - 1}"
    words = sys.argv[1:] if arguments is None else arguments
    command = f"{_COMMAND} {' '.join(words)}"
    _provenance.write_study(given.out or sys.stdout, rows, command, f"{seeds}; delta = {DELTA:g}")


if __name__ == "__main__":
    main()
