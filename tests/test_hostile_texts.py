"""Readers of strangers' texts take time in proportion to the text: steps are counted at two sizes, no clock is read.

A step is a look of a regular expression at a place, or a line of Python.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import objpert_core
from objpert_core import tables
from objpert_core.accounting import ledger, ledger_file
from objpert_core.datasets import Categories, Dialect, Number, TableSchema, TwoValues, look_at, read_table
from objpert_core.datasets.tables import decoding, messages, numerals, sheet
from objpert_core.estimators import own_table
from objpert_core.learning import PrivacyCertificate
from tests.regular_steps import Counted, CountedModule
from ui import lesson_text, votes

MODULES = (tables, decoding, messages, numerals, sheet, ledger, lesson_text, votes)
FOLDERS = tuple(str(Path(module.__file__ or "").parent) for module in (objpert_core, votes))
SCHEMA = TableSchema(
    {"a": Number(0, 1, missing=0.5), "b": Categories(["x", "y"], other=True)},
    TwoValues("c", negative="n", positive="p"),
)
SEMICOLONS = Dialect(delimiter=";", decimal=",", thousands=".")

READERS: dict[str, Callable[[str], object]] = {
    "a table's header": lambda text: look_at(text.encode()),
    "a table's rows": lambda text: look_at(b"a,b\n" + text.encode()),
    "a table's cells": lambda text: read_table(b"a,b,c\n0,x,n\n" + text.encode() + b",x,p\n", SCHEMA),
    "a table with semicolons": lambda text: read_table(b"a;b;c\n" + text.encode() + b";x;p\n", SCHEMA, SEMICOLONS),
    "a name to be shown": lambda text: messages.safe_text(text, len(text)),
    "a cell to be written": lambda text: tables.write([{"a": text}], "csv"),
    "a schema": TableSchema.from_json,
    "a schema's names": lambda text: TableSchema.from_json(SCHEMA.to_json().replace('"x"', json.dumps(text))),
    "a model": own_table.read_model,
    "a certificate": PrivacyCertificate.from_json,
    "a ledger": ledger.parse,
    "a ledger's file": ledger_file.read,
    "a ledger's rows": lambda text: ledger_file.read("entry,delta\n" + text),
    "a lesson": lambda text: lesson_text.parse(text, "name"),
    "a lesson's step": lambda text: lesson_text.parse(f"# A\n## B\n{text}\n", "name"),
    "a lesson's task": lambda text: lesson_text.parse(f"# A\n## B\n:::page bounds\n{text}\n:::\n", "name"),
    "a vote": lambda text: votes.Question.of("key", text, ["yes", "no"]),
}
PIECES = [*" \",;\t|\n1.-+e=@x_:/{}[*\\é%'", '""', "123", "E5", "_a", "www.", "* ", "* [x] a\n", "## "]
PIECES += [":::page bounds\n", ":::\n", "fit:8,10,1"]
KNOWN = [  # reader, before, again and again, behind
    ("a table's rows", "", " ", '"x"y'),
    ("a table's rows", '"', '""', "x"),
    ("a table's rows", "x,", " ,", '"'),
    ("a table's header", "a,b", " ", '"x"y'),
    ("a table's header", "", ',"', ""),
    ("a table's header", "", ', "', ""),
    ("a table's cells", "", "123", "x"),
    ("a table's cells", "1-2-3T", "1", "\n"),
    ("a table with semicolons", "1", ".123", "x"),
    ("a table with semicolons", "1", " 123", ",x"),
    ("a name to be shown", "", "www", "."),
    ("a name to be shown", "", ":_", ""),
    ("a ledger", "fit*", "1", ":"),
    ("a lesson's task", "", "{{a ", ""),
    ("a lesson's task", "{{", " ", "a"),
]


@pytest.fixture(scope="module")
def steps() -> Iterator[Callable[[Callable[[str], object], str], int]]:
    """Counts the steps of a reader on a text."""
    total = [0]

    def count(more: int) -> None:
        total[0] += more

    def trace(frame: Any, event: str, argument: object) -> Any:
        if not frame.f_code.co_filename.startswith(FOLDERS):
            return None
        total[0] += event == "line"
        return trace

    def counted(read: Callable[[str], object], text: str) -> int:
        before, total[0] = sys.gettrace(), 0
        sys.settrace(trace)
        try:
            with suppress(ValueError):
                read(text)
        finally:
            sys.settrace(before)
        return total[0]

    with pytest.MonkeyPatch.context() as patch:
        for module in MODULES:
            _count_in(module, count, patch)
        yield counted


def _count_in(module: ModuleType, count: Callable[[int], None], patch: pytest.MonkeyPatch) -> None:
    for name, value in vars(module).copy().items():
        if value is re:  # for what is compiled where it is needed
            patch.setattr(module, name, CountedModule(count))
        elif isinstance(value, re.Pattern) and isinstance(value.pattern, str):
            patch.setattr(module, name, Counted(value, count))
        elif isinstance(value, dict):
            for key, one in value.items():
                if isinstance(one, re.Pattern):
                    patch.setitem(value, key, Counted(one, count))


def refuse_more_than_linear(steps: Any, reader: str, before: str, again: str, behind: str) -> None:
    texts = [before + again * size + behind for size in (60, 120)]
    few, many = (steps(READERS[reader], text) for text in texts)
    assert many <= 1000 + max(2.5 * few, 40 * len(texts[1])), (
        reader,
        few,
        many,
    )  # the shorter one may be refused early


@pytest.mark.thorough
@pytest.mark.parametrize(("reader", "before", "again", "behind"), KNOWN)
def test_a_hostile_text_is_read_in_steps_that_grow_like_its_length(
    steps: Any, reader: str, before: str, again: str, behind: str
) -> None:
    refuse_more_than_linear(steps, reader, before, again, behind)


pieces = st.sampled_from(PIECES)


def some(most: int) -> st.SearchStrategy[str]:
    return st.lists(pieces, min_size=1, max_size=most).map("".join)


@pytest.mark.slow
@pytest.mark.parametrize("reader", READERS)
@settings(max_examples=30)
@given(before=some(3), again=some(3), behind=some(3))
def test_no_text_takes_more_steps_than_its_length_allows(
    steps: Any, reader: str, before: str, again: str, behind: str
) -> None:
    refuse_more_than_linear(steps, reader, before, again, behind)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("pattern", "text"),
    [(r" *(?:\"x|(?!\").*),", " " * 300 + '"xy'), (r"(a|aa)*$", "a" * 12 + "b"), (r"\d*\d*x", "1" * 300)],
)
def test_the_counter_sees_what_is_more_than_linear(pattern: str, text: str) -> None:
    found: list[int] = []
    counted = Counted(re.compile(pattern), found.append)
    assert counted.match(text) is None
    assert found[0] > 20 * len(text)
