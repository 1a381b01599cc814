"""What an additive model does, for people: its shapes, a row's score as a sum, and shapes made monotone; all of it from
what was released.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.linalg import block_diag, orth
from scipy.stats import norm
from sklearn.isotonic import IsotonicRegression
from sklearn.utils.validation import check_is_fitted

from objpert_core._validation import FloatArray, choice
from objpert_core.accounting import IntervalNoise
from objpert_core.datasets.tables.raw import typed
from objpert_core.estimators.summaries import Summary
from objpert_core.learning.problem.rows import TableRows
from objpert_core.learning.steps.curvature import curvature_noise
from objpert_core.learning.steps.pieces import Pieces, PiecesOf
from objpert_core.learning.steps.stated import published_by

MISSING, OTHER = "missing", "other"
_LIKELY, _CLEAR = 0.1, 10.0  # p(1 − p) of a row; and what of its noise a piece's curvature has to be
_ABOVE_ZERO = np.nextafter(0.0, 1.0)
_LEAST = 1e-9  # a share that a piece counts for in a monotone shape, however rare it is


def pieces_of(model: Any) -> Pieces:
    """The pieces of a fitted or released model; no row was shortened where it has intervals."""
    return Pieces.read(model.pieces_, longest=model.hessian_ is not None)


class Shapes(NamedTuple):
    """The names of an additive model's columns, their pieces, and what each piece adds to a score.

    `effects` has an array for each column, of shape (K, pieces), with K = 1 for two classes and for numbers.
    """

    names: list[str]
    pieces: Pieces
    effects: list[FloatArray]
    classes: list[Any]

    @classmethod
    def of(cls, model: Any) -> Shapes:
        """The shapes of a fitted or released model; `AttributeError` for a model without pieces."""
        check_is_fitted(model)
        if model.pieces_ is None or model.columns_ is None:
            raise AttributeError(f"{type(model).__name__} has no shapes: it is no additive model")
        pieces, coef = pieces_of(model), np.atleast_2d(model.coef_)
        classes = model.classes_.tolist() if len(coef) > 1 else [None]
        names = model.columns_.names or range(len(pieces.columns))
        return cls([str(name) for name in names], pieces, pieces.effects(coef), classes)

    def bands(self, model: Any, level: float = 0.95) -> FloatArray:
        """The ends of an interval of this level for each effect of two classes, shape (P, 2); NaN where rows are few.

        Rows vary where pieces have rows, and the noise of the curvature hides what few rows have: by the noisy shares
        and public numbers, estimates are made among the directions of the others.
        """
        maps, rows = self.pieces.maps, float(model.privacy_.public_rows)
        noise, _ = curvature_noise(model.privacy_.terms.step(IntervalNoise), model.privacy_.radius)
        assert noise is not None
        seen, spans = [], []
        for one, own in zip(self.pieces.columns, maps, strict=True):
            likely = _LIKELY * rows * one.shares * (own**2).sum(axis=1)
            seen.append(likely > _CLEAR * noise)
            spans.append(orth(own[seen[-1]].T))
        effects = block_diag(*(own @ span for own, span in zip(maps, spans, strict=True)), np.zeros((1, 1)))
        ends = Summary(model).among(block_diag(*spans)).ends(float(norm.isf((1 - level) / 2)), effects)[:-1]
        return np.where(np.concatenate(seen)[:, None], ends, np.nan)

    def table(self, model: Any) -> pd.DataFrame:
        """See the attribute `shapes_` of additive models."""
        rows = []
        for name, known, one, effects in zip(
            self.names, model.columns_.columns, self.pieces.columns, self.effects, strict=True
        ):
            for place, (label, start, end) in enumerate(_labelled(one, getattr(typed(known), "categories", ()))):
                for which, of_class in enumerate(self.classes):
                    row = {"column": name, "piece": label, "from": start, "to": end}
                    row |= {} if of_class is None else {"class": of_class}
                    rows.append(row | {"effect": effects[which, place], "share": one.shares[place]})
        table = pd.DataFrame(rows)
        if model.hessian_ is not None:
            table["low"], table["high"] = self.bands(model).T
        return table

    def explained(self, values: TableRows, intercept: FloatArray) -> pd.DataFrame:
        """Each row's score as a sum: the intercept, then a term for each column; of several classes each by itself."""
        codes = self.pieces.codes(values.matrix)
        parts = []
        for which in range(len(self.classes)):
            terms = {name: own[which][line] for name, own, line in zip(self.names, self.effects, codes, strict=True)}
            parts.append(pd.DataFrame({"intercept": np.full(values.n_rows, np.ravel(intercept)[which])} | terms))
        return parts[0] if len(parts) == 1 else pd.concat(dict(zip(self.classes, parts, strict=True)), axis=1)


