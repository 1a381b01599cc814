"""Population risk (Bassily, Feldman, Talwar, Thakurta 2019): what private methods lose on rows they have not seen."""

from functools import partial
from typing import Any

import streamlit as st

from objpert_core.experiments.population.methods import POPULATIONS, RADII, Setting
from objpert_core.experiments.population.stored import Stored
from pages.population import charts, numbers
from pages.population import words as text
from pages.population.numbers import Risks
from ui import controls as c
from ui import page, runs
from ui.runs import Runs

RUNS: Runs[Risks] = Runs("population")

KINDS = tuple(POPULATIONS)
LOSS = c.Choice("population_loss", "What is learnt", "logistic", KINDS, POPULATIONS.__getitem__)
ROWS = c.SelectSlider("population_n", "Rows n", 10_000, (100, 300, 1000, 3000, 10_000, 30_000, 100_000), format=str)
SIZE = c.SelectSlider("population_d", "Parameters d", 10, (2, 3, 10, 30, 100, 300, 500), format=str)
DELTA = "δ = 1/n². Neighbours differ in one row that is replaced."
EPSILON = c.SelectSlider(
    "population_epsilon", "Privacy budget ε", 0.5, c.log_values(0.1, 8, steps=(1, 2, 5)), help=DELTA
)
STANDARD = "standard"
BALL = "The model is looked for in the ball ‖θ‖ ≤ M. Standard: 4 for logistic regression, 2 absolute, 1 linear."
RADIUS = c.SelectSlider(
    "population_M",
    "Radius M",
    0.0,
    (0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0),
    lambda value: STANDARD if value == 0 else c.plain(value),
    help=BALL,
)
VIEW = c.Choice("population_view", "Picture", "methods", tuple(text.VIEWS), text.VIEWS.__getitem__)
STEPS = c.SelectSlider("population_T", "Steps T", 200, numbers.STEPS, format=str)
BOUNDS = c.Toggle("population_bounds", "Proved bounds in the charts against n", False)
GHOST = c.Toggle("population_ghost", "Setting before, faintly", True)
CONTROLS = (LOSS, ROWS, SIZE, EPSILON, RADIUS, VIEW, STEPS, BOUNDS, GHOST)

_ALL = {LOSS: "logistic", ROWS: 10_000, SIZE: 10, EPSILON: 0.5, RADIUS: 0.0, VIEW: "methods"}


def preset(name: str, hint: str, **values: Any) -> c.Preset:
    named = {"loss": LOSS, "n": ROWS, "d": SIZE, "epsilon": EPSILON, "view": VIEW, "T": STEPS, "bounds": BOUNDS}
    return c.Preset(name, _ALL | {named[key]: value for key, value in values.items()}, hint)


PRESETS = (
    preset("Theorem 3.2", "Noisy SGD against the number of rows, with what is proved.", view="rows", bounds=True),
    preset("Theorem 5.3", "Objective perturbation where ε = 2.", epsilon=2.0),
    preset("Non-smooth", "The absolute loss: its corner is rounded by a Moreau envelope.", loss="absolute"),
    preset("With replacement leaks", "T = 1: Theorem 3.1 claims privacy, and fails.", epsilon=1.0, view="leak"),
    preset("Hard instance", "The linear loss, d = 500: no method is fast.", loss="hard", d=500),
    preset("n = d", "As many parameters as rows: nothing to be learnt privately.", n=100, d=100),
)


def panel() -> tuple[Setting, str, int]:
    """The controls; returns what they ask for."""
    loss, n, d = LOSS.show(), ROWS.show(), SIZE.show()
    epsilon, radius, view = EPSILON.show(), RADIUS.show(), VIEW.show()
    if view == "passes":
        steps = STEPS.show()
    else:
        steps = STEPS.value()
        page.keep(STEPS)
    with st.popover("View", icon=":material/visibility:"):
        BOUNDS.show()
        GHOST.show()
    c.copy_link(CONTROLS)
    return Setting(loss, n, d, epsilon, radius or RADII[loss]), view, steps


def methods(setting: Setting, before: Setting | None) -> None:
    found = numbers.stored_risks(setting)
    run = RUNS.latest()
    if found is not None:
        if run is not None:
            run.job.stop()
        show(found, before)
    elif setting.n > numbers.MOST_ROWS:
        st.info(text.too_many(numbers.MOST_ROWS), icon=":material/info:")
    else:
        if run is None or run.request != setting:
            RUNS.start(setting, partial(numbers.draw, setting, numbers.DRAWS))
        RUNS.follow(live, setting, before)


def live(setting: Setting, before: Setting | None) -> None:
    """What is drawn now: not stored, so learnt again whenever a control moves."""
    seen = RUNS.look(lambda seen: text.progress(seen.view, numbers.DRAWS), runs.ended_early)
    if seen is not None and seen.latest is not None and seen.run.request == setting:
        show(seen.latest, before)


