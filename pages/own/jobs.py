"""The page's work: read a table by what is public about it, fit once, keep what may be published. No Streamlit here.

Whatever goes wrong is part of the outcome, as one sentence for whoever holds the table. Nothing is raised, since an
error may hold values of the table and what is raised in a job may be logged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from objpert_core import ConvergenceError
from objpert_core.datasets import Dialect, NumericTarget, TableSchema, read_table
from objpert_core.estimators import ObjPertLogisticRegression, ObjPertRegressor
from objpert_core.estimators.released import Released, released

NOT_CONVERGED = "The solver did not get there: nothing was released. That it failed is not covered by a certificate."
UNEXPECTED = "Something unexpected went wrong while the table was fitted: nothing was released."


@dataclass(frozen=True)
class Held:
    """A table's bytes, on their way to a fit; it shows nothing of them."""

    content: bytes = field(repr=False)


@dataclass(frozen=True)
class Ask:
    """Everything public that decides a fit.

    Attributes
    ----------
    text : str
        The schema, as JSON.
    epsilon, delta : float
    rows : int or None
        The number of rows, where one is known beforehand.
    seed : int or None
        Of the noise; None takes it from the operating system.
    dialect : Dialect
        How the file is written, as far as its owner said so.
    """

    text: str = field(repr=False)
    epsilon: float
    delta: float
    rows: int | None = None
    seed: int | None = None
    dialect: Dialect = field(default_factory=Dialect)

    @cached_property
    def schema(self) -> TableSchema:
        """What is public about the table."""
        return TableSchema.from_json(self.text)


@dataclass(frozen=True)
class Made:
    """A fit that was made: what may be published, and what is for the table's holder alone.

    Attributes
    ----------
    ask : Ask
    model : Released
        With its public certificate.
    names : tuple of str
        The features, as the schema names them.
    notes : tuple of str
        What was done to the values on reading: outside of the certificate.
    """

    ask: Ask
    model: Released
    names: tuple[str, ...]
    notes: tuple[str, ...] = field(default=(), repr=False)


@dataclass(frozen=True)
class Outcome:
    """A fit, or one sentence that says why there is none."""

    made: Made | None = None
    refused: str = field(default="", repr=False)


def estimator(ask: Ask) -> Any:
    """The estimator that a request asks for; `pages.own.snippets` writes the same as text."""
    shared: dict[str, Any] = {
        "epsilon": ask.epsilon,
        "delta": ask.delta,
        "public_rows": ask.rows,
        "random_state": ask.seed,
    }
    target = ask.schema.target
    if isinstance(target, NumericTarget):
        return ObjPertRegressor(target_offset=target.offset, target_scale=target.scale, **shared)
    return ObjPertLogisticRegression(classes=target.classes, **shared)


def made(ask: Ask, held: Held) -> Made:
    """Read and fit, here and now; raises what the reader and the estimator raise."""
    table = read_table(held.content, ask.schema, ask.dialect)
    model = estimator(ask).fit(table.X, table.y)
    return Made(ask, released(model), table.feature_names, table.notes)


def fit(ask: Ask, held: Held, should_stop: Callable[[], bool]) -> Iterator[Outcome]:
    """The same as a job: one outcome, or none of a fit that was stopped before it was done."""
    try:
        found = made(ask, held)
        if not should_stop():
            yield Outcome(found)
    except ConvergenceError:
        yield Outcome(refused=NOT_CONVERGED)
    except ValueError as error:
        yield Outcome(refused=str(error))
    except MemoryError:
        yield Outcome(refused="The server ran out of memory for this table: nothing was released.")
    except Exception:  # its text may hold values of the table
        yield Outcome(refused=UNEXPECTED)
