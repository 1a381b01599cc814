"""The training page, run by Streamlit's own test driver: no browser, but real threads and real fits."""

import time
from functools import partial

import pytest

from objpert_core import datasets
from objpert_core.experiments.compare import (
    MAX_REPEATS,
    METHODS,
    NON_PRIVATE,
    PUBLISHED,
    TIGHT,
    Settings,
    compare,
)
from objpert_core.experiments.learners import DISHONEST_PLD as DISHONEST
from objpert_core.experiments.learners import HONEST, KIFER, OUTPUT, ROUNDED
from objpert_core.experiments.learners import LIVE as LEARNERS
from pages.training import words as text
from tests.pages import apps
from tests.pages.apps import answer, charts, open_app, tables, texts
from tests.ui.waiting import until

pytestmark = pytest.mark.usefixtures("own_runner")
finished = partial(apps.finished, run="training__run")
press_run = partial(apps.press, label="Run")


def opened(data="breast-cancer", query=None, methods=None, **values):
    """The page at these settings."""
    if methods is not None:
        query = {**(query or {}), "training_methods": [text.LABELS[method] for method in methods]}
    at = open_app("pages/training/page.py", **(query or {}))
    if data is not None:
        at.selectbox(key="training_data").set_value(data)
    for key, value in values.items():
        widget = next(w for w in (*at.number_input, *at.select_slider, *at.selectbox) if w.key == f"training_{key}")
        widget.set_value(value)
    if data is not None or values:
        at.run()
    assert not at.exception
    return at


def job(at):
    return at.session_state["training__run"].job


def test_opens_idle_and_asks_for_a_guess():
    at = opened(data=None)
    assert at.title[0].value == "What does privacy cost in accuracy?"
    assert at.selectbox(key="training_data").value == datasets.default_name()
    assert "press Run" in at.info[0].value
    assert at.radio(key="training__guess").value is None
    assert answer(at) is None
    assert not charts(at)


@pytest.mark.slow
def test_run_finishes_and_shows_the_runners_own_numbers():
    at = finished(press_run(opened(repeats=3, epsilon=2.0, split=1, seed=5)))
    *_, expected = compare(datasets.load("breast-cancer", split_seed=1), Settings(epsilon=2.0, repeats=3, seed=5))
    shown = job(at).view().latest
    assert [fit.accuracy for fit in shown.fits] == [fit.accuracy for fit in expected.fits]
    assert answer(at).startswith("At ε = 2 ")
    assert f"{100 * expected.accuracy(TIGHT).mean:.2f} %" in answer(at)
    accuracy, roc = charts(at)
    names = [trace["name"] for trace in accuracy["data"] if trace["name"]]
    assert [name.rsplit(" ", 2)[0] for name in names[:3]] == [LEARNERS[method].label for method in METHODS]
    assert names[3].startswith("always")
    assert len(roc["data"]) == 4
    assert "breast-cancer: 455 training rows, 114 test rows" in texts(at)


@pytest.mark.slow
def test_stop_keeps_what_there_is_and_says_so(monkeypatch):
    at = opened(repeats=MAX_REPEATS)
    slow_down(monkeypatch)
    press_run(at)
    wait_for_fits(at, 4)
    at.run()
    assert "models fitted" in at.get("progress")[0].proto.text
    at.button(key="training_stop").click().run()
    finished(at)
    fits = len(job(at).view().latest.fits)
    assert 4 <= fits < 2 * MAX_REPEATS
    assert f"Stopped after {fits} of {1 + 2 * MAX_REPEATS} models" in texts(at)
    assert answer(at).startswith("At ε = 1 ")
    assert len(charts(at)) == 2
    assert not [b for b in at.button if b.key == "training_stop"]


def slow_down(monkeypatch):
    import pages.training.jobs as module

    original = module.compare

    def slow(*arguments):
        for step in original(*arguments):
            time.sleep(0.02)
            yield step

    monkeypatch.setattr(module, "compare", slow)


def wait_for_fits(at, count):
    until(lambda: (latest := job(at).view().latest) is not None and len(latest.fits) >= count)


@pytest.mark.slow
def test_partial_results_are_on_the_page_while_it_runs(monkeypatch):
    at = opened(repeats=MAX_REPEATS)
    slow_down(monkeypatch)
    press_run(at)
    wait_for_fits(at, 3)
    at.run()
    assert job(at).view().active
    assert answer(at) is not None
    assert charts(at)


