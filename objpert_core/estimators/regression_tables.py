"""Coefficients of private models as papers print regressions: a column a model, errors beneath the coefficients."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from objpert_core import tables
from objpert_core.accounting.numerics.rounding import promised
from objpert_core.estimators.summaries import Scaler

_DIGITS = 2  # of a standard error; its coefficient has as many decimals


def regression_table(
    models: Any, form: str = "latex", *, scaler: Scaler | None = None, caption: str = "", label: str = ""
) -> str:
    r"""Write coefficients with standard errors in parentheses beneath, and each model's ε and δ at the foot.

    The numbers are those of `summary`, without the intercept. There are no stars: several p-values at once need a
    correction, and the p-values of a model that was chosen among several do not hold.

    Parameters
    ----------
    models : fitted or released model with intervals, or a mapping of such by the columns' heads
        `ValueError` for a model without intervals.
    form : {"latex", "markdown", "text", "csv", "json"}, default="latex"
        LaTeX is a ``table`` for plain pdfLaTeX with the packages ``booktabs`` and ``array``.
    scaler : PublicRangeScaler or TableSchema, optional
        As for `summary`: coefficients are then in the columns' own units.
    caption, label : str
        The caption is text, not LaTeX; only LaTeX has a label.

    Examples
    --------
    >>> import numpy as np
    >>> from objpert_core.estimators import ObjPertLogisticRegression
    >>> X = np.random.default_rng(0).uniform(-0.5, 0.5, size=(4000, 2))
    >>> y = np.random.default_rng(1).random(4000) < 1 / (1 + np.exp(-4 * X[:, 0]))
    >>> shared = {"intervals": True, "classes": [False, True], "public_rows": 4000, "advanced": {"row_norm": "clip"}}
    >>> model = ObjPertLogisticRegression(**shared, random_state=0).fit(X, y)
    >>> print(regression_table(model, "text"), end="")
        coefficient
    x0         3.98
             (0.16)
    x1         0.07
             (0.14)
    ε             1
    δ          1e-5
    """
    columns = dict(models) if isinstance(models, Mapping) else {"coefficient": models}
    if not columns:
        raise ValueError("models must be a fitted model or a mapping of at least one, got none")
    cells: dict[str, dict[str, tuple[str, str]]] = {}
    foot: dict[str, dict[str, str]] = {"ε": {}, "δ": {}}
    for head, model in columns.items():
        if not getattr(model, "has_probabilities", False):
            raise ValueError(f"models must be classifiers fitted with intervals, got {type(model).__name__}")
        table = model.summary(scaler=scaler)
        for name, coef, error in zip(table.index, table["coef"], table["std err"], strict=True):
            cells.setdefault(str(name), {})[head] = _written(float(coef), float(error))
        foot["ε"][head], foot["δ"][head] = promised(model.privacy_.epsilon), promised(model.privacy_.delta)
    rows: list[dict[str, str]] = []
    for name, found in cells.items():
        for line in (0, 1):
            rows.append({"": "" if line else name} | {head: found.get(head, ("", ""))[line] for head in columns})
    rows += [{"": name, **values} for name, values in foot.items()]
    return tables.write(rows, form, caption=caption, label=label)


def _written(coef: float, error: float) -> tuple[str, str]:
    decimals = max(0, _DIGITS - 1 - math.floor(math.log10(error)))
    return f"{coef:.{decimals}f}", f"({error:.{decimals}f})"
