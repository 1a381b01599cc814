"""The certificate of an evaluation, noisy counts of test rows, and that of a fit together with its evaluation."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from objpert_core.accounting import ADD_REMOVE, Gaussian, Mechanism, compose, parallel
from objpert_core.accounting.numerics.rounding import promised
from objpert_core.learning.certificates.as_given import AS_GIVEN, AsGivenCertificate
from objpert_core.learning.certificates.base import BOTH, OPERATING_SYSTEM, PrivacyCertificate
from objpert_core.learning.certificates.field_rules import (
    COUNT,
    DIGEST,
    POSITIVE,
    TRUTH,
    Rule,
    fact,
    one_of,
    or_nothing,
)
from objpert_core.learning.certificates.model import coefficients_sha256
from objpert_core.learning.certificates.parts import as_part, by_itself, each_a_part
from objpert_core.learning.certificates.shown import part_words
from objpert_core.learning.steps.stated import published_by

WHOLE = 1.0
"""The lattice of counts: whole numbers."""
BY_COIN, SAME_ROWS = "coin", "same rows"
SPLITS = (BY_COIN, SAME_ROWS)
"""How the rows of an evaluation and those of the fit were told apart: by a coin each, or in any other way."""


def counts_sensitivity(adjacency: str) -> float:
    """How far one row moves counts in the L2 norm: one count by 1; a row in place of another one two counts by 1."""
    return 1.0 if adjacency == ADD_REMOVE else math.nextafter(math.sqrt(2), 2)


@dataclass(frozen=True, kw_only=True, repr=False)
class EvaluationCertificate(AsGivenCertificate, algorithm="noisy counts", mechanisms=("Gaussian",)):
    """The certificate of `objpert_core.evaluation.evaluate`; common fields: `PrivacyCertificate`.

    Every test row is in one cell, and the cells' numbers of rows have independent rounded normal noise
    (docs/theorems.md, T14, T49). `coefficients_sha256` names the model that was scored, None without coefficients.

    Attributes
    ----------
    sigma : float
        Standard deviation of the noise on every count.
    cells : int
        How many counts were released.
    counts_sha256 : str
        SHA-256 of the released counts.
    """

    lattice: float | None = fact(Rule("1.0", lambda value: type(value) is float and value == WHOLE), default=WHOLE)
    on_error: str = fact(one_of("raise"), default="raise")
    sigma: float = fact(POSITIVE)
    cells: int = fact(COUNT)
    counts_sha256: str = fact(DIGEST)

    @classmethod
    def numbers(cls, mechanism: Gaussian) -> dict[str, Any]:
        return {"sigma": mechanism.sigma}

    def rebuild(self) -> Gaussian:
        own = self.mechanism_adjacency
        return Gaussian(self.sigma, counts_sensitivity(own), adjacency=own)

    def holds(self) -> bool:
        """Nothing else is needed: the sensitivity of counts is known."""
        return True

    def fine_enough(self, spacing: float, dimension: int) -> bool:
        """Counts are whole numbers, and so are those with noise (docs/theorems.md, T14)."""
        return spacing == WHOLE

    def verify(self, model: Any = None) -> bool:
        """See `PrivacyCertificate.verify`; of a model its fingerprint is compared."""
        return super().verify() and (model is None or self._is_about(model))

    def _is_about(self, model: Any) -> bool:
        try:
            return self.coefficients_sha256 is not None and self.coefficients_sha256 == fingerprint(model)
        except Exception:  # a model may be anything
            return False

    def _lines(self) -> list[str]:
        return [
            "  proof      one row moves one count by 1, a replaced row moves two (T14, T49)",
            f"  counts     {self.cells}, normal noise {self.sigma:.6g} on each, rounded to whole numbers",
        ]


def fingerprint(model: Any) -> str | None:
    """The SHA-256 of a model's coefficients, map, ranges and sums for intervals; None without coefficients."""
    if not hasattr(model, "coef_"):
        return None
    return coefficients_sha256(model.coef_, getattr(model, "intercept_", 0.0), published_by(model))


NESTED = Rule(
    "a certificate as to_dict writes it",
    lambda value: isinstance(value, Mapping) and each_a_part(value, BOTH, TogetherCertificate),
)


