"""Test accuracy on Adult, without privacy, by the published recipe and by the defaults, at δ = 1e-5.

    python -m benchmarks.adult_accuracy [--dataset adult-synthetic] [--write data/results/adult_accuracy.csv]

Means over split seeds 0–4 with 10 noise draws each; the interval is Student's t over the five splits' means, because
noise draws on one split share its test rows. Times are in Figure 2's files. Needs the UCI files (OBJPERT_DATA_DIR, or a
network to fetch them).
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

import objpert_core
from benchmarks.shared import commit
from objpert_core import _provenance
from objpert_core.datasets import load
from objpert_core.experiments.compare import METHODS, Settings, compare
from objpert_core.experiments.summary import mean_interval

EPSILONS = (0.1, 1.0, 8.0)
SPLITS = range(5)
DRAWS = 10


def measure(dataset: str) -> list[dict[str, object]]:
    rows = []
    for epsilon in EPSILONS:
        splits = []
        for split in SPLITS:
            settings = Settings(epsilon=epsilon, repeats=DRAWS, seed=1000 * split)
            *_, last = compare(load(dataset, split_seed=split), settings)
            splits.append(last)
            print(f"epsilon {epsilon:g}, split {split} done", file=sys.stderr, flush=True)
        for method in METHODS:
            fits = [split.of(method) for split in splits]
            accuracy = mean_interval([float(np.mean([fit.accuracy for fit in group])) for group in fits])
            rows.append(
                {
                    "dataset": dataset,
                    "epsilon": epsilon,
                    "delta": 1e-5,
                    "method": method,
                    "accuracy": f"{accuracy.mean:.5f}",
                    "half_width_95": f"{accuracy.half_width:.5f}",
                    "splits": len(SPLITS),
                    "draws": 1 if method == "non-private" else DRAWS,
                }
            )
    return rows


def provenance() -> dict[str, object]:
    return {
        "command": "python -m benchmarks.adult_accuracy " + " ".join(sys.argv[1:]),
        "seeds": "split 0-4, noise 1000*split + 0-9",
        "version": objpert_core.__version__,
        "commit": commit(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", default="adult")
    parser.add_argument("--write", type=Path)
    arguments = parser.parse_args()
    rows = [{**row, **provenance()} for row in measure(arguments.dataset)]
    for row in rows:
        print(
            f"ε = {row['epsilon']:<4} {row['method']:<12} {100 * float(str(row['accuracy'])):.2f} % "
            f"± {100 * float(str(row['half_width_95'])):.2f}"
        )
    if arguments.write:
        _provenance.write_table(arguments.write, rows)


if __name__ == "__main__":
    main()
