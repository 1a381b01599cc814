"""A page's predictions, and its worksheet: one or two sheets of A4 to print, as an HTML file that asks no other host.

    sheet = Sheet("Bounds", "How much privacy does one fit cost?", lead, link, (prediction,), tasks)
    worksheet(sheet)                   # for the class
    worksheet(sheet, answers=True)     # for the teacher: the same, and a page with the answers

Texts are Markdown as the pages write it: paragraphs, **bold**, *italic*, `code` and $x_1$.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from string import Template
from typing import Self

from ui import registry, sentences
from ui.qr import qr_svg

_FRAME = Path(__file__).with_suffix(".html")

# What opens stands before a word and what closes stands after one: the star of θ* is a star.
_MARKUP = (
    (re.compile(r"`(.+?)`"), r"<code>\1</code>"),
    (re.compile(r"\*\*(?=\S)(.+?)(?<=\S)\*\*"), r"<strong>\1</strong>"),
    (re.compile(r"(?<!\w)\*(?=\S)(.+?)(?<=\S)\*(?!\w)"), r"<em>\1</em>"),
    (re.compile(r"\$(.+?)\$"), r"<em>\1</em>"),
    (re.compile(r"(?<=<em>)(\w)_(\w)(?=</em>)"), r"\1<sub>\2</sub>"),
)


@dataclass(frozen=True)
class Prediction:
    """A question that is asked before its answer is shown."""

    title: str  # on the closed box, after "Try it: "
    question: str
    options: tuple[str, ...]
    correct: int  # which option is right
    reason: str = ""  # why, as Markdown; shown under the picture
    draw: Callable[[], None] | None = None  # draws what reveals the answer; called once the right option was chosen
    replies: tuple[str, ...] = ()  # why each option is wrong; empty for the right one

    @classmethod
    def of(cls, name: str, draw: Callable[[], None] | None = None, *, text: str = "try") -> Self:
        """The one in the ``try.md`` of the page `name`, or in another `text`: title, question, options, reason."""
        text = (registry.ROOMS / name / f"{text}.md").read_text(encoding="utf-8")
        parts = re.split(r"\n+(?=\* )|\n{2,}", text.removeprefix("# ").strip())
        title, question, *rest = (part.replace("\n  ", "\t").replace("\n", " ") for part in parts)
        options = [part for part in rest if part.startswith("* ")]
        reason = "\n\n".join(rest[len(options) :])
        correct = [option.startswith("* [x] ") for option in options].index(True)
        texts, replies = zip(*(option[len("* [x] ") :].partition("\t")[::2] for option in options), strict=True)
        return cls(title, question, texts, correct, reason, draw, replies)


@dataclass(frozen=True)
class Task:
    """Something to press, and what it shows: a preset's name and its help."""

    press: str
    shows: str = ""


@dataclass(frozen=True)
class Sheet:
    """What stands on a worksheet."""

    title: str  # the page's name in the menu, its heading, and the introduction under it
    question: str
    lead: str
    link: str  # the whole address that shows this picture
    predictions: Sequence[Prediction] = ()  # what is asked before anybody looks
    tasks: Sequence[Task] = ()  # one row of the table each
    reading: str = ""  # the references


def worksheet(sheet: Sheet, *, answers: bool = False) -> bytes:
    """The sheet as an HTML file; with `answers`, which option is right and why stand on a page of their own."""
    filled = Template(_FRAME.read_text(encoding="utf-8")).substitute(
        title=escape(sheet.title),
        question=escape(sheet.question),
        lead=_inline(sheet.lead),
        link=escape(sheet.link),
        code=qr_svg(sheet.link),
        predictions="\n".join(_prediction(asked) for asked in sheet.predictions),
        tasks=_table(sheet.tasks) if sheet.tasks else "",
        reading=f"<footer>{_inline(sheet.reading)}</footer>" if sheet.reading else "",
        answers=_answers(sheet) if answers else "",
    )
    return filled.encode()


def _prediction(asked: Prediction) -> str:
    options = "".join(f"<li>{_inline(option)}</li>" for option in asked.options)
    return (
        f"<section><h2>Before you look: {_inline(asked.title)}</h2>{_paragraphs(asked.question)}<ul>{options}</ul>"
        '<div class="blank">Why?</div><div class="blank"></div></section>'
    )


def _table(tasks: Iterable[Task]) -> str:
    heads = "".join(f'<th scope="col">{head}</th>' for head in ("Press", "What I expect", "What I see", "Why"))
    rows = "".join(
        f'<tr><th scope="row">{_inline(task.press)}<small>{_inline(task.shows)}</small></th>{"<td></td>" * 3}</tr>'
        for task in tasks
    )
    return f"<h2>Press, and read off</h2><table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"


def _answers(sheet: Sheet) -> str:
    told = "".join(
        f"<h3>{_inline(asked.title)}</h3>{_paragraphs(asked.question)}"
        f"<p><strong>{_inline(asked.options[asked.correct])}</strong></p>{_paragraphs(asked.reason)}"
        for asked in sheet.predictions
    )
    return f'<section class="teacher"><p class="kind">{escape(sheet.title)}</p><h2>For the teacher</h2>{told}</section>'


def _paragraphs(text: str) -> str:
    return "".join(f"<p>{_inline(part)}</p>" for part in text.split("\n\n") if part)


def _inline(text: str) -> str:
    """Markdown of one paragraph as HTML; no line ends within "δ = 10⁻⁵"."""
    text = escape(sentences.unbroken(" ".join(text.split())), quote=False)
    for pattern, into in _MARKUP:
        text = pattern.sub(into, text)
    return text
