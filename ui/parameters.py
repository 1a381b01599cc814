"""The controls that several pages have: one function a quantity, with its label, key, range and explanation.

    SIGMA = parameters.sigma("bounds", 5.0, extra=[4.8])      # key "bounds_sigma", and so the address "?bounds_sigma=5"
    DELTA = parameters.read_delta("bounds")
    GHOST = parameters.ghost("bounds")

The first argument is the page's prefix. Keyword arguments say where a page differs: `help` (None for no explanation),
`label`, `name` (the key's second half), the range's ends, and `extra`, the values that presets need exactly.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import astuple
from typing import Any

import streamlit as st

import objpert_core.accounting as acc
from ui import bounds as proofs
from ui.controls import ROUND_STEPS, Choice, Control, Number, SelectSlider, Toggle, log_values, powers_of_ten
from ui.words import grid

FEW_STEPS = (1, 1.5, 2, 3, 5, 7)
"""Six steps a decade, for what is only read off."""

COUNT_STEPS = (1, 2, 3, 5, 7)
"""Five whole steps a decade, for counts of rows and columns."""

_SEEN, _AIR = 25, 1.1  # what is shown is at least 1/25 of its axis, and not at its end
_TILT = "Standard deviation of each coordinate of the random tilt b."
_SUM = "The objective is a sum over the rows plus λ/2 ‖θ‖²: λ is not divided by the number of rows."
_CURVATURE = "The largest curvature of one person’s loss. The logistic loss on rows of norm at most L has β = L²/4."
_GRADIENT = "The largest gradient norm of one person’s loss. For the logistic loss this is the largest row norm R."
_BUDGET = "Privacy budget ε"
_SLACK = (
    "Any event may be likelier by δ than the odds of ε allow. The odds rise above the limit more often than δ says."
)
_MULTIPLIER = (
    "Standard deviation of the noise in one step, divided by the clipping norm (the length to which longer gradients "
    "are cut)."
)
_EPOCHS = "How often each row is drawn on average. The paper uses 60."

# --- one mechanism ----------------------------------------------------------------------------------------------------


def sigma(
    prefix: str, default: float, low: float = 0.1, high: float = 1000.0, *, help: str | None = _TILT, **values: Any
) -> SelectSlider:
    """Noise σ of a fit, from `low` to `high` on a log scale; `values` are `extra` and `steps` of `log_values`."""
    return SelectSlider(f"{prefix}_sigma", "Noise σ", default, log_values(low, high, **values), help=help, exact=True)


def lam(
    prefix: str, default: float, low: float = 0.01, high: float = 10_000.0, *, help: str | None = _SUM, **values: Any
) -> SelectSlider:
    """Regularisation λ, as `sigma`."""
    return SelectSlider(
        f"{prefix}_lambda", "Regularisation λ", default, log_values(low, high, **values), help=help, exact=True
    )


def smoothness(prefix: str, default: float, *, help: str | None = _CURVATURE, **values: Any) -> SelectSlider:
    """Smoothness β of the loss, as `sigma`."""
    return SelectSlider(
        f"{prefix}_beta", "Smoothness β", default, log_values(0.01, 100, **values), help=help, exact=True
    )


def lipschitz(prefix: str, default: float, *, help: str | None = _GRADIENT) -> SelectSlider:
    """Lipschitz constant L of the loss."""
    return SelectSlider(f"{prefix}_L", "Lipschitz constant L", default, log_values(0.1, 10), help=help, exact=True)


def mechanism(prefix: str, default: proofs.Setting, *presets: proofs.Setting) -> tuple[SelectSlider, ...]:
    """Controls of σ, λ, β and L, as the fields of a `Setting`, that offer the values of presets exactly."""
    sigmas, lams, betas, _ = zip(*map(astuple, (default, *presets)), strict=True)
    return (
        sigma(prefix, default.sigma, extra=sigmas),
        lam(prefix, default.lam, extra=lams),
        smoothness(prefix, default.smoothness, extra=betas),
        lipschitz(prefix, default.lipschitz),
    )


def noise_multiplier(prefix: str, default: float, high: float = 30.0, **values: Any) -> SelectSlider:
    """Noise multiplier of DP-SGD, as `sigma`."""
    offered = log_values(0.3, high, **values)
    return SelectSlider(f"{prefix}_noise", "Noise multiplier", default, offered, help=_MULTIPLIER, exact=True)


def sample_rate(
    prefix: str, default: float, low: float, *, name: str = "q", help: str | None = None, **values: Any
) -> SelectSlider:
    """Sample rate q of DP-SGD, as `sigma`."""
    return SelectSlider(
        f"{prefix}_{name}", "Sample rate q", default, log_values(low, 1, **values), help=help, exact=True
    )


# --- ε and δ ----------------------------------------------------------------------------------------------------------


def epsilon(
    prefix: str, default: float, high: float = 20.0, *, name: str = "epsilon", label: str = _BUDGET, **explained: Any
) -> SelectSlider:
    """A budget ε from 0.01 to `high`; with 0.025, 0.05 and 0.25 of the papers' experiments."""
    values = log_values(0.01, high, extra=[0.025, 0.05, 0.25], steps=ROUND_STEPS)
    return SelectSlider(f"{prefix}_{name}", label, default, values, exact=True, **explained)


