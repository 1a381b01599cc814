"""Propose-test-release, generalised (Redberg, Zhu and Wang 2023): what kind data save, and what asking them costs."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import streamlit as st

from pages.ptr.controls import GHOST, PANEL, PAYS, POINTS, PUBLISH, SOURCE
from pages.ptr.gamma import Gamma
from pages.ptr.line import Line
from pages.ptr.paper import Curvature, DigitsLabels, Directions, EqualError, Labels, NarrowGap, Regressions, WideGap
from pages.ptr.pate import Pate
from pages.ptr.vote import Vote
from ui import page
from ui.controls import Choice, Control
from ui.view import Pictures, View


@dataclass(frozen=True)
class HeadedPictures(Pictures):
    """Pictures some of which begin with a choice, which a slide keeps out of sight; it may choose another view."""

    heads: Mapping[str, Choice] = field(default_factory=dict)

    @property
    def moved(self) -> tuple[Control, ...]:
        return tuple(dict.fromkeys((*self.heads.values(), *super().moved)))

    def chosen(self) -> tuple[type[View], tuple[Control, ...]]:
        name = page.choose(VIEW)
        if name not in self.heads:
            return self.views[name], ()
        head = self.heads[name]
        return self.views.get(f"{name} {page.choose(head)}", self.views[name]), (head,)


VIEWS: dict[str, type[View]] = {
    "line": Line,
    "vote": Vote,
    "figure3": EqualError,
    "figure3 10": WideGap,
    "figure3 0.3": NarrowGap,
    "gamma": Gamma,
    "figure1": Regressions,
    "pate": Pate,
    "figure2": Labels,
    "figure2 digits": DigitsLabels,
    "pays": Curvature,
    "pays pca": Directions,
}
# what begins with a choice, and its control: a view of its own for "figure3 10" and the like, else the picture's
HEADS = {"line": PUBLISH, "figure3": PANEL, "figure2": SOURCE, "pays": PAYS}
SHOWN = tuple(name for name in VIEWS if " " not in name)
FORMER = {"Does it pay?": "pays", "What their labels cost (Figure 2)": "figure2"}
VIEW = Choice("ptr_view", "Picture", "line", SHOWN, lambda view: VIEWS[view].title, former=FORMER)
PICTURES = HeadedPictures("ptr", VIEWS, VIEW, GHOST, heads=HEADS)


page.begin("ptr", "Most data need less noise than the worst data. Test privately whether little noise is enough.")
POINTS.mend()
st.fragment(PICTURES.explore)(PICTURES.presets)
page.predict(page.Prediction.of("ptr"), key="ptr__try")
page.about("ptr")
