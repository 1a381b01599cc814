"""The certificates of private linear regressions by one posterior draw, and by noisy sums."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np
from scipy.special import ndtr

from objpert_core._validation import FloatArray
from objpert_core.accounting import ADD_REMOVE, AdaptiveSampling, Gaussian, PrivateSelection, ProposeTestRelease
from objpert_core.accounting.numerics.rounding import promised
from objpert_core.learning.certificate import ROUNDING, PrivacyCertificate
from objpert_core.learning.posterior.noisy_sums import sums_spacing
from objpert_core.learning.quadratic.certificate import row_smoothness
from objpert_core.learning.stated import (
    COUNT,
    NONNEGATIVE,
    OPEN_UNIT,
    POSITIVE,
    TRUTH,
    Stated,
    number,
)

_BOUND = number("a float from 1e-50 to 1e50", lambda value: 1e-50 <= value <= 1e50)
_CONSTANT = number("0.0 or a float from 1e-50 to 1e50", lambda value: value == 0 or 1e-50 <= value <= 1e50)
_FROM_ONE = number("a finite float >= 1", lambda value: 1 <= value < math.inf)


@dataclass(frozen=True, kw_only=True, repr=False)
class RegressionCertificate(PrivacyCertificate):
    """What certificates of these regressions share; `target_bound` is ‖Y‖, to which targets were clipped."""

    FIRST_SCHEMA: ClassVar[int] = 2
    STATED: ClassVar[Mapping[str, Stated]] = {"target_bound": _BOUND, "intercept_scaling": _CONSTANT}

    target_bound: float

    def holds(self) -> bool:
        """Say whether one row is added or removed: all bounds on what a row moves are about that."""
        return self.rows_per_person == 1 and self.mechanism_adjacency == ADD_REMOVE

    def fine_enough(self, spacing: float, dimension: int) -> bool:
        """Any lattice will do: rounding is post-processing."""
        return True

    def _names(self, model: Any) -> bool:
        """See `PrivacyCertificate`. Without a constant the intercept must be 0: an offset would come from elsewhere."""
        return super()._names(model) and (self.intercept_scaling > 0 or not np.any(model.intercept_))

    def _caps(self) -> str:
        return f"  caps       {self._rows()}, targets clipped to {self.target_bound:g}"


@dataclass(frozen=True, kw_only=True, repr=False)
class AdaptiveSamplingCertificate(RegressionCertificate, mechanisms=("AdaptiveSampling",)):
    """The certificate of one posterior draw behind two released statistics, accounted for as a whole.

    `eigenvalue_mu` and `norm_mu` are sensitivity over noise of λ̃ and of log(‖Y‖ + ‖θ*‖), `leverage` and `separation`
    h₀ and d of the draw, `failure` how likely a statistic is on the unsafe side in one run. `mean_runs` is E[K], where
    the best of K runs was released, and 1.0 for a single run; K itself stays secret. `public_validation` says that runs
    were judged by validation rows, **which are taken as public**.
    """

    STATED: ClassVar[Mapping[str, Stated]] = {
        "eigenvalue_mu": POSITIVE,
        "norm_mu": POSITIVE,
        "leverage": POSITIVE,
        "separation": NONNEGATIVE,
        "failure": OPEN_UNIT,
        "mean_runs": _FROM_ONE,
        "public_validation": TRUTH,
    }

    eigenvalue_mu: float
    norm_mu: float
    leverage: float
    separation: float
    failure: float
    mean_runs: float
    public_validation: bool

    @classmethod
    def numbers(cls, mechanism: AdaptiveSampling) -> dict[str, Any]:
        """Name both noises, the draw and the law of K."""
        return {item.name: getattr(mechanism, item.name) for item in fields(mechanism)}

    def rebuild(self) -> AdaptiveSampling:
        """See `PrivacyCertificate.rebuild`."""
        return AdaptiveSampling(**{item.name: getattr(self, item.name) for item in fields(AdaptiveSampling)})

    def holds(self) -> bool:
        """Say whether the best run, if there were several, was found by something public."""
        return super().holds() and (self.mean_runs == 1 or self.public_validation)

    def lies_on_lattice(self, coef: FloatArray) -> bool:
        """Say whether the coefficients are multiples of h, as a rounded draw's are."""
        return self.lattice is None or not np.fmod(coef, self.lattice).any()

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

    The draw has (`release_epsilon`, `release_delta`) where both statistics are on the safe side; both statistics
    together have (`test_epsilon`, `test_delta`); `failure` is how likely one is on the unsafe side. Each statistic is
    moved to the safe side by `tail` of its standard deviations; where `shifted`, also by its sensitivity, so that it is
    safe next to the data, too, and covering added rows is enough (T36; docs/theorems.md, T39, "Shares"). `certified` is
    False where noise and γ are those of printed formulas that are not valid; such a certificate does not verify. Other
    fields: `AdaptiveSamplingCertificate`.
    """

    STATED: ClassVar[Mapping[str, Stated]] = {
        "release_epsilon": POSITIVE,
        "release_delta": OPEN_UNIT,
        "test_epsilon": POSITIVE,
        "test_delta": OPEN_UNIT,
        "failure": OPEN_UNIT,
        "shifted": TRUTH,
        "tail": POSITIVE,
        "eigenvalue_mu": POSITIVE,
        "norm_mu": POSITIVE,
        "mean_runs": _FROM_ONE,
        "public_validation": TRUTH,
        "certified": TRUTH,
    }

    release_epsilon: float
    release_delta: float
    test_epsilon: float
    test_delta: float
    failure: float
    shifted: bool
    tail: float
    eigenvalue_mu: float
    norm_mu: float
    mean_runs: float
    public_validation: bool
    certified: bool = True

    @classmethod
    def numbers(cls, mechanism: ProposeTestRelease | PrivateSelection) -> dict[str, Any]:
        """Name the shares; the fit itself says what the statistics' noise is."""
        base = mechanism.base if isinstance(mechanism, PrivateSelection) else mechanism
        runs = float(mechanism.mean_runs) if isinstance(mechanism, PrivateSelection) else 1.0
        return {name: getattr(base, name) for name in _SHARES} | {"mean_runs": runs}

    def rebuild(self) -> ProposeTestRelease | PrivateSelection:
        """See `PrivacyCertificate.rebuild`; the shares alone decide."""
        shares = (self.release_epsilon, self.release_delta, self.test_epsilon, self.test_delta, self.failure)
        base = ProposeTestRelease(*shares, "added", self.shifted, uniform=True)
        return base if self.mean_runs == 1 else PrivateSelection(base, self.mean_runs, 1)

    def holds(self) -> bool:
        """Say whether the statistics keep to their share, and the best run was found by something public."""
        statistics = Gaussian(1.0, math.hypot(self.eigenvalue_mu, self.norm_mu))
        return bool(
            super().holds()
            and self.certified
            and 2 * ndtr(-self.tail) <= self.failure * (1 + ROUNDING)
            and statistics.delta(self.test_epsilon) <= self.test_delta * (1 + ROUNDING)
            and (self.mean_runs == 1 or self.public_validation)
        )

    def lies_on_lattice(self, coef: FloatArray) -> bool:
        """Say whether the coefficients are multiples of h, as a rounded draw's are."""
        return self.lattice is None or not np.fmod(coef, self.lattice).any()

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


