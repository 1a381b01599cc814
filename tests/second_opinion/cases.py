"""Every case, and the names that must have one."""

from __future__ import annotations

from tests.second_opinion.batches import CASES as BATCHES
from tests.second_opinion.case import Case
from tests.second_opinion.further import CASES as FURTHER
from tests.second_opinion.gaussian import CASES as GAUSSIAN

CASES: tuple[Case, ...] = (*GAUSSIAN, *BATCHES, *FURTHER)
"""A family's file has its own `CASES`; a new file is added here."""
