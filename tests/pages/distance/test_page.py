"""The page "Distance to optimality": the core's numbers, what is said of them, the maps, the lines of Python."""

import itertools
import math
import re
from dataclasses import replace

import numpy as np
import pytest

import objpert_core.accounting as acc
from pages.distance import curves, maps
from pages.distance.curves import PROFILE, Distance
from tests.pages.apps import tells
from tests.plotted import contrast
from ui import sentences

KEYS = ("distance_sigma", "distance_lambda", "distance_beta", "distance_L")
PANELS = {
    "Figure 4a": (10.0, 100.0, 1.0, 1.0),
    "Figure 4b": (10.0, 2.0, 1.0, 1.0),
    "Figure 4c": (1.0, 100.0, 1.0, 1.0),
    "Figure 4d": (1.0, 2.0, 1.0, 1.0),
}


def mechanisms(sigma, lam, beta, lipschitz):
    return {
        "Gaussian lower bound": acc.Gaussian(sigma, lipschitz),
        "Half-normal (λ → ∞)": acc.HalfNormal(sigma, lipschitz),
        "2023 theorem": acc.ObjectivePerturbation(sigma, lam, lipschitz, beta, "glm"),
        "Our theorem": acc.ObjectivePerturbation(sigma, lam, lipschitz, beta),
    }


def test_the_answer_compares_the_2023_theorem_for_the_same_loss_whatever_the_slider_of_beta_says():
    published = mechanisms(10.0, 2.0, 0.25, 1.0)["2023 theorem"]
    for view in (OPENS, replace(OPENS, smoothness=1.9)):
        (times,) = re.findall(r"2023 theorem certifies (\S+)× the least", view.answer())
        assert 0 <= float(times) - acc.distance_to_optimality(published, 1e-5) < 0.01
    assert "ε = 0.2" not in replace(OPENS, lam=0.2).answer().partition(";")[2]  # nothing is certified


# --- its parts --------------------------------------------------------------------------------------------------------

OPENS = Distance(10.0, 2.0, 1.0, 1.0)
SILENT = Distance(10.0, 0.2, 0.25, 1.0)
PROFILES = replace(OPENS, show_as=PROFILE)


def test_orders_run_from_exactly_one_to_exactly_the_end():
    for end in (10.0, 1e4, 1e6):
        alpha = curves.orders(end)
        assert (alpha[0], alpha[-1], alpha.size) == (1.0, end, curves.POINTS)
        assert (np.diff(alpha) > 0).all()


def test_readings_compare_with_the_lower_bound():
    assert OPENS.distance("lower") == 1.0
    assert OPENS.distance("glm") == OPENS.epsilon("glm") / OPENS.epsilon("lower")
    assert OPENS.divergence("lower") == pytest.approx(0.05)
    rows = {row["Curve"].split(",")[0]: row for row in OPENS.table()}
    times = OPENS.divergence("glm") / OPENS.divergence("lower")
    assert rows["2023 theorem"]["ε(α) / Gaussian"] == sentences.ratio(times)
    rows = {row["Curve"].split(",")[0]: row for row in SILENT.table()}
    published = rows["2023 theorem"]
    assert published["ε at δ = 10⁻⁵"] == published["Rényi ε(α) at α = 10"] == "nothing proved"
    assert published["Distance"] == "∞"
    assert rows["Gaussian lower bound"]["Distance"] == "1×"


@pytest.mark.thorough
def test_maps_are_the_cores_with_a_row_for_each_lam():
    found = maps.distances("glm", OPENS, 1e-5)
    assert found.shape == (maps.CELLS, maps.CELLS)
    sigma, lam = maps.middles(maps.SIGMAS), maps.middles(maps.LAMS)
    for bound in maps.BOUNDS:
        found = maps.distances(bound, OPENS, 1e-5)
        for row, column in ((3, 30), (25, 9), (39, 0)):
            setting = Distance(float(sigma[column]), float(lam[row]), 1.0, 1.0)
            exact = setting.distance(bound)
            assert found[row, column] == pytest.approx(exact, rel=1e-7)


# --- words ----------------------------------------------------------------------------------------------------------


def test_the_prices_add_up():
    lower, half, published = map(OPENS.epsilon, ("lower", "half", "glm"))
    assert published - half == pytest.approx(math.log(2))
    tells(OPENS.prices(), *map(sentences.epsilon, (lower, half - lower, published - half)))
    half = sentences.epsilon(SILENT.epsilon("half"))
    assert SILENT.prices().endswith(f"infinite where λ ≤ β = 0.25; as λ → ∞ the theorem proves ε = {half}.")


def test_the_note_says_on_which_side_of_the_boundary_this_setting_is():
    assert "theorem is exact from λ = 2.9 on" in replace(OPENS, lam=3.0).note()
    assert "theorem would be exact from λ = 2.9 on" in OPENS.note()


# --- charts ---------------------------------------------------------------------------------------------------------


def test_every_cell_is_in_its_band():
    for bound in maps.BOUNDS:
        found = maps.distances(bound, OPENS, 1e-5)
        cells = np.asarray(maps.chart(bound, OPENS, 1e-5, None).data[0].z)
        for band, start in enumerate(maps.BANDS):
            end = maps.BANDS[band + 1] if band + 1 < len(maps.BANDS) else math.inf
            here = found[cells == band]
            if band == 0:
                assert (here == 1).all()
            elif math.isinf(start):
                assert np.isinf(here).all()
            else:
                assert ((here > 1) & (here >= start) & (here < end)).all()
    assert set(np.unique(maps.chart("glm", OPENS, 1e-5, None).data[0].z)) >= {2, 3, 7, 8}


@pytest.mark.slow
def test_a_region_is_only_named_where_it_is():
    named = (("glm", math.inf), ("logistic", 1.0))
    for smoothness, delta, length in itertools.product((0.01, 1.0, 100.0), (1e-12, 0.1), (0.1, 10.0)):
        for bound, value in named:
            traces = maps.chart(bound, Distance(10.0, 2.0, smoothness, length), delta, None).data[1:]
            for word in (trace for trace in traces if trace.mode == "text"):
                mechanism = acc.ObjectivePerturbation(word.x[0], word.y[0], length, smoothness, bound)
                assert acc.distance_to_optimality(mechanism, delta) == value


def test_bands_can_be_told_apart_by_lightness():
    lights = [contrast(color, "#000000") for color in maps.BAND_COLORS[1:]]
    assert lights == sorted(lights, reverse=True)
    assert all(a / b > 1.2 for a, b in itertools.pairwise(lights))


@pytest.mark.parametrize("delta", [1e-12, 1e-5, 0.1])
def test_the_profiles_reach_down_to_where_they_are_read(delta):
    low, _ = replace(PROFILES, delta=delta).chart(None).layout.yaxis.range
    assert low < math.log10(delta)