@pytest.mark.slow
def test_moving_a_control_marks_the_results_as_old_and_a_new_run_clears_it():
    at = finished(press_run(opened(repeats=2)))
    assert not at.warning
    at.select_slider(key="training_epsilon").set_value(8.0).run()
    assert at.warning[0].value == (
        "These results are for ε = 1 (now 8). Press Run to train with the controls as they are now."
    )
    assert answer(at).startswith("At ε = 1 ")
    assert all(trace["opacity"] < 1 for trace in charts(at)[0]["data"])
    finished(press_run(at))
    assert not at.warning
    assert answer(at).startswith("At ε = 8 ")
    ghosts = [trace for trace in charts(at)[0]["data"] if trace["meta"]["ghost"]]
    assert len(ghosts) == 3  # the run at ε = 1


@pytest.mark.slow
def test_a_guess_is_judged_by_its_own_run_only():
    at = opened(repeats=2)
    at.radio(key="training__guess").set_value("more than 3 points").run()
    finished(press_run(at))
    assert "You guessed “more than 3 points”; for the Algorithm 1 tight models it is “more than 3 points”." in texts(at)
    finished(press_run(at))
    assert "You guessed" not in texts(at)


@pytest.mark.slow
@pytest.mark.parametrize("view", ["ROC", "ROC corner", "coefficients", "gradient norm", "certificate"])
def test_every_view(view):
    at = finished(press_run(opened(repeats=2)))
    at.radio(key="training_view").set_value(view).run()
    assert not at.exception
    assert len(charts(at)) == (1 if view == "certificate" else 2)
    if view == "certificate":
        shown = [element.value for element in at.code if "differential privacy" in element.value]
        assert sum("reproducible" in words for words in shown) == 2


@pytest.mark.slow
def test_the_snippet_on_the_page_is_for_the_run_on_the_page():
    at = finished(press_run(opened(repeats=2, seed=7)))
    code = next(element.value for element in at.code if "import" in element.value)
    assert "load(name='breast-cancer', split_seed=0)" in code
    assert "range(7, 9)" in code


@pytest.mark.slow
def test_a_stand_in_is_labelled_before_and_after_the_run():
    at = opened(data="adult-synthetic", repeats=1)
    assert "Stand-in for adult, not the real data." in [caption.value for caption in at.caption]
    assert "adult-synthetic (stand-in for adult, not the real data)" in at.info[0].value
    assert "real data" not in at.title[0].value
    finished(press_run(at))
    label = "adult-synthetic (stand-in for adult)"
    assert any(info.value.startswith("Stand-in for adult, not the real data") for info in at.info)
    assert f"{label}: 36,177 training rows" in texts(at)
    assert label in tables(at)[0].columns
    for view in ("ROC", "ROC corner", "coefficients", "gradient norm"):
        at.radio(key="training_view").set_value(view).run()
        titles = [chart["layout"]["xaxis"]["title"]["text"].replace("<br>", " ") for chart in charts(at)]
        assert [label in title for title in titles] == [True, True]
        downloads = at.get("download_button")
        assert len(downloads) == 4
        assert all("_adult-synthetic_" in button.proto.id for button in downloads)  # the file's name is in the key
    at.radio(key="training_view").set_value("certificate").run()
    assert sum(label in words.value for words in at.markdown) == 3  # the data line and both certificates


