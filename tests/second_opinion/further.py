"""The cases of what is neither noise on a value nor a sampled step."""

from __future__ import annotations

from tests.second_opinion.adaptive import CASES as ADAPTIVE
from tests.second_opinion.by_orders import CASES as BY_ORDERS
from tests.second_opinion.case import Case
from tests.second_opinion.chosen import CASES as CHOSEN
from tests.second_opinion.composed import CASES as COMPOSED
from tests.second_opinion.one_pair import CASES as ONE_PAIR
from tests.second_opinion.posterior import CASES as POSTERIOR
from tests.second_opinion.published import CASES as PUBLISHED
from tests.second_opinion.rows import CASES as ROWS
from tests.second_opinion.votes import CASES as VOTES
from tests.second_opinion.wishart import CASES as WISHART

CASES: tuple[Case, ...] = (
    *ADAPTIVE,
    *BY_ORDERS,
    *CHOSEN,
    *COMPOSED,
    *ONE_PAIR,
    *POSTERIOR,
    *PUBLISHED,
    *ROWS,
    *VOTES,
    *WISHART,
)
