"""What an estimator is told: parameters that people tune stand flat, the others in one mapping, `advanced`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from types import SimpleNamespace
from typing import Any, NamedTuple

from objpert_core.estimators.cautions import warn_of_old_name
from objpert_core.estimators.constraints import Constraint, refuse_habits

Advanced = Mapping[str, Any] | None
"""Options by name; None leaves all as they are."""
PREFIX = "advanced__"
"""Before the name of an advanced option in `set_params` and in the grids of scikit-learn's searches."""


class Settings(SimpleNamespace):
    """All parameters of an estimator by name, advanced options among them, each as its constraint returns it."""

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"settings are for reading, got a new {name}")


class Together(NamedTuple):
    """What a parameter has to be where another one is given; `where` may name other parameters in braces."""

    parameter: str
    holds: Callable[[Settings], bool]
    must: str
    where: str
    why: str = ""

    def check(self, settings: Settings, model: Any) -> None:
        """`ValueError` unless it holds of a model's settings."""
        if not self.holds(settings):
            value, where = getattr(model, self.parameter), self.where.format(**vars(settings))
            raise ValueError(f"{self.parameter} must {self.must} {where}, got {value!r}{self.why}")


class Applies(NamedTuple):
    """A rule about settings that says by itself what is wrong."""

    rule: Callable[[Settings], object]

    def check(self, settings: Settings, model: Any) -> None:
        """`ValueError` where the rule raises one."""
        self.rule(settings)


class Option:
    """An advanced option as an attribute, for reading."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, model: Any, kind: Any = None) -> Any:
        if model is None:
            return self
        return (model.advanced or {}).get(self.name, type(model).ADVANCED[self.name])

    def __set__(self, model: Any, value: Any) -> None:
        raise AttributeError(f"{self.name} stands in advanced: set_params(advanced__{self.name}={value!r})")


def take(model: Any, given: Mapping[str, Any]) -> None:
    """Keep what a constructor was given, its `locals()`; names that stand in `advanced` now go there.

    `TypeError` for a name that the model does not know; one of scikit-learn's is answered in a sentence of its own.
    """
    old = given["old_names"]
    refuse_habits(type(model), old)
    if strangers := [name for name in old if name not in model.ADVANCED]:
        raise TypeError(f"{type(model).__name__}() got an unexpected keyword argument {strangers[0]!r}")
    for name in flat_names(type(model)):
        setattr(model, name, given[name])
    with_old_names(model, old)


def with_old_names(model: Any, old: Mapping[str, Any]) -> None:
    """Put options that were named as parameters into `advanced`, and say once where each of them stands."""
    for name in old:
        warn_of_old_name(model, name)
    if old:
        model.advanced = {**(model.advanced or {}), **old}


def signature_of(kind: Any) -> inspect.Signature:
    """How a class is made, without the names that are taken for a while."""
    own = inspect.signature(kind.__init__)
    known = [one for one in own.parameters.values() if one.name != "self" and one.kind != one.VAR_KEYWORD]
    return own.replace(parameters=known)


def flat_names(kind: Any) -> list[str]:
    """The names of a class's constructor parameters, `advanced` among them."""
    return list(signature_of(kind).parameters)


def settings_of(model: Any, constraints: Mapping[str, Constraint], together: Iterable[Together | Applies]) -> Settings:
    """All parameters, checked one by one and together; `ValueError` for the first that is not as it has to be."""
    kind, advanced = type(model), model.advanced
    if advanced is not None and not (isinstance(advanced, Mapping) and set(advanced) <= set(kind.ADVANCED)):
        known = ", ".join(map(repr, kind.ADVANCED))
        raise ValueError(f"advanced must be None or a mapping of options out of {known}, got {advanced!r}")
    values = {name: getattr(model, name) for name in flat_names(kind)} | dict(kind.ADVANCED) | dict(advanced or {})
    del values["advanced"]
    settings = Settings(**{name: constraints[name](name, value) for name, value in values.items()})
    for rule in together:
        rule.check(settings, model)
    return settings
