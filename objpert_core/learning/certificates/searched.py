"""The certificate of a search: fits with several settings, their private scores, and the choice among them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from objpert_core.accounting import Gaussian, Mechanism, PrivateSelection, compose, group, parallel, repeat, symmetrised
from objpert_core.accounting.numerics.rounding import promised
from objpert_core.learning.certificates.base import SEARCH, PrivacyCertificate
from objpert_core.learning.certificates.evaluated import EvaluationCertificate, TogetherCertificate, counts_sensitivity
from objpert_core.learning.certificates.field_rules import (
    COUNT,
    POSITIVE,
    SCHEMA,
    TRUTH,
    Rule,
    fact,
    form,
    one_of,
    or_nothing,
)
from objpert_core.learning.certificates.parts import by_itself, each_a_part
from objpert_core.learning.certificates.shown import adjacency_words


def _of_fits(values: Any) -> bool:
    return each_a_part(values, SEARCH, EvaluationCertificate, TogetherCertificate, SearchCertificate)


FIT = Rule(
    "the certificate of a fit as to_dict writes it", lambda value: isinstance(value, Mapping) and _of_fits(value)
)
FITS = Rule(
    "certificates of fits as to_dict writes them, in a tuple", lambda value: type(value) is tuple and _of_fits(value)
)


@dataclass(frozen=True, kw_only=True, repr=False)
class SearchCertificate(PrivacyCertificate, algorithm=SEARCH, mechanisms=("Parallel", "PrivateSelection")):
    """The certificate of `objpert_core.estimators.PrivateSearch`; common fields: `PrivacyCertificate`.

    Coins put test rows aside (docs/theorems.md, T49). Either all settings were fitted and scored, which is composed; or
    a random number of runs was made, each with a setting drawn at random, and the best was released (T11).

    Attributes
    ----------
    settings : tuple of dict
        For each setting the certificate of a fit with it, without a fingerprint.
    fit : dict
        The certificate of the released model's fit, by itself; its setting is one of `settings`.
    score_noise : float
        Standard deviation of the noise on each count of test rows.
    mean_runs : float or None
        E[K], K Poisson, where the best of K runs was released; None where all settings were tried.
    public_rows : int or None
        The number of training rows that the fits' rules used.
    """

    schema: int = fact(form(2), since=2, default=SCHEMA)
    lattice: float | None = fact(or_nothing(POSITIVE), default=None)
    on_error: str = fact(one_of("raise"), default="raise")  # as an evaluation, which is in every run
    rows_declared: bool | None = fact(or_nothing(TRUTH), default=None)
    settings: tuple[Mapping[str, Any], ...] = fact(FITS)
    fit: Mapping[str, Any] = fact(FIT)
    score_noise: float = fact(POSITIVE)
    mean_runs: float | None = fact(or_nothing(POSITIVE), default=None)
    public_rows: int | None = fact(or_nothing(COUNT), default=None)

    @classmethod
    def numbers(cls, mechanism: Mechanism) -> dict[str, Any]:
        """Name nothing: the settings' certificates have the numbers."""
        return {}

    @property
    def fit_certificate(self) -> PrivacyCertificate:
        """The certificate of the released model's fit: a part, without the other fits and the choice."""
        return replace(self._fit, part_of=SEARCH)

    @property
    def _fit(self) -> PrivacyCertificate:
        return by_itself(self.fit, SEARCH)

    @property
    def _fits(self) -> list[PrivacyCertificate]:
        return [by_itself(one, SEARCH) for one in self.settings]

    @property
    def rest_weight(self) -> float:
        """As in the released model's fit, whose scores need this weight."""
        return float(getattr(self._fit, "rest_weight", 1.0))

    def rebuild(self) -> Mechanism:
        """See `PrivacyCertificate.rebuild`; what rows of one person cost is in it."""
        return search_mechanism(self._fits, self.score_noise, self.mean_runs)

    def accounted(self, mechanism: Any) -> Mechanism:
        """The parts have been accounted for, each by its own certificate."""
        return mechanism

    def holds(self) -> bool:
        """Say whether every fit keeps its own promise, about the same neighbours, and the model's is one of them."""
        alike, own = list(dict.fromkeys(self._fits)), self._fit
        names = ("row_norm", "intercept_scaling", "on_error", "reproducible")
        return bool(
            own.verify()
            and own.coefficients_sha256 is not None
            and (self.coefficients_sha256, self.lattice) in ((own.coefficients_sha256, own.lattice), (None, None))
            and without_fingerprint(own) in alike
            and all(getattr(self, name) == getattr(own, name) for name in names)
            and all(one.verify() and getattr(one, "choice_covered", True) for one in alike)
            and all(self._about_the_same(one) for one in alike)
            and self.public_rows == next((rows for one in alike if (rows := _rows(one)) is not None), None)
        )

    def fine_enough(self, spacing: float, dimension: int) -> bool:
        """The lattice is the fit's, whose own certificate has room for it."""
        return spacing == self._fit.lattice

    def _about_the_same(self, one: PrivacyCertificate) -> bool:
        """Whether a fit means the same neighbours; one whose rules read no number of rows says less of them."""
        rows = (_rows(one), one.rows_declared)
        neighbours = (one.mechanism_adjacency, one.rows_per_person)
        same = rows in ((None, None), (self.public_rows, self.rows_declared))
        return same and neighbours == (self.mechanism_adjacency, self.rows_per_person)

    def verify(self, model: Any = None) -> bool:
        """See `PrivacyCertificate.verify`; all are accounted for anew."""
        return super().verify() and (model is None or self._fit.verify(model))

    def _lines(self) -> list[str]:
        own = self._fit
        if self.mean_runs is None:
            how = f"all {len(self.settings)} settings, composed"
        else:
            how = f"the best of K runs, E[K] = {self.mean_runs:g}, Poisson, of {len(self.settings)} settings (T11)"
        return [
            f"  search     {how}",
            f"  one fit    ({promised(own.epsilon)}, {promised(own.delta)}); {own.mechanism}",
            f"  scores     on rows that a coin for each person put aside (T49); noise on counts {self.score_noise:.6g}",
        ]


def search_mechanism(fits: Iterable[PrivacyCertificate], score_noise: float, mean_runs: float | None) -> Mechanism:
    """What fits with several settings, their scores on other rows and the choice cost together."""
    certificates = list(fits)
    wholes = [one.accounted(one.rebuild()) for one in certificates]
    own, rows = certificates[0].mechanism_adjacency, certificates[0].rows_per_person
    score = group(Gaussian(score_noise, counts_sensitivity(own), adjacency=own), rows)
    if mean_runs is None:
        return parallel(compose(*map(symmetrised, wholes)), repeat(score, len(wholes)))
    return PrivateSelection(parallel(*dict.fromkeys(wholes), score), mean_runs)


def without_fingerprint(fit: PrivacyCertificate) -> PrivacyCertificate:
    """A fit's public certificate before its coefficients were named: what its setting and public numbers decide."""
    return replace(fit.public(), coefficients_sha256=None)


def with_rows_read_off(fit: PrivacyCertificate) -> PrivacyCertificate:
    """A fit's certificate where its declared number of rows was not declared, but read off the data."""
    if (rows := _rows(fit)) is None:
        return fit
    words = adjacency_words(fit.mechanism_adjacency, rows, False, fit.rows_per_person)
    return replace(fit, rows_declared=False, adjacency=words)


def _rows(fit: PrivacyCertificate) -> int | None:
    return getattr(fit, "public_rows", None)
