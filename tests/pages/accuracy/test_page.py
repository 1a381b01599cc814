"""The accuracy page, run without a browser: its numbers are the files', jobs run for real, nonsense does no harm."""

import re

import pytest

from objpert_core.experiments import indexed, results, waterfall
from objpert_core.experiments.figure2 import Piece
from objpert_core.experiments.learners import HONEST
from objpert_core.experiments.methods import EVERY, Parameters
from pages.accuracy import controls
from pages.accuracy.again import Point, again
from pages.accuracy.ahead import Ahead
from tests.pages.accuracy.runs import write
from tests.pages.apps import curves, finished, open_app, press, tables, tells, texts
from tests.pages.apps import opened as opened_part
from ui import page
from ui import waterfall as steps
from ui.request import Meter

pytestmark = pytest.mark.usefixtures("own_runner")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    where = tmp_path_factory.mktemp("results")
    for dataset in ("adult", "adult-synthetic"):
        write(where, dataset, trials=5)
    write(where, "synthetic-l", trials=5, methods=tuple(EVERY))
    write(where, "breast-cancer", trials=2, methods=("non-private", "published", "tight"))
    return where


@pytest.fixture
def folder(monkeypatch, files):
    monkeypatch.setattr(results, "folder", lambda: files)


def opened(**query):
    return open_app("pages/accuracy/page.py", **{f"accuracy_{key}": value for key, value in query.items()})


def ended(at, run):
    """What a run's job says at its end."""
    return finished(at, run).session_state[run].job.view()


@pytest.mark.slow
def test_without_any_file_one_sentence_says_so_and_the_rest_works(monkeypatch, tmp_path):
    monkeypatch.setattr(results, "folder", lambda: tmp_path / "nothing")
    at = opened(data="adult", epsilon="8")
    assert not at.error
    (info,) = at.info
    tells(info.value, "This server has no stored results", "The last part of the page works without stored results.")
    assert not at.get("plotly_chart")
    assert [button.label for button in at.button] == ["Measure"]


@pytest.mark.slow
def test_a_point_run_again_stands_beside_the_stored_one(folder):
    at = opened(data="breast-cancer", epsilon="2", trial="1")
    press(at, "Run this point")
    view = ended(at, "accuracy__again")
    (expected,) = again(Piece("breast-cancer", "tight", 2.0, 1, Parameters()), Meter(), lambda: False)
    assert view.latest.accuracy == expected.accuracy
    stored = indexed.load("breast-cancer").run("tight", 2.0, 1)
    point = Point(indexed.load("breast-cancer"), Piece("breast-cancer", "tight", 2.0, 1, Parameters()))
    assert point.answer(view.latest) in texts(at)
    assert f"Stored: **{100 * stored.accuracy:.2f} %**" in texts(at)
    table = next(table for table in tables(at) if "made now" in table.columns)
    assert "stored" in table.columns
    x, y = curves(at)[0]["made now: Algorithm 1 with our theorem"]
    assert (x.tolist(), y.tolist()) == ([2.0], [expected.accuracy])
    assert any("before = " in code.value for code in opened_part(at, "point_code").code)
    at.number_input(key="accuracy_trial").set_value(0).run()
    assert "This run belongs to another point" in texts(at)
    assert not any("made now" in table.columns for table in tables(at))


@pytest.mark.thorough
@pytest.mark.skipif("adult" not in results.stored(), reason="Adult's stored results are not in this checkout")
def test_try_it_quotes_the_stored_runs():
    stored, words = indexed.load("adult"), page.Prediction.of("accuracy")
    asked, told = (re.findall(r"(\d\d\.\d\d) %", text) for text in (words.question, words.reason))
    shares = [f"{100 * stored.point(m, 0.1).accuracy.mean:.2f}" for m in ("dpsgd-dishonest-pld", HONEST, "tight")]
    assert [*asked, *told] == shares


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("key", "step"), [("synthetic-h", "scaling"), ("breast-cancer", "centring"), ("digits-4-9", "margin")]
)
def test_the_presets_about_steps_show_what_they_promise(key, step):
    assert step in controls.ORIGINS[key]
    found = waterfall.of_stored(indexed.load(key), 1.0) if key in results.stored() else None
    if found is None:
        pytest.skip(f"not every step is stored on {key}")
    assert found.largest.name == step
    assert f"{step} brings " in steps.answer(found)


@pytest.mark.parametrize(("key", "epsilon"), controls.FEW_ROWS.items())
def test_the_preset_about_the_rival_with_our_steps_shows_what_it_promises(key, epsilon):
    if key not in results.stored():
        pytest.skip(f"no stored results on {key}")
    stored = indexed.load(key)
    assert stored.claims[epsilon].verdict != "behind"
    assert "behind DP-SGD on standardised rows" in Ahead(stored, epsilon).answer()
