"""The page "Rényi curves and DP-SGD": the core's numbers, every case of the answer, matching, the lines of Python."""

import math
from dataclasses import astuple, replace
from functools import partial

import numpy as np
import pytest

import objpert_core.accounting as acc
from pages.renyi import controls
from pages.renyi.controls import LAM, NAMES, NOISE, SETTING, SHORT, SHOWN, SIGMA, Setting, rounds
from pages.renyi.curves import Curves, curve
from pages.renyi.landmarks import transition
from pages.renyi.promises import DELTAS, WIDTH, Promise, Promises, promise
from tests.pages.apps import open_app, written
from tests.pages.renyi.test_landmarks import FIGURE_5, GLM, TIGHT
from ui import sentences
from ui.bounds import ORDERS

open_page = partial(open_app, "pages/renyi/page.py")
AT_FIRST = dict(zip([control.key for control in SETTING.values()], astuple(FIGURE_5), strict=True))
OPENS = Curves(*astuple(FIGURE_5))


def core(setting):
    smooth, bound = ({"smoothness": setting.smoothness}, "glm") if setting.proof == GLM else ({}, "logistic")
    return {
        "objective": acc.ObjectivePerturbation(setting.sigma, setting.lam, bound=bound, **smooth),
        "gaussian": acc.Gaussian(setting.sigma),
        "dpsgd": acc.DPSGD(setting.noise_multiplier, setting.sample_rate, round(setting.steps)),
    }


def mechanisms(state):
    """What the legends name, at what the controls are at."""
    return {SHORT[which]: one for which, one in core(Setting(*(state[key] for key in AT_FIRST))).items()}


@pytest.mark.slow
def test_the_prediction_is_true_and_quotes_the_leaps():
    app = open_page()
    app.radio(key="renyi__try").set_value(app.radio(key="renyi__try").options[2]).run()
    few, many = acc.DPSGD(5.0, 0.01, 10_000), acc.DPSGD(5.0, 0.001, 1_000_000)
    assert many.rdp(50.0) == pytest.approx(few.rdp(50.0), rel=0.02)
    assert many.rdp(300) < 0.1 * few.rdp(300)
    assert many.rdp(1e4) == pytest.approx(100 * few.rdp(1e4), rel=0.02)
    starts = [transition(rounds(n, 5.0, 20.0).run).start for n in (100, 1000)]
    assert f"from α = {starts[0]:.0f} to {starts[1]:.0f}" in written(app)


# --- the setting ------------------------------------------------------------------------------------------------------


def test_memory_does_not_mix_settings_up_and_cannot_be_written_to():
    of_the_fit = {"sigma": 3.0, "lam": 5.0, "smoothness": 2.0, "proof": TIGHT}
    of_the_run = {"noise_multiplier": 3.0, "sample_rate": 0.02, "steps": 9999.0}
    for moved, still, changes in (("objective", "dpsgd", of_the_fit), ("dpsgd", "objective", of_the_run)):
        for name, value in changes.items():
            other = replace(FIGURE_5, **{name: value})
            np.testing.assert_array_equal(curve(moved, other), core(other)[moved].rdp(ORDERS))
            assert (curve(moved, other) != curve(moved, FIGURE_5)).any()
            np.testing.assert_array_equal(curve(still, other), curve(still, FIGURE_5))
    with pytest.raises(ValueError, match="read-only"):
        curve("dpsgd", FIGURE_5)[0] = 0.0


@pytest.mark.parametrize(
    ("rate", "steps", "fits"),
    [
        *((0.01, 10_000.0, (100, 100)), (1.0, 7.0, (1, 7)), (1e-5, 100_000.0, (100_000, 1))),
        *((0.0071, 8520.0, None), (0.01, 8520.0, None), (0.01, 50.0, None)),
    ],
)
def test_random_allocation_is_there_where_epochs_are_whole(rate, steps, fits):
    setting = replace(FIGURE_5, sample_rate=rate, steps=steps)
    assert list(setting.names(True)) == [*NAMES, *(["allocation"] if fits else [])]
    if fits:
        assert setting.mechanism("allocation") == acc.RandomAllocation(2.5, fits[0], epochs=fits[1])
    else:
        assert "left out" in Promises(setting).about_allocation()


