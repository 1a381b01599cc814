"""What every page promises: nonsense in a link and a refused value do no harm, presets are exact, and the like.

Each test is one promise, and its list names the pages it is checked on. What a page promises alone stands in its own
folder.
"""

import re
from functools import cache, partial
from urllib.parse import parse_qsl, urlsplit

import numpy as np
import pytest
from streamlit.runtime.scriptrunner_utils.script_run_context import ScriptRunContext

import objpert_core.accounting as acc
from tests.pages.apps import answer, charts, curves, finished, infos, open_app, press, spec, tables, texts, written
from tests.pages.apps import everything_said as said
from tests.plotted import decode
from ui import registry
from ui.controls import Preset
from ui.page import Prediction
from ui.sentences import epsilon

pytestmark = pytest.mark.usefixtures("own_runner")
slow, thorough = (partial(pytest.param, marks=mark) for mark in (pytest.mark.slow, pytest.mark.thorough))
QUICK = {"composition": {"ledger": "gauss:20,1@A;gauss:10,1@B"}, "training": {"data": "breast-cancer", "repeats": "2"}}
"""What makes a page open sooner and has no part in these tests."""


def open_page(link, **query):
    """A page at a link; the keys of the query are without the page's name, but for one that no page knows."""
    page, held = urlsplit(link).path, dict(parse_qsl(urlsplit(link).query))
    query = QUICK.get(page, {}) | held | query
    whole = ("unknown", "honest_")  # keys that are not the page's own
    prefixed = {key if key.startswith(whole) else f"{page}_{key}": value for key, value in query.items()}
    return open_app("app.py" if page == "home" else f"pages/{page}/page.py", **prefixed)


def picture(app):
    """What the page shows: the answers, the charts, the tables, and where the controls stand."""
    kinds = (app.select_slider, app.selectbox, app.radio, app.number_input, app.toggle, app.multiselect, app.text_input)
    controls = {control.key: control.value for kind in kinds for control in kind}
    text = said(app).replace(f" {not_taken(app)}", "")
    return text, charts(app), [table.to_dict() for table in tables(app)], controls


def not_taken(app):
    """The line about what the address asks for in vain."""
    asks = "The address asks for something"
    return next((block.value for block in app.caption if block.value.startswith(asks)), TAKEN)


@cache
def by_default(link):
    return picture(open_page(link))


LEDGER = "fit*3:8,10,1@Models;dpsgd:1,0.01,1000;gauss:20,1@Histogram"
LONG_WORK = "tuning?show=In accuracy&honest_draws=50&honest_epochs=60"
TAKEN = "all of it was taken"
LONG, SCRIPT = "x" * 5000, "<script>alert(1)</script>"
JUNK = ["banana", "nan", "-1e999", "🙂", SCRIPT, "%00", LONG, ["x", "y"], "../../etc/passwd", ""]
PICTURES = ["losses?show=The fit", "losses?show=Without GLM structure", "training?methods=DP-SGD paid", LONG_WORK]
EVERYWHERE = [*(entry.name for entry in registry.PAGES if entry.name != "lessons"), *PICTURES]


@pytest.mark.thorough
@pytest.mark.parametrize("shift", [0, slow(3), slow(7)])
@pytest.mark.parametrize("link", EVERYWHERE)
def test_nonsense_in_the_address_falls_back_to_the_default(link, shift):
    """Every control of the page at once, and one that no page knows."""
    page, held = urlsplit(link).path, parse_qsl(urlsplit(link).query)
    asked = {f"{page}_{key}" for key in QUICK.get(page, {})} | {f"{page}_{key}" for key, _ in held} | dict(held).keys()
    keys = [key for key in by_default(link)[3] if "__" not in key and key not in asked]
    nonsense = {key: JUNK[(place + shift) % len(JUNK)] for place, key in enumerate(keys)}
    app = open_page(link, **{key.removeprefix(f"{page}_"): value for key, value in nonsense.items()}, unknown=LONG)
    assert picture(app) == by_default(link)
    assert SCRIPT not in not_taken(app)


@pytest.mark.slow
@pytest.mark.parametrize("text", ["banana", "", "gauss:20,1@![x](http://a.example/b.png)", "gauss:20,1;" * 500, "%00"])
def test_a_list_of_releases_that_is_none_falls_back_to_the_default(text):
    app = open_page("composition", ledger=text)
    assert picture(app) == picture(open_page("composition", ledger=LEDGER))
    assert "![x]" not in not_taken(app)


