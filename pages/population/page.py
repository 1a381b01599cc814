"""Population risk (Bassily, Feldman, Talwar, Thakurta 2019): what private methods lose on rows they have not seen."""

from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from objpert_core.experiments.population.methods import POPULATIONS, RADII, Setting
from objpert_core.experiments.population.stored import ExcessRisks
from pages.population import charts, numbers
from pages.population import words as text
from pages.population.numbers import Risks
from ui import controls as c
from ui import page, runs, style
from ui.jobs import JobView
from ui.runs import Run, Runs

RUNS: Runs[Risks] = Runs("population")

KINDS = tuple(POPULATIONS)
LOSS = c.Choice("population_loss", "What is learnt", "logistic", KINDS, POPULATIONS.__getitem__)
ROWS = c.SelectSlider("population_n", "Rows n", 10_000, (100, 300, 1000, 3000, 10_000, 30_000, 100_000), format=str)
SIZE = c.SelectSlider("population_d", "Parameters d", 10, (2, 3, 10, 30, 100, 300, 500), format=str)
DELTA = "δ = 1/n². Neighbours differ in one row that is replaced."
EPSILON = c.SelectSlider(
    "population_epsilon", "Privacy budget ε", 0.5, c.log_values(0.1, 5, steps=(1, 2, 5), extra=[8.0]), help=DELTA
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
EVERY = c.Toggle("population_every", "Objective perturbation with every choice of Λ", False)
GHOST = c.Toggle("population_ghost", "Setting before, faintly", True)
CONTROLS = (LOSS, ROWS, SIZE, EPSILON, RADIUS, VIEW, STEPS, BOUNDS, EVERY, GHOST)

_ALL: dict[c.Control, Any] = {LOSS: "logistic", ROWS: 10_000, SIZE: 10, EPSILON: 0.5, RADIUS: 0.0, VIEW: "methods"}
_ALL |= {STEPS: 200, BOUNDS: False, EVERY: False}


def preset(name: str, hint: str, **values: Any) -> c.Preset:
    named = {"loss": LOSS, "n": ROWS, "d": SIZE, "epsilon": EPSILON, "view": VIEW, "T": STEPS, "bounds": BOUNDS}
    return c.Preset(name, _ALL | {named[key]: value for key, value in values.items()}, hint)


PRESETS = (
    preset("Proved and measured", "Theorem 3.2: noisy SGD against n, with what is proved.", view="rows", bounds=True),
    preset("More budget: ε = 2", "Theorem 5.3: objective perturbation where ε = 2.", epsilon=2.0),
    preset("A loss with a corner", "The absolute loss: its corner is rounded by a Moreau envelope.", loss="absolute"),
    preset("With replacement leaks", "T = 1: Theorem 3.1 claims privacy, and fails.", epsilon=1.0, view="leak"),
    preset(
        "Nothing is fast here", "The linear loss, d = 500: the hard instance of the lower bound.", loss="hard", d=500
    ),
    preset("Nothing to learn: n = d", "As many parameters as rows: nothing to be learnt privately.", n=100, d=100),
)


def panel() -> tuple[Setting, str, int]:
    """The controls; returns what they ask for."""
    view = page.choose(VIEW)
    steps = STEPS.show() if view == "passes" else STEPS.value()
    n, epsilon, d, loss = (control.show() for control in (ROWS, EPSILON, SIZE, LOSS))
    with page.tools(CONTROLS, PRESETS, name="population"):
        radius = RADIUS.show()
        BOUNDS.show(disabled=view not in ("rows", "gap"))
        EVERY.show(disabled=view not in ("methods", "rows", "gap"))
        GHOST.show(disabled=view not in ("methods", "passes"))
    if view != "passes":
        page.keep(STEPS)
    return Setting(loss, n, d, epsilon, radius or RADII[loss]), view, steps


def methods(left: DeltaGenerator, setting: Setting, before: Setting | None) -> None:
    found = numbers.stored_risks(setting)
    run = RUNS.latest()
    if found is not None:
        if run is not None:
            run.job.stop()
        show(left, found, before)
        return
    with left:
        if setting.n > numbers.MOST_ROWS:
            st.info(text.too_many(numbers.MOST_ROWS), icon=":material/info:")
            return
        if run is None or run.request != setting or draw_again(run):
            former = RUNS.previous(lambda risks: risks.trials > 0)
            if RUNS.start(setting, partial(numbers.draw, setting, numbers.DRAWS), previous=former):
                st.rerun()  # only a whole run sets the timer
    seen = RUNS.seen()
    if seen is not None and seen.latest is not None and seen.run.request == setting:
        show(left, seen.latest, before, seen.run.previous, under_way=seen.view.active)
    else:
        look(left)


def draw_again(run: Run[Risks]) -> bool:
    """Whether a run that was stopped, or failed, is to be made again."""
    return not run.job.view().active and run.job.view().state != "finished" and st.button("Draw again")


def look(left: DeltaGenerator) -> None:
    """How far the draws are, beside Stop, or how they ended."""

    def ended(view: JobView[Risks]) -> str | None:
        return runs.ended_early(view, text.STOPPED) if view.latest is None else runs.ended_early(view)

    with left:
        RUNS.look(lambda seen: text.progress(seen.view, numbers.DRAWS), ended)


def show(
    left: DeltaGenerator,
    risks: Risks,
    before: Setting | None,
    former: Risks | None = None,
    *,
    under_way: bool = False,
) -> None:
    told, setting = text.answer(risks), risks.setting
    if before is not None:
        former = numbers.stored_risks(before) or former
    every = EVERY.value()
    figure = charts.side_by_side(risks, former if GHOST.value() else None, every=every)
    picture = page.Picture(figure, text.alt(risks), partial(numbers.frame, risks))
    with left:
        told = text.so_far(told) if under_way and risks.trials < numbers.DRAWS / 2 else told
        page.answer(told, promise=text.promise(setting), why=text.moved(former, risks))
        if risks.live:
            look(left)
        page.show(picture, key="population_chart")
    if style.embedded():
        return
    st.caption(f"{text.setting_line(setting)}{text.drawn(risks)}", help=text.CERTIFIED)
    note = "In the project's folder these lines fit the best method again: its mean excess risk, and that of θ = 0."
    page.evidence(picture, text.table(risks, every=every), name="population", code=text.snippet(risks), note=note)
    if not risks.live and (found := numbers.file_of(setting.population)) is not None:
        st.caption(text.made_by(found))


def stage(left: DeltaGenerator, picture: page.Picture, key: str, told: str, promise: str, why: str = "") -> bool:
    """The answer and its chart; whether there is more to draw, which a slide has not."""
    with left:
        page.answer(told, promise=promise, why=why)
        page.show(picture, key=key)
    return not style.embedded()


def against_rows(left: DeltaGenerator, setting: Setting, *, gap: bool) -> None:
    if (known := stored_for(setting)) is None:
        return
    found, nearest = known
    what, bounds = "gap" if gap else "excess", BOUNDS.value()
    point, proved = found.point(nearest.n, nearest.d, nearest.epsilon, "sgd"), numbers.bound("sgd", nearest)
    if gap:
        told = text.gap_answer(found, nearest)
    elif bounds and point is not None and proved is not None:
        told = text.bound_answer(nearest, point.excess.mean, proved)
    else:
        told = text.rows_answer(found, nearest)
    figure = charts.against_rows(found, nearest, what=what, bounds=bounds, every=EVERY.value())
    numbers_of = partial(numbers.curves_frame, found, nearest.d, nearest.epsilon)
    picture = page.Picture(figure, f"{told} {text.rows_alt(found, nearest, gap=gap)}", numbers_of)
    if not stage(left, picture, "population_rows_chart", told, text.promise(nearest)):
        return
    st.caption(f"{text.setting_line(nearest)}. {text.GAPS if gap else ''}")
    rows = text.rows_table(found, nearest, what)
    note = "In a checkout these lines print the tight method's stored means."
    page.evidence(picture, rows, name="population_rows", code=text.rows_snippet(found, nearest, what), note=note)
    st.caption(text.made_by(found))


def stored_for(setting: Setting) -> tuple[ExcessRisks, Setting] | None:
    """The file and the stored setting next to the one asked for; None, and a word about it, where nothing is."""
    found = numbers.file_of(setting.population)
    if found is None:
        st.info(text.nothing_stored(setting), icon=":material/info:")
        return None
    if note := text.not_stored(found, setting):
        st.info(note, icon=":material/info:")
    d = int(numbers.nearest(found.dimensions, setting.d))
    epsilon = numbers.nearest(found.epsilons, setting.epsilon)
    return found, Setting(setting.population, setting.n, d, epsilon)


def passes(left: DeltaGenerator, setting: Setting, steps: int, before: Setting | None) -> None:
    here = numbers.parts(setting, steps)
    least = min(((T, numbers.parts(setting, T).total) for T in numbers.STEPS), key=lambda one: one[1])
    told = text.passes_answer(setting, steps, here, least)
    alt = f"{told} {text.passes_alt(steps, here)}"
    ghost = before if GHOST.value() else None
    picture = page.Picture(charts.passes(setting, steps, ghost), alt, partial(numbers.parts_frame, setting))
    why = text.steps_moved(c.previous("population_steps", (setting, steps)), (setting, steps))
    if stage(left, picture, "population_passes_chart", told, text.promise(setting), why):
        st.caption(f"{text.setting_line(setting)}.")
        code = text.passes_snippet(setting, steps)
        page.evidence(picture, text.parts_table(here, least), name="population_passes", code=code)


def winners(left: DeltaGenerator, setting: Setting) -> None:
    if (known := stored_for(setting)) is None:
        return
    found, nearest = known
    cells = numbers.winners(found, nearest.epsilon)
    told = text.map_answer(cells)
    figure = charts.winners(found, nearest.epsilon, nearest)
    frame = partial(numbers.map_frame, found, nearest.epsilon)
    picture = page.Picture(figure, f"{told} {text.map_alt(cells)}", frame)
    if not stage(left, picture, "population_map_chart", told, text.promise(nearest)):
        return
    st.caption(f"{text.setting_line(nearest)}. A question mark: the next method is within the error bars.")
    code, note = text.map_snippet(found, nearest.epsilon), "In a checkout these lines print who wins where."
    page.evidence(picture, text.map_rows(found, cells), name="population_map", code=code, note=note)
    st.caption(text.made_by(found))


def leak(left: DeltaGenerator, setting: Setting) -> None:
    promise = numbers.single_step(setting.n, setting.d, setting.epsilon)
    told = text.leak_answer(promise)
    rows_of = partial(numbers.leak_frame, setting.d, setting.epsilon)
    picture = page.Picture(charts.leak(setting), f"{told} {text.leak_alt(promise)}", rows_of)
    if stage(left, picture, "population_leak_chart", told, text.leak_promise(setting, promise)):
        st.caption(text.leak_line(setting, promise))
        page.evidence(picture, text.leak_rows(rows_of()), name="population_leak", code=text.leak_snippet(setting))


def explore() -> None:
    c.preset_buttons(PRESETS, prefix="population")
    left, right = page.columns()
    with page.errors():
        with right:
            setting, view, steps = panel()
        before = c.previous("population", setting)
        if view == "methods":
            methods(left, setting, before)
        elif view == "passes":
            passes(left, setting, steps, before)
        elif view == "map":
            winners(left, setting)
        elif view == "leak":
            leak(left, setting)
        else:
            against_rows(left, setting, gap=view == "gap")


page.begin(
    "population",
    "How much worse is a private model, on rows that it has not seen, than the best model possible? That is its excess "
    "population risk. We made the populations, so it is computed, not tested.",
)
RUNS.follow(explore)
page.see_also("accuracy", "the same question on real data, by test accuracy")
page.predict(page.Prediction.of("population"), key="population__try")
page.about("population")
