"""The ledger before a privacy filter: what is let through is the core's, and the page says what that promises."""

import math

import numpy as np
import pytest

import objpert_core.accounting as acc
from objpert_core.accounting import ledger as lg
from pages.composition import gate as pg
from pages.composition.rounding import down
from tests.pages.apps import curves, execute, open_app, said, written

LIST = lg.parse("gauss:5,1@A;gauss:2,1@Big;gauss*4:20,1@Four;cal:0.5,1e-5@Model")


def test_what_does_not_fit_is_refused_and_a_smaller_one_may_follow():
    at = pg.gate(LIST, 3, 1e-5, 1.0)
    budget = acc.PrivacyFilter.for_target(1.0, 1e-5)
    budget.spend(acc.Gaussian(5.0))
    assert not budget.allows(acc.Gaussian(2.0))
    budget.spend(acc.repeat(acc.Gaussian(20.0), 4))
    last = pg.FITS if at.next.mu <= at.left else pg.TOO_MUCH
    assert [p.state for p in at.passages] == [pg.LET, pg.REFUSED, pg.LET, last]
    assert (at.budget, at.spent, at.left) == (budget.mu, budget.reading, budget.left)
    assert at.epsilon == budget.epsilon(1e-5) <= 1.0
    assert at.passages[2].mu == pytest.approx(0.1)


def test_the_next_release_is_asked_about_and_costs_nothing_yet():
    none, one = pg.gate(LIST, 0, 1e-5, 1.0), pg.gate(LIST, 1, 1e-5, 1.0)
    assert none.spent == 0
    assert none.next.entry.name == "A"
    assert none.next.state == pg.FITS
    assert one.next.entry.name == "Big"
    assert one.next.state == pg.TOO_MUCH
    assert one.passages[2].state == pg.LATER
    assert one.spent == pytest.approx(0.2)
    assert pg.gate(LIST, 20, 1e-5, 1.0).next is None
    assert pg.gate((), 0, 1e-5, 1.0).next is None


def test_a_release_of_which_no_mu_is_known_does_not_pass():
    at = pg.gate(lg.parse("fit:8,0.5,1,glm,1"), 0, 1e-5, 50.0)
    assert at.next.state == pg.TOO_MUCH
    assert math.isinf(at.next.mu)
    assert "no μ is known" in pg.more(at)
    assert pg.gate(lg.parse("fit:8,0.5,1,glm,1"), 1, 1e-5, 50.0).spent == 0


def test_words_are_short_and_rounded_to_the_safe_side():
    at = pg.gate(LIST, 1, 1e-5, 1.0)
    assert pg.answer(at) == f"μ = 0.2 of {down(at.budget)} is spent; the next release does not fit."
    assert float(down(at.budget)) <= at.budget
    assert float(down(at.left)) <= at.left
    for released in range(5):
        assert len(pg.answer(pg.gate(LIST, released, 1e-5, 1.0)).split()) <= 18
    assert "only if you fixed the noise of all releases beforehand" in pg.reading(at, 1e-5)
    assert "chosen after seeing earlier ones" in pg.promise(1e-5, 1.0)
    assert "did not fit and must not be released" in pg.more(pg.gate(LIST, 2, 1e-5, 1.0))


@pytest.mark.parametrize("released", [0, 2, 4])
def test_the_snippet_is_the_same_filter(released):
    at = pg.gate(LIST, released, 1e-5, 1.0)
    names, printed = execute(pg.snippet(LIST, released, delta=1e-5, target=1.0))
    first, *then = printed.splitlines()
    assert [float(v) for v in first.split()] == [at.budget, at.spent, at.left, at.epsilon]
    assert then == ([] if at.next is None else [str(at.next.state == pg.FITS)])
    assert names["budget"].mu == at.budget


def test_frame_and_table_have_every_entry():
    at = pg.gate(LIST, 2, 1e-5, 1.0)
    assert list(pg.frame(at)["entry"]) == [entry.write() for entry in LIST]
    assert [row["Filter"] for row in pg.rows(at)] == [p.state for p in at.passages]


@pytest.mark.slow
def test_the_page_shows_the_filter_when_it_is_switched_on():
    query = {"composition_ledger": lg.write(LIST), "composition_target": "1"}
    assert "Odometer" not in written(open_app("pages/composition/page.py", **query))
    app = open_app("pages/composition/page.py", **query, composition_filter="true", composition_released="3")
    at = pg.gate(LIST, 3, 1e-5, 1.0)
    assert pg.answer(at) in said(app)
    assert "The odometer adds up what is spent so far" in written(app)
    _, spent = curves(app, 2)[0]["Spent"]
    np.testing.assert_array_equal(spent, [0.0, *(p.spent for p in at.passages[:3])])
    assert app.get("plotly_chart")[2].proto.alt == pg.alt(at)
    app.button(key="composition_list_preset_Chosen as you go").click().run()
    assert app.session_state["composition_released"] == 2
    assert "the next release fits" in said(app)  # and after it, the last one no more
    assert pg.gate(lg.parse(app.session_state["composition_ledger"]), 3, 1e-5, 1.0).next.state == pg.TOO_MUCH
