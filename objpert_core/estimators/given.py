"""What a fit is given: rows and targets, checked whole or judged row by row, in memory or a block at a time."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any, TypeVar

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.base import is_regressor
from sklearn.utils.validation import check_consistent_length, column_or_1d, validate_data

from objpert_core.blocks import Blocks, OnWorkers
from objpert_core.estimators.constraints import refuse_weights
from objpert_core.estimators.frames import as_column, checked_rows, checked_targets, naming_columns, no_row_of
from objpert_core.estimators.scoring import FLOATS, without_seed
from objpert_core.estimators.tables import KnownTable
from objpert_core.estimators.weights import shares_of_classes, weights_of_rows
from objpert_core.learning.problem.rows import TableRows, by_rows, rows_of
from objpert_core.learning.row_sources import Beside, Walked
from objpert_core.learning.screening import as_numbers, without_masks

Model = TypeVar("Model", bound=Any)


def rows_and_targets(model: Any, X: Any, y: Any, *, reset: bool = True) -> tuple[Any, np.ndarray]:
    """`X` and `y` as arrays; with ``on_error="release"`` without any check that one row could fail."""
    judged = model.on_error == "release"
    if judged and y is None:
        raise ValueError("y must be given, got None")
    if model.reads_tables:
        rows = _of_table(model, X, judged=judged, reset=reset)
    else:
        rows = by_rows(X) if sp.issparse(X) else checked_rows(X, entries=not judged)
    told: dict[str, Any] = {"accept_sparse": "csr", "ensure_all_finite": False, "reset": reset}
    if not judged:
        numeric = is_regressor(model)
        X, y = validate_data(model, rows, checked_targets(y), dtype=FLOATS, y_numeric=numeric, **told)
        return (TableRows(X) if model.reads_tables else X), y
    X = validate_data(model, as_numbers(rows), dtype=np.float64, ensure_min_samples=0, **told)
    y = without_masks(as_column(y))
    if isinstance(getattr(y, "dtype", None), np.dtype):
        y = np.asarray(y)  # scikit-learn's refusal of complex numbers would print them
        y = column_or_1d(as_numbers(y) if y.dtype.kind == "c" else y, warn=True)
    else:  # each entry keeps its own type, whatever the others are
        labels = list(y)
        y = np.empty(len(labels), dtype=object)
        y[:] = labels
    check_consistent_length(X, y)
    return (TableRows(X) if model.reads_tables else X), as_numbers(y) if is_regressor(model) else y


def _of_table(model: Any, X: Any, *, judged: bool, reset: bool) -> Any:
    """The numbers of a raw table, with its columns' names; with `reset` the model keeps what is public of it."""
    if reset:
        model.columns_ = KnownTable.of(X, model.columns, model.missing_words)
    values, names = model.columns_.numbers(X, judged=judged), model.columns_.names
    return values if names is None else pd.DataFrame(values, columns=list(names))


def silently(model: Any) -> AbstractContextManager[Any]:
    """Where floating-point errors are set to warn or to raise, one would tell of the row that it came from."""
    return np.errstate(all="ignore") if model.on_error == "release" else nullcontext()


def walked(model: Any, blocks: Blocks) -> Walked:
    """Blocks as a fit walks them: a block is checked whenever it is walked, and named where it is refused."""
    if not model.walks:
        raise ValueError(f"X must be rows in memory for {type(model).__name__}, got {type(blocks).__name__}")
    if (labels := getattr(model, "classes", ())) is None:
        raise ValueError("classes must be the labels where X is Blocks, got None")
    if len(labels):
        model.encoded(np.asarray(labels))  # names of classes, and their weights, are looked at before any row
        shares_of_classes(model)
    return Walked(blocks.through(partial(_block, _for_blocks(model, blocks))))


def _for_blocks(model: Model, blocks: Blocks) -> Model:
    """The model where blocks are walked here; a copy that knows no seed where they lie on workers."""
    if not isinstance(blocks, OnWorkers):
        return model
    likes = blocks.each(partial(no_row_of, 0 if model.on_error == "release" else 1))
    like = next((one for one in likes if one is not None), None)
    if like is not None:
        columns = _of_table(model, like, judged=False, reset=True) if model.reads_tables else like
        validate_data(model, columns, accept_sparse="csr", dtype=FLOATS, ensure_min_samples=0)
    return without_seed(model)


def _block(model: Any, place: int, X: Any, y: Any, sample_weight: Any = None) -> tuple[Any, Beside]:
    given, releases = X.shape[0], model.on_error == "release"
    if given == 0 and not releases:
        return np.empty((0, 0)), Beside(np.empty(0), 0)
    refuse_weights(model, {"sample_weight": sample_weight})
    try:
        with silently(model):  # settings of another thread, or of a worker
            X, y = rows_and_targets(model, X, y, reset=not hasattr(model, "n_features_in_"))
            targets = model.encoded(y)
            beside = Beside(targets, given, weights_of_rows(model, targets, sample_weight))
            X, beside = beside.usable(X, releases=releases)
            with naming_columns(model):
                rows_of(X, "normalize", 0.0)
    except ValueError as error:
        raise ValueError(f"block {place + 1}: {error}") from None
    return X, beside
