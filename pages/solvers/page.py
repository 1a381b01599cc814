"""Solvers (Appendix F of Redberg et al. 2023): gradient norm against gradient evaluations, and cost against n."""

from typing import Any

import streamlit as st

from objpert_core.exceptions import DataUnavailableError
from pages.solvers import charts as charts
from pages.solvers import numbers as sr
from pages.solvers import words as text
from ui import page
from ui.controls import (
    Choice,
    Number,
    Pills,
    Preset,
    SelectSlider,
    Toggle,
    copy_link,
    log_values,
    powers_of_ten,
    preset_buttons,
    previous,
)

APPENDIX_F = sr.Setting(n=500, lam=1.0, sigma=4.0, columns="redundant", seed=0, tau=1e-6)

SOLVERS = Pills(
    "solvers_shown",
    "Solvers",
    tuple(sr.NAMES),
    options=tuple(sr.NAMES),
    format=sr.NAMES.__getitem__,
    most=len(sr.NAMES),
)
ROWS = SelectSlider("solvers_n", "Rows n", APPENDIX_F.n, (100, 200, 500, 1000), format=str)
LAM = SelectSlider(
    "solvers_lambda",
    "Regularisation λ",
    APPENDIX_F.lam,
    log_values(0.01, 1000),
    help="Not divided by n: for fixed ε it does not grow with n, and L/λ is what descent pays for.",
)
SIGMA = SelectSlider(
    "solvers_sigma",
    "Noise σ",
    APPENDIX_F.sigma,
    log_values(0.01, 100, extra=[4.0]),
    help="Standard deviation of each coordinate of the tilt b. In directions the data do not see, θ goes to −b/λ.",
)
TAU = SelectSlider(
    "solvers_tau",
    "Gradient norm to reach, τ",
    APPENDIX_F.tau,
    powers_of_ten(-9, 0),
    help="The package asks for 10⁻⁶, the paper’s experiments for 0.01.",
)
COLUMNS = Choice(
    "solvers_columns",
    "Columns",
    APPENDIX_F.columns,
    options=tuple(sr.COLUMNS),
    format=sr.COLUMNS.__getitem__,
    help="Of 50 synthetic features. Indicators of one attribute add up to 1, so some directions are curved by λ alone.",
)
SEED = Number("solvers_seed", "Seed of rows and noise", APPENDIX_F.seed, low=0, high=9999)
RELATIVE = Choice(
    "solvers_cost",
    "Second chart shows",
    charts.EVALUATIONS,
    (charts.EVALUATIONS, charts.RELATIVE),
    help="Divided by n log n, what Appendix F proves for SAG and SVRG is flat.",
)
GHOST = Toggle("solvers_ghost", "Keep the previous setting as a ghost", True)
PROBLEM = (ROWS, LAM, SIGMA, COLUMNS, SEED, TAU)
CONTROLS = (SOLVERS, *PROBLEM, RELATIVE, GHOST)


def preset(name: str, hint: str, **changes: Any) -> Preset:
    values = {**vars(APPENDIX_F), **changes}
    problem = {ROWS: "n", LAM: "lam", SIGMA: "sigma", COLUMNS: "columns", SEED: "seed", TAU: "tau"}
    return Preset(
        name, {control: values[field] for control, field in problem.items()} | {SOLVERS: SOLVERS.default}, hint
    )


PRESETS = (
    preset("Appendix F at ε = 1", "λ and σ about those of ε = 1 on rows of norm 1, and redundant columns."),
    preset("The paper’s τ", "The same, down to the gradient norm of the paper’s experiments only.", tau=0.01),
    preset("More privacy, ε = 0.1", "More regularisation: easier to solve.", lam=10.0, sigma=33.0),
    preset(
        "Less privacy, ε = 8, on 100 rows",
        "Little regularisation: harder to solve. On 100 rows instead of 500, so that it does not take the page long.",
        n=100,
        lam=0.056,
        sigma=0.62,
    ),
    preset("Diverse columns", "Every direction is well seen: λ no longer decides.", columns="diverse"),
    preset(
        "Much regularisation", "λ = 130 is more than all 500 rows can curve, nβ = 125: everything is easy.", lam=130.0
    ),
)


