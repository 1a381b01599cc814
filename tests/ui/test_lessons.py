"""A lesson is read, or refused with its line; an address only looks names up; the check finds what is wrong."""

import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from ui import lessons
from ui.lesson_text import MOST_OPTIONS, Controls, LessonError, OpenPage, Question, Text, parse

ADDING = (Path(__file__).parents[2] / "docs" / "adding.md").read_text(encoding="utf-8")
(EXAMPLE,) = re.findall(
    r"^<!-- a complete lesson -->\n````markdown\n(.*?)^````$", ADDING, flags=re.DOTALL | re.MULTILINE
)
SHORT = "# A title\n\n## One\n"


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A lecturer's own folder."""
    monkeypatch.setenv(lessons.FOLDER, str(tmp_path))
    lessons.catalogue.cache_clear()
    yield tmp_path
    lessons.catalogue.cache_clear()


def test_the_example_of_the_documentation_has_all_its_parts():
    lesson = parse(EXAMPLE, "half")
    assert (lesson.title, lesson.minutes, lesson.lead) == ("Half the noise", 5, "What a smaller σ costs.")
    predict, look, push = lesson.steps
    assert [type(part) for part in predict.parts] == [Text, Question]
    (question,) = predict.questions
    assert (question.key, question.correct, question.answer) == ("half", None, "epsilon sigma=5 lam=5")
    assert question.options[1] == "ε of {{epsilon sigma=5 lam=5}}, about twice as much"
    assert question.reason == "ε falls about as fast as 1/σ."
    assert isinstance(look.page, OpenPage)
    query = {"bounds_sigma": ["10"], "bounds_lambda": ["5"], "bounds_show": ["Attacker’s errors"]}
    assert (look.page.name, look.page.query) == ("bounds", query)
    assert isinstance(push.controls, Controls)
    assert push.controls.values == {"epsilon": "0.5", "sigma": "2"}


TICKED = ":::question q\nWhich?\n* [x] a\n* [ ] b\n:::\n"
WRONG = [
    ("", "line 1: a lesson needs a step"),
    ("## One\n", "line 1: a lesson begins with its title"),
    ("# T\n\nhello\n## One\n", "line 3: only “minutes: …” and “lead: …”"),
    ("# T\nminutes: soon\n## One\n", "line 2: minutes must be a whole number from 1 to 240, got 'soon'"),
    (SHORT + ":::controls coin\n", "line 4: this directive is not closed"),
    (SHORT + ":::wink x\n:::\n", "line 4: a directive is one of controls, page, question, got 'wink'"),
    (SHORT + ":::controls truth=0.5\n:::\n", "line 4: “:::controls” needs a name after it"),
    (SHORT + ":::controls coin truth\n:::\n", "line 4: after the name stand pairs such as sigma=10, got 'truth'"),
    (SHORT + ":::controls coin truth=1 truth=2\n:::\n", "line 4: a key stands here more than once"),
    (SHORT + ':::controls "coin\n:::\n', "line 4: a directive begins with"),
    (SHORT + ":::controls coin\n:::\n:::controls bet\n:::\n", "line 6: a step has at most one page and one picture"),
    (SHORT + ":::page nowhere\nDo.\n:::\n", "line 4: there is no page 'nowhere'; the pages are home, guess"),
    (SHORT + ":::page lessons\nDo.\n:::\n", "line 4: there is no page 'lessons'"),
    (SHORT + ":::page bounds sigma=10\nDo.\n:::\n", "line 4: the controls of the page bounds begin with bounds_"),
    (SHORT + ":::page bounds\n:::\n", "line 4: a page needs a task"),
    (SHORT + ":::question q\nWhich?\n* [x] a\n:::\n", f"line 4: a question has two to {MOST_OPTIONS} options"),
    (SHORT + ":::question q\nWhich?\n* [x] a\n\n* [ ] b\n:::\n", "one below the other"),
    (SHORT + ":::question q\nWhich?\n* a\n* b\n:::\n", "line 4: one option is ticked"),
    (SHORT + ":::question q\nWhich?\nanswer: odds epsilon=1\n* [x] 1\n* [ ] 2\n:::\n", "line 4: one option is ticked"),
    (SHORT + ":::question q\n* [x] a\n* [ ] b\n:::\n", "line 4: there is no question before the options"),
    (SHORT + ":::question q\nWhich?\n* [x] a\n* [ ] a\n:::\n", "line 4: two options say the same"),
    (SHORT + ":::question a b\nWhich?\n* [x] a\n* [ ] c\n:::\n", "line 4: after the name stand pairs|key is one word"),
    (SHORT + TICKED + "## Two\n" + TICKED, "line 10: two questions are called 'q'"),
    (SHORT + "![x](http://a.example/b.png)\n", "line 4: a lesson shows no images"),
    (SHORT + "![two\nlines](http://a.example/b.png)\n", "line 4: a lesson shows no images"),
    (SHORT + "$$x +\ny$$\n", r"line 4: “\$\$” stands on a line of its own"),
    ("# T\n" + "## S\n" * 31, "line 32: a lesson has at most 30 steps"),
]


