"""What the certificates of fits by a solver share: centre and scales, several classes, and where the solver stopped."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from objpert_core._validation import FloatArray
from objpert_core.accounting import Mechanism
from objpert_core.accounting.steps.base import Step
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
from objpert_core.learning.steps.ranges import SOURCES
from objpert_core.learning.steps.stated import STEPS, kinds_for, read, steps_of, written


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
    steps : tuple of Step
        What else was released beside the fit; `terms.steps` has all.
    """

    OUTPUT_NOISE: ClassVar[str] = "sigma_out"
    """The field with the standard deviation of the noise on every coefficient."""

    gradient_norm: float | None = fact(or_nothing(NONNEGATIVE), diagnostic=True, default=None)
    n_iter: int | None = fact(or_nothing(FROM_ZERO), diagnostic=True, default=None)
    center_noise: float | None = fact(or_nothing(POSITIVE), since=LATER, default=None)
    scale_noise: float | None = fact(or_nothing(POSITIVE), since=LATER, default=None)
    fits: int = fact(COUNT, since=LATER, default=1)
    rest_weight: float = fact(POSITIVE, since=LATER, default=1.0)
    feature_ranges: str | None = fact(or_nothing(one_of(*SOURCES)), since=LATER, default=None)
    magnitudes_noise: float | None = fact(or_nothing(POSITIVE), since=LATER, default=None)
    quantiles_noise: float | None = fact(or_nothing(POSITIVE), since=LATER, default=None)
    range_columns: int | None = fact(or_nothing(COUNT), since=LATER, default=None)
    weighted: bool = fact(TRUTH, since=LATER, default=False)
    class_count_noise: float | None = fact(or_nothing(POSITIVE), since=LATER, default=None)
    steps: tuple[Step, ...] = fact(STEPS, since=LATER, default=(), texts=(written, read))

    @property
    def terms(self) -> Terms:
        """What is promised, and what the promise pays for."""
        return Terms(
            self.epsilon,
            self.delta,
            self.mechanism_adjacency,
            self.rows_per_person,
            self.accountant,
            steps=steps_of(self),
            fits=self.fits,
            rest_weight=self.rest_weight,
        )

    def accounted(self, mechanism: Any) -> Mechanism:
        """Return the whole: what was released before, and all fits, for all rows of one person."""
        return self.terms.whole(mechanism)

    def _contradiction(self) -> str | None:
        if self.rest_weight != 1.0 and not (self.fits > 1 and self.rest_weight < 1.0):
            return f"rest_weight must be 1.0 for one fit, and at most 1.0 for several, got {self.rest_weight!r}"
        found = (kind.contradiction(self) for kind in kinds_for(self))
        return next((clause for clause in found if clause is not None), super()._contradiction())

    def _before(self) -> list[str]:
        """The lines of `repr` for what was released before the fit, and for several fits."""
        lines = self._lines_of_steps(after=False)
        if self.fits > 1:
            rest = "" if self.rest_weight == 1.0 else f", rows of other classes {self.rest_weight:.6g} times as long"
            lines.append(f"  fits       {self.fits}, one for each class against the others{rest}")
        return lines

    def _after(self, *, has_rule: bool) -> list[str]:
        """The lines for what was released after the fit, and for what was chosen by the number of rows: `has_rule`
        says whether λ may have been, where steps were not."""
        before, after = (
            [word for kind in kinds_for(self) if kind.takes.after is late for word in kind.by_rows(self)]
            for late in (False, True)
        )
        if after:
            what = f"{' and '.join(after)} were"
        elif has_rule or not before:
            chosen = before + ["tau"] * (getattr(self, "tau", 0.0) > DEFAULT_TAU)
            what = f"{', '.join(chosen)} or lam was" if chosen else "lam was"
        else:
            what = f"{' and '.join(before)} {'was' if before in (['center'], ['scale']) else 'were'}"
        rows = by_public_rows(getattr(self, "public_rows", None), self.rows_declared, what)
        return self._lines_of_steps(after=True) + rows

    def _lines_of_steps(self, *, after: bool) -> list[str]:
        return [line for kind in kinds_for(self) if kind.takes.after is after for line in kind.lines(self)]

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