@dataclass(frozen=True, kw_only=True, repr=False)
class TogetherCertificate(AsGivenCertificate, algorithm=BOTH, mechanisms=("Parallel", "Composition")):
    """The certificate of a fit and the evaluation of its model; common fields: `PrivacyCertificate`.

    **Taken on trust**: that each person's rows were put into one part by a coin of their own, where `split` says so.

    Attributes
    ----------
    fit, evaluation : dict
        The public certificates of both, as `to_dict` writes them.
    split : {"coin", "same rows"}
        Whether a coin for each person decided between training and test part, so that the larger budget counts
        (docs/theorems.md, T49); otherwise both are composed.
    public_rows : int or None
        The number of training rows that the fit's rules used.
    """

    lattice: float | None = fact(or_nothing(POSITIVE), default=None)
    on_error: str = fact(one_of("raise"), default="raise")  # an evaluation raises, whatever the fit did
    rows_declared: bool | None = fact(or_nothing(TRUTH), default=None)
    fit: Mapping[str, Any] = fact(NESTED)
    evaluation: Mapping[str, Any] = fact(NESTED)
    split: str = fact(one_of(*SPLITS))
    public_rows: int | None = fact(or_nothing(COUNT), default=None)

    @classmethod
    def numbers(cls, mechanism: Mechanism) -> dict[str, Any]:
        """Name nothing: both certificates have the numbers."""
        return {}

    @classmethod
    def of(cls, fit: PrivacyCertificate, evaluation: EvaluationCertificate, split: str) -> TogetherCertificate:
        """The certificate of both, with the least ε that is proved at its δ."""
        mechanism = _whole(fit, evaluation, split)
        by_coin = split == BY_COIN
        delta = max(fit.delta, evaluation.delta) if by_coin else fit.delta + evaluation.delta
        return cls.from_mechanism(
            mechanism,
            epsilon=max(fit.epsilon, evaluation.epsilon) if by_coin else float(mechanism.epsilon(delta)),
            delta=delta,
            accountant="profile",
            row_norm=AS_GIVEN,
            intercept_scaling=0.0,
            **_noise_of(fit, evaluation),
            rows_declared=fit.rows_declared,
            rows_per_person=fit.rows_per_person,
            rows_used=_rows_used(fit, evaluation),
            public_rows=getattr(fit, "public_rows", None),
            fit=as_part(fit, BOTH),
            evaluation=as_part(evaluation, BOTH),
            split=split,
        )

    @property
    def parts(self) -> tuple[PrivacyCertificate, PrivacyCertificate]:
        """The certificates of the fit and of the evaluation, as if each stood alone."""
        return by_itself(self.fit, BOTH), by_itself(self.evaluation, BOTH)

    def rebuild(self) -> Mechanism:
        """See `PrivacyCertificate.rebuild`; what rows of one person cost is in it."""
        return _whole(*self.parts, self.split)

    def accounted(self, mechanism: Any) -> Mechanism:
        """Both parts have been accounted for, each by its own certificate."""
        return mechanism

    def holds(self) -> bool:
        """Say whether both certificates verify and are about one model, the same neighbours and the noise named."""
        fit, evaluation = self.parts
        told = {name: getattr(fit, name, None) for name in ("public_rows", "rows_declared", "rows_per_person")}
        told |= _noise_of(fit, evaluation) | {"rows_used": _rows_used(fit, evaluation)}
        return disagreement(fit, evaluation) is None and all(getattr(self, name) == told[name] for name in told)

    def verify(self, model: Any = None) -> bool:
        """See `PrivacyCertificate.verify`; both are accounted for anew."""
        return super().verify() and (model is None or self.parts[0].verify(model))

    def _lines(self) -> list[str]:
        both = dict(zip(("fit", "evaluation"), self.parts, strict=True))
        how = "each person in one part, by a coin (T49)" if self.split == BY_COIN else "composed: rows may be in both"
        return [
            *(f"  {name:<10} ({promised(one.epsilon)}, {promised(one.delta)})" for name, one in both.items()),
            f"  rows       {how}",
        ]


def _noise_of(*parts: PrivacyCertificate) -> dict[str, Any]:
    """Where the noise of all parts came from: a seed, where any part has one."""
    seeded = next((one for one in parts if one.reproducible), None)
    return {
        "noise_source": OPERATING_SYSTEM if seeded is None else seeded.noise_source,
        "reproducible": seeded is not None,
    }


def _rows_used(fit: PrivacyCertificate, evaluation: PrivacyCertificate) -> str | None:
    """The rule that both kept; where they differ None, which promises nothing to a person with more rows."""
    return fit.rows_used if fit.rows_used == evaluation.rows_used else None


def _whole(fit: PrivacyCertificate, evaluation: PrivacyCertificate, split: str) -> Mechanism:
    both = [one.accounted(one.rebuild()) for one in (fit, evaluation)]
    return parallel(*both) if split == BY_COIN else compose(*both)


def disagreement(fit: Any, evaluation: Any) -> str | None:
    """Why two certificates are not those of a fit and of an evaluation of its model, as a clause; None if they are."""
    for name, one in (("fit", fit), ("evaluation", evaluation)):
        if getattr(one, "part_of", None) is not None:
            return f"{name} must be a whole, and {part_words(one)}"
    if isinstance(fit, EvaluationCertificate | TogetherCertificate) or not fit.verify():
        return "fit must be the certificate of a fit, and one that verifies"
    if not isinstance(evaluation, EvaluationCertificate) or not evaluation.verify():
        return "evaluation must be the certificate of an evaluation, and one that verifies"
    if getattr(fit, "choice_covered", True) is False:
        return "fit must cover how its model was chosen, and this fit chose by looking at the data"
    if None in (fit.coefficients_sha256, evaluation.coefficients_sha256) or (
        fit.coefficients_sha256 != evaluation.coefficients_sha256
    ):
        return "evaluation must be of the fit's own model, and the fingerprints of coefficients differ"
    if fit.mechanism_adjacency != evaluation.mechanism_adjacency:
        return f"adjacency must be {fit.mechanism_adjacency!r} for both, got {evaluation.mechanism_adjacency!r}"
    if fit.rows_per_person != evaluation.rows_per_person:
        return f"rows_per_person must be {fit.rows_per_person} for both, got {evaluation.rows_per_person}"
    return None
