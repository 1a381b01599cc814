"""Population risk (Bassily, Feldman, Talwar, Thakurta 2019): what private methods lose on rows they have not seen."""

from pages.population.controls import BOUNDS, EPSILON, EVERY, GHOST, LOSS, RADIUS, ROWS, SIZE, STEPS
from pages.population.methods import RUNS, Methods
from pages.population.proved import Leak, Passes
from pages.population.rows import Gap, Rows, Winners
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


page.begin(
    "population", "How much worse is a private model, on rows that it has not seen, than the best model possible?"
)
RUNS.follow(PICTURES.explore, PICTURES.presets)
page.see_also("accuracy", "the same question on real data, by test accuracy")
page.predict(page.Prediction.of("population"), key="population__try")
page.about("population")
