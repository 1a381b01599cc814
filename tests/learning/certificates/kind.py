"""A kind of release under the certificates' tests, and what several kinds are made with."""

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pytest

from objpert_core.estimators import (
    ObjPertLogisticRegression,
)

Change = dict[str, Any]


def each(**changes):
    """A change for each field alone; for each of its values where they stand in a list."""
    return [{name: one} for name, value in changes.items() for one in (value if type(value) is list else [value])]


@dataclass(frozen=True, eq=False)
class Kind:
    """A release with its certificate, and how a certificate may not and may differ from it.

    Parameters
    ----------
    make : callable
        Makes the release: a certificate, or a model that has one.
    better : list of dict
        Changes of fields that no proof covers, or that make nonsense of it.
    weaker : list of dict
        Changes that leave a promise which the honest certificate implies.
    level : str, optional
        From which test level on these are asked.
    harmless : dict, optional
        The nasty value, by field, that leaves a valid certificate; None where nasty values are not asked.
    """

    make: Callable[[], Any]
    better: list[Change]
    weaker: list[Change]
    level: str | None = None
    harmless: Change | None = None

    @cached_property
    def model(self):
        return self.make()

    @property
    def honest(self):
        return getattr(self.model, "privacy_", self.model)

    def changed(self, changes):
        """The certificate with these changes, of which functions are asked for the value they make of the old one."""
        told = {name: new(getattr(self.honest, name)) if callable(new) else new for name, new in changes.items()}
        return dataclasses.replace(self.honest, **told)


def times(factor):
    return lambda old: factor * old


def of_kinds(kinds, level=None):
    """Run a test for each of the kinds, from their level on or from a higher one that it asks for."""
    return pytest.mark.parametrize(
        "kind",
        [
            pytest.param(kind, id=name, marks=[getattr(pytest.mark, at)] if (at := kind.level or level) else [])
            for name, kind in kinds.items()
        ],
    )


def some_data(n=60):
    X = np.random.default_rng(0).standard_normal((n, 3))
    return X, (X[:, 0] > 0).astype(int)


def logistic(**parameters):
    return lambda: ObjPertLogisticRegression(classes=[0, 1], random_state=1, **parameters).fit(*some_data())


NO_SIZE = [0.0, -1.0, math.nan, math.inf, 1, "1"]


def known_size(m):
    return f"data sets of the same size m = {m}, known to all, "
