"""OPS-PTR: the best of several posterior samples of a ridge regression, each behind its own look at the data."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_consistent_length, column_or_1d, validate_data

from objpert_core._validation import FloatArray, boolean, positive_array
from objpert_core.accounting import AdaptiveSampling, calibrate_adaptive_sampling
from objpert_core.accounting.mechanisms.base import ADD_REMOVE
from objpert_core.estimators import posterior_sample
from objpert_core.estimators.base import LinearRegressor
from objpert_core.estimators.constraints import number_from, or_none, refuse_weights
from objpert_core.estimators.documented import documented
from objpert_core.estimators.frames import checked_rows, checked_targets
from objpert_core.estimators.objective import constant_of
from objpert_core.estimators.parameters import Advanced, Settings
from objpert_core.estimators.posterior_sample import facts_of, learned_of, sampled, sums_of, tell, terms_of
from objpert_core.estimators.recipe import Data, Learned, Public, Recipe
from objpert_core.estimators.scoring import FLOATS
from objpert_core.learning.fit import Seed
from objpert_core.learning.noise import noise_source
from objpert_core.learning.posterior.adaptive import CANDIDATES, Run, best_run
from objpert_core.learning.posterior.shares import Shares
from objpert_core.learning.problem.rows import Rows
from objpert_core.learning.solvers import Callback

_BEST_TESTED = 0.05  # τ·k: with E[K] = k/0.05 the best of k candidates is among those tried with probability .954


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
class OPSPTRRegressor(LinearRegressor):
    """Linear regression by the best of several posterior samples under (ε, δ)-differential privacy.

    Each run draws a λ from a list, asks the data for two noisy statistics, and releases one draw from the posterior
    N(θ*, (γΛ)⁻¹), Λ = Σx̃x̃ᵀ + λI, with γ as large as the statistics allow. A random number of runs is made, and the
    best one on public validation rows is released. Without such rows there is a single run, with the middle λ.

    Parameters
    ----------
    %(epsilon delta target_bound)s
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
    %(fit_intercept_or_not adjacency rows_per_person on_error_by_row random_state advanced)s

    Other Parameters
    ----------------
    %(clipped_rows squared_intercept_scaling)s

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

    CONSTRAINTS: ClassVar = {
        **posterior_sample.CONSTRAINTS,
        "lams": or_none(_candidates),
        "validation": or_none(_pair),
        "mean_runs": or_none(number_from(1)),
        "fallback": boolean,
    }
    ADVANCED: ClassVar = posterior_sample.ADVANCED
    TOGETHER: ClassVar = posterior_sample.TOGETHER
    __metadata_request__fit: ClassVar[dict[str, str]] = {"validation": UNUSED}  # and the base's
    clips_targets = True

    def __init__(
        self, epsilon: float = 1.0, delta: float = 1e-5, *, target_range: Any = None, lams: Any = None,
        validation: Any = None, mean_runs: float | None = None, accounting: str = "tight", fallback: bool = True,
        fit_intercept: bool = False, adjacency: str = ADD_REMOVE, rows_per_person: int = 1, on_error: str = "raise",
        random_state: Seed = None, advanced: Advanced = None, **old_names: Any,
    ) -> None:  # fmt: skip
        self.take(locals())

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
        judges = self.validation if validation is None else _pair("validation", validation)
        return self.fit_beside((), X, y, callback, judges=judges)

    def recipe(self, public: Public) -> Recipe:
        s, bound = self.settings, self.largest_target
        judged = public.judged or s.validation is not None
        lams, runs = _tried(s, judged)
        spent = _spent(s, runs)
        falls_back = s.fallback and s.accounting == "split"

        def run(data: Data, random_states: Sequence[Seed], callback: Callback | None) -> Iterator[Learned]:
            score = _score_of(self, s, data.judges)
            for state in random_states:
                source = noise_source(state)
                sums = sums_of(s, data, bound)
                tell(callback, 0)

                def drawn(lam: float, sums: Any = sums, source: Any = source) -> Run | None:
                    return sampled(sums, spent, lambda released: lam, source, fallback=falls_back)

                best = best_run(drawn, lams, score, runs, source)
                tell(callback, 1)
                learned = learned_of(best, spent, runs, public_validation=judged, **facts_of(s, bound, source))
                tell(callback, 2)
                yield learned

        mechanism, released = posterior_sample.mechanism_of(spent, runs), ("λ",)
        cautions = posterior_sample.not_private_enough(s)
        told: dict[str, Any] = {"row_norm": s.row_norm, "released": released, "cautions": cautions}
        return Recipe("the best of several posterior samples", terms_of(s), mechanism, public, run, **told)


def _tried(s: Settings, judged: bool) -> tuple[list[float], float]:
    """The λ to draw from, and E[K]; without rows to judge by there is one run, with the middle λ."""
    lams = list(CANDIDATES) if s.lams is None else [float(lam) for lam in s.lams]
    if judged:
        return lams, float(len(lams) / _BEST_TESTED if s.mean_runs is None else s.mean_runs)
    if s.mean_runs is not None and s.mean_runs > 1:
        raise ValueError(f"mean_runs must be None or 1 without validation rows, got {s.mean_runs!r}")
    return [sorted(lams)[len(lams) // 2]], 1.0


def _spent(s: Settings, runs: float) -> AdaptiveSampling | Shares:
    if s.accounting == "tight":
        about: dict[str, Any] = {"adjacency": s.adjacency, "rows_per_person": s.rows_per_person}
        return calibrate_adaptive_sampling(s.epsilon, s.delta, mean_runs=runs, **about)
    if s.accounting == "split":
        share = s.epsilon if runs == 1 else s.epsilon / 3
        return Shares.valid(share, s.delta / runs, statistics=1 / 3, draw=1 / 3)
    return Shares.as_printed(*(_printed_share(s.epsilon, s.delta, runs) if runs > 1 else (s.epsilon, s.delta)))


def _score_of(model: OPSPTRRegressor, s: Settings, validation: Any) -> Callable[[Run], float]:
    """How good a run is on rows that are public; without such rows none is better than another."""
    if validation is None:
        return lambda run: 0.0
    X, y = validation
    X = validate_data(model, checked_rows(X), accept_sparse="csr", dtype=FLOATS, ensure_all_finite=True, reset=False)
    y = column_or_1d(checked_targets(y), dtype=np.float64)
    check_consistent_length(X, y)
    if not np.isfinite(y).all():
        raise ValueError("validation must hold finite targets")
    bound = model.largest_target
    rows, targets = Rows(X, s.row_norm, constant_of(s)), np.clip(model.encoded(y), -bound, bound)

    def score(run: Run) -> float:
        with np.errstate(over="ignore"):
            return -float(np.mean((rows.margins(run.theta) - targets) ** 2))

    return score


def _printed_share(epsilon: float, delta: float, runs: float) -> tuple[float, float]:
    """(ε*, δ*) of one run by Theorem 4.6: ε = 3ε* + 3√(2δ*) and δ = √(2δ*)·T + δ₂, T = E[K]·log(1/δ₂), δ₂ = δ/2."""
    root = delta / 2 / (runs * math.log(2 / delta))
    return (epsilon - 3 * root) / 3, root**2 / 2
