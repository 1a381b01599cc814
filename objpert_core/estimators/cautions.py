"""The warnings of a private fit: data read outside of its promise, budgets spent twice, rows that are little use.

Nothing here changes the promise. Each warning is given once a process, so that a loop of fits does not repeat it;
`forget_cautions` starts anew. In worker processes only the first clones of an estimator speak.
"""

from __future__ import annotations

import hashlib
import math
import multiprocessing
import os
import sys
import warnings
import weakref
from collections.abc import Callable, Iterator, Mapping
from types import FrameType
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse as is_sparse
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.kernel_approximation import PolynomialCountSketch, RBFSampler, SkewedChi2Sampler
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, PolynomialFeatures
from sklearn.random_projection import GaussianRandomProjection, SparseRandomProjection
from sklearn.utils import get_tags

from objpert_core.estimators.frames import whole_columns
from objpert_core.exceptions import PrivacyBudgetWarning, UncoveredDataWarning

CALLERS_OF_FIT = 4  # stack level of a warning given by what `LinearModel._fit` calls

_told: set[tuple[str, str]] = set()

# What each estimator was last fitted on: a number that means nothing outside this process, and goes with the estimator.
_seen: weakref.WeakKeyDictionary[BaseEstimator, set[bytes]] = weakref.WeakKeyDictionary()
_warned_of_refit: weakref.WeakSet[BaseEstimator] = weakref.WeakSet()
_SALT = os.urandom(32)
_SAMPLED = 64  # rows that a fingerprint looks at
_NEAR = 8  # callers
_OF_TEXTS = ("CountVectorizer", "TfidfVectorizer", "TfidfTransformer")
_SCALES = "Scale by public ranges instead (objpert_core.estimators.PublicRangeScaler)"
_WORDS = "Take HashingVectorizer, or a public vocabulary and no idf, instead"
_PACKAGE = __name__.partition(".")[0] + "."


def forget_cautions() -> None:
    """Give every warning of this module again, the next time there is reason to."""
    _told.clear()
    _warned_of_refit.clear()


def copied(estimator: BaseEstimator, copy: BaseEstimator) -> None:
    """Count a copy of an estimator."""
    made = getattr(estimator, "_copies_made", 0) + 1
    vars(estimator)["_copies_made"] = vars(copy)["_copy_number"] = made


def warn_of_ensemble(estimator: BaseEstimator, parameters: Mapping[str, Any]) -> None:
    """Warn once where an ensemble sets the seed of the noise."""
    if parameters.get("random_state") is not None and _called_by("_set_random_states", sys._getframe(2)):
        _warn_once(
            estimator,
            "ensemble",
            f"An ensemble gives its copies of {type(estimator).__name__} a random_state. Their noise then comes from a "
            "seed of 31 bits, and whoever guesses the seed can subtract the noise. Publish none of these copies.",
            PrivacyBudgetWarning,
            speak=math.inf,
        )


def warn_of_copies(estimator: BaseEstimator) -> None:
    """Warn, once a process and class, if another copy of the same estimator was fitted before."""
    if _number(estimator) > 1:
        _warn_once(
            estimator,
            "copies",
            f"Several copies of one {type(estimator).__name__} are being fitted (a search or cross-validation?). "
            "Every fit spends its own (epsilon, delta), and on overlapping data they add up: privacy_ of one "
            "model covers neither the other fits nor the choice among them.",
            PrivacyBudgetWarning,
            speak=2,
        )


def _number(estimator: Any) -> int:
    """An estimator's number among its parent's clones; 1 for one that is no clone."""
    return int(getattr(estimator, "_copy_number", 1))


def warn_of_classes(estimator: BaseEstimator) -> None:
    """Warn, once a process and class, that the labels are read off y."""
    _warn_once(
        estimator,
        "classes",
        f"classes=None: {type(estimator).__name__} reads the labels off y, and its promise does not cover what they "
        "reveal. Use classes= to name the labels that can occur.",
    )


class Caution(NamedTuple):
    """What public numbers say about a fit, in a sentence; it is told once a process and class."""

    key: str
    message: str
    category: type[Warning] = UncoveredDataWarning

    def warn(self, estimator: BaseEstimator) -> None:
        """Say it, unless it was said."""
        _warn_once(estimator, *self)


def rows_read_off(name: str) -> Caution:
    """A rule reads the number of rows."""
    return Caution(
        "public_rows",
        f"public_rows=None: {name} chooses by the number of rows in X, which is then treated as public. To drop this "
        "proviso, give public_rows= a number that does not come from these data.",
    )


def no_ranges(name: str, epsilon: float, rows: int, columns: int) -> Caution:
    """Public numbers do not allow private ranges."""
    return Caution(
        "feature_ranges",
        f"feature_ranges: {rows} rows are too few for private ranges of {columns} column{'s' * (columns != 1)} at "
        f"epsilon={epsilon:g}. {name} took none and spent nothing on them. Declare ranges with "
        "feature_ranges=(low, high), or keep fewer columns.",
        UserWarning,
    )


