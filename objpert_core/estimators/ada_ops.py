"""AdaOPS: one posterior sample of a ridge regression, as precise as two noisy statistics of the data allow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from objpert_core.accounting import AdaptiveSampling, calibrate_adaptive_sampling
from objpert_core.accounting.mechanisms.base import ADD_REMOVE
from objpert_core.estimators import posterior_sample
from objpert_core.estimators.base import LinearRegressor
from objpert_core.estimators.documented import documented
from objpert_core.estimators.parameters import Advanced, Settings
from objpert_core.estimators.posterior_sample import facts_of, learned_of, sampled, sums_of, tell, terms_of
from objpert_core.estimators.recipe import Data, Learned, Public, Recipe
from objpert_core.learning.fit import Seed
from objpert_core.learning.noise import noise_source
from objpert_core.learning.posterior.adaptive import adaptive_lam
from objpert_core.learning.posterior.shares import Shares, least_sum
from objpert_core.learning.solvers import Callback


@documented
class AdaOPSRegressor(LinearRegressor):
    """Linear regression by one posterior sample under (ε, δ)-differential privacy: adaptive one-posterior sampling.

    The fit releases one draw from N(θ*, (γΛ)⁻¹), where θ* is the ridge solution and Λ = Σx̃x̃ᵀ + λI. Before, it
    releases a noisy least eigenvalue of Σx̃x̃ᵀ, from which λ follows, and a noisy bound on ‖Y‖ + ‖θ*‖; γ is as large as
    both allow.

    Parameters
    ----------
    %(epsilon delta target_bound)s
    %(accounting_of_samples)s
    %(fit_intercept_or_not adjacency rows_per_person on_error_by_row random_state advanced)s

    Other Parameters
    ----------------
    %(clipped_rows squared_intercept_scaling)s

    Attributes
    ----------
    %(fitted_bounded)s
    lam_ : float
        λ, for rows of norm 1. Covered by the promise: it may be published.
    privacy_ : AdaptiveSamplingCertificate or SharedSamplingCertificate
        What was promised and how. `release` gives a copy of the model that may be published.
    %(fitted_features)s

    Notes
    -----
    Wang (2018), "Revisiting differentially private linear regression", Algorithm 3, accounted for anew. The draw is
    exact in floating point: docs/theorems.md, T40. `AdaSSPRegressor` is more accurate as a rule.
    %(weights)s

    Examples
    --------
    %(example_rows)s
    >>> model = AdaOPSRegressor(epsilon=1.0, random_state=0).fit(X, y)
    >>> model.privacy_.verify(model), model.score(X, y) > 0.8
    (True, True)
    """

    CONSTRAINTS: ClassVar = posterior_sample.CONSTRAINTS
    ADVANCED: ClassVar = posterior_sample.ADVANCED
    TOGETHER: ClassVar = posterior_sample.TOGETHER
    clips_targets = True

    def __init__(
        self, epsilon: float = 1.0, delta: float = 1e-5, *, target_range: Any = None, accounting: str = "tight",
        fit_intercept: bool = False, adjacency: str = ADD_REMOVE, rows_per_person: int = 1, on_error: str = "raise",
        random_state: Seed = None, advanced: Advanced = None, **old_names: Any,
    ) -> None:  # fmt: skip
        self.take(locals())

    def recipe(self, public: Public) -> Recipe:
        s, bound, dimension = self.settings, self.largest_target, public.columns + self.fit_intercept
        spent = _spent(s)
        if isinstance(spent, AdaptiveSampling):
            least = 1 / spent.leverage
        else:
            least = least_sum(spent.release_epsilon, spent.release_delta)
        lam = adaptive_lam(dimension, s.epsilon, s.delta, least)

        def run(data: Data, random_states: Sequence[Seed], callback: Callback | None) -> Iterator[Learned]:
            for state in random_states:
                source = noise_source(state)
                sums = sums_of(s, data, bound)
                tell(callback, 0)
                drawn = sampled(sums, spent, lam, source)
                tell(callback, 1)
                learned = learned_of(drawn, spent, public_validation=False, **facts_of(s, bound, source))
                tell(callback, 2)
                yield learned

        mechanism, released = posterior_sample.mechanism_of(spent, 1.0), ("λ",)
        cautions = posterior_sample.not_private_enough(s)
        told: dict[str, Any] = {"row_norm": s.row_norm, "released": released, "cautions": cautions}
        return Recipe("one posterior sample", terms_of(s), mechanism, public, run, **told)


def _spent(s: Settings) -> AdaptiveSampling | Shares:
    if s.accounting == "tight":
        about = {"adjacency": s.adjacency, "rows_per_person": s.rows_per_person}
        return calibrate_adaptive_sampling(s.epsilon, s.delta, **about)
    if s.accounting == "split":
        return Shares.valid(s.epsilon, s.delta, statistics=1 / 2, draw=1 / 3)
    return Shares.as_printed(s.epsilon, s.delta)
