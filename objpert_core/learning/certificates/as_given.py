"""What certificates share whose release takes the rows as they are."""

from __future__ import annotations

from dataclasses import dataclass

from objpert_core.learning.certificates.base import PrivacyCertificate
from objpert_core.learning.certificates.field_rules import SCHEMA, ZERO, fact, form, one_of

AS_GIVEN = "as given"
"""What `row_norm` says where rows are the mechanism's own affair."""


@dataclass(frozen=True, kw_only=True, repr=False)
class AsGivenCertificate(PrivacyCertificate):
    """A certificate of a release for which no rule says how long a row is."""

    schema: int = fact(form(2), since=2, default=SCHEMA)
    row_norm: str = fact(one_of(AS_GIVEN))
    intercept_scaling: float = fact(ZERO)
