"""The Home page, run without a browser, through app.py as people do."""

import re
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import objpert_core.accounting as acc
from benchmarks.figures import LARGEST
from objpert_core.theory.one_dimensional import OneDimensionalLogistic
from pages.home.doors import FIGURES
from pages.home.pair import FEATURES, LABELS, PRESETS, Pair
from pages.home.release import FRAMES, SECOND_QUESTION, Release
from tests.pages.apps import answer, curves, execute, open_app, spec
from tests.plotted import decode
from ui import lessons, registry, sentences

open_page = partial(open_app, "app.py")
USUAL = Release(2.5, 1.0)


def traces(app, name, chart=0):
    return [t for t in spec(app, chart)["data"] if t["name"] == name]


@pytest.mark.slow
def test_densities_are_the_cores_and_the_loss_is_drawn_between_what_is_proved():
    app = open_page()
    without = OneDimensionalLogistic(FEATURES, LABELS, sigma=2.5, lam=1.0)
    for name, law in (("without the person", without), ("with the person", without.add(1.0, -1))):
        trace = next(t for t in traces(app, name) if t.get("yaxis") == "y2")
        np.testing.assert_array_equal(decode(trace["y"]), law.density(decode(trace["x"])))
    (trace,) = traces(app, "privacy loss", chart=1)
    x = decode(trace["x"])
    expected = USUAL.laws["with"].log_density(x) - USUAL.laws["without"].log_density(x)
    np.testing.assert_allclose(decode(trace["y"]), expected, rtol=1e-12)
    guides = [decode(t["y"])[0] for t in spec(app, 1)["data"] if t["meta"]["role"] == "guide"]
    assert guides == [acc.ObjectivePerturbation(2.5, 1.0).epsilon(1e-5) * sign for sign in (1, -1)]


@pytest.mark.slow
def test_every_frame_is_one_tilt_and_its_minimisers():
    app = open_page(home_draw="5")
    figure = spec(app)
    scene = Release(2.5, 1.0, draw=5)
    tilts = scene.tilts(FRAMES)
    labels = [button["label"] for button in figure["layout"]["updatemenus"][0]["buttons"]]
    assert labels == ["▶ Play", "■ Stop"]
    assert "sliders" not in figure["layout"]  # nothing moves before play is pressed
    assert len(figure["frames"]) == FRAMES
    for k, frame in enumerate(figure["frames"]):
        lowest, released = frame["data"][2], frame["data"][3]
        expected = [law.minimiser(float(tilts[k])) for law in scene.laws.values()]
        np.testing.assert_allclose(lowest["x"], expected, atol=1e-4)
        assert len(released["x"]) == 2 * (k + 1)
    curve = figure["data"][figure["frames"][0]["traces"][0]]
    x = decode(curve["x"])
    np.testing.assert_allclose(decode(curve["y"]), scene.laws["without"].objective(x, float(tilts[0])), atol=1e-4)


@pytest.mark.parametrize("draw", [1, 2, 3])
def test_axes_follow_a_noise_that_takes_the_lowest_points_out_of_the_picture(draw):
    for sigma, lam in ((100.0, 1.0), (100.0, 50.0)):
        release = Release(sigma, lam, draw=draw)
        layout = release.chart(USUAL).layout
        (low, high), (bottom, top) = layout.xaxis.range, layout.yaxis.range
        tilts = release.tilts(FRAMES)
        for law in release.laws.values():
            theta = law.minimiser(tilts)
            assert (low < theta).all()
            assert (theta < high).all()
            heights = law.objective(theta, tilts)
            assert (bottom < heights).all()
            assert (heights < top).all()
    for preset in PRESETS:
        assert not Release(*preset.values.values(), draw=draw).fitted


