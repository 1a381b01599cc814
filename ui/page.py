"""The scaffolding of a page: title, stage, evidence, prediction, explanation, errors.

    page.begin("bounds", "…one line of introduction…")      # the question comes from `ui.registry`

    @st.fragment                       # controls and chart rerun together, without the rest of the page
    def explore():
        preset_buttons(PRESETS, prefix="bounds")
        left, panel = page.columns()
        with panel:                    # six controls in sight, the first three of them on a slide
            ...
            with page.tools(CONTROLS, PRESETS, name="bounds"):
                ...                    # the others, under "View"
        picture = page.Picture(figure, "…the take-away…", numbers)
        with left, page.errors():      # a ValueError becomes one sentence; the controls stay
            page.answer("One fit costs ε = …", promise=sentences.promise(…), why="σ 2.5 → 5: ε falls …")
            page.show(picture, key="bounds_chart")
        page.evidence(picture, rows, name="bounds", code=view.code())
    explore()
    page.predict(page.Prediction.of("bounds", revealed), key="bounds__try")     # pages/bounds/try.md
    page.about("bounds")               # pages/bounds/about.md

Importing this module also warms the process up once (`ui.warm`).
"""

import html
import logging
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import plotly.graph_objects as go
import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.errors import StreamlitPageNotFoundError

from ui import files, lessons, registry, room, sentences, share, slides, style
from ui.chart import larger, smaller
from ui.controls import Control, Preset, not_taken
from ui.files import Numbers
from ui.warm import warm_up
from ui.worksheet import Prediction, Sheet, Task, worksheet

warm_up()

MOST_TASKS = 8
"""Presets on a worksheet: more do not fit on two sheets of A4."""

_NOTE = "page__note"  # where the session keeps the place for what was not taken from the address
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Picture:
    """A figure, its take-away in words, and a function that makes the numbers in it."""

    figure: go.Figure
    alt: str  # what somebody who cannot see it should know
    numbers: Callable[[], Numbers] | None = None  # makes the plotted numbers, by column or by row
    title: str = ""  # stands over the figure in a file; `alt` unless given


def begin(name: str, lead: str) -> None:
    """The heading of the page `name`: its question, a line of introduction, the task of a lesson that led here."""
    title(registry.entry(name).question, lead)
    style.fill()
    lessons.strip(name)


def title(question: str, lead: str) -> None:
    """The shared style, and the page's question as its heading over a line of introduction; a slide shows neither."""
    style.apply(question)
    if style.embedded():
        st.html(f'<h1 class="slide-title">{html.escape(question)}</h1>')  # who does not see the slide hears what it is
    else:
        st.title(question, anchor=False)
        if lead:
            st.markdown(lead)
        st.session_state[_NOTE] = st.container(key="not_taken")
    room.strip()


def columns(part: str = "") -> tuple[DeltaGenerator, DeltaGenerator]:
    """The stage: the picture's place and the panel's beside it.

    The picture is the answer and one chart; a phone keeps it in sight, a slide shows nothing else. Further charts,
    notes and evidence stand below both. The panel's first controls are those that a slide shows; at most six are in
    sight, the others in `tools`.

    A page's second pair of columns names itself by `part`; it stands where it stands, on a phone and in a slide.
    """
    left, right = st.columns([2.6, 1], gap="medium")
    prefix = f"stage_{part}" if part else "stage_"
    return left.container(key=f"{prefix}_picture"), right.container(key=f"{prefix}_panel")


@contextmanager
def tools(controls: Sequence[Control], presets: Sequence[Preset] = (), *, name: str = "") -> Iterator[None]:
    """The panel's end: "View", which holds what is drawn inside this block and covers nothing, over "Share".

    with page.tools(CONTROLS, PRESETS, name="bounds"):
        FLOOR.show()
    """
    with st.container(key="stage__tools"):
        with st.expander("View", icon=":material/visibility:"):
            yield
        share.button(controls, partial(_worksheet, name, tuple(presets)) if name else None)


def _worksheet(name: str, presets: Sequence[Preset], link: str, answers: bool) -> bytes:
    """The printable sheet of the page `name`: its predictions, and its presets as tasks that do not tell the answer."""
    entry = registry.entry(name)
    predictions = (Prediction.of(name),) if (registry.ROOMS / name / "try.md").exists() else ()
    tasks = [Task(preset.name, preset.moved) for preset in presets[:MOST_TASKS]]
    reading = entry.about.rpartition("**Reference.**")[2].strip()
    return worksheet(Sheet(entry.title, entry.question, "", link, predictions, tasks, reading), answers=answers)


def answer(sentence: str, *, promise: str = "", why: str = "") -> None:
    """The answer in one large sentence of at most 18 words; a screen reader announces it when it changes.

    Under it the `promise`, whose accountant is seen by who opens it, and `why` ε moved since the setting before.
    """
    lines = f'<p class="answer-why">{_set(why)}</p>' if why else ""
    lines += _promise(promise) if promise else ""
    st.html(f'<div role="status" aria-live="polite"><p class="answer">{_set(sentence)}</p>{lines}</div>')