def _labelled(one: PiecesOf, categories: Any) -> list[tuple[str, float, float]]:
    """A label for each piece, and where it begins and ends; NaN where it is no interval."""
    if one.starts is None:
        return [(label, np.nan, np.nan) for label in (*categories, OTHER, MISSING)]
    ends = np.append(one.starts[1:], np.inf)
    return [
        *((_interval(low, high), low, high) for low, high in zip(one.starts.tolist(), ends.tolist(), strict=True)),
        (MISSING, np.nan, np.nan),
    ]


def _interval(low: float, high: float) -> str:
    """An interval in words, with as few digits as tell its ends apart."""
    if np.isinf(low) and high == _ABOVE_ZERO:
        return "0 or less"
    if low == _ABOVE_ZERO:
        return "above 0" if np.isinf(high) else f"above 0, to {_short(high, low)}"
    if np.isinf(low):
        return "all numbers" if np.isinf(high) else f"below {_short(high, low)}"
    if np.isinf(high):
        return f"{_short(low, high)} or more"
    if high == np.nextafter(low, np.inf):
        return f"{low:.15g}"
    return f"{_short(low, high)} to {_short(high, low)}"


def _short(number: float, other: float) -> str:
    for digits in range(4, 17):
        text = f"{number:.{digits}g}"
        if np.isinf(other) or float(text) != float(f"{other:.{digits}g}"):
            return f"{float(text):.0f}" if "e+" in text and abs(number) < 1e9 else text  # 15200, not 1.52e+04
    return repr(number)


def made_monotone(model: Any, directions: Mapping[str, str]) -> None:
    """Replace effects of columns by the nearest that rise or fall, by the noisy shares; missing values keep theirs.

    This is post-processing of what was released, so it costs nothing (docs/theorems.md, T55).
    """
    shapes, coef = Shapes.of(model), np.atleast_2d(model.coef_).copy()
    ends = np.cumsum([0, *(one.shape[1] for one in shapes.pieces.maps)])
    for name, direction in directions.items():
        place = shapes.names.index(choice("column", str(name), tuple(shapes.names)))
        rises = choice(f"direction of {name!r}", direction, ("up", "down")) == "up"
        one, table, own = shapes.pieces.columns[place], shapes.pieces.maps[place], slice(*ends[place : place + 2])
        several = len(one.shares) - (2 if one.starts is None else 1)  # others and missing values have no place
        for line, effects in zip(coef, shapes.effects[place], strict=True):
            weights = np.maximum(one.shares[:several], _LEAST)
            wanted = effects.copy()
            wanted[:several] = IsotonicRegression(increasing=rises).fit_transform(
                np.arange(several), effects[:several], sample_weight=weights
            )
            line[own] = np.linalg.lstsq(table, wanted - one.shares @ wanted, rcond=None)[0]
    # coefficients of a classifier lie on the lattice of its fit
    if model.coef_.ndim == 2 and (spacing := model.privacy_.lattice) is not None:
        coef = np.round(coef / spacing) * spacing
    model.coef_ = coef.reshape(model.coef_.shape)
    model.privacy_ = model.privacy_.about(model.coef_, model.intercept_, published_by(model))
