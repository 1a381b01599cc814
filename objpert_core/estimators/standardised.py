"""The common ground of estimators that may map rows before a fit: columns cut to public or private ranges, features
centred and scaled privately (docs/theorems.md, T45 and T47).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, NamedTuple, Self, TypeVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import validate_data

from objpert_core._validation import FloatArray, positive_integer
from objpert_core.accounting import (
    RangeNoise,
    Standardisation,
    full_standardisation,
    ranges_within_limits,
    recommended_ranges,
    recommended_standardisation,
)
from objpert_core.accounting.steps.standardisation import AS_THEY_ARE, standardisation_of_lengths
from objpert_core.blocks import Blocks, OnWorkers
from objpert_core.estimators.base import WithNeighbours
from objpert_core.estimators.cautions import warn_of_no_ranges, warn_of_sparse
from objpert_core.estimators.constraints import Constraint, or_none
from objpert_core.estimators.frames import naming_columns, one_row_like
from objpert_core.estimators.scoring import FLOATS, without_seed
from objpert_core.learning.output_perturbation import NEIGHBOURS
from objpert_core.learning.problem.rows import Rows
from objpert_core.learning.ranges import Ranges
from objpert_core.learning.release import Release
from objpert_core.learning.steps.stated import fingerprinted
from objpert_core.learning.streamed import Beside, Walked

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


class RowPlan(NamedTuple):
    """What is done to rows before the fit, by public numbers: ranges, their noise, centre and scales, the norm.

    Where there are both public ranges and noise, the noise is for the columns that are unknown; where all are known,
    for closer ranges within them.
    """

    declared: Ranges | None
    noise: RangeNoise | None
    standardisation: Standardisation
    row_norm: str


class StandardisesRows(WithNeighbours):
    """A linear model that may learn from rows which were cut to ranges, centred and scaled privately."""

    CONSTRAINTS: ClassVar[Mapping[str, Constraint]] = {
        "standardize": auto_or_plan,
        "public_rows": or_none(positive_integer),
        "feature_ranges": ranges_or_private,
    }

    def __init__(self, *, standardize: Any, public_rows: int | None, feature_ranges: Any, **shared: Any) -> None:
        super().__init__(**shared)
        self.standardize = standardize
        self.public_rows = public_rows
        self.feature_ranges = feature_ranges

    # Rows that are walked

    def _walked(self, blocks: Blocks, **options: Any) -> Walked:
        """See `LinearModel._walked`; a block is validated whenever it is walked, and named where it is refused."""
        self._check_walked(**options)
        return Walked(blocks.through(self._for_blocks(blocks)._validated_block))

    def _for_blocks(self, blocks: Blocks) -> Self:
        """This estimator where blocks are walked here; a copy that knows no seed where they lie on workers."""
        if not isinstance(blocks, OnWorkers):
            return self
        likes = blocks.each(partial(one_row_like, 0 if self._releases else 1))
        like = next((one for one in likes if one is not None), None)
        if like is not None:
            validate_data(self, like, dtype=FLOATS)
        if (labels := getattr(self, "classes", None)) is not None:
            self._encoded(np.asarray(labels))
        return without_seed(self)

    def _weights(self, targets: FloatArray, sample_weight: Any) -> FloatArray | None:
        """What each row's loss is multiplied by, from 0 to 1; None where all rows count alike."""
        return None

    def _validated_block(self, place: int, X: Any, y: Any, sample_weight: Any = None) -> tuple[Any, Beside]:
        given = X.shape[0]
        if given == 0 and not self._releases:
            return np.empty((0, 0)), Beside(np.empty(0), 0)
        if sample_weight is not None:
            self._check_together(**self._fit_options({"sample_weight": sample_weight}))
        try:
            # As in `fit_beside`: the settings there are not those of another thread, or of a worker.
            with np.errstate(all="ignore") if self._releases else nullcontext():
                validated = self._judged_row_by_row if self._releases else self._validated
                X, y = validated(X, y, reset=not hasattr(self, "n_features_in_"))
                targets = self._encoded(y)
                beside = Beside(targets, given, self._weights(targets, sample_weight))
                X, beside = beside.usable(X, releases=self._releases)
                with naming_columns(self):
                    Rows(X, "normalize")
        except ValueError as error:
            raise ValueError(f"block {place + 1}: {error}") from None
        return X, beside

    # What reads the number of rows

    @property
    def _left_to_rules(self) -> bool:
        """Whether neither regularisation nor noise was given; elsewhere "auto" standardises nothing."""
        raise NotImplementedError(f"{type(self).__name__} must say which parameters keep its rules off")

    @property
    def _lam_by_rule(self) -> bool:
        return self._left_to_rules

    @property
    def _composes(self) -> bool:
        """Whether a fit composes with private sums without losing much by it."""
        return True

    @property
    def _map_asked_for(self) -> bool:
        return not isinstance(self.standardize, str) and bool(self.standardize) and self.standardize != AS_THEY_ARE

    @property
    def _private_ranges(self) -> bool:
        if self.feature_ranges is None or isinstance(self.feature_ranges, str):
            return self.feature_ranges is not None
        return any(np.isnan(np.asarray(end, dtype=np.float64)).any() for end in self.feature_ranges)

    @property
    def _map_reads_rows(self) -> bool:
        """Whether the number of rows counts for the map: noisy sums are divided by it, and a rule may go by it."""
        return self._private_ranges or self._standardises

    @property
    def _standardises(self) -> bool:
        if self.standardize is None:
            return self._left_to_rules and self._declares_ranges and self._composes
        if isinstance(self.standardize, str):
            return self._left_to_rules and self.row_norm == "normalize" and self._composes
        return self._map_asked_for

    @property
    def _declares_ranges(self) -> bool:
        if self.feature_ranges is None or isinstance(self.feature_ranges, str):
            return False
        return not np.isnan(np.asarray(self.feature_ranges[0], dtype=np.float64)).all()

    @property
    def _goes_by_rows(self) -> bool:
        """Whether a rule goes by the number of rows, whatever it then says: also "too few for private ranges"."""
        return self._lam_by_rule or self._map_reads_rows

    def _reads_rows(self) -> bool:
        return self.public_rows is None and self._goes_by_rows

    def _warn_of_rows(self, given: Any, X: Any) -> None:
        super()._warn_of_rows(given, X)
        rows, columns = X.shape
        if sp.issparse(X) and rows * columns <= _FITS_INTO_MEMORY:
            counted, _ = self._rows_counted(rows)
            if self._standardisation(columns, False, counted).center_noise is not None:
                warn_of_sparse(self)

    def _check_together(self, **options: Any) -> None:
        super()._check_together(**options)
        if self._map_asked_for and self.row_norm != "normalize":
            raise ValueError(
                f"row_norm must be 'normalize' where standardize={self.standardize!r}, got {self.row_norm!r}: rows of "
                "different length are not centred"
            )

    def _rows_counted(self, given: int) -> tuple[int | None, bool]:
        """The number of rows for rules, of `given` ones (None where no rule uses it), and whether it was declared."""
        if not self._goes_by_rows:
            return None, False
        return (given, False) if self.public_rows is None else (int(self.public_rows), True)

    def _row_plan(self, columns: int, sparse: bool, rows: int | None) -> RowPlan:
        """What is done to rows, by public numbers and by whether rows are sparse: these have no ranges."""
        if self.feature_ranges is not None and sparse:
            raise ValueError(
                f"feature_ranges must be None for sparse rows, which a shift would fill, got {self.feature_ranges!r}"
            )
        declared, unknown = self._declared(columns)
        noise: RangeNoise | None = None
        if self._private_ranges:
            noise = self._by_rule(recommended_ranges, rows, unknown)
            declared = None if noise is None else declared
        if (declared or noise) and columns <= FEW_COLUMNS and not self._map_asked_for:
            return RowPlan(declared, noise, AS_THEY_ARE, "clip")
        by_rule = self._standardises and not isinstance(self.standardize, Standardisation)
        keep_lengths = declared is not None and by_rule
        if keep_lengths and noise is None:
            noise = self._by_rule(ranges_within_limits, rows, columns)
            keep_lengths = (
                noise is None or self.standardize is not None
            )  # None leaves rows in closer ranges as they are
        of_lengths = self._by_rule(standardisation_of_lengths, rows, columns) if keep_lengths else None
        if of_lengths is not None:
            return RowPlan(declared, noise, of_lengths, "clip")
        return RowPlan(declared, noise, self._standardisation(columns, sparse, rows), self.row_norm)

    def _declared(self, columns: int) -> tuple[Ranges | None, int]:
        """The public ranges, if some column has one, and the number of columns that have none."""
        if self.feature_ranges is None or isinstance(self.feature_ranges, str):
            return None, columns
        low, high = self.feature_ranges
        found = Ranges.declared(low, high, columns, names=_ENDS, unknown=True)
        unknown = int(found.unknown.sum())
        return (None if unknown == columns else found), unknown

    def _standardisation(self, columns: int, sparse: bool, rows: int | None) -> Standardisation:
        plan = self.standardize
        if not isinstance(plan, Standardisation):
            if plan is None or not self._standardises:
                return AS_THEY_ARE
            plan = self._by_rule(
                recommended_standardisation if isinstance(plan, str) else full_standardisation, rows, columns
            )
        return replace(plan, center_noise=None) if sparse else plan

    def _by_rule(self, rule: Callable[..., Chosen], *public: int | None, **more: Any) -> Chosen:
        """What a rule chooses for ε, δ, these public numbers and these neighbours."""
        neighbours = {"adjacency": NEIGHBOURS[self.adjacency], "rows_per_person": int(self.rows_per_person)}
        return rule(float(self.epsilon), float(self.delta), *public, **neighbours, **more)

    def _told_of_ranges(self, plan: RowPlan, rows: int | None, columns: int) -> None:
        if self._private_ranges and plan.noise is None:
            warn_of_no_ranges(self, rows, self._declared(columns)[1])

    def _record(self, release: Release[Any]) -> None:
        for name in fingerprinted():
            setattr(self, name, release.published.get(name))
        super()._record(release)
