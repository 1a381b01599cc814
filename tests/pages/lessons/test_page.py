"""Lessons: the pictures show exact numbers, the right answers are computed, every step and every link works."""

import math
import re
from functools import partial
from itertools import product
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import numpy as np
import pytest
from scipy.stats import norm

import objpert_core.accounting as acc
from pages.home.release import SECOND_QUESTION
from pages.lessons import computed
from pages.lessons.coin import Coin
from pages.lessons.scene import WIDTHS, Slack, rounded
from pages.lessons.survey import SCENES
from tests.pages.apps import open_app
from ui import lessons
from ui.lesson_text import LessonError, Question
from ui.page import Prediction

ROOT = Path(__file__).parents[3]
open_page = partial(open_app, "pages/lessons/page.py")
LESSONS = lessons.catalogue().lessons
QUESTIONS = {
    f"{lesson.name}/{question.key}": question
    for lesson in LESSONS.values()
    for step in lesson.steps
    for question in step.questions
}


# --- randomised response ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("truth", [0.05, 0.5, 0.95])
def test_the_coins_curves_are_those_of_its_two_laws_and_it_composes(truth):
    rarer, likelier = (1 - truth) / 2, (1 + truth) / 2
    one, loss = Coin(truth), math.log(likelier / rarer)
    assert loss <= one.loss <= loss * (1 + 1e-14)
    eps = np.linspace(0, loss, 20)
    np.testing.assert_allclose(one.delta(eps), np.maximum(likelier - np.exp(eps) * rarer, 0), atol=1e-12)
    assert one.delta(one.loss) == 0
    alpha = 3.5
    moment = likelier**alpha * rarer ** (1 - alpha) + rarer**alpha * likelier ** (1 - alpha)
    assert one.rdp(alpha) == pytest.approx(math.log(moment) / (alpha - 1))
    assert one.rdp(1.0) == pytest.approx(truth * loss)
    many = Coin(truth, 12)
    assert many.epsilon(1e-5) == pytest.approx(acc.repeat(one, 12).epsilon(1e-5), rel=1e-6)
    assert many.epsilon(1e-5) <= many.loss


def test_the_coin_refuses_what_is_no_chance():
    with pytest.raises(ValueError, match="truth must be a number strictly between 0 and 1, got 1"):
        Coin(1.0)
    with pytest.raises(ValueError, match="answers must be a whole number >= 1, got 0"):
        Coin(0.5, 0)


@pytest.mark.parametrize(("truth", "people", "truly"), [(0.5, 20, 8), (0.9, 10, 4)])
def test_no_count_of_neighbours_is_likelier_than_the_promise_allows(truth, people, truly):
    coin = Coin(truth)
    first, second = coin.counts(people, truly), coin.counts(people, truly + 1)
    assert first.sum() == pytest.approx(1)
    assert first @ np.arange(people + 1) == pytest.approx(truly * coin.yes[1] + (people - truly) * coin.yes[0])
    assert np.abs(np.log(first / second)).max() == pytest.approx(coin.loss, rel=1e-9)  # reached at the ends


def test_the_estimated_share_errs_as_much_as_is_said():
    rng, people, truth = np.random.default_rng(7), 400, 0.5
    truly = 120
    first, second = rng.random((2, 4000, people))
    told = np.where(first < truth, np.arange(people) < truly, second < 0.5)
    shares = (told.mean(axis=1) - (1 - truth) / 2) / truth
    assert shares.mean() == pytest.approx(truly / people, abs=0.003)
    assert shares.std() == pytest.approx(Coin(truth).share_error(people), rel=0.05)


def test_rounding_needs_no_more_slack_and_the_sum_over_cells_is_right():
    eps = np.array([0.0, 0.5, 1.0, 2.0])
    for sigma, width in product((0.5, 1.0, 5.0), WIDTHS):
        assert (rounded(sigma, width, eps) <= acc.Gaussian(sigma).delta(eps) * (1 + 1e-9) + 1e-15).all()
    edges = (np.arange(-40, 41) + 0.5) * 2
    first, second = (np.diff(norm.cdf(edges, centre)) for centre in (0, 1))
    expected = max(np.maximum(p - math.e * q, 0).sum() for p, q in ((first, second), (second, first)))
    assert rounded(1.0, 2.0, np.ones(1))[0] == pytest.approx(expected, rel=1e-9)
    np.testing.assert_allclose(rounded(1.0, 0.1, eps), acc.Gaussian(1.0).delta(eps), rtol=0.02)


# --- pictures ---------------------------------------------------------------------------------------------------------


def test_the_shaded_slack_is_delta():
    for sigma, epsilon in ((1.0, 1.0), (2.0, 0.5), (0.5, 3.0)):
        frame = Slack(epsilon, sigma).frame()
        area = np.trapezoid(np.maximum(frame["with"] - frame["limit"], 0), frame["released"].to_numpy())
        assert area == pytest.approx(acc.Gaussian(sigma).delta(epsilon), rel=0.01, abs=1e-4)  # the axis ends at 4 σ


# --- questions --------------------------------------------------------------------------------------------------------


def test_every_path_ends_with_a_question_whose_answer_is_computed():
    for lesson in LESSONS.values():
        last = lesson.steps[-1].questions
        assert last
        assert lesson.name == "epsilon-from-zero" or all(question.answer for question in last)


