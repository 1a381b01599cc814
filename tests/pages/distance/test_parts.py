"""What the page Distance to optimality shows: numbers, words, charts, snippet."""

import dataclasses
import itertools
import math

import numpy as np
import pytest

import objpert_core.accounting as acc
from pages.distance import charts as charts
from pages.distance import numbers as dc
from pages.distance import words as text
from tests.pages.apps import execute
from ui import bounds as bc
from ui import figures, sentences
from ui.svg import to_svg

OPENS = bc.Setting(10.0, 2.0, 1.0, 1.0)
SILENT = bc.Setting(10.0, 0.2, 0.25, 1.0)


# --- numbers --------------------------------------------------------------------------------------------------------


def test_every_curve_has_a_name_a_source_and_a_look():
    assert set(dc.NAMES) == set(dc.SOURCES) == set(charts.ROLES)
    looks = [figures.ROLES[role] for role in charts.ROLES.values()]
    assert len({look.color for look in looks}) == len({look.dash for look in looks}) == len(looks)


@pytest.mark.slow
def test_memory_does_not_mix_settings_up_and_cannot_be_written_to():
    for setting in (OPENS, dataclasses.replace(OPENS, smoothness=1.5), dataclasses.replace(OPENS, lipschitz=2.0)):
        sigma, lam, length = setting.sigma, setting.lam, setting.lipschitz
        expected = {"lower": acc.Gaussian(sigma, length), "half": acc.HalfNormal(sigma, length)}
        for bound in ("glm", "logistic"):
            expected[bound] = acc.ObjectivePerturbation(sigma, lam, length, setting.smoothness, bound)
        for name, mechanism in expected.items():
            np.testing.assert_array_equal(dc.renyi(name, setting, 1e3), mechanism.rdp(dc.orders(1e3)))
            np.testing.assert_array_equal(dc.profile(name, setting, 2.0), mechanism.delta(bc.grid(2.0)))
            assert dc.epsilon_at(name, setting, 1e-6) == mechanism.epsilon(1e-6)
            assert dc.distance_at(name, setting, 1e-6) == acc.distance_to_optimality(mechanism, 1e-6)
    with pytest.raises(ValueError, match="read-only"):
        dc.renyi("lower", OPENS, 1e3)[0] = 0.0
    with pytest.raises(ValueError, match="read-only"):
        dc.distances("glm", OPENS, 1e-5)[0] = 0.0


def test_orders_run_from_exactly_one_to_exactly_the_end():
    for end in (10.0, 1e4, 1e6):
        alpha = dc.orders(end)
        assert (alpha[0], alpha[-1], alpha.size) == (1.0, end, dc.POINTS)
        assert (np.diff(alpha) > 0).all()


def test_readings_compare_with_the_normal_curve():
    found = {r.name: r for r in dc.readings(OPENS, 1e-5, 10.0)}
    assert found["lower"].distance == found["lower"].renyi_ratio == 1.0
    assert found["glm"].distance == found["glm"].epsilon / found["lower"].epsilon
    assert found["glm"].renyi_ratio == found["glm"].renyi / found["lower"].renyi
    assert found["lower"].renyi == pytest.approx(0.05)
    silent = {r.name: r for r in dc.readings(SILENT, 1e-5, 10.0)}
    rows = {row["Curve"].split(",")[0]: row for row in dc.table_rows(list(silent.values()), 1e-5, 10.0)}
    published = rows["Published bound"]
    assert published["ε at δ = 10⁻⁵"] == published["Rényi ε(α) at α = 10"] == "nothing proved"
    assert published["Distance"] == "∞"
    assert rows["Normal (lower bound)"]["Distance"] == "1×"


@pytest.mark.thorough
def test_maps_are_the_cores_with_a_row_for_each_lam():
    found = dc.distances("glm", OPENS, 1e-5)
    assert found.shape == (dc.CELLS, dc.CELLS)
    sigma, lam = dc.middles(dc.SIGMAS), dc.middles(dc.LAMS)
    for bound in dc.MAPS:
        found = dc.distances(bound, OPENS, 1e-5)
        for row, column in ((3, 30), (25, 9), (39, 0)):
            setting = bc.Setting(float(sigma[column]), float(lam[row]), 1.0, 1.0)
            exact = dc.distance_at(bound, setting, 1e-5)
            assert found[row, column] == pytest.approx(exact, rel=1e-7)


def test_maps_depend_on_nothing_else_than_their_own_parameters():
    assert dc.distances("glm", OPENS, 1e-5) is dc.distances("glm", bc.Setting(3.0, 7.0, 1.0, 1.0), 1e-5)
    assert dc.distances("logistic", OPENS, 1e-5) is dc.distances("logistic", bc.Setting(3.0, 7.0, 9.0, 1.0), 1e-5)
    assert dc.distances("glm", OPENS, 1e-5) is not dc.distances("glm", dataclasses.replace(OPENS, smoothness=2.0), 1e-5)


