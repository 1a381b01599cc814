"""What pictures of stored results share on this page: looks, names, a table of means."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import pandas as pd

from objpert_core.experiments.quadratic import stored
from pages.quadratic.numbers import count
from ui import stored_view
from ui.stored_view import Curve

ROLES: Mapping[str, str] = {
    "lop": "tilt",
    "lop-replace": "tilt-replace",
    "lop-clip": "tilt-clipped",
    "qop": "bend-published",
    "qop-tight": "bend-exact",
    "anchor": "anchor",
    "no-privacy": "non-private",
    "published": "bend-published",
    "sharpened": "bend-sharpened",
    "exact": "bend-exact",
    "centred": "bend-exact",
    "bend-tilt": "bend-sharpened",
    "adassp": "tilt-clipped",
    "adassp-tight": "tilt-replace",
    "objective": "tilt",
    "zero": "anchor",
}
"""The look of every stored method."""
EACH = "each method’s own theorem"
_SHORT = {
    "The anchor alone, no data": "Anchor alone",
    "Tilt at 2ζ, one row replaced": "Tilt at 2ζ",
    "Bend, sharpened proof": "Bend, sharpened",
    "Bend, exact theorem": "Bend, exact",
}  # what legends call some methods: two stand in a row on a telephone


class StoredView(stored_view.StoredView):
    """A picture of this page's stored results."""

    load = staticmethod(stored.load)

    def frame(self) -> pd.DataFrame:
        return pd.DataFrame(list(self.results.rows))


class Against(stored_view.Against, StoredView):
    """Stored means against a column, both logarithmic."""

    roles = ROLES
    what: ClassVar[tuple[str, str]]  # for the alternative text
    snippet = "means"
    hover = "%{y:.4g}"
    margin = 1.3
    height = 400

    def blanks(self) -> dict[str, Any]:
        return {"experiment": self.experiment, "column": self.column, "at": self.at, "methods": tuple(self.labels)}

    def code(self) -> str:
        return super().code().replace(f"**{{{self.column!r}: {self.at!r}}}", f"{self.column}={self.at!r}")

    def legend(self, curve: Curve) -> str:
        return _SHORT.get(curve.label, curve.label)

    def shows(self) -> str:
        return f"{self.what[0]} against {self.what[1]}, both logarithmic, for every method."

    def table(self) -> list[dict[str, str]]:
        """Return a row for each method."""
        places = self.places
        places = places if len(places) <= 6 else [place for place in places if math.log10(place) % 1 in (0.0,)]
        name = "κ" if self.column == "kappa" else self.column
        return [
            {"Method": curve.label}
            | {f"{name} = {place:,g}": count(curve.mean(place)) if curve.at(place) else "–" for place in places}
            for curve in self.curves
        ]
