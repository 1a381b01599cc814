"""A stored file: read at one ε, which is what every question of the accuracy page is about, and where it is from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import streamlit as st

from objpert_core.experiments import results
from objpert_core.experiments.indexed import Stored
from objpert_core.experiments.learners import LEARNERS, TIGHT
from objpert_core.experiments.summary import Interval
from objpert_core.experiments.tables import Claim, Point
from ui import page, sentences
from ui.words import accounted


@dataclass(frozen=True)
class Reading:
    """A file of results, and where it is read."""

    stored: Stored
    epsilon: float

    @property
    def at(self) -> str:
        """The beginning of a sentence."""
        return f"At ε = {sentences.epsilon(self.epsilon)}"

    @property
    def claim(self) -> Claim | None:
        """Tight beside the best DP-SGD whose tuning is not paid for; None where not both have runs."""
        return self.stored.claims.get(self.epsilon)

    def point(self, method: str) -> Point | None:
        """What a method reached here; None where it has no run."""
        return self.stored.point(method, self.epsilon)

    def difference(self, first: str, second: str) -> Interval | None:
        """The first method's accuracy minus the second's, paired."""
        return self.stored.difference(first, second, self.epsilon)

    def same(self, other: Reading) -> bool:
        """Whether another reading is of the same file at the same ε."""
        return other.stored is self.stored and other.epsilon == self.epsilon

    def promise(self) -> str:
        """What one private model by the tight bound promises, in one line."""
        if self.stored.delta is None:
            return ""
        runs = self.stored.runs(TIGHT, self.epsilon)
        noises = (runs[0].center_noise, runs[0].scale_noise) if runs else (None, None)
        return sentences.promise(self.epsilon, self.stored.delta, accounted(LEARNERS[TIGHT].accountant, *noises))

    def stand_in(self) -> str:
        """The warning that goes with a stand-in; empty for others."""
        warning = "these are not the real data. Compare the methods with each other, not with the paper’s numbers."
        return f"{self.stored.label}: {warning}" if self.stored.stand_in else ""


def draw(stored: Stored) -> None:
    """Draw the box, with the file itself."""
    with st.expander("Where these numbers are from", icon=":material/history:"):
        st.markdown("\n".join(f"* {line}" for line in provenance(stored)))
        page.table(configuration(stored), alt="How the runs were made.", name="accuracy_configuration")
        path = results.to_read(results.path_of(stored.key))
        page.download("Every run as CSV", path.read_bytes, path.name, "table_rows", key="accuracy_raw")


def provenance(stored: Stored) -> list[str]:
    """Where the stored runs are from: one line for each command that added rows, and the seeds."""
    lines = []
    splits = sorted({run.split_seed for run in stored.results.runs})
    for session in stored.results.sessions:
        commit = session.get("commit", "unknown")
        dirty = " with changes that were not committed" if commit.endswith("+") else ""
        lines.append(
            f"`{session.get('command', 'unknown command')}` at commit `{commit.rstrip('+')}`{dirty}, "
            f"{session.get('started', 'unknown time')}, on {session.get('machine', 'an unknown machine')}; "
            f"{session.get('versions', 'unknown versions')}."
            + (f" Note: {sentences.sentence(session['note'])}" if session.get("note") else "")
        )
    span = f"{splits[0]} to {splits[-1]}" if len(splits) > 1 else f"{splits[0]}" if splits else ""
    seeds = (
        f"Split seeds {span}, one for each trial, the same for all methods. The file has the noise seed of every "
        f"run. Anyone who knows a noise seed can subtract the noise, so these runs are measurements, not releases."
    )
    return [*lines, f"Package version {stored.results.version}. {seeds if splits else 'The file holds no run yet.'}"]


def configuration(stored: Stored) -> list[dict[str, str]]:
    """Every parameter that all runs of the file share, as rows of a table."""
    return [{"Parameter": name, "Value": _shown(value)} for name, value in stored.results.configuration.items()]


def _shown(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return ", ".join(_shown(item) for item in value)
    return f"{value:.3g}" if isinstance(value, float) else str(value)
