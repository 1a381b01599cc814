"""The fits of the Composition page: curves are the core's, sentences round to the safe side, the Python prints both."""

import math
from dataclasses import replace

import numpy as np
import pytest

import objpert_core.accounting as acc
from pages.composition import fits
from pages.composition.controls import BOUNDS, WIDTHS
from pages.composition.fits import ACCOUNTANTS, Fits, Reading, grid, renyi_profile
from tests.pages.apps import execute

FIGURE_3 = Fits(8.0, 10.0, 1.0, 1.0, "2023 theorem", (1, 10), 1e-5)
TIGHT = replace(FIGURE_3, proof="our theorem")


def reading(k=10, low=1.92, epsilon=1.93, renyi=2.1, added=5.6, share=0.004):
    return Reading(k, low, epsilon, renyi, added, share)


@pytest.mark.parametrize("view", [FIGURE_3, TIGHT])
def test_profiles_are_sandwiches_and_stop_below_the_floor(view):
    for k in (1, 2, 10):
        low, high = view.profile(k)
        renyi = renyi_profile(view.fit, k, 5.0)
        known = np.isfinite(high)
        assert known.any()
        assert (low[known] <= high[known]).all()
        assert (high[known] <= renyi[known] * (1 + 1e-9)).all()
        assert (renyi[~known] < view.floor).all()
        if (~known).any():
            assert high[known][-1] < view.floor * 10
        x = grid(5.0)[known]
        np.testing.assert_array_equal(high[known], acc.repeat(view.fit, k).delta_bounds(x, 1e-3)[1])


def test_one_fit_is_the_exact_profile():
    low, high = FIGURE_3.profile(1)
    exact = FIGURE_3.fit.delta(grid(5.0))
    known = np.isfinite(high)
    assert (high[known] >= exact[known] * (1 - 1e-12)).all()
    assert (low[known] <= exact[known] * (1 + 1e-12)).all()


def test_readings():
    one, ten = FIGURE_3.reading(1), FIGURE_3.reading(10)
    alone, together = FIGURE_3.fit.epsilon(1e-5), acc.repeat(FIGURE_3.fit, 10).epsilon_bounds(1e-5)
    assert one.epsilon == pytest.approx(alone, rel=2e-3)
    assert ten.added == 10 * alone
    assert ten.low <= together[1]
    assert ten.epsilon >= together[0]
    assert ten.epsilon < ten.renyi < ten.added
    assert 0 <= ten.share < 2e-3
    assert 0 < ten.delta_share < 0.1


def test_nothing_is_proved_where_lambda_is_at_most_beta():
    silent = replace(FIGURE_3, lam=1.0, counts=(3,))
    assert math.isinf(silent.last.epsilon)
    assert silent.table()[0]["ε at δ = 10⁻⁵"] == "nothing proved"
    assert (silent.profile(3)[1] == 1.0).all()


def test_the_logistic_bound_does_not_depend_on_beta():
    assert replace(TIGHT, smoothness=7.0).fit == TIGHT.fit


@pytest.mark.slow
@pytest.mark.parametrize("fit", [FIGURE_3, TIGHT])
def test_the_snippet_prints_the_table_and_defines_the_curves(fit):
    view = replace(fit, counts=(1, 2, 10))
    names, printed = execute(view.code())
    for line, k in zip(printed.splitlines(), view.counts, strict=True):
        row, found = [float(v) for v in line.split()], view.reading(k)
        assert row[0] == k
        assert row[1:] == pytest.approx([found.low, found.epsilon, found.renyi, found.added], rel=1e-12)
        low, high = view.profile(k)
        known = np.isfinite(high)
        np.testing.assert_array_equal(names["bounds"][k], [low[known], high[known]])
        np.testing.assert_allclose(names["renyi"][k], renyi_profile(view.fit, k, 5.0), rtol=1e-12)


