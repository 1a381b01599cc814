"""What every loader returns, and the two steps that all loaders share: unit rows and the 80/20 split."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from objpert_core._validation import FloatArray, IntArray


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A classification problem, split 80/20, every row of Euclidean norm one.

    The arrays are read-only because one copy is shared by everybody who loads the same split. A row is divided by its
    own norm only. What the split does reveal is the number of rows n, which is treated as public (see `load`).

    Parameters
    ----------
    name : str
        The name given to `load`.
    X_train, X_test : ndarray
        float64 matrices (rows, columns), rows of norm one.
    y_train, y_test : ndarray
        int64 vectors of labels from 0 on; `classes[label]` is the label's meaning.
    feature_names : tuple of str
        One string a column.
    classes : tuple of str
        What the labels 0, 1, … mean, in this order; as a rule there are two.
    origin : str
        Where the rows come from and how they were made.
    citation, licence : str
        How to cite the source, and its terms.
    stand_in_for : str or None
        The name of the real data set this one stands in for, or None.
    split_seed : int
        The seed of the split.
    """

    name: str
    X_train: FloatArray = field(metadata={"shape": "(n_train, d)"})
    y_train: IntArray
    X_test: FloatArray
    y_test: IntArray
    feature_names: tuple[str, ...]
    classes: tuple[str, ...]
    origin: str
    citation: str
    licence: str
    stand_in_for: str | None
    split_seed: int

    def __post_init__(self) -> None:
        for array in (self.X_train, self.y_train, self.X_test, self.y_test):
            array.setflags(write=False)

    @property
    def stand_in(self) -> bool:
        """Whether the rows stand in for another data set; whoever shows results must then say so."""
        return self.stand_in_for is not None

    @property
    def label(self) -> str:
        """The name as it has to appear next to results: a stand-in says what it stands in for."""
        return labelled(self.name, self.stand_in_for)

    @property
    def nbytes(self) -> int:
        """Bytes held by the four arrays."""
        return sum(a.nbytes for a in (self.X_train, self.y_train, self.X_test, self.y_test))

    def __repr__(self) -> str:
        (train, columns), test = self.X_train.shape, len(self.X_test)
        return f"Dataset({self.label}: {train} training and {test} test rows, {columns} columns)"


def labelled(name: str, stand_in_for: str | None) -> str:
    """The name as it has to appear next to results."""
    return name if stand_in_for is None else f"{name} (stand-in for {stand_in_for})"


def unit_rows(matrix: FloatArray) -> FloatArray:
    """`matrix` with each row divided by its own norm, in place, at no cost in privacy; a zero row stays zero."""
    norms = np.sqrt(np.einsum("ij,ij->i", matrix, matrix))
    norms[norms == 0] = 1.0
    matrix /= norms[:, None]
    return matrix


def training_size(rows: int) -> int:
    """How many of `rows` rows go to the training part: four fifths, rounded down."""
    return 4 * rows // 5


def shuffled_split(
    features: FloatArray, labels: IntArray, split_seed: int
) -> tuple[FloatArray, IntArray, FloatArray, IntArray]:
    """X_train, y_train, X_test, y_test: views of the rows in an order from `split_seed`, cut after four fifths."""
    order = np.random.default_rng(split_seed).permutation(len(labels))
    cut = training_size(len(labels))
    features, labels = features[order], labels[order]
    features.setflags(write=False)
    labels.setflags(write=False)
    return features[:cut], labels[:cut], features[cut:], labels[cut:]
