"""`which-library`: real text that needs no download, pieces of the sources of the installed scipy and scikit-learn.

A piece is 20 lines that follow one another in one file, without tests, imports, authors, licences, what the libraries
have taken from others, and their names. Its words are counted in 2,000 columns, each chosen by a hash of the word: a
public map. All pieces of a file stand on one side of the split, except those of the one file in which it falls.
"""

from __future__ import annotations

import re
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from types import ModuleType

import numpy as np
import scipy
import sklearn
from sklearn.feature_extraction.text import HashingVectorizer

from objpert_core._validation import FloatArray, IntArray
from objpert_core.datasets._dataset import training_size
from objpert_core.exceptions import DataUnavailableError

LIBRARIES: dict[str, ModuleType] = {"scipy": scipy, "scikit-learn": sklearn}
CLASSES = tuple(LIBRARIES)
VERSIONS = " and ".join(f"{name} {metadata.version(name)}" for name in LIBRARIES)
PIECES = 4_000
"""Of each library."""
LINES = 20
"""Of each piece."""
COLUMNS = 2_000

_SEED = 0  # which pieces are taken is fixed, like a file's rows
_LEFT_OUT = frozenset(("tests", "externals", "_externals", "_lib", "_build_utils", "datasets"))
_NAMES = re.compile(r"sci-?kit[-_ ]?learn|scikits?|sklearn|scipy", re.IGNORECASE)
_TELLING = re.compile(r"\s*(?:#.*(?:licen[cs]e|copyright|author|spdx)|(?:>>> )?(?:from|import)\s)", re.IGNORECASE)


def feature_names() -> tuple[str, ...]:
    """The columns have numbers: several words share one."""
    return tuple(f"words of hash {column}" for column in range(COLUMNS))


def library_pieces(split_seed: int = 0) -> tuple[list[str], IntArray]:
    """The 8,000 texts of the data set "which-library" and their labels, 0 for scipy and 1 for scikit-learn.

    The first 6,400 are for learning and the others for testing, as in ``load("which-library", split_seed=…)``, which
    has the same rows in the same order.

    `split_seed` >= 0 decides the order of the files. `DataUnavailableError` if the libraries are installed without
    their sources.

    >>> texts, labels = library_pieces()
    >>> len(texts), labels.tolist().count(1)
    (8000, 4000)
    """
    files, texts, labels = _everything()
    generator = np.random.default_rng(split_seed)
    order = np.argsort(generator.permutation(files.max() + 1)[files], kind="stable")
    cut = training_size(len(order))
    order = np.concatenate([generator.permutation(part) for part in (order[:cut], order[cut:])])
    return [texts[place] for place in order], labels[order]


def make(split_seed: int) -> tuple[FloatArray, IntArray, FloatArray, IntArray]:
    """Unit rows of word counts and labels: X_train, y_train, X_test, y_test."""
    texts, labels = library_pieces(split_seed)
    matrix = HashingVectorizer(n_features=COLUMNS, alternate_sign=False).transform(texts).toarray()
    cut = training_size(len(texts))
    return matrix[:cut], labels[:cut], matrix[cut:], labels[cut:]


@lru_cache(maxsize=1)
def _everything() -> tuple[IntArray, list[str], IntArray]:
    """The pieces that are taken: the number of each one's file, its text, its label."""
    files: list[int] = []
    texts: list[str] = []
    for name, library in LIBRARIES.items():
        found = _pieces(library)
        if len(found) < PIECES:
            raise DataUnavailableError(
                f"which-library needs {PIECES:,} pieces of {name}'s sources, and {len(found):,} are installed here"
            )
        first = max(files, default=-1) + 1
        for place in np.random.default_rng(_SEED).permutation(len(found))[:PIECES]:
            file, text = found[place]
            files.append(first + file)
            texts.append(text)
    return np.array(files), texts, np.repeat(np.arange(len(LIBRARIES)), PIECES)


def _pieces(library: ModuleType) -> list[tuple[int, str]]:
    root = Path(str(library.__file__)).parent
    found = []
    paths = {path.relative_to(root).as_posix(): path for path in root.rglob("*.py")}
    for file, (name, path) in enumerate(sorted(paths.items())):
        if _LEFT_OUT.isdisjoint(name.split("/")):
            lines = [line for line in _without_names(path).splitlines() if line.strip() and not _TELLING.match(line)]
            whole = range(0, len(lines) - LINES + 1, LINES)
            found += [(file, "\n".join(lines[start : start + LINES])) for start in whole]
    return found


def _without_names(path: Path) -> str:
    return _NAMES.sub(" ", path.read_text(encoding="utf-8"))