# --- the curves -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("proved", "answer"),
    [
        ((1.6722, 1.6394), "At δ = 10⁻⁵ DP-SGD is more private than one fit: ε = 1.64 against 1.68."),
        ((1.2, 1.6394), "At δ = 10⁻⁵ one fit is more private than DP-SGD: ε = 1.2 against 1.64."),
        ((1.0, 0.992), "cost about the same: ε = 1 and 0.992"),
        ((0.0, 0.0), "about the same"),
        ((1.0, 0.98), "more private"),
        ((math.inf, 2.0), "nothing is proved for the fit, and ε = 2 for DP-SGD"),
        ((2.0, math.inf), "no finite ε is proved for DP-SGD"),
        ((math.inf, math.inf), "no finite ε is proved for either mechanism"),
    ],
)
def test_the_answer_names_who_is_more_private_and_does_not_make_much_of_a_percent(proved, answer, monkeypatch):
    monkeypatch.setattr(Curves, "proved", proved)
    assert answer in OPENS.answer()


def test_read_outs_are_the_cores_rounded_up():
    rows = replace(OPENS, delta=1e-8).table()
    assert [row["Mechanism"] for row in rows] == list(NAMES.values())
    assert rows[0]["Even odds become at most"] == sentences.odds(FIGURE_5.epsilon_at("objective", 1e-8)[1])
    for mechanism, row in zip(core(FIGURE_5).values(), rows, strict=True):
        renyi, exact = acc.via_rdp(mechanism).epsilon(1e-8), mechanism.epsilon(1e-8)
        assert renyi <= float(row["ε at δ = 10⁻⁸, Rényi"]) <= 1.01 * renyi
        assert exact <= float(row["privacy loss distribution"]) <= 1.01 * exact
    assert replace(OPENS, lam=0.5).table()[0]["privacy loss distribution"] == "nothing proved"


def test_relative_curves_are_divided_by_the_gaussians():
    relative = replace(OPENS, axis=SHOWN.options[1])
    np.testing.assert_allclose(relative.scaled(curve("gaussian", OPENS), OPENS), 1.0, rtol=1e-15)
    np.testing.assert_array_equal(OPENS.scaled(curve("dpsgd", OPENS), OPENS), curve("dpsgd", OPENS))
    halved = relative.scaled(np.array([0.2]), OPENS, np.array([5.0]))
    assert halved == pytest.approx(0.2 / (5 / (2 * 2.5**2)))


# --- the promises -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_promises_are_certified_and_fall_with_delta():
    for mechanism in core(FIGURE_5).values():
        own = promise(mechanism)
        np.testing.assert_array_equal(own.renyi, acc.via_rdp(mechanism).epsilon(np.array(DELTAS)))
        assert (np.diff(own.exact) > 0).all()
        assert (own.least <= own.exact).all()
        assert (own.exact <= own.renyi).all()
        assert (own.exact <= own.least * (1 + 2 * WIDTH)).all()
        for delta, exact, least in zip(DELTAS, own.exact, own.least, strict=True):
            assert least * (1 - 1e-9) <= mechanism.epsilon(delta) <= exact * (1 + WIDTH)


def test_the_certificate_is_rounded_up(monkeypatch):
    run = Promise(np.array([2.0, 3.0]), np.array([1.0, 2.0]), np.array([0.9987, 2.0]))
    for own, text in ((run, "at most 0.2 % smaller"), (Promise(*np.zeros((3, 1))), "at most 0.0 %")):
        monkeypatch.setattr(Promises, "promise", lambda self, which, own=own: own)
        assert text in Promises(FIGURE_5).certified()


# --- matching and Python ----------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("proof", [GLM, TIGHT])
@pytest.mark.parametrize("epsilon", [0.3, 2.0])
def test_matching_keeps_the_promise_and_is_the_next_option(proof, epsilon):
    start = Setting(9.0, 9.0, 1.0, proof, 9.0, 0.01, 1000.0)
    found = controls.matched(start, epsilon, 1e-6)
    assert replace(start, sigma=found.sigma, lam=found.lam, noise_multiplier=found.noise_multiplier) == found
    assert found.sigma in SIGMA.options
    assert found.lam in LAM.options
    for which in ("objective", "dpsgd"):
        assert 0.96 * epsilon < core(found)[which].epsilon(1e-6) <= epsilon
    less = NOISE.options[NOISE.options.index(found.noise_multiplier) - 1]
    assert acc.DPSGD(less, 0.01, 1000).epsilon(1e-6) > 0.999 * epsilon


def test_matching_beyond_the_slider_is_refused_by_name():
    few = replace(NOISE, options=(0.3, 2.5))
    assert controls.offered("noise_multiplier", 1.0, few) == 2.5
    with pytest.raises(ValueError, match=r"^noise_multiplier would have to be 3, but this page offers at most 2\.5$"):
        controls.offered("noise_multiplier", 3.0, few)
