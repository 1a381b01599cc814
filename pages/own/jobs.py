"""The page's work: read a table by what is public about it, fit once, keep what may be published. No Streamlit here.

Whatever goes wrong is part of the outcome, as one sentence for whoever holds the table. Nothing is raised, since an
error may hold values of the table and what is raised in a job may be logged.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from objpert_core import ConvergenceError
from objpert_core.datasets import Categories, TableError
from objpert_core.datasets.tables.columns import NO_REPLACEMENT, one_of
from objpert_core.estimators.own_table import NOT_CONVERGED, Ask, Made, made

SCORES, INTERVALS = "scores", "intervals"
"""What may be released with the model."""
TEST_SHARE = 0.2
IF_MISSING = "Type the value that replaces a missing one into the cell “If missing”, or choose a curve for each column."
NOT_LISTED = "Add the value to the cell “Categories”, or switch on “Others too”."
UNEXPECTED = "An unexpected error stopped the fit. Nothing was released."


def asked(known: str, epsilon: float, delta: float, also: Sequence[str], **more: Any) -> Ask:
    """The request for a release with what the page's switches add to it."""
    share = TEST_SHARE if SCORES in also else None
    return Ask(known, epsilon, delta, test_share=share, intervals=INTERVALS in also, **more)


@dataclass(frozen=True)
class Held:
    """A table's bytes, on their way to a fit; it shows nothing of them."""

    content: bytes = field(repr=False)


@dataclass(frozen=True)
class Outcome:
    """A fit, or one sentence that says why there is none."""

    made: Made | None = None
    refused: str = field(default="", repr=False)


def refusal(error: TableError, ask: Ask) -> str:
    """Why the table is refused, and what to type about a feature whose value is missing or is not listed."""
    remedies: dict[str, None] = {}
    for cell in error.cells:
        column = ask.schema.columns.get(cell.column)
        if column is not None and cell.complaint.endswith(NO_REPLACEMENT):
            remedies[IF_MISSING] = None
        if isinstance(column, Categories) and cell.complaint.startswith(f"must hold {one_of(column.categories)}, got "):
            remedies[NOT_LISTED] = None
    end = "\n\n" if "\n" in str(error) else ". "
    return end.join([str(error), *([" ".join(remedies)] if remedies else [])])


def fit(ask: Ask, held: Held, should_stop: Callable[[], bool]) -> Iterator[Outcome]:
    """The same as a job: one outcome, or none of a fit that was stopped before it was done."""
    try:
        found = made(ask, held.content)
        if not should_stop():
            yield Outcome(found)
    except ConvergenceError:
        yield Outcome(refused=NOT_CONVERGED)
    except TableError as error:
        yield Outcome(refused=refusal(error, ask))
    except ValueError as error:
        yield Outcome(refused=str(error))
    except MemoryError:
        yield Outcome(refused="The server ran out of memory for this table: nothing was released.")
    except Exception:  # its text may hold values of the table
        yield Outcome(refused=UNEXPECTED)
