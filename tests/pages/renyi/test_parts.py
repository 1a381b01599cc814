"""The two pictures of the Rényi page: the core's numbers, every case of the answer, what is said, the Python."""

import math
from dataclasses import astuple, replace

import numpy as np
import pytest

import objpert_core.accounting as acc
from pages.renyi import matching
from pages.renyi.controls import LAM, NOISE, SHOWN, SIGMA
from pages.renyi.curves import Curves, curve
from pages.renyi.promises import DELTAS, WIDTH, Promise, Promises, promise
from pages.renyi.setting import NAMES, Setting
from tests.pages.apps import execute, tells
from tests.pages.renyi.test_landmarks import EARLY, FIGURE_5, GLM, SETTINGS, TIGHT
from ui import sentences
from ui.bounds import ORDERS

OPENS = Curves(*astuple(FIGURE_5))
SHORT = Setting(2.5, 20.0, 1.0, GLM, 2.0, 0.1, 20.0)


def core(setting):
    smooth, bound = ({"smoothness": setting.smoothness}, "glm") if setting.proof == GLM else ({}, "logistic")
    return {
        "objective": acc.ObjectivePerturbation(setting.sigma, setting.lam, bound=bound, **smooth),
        "gaussian": acc.Gaussian(setting.sigma),
        "dpsgd": acc.DPSGD(setting.noise_multiplier, setting.sample_rate, round(setting.steps)),
    }


# --- the setting ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("setting", [*SETTINGS, EARLY])
def test_curves_and_epsilons_are_the_cores(setting):
    for which, mechanism in core(setting).items():
        np.testing.assert_array_equal(curve(which, setting), mechanism.rdp(ORDERS))
        renyi, exact = setting.epsilon_at(which, 1e-5)
        assert renyi == acc.via_rdp(mechanism).epsilon(1e-5)
        assert exact == mechanism.epsilon(1e-5)
        assert exact <= renyi


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


def test_impossible_values_are_refused_by_name():
    with pytest.raises(ValueError, match=r"^sample_rate must be"):
        curve("dpsgd", replace(FIGURE_5, sample_rate=1.5))


@pytest.mark.parametrize(
    ("rate", "steps", "fits"), [(0.01, 10_000.0, (100, 100)), (1.0, 7.0, (1, 7)), (1e-5, 100_000.0, (100_000, 1))]
)
def test_random_allocation_is_there_where_epochs_are_whole(rate, steps, fits):
    setting = replace(FIGURE_5, sample_rate=rate, steps=steps)
    assert setting.mechanism("allocation") == acc.RandomAllocation(2.5, fits[0], epochs=fits[1])
    assert list(setting.names(True)) == [*NAMES, "allocation"]
    assert setting.names(False) == NAMES


@pytest.mark.parametrize(("rate", "steps"), [(0.0071, 8520.0), (0.01, 8520.0), (0.01, 50.0)])
def test_random_allocation_is_left_out_elsewhere(rate, steps):
    setting = replace(FIGURE_5, sample_rate=rate, steps=steps)
    assert setting.names(True) == NAMES
    with pytest.raises(ValueError, match="sample_rate and steps must give whole epochs"):
        setting.mechanism("allocation")


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


@pytest.mark.thorough
def test_why_epsilon_moved():
    """The mechanism that was touched, the way it went, and a reason that goes the same way."""

    def why(before=OPENS, **changes):
        return replace(before, **changes).moved(before)

    assert OPENS.moved(None) == why() == ""
    assert why(sigma=5.0) == "σ 2.5 → 5: ε of the fit falls from 1.68 to 0.811: a wider tilt hides one person better."
    assert why(steps=1000.0).endswith("fewer steps are paid for.")
    assert why(lam=200.0).endswith("one person’s curvature shows less.")
    both = why(proof=TIGHT, smoothness=0.25)
    assert both.startswith("β 1 → 0.25, proof 2023 theorem → our theorem: ε of")
    assert why(replace(OPENS, proof=TIGHT), lam=200.0).endswith("stays at 1.56: the change does not matter here.")
    several = why(sigma=5.0, lam=200.0, noise_multiplier=5.0)
    assert several.startswith("ε of the fit falls from 1.68 to")
    assert "ε of DP-SGD falls from 1.64 to" in several


@pytest.mark.thorough
def test_alt_texts_carry_the_take_away():
    tells(OPENS.alt(), "cross at α = 12.9", "leaves its amplified line at α = 57.6")
    assert "leaves" not in replace(OPENS, sample_rate=1.0).alt()
    assert "DP-SGD from 0.7" in Promises(FIGURE_5).alt()


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


def test_promises_have_one_row_a_delta():
    rows = Promises(FIGURE_5).table()
    assert [row["δ"] for row in rows] == ["0.01", "10⁻⁴", "10⁻⁶", "10⁻⁸", "10⁻¹⁰", "10⁻¹²"]
    assert len(rows[0]) == 5


def test_the_certificate_is_rounded_up(monkeypatch):
    run = Promise(np.array([2.0, 3.0]), np.array([1.0, 2.0]), np.array([0.9987, 2.0]))
    for own, text in ((run, "at most 0.2 % smaller"), (Promise(*np.zeros((3, 1))), "at most 0.0 %")):
        monkeypatch.setattr(Promises, "promise", lambda self, which, own=own: own)
        assert text in Promises(FIGURE_5).certified()


