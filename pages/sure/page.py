"""How sure is a model: intervals of private coefficients and scores, beside those without privacy."""

import streamlit as st

from pages.sure.coefficients import Coefficients
from pages.sure.controls import GHOST
from pages.sure.covers import Covers
from pages.sure.repeats import Repeats
from pages.sure.scores import Scores
from ui import page
from ui.controls import Choice
from ui.view import Pictures, View

VIEWS: dict[str, type[View]] = {
    "coefficients": Coefficients,
    "repeats": Repeats,
    "scores": Scores,
    "covers": Covers,
}
FORMER = {"How often they cover": "covers"}
VIEW = Choice("sure_view", "Picture", "coefficients", tuple(VIEWS), lambda view: VIEWS[view].title, former=FORMER)
PICTURES = Pictures("sure", VIEWS, VIEW, GHOST)


page.begin(
    "sure", "A coefficient or a score may be off because people are a sample, and because noise protects these people."
)
st.fragment(PICTURES.explore)(PICTURES.presets)
page.see_also("training", "what a fit reaches on real data")
page.see_also("own", "a table of your own")
page.predict(page.Prediction.of("sure"), key="sure__try")
page.about("sure")