@pytest.mark.slow
def test_try_it_asks_about_the_noise_then_about_the_regularisation():
    app = open_page()
    app.radio(key="home__try").set_value("Both become narrow and separate: the person is easier to spot.").run()
    assert app.success
    assert len(app.get("plotly_chart")) == 4
    app.radio(key="home__try_lambda").set_value(SECOND_QUESTION.options[1]).run()
    assert len(app.success) == 2
    assert len(app.get("plotly_chart")) == 6
    usual, less_noise, less_lambda = (Release(*pair) for pair in ((2.5, 1.0), (0.5, 1.0), (2.5, 0.1)))
    epsilons = [sentences.epsilon(release.epsilon) for release in (usual, less_noise, less_lambda)]
    assert epsilons == ["1.56", "10", "2.19"]  # as the reasons say
    assert less_noise.guess > less_lambda.guess > usual.guess  # and this very pair parts as well


@pytest.mark.slow
def test_two_doors_then_cards_along_the_path_and_to_every_other_page():
    links = [link.proto for link in open_page().get("page_link")]
    found = lessons.catalogue().lessons.values()
    new, paper, links = links[:2], links[2 : 2 + len(FIGURES)], links[2 + len(FIGURES) :]
    assert [link.page for link in new] == ["lessons", "guess"]
    assert [link.page for link in paper] == [figure.page for figure in FIGURES]
    taught, links = links[: 1 + len(found)], links[1 + len(found) :]
    assert {link.page for link in taught} == {"lessons"}
    assert [link.query_string for link in taught] == ["", *(f"lesson={lesson.name}&step=1" for lesson in found)]
    others = [entry.name for entry in registry.PAGES[1:] if entry.name != "lessons"]
    assert sorted(link.page for link in links) == sorted(others)
    path = registry.START_HERE[1:]
    assert [link.page for link in links[: len(path)]] == [step.name for step in path]
    assert [link.label[:4] for link in links[: len(path)]] == [f"**{place}." for place, _ in enumerate(path, 2)]
    assert "bounds_show=Attacker" in links[1].query_string


@pytest.mark.slow
@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.preset)
def test_a_figure_of_the_paper_is_its_pages_preset_of_that_name(figure):
    file = f"pages/{figure.page}/page.py"
    linked, pressed = open_app(file, **figure.query), open_app(file)
    pressed.button(key=f"{figure.page}_preset_{figure.preset}").click().run()
    assert answer(linked) == answer(pressed)
    drawn, again = ({name: y for name, (_, y) in curves(app)[0].items()} for app in (linked, pressed))
    np.testing.assert_equal(drawn, again)


@pytest.mark.slow
def test_every_card_has_a_picture_that_is_small_and_without_words():
    app = open_page()
    shown = [block.proto.body for block in app.get("html") if block.proto.body.startswith("<img")]
    assert len(shown) == len(registry.PAGES) - 1
    assert all('alt=""' in body for body in shown)  # the link beside it says where it goes
    for entry in registry.PAGES[1:]:
        drawing = entry.thumbnail.read_text(encoding="utf-8")
        assert len(drawing.encode()) <= LARGEST
        assert re.match(rf"<!-- python -m benchmarks\.[a-z ]+ {entry.name}; commit ", drawing)
        assert "<text" not in drawing


@pytest.mark.slow
def test_the_best_guess_is_half_the_area_between_the_densities():
    theta = np.linspace(-60, 60, 400_001)
    without, joined = (law.density(theta) for law in USUAL.laws.values())
    gap = np.abs(without - joined).sum() * (theta[1] - theta[0])
    assert USUAL.guess == pytest.approx(0.5 + gap / 4, abs=1e-6)
    assert replace(USUAL, delta=1e-2).guess == USUAL.guess  # it is about the release, not about where ε is read off


def test_exact_delta_of_the_pair_is_below_the_promise():
    for sigma, lam, person in ((0.5, 1.0, "agrees with the others"), (2.5, 0.1, "disagrees with the others")):
        assert 0 <= Pair(sigma, lam, person, 1e-3).exact_delta <= 1e-3


def test_home_snippet_gives_the_densities_and_epsilon():
    names, printed = execute(USUAL.code())
    assert names["epsilon"] == USUAL.epsilon
    assert repr(names["epsilon"]) in printed
    shown = USUAL.frame()
    for column in ("density_without", "density_with", "privacy_loss"):
        np.testing.assert_allclose(
            names[column], np.interp(names["theta"], shown["theta"], shown[column]), rtol=5e-3, atol=1e-4
        )
