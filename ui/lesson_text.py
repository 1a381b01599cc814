"""The text of a lesson: Markdown with three directives, read into steps.

    # A title                                   the first line
    minutes: 15                                 how long it takes
    lead: One line on what it is about.

    ## The name of a step                       every step has one, then Markdown with $KaTeX$

    :::controls coin truth=0.5                  a small picture with its sliders, where they begin
    What to push.
    :::

    :::page bounds bounds_sigma=10              "open this page at exactly these controls"
    What to do there: the strip above that page says it.
    :::

    :::question halved                          a key of one's own, which stays when the text is mended
    What becomes of ε?
    answer: epsilon sigma=5 lam=20              the option with the nearest number is right: nobody types it in
    * It stays at {{epsilon sigma=10 lam=20}}.
    * It rises to {{epsilon sigma=5 lam=20}}.
    Why, shown with the answer.
    :::

A question without ``answer:`` has one option that is ticked, ``* [x] …``. ``{{name of a number, its arguments}}`` is
computed when the page is drawn (`pages/lessons/computed.py`). `ui.lessons` finds the files.
"""

import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from ui import registry

MOST_STEPS, MOST_OPTIONS, MOST_MINUTES = 30, 6, 240
NUMBER = re.compile(r"\{\{\s*([a-z_]+(?:\s[^{}]*)?)\}\}")
"""A number that is computed, in running text."""
NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
"""How lessons and questions are called."""

_OPTION = re.compile(r"\* (?:\[(?P<tick>[x ])\] )?(?P<text>.+)")


class LessonError(ValueError):
    """What is wrong with a lesson, as one sentence that names the line."""

    def __init__(self, line: int, sentence: str) -> None:
        super().__init__(f"line {line}: {sentence}")


@dataclass(frozen=True)
class Text:
    """Running Markdown, from `line` on."""

    line: int
    markdown: str


@dataclass(frozen=True)
class Controls:
    """A small picture with sliders: its name, where the sliders begin, and what to push."""

    line: int
    picture: str
    values: Mapping[str, str]
    task: str


@dataclass(frozen=True)
class OpenPage:
    """Another page of the app at exactly these controls, each with one value or several, and what to do there."""

    line: int
    name: str
    query: Mapping[str, list[str]]
    task: str


@dataclass(frozen=True)
class Question:
    """A question: `correct` is the option that is ticked, or None where the computation `answer` chooses.

    `replies` says for each option why it is wrong; empty for the right one.
    """

    line: int
    key: str
    question: str
    options: tuple[str, ...]
    correct: int | None
    answer: str
    reason: str
    replies: tuple[str, ...] = ()


Part = Text | Controls | OpenPage | Question


@dataclass(frozen=True)
class Step:
    """One step: its name and its parts in their order."""

    title: str
    parts: tuple[Part, ...]

    @property
    def page(self) -> OpenPage | None:
        """The page that it opens, if any."""
        return next((part for part in self.parts if isinstance(part, OpenPage)), None)

    @property
    def controls(self) -> Controls | None:
        """Its picture, if any."""
        return next((part for part in self.parts if isinstance(part, Controls)), None)

    @property
    def questions(self) -> tuple[Question, ...]:
        """What it asks."""
        return tuple(part for part in self.parts if isinstance(part, Question))


@dataclass(frozen=True)
class Lesson:
    """A lesson; `name` is what an address calls it."""

    name: str
    title: str
    minutes: int
    lead: str
    steps: tuple[Step, ...]


