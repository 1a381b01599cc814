"""Public functions and methods take what they took: names, order, defaults, and what has to be said by its name.

A signature that was meant to change is written anew by `python -m tests.test_signatures`.
"""

import inspect
import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import objpert_core
from objpert_core import accounting, datasets, estimators, evaluation, learning

STORED = Path(__file__).with_name("signatures.txt")
PLACES = (objpert_core, accounting, datasets, estimators, evaluation, learning)


def shown(function: Any) -> str:
    """Its parameters without their types; a default that has no text of its own is left open."""
    given = inspect.signature(function)
    bare = [one.replace(annotation=inspect.Parameter.empty) for one in given.parameters.values()]
    text = str(given.replace(parameters=bare, return_annotation=inspect.Signature.empty))
    return re.sub(r"mappingproxy\(.*\)(?=[,)])|<[^>]*>", "…", text)


def of_class(kind: type) -> Iterator[str]:
    """How a class is made, and its own and inherited members that this package defines."""
    for base in kind.__mro__:
        if not base.__module__.startswith("objpert_core"):
            continue
        where = base.__qualname__  # without the module, which may be renamed
        if "__init__" in vars(base):
            yield where + shown(base.__init__)
        for name, member in vars(base).items():
            if name.startswith("_"):
                continue
            if isinstance(member, property | cached_property):
                yield f"{where}.{name}"
            elif isinstance(member, classmethod | staticmethod):
                yield f"{where}.{name}{shown(member.__func__)} {type(member).__name__}"
            elif inspect.isfunction(inspect.unwrap(member)):
                yield f"{where}.{name}{shown(inspect.unwrap(member))}"


def signatures() -> list[str]:
    """Every public one, sorted."""
    found = set()
    for place in PLACES:
        for name in place.__all__:
            value = getattr(place, name)
            if inspect.isclass(value):
                found.update(of_class(value))
            elif inspect.isfunction(inspect.unwrap(value)):
                found.add(f"{place.__name__.removeprefix('objpert_core.')}.{name}{shown(value)}")
    return sorted(found)


def test_public_functions_and_methods_take_what_they_took():
    assert signatures() == STORED.read_text(encoding="utf-8").splitlines()


if __name__ == "__main__":
    STORED.write_text("\n".join(signatures()) + "\n", encoding="utf-8")