@pytest.mark.slow
def test_the_boundary_parts_the_exact_cells_from_the_others():
    for delta in (1e-12, 1e-5, 1e-2):
        sigma, lam = dc.boundary(1.0, delta)
        line = np.exp(np.interp(np.log(dc.middles(dc.SIGMAS)), np.log(sigma), np.log(lam)))
        exact = dc.distances("logistic", OPENS, delta) == 1
        above = dc.middles(dc.LAMS)[:, None] > 1.01 * line
        below = dc.middles(dc.LAMS)[:, None] < line / 1.01
        assert exact[above].all()
        least = np.array([acc.Gaussian(s).epsilon(delta) for s in dc.middles(dc.SIGMAS)])
        assert not exact[below & (least > 0)].any()


def test_the_optimal_lam_is_the_boundary():
    assert dc.optimal_lam(OPENS, 1e-5) == pytest.approx(float(acc.boundary_lam([10.0], 1e-5)[0]), rel=1e-12)


def test_frames_hold_every_plotted_number():
    curves = dc.renyi_frame(OPENS, 1e4)
    assert list(curves.columns) == ["alpha", *(f"rdp_{name}" for name in dc.NAMES)]
    np.testing.assert_array_equal(curves["rdp_glm"], dc.renyi("glm", OPENS, 1e4))
    profiles = dc.profile_frame(OPENS, 2.0)
    assert list(profiles.columns) == ["epsilon", *(f"delta_{name}" for name in dc.NAMES)]
    cells = dc.map_frame("glm", OPENS, 1e-5)
    assert len(cells) == dc.CELLS**2
    one = cells.iloc[777]
    exact = acc.distance_to_optimality(acc.ObjectivePerturbation(one["sigma"], one["lam"], 1.0, 1.0, "glm"), 1e-5)
    assert one["distance"] == pytest.approx(exact, rel=1e-7)


# --- words ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("published", "tight", "lower", "end"),
    [
        (1.06, 0.341, 0.341, "ε = 0.341, the least possible; the published one 3.11×."),
        (math.inf, 0.5, 0.4, "ε = 0.5, 1.25× the least possible; the published one certifies nothing."),
        (0.2, 0.0, 0.0, "ε = 0, the least possible; the published one ε = 0.2."),
        (0.3, 0.2, 0.0, "ε = 0.2, where the least possible is 0; the published one ε = 0.3."),
        (1.0, 0.40001, 0.4, "ε = 0.401, almost the least possible; the published one 2.5×."),
    ],
)
def test_the_answer_tells_the_cases_apart(published, tight, lower, end):
    assert text.answer(published, tight, lower) == f"The tight proof certifies {end}"


def test_the_prices_add_up():
    found = {r.name: r.epsilon for r in dc.readings(OPENS, 1e-5, 10.0)}
    assert found["glm"] - found["half"] == pytest.approx(math.log(2))
    said = text.prices(OPENS, found["glm"], found["half"], found["lower"])
    for part in (found["lower"], found["half"] - found["lower"], found["glm"] - found["half"]):
        assert sentences.epsilon(part) in said
    silent = text.prices(SILENT, math.inf, 0.359, 0.341)
    assert silent.endswith("infinite from λ = β = 0.25 down; as λ → ∞ it proves ε = 0.359.")


def test_boundary_says_on_which_side_this_setting_is():
    assert "proof is exact from λ = 2.89 on" in text.boundary(3.0, 2.881)
    assert "proof would be exact from" in text.boundary(2.0, 2.881)


def test_alt_texts_carry_the_take_away():
    found = {r.name: r for r in dc.readings(OPENS, 1e-5, 10.0)}
    alt = text.renyi_alt({dc.NAMES[n]: r.renyi for n, r in found.items()}, 10.0)
    assert "ε(α) at α = 10: Normal (lower bound) 0.05;" in alt
    assert "δ = 10⁻⁵: Normal" in text.profile_alt({dc.NAMES[n]: r.epsilon for n, r in found.items()}, 1e-5)
    published = text.map_alt("glm", dc.distances("glm", OPENS, 1e-5), 1e-5)
    assert "nowhere exactly 1" in published
    assert "nothing is proved on 32 %, where λ ≤ β" in published
    tight = text.map_alt("logistic", dc.distances("logistic", OPENS, 1e-5), 1e-5)
    assert "exactly 1 on" in tight
    assert "nothing is proved" not in tight
    assert "β = 1" in text.map_title("glm", 1e-5, OPENS)
    assert "β" not in text.map_title("logistic", 1e-5, OPENS)
    assert "σ = 10" in text.distance_alt(10.0, 1e-5)