def parse(text: str, name: str) -> Lesson:
    """A lesson from its text; `LessonError` names the line where something is not as the module's docstring says."""
    lines = list(enumerate(text.splitlines(), start=1))
    for number, line in lines:
        if "![" in line:  # however the rest of it is broken into lines
            raise LessonError(number, "a lesson shows no images, because the browser would fetch them from elsewhere.")
        if line.count("$$") == 1 and line.strip() != "$$":
            raise LessonError(number, "“$$” stands on a line of its own, or at both ends of one line.")
    starts = [place for place, (_, line) in enumerate(lines) if line.startswith("## ")]
    if not starts:
        raise LessonError(max(len(lines), 1), "a lesson needs a step: a line that begins with “## ”.")
    if len(starts) > MOST_STEPS:
        raise LessonError(lines[starts[MOST_STEPS]][0], f"a lesson has at most {MOST_STEPS} steps.")
    title, minutes, lead = _heading(lines[: starts[0]])
    ends = [*starts[1:], len(lines)]
    steps = tuple(_step(lines[start:end]) for start, end in zip(starts, ends, strict=True))
    keys: set[str] = set()
    for question in (question for step in steps for question in step.questions):
        if question.key in keys:
            raise LessonError(question.line, f"two questions are called {question.key!r}; each needs a key of its own.")
        keys.add(question.key)
    return Lesson(name, title, minutes, lead, steps)


Lines = list[tuple[int, str]]


def _heading(lines: Lines) -> tuple[str, int, str]:
    """Title, minutes and lead: all that stands before the first step."""
    said = [(number, line.strip()) for number, line in lines if line.strip()]
    if not said or not said[0][1].startswith("# "):
        raise LessonError(said[0][0] if said else 1, "a lesson begins with its title: “# A title”.")
    fields = {"minutes": "15", "lead": ""}
    for number, line in said[1:]:
        field, colon, value = line.partition(":")
        if not colon or field not in fields:
            raise LessonError(number, "only “minutes: …” and “lead: …” may stand before the first step.")
        fields[field] = value.strip()
        if field == "minutes" and not (value.strip().isdecimal() and 1 <= int(value) <= MOST_MINUTES):
            raise LessonError(
                number, f"minutes must be a whole number from 1 to {MOST_MINUTES}, got {value.strip()!r}."
            )
    return said[0][1][2:].strip(), int(fields["minutes"]), fields["lead"]


def _step(lines: Lines) -> Step:
    """A step from its lines, the one with its name first."""
    parts: list[Part] = []
    rest: Iterator[tuple[int, str]] = iter(lines[1:])
    text: Lines = []

    def finish() -> None:
        markdown = "\n".join(line for _, line in text).strip()
        if markdown:
            parts.append(Text(next(number for number, line in text if line.strip()), markdown))
        text.clear()

    for number, line in rest:
        if not line.startswith(":::"):
            text.append((number, line))
            continue
        finish()
        body: Lines = []
        for inside in rest:
            if inside[1].strip() == ":::":
                break
            body.append(inside)
        else:
            raise LessonError(number, "this directive is not closed: a line “:::” ends it.")
        part = _directive(number, line, body)
        if any(isinstance(one, type(part)) for one in parts) and not isinstance(part, Question):
            raise LessonError(number, "a step has at most one page and one picture; begin another step.")
        parts.append(part)
    finish()
    return Step(lines[0][1][3:].strip(), tuple(parts))


def _directive(number: int, line: str, body: Lines) -> Part:
    try:
        kind, *words = shlex.split(line[3:])
    except ValueError:
        raise LessonError(number, "a directive begins with “:::controls”, “:::page” or “:::question”.") from None
    if kind not in _DIRECTIVES:
        raise LessonError(number, f"a directive is one of {', '.join(_DIRECTIVES)}, got {kind!r}.")
    if not words or "=" in words[0]:
        raise LessonError(number, f"“:::{kind}” needs a name after it.")
    return _DIRECTIVES[kind](number, words[0], words[1:], body)


def pairs(words: list[str], line: int) -> list[tuple[str, str]]:
    """``key=value`` words as pairs."""
    found = [word.partition("=") for word in words]
    for key, equals, value in found:
        if not (key and equals and value):
            raise LessonError(line, f"after the name stand pairs such as sigma=10, got {key + equals + value!r}.")
    return [(key, value) for key, _, value in found]


