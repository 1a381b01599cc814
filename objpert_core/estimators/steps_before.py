"""What is done to rows before a fit, chosen by settings and public numbers: columns cut to public or private ranges,
features centred and scaled privately (docs/theorems.md, T45 and T47).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

import numpy as np

from objpert_core.accounting import (
    RangeNoise,
    Standardisation,
    full_standardisation,
    ranges_within_limits,
    recommended_ranges,
    recommended_standardisation,
)
from objpert_core.accounting.steps.base import Step, asked
from objpert_core.accounting.steps.standardisation import AS_THEY_ARE, standardisation_of_lengths
from objpert_core.accounting.terms import Terms
from objpert_core.estimators.cautions import Caution, no_ranges, not_centred, rows_read_off
from objpert_core.estimators.parameters import Settings
from objpert_core.estimators.recipe import Public
from objpert_core.learning.output_perturbation import NEIGHBOURS
from objpert_core.learning.steps.base import Outcome, Taken, kind_of
from objpert_core.learning.steps.ranges import Ranges

Chosen = TypeVar("Chosen")
AUTO = "auto"
PRIVATE = "private"
FEW_COLUMNS = 2
"""Up to so many columns in ranges keep their lengths: of normalised rows little more than signs would be left."""
_ENDS = ("feature_ranges[0]", "feature_ranges[1]")
_FITS_INTO_MEMORY = 2**26  # numbers: half a gigabyte


def auto_or_plan(name: str, value: Any) -> Any:
    """`value`; `ValueError` unless it is None, "auto", True, False or a `Standardisation`."""
    if (
        value is None
        or isinstance(value, (bool, np.bool_, Standardisation))
        or (isinstance(value, str) and value == AUTO)
    ):
        return value
    raise ValueError(f"{name} must be None, 'auto', True, False or a Standardisation, got {value!r}")


def ranges_or_private(name: str, value: Any) -> Any:
    """`value`; `ValueError` unless it is None, "private" or a pair of lower and upper ends, NaN for unknown ones."""
    if value is None or (isinstance(value, str) and value == PRIVATE):
        return value
    if isinstance(value, (tuple, list, np.ndarray)) and len(value) == 2:
        Ranges.declared(value[0], value[1], max(map(np.size, value)), names=_ENDS, unknown=True)
        return value
    raise ValueError(f"{name} must be None, 'private' or a pair (low, high), got {value!r}")


def further_steps(name: str, value: Any) -> tuple[Step, ...]:
    """`value` as a tuple; `ValueError` unless it is a sequence of steps from outside of this package."""
    given: Any = value if isinstance(value, (tuple, list)) else [None]
    if not all(type(step) in Taken.KINDS and not kind_of(step).fields for step in given):
        raise ValueError(f"{name} must be a sequence of steps that no parameter asks for, got {value!r}")
    return tuple(value)


class RowPlan(NamedTuple):
    """What is done to rows before the fit: what is declared, noise of ranges or pieces, centre and scales, the norm.

    Where there are both public ranges and noise, the noise is for the columns that are unknown; where all are known,
    for closer ranges within them.
    """

    declared: Outcome | None
    noise: Step | None
    standardisation: Standardisation
    row_norm: str
    cautions: tuple[Caution, ...] = ()

    @property
    def features(self) -> int | None:
        """How many columns the rows will have that are learned from, or about; None for as many as are given."""
        return None if self.declared is None else self.declared.features

    @property
    def told(self) -> str:
        """What is done to columns by what is declared of them, in words; no words for nothing."""
        if isinstance(self.declared, Ranges):
            return "cut to public ranges"
        return "" if self.declared is None else str(self.declared)

    @property
    def steps(self) -> tuple[Step, ...]:
        """What is released before the fit for the sake of the rows."""
        return asked(self.noise, self.standardisation)

    @property
    def released(self) -> tuple[str, ...]:
        """What the promise covers of it, in words."""
        parts = (getattr(self.noise, "name", ""), self.noise), ("centre", self.standardisation.center_noise)
        return tuple(name for name, noise in (*parts, ("scales", self.standardisation.scale_noise)) if noise)


# What the settings ask for, before any rule


def asks_for_map(s: Settings) -> bool:
    """Whether rows are to be centred and scaled whatever the rules say."""
    return not isinstance(s.standardize, str) and bool(s.standardize) and s.standardize != AS_THEY_ARE


def asks_for_ranges(s: Settings) -> bool:
    """Whether some column is to get a private range."""
    if s.feature_ranges is None or isinstance(s.feature_ranges, str):
        return s.feature_ranges is not None
    return any(np.isnan(np.asarray(end, dtype=np.float64)).any() for end in s.feature_ranges)


def _declares_ranges(s: Settings) -> bool:
    if s.feature_ranges is None or isinstance(s.feature_ranges, str):
        return False
    return not np.isnan(np.asarray(s.feature_ranges[0], dtype=np.float64)).all()


def _standardises(s: Settings, by_rule: bool) -> bool:
    """Whether rows may be centred and scaled; `by_rule`: whether a rule may decide that they are."""
    if s.standardize is None:
        return by_rule and _declares_ranges(s)
    return by_rule and s.row_norm == "normalize" if isinstance(s.standardize, str) else asks_for_map(s)


def reads_rows(s: Settings, by_rule: bool) -> bool:
    """Whether the number of rows counts for rows' ranges, centre, scales or other steps, also where it is too small."""
    return asks_for_ranges(s) or _standardises(s, by_rule) or any(kind_of(step).reads_rows for step in s.steps)


