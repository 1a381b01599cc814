"""Columns cut to ranges, declared ones or those of noisy histograms (docs/theorems.md, T47)."""

from __future__ import annotations

from typing import Any

import numpy as np

from objpert_core.accounting.steps.ranges import RangeNoise
from objpert_core.learning.steps.base import Published, Taken

PUBLIC, PRIVATE, MIXED, WITHIN = SOURCES = ("public", "private", "public and private", "private within public")
"""Where ranges came from: declared, all from noisy counts, or some, or all from noisy counts within declared limits."""
_DECLARED = "that these are not from the data is taken on trust"


class RangesTaken(Taken[RangeNoise], takes=RangeNoise):
    """See `Taken`; certificates say here where ranges came from, declared ones included."""

    fields = {  # noqa: RUF012 - a table that nobody changes
        "magnitudes": "magnitudes_noise",
        "quantiles": "quantiles_noise",
        "columns": "range_columns",
    }
    fingerprinted = ("feature_ranges_",)
    place = 1

    def contradiction(self, certificate: Any) -> str | None:
        """See `Taken.contradiction`."""
        source, quantiles = certificate.feature_ranges, certificate.quantiles_noise
        private = source in (PRIVATE, MIXED, WITHIN)
        for name, needed in (("magnitudes_noise", private and source != WITHIN), ("range_columns", private)):
            if ((value := getattr(certificate, name)) is not None) is not needed:
                return f"{name} must be a number for private ranges, and only for them, got {value!r}"
        if quantiles is not None and not private:
            return f"quantiles_noise must be None where ranges are not private, got {quantiles!r}"
        if quantiles is None and source == WITHIN:
            return f"quantiles_noise must be a number where ranges are {WITHIN!r}, got None"
        if private and getattr(certificate, "public_rows", None) is None:
            return "public_rows must be a number for private ranges, got None"
        return None

    def lines(self, certificate: Any) -> list[str]:
        """See `Taken.lines`."""
        source, noise = certificate.feature_ranges, self.step_of(certificate)
        if noise is None:
            return [] if source is None else [f"  ranges     columns cut to declared ranges; {_DECLARED}"]
        both = " and ".join(f"{one:.6g}" for one in (noise.magnitudes, noise.quantiles) if one is not None)
        which = f"{noise.columns} of the columns" if source == MIXED else "columns"
        line = f"  ranges     {which} cut to ranges from noisy counts, noise {both}: part of the promise"
        declared = {WITHIN: "counted within declared limits", MIXED: "declared for the other columns"}
        return [line, *(f"  ranges     {words}; {_DECLARED}" for one, words in declared.items() if one == source)]

    def covered(self, certificate: Any) -> list[str]:
        """See `Taken.covered`."""
        some = "some features" if getattr(certificate, "feature_ranges", None) == MIXED else "the features"
        return [] if self.step_of(certificate) is None else [f"the ranges of {some}"]

    def plausible(self, certificate: Any, published: Published, features: int) -> bool:
        """Whether there is a range for each feature, and as many were released as is said, fewer if some are public."""
        ends, source = published["feature_ranges_"], getattr(certificate, "feature_ranges", None)
        if ends is None or source is None:
            return ends is None and source is None
        noise = self.step_of(certificate)
        as_many = noise is None or (noise.columns < features if source == MIXED else noise.columns == features)
        shaped = as_many and ends.shape == (2, features)
        return bool(shaped and np.isfinite(ends).all() and (ends[0] < ends[1]).all())