def arguments(words: list[str], line: int) -> dict[str, str]:
    """``key=value`` words as a dictionary; each key stands once."""
    found = pairs(words, line)
    if len(dict(found)) < len(found):
        raise LessonError(line, "a key stands here more than once.")
    return dict(found)


def _controls(number: int, name: str, words: list[str], body: Lines) -> Controls:
    return Controls(number, name, arguments(words, number), _joined(body))


def _page(number: int, name: str, words: list[str], body: Lines) -> OpenPage:
    names = [entry.name for entry in registry.PAGES if entry.name != "lessons"]
    if name not in (*names, *registry.FORMER):
        raise LessonError(number, f"there is no page {name!r}; the pages are {', '.join(names)}.")
    query: dict[str, list[str]] = {}
    for key, value in pairs(words, number):
        query.setdefault(key, []).append(value)
        if not key.startswith(tuple(f"{prefix}_" for prefix in registry.prefixes(name))):
            raise LessonError(number, f"the controls of the page {name} begin with {name}_, got {key!r}.")
    if former := registry.FORMER.get(name):
        name, query = former.name, query | {key: [value] for key, value in former.query.items()}
    task = _joined(body)
    if not task or NUMBER.search(task):
        raise LessonError(number, "a page needs a task between its lines, one or two sentences without {{…}}.")
    return OpenPage(number, name, query, task)


def _question(number: int, key: str, words: list[str], body: Lines) -> Question:
    if words or not NAME.fullmatch(key):
        raise LessonError(number, f"a question’s key is one word of small letters, digits and hyphens, got {key!r}.")
    body, replies = _replies(body)
    matches = [(place, match) for place, (_, line) in enumerate(body) if (match := _OPTION.fullmatch(line.strip()))]
    places = [place for place, _ in matches]
    if not 2 <= len(places) <= MOST_OPTIONS or places != list(range(places[0], places[-1] + 1)):
        sentence = f"a question has two to {MOST_OPTIONS} options, one below the other, each a line “* …”, got"
        raise LessonError(number, f"{sentence} {len(places)}.")
    before = body[: places[0]]
    answers = [(line, text.partition(":")[2].strip()) for line, text in before if text.startswith("answer:")]
    ticked = [place for place, (_, match) in enumerate(matches) if match["tick"] == "x"]
    if len(answers) + len(ticked) != 1:
        raise LessonError(number, "one option is ticked, “* [x] …”, or one line “answer: …” computes which is right.")
    asked = _joined([(line, text) for line, text in before if not text.startswith("answer:")])
    if not asked:
        raise LessonError(number, "there is no question before the options.")
    options = tuple(match["text"].strip() for _, match in matches)
    if len(set(options)) < len(options):
        raise LessonError(number, "two options say the same.")
    reason = "\n".join(text for _, text in body[places[-1] + 1 :]).strip()
    correct = ticked[0] if ticked else None
    return Question(number, key, asked, options, correct, answers[0][1] if answers else "", reason, replies)


def _replies(body: Lines) -> tuple[Lines, tuple[str, ...]]:
    """The lines without those that are indented under an option, and these for each option: why it is wrong."""
    rest: Lines = []
    replies: list[str] = []
    for line, text in body:
        if replies and text.startswith("  ") and _OPTION.fullmatch(rest[-1][1].strip()):
            replies[-1] = f"{replies[-1]} {text.strip()}".strip()
            continue
        rest.append((line, text))
        if _OPTION.fullmatch(text.strip()):
            replies.append("")
    return rest, tuple(replies)


_DIRECTIVES: dict[str, Callable[[int, str, list[str], Lines], Part]] = {
    "controls": _controls,
    "page": _page,
    "question": _question,
}


def _joined(body: Lines) -> str:
    return "\n".join(line for _, line in body).strip()