_SHARES = ("release_epsilon", "release_delta", "test_epsilon", "test_delta", "failure", "shifted")


def _choice(mean_runs: float, public_validation: bool) -> str:
    rows = "; validation rows are taken as public" if public_validation else ""
    return f"  choice     {'a single run' if mean_runs == 1 else f'the best of K runs, E[K] = {mean_runs:g}'}{rows}"


@dataclass(frozen=True, kw_only=True, repr=False)
class AdaSSPCertificate(RegressionCertificate, algorithm="AdaSSP", mechanisms=("Gaussian",)):
    """The certificate of noisy sums X̃ᵀX̃ and X̃ᵀỹ with a noisy λ_min(X̃ᵀX̃), and of all that is computed from them.

    The three noises are standard deviations, each in units of what one row moves the sum by at most.
    """

    STATED: ClassVar[Mapping[str, Stated]] = {
        "gram_noise": POSITIVE,
        "moment_noise": POSITIVE,
        "eigenvalue_noise": POSITIVE,
        "dimension": COUNT,
    }

    gram_noise: float
    moment_noise: float
    eigenvalue_noise: float
    dimension: int

    @classmethod
    def numbers(cls, mechanism: Gaussian) -> dict[str, Any]:
        """Name nothing: the mechanism has only what all three releases cost together."""
        return {}

    def rebuild(self) -> Gaussian:
        """Build the mechanism again: three Gaussian mechanisms add up in squares."""
        noises = (self.gram_noise, self.moment_noise, self.eigenvalue_noise)
        return Gaussian(1.0, math.hypot(*(1 / noise for noise in noises)), adjacency=self.mechanism_adjacency)

    def holds(self) -> bool:
        """Say whether the sums lie on a lattice (docs/theorems.md, T40)."""
        return super().holds() and self.lattice is not None

    def fine_enough(self, spacing: float, dimension: int) -> bool:
        """Say whether this is the lattice of the sums before the noise, which dimension and constant decide."""
        entries = self.dimension * (self.dimension + 1) // 2
        return spacing == sums_spacing(row_smoothness(self.intercept_scaling), entries)

    def _lines(self) -> list[str]:
        return [
            "  proof      three Gaussian mechanisms; covers all that is computed from the noisy sums",
            f"  noise      {self.gram_noise:.6g} (Gram matrix), {self.moment_noise:.6g} (moments), "
            f"{self.eigenvalue_noise:.6g} (least eigenvalue),",
            f"             in units of what one row gives, in {self.dimension} dimensions",
            self._caps(),
        ]
