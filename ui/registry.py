"""The pages of the app, one entry each: the menu, Home, links between pages and browser tests all read this list."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import streamlit as st

ROOMS = Path(__file__).parents[1] / "pages"


@dataclass(frozen=True)
class Entry:
    """One page."""

    name: str  # its folder in ``pages`` and its address
    title: str  # what menu and links call it
    question: str  # what it answers: its heading
    group: str  # its place in the menu: for whom it is
    symbol: str  # the name of its Material symbol

    @property
    def headed(self) -> str:
        """Its title where a sentence follows: with a full stop, unless it asks."""
        return self.title if self.title.endswith("?") else f"{self.title}."

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


LEARN, PAPER, USE, RESEARCH = "Learn", "The paper", "Use it", "Research"

PAGES: tuple[Entry, ...] = (
    Entry("home", "Home", "How can one fit hide one person?", LEARN, "home"),
    Entry("lessons", "Lessons", "What does ε mean, from zero?", LEARN, "school"),
    Entry("guess", "Attack a model", "Was this person in the data?", LEARN, "person_search"),
    Entry("bounds", "Bounds", "How much privacy does one fit cost?", PAPER, "show_chart"),
    Entry(
        "renyi",
        "Rényi and DP-SGD",
        "Which hides you better, one fit or DP-SGD?",
        PAPER,
        "trending_up",
    ),
    Entry("distance", "Distance", "How far is a proof from the best possible one?", PAPER, "straighten"),
    Entry("training", "Live training", "What does privacy cost in accuracy?", PAPER, "model_training"),
    Entry("accuracy", "Accuracy", "Which private learner is the most accurate?", PAPER, "leaderboard"),
    Entry("columns", "A readable model", "What does each column do?", PAPER, "stairs"),
    Entry("planner", "Choose σ and λ", "How much noise, how much regularisation?", USE, "tune"),
    Entry("composition", "Several releases", "What do several releases cost together?", USE, "stacks"),
    Entry("tuning", "The price of tuning", "What does trying ten settings cost?", USE, "experiment"),
    Entry("sure", "How sure is a model?", "How far off may a private model be?", USE, "query_stats"),
    Entry("own", "Your own data", "How do I fit a private model to my own table?", USE, "upload_file"),
    Entry("quadratic", "Tilt or bend?", "Is a random curvature better than a random slope?", RESEARCH, "ssid_chart"),
    Entry("ptr", "Ask the data first", "What if the data are kinder than the worst case?", RESEARCH, "fact_check"),
    Entry("population", "Population risk", "Will a private model generalise?", RESEARCH, "groups"),
    Entry("solvers", "Solvers", "How many passes over the data does a private fit take?", RESEARCH, "speed"),
    Entry("losses", "Losses", "What does clipping do to a loss, and to the fit?", RESEARCH, "content_cut"),
)
"""Every page, in the order of the menu; the first one opens the app."""


@dataclass(frozen=True)
class Step:
    """One page of the path that Home offers to those who are new to all this."""

    name: str  # the page
    lesson: str  # what to take from it, in one short sentence
    # how the page is opened where that is not as usual: addresses of its controls
    query: Mapping[str, str] = field(default_factory=dict)


START_HERE: tuple[Step, ...] = (
    Step("home", "Noise hides one person, and ε says how well."),
    Step("guess", "Attack a model: can you tell who was in the data?"),
    Step(
        "bounds",
        "Attacker’s errors: how often an attacker who looks for you is wrong.",
        {"bounds_show": "Attacker’s errors"},
    ),
    Step("composition", "Each further release costs privacy, usually less than the last."),
    Step("training", "What ε costs in accuracy: train models and see."),
    Step("tuning", "Trying ten settings means ten looks at the data."),
)
"""The path, Home first; the other pages are for those who know it."""

THE_END = (
    "**This is the end of the path.** A lesson asks what you have seen. For an exercise, take a table of your own."
)


@dataclass(frozen=True)
class Former:
    """An address that pages had: where it leads, and the setting there that shows what it showed.

    Its controls keep their names, so that links and lessons that were written before still say the same.
    """

    name: str
    query: Mapping[str, str]


FORMER: Mapping[str, Former] = {"honest": Former("tuning", {"tuning_show": "In accuracy"})}

_BY_NAME = {entry.name: entry for entry in PAGES}


def entry(name: str) -> Entry:
    """The page of that name; `KeyError` where there is none."""
    return _BY_NAME[name]


def prefixes(name: str) -> tuple[str, ...]:
    """With what the names of a page's controls begin: its own name, and those of pages that became a part of it."""
    return name, *(old for old, former in FORMER.items() if former.name == name)


def navigation() -> dict[str, list[st.Page]]:
    """The menu as `st.navigation` takes it: the pages of each group, and, not shown, former addresses that lead on."""
    menu: dict[str, list[st.Page]] = {}
    for place, one in enumerate(PAGES):
        # Streamlit gives the default page the empty address and refuses any other.
        address = {"default": True} if place == 0 else {"url_path": one.name}
        menu.setdefault(one.group, []).append(st.Page(one.path, title=one.title, icon=one.icon, **address))
    for name, former in FORMER.items():
        menu[RESEARCH].append(st.Page(partial(_lead_on, former), title=name, url_path=name, visibility="hidden"))
    return menu


def _lead_on(former: Former) -> None:
    """Open the page that a former address stands for, with everything that its query says."""
    asked = {key: st.query_params.get_all(key) for key in st.query_params}
    st.switch_page(entry(former.name).path, query_params={**asked, **former.query})
