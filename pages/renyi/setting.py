"""What both pictures are about: one fit of objective perturbation and one run of DP-SGD."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import objpert_core.accounting as acc
from ui.bounds import at

NAMES: Mapping[str, str] = {
    "objective": "Objective perturbation",
    "gaussian": "Gaussian mechanism",
    "dpsgd": "DP-SGD",
}
SHORT = {"objective": "One fit", "gaussian": "Gaussian", "dpsgd": "DP-SGD"}
"""What the legends call the mechanisms: two stand in a row on a telephone."""
ALLOCATION = "Random allocation"
BOUNDS: Mapping[str, str] = {"2023 theorem": "glm", "our theorem": "logistic"}
HOVER = "%{y:.3g}"


@dataclass(frozen=True)
class Setting:
    """One fit of objective perturbation and one run of DP-SGD; gradients of norm at most L = 1 in both."""

    sigma: float
    lam: float
    smoothness: float
    proof: str  # a key of `BOUNDS`
    noise_multiplier: float
    sample_rate: float
    steps: float  # a whole number, as the control has it

    def __str__(self) -> str:
        fit = f"σ = {self.sigma:g}, λ = {self.lam:g}"
        fit += f", β = {self.smoothness:g}" if self.bound == "glm" else ", logistic loss"
        return f"{fit}; q = {self.sample_rate:g}, noise multiplier {self.noise_multiplier:g}, {self.steps:,.0f} steps"

    @property
    def bound(self) -> str:
        """The proof's bound, as the core calls it."""
        return BOUNDS[self.proof]

    @property
    def per_epoch(self) -> float:
        """How many steps an epoch of random allocation has: 1/q, to the nearest whole number where it is meant."""
        steps = 1 / self.sample_rate
        return round(steps) if abs(steps - round(steps)) < 1e-9 * steps else steps

    @property
    def epochs(self) -> int | None:
        """How many epochs of random allocation the steps are; None where they, or their steps, are no whole number."""
        whole = isinstance(self.per_epoch, int) and self.steps % self.per_epoch == 0
        return round(self.steps / self.per_epoch) if whole else None

    @property
    def fit(self) -> acc.Mechanism:
        """The fit."""
        return self.mechanism("objective")

    @property
    def run(self) -> acc.DPSGD:
        """The run of DP-SGD."""
        run = self.mechanism("dpsgd")
        assert isinstance(run, acc.DPSGD)
        return run

    def mechanism(self, which: str) -> acc.Mechanism:
        """The mechanism of that name in `NAMES`, or "allocation"; raises `ValueError` for values out of range."""
        return _mechanism(which, self)

    def role(self, which: str) -> str:
        """The role in `figures.ROLES` of a mechanism's curves."""
        return {"objective": self.bound, "gaussian": "lower", "dpsgd": "dpsgd"}[which]

    def epsilon_at(self, which: str, delta: float) -> tuple[float, float]:
        """ε at one δ by the Rényi curve and by the privacy loss distribution."""
        mechanism = self.mechanism(which)
        return at(acc.via_rdp(mechanism), "epsilon", delta), at(mechanism, "epsilon", delta)

    def names(self, allocated: bool) -> Mapping[str, str]:
        """`NAMES`, and random allocation where it is asked for and the setting has whole epochs."""
        return {**NAMES, "allocation": ALLOCATION} if allocated and self.epochs else NAMES


def rounds(n: int, noise: float, lam: float, smoothness: float = 1.0, proof: str = "2023 theorem") -> Setting:
    """The paper's example of DP-SGD, n² rounds at q = 1/n, beside a fit with the same noise."""
    return Setting(noise, lam, smoothness, proof, noise, 1 / n, float(n * n))


@lru_cache(maxsize=1000)
def _mechanism(which: str, setting: Setting) -> acc.Mechanism:
    if which == "dpsgd":
        return acc.DPSGD(setting.noise_multiplier, setting.sample_rate, round(setting.steps))
    if which == "allocation":
        if setting.epochs is None:
            raise ValueError(f"sample_rate and steps must give whole epochs, got {setting}")
        return acc.RandomAllocation(setting.noise_multiplier, round(setting.per_epoch), epochs=setting.epochs)
    if which == "gaussian":
        return acc.Gaussian(setting.sigma)
    return acc.ObjectivePerturbation(setting.sigma, setting.lam, smoothness=setting.smoothness, bound=setting.bound)
