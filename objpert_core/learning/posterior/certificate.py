"""The certificates of private linear regressions by one posterior draw, and by noisy sums."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any

from scipy.special import ndtr

from objpert_core._validation import FloatArray
from objpert_core.accounting import ADD_REMOVE, AdaptiveSampling, Gaussian, PrivateSelection, ProposeTestRelease
from objpert_core.accounting.numerics.rounding import promised
from objpert_core.accounting.terms import ROUNDING
from objpert_core.learning.certificates.base import PrivacyCertificate
from objpert_core.learning.certificates.field_rules import (
    COUNT,
    FROM_ONE,
    LENGTH,
    NONNEGATIVE,
    OPEN_UNIT,
    POSITIVE,
    SCHEMA,
    TRUTH,
    ZERO_OR_LENGTH,
    fact,
    form,
)
from objpert_core.learning.certificates.model import on_lattice
from objpert_core.learning.posterior.noisy_sums import SumNoise, sums_spacing
from objpert_core.learning.posterior.shares import by_shares
from objpert_core.learning.quadratic.certificate import row_smoothness


@dataclass(frozen=True, kw_only=True, repr=False)
class RegressionCertificate(PrivacyCertificate):
    """What certificates of these regressions share; `target_bound` is ‖Y‖, to which targets were clipped."""

    schema: int = fact(form(2), since=2, default=SCHEMA)
    intercept_scaling: float = fact(ZERO_OR_LENGTH)
    target_bound: float = fact(LENGTH)

    def fine_enough(self, spacing: float, dimension: int) -> bool:
        """Any lattice will do: rounding is post-processing."""
        return True

    def lies_on_lattice(self, coef: FloatArray) -> bool:
        """Say whether the coefficients are multiples of h, as a rounded draw's are."""
        return on_lattice(coef, self.lattice)

    def _caps(self) -> str:
        return f"  caps       {self._rows()}, targets clipped to {self.target_bound:g}"


@dataclass(frozen=True, kw_only=True, repr=False)
class AdaptiveSamplingCertificate(RegressionCertificate, mechanisms=("AdaptiveSampling",)):
    """The certificate of one posterior draw behind two released statistics, accounted for as a whole.

    `eigenvalue_mu` and `norm_mu` are sensitivity over noise of λ̃ and of log(‖Y‖ + ‖θ*‖), `leverage` and `separation`
    h₀ and d of the draw, `failure` how likely a statistic is on the unsafe side. `mean_runs` is E[K] of the best of K
    runs, 1.0 for one. `public_validation`: validation rows judged runs, **which are taken as public**.
    """

    eigenvalue_mu: float = fact(POSITIVE)
    norm_mu: float = fact(POSITIVE)
    leverage: float = fact(POSITIVE)
    separation: float = fact(NONNEGATIVE)
    failure: float = fact(OPEN_UNIT)
    mean_runs: float = fact(FROM_ONE)
    public_validation: bool = fact(TRUTH)

    @classmethod
    def numbers(cls, mechanism: AdaptiveSampling) -> dict[str, Any]:
        """Name both noises, the draw and the law of K."""
        return {name: getattr(mechanism, name) for name in _OF_DRAW}

    def rebuild(self) -> AdaptiveSampling:
        own = {name: getattr(self, name) for name in _OF_DRAW}
        return AdaptiveSampling(**own, adjacency=self.mechanism_adjacency)

    def holds(self) -> bool:
        """Say whether the best run, if there were several, was found by something public."""
        return self.mean_runs == 1 or self.public_validation

    def _lines(self) -> list[str]:
        return [
            "  proof      the statistics and the draw as a whole, for a row added or removed (T39)",
            f"  statistics sensitivity over noise {self.eigenvalue_mu:.6g} (least eigenvalue) and {self.norm_mu:.6g} "
            "(norm),",
            f"             moved to the safe side and by their sensitivity; unsafe with probability {self.failure:.3g}",
            f"  draw       leverage at most {self.leverage:.6g}, separation {self.separation:.6g}",
            _choice(self.mean_runs, self.public_validation),
            self._caps(),
        ]