def _promise(promise: str) -> str:
    """ε, δ and who neighbours are; over whom that is the worst case, and by what proof, for who opens it."""
    parts = re.fullmatch(r"(.+?): (.+); accounted by (.+)", promise)
    if parts is None:
        return f'<p class="answer-line">{_set(promise)}</p>'
    case, short, accountant = map(_set, parts.groups())
    return f'<details class="answer-line"><summary>{short}</summary>{case}; accounted by {accountant}</details>'


def _set(line: str) -> str:
    """Text for HTML; no line ends within an equation or DP-SGD."""
    line = html.escape(sentences.unbroken(line))
    return line.replace("DP-SGD", '<span style="white-space: nowrap">DP-SGD</span>')


def choose(control: Control) -> Any:
    """What a control that chooses the picture is at; a slide keeps it out of sight, where the presets choose."""
    if style.embedded():
        keep(control)
        return control.value()
    return control.show()


def keep(*controls: Control) -> None:
    """Draw controls out of sight where there is nothing for them to move yet: an undrawn one loses its address."""
    with st.container(key=f"{controls[0].key}_unseen"):
        for control in controls:
            control.show()


def show(picture: Picture, *, key: str) -> None:
    """Show a picture with its alt text."""
    chart(picture.figure, key=key, alt=picture.alt)


def evidence(
    picture: Picture,
    rows: Sequence[Mapping[str, str]] = (),
    *,
    name: str,
    code: str = "",
    note: str = "",
    shown: Sequence[Mapping[str, str]] = (),
) -> None:
    """What stands under a picture: its table, its files, the lines of Python that give its numbers.

    The files are called `name`, with which the buttons' keys begin. A table that is `shown` elsewhere on the page is in
    the files only. `note` says what the lines print, unless it is the numbers on the screen.
    """
    if style.embedded():
        return
    if rows:
        table(rows, alt=picture.alt)
    if picture.numbers is not None:
        title, alt = picture.title or picture.alt, picture.alt
        files.of_picture(picture.numbers, picture.figure, rows or shown, name=name, title=title, alt=alt)
    elif rows:
        files.of_table(rows, name=name, alt=picture.alt)
    if code:
        reproduce(code, name=name, **({"note": note} if note else {}))


def chart(figure: go.Figure, *, key: str, alt: str) -> None:
    """Show a figure with its alt text.

    Without plotly's toolbar: it covers the legend on a phone and is seven stops for the Tab key; views are controls of
    the page, and `files` writes the file.
    """
    config = {"displayModeBar": False, "responsive": True}
    with st.container(key=f"{key}__chart"):  # the style sheet decides how high it is on a phone and in a slide
        fitted = larger(figure) if style.embedded() else smaller(figure) if style.on_phone() else figure
        st.plotly_chart(fitted, key=key, alt=alt, config=config)


download = files.download
"""A button for a file that is made when it is pressed: ``page.download(label, make, filename, icon)``."""


