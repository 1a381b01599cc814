"""Every case, and the names that must have one."""

from __future__ import annotations

from tests.second_opinion import allocation, batches, compositions, further, gaussian, objective
from tests.second_opinion.case import Case

CASES: tuple[Case, ...] = tuple(
    case for family in (gaussian, batches, objective, allocation, compositions, further) for case in family.CASES
)
"""A family's file has its own `CASES`; a new file is named here."""
