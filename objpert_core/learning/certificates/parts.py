"""A certificate that another one holds: it says so, since by itself it promises less than the whole keeps."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from objpert_core.learning.certificates.base import PrivacyCertificate


def as_part(certificate: PrivacyCertificate, whole: str) -> dict[str, Any]:
    """The public fields, as JSON gives them back, of a certificate that one of the kind `whole` holds."""
    plain: dict[str, Any] = json.loads(replace(certificate.public(), part_of=whole).to_json())
    return plain


def by_itself(values: Any, whole: str) -> PrivacyCertificate:
    """What one of the kind `whole` holds, as if it stood alone; `ValueError` for a part of another kind."""
    held = PrivacyCertificate.from_dict(values)
    if held.part_of not in (None, whole):
        raise ValueError(f"part_of must be {whole!r} here, got {held.part_of!r}")
    return replace(held, part_of=None)


def each_a_part(values: Any, whole: str, *others: type[PrivacyCertificate]) -> bool:
    """Whether one of the kind `whole` may hold these certificates, none of which is of the `others`; never raises."""
    try:
        held = [by_itself(one, whole) for one in ((values,) if isinstance(values, Mapping) else values)]
        return bool(held) and not any(isinstance(one, others) for one in held)
    except Exception:  # anybody may have written it
        return False
