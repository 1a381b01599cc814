"""The Home page's picture: one parameter, twelve people, and a thirteenth who may be in the data or not.

`objpert_core.theory.one_dimensional` computes every number; this file chooses what is drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

import objpert_core.accounting as acc
from objpert_core.theory.one_dimensional import OneDimensionalLogistic
from ui import figures, sentences

# Twelve invented people: one number |x| <= 1 each, and a label. Most follow the sign of x.
FEATURES = (0.9, 0.7, 0.5, 0.8, 0.3, 0.6, -0.8, -0.6, -0.9, -0.4, -0.7, 0.2)
LABELS = (1, 1, 1, 1, -1, 1, -1, -1, -1, 1, -1, -1)
RADIUS = 1.0
PERSON = {"agrees with the others": (1.0, 1), "disagrees with the others": (1.0, -1)}
NOISE_SEED = 2023  # the draws are an illustration: the same for everybody, so that a link shows the same picture
DRAWS = 1000
FRAMES = 12
POINTS = 161
_CURVE = 41  # fewer points for the curves that every frame carries

# The axes that stay while σ and λ move, so that more noise looks wider: they show σ = 0.5 to 10 at λ = 1
HELD_THETA = (-6.0, 9.0)
HELD_OBJECTIVE = (-8.0, 26.0)


@dataclass(frozen=True)
class Scene:
    """One setting of the picture: noise σ, regularisation λ, who the person is, and how many tilts were drawn."""

    sigma: float
    lam: float
    person: str
    draw: int

    @property
    def without(self) -> OneDimensionalLogistic:
        """The law of the released minimiser without the person."""
        return OneDimensionalLogistic(FEATURES, LABELS, sigma=self.sigma, lam=self.lam)

    @property
    def with_person(self) -> OneDimensionalLogistic:
        """The law of the released minimiser with the person."""
        return self.without.add(*PERSON[self.person])

    @property
    def mechanism(self) -> acc.ObjectivePerturbation:
        """What accounts for it: the tight bound at the largest |x| that anybody may have."""
        return acc.ObjectivePerturbation(self.sigma, self.lam, lipschitz=RADIUS)

    def tilts(self, count: int) -> NDArray[np.float64]:
        """The tilts b of draws `draw`, `draw` + 1, …, `count` of them, starting over after the last."""
        noise = np.random.default_rng(NOISE_SEED).standard_normal(DRAWS) * self.sigma
        return noise[np.arange(self.draw - 1, self.draw - 1 + count) % DRAWS]

    def seen(self, fit: bool) -> NDArray[np.float64]:
        """The θ at which densities are drawn: all of the axis, and closely where this setting's releases fall."""
        own = self.grid()
        if fit:
            return own
        inside = own[(own > HELD_THETA[0]) & (own < HELD_THETA[1])]
        return np.union1d(np.linspace(*HELD_THETA, POINTS), inside)

    def grid(self, points: int = POINTS) -> NDArray[np.float64]:
        """The θ at which curves are drawn: where all but 2 in 1,000 releases fall."""
        low, high = np.array([self.without.interval(2e-3), self.with_person.interval(2e-3)]).T
        return np.linspace(low.min(), high.max(), points)


@dataclass(frozen=True)
class Story:
    """The numbers in the sentences: what is proved for everybody, and what holds for this pair of data sets."""

    epsilon: float
    delta: float
    exact_delta: float
    guess: float
    tail: float


def story(scene: Scene, delta: float) -> Story:
    """ε proved at δ, the exact δ of this pair at that ε in the worse direction, how often the best guess is right, and
    how often the privacy loss of any pair exceeds ε at most.

    The best guess between two equally likely data sets is right with probability (1 + total variation)/2, and the total
    variation is the hockey-stick divergence at ε = 0.
    """
    epsilon = scene.mechanism.epsilon(delta)
    tail = scene.mechanism.tail(epsilon)
    pair = scene.without, scene.with_person
    exact = max(first.hockey_stick(second, epsilon) for first, second in (pair, pair[::-1]))
    return Story(epsilon, delta, exact, 0.5 + 0.5 * scene.without.hockey_stick(scene.with_person, 0.0), tail)


