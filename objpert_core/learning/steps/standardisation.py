"""Rows centred and scaled by noisy sums (docs/theorems.md, T45)."""

from __future__ import annotations

from typing import Any

import numpy as np

from objpert_core.accounting.steps.standardisation import SCALE_FLOOR, Standardisation
from objpert_core.learning.steps.base import Published, Taken

_SLACK = 1e-6  # relative, for what rounding adds


class StandardisationTaken(Taken[Standardisation], takes=Standardisation):
    """See `Taken`."""

    fields = {name: name for name in ("center_noise", "scale_noise")}  # noqa: RUF012 - a table that nobody changes
    fingerprinted = ("center_", "scale_")
    place = 0

    def contradiction(self, certificate: Any) -> str | None:
        """See `Taken.contradiction`."""
        for name in self.fields:
            if (noise := getattr(certificate, name)) is None:
                continue
            if certificate.row_norm != "normalize" and certificate.feature_ranges is None:
                return f"{name} must be None for row_norm={certificate.row_norm!r} without ranges, got {noise!r}"
            if getattr(certificate, "public_rows", None) is None:
                return f"public_rows must be a number where {name} is one, got None"
        return None

    def lines(self, certificate: Any) -> list[str]:
        """See `Taken.lines`."""
        lengths = certificate.row_norm != "normalize"  # which rows in ranges keep until they are centred
        center, scale = certificate.center_noise, certificate.scale_noise
        of_center = f"  center     {'rows' if lengths else 'directions'} centred, noise on Σu {center or 0:.6g}"
        of_scale = f"  scale      columns scaled{', rows normalised' * lengths}, noise on Σ|z| {scale or 0:.6g}"
        lines = ((of_center, center), (of_scale, scale))
        return [f"{line}: part of the promise" for line, noise in lines if noise is not None]

    def by_rows(self, certificate: Any) -> list[str]:
        """See `Taken.by_rows`."""
        return [name for name in ("center", "scale") if getattr(certificate, f"{name}_noise") is not None]

    def covered(self, certificate: Any) -> list[str]:
        """See `Taken.covered`."""
        return [] if self.step_of(certificate) is None else ["how rows are centred and scaled"]

    def plausible(self, certificate: Any, published: Published, features: int) -> bool:
        """Whether there is one number for each feature where a sum was released, none too large."""
        center, scale = published["center_"], published["scale_"]
        for values, name in ((center, "center_noise"), (scale, "scale_noise")):
            if (values is None) is not (getattr(certificate, name, None) is None):
                return False
            if values is not None and values.shape != (features,):
                return False
        return bool(
            (center is None or np.linalg.norm(center) <= 1 + _SLACK)
            and (scale is None or np.all((scale > 0) & (scale <= SCALE_FLOOR**-0.5 * (1 + _SLACK))))
        )
