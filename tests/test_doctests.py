"""Every example in a docstring of the package runs and prints what it says."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import numpy as np
import pytest

import objpert_core

FOUND = [module.name for module in pkgutil.walk_packages(objpert_core.__path__, "objpert_core.")]
MODULES = ["objpert_core", *(name for name in FOUND if not name.endswith("__main__"))]
_LONG = """
    accounting.population.ball accounting.dp_sgd.calibration accounting.population.published
    accounting.selection.tuning accounting.dp_sgd.allocation accounting.mechanisms.composition
    estimators.logistic_regression estimators.ops_ptr accounting.dp_sgd.mechanism estimators.dp_sgd
    estimators.noisy_sgd estimators.sco experiments.population.methods
    experiments.studies.tuning_runs learning.certificates.base learning.dp_sgd.budget learning.population.noisy_sgd
    learning.population.schedules
"""
LONG = set(_LONG.split())  # their examples calibrate or fit: half a second and more


LONGEST = "learning.population.noisy_sgd"  # three times as long while coverage is traced


def slow_if_long(name: str):
    short = name.removeprefix("objpert_core.")
    marks = [pytest.mark.slow] if short in LONG else []
    return pytest.param(name, marks=[*marks, pytest.mark.no_cover] if short == LONGEST else marks)


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