def test_bands_ascend_and_their_ends_are_labelled():
    assert list(text.BANDS) == sorted(text.BANDS)
    labels = dict(text.band_labels())
    for band in range(2, len(text.BANDS) - 1):
        assert float(labels[band - 0.5]) == text.BANDS[band]
    assert (labels[0.0], labels[len(text.BANDS) - 1.0]) == ("exact", "none")


# --- charts ---------------------------------------------------------------------------------------------------------


def test_every_cell_is_in_its_band():
    for bound in dc.MAPS:
        found = dc.distances(bound, OPENS, 1e-5)
        cells = np.asarray(charts.distance_map(bound, OPENS, delta=1e-5).data[0].z)
        for band, start in enumerate(text.BANDS):
            end = text.BANDS[band + 1] if band + 1 < len(text.BANDS) else math.inf
            here = found[cells == band]
            if band == 0:
                assert (here == 1).all()
            elif math.isinf(start):
                assert np.isinf(here).all()
            else:
                assert ((here > 1) & (here >= start) & (here < end)).all()
    assert set(np.unique(charts.distance_map("glm", OPENS, delta=1e-5).data[0].z)) >= {2, 3, 7, 8}


def test_maps_mark_this_setting_and_the_one_before():
    chart = charts.distance_map("logistic", OPENS, delta=1e-5, ghost=SILENT)
    marks = [trace for trace in chart.data[1:] if trace.mode == "markers"]
    assert [(t.x[0], t.y[0], t.meta["ghost"]) for t in marks] == [(10.0, 0.2, True), (10.0, 2.0, False)]
    line = next(trace for trace in chart.data if trace.name.startswith("exact"))
    np.testing.assert_array_equal(line.y, acc.boundary_lam(np.asarray(line.x), 1e-5))


@pytest.mark.slow
def test_a_region_is_only_named_where_it_is():
    named = (("glm", math.inf), ("logistic", 1.0))
    for smoothness, delta, length in itertools.product((0.01, 1.0, 100.0), (1e-12, 0.1), (0.1, 10.0)):
        for bound, value in named:
            traces = charts.distance_map(bound, bc.Setting(10.0, 2.0, smoothness, length), delta=delta).data[1:]
            for word in (trace for trace in traces if trace.mode == "text"):
                mechanism = acc.ObjectivePerturbation(word.x[0], word.y[0], length, smoothness, bound)
                assert acc.distance_to_optimality(mechanism, delta) == value


def test_bands_can_be_told_apart_by_lightness():
    lights = [figures.contrast(color, "#000000") for color in charts._BANDS[1:]]
    assert lights == sorted(lights, reverse=True)
    assert all(a / b > 1.2 for a, b in itertools.pairwise(lights))


@pytest.mark.slow
def test_the_published_distance_levels_off_at_the_half_normals():
    chart = charts.against_lam(10.0, 1.0, 1.0, 1e-5)
    level, published, tight = (np.asarray(trace.y, dtype=float) for trace in chart.data)
    assert published[-1] == pytest.approx(level[0], rel=1e-3)
    assert level[0] > 1.05
    assert tight[-1] == 1.0
    assert np.isnan(published[0])


def test_a_silent_curve_is_left_out_of_the_picture():
    chart = charts.renyi(SILENT, alpha_max=1e3, alpha=10.0)
    published = next(trace for trace in chart.data if trace.name == dc.NAMES["glm"])
    assert np.isnan(np.asarray(published.y, dtype=float)).all()
    low, high = chart.layout.yaxis.range
    assert low == int(low)
    assert high == int(high)


def test_the_profiles_reach_down_to_where_they_are_read():
    for delta in (1e-12, 1e-5, 0.1):
        low, _ = charts.profiles(OPENS, eps_max=2.0, delta=delta).layout.yaxis.range
        assert low < math.log10(delta)


def test_maps_are_written_as_svg():
    picture = to_svg(charts.distance_map("glm", OPENS, delta=1e-5), title="Map")
    for _, label in text.band_labels():
        assert f">{label}</text>" in picture
    assert "nothing proved" in picture
    assert "#a0da39" in picture


# --- snippet --------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("setting", [OPENS, SILENT])
def test_the_snippet_prints_the_read_outs_and_makes_the_maps(setting):
    names, printed = execute(text.snippet(setting, delta=1e-5, alpha=10.0))
    *lines, last = printed.splitlines()
    for line, reading in zip(lines, dc.readings(setting, 1e-5, 10.0), strict=True):
        name, *numbers = line.split()
        assert name == reading.name
        assert [float(v) for v in numbers] == [reading.epsilon, reading.distance, reading.renyi]
    assert float(last.split("=")[1]) == dc.optimal_lam(setting, 1e-5)
    for name, curve in names["curves"].items():
        np.testing.assert_array_equal(curve.rdp(dc.orders(1e4)), dc.renyi(name, setting, 1e4))
    for bound, found in names["maps"].items():
        np.testing.assert_allclose(found.T, dc.distances(bound, setting, 1e-5), rtol=1e-12)
