"""AdaOPS: one posterior sample of a ridge regression, as precise as two noisy statistics of the data allow."""

from __future__ import annotations

from typing import Any

from objpert_core._validation import FloatArray
from objpert_core.accounting import AdaptiveSampling, calibrate_adaptive_sampling
from objpert_core.estimators.bounded_targets import tell
from objpert_core.estimators.documented import documented
from objpert_core.estimators.posterior_sample import PosteriorSample
from objpert_core.learning.noise import noise_source
from objpert_core.learning.posterior.adaptive import adaptive_lam
from objpert_core.learning.posterior.shares import Shares, least_sum
from objpert_core.learning.release import Refused, Release
from objpert_core.learning.solvers import Callback


@documented
class AdaOPSRegressor(PosteriorSample):
    """Linear regression by one posterior sample under (ε, δ)-differential privacy: adaptive one-posterior sampling.

    The fit releases one draw from N(θ*, (γΛ)⁻¹), where θ* is the ridge solution and Λ = Σx̃x̃ᵀ + λI. Before the draw it
    releases a noisy least eigenvalue of Σx̃x̃ᵀ, from which λ follows, and a noisy bound on ‖Y‖ + ‖θ*‖. γ is as large as
    these two numbers allow.

    Parameters
    ----------
    %(epsilon_for_a_row delta target_bound)s
    %(accounting_of_samples)s
    %(clipped_rows plain_intercept random_state on_error_by_row)s

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

    def _release(
        self, X: Any, targets: FloatArray, callback: Callback | None, **options: Any
    ) -> Release[Any] | Refused[Any]:
        epsilon, delta = float(self.epsilon), float(self.delta)
        spent = self._spent(epsilon, delta)
        source = noise_source(self.random_state)
        sums = self._sums(X, targets)
        tell(callback, 0)
        if isinstance(spent, AdaptiveSampling):
            least = 1 / spent.leverage
        else:
            least = least_sum(spent.release_epsilon, spent.release_delta)
        run = self._run(sums, spent, adaptive_lam(sums.dimension, epsilon, delta, least), source)
        tell(callback, 1)
        outcome = self._released(run, spent, source)
        tell(callback, 2)
        return outcome

    def _spent(self, epsilon: float, delta: float) -> AdaptiveSampling | Shares:
        if self.accounting == "tight":
            return calibrate_adaptive_sampling(epsilon, delta)
        if self.accounting == "split":
            return Shares.valid(epsilon, delta, statistics=1 / 2, draw=1 / 3)
        return Shares.as_printed(epsilon, delta)