def delta(prefix: str, *, name: str = "delta", label: str = "Slack δ", help: str | None = _SLACK) -> SelectSlider:
    """The δ of a promise: 10⁻¹² to 10⁻², at first 10⁻⁵."""
    return SelectSlider(f"{prefix}_{name}", label, 1e-5, powers_of_ten(-12, -2), help=help, exact=True)


def read_delta(prefix: str, *, label: str = "Read ε at δ =") -> SelectSlider:
    """The δ at which curves are read off: 10⁻¹² to 0.1, at first 10⁻⁵."""
    return SelectSlider(f"{prefix}_delta", label, 1e-5, powers_of_ten(-12, -1), exact=True)


# --- the view ---------------------------------------------------------------------------------------------------------


def view(prefix: str, label: str, default: float, ends: Sequence[float], *, name: str = "view") -> SelectSlider:
    """How far an axis goes; `ends` are its possible ends."""
    return SelectSlider(f"{prefix}_{name}", label, default, tuple(ends))


def followed(axis: SelectSlider, end: float, shown: float) -> float:
    """Where an axis ends: at `end` once its control was moved, which holds it; else where `shown` is seen.

    >>> axis = view("bounds", "ε axis up to", 2.0, (0.2, 0.5, 1.0, 2.0, 5.0, 10.0))
    >>> followed(axis, 2.0, 0.7), followed(axis, 2.0, 4.2), followed(axis, 0.5, 4.2)
    (2.0, 10.0, 0.5)
    """
    if end != axis.default or not 0 < shown < math.inf or end / _SEEN <= shown <= end / _AIR:
        return end
    return fitted(axis, shown)


def fitted(axis: SelectSlider, shown: float) -> float:
    """The first end of an axis that leaves air over `shown`; the last one where none does."""
    return next((float(end) for end in axis.options if end >= 1.5 * shown), float(axis.options[-1]))


def fit_axis(axis: SelectSlider, shown: float, *, idle: bool = False) -> None:
    """The button "Fit the axes": hold the axis where it fits what is shown; `idle` where no picture has the axis."""

    def fit() -> None:
        st.session_state[axis.key] = fitted(axis, shown)

    held = "The axes follow the sliders until you move one of the axes. Then the axes stay."
    key, icon = f"{axis.key}_fit", ":material/fit_screen:"
    st.button("Fit the axes", key=key, icon=icon, on_click=fit, help=held, disabled=idle)


def show(prefix: str, options: Sequence[str], help: str, *, label: str = "Show") -> Choice:
    """Which of several pictures of the same thing is shown; the first one opens the page."""
    return Choice(f"{prefix}_show", label, options[0], tuple(options), horizontal=True, help=help)


def floor(prefix: str, ends: Sequence[float]) -> SelectSlider:
    """How far down the δ axis goes, at first to 10⁻¹⁰."""
    return SelectSlider(f"{prefix}_floor", "δ axis down to", 1e-10, tuple(ends))


def ghost(prefix: str, what: str = "setting") -> Toggle:
    """Whether the previous `what` stays as a faint picture."""
    return Toggle(f"{prefix}_ghost", f"Show the previous {what} faintly", True)


