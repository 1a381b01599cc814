"""The computed pictures of "Ask the data first": what is secret says so, ends and empty panels are explained."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from pages.ptr.gamma import Gamma
from pages.ptr.parts import bars, chance, small
from tests.pages.apps import curves, open_app, press, spec
from tests.pages.ptr.settings import GAMMA, LINE, PATE, VOTE
from tests.plotted import decode

open_page = partial(open_app, "pages/ptr/page.py")


@pytest.mark.slow
def test_a_new_draw_keeps_the_ghost_of_another_setting():
    app = open_page()
    app.select_slider(key="ptr_beta").set_value(0.2).run()
    assert curves(app)[1] == ["noise, passed, before", "noise, failed, before"]
    ghost, now = decode(spec(app)["data"][0]["y"]), curves(app)[0]["noise, passed"][1]
    assert not np.allclose(ghost, now)
    press(app, "Draw again")
    np.testing.assert_array_equal(decode(spec(app)["data"][0]["y"]), ghost)


def test_dust_of_floating_point_is_no_promise():
    shown = {0.1 + 0.05: "0.15", 3.5000000000000004: "3.5", 1 + 1e-12: "1", 0.0: "0", 3e-4: "3×10⁻⁴"}
    shown |= {0.1500001: "0.151", np.inf: "∞"}
    assert {value: small(value) for value in shown} == shown
    teachers = replace(PATE, number=50, epsilon=0.1, test_epsilon=0.05)
    assert teachers.proposal.total > 0.15
    assert "ε = 0.15, with slack" in teachers.promise()


def test_a_side_is_marked_whole_and_a_cut_is_told():
    side = replace(LINE, published="side")
    trace = side.chart(None).data[-1]
    above = side.outcome.value
    assert trace.name == ("published: above ½" if above else "published: not above ½")
    assert tuple(trace.x) == ((0.5, 1.0) if above else (0.0, 0.5))
    few = replace(LINE, text="0 0 0.1", people=1)
    released = {replace(few, seed=seed).released() for seed in range(20)}
    assert {"0.000 (cut off at 0)", "1.000 (cut off at 1)"} < released
    assert all("cut" not in text for text in released if text[:5] not in ("0.000", "1.000"))


def test_what_is_secret_says_so():
    assert LINE.answer().startswith("Secret: ")
    seen = {row["Quantity"]: row["Who sees it"] for row in LINE.table()}
    assert seen["Noisy D of this run"] == "nobody; people only see whether the test passes"
    assert PATE.answer().endswith("(secret).") or PATE.answer().startswith("Do not ask")
    assert "D here (secret)" in [trace.name for trace in PATE.chart(None).data]
    assert "is secret" in GAMMA.note()


def test_a_cell_of_the_table_is_no_markdown():
    assert [chance(probability) for probability in (0.9999, 1.0, 0.5)] == ["over 0.999", "1", "0.5"]


def test_bars_end_at_their_value():
    (bar, allowed) = bars((("none", 0.0, "asked"), ("all", 0.5, "worst")), "ε", 0.5).data
    assert (bar.type, bar.orientation, list(bar.x), list(bar.text)) == ("bar", "h", [0.0, 0.5], ["0", "0.5"])
    assert list(allowed.x) == [0.5, 0.5]


@pytest.mark.parametrize("gamma", [GAMMA, Gamma(100.0, 0.0, 1.0, 1e-9), Gamma(2.0, 0.0, 10.0, 1e-6)], ids=str)
def test_answer_and_table_give_one_ratio(gamma):
    (row, exact) = gamma.table()
    assert f" {row['Over the promise']} the promised δ" in gamma.answer()
    assert row["Who sees it"] == exact["Who sees it"] == "nobody: λ* is secret"


def test_panels_without_curves_say_why():
    def drawn(gamma):
        traces = [*gamma.chart(None).data, *gamma.gammas().data]
        return {trace.name for trace in traces if trace.meta["role"] != "guide" or trace.text}

    assert drawn(Gamma(1.0, 0.0, 0.1, 1e-9)) == {
        "promised δ",
        "the printed formula allows no γ at any ε here",
        "exactly, no γ is private at any ε here",
    }
    assert drawn(replace(GAMMA, delta=1e-2)) == {"promised δ", "true δ of the printed γ", "as printed", "exactly"}


def test_why_the_picture_moved():
    """What was changed, and what that did; nothing after another draw."""
    assert LINE.moved(replace(LINE, seed=5)) == ""
    bolder = replace(LINE, bound=0.02)
    assert bolder.moved(LINE) == "β 0.1 → 0.02: D (secret) falls from 28 to 7, the threshold stays at 23."
    looser = replace(LINE, epsilon=2.0)
    assert looser.moved(LINE).startswith("ε 1 → 2: D (secret) stays at 28, the threshold falls from 23 to")
    side = replace(LINE, published="side", text="0.1, 0.2, 0.3")
    assert side.moved(LINE).startswith("other values, published: only whether it is above ½: D (secret) ")
    why = replace(PATE, epsilon=1.0).moved(PATE)
    assert why.startswith("ε′ 0.7 → 1: ε rises from 0.9 to 1.2, D (secret) ")
    why = replace(GAMMA, lam=30.0).moved(GAMMA)
    assert why.startswith("λ 3 → 30: the exact γ rises from")
    assert why.endswith("a row’s leverage falls from 0.1 to 0.027.")
    why = replace(VOTE, gap=20).moved(VOTE)
    assert why.startswith("gap 10 → 20: the error of asking falls from 0.012 to 1.4×10⁻⁴; the test passes in most")
