"""Composition (Figure 3 of Redberg et al. 2023): what several releases about the same rows cost together."""

import math
from functools import partial
from typing import Any

import streamlit as st

from objpert_core.accounting import ledger as lg
from objpert_core.accounting import ledger_events
from pages.composition import charts, editor, files, gate, numbers, snippets, totals
from pages.composition import words as text
from ui import controls as c
from ui import page, parameters, sentences, style

FIGURE_3 = numbers.Fit(sigma=8.0, lam=10.0, smoothness=1.0, lipschitz=1.0, bound="glm")  # the text does not name its k
CURVES, WIDTHS = "δ against ε", "width of the validated band"

SIGMA = parameters.sigma(
    "composition",
    FIGURE_3.sigma,
    extra=[FIGURE_3.sigma],
    help="Standard deviation of each coordinate of the random tilt b, in every fit.",
)
LAM = parameters.lam("composition", FIGURE_3.lam, help=None)
BETA = parameters.smoothness(
    "composition", FIGURE_3.smoothness, help="Largest curvature of one person’s loss. Only Theorem 3.1 uses it."
)
LIPSCHITZ = parameters.lipschitz("composition", FIGURE_3.lipschitz, help=None)
BOUND = c.Choice("composition_bound", "Proof for each fit", "Theorem 3.1", tuple(numbers.BOUNDS))
COUNTS = c.Several(
    "composition_k",
    "Numbers of fits k",
    (1, 2, 5, 10),
    options=(1, 2, 3, 4, 5, 7, 10, 12, 15, 20, 30, 50, 70, 100, 200, 365, 500, 1000),
    format=str,
    most=len(charts.LOOKS),
)
READ_DELTA = parameters.read_delta("composition")
EPS_MAX = parameters.view("composition", "ε axis up to", 5.0, (0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 30.0, 50.0, 100.0))
FLOOR = parameters.floor("composition", (1e-50, 1e-20, 1e-15, 1e-12, 1e-10, 1e-8, 1e-6, 1e-4))
SHOW = c.Choice("composition_show", "Show", CURVES, (CURVES, WIDTHS))
WIDTH = c.SelectSlider(
    "composition_width",
    "Validated width asked for, share of ε",
    1e-3,
    (2e-4, 1e-3, 5e-3, 0.02, 0.1),
    help="How fine the grid of the convolution is. At 0.1 the band can be seen.",
)
RENYI = c.Toggle("composition_renyi", "Rényi curves", True)
GHOST = parameters.ghost("composition")

LEDGER = editor.LedgerText(
    "composition_ledger", "The list as text", "fit*3:8,10,1@Models;dpsgd:1,0.01,1000;gauss:20,1@Histogram"
)
LEDGER_DELTA = parameters.delta("composition", name="list_delta", label="δ for the whole list")
TARGET = c.SelectSlider("composition_target", "Target ε", 3.0, c.log_values(0.1, 50, steps=c.ROUND_STEPS))
LEFT = c.Toggle(
    "composition_left",
    "Say what still fits",
    False,
    help="How many more of each entry would keep the total within the target, by composing them.",
)
FILTER = c.Toggle(
    "composition_filter",
    "Privacy filter: choose the noise as you go",
    False,
    help="A budget in μ that lets releases through one by one. Noise need not be fixed beforehand; the budget is.",
)
RELEASED = c.Number(
    "composition_released",
    "Entries that are released already",
    1,
    low=0,
    high=lg.MOST_ENTRIES,
    help="The rest is planned.",
)
FITS = (SIGMA, LAM, BETA, LIPSCHITZ, BOUND, COUNTS)
CHART = (READ_DELTA, SHOW, RENYI, EPS_MAX, FLOOR, WIDTH)
LIST = (LEDGER, LEDGER_DELTA, TARGET, LEFT, FILTER, RELEASED)
CONTROLS = (*FITS, *CHART, GHOST, *LIST)
USUAL: dict[c.Control, Any] = {control: control.default for control in (*FITS, *CHART)}
HUNDRED = (1, 10, 100)
PRESETS = tuple(
    c.Preset(name, USUAL | changes, hint)
    for name, hint, changes in (
        ("Ten cost less than tenfold", "Figure 3: σ = 8, β = 1, λ = 10, L = 1; Theorem 3.1.", {}),
        (
            "A tighter proof for each",
            "The same fits under the tight bound for the logistic loss.",
            {BOUND: "tight, logistic loss"},
        ),
        (
            "√k, not k",
            "1, 10 and 100 logistic fits through the symmetric pair, which uses that a row may be added or removed.",
            {BOUND: "tight, symmetric pair", COUNTS: HUNDRED, EPS_MAX: 10.0},
        ),
        ("A hundred fits", "1, 10 and 100 fits of Figure 3.", {COUNTS: HUNDRED, EPS_MAX: 30.0}),
        ("A band to see", "A coarse grid: an honest, wide band.", {COUNTS: (2, 10), WIDTH: 0.1}),
        ("How wide is it?", "The band’s own chart: its width relative to δ.", {SHOW: WIDTHS}),
    )
)
TEN, TWELVE = ";".join(["fit:8,10,1,glm,1"] * 10), ";".join(["cal:0.5,1e-5"] * 12)
LISTS = tuple(
    c.Preset(name, {LEDGER: ledger, LEDGER_DELTA: 1e-5, TARGET: 3.0}, hint)
    for name, ledger, hint in (
        ("Three kinds", LEDGER.default, "3 fits, 1 DP-SGD run, 1 histogram."),
        ("Ten fits, one by one", TEN, "The fits of Figure 3 as ten entries: which one passes the target?"),
        ("A model a month", TWELVE, "Twelve models, each trained for ε = 0.5 at δ = 10⁻⁵."),
        ("Empty list", "empty", "Start your own."),
    )
)
AS_YOU_GO = "gauss:10,1@Counts;fit:8,128,1@First model;fit:8,128,1@Second model;gauss:5,1@Means"
LISTS += (
    c.Preset(
        "Chosen as you go",
        {LEDGER: AS_YOU_GO, LEDGER_DELTA: 1e-5, TARGET: 1.0, FILTER: True, RELEASED: 2},
        "Two releases are out; is there budget for a second model, planned after seeing them?",
    ),
)


