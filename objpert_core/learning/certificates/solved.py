"""What the certificates of fits by a solver share: centre and scales, several classes, and where the solver stopped."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from objpert_core._validation import FloatArray
from objpert_core.accounting import Mechanism, RangeNoise, Standardisation
from objpert_core.accounting.steps.base import asked
from objpert_core.accounting.steps.class_counts import ClassCounts
from objpert_core.accounting.terms import Terms
from objpert_core.learning.allowance import DEFAULT_TAU
from objpert_core.learning.certificates.base import PrivacyCertificate
from objpert_core.learning.certificates.field_rules import (
    COUNT,
    FROM_ZERO,
    LATER,
    NONNEGATIVE,
    POSITIVE,
    TRUTH,
    fact,
    one_of,
    or_nothing,
)
from objpert_core.learning.certificates.model import on_lattice
from objpert_core.learning.certificates.shown import by_public_rows
from objpert_core.learning.noise import LARGEST_RATIO

PRIVATE, MIXED, WITHIN = "private", "public and private", "private within public"
"""Where ranges came from: all from noisy counts, or some, or all from noisy counts within declared limits."""


@dataclass(frozen=True, kw_only=True, repr=False)
class SolvedCertificate(PrivacyCertificate):
    """The certificate of a release whose proof needs a solver to get near the minimiser.

    Attributes
    ----------
    gradient_norm, n_iter : float, int or None
        Diagnostics: the largest gradient norm at a solution, all iterations; None in a `public` certificate.
    center_noise, scale_noise : float or None
        Standard deviation of the noise on the sum of rows' directions, and of sizes, where rows were centred and
        scaled.
    fits : int
        How many fits by the mechanism there are, one for each class against the others.
    rest_weight : float
        How long a row is in the fits of classes that it does not belong to.
    feature_ranges : {"public", "private", "public and private", "private within public"} or None
        Where the ranges of the columns came from. That public ranges did not come from the data is taken on trust.
    magnitudes_noise, quantiles_noise, range_columns : float or None
        Standard deviations of the noise on the bins of both histograms that private ranges came from, and their
        columns; within public limits there is no histogram of magnitudes.
    weighted : bool
        Whether each row's loss had a weight of its own, at most 1.
    class_count_noise : float or None
        Standard deviation of the noise on the count of each class, where weights were made of the counts.
    """

    OUTPUT_NOISE: ClassVar[str] = "sigma_out"
    """The field with the standard deviation of the noise on every coefficient."""

    gradient_norm: float | None = fact(or_nothing(NONNEGATIVE), diagnostic=True, default=None)
    n_iter: int | None = fact(or_nothing(FROM_ZERO), diagnostic=True, default=None)
    center_noise: float | None = fact(or_nothing(POSITIVE), since=LATER, default=None)
    scale_noise: float | None = fact(or_nothing(POSITIVE), since=LATER, default=None)
    fits: int = fact(COUNT, since=LATER, default=1)
    rest_weight: float = fact(POSITIVE, since=LATER, default=1.0)
    feature_ranges: str | None = fact(or_nothing(one_of("public", PRIVATE, MIXED, WITHIN)), since=LATER, default=None)
    magnitudes_noise: float | None = fact(or_nothing(POSITIVE), since=LATER, default=None)
    quantiles_noise: float | None = fact(or_nothing(POSITIVE), since=LATER, default=None)
    range_columns: int | None = fact(or_nothing(COUNT), since=LATER, default=None)
    weighted: bool = fact(TRUTH, since=LATER, default=False)
    class_count_noise: float | None = fact(or_nothing(POSITIVE), since=LATER, default=None)

    @property
    def standardisation(self) -> Standardisation:
        """The noise of the centre and the scales that were released before the fit."""
        return Standardisation(self.center_noise, self.scale_noise)

    @property
    def ranges(self) -> RangeNoise | None:
        """The noise of the ranges that were released before all else."""
        if self.range_columns is None:
            return None
        return RangeNoise(self.magnitudes_noise, self.quantiles_noise, self.range_columns)

    @property
    def terms(self) -> Terms:
        """What is promised, and what the promise pays for."""
        counts = None if self.class_count_noise is None else ClassCounts(self.class_count_noise)
        return Terms(
            self.epsilon,
            self.delta,
            self.mechanism_adjacency,
            self.rows_per_person,
            self.accountant,
            steps=asked(counts, self.ranges, self.standardisation),
            fits=self.fits,
            rest_weight=self.rest_weight,
        )

    def accounted(self, mechanism: Any) -> Mechanism:
        """Return the whole: what was released before, and all fits, for all rows of one person."""
        return self.terms.whole(mechanism)

    def _contradiction(self) -> str | None:
        steps = {name: getattr(self, name) for name in ("center_noise", "scale_noise")}
        for name, noise in steps.items():
            if noise is not None and self.row_norm != "normalize" and self.feature_ranges is None:
                return f"{name} must be None for row_norm={self.row_norm!r} without ranges, got {noise!r}"
            if noise is not None and getattr(self, "public_rows", None) is None:
                return f"public_rows must be a number where {name} is one, got None"
        private = self.feature_ranges in (PRIVATE, MIXED, WITHIN)
        for name, needed in (
            ("magnitudes_noise", private and self.feature_ranges != WITHIN),
            ("range_columns", private),
        ):
            if (getattr(self, name) is not None) is not needed:
                return f"{name} must be a number for private ranges, and only for them, got {getattr(self, name)!r}"
        if self.quantiles_noise is not None and not private:
            return f"quantiles_noise must be None where ranges are not private, got {self.quantiles_noise!r}"
        if self.quantiles_noise is None and self.feature_ranges == WITHIN:
            return f"quantiles_noise must be a number where ranges are {WITHIN!r}, got None"
        if private and getattr(self, "public_rows", None) is None:
            return "public_rows must be a number for private ranges, got None"
        if self.rest_weight != 1.0 and not (self.fits > 1 and self.rest_weight < 1.0):
            return f"rest_weight must be 1.0 for one fit, and at most 1.0 for several, got {self.rest_weight!r}"
        if self.class_count_noise is not None and not self.weighted:
            return f"class_count_noise must be None where rows have no weights, got {self.class_count_noise!r}"
        return super()._contradiction()

    def _by_rows(self, rows: int | None, declared: bool | None, *, has_rule: bool) -> list[str]:
        """The line of `repr` on what was chosen by the number of rows; a map may go by rows where λ does not."""
        steps = ["ranges"] * (self.ranges is not None)
        steps += [name for name in ("center", "scale") if getattr(self, f"{name}_noise") is not None]
        if has_rule or not steps:
            chosen = steps + ["tau"] * (getattr(self, "tau", 0.0) > DEFAULT_TAU)
            what = f"{', '.join(chosen)} or lam was" if chosen else "lam was"
        else:
            what = f"{' and '.join(steps)} {'was' if steps in (['center'], ['scale']) else 'were'}"
        return by_public_rows(rows, declared, what)

    def _before(self) -> list[str]:
        """The lines of `repr` for what was released before the fit, and for several fits."""
        lengths = self.row_norm != "normalize"  # which rows in ranges keep until they are centred
        steps = [
            ("center", f"{'rows' if lengths else 'directions'} centred", self.center_noise, "Σu"),
            ("scale", f"columns scaled{', rows normalised' * lengths}", self.scale_noise, "Σ|z|"),
        ]
        lines = self._of_ranges()
        lines += [
            f"  {name:<10} {what}, noise on {of} {noise:.6g}: part of the promise"
            for name, what, noise, of in steps
            if noise is not None
        ]
        if self.weighted:
            how = "each row's own"
            if self.class_count_noise is not None:
                how = f"by counts of the classes, noise on each {self.class_count_noise:.6g}: part of the promise"
            lines.insert(0, f"  weights    at most 1, {how}")
        if self.fits > 1:
            rest = "" if self.rest_weight == 1.0 else f", rows of other classes {self.rest_weight:.6g} times as long"
            lines.append(f"  fits       {self.fits}, one for each class against the others{rest}")
        return lines

    def _of_ranges(self) -> list[str]:
        if self.feature_ranges is None:
            return []
        if (noise := self.ranges) is None:
            return ["  ranges     columns cut to declared ranges; that these are not from the data is taken on trust"]
        both = " and ".join(f"{one:.6g}" for one in (noise.magnitudes, noise.quantiles) if one is not None)
        which = f"{noise.columns} of the columns" if self.feature_ranges == MIXED else "columns"
        line = f"  ranges     {which} cut to ranges from noisy counts, noise {both}: part of the promise"
        if self.feature_ranges == WITHIN:
            limits = "  ranges     counted within declared limits; that these are not from the data is taken on trust"
            return [line, limits]
        others = "  ranges     declared for the other columns; that these are not from the data is taken on trust"
        return [line] if self.feature_ranges == PRIVATE else [line, others]

    def fine_enough(self, spacing: float, dimension: int) -> bool:
        """Say whether a lattice has room in the proof: rounding moves θ̃ by λh√D/2 ≤ τ, and 2¹⁰ ≤ σ/h ≤ 2⁵²."""
        lam, tau, noise = (getattr(self, name) for name in ("lam", "tau", self.OUTPUT_NOISE))
        points = noise / spacing
        return bool(lam * spacing * math.sqrt(dimension) / 2 <= tau and 2.0**10 <= points <= LARGEST_RATIO)

    def lies_on_lattice(self, coef: FloatArray) -> bool:
        """Say whether a classifier's coefficients are multiples of h; a regressor's are scaled after rounding."""
        return coef.ndim == 1 or on_lattice(coef, self.lattice)

    def reached(self, tau: float) -> bool:
        """Say whether the solver stopped where the gradient's norm is at most `tau`, as far as the diagnostics tell."""
        return self.gradient_norm is None or self.gradient_norm <= tau
