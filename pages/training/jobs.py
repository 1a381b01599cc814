"""The training page's background work: what was asked for, and training it. No Streamlit here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from objpert_core.datasets import Dataset
from objpert_core.experiments.compare import Comparison, compare
from ui import live


class Meter(live.Meter):
    """Method, run and step of the fit under way: paid tuning makes several runs, whose steps start again at 1."""

    def tell(self, *where: Any) -> None:
        """What `compare` tells: the method, and (step or iteration, …)."""
        method, (count, *_) = where
        step, before = int(count), self.now
        run = before[1] + (step <= before[2]) if before is not None and before[0] == method else 1
        self.now = (method, run, step)


@dataclass(frozen=True)
class Request(live.Request[Comparison]):
    """A data set, a split, and what is compared on it."""

    def study(self, data: Dataset, should_stop: Callable[[], bool], tell: Callable[..., None]) -> Iterator[Comparison]:
        """Fit every method."""
        return compare(data, self.settings, should_stop, tell)
