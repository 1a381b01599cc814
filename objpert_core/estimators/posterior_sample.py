"""The common ground of regressors by one posterior sample: three ways to account for it, and the record of a run."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar

from objpert_core._literals import plain
from objpert_core.accounting import ADD_REMOVE, AdaptiveSampling
from objpert_core.estimators.bounded_targets import BoundedTargets
from objpert_core.estimators.cautions import CALLERS_OF_FIT
from objpert_core.estimators.constraints import Constraint, one_of
from objpert_core.learning.noise import NoiseSource
from objpert_core.learning.posterior.adaptive import ChooseLam, Run, tight_run
from objpert_core.learning.posterior.certificate import (
    AdaptiveSamplingCertificate,
    RegressionCertificate,
    SharedSamplingCertificate,
)
from objpert_core.learning.posterior.shares import Shares
from objpert_core.learning.posterior.sums import RegressionSums
from objpert_core.learning.release import Refused, Release


class PosteriorSample(BoundedTargets):
    """A linear regression that releases one draw from a posterior; the promise covers its `lam_`."""

    CONSTRAINTS: ClassVar[Mapping[str, Constraint]] = {"accounting": one_of("tight", "split", "published")}

    lam_: float

    def _check_together(self, **options: Any) -> None:
        super()._check_together(**options)
        if self.accounting == "published":
            warnings.warn(
                "accounting='published': noise and precision are those of printed formulas that are not "
                f"({plain(self.epsilon)}, {plain(self.delta)})-differentially private; the certificate does not "
                "verify.",
                UserWarning,
                stacklevel=CALLERS_OF_FIT,
            )

    @staticmethod
    def _run(
        sums: RegressionSums, spent: AdaptiveSampling | Shares, choose: ChooseLam, source: NoiseSource, **told: bool
    ) -> Run | None:
        """A run whose λ is chosen by what it has released; None where it refuses."""
        if isinstance(spent, AdaptiveSampling):
            return tight_run(sums, spent, choose, source)
        return spent.run(sums, choose, source, **told)

    def _released(
        self,
        run: Run | None,
        spent: AdaptiveSampling | Shares,
        source: NoiseSource,
        runs: float = 1.0,
        public_validation: bool = False,
    ) -> Release[Any] | Refused[Any]:
        facts = self._facts(source) | {
            "lattice": None if run is None else run.spacing,
            "public_validation": public_validation,
        }
        certificate: RegressionCertificate
        if isinstance(spent, AdaptiveSampling):
            certificate = AdaptiveSamplingCertificate.from_mechanism(spent, **facts)
        else:
            certificate = SharedSamplingCertificate(
                mechanism="ProposeTestRelease" if runs == 1 else "PrivateSelection",
                adjacency=ADD_REMOVE,
                release_epsilon=spent.release_epsilon,
                release_delta=spent.release_delta,
                test_epsilon=spent.test_epsilon,
                test_delta=spent.test_delta,
                failure=spent.failure,
                shifted=spent.statistics.shifted,
                tail=spent.statistics.tail,
                eigenvalue_mu=spent.statistics.eigenvalue_mu,
                norm_mu=spent.statistics.norm_mu,
                mean_runs=runs,
                certified=not spent.published,
                **facts,
            )
        if run is None:
            return Refused(certificate)
        self.lam_ = run.lam
        return Release(run.theta, certificate, ())
