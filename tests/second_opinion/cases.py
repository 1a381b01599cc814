"""Every case, and the names that must have one."""

from __future__ import annotations

from tests.second_opinion.batches import CASES as BATCHES
from tests.second_opinion.case import Case
from tests.second_opinion.gaussian import CASES as GAUSSIAN
from tests.second_opinion.objective import CASES as OBJECTIVE

CASES: tuple[Case, ...] = (*GAUSSIAN, *BATCHES, *OBJECTIVE)
"""A family's file has its own `CASES`; a new file is added here."""
