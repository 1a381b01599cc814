"""The buttons of the accuracy page that start work, and why one may be off."""

from __future__ import annotations

from typing import Any

import streamlit as st

from objpert_core import datasets
from pages.accuracy.names import seconds


def offer(label: str, reason: str, does: str, **look: Any) -> bool:
    """The button, disabled for a reason, beside what it does; whether it was pressed."""
    button, words = st.columns([1, 3], vertical_alignment="center")
    link = (
        f"“Share” above keeps these settings, too: anyone who opens its link can press “{label}” for the same numbers."
    )
    words.caption(f"{reason or does} {link}")
    return button.button(label, disabled=bool(reason), width="stretch", **look)


def cannot_run(dataset: str, expected: float | None = None, longest: float = 0.0) -> str:
    """Why a fit cannot be made here; empty if it can. `expected` is what stored trials took, in seconds."""
    if not datasets.available(dataset):
        return (
            f"The files of {dataset} are missing or damaged on this server. The page “Live training” says what to do."
        )
    if expected is None or expected <= longest:
        return ""
    took = f"Stored trials of this point took {seconds(expected)} (median)"
    return f"{took}: too long for a shared server; the command line has no limit."
