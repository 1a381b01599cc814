"""What pages share that train on a data set: results at once, the Run button, and what has moved since.

RUNS: Runs[Comparison] = Runs("training")

with panel, page.errors():
    asked, pressed = …                                  # the controls, a `Request` and `run_button`
with picture, page.errors():
    if pressed:
        start(RUNS, asked, Meter(), worth)
    RUNS.follow(results, asked)                         # `results` draws what `RUNS.look` returns
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

import streamlit as st

from objpert_core import datasets
from ui import jobs, raw_files
from ui.request import Meter, Request
from ui.runs import Runs

T = TypeVar("T")


def at_once(*requests: Request[T]) -> list[T]:
    """The results of requests that take a moment: each made once for everybody who asks, and kept for a while.

    Everything that decides the numbers, seeds included, is in a request. A class that opens the same link waits for
    one fit. Whatever goes wrong is a `ValueError` with one sentence for people.
    """
    try:
        return [_made(request) for request in requests]
    except Exception as error:
        raise ValueError(jobs.explain(error)) from error


@st.cache_resource(max_entries=400, show_spinner=False)
def _made(request: Request[T]) -> T:
    with jobs.moment():
        return request.result()


def ready(name: str) -> bool:
    """Whether the data set's files are there; where not, the page says how to get them."""
    found = datasets.available(name)
    if not found:
        raw_files.offer(name)
    return found


def run_button(prefix: str, *, ready: bool, why_not: str | None = None) -> bool:
    """The Run button; returns whether it was pressed."""
    icon, key = ":material/play_arrow:", f"{prefix}_run"
    return st.button("Run", type="primary", icon=icon, key=key, disabled=not ready, help=why_not, width="stretch")


def start(runs: Runs[T], request: Request[T], meter: Meter, worth: Callable[[T], bool]) -> bool:
    """Queue the request's work; the last result that is `worth` it becomes the ghost."""
    work = partial(request.work, meter=meter)
    return runs.start(request, work, meter=meter, previous=runs.previous(worth))


def plain(value: Any) -> str:
    """A setting's value inside a sentence."""
    return f"{value:g}" if isinstance(value, float) else str(value)


SHOWN = "These results are"
_CALLED = {"epsilon": "ε", "delta": "δ", "seed": "noise seed", "batch_size": "batch", "mean_runs": "mean runs μ"}


def differences(
    shown: Request,
    asked: Request,
    fields: Sequence[str],
    then: str,
    said: Callable[[Any], str] = plain,
    *,
    what: str = SHOWN,
    **called: str,
) -> str | None:
    """How the controls differ from what is shown, 'ε = 1 (now 2)', and what Run will do `then`; None when they agree.

    `fields` are those of the settings that count, and `called` what the page calls them otherwise than others do.
    """
    names = _CALLED | called
    moves = [("data set", shown.name, asked.name), ("split seed", shown.split_seed, asked.split_seed)]
    for field in fields:
        label = names.get(field, field.replace("_", " "))
        moves.append((label, getattr(shown.settings, field), getattr(asked.settings, field)))
    parts = [f"{label} = {said(old)} (now {said(new)})" for label, old, new in moves if old != new]
    return f"{what} for {', '.join(parts)}. Press Run to {then}." if parts else None
