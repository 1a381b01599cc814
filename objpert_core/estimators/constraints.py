"""What a parameter may be: a constraint takes a parameter's name and value and raises `ValueError` if it is not met."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from objpert_core._validation import at_least, choice, finite, length

Constraint = Callable[[str, Any], Any]


def or_none(constraint: Constraint) -> Constraint:
    """`constraint`, met by None as well."""
    return lambda name, value: None if value is None else constraint(name, value)


def one_of(*allowed: str) -> Constraint:
    """Met by these strings."""
    return lambda name, value: choice(name, value, allowed)


def number_from(least: float) -> Constraint:
    """Met by finite numbers >= `least`."""
    return lambda name, value: at_least(name, value, least)


def range_argument(name: str, value: Any) -> tuple[float, float]:
    """`value` as (low, high); `ValueError` unless it is two finite numbers, the first of them below the second."""
    if not isinstance(value, (tuple, list, np.ndarray)) or len(value) != 2:
        raise ValueError(f"{name} must be None or a pair (low, high), got {value!r}")
    low, high = finite(f"{name}[0]", value[0]), finite(f"{name}[1]", value[1])
    length(f"half the width of {name}", high / 2 - low / 2)
    return low, high


def several_labels(name: str, value: Any, most: float = math.inf) -> np.ndarray | None:
    """The labels of `value`, sorted; None for None. `ValueError` unless there are two to `most` different ones."""
    if value is None:
        return None
    labels = np.unique(np.asarray(value))
    if not 2 <= len(labels) <= most:
        raise ValueError(f"{name} must be None or two{'' if most == 2 else ' or more'} different labels, got {value!r}")
    return labels


_LAM = {
    "lam": "λ is `lam`, and privacy may need more of it",
    "noise_ratio": "λ follows from `epsilon`, `delta` and `noise_ratio`",
    "alpha": "the penalty is `alpha` times ‖θ‖₁",
    "lams": "the candidates for λ are `lams`",
    "accounting": "λ follows from `epsilon`, `delta` and a noisy eigenvalue",
    "radius": "the model stays in the ball of `radius`, and there is no penalty to weigh",
    "": "there is no penalty to weigh",
}
_PENALTY = {
    "alpha": "the penalty is `alpha` times ‖θ‖₁",
    **dict.fromkeys(("lam", "noise_ratio", "accounting"), "the penalty is λ/2‖θ‖²; QOPLasso has ‖θ‖₁"),
    "": "there is no penalty; QOPLasso has ‖θ‖₁",
}
_END = {
    "tau": "the fit ends at the gradient norm `tau`, which privacy pays for",
    "epochs": "`epochs` and `batch_size` fix the number of steps beforehand",
    "schedule": "`schedule` fixes the number of steps beforehand",
    "solver": "the solver goes as far as the mechanism needs",
    "": "nothing iterates",
}
_RANGE = {
    "target_range": "the range of the targets is `target_range`, (low, high)",
    "": "its targets have no range",
}
_HABITS: Mapping[str, Mapping[str, str]] = {
    "adjacency": {"": "one row is replaced, because phases split a known number of rows"},
    "C": {**_LAM, "lam": "λ is `lam`, about 1/C, and privacy may need more of it"},
    "alpha": _LAM,
    "class_weight": {"": "ObjPertLogisticRegression and ObjPertSVC weigh classes"},
    "dual": {"": "privacy needs the primal problem"},
    "gamma": {"": "the model is linear"},
    "kernel": {"": "the model is linear; put a transformer by public numbers in front"},
    "l1_ratio": _PENALTY,
    "max_iter": _END,
    "multi_class": {
        "": "ObjPertLogisticRegression learns more than two classes, one against the rest; other classifiers learn two"
    },
    "n_jobs": {"": "one fit is one task"},
    "penalty": _PENALTY,
    "public_rows": {"": "no rule of this model goes by the number of rows"},
    "tol": _END,
    "target_offset": _RANGE,
    "target_scale": _RANGE,
    "target_bound": _RANGE,
    "residual_bound": _RANGE,
    "verbose": {"": "`fit(..., callback=)` is called after every iteration"},
    "warm_start": {"": "a start from an older fit would spend that fit's privacy again"},
}
"""What scikit-learn's linear models have, or models here had, and what to know where a model has no such parameter: the
first answer whose key is a parameter of the model, or "".
"""


def refuse_habits(kind: Any, parameters: Mapping[str, Any]) -> None:
    """`TypeError` for the first of `parameters` that scikit-learn's models have and this kind has not."""
    own = {*inspect.signature(kind.__init__).parameters, *getattr(kind, "ADVANCED", ())}
    for name in parameters:
        if name in _HABITS and name not in own:
            answer = next(words for needed, words in _HABITS[name].items() if not needed or needed in own)
            raise TypeError(f"{kind.__name__} has no parameter {name!r}: {answer}")


def refuse_weights(model: Any, others: Mapping[str, Any]) -> None:
    """Refuse arguments of `fit` that are not its own; a `TypeError` explains why a model takes no weights."""
    for name, value in others.items():
        if name == "sample_weight" and value is None:
            continue
        model.forget()
        if name != "sample_weight":
            raise TypeError(f"{type(model).__name__}.fit() got an unexpected keyword argument {name!r}")
        if not getattr(model, "weighs", False):
            raise TypeError(
                f"sample_weight must be None in a fit of {type(model).__name__}: a weight changes how far one row "
                "moves the sum, and this promise counts every row once. ObjPertLogisticRegression takes weights up to "
                "1, and score takes any"
            )
        if getattr(model, "intervals", False):
            raise ValueError(f"sample_weight must be None where intervals={model.intervals!r}, got weights")
