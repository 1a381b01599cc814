"""The training page, run by Streamlit's own test driver: no browser, but real threads and real fits."""

import re
from functools import partial

import pytest

from objpert_core import datasets
from objpert_core.experiments.compare import METHODS, Settings, compare
from objpert_core.experiments.learners import DISHONEST_PLD as DISHONEST
from objpert_core.experiments.learners import LIVE as LEARNERS
from objpert_core.experiments.learners import NON_PRIVATE, TIGHT
from pages.training import words as text
from tests.pages import apps
from tests.pages.apps import answer, charts, execute, open_app, said, texts
from tests.pages.apps import opened as pressed
from tests.plotted import decode

pytestmark = pytest.mark.usefixtures("own_runner")
finished = partial(apps.finished, run="training__run")
press_run = partial(apps.press, label="Run")
QUICK = {"rates": "one", "epochs": "1", "runs": "2"}


def opened(methods=None, **query):
    """The page at a link with these settings, on a small data set unless told."""
    query = {"data": "breast-cancer", "repeats": "2"} | query
    if methods is not None:
        query["methods"] = [text.LABELS[method] for method in methods]
    return open_app("pages/training/page.py", **{f"training_{key}": value for key, value in query.items()})


def job(at):
    return at.session_state["training__run"].job


def marks(at):
    """The means in the first chart: name and accuracy, as the trace says it."""
    return [trace["name"] for trace in charts(at)[0]["data"] if trace["name"] and not trace["meta"]["ghost"]]


@pytest.mark.thorough
def test_a_released_control_is_answered_at_once_with_the_runners_own_numbers():
    at = opened(repeats="3", epsilon="2", split="1", seed="5")
    at.select_slider(key="training_epsilon").set_value(0.5).run()
    *_, expected = compare(datasets.load("breast-cancer", split_seed=1), Settings(epsilon=0.5, repeats=3, seed=5))
    assert answer(at) == text.headline(expected)
    assert f"{100 * expected.accuracy(TIGHT).mean:.2f} %" in marks(at)[2]
    assert "ε 2 → 0.5: σ rises from " in said(at)
    ghosts = [trace["name"] for trace in charts(at)[0]["data"] if trace["meta"]["ghost"]]
    assert ghosts == [f"{LEARNERS[method].label}, before" for method in METHODS]
    at.toggle(key="training_ghost").set_value(False).run()
    assert not [trace for trace in charts(at)[0]["data"] if trace["meta"]["ghost"]]
    assert not at.get("progress")
    assert "training__run" not in at.session_state


@pytest.mark.thorough
def test_predict_first_hides_each_picture_until_a_guess_is_made():
    at = opened(predict="true")
    assert answer(at) == "Guess before you look: how many points will ε = 1 cost?"
    assert not charts(at)
    at.button(key="training_guess_0").click().run()
    assert charts(at)
    shown = answer(at)
    assert "You guessed nothing (below 0.05 points); ε costs " in said(at)
    at.select_slider(key="training_epsilon").set_value(2.0).run()
    assert not charts(at)
    at.toggle(key="training_predict").set_value(False).run()
    assert charts(at)
    assert answer(at) != shown


@pytest.mark.thorough
def test_scores_as_they_may_be_published():
    at = opened(repeats="3", seed="2")
    exact = answer(at)
    at.toggle(key="training_publishable").set_value(True).run()
    *_, expected = compare(datasets.load("breast-cancer"), Settings(repeats=1, seed=2, publishable=True))
    scores = expected.evaluation(TIGHT).accuracy()
    words = f"{100 * scores.value:.2f} % ({100 * scores.low:.2f} to {100 * scores.high:.2f} %)"
    assert answer(at) == f"At ε = 1 the publishable accuracy is {words} on breast-cancer."
    assert "a coin puts each person into fit or score" in said(at)
    assert "split anew, by a coin each" in said(at)
    assert "The scores of “no privacy” and of always “benign” are exact: do not publish them." in texts(at)
    bars = [trace["error_y"] for trace in charts(at)[0]["data"] if "error_y" in trace]
    assert decode(bars[-1]["array"]) == pytest.approx([scores.high - scores.value])
    pressed(at, "page_code")
    names, printed = execute(next(element.value for element in at.code if "import" in element.value))
    assert names["scores"].accuracy() == scores
    assert printed.split("\n")[1] == "1.0"
    at.toggle(key="training_publishable").set_value(False).run()
    assert answer(at) == exact
    assert at.session_state["training_repeats"] == 3


@pytest.mark.thorough
def test_a_run_of_dp_sgd_says_its_time_and_begins_with_two_draws():
    at = opened(repeats="10")
    at.pills(key="training_methods").set_value([NON_PRIVATE, TIGHT, DISHONEST]).run()
    assert at.session_state["training_repeats"] == 2
    assert re.search(r"Two models: (about \d+ seconds|a moment), longer", texts(at))
    at.pills(key="training_methods").set_value([NON_PRIVATE, TIGHT]).run()
    assert at.session_state["training_repeats"] == 10
    at = opened((NON_PRIVATE, TIGHT, DISHONEST), repeats="10", epochs="1")  # a link is taken at its word
    assert at.session_state["training_repeats"] == 10


@pytest.mark.slow
def test_a_long_method_waits_for_run_and_joins_the_others():
    at = opened((NON_PRIVATE, TIGHT, DISHONEST), **QUICK)
    assert "DP-SGD unpaid" not in " ".join(marks(at))
    assert "not trained yet" in str(charts(at)[0]["layout"]["xaxis"]["ticktext"])
    finished(press_run(at))
    assert [fit.method for fit in job(at).view().latest.fits] == [DISHONEST] * 2
    assert [name.rsplit(" ", 2)[0] for name in marks(at)[:3]] == [
        "no privacy",
        "Algorithm 1 with our theorem",
        "DP-SGD unpaid",
    ]
    assert "Run" not in [button.label for button in at.button]
    at.select_slider(key="training_epsilon").set_value(8.0).run()  # at once for the others
    assert answer(at).startswith("At ε = 8 ")
    assert "DP-SGD unpaid" not in " ".join(marks(at))
    assert "These results are for ε = 1 (now 8). Press Run" in texts(at)
