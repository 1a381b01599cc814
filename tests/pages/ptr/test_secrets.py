"""The computed pictures of "Ask the data first": what is secret says so, ends and empty panels are explained."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from objpert_core.experiments.ptr.ballot import Ballot
from objpert_core.experiments.ptr.points import Points
from objpert_core.experiments.ptr.teachers import Proposal, Teachers
from pages.ptr import editor, gamma, line, line_charts, panel, pate, vote
from tests.pages.apps import curves, open_app, press, spec
from ui.svg import decode

open_page = partial(open_app, "pages/ptr/page.py")
TWELVE = editor.parse(panel.POINTS.default)


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
    for value, told in (
        (0.1 + 0.05, "0.15"),
        (3.5000000000000004, "3.5"),
        (1 + 1e-12, "1"),
        (0.0, "0"),
        (3e-4, "3×10⁻⁴"),
    ):
        assert line.small(value) == told
    assert (line.small(0.1500001), line.small(np.inf)) == ("0.151", "∞")
    asked = Proposal(Teachers(0.8, 0.11, 50, queries=5), 0.1, 0.05)
    assert asked.total > 0.15
    assert "ε = 0.15, with slack" in pate.promise(asked)


def test_a_side_is_marked_whole_and_a_cut_is_told():
    side = Points(TWELVE, 7, 0.1, 0.5, 1e-5, "side")
    trace = line_charts.points(line.Shown(side, 0, True)).data[-1]
    above = side.run(0).value
    assert trace.name == ("published: above ½" if above else "published: not above ½")
    assert tuple(trace.x) == ((0.5, 1.0) if above else (0.0, 0.5))
    number = Points((0.0, 0.0, 0.1), 1, 0.1, 0.5, 1e-5)
    told = {line.released(number, number.run(seed)) for seed in range(20)}
    assert {"0.000 (cut off at 0)", "1.000 (cut off at 1)"} < told
    assert all("cut" not in one for one in told if one[:5] not in ("0.000", "1.000"))


def test_what_is_secret_says_so():
    shown = line.Shown(Points(TWELVE, 7, 0.1, 0.5, 1e-5), 0, True)
    assert line.answer(shown).startswith("Secret: ")
    seen = {row["Quantity"]: row["Who sees it"] for row in line.rows(shown)}
    assert seen["Noisy D of this run"] == "nobody; only whether it passes"
    asked = Proposal(Teachers(0.8, 0.11, 100, queries=20), 0.7, 0.2)
    assert pate.answer(asked).endswith("(secret).") or pate.answer(asked).startswith("Do not ask")
    assert "D here (secret)" in [trace.name for trace in pate.chart(asked).data]
    assert "is secret" in gamma.note(gamma.Draw(3.0, 7.0, 1.0, 1e-6))


def test_a_cell_of_the_table_is_no_markdown():
    assert line.chance(0.9999) == "over 0.999"
    assert (line.chance(1.0), line.chance(0.5)) == ("1", "0.5")


def test_bars_end_at_their_value():
    (bar, allowed) = line_charts.bars((("none", 0.0, "asked"), ("all", 0.5, "worst")), "ε", 0.5).data
    assert (bar.type, bar.orientation, list(bar.x), list(bar.text)) == ("bar", "h", [0.0, 0.5], ["0", "0.5"])
    assert list(allowed.x) == [0.5, 0.5]


def test_answer_and_table_give_one_ratio():
    for draw in (gamma.Draw(3.0, 7.0, 5.0, 1e-6), gamma.Draw(100.0, 0.0, 1.0, 1e-9), gamma.Draw(2.0, 0.0, 10.0, 1e-6)):
        (row, exact) = gamma.rows(draw)
        assert f" {row['Over the promise']} its promise" in gamma.answer(draw)
        assert row["Who sees it"] == exact["Who sees it"] == "nobody: λ* is secret"


def test_panels_without_curves_say_why():
    def drawn(draw):
        traces = [*gamma.chart(draw).data, *gamma.gammas(draw).data]
        return {trace.name for trace in traces if trace.meta["role"] != "guide" or trace.text}

    empty = drawn(gamma.Draw(1.0, 0.0, 0.1, 1e-9))
    assert empty == {
        "promised δ",
        "the printed formula allows no γ at any ε here",
        "exactly, no γ is private at any ε here",
    }
    assert drawn(gamma.Draw(3.0, 7.0, 5.0, 1e-2)) == {"promised δ", "true δ of the printed γ", "as printed", "exactly"}


def test_why_the_picture_moved():
    """What was changed, and what that did; nothing at first, and nothing after another draw."""
    points = Points(TWELVE, 7, 0.1, 0.5, 1e-5)
    shown = line.Shown(points, 0, True)
    assert line.moved(None, shown) == line.moved(line.Shown(points, 5, True), shown) == ""
    bolder = line.Shown(replace(points, bound=0.02), 0, True)
    assert line.moved(shown, bolder) == "β 0.1 → 0.02: D (secret) falls from 28 to 7, the threshold stays at 23."
    looser = line.Shown(replace(points, epsilon=1.0), 0, True)
    assert line.moved(shown, looser).startswith("ε 1 → 2: D (secret) stays at 28, the threshold falls from 23 to")
    side = line.Shown(replace(points, published="side", values=(0.1, 0.2, 0.3)), 0, True)
    assert line.moved(shown, side).startswith("other values, published: only the side of ½: D (secret) ")
    asked = Proposal(Teachers(0.8, 0.11, 100, queries=20), 0.7, 0.2)
    assert pate.moved(asked, replace(asked, epsilon=1.0)).startswith("ε′ 0.7 → 1: ε rises from 0.9 to 1.2, D (secret) ")
    draw = gamma.Draw(3.0, 7.0, 5.0, 1e-6)
    told = gamma.moved(draw, replace(draw, lam=30.0))
    assert told.startswith("λ 3 → 30: the exact γ rises from")
    assert told.endswith("a row’s leverage falls from 0.1 to 0.027.")
    ballot = vote.Shown(Ballot(1.0, 1e-5), 10)
    told = vote.moved(ballot, replace(ballot, gap=20))
    assert told.startswith("gap 10 → 20: the error of asking falls from 0.012 to 1.4×10⁻⁴; the test passes in most")
    assert pate.moved(asked, asked) == gamma.moved(draw, draw) == vote.moved(ballot, ballot) == ""
