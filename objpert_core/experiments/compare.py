"""What privacy costs on one data set: the same task without privacy and by several private learners.

`compare` is a generator that gives one value after each step. It looks freely at the test rows and at fits without
privacy, because it measures: only a private model and its certificate may be released, and where
`Settings.publishable` also that model's scores. The learners are those of `learners.COMPARABLE`.
"""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.metrics import auc, roc_curve

from objpert_core._validation import (
    FloatArray,
    IntArray,
    check_fields,
    choice,
    in_open_unit,
    integer_up_to,
    nonnegative_integer,
    positive,
    positive_integer,
    some_positive,
)
from objpert_core.accounting import BOUND_REGISTRY
from objpert_core.datasets import Dataset
from objpert_core.datasets._dataset import training_size
from objpert_core.estimators import PrivacyCertificate
from objpert_core.estimators.draws import fit_each
from objpert_core.evaluation import ManyClasses, TwoClasses, evaluate, split_by_coin
from objpert_core.experiments import paper
from objpert_core.experiments.learners import (
    COMPARABLE,
    DP_SGD,
    NON_PRIVATE,
    PUBLISHED,
    TIGHT,
    reference,
)
from objpert_core.experiments.live import DataFacts, StoppedError, stopper
from objpert_core.experiments.preprocessed import Prepared, prepared, slopes
from objpert_core.experiments.summary import Interval, mean_interval, wilson_interval
from objpert_core.learning.solvers import SOLVERS

METHODS = (NON_PRIVATE, PUBLISHED, TIGHT)
"""What is compared unless something else is asked for."""
TIGHT_BOUNDS = tuple(key for key, bound in BOUND_REGISTRY.items() if bound.has_losses)
"""The bounds that have a privacy profile under Algorithm 1: their privacy loss composes with the output noise's."""
MAX_REPEATS = 50
TEST_SHARE = 0.2
"""Of rows that coins split."""
_AT_ONCE = 10  # draws that are made together: more would keep those waiting who want to see the first

ROC_GRID = np.linspace(0.0, 1.0, 201)
ROC_GRID.setflags(write=False)


@dataclass(frozen=True)
class Settings:
    """What to compare. `bound`, one of `TIGHT_BOUNDS`, calibrates "tight"; `methods` are names of
    `learners.COMPARABLE`, each once. Draw i of every private method, 1 to `MAX_REPEATS` `repeats`, has the noise seed
    `seed + i`. `large_batch_size` and `fine_learning_rates` are those of "dpsgd-standardised", and DP-SGD that pays for
    its tuning trains K ~ Poisson(`mean_runs`) candidates. `solver` is for every method but DP-SGD and the reference.
    `publishable` splits the rows by coins, and scores private models by `evaluate` at the same ε and δ: one draw's
    model and scores may be released together.
    """

    epsilon: float = 1.0
    delta: float = 1e-5
    bound: str = "logistic"
    repeats: int = 10
    intercept_scaling: float = 0.3
    seed: int = 0
    methods: tuple[str, ...] = METHODS
    batch_size: int = 256
    epochs: int = 20
    learning_rates: tuple[float, ...] = (0.003, 0.01, 0.03, 0.1, 0.3)
    large_batch_size: int = 4096
    fine_learning_rates: tuple[float, ...] = (0.003, 0.01, 0.03, 0.1, 0.3, 0.7)
    mean_runs: float = paper.MEAN_RUNS
    solver: str = "newton"
    publishable: bool = False

    def __post_init__(self) -> None:
        check_fields(self, positive, "epsilon", "intercept_scaling", "mean_runs")
        check_fields(self, in_open_unit, "delta")
        choice("bound", self.bound, TIGHT_BOUNDS)
        integer_up_to("repeats", self.repeats, MAX_REPEATS)
        check_fields(self, nonnegative_integer, "seed")
        for name in self.methods:
            choice("methods", name, tuple(COMPARABLE))
        if not self.methods or len(set(self.methods)) < len(self.methods):
            raise ValueError(f"methods must be one or more names, each once, got {self.methods!r}")
        object.__setattr__(self, "methods", tuple(name for name in COMPARABLE if name in self.methods))
        check_fields(self, positive_integer, "batch_size", "large_batch_size", "epochs")
        check_fields(self, some_positive, "learning_rates", "fine_learning_rates")
        choice("solver", self.solver, tuple(SOLVERS))

    @property
    def private(self) -> tuple[str, ...]:
        """The private methods among `methods`."""
        return tuple(name for name in self.methods if COMPARABLE[name].private)

    @property
    def main(self) -> str | None:
        """The private method that the others are measured against: "tight", or else the first; None without any."""
        return TIGHT if TIGHT in self.methods else next(iter(self.private), None)

    @property
    def fits(self) -> int:
        """How many models are fitted: one without privacy, `repeats` for each private method."""
        return len(self.methods) - len(self.private) + len(self.private) * self.repeats

    def parameters(self, method: str) -> dict[str, Any]:
        """The keyword arguments of a private method's estimator, all but the noise seed."""
        learner = COMPARABLE[choice("method", method, tuple(COMPARABLE))]
        shared: dict[str, Any] = {"epsilon": self.epsilon, "delta": self.delta, "classes": (0, 1)}
        if self.solver != Settings.solver and learner.kind != DP_SGD:
            shared["solver"] = self.solver
        return shared | learner.parameters(self)

    def shares_work(self, method: str) -> bool:
        """Whether draws of a private method share work, so that several are made in little more time than one."""
        return bool(self.estimator(method, 0).shares_work)

    def estimator(self, method: str, draw: int) -> Any:
        """The unfitted private estimator of one draw."""
        return COMPARABLE[method].make(**self.parameters(method), random_state=self.seed + draw)


