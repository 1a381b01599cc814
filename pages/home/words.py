"""The words of the Home page: pure functions from numbers to sentences, and its snippet."""

from __future__ import annotations

import math

from pages.home.picture import FEATURES, LABELS, PERSON, RADIUS, Scene
from ui import sentences


def answer(guess: float) -> str:
    """The Home page's large sentence: how often the best guess from one release of this pair of data sets is right."""
    share = math.ceil(1000 * guess - 1e-9) / 1000
    return (
        "From the released θ, the best guess whether this person was in the data is right "
        f"{sentences.percent(share)} of the time; a coin is right 50 %."
    )


def alt(person: str, eps: float) -> str:
    """Alt text of the Home page's picture."""
    return (
        "Above, the training objective with one random tilt, with and without a person who "
        f"{person}; below, the densities of its lowest point over all tilts. "
        f"How well one sample of either tells which one it came from is limited by ε = {sentences.epsilon(eps)}."
    )


def loss_alt(eps: float, tail: float) -> str:
    """Alt text of the privacy loss chart."""
    return (
        "Privacy loss, the logarithm of the ratio of the two densities, against the released θ. "
        f"Horizontal lines mark ±ε = ±{sentences.epsilon(eps)}, which it passes with probability "
        f"{sentences.delta(tail)} at most."
    )


def pair(eps: float, at_delta: float, exact: float, tail: float) -> str:
    """What holds for this pair of data sets, against what is proved for all."""
    found = f"δ = {sentences.delta(exact, 3)}" if exact > 0 else "δ below 10⁻³⁰⁰"
    return (
        f"Horizontal lines: ±ε = ±{sentences.epsilon(eps)}, proved for every pair of data sets at "
        f"δ = {sentences.delta(at_delta)}. This pair alone has {found} at that ε. A release of any pair falls beyond "
        f"the lines with probability {sentences.delta(tail)} at most."
    )


def snippet(scene: Scene, delta: float) -> str:
    """The densities, the privacy loss and the proved ε at a few θ."""
    position, label = PERSON[scene.person]
    return f"""import numpy as np

import objpert_core.accounting as acc
from objpert_core.theory.one_dimensional import OneDimensionalLogistic

features = {list(FEATURES)!r}
labels = {list(LABELS)!r}
without = OneDimensionalLogistic(features, labels, sigma={scene.sigma!r}, lam={scene.lam!r})
with_person = without.add({position!r}, {label!r})

theta = np.linspace(*without.interval(2e-3), 9)
density_without, density_with = without.density(theta), with_person.density(theta)
privacy_loss = with_person.log_density(theta) - without.log_density(theta)
epsilon = acc.ObjectivePerturbation(sigma={scene.sigma!r}, lam={scene.lam!r}, lipschitz={RADIUS!r}).epsilon({delta!r})
print(np.column_stack([theta, density_without, density_with, privacy_loss]))
print("proved epsilon:", epsilon, "largest privacy loss here:", np.abs(privacy_loss).max())
"""
