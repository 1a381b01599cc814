"""What a small population risk costs: gradients of single rows and seconds against n, for private learning in a ball.

    python -m benchmarks.population
    python -m benchmarks.population --opacus-python ../venv-opacus/bin/python     # see benchmarks/learners.py

Logistic rows on the unit sphere, d = 10, in the ball of radius 4 that has the true θ; ε = 0.5, δ = 1/n², neighbours
with a row replaced. Side by side, means over a few seeds of data and noise:
* objective perturbation with the least noise that is proved, minimised over the ball by SVRG and by Newton's method to
  within the τ that its certificate states. Newton's method forms Hessians besides, which are no gradients: look at its
  seconds;
* noisy gradient descent as Bassily, Feldman, Talwar and Thakurta (2019) publish it (batches drawn with replacement,
  T·m gradients), and with the least noise (Poisson sampling, T·qn on average);
* where an interpreter with Opacus is named, Opacus on the same two plans, with the same noise and Poisson sampling.

Gradients are counted, not timed: they are the same on every machine up to rounding. `seconds` is processor time of one
thread, without calibration, the better of two; `excess risk` is the population risk above the least, by quadrature.
Growth is fitted as c · n^a · log n: a is 1 where the count grows like n log n.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np
import scipy
from threadpoolctl import threadpool_limits

from benchmarks.learners import has, worker
from objpert_core import _provenance
from objpert_core.accounting.population.ball import objective_plan
from objpert_core.accounting.population.sizes import Sizes
from objpert_core.experiments.studies.solver_costs import growth
from objpert_core.learning.noise import noise_source
from objpert_core.learning.population.noisy_sgd import descend
from objpert_core.learning.population.schedules import DescentPlan, published_plan, tight_plan
from objpert_core.learning.problem.losses import LOGISTIC
from objpert_core.learning.problem.objective import PerturbedObjective
from objpert_core.learning.problem.rows import Rows
from objpert_core.learning.sampling import Streams
from objpert_core.learning.solvers import solve
from objpert_core.theory.populations import LogisticOnSphere

DIMENSION, RADIUS, EPSILON, TAU = 10, 4.0, 0.5, 1e-6
SIZES = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000)
SVRG, NEWTON = "objective perturbation, SVRG", "objective perturbation, Newton"
PUBLISHED, TIGHT = "noisy SGD, published", "noisy SGD, tight"
Found = TypeVar("Found")
PLANS = {PUBLISHED: published_plan, TIGHT: tight_plan}
SMOOTHNESS = 0.25


@dataclass(frozen=True)
class Cost:
    """One fit."""

    n: int
    seed: int
    method: str
    gradients: float
    seconds: float
    excess: float


def plans(n: int) -> dict[str, DescentPlan]:
    """Both schedules of noisy SGD for n rows."""
    return {name: plan(sizes(n), smoothness=SMOOTHNESS) for name, plan in PLANS.items()}


def sizes(n: int) -> Sizes:
    """What every method goes by."""
    return Sizes(n, DIMENSION, EPSILON, 1 / n**2, RADIUS)


def timed(fit: Callable[[], Found]) -> tuple[Found, float]:
    """What the fit finds, and the processor seconds of the better of two."""
    seconds = []
    for _ in range(2):
        began = time.process_time()
        found = fit()
        seconds.append(time.process_time() - began)
    return found, min(seconds)


def costs(n: int, seed: int) -> Iterator[Cost]:
    """Every method of ours on n rows."""
    population = LogisticOnSphere(DIMENSION, RADIUS)
    X, y = population.sample(n, seed)
    rows = Rows(X, "clip")
    mechanism, _ = objective_plan("tight", sizes(n), smoothness=SMOOTHNESS, bound="logistic", tau=TAU)
    tilt = mechanism.perturbation(noise_source(seed), DIMENSION).linear
    assert tilt is not None
    objective = PerturbedObjective(rows, y, mechanism.objective.lam, tilt)
    for method, solver in ((SVRG, "svrg"), (NEWTON, "newton")):
        found, seconds = timed(partial(solve, objective, tau=mechanism.tau, solver=solver, radius=RADIUS))
        if not found.converged:
            raise RuntimeError(f"{solver} did not reach tau at n = {n:,}")
        yield Cost(n, seed, method, found.gradient_evaluations, seconds, float(population.excess(found.theta)))
    for method, plan in plans(n).items():
        theta, seconds = timed(partial(descend, rows, y, LOGISTIC, plan, Streams(seed)))
        yield Cost(n, seed, method, plan.row_gradients, seconds, float(population.excess(theta)))


def peers(n: int, seed: int, python: str) -> Iterator[Cost]:
    """Opacus on the plans of noisy SGD."""
    population = LogisticOnSphere(DIMENSION, RADIUS)
    X, y = population.sample(n, seed)
    labels = (y > 0).astype(int)
    found = plans(n)
    tasks = [
        {"library": "opacus-descent", "epsilon": EPSILON, "delta": 1 / n**2, "seed": seed, "parameters": asdict(plan)}
        for plan in found.values()
    ]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "data.npz"
        np.savez(file, X_train=X, y_train=labels, X_test=X[:1000], y_test=labels[:1000], constant=0.0)
        for (method, plan), answer in zip(found.items(), worker(python, file, tasks), strict=True):
            theta = np.array(answer["theta"])
            yield Cost(
                n, seed, f"Opacus, {method}", plan.row_gradients, answer["seconds"], float(population.excess(theta))
            )


def table(rows: Sequence[Cost]) -> str:
    """Counts, seconds and excess risks, means over the seeds, and what each is in units of SVRG's."""
    lines = ["| n | method | row gradients | over n | × SVRG’s | seconds | × SVRG’s | excess risk |"]
    lines.append("|---|---|---|---|---|---|---|---|")
    for n, method in dict.fromkeys((row.n, row.method) for row in rows):
        gradients, seconds, excess = mean(rows, n, method)
        svrg_gradients, svrg_seconds, _ = mean(rows, n, SVRG)
        lines.append(
            f"| {n:,} | {method} | {gradients:,.0f} | {gradients / n:.3g} | {gradients / svrg_gradients:.3g} | "
            f"{seconds:.3g} | {seconds / svrg_seconds:.3g} | {excess:.2g} |"
        )
    return "\n".join(lines)


