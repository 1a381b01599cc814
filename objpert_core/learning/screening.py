"""Rows that cannot be used, for a fit that must not say that there was one: such rows are ignored.

With ``on_error="release"`` each row is judged by itself, and an unusable one is left out of every sum; the number of
rows that rules may read stays the number given. Such a map takes neighbours to neighbours (docs/theorems.md, T23).
"""

from __future__ import annotations

from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from objpert_core._validation import FloatArray
from objpert_core.learning.problem.losses import Loss, MarginLoss
from objpert_core.learning.problem.rows import TableRows, usable_rows


def usable(X: Any, targets: FloatArray, loss: Loss) -> tuple[Any, FloatArray]:
    """Leave out rows with NaN, infinity, a norm of 1e150 or more, or targets that are bad for `loss`; in doubles."""
    X, keep = judged(X, targets, loss)
    return (X, targets) if keep.all() else (X[keep], targets[..., keep])  # as a rule all can be used: no copy


@np.errstate(all="ignore")
def judged(X: Any, targets: FloatArray, loss: Loss | None = None) -> tuple[Any, NDArray[np.bool_]]:
    """Say of each row whether it can be used, as `usable` does, without a loss for any finite target; X in doubles."""
    if targets.ndim == 2:
        targets = _of_one_class(targets)
    if isinstance(X, TableRows):
        keep = np.ones(X.n_rows, dtype=bool)
    else:
        X, keep = usable_rows(X if sp.issparse(X) else np.ascontiguousarray(X, dtype=np.float64))
    keep &= np.isfinite(targets)
    if isinstance(loss, MarginLoss):
        keep &= np.abs(targets) == 1.0
    return X, keep


def _of_one_class(targets: FloatArray) -> FloatArray:
    """1.0 for every row whose targets are all −1.0 or +1.0, at most one of them +1.0; NaN elsewhere."""
    signs = (np.abs(targets) == 1.0).all(axis=0) & ((targets == 1.0).sum(axis=0) <= 1)
    return np.where(signs, 1.0, np.nan)


@np.errstate(all="ignore")
def as_numbers(values: Any) -> Any:
    """Make an array of numbers of what may hold other things: NaN where an entry is neither a number nor spells one."""
    if sp.issparse(values):
        return _sparse(values)
    if hasattr(values, "get_column"):  # a data frame of polars; its columns have different names
        if all(kind.is_float() or kind.is_integer() for kind in values.dtypes):
            return values
        columns = {name: values.get_column(name).to_list() for name in values.columns}
        return type(values)({name: as_numbers(np.fromiter(one, dtype=object)) for name, one in columns.items()})
    if hasattr(values, "columns") and hasattr(values, "to_numpy"):  # of pandas: names of columns are kept
        if all(_numeric(kind) for kind in values.dtypes):
            return values
        entries = [as_numbers(values.iloc[:, place].to_numpy(dtype=object)) for place in range(values.shape[1])]
        return type(values)(dict(enumerate(entries)), index=values.index).set_axis(values.columns, axis=1)
    if isinstance(values, (list, tuple)):
        values = [without_masks(row) for row in values]
    array = without_masks(values) if isinstance(values, np.ndarray) else np.array(values, dtype=object)
    if _numeric(array.dtype):
        return array
    if array.dtype.kind == "c":
        return np.where(array.imag == 0, array.real, np.nan)
    return np.vectorize(_number, otypes=[np.float64])(array)


def _sparse(values: Any) -> Any:
    if _numeric(values.dtype):
        return values
    rows = values.tocsr()
    return type(rows)((as_numbers(rows.data), rows.indices, rows.indptr), shape=rows.shape)


def without_masks(values: Any) -> Any:
    """Put None where an array is masked; anything else comes back as it is."""
    if not isinstance(values, np.ma.MaskedArray) or values is np.ma.masked:
        return values
    if not np.ma.is_masked(values):
        return np.asarray(values)
    entries = np.asarray(values).astype(object)
    entries[np.ma.getmaskarray(values)] = None
    return entries


def _numeric(kind: Any) -> bool:
    return isinstance(kind, np.dtype) and kind.kind in "iufb"


def _number(entry: Any) -> float:
    try:
        if isinstance(entry, (complex, np.complexfloating)):
            entry = entry.real if entry.imag == 0 else np.nan
        elif not isinstance(entry, (Real, Decimal, np.bool_, str, bytes)):
            return np.nan
        return float(entry)
    except Exception:  # of more digits than are read, beyond the doubles: no number
        return np.nan


def labels_as_targets(y: NDArray[Any], classes: NDArray[Any]) -> FloatArray:
    """−1.0 and +1.0 for the two classes; NaN for every other label."""
    targets = np.full(len(y), np.nan)
    for label, target in zip(classes.tolist(), (-1.0, 1.0), strict=True):
        targets[_equal(y, label)] = target
    return targets


def labels_as_rows(y: NDArray[Any], classes: NDArray[Any]) -> FloatArray:
    """A row of targets for each class: +1.0 for its label, −1.0 for the other classes'; NaN for every other label."""
    found = np.array([_equal(y, label) for label in classes.tolist()])
    return np.where(found, 1.0, np.where(found.any(axis=0), -1.0, np.nan))


def _equal(y: NDArray[Any], label: Any) -> NDArray[np.bool_]:
    if y.dtype.kind == "O":
        return np.fromiter((_same(one, label) for one in y), dtype=bool, count=len(y))
    found = np.asarray(y == label)
    return found if found.shape == y.shape and found.dtype == bool else np.zeros(len(y), dtype=bool)


def _same(one: Any, other: Any) -> bool:
    try:
        # masked, or an array within an array, which may warn when it is compared
        return not isinstance(one, np.ndarray) and bool(one == other)
    except Exception:  # pandas' NA has no truth value, and a stranger may have no class
        return False
