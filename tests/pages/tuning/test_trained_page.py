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
