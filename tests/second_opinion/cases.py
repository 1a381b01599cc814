"""Every case, and the names that must have one."""

from __future__ import annotations

from tests.second_opinion import (
    adaptive,
    allocation,
    batches,
    by_orders,
    chosen,
    composed,
    compositions,
    gaussian,
    objective,
    one_pair,
    posterior,
    published,
    rows,
    votes,
    wishart,
)
from tests.second_opinion.case import Case

_FAMILIES = (gaussian, batches, objective, allocation, compositions, adaptive, by_orders, chosen, composed, one_pair)
_FAMILIES += (posterior, published, rows, votes, wishart)
CASES: tuple[Case, ...] = tuple(case for family in _FAMILIES for case in family.CASES)
"""A family's file has its own `CASES`; a new file is named here."""
