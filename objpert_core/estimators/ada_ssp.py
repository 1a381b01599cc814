"""AdaSSP: a ridge regression from noisy sums, with as much ridge as the noisy least eigenvalue leaves wanting."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from objpert_core._literals import plain
from objpert_core.accounting import calibrate_gaussian
from objpert_core.accounting.mechanisms.base import ADD_REMOVE
from objpert_core.accounting.mechanisms.group import group
from objpert_core.accounting.terms import ROUNDING
from objpert_core.estimators.base import LinearRegressor
from objpert_core.estimators.cautions import Caution
from objpert_core.estimators.constraints import one_of
from objpert_core.estimators.documented import documented
from objpert_core.estimators.parameters import Advanced, Settings
from objpert_core.estimators.posterior_sample import ADVANCED, TOGETHER, facts_of, sums_of, tell, terms_of
from objpert_core.estimators.recipe import Data, Learned, Public, Recipe
from objpert_core.learning.fit import Seed
from objpert_core.learning.noise import noise_source
from objpert_core.learning.posterior.certificate import AdaSSPCertificate
from objpert_core.learning.posterior.noisy_sums import SumNoise, moved_sums, noisy_sums
from objpert_core.learning.release import Release
from objpert_core.learning.solvers import Callback

_UP = 1 + 2.0**-40


@documented
class AdaSSPRegressor(LinearRegressor):
    """Linear regression from noisy sums under (ε, δ)-differential privacy: adaptive sufficient statistics perturbation.

    The fit releases Σx̃x̃ᵀ, Σx̃ỹ and the least eigenvalue of Σx̃x̃ᵀ, each with normal noise, and solves the normal
    equations from these alone. Where the least eigenvalue is small for so much noise, a ridge makes up the difference.

    Parameters
    ----------
    %(epsilon delta target_bound)s
    accounting : {"tight", "published"}, default="tight"
        "tight" takes the least noise with which the three releases together are (ε, δ)-DP. "published" takes the noise
        as printed, √log(6/δ)/(ε/3); where that does not keep (ε, δ), a warning says so and the certificate does not
        verify.
    %(fit_intercept_or_not adjacency rows_per_person on_error_by_row random_state advanced)s

    Other Parameters
    ----------------
    %(clipped_rows squared_intercept_scaling)s

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

    CONSTRAINTS: ClassVar = {"accounting": one_of("tight", "published")}
    ADVANCED: ClassVar = ADVANCED
    TOGETHER: ClassVar = TOGETHER
    clips_targets = True

    def __init__(
        self, epsilon: float = 1.0, delta: float = 1e-5, *, target_range: Any = None, accounting: str = "tight",
        fit_intercept: bool = False, adjacency: str = ADD_REMOVE, rows_per_person: int = 1, on_error: str = "raise",
        random_state: Seed = None, advanced: Advanced = None, **old_names: Any,
    ) -> None:  # fmt: skip
        self.take(locals())

    def recipe(self, public: Public) -> Recipe:
        s, bound = self.settings, self.largest_target
        noise = _noise(s)
        mechanism = noise.mechanism(s.adjacency)

        def run(data: Data, random_states: Sequence[Seed], callback: Callback | None) -> Iterator[Learned]:
            for state in random_states:
                source = noise_source(state)
                sums = sums_of(s, data, bound)
                tell(callback, 0)
                released = noisy_sums(sums, noise, source)
                tell(callback, 1)
                certificate = AdaSSPCertificate.from_mechanism(
                    mechanism,
                    gram_noise=noise.gram,
                    moment_noise=noise.moment,
                    eigenvalue_noise=noise.eigenvalue,
                    dimension=sums.dimension,
                    lattice=released.spacing,
                    **facts_of(s, bound, source),
                )
                tell(callback, 2)
                yield Learned(Release(released.solution(), certificate, ()), {"n_iter_": 1})

        enough = group(mechanism, s.rows_per_person).delta(s.epsilon) <= s.delta * (1 + ROUNDING)
        cautions = () if enough else (_too_little_noise(s),)
        terms, ridge = terms_of(s), ("Σx̃x̃ᵀ, Σx̃ỹ and least eigenvalue, all noisy",)
        return Recipe("noisy sums", terms, mechanism, public, run, None, s.row_norm, released=ridge, cautions=cautions)


def _too_little_noise(s: Settings) -> Caution:
    words = (
        f"accounting='published': the printed noise is not ({plain(s.epsilon)}, {plain(s.delta)})-"
        "differentially private; the certificate does not verify."
    )
    return Caution("too little noise", words, UserWarning)


def _noise(s: Settings) -> SumNoise:
    gram, moment, eigenvalue = (s.rows_per_person * moved for moved in moved_sums(s.adjacency))
    if s.accounting == "tight":
        each = math.sqrt(3) * calibrate_gaussian(s.epsilon, s.delta).sigma * _UP
        return SumNoise(each * gram, each * moment, each * eigenvalue, 2 * each * eigenvalue)
    each = math.sqrt(math.log(6 / s.delta)) / (s.epsilon / 3)
    return SumNoise(each, each, each, math.log(6 / s.delta) / (s.epsilon / 3))
