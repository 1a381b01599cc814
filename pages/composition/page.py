"""Composition (Figure 3 of Redberg et al. 2023): what several releases about the same rows cost together."""

from typing import Any

import streamlit as st

from pages.composition import charts as charts
from pages.composition import editor as ledger_editor
from pages.composition import files as ledger_files
from pages.composition import numbers as cc
from pages.composition import snippets as snippets
from pages.composition import totals as lt
from pages.composition import words as text
from ui import page, sentences
from ui.controls import (
    ROUND_STEPS,
    Choice,
    Preset,
    SelectSlider,
    Several,
    Toggle,
    copy_link,
    log_values,
    powers_of_ten,
    preset_buttons,
    previous,
)

FIGURE_3 = cc.Fit(sigma=8.0, lam=10.0, smoothness=1.0, lipschitz=1.0, bound="glm")  # the text does not name its k
TIGHT = cc.Fit(8.0, 10.0, 1.0, 1.0, "logistic")
PAIRED = cc.Fit(8.0, 10.0, 1.0, 1.0, "logistic-pair")
BOUND_NAMES = {bound: name for name, bound in cc.BOUNDS.items()}
CURVES, WIDTHS = "δ against ε", "width of the certified band"

SIGMA = SelectSlider(
    "composition_sigma",
    "Noise σ",
    FIGURE_3.sigma,
    log_values(0.1, 1000, extra=[FIGURE_3.sigma]),
    help="Standard deviation of each coordinate of the random tilt b, in every fit.",
)
LAM = SelectSlider("composition_lambda", "Regularisation λ", FIGURE_3.lam, log_values(0.01, 10_000))
BETA = SelectSlider(
    "composition_beta",
    "Smoothness β",
    FIGURE_3.smoothness,
    log_values(0.01, 100),
    help="Largest curvature of one person’s loss. Only Theorem 3.1 uses it.",
)
LIPSCHITZ = SelectSlider("composition_L", "Lipschitz constant L", FIGURE_3.lipschitz, log_values(0.1, 10))
BOUND = Choice("composition_bound", "Proof for each fit", "Theorem 3.1", tuple(cc.BOUNDS))
COUNTS = Several(
    "composition_k",
    "Numbers of fits k",
    (1, 2, 5, 10),
    options=(1, 2, 3, 4, 5, 7, 10, 12, 15, 20, 30, 50, 70, 100, 200, 365, 500, 1000),
    format=lambda k: f"{k}",
    most=len(charts.LOOKS),
)
READ_DELTA = SelectSlider("composition_delta", "Read ε at δ =", 1e-5, powers_of_ten(-12, -1))
EPS_MAX = SelectSlider(
    "composition_view", "ε axis up to", 5.0, (0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 30.0, 50.0, 100.0)
)
FLOOR = SelectSlider(
    "composition_floor", "δ axis down to", 1e-10, (1e-50, 1e-20, 1e-15, 1e-12, 1e-10, 1e-8, 1e-6, 1e-4)
)
SHOW = Choice("composition_show", "Show", CURVES, (CURVES, WIDTHS))
WIDTH = SelectSlider(
    "composition_width",
    "Certified width asked for, share of ε",
    1e-3,
    (2e-4, 1e-3, 5e-3, 0.02, 0.1),
    help="How fine the grid of the convolution is. At 0.1 the band can be seen.",
)
RENYI = Toggle("composition_renyi", "Rényi curves", True)
GHOST = Toggle("composition_ghost", "Keep the previous setting as a ghost", True)

LEDGER = ledger_editor.LedgerText(
    "composition_ledger", "The list as text", "fit*3:8,10,1@Models;dpsgd:1,0.01,1000;gauss:20,1@Histogram"
)
LEDGER_DELTA = SelectSlider("composition_list_delta", "δ for the whole list", 1e-5, powers_of_ten(-12, -2))
TARGET = SelectSlider("composition_target", "Target ε", 3.0, log_values(0.1, 50, steps=ROUND_STEPS))
LEFT = Toggle(
    "composition_left",
    "Say what still fits",
    False,
    help="How many more of each entry would keep the total within the target, by composing them.",
)
CONTROLS = (SIGMA, LAM, BETA, LIPSCHITZ, BOUND, COUNTS, READ_DELTA, EPS_MAX, FLOOR, SHOW, WIDTH, RENYI, GHOST)
CONTROLS += (LEDGER, LEDGER_DELTA, TARGET, LEFT)