@pytest.mark.thorough
def test_an_exact_number_is_taken_and_what_is_not_taken_is_said():
    app = open_page("bounds", sigma="7.77", delta="3e-06", floor="1e-7", **{"lambda": "nan", "show": SCRIPT})
    assert app.session_state["bounds_sigma"] == 7.77
    assert app.session_state["bounds_delta"] == 3e-6
    assert not_taken(app).endswith(
        "that this page does not have: bounds_lambda = nan, bounds_show, bounds_floor = 1e-7."
    )
    assert f"ε = {epsilon(acc.ObjectivePerturbation(7.77, 20.0).epsilon(3e-6))}" in answer(app)
    app.select_slider(key="bounds_sigma").set_value(10.0).run()
    assert app.session_state["bounds_sigma"] == 10.0
    assert "The address asks for something" not in said(app)


FORMER = [
    ("composition", "bound", "tight, symmetric pair", "our theorem, symmetric pair"),
    ("renyi", "bound", "tight, logistic loss", "our theorem"),
    ("planner", "bound", "Logistic (tight)", "logistic"),
]


@pytest.mark.thorough
@pytest.mark.parametrize(("page", "control", "name", "value"), FORMER)
def test_a_proofs_former_name_in_a_link_leads_to_it(page, control, name, value):
    app = open_page(page, **{control: name})
    assert app.session_state[f"{page}_{control}"] == value
    assert not_taken(app) == TAKEN


AXES = [("bounds", "sigma", 0.5, (0, 20)), ("distance", "sigma", 0.5, None), ("composition", "sigma", 1.0, (0, 50))]


@pytest.mark.thorough
@pytest.mark.parametrize(("page", "control", "value", "ends"), AXES)
def test_an_axis_follows_the_sliders_until_it_is_held(page, control, value, ends):
    query = {"show": "Privacy profiles"} if page == "distance" else {}
    end = "eps_view" if page == "distance" else "view"
    followed = spec(open_page(page, **query, **{control: str(value)}))["layout"]["xaxis"]["range"]
    held = spec(open_page(page, **query, **{control: str(value), end: "1"}))["layout"]["xaxis"]["range"]
    assert held == [0, 1]
    assert followed == list(ends or (0, followed[1]))
    assert followed[1] > 2


RIGHT = {"accuracy": 2, "bounds": 1, "columns": 2, "composition": 1, "distance": 1, "guess": 0, "losses": 2, "own": 1}
RIGHT |= {"planner": 2, "population": 2, "ptr": 2, "quadratic": 2, "renyi": 2, "solvers": 1, "sure": 2, "tuning": 0}
"""Which option of "Try it" is right; the page's own tests compute why."""
WITHOUT_PICTURE = {"columns", "population", "ptr", "quadratic", "sure"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "page", [pytest.param("own", marks=pytest.mark.thorough), *(page for page in RIGHT if page != "own")]
)
def test_try_it_hides_its_answer_until_a_prediction_is_made(page):
    app, right = open_page(page), RIGHT[page]
    before, reason = len(charts(app)), Prediction.of(page).reason
    radio = app.radio(key=f"{page}__try")
    assert radio.value is None
    assert not reason or reason not in texts(app)
    for option in (1 if right == 2 else 2, right):
        radio.set_value(radio.options[option]).run()
        assert ("Not quite" in infos(app)) == (option != right) == (not app.success)
        assert reason in texts(app) or option != right
        assert not reason or option == right or reason not in texts(app)
        assert len(charts(app)) == before + (page not in WITHOUT_PICTURE and option == right)


SAYS = {
    "accuracy": {"Strong privacy costs": " costs ", "Who is ahead at small ε": "our theorem is"},
    "bounds": {"Silent proofs": "λ ≥ 2β/ε"},
    "losses": {"Huber is clipped squares": "is Huber’s: ", "The paper’s C clips nothing": "clips nothing"}
    | dict.fromkeys(("Clipping beats outliers", "… and wrong labels"), " helps: ")
    | {"Clipping that hurts": " hurts: "},
    "population": {"With replacement leaks": "times as much"},
    "ptr": {"Too bold: no answer, ⊥": "under 0.1 %", "The paper errs: 13 × δ": "breaks its promise"}
    | {"Teachers agree": "Asking pays", "Teachers disagree": "Asking does not pay"},
}
"""What a preset is named for, where its name says how it comes out."""


