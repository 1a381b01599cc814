"""Population risk (Bassily, Feldman, Talwar, Thakurta 2019): what private methods lose on rows they have not seen."""

from pages.population.controls import BOUNDS, EPSILON, EVERY, GHOST, LOSS, RADIUS, ROWS, SIZE, STEPS
from pages.population.leak import Leak
from pages.population.methods import RUNS, Methods
from pages.population.passes import Passes
from pages.population.rows import Gap, Rows
from pages.population.winners import Winners
from ui import page
from ui.controls import Choice
from ui.view import Pictures, View

VIEWS: dict[str, type[View]] = {
    "methods": Methods,
    "rows": Rows,
    "gap": Gap,
    "passes": Passes,
    "map": Winners,
    "leak": Leak,
}
FORMER = {"Is it private as published?": "leak"}
VIEW = Choice("population_view", "Picture", "methods", tuple(VIEWS), lambda view: VIEWS[view].title, former=FORMER)
LINKED = (LOSS, ROWS, SIZE, EPSILON, RADIUS, VIEW, STEPS, BOUNDS, EVERY, GHOST)
PICTURES = Pictures("population", VIEWS, VIEW, GHOST, LINKED)
preset = PICTURES.preset

PRESETS = (
    preset("Proved and measured", "Theorem 3.2: noisy SGD against n, with the proved bound.", "rows", bounds=True),
    preset("More budget: ε = 2", "Theorem 5.3: objective perturbation where ε = 2.", "methods", epsilon=2.0),
    preset(
        "A loss with a corner",
        "The absolute loss, with its corner rounded off (its Moreau envelope).",
        "methods",
        loss="absolute",
    ),
    preset("With replacement leaks", "T = 1: Theorem 3.1 claims privacy and fails.", "leak", epsilon=1.0),
    preset(
        "The hardest loss",
        "The linear loss, d = 500: the lower bound is proved on this loss.",
        "methods",
        loss="hard",
        d=500,
    ),
    preset(
        "Nothing to learn: n = d",
        "As many parameters as rows: there is nothing to learn privately.",
        "methods",
        n=100,
        d=100,
    ),
)


page.begin(
    "population", "How much worse is a private model, on rows that it has not seen, than the best model possible?"
)
RUNS.follow(PICTURES.explore, PRESETS)
page.see_also("accuracy", "the same question on real data, by test accuracy")
page.predict(page.Prediction.of("population"), key="population__try")
page.about("population")
