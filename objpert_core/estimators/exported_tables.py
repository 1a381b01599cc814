"""An additive model of a raw table as scikit-learn's own parts: a linear model of columns, one for each piece.

A `KBinsDiscretizer` makes these columns for numbers, where a missing one has become a number beyond all others, and a
`OneHotEncoder` for texts. A category that was not listed switches on none: its effect is part of the intercept.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder, StandardScaler

from objpert_core._validation import FloatArray
from objpert_core.datasets.tables.numerals import MISSING_WORDS, Numerals, without_point
from objpert_core.datasets.tables.raw import typed
from objpert_core.estimators.shapes import pieces_of
from objpert_core.estimators.tables import KnownTable

_GAP, _BELOW_GAP = 3e38, 2.5e38  # what a missing number becomes, and where its piece begins, in single precision, too


def switches(model: Any) -> tuple[list[tuple[str, Any]], FloatArray, Any]:
    """The steps that say which pieces a row of a table is on, the effects of these pieces, and the intercept."""
    known: KnownTable = model.columns_
    pieces, intercept = pieces_of(model), np.array(model.intercept_, dtype=np.float64)
    intervals, of_numbers = dict[int, FloatArray](), list[FloatArray]()
    texts, of_texts = dict[int, list[Any]](), list[FloatArray]()
    effects = pieces.effects(np.atleast_2d(model.coef_))
    for place, (column, one, own) in enumerate(zip(known.columns, pieces.columns, effects, strict=True)):
        if one.starts is not None:
            intervals[place] = one.starts
            of_numbers.append(own)
            continue
        words, other = _words(typed(column).categories, known.missing_words), own[:, -2]
        texts[place] = [*words]
        of_texts.append(own[:, [*words.values()]] - other[:, None])
        intercept = intercept + other.reshape(intercept.shape)
    weights = np.concatenate([*of_numbers, *of_texts], axis=1)
    steps = _on_intervals([*intervals.values()], known.missing_words) if intervals else []
    if texts:
        steps = [("columns", _by_type(known.names, [*intervals], steps, texts))]
    return steps, weights if len(weights) > 1 else weights.ravel(), intercept


def _on_intervals(starts: list[FloatArray], missing_words: tuple[str, ...]) -> list[tuple[str, Any]]:
    """The steps for columns of numbers, of which each begins its intervals here."""
    rows = np.repeat([[0.0], [1.0]], len(starts), axis=1)
    pieces = KBinsDiscretizer(
        [len(one) + 1 for one in starts], encode="onehot-dense", strategy="uniform", dtype=np.float64
    ).fit(rows)
    for place, one in enumerate(starts):
        ends = _for_both_precisions(one[1:].clip(-_BELOW_GAP, _BELOW_GAP))
        pieces.bin_edges_[place] = np.array([-np.inf, *ends, _BELOW_GAP, np.inf])
    gaps = [np.nan, *Numerals().with_words(missing_words).missing_numbers]
    return [
        ("numbers", StandardScaler(with_mean=False, with_std=False).fit(rows)),
        *((f"missing_{place}", _filling(gap, rows)) for place, gap in enumerate(gaps)),
        ("pieces", pieces),
    ]


def _filling(gap: float, rows: FloatArray) -> SimpleImputer:
    """What puts a number beyond all others in the place of a gap. skops trusts no dtype: the kind of one is enough."""
    imputer = SimpleImputer(missing_values=gap, strategy="constant", fill_value=_GAP).fit(rows)
    imputer._fill_dtype, imputer._fit_dtype = np.float64, StandardScaler()
    imputer._fit_dtype.kind = "f"
    return imputer


def _for_both_precisions(ends: FloatArray) -> FloatArray:
    """Ends of intervals. One right behind a number of single precision, which rounds to it, becomes the next of these.

    Only doubles between two neighbours in single precision change sides by that.
    """
    before = np.nextafter(ends, -np.inf)
    single = before.astype(np.float32)
    behind = np.maximum(np.nextafter(single, np.float32(np.inf)), single + np.finfo(np.float32).tiny)
    return np.where((single == before) & (ends.astype(np.float32) == single), behind, ends)


def _words(categories: tuple[str, ...], missing_words: tuple[str, ...]) -> dict[Any, int]:
    """Which piece each text is on, those of missing values in the forms that are usual; NaN comes last."""
    found: dict[Any, int] = {}
    for word in (*sorted(MISSING_WORDS), "NaN", *missing_words):
        found |= dict.fromkeys((word, word.lower(), word.upper(), word.title()), -1)
    for place, one in enumerate(map(without_point, categories)):
        found |= {text: place for text in (one, f"{one}.0") if without_point(text) == one}
    return found | ({} if "None" in found else {None: -1}) | {np.nan: -1}  # ONNX writes None as a text


def _by_type(
    names: tuple[Any, ...] | None, numbers: list[int], steps: list[tuple[str, Any]], texts: dict[int, list[Any]]
) -> ColumnTransformer:
    """The steps for numbers, and of texts a column for each word; columns go by their names, where these are texts."""
    size = len(numbers) + len(texts)
    rows: Any = pd.DataFrame({place: ["", ""] if place in texts else [0.0, 1.0] for place in range(size)})
    labels: list[Any] = list(range(size))
    if names is not None and all(isinstance(name, str) for name in names):
        rows.columns = labels = list(names)
    else:
        rows = rows.to_numpy(dtype=object)
    words = [np.array(one, dtype=object) for one in texts.values()]
    encoder = OneHotEncoder(categories=words, handle_unknown="ignore", sparse_output=False)
    parts = ("numbers", Pipeline(steps), numbers), ("texts", encoder, [*texts])
    made = ColumnTransformer([(name, part, [labels[place] for place in some]) for name, part, some in parts if some])
    made.fit(rows)
    if numbers:  # fitted to clones
        made.transformers_[0] = ("numbers", Pipeline(steps), made.transformers_[0][2])
    return made
