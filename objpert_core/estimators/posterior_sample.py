"""What the regressions from exact sums of squares share: targets that are cut, and samples of posteriors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from objpert_core._literals import plain
from objpert_core.accounting import ADD_REMOVE, AdaptiveSampling, Mechanism
from objpert_core.accounting.terms import Terms
from objpert_core.estimators.cautions import Caution
from objpert_core.estimators.constraints import Constraint, one_of
from objpert_core.estimators.objective import constant_of
from objpert_core.estimators.parameters import Settings, Together
from objpert_core.estimators.recipe import Data, Learned
from objpert_core.learning.noise import NoiseSource
from objpert_core.learning.posterior.adaptive import ChooseLam, Run, tight_run
from objpert_core.learning.posterior.certificate import (
    AdaptiveSamplingCertificate,
    RegressionCertificate,
    SharedSamplingCertificate,
)
from objpert_core.learning.posterior.shares import Shares
from objpert_core.learning.posterior.sums import RegressionSums, regression_sums
from objpert_core.learning.release import Refused, Release
from objpert_core.learning.solvers import Callback

STAGES = 3
"""How often a callback is called."""
ADVANCED: Mapping[str, Any] = {"row_norm": "clip", "intercept_scaling": 0.3}
CONSTRAINTS: Mapping[str, Constraint] = {"accounting": one_of("tight", "split", "published")}
_WHERE = "where accounting={accounting!r}"
TOGETHER = (
    Together("adjacency", lambda s: s.accounting == "tight" or s.adjacency == ADD_REMOVE, f"be {ADD_REMOVE!r}", _WHERE),
    Together("rows_per_person", lambda s: s.accounting == "tight" or s.rows_per_person == 1, "be 1", _WHERE),
)


def tell(callback: Callback | None, stage: int) -> None:
    """Call a callback after a stage; the callback learns nothing of the data."""
    if callback is not None:
        callback(stage, 0.0)


def terms_of(s: Settings) -> Terms:
    """The promise: no rule goes by the number of rows."""
    return Terms(s.epsilon, s.delta, s.adjacency, s.rows_per_person)


def sums_of(s: Settings, data: Data, bound: float) -> RegressionSums:
    """The exact sums of rows and of targets that are cut to ±`bound`."""
    return regression_sums(
        data.X,
        data.targets,
        target_bound=bound,
        row_norm=s.row_norm,
        intercept_scaling=constant_of(s),
        on_error=s.on_error,
    )


def facts_of(s: Settings, bound: float, source: NoiseSource) -> dict[str, Any]:
    """The fields of a certificate that neither the mechanism nor the data decide."""
    return {
        "epsilon": s.epsilon,
        "delta": s.delta,
        "accountant": "profile",
        "row_norm": s.row_norm,
        "intercept_scaling": constant_of(s),
        **source.provenance,
        "on_error": s.on_error,
        "target_bound": bound,
        "rows_per_person": s.rows_per_person,
    }


def not_private_enough(s: Settings) -> tuple[Caution, ...]:
    """What has to be said of printed formulas."""
    if s.accounting != "published":
        return ()
    words = (
        "accounting='published': noise and precision are those of printed formulas that are not "
        f"({plain(s.epsilon)}, {plain(s.delta)})-differentially private; the certificate does not verify."
    )
    return (Caution("published", words, UserWarning),)


def mechanism_of(spent: AdaptiveSampling | Shares, runs: float) -> Mechanism:
    """What a sample is, or the best of so many, accounted for in this way."""
    return spent if isinstance(spent, AdaptiveSampling) else spent.mechanism(runs)


def sampled(
    sums: RegressionSums, spent: AdaptiveSampling | Shares, choose: ChooseLam, source: NoiseSource, **told: bool
) -> Run | None:
    """A run whose λ is chosen by what it has released; None where it refuses."""
    if isinstance(spent, AdaptiveSampling):
        return tight_run(sums, spent, choose, source)
    return spent.run(sums, choose, source, **told)


def learned_of(
    run: Run | None, spent: AdaptiveSampling | Shares, runs: float = 1.0, *, public_validation: bool, **facts: Any
) -> Learned:
    """The released draw, its λ and its certificate, or a refusal."""
    facts |= {"lattice": None if run is None else run.spacing, "public_validation": public_validation}
    certificate: RegressionCertificate
    if isinstance(spent, AdaptiveSampling):
        certificate = AdaptiveSamplingCertificate.from_mechanism(spent, **facts)
    else:
        certificate = SharedSamplingCertificate.from_mechanism(
            spent.mechanism(runs),
            tail=spent.statistics.tail,
            eigenvalue_mu=spent.statistics.eigenvalue_mu,
            norm_mu=spent.statistics.norm_mu,
            certified=not spent.published,
            **facts,
        )
    if run is None:
        return Learned(Refused(certificate))
    return Learned(Release(run.theta, certificate, ()), {"lam_": run.lam, "n_iter_": 1})
