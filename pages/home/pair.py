"""The pair of data sets, without and with a person, at one noise σ and one λ: controls, laws, privacy loss."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import streamlit as st
from numpy.typing import NDArray

import objpert_core.accounting as acc
from objpert_core.theory.one_dimensional import OneDimensionalLogistic
from ui import bounds as proofs
from ui import figures, page, parameters, sentences
from ui.controls import Choice, Control, Toggle, presets

# Twelve invented people: one number |x| <= 1 each, and a label. Most follow the sign of x.
FEATURES = (0.9, 0.7, 0.5, 0.8, 0.3, 0.6, -0.8, -0.6, -0.9, -0.4, -0.7, 0.2)
LABELS = (1, 1, 1, 1, -1, 1, -1, -1, -1, 1, -1, -1)
RADIUS = 1.0
PEOPLE = {"agrees with the others": (1.0, 1), "disagrees with the others": (1.0, -1)}
DRAWS = 1000

SIGMA = parameters.sigma("home", 2.5, 0.1, 100, extra=[2.5], help="Standard deviation of the random tilt b.")
LAM = parameters.lam("home", 1.0, 0.05, 50, help="Pulls θ towards 0; the objective contains λ/2 θ².")
PERSON = Choice("home_person", "The person …", "disagrees with the others", tuple(PEOPLE))
DELTA = parameters.read_delta("home")
DRAW = parameters.draws("home", 1, DRAWS, label="Draw number", name="draw")
HELD = "If off, the axes stay while σ and λ move, so more noise looks wider. With very much noise the axes follow."
FIT = Toggle("home_fit", "Fit axes", False, help=HELD)
CONTROLS: tuple[Control, ...] = (SIGMA, LAM, PERSON, DELTA, DRAW, FIT)
PRESETS = presets("home", (SIGMA, LAM))


POINTS = 161


@dataclass(frozen=True)
class Pair:
    """What is proved for everybody, and what holds for these two."""

    sigma: float
    lam: float
    person: str = PERSON.default
    delta: float = DELTA.default

    @cached_property
    def laws(self) -> dict[str, OneDimensionalLogistic]:
        """The laws of the released minimiser without the person and with the person."""
        without = OneDimensionalLogistic(FEATURES, LABELS, sigma=self.sigma, lam=self.lam)
        return {"without": without, "with": without.add(*PEOPLE[self.person])}

    @property
    def mechanism(self) -> acc.ObjectivePerturbation:
        """What accounts for it: the tight bound at the largest |x| that anybody may have."""
        return acc.ObjectivePerturbation(self.sigma, self.lam, lipschitz=RADIUS)

    @property
    def setting(self) -> proofs.Setting:
        """The mechanism, as `why` compares it."""
        return proofs.Setting(self.sigma, self.lam, self.mechanism.smoothness, self.mechanism.lipschitz)

    @cached_property
    def epsilon(self) -> float:
        """What is proved at δ."""
        return self.mechanism.epsilon(self.delta)

    @cached_property
    def guess(self) -> float:
        """How often the best guess between the two data sets is right, starting from even odds.

        That is (1 + total variation)/2, and the total variation is the hockey-stick divergence at ε = 0.
        """
        return 0.5 + 0.5 * self.laws["without"].hockey_stick(self.laws["with"], 0.0)

    @cached_property
    def exact_delta(self) -> float:
        """What this pair needs at the proved ε, in the worse direction."""
        without, joined = self.laws.values()
        return max(without.hockey_stick(joined, self.epsilon), joined.hockey_stick(without, self.epsilon))

    @cached_property
    def grid(self) -> NDArray[np.float64]:
        """The θ at which curves are drawn: where all but 2 in 1,000 releases fall."""
        low, high = np.array([law.interval(2e-3) for law in self.laws.values()]).T
        return np.linspace(low.min(), high.max(), POINTS)

    @cached_property
    def loss(self) -> NDArray[np.float64]:
        """The logarithm of how many times likelier each released θ is with the person than without."""
        return self.laws["with"].log_density(self.grid) - self.laws["without"].log_density(self.grid)


def show_loss(pair: Pair) -> None:
    """What this pair of data sets needs, over the chart."""
    needed = f"only {sentences.delta(pair.exact_delta, 3)}" if pair.exact_delta > 0 else "less than 10⁻³⁰⁰"
    st.caption(
        f"The privacy loss of these two data sets. The grey lines mark ±ε. The two data sets need a slack of {needed}."
    )
    page.show(page.Picture(loss_chart(pair), loss_alt(pair)), key="home_loss")


def loss_alt(pair: Pair) -> str:
    """The chart in words; any pair's loss passes ε with the probability of the mechanism's tail at most."""
    tail = sentences.delta(pair.mechanism.tail(pair.epsilon))
    return (
        "Privacy loss, the logarithm of the ratio of the two densities, against the released θ. Horizontal lines mark "
        f"±ε = ±{sentences.epsilon(pair.epsilon)}. The loss passes these lines with probability {tail} at most."
    )


def loss_chart(pair: Pair) -> figures.Figure:
    """The logarithm of how many times likelier each released θ is with the person than without."""
    theta, loss, epsilon = pair.grid, pair.loss, pair.epsilon
    view, ends = 1.15 * max(epsilon, float(np.abs(loss).max())), (float(theta[0]), float(theta[-1]))
    traces = [
        figures.guide(ends, (epsilon, epsilon)),
        figures.guide(ends, (-epsilon, -epsilon)),
        figures.series("privacy loss", theta, loss, "with", hover="log ratio %{y:.3g}"),
    ]
    xaxis = figures.axis("released θ", ends, hoverformat=".3g")
    yaxis = figures.axis("privacy loss", (-view, view))
    return figures.figure(traces, xaxis, yaxis, height=280, legend=False)