@pytest.mark.slow
def test_missing_files_are_named_with_the_way_to_get_them(monkeypatch, tmp_path):
    monkeypatch.setenv("OBJPERT_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("OBJPERT_DATA_URL", "http://127.0.0.1:9")  # nobody listens there
    at = opened(data="adult")
    words = at.warning[0].value
    for part in ("`adult.data`", "`adult.test`", "`data/downloads/adult`", "OBJPERT_DATA_DIR"):
        assert part in words
    assert at.button(key="training_run").disabled
    assert "press Run" not in texts(at)
    assert "training__guess" not in [radio.key for radio in at.radio]
    assert str(tmp_path) not in texts(at)  # where files lie on the server is not the visitors' business
    at.button(key="raw_files_download").click().run()
    deadline = time.monotonic() + 30
    while not at.error:
        assert time.monotonic() < deadline
        time.sleep(0.2)
        at.run()
    assert "data/downloads/adult" in at.error[0].value
    assert str(tmp_path) not in texts(at)
    assert not at.exception


@pytest.mark.slow
def test_a_damaged_file_is_not_called_missing(monkeypatch, tmp_path):
    monkeypatch.setenv("OBJPERT_DATA_DIR", str(tmp_path))
    (tmp_path / "adult").mkdir()
    (tmp_path / "adult" / "adult.data").write_bytes(b"39, State-gov\n")
    at = opened(data="adult")
    words = at.error[0].value
    assert str(tmp_path) not in words
    for part in ("data/downloads/adult/adult.data", "wrong SHA-256: expected 5b0026", "found "):
        assert part in words
    assert "not on this server" not in texts(at)
    assert at.button(key="training_run").disabled
    assert "Adult's files are damaged" in texts(at)


@pytest.mark.slow
def test_the_page_says_what_a_reload_does():
    assert "Reloading the page or closing its tab stops a run" in texts(opened())


@pytest.mark.slow
def test_the_default_follows_the_files(monkeypatch, tmp_path):
    monkeypatch.setenv("OBJPERT_DATA_DIR", str(tmp_path))
    assert opened(data=None).selectbox(key="training_data").value == "adult-synthetic"


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
def test_presets_set_every_control_of_the_table(epsilon):
    at = opened(epsilon=20.0, delta=1e-8, bound="glm", repeats=3, split=4, seed=2, scaling=1.0)
    name = text.preset_name(epsilon, datasets.default_name())
    button = at.button(key=f"training_preset_{name}")
    assert button.label == name
    button.click().run()
    state = at.session_state
    assert state["training_data"] == datasets.default_name()
    assert (state["training_epsilon"], state["training_delta"], state["training_bound"]) == (epsilon, 1e-5, "logistic")
    assert (state["training_repeats"], state["training_split"], state["training_seed"]) == (10, 0, 0)
    assert state["training_scaling"] == 0.3


def test_the_address_sets_the_controls():
    query = {"training_data": "digits-4-9", "training_epsilon": "8", "training_repeats": "3", "training_seed": "5"}
    query |= {
        "training_solver": "lbfgs",
        "training_batch": "64",
        "training_epochs": "5",
        "training_rates": "paper",
        "training_runs": "2",
    }
    at = opened(data=None, query=query, methods=(HONEST, OUTPUT))
    assert set(at.session_state["training_methods"]) == {HONEST, OUTPUT}
    assert [at.select_slider(key=f"training_{key}").value for key in ("batch", "epochs", "runs")] == [64, 5, 2]
    assert at.selectbox(key="training_rates").value == "paper"
    assert at.selectbox(key="training_solver").value == "lbfgs"
    assert at.selectbox(key="training_data").value == "digits-4-9"
    assert at.select_slider(key="training_epsilon").value == 8.0
    assert (at.number_input(key="training_repeats").value, at.number_input(key="training_seed").value) == (3, 5)


@pytest.mark.slow
def test_links_from_before_the_methods_were_renamed_still_work():
    at = opened(query={"training_methods": ["tight", "published", "Kifer 2012", "output", "no privacy", "DP-SGD paid"]})
    assert set(at.session_state["training_methods"]) == {TIGHT, PUBLISHED, KIFER, OUTPUT, NON_PRIVATE, HONEST}
    mixed = opened(query={"training_methods": ["SVM, rounded hinge", "output", "magic"]})
    assert set(mixed.session_state["training_methods"]) == {ROUNDED, OUTPUT}


@pytest.mark.slow
def test_the_link_says_what_is_shown():
    at = finished(press_run(opened(repeats=1)))
    at.radio(key="training_view").set_value("coefficients").run()
    at.toggle(key="training_closeup").set_value(True).run()
    at.session_state["training_data__link"] = True
    at.run()
    link = next(element.value for element in at.code if "training_data=" in element.value)
    assert "training_view=coefficients" in link
    assert "training_closeup=true" in link


@pytest.mark.slow
def test_a_view_in_the_address_waits_out_of_sight_for_the_first_model():
    at = opened(query={"training_view": "coefficients"})
    assert at.radio(key="training_view").value == "coefficients"
    assert "display: none" in " ".join(element.proto.body for element in at.get("html"))


@pytest.mark.slow
def test_regression_is_said_to_be_elsewhere():
    assert "Losses and clipping" in texts(opened())


def test_without_adults_files_the_buttons_say_so(monkeypatch, tmp_path):
    monkeypatch.setenv("OBJPERT_DATA_DIR", str(tmp_path))
    at = opened(data=None)
    buttons = [b.label for b in at.button if b.key and b.key.startswith("training_preset_")]
    assert len(buttons) == 3
    assert all("adult-synthetic, not Adult" in label for label in buttons)
    assert "Adult's files are not on this server, so the buttons run **adult-synthetic**" in texts(at)


def test_nonsense_in_the_address_falls_back_to_the_defaults():
    nonsense = {
        "training_data": "../../etc/passwd",
        "training_epsilon": "NaN",
        "training_delta": "2",
        "training_bound": "<script>",
        "training_repeats": "1e9",
        "training_split": "-3",
        "training_seed": "banana",
        "training_scaling": "",
        "training_view": "☃",
        "training_methods": ["magic", "'; DROP TABLE"],
    }
    at = opened(data=None, query=nonsense)
    assert at.selectbox(key="training_data").value == datasets.default_name()
    assert at.select_slider(key="training_epsilon").value == 1.0
    assert at.number_input(key="training_repeats").value in (10, MAX_REPEATS)  # refused, or cut to what is allowed
    assert at.number_input(key="training_split").value >= 0
    assert tuple(at.session_state["training_methods"]) == METHODS
    assert not at.error


def test_nonsense_about_dp_sgd_falls_back_too():
    nonsense = {"training_batch": "-1", "training_epochs": "inf", "training_rates": "../..", "training_runs": "NaN"}
    at = opened(query=nonsense, methods=(HONEST,))
    sliders = {"batch": 256, "epochs": 20, "runs": 15.4}
    assert {key: at.select_slider(key=f"training_{key}").value for key in sliders} == sliders
    assert at.selectbox(key="training_rates").value == "five"


@pytest.mark.slow
def test_dp_sgds_controls_are_there_with_dp_sgd_only():
    keys = [slider.key for slider in opened(data=None).select_slider]
    assert "training_batch" not in keys
    assert "training_batch" in [slider.key for slider in opened(data=None, methods=(DISHONEST,)).select_slider]


@pytest.mark.slow
def test_a_failing_fit_is_one_sentence(monkeypatch):
    import pages.training.jobs as module

    def broken(*arguments):
        raise RuntimeError("secret internals")
        yield

    monkeypatch.setattr(module, "compare", broken)
    at = finished(press_run(opened()))
    assert "RuntimeError" in at.error[0].value
    assert "secret" not in texts(at)
    assert "Traceback" not in texts(at)


@pytest.mark.slow
def test_a_full_server_says_so(full_server):
    at = press_run(opened())
    assert "The server is busy" in at.error[0].value


@pytest.mark.slow
def test_two_sessions_do_not_see_each_other():
    first, second = finished(press_run(opened(repeats=1))), opened(repeats=2)
    assert "training__run" not in second.session_state
    finished(press_run(second))
    assert job(first) is not job(second)
    assert first.session_state["training__owner"] != second.session_state["training__owner"]


@pytest.mark.slow
def test_every_method_runs_and_is_in_charts_table_and_certificates():
    quick = {"training_rates": "one", "training_epochs": "1", "training_runs": "2", "training_view": "certificate"}
    at = finished(press_run(opened(query=quick, methods=LEARNERS, repeats=1)))
    shown = job(at).view().latest
    assert [fit.method for fit in shown.fits] == list(LEARNERS)
    names = {trace["name"].rsplit(" ", 2)[0] for trace in charts(at)[0]["data"] if trace["name"]}
    labels = [learner.label for learner in LEARNERS.values()]
    assert names - {"always “benign”"} == set(labels)
    assert list(tables(at)[0].columns)[1:-1] == labels
    certificates = [element.value for element in at.code if "differential privacy" in element.value]
    assert len(certificates) == len(LEARNERS) - 1
    assert sum("NOT covered" in words for words in certificates) == 1
    assert "covers one run, not what was released" in " ".join(element.proto.body for element in at.get("html"))


@pytest.mark.slow
def test_a_run_without_a_reference_and_with_one_method():
    at = opened(methods=(OUTPUT,), repeats=2)
    assert "training__guess" not in [radio.key for radio in at.radio]  # nothing to compare a guess with
    finished(press_run(at))
    assert answer(at).startswith("At ε = 1 output perturbation gets ")
    assert "LogisticRegression(C=" not in next(element.value for element in at.code if "import" in element.value)


@pytest.mark.slow
def test_stop_works_inside_a_run_of_dp_sgd():
    long = {"training_epochs": "100", "training_batch": "64", "training_runs": "30"}
    at = opened(data="synthetic-l", query=long, methods=(HONEST,), repeats=1)
    press_run(at)
    until(lambda: at.session_state["training__run"].meter.now is not None)
    at.run()
    assert "DP-SGD paid: run " in at.get("progress")[0].proto.text
    at.button(key="training_stop").click().run()
    finished(at)
    assert "Stopped before the first model was fitted" in texts(at)


@pytest.mark.slow
def test_no_method_is_a_hint_and_not_a_run():
    at = opened()
    at.session_state["training_methods"] = []
    at.run()
    assert not at.exception
    assert "Choose at least one method." in texts(at)
    assert at.button(key="training_run").disabled


@pytest.mark.slow
def test_a_preset_takes_the_methods_of_the_table_too():
    at = opened(methods=(DISHONEST,))
    at.button(key=f"training_preset_{text.preset_name(1.0, datasets.default_name())}").click().run()
    assert tuple(at.session_state["training_methods"]) == METHODS