def test_frame_has_every_plotted_number():
    frame = FIGURE_3.frame()
    assert list(frame)[:4] == ["epsilon", "delta_lower_1", "delta_1", "delta_renyi_1"]
    np.testing.assert_array_equal(frame["delta_10"], FIGURE_3.profile(10)[1])


@pytest.mark.parametrize(
    ("k", "total", "one", "answer"),
    [
        (10, 1.9301, 0.5601, "Ten fits cost ε = 1.94 at δ = 10⁻⁵, not 10 × 0.561 = 5.61."),
        (1000, 223.0, 0.562, "1,000 fits cost ε = 223 at δ = 10⁻⁵, not 1,000 × 0.562 = 562."),
        (1, 0.5, 0.5, "One fit costs ε = 0.5 at δ = 10⁻⁵."),
        (2, 1.0, 0.5, "Two fits cost ε = 1 at δ = 10⁻⁵; adding up proves the same ε, but only at 2 × δ."),
        (2, math.inf, math.inf, "No bound proves a finite ε for two fits at δ = 10⁻⁵ with this setting."),
        (3, 0.01, 0.0, "Three fits cost ε = 0.01 at δ = 10⁻⁵."),
    ],
)
def test_answer_compares_with_the_product_where_it_may(k, total, one, answer, monkeypatch):
    monkeypatch.setattr(Fits, "last", reading(k, epsilon=total, added=k * one))
    assert replace(FIGURE_3, counts=(k,)).answer() == answer


@pytest.mark.parametrize(
    ("changes", "total", "why"),
    [
        ({}, 3.14, ""),
        ({"counts": (1, 100)}, 24.4, "k 10 → 100: ε rises from 3.14 to 24.4; 10 times the fits cost"),
        ({"sigma": 16.0}, 2.1, "falls from 3.14 to 2.1; every fit is noisier."),
        ({"lam": 5.0}, 4.0, "shows more of one person’s curvature."),
        ({"delta": 1e-6}, 3.5, "rises from 3.14 to 3.5; the promise allows less slack."),
        ({"proof": TIGHT.proof, "smoothness": 2.0}, 2.0, "only the proof differs."),
        ({"lam": 20.0}, 3.14, "ε stays at 3.14; λ does not matter here."),
        ({"lam": 0.5}, math.inf, "λ 10 → 0.5: ε rises from 3.14 to ∞."),
        ({"lam": 5.0, "delta": 1e-6}, 5.0, "δ 10⁻⁵ → 10⁻⁶: ε rises from 3.14 to 5."),
    ],
)
def test_why_names_the_change_and_its_reason(changes, total, why, monkeypatch):
    def last(view):
        return reading(epsilon=3.14 if view == FIGURE_3 else total)

    monkeypatch.setattr(Fits, "last", property(last))
    moved = replace(FIGURE_3, **changes).moved(FIGURE_3)
    assert why in moved
    assert bool(why) == bool(moved)


def test_band_says_its_width_and_that_it_cannot_be_seen(monkeypatch):
    def note(**known):
        monkeypatch.setattr(Fits, "last", reading(**known))
        return FIGURE_3.note()

    assert "relative error of at most 5.2×10⁻⁵, less than the width of the line." in note(low=1.9299, epsilon=1.93)
    assert "width of the line" not in note(low=1.8)
    assert note(epsilon=math.inf) == ""
    assert set(ACCOUNTANTS) == set(BOUNDS.values())


def test_alts_name_every_curve(monkeypatch):
    known = {1: reading(1, epsilon=0.5, renyi=0.6), 2: reading(2, epsilon=math.inf, renyi=math.inf, share=math.nan)}
    monkeypatch.setattr(fits, "reading", lambda fit, k, *_: known[k])
    view = replace(FIGURE_3, counts=(1, 2))
    assert "one fit 0.5, by Rényi 0.6; two fits nothing proved" in view.alt()
    assert "one fit 0.4 %" in replace(view, show_as=WIDTHS).alt()
    assert "nothing is proved" in replace(view, show_as=WIDTHS, counts=(2,)).alt()