def panel() -> numbers.Asked:
    """The controls beside the first chart; returns what they ask for."""
    counts = COUNTS.show() or COUNTS.default
    sigma, bound, lam = SIGMA.show(), numbers.BOUNDS[BOUND.show()], LAM.show()
    smooth, delta = bound.startswith("glm"), READ_DELTA.show()
    with page.tools(CONTROLS, PRESETS, name="composition"):
        beta, lipschitz = BETA.show(disabled=not smooth), LIPSCHITZ.show()
        for control in (*CHART[1:], GHOST):
            control.show()
    return numbers.Asked(numbers.Fit(sigma, lam, beta if smooth else 1.0, lipschitz, bound), counts, delta)


def profiles(asked: numbers.Asked, view: numbers.View, before: numbers.Asked | None) -> page.Picture:
    """The first chart, in either of its views."""
    fit, counts, delta = asked.fit, asked.counts, asked.delta
    found = numbers.readings(fit, counts, delta, view)
    if SHOW.value() == CURVES:
        ghost = before.fit if before and before.fit != fit else None
        chart = charts.profiles(fit, counts, view, renyi=RENYI.value(), ghost=ghost, read=delta)
    else:
        chart = charts.widths(fit, counts, view)
    alt = text.profiles_alt(found, delta) if SHOW.value() == CURVES else text.widths_alt(found)
    title = f"Composition of objective perturbation, {fit}"
    return page.Picture(chart, alt, partial(numbers.frame, fit, counts, view), title)


@st.fragment
def explore() -> None:
    c.preset_buttons(PRESETS, prefix="composition")
    left, beside = page.columns()
    with beside:
        asked = panel()
    fit, counts, delta = asked.fit, asked.counts, asked.delta
    view = numbers.View(EPS_MAX.value(), FLOOR.value(), WIDTH.value())
    before = c.previous("composition", asked)
    with page.errors():
        found = numbers.readings(fit, counts, delta, view)
        most, then = found[-1], numbers.last(before, view) if before else None
        with left:
            page.answer(
                text.answer(most.k, most.epsilon, most.added / most.k, delta),
                promise=sentences.promise(most.epsilon, delta, text.ACCOUNTANTS[fit.bound]),
                why=text.why(before, asked, then, most.epsilon) if before and then is not None else "",
            )
            picture = profiles(asked, view, before if GHOST.value() else None)
            page.show(picture, key="composition_chart")
        if style.embedded():
            return
        if why := fit.mechanism().explain():
            st.info(why, icon=":material/info:")
        elif said := text.band(most):
            st.caption(said)
        rows, code = text.fit_rows(found, delta), snippets.fits(fit, counts, delta=delta, view=view)
        page.table(rows, alt=text.profiles_alt(found, delta))
        page.evidence(picture, shown=rows, name="composition", code=code)


