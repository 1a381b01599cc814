"""The accuracy page's background work: one stored point run again, and accuracy on few and many rows. No Streamlit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from objpert_core import datasets
from objpert_core.experiments.compare import NON_PRIVATE
from objpert_core.experiments.figure2 import noise_seed
from objpert_core.experiments.methods import Parameters, fit
from objpert_core.experiments.results import Run
from objpert_core.experiments.studies.subsampling import LearningCurve, Plan, learning_curve
from ui import sentences
from ui.jobs import Job, JobView

LONGEST_SECONDS = 300.0  # a point that took longer where it was stored is left to the command line


@dataclass(frozen=True)
class Point:
    """One stored fit: data set, method, ε (infinite without privacy), trial, and what all fits of its file share."""

    dataset: str
    method: str
    epsilon: float
    trial: int
    parameters: Parameters

    @property
    def seed(self) -> int | None:
        """The noise seed the sweep gives it; None without privacy."""
        if self.method == NON_PRIVATE:
            return None
        return noise_seed(self.dataset, self.method, self.epsilon, self.trial)


@dataclass(eq=False)
class Again:
    """How far a point is. Unlike other results it changes in place: each field alone is written in one step.

    Attributes:
        steps: steps of the solver or of DP-SGD so far, over all runs of a tuning.
        run: the result once there is one.
    """

    steps: int = 0
    run: Run | None = None


class _StoppedError(Exception):
    """Leaves a fit from inside its callback."""


def again(point: Point) -> Callable[[Callable[[], bool]], Iterator[Again]]:
    """The work of fitting `point` as its sweep did: same split, same seed, same parameters."""

    def work(should_stop: Callable[[], bool]) -> Iterator[Again]:
        state = Again()
        yield state
        data = datasets.load(point.dataset, split_seed=point.trial)

        def watch(*_: object) -> None:
            state.steps += 1
            if should_stop():
                raise _StoppedError

        if should_stop():
            return
        try:
            state.run = fit(
                data, point.method, point.epsilon, point.trial, point.seed, point.parameters, callback=watch
            )
        except _StoppedError:
            return
        yield state

    return work


def rows(plan: Plan) -> Callable[[Callable[[], bool]], Iterator[LearningCurve]]:
    """The work of measuring accuracy on every number of rows."""

    def work(should_stop: Callable[[], bool]) -> Iterator[LearningCurve]:
        yield from learning_curve(plan, should_stop)

    return work


@dataclass(frozen=True, eq=False)
class PointRun:
    """One press of "Run this point again": the point, the file it is of, and its job."""

    point: Point
    key: str
    job: Job[Again]


@dataclass(frozen=True, eq=False)
class RowsRun:
    """One press of "Measure": the plan and its job."""

    plan: Plan
    job: Job[LearningCurve]


def progress(view: JobView[Again], expected: float | None) -> tuple[float, str]:
    """The progress bar's share and text; `expected` is what stored trials took, in seconds."""
    if view.state == "waiting":
        return 0.0, view.queue_words
    if view.stopping:
        return 0.0, "Stopping …"
    steps = view.latest.steps if view.latest else 0
    if not steps:
        return 0.0, f"Loading the data and calibrating the noise, {view.seconds:.1f} s"
    share = min(0.95, view.seconds / expected) if expected else 0.5
    took = f"; stored trials took {expected:.3g} s" if expected else ""
    return share, f"{sentences.count(steps, 'step')}, {view.seconds:.1f} s{took}"


def outcome(view: JobView) -> str | None:
    """One sentence about a job that ended early; None for one that finished."""
    if view.state == "failed":
        return sentences.sentence(view.message or "")
    return "Stopped; what is shown is what there was by then." if view.state == "stopped" else None
