"""Python that gives the numbers on the page "Tilt or bend?"; tests execute it."""

from __future__ import annotations

from objpert_core.experiments.quadratic.plane import Plane
from objpert_core.experiments.quadratic.spectrum import Spectrum
from pages.quadratic.numbers import PENALTY, Labels, Noise, degrees

STORED = "In a checkout these lines print the stored means; the file names its command, seeds and commit."


def bowls(plane: Plane) -> str:
    """The minima; defines ``minima``."""
    told = f"{plane.epsilon!r}, {plane.delta!r}, rows={plane.rows}, radius={plane.radius!r}, seed={plane.seed}"
    return f"""from objpert_core.experiments.quadratic.plane import Plane

plane = Plane({told})
minima = {{kind: bowl.minimum for kind, bowl in plane.bowls().items()}}
print(minima, plane.bend, plane.tilt())
"""


def spectrum(shown: Spectrum) -> str:
    """The eigenvalues, α and β; defines ``spectrum``."""
    told = f"{shown.dimension}, {shown.degrees_of_freedom}, {shown.delta!r}, seed={shown.seed}"
    return f"""from objpert_core.experiments.quadratic.spectrum import Spectrum

spectrum = Spectrum({told})
eigenvalues = spectrum.eigenvalues()
print(spectrum.alpha, spectrum.beta, eigenvalues.min(), eigenvalues.max())
"""


def profile(noise: Noise) -> str:
    """δ under every proof; defines ``deltas``."""
    m = degrees(noise.dimension, noise.ratio)
    chosen = "" if m is None else f", degrees_of_freedom={m}"
    return f"""from dataclasses import replace

from objpert_core.accounting import calibrate_quadratic_perturbation

epsilon = {noise.epsilon!r}
bend = calibrate_quadratic_perturbation(epsilon, {noise.delta!r}, {noise.dimension}{chosen}, bound={noise.by!r})
deltas = {{proof: replace(bend, bound=proof).delta(epsilon) for proof in ("published", "sharpened", "exact")}}
print(bend.scale, deltas, replace(bend, bound="exact").floor)
"""


def labels(shown: Labels) -> str:
    """The true δ; defines ``delta``."""
    if shown.tilted:
        return f"""from objpert_core.accounting import calibrate_tilt_and_bend
from objpert_core.experiments.quadratic.disagreement import tilted_delta

epsilon = {shown.epsilon!r}
release = calibrate_tilt_and_bend(epsilon, {shown.delta!r}, 1, residual_bound=1.0)
delta = tilted_delta({shown.off!r}, epsilon, residual_bound=1.0, sigma=release.sigma)
print(delta)
"""
    return f"""from objpert_core.accounting import calibrate_quadratic_perturbation
from objpert_core.experiments.quadratic.disagreement import Disagreement

epsilon = {shown.epsilon!r}
bend = calibrate_quadratic_perturbation(epsilon, {shown.delta!r}, 1)
data = Disagreement(bend.scale, bend.degrees_of_freedom, rows={shown.rows}, penalty={PENALTY!r})
delta = data.delta({shown.off!r}, epsilon)
print(delta)
"""


def means(name: str, column: str, at: float, methods: tuple[str, ...]) -> str:
    """Stored means at one place; defines ``means``."""
    return f"""from objpert_core.experiments.quadratic import stored

found = stored.load({name!r})
means = {{method: found.interval({column}={at!r}, method=method).mean for method in {methods!r}}}
print(means)
"""


def regression(case: tuple[int, int, float], methods: tuple[str, ...]) -> str:
    """Stored means of one setting; defines ``means``."""
    n, d, epsilon = case
    return f"""from objpert_core.experiments.quadratic import stored

found, case = stored.load("regression"), {{"n": {n}, "d": {d}, "epsilon": {epsilon!r}}}
means = {{method: found.interval(**case, method=method).mean for method in {methods!r}}}
print(means)
"""


def heat(panel: str, proof: str, at: tuple[float, float]) -> str:
    """One cell, computed again; defines ``found``."""
    return f"""from objpert_core.experiments.quadratic import figure1

found = figure1.cell({panel!r}, {proof!r}, {at[0]!r}, {at[1]!r})
print(found.value, found.degrees_of_freedom)
"""