@pytest.mark.thorough
def test_every_wrong_option_says_why_it_is_wrong_and_no_wrong_reply_names_the_right_one():
    asked = {name: computed.prediction(question) for name, question in QUESTIONS.items()}
    asked |= {path.parent.name: Prediction.of(path.parent.name) for path in (ROOT / "pages").glob("*/try.md")}
    asked["home/lambda"] = SECOND_QUESTION
    for name, prediction in asked.items():
        right = prediction.options[prediction.correct]
        for option, reply in zip(prediction.options, prediction.replies, strict=True):
            assert bool(reply) == (option != right), (name, option)
            assert right.rstrip(".") not in reply, (name, option)


def test_questions_need_no_formulas_which_a_printed_worksheet_cannot_set():
    for name, asked in QUESTIONS.items():
        assert not re.search(r"\\[a-z]|\^", " ".join((asked.question, *asked.options, asked.reason))), name


@pytest.mark.parametrize(
    ("option", "value"),
    [
        *(("ε = 0.341, as before", 0.341), ("12,400 rows", 12_400), ("δ is 1.3×10⁻⁵", 1.3e-5)),
        *(("10⁻⁵ at most", 1e-5), ("−2.5 points", -2.5), ("10 times", 10), ("never", None)),
    ],
)
def test_the_first_number_of_an_option_counts(option, value):
    found = computed.value_of(option)
    assert found == (value if value is None else pytest.approx(value))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("nothing", "line 7: there is no number 'nothing'; there are epsilon"),
        ("odds", "line 7: odds takes epsilon: missing a required argument: 'epsilon'"),
        ("odds epsilon=1 more=2", "line 7: odds takes epsilon: got an unexpected keyword argument 'more'"),
        ("epsilon sigma=-1 lam=5", "line 7: epsilon cannot be computed: sigma must be"),
        ("epsilon sigma=ten lam=5", "line 7: epsilon cannot be computed"),
        ("accuracy epsilon=0.3 data=nowhere", "line 7: accuracy cannot be computed: no run on 'nowhere'"),
    ],
)
def test_a_number_that_is_not_there_is_told_with_its_line(words, message):
    with pytest.raises(LessonError, match=re.escape(message)):
        computed.compute(words, 7)


def test_an_answer_that_fits_two_options_is_refused():
    question = Question(9, "q", "Which?", ("2.7", "2.72"), None, "odds epsilon=1", "")
    with pytest.raises(LessonError, match="and more than one option is near it"):
        computed.prediction(question)


def test_the_documentation_lists_every_number_and_every_picture():
    text = (ROOT / "docs" / "adding.md").read_text(encoding="utf-8")
    for name, scene in SCENES.items():
        assert f"| `{name}` | {', '.join(f'`{slider}`' for slider in scene.controls)} |" in text
    for name in computed.NUMBERS:
        assert re.search(rf"`{name} [^`]*=[^`]*`", text), name


# --- the page ---------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_steps_are_buttons_the_address_follows_and_the_session_comes_back():
    app = open_page(lesson="one-fit")
    app.button(key="lessons_step_5").click().run()
    assert app.query_params == {"lesson": "one-fit", "step": "5"}
    assert "5. Why" in [header.value for header in app.header]
    app.button(key="lessons_next").click().run()
    assert app.query_params["step"] == "6"
    assert "lessons_next" not in {button.key for button in app.button}
    app.query_params.clear()
    app.run()
    assert app.query_params == {"lesson": "one-fit", "step": "6"}
    app.button(key="lessons_after").click().run()
    assert app.query_params == {"lesson": "many-fits", "step": "1"}


@pytest.mark.parametrize(
    ("query", "asked"),
    [
        ({"lesson": "one-fit", "step": "99"}, "step = 99"),
        ({"lesson": "nobody", "step": "2"}, "lesson = nobody, step = 2"),
    ],
)
def test_a_step_that_is_none_is_said_and_leads_to_the_first(query, asked):
    app = open_page(**query)
    assert f"something that this page does not have: {asked}." in " ".join(text.value for text in app.caption)
    assert "step" not in app.query_params
    assert "does not have" not in " ".join(text.value for text in app.run().caption)


@pytest.mark.slow
@pytest.mark.parametrize("lesson", LESSONS.values(), ids=lambda lesson: lesson.name)
def test_every_step_is_drawn_and_every_page_opens_at_its_controls(lesson):
    (path,) = (ROOT / "pages/lessons/texts").glob(f"*-{lesson.name}.md")
    assert lessons.faults(path) == []


@pytest.mark.slow
def test_the_links_of_the_ninety_minutes_are_true(tmp_path):
    text = (ROOT / "docs" / "teaching.md").read_text(encoding="utf-8")
    addresses = [urlsplit(address) for address in re.findall(r"`(/[^`]*)`", text)]
    steps = []
    for address in addresses:
        query = dict(parse_qsl(address.query))
        if address.path == "/lessons":
            assert lessons.place(query) is not None, address
        elif query:
            pairs = " ".join(f'"{key}={value}"' for key, value in parse_qsl(address.query))
            steps.append(f"## S\n:::page {address.path[1:]} {pairs}\nDo.\n:::\n")
    assert len(steps) == 5
    (tmp_path / "links.md").write_text("# Links\n" + "".join(steps), encoding="utf-8")
    assert lessons.faults(tmp_path / "links.md") == []
