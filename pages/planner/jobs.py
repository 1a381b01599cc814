"""The Planner's background work: what was sampled and for whom. No Streamlit here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from objpert_core.experiments.studies.noise_ratios import Estimate, Plan, sample
from ui.jobs import Job


@dataclass(frozen=True, eq=False)
class Run:
    """One press of Sample: the plan and its job."""

    plan: Plan
    job: Job[Estimate]


def work(plan: Plan) -> Callable[[Callable[[], bool]], Iterator[Estimate]]:
    """The plan as work for `JobRunner.submit`, or for a plain loop where there are no threads."""

    def run(should_stop: Callable[[], bool]) -> Iterator[Estimate]:
        yield from sample(plan, should_stop)

    return run