def noting_addresses(written):
    """Streamlit's way to send a message, which notes the addresses among them."""
    enqueue = ScriptRunContext.enqueue

    def noted(context, message):
        if message.WhichOneof("type") == "page_info_changed":
            written.append(message.page_info_changed.query_string)
        enqueue(context, message)

    return noted


@pytest.mark.slow
@pytest.mark.parametrize("page", [entry.name for entry in registry.PAGES if entry.name != "lessons"])
def test_a_preset_sets_exactly_its_values_in_one_entry_of_the_history_and_shows_what_it_names(page, monkeypatch):
    pressed, apply, written = [], Preset.apply, []
    monkeypatch.setattr(ScriptRunContext, "enqueue", noting_addresses(written))
    monkeypatch.setattr(Preset, "apply", lambda preset: pressed.append(preset) or apply(preset))
    app = open_page(page)
    for key in reversed([button.key for button in app.button if "_preset_" in str(button.key)]):
        written.clear()
        app.button(key=key).click().run()
        assert not app.error
        preset = pressed[-1]
        assert len(set(written)) == 1, preset.name  # a browser keeps each other address as an entry of its own
        set_to = {control.key: control.stored(value) for control, value in preset.values.items()}
        assert {name: app.session_state[name] for name in set_to if name in app.session_state} == set_to
        assert SAYS.get(page, {}).get(preset.name, "") in said(app), preset.name
    assert {preset.name for preset in pressed} >= SAYS.get(page, {}).keys()


BUSY = [("accuracy?data=breast-cancer", "Measure"), ("planner?rows=700&features=5&draws=3", "Sample rows")]
BUSY += [("training?methods=DP-SGD unpaid&rates=one&epochs=1&runs=2", "Run")]


@pytest.mark.slow
@pytest.mark.parametrize(("link", "button"), BUSY)
def test_a_full_server_says_so(link, button, full_server):
    (error,) = press(open_page(link), button).error
    assert "The server is busy" in error.value


RUNS = [
    ("training?methods=DP-SGD unpaid&repeats=1&rates=one&epochs=1&runs=2", "training", True),
    ("tuning?show=In accuracy&honest_data=breast-cancer&honest_draws=2&honest_epochs=1&honest_runs=3", "honest", False),
]


@pytest.mark.slow
@pytest.mark.parametrize(("link", "run", "pressed"), RUNS)
def test_results_of_a_setting_before_are_named_and_faint(link, run, pressed):
    app = open_page(link)
    finished(press(app, "Run") if pressed else app, f"{run}__run")
    before = answer(app)
    app.select_slider(key=f"{run}_epsilon").set_value(8.0).run()
    assert answer(app) == before
    assert re.search(r"These results are for ε = \S+ \(now 8\)\. Press Run", texts(app))
    assert all(trace["opacity"] < 1 for trace in charts(app)[0]["data"])


WITHOUT_FILES = [("training?data=adult", None), ("tuning?show=In accuracy&honest_data=gisette", "honest_run")]
WITHOUT_FILES += [("accuracy?data=adult", "accuracy_run"), ("training?data=adult", b"39, State-gov\n")]


@pytest.mark.slow
@pytest.mark.parametrize(("link", "button"), WITHOUT_FILES)
def test_without_its_files_a_data_set_is_not_run_and_nothing_tells_where_files_lie(link, button, monkeypatch, tmp_path):
    monkeypatch.setenv("OBJPERT_DATA_DIR", str(tmp_path))
    if damaged := isinstance(button, bytes):
        (tmp_path / "adult").mkdir()
        (tmp_path / "adult" / "adult.data").write_bytes(button)
    app = open_page(link)
    assert "Press Run" not in texts(app)
    assert str(tmp_path) not in texts(app)
    if isinstance(button, str):
        assert app.button(key=button).disabled
    else:
        assert "Run" not in [one.label for one in app.button]
        assert not charts(app)
        assert ("wrong SHA-256: expected 5b0026" in texts(app)) == damaged == ("not on this server" not in texts(app))


STORED = [
    *(("quadratic", view) for view in ("Risk against the box (Figure 2)", "Bounds on the risk (Figure 1)")),
    *(("quadratic", view) for view in ("Where data matter", "Beside other regressions")),
    ("sure", "How often intervals cover"),
    *(("ptr", view) for view in ("Votes and their ε (Figure 3)", "Private regressions (Figure 1)")),
    *(("ptr", view) for view in ("What teachers’ labels cost (Figure 2)", "Does asking first pay?")),
]


