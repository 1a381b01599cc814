"""Lines of Python that give the numbers of the round on the screen."""

from __future__ import annotations

from pages.guess import people
from pages.guess.rounds import BARE, DIGITS, Round, Setting

_POSTERIOR = {
    BARE: ("", "float(np.array_equal(theta, joined.minimiser(np.zeros(theta.size))))  # one of two minimisers"),
    DIGITS: ("from objpert_core.theory.naive_noise import digits_posterior\n", "digits_posterior(joined, left, theta)"),
}
_SAMPLED = """success = sampled_success(joined, left)
print(success)
"""
_EXACT = """first, second = (
    OneDimensionalLogistic(law.rows[:, 0], law.labels, sigma=law.sigma, lam=law.lam) for law in (left, joined)
)
success = 0.5 + 0.5 * first.hockey_stick(second, 0.0)
print(success)
"""


def posterior(setting: Setting, now: Round) -> str:
    """Defines ``posterior``, the chance of "in" after this round; and ``success``, where a law gives it."""
    imports, formula = _POSTERIOR.get(setting.game, ("", "1 / (1 + np.exp(-float(log_odds(joined, left, theta))))"))
    names, success = "MinimiserLaw", ""
    if setting.game not in _POSTERIOR:
        plane = setting.place == people.PLANE
        names = "MinimiserLaw, log_odds, sampled_success" if plane else "MinimiserLaw, log_odds"
        success = _SAMPLED if plane else _EXACT
        imports = "" if plane else "from objpert_core.theory.one_dimensional import OneDimensionalLogistic\n"
    row, label = list(people.ROW[setting.place]), people.LABEL[setting.person]
    return f"""import numpy as np

from objpert_core.theory.minimiser_law import {names}
{imports}
rows = {people.rows(setting.place)!r}
labels = {list(people.LABELS)!r}
left = MinimiserLaw(rows, labels, sigma={setting.left.sigma!r}, lam={setting.lam!r})
joined = left.add({row!r}, {label!r})

theta = np.array({list(now.theta)!r})  # as it was published
posterior = {formula}
print(posterior)
{success}"""
