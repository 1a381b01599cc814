"""A private text classifier by its number of columns: per cent right on new pieces of `which-library`, by ε.

    python -m benchmarks.private_text                  prints the table, in some five minutes
    python -m benchmarks.private_text --columns 2000 --draws 2
    python -m benchmarks.private_text --write          puts it into docs/how_to/private_text.md

Every learner gets the same sparse rows of hashed words. DP-SGD is ours at its defaults, whose learning rate was not
chosen on these texts. Numbers are means over draws of the noise.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import LogisticRegression

from benchmarks.shared import put_between
from objpert_core import tables
from objpert_core.datasets import library_pieces
from objpert_core.estimators import DPSGDLogisticRegression, ObjPertLogisticRegression, fit_many

PAGE = Path(__file__).resolve().parents[1] / "docs" / "how_to" / "private_text.md"
MARKERS = "<!-- text -->", "<!-- /text -->"
COLUMNS = (2_000, 20_000, 200_000)
EPSILONS = (0.5, 1.0, 2.0, 4.0, 8.0)
DESCENT = (1.0, 8.0)
"""At which ε DP-SGD is trained: it takes much longer."""
ROWS = 6_400


def compared(columns: int, draws: int) -> dict[str, str]:
    """A row of the table."""
    texts, labels = library_pieces()
    X = HashingVectorizer(n_features=columns, alternate_sign=False).transform(texts)
    train, new = slice(ROWS), slice(ROWS, None)
    peer = LogisticRegression(C=100, max_iter=500).fit(X[train], labels[train])
    row = {"columns": f"{columns:,}", "no privacy": f"{100 * peer.score(X[new], labels[new]):.1f}"}
    named = [("ours", ObjPertLogisticRegression, epsilon) for epsilon in EPSILONS]
    named += [("DP-SGD", DPSGDLogisticRegression, epsilon) for epsilon in DESCENT]
    for name, learner, epsilon in named:
        models = fit_many(
            learner(epsilon=epsilon, classes=[0, 1], public_rows=ROWS), X[train], labels[train], range(draws)
        )
        row[f"{name}, ε = {epsilon:g}"] = f"{100 * np.mean([model.score(X[new], labels[new]) for model in models]):.1f}"
    return row


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--columns", type=int, nargs="+", default=COLUMNS)
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    warnings.simplefilter("ignore", UserWarning)  # of several draws, and of sparse rows: the page says so
    found = tables.to_markdown([compared(columns, asked.draws) for columns in asked.columns]).strip()
    print(found)
    if asked.write:
        put_between(PAGE, MARKERS, found)


if __name__ == "__main__":
    main()
