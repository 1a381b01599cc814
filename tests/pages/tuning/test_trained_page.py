"""The price of tuning in accuracy, in Streamlit's own test driver: no browser, but real threads and real trainings."""

from functools import partial

import pytest

from objpert_core.datasets import load
from objpert_core.experiments.studies.tuning_runs import Settings, tuning_runs
from tests.pages import apps
from tests.pages.apps import answer, charts, said, texts

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("own_runner")]
opened = partial(apps.open_app, "pages/tuning/page.py", tuning_show="In accuracy")
finished = partial(apps.finished, run="honest__run")
SMALL = {"honest_data": "breast-cancer", "honest_draws": "2", "honest_epochs": "1"}
SMALL |= {"honest_runs": "3", "honest_rates": "five"}


def job(at):
    return at.session_state["honest__run"].job


def test_it_starts_by_itself_and_shows_the_runners_own_numbers():
    at = finished(opened(**SMALL, honest_epsilon="1"))
    *_, expected = tuning_runs(
        load("breast-cancer"),
        Settings(epsilon=1.0, learning_rates=(0.003, 0.01, 0.03, 0.1, 0.3), mean_runs=3.0, epochs=1, draws=2),
    )
    shown = job(at).view().latest
    assert [draw.honest for draw in shown.draws] == [draw.honest for draw in expected.draws]
    assert answer(at).startswith("At ε = 1 ")
    assert f"{100 * expected.mean('honest').mean:.2f} % right" in answer(at)
    assert len(charts(at)) == 3
    assert f"**K was {len(expected.draws[0].runs)}** with noise seed 0" in texts(at)
    shown = said(at)
    assert "NOT covered" in shown
    assert "the runs and the choice among them" in shown
    assert "winner’s curse" in " ".join(element.value for element in at.header)


def test_another_draw_can_be_looked_into_and_moving_a_control_marks_the_results_as_old():
    at = finished(opened(**SMALL))
    at.number_input(key="honest_shown").set_value(2).run()
    assert "with noise seed 1." in texts(at)
    at.session_state["tuning_show__link"] = True
    at.run()
    assert any("honest_shown=2" in element.value for element in at.code)
    at.number_input(key="honest_shown").set_value(40).run()  # more than there are: the last
    assert "with noise seed 1." in texts(at)
    at.select_slider(key="honest_epsilon").set_value(8.0).run()
    assert at.warning[0].value == (
        "These results are for ε = 0.1 (now 8). Press Run to have results for the controls as they are now."
    )
    assert all(trace["opacity"] < 1 for trace in charts(at)[0]["data"])
    at.button(key="honest_run").click().run()
    finished(at)
    assert not at.warning
    assert answer(at).startswith("At ε = 8 ")


def test_long_work_waits_for_run():
    at = opened(**SMALL | {"honest_draws": "50", "honest_epochs": "60"})
    assert "honest__run" not in at.session_state
    assert "Press Run to start." in at.info[0].value
    assert not charts(at)
    at.select_slider(key="honest_epochs").set_value(1)
    at.number_input(key="honest_draws").set_value(2)
    at.button(key="honest_run").click().run()
    finished(at)
    assert len(charts(at)) == 3


def test_a_target_that_no_noise_reaches_is_a_sentence(monkeypatch):
    import pages.tuning.trained as module

    def refuse(*_arguments):
        raise ValueError("epsilon and delta must be larger")
        yield

    monkeypatch.setattr(module, "tuning_runs", refuse)
    at = finished(opened(**SMALL))
    assert at.error[0].value.startswith("Epsilon and delta must be larger")


def test_without_its_files_a_data_set_cannot_be_run_and_nothing_asks_for_it(monkeypatch, tmp_path):
    monkeypatch.setenv("OBJPERT_DATA_DIR", str(tmp_path))
    at = opened(honest_data="gisette")
    assert at.button(key="honest_run").disabled
    assert "Press Run" not in texts(at)
    assert "choose another data set" in at.info[0].value
    assert str(tmp_path) not in texts(at)