def release(scene: Scene, ghost: Scene | None = None, *, fit: bool = False) -> go.Figure:
    """The tilted objectives above, the released minimiser's densities below; Play draws further tilts.

    `ghost` is the setting whose densities stay as faint lines, or None; `fit` lets the axes follow the setting.
    """
    laws = {"without": scene.without, "with": scene.with_person}
    names = {role: f"{role} the person" for role in laws}
    theta = scene.seen(fit)
    ends = float(theta[0]), float(theta[-1])
    coarse = np.linspace(*ends, _CURVE)
    tilts = scene.tilts(FRAMES)
    minimisers = {role: law.minimiser(tilts) for role, law in laws.items()}
    lowest = {role: law.objective(minimisers[role], tilts) for role, law in laws.items()}
    origin = float(laws["with"].objective(0.0))
    bottom = min(float(values.min()) for values in lowest.values())
    peak = max(float(law.density(theta).max()) for law in laws.values())

    # lists where they are short: plotly takes longer to look at a small array
    dots = [-0.06 * peak, -0.13 * peak]  # two rows under the densities
    points = [np.column_stack(list(values.values())).round(4).tolist() for values in (minimisers, lowest)]
    released = [theta for pair in points[0] for theta in pair]
    heights_of = {
        role: (law.objective(coarse) + np.outer(tilts, coarse)).astype(np.float32) for role, law in laws.items()
    }

    def moving(k: int) -> list[dict[str, Any]]:
        """What frame k shows: two tilted curves, their lowest points, and all releases up to this one."""
        return [
            *({"y": heights_of[role][k]} for role in laws),
            {"x": points[0][k], "y": points[1][k]},
            {"x": released[: 2 * (k + 1)], "y": dots * (k + 1)},
        ]

    shadows = {"without": ghost.without, "with": ghost.with_person} if ghost else {}
    seen = ghost.seen(fit) if ghost and not fit else theta
    still = [
        figures.series(f"{names[role]}, before", seen, law.density(seen), role, ghost=True, yaxis="y2")
        for role, law in shadows.items()
    ] + [
        figures.series(names[role], theta, law.density(theta), role, yaxis="y2", hover="density %{y:.3g}")
        for role, law in laws.items()
    ]
    untilted = figures.series(
        "before the tilt", coarse, laws["with"].objective(coarse), "guide", hover="%{y:.3g}", legendrank=2000
    )
    hidden: dict[str, Any] = {"showlegend": False, "hoverinfo": "skip"}
    both = [figures.ROLES[role] for role in laws]
    marks = {"color": [look.color for look in both] * FRAMES, "symbol": [look.symbol for look in both] * FRAMES}
    looks = [
        *(figures.series(names[role], coarse, [], role, **hidden) for role in laws),
        figures.series("lowest points", [], [], "with", mode="markers", **hidden, marker=marks | {"size": 12}),
        figures.series("releases", [], [], "with", mode="markers", **hidden, marker=marks | {"size": 8}, yaxis="y2"),
    ]
    first = [look | now for look, now in zip(looks, moving(0), strict=True)]
    offset = 1 + len(still)
    numbers = list(range(offset, offset + len(first)))
    heights = (bottom - 0.08 * abs(origin - bottom), origin + 0.9 * (origin - bottom)) if fit else HELD_OBJECTIVE
    return figures.figure(
        [untilted, *still, *first],
        xaxis=figures.axis("parameter θ", ends, hoverformat=".3g", anchor="y2"),
        yaxis=figures.axis("objective", heights, domain=[0.6, 1.0]),
        # no labels: each curve has area 1, so that its height only says how narrow it is
        yaxis2=figures.axis("density", (-0.2 * peak, 1.08 * peak), domain=[0.0, 0.46], showticklabels=False),
        height=440,
        frames=[{"name": str(k), "data": moving(k), "traces": numbers} for k in range(FRAMES)],
        updatemenus=[_play_button()],
    )