def not_centred(name: str) -> Caution:
    """Sparse rows are not centred where dense ones would be."""
    return Caution(
        "sparse",
        f"X is sparse, and {name} does not centre sparse rows, because centring would fill them; dense rows of this "
        "shape would be centred. Give X.toarray() where it fits into memory.",
        UserWarning,
    )


def warn_of_old_name(estimator: Any, option: str) -> None:
    """Warn, once a process and option, that a parameter stands in `advanced` now."""
    if ("", option) not in _told:
        _told.add(("", option))
        warnings.warn(
            f"{option} is an advanced option: {type(estimator).__name__}(advanced={{{option!r}: …}}) takes it, and the "
            "parameter of this name goes.",
            FutureWarning,
            stacklevel=_callers_in_this_package(),
        )


def warn_of_columns(estimator: Any, given: Any, columns: int) -> None:
    """Warn, once a process and class, of columns that normalised rows lose: by their number and their types alone."""
    if (
        getattr(estimator, "row_norm", "clip") != "normalize"
        or getattr(estimator, "feature_ranges", None) is not None
        or is_sparse(given)
    ):
        return
    name = type(estimator).__name__
    has_ranges = hasattr(estimator, "feature_ranges")  # which keep the lengths of rows of one column
    ranges = "feature_ranges=(low, high) or 'private'" if has_ranges else "a PublicRangeScaler"
    alone = ranges if has_ranges else f"{ranges}, and row_norm='clip'"
    if columns == 1:
        _warn_once(
            estimator,
            "one column",
            f"X has one column, and row_norm='normalize' leaves {name} only its sign. Give the column's range by "
            f"{alone}, or put an encoder with public knots in front.",
            UserWarning,
        )
    elif (whole := whole_columns(given)) and not _behind_a_step(sys._getframe(1)):
        _warn_once(
            estimator,
            "units",
            f"By its type column {whole[0]!r} holds whole numbers in units of its own. row_norm='normalize' divides "
            f"each row by its norm: columns of large numbers drown the others. Give ranges by {ranges}.",
            UserWarning,
        )


def warn_of_counts(estimator: Any, given: Any) -> None:
    """Warn, once a process and class, of sparse whole numbers outside of a pipeline: by type they count."""
    kind = getattr(given, "dtype", np.dtype(float)).kind
    if is_sparse(given) and kind in "iu" and not _behind_a_step(sys._getframe(1)):
        name = type(estimator).__name__
        _warn_once(
            estimator,
            "counts",
            "By its type X is sparse and holds whole numbers, as CountVectorizer makes them. A vocabulary that was "
            f"learned from private texts is outside of {name}'s promise. {_WORDS}.",
        )


def warn_of_one_answer(estimator: Any, label: Any) -> None:
    """Warn, once a process and class, that a released model has one answer for nearly all rows."""
    name = type(estimator).__name__
    _warn_once(
        estimator,
        "one answer",
        f"By its released numbers this {name} answers {label!r} for nearly every row. If the other class is rare, "
        "weigh its rows more: class_weight='balanced', or a dict.",
        UserWarning,
    )


def warn_of_pipeline(estimator: BaseEstimator) -> None:
    """Warn, once a process, of what a pipeline fitted on the data before it came to `estimator`."""
    for name in _fitted_before(sys._getframe(1)):
        _warn_once(
            estimator,
            f"pipeline {name}",
            f"The pipeline fits {name} on the data before {type(estimator).__name__}, whose promise does not cover "
            f"what {name} learns. {_WORDS if name in _OF_TEXTS else _SCALES}, or fit it on public data and "
            "freeze it (sklearn.frozen.FrozenEstimator).",
        )


def warn_of_refit(estimator: BaseEstimator, X: Any, y: Any) -> None:
    """Warn, once an estimator, that it is fitted again to the same data."""
    print_of_data = _fingerprint(X, y)
    seen = _seen.setdefault(estimator, set())
    if print_of_data in seen and estimator not in _warned_of_refit:
        warnings.warn(
            f"This {type(estimator).__name__} is being fitted again to the same data. Every fit spends its own "
            "(epsilon, delta), and they add up: privacy_ of one fit does not cover the others.",
            PrivacyBudgetWarning,
            stacklevel=CALLERS_OF_FIT,
        )
        _warned_of_refit.add(estimator)
    seen.add(print_of_data)


def _warn_once(
    estimator: Any, key: str, message: str, category: type[Warning] = UncoveredDataWarning, *, speak: float = 1
) -> None:
    """Warn, once a process and class; in a worker process only an estimator's first `speak` clones do."""
    spoken_for = multiprocessing.parent_process() is not None and _number(estimator) > speak
    if (type(estimator).__name__, key) not in _told and not spoken_for:
        warnings.warn(message, category, stacklevel=_callers_in_this_package())
        _told.add((type(estimator).__name__, key))


