"""The game's picture: the people and the published model beside what the attacker knows about θ; that of "Try it"."""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.special import expit

from objpert_core._validation import FloatArray
from objpert_core.theory.minimiser_law import MinimiserLaw, log_odds
from pages.guess import rounds
from pages.guess.rounds import BARE, DIGITS, PRIVATE, Round, Setting
from ui import figures, page, sentences

HEIGHT = 430
_TURN = np.linspace(0, 2 * np.pi, 73)
_HALF, _MOST = (math.sqrt(2 * math.log(1 / outside)) for outside in (0.5, 0.05))  # radii of b/σ in the plane
_CELLS = 61
_CURVE = 161
_EDGE = 1.15  # of the panel with the people
_THETA = "θ₁ across, θ₂ up"
_DOMAINS = (0.0, 0.44), (0.56, 1.0)
BORDER = "the best attacker’s border"
MODEL = "published model, θ"  # a line on the left and a diamond on the right, of one colour
NAMES = {"without": "without the person", "with": "with the person"}
HALVES = {"without": "half of all θ if out", "with": "half of all θ if in"}
_HIDDEN: dict[str, Any] = {"showlegend": False}


def stage(setting: Setting, now: Round, played: Sequence[Round], *, border: bool = False) -> figures.Figure:
    """The people and the model that was published; θ and the two laws that it may have come from.

    `played` are the rounds whose truth is known; `border` shows where both laws are equally likely.
    """
    build = _plane if setting.place == rounds.PLANE else _line
    return build(setting, now, played, border)


def _plane(setting: Setting, now: Round, played: Sequence[Round], border: bool) -> figures.Figure:
    ahead = np.array(now.theta) / math.hypot(*now.theta)
    across = ahead[::-1] * (-1.0, 1.0)
    ends = 1.1 * np.outer((-1.0, 1.0), across)
    arrow = np.array([[0.0, 0.0], 0.3 * ahead])
    known = np.array(rounds.IN_THE_PLANE)
    left = [
        figures.guide(np.cos(_TURN).tolist(), np.sin(_TURN).tolist(), name="norm 1"),
        figures.series(MODEL, ends[:, 0], ends[:, 1], "logistic", hover="predicts +1 on the arrow’s side"),
        figures.series("its +1 side", arrow[:, 0], arrow[:, 1], "logistic", hoverinfo="skip", **_HIDDEN),
        *_known(known[:, 0], known[:, 1]),
        _marked(rounds.ROW[rounds.PLANE], setting.person),
    ]
    low, high = _frame(setting, [now, *played])
    right = []
    for role, law in _laws(setting).items():
        centre = law.minimiser(np.zeros(2))
        if setting.game != BARE:
            half = _outline(setting, role)
            held = HALVES[role]
            right.append(figures.series(held, half[:, 0], half[:, 1], role, hover="holds half of all releases"))
        right.append(_centre(role, centre[0], centre[1], named=setting.game == BARE))
    if border and setting.game not in (BARE, DIGITS):
        edge = _border(setting, low, high)
        right.append(figures.series(BORDER, edge[:, 0], edge[:, 1], "guide", hoverinfo="skip", **_HIDDEN))
    for role, truth in (("without", False), ("with", True)):
        seen = np.array([earlier.theta for earlier in played if earlier.inside == truth]).reshape(-1, 2)
        right.append(_earlier(role, seen[:, 0], seen[:, 1]))
    right.append(_released(*now.theta))
    return figures.figure(
        [*left, *(trace | {"xaxis": "x2", "yaxis": "y2"} for trace in right)],
        xaxis=figures.axis("first feature", (-_EDGE, _EDGE), domain=list(_DOMAINS[0]), dtick=0.5),
        yaxis=figures.axis("second feature", (-_EDGE, _EDGE), dtick=0.5, scaleanchor="x", constrain="domain"),
        xaxis2=figures.axis(_THETA, (low[0], high[0]), domain=list(_DOMAINS[1]), anchor="y2", nticks=6),
        yaxis2=figures.axis("", (low[1], high[1]), anchor="x2", nticks=6),
        height=HEIGHT,
        hovermode="closest",
    )