@pytest.mark.slow
def test_frames_hold_every_plotted_number():
    frame = OPENS.frame()
    names = [f"rdp_{name}" for name in NAMES]
    assert list(frame.columns) == ["alpha", *names, "dpsgd_amplified", "dpsgd_unamplified"]
    np.testing.assert_array_equal(frame["rdp_dpsgd"], FIGURE_5.run.rdp(frame["alpha"].to_numpy()))
    promises = Promises(FIGURE_5).frame()
    np.testing.assert_array_equal(promises["delta"], DELTAS)
    np.testing.assert_array_equal(promises["dpsgd_pld"], promise(FIGURE_5.run).exact)
    assert len(promises.columns) == 1 + 3 * len(NAMES)


# --- random allocation ------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_its_bounds_are_the_cores_and_open_where_nothing_is_resolved():
    mechanism = acc.RandomAllocation(2.0, 10, epochs=2)
    own, deltas = promise(mechanism), np.array(DELTAS)
    assert (own.least <= own.exact).all()
    assert (own.exact <= own.renyi).all()
    np.testing.assert_array_equal(own.renyi, acc.via_rdp(mechanism).epsilon(deltas))
    known = deltas >= 2e-12
    low, high = mechanism.epsilon_bounds(deltas[known], relative_width=WIDTH)
    np.testing.assert_array_equal(own.exact[known], np.minimum(high, own.renyi[known]))
    np.testing.assert_array_equal(own.least[known], low)
    assert not np.isnan(own.resolved[:4]).any()
    assert np.isnan(own.resolved[-1])
    assert (own.resolved[:4] < promise(SHORT.run).exact[:4]).all()


@pytest.mark.thorough
def test_it_is_told_or_why_it_is_left_out():
    def told(**changes):
        return Promises(replace(SHORT, **changes)).about_allocation()

    assert told().startswith("Random allocation: in each of 2 epochs every row is in one of 10 steps, drawn at random.")
    assert "are upper bounds, too; the true ε are at most" in told()
    assert told().endswith("From δ = 10⁻¹² on, the distribution is too fine to compute.")
    assert "1/q = 140.8 steps, which is not a whole number" in told(sample_rate=0.0071)
    assert "15 steps are not a whole number of epochs of 1/q = 10 steps" in told(steps=15.0)
    assert "in each of 1 epoch every row is in one of 1 step, " in told(sample_rate=1.0, steps=1.0)


@pytest.mark.slow
def test_it_is_in_the_tables_and_the_file_on_request():
    short, exact = Curves(*astuple(SHORT), allocated=True), promise(SHORT.mechanism("allocation"))
    assert [row["Mechanism"] for row in short.table()][-1] == "Random allocation"
    assert "Random allocation" not in str(replace(short, steps=15.0).table())
    allocated, plain = Promises(SHORT, allocated=True), Promises(SHORT)
    rows = allocated.table()
    for i in range(4):
        assert exact.exact[i] <= float(rows[i]["Random allocation, distribution"]) <= 1.01 * exact.exact[i]
    assert rows[-1]["Random allocation, distribution"] == "not resolved"
    assert "; Random allocation from 0." in allocated.alt()
    assert "Random allocation" not in plain.alt()
    assert "allocation_pld" not in plain.frame()
    np.testing.assert_array_equal(allocated.frame()["allocation_pld"], exact.exact)
    np.testing.assert_array_equal(allocated.frame()["allocation_pld_at_least"], exact.least)


@pytest.mark.thorough
def test_the_snippet_of_random_allocation_gives_the_read_outs():
    short = Curves(*astuple(SHORT), allocated=True)
    _, printed = execute(short.code())
    name, by_renyi, by_distribution, *_ = printed.splitlines()[-1].split()
    assert name == "allocation"
    assert (float(by_renyi), float(by_distribution)) == SHORT.epsilon_at("allocation", 1e-5)
    assert "RandomAllocation" not in replace(short, steps=15.0).code()


# --- matching and Python ----------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("proof", [GLM, TIGHT])
@pytest.mark.parametrize("epsilon", [0.3, 2.0])
def test_matching_keeps_the_promise_and_is_the_next_option(proof, epsilon):
    start = Setting(9.0, 9.0, 1.0, proof, 9.0, 0.01, 1000.0)
    found = matching.matched(start, epsilon, 1e-6)
    assert replace(start, sigma=found.sigma, lam=found.lam, noise_multiplier=found.noise_multiplier) == found
    assert found.sigma in SIGMA.options
    assert found.lam in LAM.options
    for which in ("objective", "dpsgd"):
        assert 0.96 * epsilon < core(found)[which].epsilon(1e-6) <= epsilon
    less = NOISE.options[NOISE.options.index(found.noise_multiplier) - 1]
    assert acc.DPSGD(less, 0.01, 1000).epsilon(1e-6) > 0.999 * epsilon


def test_matching_beyond_the_slider_is_refused_by_name():
    few = replace(NOISE, options=(0.3, 2.5))
    assert matching.offered("noise_multiplier", 1.0, few) == 2.5
    with pytest.raises(ValueError, match=r"^noise_multiplier would have to be 3, but this page offers at most 2\.5$"):
        matching.offered("noise_multiplier", 3.0, few)


@pytest.mark.slow
@pytest.mark.parametrize("proof", [GLM, TIGHT])
def test_the_snippet_gives_the_read_outs_and_the_curves(proof):
    setting = replace(OPENS, proof=proof)
    names, printed = execute(setting.code())
    lines = {line.split()[0]: [float(v) for v in line.split()[1:]] for line in printed.splitlines()}
    assert list(lines) == list(NAMES)
    for which, (by_renyi, by_distribution, *values) in lines.items():
        assert (by_renyi, by_distribution) == setting.epsilon_at(which, 1e-5)
        np.testing.assert_array_equal(values, setting.mechanism(which).rdp(names["alpha"]))
        np.testing.assert_array_equal(names["mechanisms"][which].rdp(ORDERS), curve(which, setting))
