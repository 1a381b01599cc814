"""Private logistic regression as people would pick it today: accuracy at the same budget, seconds and memory.

    python3 -m venv ../venv-diffprivlib
    ../venv-diffprivlib/bin/pip install diffprivlib==0.6.6 "scikit-learn<1.6" "numpy<2.1"
    python3 -m venv ../venv-opacus
    ../venv-opacus/bin/pip install torch numpy scipy opt-einsum --extra-index-url https://download.pytorch.org/whl/cpu
    ../venv-opacus/bin/pip install --no-deps opacus==1.6.0
    python -m benchmarks.learners --write data/results/learners.csv \
        --diffprivlib-python ../venv-diffprivlib/bin/python --opacus-python ../venv-opacus/bin/python

Each peer has an environment of its own (diffprivlib needs an older scikit-learn) and runs in a process of its own, as
ours do; one whose interpreter is not named is left out, with the reason printed. Fits that the file named by --write
already holds are not repeated, so that a long run can be made in parts (--dataset, --method, --epsilon).

All learners get the same rows: norm 1, the same split, a constant 0.3 appended. Trial t has split seed t and noise seed
t. One thread; `seconds` is processor time of the fit alone, calibration included, after a warm-up on a few rows;
`peak_mb` is the most memory its process held meanwhile, interpreter, libraries and data included, `fit_mb` what the
first fit of the process added.

What they promise is not the same, and not all of what they do is paid for:
* diffprivlib (Chaudhuri, Monteleoni and Sarwate 2011) promises pure ε, δ = 0, for replacing a row: more than (ε, δ) for
  adding or removing one. It stops its solver at scikit-learn's tolerance, which the proof does not cover.
* diffprivlib has its regularisation C to choose: once as it comes (C = 1), once with the best of a grid by test
  accuracy, which nobody paid for.
* Opacus and our DP-SGD get one recipe (batch, epochs, Adam, learning rate), found by looking at adult-synthetic and
  synthetic-l, which nobody paid for either; ours also the best learning rate of six by test accuracy (not paid for)
  and by honest tuning (paid for). Poisson sampling, add or remove a row, n public.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import objpert_core
from benchmarks.shared import accuracy_text, commit, crossed, each, methods
from objpert_core import _provenance
from objpert_core.datasets import available, load
from objpert_core.experiments import paper
from objpert_core.experiments.learners import reference_parameters
from objpert_core.experiments.summary import mean_interval
from objpert_core.learning.problem.rows import row_radius

DELTA = 1e-5
EPSILONS = (0.1, 1.0, 8.0)
DATASETS = ("adult", "synthetic-l")
TRIALS = 5
CONSTANT = 0.3
RADIUS = row_radius(CONSTANT)
SGD: dict[str, Any] = {"batch_size": 256, "epochs": 20}
LEARNING_RATE = 0.03  # the best at ε = 1 on adult-synthetic and on synthetic-l
LEARNING_RATES = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3)
C_GRID = (0.001, 0.01, 0.1, 1.0, 10.0)
WORKER = Path(__file__).with_name("learners_peers.py")
NONE, PURE, APPROXIMATE = "none", "ε, δ = 0, replace a row", "(ε, δ), add or remove a row"

Key = tuple[str, str, str, str]  # dataset, method, ε, trial


@dataclass(frozen=True)
class Method:
    """One row of the table: a library with parameters; several candidates are all fitted and the best is reported."""

    label: str
    library: str
    promise: str
    candidates: tuple[dict[str, Any], ...]
    note: str = ""

    def epsilons(self) -> tuple[float, ...]:
        return EPSILONS if self.promise != NONE else EPSILONS[:1]


def ours(estimator: str, **parameters: Any) -> tuple[dict[str, Any], ...]:
    return ({"estimator": estimator, "intercept_scaling": CONSTANT, **parameters},)


METHODS = {
    "scikit-learn": Method("scikit-learn, no privacy", "scikit-learn", NONE, (reference_parameters(1),)),
    "diffprivlib": Method("diffprivlib, C = 1", "diffprivlib", PURE, ({"data_norm": RADIUS, "C": 1.0},)),
    "diffprivlib-best": Method(
        "diffprivlib, best C of five by test accuracy",
        "diffprivlib",
        PURE,
        tuple({"data_norm": RADIUS, "C": C} for C in C_GRID),
        "choice not paid for",
    ),
    "opacus": Method(
        "Opacus", "opacus", APPROXIMATE, ({"max_grad_norm": RADIUS, "learning_rate": LEARNING_RATE, **SGD},)
    ),
    "dpsgd": Method(
        "ours, DP-SGD, the same recipe",
        "objpert",
        APPROXIMATE,
        ours("DPSGDLogisticRegression", learning_rate=LEARNING_RATE, **SGD),
    ),
    "dpsgd-best": Method(
        "ours, DP-SGD, best learning rate of six by test accuracy",
        "objpert",
        APPROXIMATE,
        ours("DPSGDLogisticRegression", learning_rates=LEARNING_RATES, tuning="dishonest", judged_by="test", **SGD),
        "choice not paid for",
    ),
    "dpsgd-honest": Method(
        "ours, DP-SGD, the same six, tuning paid for",
        "objpert",
        APPROXIMATE,
        ours("DPSGDLogisticRegression", learning_rates=LEARNING_RATES, mean_runs=paper.MEAN_RUNS, **SGD),
    ),
    "published": Method(
        "ours, Algorithm 1 with the 2023 theorem", "objpert", APPROXIMATE, ours("ObjPertLogisticRegression.published")
    ),
    "tight": Method(
        "**ours, Algorithm 1 with our theorem**", "objpert", APPROXIMATE, ours("ObjPertLogisticRegression")
    ),
}


@dataclass
class Measurement:
    """One fit, or the best of several on one split with one seed; the columns of the CSV."""

    dataset: str
    rows: int
    columns: int
    method: str
    library: str
    promise: str
    epsilon: float
    delta: float
    trial: int
    split_seed: int
    seed: int
    accuracy: float
    seconds: float
    peak_mb: float
    fit_mb: float
    parameters: str
    note: str
    versions: str
    source: dict[str, str] = field(default_factory=dict)

    @property
    def key(self) -> Key:
        return self.dataset, self.method, f"{self.epsilon:g}", str(self.trial)

    def row(self) -> dict[str, Any]:
        values = {name: value for name, value in vars(self).items() if name != "source"}
        return {k: f"{v:.6g}" if isinstance(v, float) else v for k, v in values.items()} | self.source


def worker(python: str, data: Path, tasks: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The worker's answers, one a task, as they come; `RuntimeError` with its last words where it fails."""
    environment = os.environ | {
        **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
        "PYTHONPATH": str(WORKER.parents[1]),
    }
    lines = "".join(json.dumps(task) + "\n" for task in tasks)
    command = [python, str(WORKER), "--data", str(data)]
    with tempfile.TemporaryFile("w+") as stdin, tempfile.TemporaryFile("w+") as errors:
        stdin.write(lines)
        stdin.seek(0)
        process = subprocess.Popen(
            command, stdin=stdin, stdout=subprocess.PIPE, stderr=errors, text=True, env=environment
        )
        assert process.stdout is not None
        for line in process.stdout:
            yield json.loads(line)
        if process.wait():
            errors.seek(0)
            words = errors.read().strip().splitlines() or [f"ended with code {process.returncode}"]
            raise RuntimeError(words[-1])