def table(rows: Sequence[Mapping[str, str]], *, alt: str | None = None, name: str = "") -> None:
    """A small table of texts, as real HTML rows that a screen reader walks through; wide ones scroll sideways.

    It has files where it has a `name`; a picture's own table is among the picture's files.
    """
    if not rows:
        return
    columns = list(dict.fromkeys(name for row in rows for name in row))
    heads = "".join(f'<th scope="col">{html.escape(name)}</th>' if name else "<td></td>" for name in columns)
    lines = ("".join(f"<td>{html.escape(str(row.get(name, '')))}</td>" for name in columns) for row in rows)
    body = "".join(f"<tr>{cells}</tr>" for cells in lines)
    label = html.escape(alt or "Numbers", quote=True)
    st.html(
        f'<div class="numbers" role="region" tabindex="0" aria-label="{label}"><table><thead><tr>{heads}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )
    if name:
        files.of_table(rows, name=name, alt=alt or "")


def verbatim(text: str) -> None:
    """A text as it is printed, whose lines wrap. For `st.code` a browser fetches a highlighter of 1.6 MB first."""
    st.html(f'<pre class="verbatim">{html.escape(text)}</pre>')


def reproduce(
    code: str, *, note: str = "These lines print the numbers on the screen. The screen rounds ε up.", name: str = "page"
) -> None:
    """The "Reproduce in Python" block; `name` tells several on one page apart. A slide has none."""
    if style.embedded():
        return
    block = st.expander("Reproduce in Python", icon=":material/code:", key=f"{name}_code", on_change="rerun")
    if block.open:
        with block:
            st.caption(
                f"{note} The lines need the package: run them in the project's folder, or install the package first."
            )
            st.code(code, language="python")


def try_it(question: str, options: Sequence[str], correct: str, *, key: str, replies: Sequence[str] = ()) -> bool:
    """Ask for a prediction; say whether it was right, and return True only once the right one was chosen.

    The caller draws what reveals the answer when this returns True. `replies` says for each option why it is wrong. A
    wrong choice does not reveal the answer: another one may be tried. The choice stays out of the address, so that a
    shared link does not give the answer away. In a class's room (`ui.room`) the prediction is counted, and the lecturer
    decides when the answer appears.
    """
    if correct not in options:
        raise ValueError(f"correct must be one of the options, got {correct!r}")
    poll = room.poll(question, options, key=key)
    guess = st.radio(sentences.unbroken(question), options, index=None, key=key)
    if poll is None and guess is None:
        st.caption("Choose first: the answer appears when your choice is right.")
        return False
    if poll is not None and not poll.show(guess, options.index(correct)):
        return False
    if guess == correct:
        st.success(f"Right: {correct}", icon=":material/check:")
    elif guess is not None:
        why = dict(zip(options, replies, strict=False)).get(guess, "")
        onward = f"The answer: {correct}" if poll else "Choose again."
        st.info(" ".join(filter(None, ("Not quite.", why, onward))), icon=":material/lightbulb:")
        return poll is not None
    return True


def predict(prediction: Prediction, *, key: str, on_slide: bool = True) -> None:
    """The "Try it" box, in a fragment of its own; `key` is the radio buttons'. A slide has one, behind "Ask"."""
    if not style.embedded():
        st.fragment(_predict)(prediction, key)
    elif on_slide:
        st.fragment(_ask)(prediction, key)


def _predict(prediction: Prediction, key: str) -> None:
    in_class = room.here() is not None
    box = st.container(key=f"{key}__question")
    with box, st.expander(f"Try it: {prediction.title}", expanded=in_class, icon=":material/psychology:"):
        right = prediction.options[prediction.correct]
        if not try_it(prediction.question, prediction.options, right, key=key, replies=prediction.replies):
            return
        if prediction.draw is not None:
            prediction.draw()
        if prediction.reason:
            st.markdown(prediction.reason)


def _ask(prediction: Prediction, key: str) -> None:
    slides.button(key)
    if not slides.asking():
        return
    with slides.sheet() as beside, st.container(border=True):
        answered = try_it(prediction.question, prediction.options, prediction.options[prediction.correct], key=key)
        if answered and prediction.reason:
            st.markdown(prediction.reason)
    with beside:
        if answered and prediction.draw is not None:
            prediction.draw()
        else:
            slides.code()


def about(name: str, **numbers: str) -> None:
    """The "What am I looking at?" section: the page's ``about.md``, which ends with its references.

    A word of the text that is given as a keyword is replaced by its value, as ``CONSTANT`` on the Accuracy page.
    """
    if style.embedded():
        return
    body = registry.entry(name).about
    for word, value in numbers.items():
        body = body.replace(word, value)
    st.fragment(_about)(body)
    _next_step(name)
    if (note := not_taken()) and (place := st.session_state.pop(_NOTE, None)):
        place.caption(note)


def _about(body: str) -> None:
    """Drawn once it is opened: its formulas cost a first visit as much as a picture."""
    block = st.expander("What am I looking at?", icon=":material/help:", key="about", on_change="rerun")
    if block.open:
        block.markdown(body)


def _next_step(name: str) -> None:
    """From a page of the path "Start here" to the one after it; Home has its cards, the last page leads nowhere."""
    for place, (step, after) in enumerate(pairwise(registry.START_HERE), start=2):
        if step.name == name != registry.START_HERE[0].name:
            other = registry.entry(after.name)
            label = f"**Next, step {place} of {len(registry.START_HERE)}: {other.headed}** {after.lesson}"
            with suppress(StreamlitPageNotFoundError):
                st.page_link(other.path, label=label, icon=other.icon, query_params=dict(after.query) or None)
    if name == registry.START_HERE[-1].name:
        st.markdown(f":material/flag: {registry.THE_END}")
        see_also("lessons")
        see_also("own")


def see_also(name: str, why: str = "") -> None:
    """A link to another page, "title: why"; nothing where a page's file runs by itself, without app.py's menu.

    Unless told why, the link says the question that the page answers.
    """
    if style.embedded():
        return
    other = registry.entry(name)
    with suppress(StreamlitPageNotFoundError):
        label = f"{other.title}: {why or other.question[0].lower() + other.question[1:]}"
        st.page_link(other.path, label=label, icon=other.icon)


@contextmanager
def errors() -> Iterator[None]:
    """Show a `ValueError` as one sentence where it happened; what was drawn before it stays."""
    try:
        yield
    except ValueError as error:
        _log.info("refused: %s", error)
        st.error(sentences.sentence(str(error)), icon=":material/error:")
