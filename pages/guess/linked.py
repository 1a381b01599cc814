"""Three sliders that hang together: ε moves σ, to the least offered noise that keeps the promise; σ and λ move ε."""

from bisect import bisect_left
from functools import lru_cache

import streamlit as st

from pages.guess import rounds
from ui import parameters, sentences
from ui.controls import Control, SelectSlider, log_values

STEPS = tuple(k / 10 for k in range(10, 100))
SIGMAS = log_values(0.3, 300, steps=STEPS)
_TILT = "Standard deviation of each coordinate of the random tilt b. σ moves ε, and ε moves σ."
_PROMISE = "Moves σ to the least noise on offer that keeps this promise at this λ. Moving σ or λ changes ε, rounded up."
SIGMA = SelectSlider("guess_sigma", "Noise σ", 3.8, SIGMAS, help=_TILT)
LAM = parameters.lam("guess", 2.0, 0.1, 50, help="Pulls θ towards 0; the objective contains λ/2 ‖θ‖².")
EPSILON = parameters.epsilon("guess", 1.0, label="Promised ε", help=_PROMISE)
LINKED: tuple[SelectSlider, ...] = (EPSILON, SIGMA, LAM)
_BEFORE = "guess__linked"


@lru_cache(maxsize=2000)
def noise_for(epsilon: float, lam: float) -> float:
    """The least σ on offer whose ε is at most this; the largest one where none is."""
    place = bisect_left(SIGMAS, True, key=lambda sigma: rounds.minimiser_epsilon(sigma, lam) <= epsilon)  # soon asked
    return next((sigma for sigma in SIGMAS[place:] if rounds.epsilon(sigma, lam) <= epsilon), SIGMAS[-1])


def promise_of(sigma: float, lam: float) -> float:
    """The least ε on offer that σ and λ keep."""
    place = bisect_left(EPSILON.options, rounds.epsilon(sigma, lam))
    return float(EPSILON.options[min(place, len(EPSILON.options) - 1)])


def follow() -> None:
    """Move the sliders that follow the one that was moved; before any of them is drawn.

    A link that names ε and not σ is read as a press on ε's slider, every other one as σ and λ.
    """
    held = {control: _read(control) for control in LINKED}
    before = st.session_state.get(_BEFORE)
    if SIGMA.key not in st.session_state:
        by_epsilon = _named(EPSILON) and not _named(SIGMA)
    else:
        by_epsilon = before is not None and held[EPSILON] != before[0] and held[SIGMA] == before[1]
    now = tuple(held.values())
    if now != before:
        epsilon, sigma, lam = now
        sigma = noise_for(epsilon, lam) if by_epsilon else sigma
        now = promise_of(sigma, lam), sigma, lam
        moved = {control: value for control, value in zip(LINKED, now, strict=True) if value != held[control]}
        if moved and SIGMA.key not in st.session_state:  # the address wins, and is where the values have to stand
            st.query_params.update({control.key: control.format(value) for control, value in moved.items()})
            st.rerun()
        st.session_state.update({control.key: value for control, value in moved.items()})
    st.session_state[_BEFORE] = now


def _named(control: Control) -> bool:
    return control.key in st.query_params


def _read(control: SelectSlider) -> float:
    """A control's value, also before it was drawn for the first time: what the address says, if that is on offer."""
    if control.key in st.session_state or not _named(control):
        return float(control.value())
    offered = {control.format(option): option for option in control.options}
    named = st.query_params.get_all(control.key)
    return float(offered.get(named[-1], control.default) if len(named) == 1 else control.default)


def no_more_noise() -> str:
    """What stands under the sliders where σ is the largest on offer, as no σ keeps a smaller promise."""
    lam, most = LAM.value(), SIGMAS[-1]
    least = sentences.epsilon(rounds.epsilon(most, lam))
    return (
        f"The largest σ on offer keeps ε = {least} at λ = {lam:g}. One person’s curvature shows, so a larger λ helps."
    )
