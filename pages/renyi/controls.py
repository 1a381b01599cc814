"""One fit of objective perturbation and one run of DP-SGD, their controls, and the button that makes both alike."""

import bisect
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import lru_cache

import streamlit as st

import objpert_core.accounting as acc
from ui import parameters, sentences
from ui.bounds import at
from ui.controls import ROUND_STEPS, Choice, Control, Preset, SelectSlider, Toggle, log_values, powers_of_ten
from ui.view import set_by

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


ADULT_RATE, ADULT_STEPS = 0.0071, 8520.0  # Section 5: batches of 256, 60 epochs
ONE_PERCENT = tuple(sorted({round(10 ** (i / 192), 2) for i in range(192)} | {k / 10 for k in range(10, 100)}))

TILT = "Standard deviation of each coordinate of the random tilt b, for gradients of norm at most L = 1."
SIGMA = replace(parameters.sigma("renyi", 2.5, high=100, steps=ONE_PERCENT, help=TILT), label="Noise σ of the fit")
LAM = replace(parameters.lam("renyi", 20.0, high=1000, steps=ONE_PERCENT), label="Regularisation λ of the fit")
CURVATURE = "Largest curvature of one person’s loss. Only the 2023 theorem uses β; the logistic loss has β = 1/4 here."
BETA = parameters.smoothness("renyi", 1.0, help=CURVATURE)
WHOSE = "The 2023 theorem is about any smooth loss of a row’s score xᵀθ, our theorem about the logistic loss."
FORMER = {"Theorem 3.2": "2023 theorem", "tight, logistic loss": "our theorem"}
BOUND = Choice("renyi_bound", "Proof for the fit", "2023 theorem", tuple(BOUNDS), help=WHOSE, former=FORMER)
NOISE = replace(
    parameters.noise_multiplier("renyi", 2.5, high=100, steps=ONE_PERCENT),
    label="Noise multiplier of DP-SGD",
)
JOINS = "Probability with which a row is in the batch of a step."
RATE = parameters.sample_rate("renyi", 0.01, 1e-5, extra=[ADULT_RATE], help=JOINS)
COUNTS = log_values(1, 1e6, steps=(1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0), extra=[ADULT_STEPS])
STEPS = SelectSlider("renyi_steps", "Steps of DP-SGD", 10_000.0, COUNTS)
ONCE = (
    "Puts every row into exactly one of the 1/q steps of an epoch, drawn at random, instead of tossing a coin in "
    "each step. The chart and the tables then also show the privacy loss distribution of random allocation, which "
    "takes some seconds to compute."
)
ALLOCATED = Toggle("renyi_allocation", "Random allocation", False, help=ONCE)
READ_DELTA = parameters.delta("renyi")
MATCH_EPSILON = SelectSlider("renyi_epsilon", "ε to match at", 1.0, log_values(0.1, 10, steps=ROUND_STEPS))
ALPHA_MAX = parameters.view("renyi", "α axis up to", 1e4, powers_of_ten(2, 5))
DIVIDED = (
    "Divides the curves by α/(2σ²), the curve of the Gaussian mechanism with the fit’s noise. Crossings are then "
    "easier to see."
)
SHOWN = parameters.show("renyi", ("ε(α)", "ε(α) over the Gaussian’s"), DIVIDED, label="Vertical axis")
GHOST = parameters.ghost("renyi")
IN_SIGHT: tuple[Control, ...] = (SIGMA, NOISE, RATE, STEPS, LAM)
IN_VIEW: tuple[Control, ...] = (MATCH_EPSILON, READ_DELTA, ALPHA_MAX, SHOWN, GHOST)
LINKED = (SIGMA, LAM, BOUND, BETA, NOISE, RATE, STEPS, ALLOCATED, READ_DELTA, MATCH_EPSILON, ALPHA_MAX, SHOWN, GHOST)
_REFUSED = "renyi__refused"


@dataclass(frozen=True)
class Setting:
    """One fit of objective perturbation and one run of DP-SGD; gradients of norm at most L = 1 in both."""

    sigma: float = set_by(SIGMA, "σ")
    lam: float = set_by(LAM, "λ")
    smoothness: float = set_by(BETA, "β")
    proof: str = set_by(BOUND, "proof")  # a key of `BOUNDS`
    noise_multiplier: float = set_by(NOISE, "noise multiplier")
    sample_rate: float = set_by(RATE, "q")
    steps: float = set_by(STEPS, "steps")  # a whole number, as the control has it

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


SETTING: dict[str, Control] = {field.name: control for field in fields(Setting) for control in field.metadata}
FIGURE_5 = Setting()  # the paper prints n² rounds at q = 1/n, but neither n nor σ


def rounds(n: int, noise: float, lam: float) -> Setting:
    """The paper's example of DP-SGD, n² rounds at q = 1/n, beside a fit with the same noise."""
    return Setting(noise, lam, noise_multiplier=noise, sample_rate=1 / n, steps=float(n * n))


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


def matched(setting: Setting, epsilon: float, delta: float) -> Setting:
    """`setting` with the noise (and λ) with which the fit and DP-SGD both are (ε, δ)-DP, from the values offered.

    σ, λ and the noise multiplier each become the smallest value on offer that is not below the calibrated one: more
    noise and a larger λ can only make ε smaller. β, q and the number of steps stay.
    """
    smoothness = setting.smoothness if setting.bound == "glm" else None
    fit = acc.calibrate_objective_perturbation(epsilon, delta, smoothness=smoothness, bound=setting.bound)
    run = acc.calibrate_dpsgd(epsilon, delta, setting.sample_rate, round(setting.steps))
    if not isinstance(fit, acc.ObjectivePerturbation) or not isinstance(run, acc.DPSGD):
        raise TypeError("calibration without tau and without mean_runs gives plain mechanisms")
    return replace(
        setting,
        sigma=offered("sigma", fit.sigma, SIGMA),
        lam=offered("lam", fit.lam, LAM),
        noise_multiplier=offered("noise_multiplier", run.noise_multiplier, NOISE),
    )


def offered(name: str, value: float, control: SelectSlider) -> float:
    """The smallest value on offer that is not below the one needed."""
    place = bisect.bisect_left(control.options, value)
    if place == len(control.options):
        raise ValueError(f"{name} would have to be {value:.4g}, but this page offers at most {control.options[-1]:g}")
    return float(control.options[place])


def _match() -> None:
    shown = Setting(**{field: control.value() for field, control in SETTING.items()})
    try:
        setting = matched(shown, MATCH_EPSILON.value(), READ_DELTA.value())
    except ValueError as error:
        st.session_state[_REFUSED] = sentences.sentence(str(error))
    else:
        Preset("match", parameters.in_order(tuple(SETTING.values()), setting)).apply()


def match_button() -> None:
    """The button that makes both alike, and why it could not."""
    st.button(
        f"Match both at ε = {sentences.number(MATCH_EPSILON.value())}, δ = {sentences.delta(READ_DELTA.value())}",
        key="renyi_match",
        icon=":material/balance:",
        on_click=_match,
        help="Moves σ, λ and the noise multiplier until both mechanisms keep this promise, by their privacy loss "
        "distributions. Values are rounded up to the next step of the slider. β, q and the number of steps stay the "
        "same.",
    )
    if refused := st.session_state.pop(_REFUSED, None):
        st.error(refused, icon=":material/error:")
