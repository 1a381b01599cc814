"""A list of releases: what they cost together after each entry, beside a target, as a table, as files, as Python."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Self

import numpy as np
import pandas as pd
import streamlit as st

from objpert_core.accounting import ledger_file
from objpert_core.accounting.ledger import MOST_COPIES, Entry, Ledger
from pages.composition import totals
from pages.composition.totals import Line, down, share_up
from ui import figures, page, sentences, snippets
from ui.sentences import count, delta, epsilon, number, proved, scientific

NEARLY = 0.9  # of the target: from here on a ledger is nearly used up
FIXED_BEFOREHAND = (
    "Fix the list and its noise beforehand. The topic of a release may depend on earlier answers. Its noise, and the "
    "list itself, may not depend on answers. The privacy filter allows both."
)


def describe(entry: Entry) -> str:
    """An entry's parameters in the page's symbols."""
    parts = []
    for parameter, value in entry.given:
        if isinstance(value, str):
            parts.append(parameter.options[value])
        else:
            shown = f"{value:,}" if parameter.whole else scientific(value, 3 if parameter.name == "delta" else 4)
            parts.append(f"{parameter.symbol} = {shown}")
    return ", ".join(parts)


@dataclass(frozen=True)
class Listed:
    """The releases, the δ at which their ε is read, and the target ε; `left` says what still fits."""

    ledger: Ledger
    delta: float
    target: float
    left: bool = False

    @cached_property
    def lines(self) -> list[Line]:
        """The running totals."""
        return totals.totals(self.ledger, self.delta)

    @property
    def total(self) -> float:
        """ε of everything."""
        return self.lines[-1].total if self.lines else 0.0

    @property
    def aim(self) -> str:
        """The target in a sentence."""
        return f"the target ε = {number(self.target)}"

    def light(self) -> str:
        """The budget's light in words."""
        if not self.lines:
            return "Nothing used"
        if math.isinf(self.total):
            return "Not accounted for"
        if totals.overrun(self.lines, self.target) is not None:
            return "Over budget"
        return "Nearly used up" if self.total / self.target >= NEARLY else "Within budget"

    def status(self) -> str:
        """What of the target is left, or where the list passes it."""
        if not self.lines:
            return f"All of {self.aim} is left."
        if math.isinf(self.total):
            return "Nothing is proved about this list, so the list meets no target."
        if (over := totals.overrun(self.lines, self.target)) is not None:
            end = f"the list ends {epsilon(self.total - self.target)} above the target"
            return f"Entry {over + 1} ({self.lines[over].entry.label}) takes the total past {self.aim}; {end}."
        return f"{share_up(self.total / self.target)} of {self.aim} is used, {down(self.target - self.total)} is left."

    def answer(self) -> str:
        """What the whole list costs, against adding the ε up."""
        if not self.lines:
            return "Nothing has been released yet: ε = 0."
        n, added = sum(line.entry.count for line in self.lines), self.lines[-1].added
        if math.isinf(self.total):
            return f"{self.light()}: no finite ε is proved for {count(n, 'release')}."
        cost = f"{self.light()}: {count(n, 'release')} {'costs' if n == 1 else 'cost'} ε = {epsilon(self.total)}"
        if n == 1 or self.total >= added * (1 - 1e-3):
            return f"{cost}."
        return f"{cost}; adding up their ε (and their δ) gives {epsilon(added)}."

    def promise(self) -> str:
        return sentences.promise(self.total, self.delta, "convolution of all privacy losses")

    def alt(self) -> str:
        if not self.lines:
            return "Running total of ε against the entries of the list; it is empty."
        end = self.lines[-1]
        ways = {"together": end.total, "by Rényi": end.renyi, "added up": end.added}
        ends = ", ".join(f"{proved(value)} {way}" for way, value in ways.items())
        return (
            f"Running total of ε at δ = {delta(self.delta)} after each of "
            f"{count(len(self.lines), 'entry', 'entries')}: it ends at {ends}. The target is {number(self.target)}. "
            f"{self.light()}."
        )

    def picture(self, before: Self | None) -> page.Picture:
        """The chart with its numbers."""
        return page.Picture(self.chart(before), self.alt(), self.frame, f"Privacy ledger, δ = {delta(self.delta)}")

    def chart(self, before: Self | None) -> Any:
        """The running total after each entry, from nothing before the first."""

        def steps(of: Sequence[Line], what: str) -> tuple[Any, Any]:
            values = np.array([0.0, *(getattr(line, what) for line in of)])
            return np.arange(values.size), np.where(np.isfinite(values), values, np.nan)

        end, name = max(len(self.lines), 1), f"Target ε = {number(self.target)}"
        traces = [figures.series(name, [0, end], [self.target] * 2, "lower", hoverinfo="skip") | {"mode": "lines"}]
        if before and before.lines:
            traces.append(figures.series("Together, before", *steps(before.lines, "total"), "tight", ghost=True))
        for what, name, role in (
            ("added", "ε added up", "published"),
            ("renyi", "Together, by Rényi", "rdp"),
            ("total", "Together", "tight"),
        ):
            x, y = steps(self.lines, what)
            traces.append(figures.series(name, x, y, role, mode="lines+markers", hover="ε ≈ %{y:.3g}"))
        known = [v for line in self.lines for v in (line.added, line.renyi, line.total) if np.isfinite(v)]
        xaxis = figures.axis("entries of the list", (-0.1, end + 0.1), dtick=max(1, end // 10), tick0=0)
        yaxis = figures.axis("ε so far", (0.0, 1.08 * max([self.target, *known])))
        return figures.figure(traces, xaxis, yaxis, height=380)

    def remaining(self, line: Line) -> str:
        """What a table cell says about the target after an entry."""
        if math.isinf(line.total):
            return "nothing proved"
        left = self.target - line.total
        return f"{down(left)} left" if left >= 0 else f"over by {epsilon(-left)}"

    def still_fits(self, entry: Entry) -> str:
        """How many more of an entry would keep the total within the target."""
        n = totals.copies_left(self.ledger, entry, self.delta, self.target)
        return "none" if n == 0 else f"{n:,} or more" if n >= MOST_COPIES else f"{n:,} more"

    def table(self) -> list[dict[str, str]]:
        """The list, one row an entry."""
        return [
            {
                "": f"{position}",
                "Release": f"{line.entry.label}: {describe(line.entry)}",
                "Times": f"{line.entry.count:,}",
                "ε of one": proved(line.alone),
                f"Total so far at δ = {delta(self.delta)}": proved(line.total),
                f"Target ε = {number(self.target)}": self.remaining(line),
                "By Rényi": proved(line.renyi),
                "Sum of ε": proved(line.added),
            }
            | ({"Still fits": self.still_fits(line.entry)} if self.left else {})
            for position, line in enumerate(self.lines, 1)
        ]

    def rows(self) -> list[dict[str, Any]]:
        """One dictionary an entry: what it is, how to compute it, and the running totals."""
        return [self._row(position, line) for position, line in enumerate(self.lines, 1)]

    def _row(self, position: int, line: Line) -> dict[str, Any]:
        return {
            "position": position,
            "name": line.entry.label,
            "entry": line.entry.write(),
            "kind": line.entry.kind,
            "count": line.entry.count,
            "mechanism": line.entry.expression(),
            "epsilon_of_one": line.alone,
            "running_epsilon": line.total,
            "running_epsilon_certified_lower": line.low,
            "running_epsilon_renyi": line.renyi,
            "running_sum_of_epsilon": line.added,
            **self._asked,
        }

    @property
    def _asked(self) -> dict[str, Any]:
        """What all entries share."""
        return {"delta": self.delta, "target_epsilon": self.target, "adjacency": sentences.ADJACENCY}

    def frame(self) -> pd.DataFrame:
        """The rows as a table; its columns are there for an empty ledger too."""
        example = Line(Entry("gauss", (1.0, 1.0)), 0.0, 0.0, 0.0, 0.0, 0.0)
        return pd.DataFrame(self.rows(), columns=list(self._row(1, example)))

    def to_json(self) -> str:
        """The list as a JSON document, which `ledger_file` reads; an infinite ε is null, as JSON has no infinity."""
        entries = [
            {key: _finite(value) for key, value in row.items() if key not in self._asked}
            | {"parameters": line.entry.parameters}
            for row, line in zip(self.rows(), self.lines, strict=True)
        ]
        document = {
            "format": ledger_file.FORMAT,
            **self._asked,
            "import": "import objpert_core.accounting as acc",
            "relative_width": totals.WIDTH,  # of epsilon_bounds, to compute the same numbers
            "entries": entries,
        }
        return json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False) + "\n"

    def downloads(self, picture: page.Picture) -> None:
        """Draw the list's files in a row: JSON, events, and those of its picture."""
        with st.container(horizontal=True):
            page.download("Ledger as JSON", lambda: self.to_json().encode(), "ledger.json", "data_object")
            if self.lines and math.isfinite(self.total):
                self.as_events()
            page.evidence(picture, shown=self.table(), name="ledger")

    def as_events(self) -> None:
        """Draw the list for Google's dp_accounting; what stands in it is computed when the button is pressed."""
        button = st.popover("Events", icon=":material/sync_alt:", key="ledger_events", on_change="rerun")
        if not button.open:
            return
        with button:
            there = totals.epsilon_of_events(self.ledger, self.delta)
            st.markdown(about_events(ledger_file.covered(self.ledger), there, self.total))
            make = partial(ledger_file.write_events, self.ledger)
            page.download("Events as JSON", lambda: make().encode(), "events.json", "data_object")

    def code(self) -> str:
        """The running totals: validated bounds, by Rényi, and the ε added up; defines the list ``totals``."""
        named = ((entry, f"  # {entry.name}" if entry.name else "") for entry in self.ledger)
        listed = "\n".join(f"    ({entry.one()}, {entry.count}),{name}" for entry, name in named)
        blanks = {"releases": snippets.Verbatim(f"[\n{listed}\n]"), "delta": self.delta, "width": totals.WIDTH}
        return snippets.filled("composition", "ledger", blanks)


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def about_events(numbers: Sequence[int], there: float, here: float) -> str:
    """What the ledger's events say; `numbers` are those of the entries without one, ε is `there` and `here`."""
    about = "One event of Google’s dp_accounting for the whole list, in JSON, for ADD_OR_REMOVE_ONE."
    if not numbers:
        return f"{about} The event costs as much as the list."
    one = len(numbers) == 1
    which = f"{'Entry' if one else 'Entries'} {', '.join(map(str, numbers))} {'has' if one else 'have'} no event"
    instead = f"Gaussian noise that covers {'this entry' if one else 'these entries'} is written instead"
    return f"{about} {which}: {instead}, and the event’s total is ε = {epsilon(there)}, not {epsilon(here)}."
