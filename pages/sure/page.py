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
preset = PICTURES.preset

PRESETS = (
    preset("Hardly wider", "Ten thousand people, ten columns, ε = 1.", "coefficients", d=10),
    preset(
        "Too little data: honest and wide",
        "A thousand people at ε = 0.5: the intervals say how little is known.",
        "coefficients",
        epsilon=0.5,
        n=1000,
        d=2,
    ),
    preset(
        "A hundred draws",
        "The same fit to a hundred data sets: which intervals hold the truth?",
        "repeats",
        epsilon=0.3,
        people=3000,
        d=2,
    ),
    preset(
        "Strong effects",
        "Where a model is sure of most labels, noise hides how strong effects are.",
        "coefficients",
        data="steep",
        n=5000,
        d=5,
    ),
    preset(
        "Adult",
        "Ten public columns of a census: nobody knows the true coefficients.",
        "coefficients",
        data="adult",
        n=50_000,
        d=10,
    ),
    preset("Forgetting the noise", "Intervals that forget the noise miss the truth too often.", "covers"),
    preset("A score to publish", "ROC curve and accuracy from 64 noisy counts, for the ε of the fit.", "scores"),
    preset(
        "Calibrated?",
        "How often the model’s stated probabilities come true, from the same counts.",
        "scores",
        n=50_000,
        curve="calibration",
    ),
)


page.begin(
    "sure", "A coefficient or a score may be off because people are a sample, and because noise protects these people."
)
st.fragment(PICTURES.explore)(PRESETS)
page.see_also("training", "what a fit reaches on real data")
page.see_also("own", "a table of your own")
page.predict(page.Prediction.of("sure"), key="sure__try")
page.about("sure")
