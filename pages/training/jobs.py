"""The training page's work: what was asked for, what is refitted at once, how long it takes. No Streamlit here."""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Self

import numpy as np

from objpert_core import datasets
from objpert_core.datasets import Dataset
from objpert_core.experiments.compare import Comparison, Settings, compare
from objpert_core.experiments.learners import COMPARABLE, DP_SGD, HONEST, UNPAID_STANDARDISED, Of
from ui import request

WIDE = ("gisette", "gisette-like", "synthetic-h", "which-library")
"""Data sets with thousands of columns: a model takes a second."""
MOST_AT_ONCE = 20
"""Draws a method that are still refitted without a press of Run."""


class Meter(request.Meter):
    """Method, run and step of the fit under way: paid tuning makes several runs, whose steps start again at 1."""

    def tell(self, *where: Any) -> None:
        """What `compare` tells: the method, and (step or iteration, …)."""
        method, (count, *_) = where
        step, before = int(count), self.now
        run = before[1] + (step <= before[2]) if before is not None and before[0] == method else 1
        self.now = (method, run, step)


@dataclass(frozen=True)
class Request(request.Request[Comparison]):
    """A data set, a split, and what is compared on it."""

    def study(self, data: Dataset, should_stop: Callable[[], bool], tell: Callable[..., None]) -> Iterator[Comparison]:
        """Fit every method."""
        return compare(data, self.settings, should_stop, tell)

    def of(self, *methods: str) -> Self:
        """The same for these methods alone; what none of them depends on is at its default.

        So two requests with the same numbers are equal, and a model without privacy is fitted once for every ε.
        """
        fields = {field for method in methods for field in _decide(method)}
        kept = {field: getattr(self.settings, field) for field in fields}
        return replace(self, settings=Settings(**kept, methods=methods))

    @property
    def at_once(self) -> tuple[Self, ...]:
        """What is refitted whenever a control is released, method by method."""
        return tuple(self.of(method) for method in self.settings.methods if self._is_quick(method))

    @property
    def later(self) -> Self | None:
        """What waits for Run, if anything does."""
        long = [method for method in self.settings.methods if not self._is_quick(method)]
        return self.of(*long) if long else None

    def _is_quick(self, method: str) -> bool:
        few = not COMPARABLE[method].private or self.settings.repeats <= MOST_AT_ONCE
        return self.name not in WIDE and few and COMPARABLE[method].kind != DP_SGD


def able_to_learn(name: str, methods: Sequence[str]) -> tuple[str, ...]:
    """Those of the methods that can learn the classes of a data set: some learn two only."""
    two = name in datasets.names(classes=2)
    return tuple(method for method in methods if two or COMPARABLE[method].many_classes)


def _decide(method: str) -> set[str]:
    """The fields of `Settings` that decide a method's numbers."""
    learner = COMPARABLE[method]
    if not learner.private:
        return {"publishable"}  # which splits the rows
    fields = {value.name for value in learner.recipe.values() if isinstance(value, Of)}
    fields |= {"publishable", "epsilon", "delta", "repeats", "seed"} | ({"solver"} if learner.kind != DP_SGD else set())
    return fields & set(Settings.__dataclass_fields__)


def together(settings: Settings, parts: Sequence[Comparison]) -> Comparison:
    """Comparisons of different methods on the same rows as one."""
    return replace(parts[0], settings=settings, fits=tuple(fit for part in parts for fit in part.fits))


# Seconds on the computer on which a `_unit` takes this long
_UNIT = 2.0e-4
_NUMBER, _STEP = 1.7e-9, 2.2e-4  # of DP-SGD: for each number of a row's gradient, for each step
_MODEL, _WIDE_MODEL = 0.1, 1.0


def seconds(request: Request) -> float:
    """About how long the models of a request take, one after the other."""
    settings = request.settings
    if request.name in WIDE:
        rows, columns, model = 6_000, 5_000, _WIDE_MODEL
    else:
        rows, columns = datasets.load(request.name, split_seed=request.split_seed).X_train.shape
        model = _MODEL
    private = sum(
        _descent(settings, method, rows, columns) if COMPARABLE[method].kind == DP_SGD else model
        for method in settings.private
    )
    reference = model * (len(settings.methods) - len(settings.private))
    return (settings.repeats * private + reference) * _unit() / _UNIT


def _descent(settings: Settings, method: str, rows: int, columns: int) -> float:
    """Of one model by DP-SGD: every candidate is trained, whether they are trained together or in turn."""
    batch, candidates = settings.batch_size, float(len(settings.learning_rates))
    if method == UNPAID_STANDARDISED:
        batch, candidates = settings.large_batch_size, float(len(settings.fine_learning_rates))
    elif method == HONEST:
        candidates = settings.mean_runs
    steps = max(1, rows / batch)
    return candidates * settings.epochs * (rows * columns * _NUMBER + steps * _STEP)


@cache
def _unit() -> float:
    """Seconds of a small piece of the same kind of work, measured once: the best of several tries."""
    rows, weights = np.ones((4_000, 100)), np.ones(100)

    def took() -> float:
        began = time.perf_counter()
        rows.T @ (rows @ weights)
        return time.perf_counter() - began

    return min(took() for _ in range(7))


def in_words(request: Request) -> str:
    """'about 40 seconds': one digit, two from ten on, minutes from two minutes on."""
    about = seconds(request)
    if about < 2:
        return "a moment"
    if about >= 120:
        return f"about {math.ceil(about / 60)} minutes"
    return f"about {math.ceil(about) if about < 10 else 5 * math.ceil(about / 5)} seconds"
