"""Where the stored numbers are from: commands, seeds, and what all runs of a file share."""

from __future__ import annotations

from typing import Any

import streamlit as st

from objpert_core.experiments import results
from objpert_core.experiments.indexed import Stored
from ui import page, sentences


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