def special_bounds(prefix: str) -> dict[str, Toggle]:
    """A switch for each bound that charts show on request; off at first. Its entry in the core's registry names it."""
    return {
        key: Toggle(
            f"{prefix}_{key.replace('-', '_')}",
            f"Curve for {proofs.NAMES[key][0].lower()}{proofs.NAMES[key][1:]}",
            False,
            help=_SPECIAL.get(key) or f"Covers {acc.BOUND_REGISTRY[key].coverage.words}; {proofs.SOURCES[key]}.",
        )
        for key in proofs.SPECIAL
    }


_GLM = "Any GLM loss (a loss that sees a row only through its score xᵀθ)"
_SPECIAL = {
    "monotone": f"{_GLM} whose derivative keeps its sign: logistic, squared hinge, rounded hinge, softplus.",
    "two-signed": f"{_GLM}, even where λ ≤ β: like the 2023 theorem, with log(1 + β/λ) in place of −log(1 − β/λ).",
}


# --- data, draws and seeds --------------------------------------------------------------------------------------------


def data_set(prefix: str, default: str, options: Sequence[str], *, help: str | None = None) -> Choice:
    """The data set."""
    return Choice(f"{prefix}_data", "Data set", default, options=tuple(options), help=help)


def counts(
    prefix: str, name: str, label: str, default: int, low: int, high: int, *, help: str | None = None
) -> SelectSlider:
    """A number of rows or columns from `low` to `high`, on a logarithmic scale with `default` among the values."""
    values = tuple(int(value) for value in log_values(low, high, extra=[default], steps=COUNT_STEPS))
    return SelectSlider(f"{prefix}_{name}", label, default, values, format=str, help=help)


def draws(
    prefix: str, default: int, most: int, *, label: str = "Noise draws", name: str = "draws", help: str | None = None
) -> Number:
    """How often something random is repeated, 1 to `most`."""
    return Number(f"{prefix}_{name}", label, default, low=1, high=most, help=help)


def seed(prefix: str, label: str = "Seed of rows and noise", *, help: str | None = None) -> Number:
    """A seed, at first 0."""
    return Number(f"{prefix}_seed", label, 0, low=0, high=9999, help=help)


def split_seed(prefix: str, *, help: str) -> Number:
    """The seed of the split into training and test rows, at first 0."""
    return Number(f"{prefix}_split", "Split seed", 0, low=0, high=9999, help=help)


# --- learning ---------------------------------------------------------------------------------------------------------


def intercept_scaling(prefix: str, default: float, values: Sequence[float], *, help: str) -> SelectSlider:
    """The constant s that is appended to every row."""
    return SelectSlider(f"{prefix}_scaling", "Intercept scaling s", default, tuple(values), help=help)


def batch_size(prefix: str, most: int, *, help: str | None = None) -> SelectSlider:
    """DP-SGD's expected batch size: 64, 128, … up to `most`, at first 256."""
    values = tuple(size for size in (2**k for k in range(6, 20)) if size <= most)
    return SelectSlider(f"{prefix}_batch", "Expected batch size", 256, values, help=help)


def epochs(prefix: str, default: int) -> SelectSlider:
    """DP-SGD's epochs."""
    return SelectSlider(f"{prefix}_epochs", "Epochs", default, (1, 2, 5, 10, 20, 30, 60, 100), help=_EPOCHS)


def learning_rates(prefix: str, default: str, grids: Mapping[str, Sequence[float]]) -> Choice:
    """Which grid of learning rates DP-SGD may choose from; the explanation lists every grid."""
    explained = "; ".join(f"{name}: {grid(rates)}" for name, rates in grids.items()) + "."
    return Choice(f"{prefix}_rates", "Learning rates on offer", default, options=tuple(grids), help=explained)


def mean_runs(prefix: str, default: float, values: Sequence[float], *, help: str) -> SelectSlider:
    """The mean μ of the number of runs that paid tuning makes."""
    return SelectSlider(f"{prefix}_runs", "Mean runs μ of paid tuning", default, tuple(values), help=help)


# --- presets ----------------------------------------------------------------------------------------------------------


def in_order(controls: Sequence[Control], setting: Any) -> dict[Control, Any]:
    """The values of a preset: of each control, the field of `setting` in its place."""
    return dict(zip(controls, astuple(setting), strict=True))


def held(controls: Mapping[Control, str], setting: Any) -> dict[Control, Any]:
    """The values of a preset: of each control, the field of `setting` that it is named with."""
    return {control: getattr(setting, field) for control, field in controls.items()}