@dataclass(frozen=True, kw_only=True, repr=False)
class SharedSamplingCertificate(
    RegressionCertificate,
    algorithm="posterior sampling by shares",
    mechanisms=("ProposeTestRelease", "PrivateSelection"),
):
    """The certificate of a posterior draw behind two released statistics, each with its own share of (ε, δ).

    The draw has (`release_epsilon`, `release_delta`) where both statistics, (`test_epsilon`, `test_delta`) together,
    are on the safe side; `failure` is how likely one is not. Each is moved to the safe side by `tail` deviations, and
    where `shifted` by its sensitivity, so that covering added rows is enough (T36, T39). `certified` is False where
    noise and γ are those of printed formulas that are not valid; such a certificate does not verify.
    """

    release_epsilon: float = fact(POSITIVE)
    release_delta: float = fact(OPEN_UNIT)
    test_epsilon: float = fact(POSITIVE)
    test_delta: float = fact(OPEN_UNIT)
    failure: float = fact(OPEN_UNIT)
    shifted: bool = fact(TRUTH)
    tail: float = fact(POSITIVE)
    eigenvalue_mu: float = fact(POSITIVE)
    norm_mu: float = fact(POSITIVE)
    mean_runs: float = fact(FROM_ONE)
    public_validation: bool = fact(TRUTH)
    certified: bool = fact(TRUTH, default=True)

    @classmethod
    def numbers(cls, mechanism: ProposeTestRelease | PrivateSelection) -> dict[str, Any]:
        """Name the shares; the fit itself says what the statistics' noise is."""
        base = mechanism.base if isinstance(mechanism, PrivateSelection) else mechanism
        runs = float(mechanism.mean_runs) if isinstance(mechanism, PrivateSelection) else 1.0
        return {name: getattr(base, name) for name in _SHARES} | {"mean_runs": runs}

    def rebuild(self) -> ProposeTestRelease | PrivateSelection:
        """See `PrivacyCertificate.rebuild`; the shares alone decide."""
        parts = (self.release_epsilon, self.release_delta, self.test_epsilon, self.test_delta, self.failure)
        return by_shares(parts, shifted=self.shifted, mean_runs=self.mean_runs)

    def holds(self) -> bool:
        """Say whether the statistics keep to their share, and the best run was found by something public, for one row
        that is added or removed.
        """
        statistics = Gaussian(1.0, math.hypot(self.eigenvalue_mu, self.norm_mu))
        return bool(
            self.certified
            and self.rows_per_person == 1
            and self.mechanism_adjacency == ADD_REMOVE
            and 2 * ndtr(-self.tail) <= self.failure * (1 + ROUNDING)
            and statistics.delta(self.test_epsilon) <= self.test_delta * (1 + ROUNDING)
            and (self.mean_runs == 1 or self.public_validation)
        )

    def _lines(self) -> list[str]:
        printed = "  NOT PROVED noise and precision as printed, which are too little and too high"
        return [
            *([] if self.certified else [printed]),
            f"  statistics ({promised(self.test_epsilon)}, {promised(self.test_delta)}); sensitivity over noise "
            f"{self.eigenvalue_mu:.6g} (least eigenvalue)",
            f"             and {self.norm_mu:.6g} (norm); unsafe with probability {self.failure:.3g}",
            f"  draw       ({promised(self.release_epsilon)}, {promised(self.release_delta)}); covers added rows",
            _choice(self.mean_runs, self.public_validation),
            self._caps(),
        ]


_OF_DRAW = tuple(item.name for item in fields(AdaptiveSampling) if item.name != "adjacency")
_SHARES = ("release_epsilon", "release_delta", "test_epsilon", "test_delta", "failure", "shifted")


def _choice(mean_runs: float, public_validation: bool) -> str:
    rows = "; validation rows are taken as public" if public_validation else ""
    return f"  choice     {'a single run' if mean_runs == 1 else f'the best of K runs, E[K] = {mean_runs:g}'}{rows}"


@dataclass(frozen=True, kw_only=True, repr=False)
class AdaSSPCertificate(RegressionCertificate, algorithm="AdaSSP", mechanisms=("Gaussian",)):
    """The certificate of noisy sums X̃ᵀX̃ and X̃ᵀỹ with a noisy λ_min(X̃ᵀX̃), and of all that is computed from them."""

    gram_noise: float = fact(POSITIVE)
    moment_noise: float = fact(POSITIVE)
    eigenvalue_noise: float = fact(POSITIVE)
    dimension: int = fact(COUNT)

    @classmethod
    def numbers(cls, mechanism: Gaussian) -> dict[str, Any]:
        """Name nothing: the mechanism has only what all three releases cost together."""
        return {}

    def rebuild(self) -> Gaussian:
        """Build the mechanism again: three Gaussian mechanisms add up in squares."""
        noise = SumNoise(self.gram_noise, self.moment_noise, self.eigenvalue_noise)
        return noise.mechanism(self.mechanism_adjacency)

    def holds(self) -> bool:
        """Say whether the sums lie on a lattice (docs/theorems.md, T40)."""
        return self.lattice is not None

    def fine_enough(self, spacing: float, dimension: int) -> bool:
        """Say whether this is the lattice of the sums before the noise, which dimension and constant decide."""
        entries = self.dimension * (self.dimension + 1) // 2
        return spacing == sums_spacing(row_smoothness(self.intercept_scaling), entries)

    def lies_on_lattice(self, coef: FloatArray) -> bool:
        """Any coefficients do: they are solved from sums that lie on the lattice."""
        return True

    def _lines(self) -> list[str]:
        return [
            "  proof      three Gaussian mechanisms; covers all that is computed from the noisy sums",
            f"  noise      {self.gram_noise:.6g} (Gram matrix), {self.moment_noise:.6g} (moments), "
            f"{self.eigenvalue_noise:.6g} (least eigenvalue),",
            f"             in units of what one row gives, in {self.dimension} dimensions",
            self._caps(),
        ]
