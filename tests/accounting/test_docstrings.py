"""The examples in the docstrings of objpert_core.accounting are right, and the public ones all have one."""

import doctest
import importlib
import inspect
import pkgutil

import pytest

import objpert_core.accounting as acc

MODULES = [module.name for module in pkgutil.walk_packages(acc.__path__, f"{acc.__name__}.")]


@pytest.mark.parametrize("name", [acc.__name__, *MODULES])
def test_examples(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_every_public_name_has_an_example():
    public = [getattr(acc, name) for name in acc.__all__]
    described = [o for o in public if inspect.isfunction(o) or (inspect.isclass(o) and not inspect.isabstract(o))]
    lacking = [o.__name__ for o in described if ">>>" not in (o.__doc__ or "")]
    assert lacking == ["ViaRDP"]  # made by via_rdp, which has one
