"""Every picture of every page, at the setting that its controls begin with."""

import contextlib
import dataclasses
import importlib
import inspect
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
import pandas as pd
import pytest

from pages.lessons.computed import value_of
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
CHEAP = [view for view in VIEWS if view.id not in DEAR | LIVE]


def moved_to(now: View, places: Callable[[Sequence, object], Iterable]) -> Iterator[View]:
    """The view with one control at another of its options, each control in turn, where the picture has results."""
    for name, control in {**now.controls, **now.switches}.items():
        here = getattr(now, name, None)
        options = [one for one in getattr(control, "options", ()) if type(one) is type(here)]
        for value in places(options, here):
            there = dataclasses.replace(now, **{name: value})
            if not isinstance(there, StoredView) or there.stored():
                yield there


@pytest.mark.slow
@pytest.mark.parametrize("view", CHEAP)
def test_at_either_end_of_every_control_it_is_refused_or_answers_in_few_words_and_is_drawn(view):
    for there in moved_to(at_first(view), lambda options, _: {*options[:1], *options[-1:]}):
        with contextlib.suppress(ValueError):
            answer, chart = there.answer(), there.chart(None)
            assert 0 < words_of(answer) <= 18, answer
            assert not re.search(r"nan\b|∞", answer), answer
            for axis in (chart.layout.xaxis, chart.layout.yaxis):
                assert axis.range is None or np.isfinite([*map(float, axis.range)]).all()


WAYS = {"rises": operator.gt, "falls": operator.lt, "more": operator.gt, "fewer": operator.lt}
COURSE = r"(rises|falls|more|fewer) (?:from|visits,) (\S+).*? (?:to|→) ([^\s;,]*[^\s;,.])"


def numbers_of(view: View) -> set[str]:
    """The numbers that a view says."""
    parts = [view.answer(), view.promise(), view.shows(), view.note(), *view.remarks(), *map(str, view.table())]
    return set(re.findall(r"[\d⁻⁰¹²³⁴⁵⁶⁷⁸⁹×.]*[\d⁰¹²³⁴⁵⁶⁷⁸⁹]", " ".join(parts)))


@pytest.mark.slow
@pytest.mark.parametrize("view", CHEAP)
def test_why_it_moved_names_the_change_and_tells_its_numbers_before_and_after(view):
    now, told = at_first(view), []
    for there in moved_to(now, lambda options, here: [one for one in options if one != here][::5]):
        remembers = hasattr(now, "was")  # the view before
        there = dataclasses.replace(there, was=now) if remembers else there
        with contextlib.suppress(ValueError):
            told.append(there.moved(None if remembers else now))
            assert ": " in told[-1] or told[-1] == ""
            for way, before, after in re.findall(COURSE, told[-1]):
                values = value_of(after), value_of(before)
                assert None in values or WAYS[way](*values), told[-1]
                assert after in numbers_of(there) or before not in numbers_of(there) - numbers_of(now), told[-1]
            for same in re.findall(r"stays at ([^\s;,]*[^\s;,.])", told[-1]):
                assert (same in numbers_of(there)) == (same in numbers_of(now)), told[-1]
    assert any(told) or not view.named


RAISED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
NOT_SHOWN = {"home": 5, "losses_fit": 4, "quadratic": 1, "renyi": 3, "tuning": 1, "tuning_search": 1}
"""How many of the numbers that its lines of Python print a picture does not show: a certificate's, say."""


def sizes_of(text: str) -> list[float]:
    """The sizes of the numbers in a text, 1.3×10⁻⁵ as well as 1.3e-5."""
    text = text.replace("\xa0", " ").replace(",", "")
    text = re.sub(r"(\d+(?:\.\d+)?) ?× ?10([⁻⁰-⁹¹²³]+)", lambda found: f"{found[1]}e{found[2].translate(RAISED)}", text)
    text = re.sub(r"\b10([⁻⁰-⁹¹²³]+)", lambda found: f"1e{found[1].translate(RAISED)}", text)
    return [float(number) for number in re.findall(r"\d+(?:\.\d*)?(?:e[-+]?\d+)?", text)]


def shown_by(view: View) -> np.ndarray:
    """The sizes of all numbers that a view says or has in its file; a percentage also as a share."""
    cells = [str(cell) for row in view.table() for cell in row.values()]
    told = sizes_of(" ".join([view.answer(), view.promise(), view.shows(), view.note(), *view.remarks(), *cells]))
    numbers = pd.to_numeric(view.frame().to_numpy().ravel(), errors="coerce")
    return np.abs(np.concatenate([numbers.astype(float), told, np.divide(told, 100)]))


def not_shown(view: View) -> list[str]:
    """What its lines of Python print with a decimal point and the view neither says nor has in its file."""
    shown, printed = shown_by(view), execute(view.code())[1]
    numbers = re.findall(r"(?<![\w.])\d+\.\d*(?:e[-+]?\d+)?", printed)
    return [size for size in numbers if not np.isclose(shown, float(size), rtol=1e-2, atol=1e-12).any()]


@pytest.mark.thorough
@pytest.mark.parametrize("view", VIEWS)
def test_its_lines_of_python_are_whole_and_print_what_is_shown(view):
    now = at_first(view)
    code = now.code()
    assert re.findall(r"(?<![\w.])[A-Z][A-Z_]+\b", re.sub(r"(['\"]).*?\1", "", code)) == []
    if code:
        assert execute(code)[1]
        assert len(not_shown(now)) <= NOT_SHOWN.get(view.name, 0)


OF_THEIR_OWN = {"bounds", "home", "lessons_bet", "lessons_group", "losses_fit", "losses_loss", "planner", "ptr_gamma"}
"""Pictures whose lines print more than is shown at some ends; most have a test of their own."""


@pytest.mark.slow
@pytest.mark.parametrize("view", [view for view in CHEAP if view.id not in {*OF_THEIR_OWN, *NOT_SHOWN}])
def test_its_lines_of_python_follow_every_control(view):
    for there in moved_to(at_first(view), lambda options, _: {*options[:1], *options[-1:]}):
        with contextlib.suppress(ValueError):
            there.answer()
            assert not there.code() or not not_shown(there), there
