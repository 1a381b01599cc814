"""Planner: which (σ, λ) meets a privacy target at the least cost (Redberg et al. 2023, section 5 and appendix H)."""

from functools import partial
from typing import Any

import streamlit as st

from objpert_core.accounting import default_noise_ratio
from objpert_core.experiments.studies.noise_ratios import COLUMNS, MAX_DRAWS, Estimate, Plan
from pages.planner import charts as charts
from pages.planner import jobs as planner_jobs
from pages.planner import numbers as pc
from pages.planner import words as text
from ui import page
from ui.controls import (
    ROUND_STEPS,
    Choice,
    Number,
    Preset,
    SelectSlider,
    Toggle,
    copy_link,
    log_values,
    powers_of_ten,
    preset_buttons,
    previous,
)
from ui.jobs import QueueFullError, shared_runner

POLL_SECONDS = 0.5
ADULT = (45_222, 105)  # rows without missing values, and columns after one-hot encoding
PAPER = pc.Setting(1.0, 1e-5, *ADULT, intercept_scaling=1.0, norm=50.0, bound="rdp", ratio=1.3)

RATIOS = (1.0, 1.002, 1.005, 1.01, 1.02, 1.03, 1.04, 1.05, 1.06, 1.08, 1.1, 1.12, 1.15, 1.2, 1.25, 1.3, 1.35, 1.4)
RATIOS += (1.45, 1.5, 1.6, 1.7, 1.8, 1.9, 2.0, 2.2, 2.4, 2.6, 2.8, 3.0)
RATIO = SelectSlider(
    "planner_f",
    "Noise ratio f",
    PAPER.ratio,
    RATIOS,
    help="Moves the point along the frontier. f = σ / σ of the Gaussian mechanism with the same sensitivity.",
)
BOUND = Choice(
    "planner_bound",
    "Bound behind the point",
    PAPER.bound,
    options=tuple(pc.NAMES),
    format=pc.NAMES.__getitem__,
    help="Rényi and Hockey-stick: the published theorem, accounted in two ways. The last two are this project’s.",
)
EPSILON = SelectSlider(
    "planner_epsilon",
    "Privacy budget ε",
    PAPER.epsilon,
    log_values(0.01, 20, extra=[0.025, 0.05, 0.25], steps=ROUND_STEPS),
    help="Of one fit, under adding or removing one row.",
)
DELTA = SelectSlider("planner_delta", "Failure probability δ", PAPER.delta, powers_of_ten(-12, -2))
ROWS = SelectSlider(
    "planner_rows",
    "Rows n",
    PAPER.rows,
    tuple(int(v) for v in log_values(100, 1e6, extra=[PAPER.rows], steps=(1, 2, 3, 5, 7))),
    format=str,
    help="What the theorem allows in total hardly depends on n, so per row it falls as 1/n. A public guess will do.",
)
FEATURES = SelectSlider(
    "planner_features",
    "Features d",
    PAPER.features,
    tuple(int(v) for v in log_values(1, 5000, extra=[PAPER.features], steps=(1, 2, 3, 5, 7))),
    format=str,
)
SCALING = SelectSlider(
    "planner_scaling",
    "Intercept scaling s",
    PAPER.intercept_scaling,
    (0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0),
    help="Rows have norm 1 and the constant s is appended: R = √(1 + s²). The paper has s = 1, the package s = 0.3; "
    "0 means no intercept.",
)
NORM = SelectSlider(
    "planner_norm",
    "Size of the model without privacy, ‖θ₀‖",
    PAPER.norm,
    log_values(0.1, 1000, steps=(1, 1.5, 2, 3, 5, 7)),
    help="A guess; do not measure it on private data. Synthetic rows below show theirs.",
)
F_MAX = SelectSlider("planner_view", "f axis up to", 3.0, (1.1, 1.2, 1.5, 2.0, 3.0, 5.0))
MONOTONE = Toggle("planner_monotone", "Curve for monotone losses", False, help="Any GLM loss with f′ of one sign.")
GHOST = Toggle("planner_ghost", "Keep the previous setting as a ghost", True)
COLUMN = Choice("planner_columns", "Synthetic columns", "even", options=tuple(COLUMNS), horizontal=True)
DRAWS = Number("planner_draws", "Noise draws", 6, low=1, high=MAX_DRAWS)
SEED = Number("planner_seed", "Seed of rows and noise", 0, low=0, high=9999)
CONTROLS = (RATIO, BOUND, EPSILON, DELTA, ROWS, FEATURES, SCALING, NORM, F_MAX, MONOTONE, GHOST, COLUMN, DRAWS, SEED)


