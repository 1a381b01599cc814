from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

from objpert_core import datasets


@pytest.mark.parametrize("name", [module.name for module in pkgutil.iter_modules(datasets.__path__)] + [""])
def test_examples_in_docstrings(name: str) -> None:
    module = importlib.import_module("objpert_core.datasets" + (f".{name}" if name else ""))
    assert doctest.testmod(module, extraglobs={"np": __import__("numpy")}).failed == 0
