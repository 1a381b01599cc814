"""The ledger as a privacy filter: entries are let through one by one while a budget in μ lasts, from the core.

The budget is the largest that keeps the ledger's target (ε, δ). It is fixed beforehand; the releases need not be.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

import objpert_core.accounting as acc
from objpert_core.accounting.ledger import Entry, Ledger
from objpert_core.exceptions import PrivacyBudgetExceededError
from pages.composition.totals import down, up
from ui import figures, sentences, snippets

LET, REFUSED, FITS, TOO_MUCH, LATER = "let through", "refused", "fits", "does not fit", "not asked yet"


@dataclass(frozen=True)
class Passage:
    """One entry before the filter."""

    entry: Entry
    mu: float  # μ of all its releases together; inf where none is known
    spent: float  # √(Σ μᵢ²) of what was let through, after this entry
    state: str  # what became of it, or would


@dataclass(frozen=True)
class Gate:
    """A filter after some entries."""

    budget: float  # in μ, as the next two
    spent: float  # the odometer's reading
    left: float
    epsilon: float  # ε at the ledger's δ of that reading
    passages: tuple[Passage, ...]

    @property
    def next(self) -> Passage | None:
        """The entry that is asked about."""
        return next((passage for passage in self.passages if passage.state in (FITS, TOO_MUCH)), None)


def _mechanism(entry: Entry) -> acc.Mechanism:
    one = entry.mechanism()
    return one if entry.count == 1 else acc.repeat(one, entry.count)


@lru_cache(maxsize=500)
def gate(ledger: Ledger, released: int, delta: float, target: float) -> Gate:
    """The filter after the first `released` entries, of which it refused what did not fit."""
    budget = acc.PrivacyFilter.for_target(target, delta)
    passages = []
    for position, entry in enumerate(ledger):
        mechanism = _mechanism(entry)
        mu = mechanism.mu()
        if position > released:
            state = LATER
        elif position == released:
            state = FITS if math.isfinite(mu) and budget.allows(mechanism) else TOO_MUCH
        else:
            state = _let_through(budget, mechanism, mu)
        passages.append(Passage(entry, mu, budget.reading, state))
    return Gate(budget.mu, budget.reading, budget.left, budget.epsilon(delta), tuple(passages))


def _let_through(budget: acc.PrivacyFilter, mechanism: acc.Mechanism, mu: float) -> str:
    try:
        if math.isfinite(mu):
            budget.spend(mechanism)
            return LET
    except PrivacyBudgetExceededError:
        pass
    return REFUSED


# --- as it is shown ---------------------------------------------------------------------------------------------------


def chart(at: Gate) -> Any:
    """√(Σ μ²) after each entry that was asked about, under the budget; the next one where it would end."""
    known = [passage for passage in at.passages if passage.state in (LET, REFUSED)]
    x, y = np.arange(len(known) + 1), np.array([0.0, *(passage.spent for passage in known)])
    end = max(len(at.passages), 1)
    traces = [figures.series("Budget", [0, end], [at.budget] * 2, "lower", hoverinfo="skip") | {"mode": "lines"}]
    top = at.budget
    if at.next is not None and math.isfinite(at.next.mu):
        would = math.hypot(at.spent, at.next.mu)
        top = max(top, min(would, 2 * at.budget))
        ends = [x[-1], x[-1] + 1], [y[-1], would]
        traces.append(figures.series("Next", *ends, "published", mode="lines+markers", hover="μ ≈ %{y:.3g}"))
    traces.append(figures.series("Spent", x, y, "tight", mode="lines+markers", hover="μ ≈ %{y:.3g}"))
    xaxis = figures.axis("entries of the list", (-0.1, end + 0.1), dtick=max(1, end // 10), tick0=0)
    yaxis = figures.axis("μ so far", (0.0, 1.08 * top))
    return figures.figure(traces, xaxis, yaxis, height=300)


def frame(at: Gate) -> pd.DataFrame:
    """Every number of the filter, one row an entry."""
    columns = ("position", "entry", "mu", "spent_mu", "state", "budget_mu")
    rows = [(n, p.entry.write(), p.mu, p.spent, p.state, at.budget) for n, p in enumerate(at.passages, 1)]
    return pd.DataFrame(rows, columns=columns)


def rows(at: Gate) -> list[dict[str, str]]:
    """The table."""
    return [
        {
            "": f"{n}",
            "Release": passage.entry.label,
            "Times": f"{passage.entry.count:,}",
            "μ": up(passage.mu) if math.isfinite(passage.mu) else "none known",
            "Filter": passage.state,
        }
        for n, passage in enumerate(at.passages, 1)
    ]


def answer(at: Gate) -> str:
    """What is spent and whether the next release fits, in at most 18 words."""
    start = f"μ = {up(at.spent)} of {down(at.budget)} is spent"
    if at.next is None:
        return f"{start}; nothing else is planned."
    return f"{start}; the next release {at.next.state}."


def more(at: Gate) -> str:
    """What is left, and what the next release would take."""
    told = f"Left: μ = {down(at.left)} (the squares of the μ add up)."
    if at.next is not None:
        mu = up(at.next.mu) if math.isfinite(at.next.mu) else ""
        told += f" Next, {at.next.entry.label}: " + (f"μ = {mu}." if mu else "no μ is known to cover this release.")
    refused = sum(passage.state == REFUSED for passage in at.passages)
    if refused:
        entries = sentences.count(refused, "entry", "entries").capitalize()
        told += f" {entries} did not fit and must not be released."
    return told


def promise(delta: float, target: float) -> str:
    """What the filter promises."""
    chosen = "a privacy filter: each release, and its noise, may be chosen after seeing earlier ones"
    return sentences.promise(target, delta, chosen)


def reading(at: Gate, delta: float) -> str:
    """What the odometer reads, and what that is worth."""
    shown = f"ε = {sentences.epsilon(at.epsilon)} at δ = {sentences.delta(delta)}"
    return (
        f"The odometer adds up what is spent so far: it reads μ = {up(at.spent)}, {shown}. This "
        "reading is a promise only if you fixed the noise of all releases beforehand. If results decide when you "
        "stop, only the budget is a promise."
    )


def alt(at: Gate) -> str:
    """Alt text: what is plotted, and the take-away."""
    return (
        f"μ spent after each of {sentences.count(len(at.passages), 'entry', 'entries')}, under its budget. {answer(at)}"
    )


def snippet(ledger: Sequence[Entry], released: int, *, delta: float, target: float) -> str:
    """The filter after the first `released` entries; defines ``budget``."""
    listed = "".join(f"    {entry.expression()},\n" for entry in ledger)
    blanks = {"released": released, "planned": released + 1, "delta": delta, "target": target}
    return snippets.filled("composition", "filter", blanks | {"releases": snippets.Verbatim(f"[\n{listed}]")})
