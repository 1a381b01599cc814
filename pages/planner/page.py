"""Planner: which (σ, λ) meets a privacy target at the least cost (Redberg et al. 2023, section 5 and appendix H)."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from objpert_core.accounting import default_noise_ratio
from objpert_core.experiments.studies.noise_ratios import COLUMNS, MAX_DRAWS, Estimate, Plan, sample
from pages.planner import charts
from pages.planner import numbers as pc
from pages.planner import words as text
from ui import controls as c
from ui import page, sentences, style
from ui import parameters as p
from ui.runs import Runs

RUNS: Runs[Estimate] = Runs("planner")
ADULT = (45_222, 105)  # rows without missing values, and columns after one-hot encoding
PAPER = pc.Setting(1.0, 1e-5, *ADULT, intercept_scaling=1.0, norm=50.0, bound="rdp", ratio=1.3)

NEAR_1 = (1.0, 1.002, 1.005, 1.01, 1.02, 1.03, 1.04, 1.05, 1.06, 1.08, 1.1, 1.12, 1.15, 1.2, 1.25, 1.3, 1.35, 1.4)
RATIOS = (*NEAR_1, 1.45, 1.5, 1.6, 1.7, 1.8, 1.9, 2.0, 2.2, 2.4, 2.6, 2.8, 3.0)
ALONG = "Moves the point along the frontier. f = σ / σ of the Gaussian mechanism with the same sensitivity."
RATIO = c.SelectSlider("planner_f", "Noise ratio f", PAPER.ratio, RATIOS, help=ALONG)
WHOSE = "Rényi and Hockey-stick: the published theorem, accounted in two ways. The others are this project’s."
NAMES, NAME = tuple(pc.NAMES), pc.NAMES.__getitem__
BOUND = c.Choice("planner_bound", "Bound behind the point", PAPER.bound, NAMES, NAME, help=WHOSE)
EPSILON = p.epsilon("planner", PAPER.epsilon, help="Of one fit, under adding or removing one row.")
DELTA = p.delta("planner")
PER_ROW = "What the theorem allows in total hardly depends on n, so per row it falls as 1/n. A public guess will do."
ROWS = p.counts("planner", "rows", "Rows n", PAPER.rows, 100, 1_000_000, help=PER_ROW)
FEATURES = p.counts("planner", "features", "Features d", PAPER.features, 1, 5000)
APPENDED = "Rows have norm 1 and the constant s is appended: R = √(1 + s²). The paper has s = 1, the package s = 0.3; "
APPENDED += "0 means no intercept."
CONSTANTS = (0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0)
SCALING = p.intercept_scaling("planner", PAPER.intercept_scaling, CONSTANTS, help=APPENDED)
SIZE, SIZES = "Size of the model without privacy, ‖θ₀‖", c.log_values(0.1, 1000, steps=p.FEW_STEPS)
GUESS = "A guess; do not measure it on private data. Synthetic rows below show theirs."
NORM = c.SelectSlider("planner_norm", SIZE, PAPER.norm, SIZES, help=GUESS)
F_MAX = p.view("planner", "f axis up to", 3.0, (1.1, 1.2, 1.5, 2.0, 3.0, 5.0))
SPECIAL = p.special_bounds("planner")
GHOST = p.ghost("planner")
COLUMN = c.Choice("planner_columns", "Synthetic columns", "even", options=tuple(COLUMNS), horizontal=True)
SAMPLE: tuple[c.Control, ...] = (COLUMN, p.draws("planner", 6, MAX_DRAWS), p.seed("planner"))
SETTING = (EPSILON, DELTA, ROWS, FEATURES, SCALING, NORM, BOUND, RATIO)  # as the fields of `pc.Setting`
IN_SIGHT, IN_VIEW = (RATIO, EPSILON, BOUND, ROWS, FEATURES, NORM), (DELTA, SCALING)
CONTROLS = (*IN_SIGHT, *IN_VIEW, F_MAX, *SPECIAL.values(), GHOST, *SAMPLE)


def preset(name: str, hint: str, epsilon: float, bound: str, ratio: float, scaling: float) -> c.Preset:
    values = (epsilon, PAPER.delta, *ADULT, scaling, PAPER.norm, bound, ratio, 3.0)
    hint = f"{hint} Adult’s size: 45,222 rows, 105 features."
    return c.Preset(name, dict(zip((*SETTING, F_MAX), values, strict=True)), hint)


def ours(epsilon: float) -> c.Preset:
    f = default_noise_ratio("logistic", epsilon)
    hint = f"What the package takes at ε = {epsilon:g}: the logistic bound, f = {f:g}, s = 0.3."
    return preset(f"Ours at ε = {epsilon:g}", hint, epsilon, "logistic", f, 0.3)


RECIPE = "Redberg et al. (2023), section 5: Rényi, f = 1.3, a constant feature 1; ε = 1."
FORMULA = "f = 1 under the logistic bound: σ of the Gaussian mechanism, λ from one formula."
PRESETS = (
    preset("More noise, less λ", RECIPE, 1.0, "rdp", 1.3, 1.0),
    preset("No search: f = 1", FORMULA, 1.0, "logistic", 1.0, 1.0),
    *(ours(epsilon) for epsilon in (0.1, 1.0, 8.0)),
)


@dataclass(frozen=True)
class Shown:
    """What the controls say: the point, the bounds in sight, how far f goes, the setting before."""

    setting: pc.Setting
    bounds: tuple[str, ...]
    f_max: float
    before: pc.Setting | None

    @property
    def ghost(self) -> pc.Setting | None:
        """The setting before, where its faint picture is wanted."""
        return self.before if GHOST.value() else None


def panel() -> Shown:
    """The controls beside the first chart."""
    values = {control: control.show() for control in IN_SIGHT}
    with page.tools(CONTROLS, PRESETS, name="planner"):
        values |= {control: control.show() for control in IN_VIEW}
        f_max = F_MAX.show()
        hidden = {bound for bound, control in SPECIAL.items() if not control.show()}
        GHOST.show()
    setting = pc.Setting(*(values[control] for control in SETTING))
    bounds = tuple(bound for bound in pc.NAMES if bound not in hidden - {setting.bound})
    return Shown(setting, bounds, f_max, c.previous("planner", setting))


@st.fragment
def explore() -> None:
    c.preset_buttons(PRESETS, prefix="planner")
    left, beside = page.columns()
    with beside:
        now = panel()
    with page.errors():
        setting, here = now.setting, pc.spot(now.setting, now.setting.bound, now.setting.ratio)
        frontier = page.Picture(
            charts.frontiers(setting, now.bounds, f_max=now.f_max, ghost=now.ghost),
            text.frontier_alt(setting, now.bounds),
            partial(pc.frame, setting),
            f"Smallest λ against f, {target(setting)}",
        )
        with left:
            accountant = text.ACCOUNTANTS[setting.bound]
            promise = sentences.promise(setting.epsilon, setting.delta, accountant) if here else ""
            page.answer(text.answer(setting), promise=promise, why=text.why(now.before, setting))
            page.show(frontier, key="planner_frontier")
        if style.embedded():
            page.keep(*SAMPLE)
            return
        st.caption(" ".join(filter(None, (text.closed_form(setting), text.off_view(setting, now.f_max)))))
        rows = pc.table_rows(setting, now.bounds)
        page.table(rows, alt=frontier.alt)
        page.evidence(frontier, shown=rows, name="planner", code=text.snippet(setting) if here else "")
        cost(now)


def target(setting: pc.Setting) -> str:
    return f"ε = {setting.epsilon:g}, δ = {setting.delta:g}, R = {setting.radius:.4g}"


def cost(now: Shown) -> None:
    """What the choice costs: the theorem's curve, and fits on synthetic rows beside it."""
    setting = now.setting
    st.header("What the choice costs", anchor=False)
    places = st.columns(len(SAMPLE), gap="medium", vertical_alignment="bottom")
    plan = setting.plan(*(shown_in(place, control) for place, control in zip(places, SAMPLE, strict=True)))
    seen = RUNS.seen()
    estimate = seen.latest if seen and seen.run.request == plan else None
    losses = page.Picture(
        charts.excess_losses(setting, now.bounds, f_max=now.f_max, ghost=now.ghost, estimate=estimate),
        text.excess_alt(setting, estimate, now.bounds),
        partial(pc.excess_frame, setting, estimate),
        f"Excess training loss against f, {target(setting)}",
    )
    RUNS.follow(sampling, plan, estimate)
    page.show(losses, key="planner_excess")
    st.caption(text.caveats(setting))
    page.evidence(losses, name="planner_excess")