@pytest.mark.parametrize(("text", "message"), WRONG)
def test_what_is_wrong_is_one_sentence_with_its_line(text, message):
    with pytest.raises(LessonError, match=message) as refused:
        parse(text, "wrong")
    assert str(refused.value).endswith(".")


def test_an_own_folder_adds_lessons_replaces_one_and_says_what_it_leaves_out(own):
    (own / "2-half.md").write_text(EXAMPLE, encoding="utf-8")
    (own / "one-fit.md").write_text(EXAMPLE, encoding="utf-8-sig")
    (own / "broken.md").write_text("# T\n", encoding="utf-8")
    (own / "Wrong name.md").write_text(EXAMPLE, encoding="utf-8")
    (own / "bytes.md").write_bytes(b"\xff\xfe\x00")
    (own / "large.md").write_text(EXAMPLE + "x" * lessons.LARGEST, encoding="utf-8")
    found = lessons.catalogue()
    builtin = [lessons.read(path).name for path in sorted((lessons.registry.ROOMS / "lessons/texts").glob("*.md"))]
    assert list(found.lessons) == [*builtin, "half"]
    assert found.lessons["one-fit"].title == "Half the noise"
    told = " ".join(found.broken)
    assert len(found.broken) == 4
    assert "broken.md, line 1: a lesson needs a step" in told
    assert "bytes.md is not a readable text file" in told
    assert "at most 100,000 bytes" in told
    assert "'Wrong name'" in told


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"lesson": "nothing"},
        {"lesson": "../../../etc/passwd"},
        {"lesson": "1-epsilon-from-zero.md"},
        {"lesson": "one-fit", "step": "0"},
        {"lesson": "one-fit", "step": "-1"},
        {"lesson": "one-fit", "step": "99"},
        {"lesson": "one-fit", "step": "1e3"},
        {"lesson": "one-fit", "step": "٣"},
        {"lesson": "one-fit", "step": "9" * 5000},
        {"lesson": "%00", "step": "1"},
    ],
)
def test_nonsense_names_no_place(query):
    assert lessons.place(query) is None


def test_a_folder_that_is_not_there_is_told(monkeypatch, own):
    monkeypatch.setenv(lessons.FOLDER, str(own / "nowhere"))
    assert lessons.catalogue().broken == ("OBJPERT_LESSONS names no folder.",)


def strip_of(page, **query):
    def script(page):
        from ui import lessons

        lessons.strip(page)

    app = AppTest.from_function(script, args=(page,))
    for key, value in query.items():
        app.query_params[key] = value
    app.run()
    assert not app.exception
    return " ".join(block.value for block in app.markdown)


@pytest.mark.thorough
def test_the_strip_tells_the_task_on_the_page_of_its_step_and_nothing_without_a_lesson():
    told = strip_of("bounds", lesson="one-fit", step="3")
    assert told.startswith("**One fit, step 3 of 6.** Slide σ to 5")
    assert strip_of("bounds") == ""
    assert strip_of("renyi", lesson="one-fit", step="3") == "**One fit, step 3 of 6.**"  # another page's step
    assert strip_of("bounds", lesson="one-fit", step="1") == "**One fit, step 1 of 6.**"  # a step without a page
    assert strip_of("bounds", lesson="<b>", step="NaN") == ""
    assert strip_of("bounds", lesson="one-fit", step="NaN") == ""


@pytest.mark.slow
def test_the_check_finds_what_only_drawing_shows_and_passes_the_example(own, capsys):
    good, wrong = own / "half.md", own / "wrong.md"
    good.write_text(EXAMPLE, encoding="utf-8")
    wrong.write_text(
        "# Wrong\n## One\n{{epsilom sigma=1}}\n:::controls coin truth=2\n:::\n"
        "## Two\n:::page bounds bounds_sigma=banana bounds_foo=3 bounds_lambda=20\nDo.\n:::\n"
        ":::question q\nWhich?\nanswer: odds epsilon=1\n* 5\n* 6\n:::\n## Three\n:::controls moon\n:::\n",
        encoding="utf-8",
    )
    assert lessons.main([str(good), str(wrong), str(own / "missing.md")]) == 2
    first, *told, missing = capsys.readouterr().out.splitlines()
    assert first == f"{good}: Nothing is wrong."
    assert missing == f"{own / 'missing.md'}: This is not a readable text file."
    for line, (place, words) in zip(
        told,
        [
            (3, "there is no number 'epsilom'"),
            (4, "truth must be one of 0.05"),
            (10, "the computed answer is 2.72, and no option begins with a number near it"),
            (7, "the page bounds does not take bounds_sigma=banana"),
            (7, "the page bounds does not take bounds_foo=3"),
            (17, "there is no picture 'moon'"),
        ],
        strict=True,
    ):
        assert f"Line {place}: {words}" in line


def test_a_page_that_became_part_of_another_leads_there():
    text = "# A title\n\n## One\n:::page honest honest_epsilon=0.1\nDo.\n:::\n"
    page = parse(text, "name").steps[0].page
    assert (page.name, page.query) == ("tuning", {"honest_epsilon": ["0.1"], "tuning_show": ["In accuracy"]})
