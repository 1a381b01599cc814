"""One process, one library: fits it as its documentation says and prints a line of JSON a fit; `learners` starts it.

    OMP_NUM_THREADS=1 PYTHON benchmarks/learners_peers.py --data FILE.npz < tasks.jsonl

Runs in whatever interpreter has the library, so it needs nothing but numpy besides. FILE holds `X_train`, `y_train`,
`X_test`, `y_test` (rows of norm 1, labels 0 and 1) and `constant`, what every learner appends to a row instead of
fitting an unpenalised intercept of its own. A task is `{"library", "epsilon", "delta", "seed", "parameters"}`.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
import warnings
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

Fit = Callable[[np.ndarray, np.ndarray, dict[str, Any]], Any]  # the coefficients, or a model of ours
WARM_UP_ROWS = 600
LIBRARIES = {  # the distributions whose versions are worth knowing
    "scikit-learn": ("scikit-learn", "scipy", "numpy"),
    "diffprivlib": ("diffprivlib", "scikit-learn", "scipy", "numpy"),
    "opacus": ("opacus", "torch", "numpy"),
    "objpert": ("scikit-learn", "scipy", "numpy"),
}


def scikit_learn(X: np.ndarray, y: np.ndarray, task: dict[str, Any]) -> np.ndarray:
    """Without privacy; the constant is a column of `X`."""
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(fit_intercept=False, **task["parameters"]).fit(X, y).coef_[0]


def diffprivlib(X: np.ndarray, y: np.ndarray, task: dict[str, Any]) -> np.ndarray:
    """Chaudhuri, Monteleoni and Sarwate's objective perturbation: pure ε, replacing a row, no δ to spend."""
    from diffprivlib.models import LogisticRegression

    model = LogisticRegression(
        epsilon=task["epsilon"], fit_intercept=False, random_state=task["seed"], **task["parameters"]
    )
    return model.fit(X, y).coef_[0]


def opacus(X: np.ndarray, y: np.ndarray, task: dict[str, Any]) -> np.ndarray:
    """DP-SGD on one linear layer by `PrivacyEngine.make_private_with_epsilon`, Poisson sampling, default accountant."""
    import torch
    from opacus import PrivacyEngine
    from torch.utils.data import DataLoader, TensorDataset

    torch.set_num_threads(1)
    torch.manual_seed(task["seed"])
    wanted = task["parameters"]
    layer = torch.nn.Linear(X.shape[1], 1, bias=False)
    torch.nn.init.zeros_(layer.weight)
    rows = TensorDataset(torch.tensor(X, dtype=torch.float32), torch.tensor(y, dtype=torch.float32))
    model, optimizer, loader = PrivacyEngine().make_private_with_epsilon(
        module=layer,
        optimizer=torch.optim.Adam(layer.parameters(), lr=wanted["learning_rate"]),
        data_loader=DataLoader(rows, batch_size=wanted["batch_size"]),
        target_epsilon=task["epsilon"],
        target_delta=task["delta"],
        epochs=wanted["epochs"],
        max_grad_norm=wanted["max_grad_norm"],
    )
    loss = torch.nn.BCEWithLogitsLoss()
    for _ in range(wanted["epochs"]):
        for features, labels in loader:
            optimizer.zero_grad()
            loss(model(features).squeeze(1), labels).backward()
            optimizer.step()
    return layer.weight.detach().numpy()[0].astype(float)


def objpert(X: np.ndarray, y: np.ndarray, task: dict[str, Any]) -> Any:
    """An estimator of ours, named in the parameters; `X` comes without the constant, which it appends itself.

    The model, not its coefficients: they may apply to rows that are centred and scaled.

    ``judged_by="test"`` among them hands the test rows over for the choice of a learning rate.
    """
    from benchmarks.shared import empty_caches
    from objpert_core import estimators

    empty_caches()  # every fit pays for its calibration
    parameters = dict(task["parameters"])
    name, _, recipe = parameters.pop("estimator").partition(".")
    make = getattr(estimators, name)
    make = getattr(make, recipe) if recipe else make
    judges = dict(zip(("X_val", "y_val"), task["test"], strict=True)) if parameters.pop("judged_by", None) else {}
    return make(
        epsilon=task["epsilon"], delta=task["delta"], random_state=task["seed"], classes=(0, 1), **parameters
    ).fit(X, y, **judges)


FITS: dict[str, Fit] = {
    "scikit-learn": scikit_learn,
    "diffprivlib": diffprivlib,
    "opacus": opacus,
    "objpert": objpert,
}


def resident(field: str) -> float:
    """`VmRSS` (now) or `VmHWM` (at most) of this process in MB; where there is no /proc the high-water mark."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)
    line = next(line for line in status.read_text().splitlines() if line.startswith(field))
    return int(line.split()[1]) * 1024 / 1e6


def forget_peak() -> None:
    """Set the high-water mark back to the present, where the system can."""
    mark = Path("/proc/self/clear_refs")
    if mark.exists():
        mark.write_text("5")


def with_constant(X: np.ndarray, constant: float) -> np.ndarray:
    return np.column_stack([X, np.full(len(X), constant)]) if constant else X


def scores(fitted: Any, X: np.ndarray, constant: float) -> np.ndarray:
    """Of rows without the constant, by a model of ours or by coefficients."""
    return with_constant(X, constant) @ fitted if isinstance(fitted, np.ndarray) else fitted.decision_function(X)


def measured(fit: Fit, X: np.ndarray, y: np.ndarray, task: dict[str, Any]) -> tuple[Any, dict[str, float]]:
    """(what was fitted, what it cost: processor seconds, the process's peak in MB, and the fit's part of it)."""
    before = resident("VmRSS")
    forget_peak()
    start = time.process_time()
    fitted = fit(X, y, task)
    seconds = time.process_time() - start
    peak = resident("VmHWM")
    return fitted, {"seconds": seconds, "peak_mb": peak, "fit_mb": peak - before}


def versions(library: str) -> dict[str, str]:
    found = {name: metadata.version(name) for name in LIBRARIES[library]}
    return {"python": sys.version.split()[0], **found}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    with np.load(options.data) as stored:
        X, y, X_test, y_test = (stored[name] for name in ("X_train", "y_train", "X_test", "y_test"))
        constant = float(stored["constant"])
    test = X_test, y_test
    tasks = [json.loads(line) for line in sys.stdin if line.strip()]
    library = tasks[0]["library"]
    fit = FITS[library]
    if library != "objpert":
        X = with_constant(X, constant)
    warm = {**tasks[0], "parameters": {**tasks[0]["parameters"]}}
    if "epochs" in warm["parameters"]:
        warm["parameters"]["epochs"] = 1
    fit(X[:WARM_UP_ROWS], y[:WARM_UP_ROWS], warm | {"test": test})  # what is imported or allocated on first use
    for task in tasks:
        fitted, cost = measured(fit, X, y, task | {"test": test})
        accuracy = float(np.mean((scores(fitted, X_test, constant) > 0) == (y_test == 1)))
        print(json.dumps({"task": task, "accuracy": accuracy, **cost, "versions": versions(library)}), flush=True)


if __name__ == "__main__":
    main()
