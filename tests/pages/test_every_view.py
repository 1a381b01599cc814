"""Every picture of every page, at the setting that its controls begin with."""

import contextlib
import dataclasses
import importlib
import inspect
import re

import pytest

from tests.pages.apps import execute, words_of
from ui.registry import ROOMS
from ui.stored_view import StoredView
from ui.view import View


def all_views() -> list[type[View]]:
    """Every view that can be drawn; a page draws when it is imported, and lines of Python have placeholders."""
    for path in sorted(ROOMS.glob("*/*.py")):
        if path.stem not in ("page", "snippets"):
            importlib.import_module(f"pages.{path.parent.name}.{path.stem}")
    found, left = [], [View]
    while left:
        left += (view := left.pop()).__subclasses__()
        found += [] if inspect.isabstract(view) else [view]
    return sorted(found, key=lambda view: view.name)


def at_first(view: type[View]) -> View:
    """The view at its controls' defaults: outside of a session they are at nothing else."""
    return view.now()


VIEWS = [pytest.param(view, id=view.name) for view in all_views()]


@pytest.mark.thorough
@pytest.mark.parametrize("view", VIEWS)
def test_a_view_answers_in_few_words_and_shows_its_numbers(view):
    now = at_first(view)
    assert 0 < words_of(now.answer()) <= 18
    assert now.alt().startswith(now.answer()) == now.answers_in_alt
    assert now.alt().endswith(now.shows())
    assert now.promise()
    assert not now.frame().empty
    assert now.chart(None).data
    assert now.moved(None) == "" == now.moved(now)


DEAR = {"tuning", "tuning_search", "sure_repeats", "renyi"}
LIVE = {"population"}  # draws rows where nothing is stored


@pytest.mark.slow
@pytest.mark.parametrize("view", [view for view in VIEWS if view.id not in DEAR | LIVE])
def test_it_answers_in_few_words_at_either_end_of_every_control(view):
    """Where it is not refused, and where the picture has results."""
    now = at_first(view)
    for name, control in {**view.controls, **view.switches}.items():
        options = [one for one in getattr(control, "options", ()) if type(one) is type(getattr(now, name, None))]
        for value in {*options[:1], *options[-1:]}:
            there = dataclasses.replace(now, **{name: value})
            if isinstance(there, StoredView) and not there.stored():
                continue
            with contextlib.suppress(ValueError):
                assert 0 < words_of(there.answer()) <= 18, there.answer()


@pytest.mark.slow
@pytest.mark.parametrize("view", VIEWS)
def test_its_lines_of_python_are_whole_and_run(view):
    code = at_first(view).code()
    assert re.findall(r"(?<![\w.])[A-Z][A-Z_]+\b", re.sub(r"(['\"]).*?\1", "", code)) == []
    assert not code or execute(code)[1]