def preset(
    name: str,
    fit: cc.Fit,
    hint: str,
    *,
    counts: tuple[int, ...] = (1, 2, 5, 10),
    view: float = 5.0,
    width: float = 1e-3,
    show: str = CURVES,
) -> Preset:
    setting = {SIGMA: fit.sigma, LAM: fit.lam, BETA: fit.smoothness, LIPSCHITZ: fit.lipschitz}
    shown = {COUNTS: counts, READ_DELTA: 1e-5, EPS_MAX: view, FLOOR: 1e-10, SHOW: show, WIDTH: width, RENYI: True}
    return Preset(name, setting | {BOUND: BOUND_NAMES[fit.bound]} | shown, hint)


PRESETS = (
    preset("Figure 3", FIGURE_3, "σ = 8, β = 1, λ = 10, L = 1; Theorem 3.1 by convolution and by Rényi."),
    preset("Logistic loss", TIGHT, "The same fits under the tight bound for the logistic loss."),
    preset(
        "√k, not k",
        PAIRED,
        "1, 10 and 100 logistic fits through the symmetric pair, which uses that a row may be added or removed.",
        counts=(1, 10, 100),
        view=10.0,
    ),
    preset("A hundred fits", FIGURE_3, "1, 10 and 100 fits of Figure 3.", counts=(1, 10, 100), view=30.0),
    preset("A band to see", FIGURE_3, "A coarse grid: an honest, wide band.", counts=(2, 10), width=0.1),
    preset("How wide is it?", FIGURE_3, "The band’s own chart: its width relative to δ.", show=WIDTHS),
)


def entries(*, ledger: str, target: float) -> dict[Any, Any]:
    return {LEDGER: ledger, LEDGER_DELTA: 1e-5, TARGET: target}


LISTS = (
    Preset("Three kinds", entries(ledger=LEDGER.default, target=3.0), "3 fits, 1 DP-SGD run, 1 histogram."),
    Preset(
        "Ten fits, one by one",
        entries(ledger=";".join(["fit:8,10,1,glm,1"] * 10), target=3.0),
        "The fits of Figure 3 as ten entries: which one passes the target?",
    ),
    Preset(
        "A model a month",
        entries(ledger=";".join(["cal:0.5,1e-5"] * 12), target=3.0),
        "Twelve models, each trained for ε = 0.5 at δ = 10⁻⁵.",
    ),
    Preset("Empty list", entries(ledger="empty", target=3.0), "Start your own."),
)


def panel() -> tuple[cc.Fit, tuple[int, ...]]:
    """The controls beside the first chart; returns the fit and how many of it."""
    counts = COUNTS.show() or COUNTS.default
    sigma, lam, bound = SIGMA.show(), LAM.show(), cc.BOUNDS[BOUND.show()]
    beta = BETA.show(disabled=not bound.startswith("glm"))
    lipschitz = LIPSCHITZ.show()
    for control in (READ_DELTA, EPS_MAX, FLOOR, SHOW, WIDTH, RENYI, GHOST):
        control.show()
    copy_link(CONTROLS)
    return cc.Fit(sigma, lam, beta if bound.startswith("glm") else 1.0, lipschitz, bound), counts


@st.fragment
def explore() -> None:
    preset_buttons(PRESETS, prefix="composition")
    picture, beside = st.columns([2.6, 1], gap="medium")
    with beside:
        fit, counts = panel()
    delta, view = READ_DELTA.value(), cc.View(EPS_MAX.value(), FLOOR.value(), WIDTH.value())
    before = previous("composition", fit)
    with page.errors():
        found = cc.readings(fit, counts, delta, view)
        most = found[-1]
        with picture:
            page.answer(
                text.answer(most.k, most.epsilon, most.added / most.k, delta),
                " ".join(
                    filter(
                        None, (text.renyi_sentence(most.k, most.epsilon, most.renyi), told_odds(most.epsilon, delta))
                    )
                ),
                text.accountant(fit.bound),
            )
            if SHOW.value() == CURVES:
                chart = charts.profiles(
                    fit,
                    counts,
                    view,
                    renyi=RENYI.value(),
                    ghost=before if GHOST.value() else None,
                    read=delta,
                )
                alt = text.profiles_alt(found, delta)
            else:
                chart = charts.widths(fit, counts, view)
                alt = text.widths_alt(found)
            page.chart(chart, key="composition_chart", alt=alt, filename="composition")
            if why := fit.mechanism().explain():
                st.info(why, icon=":material/info:")
            elif said := text.band(most, delta, view.width):
                st.caption(said)
        page.table(cc.table_rows(found, delta), alt=text.profiles_alt(found, delta))
        page.downloads(
            lambda: cc.frame(fit, counts, view),
            chart,
            filename="composition",
            title=f"Composition of objective perturbation, {fit}",
        )
        page.reproduce(snippets.fits(fit, counts, delta=delta, view=view))


