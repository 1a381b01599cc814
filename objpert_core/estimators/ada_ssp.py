"""AdaSSP: a ridge regression from noisy sums, with as much ridge as the noisy least eigenvalue leaves wanting."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from typing import Any, ClassVar

from objpert_core._literals import plain
from objpert_core._validation import FloatArray
from objpert_core.accounting import ADD_REMOVE, calibrate_gaussian
from objpert_core.estimators.bounded_targets import BoundedTargets, tell
from objpert_core.estimators.cautions import CALLERS_OF_FIT
from objpert_core.estimators.constraints import Constraint, one_of
from objpert_core.estimators.documented import documented
from objpert_core.learning.noise import noise_source
from objpert_core.learning.posterior.certificate import AdaSSPCertificate
from objpert_core.learning.posterior.noisy_sums import SumNoise, noisy_sums
from objpert_core.learning.release import Release
from objpert_core.learning.solvers import Callback

_UP = 1 + 2.0**-40


@documented
class AdaSSPRegressor(BoundedTargets):
    """Linear regression from noisy sums under (ε, δ)-differential privacy: adaptive sufficient statistics perturbation.

    The fit releases Σx̃x̃ᵀ, Σx̃ỹ and the least eigenvalue of Σx̃x̃ᵀ, each with normal noise. The fit solves the normal
    equations from these three alone. Where the least eigenvalue is small for so much noise, a ridge makes up the
    difference.

    Parameters
    ----------
    %(epsilon_for_a_row delta target_bound)s
    accounting : {"tight", "published"}, default="tight"
        "tight" takes the least noise with which the three releases together are (ε, δ)-DP. "published" takes the noise
        as printed, √log(6/δ)/(ε/3). Where the printed noise does not keep (ε, δ), as for large ε, a warning says so and
        the certificate does not verify.
    %(clipped_rows plain_intercept random_state on_error_by_row)s

    Attributes
    ----------
    %(fitted_bounded)s
    privacy_ : AdaSSPCertificate
        What was promised and how. `release` gives a copy of the model that may be published.
    %(fitted_features)s

    Notes
    -----
    Wang (2018), "Revisiting differentially private linear regression", Algorithm 2. docs/theorems.md, T14, T40.
    %(weights)s

    Examples
    --------
    %(example_rows)s
    >>> model = AdaSSPRegressor(epsilon=1.0, random_state=0).fit(X, y)
    >>> model.privacy_.verify(model), model.score(X, y) > 0.8
    (True, True)
    """

    CONSTRAINTS: ClassVar[Mapping[str, Constraint]] = {"accounting": one_of("tight", "published")}

    privacy_: AdaSSPCertificate

    def _release(self, X: Any, targets: FloatArray, callback: Callback | None, **options: Any) -> Release[Any]:
        noise, source = self._noise(), noise_source(self.random_state)
        sums = self._sums(X, targets)
        tell(callback, 0)
        released = noisy_sums(sums, noise, source)
        tell(callback, 1)
        certificate = AdaSSPCertificate(
            mechanism="Gaussian",
            adjacency=ADD_REMOVE,
            gram_noise=noise.gram,
            moment_noise=noise.moment,
            eigenvalue_noise=noise.eigenvalue,
            dimension=sums.dimension,
            lattice=released.spacing,
            **self._facts(source),
        )
        if not certificate.verify():
            warnings.warn(
                f"accounting='published': the printed noise is not ({plain(self.epsilon)}, {plain(self.delta)})-"
                "differentially private; the certificate does not verify.",
                UserWarning,
                stacklevel=CALLERS_OF_FIT,
            )
        tell(callback, 2)
        return Release(released.solution(), certificate, ())

    def _noise(self) -> SumNoise:
        epsilon, delta = float(self.epsilon), float(self.delta)
        if self.accounting == "tight":
            each = math.sqrt(3) * calibrate_gaussian(epsilon, delta).sigma * _UP
            return SumNoise(each, each, each, 2 * each)
        each = math.sqrt(math.log(6 / delta)) / (epsilon / 3)
        return SumNoise(each, each, each, math.log(6 / delta) / (epsilon / 3))
