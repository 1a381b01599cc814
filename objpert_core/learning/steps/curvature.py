"""The curvature at released coefficients, from which intervals come (docs/theorems.md, T50)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from objpert_core.accounting.steps.curvature import IntervalNoise
from objpert_core.learning.intervals.curvature import plausible
from objpert_core.learning.problem.losses import LOGISTIC, LogisticLoss
from objpert_core.learning.steps.base import Published, Taken


class CurvatureTaken(Taken[IntervalNoise], takes=IntervalNoise):
    """See `Taken`; only certificates of objective perturbation have the fields."""

    fields = {name: name for name in ("hessian_noise", "outer_noise")}  # noqa: RUF012 - a table that nobody changes
    fingerprinted = ("hessian_", "outer_")
    place = 2

    def refused(self, step: IntervalNoise, problem: Any, facts: Mapping[str, Any]) -> str | None:
        """See `Taken.refused`; as `contradiction`, before the fit."""
        plain = problem.loss == LOGISTIC and (problem.clip, problem.radius, problem.envelope) == (None, None, None)
        if plain and not (problem.of_classes or {"weighted", "center_noise"} & set(facts)):
            return None
        return (
            "intervals must be False but for logistic regression of two classes without margin, ball, weights or "
            f"centred rows, got {step!r}"
        )

    def contradiction(self, certificate: Any) -> str | None:
        """See `Taken.contradiction`; the sums are those of plain logistic regression on rows as they are given."""
        hessian, outer = (getattr(certificate, name, None) for name in self.fields)
        if hessian is None:
            return None if outer is None else "outer_noise must be None where hessian_noise is"
        plain = certificate.loss == LogisticLoss.name and not (certificate.loss_parameter or certificate.weighted)
        others = ("clip", "ball_radius", "envelope", "center_noise", "scale_noise")
        left_out = all(getattr(certificate, name) is None for name in others)
        if not (plain and left_out and certificate.fits == 1) or certificate.public_rows is None:
            return f"hessian_noise must be None but for plain logistic regression, got {hessian!r}"
        return None

    def lines(self, certificate: Any) -> list[str]:
        """See `Taken.lines`."""
        if (step := self.step_of(certificate)) is None or step.hessian_noise is None:
            return []
        longest = certificate.radius**2
        outer = "" if step.outer_noise is None else f", on Σ(p − y)²xxᵀ {step.outer_noise * longest:.6g}"
        noise = step.hessian_noise * longest / 4
        return [f"  intervals  curvature at θ, noise on Σp(1 − p)xxᵀ {noise:.6g}{outer}: part of the promise"]

    def by_rows(self, certificate: Any) -> list[str]:
        """See `Taken.by_rows`."""
        return [] if self.step_of(certificate) is None else ["intervals"]

    def covered(self, certificate: Any) -> list[str]:
        """See `Taken.covered`."""
        words = "the curvature at the coefficients, with noise", "the squared gradients there, with noise"
        noises = [getattr(certificate, name, None) for name in self.fields]
        return [line for line, noise in zip(words, noises, strict=True) if noise is not None]

    def plausible(self, certificate: Any, published: Published, features: int) -> bool:
        """See `plausible` in `learning.intervals.curvature`."""
        noise = self.step_of(certificate)
        size = features + (certificate.intercept_scaling > 0)
        hessian, outer = (published[name] for name in self.fingerprinted)
        return plausible(hessian, outer, size, noise, certificate.radius, certificate.most_rows)
