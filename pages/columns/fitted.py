"""The additive model of Adult, or of what stands in for it: fitted once for everybody who asks."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from objpert_core import datasets
from objpert_core._validation import FloatArray
from objpert_core.datasets import RawTable
from objpert_core.estimators import ObjPertAdditiveClassifier
from pages.columns.controls import COLUMNS, NUMBERS
from ui import bounds, live, sentences
from ui.request import Meter, Request
from ui.snippets import Verbatim, filled
from ui.view import View

ACCOUNTANT = f"{bounds.called('logistic')}, composed with the noisy counts of pieces"
LARGE, EVEN = 1000.0, 32
"""ε and pieces of the model without privacy: its noise does not show, and no piece has very few people."""


Setting = tuple[float, float, int, int | None]
"""What a fit's numbers depend on: ε, δ, the seed of the noise, about how many pieces a column of numbers gets."""


@dataclass(frozen=True, eq=False)
class Additive:
    """What was released: the shapes by column, and the score of somebody whose effects are all 0."""

    shapes: dict[str, pd.DataFrame]
    intercept: float

    def terms(self, column: str, values: Any) -> FloatArray:
        """What a column adds to the scores of people who have these values."""
        one = self.shapes[column]
        if column in NUMBERS:
            places = np.searchsorted(one["from"].to_numpy()[:-1], values, side="right") - 1
        else:
            places = pd.Index(one["piece"]).get_indexer(values)
        return np.asarray(one["effect"].to_numpy()[places])


@dataclass(frozen=True)
class Fit(Request[Additive]):
    """One fit to all rows of a raw table."""

    def work(self, should_stop: Callable[[], bool], meter: Meter | None = None) -> Iterator[Additive]:
        """See `Request.work`; no row is held out."""
        people, (epsilon, delta, seed, pieces) = adult(), self.settings
        model = ObjPertAdditiveClassifier(
            epsilon, delta, columns=people.columns, pieces=pieces, classes=[0, 1], public_rows=len(people.labels),
            random_state=seed, advanced={"margin": 0.0},
        ).fit(people.frame, people.labels)  # fmt: skip
        shapes = model.shapes_
        own = {name: shapes[shapes["column"] == name].reset_index(drop=True) for name in COLUMNS}
        yield Additive(own, float(model.intercept_[0]))


@lru_cache(maxsize=1)
def adult() -> RawTable:
    """Adult, or what stands in for it, with the columns that are learned from."""
    raw = datasets.load_raw(datasets.default_name())
    names = list(COLUMNS)
    return raw._replace(frame=raw.frame[names], columns={name: raw.columns[name] for name in names})


def fitted(*settings: Setting) -> list[Additive]:
    """The models at these settings."""
    return live.at_once(*(Fit(datasets.default_name(), 0, one) for one in settings))


class OfModels(View):
    """A picture of the private model at one setting, beside the one without privacy."""

    epsilon: float
    delta: float
    seed: int

    @cached_property
    def models(self) -> dict[str, Additive]:
        """Both models."""
        both = fitted((self.epsilon, self.delta, self.seed, None), (LARGE, self.delta, 0, EVEN))
        return dict(zip(("private", "public"), both, strict=True))

    def promise(self) -> str:
        return sentences.promise(self.epsilon, self.delta, ACCOUNTANT)

    def blanks(self) -> Mapping[str, Any]:
        own = {**super().blanks(), "data": datasets.default_name(), "names": list(COLUMNS)}
        return {**own, "fitted": Verbatim(filled("columns", "fitted", own).strip())}

    def show(self, left: DeltaGenerator, *, ghost: bool = True) -> None:
        with left, st.spinner("Fitting …"):
            self.answer()  # needs all models
        super().show(left, ghost=ghost)
