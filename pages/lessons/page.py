"""Lessons: Markdown files whose steps show small pictures, open other pages at exact controls, and ask."""

from contextlib import suppress
from dataclasses import replace

import streamlit as st
from streamlit.errors import StreamlitPageNotFoundError

from pages.lessons import computed, place, scenes
from ui import page, registry, share, slides, style
from ui.lesson_text import Controls, Lesson, OpenPage, Part, Question, Text
from ui.lessons import Place
from ui.worksheet import Sheet, Task, worksheet

# Links to the page that is open look as if they had the focus already.
STYLE = """
.st-key-lessons_open a { border: 1px solid currentColor; padding: .4rem 1rem; border-radius: .5rem; }
[data-testid=stPageLink] a:focus-visible { outline: 3px solid currentColor; outline-offset: -3px; }
.stMain [data-testid=stMarkdown] :is(p, ul, ol) { max-width: 52rem; }
[class*="__deck"] { background: light-dark(#ffffff, #171614); border-radius: .5rem; }
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
def stage(at: Place, part: Controls) -> None:
    """A picture and its sliders."""
    left, panel = page.columns()
    with page.errors():
        scene = scenes.scene(part)
        controls = scene.placed(at.step, part)
        with panel:
            values = {name: control.show() for name, control in controls.items()}
            tools(at, tuple(controls.values()))
        view = scene(**values)
        picture = page.Picture(view.chart(None), view.alt(), view.frame, f"{at.lesson.title}: {part.picture}")
        with left:
            page.answer(view.answer(), promise=view.promise())
            page.show(picture, key=scene.name)
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
            if part.task:
                st.markdown(f"**Push.** {part.task}")
            stage(at, part)
        case OpenPage():
            lead_to(at, part)
        case Question():
            ask(at.lesson, part)
        case Text():
            with page.errors():
                st.markdown(computed.filled(part.markdown, part.line))


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


def desk(at: Place) -> None:
    """A step with everything around it."""
    step = at.lesson.steps[at.step - 1]
    st.header(f"{at.step}. {step.title}", anchor=False)
    for part in step.parts:
        show(at, part)
    place.onward(at)
    if step.controls is None:
        tools(at)
    page.about("lessons")
    place.others(at)


def run() -> None:
    at = place.here()
    page.title(at.lesson.title, f"{at.lesson.lead} *{at.lesson.minutes} minutes, {len(at.lesson.steps)} steps.*")
    if not style.embedded():
        place.row(at)  # before what scrolls to its button
    st.html(f"<style>{STYLE}</style>{place.to_the_top(at)}", unsafe_allow_javascript=True)
    if style.embedded():
        slide(at)
    else:
        desk(at)


run()
