"""OPS-PTR: the best of several posterior samples of a ridge regression, each behind its own look at the data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_consistent_length, column_or_1d, validate_data

from objpert_core._validation import FloatArray, boolean, positive_array
from objpert_core.accounting import AdaptiveSampling, calibrate_adaptive_sampling
from objpert_core.estimators.bounded_targets import tell
from objpert_core.estimators.constraints import Constraint, number_from, or_none, refuse_weights
from objpert_core.estimators.documented import documented
from objpert_core.estimators.former import Seed
from objpert_core.estimators.frames import checked_rows, checked_targets
from objpert_core.estimators.posterior_sample import PosteriorSample
from objpert_core.estimators.scoring import FLOATS
from objpert_core.learning.noise import noise_source
from objpert_core.learning.posterior.adaptive import CANDIDATES, Run, best_run
from objpert_core.learning.posterior.shares import Shares
from objpert_core.learning.problem.rows import Rows
from objpert_core.learning.release import Refused, Release
from objpert_core.learning.solvers import Callback

_BEST_TESTED = 0.05  # τ·k: with E[K] = k/0.05 the best of k candidates is among those tried with probability .954

Judges = tuple[Rows, FloatArray]


def _candidates(name: str, value: Any) -> FloatArray:
    found = positive_array(name, value)
    if found.ndim != 1 or not found.size:
        raise ValueError(f"{name} must be None or one or more numbers > 0, got {value!r}")
    return found


def _pair(name: str, value: Any) -> Any:
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise ValueError(f"{name} must be None or a pair of rows and targets, got {value!r}")
    return value


@documented
class OPSPTRRegressor(PosteriorSample):
    """Linear regression by the best of several posterior samples under (ε, δ)-differential privacy.

    Each run draws a λ from a list, asks the data for two noisy statistics, and releases one draw from the posterior
    N(θ*, (γΛ)⁻¹), Λ = Σx̃x̃ᵀ + λI, with γ as large as the statistics allow. A random number of runs is made, and the
    best one on public validation rows is released. Without such rows there is a single run, with the middle λ.

    Parameters
    ----------
    %(epsilon_for_a_row delta target_bound)s
    lams : array-like of numbers > 0, shape (k,), or None, default=None
        The public list of λ, for rows of norm 1. None takes 30 from 2.5 to 2.5¹⁰, evenly spaced in the logarithm.
    validation : pair of array-like, or None, default=None
        Rows and targets by which runs are judged, unless `fit` gets others. **They are taken as public**: the promise
        does not cover them. A ridge regression on these rows alone is often as good.
    mean_runs : float >= 1 or None, default=None
        E[K] of the geometric number K of runs; more than 1 needs validation rows. None takes k/0.05 with validation
        rows, as published, and 1 without. K itself is not released: the proof averages over K.
    %(accounting_of_samples)s
    fallback : bool, default=True
        For "split": raise λ in a run where, by the released statistics, it would leave no γ. False refuses such a run,
        as published; `ReleaseRefusedError` if all runs refuse.
    %(clipped_rows plain_intercept random_state on_error_by_row)s

    Attributes
    ----------
    %(fitted_bounded)s
    lam_ : float
        λ of the run that was released, for rows of norm 1. Covered by the promise: it may be published.
    privacy_ : AdaptiveSamplingCertificate or SharedSamplingCertificate
        What was promised and how. `release` gives a copy of the model that may be published.
    %(fitted_features)s

    Notes
    -----
    Redberg, Zhu and Wang (2023), Algorithms 3 and 8, accounted for anew. The draw is exact in floating point:
    docs/theorems.md, T40. `AdaSSPRegressor` is more accurate as a rule. The time of a fit roughly reveals K: whoever
    gets the model must not see the time.
    %(weights)s

    Examples
    --------
    %(example_rows)s
    >>> model = OPSPTRRegressor(epsilon=1.0, mean_runs=10, random_state=0).fit(X, y, validation=(X[:100], y[:100]))
    >>> model.privacy_.verify(model), model.score(X, y) > 0.8
    (True, True)
    """

    CONSTRAINTS: ClassVar[Mapping[str, Constraint]] = {
        "lams": or_none(_candidates),
        "validation": or_none(_pair),
        "mean_runs": or_none(number_from(1)),
        "fallback": boolean,
    }
    __metadata_request__fit: ClassVar[dict[str, str]] = {"validation": UNUSED}  # and the base's

    def __init__(
        self, epsilon: float = 1.0, delta: float = 1e-5, target_bound: float = 1.0, *, lams: Any = None,
        validation: Any = None, mean_runs: float | None = None, accounting: str = "tight", fallback: bool = True,
        row_norm: str = "clip", fit_intercept: bool = False,
        intercept_scaling: float = 0.3, random_state: Seed = None, on_error: str = "raise",
    ) -> None:  # fmt: skip
        super().__init__(
            epsilon=epsilon, delta=delta, target_bound=target_bound, accounting=accounting, row_norm=row_norm,
            fit_intercept=fit_intercept, intercept_scaling=intercept_scaling, random_state=random_state,
            on_error=on_error,
        )  # fmt: skip
        self.lams = lams
        self.validation = validation
        self.mean_runs = mean_runs
        self.fallback = fallback

    def fit(
        self, X: Any, y: Any = None, *, validation: Any = None, callback: Callback | None = None, **others: Any
    ) -> Self:
        """Fit the private model; see `ObjPertRegressor.fit` for the rest.

        Parameters
        ----------
        X, y
        validation : pair of array-like, optional
            Rows and targets in place of the parameter's; **taken as public**.
        callback : callable, optional
            ``callback(stage, 0.0)`` after each of three stages. An exception raised in it stops the fit, leaves the
            estimator unfitted and is passed on.
        **others
            None. `sample_weight` gets a `TypeError`.

        Raises
        ------
        ReleaseRefusedError
            If all runs refuse; the error's certificate says what was spent.
        """
        refuse_weights(self, others)
        return self.fit_beside((), X, y, callback, validation=self.validation if validation is None else validation)

    def _check_together(self, **options: Any) -> None:
        super()._check_together(**options)
        if options["validation"] is not None:
            _pair("validation", options["validation"])
        elif self.mean_runs is not None and self.mean_runs > 1:
            raise ValueError(f"mean_runs must be None or 1 without validation rows, got {self.mean_runs!r}")

    def _release(
        self, X: Any, targets: FloatArray, callback: Callback | None, **options: Any
    ) -> Release[Any] | Refused[Any]:
        judges = self._judges(options["validation"])
        lams = list(CANDIDATES) if self.lams is None else [float(lam) for lam in self.lams]
        if judges is None:
            lams, runs = [sorted(lams)[len(lams) // 2]], 1.0
        else:
            runs = float(len(lams) / _BEST_TESTED if self.mean_runs is None else self.mean_runs)
        spent = self._spent(runs)
        source = noise_source(self.random_state)
        sums = self._sums(X, targets)
        tell(callback, 0)
        falls_back = bool(self.fallback) and self.accounting == "split"
        best = best_run(
            lambda lam: self._run(sums, spent, lambda released: lam, source, fallback=falls_back),
            lams,
            lambda run: self._score(run, judges),
            runs,
            source,
        )
        tell(callback, 1)
        outcome = self._released(best, spent, source, runs, public_validation=judges is not None)
        tell(callback, 2)
        return outcome

    def _spent(self, runs: float) -> AdaptiveSampling | Shares:
        epsilon, delta = float(self.epsilon), float(self.delta)
        if self.accounting == "tight":
            return calibrate_adaptive_sampling(epsilon, delta, mean_runs=runs)
        if self.accounting == "split":
            share = epsilon if runs == 1 else epsilon / 3
            return Shares.valid(share, delta / runs, statistics=1 / 3, draw=1 / 3)
        if runs > 1:
            epsilon, delta = _printed_share(epsilon, delta, runs)
        return Shares.as_printed(epsilon, delta)

    def _judges(self, validation: Any) -> Judges | None:
        if validation is None:
            return None
        X, y = validation
        X = validate_data(self, checked_rows(X), accept_sparse="csr", dtype=FLOATS, ensure_all_finite=True, reset=False)
        y = column_or_1d(checked_targets(y), dtype=np.float64)
        check_consistent_length(X, y)
        if not np.isfinite(y).all():
            raise ValueError("validation must hold finite targets")
        bound = float(self.target_bound)
        return Rows(X, self.row_norm, self._constant), np.clip(y, -bound, bound)

    def _score(self, run: Run, judges: Judges | None) -> float:
        if judges is None:
            return 0.0
        rows, targets = judges
        with np.errstate(over="ignore"):
            return -float(np.mean((rows.margins(run.theta) - targets) ** 2))


def _printed_share(epsilon: float, delta: float, runs: float) -> tuple[float, float]:
    """(ε*, δ*) of one run by Theorem 4.6: ε = 3ε* + 3√(2δ*) and δ = √(2δ*)·T + δ₂, T = E[K]·log(1/δ₂), δ₂ = δ/2."""
    root = delta / 2 / (runs * math.log(2 / delta))
    return (epsilon - 3 * root) / 3, root**2 / 2