def measure(dataset: str, name: str, trial: int, epsilons: list[float], python: str) -> Iterator[Measurement]:
    """Every ε of one method on one split, in one process."""
    method = METHODS[name]
    data = load(dataset, split_seed=trial)
    tasks = [
        {"library": method.library, "epsilon": epsilon, "delta": DELTA, "seed": trial, "parameters": candidate}
        for epsilon in epsilons
        for candidate in method.candidates
    ]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "data.npz"
        arrays = {part: getattr(data, part) for part in ("X_train", "y_train", "X_test", "y_test")}
        np.savez(file, **arrays, constant=CONSTANT)
        found = list(worker(python, file, tasks))
    for index, epsilon in enumerate(epsilons):
        fits = found[index * len(method.candidates) : (index + 1) * len(method.candidates)]
        best = max(fits, key=lambda fit: fit["accuracy"])
        shown = {key: value for key, value in best["task"]["parameters"].items() if key != "estimator"}
        yield Measurement(
            dataset=dataset,
            rows=data.X_train.shape[0],
            columns=data.X_train.shape[1],
            method=name,
            library=method.library,
            promise=method.promise,
            epsilon=epsilon if method.promise != NONE else np.inf,
            delta={NONE: 1.0, PURE: 0.0, APPROXIMATE: DELTA}[method.promise],
            trial=trial,
            split_seed=trial,
            seed=trial,
            accuracy=best["accuracy"],
            seconds=sum(fit["seconds"] for fit in fits),
            peak_mb=max(fit["peak_mb"] for fit in fits),
            fit_mb=found[0]["fit_mb"],
            parameters=", ".join(f"{key}={value}" for key, value in shown.items()),
            note=method.note,
            versions=", ".join(f"{key} {value}" for key, value in best["versions"].items()),
        )


