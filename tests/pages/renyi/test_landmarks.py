"""Where the Rényi curves cross and where DP-SGD's leaps: the places are the core's, and the sentences say them."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import brentq

import objpert_core.accounting as acc
from pages.renyi import landmarks
from pages.renyi.controls import Setting, rounds
from pages.renyi.curves import amplified, curve, unamplified
from ui.bounds import ORDERS

GLM, TIGHT = "2023 theorem", "our theorem"
FIGURE_5 = rounds(100, 2.5, 20.0)
SETTINGS = (FIGURE_5, rounds(1000, 5.0, 20.0), replace(FIGURE_5, proof=TIGHT))
EARLY = Setting(2.6, 2.8, 1.0, GLM, 0.75, 0.01, 100.0)
NOTHING = Setting(2.5, 0.5, 1.0, GLM, 2.5, 0.01, 10_000.0)


def transition(*run):
    """The phase transition of a noise multiplier, a sample rate and a number of steps."""
    return landmarks.transition(acc.DPSGD(*run))


def crossings(setting):
    return landmarks.crossings(setting.fit, setting.run)


def test_orders_cover_the_axis_and_are_whole_where_that_is_fast():
    assert ORDERS[0] == pytest.approx(1.01)
    assert ORDERS[-1] >= 1e5
    assert (np.diff(ORDERS) > 0).all()
    assert 200 <= ORDERS.size <= 400
    assert (np.diff(np.log(ORDERS)) < 0.1).all()


@pytest.mark.parametrize("setting", [*SETTINGS, EARLY])
def test_crossings_are_where_the_cores_curves_meet(setting):
    fit, run, (crossing,) = setting.fit, setting.run, crossings(setting)
    exact = brentq(lambda a: run.rdp(a) / fit.rdp(a) - 1, 1.02, 2 * crossing.alpha)
    assert crossing.alpha == pytest.approx(exact, rel=1e-3)
    assert crossing.height == pytest.approx(fit.rdp(exact), rel=2e-3)
    assert crossing.lower_after == "objective"
    assert run.rdp(0.9 * exact + 0.1) < fit.rdp(0.9 * exact + 0.1)
    assert run.rdp(1.1 * exact) > fit.rdp(1.1 * exact)


def test_curves_that_coincide_do_not_cross():
    same = Setting(5.0, 1e9, 1e-9, TIGHT, 5.0, 1.0, 1.0)
    beyond = ORDERS > 500  # from there on both are the Gaussian's
    np.testing.assert_allclose(curve("dpsgd", same)[beyond], curve("objective", same)[beyond], rtol=1e-12)
    assert crossings(same) == ()


def test_a_bound_that_proves_nothing_crosses_nothing():
    assert crossings(NOTHING) == ()
    assert "λ" in NOTHING.fit.explain()
    assert FIGURE_5.fit.explain() is None
    assert math.isinf(NOTHING.epsilon_at("objective", 1e-5)[0])


@pytest.mark.parametrize("setting", [*SETTINGS, EARLY, rounds(30, 1.5, 20.0)])
def test_the_transition_is_where_the_curve_is_twice_its_amplified_line(setting):
    run, leap = setting.run, landmarks.transition(setting.run)
    rate = run.rdp(1.0)
    exact = brentq(lambda a: run.rdp(a) / (2 * rate * a) - 1, 1.1, 2 * leap.start)
    assert leap.start == pytest.approx(exact, rel=1e-3)
    assert leap.height == pytest.approx(2 * rate * exact, rel=0.02)
    whole = acc.DPSGD(setting.noise_multiplier, 1.0, round(setting.steps))
    assert run.rdp(leap.end) == pytest.approx(0.5 * whole.rdp(leap.end), rel=1e-3)
    assert leap.start < leap.end


@pytest.mark.parametrize(("n", "noise"), [(30, 5.0), (100, 5.0), (1000, 5.0), (1000, 10.0)])
def test_the_transition_follows_the_text_on_the_page(n, noise):
    leap = landmarks.transition(rounds(n, noise, 20.0).run)
    assert leap.start == pytest.approx(2 * noise**2 * math.log(n), rel=0.06)
    assert leap.end == pytest.approx(2 * leap.start, rel=0.05)


def test_no_transition_without_sampling_or_beyond_the_orders():
    assert transition(5.0, 1.0, 10) is None
    assert transition(100.0, 1e-5, 10) is None
    assert 1e4 < transition(70.0, 1e-3, 10).start < 1e5


def test_amplified_and_unamplified_lines_enclose_the_curve():
    for setting in SETTINGS:
        run = curve("dpsgd", setting)
        assert (unamplified(setting) >= run).all()
        assert (amplified(setting) <= run * (1 + 1e-9)).all()
        whole = setting.steps * ORDERS / (2 * setting.noise_multiplier**2)
        np.testing.assert_allclose(unamplified(setting), whole, rtol=1e-12)
        small = setting.steps * setting.sample_rate**2 * ORDERS[0] / 2 * math.expm1(setting.noise_multiplier**-2)
        assert amplified(setting)[0] == pytest.approx(small, rel=0.01)


def test_turns_tell_who_promises_less_by_renyi():
    turns = landmarks.turns(FIGURE_5.fit, FIGURE_5.run)
    assert [who for _, who in turns] == ["dpsgd", "objective"]
    fit, run = acc.via_rdp(FIGURE_5.fit), acc.via_rdp(FIGURE_5.run)
    at = turns[1][0]
    assert fit.epsilon(at) < run.epsilon(at)
    assert fit.epsilon(10 * at) > run.epsilon(10 * at)
    assert landmarks.turns(EARLY.fit, EARLY.run)[-1][1] == "objective"
    assert landmarks.turns(NOTHING.fit, NOTHING.run) == ((0.1, "dpsgd"),)
