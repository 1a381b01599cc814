"""The page's two examples: tables of invented people, made by code, with what is public about them typed in already.

They go the same way as somebody's own file: text of a CSV file, lines of the form, schema, fit. Their schema is public
because the code below is; their noise has a fixed seed, and the page says so.
"""

import functools
import io
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from objpert_core.estimators.own_table import LINEAR
from pages.own import form, jobs
from pages.own.form import CATEGORIES, LEFT_OUT, NUMBER, TARGET_NUMBER, TARGET_TWO, Line
from ui.jobs import moment

ROWS = 2000
SEED = 0
"""Of the invented people and of the noise of every fit to them."""


@dataclass(frozen=True)
class Example:
    """An invented table and what is public about it."""

    name: str  # inside a sentence
    lines: tuple[Line, ...]  # one a column, in the order of the file
    make: Callable[[np.random.Generator], dict[str, object]]  # makes the table

    def columns(self) -> list[dict[str, str]]:
        """What is public about each column, as texts."""
        names = {"Column": "column", "Role": "role", "Lowest": "low", "Highest": "high", "Categories": "categories"}
        return [{name: getattr(line, field) for name, field in names.items()} for line in self.lines]


def _loans(draw: np.random.Generator) -> dict[str, object]:
    """Who repaid a loan: income and age speak for it, payments missed before and the size of the loan against it."""
    age = draw.integers(18, 80, ROWS)
    income = np.clip(draw.normal(20 + 0.35 * age, 12), 0, 100).round(1)
    loan = np.clip(draw.gamma(2.0, 9.0, ROWS), 1, 80).round(1)
    missed = np.minimum(draw.poisson(1.2, ROWS), 8)
    work = draw.choice(["employed", "self-employed", "retired", "looking for work"], ROWS, p=[0.6, 0.15, 0.15, 0.1])
    owner = draw.choice(["no", "yes"], ROWS, p=[0.7, 0.3])
    score = 0.05 * (income - 35) - 0.06 * (loan - 18) - 0.9 * (missed - 1.2) + 0.7 * (owner == "yes") + 1.0
    score += np.select([work == "employed", work == "looking for work"], [0.4, -1.2], 0.0)
    repaid = np.where(draw.random(ROWS) < 1 / (1 + np.exp(-score)), "yes", "no")
    return {
        "person": np.arange(1, ROWS + 1),
        "age": age,
        "income": income,
        "loan": loan,
        "missed payments": missed,
        "work": work,
        "owns a home": owner,
        "repaid": repaid,
    }


def _rents(draw: np.random.Generator) -> dict[str, object]:
    """What a flat costs a month: by its size, its district, its floor and its year."""
    area = np.clip(draw.normal(68, 24, ROWS), 15, 160).round(0)
    rooms = np.clip(np.round(area / 26 + draw.normal(0, 0.5, ROWS)), 1, 6).astype(int)
    floor = draw.integers(0, 9, ROWS)
    built = draw.integers(1890, 2025, ROWS)
    district = draw.choice(["centre", "north", "south", "harbour"], ROWS, p=[0.25, 0.3, 0.3, 0.15])
    balcony = draw.choice(["no", "yes"], ROWS)
    rent = 190 + 9.2 * area + 14 * floor + 0.8 * (built - 1950) + 60 * (balcony == "yes")
    rent += np.select([district == "centre", district == "harbour", district == "north"], [260, 140, -90], 0)
    return {
        "flat": np.arange(1, ROWS + 1),
        "area": area.astype(int),
        "rooms": rooms,
        "floor": floor,
        "built": built,
        "district": district,
        "balcony": balcony,
        "rent": np.clip(rent + draw.normal(0, 90, ROWS), 150, 2500).round(0).astype(int),
    }


EXAMPLES = {
    "two": Example(
        "2,000 invented borrowers",
        (
            Line("person", LEFT_OUT),
            Line("age", NUMBER, "18", "100"),
            Line("income", NUMBER, "0", "100"),
            Line("loan", NUMBER, "0", "80"),
            Line("missed payments", NUMBER, "0", "8"),
            Line("work", CATEGORIES, categories="employed; self-employed; retired; looking for work"),
            Line("owns a home", CATEGORIES, categories="no; yes"),
            Line("repaid", TARGET_TWO, categories="no; yes"),
        ),
        _loans,
    ),
    "number": Example(
        "2,000 invented flats",
        (
            Line("flat", LEFT_OUT),
            Line("area", NUMBER, "15", "160"),
            Line("rooms", NUMBER, "1", "6"),
            Line("floor", NUMBER, "0", "10"),
            Line("built", NUMBER, "1880", "2030"),
            Line("district", CATEGORIES, categories="centre; north; south; harbour"),
            Line("balcony", CATEGORIES, categories="no; yes"),
            Line("rent", TARGET_NUMBER, "150", "2500"),
        ),
        _rents,
    ),
}


@functools.cache
def content(name: str) -> bytes:
    """The example's CSV file."""
    text = io.StringIO()
    pd.DataFrame(EXAMPLES[name].make(np.random.default_rng(SEED))).to_csv(text, index=False, lineterminator="\n")
    return text.getvalue().encode()


@functools.lru_cache(maxsize=100)
def fitted(name: str, epsilon: float, delta: float, also: tuple[str, ...] = (), model: str = LINEAR) -> jobs.Made:
    """The fit to an example at (ε, δ): its noise has the seed."""
    with moment():
        return jobs.made(asked(name, epsilon, delta, also, model), content(name))


def asked(name: str, epsilon: float, delta: float, also: tuple[str, ...], model: str) -> jobs.Ask:
    """The request for a fit to an example: its number of rows is public."""
    known = form.schema(EXAMPLES[name].lines).to_json()
    return jobs.asked(known, epsilon, delta, also, rows=ROWS, seed=SEED, model=model)
