"""A tilt and a bend: level curves of one objective of two parameters, tilted and bent, with their minima."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Self

import numpy as np
import pandas as pd

from objpert_core.experiments.quadratic.plane import KINDS, THETA, Plane
from pages.quadratic.controls import DELTA, EPSILON, RADIUS, ROWS, SEED
from pages.quadratic.numbers import AGREEING, EXACT, count, times
from ui import figures, sentences
from ui.view import Course, View, set_by

KINDS_IN_WORDS = {"plain": "the objective", "tilt": "tilted", "bend": "bent"}
BOWLS: Mapping[str, tuple[str, str]] = {
    "plain": ("objective", "non-private"),
    "tilt": ("tilted", "tilt"),
    "bend": ("bent", "bend-exact"),
}
"""Name and look of each bowl."""
_RINGS = (0.15, 0.3, 0.45)  # of the radius, how far out an average ellipse of the objective is drawn


bowls = lru_cache(maxsize=64)(Plane.bowls)
others = lru_cache(maxsize=64)(Plane.others)


@dataclass(frozen=True)
class Moved:
    """What one perturbation did: how far its minimum lies from the objective's, in this draw and typically."""

    kind: str
    minimum: tuple[float, float]
    distance: float
    excess: float
    typical: float


def moved(plane: Plane) -> dict[str, Moved]:
    """What every perturbation did, by its kind."""
    found, cloud = bowls(plane), others(plane)
    best = found["plain"].minimum
    result = {}
    for kind in KINDS:
        minimum = found[kind].minimum
        typical = float(np.median(np.linalg.norm(cloud[kind] - best, axis=1))) if kind in cloud else 0.0
        distance = float(np.linalg.norm(minimum - best))
        excess = plane.excess(minimum) if kind != "plain" else 0.0
        result[kind] = Moved(kind, (float(minimum[0]), float(minimum[1])), distance, max(excess, 0.0), typical)
    return result


class Bowls(View, name="quadratic", title="A tilt and a bend", snippet="bowls"):
    """One draw of a tilt and of a bend of the same (ε, δ)."""

    epsilon: float = set_by(EPSILON, "ε")
    delta: float = set_by(DELTA, "δ", aside=True)
    rows: int = set_by(ROWS, "n")
    radius: float = set_by(RADIUS, "κ")
    seed: int = set_by(SEED, aside=True)

    redrawn = SEED

    @property
    def plane(self) -> Plane:
        """The objective and both perturbations."""
        return Plane(self.epsilon, self.delta, self.rows, self.radius, self.seed)

    def answer(self) -> str:
        found = moved(self.plane)
        tilt, bend = found["tilt"].distance, found["bend"].distance
        told = f"This tilt moves the minimum by {count(tilt)}, this bend by {count(bend)}"
        if tilt > bend > 0:
            return f"{told}: {times(tilt / bend)} times less."
        return f"{told}." if bend <= 0 else f"{told}: {times(bend / max(tilt, 1e-300))} times more."

    def promise(self) -> str:
        accountant = f"Theorem 5.1 at 2ζ and {EXACT}"
        return sentences.promise(self.epsilon, self.delta, accountant, adjacency=AGREEING)

    def note(self) -> str:
        bend = self.plane.bend
        return (
            f"n = {self.rows:,}, m = {bend.degrees_of_freedom}, σ² = {count(bend.scale)}. Dots: the minima of other "
            "draws, kept inside the disc C."
        )

    def courses(self) -> list[Course]:
        here = moved(self.plane)
        return [(f"the {kind}’s typical move", here[kind].typical, count) for kind in ("tilt", "bend")]

    def table(self) -> list[dict[str, str]]:
        return [
            {
                "Minimum of": KINDS_IN_WORDS[kind],
                "θ₁": sentences.fixed(one.minimum[0]),
                "θ₂": sentences.fixed(one.minimum[1]),
                "Moved by": "–" if kind == "plain" else count(one.distance),
                "Typically": "–" if kind == "plain" else count(one.typical),
                "Excess of the objective": "–" if kind == "plain" else count(one.excess),
            }
            for kind, one in moved(self.plane).items()
        ]

    def numbers(self) -> pd.DataFrame:
        rows = [
            vars(one) | {"minimum_1": one.minimum[0], "minimum_2": one.minimum[1]} for one in moved(self.plane).values()
        ]
        return pd.DataFrame(rows).drop(columns="minimum")

    def shows(self) -> str:
        return (
            f"Level curves of an objective of two parameters in a disc of radius {self.radius:g}, "
            "of this objective with a random slope, and of this objective with a random curvature around the anchor. "
            "The bent ellipses are narrower."
        )

    def chart(self, before: Self | None) -> Any:
        plane = self.plane
        traces = []
        if before is not None:
            traces = [before._ellipses(kind, ghost=True) for kind in ("tilt", "bend")]
        for kind, (name, role) in BOWLS.items():
            minimum = bowls(plane)[kind].minimum
            traces.append(self._ellipses(kind))
            if kind != "plain":
                cloud = others(plane)[kind]
                faint: dict[str, Any] = {"hoverinfo": "skip", "opacity": 0.45, "showlegend": False}
                faint |= {"look": {"symbol": "circle"}}
                traces.append(figures.marks(f"{name}, other draws", cloud[:, 0], cloud[:, 1], role, 5, **faint))
            look: dict[str, Any] = {"look": {"line": {"width": 1.5, "color": "#ffffff"}}, "showlegend": False}
            label, hover = f"minimum, {name}", "(%{x:.3f}, %{y:.3f})"
            traces.append(figures.marks(label, minimum[:1], minimum[1:], role, 13, hover=hover, **look))
        anchor = figures.marks("anchor θ*", [THETA[0]], [THETA[1]], "anchor", 11, hover="(%{x}, %{y})")
        turn = np.linspace(0, 2 * np.pi, 121)
        circle = self.radius * np.cos(turn), self.radius * np.sin(turn)
        disc = figures.guide(circle[0].tolist(), circle[1].tolist(), name="disc C")
        end = 1.1 * self.radius
        xaxis = figures.axis("θ<sub>1</sub>", (-1.5 * end, 1.5 * end), constrain="domain")
        yaxis = figures.axis("θ<sub>2</sub>", (-end, end), scaleanchor="x", constrain="domain")
        return figures.figure([disc, *traces, anchor], xaxis, yaxis, height=400, hovermode="closest")

    def _ellipses(self, kind: str, *, ghost: bool = False) -> dict[str, Any]:
        """Three level curves as one line with gaps; a bowl's own heights are those of the objective's."""
        found = bowls(self.plane)
        curvature = float(np.trace(found["plain"].hessian)) / 2
        gap = np.full((1, 2), np.nan)
        rings = []
        for share in _RINGS:
            rings += [found[kind].level(curvature * (share * self.radius) ** 2 / 2), gap]
        name, role = BOWLS[kind]
        label = f"{name}, before" if ghost else name
        line = np.vstack(rings[:-1])
        return figures.series(label, line[:, 0], line[:, 1], role, ghost=ghost, hoverinfo="skip")
