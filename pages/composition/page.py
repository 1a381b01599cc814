"""Several releases (Figure 3 of Redberg et al. 2023): what several releases about the same rows cost together."""

from functools import partial
from typing import Any

import streamlit as st

from objpert_core.accounting.ledger import Ledger
from pages.composition import controls, gate, totals
from pages.composition.controls import BOUND, COUNTS, FILTER, LEDGER, LEDGER_DELTA, RELEASED, TARGET
from pages.composition.fits import Fits
from pages.composition.listed import FIXED_BEFOREHAND, Listed
from ui import page, sentences, style
from ui.controls import Control, Preset, preset_buttons, previous
from ui.view import Pictures

PICTURES = Pictures("composition", {"fits": Fits}, ghost=controls.GHOST, linked=controls.LINKED)
USUAL: dict[Control, Any] = {control: control.default for control in controls.FITS}
HUNDRED = (1, 10, 100)
PRESETS = tuple(
    Preset(name, USUAL | changes, hint)
    for name, hint, changes in (
        (
            "Figure 3: ten fits",
            "Less than ten times one fit: σ = 8, β = 1, λ = 10, L = 1; 2023 theorem.",
            {},
        ),
        (
            "A tighter proof for each fit",
            "The same fits of the logistic loss under our theorem.",
            {BOUND: "our theorem"},
        ),
        (
            "√k, not k",
            "1, 10 and 100 logistic fits by the symmetric pair. This proof uses the fact that a row may be added or "
            "removed.",
            {BOUND: "our theorem, symmetric pair", COUNTS: HUNDRED, controls.EPS_MAX: 10.0},
        ),
        ("A hundred fits", "1, 10 and 100 fits of Figure 3.", {COUNTS: HUNDRED, controls.EPS_MAX: 30.0}),
        ("A band to see", "A coarse grid: an honest, wide band.", {COUNTS: (2, 10), controls.WIDTH: 0.1}),
        ("How wide is the band?", "A chart of the band’s width relative to δ.", {controls.SHOW: controls.WIDTHS}),
    )
)
TEN, TWELVE = ";".join(["fit:8,10,1,glm,1"] * 10), ";".join(["cal:0.5,1e-5"] * 12)
AS_YOU_GO = "gauss:10,1@Counts;fit:8,128,1@First model;fit:8,128,1@Second model;gauss:5,1@Means"
LISTS = tuple(
    Preset(name, {LEDGER: ledger, LEDGER_DELTA: 1e-5, TARGET: 3.0} | changes, hint)
    for name, ledger, hint, changes in (
        ("Three kinds", LEDGER.default, "3 fits, 1 DP-SGD run, 1 histogram.", {}),
        ("Ten fits, one by one", TEN, "The fits of Figure 3 as ten entries. Which entry exceeds the target?", {}),
        ("A model a month", TWELVE, "Twelve models, each trained for ε = 0.5 at δ = 10⁻⁵.", {}),
        ("Empty list", "empty", "Start with an empty list.", {}),
        (
            "Chosen as you go",
            AS_YOU_GO,
            "Two releases are published. After seeing them you plan a second model: is there budget left?",
            {TARGET: 1.0, FILTER: True, RELEASED: 2},
        ),
    )
)


@st.fragment
def budget() -> None:
    st.header("A ledger of everything that is released", anchor=False)
    st.markdown("List everything that is, or will be, released about the same rows. The total composes all entries.")
    preset_buttons(LISTS, prefix="composition_list")
    left, beside = page.columns("list")
    with beside:
        target, delta, asked = TARGET.show(), LEDGER_DELTA.show(), controls.LEFT.show()
        filtered = FILTER.show()
        if filtered:
            RELEASED.show()
        else:
            page.keep(RELEASED)
    listed, editing = st.columns([1.6, 1], gap="medium")
    with editing:
        controls.form(LEDGER)
        controls.saved(LEDGER, LEDGER_DELTA, TARGET)
    with page.errors():
        ledger = LEDGER.parsed()
        now, before = Listed(ledger, delta, target, asked), previous("composition_list", (ledger, delta))
        picture = now.picture(Listed(*before, target) if before else None)
        with left:
            page.answer(now.answer(), promise=now.promise(), why=now.status())
            page.show(picture, key="composition_list_chart")
        with listed:
            if why := totals.reason(ledger):
                st.info(why, icon=":material/info:")
            page.table(now.table(), alt=picture.alt)
            st.caption(FIXED_BEFOREHAND)
            now.downloads(picture)
        if ledger:
            page.reproduce(now.code(), name="ledger")
        if filtered:
            through(ledger, RELEASED.value(), delta, target)


def through(ledger: Ledger, released: int, delta: float, target: float) -> None:
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
    view = Fits(HUNDRED, eps_max=30.0)
    chart = view.profiles(None, height=380, read=False)
    page.show(page.Picture(chart, view.alt()), key="composition_try_chart")


if (
    st.query_params.get(controls.SHOW.key) == "width of the certified band"
):  # a link from before it was called validated
    st.query_params[controls.SHOW.key] = controls.WIDTHS

page.begin(
    "composition",
    "Everything released about the same people costs privacy, together usually less than the sum.",
)
LEDGER.mend()
st.fragment(PICTURES.explore)(PRESETS)
if style.embedded():
    page.keep(*controls.LIST)
else:
    st.divider()
    budget()
page.predict(page.Prediction.of("composition", revealed), key="composition__try")
page.about("composition")
