"""Several releases (Figure 3 of Redberg et al. 2023): what several releases about the same rows cost together."""

from functools import partial

import streamlit as st

from objpert_core.accounting.ledger import Ledger
from pages.composition import controls, gate, totals
from pages.composition.controls import FILTER, LEDGER, LEDGER_DELTA, RELEASED, TARGET
from pages.composition.fits import Fits
from pages.composition.listed import FIXED_BEFOREHAND, Listed
from ui import page, sentences, style
from ui.controls import preset_buttons, presets, previous
from ui.view import Pictures

PICTURES = Pictures("composition", {"fits": Fits}, ghost=controls.GHOST, linked=controls.LINKED)
PRESETS = presets("composition", controls.FITS)
LISTS = presets("composition", (LEDGER, LEDGER_DELTA, TARGET), "lists", also=(FILTER, RELEASED))
TEN, TWELVE = ";".join(["fit:8,10,1,glm,1"] * 10), ";".join(["cal:0.5,1e-5"] * 12)


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
    view = Fits((1, 10, 100), eps_max=30.0)
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