def _line(setting: Setting, now: Round, played: Sequence[Round], border: bool) -> figures.Figure:
    (theta,) = now.theta
    x = np.linspace(-_EDGE, _EDGE, 61)
    known = np.array(rounds.ON_THE_LINE)
    labels = np.array(rounds.LABELS)
    left = [
        figures.guide((0.0, 0.0), (-0.15, 1.15), name="0"),
        *_known(known, (labels + 1) / 2),
        _marked((*rounds.ROW[rounds.LINE], (rounds.LABEL[setting.person] + 1) / 2), setting.person),
        figures.series(MODEL, x, expit(theta * x), "logistic", hover="chance of the label +1: %{y:.2f}"),
    ]
    low, high = (float(end[0]) for end in _frame(setting, [now, *played]))
    grid = np.linspace(low, high, _CURVE)
    laws = _laws(setting)
    heights = {role: np.exp(law.log_density(grid[:, None])) for role, law in laws.items()}
    peak = 1.0 if setting.game == BARE else max(float(height.max()) for height in heights.values())
    right = []
    for role, law in laws.items():
        if setting.game == BARE:
            right.append(_centre(role, law.minimiser(np.zeros(1))[0], 0.5, named=True))
        else:
            right.append(figures.series(NAMES[role], grid, heights[role], role, hover="density %{y:.3g}"))
    if border and setting.game not in (BARE, DIGITS):
        odds = log_odds(laws["with"], laws["without"], grid[:, None])
        for place in np.flatnonzero(np.diff(np.sign(odds)) != 0):
            right.append(figures.guide((grid[place], grid[place]), (0.0, 1.1 * peak), name=BORDER))
    for role, truth, row in (("without", False, -0.16), ("with", True, -0.09)):
        seen = np.array([earlier.theta[0] for earlier in played if earlier.inside == truth])
        right.append(_earlier(role, seen, np.full(len(seen), row * peak)))
    right.append(_released(theta, 0.0))
    return figures.figure(
        [*left, *(trace | {"xaxis": "x2", "yaxis": "y2"} for trace in right)],
        xaxis=figures.axis("feature", (-_EDGE, _EDGE), domain=list(_DOMAINS[0]), dtick=0.5),
        yaxis=figures.axis("label", (-0.15, 1.15), tickvals=[0, 1], ticktext=["−1", "+1"]),
        xaxis2=figures.axis("released θ", (low, high), domain=list(_DOMAINS[1]), anchor="y2", nticks=6),
        yaxis2=figures.axis("density", (-0.22 * peak, 1.15 * peak), anchor="x2", showticklabels=False),
        height=HEIGHT,
        hovermode="closest",
    )


def _laws(setting: Setting) -> dict[str, MinimiserLaw]:
    return {"without": setting.left, "with": setting.joined}


@lru_cache(maxsize=500)
def _outline(setting: Setting, role: str, radius: float = _HALF) -> FloatArray:
    """The θ that tilts of norm radius·σ lead to; a share 1 − exp(−radius²/2) of all releases lies inside."""
    law = _laws(setting)[role]
    return law.minimiser(law.sigma * radius * np.stack([np.cos(_TURN), np.sin(_TURN)], axis=-1))


@lru_cache(maxsize=500)
def _ends(setting: Setting) -> tuple[FloatArray, FloatArray]:
    """The box that nearly all releases fall into, with the person and without."""
    ends = []
    for role, law in _laws(setting).items():
        if setting.game == BARE:
            ends.append(law.minimiser(np.zeros((1, law.dimension))))
        elif setting.place == rounds.PLANE:
            ends.append(_outline(setting, role, _MOST))
        else:
            ends.append(law.minimiser(law.sigma * np.array([[-2.6], [2.6]])))
    every = np.concatenate(ends)
    return every.min(axis=0), every.max(axis=0)


def _frame(setting: Setting, shown: Sequence[Round]) -> tuple[FloatArray, FloatArray]:
    """The ends of θ's axes: where releases fall, and every θ that is shown."""
    low, high = _ends(setting)
    thetas = np.array([drawn.theta for drawn in shown])
    low, high = np.minimum(low, thetas.min(axis=0)), np.maximum(high, thetas.max(axis=0))
    room = np.maximum(0.08 * (high - low), 0.05)
    return low - room, high + room


