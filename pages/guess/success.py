"""How often guesses are right at most against ε: the chart that the prediction reveals."""

from functools import lru_cache

import numpy as np

from pages.guess import people, rounds
from pages.guess.rounds import PRIVATE, Setting
from ui import figures, page, sentences

CURVES = {"ε and δ alone": "glm", "the whole proof": "logistic", "this person": "with", "a coin": "free"}
"""Name and look of each curve."""


@lru_cache(maxsize=1)
def curves() -> dict[str, np.ndarray]:
    """On the line at λ = 2, for noise from little to much: by ε alone, by the whole proof, and about this person."""
    sigmas, lam = np.geomspace(0.55, 30, 25).tolist(), 2.0
    by_epsilon, whole = np.transpose([rounds.allowed(sigma, lam) for sigma in sigmas])
    settings = [Setting(PRIVATE, sigma, lam, people.LINE, people.DISAGREES, 0) for sigma in sigmas]
    person = np.array([estimate.value for estimate in map(rounds.long_run, settings) if estimate])
    heights = dict(zip(CURVES, (by_epsilon, whole, person, np.full(len(sigmas), 0.5)), strict=True))
    return {"epsilon": np.array([rounds.epsilon(sigma, lam) for sigma in sigmas])} | heights


def revealed() -> None:
    eps, heights = curves()["epsilon"], {name: curves()[name] for name in CURVES}
    chart = figures.figure(
        [figures.series(name, eps, heights[name], role, hover="%{y:.1%}") for name, role in CURVES.items()],
        xaxis=figures.axis("ε", (0.0, float(eps.max()))),
        yaxis=figures.axis("guesses that are right", (0.45, 1.02), tickformat=".0%"),
        height=340,
    )
    near = int(abs(eps - 1).argmin())
    listed = "; ".join(f"{name} {sentences.percent(float(y[near]), up=True)}" for name, y in heights.items())
    alt = f"How often guesses are right against ε. Near ε = 1: {listed}."
    page.show(page.Picture(chart, alt), key="guess_try_chart")
