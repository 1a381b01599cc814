"""The ground of estimators whose coefficients may have intervals: what these exclude, and their noise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from objpert_core.accounting import IntervalNoise, recommended_interval_noise
from objpert_core.accounting.objective.bounds import BOUND_REGISTRY
from objpert_core.accounting.steps.curvature import NO_INTERVALS
from objpert_core.estimators.constraints import Constraint
from objpert_core.estimators.standardised import AUTO, StandardisesRows
from objpert_core.estimators.summaries import WithSummary

SANDWICH = "sandwich"


def switch(name: str, value: Any) -> Any:
    """`value`; `ValueError` unless it is True, False or "sandwich"."""
    if isinstance(value, (bool, np.bool_)) or (isinstance(value, str) and value == SANDWICH):
        return value
    raise ValueError(f"{name} must be True, False or {SANDWICH!r}, got {value!r}")


class ReleasesCurvature(WithSummary, StandardisesRows):
    """A classifier by the logistic loss that may release its curvature after the fit."""

    CONSTRAINTS: ClassVar[Mapping[str, Constraint]] = {"intervals": switch}

    bound: str
    margin: float | None
    classes: Any
    class_weight: Any

    def __init__(self, *, intervals: Any, **shared: Any) -> None:
        super().__init__(**shared)
        self.intervals = intervals

    def _check_together(self, **options: Any) -> None:
        super()._check_together(**options)
        if not self.intervals:
            return
        if options.get("sample_weight") is not None:
            raise ValueError(f"sample_weight must be None where intervals={self.intervals!r}, got weights")
        entry = BOUND_REGISTRY[self.bound]
        for name, allowed, needed in (
            ("margin", not self.margin, "None or 0"),
            ("standardize", not self._map_asked_for, f"{AUTO!r} or False"),
            ("row_norm", self.feature_ranges is None or self.row_norm == "clip", "'clip' beside feature_ranges"),
            ("class_weight", self.class_weight is None, "None"),
            ("classes", self.classes is None or len(np.unique(np.asarray(self.classes))) == 2, "None or two labels"),
            ("bound", entry.has_losses or entry.has_rdp, "one with a privacy loss or a Rényi curve, to be composed,"),
        ):
            if not allowed:
                value = getattr(self, name)
                raise ValueError(f"{name} must be {needed} where intervals={self.intervals!r}, got {value!r}")

    @property
    def _goes_by_rows(self) -> bool:
        """A rule says by the number of rows whether intervals would say anything."""
        return super()._goes_by_rows or bool(self.intervals)

    def _interval_noise(self, rows: int | None, dimension: int, fits: int) -> IntervalNoise:
        if not self.intervals:
            return NO_INTERVALS
        if fits > 1:
            raise ValueError(f"classes must be two labels where intervals={self.intervals!r}, got {fits}")
        return self._by_rule(recommended_interval_noise, rows, dimension, sandwich=isinstance(self.intervals, str))
