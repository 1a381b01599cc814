"""The controls of the page "Rényi curves and DP-SGD", and the button that makes the fit and DP-SGD alike."""

import bisect
from dataclasses import replace

import streamlit as st

import objpert_core.accounting as acc
from pages.renyi.setting import BOUNDS, Setting, rounds
from ui import parameters, sentences
from ui.controls import ROUND_STEPS, Choice, Control, Preset, SelectSlider, Toggle, log_values, powers_of_ten

FIGURE_5 = rounds(100, noise=2.5, lam=20.0)  # the paper prints n² rounds at q = 1/n, but neither n nor σ
ADULT_RATE, ADULT_STEPS = 0.0071, 8520.0  # Section 5: batches of 256, 60 epochs
ONE_PERCENT = tuple(sorted({round(10 ** (i / 192), 2) for i in range(192)} | {k / 10 for k in range(10, 100)}))

TILT = "Standard deviation of each coordinate of the random tilt b, for gradients of norm at most L = 1."
SIGMA = replace(
    parameters.sigma("renyi", FIGURE_5.sigma, high=100, steps=ONE_PERCENT, help=TILT), label="Noise σ of the fit"
)
LAM = replace(parameters.lam("renyi", FIGURE_5.lam, high=1000, steps=ONE_PERCENT), label="Regularisation λ of the fit")
CURVATURE = "Largest curvature of one person’s loss. Only the 2023 theorem uses β; the logistic loss has β = 1/4 here."
BETA = parameters.smoothness("renyi", FIGURE_5.smoothness, help=CURVATURE)
WHOSE = "The 2023 theorem is about any smooth loss of a row’s score xᵀθ, our theorem about the logistic loss."
FORMER = {"Theorem 3.2": "2023 theorem", "tight, logistic loss": "our theorem"}
BOUND = Choice("renyi_bound", "Proof for the fit", FIGURE_5.proof, tuple(BOUNDS), help=WHOSE, former=FORMER)
NOISE = replace(
    parameters.noise_multiplier("renyi", FIGURE_5.noise_multiplier, high=100, steps=ONE_PERCENT),
    label="Noise multiplier of DP-SGD",
)
JOINS = "Probability with which a row is in the batch of a step."
RATE = parameters.sample_rate("renyi", FIGURE_5.sample_rate, 1e-5, extra=[ADULT_RATE], help=JOINS)
COUNTS = log_values(1, 1e6, steps=(1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0), extra=[ADULT_STEPS])
STEPS = SelectSlider("renyi_steps", "Steps of DP-SGD", FIGURE_5.steps, COUNTS)
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
SETTING: dict[str, Control] = {
    "sigma": SIGMA,
    "lam": LAM,
    "smoothness": BETA,
    "proof": BOUND,
    "noise_multiplier": NOISE,
    "sample_rate": RATE,
    "steps": STEPS,
}
IN_SIGHT: tuple[Control, ...] = (SIGMA, NOISE, RATE, STEPS, LAM)
IN_VIEW: tuple[Control, ...] = (MATCH_EPSILON, READ_DELTA, ALPHA_MAX, SHOWN, GHOST)
LINKED = (SIGMA, LAM, BOUND, BETA, NOISE, RATE, STEPS, ALLOCATED, READ_DELTA, MATCH_EPSILON, ALPHA_MAX, SHOWN, GHOST)
_REFUSED = "renyi__refused"


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