# What the rules choose


def by_rule_for(s: Settings, rule: Callable[..., Chosen], *public: int, **more: Any) -> Chosen:
    """What a rule chooses for ε, δ, these public numbers and these neighbours."""
    neighbours = {"adjacency": NEIGHBOURS[s.adjacency], "rows_per_person": s.rows_per_person}
    return rule(s.epsilon, s.delta, *public, **neighbours, **more)


def row_plan(s: Settings, public: Public, *, by_rule: bool, name: str) -> RowPlan:
    """What is done to rows; `by_rule`: whether rules may choose to centre and scale them. `name` is the model's."""
    if s.feature_ranges is not None and public.sparse:
        raise ValueError(
            f"feature_ranges must be None for sparse rows, which a shift would fill, got {s.feature_ranges!r}"
        )
    rows, columns = s.public_rows or public.rows, public.columns
    declared, unknown = _declared(s, columns)
    noise: RangeNoise | None = None
    cautions: tuple[Caution, ...] = ()
    if asks_for_ranges(s):
        noise = by_rule_for(s, recommended_ranges, rows, unknown)
        if noise is None:
            declared, cautions = None, (no_ranges(name, s.epsilon, rows, unknown),)
    if (declared or noise) and columns <= FEW_COLUMNS and not asks_for_map(s):
        return RowPlan(declared, noise, AS_THEY_ARE, "clip", cautions)
    keep_lengths = declared is not None and _standardises(s, by_rule) and not isinstance(s.standardize, Standardisation)
    if keep_lengths and noise is None:
        noise = by_rule_for(s, ranges_within_limits, rows, columns)
        keep_lengths = noise is None or s.standardize is not None  # None leaves rows in closer ranges as they are
    if keep_lengths and (of_lengths := by_rule_for(s, standardisation_of_lengths, rows, columns)) is not None:
        return RowPlan(declared, noise, of_lengths, "clip", cautions)
    plan = _standardisation(s, rows, columns, by_rule)
    if public.sparse and plan.center_noise is not None:
        if public.rows * columns <= _FITS_INTO_MEMORY:
            cautions = (*cautions, not_centred(name))
        plan = replace(plan, center_noise=None)
    return RowPlan(declared, noise, plan, s.row_norm, cautions)


def _declared(s: Settings, columns: int) -> tuple[Ranges | None, int]:
    """The public ranges, if some column has one, and the number of columns that have none."""
    if s.feature_ranges is None or isinstance(s.feature_ranges, str):
        return None, columns
    low, high = s.feature_ranges
    found = Ranges.declared(low, high, columns, names=_ENDS, unknown=True)
    unknown = int(found.unknown.sum())
    return (None if unknown == columns else found), unknown


def _standardisation(s: Settings, rows: int, columns: int, by_rule: bool) -> Standardisation:
    if isinstance(s.standardize, Standardisation):
        return s.standardize
    if s.standardize is None or not _standardises(s, by_rule):
        return AS_THEY_ARE
    rule = recommended_standardisation if isinstance(s.standardize, str) else full_standardisation
    return by_rule_for(s, rule, rows, columns)


def terms_of(s: Settings, public: Public, *steps: Step | None, reads_rows: bool, **more: Any) -> Terms:
    """The promise of a fit with these steps and the settings' own; it names the rows' number where a rule reads it."""
    rows, declared = s.public_rows or public.rows, s.public_rows is not None
    numbers: dict[str, Any] = {"public_rows": rows, "rows_declared": declared} if reads_rows else {}
    beside = asked(*steps, *s.steps)
    return Terms(s.epsilon, s.delta, NEIGHBOURS[s.adjacency], s.rows_per_person, steps=beside, **numbers, **more)


def rows_cautions(s: Settings, name: str, reads_rows: bool) -> tuple[Caution, ...]:
    """What has to be said where a rule reads the number of rows off the data."""
    return (rows_read_off(name),) if reads_rows and s.public_rows is None else ()
