"""Every example in a docstring of the package runs and prints what it says, and every public method is described."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
from functools import cached_property

import numpy as np
import pytest

import objpert_core

FOUND = [module.name for module in pkgutil.walk_packages(objpert_core.__path__, "objpert_core.")]
MODULES = ["objpert_core", *(name for name in FOUND if not name.endswith("__main__"))]
_LONG = """
    accounting.dp_sgd.calibration accounting.selection.tuning accounting.dp_sgd.allocation
    accounting.mechanisms.composition estimators.logistic_regression estimators.ops_ptr
    accounting.dp_sgd.mechanism estimators.dp_sgd estimators.noisy_sgd estimators.sco learning.certificates.base
"""
LONG = set(_LONG.split())  # their examples calibrate or fit: half a second and more


def slow_if_long(name: str):
    return pytest.param(name, marks=[pytest.mark.slow] if name.removeprefix("objpert_core.") in LONG else [])


def described(name: str, member: object) -> bool:
    kinds = (property, cached_property, classmethod, staticmethod)
    own = inspect.isfunction(member) and member.__name__ == name  # not a field's default
    return not name.startswith("_") and (own or isinstance(member, kinds))


@pytest.mark.thorough
@pytest.mark.parametrize("name", [slow_if_long(name) for name in MODULES])
def test_examples_in_docstrings(name: str) -> None:
    module = importlib.import_module(name)
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    assert doctest.testmod(module, extraglobs={"np": np}, optionflags=flags).failed == 0


def test_long_examples_are_of_modules_that_exist() -> None:
    assert {f"objpert_core.{name}" for name in LONG} <= set(MODULES)


@pytest.mark.thorough
def test_there_are_examples_to_run() -> None:
    finder = doctest.DocTestFinder()
    found = [test for name in MODULES for test in finder.find(importlib.import_module(name)) if test.examples]
    assert len(found) > 30


def test_every_public_method_has_words_of_its_own_or_of_the_one_that_it_overrides() -> None:
    kinds = {
        kind
        for name in MODULES
        if "._" not in name
        for kind in vars(importlib.import_module(name)).values()
        if inspect.isclass(kind) and kind.__module__ == name and not kind.__name__.startswith("_")
    }
    methods = [(kind, name) for kind in kinds for name, member in vars(kind).items() if described(name, member)]
    assert len(methods) > 1000
    assert [f"{kind.__name__}.{name}" for kind, name in methods if not inspect.getdoc(getattr(kind, name))] == []