@dataclass(frozen=True, eq=False)
class Fit:
    """One fitted model and its results on the test rows.

    `seed` is the noise seed, `privacy` the certificate: both are None without privacy. All is outside the guarantee but
    a private model and its certificate.

    Parameters
    ----------
    auc : float
        Area under the ROC curve on the test rows; with more than two classes the mean over one against the rest. NaN
        where published counts of several classes hold no curve.
    roc : ndarray of shape (201,)
        True positive rate at the false positive rates of `ROC_GRID`; the same mean.
    coef : ndarray of shape (d,), or (K, d) with K > 2 classes
        The coefficients of the data's columns; of a model on mapped rows the slopes of its score.
    gradient_norms : tuple of float
        At the start and after each solver iteration; empty without privacy and for DP-SGD.
    seconds : float
        Calibration and tuning included; of draws made together an equal share.
    runs : int
        How many models were trained for this one; 0 where honest tuning drew K = 0 and released zeros.
    evaluation : TwoClasses, ManyClasses or None
        Where scores are as they may be published: what `accuracy`, `auc` and `roc` were computed from.
    """

    method: str
    seed: int | None
    accuracy: float
    auc: float
    roc: FloatArray
    coef: FloatArray
    intercept: float | FloatArray
    gradient_norms: tuple[float, ...]
    seconds: float
    privacy: PrivacyCertificate | None
    runs: int = 1
    learning_rate: float | None = None
    evaluation: TwoClasses | ManyClasses | None = None


