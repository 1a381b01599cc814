"""How long a run will take on this computer, before it is started: a rough number that people can decide by."""

from __future__ import annotations

import math
import time
from functools import cache

import numpy as np

from objpert_core import datasets
from objpert_core.experiments.compare import Settings
from objpert_core.experiments.learners import COMPARABLE, DP_SGD, HONEST, UNPAID_STANDARDISED
from pages.training.jobs import WIDE, Request

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