@st.fragment
def explore() -> None:
    preset_buttons(PRESETS, prefix="solvers")
    picture, panel = st.columns([2.6, 1], gap="medium")
    with panel:
        solvers = SOLVERS.show()
        n, lam, sigma, columns, seed, tau = (control.show() for control in PROBLEM)
        relative, with_ghost = RELATIVE.show() == charts.RELATIVE, GHOST.show()
        copy_link(CONTROLS)
    setting = sr.Setting(n, lam, sigma, columns, seed, tau)
    before = previous("solvers", setting)
    with page.errors():
        runs = {solver: sr.run(solver, setting) for solver in solvers}
        with picture:
            alt = text.alt(setting, runs)
            page.answer(*filter(None, (text.answer(setting, runs), text.unfinished(setting, runs), text.PRIVACY)))
            chart = charts.descent(setting, solvers, ghost=before if with_ghost else None)
            page.chart(chart, key="solvers_chart", alt=alt, filename="solvers")
        if runs:
            page.table(text.table_rows(setting, runs), alt=alt)
            if "newton" in runs:
                st.caption(text.hessians())
            page.downloads(
                lambda: sr.frame(solvers, setting),
                chart,
                filename="solvers",
                title=f"Gradient norm against gradient evaluations, {setting}",
            )
            page.reproduce(text.snippet(setting, solvers))
        cost(solvers, columns, relative)


def cost(solvers: tuple[str, ...], columns: str, relative: bool) -> None:
    """The second chart: what is stored of the cost against n."""
    st.subheader("How the cost grows with the number of rows", anchor=False)
    try:
        costs, provenance = sr.costs(solvers, columns), sr.provenance()
    except DataUnavailableError as error:
        st.info(str(error), icon=":material/info:")
        return
    if not costs:
        st.caption("Pick a solver to see its growth.")
        return
    st.markdown(text.growths(costs))
    if taken := text.seconds(costs):
        st.markdown(taken)
    chart, alt = charts.growth(columns, solvers, relative=relative), text.growth_alt(costs, relative=relative)
    page.chart(chart, key="solvers_growth", alt=alt, filename="solvers-growth")
    st.caption(text.made_by(provenance))
    page.table(text.growth_rows(costs), alt=alt)
    page.downloads(
        lambda: sr.stored_frame(solvers, columns),
        chart,
        filename="solvers-growth",
        title=f"Gradient evaluations against n, {columns} columns",
    )


TRY_QUESTION = (
    "Ten times as many rows, with redundant columns and the same λ and σ. How many times as many gradient evaluations "
    "does accelerated descent need?"
)
TRY_OPTIONS = (
    "10 times: each gradient costs ten times as much.",
    "About 40 times: there are also more steps.",
    "100 times and more: the steps grow as the rows do.",
)
TRY_REASON = (
    "A gradient costs n, and the number of steps grows as √(L/λ) log n with L about nβ: n^1.5 log n in all, so "
    "10^1.5 ≈ 32 times, and a little more for the logarithm. Gradient descent takes L/λ steps and pays a hundredfold. "
    "SAG and SVRG make their steps from a few rows at a time, so theirs grows tenfold, the logarithm aside."
)


@st.fragment
def predict() -> None:
    with st.expander("Try it: what do ten times as many rows cost?", icon=":material/psychology:"):
        if not page.try_it(TRY_QUESTION, TRY_OPTIONS, TRY_OPTIONS[1], key="solvers__try"):
            return
        shown = ("gradient-descent", "accelerated", "sag")
        try:
            costs = sr.costs(shown, "redundant")
            page.chart(
                charts.growth("redundant", shown, height=380),
                key="solvers_try_chart",
                alt=text.growth_alt(costs),
                filename="solvers-try-it",
            )
        except DataUnavailableError as error:
            st.info(str(error), icon=":material/info:")
        st.markdown(TRY_REASON)


page.title(
    "How many passes over the data until a private fit may be released?",
    "A private fit makes J(θ) small: the loss of all rows, regularised and tilted at random. Objective perturbation "
    "(the paper’s Algorithm 1) may release θ as soon as J is nearly flat there, that is, once its gradient ∇J is no "
    "longer than a threshold τ. Which solver got it there does not matter. Cost is counted in gradient evaluations, "
    "visits to single rows, which are the same on every machine.",
)
explore()
predict()
page.explain(
    page.text("solvers"),
    reference="Redberg, Koskela and Wang (2023), Appendix F and Theorem F.1; Nesterov (2004) for the accelerated "
    "method; Schmidt, Le Roux and Bach (2017) for SAG; Johnson and Zhang (2013) for SVRG; O’Donoghue and Candès (2015) "
    "for restarts.",
)
