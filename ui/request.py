"""What pages ask for that train on a data set, its work, and how the work tells where it is. No Streamlit."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from objpert_core import datasets
from objpert_core.datasets import Dataset
from ui.words import absent

T = TypeVar("T")


class Meter:
    """Where the fit under way is: written by the work, read by the page, one tuple at a time."""

    def __init__(self) -> None:
        self.now: tuple[Any, ...] | None = None

    def tell(self, *where: Any) -> None:
        """What the work tells at every step."""
        self.now = where

    def next_fit(self) -> None:
        """A fit has ended."""
        self.now = None


@dataclass(frozen=True)
class Request(Generic[T]):
    """Everything that decides the numbers; a page says in `study` what is done with it."""

    name: str  # the data set
    split_seed: int  # which of its rows are held out
    settings: Any  # the rest

    def study(self, data: Dataset, should_stop: Callable[[], bool], tell: Callable[..., None]) -> Iterator[T]:
        """The results so far, after each fit."""
        raise NotImplementedError

    def work(self, should_stop: Callable[[], bool], meter: Meter | None = None) -> Iterator[T]:
        """Load the data by name, then study them; for `JobRunner.submit` or a plain loop."""
        meter = meter or Meter()
        data = datasets.load(self.name, split_seed=self.split_seed)
        for state in self.study(data, should_stop, meter.tell):
            meter.next_fit()
            yield state

    def result(self) -> T:
        """The last result, made here and now."""
        *_, last = self.work(lambda: False)
        return last

    @property
    def unready(self) -> str:
        """What to do first where the files of the data set are not there."""
        return f"The files of {self.name} {absent(self.name)}: choose another data set, or fetch them first."
