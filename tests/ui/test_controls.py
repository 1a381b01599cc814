"""Controls: options, presets that fit them, links. How the address behaves is tested in tests/browser."""

import itertools
from dataclasses import replace
from urllib.parse import parse_qs

import pytest
from streamlit.testing.v1 import AppTest

from objpert_core._literals import call
from ui.controls import (
    ROUND_STEPS,
    Choice,
    Number,
    Preset,
    SelectSlider,
    Several,
    log_values,
    plain,
    powers_of_ten,
)


def test_log_values_are_round_even_in_the_logarithm_and_keep_both_ends():
    values = log_values(0.1, 1000)
    assert values[0] == 0.1
    assert values[-1] == 1000.0
    assert 5.0 in values
    assert 0.3 in values
    steps = [b / a for a, b in itertools.pairwise(values)]
    assert all(1.04 < step < 1.18 for step in steps)
    assert all(len(plain(v).replace(".", "").strip("0")) <= 2 for v in values)


def test_log_values_take_presets_exactly_and_in_order():
    values = log_values(1, 10, extra=[3.8053], steps=ROUND_STEPS)
    assert 3.8053 in values
    assert list(values) == sorted(set(values))


@pytest.mark.parametrize(
    ("value", "text"),
    [(5.0, "5"), (0.25, "0.25"), (1e-5, "1e-5"), (1e-12, "1e-12"), (1000.0, "1000"), (3.8053, "3.8053")],
)
def test_plain_numbers_read_back_as_themselves(value, text):
    assert plain(value) == text
    assert float(text) == value


def test_powers_of_ten_are_the_nearest_doubles():
    assert powers_of_ten(-3, 0) == (1e-3, 1e-2, 1e-1, 1.0)


SLIDER = SelectSlider("x", "X", 1.0, (1.0, 3.0))
SEVERAL = Several("x", "X", (1, 2), options=(1, 2, 3), most=2)
NOT_OFFERED = [(SLIDER, 2.0), (Choice("x", "X", "a", ("a", "b")), "c"), (SEVERAL, (1, 4)), (SEVERAL, (1, 2, 3))]


@pytest.mark.parametrize(("control", "bad"), NOT_OFFERED)
def test_a_value_that_is_not_offered_is_neither_a_default_nor_a_presets(control, bad):
    with pytest.raises(ValueError, match="default of x"):
        replace(control, default=bad)
    with pytest.raises(ValueError, match=r"preset .p. sets x"):
        Preset("p", {control: bad})


def _shown(control, *presets):
    import streamlit as st

    from ui.controls import preset_buttons
    from ui.share import link

    preset_buttons(presets, prefix="p")
    st.session_state["seen"] = (control.show(), link((control,)))


COUNT = Number("p_count", "Count", 3, low=1, high=50)
KS = Several("p_k", "k", (1, 10), options=(1, 2, 5, 10), most=3)
IN_THE_ADDRESS = [
    (KS, [], (1, 10)),
    (KS, ["5", "2"], (2, 5)),
    (KS, ["5", "x", "5"], (5,)),
    (KS, ["x"], (1, 10)),
    (KS, ["1", "2", "5", "10"], (1, 2, 5)),
    (COUNT, ["1.5"], 2),  # made whole
    (COUNT, ["12"], 12),
    *((COUNT, [left_out], 3) for left_out in ("51", "-3", "inf", "-inf", "nan", "1e999", "x")),
]


@pytest.mark.slow
@pytest.mark.parametrize(("control", "address", "used"), IN_THE_ADDRESS)
def test_what_the_address_says_is_used_or_left_out_and_goes_into_the_link(control, address, used):
    app = AppTest.from_function(_shown, args=(control,))
    if address:
        app.query_params[control.key] = address
    app.run()
    assert not app.exception
    assert not app.caption
    shown, link = app.session_state["seen"]
    assert shown == used
    texts = sorted(map(str, used if isinstance(used, tuple) else [used]))
    named = parse_qs(link.partition("?")[2]).get(control.key, [])
    assert sorted(named) == ([] if used == control.default else texts)
    if control is COUNT:
        assert app.query_params.get("p_count", "3") == str(used)


def _script():
    import streamlit as st

    from ui.controls import Choice, Number, Preset, SelectSlider, Toggle, preset_buttons, previous
    from ui.share import button, link

    sigma = SelectSlider("p_sigma", "σ", 5.0, (1.0, 5.0, 20.0))
    kind = Choice("p_kind", "Kind", "one", ("one", "two words"))
    flag, count = Toggle("p_flag", "Flag", False), Number("p_count", "Count", 3, low=1, high=9)
    everything = (sigma, kind, flag, count)
    preset_buttons((Preset("Big", {sigma: 20.0, flag: True}), Preset("Small", {sigma: 1.0})), prefix="p")
    values = tuple(control.show() for control in everything)
    button(everything)
    st.session_state["seen"] = (values, previous("p", values), link(everything))


def test_presets_ghosts_and_links_in_a_running_page():
    app = AppTest.from_function(_script).run()
    first, before, _ = app.session_state["seen"]
    assert first == (5.0, "one", False, 3)
    assert before is None
    app.button(key="p_preset_Big").click().run()
    second, before, address = app.session_state["seen"]
    assert not app.exception
    assert second == (20.0, "one", True, 3)
    assert before == first
    query = parse_qs(address.partition("?")[2])
    assert query == {"p_sigma": ["20"], "p_flag": ["true"]}  # what is at its default is left out
    app.selectbox(key="p_kind").select("two words").run()
    assert "p_kind=two+words" in app.session_state["seen"][2]
    assert app.session_state["seen"][1] == second


def _two_fragments():
    import streamlit as st

    from ui import share
    from ui.controls import Toggle

    flag = Toggle("p_flag", "Flag", False)
    share.button((flag,))
    st.fragment(flag.show)()


def test_the_link_is_made_when_it_is_asked_for():
    app = AppTest.from_function(_two_fragments).run()
    assert not app.code  # nothing that could be out of date
    app.toggle(key="p_flag").set_value(True).run()
    app.session_state["p_flag__link"] = True
    app.run()
    assert not app.exception
    assert app.code[0].value.endswith("?p_flag=true")
    assert app.code[1].value.endswith("?embed=true&p_flag=true")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("typed", "used", "refused"),
    [(1.5, 2, False), (49.7, 50, False), (7.0, 7, False), (-3.0, 9, True), (51.0, 9, True), (0.7, 9, True)],
)
def test_a_typed_number_is_made_whole_or_refused_in_one_sentence(typed, used, refused):
    app = AppTest.from_function(_shown, args=(COUNT,)).run()
    app.number_input[0].set_value(9.0).run()
    app.number_input[0].set_value(typed).run()
    assert not app.exception
    shown, link = app.session_state["seen"]
    assert (shown, link.partition("?")[2]) == (used, f"p_count={used}")
    assert app.number_input[0].value == used
    words = [caption.value for caption in app.caption]
    assert words == (["Count: type a number from 1 to 50. The page still uses 9."] if refused else [])
    app.number_input[0].set_value(8.0).run()
    assert app.session_state["seen"][0] == 8
    assert not app.caption


def test_call_round_trips_its_values():
    text = call("dict", {"a": 0.1 + 0.2, "b": "it's", "c": None})
    assert eval(text) == {"a": 0.1 + 0.2, "b": "it's", "c": None}