def interpreters(options: argparse.Namespace) -> dict[str, str]:
    """Library → interpreter; prints why a library is left out."""
    found = {"scikit-learn": sys.executable, "objpert": sys.executable}
    for library, python in (("diffprivlib", options.diffprivlib_python), ("opacus", options.opacus_python)):
        if python is None:
            print(f"{library} left out: no interpreter was named (--{library}-python)", file=sys.stderr)
            continue
        tried = subprocess.run([python, "-c", f"import {library}"], capture_output=True, text=True, check=False)
        if tried.returncode:
            print(f"{library} left out: {python}: {tried.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
        else:
            found[library] = python
    return found


def stored(file: Path | None) -> list[dict[str, str]]:
    return [] if file is None or not file.exists() else list(_provenance.read_table(file).rows)


def markdown(rows: list[dict[str, str]]) -> str:
    """A table a data set: method × ε, mean accuracy ± half of the 95 % interval over the trials, seconds, memory."""
    return "\n\n".join(
        _table([row for row in rows if row["dataset"] == name])
        for name in dict.fromkeys(row["dataset"] for row in rows)
    )


def _table(rows: list[dict[str, str]]) -> str:
    def cell(method: str, epsilon: float | None = None, what: str = "") -> str:
        own = [row for row in rows if row["method"] == method]
        if what == "promise":
            return METHODS[method].promise
        if what == "seconds":
            return f"{np.median([float(row['seconds']) for row in own]):.2g}"
        if what == "peak":
            return f"{max(float(row['peak_mb']) for row in own):.0f}"
        accuracies = [float(row["accuracy"]) for row in own if row["epsilon"] in (f"{epsilon:g}", "inf")]
        return accuracy_text(mean_interval(accuracies)) if accuracies else "–"

    about = f"**{rows[0]['dataset']}**, {int(rows[0]['rows']):,} × {rows[0]['columns']}"
    measured = {row["method"] for row in rows}
    labels = methods({name: method.label for name, method in METHODS.items() if name in measured})
    ends = {"s": {"what": "seconds"}, "peak MB": {"what": "peak"}}
    columns = {"promise": {"what": "promise"}, **each("ε = {:g}", "epsilon", EPSILONS), **ends}
    return crossed(about, labels, columns, cell)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", type=Path)
    parser.add_argument("--dataset", nargs="+", choices=DATASETS, default=list(DATASETS))
    parser.add_argument("--method", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--epsilon", nargs="+", type=float, choices=EPSILONS, default=list(EPSILONS))
    parser.add_argument("--trials", type=int, default=TRIALS)
    parser.add_argument("--diffprivlib-python", metavar="PYTHON")
    parser.add_argument("--opacus-python", metavar="PYTHON")
    options = parser.parse_args()
    source = {
        "objpert": objpert_core.__version__,
        "command": "python -m benchmarks.learners " + " ".join(sys.argv[1:]),
        "commit": commit(),
        "machine": f"{_provenance.machine()}, 1 thread used",
    }
    pythons = interpreters(options)
    rows = stored(options.write)
    have: set[Key] = {(row["dataset"], row["method"], row["epsilon"], row["trial"]) for row in rows}
    for dataset in options.dataset:
        if not available(dataset):
            print(f"{dataset} left out: its files are not there (OBJPERT_DATA_DIR)", file=sys.stderr)
            continue
        for name in options.method:
            method = METHODS[name]
            if method.library not in pythons:
                continue
            for trial in range(options.trials):
                private = method.promise != NONE
                asked = options.epsilon if private else EPSILONS[:1]
                wanted = [e for e in asked if (dataset, name, f"{e:g}" if private else "inf", str(trial)) not in have]
                if not wanted:
                    continue
                try:
                    found = list(measure(dataset, name, trial, wanted, pythons[method.library]))
                except RuntimeError as error:
                    print(f"{name} left out: {error}", file=sys.stderr)
                    break
                for one in found:
                    one.source = source
                    rows.append(one.row())
                    print(
                        f"{dataset} {name} ε = {one.epsilon:g} trial {trial}: {one.accuracy:.4f}, {one.seconds:.2f} s",
                        file=sys.stderr,
                        flush=True,
                    )
                if options.write:
                    save(options.write, rows)
    print(markdown(rows))


def save(file: Path, rows: list[dict[str, Any]]) -> None:
    """Everything so far, in the order of the methods."""
    order = {name: place for place, name in enumerate(METHODS)}
    rows.sort(key=lambda row: (row["dataset"], order[row["method"]], float(row["epsilon"]), int(row["trial"])))
    _provenance.write_table(file, rows)


if __name__ == "__main__":
    main()
