"""Gradient evaluations of every solver against n: what Appendix F of Redberg et al. (2023) proves, measured.

    python -m benchmarks.solvers                                        # prints the growth of each solver
    python -m benchmarks.solvers --write data/results/solvers.csv       # and stores every run (20 minutes)

The problems are those of `experiments.studies.solver_costs`: d = 50, λ and σ fixed (about those of Algorithm 1 at
ε = 1 on rows of norm 1), τ = 1/n, so that log(L²‖θ‖²/τ²) grows as log n does; at n = 10⁶ that is the product's τ.
Evaluations are counted, not timed: they are the same on every machine up to rounding.
"""

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
import scipy
from threadpoolctl import threadpool_limits

from benchmarks.experiments.store import write
from objpert_core import _provenance
from objpert_core.experiments.studies.solver_costs import PROVED, Case, Measurement, growth
from objpert_core.learning.solvers import SOLVERS, SolverResult, solve

LAM, SIGMA, SEEDS = 1.0, 4.0, (0, 1, 2)
SIZES = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
ONE_SEED_FROM = 30_000
LARGEST = {  # the last size that is a matter of minutes; newton-cholesky is newton at d = 50
    "redundant": {"gradient-descent": 10_000, "newton-cholesky": 0},
    "diverse": {"newton-cholesky": 0, "gradient-descent": 100_000},
}
MEASURED = ("solvers", "problem")  # folders of `learning`


def provenance(arguments: list[str]) -> dict[str, str]:
    learning = _provenance.PACKAGE / "learning"
    return {
        "command": " ".join(["python -m benchmarks.solvers", *arguments]),
        "seeds": f"{SEEDS[0]}-{SEEDS[-1]} of the problem (below {ONE_SEED_FROM:,} rows, else {SEEDS[0]})",
        "commit": _provenance.commit(*(learning / name for name in MEASURED)),
        "versions": _provenance.versions(np, scipy),
        "tau": "1/n",
    }


def run(columns: str, largest: int) -> Iterator[Measurement]:
    for n in (size for size in SIZES if size <= largest):
        for seed in SEEDS if n < ONE_SEED_FROM else SEEDS[:1]:
            case = Case(n, LAM, SIGMA, columns=columns, seed=seed)
            objective = case.objective()
            for solver in SOLVERS:
                if n > LARGEST[columns].get(solver, largest):
                    continue
                began = time.process_time()
                result = solve(objective, tau=1 / n, solver=solver)
                row = counted(case, 1 / n, result, time.process_time() - began)
                print(
                    f"{columns:10} n = {n:>9,}  seed {seed}  {solver:17} {row.evaluations / n:9.1f} n evaluations"
                    f"  {row.seconds:7.2f} s{'' if row.converged else '  NOT CONVERGED'}",
                    flush=True,
                )
                yield row


def counted(case: Case, tau: float, result: SolverResult, seconds: float) -> Measurement:
    """A solver's result on a case as a row of a table."""
    return Measurement(
        solver=result.solver,
        tau=tau,
        iterations=result.iterations,
        evaluations=result.gradient_evaluations,
        gradient_norm=result.gradient_norm,
        converged=result.converged,
        seconds=seconds,
        **asdict(case),
    )


def growth_table(rows: Sequence[Measurement]) -> str:
    """How each solver's evaluations grow, c · n^a · log n, as Markdown: a with its 95 % interval, c, the proved a."""
    lines = ["| solver | a | 95 % | c | proved a |", "|---|---|---|---|---|"]
    for solver in dict.fromkeys(row.solver for row in rows):
        found = [row for row in rows if row.solver == solver and row.converged]
        if len({row.n for row in found}) < 3:
            continue
        fit = growth([row.n for row in found], [row.evaluations for row in found])
        interval = f"{fit.low:.3f} to {fit.high:.3f}"
        lines.append(f"| {solver} | {fit.exponent:.3f} | {interval} | {fit.factor:.3g} | {PROVED.get(solver, '')} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", type=Path)
    parser.add_argument("--largest", type=int, default=1_000_000, help="the largest n of the redundant columns")
    parser.add_argument("--largest-diverse", type=int, default=100_000)
    options = parser.parse_args()
    source = provenance(sys.argv[1:])
    rows: list[Measurement] = []
    with threadpool_limits(1):
        for columns, largest in (("diverse", options.largest_diverse), ("redundant", options.largest)):
            for row in run(columns, largest):
                rows.append(row)
                if options.write:
                    write(options.write, rows, source)
            print(f"\n{columns} columns\n\n{growth_table([row for row in rows if row.columns == columns])}")
    print("\n" + "; ".join(f"{name}: {value}" for name, value in source.items()))


if __name__ == "__main__":
    main()