def preset(name: str, hint: str, *, epsilon: float, bound: str, ratio: float, scaling: float) -> Preset:
    data = {ROWS: PAPER.rows, FEATURES: PAPER.features, NORM: PAPER.norm, F_MAX: 3.0}
    target = {EPSILON: epsilon, DELTA: PAPER.delta, BOUND: bound, RATIO: ratio, SCALING: scaling}
    return Preset(name, target | data, f"{hint} Adult’s size: 45,222 rows, 105 features.")


def ours(epsilon: float) -> Preset:
    f = default_noise_ratio("logistic", epsilon)
    hint = f"What the package takes at ε = {epsilon:g}: the logistic bound, f = {f:g}, s = 0.3."
    return preset(f"Ours at ε = {epsilon:g}", hint, epsilon=epsilon, bound="logistic", ratio=f, scaling=0.3)


PRESETS = (
    preset(
        "The paper’s recipe",
        "Redberg et al. (2023), section 5: Rényi, f = 1.3, a constant feature 1; ε = 1.",
        epsilon=1.0,
        bound="rdp",
        ratio=1.3,
        scaling=1.0,
    ),
    preset(
        "Closed form",
        "f = 1 under the logistic bound: σ of the Gaussian mechanism, λ from one formula.",
        epsilon=1.0,
        bound="logistic",
        ratio=1.0,
        scaling=1.0,
    ),
    *(ours(epsilon) for epsilon in (0.1, 1.0, 8.0)),
)


def panel() -> tuple[pc.Setting, Plan]:
    ratio, bound = RATIO.show(), BOUND.show()
    epsilon, delta = EPSILON.show(), DELTA.show()
    rows, features, scaling, norm = ROWS.show(), FEATURES.show(), SCALING.show(), NORM.show()
    with st.expander("Sampled estimate"):
        columns, draws, seed = COLUMN.show(), DRAWS.show(), SEED.show()
    setting = pc.Setting(epsilon, delta, rows, features, scaling, norm, bound, ratio)
    return setting, setting.plan(columns, int(draws), int(seed))


@st.fragment
def explore() -> None:
    preset_buttons(PRESETS, prefix="planner")
    picture, controls = st.columns([2.6, 1], gap="medium")
    with controls:
        setting, plan = panel()
        f_max, monotone, with_ghost = F_MAX.show(), MONOTONE.show(), GHOST.show()
        copy_link(CONTROLS)
    bounds = tuple(b for b in pc.NAMES if b != "monotone" or monotone or setting.bound == "monotone")
    ghost = previous("planner", setting) if with_ghost else None
    with page.errors():
        run: planner_jobs.Run | None = st.session_state.get("planner__run")
        seen = run.job.view() if run else None  # once, so that the chart and the timer agree
        estimate = seen.latest if run and seen and run.plan == plan else None
        with picture:
            answer(setting, estimate)
            frontier = charts.frontiers(setting, bounds, f_max=f_max, ghost=ghost)
            page.chart(
                frontier, key="planner_frontier", alt=text.frontier_alt(setting, bounds), filename="planner-frontier"
            )
            st.caption(" ".join(filter(None, (text.closed_form(setting), text.off_view(setting, f_max)))))
            losses = charts.excess_losses(setting, bounds, f_max=f_max, ghost=ghost, estimate=estimate)
            alt = text.excess_alt(setting, estimate, bounds)
            page.chart(losses, key="planner_excess", alt=alt, filename="planner-excess")
            st.caption(text.caveats(setting))
            active = seen is not None and seen.active
            st.fragment(sampling, run_every=POLL_SECONDS if active else None)(plan, active)
        page.table(pc.table_rows(setting, bounds), alt=text.frontier_alt(setting, bounds))
        downloads(setting, estimate, frontier, losses)
        if pc.spot(setting, setting.bound, setting.ratio):
            page.reproduce(text.snippet(setting))


def answer(setting: pc.Setting, estimate: Estimate | None) -> None:
    works = pc.spot(setting, setting.bound, setting.ratio) is not None
    lines = [text.where_best(setting)]
    if estimate is not None and estimate.best():
        lines.append(text.sampled(estimate))
    promise = [text.odds(setting), text.accounted(setting)] if works else []
    page.answer(text.answer(setting), *lines, *promise)


