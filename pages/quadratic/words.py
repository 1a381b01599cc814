"""The words of the page "Tilt or bend?": pure functions from numbers to sentences and tables."""

from __future__ import annotations

import math

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


def caption(epsilon: float, delta: float, proof: str, adjacency: str = "one row replaced") -> str:
    """ε with its odds, δ, adjacency and proof, in one line."""
    text = (
        f"ε = {sentences.epsilon(epsilon)} (odds of {sentences.odds(epsilon)}), δ = {sentences.delta(delta)}, "
        f"{adjacency}, {proof}"
    )
    return text.replace(" = ", "\u00a0=\u00a0").replace(" : ", "\u00a0:\u00a0")


EXACT = "by the exact theorem"
DISAGREE = "One label is off, upwards or downwards, and the true δ is computed exactly"
SEEN = "for all that the solver sees"


# --- a tilt and a bend ------------------------------------------------------------------------------------------------


def bowls_answer(plane: Plane) -> str:
    """How far either moves the minimum."""
    found = numbers.moved(plane)
    tilt, bend = found["tilt"].distance, found["bend"].distance
    told = f"This tilt moves the minimum by {count(tilt)}, this bend by {count(bend)}"
    if tilt > bend > 0:
        return f"{told}: {times(tilt / bend)} times less."
    return f"{told}." if bend <= 0 else f"{told}: {times(bend / max(tilt, 1e-300))} times more."


def bowls_line(plane: Plane) -> str:
    """What was drawn, and how privately."""
    bend = plane.bend
    return (
        f"{caption(plane.epsilon, plane.delta, 'tilt by Theorem 5.1 at 2ζ, bend by the exact theorem')}; "
        f"n\u00a0=\u00a0{plane.rows:,}, m\u00a0=\u00a0{bend.degrees_of_freedom}, "
        f"σ²\u00a0=\u00a0{count(bend.scale)}. Dots: the minima of other draws, kept inside the disc C."
    )


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


def spectrum_line(noise: Noise, spectrum: Spectrum) -> str:
    """What was drawn."""
    share = sentences.delta(spectrum.delta / 4)
    return (
        f"{caption(noise.epsilon, noise.delta, 'm by the exact theorem' if noise.ratio == 0 else 'm as chosen')}; "
        f"d\u00a0=\u00a0{spectrum.dimension}, m\u00a0=\u00a0{spectrum.degrees_of_freedom}. "
        f"Lemma D.4: λ\u2098ᵢₙ < α and λ\u2098ₐₓ > β have a probability of at most δ/4 = {share} each."
    )


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


def profile_line(noise: Noise) -> str:
    """Which bend it is."""
    bend = noise.bend
    return (
        f"{caption(noise.epsilon, noise.delta, f'noise by the {PROOFS[noise.by].lower()} proof')}; "
        f"d\u00a0=\u00a0{noise.dimension}, m\u00a0=\u00a0{bend.degrees_of_freedom}, L\u00a0=\u00a01, "
        f"σ²\u00a0=\u00a0{count(bend.scale)}."
    )


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


def labels_line(labels: Labels) -> str:
    """Which data, and which release."""
    if labels.tilted:
        release = numbers.both(labels.epsilon, labels.delta)
        bend, more, seen = release.bend, f", σ of the tilt {count(release.sigma)}, residuals clipped to 1", f", {SEEN}"
    else:
        bend, more, seen = numbers.calibrated(labels.epsilon, labels.delta, 1), "", ""
    return (
        f"{caption(labels.epsilon, labels.delta, EXACT)}; d\u00a0=\u00a01, n\u00a0=\u00a0{labels.rows:,}, "
        f"ω\u00a0=\u00a0{numbers.PENALTY:g}, m\u00a0=\u00a0{bend.degrees_of_freedom}, "
        f"σ²\u00a0=\u00a0{count(bend.scale)}{more}. {DISAGREE}{seen}."
    )


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
