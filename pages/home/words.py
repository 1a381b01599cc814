"""The words of the Home page: pure functions from numbers to sentences, and its snippet."""

from __future__ import annotations

from typing import Any

from pages.home.picture import FEATURES, FRAMES, LABELS, PERSON, RADIUS, Scene
from ui import sentences


def answer(guess: float, eps: float) -> str:
    """The Home page's large sentence: how often a guess is right, about this person and about anybody at worst."""
    here, worst = (text.replace(" ", "\u00a0") for text in (sentences.percent(guess, up=True), sentences.chance(eps)))
    return f"ε = {sentences.epsilon(eps)}: a guess about this person is right {here} of the time; at worst {worst}."


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


def pair(exact: float) -> str:
    """What this pair of data sets needs, under the chart of its privacy loss."""
    needed = f"only {sentences.delta(exact, 3)}" if exact > 0 else "less than 10⁻³⁰⁰"
    return f"Privacy loss of this pair. The grey lines mark ±ε. This pair needs a slack of {needed}."


def playing(draw: int) -> str:
    """What Play does, and what it leaves alone."""
    return (
        f"Play shows {FRAMES} draws of b, from draw number {draw} on; the table stays at draw {draw}. Each dot under "
        "the densities is one release. The draws are an illustration, the same for everybody; a real fit takes b from "
        "the operating system."
    )


RISES = "It rises: the regularisation held one person’s curvature down."
SECOND_QUESTION: dict[str, Any] = {
    "title": "what does less regularisation do?",
    "question": "Keep σ = 2.5 and lower λ from 1 to 0.1. What happens to ε?",
    "options": ("It stays: only σ counts.", RISES, "It falls: a flatter curve moves more under the tilt."),
    "correct": 1,
    "reason": "Below some λ the noise no longer decides alone: one person’s curvature, compared with λ, shows as well, "
    "and ε rises from 1.56 to 2.19. Above it a larger λ gains nothing; try λ = 10.",
}
"""What is asked after the page's ``try.md``."""


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