def downloads(setting: pc.Setting, estimate: Estimate | None, frontier: Any, losses: Any) -> None:
    target = f"ε = {setting.epsilon:g}, δ = {setting.delta:g}, R = {setting.radius:.4g}"
    left, right = st.columns(2)
    with left:
        st.caption("The frontier")
        page.downloads(
            partial(pc.frame, setting), frontier, filename="planner", title=f"Smallest λ against f, {target}"
        )
    with right:
        st.caption("The excess loss")
        page.downloads(
            partial(pc.excess_frame, setting, estimate),
            losses,
            filename="planner_excess",
            title=f"Excess training loss against f, {target}",
        )


def start(plan: Plan) -> None:
    """Queue the sampling; one of this session that is still under way is stopped by it."""
    try:
        job = shared_runner().submit(page.visitor("planner"), planner_jobs.work(plan))
    except QueueFullError as error:
        st.session_state["planner__refused"] = str(error)
        return
    st.session_state["planner__run"] = planner_jobs.Run(plan, job)


def sampling(plan: Plan, polling: bool) -> None:
    """The button, the progress of what it started, and its table."""
    run: planner_jobs.Run | None = st.session_state.get("planner__run")
    view = run.job.view() if run else None
    if polling and not (view and view.active):
        st.rerun()  # the whole page once more: the picture gets the points, the timer ends
    if refused := st.session_state.pop("planner__refused", None):
        st.error(refused, icon=":material/hourglass_disabled:")
    if run and view and view.active:
        page.under_way(text.progress(view), key="planner_stop", stop=run.job.stop)
        return
    button, words = st.columns([1, 3], vertical_alignment="center")
    pressed = button.button(
        "Sample it", key="planner_sample", type="primary", icon=":material/science:", width="stretch"
    )
    words.caption(text.invitation(plan))
    if pressed:
        start(plan)
        st.rerun()
    if run is None or view is None:
        return
    if note := text.outcome(view):
        (st.error if view.state == "failed" else st.info)(note, icon=":material/info:")
    if run.plan != plan:
        st.info(
            "What was sampled belongs to another setting; sample again for this one.", icon=":material/sync_problem:"
        )
    elif view.latest is not None and view.latest.best():
        results(view.latest)


def results(estimate: Estimate) -> None:
    st.caption(text.measured_norm(estimate))
    for line in filter(None, (text.recipes(estimate), text.failures(estimate))):
        st.markdown(line)
    page.table(text.sample_rows(estimate), alt=text.sampled(estimate))


TRY_QUESTION = (
    "The paper’s recipe adds 30 % more noise than the Gaussian mechanism, because its Rényi bound then accepts a much "
    "smaller λ. With the logistic bound instead (same ε = 1, δ = 10⁻⁵, Adult’s size, ‖θ₀‖ = 50): at which f does "
    "Theorem H.1 allow the least excess loss?"
)
TRY_OPTIONS = (
    "At about 1.3 as well.",
    "Well above 1.3: λ is worth more than noise.",
    "Almost at 1: there λ is small enough already.",
)
TRY_REASON = (
    "The published bounds blow up as f approaches 1, so a good deal of noise is well spent on getting λ down. The "
    "logistic bound starts at f = 1 with the closed form’s λ, already close to the λ that learning would like; 2 or "
    "3 % more noise takes a third off it, and beyond that noise costs more than λ saves."
)


@st.fragment
def predict() -> None:
    with st.expander("Try it: does the best f move with the bound?", icon=":material/psychology:"):
        if not page.try_it(TRY_QUESTION, TRY_OPTIONS, TRY_OPTIONS[2], key="planner__try"):
            return
        page.chart(
            charts.excess_losses(PAPER, ("rdp", "logistic"), f_max=3.0),
            key="planner_try_chart",
            alt=text.excess_alt(PAPER, None, ("rdp", "logistic")),
            filename="planner-try-it",
        )
        st.markdown(TRY_REASON)


page.begin(
    "planner",
    "A promise (ε, δ) can be kept with little noise and much regularisation, or the other way round. Each curve shows "
    "the smallest λ that one bound accepts as the noise grows; the point on it is yours to move.",
)
explore()
predict()
page.about("planner")
