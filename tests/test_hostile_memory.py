"""Readers of strangers' files take memory in proportion to the file: peaks are measured at moderate sizes."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest

from objpert_core.accounting import ledger_file, read_dp_events
from objpert_core.accounting.mechanisms import events
from objpert_core.datasets import Number, TableSchema, TwoValues, look_at, read_table
from objpert_core.datasets.tables.reading import read_features
from objpert_core.estimators import own_table
from objpert_core.learning import PrivacyCertificate
from ui import lesson_text

TIMES, MORE = 100, 100_000
"""A peak is at most so many times the file, and so many bytes."""
LENGTH = 60_000
SCHEMA = TableSchema({"a": Number(0, 1), "b": Number(0, 1)}, TwoValues("c", negative="n", positive="p"))
ROWS = b"a,b,c\n0.5,0.25,n\n1,0,p\n"


@pytest.fixture(scope="module")
def release() -> own_table.Made:
    return own_table.made(own_table.Ask(SCHEMA.to_json(), 1.0, 1e-5, rows=20), ROWS + b"0,0,n\n" * 18)


READERS: dict[str, Callable[[str], object]] = {
    "model": own_table.read_model,
    "certificate": lambda text: PrivacyCertificate.from_json(text).verify(),
    "schema": TableSchema.from_json,
    "ledger": ledger_file.read,
    "events": read_dp_events,
    "sketch": lambda text: look_at(text.encode()),
    "table": lambda text: read_table(text.encode(), SCHEMA),
    "features": lambda text: read_features(text.encode(), SCHEMA),
    "lesson": lambda text: lesson_text.parse(text, "name"),
}
_FEW = 2_500
VALUES: dict[str, Any] = {  # what a field of a document may hold
    "a long text among numbers": [0.5] * _FEW + ["x" * (LENGTH // 2)],
    "a long text among rows": [[0.5] * _FEW + ["x" * (LENGTH // 2)]],
    "rows of other lengths": [[1.0] * _FEW, *[[]] * _FEW],
    "one long row beside short ones": [[1] * 5_000] + [[1]] * 5_000,
    "lists": [[]] * 15_000,
    "objects": [{}] * 15_000,
    "objects of one": [{"": 0}] * 8_000,
    "keys": {str(place): place for place in range(5_000)},
    "a long whole number": [10**4_000] * 12,
    "depth": json.loads("[" * 300 + "]" * 300),
    "a text": "x" * LENGTH,
    "texts": ["x"] * 15_000,
    "no ASCII": "\U0001f600" * 5_000,
}
TEXTS = {  # what is no document
    "a wide header above short rows": ",".join(f"{place:x}" for place in range(6_000)) + "\n" + "1\n" * 15_000,
    "a ledger's wide header": "entry," + ",".join(f"{place:x}" for place in range(6_000)) + "\n" + "1\n" * 15_000,
    "many columns": "a," * 30_000 + "\n",
    "few long cells": "a,b,c\n" + ",".join(["1" * 20_000] * 3) + "\n",
    "one long cell among short ones": "a,b,c\n1," + "1" * 30_000 + ",p\n" + "0,0,n\n" * 5_000,
    "rows": ROWS.decode() + "0,0,n\n" * 10_000,
    "empty cells": ",,\n" * 20_000,
    "quotation marks": "a,b,c\n" + '"' * LENGTH,
    "blank lines": "a,b,c\n" + "\n" * LENGTH,
    "wide letters": "a,b,c\n" + "\U0001f600" * 15_000,
    "steps": "# A\n" + "## B\n" * 12_000,
    "directives": "# A\n## B\n" + ":::\n" * 15_000,
    "entries": "gauss:1,1;" * 6_000,
}


def peak(read: Callable[[str], object], text: str) -> int:
    tracemalloc.start()
    try:
        with suppress(ValueError):
            read(text)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def is_bounded(read: Callable[[str], object], text: str) -> bool:
    """Whether a peak stays within the bound; another thread, or what is loaded once, may spoil a measurement or two."""
    return any(peak(read, text) <= TIMES * len(text) + MORE for _ in range(3))


def documents(release: own_table.Made) -> dict[str, dict[str, Any]]:
    """A document of every kind."""
    event = ["dp_accounting.dp_event", "GaussianDpEvent", 4.0]
    return {
        "model": json.loads(own_table.model_json(release)),
        "certificate": release.model.privacy_.to_dict(),
        "schema": json.loads(SCHEMA.to_json()),
        "ledger": {"format": ledger_file.FORMAT, "entries": [{"entry": "gauss:1,1"}], "delta": 1e-5},
        "events": {"format": events.FORMAT, "neighboring_relation": "REPLACE_ONE", "event": event},
    }


def documents_with(value: Any, release: own_table.Made) -> Iterator[tuple[str, object, dict[str, Any]]]:
    """A kind, a place in its document, and the document with this value there."""
    found = documents(release)
    for kind, document in found.items():
        for field in document:
            yield kind, field, document | {field: value}
    for key in ("low", "high", "missing", "categories", "kind", "column"):
        yield "schema", key, found["schema"] | {"columns": [{"name": "a", "kind": "number", key: value}]}
        yield "schema", key, found["schema"] | {"target": {key: value}}
    for name in ("GaussianDpEvent", "ComposedDpEvent", "MixtureOfGaussiansDpEvent", "SelfComposedDpEvent"):
        for fields in (1, 2, 3):
            event = ["dp_accounting.dp_event", name, *[value] * fields]
            yield "events", (name, fields), found["events"] | {"event": event}


@pytest.mark.slow
@pytest.mark.parametrize("value", VALUES)
def test_whatever_a_document_holds_is_read_in_memory_like_the_document(value: str, release: own_table.Made) -> None:
    for kind, document in documents(release).items():
        READERS[kind](json.dumps(document))  # what is loaded once
    for kind, place, document in documents_with(VALUES[value], release):
        text = json.dumps(document, ensure_ascii=False)
        assert is_bounded(READERS[kind], text), (kind, place)


@pytest.mark.thorough
@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("reader", READERS)
def test_whatever_a_file_holds_is_read_in_memory_like_the_file(reader: str, text: str) -> None:
    with suppress(ValueError):
        READERS[reader](ROWS.decode())  # what is loaded once
    assert is_bounded(READERS[reader], TEXTS[text])


@pytest.mark.parametrize("field", ["coef", "intercept", "center", "scale"])
def test_a_models_numbers_are_looked_at_before_they_are_an_array(field: str, release: own_table.Made) -> None:
    text = json.dumps(documents(release)["model"] | {field: VALUES["a long text among rows"]})
    assert is_bounded(own_table.read_model, text)


@pytest.mark.parametrize("value", [True, "1", None, 10**400, [1.0], {}])
def test_a_models_numbers_are_numbers(value: Any, release: own_table.Made) -> None:
    document = documents(release)["model"]
    for field, changed in (("coef", [[0.5, value]]), ("intercept", [value])):
        with pytest.raises(ValueError, match=f"model's {field} must be finite numbers"):
            own_table.read_model(json.dumps(document | {field: changed}))
