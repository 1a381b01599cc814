"""What rows may weigh in a private fit: each row's own number, and a number for each class (docs/theorems.md, T48)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from objpert_core._validation import FloatArray, positive
from objpert_core.estimators.frames import as_column
from objpert_core.learning.problem.derived import members_of, weights_by_class
from objpert_core.learning.screening import as_numbers, without_masks

BALANCED = "balanced"
_MANY_SPREADS = 1.8  # fewer than 4 per cent of normal numbers are beyond


def class_weights(name: str, value: Any) -> Any:
    """`value`; `ValueError` unless it is None, "balanced" or a mapping of labels to finite numbers > 0."""
    if value is None or (isinstance(value, str) and value == BALANCED):
        return value
    weights = list(value.values()) if isinstance(value, Mapping) else []
    try:
        good = bool(weights) and all(positive(name, weight) for weight in weights)
    except ValueError:
        good = False
    if not good:
        raise ValueError(f"{name} must be None, 'balanced' or a dict of labels and finite numbers > 0, got {value!r}")
    return value


def weights_of_rows(model: Any, targets: FloatArray, sample_weight: Any) -> FloatArray | None:
    """What each row's loss is multiplied by, from 0 to 1; None where all rows count alike."""
    own = None
    if sample_weight is not None:
        own = _own_weights(sample_weight, targets.shape[-1], releases=model.on_error == "release")
    if not hasattr(model, "class_weight"):
        return own
    if own is not None and model.classes is None and not (members_of(targets) & (own > 0)).any(axis=1).all():
        raise ValueError(
            "sample_weight must be above 0 for a row of every class in y, got none for one class; name all with "
            "classes= to fit all the same"
        )
    if (shares := shares_of_classes(model)) is None:
        return own
    weights = weights_by_class(targets, shares)
    return weights if own is None else own * weights


def shares_of_classes(model: Any) -> FloatArray | None:
    """The public weights in the order of `classes_`, the largest 1; a label that is not named weighs 1 first."""
    if not isinstance(getattr(model, "class_weight", None), Mapping):
        return None
    labels = model.classes_.tolist()
    if strangers := [label for label in model.class_weight if label not in labels]:
        raise ValueError(f"class_weight must name labels in classes={labels!r} only, got {strangers[0]!r}")
    weights = np.array([float(model.class_weight.get(label, 1.0)) for label in labels])
    return np.asarray(weights / weights.max())


def by_label(model: Any, released: FloatArray | None) -> dict[str, Any]:
    """`class_weight_` of a model that has weights of classes: the public ones, or those that were released."""
    if not hasattr(model, "class_weight"):
        return {}
    shares = shares_of_classes(model) if released is None else released
    labels = model.classes_.tolist()
    return {"class_weight_": dict(zip(labels, [1.0] * len(labels) if shares is None else shares.tolist(), strict=True))}


def _own_weights(value: Any, rows: int, *, releases: bool) -> FloatArray:
    """Each row's own weight, shape (n,); with `releases` 0 where an entry is no weight: its row counts as none."""
    column = without_masks(as_column(value))
    if not isinstance(column, np.ndarray) and np.iterable(column):
        entries = list(column)
        column = np.empty(len(entries), dtype=object)
        column[:] = entries
    if np.shape(column) != (rows,):
        raise ValueError(f"sample_weight must be one number for each of X's {rows} rows, got shape {np.shape(column)}")
    weights = np.asarray(as_numbers(column), dtype=np.float64)
    good = (weights >= 0) & (weights <= 1)
    if releases:
        return np.where(good, weights, 0.0)
    if not good.all():
        row = int(np.argmin(good))
        raise ValueError(
            "sample_weight must hold numbers from 0 to 1, each by its own row alone (divide by a public maximum), got "
            f"{weights[row]:g} in row {row}"
        )
    return weights


def only_answer(model: Any) -> int | None:
    """The place of the class that a model of two classes gives nearly every row, by its released numbers; None where
    few directions of a row outweigh the intercept, or nothing is known of the rows' centre.

    Rows that are centred and of norm 1 have scores that are spread by ‖w‖/√d about the intercept.
    """
    if len(model.classes_) != 2 or model.center_ is None:
        return None
    spread = float(np.linalg.norm(model.coef_)) / math.sqrt(model.n_features_in_)
    intercept = float(model.intercept_[0])
    return int(intercept > 0) if abs(intercept) > _MANY_SPREADS * spread else None