def _callers_in_this_package() -> int:
    """The stack level, for whoever calls `warnings.warn` two calls up, of the first caller outside of this package."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    return level


def _called_by(function: str, frame: FrameType | None) -> bool:
    """Whether a function of this name is among the nearest callers; parameters come through a pipeline or two."""
    for _ in range(_NEAR):
        if frame is None or frame.f_code.co_name == function:
            break
        frame = frame.f_back
    return frame is not None and frame.f_code.co_name == function


def _fingerprint(X: Any, y: Any) -> bytes:
    """A number that equal data have in common, from some of their rows; without this process's salt it says nothing."""
    count = X.shape[0]
    some = np.unique(np.linspace(0, count - 1, min(count, _SAMPLED)).astype(np.intp))
    rows = X[some]
    rows = np.asarray(rows) if isinstance(rows, np.ndarray) else rows.toarray()
    print_of_data = hashlib.blake2b(key=_SALT)
    for part in (repr((X.shape, rows.dtype, np.asarray(y).dtype)).encode(), rows.tobytes(), _as_bytes(y[some])):
        print_of_data.update(part)
    return print_of_data.digest()


def _as_bytes(labels: Any) -> bytes:
    if labels.dtype.kind != "O":
        return labels.tobytes()
    try:
        return repr(labels.tolist()).encode()
    except Exception:  # a label that cannot be shown must not stop a fit that counts its row as none
        return b""


# --- pipelines -------------------------------------------------------------------------------------------------------

# Transformers whose `fit` reads no more of the data than their number of columns, unless told to; the first that fits.
_READ_THE_SHAPE: Mapping[type, Callable[[Any], bool]] = {
    TfidfVectorizer: lambda step: step.vocabulary is not None and not step.use_idf,
    CountVectorizer: lambda step: step.vocabulary is not None,
    TfidfTransformer: lambda step: not step.use_idf,
    PolynomialFeatures: lambda step: True,
    PolynomialCountSketch: lambda step: True,
    SkewedChi2Sampler: lambda step: True,
    RBFSampler: lambda step: step.gamma != "scale",
    GaussianRandomProjection: lambda step: step.n_components != "auto",
    SparseRandomProjection: lambda step: step.n_components != "auto",
    OneHotEncoder: lambda step: (
        not isinstance(step.categories, str) and step.min_frequency is None and step.max_categories is None
    ),
    OrdinalEncoder: lambda step: (
        not isinstance(step.categories, str) and step.min_frequency is None and step.max_categories is None
    ),
}


def learn_from_data(step: Any) -> list[str]:
    """Name the transformers of a step whose `fit` takes anything from the data but their shape."""
    if isinstance(step, (Pipeline, FeatureUnion, ColumnTransformer)):
        return [name for part in _parts(step) for name in learn_from_data(part)]
    if step is None or isinstance(step, (str, FrozenEstimator)):
        return []
    if hasattr(getattr(step, "estimator", None), "fit_beside"):
        return []
    for kind, reads_the_shape in _READ_THE_SHAPE.items():
        if isinstance(step, kind):
            return [] if reads_the_shape(step) else [type(step).__name__]
    try:
        learns = get_tags(step).requires_fit
    except Exception:  # a step that is no estimator of scikit-learn's says nothing of itself
        learns = True
    return [type(step).__name__] if learns else []


def _parts(step: Pipeline | FeatureUnion | ColumnTransformer) -> list[Any]:
    if isinstance(step, ColumnTransformer):
        return [*(part for _, part, _ in step.transformers), step.remainder]
    return [part for _, part in (step.steps if isinstance(step, Pipeline) else step.transformer_list)]


def _fitted_before(frame: FrameType | None) -> Iterator[str]:
    """The steps that pipelines on the stack have fitted before the fit under way, and that learned from the data."""
    for step in _steps_before(frame):
        yield from learn_from_data(step)


def _behind_a_step(frame: FrameType | None) -> bool:
    """Whether a pipeline on the stack has anything in front of the fit under way."""
    return any(step is not None and not isinstance(step, str) for step in _steps_before(frame))


def _steps_before(frame: FrameType | None) -> Iterator[Any]:
    passed: set[int] = set()
    while frame is not None:
        code = frame.f_code
        # Locals are read only of what could be a pipeline's fit: reading them takes a copy.
        if "fit" in code.co_name and code.co_varnames[:1] == ("self",):
            places = frame.f_locals
            pipeline = places.get("self")
            if isinstance(pipeline, Pipeline) and id(pipeline) not in passed:
                passed.add(id(pipeline))
                now = places.get("step_idx", len(pipeline.steps) - 1)  # scikit-learn's name for the step it is at
                yield from (step for _, step in pipeline.steps[:now])
        frame = frame.f_back
