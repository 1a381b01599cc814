"""The common ground of estimators that may centre and scale features privately before a fit (docs/theorems.md, T45)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from objpert_core._validation import positive_integer
from objpert_core.accounting import Standardisation, full_standardisation, recommended_standardisation
from objpert_core.accounting.objective.standardisation import AS_THEY_ARE
from objpert_core.estimators.base import WithNeighbours
from objpert_core.estimators.cautions import warn_of_sparse
from objpert_core.estimators.constraints import Constraint, or_none
from objpert_core.learning.output_perturbation import NEIGHBOURS
from objpert_core.learning.release import Release

AUTO = "auto"
_FITS_INTO_MEMORY = 2**26  # numbers: half a gigabyte


def auto_or_plan(name: str, value: Any) -> Any:
    """`value`; `ValueError` unless it is "auto", True, False or a `Standardisation`."""
    if isinstance(value, (bool, np.bool_, Standardisation)) or (isinstance(value, str) and value == AUTO):
        return value
    raise ValueError(f"{name} must be 'auto', True, False or a Standardisation, got {value!r}")


class StandardisesRows(WithNeighbours):
    """A linear model that may learn from rows which were centred and scaled privately.

    A subclass says in `_left_to_rules` whether its parameters leave regularisation and noise to rules.
    """

    CONSTRAINTS: ClassVar[Mapping[str, Constraint]] = {
        "standardize": auto_or_plan,
        "public_rows": or_none(positive_integer),
    }

    def __init__(self, *, standardize: Any, public_rows: int | None, **shared: Any) -> None:
        super().__init__(**shared)
        self.standardize = standardize
        self.public_rows = public_rows

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
    def _map_reads_rows(self) -> bool:
        """Whether the number of rows counts for the map: noisy sums are divided by it, and a rule may go by it."""
        if isinstance(self.standardize, str):
            return self._left_to_rules and self.row_norm == "normalize" and self._composes
        return self._map_asked_for

    def _reads_rows(self) -> bool:
        return self.public_rows is None and (self._lam_by_rule or self._map_reads_rows)

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
        if not (self._lam_by_rule or self._map_reads_rows):
            return None, False
        return (given, False) if self.public_rows is None else (int(self.public_rows), True)

    def _standardisation(self, columns: int, sparse: bool, rows: int | None) -> Standardisation:
        """The noise of centre and scales, by public numbers and by whether rows are sparse: these are not centred."""
        plan = self.standardize
        if not isinstance(plan, Standardisation):
            if not self._map_reads_rows:
                return AS_THEY_ARE
            assert rows is not None
            rule = recommended_standardisation if isinstance(plan, str) else full_standardisation
            plan = rule(
                float(self.epsilon),
                float(self.delta),
                rows,
                columns,
                adjacency=NEIGHBOURS[self.adjacency],
                rows_per_person=int(self.rows_per_person),
            )
        return replace(plan, center_noise=None) if sparse else plan

    def _record(self, release: Release[Any]) -> None:
        self.center_, self.scale_ = release.center, release.scale
        super()._record(release)
