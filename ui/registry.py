"""The pages of the app, one entry each: the menu, Home, links between pages and browser tests all read this list."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import streamlit as st

ROOMS = Path(__file__).parents[1] / "pages"


@dataclass(frozen=True)
class Entry:
    """One page.

    Attributes
    ----------
    name : str
        Its folder in ``pages`` and its address.
    title : str
        What menu and links call it.
    question : str
        What it answers: its heading.
    group : str
        Its place in the menu; "" stands first.
    symbol : str
        The name of its Material symbol.
    """

    name: str
    title: str
    question: str
    group: str
    symbol: str

    @property
    def icon(self) -> str:
        """The symbol as Streamlit takes it."""
        return f":material/{self.symbol}:"

    @property
    def path(self) -> str:
        """The file that Streamlit runs, seen from ``app.py``."""
        return f"pages/{self.name}/page.py"

    @property
    def thumbnail(self) -> Path:
        """A small picture of the page, for Home."""
        return ROOMS / self.name / "thumbnail.svg"

    @property
    def about(self) -> str:
        """The page's explanation and its references, as Markdown with KaTeX."""
        return (ROOMS / self.name / "about.md").read_text(encoding="utf-8")


FIT, MANY, LEARNING = "One fit", "Many releases", "Learning"

PAGES: tuple[Entry, ...] = (
    Entry("home", "Home", "How can one fit hide one person?", "", "home"),
    Entry("lessons", "Lessons", "What does ε mean, from zero?", "", "school"),
    Entry("bounds", "Bounds", "How much privacy does one fit cost?", FIT, "show_chart"),
    Entry("distance", "Distance", "How far is a proof from the best possible one?", FIT, "straighten"),
    Entry("guess", "Guess who", "Was this person in the data?", FIT, "person_search"),
    Entry("quadratic", "Tilt or bend?", "Is a random curvature better than a random slope?", FIT, "ssid_chart"),
    Entry("ptr", "Ask the data first", "What if the data are kinder than the worst case?", FIT, "fact_check"),
    Entry("planner", "Planner", "How much noise, how much regularisation?", FIT, "tune"),
    Entry(
        "renyi", "Rényi and DP-SGD", "One fit or thousands of noisy steps: which hides you better?", MANY, "trending_up"
    ),
    Entry("composition", "Composition", "What do several releases cost together?", MANY, "stacks"),
    Entry("tuning", "What tuning costs", "What does trying ten settings cost?", MANY, "experiment"),
    Entry("training", "Live training", "What does privacy cost in accuracy?", LEARNING, "model_training"),
    Entry("accuracy", "Accuracy", "Which private learner is the most accurate?", LEARNING, "leaderboard"),
    Entry("honest", "Honest or not", "What does honest tuning cost?", LEARNING, "balance"),
    Entry("population", "Population risk", "Will it generalise?", LEARNING, "groups"),
    Entry("solvers", "Solvers", "How many passes over the data does a private fit take?", LEARNING, "speed"),
    Entry("losses", "Losses and clipping", "What does clipping do to a loss, and to the fit?", LEARNING, "content_cut"),
    Entry("own", "Your own data", "How do I fit a private model to my own table?", LEARNING, "upload_file"),
)
"""Every page, in the order of the menu; the first one opens the app."""


@dataclass(frozen=True)
class Step:
    """One page of the path that Home offers to those who are new to all this.

    Attributes
    ----------
    name : str
        The page.
    lesson : str
        What to take from it, in one short sentence.
    query : mapping
        How the page is opened where that is not as usual: addresses of its controls.
    """

    name: str
    lesson: str
    query: Mapping[str, str] = field(default_factory=dict)


START_HERE: tuple[Step, ...] = (
    Step("home", "Noise hides one person, and ε says how well."),
    Step(
        "bounds",
        "Attacker’s errors: how often an attacker who looks for you is wrong.",
        {"bounds_show": "Attacker’s errors"},
    ),
    Step("composition", "Each further release costs privacy, usually less than the last."),
    Step("training", "What ε costs in accuracy, on real data."),
    Step("tuning", "Trying ten settings is ten looks at the data."),
    Step("honest", "How much accuracy remains when tuning is paid for."),
)
"""The path, Home first; the other pages are for research."""

_BY_NAME = {entry.name: entry for entry in PAGES}


def entry(name: str) -> Entry:
    """The page of that name; `KeyError` where there is none."""
    return _BY_NAME[name]


def navigation() -> dict[str, list[st.Page]]:
    """The menu as `st.navigation` takes it: the pages of each group."""
    menu: dict[str, list[st.Page]] = {}
    for place, one in enumerate(PAGES):
        # Streamlit gives the default page the empty address and refuses any other.
        address = {"default": True} if place == 0 else {"url_path": one.name}
        menu.setdefault(one.group, []).append(st.Page(one.path, title=one.title, icon=one.icon, **address))
    return menu