_references: weakref.WeakKeyDictionary[Dataset, Fit] = weakref.WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class Comparison:
    """The fits made so far, in their order, never changed; `baseline` is the test accuracy of the training majority."""

    settings: Settings
    data: DataFacts
    baseline: float
    fits: tuple[Fit, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether every fit that was asked for has been made."""
        return len(self.fits) == self.settings.fits

    def of(self, method: str) -> tuple[Fit, ...]:
        """The fits of one method, in the order of their seeds."""
        return tuple(fit for fit in self.fits if fit.method == choice("method", method, tuple(COMPARABLE)))

    def accuracy(self, method: str) -> Interval | None:
        """Mean test accuracy over the noise draws, with its interval; None before the first fit."""
        fits = self.of(method)
        return mean_interval([fit.accuracy for fit in fits]) if fits else None

    def evaluation(self, method: str) -> TwoClasses | ManyClasses | None:
        """What may be published of the scores of a method's first model; None where scores are exact."""
        first = next(iter(self.of(method)), None)
        return None if first is None else first.evaluation

    def difference(self, method: str, other: str) -> Interval | None:
        """Mean accuracy of `method` minus `other`, paired by noise seed if both have noise; None before the first
        pair."""
        shares = [[fit.accuracy for fit in self.of(name)] for name in (method, other)]
        most = max(map(len, shares))
        pairs = zip(
            *(own * most if name == NON_PRIVATE else own for name, own in zip((method, other), shares, strict=True)),
            strict=False,
        )
        gaps = [one - two for one, two in pairs]
        return mean_interval(gaps) if gaps else None

    def auc(self, method: str) -> Interval | None:
        """Mean area under the ROC curve over the noise draws, with its interval; None where no fit has a curve."""
        areas = [fit.auc for fit in self.of(method) if not np.isnan(fit.auc)]
        return mean_interval(areas) if areas else None

    def roc(self, method: str) -> FloatArray | None:
        """Mean true positive rate at the false positive rates of `ROC_GRID`; None before the first fit."""
        fits = self.of(method)
        return np.mean([fit.roc for fit in fits], axis=0) if fits else None

    def largest_coefficients(self, count: int = 12) -> IntArray:
        """The columns with the largest coefficients without privacy, largest first; empty before the first fit.

        Where nothing is fitted without privacy, the first private model's count; with several classes the norm counts.
        """
        if not self.fits:
            return np.empty(0, dtype=np.intp)
        return np.argsort(-np.linalg.norm(np.atleast_2d(self.fits[0].coef), axis=0), kind="stable")[:count]

    def kept(self, columns: IntArray) -> float | None:
        """Size of the main private method's mean coefficients in these columns, relative to those without privacy."""
        private, reference = self.of(self.settings.main) if self.settings.main else (), self.of(NON_PRIVATE)
        if not private or not reference:
            return None
        mean = np.mean([fit.coef[..., columns] for fit in private], axis=0)
        return float(np.abs(mean).sum() / max(np.abs(reference[0].coef[..., columns]).sum(), 1e-300))

    @property
    def test_interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval that the finite test set leaves for the first model's accuracy, or the baseline's."""
        share = self.fits[0].accuracy if self.fits else self.baseline
        return wilson_interval(share, self.data.test_rows)


def compare(
    data: Dataset,
    settings: Settings = Settings(),
    should_stop: Callable[[], bool] = lambda: False,
    tell: Callable[[str, tuple[float, ...]], None] = lambda method, where: None,
) -> Iterator[Comparison]:
    """Fit without privacy, then by the private methods: those at once whose draws share work, the others draw by draw.
    Yields the comparison so far after each step. `should_stop` is asked before every fit and at every step of one: once
    it is true, the generator drops what is under way. `tell` is called there, too, with the method and what the
    estimator's callback was told. `ConvergenceError` where a private fit does not reach τ, and `ValueError` where a
    method cannot learn as many classes.

    >>> from objpert_core.datasets import load
    >>> *_, last = compare(load("breast-cancer"), Settings(epsilon=1.0, repeats=2))
    >>> [fit.method for fit in last.fits]
    ['non-private', 'published', 'published', 'tight', 'tight']
    """
    for name in settings.methods:
        if len(data.classes) > 2 and not COMPARABLE[name].many_classes:
            raise ValueError(f"methods must be among those that learn {len(data.classes)} classes, got {name!r}")
    public_rows = len(data.y_train)
    if settings.publishable:
        data, public_rows = _split_by_coin(data), training_size(public_rows + len(data.y_test))
    facts = DataFacts.of(data)
    state = Comparison(settings, facts, baseline=float(np.mean(data.y_test == facts.majority)))
    yield state
    check = stopper(should_stop)

    def watch(method: str, *where: float) -> None:
        check()
        tell(method, where)

    with suppress(StoppedError):
        if NON_PRIVATE in settings.methods:
            check()
            state = replace(state, fits=(_reference(data),))
            yield state
        for method, draws in _rounds(settings):
            check()
            fits = _private(data, public_rows, settings, method, draws, partial(watch, method))
            state = replace(state, fits=(*state.fits, *fits))
            yield state


def _rounds(settings: Settings) -> Iterator[tuple[str, range]]:
    """Which draws of which method are made at once: several where draws share work, else one."""
    quick = [name for name in settings.private if settings.solver == "newton" and settings.shares_work(name)]
    for name in quick:
        for first in range(0, settings.repeats, _AT_ONCE):
            yield name, range(first, min(first + _AT_ONCE, settings.repeats))
    slow = [name for name in settings.private if name not in quick]
    for draw in range(settings.repeats):
        for name in slow:
            yield name, range(draw, draw + 1)


def _reference(data: Dataset) -> Fit:
    """The fit without privacy, which no setting changes: made once for each data set in use."""
    if data not in _references:
        began = time.perf_counter()
        model = reference(data.X_train.shape[1]).fit(data.X_train, data.y_train)
        ready = Prepared(model, data.X_train, data.X_test)
        _references[data] = _judged(data, NON_PRIVATE, ready, time.perf_counter() - began)
    return _references[data]


def _split_by_coin(data: Dataset) -> Dataset:
    """The same rows with as large a test part on average, each row by its own coin."""
    X, y = np.concatenate([data.X_train, data.X_test]), np.concatenate([data.y_train, data.y_test])
    X_train, X_test, y_train, y_test = split_by_coin(X, y, TEST_SHARE, random_state=data.split_seed)
    return replace(data, X_train=X_train, X_test=X_test, y_train=y_train, y_test=y_test)


def _private(
    data: Dataset, public_rows: int, settings: Settings, method: str, draws: range, watch: Callable[..., None]
) -> tuple[Fit, ...]:
    began = time.perf_counter()
    models = [settings.estimator(method, draw).set_params(classes=_labels(data)) for draw in draws]
    ready = [prepared(COMPARABLE[method], model, data.X_train, data.X_test, public_rows) for model in models]
    for together in [ready] if ready[0].row_map is None else [[one] for one in ready]:
        fit_each([one.model for one in together], together[0].X_train, data.y_train, watch)
    seconds = (time.perf_counter() - began) / len(models)
    return tuple(_judged(data, method, one, seconds, settings) for one in ready)


def _labels(data: Dataset) -> tuple[int, ...]:
    return tuple(range(len(data.classes)))


def _judged(data: Dataset, method: str, ready: Prepared, seconds: float, settings: Settings | None = None) -> Fit:
    model = ready.model
    coef = slopes(ready)
    two = len(data.classes) == 2
    evaluation = None
    if settings is not None and settings.publishable:
        budget, seed = (settings.epsilon, settings.delta), model.random_state + 1
        evaluation = evaluate(model, ready.X_test, data.y_test, *budget, random_state=seed)
    accuracy, area, curve = _exact(data, ready) if evaluation is None else _noisy(evaluation)
    return Fit(
        method=method,
        seed=getattr(model, "random_state", None),
        accuracy=accuracy,
        auc=area,
        roc=curve,
        coef=coef[0] if two else coef,
        intercept=float(model.intercept_[0]) if two else np.array(model.intercept_, dtype=np.float64),
        gradient_norms=tuple(np.asarray(getattr(model, "gradient_norms_", ())).tolist()),
        seconds=seconds,
        privacy=getattr(model, "privacy_", None),
        runs=len(getattr(model, "candidates_", "1")),
        learning_rate=getattr(model, "learning_rate_", None),
        evaluation=evaluation,
    )


def _exact(data: Dataset, ready: Prepared) -> tuple[float, float, FloatArray]:
    """Accuracy, area under the ROC curve and the curve, all by counting test rows."""
    scores = ready.model.decision_function(ready.X_test)
    two = scores.ndim == 1
    found = scores > 0 if two else scores.argmax(axis=1)
    columns = {1: scores} if two else {label: scores[:, label] for label in np.unique(data.y_test)}
    curves = [roc_curve(data.y_test == label, score)[:2] for label, score in columns.items()]
    curve = np.mean([np.interp(ROC_GRID, *one) for one in curves], axis=0)
    return float(np.mean(found == data.y_test)), float(np.mean([auc(*one) for one in curves])), curve


def _noisy(evaluation: TwoClasses | ManyClasses) -> tuple[float, float, FloatArray]:
    """As `_exact`, from noisy counts; a curve that the noise bends back is drawn level there."""
    if isinstance(evaluation, ManyClasses):
        return evaluation.accuracy().value, np.nan, np.full(len(ROC_GRID), np.nan)
    across, up = np.maximum.accumulate(evaluation.roc()[["fpr", "tpr"]].to_numpy()).T
    return evaluation.accuracy().value, evaluation.auc().value, np.interp(ROC_GRID, across, up)
