"""Public data sets end to end, from a coin's split to one certificate: the published accuracy beside the exact one.

    python -m benchmarks.published_scores              prints the table, in half a minute
    python -m benchmarks.published_scores --write      puts the table into docs/how_to/publish_scores.md

One release of each data set and ε; coins and noise have seeds, so that the table comes out again.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import numpy as np

from benchmarks.shared import put_between
from objpert_core import datasets, tables
from objpert_core.datasets import Dataset
from objpert_core.estimators import ObjPertLogisticRegression
from objpert_core.evaluation import evaluate, split_by_coin, together

PAGE = Path(__file__).resolve().parents[1] / "docs" / "how_to" / "publish_scores.md"
MARKERS = "<!-- published scores -->", "<!-- /published scores -->"
NAMES = ("breast-cancer", "digits", "which-library")
EPSILONS = (0.5, 1.0, 4.0)
DELTA, TEST_SHARE = 1e-5, 0.2


def released(data: Dataset, epsilon: float) -> dict[str, str]:
    """One row of the table."""
    rows, labels = np.concatenate([data.X_train, data.X_test]), np.concatenate([data.y_train, data.y_test])
    X, X_test, y, y_test = split_by_coin(rows, labels, TEST_SHARE, random_state=0)
    model = ObjPertLogisticRegression(
        epsilon,
        DELTA,
        classes=list(range(len(data.classes))),
        public_rows=int(len(labels) * (1 - TEST_SHARE)),
        random_state=1,
    ).fit(X, y)
    scores = evaluate(model, X_test, y_test, epsilon, DELTA, random_state=2)
    both = together(model.privacy_, scores)
    if not (scores.verify(model) and both.verify(model)):
        raise RuntimeError(f"the certificates of {data.label} must hold")
    told = scores.accuracy()
    return {
        "Data": data.label,
        "Rows": f"{len(labels):,}",
        "Classes": str(len(data.classes)),
        "ε of fit and score": f"{both.epsilon:g}",
        "Published": f"{100 * told.value:.1f} %",
        "95 % interval": f"{100 * told.low:.1f} to {100 * told.high:.1f} %",
        "Exact, not to publish": f"{100 * model.score(X_test, y_test):.1f} %",
    }


def main() -> None:
    """Print or write the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--write", action="store_true", help=f"put the table into {PAGE.name}")
    write = parser.parse_args().write
    warnings.simplefilter("ignore")  # of seeds, and of several fits to the same people
    found = [released(datasets.load(name), epsilon) for name in NAMES for epsilon in EPSILONS]
    text = tables.to_markdown(found).strip()
    print(text)
    if write:
        put_between(PAGE, MARKERS, text)


if __name__ == "__main__":
    main()
