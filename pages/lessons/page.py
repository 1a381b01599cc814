"""Lessons: Markdown files whose steps show small pictures, open other pages at exact controls, and ask."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import streamlit as st
from streamlit.errors import StreamlitPageNotFoundError

from pages.lessons import computed, place, survey
from ui import page, registry, sentences, share, slides, style
from ui.lesson_text import Controls, Lesson, OpenPage, Part, Question, Text
from ui.lessons import Place
from ui.worksheet import Sheet, Task, worksheet

# Links to the page that is open look as if they had the focus already.
STYLE = """
h1 { font-size: 1.9rem !important; padding: .4rem 0 .25rem 0 !important; }
.st-key-lessons_open a { color: inherit; border: 1px solid currentColor; padding: .4rem 1rem; border-radius: .5rem; }
[data-testid=stPageLink] a:focus-visible { outline: 3px solid currentColor; outline-offset: -3px; }
.stMain [data-testid=stMarkdown] :is(p, ul, ol) { max-width: 52rem; }
[class*="__deck"] { background: light-dark(#ffffff, #171614); border-radius: .5rem; }
[class*="lesson_"][class*="__question"] { gap: .5rem; }
"""

# Beside the picture what it shows and its sliders, under it the question: all in one window.
TOGETHER = """
@media (min-width: 900px) {
  .st-key-lesson_together { display: grid; grid-template: auto 1fr auto / 1fr 1.7fr; gap: .5rem 2rem;
    min-height: calc(100vh - 5rem); }
  .st-key-lesson_together :has([data-testid=stColumn] .st-key-stage__picture) { display: contents; }
  .st-key-lesson_together > *, .st-key-lesson_together :has(> .st-key-lesson_files) { grid-column: 1 / -1; }
  .st-key-lesson_together > :has(h2) { grid-area: 1 / 1; }
  .st-key-lesson_together > :has([class*="__question"]) { grid-area: 3 / 2; }
  .st-key-lesson_together [data-testid=stColumn]:has(.st-key-stage__panel) { grid-area: 2 / 1 / 4; width: auto; }
  .st-key-lesson_together [data-testid=stColumn]:has(.st-key-stage__picture) { grid-area: 1 / 2 / 3; width: auto;
    position: relative !important; top: 0 !important; align-self: stretch !important; min-height: 19rem; }
  .st-key-lesson_together .st-key-stage__picture { position: absolute; inset: 0; height: auto !important; gap: .25rem; }
  .st-key-lesson_together .st-key-stage__picture > :has([class*="__chart"]) { min-height: 10rem !important; }
}
@media (min-width: 900px) and (max-height: 799px) {
  .st-key-lesson_together [role=radiogroup] { display: grid; grid-template-columns: 1fr 1fr; gap: 0 1rem; }
  .st-key-lesson_together .answer { font-size: 1.25rem; }
}
"""


def sheet(lesson: Lesson, link: str, answers: bool) -> bytes:
    """The lesson's questions and tasks, to print."""
    asked = [
        replace(computed.prediction(question), title=step.title) for step in lesson.steps for question in step.questions
    ]
    tasks = [
        Task(f"{registry.entry(step.page.name).title}: {step.title}", step.page.task)
        for step in lesson.steps
        if step.page
    ]
    return worksheet(Sheet("Lesson", lesson.title, lesson.lead, link, asked, tasks), answers=answers)


def tools(at: Place, controls: tuple[place.Control, ...] = ()) -> None:
    """The button "Share", where a page's stage has it."""
    with st.container(horizontal=True, key="stage__tools"):
        share.button((*place.LINKED, *controls), lambda link, answers: sheet(at.lesson, link, answers))


@st.fragment
def stage(at: Place, part: Controls, before: Sequence[Part] = (), after: Sequence[Part] = ()) -> None:
    """A picture; beside it what leads to it, its sliders, and what follows from it."""
    left, panel = page.columns()
    with panel:
        for text in before:
            show(at, text)
    with page.errors():
        scene = survey.scene(part)
        controls = scene.placed(at.step, part)
        with panel:
            values = {name: control.show() for name, control in controls.items()}
            for text in after:
                show(at, text)
            tools(at, tuple(controls.values()))
        view = scene(**values)
        picture = page.Picture(view.chart(None), view.alt(), view.numbers, f"{at.lesson.title}: {part.picture}")
        with left:
            page.answer(view.answer(), promise=view.promise())
            page.show(picture, key=scene.name)
        with st.container(key="lesson_files"):
            page.evidence(picture, name="lessons", code=view.code())


@st.fragment
def ask(lesson: Lesson, question: Question) -> None:
    """A question; the session remembers the answer while other pages are seen."""
    key = f"lesson_{lesson.name}_{question.key}"
    with page.errors(), st.container(border=True, key=f"{key}__question"):
        prediction = computed.prediction(question)
        if key not in st.session_state and f"{key}__said" in st.session_state:
            st.session_state[key] = st.session_state[f"{key}__said"]
        right = prediction.options[prediction.correct]
        answered = page.try_it(prediction.question, prediction.options, right, key=key, replies=prediction.replies)
        st.session_state[f"{key}__said"] = st.session_state.get(key)
        if answered:
            st.markdown(prediction.reason)


def lead_to(at: Place, part: OpenPage) -> None:
    """The link that opens another page at this step's controls."""
    entry = registry.entry(part.name)
    with st.container(border=True, key="lessons_open"):
        st.markdown(part.task)
        with suppress(StreamlitPageNotFoundError):  # the page's file runs by itself, without app.py's menu
            st.page_link(
                entry.path, label=f"**Open {entry.title}**", icon=entry.icon, query_params={**part.query, **at.query}
            )


def show(at: Place, part: Part) -> None:
    """One part of a step."""
    match part:
        case Controls():
            stage(at, part)
        case OpenPage():
            lead_to(at, part)
        case Question():
            ask(at.lesson, part)
        case Text():
            with page.errors():
                st.markdown(sentences.unbroken(computed.filled(part.markdown, part.line)))


def slide(at: Place) -> None:
    """A step as a slide: its picture, or its questions; all of it where there is no picture."""
    place.deck(at)
    step = at.lesson.steps[at.step - 1]
    if step.controls and not slides.asking():
        stage(at, step.controls)
        return
    with slides.sheet() as beside:
        st.header(step.title, anchor=False)
        for part in step.questions if step.controls else step.parts:
            show(at, part)
    with beside:
        slides.code()


def together(at: Place, before: Sequence[Part], picture: Controls, after: Sequence[Part]) -> None:
    """A picture with what leads to it, and with what follows up to its question; the rest of the step is below."""
    asked = next((number for number, part in enumerate(after) if isinstance(part, Question)), None)
    first = 0 if asked is None else asked + 1
    push = [Text(picture.line, picture.task)] if picture.task else []
    with st.container(key="lesson_together"):
        heading(at)
        stage(at, picture, [*before, *push], after[: max(first - 1, 0)])
        for part in after[:first][-1:]:
            show(at, part)
    for part in after[first:]:
        show(at, part)


def heading(at: Place) -> None:
    """The step's name."""
    st.header(f"{at.step}. {at.lesson.steps[at.step - 1].title}", anchor=False)


def desk(at: Place) -> None:
    """A step with everything around it."""
    step = at.lesson.steps[at.step - 1]
    if step.controls:
        number = step.parts.index(step.controls)
        together(at, step.parts[:number], step.controls, step.parts[number + 1 :])
    else:
        heading(at)
        for part in step.parts:
            show(at, part)
    place.onward(at)
    if step.controls is None:
        tools(at)
    place.broken()
    page.about("lessons")


def run() -> None:
    at = place.here()
    page.title(at.lesson.title, "")
    if not style.embedded():
        place.row(at)  # before what scrolls to its button
        style.fill()
    look = STYLE if style.embedded() else STYLE + TOGETHER
    st.html(f"<style>{look}</style>{place.to_the_top(at)}", unsafe_allow_javascript=True)
    if style.embedded():
        slide(at)
    else:
        desk(at)


run()