def show(risks: Risks, before: Setting | None) -> None:
    page.answer(text.answer(risks))
    st.caption(f"{text.setting_line(risks.setting)} {text.accounted(risks)}")
    former = numbers.stored_risks(before) if before is not None else None
    picture = page.Picture(charts.side_by_side(risks, former), text.alt(risks), partial(numbers.frame, risks))
    page.show(picture, key="population_chart")
    note = "These lines fit the best method again and print its mean excess risk, and that of θ = 0."
    page.evidence(picture, text.table(risks), name="population", code=text.snippet(risks), note=note)
    if not risks.live and (found := numbers.file_of(risks.setting.population)) is not None:
        st.caption(text.made_by(found))


def against_rows(setting: Setting, *, gap: bool) -> None:
    found, nearest = stored_for(setting)
    page.answer(text.gap_answer(found, nearest) if gap else text.rows_answer(found, nearest))
    st.caption(text.setting_line(nearest))
    figure = charts.against_rows(found, nearest, what="gap" if gap else "excess", bounds=BOUNDS.value())
    numbers_of = partial(numbers.curves_frame, found, nearest.d, nearest.epsilon)
    picture = page.Picture(figure, text.rows_alt(found, nearest, gap=gap), numbers_of)
    page.show(picture, key="population_rows_chart")
    page.evidence(picture, name="population_rows")
    st.caption(text.made_by(found))


def stored_for(setting: Setting) -> tuple[Stored, Setting]:
    """The file and the stored setting next to the one asked for; `ValueError` where nothing is stored."""
    found = numbers.file_of(setting.population)
    if found is None:
        raise ValueError(f"nothing is stored for {POPULATIONS[setting.population]}")
    if note := text.not_stored(found, setting):
        st.info(note, icon=":material/info:")
    d = int(numbers.nearest(found.dimensions, setting.d))
    epsilon = numbers.nearest(found.epsilons, setting.epsilon)
    return found, Setting(setting.population, setting.n, d, epsilon)


def passes(setting: Setting, steps: int, before: Setting | None) -> None:
    here = numbers.parts(setting, steps)
    least = min(((T, numbers.parts(setting, T).total) for T in numbers.STEPS), key=lambda one: one[1])
    page.answer(text.passes_answer(setting, steps, here, least))
    st.caption(text.setting_line(setting))
    picture = page.Picture(
        charts.passes(setting, steps, before), text.passes_alt(steps, here), partial(numbers.parts_frame, setting)
    )
    page.show(picture, key="population_passes_chart")
    page.evidence(picture, name="population_passes", code=text.passes_snippet(setting, steps))


def winners(setting: Setting) -> None:
    found, nearest = stored_for(setting)
    cells = numbers.winners(found, nearest.epsilon)
    page.answer(text.map_answer(cells))
    st.caption(f"{text.setting_line(nearest)} A question mark: the next method is within the error bars.")
    picture = page.Picture(
        charts.winners(found, nearest.epsilon, nearest),
        text.map_alt(cells),
        partial(numbers.map_frame, found, nearest.epsilon),
    )
    page.show(picture, key="population_map_chart")
    page.evidence(picture, text.map_rows(found, cells), name="population_map")
    st.caption(text.made_by(found))


def leak(setting: Setting) -> None:
    promise = numbers.single_step(setting.n, setting.d, setting.epsilon)
    page.answer(text.leak_answer(promise))
    st.caption(text.leak_line(setting, promise))
    picture = page.Picture(
        charts.leak(setting), text.leak_alt(promise), partial(numbers.leak_frame, setting.d, setting.epsilon)
    )
    page.show(picture, key="population_leak_chart")
    page.evidence(picture, name="population_leak", code=text.leak_snippet(setting))


def draw(setting: Setting, view: str, steps: int) -> None:
    before = c.previous("population", setting, GHOST.value())
    if view == "methods":
        methods(setting, before)
    elif view == "passes":
        passes(setting, steps, before)
    elif view == "map":
        winners(setting)
    elif view == "leak":
        leak(setting)
    else:
        against_rows(setting, gap=view == "gap")


page.begin(
    "population",
    "A model is fitted to n rows and judged on all that could have come. Its excess population risk is what it loses "
    "there, on average, to the best model of the ball ‖θ‖ ≤ M. Here the population is known, so nothing is estimated.",
)
c.preset_buttons(PRESETS, prefix="population")
left, right = page.columns()
with right, page.errors():
    asked = panel()
with left, page.errors():
    draw(*asked)
page.see_also("accuracy", "the same question on real data, by test accuracy")
page.predict(page.Prediction.of("population"), key="population__try")
page.about("population")
