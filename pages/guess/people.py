"""The people of the game: twelve whom the attacker knows, and one who may be in the data or not.

All rows have norm at most 1, as the proofs ask, and all are invented.
"""

from __future__ import annotations

PLANE, LINE = "plane", "line"
PLACES = (PLANE, LINE)
"""A row is a point of the plane, a model two numbers; or both are one number."""

IN_THE_PLANE = (
    (0.62, 0.38),
    (0.25, 0.71),
    (0.83, -0.12),
    (0.41, 0.16),
    (-0.15, 0.52),
    (0.56, -0.47),
    (-0.58, -0.41),
    (-0.30, -0.77),
    (-0.81, 0.09),
    (-0.44, -0.13),
    (0.12, -0.55),
    (-0.49, 0.46),
)
ON_THE_LINE = (0.9, 0.7, 0.5, 0.8, 0.3, 0.6, -0.8, -0.6, -0.9, -0.4, -0.7, 0.2)
LABELS = (1, 1, 1, 1, -1, 1, -1, -1, -1, 1, -1, -1)
COUNT = len(LABELS)

DISAGREES, AGREES = "disagrees with the others", "agrees with the others"
LABEL = {DISAGREES: -1, AGREES: 1}
"""The marked person's label; her row lies on the side where most have the label +1."""
ROW = {PLANE: (0.8, 0.6), LINE: (1.0,)}
"""The marked person's row, of norm 1."""


def rows(place: str) -> list[list[float]]:
    """The rows of those whom the attacker knows."""
    return [list(row) for row in IN_THE_PLANE] if place == PLANE else [[x] for x in ON_THE_LINE]