@pytest.mark.thorough
@pytest.mark.parametrize(("page", "view"), [slow(*place) if place[0] == "ptr" else place for place in STORED])
def test_stored_results_are_shown_with_their_command_and_asked_for_where_there_are_none(page, view, monkeypatch):
    made_by = f"experiments {'intervals' if page == 'sure' else page}"
    app = open_page(page, view=view)
    assert answer(app)
    assert re.search(rf"python -m [\w.]*{made_by}", written(app))  # a file keeps the words that it was made by
    assert len(tables(app)[0]) >= 4
    assert not app.error
    monkeypatch.setattr("ui.stored_view.results_or_none", lambda load, name: None)
    needed = open_page(page, view=view).info[0].value
    assert f"This picture needs stored results: python -m benchmarks.{made_by}" in needed


SIGMA = "sigma must be a finite number > 0, got -1", "Sigma must be a finite number > 0, got -1."
SIZE = "sigma must be a finite number >= 0, got -1", "Sigma must be a finite number >= 0, got -1."
DELTA = (
    "delta must be a number strictly between 0 and 1, got 2.0",
    "Delta must be a number strictly between 0 and 1, got 2.0.",
)
NOISE = "noise_multiplier must be a finite number > 0, got -1", "noise_multiplier must be a finite number > 0, got -1."
REFUSED = [
    ("bounds", {}, "ui.bounds.readings", SIGMA, {"bounds_sigma": 5.0}),
    ("distance", {}, "pages.distance.curves.at", SIGMA, {"distance_sigma": 10.0}),
    ("planner", {}, "pages.planner.numbers.frontier", DELTA, {"planner_f": 1.3}),
    thorough("renyi", {}, "pages.renyi.landmarks.crossings", SIGMA, {"renyi_sigma": 2.5}),
    ("composition", {}, "pages.composition.fits.reading", SIGMA, {"composition_sigma": 8.0}),
    thorough("tuning", {}, "pages.tuning.numbers.Tuning.ways", NOISE, {"tuning_settings": 10}),
    ("losses", {"show": "Without GLM structure"}, "pages.losses.dimension.readings", SIGMA, {}),
    ("solvers", {}, "pages.solvers.descent.run", SIZE, {}),
]


@pytest.mark.parametrize(("page", "query", "function", "told", "controls"), REFUSED)
def test_a_refused_value_becomes_one_sentence(monkeypatch, page, query, function, told, controls):
    reason, sentence = told

    def refuse(*_):
        raise ValueError(reason)

    monkeypatch.setattr(function, refuse)
    app = open_page(page, **query)
    assert [block.value for block in app.error] == [sentence]
    assert {key: app.select_slider(key=key).value for key in controls} == controls


COMPARED = ["One fit", "Gaussian", "DP-SGD"]
GHOSTS = [
    ("bounds", "sigma", 10.0, None, {"Gaussian lower bound": acc.Gaussian(5.0).delta}),
    ("distance", "sigma", 1.0, None, {}),
    slow("renyi", "noise", 3.0, COMPARED, {"DP-SGD": acc.DPSGD(2.5, 0.01, 10_000).rdp}),
    ("solvers", "lambda", 10.0, None, {}),
    slow("composition", "sigma", 100.0, [f"k = {k}" for k in (1, 2, 5, 10)], {}),
    slow("losses", "C", 0.3, ["f clipped"], {}),
]


@pytest.mark.thorough
@pytest.mark.parametrize(("page", "control", "value", "names", "laws"), GHOSTS)
def test_the_previous_setting_stays_as_a_ghost_until_it_is_switched_off(page, control, value, names, laws):
    app = open_page(page)
    app.select_slider(key=f"{page}_{control}").set_value(value).run()
    shown, ghosts = curves(app)
    assert ghosts == [f"{name}, before" for name in names or shown]
    for name, law in laws.items():
        ghost = next(trace for trace in spec(app)["data"] if trace["name"] == f"{name}, before")
        np.testing.assert_array_equal(decode(ghost["y"]), law(shown[name][0]))
    app.toggle(key=f"{page}_ghost").set_value(False).run()
    assert curves(app)[1] == []
