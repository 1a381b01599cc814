"""The words of the page Distance to optimality: pure functions from numbers to sentences, and its snippet."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import astuple

import numpy as np

from pages.distance.numbers import CELLS
from ui import sentences
from ui.bounds import Setting

# The smallest distance of each band of a map; the first band is 1 exactly, the last one where nothing is proved
BANDS = (1.0, 1.0, 1.01, 1.1, 1.25, 1.5, 2.0, 5.0, math.inf)


def band_labels() -> list[tuple[float, str]]:
    """Place, in bands, and text of each label of the bar of colours: the ends of the bands between its two ends."""
    inner = [(band - 0.5, f"{start:g}") for band, start in enumerate(BANDS) if band > 1 and math.isfinite(start)]
    return [(0.0, "exact"), *inner, (len(BANDS) - 1.0, "none")]


def _least(eps: float, lower: float) -> str:
    """How an ε compares with the least possible one."""
    if eps <= lower * (1 + sentences.EXACT):
        return "the least possible"
    if lower == 0:
        return "where the least possible is 0"
    if eps < 1.001 * lower:
        return "almost the least possible"
    return f"{sentences.ratio(eps / lower)} the least possible"


def answer(published: float, tight: float, lower: float) -> str:
    """The page's one large sentence, from ε of the published, the tight and the lower bound."""
    told = f"The tight proof certifies ε = {sentences.epsilon(tight)}, {_least(tight, lower)}"
    if math.isinf(published):
        return f"{told}; the published one certifies nothing."
    one = sentences.ratio(published / lower) if lower else f"ε = {sentences.epsilon(published)}"
    return f"{told}; the published one {one}."


def prices(setting: Setting, published: float, half: float, lower: float) -> str:
    """What the published ε is made of: the least possible, the unknown sign and the curvature."""
    sign = sentences.epsilon(max(half - lower, 0.0))
    if math.isinf(published):
        return (
            f"The published proof pays −log(1 − β/λ) for the curvature, infinite from λ = β = "
            f"{sentences.number(setting.smoothness)} down; as λ → ∞ it proves ε = {sentences.epsilon(half)}."
        )
    curvature = sentences.epsilon(max(published - half, 0.0))
    return (
        f"The published ε: {sentences.epsilon(lower)} for the Gaussian noise, {sign} for not knowing the gradient’s "
        f"sign, {curvature} for the curvature, which falls as λ grows."
    )


def boundary(lam: float, optimal: float) -> str:
    """From which λ on the tight proof is exact, and on which side this λ is."""
    return (
        f"The tight proof {'is' if lam >= optimal else 'would be'} exact from λ = {sentences.number(optimal, up=True)} "
        "on, at this σ and δ."
    )


def curves_alt(found: Mapping[str, float], what: str, at: str) -> str:
    """Alt text of the curves: what is plotted, and their order."""
    return f"{what}, for four mechanisms with the same noise. {at}: {sentences.ranking(found)}."


def renyi_alt(found: Mapping[str, float], alpha: float) -> str:
    """Alt text of the Rényi curves."""
    return curves_alt(
        found, "Rényi divergence ε(α) against α, both logarithmic", f"ε(α) at α = {sentences.scientific(alpha)}"
    )


def profile_alt(found: Mapping[str, float], delta: float) -> str:
    """Alt text of the privacy profiles."""
    return curves_alt(
        found, "Privacy profile, δ on a logarithmic scale against ε", f"ε at δ = {sentences.delta(delta)}"
    )


def map_alt(bound: str, found: np.ndarray, delta: float) -> str:
    """Alt text of a map: how much of it is exact, how much silent, and the range in between."""
    exact, silent = float(np.mean(found <= 1)), float(np.mean(np.isinf(found)))
    between = found[np.isfinite(found) & (found > 1)]
    parts = [f"exactly 1 on {sentences.percent(exact, 0)} of it, above the line" if exact else "nowhere exactly 1"]
    if between.size:
        parts.append(
            f"from {sentences.ratio(float(between.min()))} to {sentences.ratio(float(between.max()))} elsewhere"
        )
    if silent:
        parts.append(f"nothing is proved on {sentences.percent(silent, 0)}, where λ ≤ β")
    return (
        f"Map of the distance to optimality of the {_PROOF[bound]} at δ = {sentences.delta(delta)}, over σ from 0.1 to "
        f"1,000 and λ from 0.01 to 10,000, both logarithmic: {'; '.join(parts)}."
    )


_PROOF = {"glm": "published proof", "logistic": "tight proof for the logistic loss"}


def map_title(bound: str, delta: float, setting: Setting) -> str:
    """What one map shows, as its heading and the title of its file."""
    curvature = f"β = {sentences.number(setting.smoothness)}, " if bound == "glm" else ""
    length = f"L = {sentences.number(setting.lipschitz)}"
    return f"Distance to optimality of the {_PROOF[bound]}: δ = {sentences.delta(delta)}, {curvature}{length}"


def distance_alt(sigma: float, delta: float) -> str:
    """Alt text of the prediction's chart."""
    return (
        f"Distance to optimality against λ, logarithmic, at σ = {sentences.number(sigma)} and "
        f"δ = {sentences.delta(delta)}: the published proof falls towards a level above 1, the tight one reaches 1."
    )


def snippet(setting: Setting, *, delta: float, alpha: float) -> str:
    """Every curve's ε, distance and ε(α), and both maps; defines the dictionaries ``curves`` and ``maps``."""
    sigma, lam, smoothness, lipschitz = astuple(setting)
    shared = f"sigma={sigma!r}, lam={lam!r}, lipschitz={lipschitz!r}, smoothness={smoothness!r}"
    return f"""import numpy as np

import objpert_core.accounting as acc

curves = {{
    "lower": acc.Gaussian(sigma={sigma!r}, sensitivity={lipschitz!r}),
    "half": acc.HalfNormal(sigma={sigma!r}, sensitivity={lipschitz!r}),
    "glm": acc.ObjectivePerturbation({shared}, bound="glm"),
    "logistic": acc.ObjectivePerturbation({shared}, bound="logistic"),
}}
for name, curve in curves.items():
    print(name, curve.epsilon({delta!r}), acc.distance_to_optimality(curve, {delta!r}), curve.rdp({alpha!r}))
print("exact from lam =", acc.optimal_lam(curves["lower"].epsilon({delta!r}), sigma={sigma!r}, lipschitz={lipschitz!r}))

sigmas, lams = np.geomspace(0.1, 1000, {CELLS + 1}), np.geomspace(0.01, 1e4, {CELLS + 1})  # edges of the cells
sigmas, lams = np.sqrt(sigmas[1:] * sigmas[:-1]), np.sqrt(lams[1:] * lams[:-1])
maps = {{
    "glm": acc.distance_map(sigmas, lams, {delta!r}, lipschitz={lipschitz!r}, smoothness={smoothness!r}, bound="glm"),
    "logistic": acc.distance_map(sigmas, lams, {delta!r}, lipschitz={lipschitz!r}),
}}
"""