def shown_in(place: DeltaGenerator, control: c.Control) -> Any:
    with place:
        return control.show()


def sampling(plan: Plan, shown: Estimate | None) -> None:
    """The button, how far the sample is that it started, and its table; `shown` is what is in the picture."""
    if not RUNS.active:
        button, words = st.columns([1, 3], vertical_alignment="center")
        pressed = button.button(
            "Sample it", key="planner_sample", type="primary", icon=":material/science:", width="stretch"
        )
        words.caption(text.invitation(plan))
        if pressed:
            RUNS.start(plan, partial(sample, plan))
            st.rerun()
    seen = RUNS.look(lambda seen: text.progress(seen.view), text.outcome)
    if seen is None or seen.view.active:
        return
    if seen.run.request != plan:
        other = "What was sampled belongs to another setting; sample again for this one."
        st.info(other, icon=":material/sync_problem:")
    elif seen.latest is not shown:
        st.rerun()  # the picture was drawn before the last result came
    elif shown is not None and shown.best():
        st.markdown(text.sampled(shown))
        st.caption(text.measured_norm(shown))
        for line in filter(None, (text.recipes(shown), text.failures(shown))):
            st.markdown(line)
        page.table(text.sample_rows(shown), alt=text.sampled(shown), name="planner_sampled")


def revealed() -> None:
    shown = ("rdp", "logistic")
    figure = charts.excess_losses(PAPER, shown, f_max=3.0)
    page.show(page.Picture(figure, text.excess_alt(PAPER, None, shown)), key="planner_try_chart")


page.begin(
    "planner",
    "A promise (ε, δ) can be kept with little noise and much regularisation, or the other way round. Each curve is the "
    "smallest λ that one bound accepts.",
)
explore()
page.predict(page.Prediction.of("planner", revealed), key="planner__try")
page.about("planner")
