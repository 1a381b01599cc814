"""A private additive model of a raw table: what each column does to the score, and what noise does to that."""

import streamlit as st

from pages.columns.controls import GHOST
from pages.columns.curve import Curve
from pages.columns.person import Person
from ui import page
from ui.controls import Choice
from ui.view import Pictures, View

VIEWS: dict[str, type[View]] = {"column": Curve, "person": Person}
VIEW = Choice("columns_view", "Picture", "column", tuple(VIEWS), lambda view: VIEWS[view].title)
PICTURES = Pictures("columns", VIEWS, VIEW, GHOST)


page.begin(
    "columns", "A score is a sum with one term for each column, so that people can read what the model has learned."
)
st.fragment(PICTURES.explore)(PICTURES.presets)
page.see_also("training", "what a fit reaches on real data")
page.see_also("own", "a table of your own")
page.predict(page.Prediction.of("columns"), key="columns__try")
page.about("columns")
