"""Every case, and the names that must have one."""

from __future__ import annotations

from tests.second_opinion.case import Case
from tests.second_opinion.gaussian import CASES as GAUSSIAN
from tests.second_opinion.one_pair import CASES as ONE_PAIR
from tests.second_opinion.posterior import CASES as POSTERIOR
from tests.second_opinion.votes import CASES as VOTES
from tests.second_opinion.wishart import CASES as WISHART

CASES: tuple[Case, ...] = (
    *GAUSSIAN,
    *ONE_PAIR,
    *POSTERIOR,
    *VOTES,
    *WISHART,
)
"""A family's file has its own `CASES`; a new file is added here."""