def densities(scene: Scene, view: tuple[float, float]) -> go.Figure:
    """The two densities alone, over θ from view[0] to view[1], for a side-by-side comparison."""
    theta = np.linspace(*view, 2 * POINTS)
    laws = {"without": scene.without, "with": scene.with_person}
    curves = {role: law.density(theta) for role, law in laws.items()}
    return figures.figure(
        [figures.series(f"{role} the person", theta, y, role, hover="density %{y:.3g}") for role, y in curves.items()],
        xaxis=figures.axis("released θ", (float(theta[0]), float(theta[-1])), hoverformat=".3g"),
        yaxis=figures.axis("density", (0.0, 1.08 * max(float(y.max()) for y in curves.values())), showticklabels=False),
        height=280,
    )


def _play_button() -> dict[str, Any]:
    """Play from the first frame, Stop where it is. Nothing moves before it is pressed, and it ends by itself."""
    step = {"frame": {"duration": 550, "redraw": False}, "transition": {"duration": 300}}
    stop = {"frame": {"duration": 0, "redraw": False}, "mode": "immediate", "transition": {"duration": 0}}
    return {
        "type": "buttons",
        "direction": "left",
        "x": 1,
        "xanchor": "right",
        "y": 0.53,  # the gap between the panels: the legend above needs its width on a phone
        "yanchor": "middle",
        "showactive": False,
        "bgcolor": "rgba(0,0,0,0)",
        "bordercolor": figures.BLUE,
        "font": {"color": figures.BLUE, "size": 14},
        "buttons": [
            {"label": "▶ Play", "method": "animate", "args": [None, step | {"mode": "immediate"}]},
            {"label": "■ Stop", "method": "animate", "args": [[None], stop]},
        ],
    }


def table_rows(scene: Scene) -> list[dict[str, str]]:
    """Without and with the person: what this draw releases, and where half of all releases fall."""
    rows = []
    for role, law in (("without", scene.without), ("with", scene.with_person)):
        low, high = law.interval(0.5)
        rows.append(
            {
                "Data": f"{role} the person",
                "θ before the tilt": sentences.fixed(law.minimiser(0.0)),
                f"θ released by draw {scene.draw}": sentences.fixed(law.minimiser(float(scene.tilts(1)[0]))),
                "half of all releases lie in": f"{sentences.fixed(low)} … {sentences.fixed(high)}",
            }
        )
    return rows


def privacy_loss(scene: Scene, epsilon: float) -> go.Figure:
    """The logarithm of how many times likelier each released θ is with the person than without."""
    theta = scene.grid()
    loss = scene.with_person.log_density(theta) - scene.without.log_density(theta)
    view = 1.15 * max(epsilon, float(np.abs(loss).max()))
    ends = (float(theta[0]), float(theta[-1]))
    return figures.figure(
        [
            figures.guide(ends, (epsilon, epsilon)),
            figures.guide(ends, (-epsilon, -epsilon)),
            figures.series("privacy loss", theta, loss, "with", hover="log ratio %{y:.3g}"),
        ],
        xaxis=figures.axis("released θ", ends, hoverformat=".3g"),
        yaxis=figures.axis("privacy loss", (-view, view)),
        height=280,
        legend=False,
    )


def frame(scene: Scene) -> pd.DataFrame:
    """Every plotted number that does not move."""
    theta, without, with_person = scene.grid(), scene.without, scene.with_person
    return pd.DataFrame(
        {
            "theta": theta,
            "density_without": without.density(theta),
            "density_with": with_person.density(theta),
            "privacy_loss": with_person.log_density(theta) - without.log_density(theta),
        }
    )