def mean(rows: Sequence[Cost], n: int, method: str) -> tuple[float, float, float]:
    """Gradients, seconds and excess risk of one method at one n, over the seeds."""
    own = [(row.gradients, row.seconds, row.excess) for row in rows if (row.n, row.method) == (n, method)]
    gradients, seconds, excess = np.mean(own, axis=0)
    return float(gradients), float(seconds), float(excess)


def growths(rows: Sequence[Cost]) -> str:
    """How each method's row gradients grow, as c · n^a · log n, with a 95 % interval for a."""
    lines = ["| method | a | 95 % | c |", "|---|---|---|---|"]
    for method in dict.fromkeys(row.method for row in rows):
        own = [row for row in rows if row.method == method]
        if len({row.n for row in own}) < 3:
            continue
        fit = growth([row.n for row in own], [round(row.gradients) for row in own])
        lines.append(f"| {method} | {fit.exponent:.3f} | {fit.low:.3f} to {fit.high:.3f} | {fit.factor:.3g} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs="+", type=int, default=list(SIZES))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--opacus-python", metavar="PYTHON")
    options = parser.parse_args()
    beside = has(options.opacus_python, "opacus")
    rows: list[Cost] = []
    with threadpool_limits(1):
        for n in options.sizes:
            for seed in range(options.seeds):
                rows += costs(n, seed)
                if beside:
                    rows += peers(n, seed, options.opacus_python)
            print(f"n = {n:,} done", file=sys.stderr, flush=True)
    print(f"{table(rows)}\n\n{growths(rows)}\n")
    commit = _provenance.commit(_provenance.PACKAGE, Path(__file__).parent)
    print(f"commit {commit}; {_provenance.versions(np, scipy)}; {_provenance.machine()}, 1 thread")


if __name__ == "__main__":
    main()
