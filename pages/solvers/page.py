"""Solvers (Appendix F of Redberg et al. 2023): gradient norm against gradient evaluations, and cost against n."""

from dataclasses import replace
from typing import Any

import streamlit as st

from objpert_core.exceptions import DataUnavailableError
from objpert_core.experiments.studies import solver_costs as sc
from pages.solvers import charts
from pages.solvers import numbers as sr
from pages.solvers import words as text
from ui import controls as c
from ui import page, style
from ui import parameters as p

APPENDIX_F = sr.Setting(n=500, lam=1.0, sigma=4.0, columns="redundant", seed=0, tau=1e-6)

NAMES = tuple(sr.NAMES)
SOLVERS = c.Pills("solvers_shown", "Solvers", NAMES, options=NAMES, format=sr.NAMES.__getitem__, most=len(NAMES))
ROWS = c.SelectSlider("solvers_n", "Rows n", APPENDIX_F.n, (100, 200, 500, 1000), format=str)
NOT_DIVIDED = "Not divided by n: for fixed ε it does not grow with n, and L/λ is what descent pays for."
LAM = p.lam("solvers", APPENDIX_F.lam, high=1000, help=NOT_DIVIDED)
TILT = "Standard deviation of each coordinate of the tilt b. In directions the data do not see, θ goes to −b/λ."
SIGMA = p.sigma("solvers", APPENDIX_F.sigma, 0.01, 100, extra=[4.0], help=TILT)
ASKED = "The package asks for 10⁻⁶, the paper’s experiments for 0.01."
TAU = c.SelectSlider("solvers_tau", "Gradient norm to reach, τ", APPENDIX_F.tau, c.powers_of_ten(-9, 0), help=ASKED)
KINDS, KIND = tuple(sr.COLUMNS), sr.COLUMNS.__getitem__
ONE_HOT = "Of 50 synthetic features. Indicators of one attribute add up to 1, so some directions are curved by λ alone."
COLUMNS = c.Choice("solvers_columns", "Columns", APPENDIX_F.columns, KINDS, KIND, help=ONE_HOT)
SEED = p.seed("solvers")
SHOWN, FLAT = (
    (charts.EVALUATIONS, charts.RELATIVE),
    "Divided by n log n, what Appendix F proves for SAG and SVRG is flat.",
)
RELATIVE = c.Choice("solvers_cost", "Second chart shows", charts.EVALUATIONS, SHOWN, help=FLAT)
GHOST = p.ghost("solvers")
PROBLEM: dict[c.Control, str] = {LAM: "lam", ROWS: "n", TAU: "tau", COLUMNS: "columns", SIGMA: "sigma"}
UNSEEN: dict[c.Control, str] = {SEED: "seed"}
CONTROLS = (*PROBLEM, SOLVERS, *UNSEEN, RELATIVE, GHOST)


def preset(name: str, hint: str, **changes: Any) -> c.Preset:
    values = p.held(PROBLEM | UNSEEN, replace(APPENDIX_F, **changes))
    return c.Preset(name, values | {SOLVERS: SOLVERS.default}, hint)


SMALL = "Little regularisation: harder to solve. On 100 rows instead of 500, so that it does not take the page long."
CURVED = "λ = 130 is more than all 500 rows can curve, nβ = 125: everything is easy."
PRESETS = (
    preset("A fit at ε = 1", "Appendix F: λ and σ about those of ε = 1 on rows of norm 1, and redundant columns."),
    preset("Stop early, cheaper", "Down to the gradient norm of the paper’s experiments only, τ = 0.01.", tau=0.01),
    preset("More privacy is easier", "ε = 0.1: more regularisation.", lam=10.0, sigma=33.0),
    preset("Less privacy is harder", SMALL, n=100, lam=0.056, sigma=0.62),
    preset("Diverse columns are easy", "Every direction is well seen: λ no longer decides.", columns="diverse"),
    preset("Much λ levels all", CURVED, lam=130.0),
)


@st.fragment
def explore() -> None:
    c.preset_buttons(PRESETS, prefix="solvers")
    left, panel = page.columns()
    with panel:
        problem = {field: control.show() for control, field in PROBLEM.items()}
        solvers = SOLVERS.show()
        with page.tools(CONTROLS, PRESETS, name="solvers"):
            problem |= {field: control.show() for control, field in UNSEEN.items()}
            relative, with_ghost = RELATIVE.show() == charts.RELATIVE, GHOST.show()
    setting = sr.Setting(**problem)
    before = c.previous("solvers", setting)
    with page.errors():
        runs = {solver: sr.run(solver, setting) for solver in solvers}
        then = {solver: sr.run(solver, before) for solver in solvers} if before else {}
        picture = page.Picture(
            charts.descent(setting, solvers, ghost=before if with_ghost else None),
            text.alt(setting, runs),
            lambda: sr.frame(solvers, setting),
            f"Gradient norm against gradient evaluations, {setting}",
        )
        with left:
            moved = text.moved(before, setting, then, runs) if before else ""
            page.answer(text.answer(setting, runs), promise=text.promise(setting), why=moved)
            page.show(picture, key="solvers_chart")
        if style.embedded():
            return
        if runs:
            rows = text.table_rows(setting, runs)
            page.table(rows, alt=picture.alt)
            st.caption(text.PRIVACY)
            page.evidence(picture, shown=rows, name="solvers", code=text.snippet(setting, solvers))
        cost(solvers, setting.columns, relative)


def cost(solvers: tuple[str, ...], columns: str, relative: bool) -> None:
    """The second chart: what is stored of the cost against n."""
    st.header("How the cost grows with the number of rows", anchor=False)
    try:
        costs, provenance = sc.costs(solvers, columns), sc.load().notes
    except DataUnavailableError as error:
        st.info(str(error), icon=":material/info:")
        return
    if not costs:
        st.caption("Pick a solver to see its growth.")
        return
    st.markdown(text.growths(costs))
    if taken := text.seconds(costs):
        st.markdown(taken)
    picture = page.Picture(
        charts.growth(columns, solvers, relative=relative),
        text.growth_alt(costs, relative=relative),
        lambda: sr.stored_frame(solvers, columns),
        f"Gradient evaluations against n, {columns} columns",
    )
    page.show(picture, key="solvers_growth")
    st.caption(text.made_by(provenance))
    page.evidence(picture, text.growth_rows(costs), name="solvers-growth")


def revealed() -> None:
    shown = ("gradient-descent", "accelerated", "sag")
    try:
        costs = sc.costs(shown, "redundant")
    except DataUnavailableError as error:
        st.info(str(error), icon=":material/info:")
        return
    picture = page.Picture(charts.growth("redundant", shown, height=380), text.growth_alt(costs))
    page.show(picture, key="solvers_try_chart")


page.begin(
    "solvers",
    "θ may be released once the gradient ∇J of the private objective is no longer than a threshold τ. Cost is counted "
    "in visits to single rows, the same on every machine.",
)
explore()
page.predict(page.Prediction.of("solvers", revealed), key="solvers__try")
page.about("solvers")
