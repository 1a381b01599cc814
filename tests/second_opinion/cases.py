"""Every case, and the names that must have one."""

from __future__ import annotations

from tests.second_opinion.case import Case
from tests.second_opinion.gaussian import CASES as GAUSSIAN

CASES: tuple[Case, ...] = (*GAUSSIAN,)
"""A family's file has its own `CASES`; a new file is added here."""