def told_odds(epsilon: float, delta: float) -> str:
    return f"{sentences.odds_sentence(epsilon, 'all the models')} {sentences.except_with(delta)}"


@st.fragment
def budget() -> None:
    st.subheader("A ledger of everything that is released", anchor=False)
    st.markdown(
        "List what is, or will be, released about the same rows. The total is one composition of all entries, not a "
        "sum."
    )
    preset_buttons(LISTS, prefix="composition_list")
    picture, beside = st.columns([1.6, 1], gap="medium")
    with beside:
        delta, target, asked = LEDGER_DELTA.show(), TARGET.show(), LEFT.show()
        ledger_editor.form(LEDGER)
        ledger_editor.saved(LEDGER, LEDGER_DELTA, TARGET)
    with page.errors():
        ledger = LEDGER.ledger()
        lines = lt.totals(ledger, delta)
        left = [lt.copies_left(ledger, entry, delta, target) for entry in ledger] if asked else None
        before = previous("composition_list", (ledger, delta))
        alt = text.ledger_alt(lines, delta, target)
        with picture:
            light, rest = text.status(lines, target)
            page.answer(text.ledger_answer(lines, delta), f"{light}. {rest}", promise(lines, delta))
            if why := lt.reason(ledger):
                st.info(why, icon=":material/info:")
            chart = charts.totals(lines, target, lt.totals(*before) if before else None)
            page.chart(chart, key="composition_list_chart", alt=alt, filename="ledger")
            if lines:
                page.table(text.ledger_rows(lines, delta, target, left), alt=alt)
            with st.container(horizontal=True):
                st.download_button(
                    "Ledger as JSON",
                    lambda: ledger_files.to_json(lines, delta, target).encode(),
                    "ledger.json",
                    "application/json",
                    key="ledger_json",
                    on_click="ignore",
                    icon=":material/data_object:",
                )
                page.downloads(
                    lambda: ledger_files.frame(lines, delta, target),
                    chart,
                    filename="ledger",
                    title=f"Privacy ledger, δ = {sentences.delta(delta)}",
                )
        st.caption(
            "Fix the list and its noise beforehand. What a release is about may depend on earlier answers; how noisy "
            "it is, and what is added to the list, may not: that needs a privacy filter or odometer, which this is not."
        )
        if ledger:
            page.reproduce(snippets.ledger(ledger, delta=delta))


def promise(lines: list[lt.Line], delta: float) -> str:
    total = lines[-1].total if lines else 0.0
    return f"{sentences.odds_sentence(total, 'everything on the list')} " + sentences.accounted(
        "the convolution of all privacy losses, fits through the symmetric pair of their proof, certified from above "
        "to about a thousandth of ε"
    )


TRY_QUESTION = (
    "One fit of Figure 3 costs ε = 0.562 at δ = 10⁻⁵. Noise averages out, so a hundred fits should cost less than a "
    "hundred times that. How much, under Theorem 3.1?"
)
TRY_OPTIONS = ("About 5.6: ten times as much, √100.", "About 24.", "About 56: a hundred times as much.")
TRY_REASON = (
    "Only the spread of the privacy loss grows like √k; its mean grows like k. Under Theorem 3.1 the loss of every fit "
    "is at least −log(1 − β/λ) + L²/2σ² = 0.113, and 0.213 on average, so a hundred fits lose 21.3 on average before "
    "any spread. The tight bound for the logistic loss has no such floor: there a hundred fits cost ε = 8.9, and "
    "through its symmetric pair, whose mean is next to nothing, ε = 5.73. Press **√k, not k** to see it."
)


TRY_VIEW = cc.View(30.0, 1e-10, 1e-3)


@st.fragment
def predict() -> None:
    with st.expander("Try it: what do a hundred fits cost?", icon=":material/psychology:"):
        if not page.try_it(TRY_QUESTION, TRY_OPTIONS, TRY_OPTIONS[1], key="composition__try"):
            return
        counts = (1, 10, 100)
        found = cc.readings(FIGURE_3, counts, 1e-5, TRY_VIEW)
        page.chart(
            charts.profiles(FIGURE_3, counts, TRY_VIEW, height=380),
            key="composition_try_chart",
            alt=text.profiles_alt(found, 1e-5),
        )
        st.markdown(TRY_REASON)


page.begin(
    "composition",
    "Every model, statistic or histogram released about the same people costs privacy. Composition says how much they "
    "cost together: usually less than the sum of their ε, and at one δ instead of the sum of their δ.",
)
LEDGER.mend()
explore()
st.divider()
budget()
predict()
page.about("composition")