@st.fragment
def budget() -> None:
    st.header("A ledger of everything that is released", anchor=False)
    st.markdown("List what is, or will be, released about the same rows. The total is one composition of all entries.")
    c.preset_buttons(LISTS, prefix="composition_list")
    left, beside = page.columns("list")
    with beside:
        target, delta, asked = TARGET.show(), LEDGER_DELTA.show(), LEFT.show()
        filtered = FILTER.show()
        if filtered:
            RELEASED.show()
        else:
            page.keep(RELEASED)
    listed, editing = st.columns([1.6, 1], gap="medium")
    with editing:
        editor.form(LEDGER)
        editor.saved(LEDGER, LEDGER_DELTA, TARGET)
    with page.errors():
        ledger = LEDGER.ledger()
        lines = totals.totals(ledger, delta)
        more = [totals.copies_left(ledger, entry, delta, target) for entry in ledger] if asked else None
        before = c.previous("composition_list", (ledger, delta))
        picture = page.Picture(
            charts.totals(lines, target, totals.totals(*before) if before else None),
            text.ledger_alt(lines, delta, target),
            partial(files.frame, lines, delta, target),
            f"Privacy ledger, δ = {sentences.delta(delta)}",
        )
        with left:
            light, rest = text.status(lines, target)
            total = lines[-1].total if lines else 0.0
            promise = sentences.promise(total, delta, text.LEDGER_ACCOUNTANT)
            page.answer(text.ledger_answer(lines, light), promise=promise, why=rest)
            page.show(picture, key="composition_list_chart")
        with listed:
            if why := totals.reason(ledger):
                st.info(why, icon=":material/info:")
            rows = text.ledger_rows(lines, delta, target, more)
            page.table(rows, alt=picture.alt)
            st.caption(text.FIXED_BEFOREHAND)
            with st.container(horizontal=True):
                as_json = partial(files.to_json, lines, delta, target)
                page.download("Ledger as JSON", lambda: as_json().encode(), "ledger.json", "data_object")
                if ledger and math.isfinite(lines[-1].total):
                    as_events(ledger, delta, lines[-1].total)
                page.evidence(picture, shown=rows, name="ledger")
        if ledger:
            page.reproduce(snippets.ledger(ledger, delta=delta), name="ledger")
        if filtered:
            through(ledger, RELEASED.value(), delta, target)


def as_events(ledger: lg.Ledger, delta: float, total: float) -> None:
    """The list for Google's dp_accounting; what stands in it is computed when the button is pressed."""
    button = st.popover("Events", icon=":material/sync_alt:", key="ledger_events", on_change="rerun")
    if not button.open:
        return
    with button:
        there = totals.epsilon_of_events(ledger, delta)
        st.markdown(text.events(ledger_events.covered(ledger), there, total))
        make = partial(ledger_events.write, ledger)
        page.download("Events as JSON", lambda: make().encode(), "events.json", "data_object")


def through(ledger: lg.Ledger, released: int, delta: float, target: float) -> None:
    """The same list before a privacy filter."""
    at = gate.gate(ledger, released, delta, target)
    st.header("The list before a privacy filter", anchor=False)
    page.answer(gate.answer(at), promise=gate.promise(delta, target), why=gate.more(at))
    title = f"Privacy filter, ε = {sentences.number(target)}, δ = {sentences.delta(delta)}"
    picture = page.Picture(gate.chart(at), gate.alt(at), partial(gate.frame, at), title)
    page.show(picture, key="composition_filter_chart")
    st.caption(gate.reading(at, delta))
    code = gate.snippet(ledger, released, delta=delta, target=target)
    page.evidence(picture, gate.rows(at), name="filter", code=code)


def revealed() -> None:
    counts, view = HUNDRED, numbers.View(30.0, 1e-10, 1e-3)
    chart = charts.profiles(FIGURE_3, counts, view, height=380)
    alt = text.profiles_alt(numbers.readings(FIGURE_3, counts, 1e-5, view), 1e-5)
    page.show(page.Picture(chart, alt), key="composition_try_chart")


if st.query_params.get(SHOW.key) == "width of the certified band":  # a link from before it was called validated
    st.query_params[SHOW.key] = WIDTHS

page.begin(
    "composition",
    "Everything released about the same people costs privacy. Composition says how much it costs together: usually "
    "less than the sum of the ε, and at one δ.",
)
LEDGER.mend()
explore()
if style.embedded():
    page.keep(*LIST)
else:
    st.divider()
    budget()
page.predict(page.Prediction.of("composition", revealed), key="composition__try")
page.about("composition")
