"""The charts of the page "Tilt or bend?": bowls, eigenvalues, profiles, true δ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from objpert_core.experiments.quadratic.plane import THETA, Plane
from objpert_core.experiments.quadratic.spectrum import Spectrum
from pages.quadratic import numbers
from pages.quadratic.numbers import Labels, Noise
from ui import figures, sentences

Trace = dict[str, Any]
BOWLS: Mapping[str, tuple[str, str]] = {
    "plain": ("objective", "non-private"),
    "tilt": ("tilted", "tilt"),
    "bend": ("bent", "bend-exact"),
}
"""Name and look of each bowl."""
PROOF_ROLES = {"published": "bend-published", "sharpened": "bend-sharpened", "exact": "bend-exact"}
_RINGS = (0.15, 0.3, 0.45)  # of the radius, how far out an average ellipse of the objective is drawn
_FLOOR = 1e-16  # δ below is not drawn


def contours(plane: Plane, before: Plane | None = None) -> Any:
    """Level curves of the objective, tilted and bent, with their minima; ghosts of another draw."""
    traces: list[Trace] = []
    if before is not None:
        for kind in ("tilt", "bend"):
            traces.append(_ellipses(before, kind, ghost=True))
    for kind, (name, role) in BOWLS.items():
        minimum = numbers.bowls(plane)[kind].minimum
        traces.append(_ellipses(plane, kind))
        if kind != "plain":
            cloud = numbers.others(plane)[kind]
            dots = figures.series(
                f"{name}, other draws", cloud[:, 0], cloud[:, 1], role, mode="markers", hoverinfo="skip"
            )
            dots["marker"] |= {"size": 5, "symbol": "circle"}
            traces.append(dots | {"opacity": 0.45, "showlegend": False})
        at = minimum[:1], minimum[1:]
        mark = figures.series(f"minimum, {name}", at[0], at[1], role, mode="markers", hover="(%{x:.3f}, %{y:.3f})")
        mark["marker"] |= {"size": 13, "line": {"width": 1.5, "color": "#ffffff"}}
        traces.append(mark | {"showlegend": False})
    anchor = figures.series("anchor θ*", [THETA[0]], [THETA[1]], "anchor", mode="markers", hover="(%{x}, %{y})")
    anchor["marker"] |= {"size": 11}
    turn = np.linspace(0, 2 * np.pi, 121)
    circle = plane.radius * np.cos(turn), plane.radius * np.sin(turn)
    disc = figures.guide(circle[0].tolist(), circle[1].tolist(), name="disc C")
    end = 1.1 * plane.radius
    return figures.figure(
        [disc, *traces, anchor],
        xaxis=figures.axis("θ₁", (-1.5 * end, 1.5 * end)),
        yaxis=figures.axis("θ₂", (-end, end), scaleanchor="x"),
        height=400,
        hovermode="closest",
    )


def _ellipses(plane: Plane, kind: str, *, ghost: bool = False) -> Trace:
    """Three level curves as one line with gaps; a bowl's own heights are those of the objective's."""
    found = numbers.bowls(plane)
    curvature = float(np.trace(found["plain"].hessian)) / 2
    gap = np.full((1, 2), np.nan)
    rings = []
    for share in _RINGS:
        rings += [found[kind].level(curvature * (share * plane.radius) ** 2 / 2), gap]
    name, role = BOWLS[kind]
    label = f"{name}, before" if ghost else name
    line = np.vstack(rings[:-1])
    return figures.series(label, line[:, 0], line[:, 1], role, ghost=ghost, hoverinfo="skip")


def spectrum(now: Spectrum, before: Spectrum | None = None) -> Any:
    """The histogram of all eigenvalues, between α and β."""
    traces: list[Trace] = []
    tops = []
    for ghost, one in ((True, before), (False, now)):
        if one is None:
            continue
        edges, shares = numbers.histogram(one)
        steps = np.repeat(edges, 2)[1:-1], np.repeat(shares, 2)
        x, y = np.concatenate([edges[:1], steps[0], edges[-1:]]), np.concatenate([[0], steps[1], [0]])
        label = "eigenvalues of W" + (", before" if ghost else "")
        trace = figures.series(label, x, y, "bend-exact", ghost=ghost, hover="%{x:.3g}")
        if not ghost:
            trace |= {"fill": "tozeroy", "fillcolor": figures.translucent(figures.look("bend-exact").color, 0.25)}
        traces.append(trace)
        tops.append(shares.max())
    top = 1.08 * max(tops)
    low, high = (np.square(np.sqrt(now.degrees_of_freedom) + sign * np.sqrt(now.dimension)) for sign in (-1, 1))
    marks = (("α", now.alpha, "bend-published"), ("β", now.beta, "bend-sharpened"))
    for name, place, role in marks:
        if place > 0:
            label = f"{name} = {sentences.number(place)}"
            traces.append(figures.series(label, (place, place), (0, top), role, hoverinfo="skip"))
    label = "(√m ± √d)²"
    places, heights = (low, low, np.nan, high, high), (0, top, np.nan, 0, top)
    traces.append(figures.series(label, places, heights, "non-private", hoverinfo="skip"))
    edges, _ = numbers.histogram(now)
    shown = [place for place in (now.alpha, now.beta, edges[0], edges[-1]) if place > 0]
    return figures.figure(
        traces,
        xaxis=figures.axis("eigenvalue", (min(shown) / 1.5, max(shown) * 1.5), log=True),
        yaxis=figures.axis("share of all", (0.0, top)),
        height=420,
        hovermode="closest",
    )


def profiles(noise: Noise, before: Noise | None = None, *, gaussian: bool = False) -> Any:
    """δ against ε of one bend under every proof, with the floor; on request beside the Gaussian mechanism."""
    traces: list[Trace] = []
    names = {proof: f"{label} proof" for proof, label in numbers.PROOFS.items()}
    if before is not None:
        for proof, name in names.items():
            y = _visible(numbers.profile(before, proof))
            traces.append(figures.series(f"{name}, before", before.epsilons, y, PROOF_ROLES[proof], ghost=True))
    traces.append(figures.guide((0, noise.epsilons[-1]), (noise.delta, noise.delta)))
    traces.append(figures.guide((noise.epsilon, noise.epsilon), (_FLOOR, 1.0)))
    if gaussian:
        y = _visible(numbers.gaussian_profile(noise))
        traces.append(figures.series("Gaussian mechanism", noise.epsilons, y, "lower", hover="δ = %{y:.3g}"))
    for proof, name in names.items():
        y = _visible(numbers.profile(noise, proof))
        traces.append(figures.series(name, noise.epsilons, y, PROOF_ROLES[proof], hover="δ = %{y:.3g}"))
    floor = noise.proved("exact").floor
    if floor > _FLOOR:
        ends = noise.epsilons[[0, -1]]
        traces.append(figures.series("floor: no ε has less", ends, (floor, floor), "anchor", hover="%{y:.3g}"))
    shown = [float(np.nanmin(trace["y"])) for trace in traces if np.isfinite(trace["y"]).any()]
    bottom = max(min(value for value in shown if value > 0) / 3, _FLOOR)
    bottom = max(bottom, noise.delta * 1e-9, _FLOOR)
    return figures.figure(
        traces,
        xaxis=figures.axis("privacy budget ε", (0.0, float(noise.epsilons[-1])), hoverformat=".3g"),
        yaxis=figures.axis("slack δ", (bottom, 2.0), log=True),
        height=400,
    )


def _visible(delta: Any) -> Any:
    return np.where(np.asarray(delta) > _FLOOR, delta, np.nan)


def labels(now: Labels, before: Labels | None = None) -> Any:
    """The true δ against how far the label is off, and the promise."""
    deltas = numbers.true_deltas(now)
    low, high = max(min(now.delta / 100, float(deltas[-1]) / 1e6), _FLOOR), 1.6
    traces: list[Trace] = []
    if before is not None:
        role = "tilt" if before.tilted else "bend-exact"
        y = _above(numbers.true_deltas(before), low)
        traces.append(figures.series("true δ, before", numbers.OFFS, y, role, ghost=True))
    if now.tilted:
        alone = _above(numbers.true_deltas(replace(now, tilted=False)), low)
        traces.append(figures.series("true δ, bend alone", numbers.OFFS, alone, "bend-exact", hover="δ = %{y:.3g}"))
    role = "tilt" if now.tilted else "bend-exact"
    name = "true δ, bend and tilt" if now.tilted else "true δ, bend alone"
    ends = numbers.OFFS[0], numbers.OFFS[-1]
    if now.off > 0:
        traces.append(figures.guide((now.off, now.off), (low, high)))
    traces.append(figures.series("promised δ", ends, (now.delta, now.delta), "non-private", hoverinfo="skip"))
    y = _above(deltas, low)
    traces.append(figures.series(name, numbers.OFFS, y, role, hover="δ = %{y:.3g}"))
    if now.off > 0 and (here := now.true_delta(now.off)) > low:
        dot = figures.series("this label", [now.off], [here], role, mode="markers", hover="δ = %{y:.3g}")
        dot["marker"] |= {"size": 13}
        traces.append(dot | {"showlegend": False})
    return figures.figure(
        traces,
        xaxis=figures.axis("the label is off by", (float(ends[0]), float(ends[1])), log=True),
        yaxis=figures.axis("δ", (low, high), log=True),
        height=420,
        hovermode="closest",
    )


def _above(values: Any, low: float) -> Any:
    return np.where(np.asarray(values) > low / 10, values, np.nan)
