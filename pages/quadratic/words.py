"""The words of the page "Tilt or bend?": pure functions from numbers to sentences and tables."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from objpert_core.experiments.quadratic.plane import Plane
from objpert_core.experiments.quadratic.spectrum import Spectrum
from pages.quadratic import numbers
from pages.quadratic.numbers import PROOFS, Labels, Noise
from ui import sentences

VIEWS = {
    "bowls": "A tilt and a bend",
    "spectrum": "Eigenvalues of W",
    "profile": "δ against ε, three proofs",
    "kappa": "Risk against the box (Figure 2)",
    "matter": "Where data matter",
    "regression": "Beside other regressions",
    "labels": "Two records disagree",
    "heat": "Bounds on the risk (Figure 1)",
}
_KINDS = {"plain": "the objective", "tilt": "tilted", "bend": "bent"}


def times(value: float) -> str:
    """How many times, for a sentence."""
    if value >= 1e5:
        return sentences.scientific(value, 2)
    return sentences.number(value, 3 if value >= 100 else 2)


def count(value: float) -> str:
    """A number to three digits, as a power of ten where it is tiny or huge."""
    return sentences.number(value, 3) if 1e-3 <= value < 1e7 else sentences.scientific(value, 3)


AGREEING = "one row replaced where all agree"
REPLACED = "one row replaced"
EXACT = "the exact theorem"


# --- a tilt and a bend ------------------------------------------------------------------------------------------------


def bowls_answer(plane: Plane) -> str:
    """How far either moves the minimum."""
    found = numbers.moved(plane)
    tilt, bend = found["tilt"].distance, found["bend"].distance
    told = f"This tilt moves the minimum by {count(tilt)}, this bend by {count(bend)}"
    if tilt > bend > 0:
        return f"{told}: {times(tilt / bend)} times less."
    return f"{told}." if bend <= 0 else f"{told}: {times(bend / max(tilt, 1e-300))} times more."


def bowls_promise(plane: Plane) -> str:
    """The promise of both."""
    accountant = f"Theorem 5.1 at 2ζ and {EXACT}"
    return sentences.promise(plane.epsilon, plane.delta, accountant, adjacency=AGREEING)


def bowls_note(plane: Plane) -> str:
    """What was drawn."""
    bend = plane.bend
    return (
        f"n = {plane.rows:,}, m = {bend.degrees_of_freedom}, σ² = {count(bend.scale)}. Dots: the minima of other "
        "draws, kept inside the disc C."
    )


def bowls_moved(before: Plane | None, now: Plane) -> str:
    """What was changed since `before`, and what that does to tilt and bend on the whole; empty for another draw."""
    names = {"epsilon": "ε", "delta": "δ", "rows": "n", "radius": "κ"}
    if before is None or not (changes := sentences.changed(before, now, names)):
        return ""
    then, here = numbers.moved(before), numbers.moved(now)
    courses = [
        sentences.course(f"the {kind}’s typical move", then[kind].typical, here[kind].typical, count)
        for kind in ("tilt", "bend")
    ]
    return f"{sentences.shift(changes)}: {', '.join(courses)}."


def bowls_rows(plane: Plane) -> list[dict[str, str]]:
    """The minima."""
    return [
        {
            "Minimum of": _KINDS[kind],
            "θ₁": sentences.fixed(one.minimum[0]),
            "θ₂": sentences.fixed(one.minimum[1]),
            "Moved by": "–" if kind == "plain" else count(one.distance),
            "Typically": "–" if kind == "plain" else count(one.typical),
            "Excess of J": "–" if kind == "plain" else count(one.excess),
        }
        for kind, one in numbers.moved(plane).items()
    ]


def bowls_alt(plane: Plane) -> str:
    """Alt text."""
    return (
        f"{bowls_answer(plane)} Level curves of an objective of two parameters in a disc of radius {plane.radius:g}, "
        "of the same with a random slope added, and of the same with a random curvature around the anchor added. The "
        "bent ellipses are narrower."
    )


# --- eigenvalues ------------------------------------------------------------------------------------------------------


def spectrum_answer(spectrum: Spectrum) -> str:
    """How far α is below what is drawn."""
    least = float(numbers.eigenvalues(spectrum).min())
    drawn = f"the smallest of {spectrum.draws} draws is {count(least)}"
    if spectrum.alpha <= 0:
        return f"The proof has no α here; {drawn}."
    told = f"The proof needs λ ≥ α = {count(spectrum.alpha)}; the least of {spectrum.draws} draws is {count(least)}"
    return f"{told}, {times(least / spectrum.alpha)} times that."


def noise_promise(noise: Noise) -> str:
    """The promise of a bend by the proof that calibrates it."""
    accountant = EXACT if noise.by == "exact" else f"the {PROOFS[noise.by].lower()} proof"
    return sentences.promise(noise.epsilon, noise.delta, accountant, adjacency=AGREEING)


def spectrum_note(spectrum: Spectrum) -> str:
    """What was drawn."""
    share = sentences.delta(spectrum.delta / 4)
    return (
        f"d = {spectrum.dimension}, m = {spectrum.degrees_of_freedom}. Lemma D.4: λ\u2098ᵢₙ < α and λ\u2098ₐₓ > β have "
        f"a probability of at most δ/4 = {share} each."
    )


def spectrum_moved(before: Spectrum | None, now: Spectrum) -> str:
    """What was changed since `before`, and what that did to α; empty for another draw."""
    names = {"dimension": "d", "degrees_of_freedom": "m", "delta": "δ"}
    if before is None or not (changes := sentences.changed(before, now, names)):
        return ""
    return f"{sentences.shift(changes)}: {sentences.course('α', before.alpha, now.alpha, sentences.number)}."


def spectrum_rows(spectrum: Spectrum) -> list[dict[str, str]]:
    """What is drawn beside what is proved."""
    values = numbers.eigenvalues(spectrum)
    least, most = values[:, 0], values[:, -1]
    return [
        {
            "Eigenvalue": name,
            "Smallest drawn": count(float(drawn.min())),
            "Median": count(float(np.median(drawn))),
            "Largest drawn": count(float(drawn.max())),
            "The proof needs": f"{sign} {count(end)}",
        }
        for name, drawn, sign, end in (("smallest", least, "≥", spectrum.alpha), ("largest", most, "≤", spectrum.beta))
    ]


def spectrum_alt(spectrum: Spectrum) -> str:
    """Alt text."""
    return (
        f"{spectrum_answer(spectrum)} Histogram of all eigenvalues of {spectrum.draws} Wishart matrices with d = "
        f"{spectrum.dimension} and m = {spectrum.degrees_of_freedom}, on a logarithmic axis, between α and β = "
        f"{count(spectrum.beta)}."
    )


# --- profiles ---------------------------------------------------------------------------------------------------------


def profile_answer(noise: Noise, gaussian: bool = False) -> str:
    """What the noise is really worth."""
    if gaussian:
        exact = noise.proved("exact")
        bend, beside = float(exact.delta(2 * noise.epsilon)), numbers.gaussian_at(noise, 2 * noise.epsilon)
        told = f"At twice ε the bend has δ = {_tiny(bend)}, the Gaussian mechanism {_tiny(beside)}"
        return f"{told}; the bend never falls below {_tiny(exact.floor)}." if exact.floor > 1e-300 else f"{told}."
    target = sentences.delta(noise.delta)
    if noise.by == "exact":
        found = numbers.delta_at(noise, "published")
        if found >= 1:
            return f"The exact theorem proves δ = {target} for this noise; the published proof proves nothing."
        return f"The exact theorem proves δ = {target} for this noise, the published proof {_tiny(found)}."
    found = numbers.delta_at(noise, "exact")
    whose = "published" if noise.by == "published" else "sharpened"
    return (
        f"The {whose} noise has δ = {_tiny(found)}, not {target}; {times(numbers.less_noise(noise))} times less is "
        "enough."
    )


def _tiny(value: float) -> str:
    return "less than 10⁻³⁰⁰" if value < 1e-300 else sentences.delta(min(value, 1.0))


def profile_note(noise: Noise) -> str:
    """Which bend it is."""
    bend = noise.bend
    return f"d = {noise.dimension}, m = {bend.degrees_of_freedom}, L = 1, σ² = {count(bend.scale)}."


def profile_moved(before: Noise | None, now: Noise) -> str:
    """What was changed since `before`, and what that did to the noise; empty where nothing was."""
    names = {"epsilon": "ε", "delta": "δ", "dimension": "d", "ratio": "m/d", "by": "calibrated by"}
    if before is None or before == now:
        return ""
    changes = sentences.changed(before, now, names)
    changes = [(name, _chosen(name, old), _chosen(name, new)) for name, old, new in changes]
    return f"{sentences.shift(changes)}: {sentences.course('the noise σ²', before.bend.scale, now.bend.scale, count)}."


def _chosen(name: str, value: Any) -> Any:
    return "best" if name == "m/d" and value == numbers.BEST else value


def profile_rows(noise: Noise) -> list[dict[str, str]]:
    """Every proof at the target."""
    m = noise.bend.degrees_of_freedom
    exact = numbers.calibrated(noise.epsilon, noise.delta, noise.dimension, m).scale
    rows = []
    for proof, label in PROOFS.items():
        scale = numbers.calibrated(noise.epsilon, noise.delta, noise.dimension, m, proof).scale
        floor = sentences.delta(noise.proved(proof).floor) if proof == "exact" else "–"
        rows.append(
            {
                "Proof": label,
                f"δ at ε = {sentences.epsilon(noise.epsilon)}, this noise": _tiny(numbers.delta_at(noise, proof)),
                "σ² it asks for": count(scale),
                "Over exact": sentences.ratio(scale / exact, up=False),
                "Floor of δ": floor,
            }
        )
    return rows


def profile_alt(noise: Noise, gaussian: bool) -> str:
    """Alt text."""
    told = "; ".join(f"{label} {_tiny(numbers.delta_at(noise, proof))}" for proof, label in PROOFS.items())
    beside = " Beside them the Gaussian mechanism of the same (ε, δ)." if gaussian else ""
    return (
        f"{profile_answer(noise)} δ on a logarithmic scale against ε, for one bend and three proofs. At the target’s "
        f"ε: {told}.{beside}"
    )


# --- two records that disagree ----------------------------------------------------------------------------------------


def labels_answer(labels: Labels) -> str:
    """Whether the promise holds."""
    found = labels.true_delta(labels.off)
    promised = sentences.delta(labels.delta)
    if labels.tilted:
        most = float(numbers.true_deltas(labels).max())
        return f"With the tilt δ is at most {_tiny(most)} for any labels: the promise, {promised}, holds."
    edge = numbers.breaks_at(labels)
    told = f"The true δ is {_tiny(found)}, promised {promised}"
    return f"{told}; the promise breaks once the label is off by {count(edge)}." if math.isfinite(edge) else f"{told}."


def labels_promise(labels: Labels) -> str:
    """What is promised: of the bend alone only where the labels agree."""
    adjacency = REPLACED if labels.tilted else AGREEING
    return sentences.promise(labels.epsilon, labels.delta, EXACT, adjacency=adjacency)


def labels_note(labels: Labels) -> str:
    """Which data, and which release."""
    if labels.tilted:
        release = numbers.both(labels.epsilon, labels.delta)
        bend, more, seen = release.bend, f", σ of the tilt {count(release.sigma)}, residuals clipped to 1", f", {SEEN}"
    else:
        bend, more, seen = numbers.calibrated(labels.epsilon, labels.delta, 1), "", ""
    return (
        f"d = 1, n = {labels.rows:,}, weight of the regulariser ω = {numbers.PENALTY:g}, "
        f"m = {bend.degrees_of_freedom}, σ² = {count(bend.scale)}{more}. {DISAGREE}{seen}."
    )


DISAGREE = "One label is off, upwards or downwards, and the true δ is computed exactly"
SEEN = "for all that the solver sees"


def labels_moved(before: Labels | None, now: Labels) -> str:
    """What was changed since `before`, and what that did to the true δ; empty where nothing was."""
    names = {"epsilon": "ε", "delta": "δ", "rows": "n", "off": "off by", "tilted": "tilt"}
    if before is None or before == now:
        return ""
    found = sentences.course("the true δ", before.true_delta(before.off), now.true_delta(now.off), _tiny)
    return f"{sentences.shift(sentences.changed(before, now, names))}: {found}."


def labels_rows(labels: Labels) -> list[dict[str, str]]:
    """The true δ at round displacements, the chosen one among them."""
    offs = sorted({0.001, 0.01, 0.1, 1.0, labels.off})
    rows = []
    for off in offs:
        found = labels.true_delta(off)
        rows.append(
            {
                "Label off by": sentences.number(off),
                "True δ": "0" if found == 0 else _tiny(found),
                "Over the promise": f"{count(found / labels.delta)}×",
                "Holds": "yes" if found <= labels.delta else "no",
            }
        )
    return rows


def labels_alt(labels: Labels) -> str:
    """Alt text."""
    return (
        f"{labels_answer(labels)} The true δ against how far the two labels are off the interpolation, both "
        "logarithmic, and the promised δ as a level line."
    )
