"""The fit and DP-SGD made alike: the least σ, λ and noise multiplier on offer with which both keep a promise."""

from __future__ import annotations

import bisect
from dataclasses import replace

import streamlit as st

import objpert_core.accounting as acc
from pages.renyi.controls import LAM, MATCH_EPSILON, NOISE, READ_DELTA, SETTING, SIGMA
from pages.renyi.setting import Setting
from ui import parameters, sentences
from ui.controls import Preset, SelectSlider

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


def button() -> None:
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