def _border(setting: Setting, low: FloatArray, high: FloatArray) -> FloatArray:
    """Where both laws are equally likely: on each line along the marked person's row, the first change of sides."""
    along = np.array(rounds.ROW[rounds.PLANE])
    across = np.array([-along[1], along[0]])
    middle, reach = (low + high) / 2, float(np.hypot(*(high - low))) / 2
    steps = np.linspace(-reach, reach, _CELLS)
    grid = middle + steps[:, None, None] * across + steps[:, None] * along
    odds = log_odds(setting.joined, setting.left, grid)
    changes = np.sign(odds[:, 1:]) != np.sign(odds[:, :-1])
    first = changes.argmax(axis=1)
    rows = np.arange(_CELLS)
    before, after = odds[rows, first], odds[rows, first + 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        share = before / (before - after)
    points = middle + steps[:, None] * across + (steps[first] + share * (steps[1] - steps[0]))[:, None] * along
    inside = changes.any(axis=1) & (points >= low).all(axis=1) & (points <= high).all(axis=1)
    return np.where(inside[:, None], points, np.nan)


def _known(x: FloatArray, y: FloatArray) -> list[dict[str, Any]]:
    labels = np.array(rounds.LABELS)
    look = {"color": figures.GREY, "size": 10}
    return [
        figures.series(name, x[labels == label], y[labels == label], "guide", mode="markers", hover="certainly in")
        | {"marker": look | {"symbol": symbol}}
        for name, label, symbol in (("label +1", 1, "circle"), ("label −1", -1, "circle-open"))
    ]


def _marked(at: tuple[float, ...], person: str) -> dict[str, Any]:
    label = "+1" if rounds.LABEL[person] == 1 else "−1"
    look = {"symbol": "star" if label == "+1" else "star-open", "line": {"width": 2}}
    return figures.marks("the person: in or out?", [at[0]], [at[1]], "with", 17, hover=f"label {label}", look=look)


def _centre(role: str, x: float, y: float, *, named: bool) -> dict[str, Any]:
    """The minimiser without noise."""
    name = f"θ if {'in' if role == 'with' else 'out'}, no noise"
    return figures.marks(name, [x], [y], role, 9, hover="%{x:.4g}", look={"symbol": "x"}, showlegend=named)


def _earlier(role: str, x: FloatArray, y: FloatArray) -> dict[str, Any]:
    name = "an earlier release, " + NAMES[role]
    return figures.marks(name, x, y, role, 6, hover="%{x:.3g}", **_HIDDEN, opacity=0.7)


def _released(x: float, y: float) -> dict[str, Any]:
    look = {"symbol": "diamond"}
    return figures.marks("published θ", [x], [y], "logistic", 14, hover="%{x:.4g}", look=look, **_HIDDEN)


CURVES = {"ε and δ alone": "glm", "the whole proof": "logistic", "this person": "with", "a coin": "free"}
"""Name and look of each curve."""


@lru_cache(maxsize=1)
def curves() -> dict[str, np.ndarray]:
    """On the line at λ = 2, for noise from little to much: by ε alone, by the whole proof, and about this person."""
    sigmas, lam = np.geomspace(0.55, 30, 25).tolist(), 2.0
    by_epsilon, whole = np.transpose([rounds.allowed(sigma, lam) for sigma in sigmas])
    settings = [Setting(PRIVATE, sigma, lam, rounds.LINE, rounds.DISAGREES, 0) for sigma in sigmas]
    person = np.array([estimate.value for estimate in map(rounds.long_run, settings) if estimate])
    heights = dict(zip(CURVES, (by_epsilon, whole, person, np.full(len(sigmas), 0.5)), strict=True))
    return {"epsilon": np.array([rounds.epsilon(sigma, lam) for sigma in sigmas])} | heights


def revealed() -> None:
    eps, heights = curves()["epsilon"], {name: curves()[name] for name in CURVES}
    traces = [figures.series(name, eps, heights[name], role, hover="%{y:.1%}") for name, role in CURVES.items()]
    xaxis = figures.axis("ε", (0.0, float(eps.max())))
    yaxis = figures.axis("guesses that are right", (0.45, 1.02), tickformat=".0%")
    chart = figures.figure(traces, xaxis, yaxis, height=340)
    near = int(abs(eps - 1).argmin())
    listed = "; ".join(f"{name} {sentences.percent(float(y[near]), up=True)}" for name, y in heights.items())
    alt = f"How often guesses are right against ε. Near ε = 1: {listed}."
    page.show(page.Picture(chart, alt), key="guess_try_chart")
