"""What the Rényi page compares: the core's curves, where they cross, where DP-SGD's leaps, and matching."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import brentq

import objpert_core.accounting as acc
from pages.renyi import numbers as rc

FIGURE_5 = rc.rounds(100, 2.5, 20.0)
SETTINGS = (FIGURE_5, rc.rounds(1000, 5.0, 20.0), rc.rounds(100, 2.5, 20.0, bound="logistic"))
EARLY = rc.Setting(2.6, 2.8, 1.0, "glm", 0.75, 0.01, 100)
OPTIONS = {name: tuple(np.logspace(-2, 3, 1001)) for name in ("sigma", "lam", "noise_multiplier")}


def core(setting):
    smooth = {"smoothness": setting.smoothness} if setting.bound == "glm" else {}
    return {
        "objective": acc.ObjectivePerturbation(setting.sigma, setting.lam, bound=setting.bound, **smooth),
        "gaussian": acc.Gaussian(setting.sigma),
        "dpsgd": acc.DPSGD(setting.noise_multiplier, setting.sample_rate, setting.steps),
    }


def test_orders_cover_the_axis_and_are_whole_where_that_is_fast():
    assert rc.ORDERS[0] == pytest.approx(1.01)
    assert rc.ORDERS[-1] >= 1e5
    assert (np.diff(rc.ORDERS) > 0).all()
    assert 200 <= rc.ORDERS.size <= 400
    assert (np.diff(np.log(rc.ORDERS)) < 0.1).all()


@pytest.mark.slow
@pytest.mark.parametrize("setting", [*SETTINGS, EARLY])
def test_curves_and_epsilons_are_the_cores(setting):
    for which, mechanism in core(setting).items():
        np.testing.assert_array_equal(rc.curve(which, setting), mechanism.rdp(rc.ORDERS))
        renyi, exact = rc.epsilon_at(which, setting, 1e-5)
        assert renyi == acc.via_rdp(mechanism).epsilon(1e-5)
        assert exact == mechanism.epsilon(1e-5)
        assert exact <= renyi


def test_memory_does_not_mix_settings_up_and_cannot_be_written_to():
    of_the_fit = {"sigma": 3.0, "lam": 5.0, "smoothness": 2.0, "bound": "logistic"}
    of_the_run = {"noise_multiplier": 3.0, "sample_rate": 0.02, "steps": 9999}
    for moved, still, changes in (("objective", "dpsgd", of_the_fit), ("dpsgd", "objective", of_the_run)):
        for name, value in changes.items():
            other = replace(FIGURE_5, **{name: value})
            np.testing.assert_array_equal(rc.curve(moved, other), core(other)[moved].rdp(rc.ORDERS))
            assert (rc.curve(moved, other) != rc.curve(moved, FIGURE_5)).any()
            np.testing.assert_array_equal(rc.curve(still, other), rc.curve(still, FIGURE_5))
    with pytest.raises(ValueError, match="read-only"):
        rc.curve("dpsgd", FIGURE_5)[0] = 0.0


def test_random_allocation_is_there_where_epochs_are_whole():
    for rate, steps, fits in ((0.01, 10_000, (100, 100)), (1.0, 7, (1, 7)), (1e-5, 100_000, (100_000, 1))):
        setting = replace(FIGURE_5, sample_rate=rate, steps=steps)
        mechanism = setting.mechanism("allocation")
        assert mechanism == acc.RandomAllocation(2.5, fits[0], epochs=fits[1])
        assert list(rc.names(setting, True)) == [*rc.NAMES, "allocation"]
        assert rc.names(setting, False) == rc.NAMES
    for rate, steps in ((0.0071, 8520), (0.01, 8520), (0.01, 50)):
        setting = replace(FIGURE_5, sample_rate=rate, steps=steps)
        assert rc.names(setting, True) == rc.NAMES
        with pytest.raises(ValueError, match="sample_rate and steps must give whole epochs"):
            setting.mechanism("allocation")


SHORT = rc.Setting(2.5, 20.0, 1.0, "glm", 2.0, 0.1, 20)


@pytest.mark.slow
def test_its_bounds_are_the_cores_and_open_where_nothing_is_resolved():
    promise, mechanism = rc.promise("allocation", SHORT), acc.RandomAllocation(2.0, 10, epochs=2)
    deltas = np.array(rc.DELTAS)
    assert (promise.least <= promise.exact).all()
    assert (promise.exact <= promise.renyi).all()
    np.testing.assert_array_equal(promise.renyi, acc.via_rdp(mechanism).epsilon(deltas))
    told = deltas >= 2e-12
    low, high = mechanism.epsilon_bounds(deltas[told], relative_width=rc.WIDTH)
    np.testing.assert_array_equal(promise.exact[told], np.minimum(high, promise.renyi[told]))
    np.testing.assert_array_equal(promise.least[told], low)
    assert not np.isnan(promise.resolved[:4]).any()
    assert np.isnan(promise.resolved[-1])
    assert (promise.resolved[:4] < rc.promise("dpsgd", SHORT).exact[:4]).all()


@pytest.mark.slow
def test_the_file_has_it_on_request():
    assert "allocation_pld" not in rc.promises(SHORT)
    frame = rc.promises(SHORT, allocated=True)
    np.testing.assert_array_equal(frame["allocation_pld"], rc.promise("allocation", SHORT).exact)
    np.testing.assert_array_equal(frame["allocation_pld_at_least"], rc.promise("allocation", SHORT).least)


@pytest.mark.parametrize("setting", [*SETTINGS, EARLY])
def test_crossings_are_where_the_cores_curves_meet(setting):
    fit, _, run = core(setting).values()
    (crossing,) = rc.crossings(setting)
    exact = brentq(lambda a: run.rdp(a) / fit.rdp(a) - 1, 1.02, 2 * crossing.alpha)
    assert crossing.alpha == pytest.approx(exact, rel=1e-3)
    assert crossing.height == pytest.approx(fit.rdp(exact), rel=2e-3)
    assert crossing.lower_after == "objective"
    assert run.rdp(0.9 * exact + 0.1) < fit.rdp(0.9 * exact + 0.1)
    assert run.rdp(1.1 * exact) > fit.rdp(1.1 * exact)


def test_curves_that_coincide_do_not_cross():
    same = rc.Setting(5.0, 1e9, 1e-9, "logistic", 5.0, 1.0, 1)
    beyond = rc.ORDERS > 500  # from there on both are the Gaussian's
    np.testing.assert_allclose(rc.curve("dpsgd", same)[beyond], rc.curve("objective", same)[beyond], rtol=1e-12)
    assert rc.crossings(same) == ()


def test_a_bound_that_proves_nothing_crosses_nothing():
    nothing = rc.Setting(2.5, 0.9, 1.0, "glm", 2.5, 0.01, 10_000)
    assert rc.crossings(nothing) == ()
    assert "λ" in rc.reason(nothing)
    assert rc.reason(FIGURE_5) is None
    assert math.isinf(rc.epsilon_at("objective", nothing, 1e-5)[0])


@pytest.mark.parametrize("setting", [*SETTINGS, EARLY, rc.rounds(30, 1.5, 20.0)])
def test_the_transition_is_where_the_curve_is_twice_its_amplified_line(setting):
    run, found = core(setting)["dpsgd"], rc.transition(setting)
    rate = run.rdp(1.0)
    exact = brentq(lambda a: run.rdp(a) / (2 * rate * a) - 1, 1.1, 2 * found.start)
    assert found.start == pytest.approx(exact, rel=1e-3)
    assert found.height == pytest.approx(2 * rate * exact, rel=0.02)
    whole = acc.DPSGD(setting.noise_multiplier, 1.0, setting.steps)
    assert run.rdp(found.end) == pytest.approx(0.5 * whole.rdp(found.end), rel=1e-3)
    assert found.start < found.end


@pytest.mark.parametrize(("n", "noise"), [(30, 5.0), (100, 5.0), (1000, 5.0), (1000, 10.0)])
def test_the_transition_follows_the_text_on_the_page(n, noise):
    found = rc.transition(rc.rounds(n, noise, 20.0))
    assert found.start == pytest.approx(2 * noise**2 * math.log(n), rel=0.06)
    assert found.end == pytest.approx(2 * found.start, rel=0.05)


def test_no_transition_without_sampling_or_beyond_the_orders():
    assert rc.transition(rc.Setting(5.0, 20.0, 1.0, "glm", 5.0, 1.0, 10)) is None
    assert rc.transition(rc.Setting(5.0, 20.0, 1.0, "glm", 100.0, 1e-5, 10)) is None
    late = rc.transition(rc.Setting(5.0, 20.0, 1.0, "glm", 70.0, 1e-3, 10))
    assert 1e4 < late.start < 1e5


def test_amplified_and_unamplified_lines_enclose_the_curve():
    for setting in SETTINGS:
        run = rc.curve("dpsgd", setting)
        assert (rc.unamplified(setting) >= run).all()
        assert (rc.amplified(setting) <= run * (1 + 1e-9)).all()
        whole = setting.steps * rc.ORDERS / (2 * setting.noise_multiplier**2)
        np.testing.assert_allclose(rc.unamplified(setting), whole, rtol=1e-12)
        small = setting.steps * setting.sample_rate**2 * rc.ORDERS[0] / 2 * math.expm1(setting.noise_multiplier**-2)
        assert rc.amplified(setting)[0] == pytest.approx(small, rel=0.01)


def test_turns_tell_who_promises_less_by_renyi():
    turns = rc.turns(FIGURE_5)
    assert [who for _, who in turns] == ["dpsgd", "objective"]
    fit, _, run = (acc.via_rdp(mechanism) for mechanism in core(FIGURE_5).values())
    at = turns[1][0]
    assert fit.epsilon(at) < run.epsilon(at)
    assert fit.epsilon(10 * at) > run.epsilon(10 * at)
    assert rc.turns(EARLY)[-1][1] == "objective"
    nothing_proved = rc.Setting(2.5, 0.5, 1.0, "glm", 2.5, 0.01, 10_000)
    assert rc.turns(nothing_proved) == ((0.1, "dpsgd"),)


def test_relative_curves_are_divided_by_the_gaussians():
    gaussian = rc.drawn(FIGURE_5, True)["gaussian"]
    np.testing.assert_allclose(gaussian, 1.0, rtol=1e-15)
    np.testing.assert_array_equal(rc.drawn(FIGURE_5, False)["dpsgd"], rc.curve("dpsgd", FIGURE_5))
    halved = rc.shown(np.array([0.2]), FIGURE_5, True, np.array([5.0]))
    assert halved == pytest.approx(0.2 / (5 / (2 * 2.5**2)))


@pytest.mark.slow
@pytest.mark.parametrize("bound", ["glm", "logistic"])
@pytest.mark.parametrize("epsilon", [0.3, 2.0])
def test_matching_keeps_the_promise_and_is_the_next_option(bound, epsilon):
    start = rc.Setting(9.0, 9.0, 1.0, bound, 9.0, 0.01, 1000)
    found = rc.matched(start, epsilon, 1e-6, OPTIONS)
    assert (found.smoothness, found.sample_rate, found.steps, found.bound) == (1.0, 0.01, 1000, bound)
    for which in ("objective", "dpsgd"):
        spent = core(found)[which].epsilon(1e-6)
        assert 0.96 * epsilon < spent <= epsilon
    less = OPTIONS["noise_multiplier"][OPTIONS["noise_multiplier"].index(found.noise_multiplier) - 1]
    assert acc.DPSGD(less, 0.01, 1000).epsilon(1e-6) > 0.999 * epsilon


@pytest.mark.slow
def test_matching_beyond_the_slider_is_refused_by_name():
    few = OPTIONS | {"noise_multiplier": (0.3, 0.5)}
    with pytest.raises(ValueError, match=r"^noise_multiplier would have to be .* at most 0\.5$"):
        rc.matched(FIGURE_5, 1.0, 1e-5, few)


@pytest.mark.slow
def test_promises_are_certified_and_fall_with_delta():
    for which, mechanism in core(FIGURE_5).items():
        found = rc.promise(which, FIGURE_5)
        np.testing.assert_array_equal(found.renyi, acc.via_rdp(mechanism).epsilon(np.array(rc.DELTAS)))
        assert (np.diff(found.exact) > 0).all()
        assert (found.least <= found.exact).all()
        assert (found.exact <= found.renyi).all()
        assert (found.exact <= found.least * (1 + 2 * rc.WIDTH)).all()
        for delta, exact, least in zip(rc.DELTAS, found.exact, found.least, strict=True):
            assert least * (1 - 1e-9) <= mechanism.epsilon(delta) <= exact * (1 + rc.WIDTH)


@pytest.mark.slow
def test_frames_hold_every_plotted_number():
    frame = rc.frame(FIGURE_5)
    curves = [f"rdp_{name}" for name in rc.NAMES]
    assert list(frame.columns) == ["alpha", *curves, "dpsgd_amplified", "dpsgd_unamplified"]
    np.testing.assert_array_equal(frame["rdp_dpsgd"], core(FIGURE_5)["dpsgd"].rdp(frame["alpha"].to_numpy()))
    promises = rc.promises(FIGURE_5)
    np.testing.assert_array_equal(promises["delta"], rc.DELTAS)
    np.testing.assert_array_equal(promises["dpsgd_pld"], rc.promise("dpsgd", FIGURE_5).exact)
    assert len(promises.columns) == 1 + 3 * len(rc.NAMES)


def test_impossible_values_are_refused_by_name():
    with pytest.raises(ValueError, match=r"^sample_rate must be"):
        rc.curve("dpsgd", rc.Setting(2.5, 20.0, 1.0, "glm", 2.5, 1.5, 10))
