"""The release of one parameter: the tilted objectives, and the densities of their lowest point.

`objpert_core.theory.one_dimensional` computes every number; this file chooses what is drawn."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from pages.home import pair
from pages.home.pair import DELTA, DRAW, DRAWS, FEATURES, FIT, LABELS, LAM, PEOPLE, PERSON, POINTS, RADIUS, SIGMA, Pair
from ui import figures, page, sentences, why
from ui.controls import previous
from ui.page import Prediction
from ui.view import View

NOISE_SEED = 2023  # the draws are an illustration: the same for everybody, so that a link shows the same picture
FRAMES = 12
_CURVE = 41  # fewer points for the curves that every frame carries

# The axes that stay while σ and λ move, so that more noise looks wider: they show σ = 0.5 to 10 at λ = 1
HELD_THETA = (-6.0, 9.0)
HELD_OBJECTIVE = (-8.0, 26.0)


@dataclass(frozen=True)
class Release(Pair, View, name="home", snippet="release"):
    """What draws of the tilt do to one pair of data sets."""

    draw: int = DRAW.default
    fit: bool = FIT.default

    controls = {"sigma": SIGMA, "lam": LAM, "person": PERSON, "delta": DELTA, "draw": DRAW, "fit": FIT}
    answers_in_alt = False
    snippet_note = "The screen shows this ε rounded up."

    def before(self) -> Self | None:
        fit = previous("home", (self.sigma, self.lam, self.person))
        return fit and replace(self, sigma=fit[0], lam=fit[1], person=fit[2])

    def tilts(self, count: int) -> NDArray[np.float64]:
        """The tilts b of draws `draw`, `draw` + 1, …, `count` of them, starting over after the last."""
        noise = np.random.default_rng(NOISE_SEED).standard_normal(DRAWS) * self.sigma
        return noise[np.arange(self.draw - 1, self.draw - 1 + count) % DRAWS]

    @cached_property
    def fitted(self) -> bool:
        """Whether the axes are to fit, or a tilt of one σ puts a lowest point outside the axes that stay.

        This does not depend on the draw, so that the axes stay from draw to draw.
        """
        lowest = ((law, law.minimiser(self.sigma)) for law in self.laws.values())
        return self.fit or any(
            theta < HELD_THETA[0] or law.objective(theta, self.sigma) < HELD_OBJECTIVE[0] for law, theta in lowest
        )

    def seen(self) -> NDArray[np.float64]:
        """The θ at which densities are drawn: all of the axis, and closely where this setting's releases fall."""
        own = self.grid
        if self.fitted:
            return own
        inside = own[(own > HELD_THETA[0]) & (own < HELD_THETA[1])]
        return np.union1d(np.linspace(*HELD_THETA, POINTS), inside)

    def answer(self) -> str:
        percent, worst = sentences.percent(self.guess, up=True), sentences.chance(self.epsilon)
        here, worst = (text.replace(" ", "\u00a0") for text in (percent, worst))
        start = f"ε = {sentences.epsilon(self.epsilon)}: a guess about this person is right"
        return f"{start} {here} of the time; at worst, for anybody, {worst}."

    def promise(self) -> str:
        return sentences.promise(self.epsilon, self.delta, sentences.TIGHT)

    def moved(self, before: Self | None) -> str:
        moved = why.moved(before.setting if before else None, self.setting, self.delta)
        return why.reread_or("home", self.setting, self.delta, moved)

    def note(self) -> str:
        return (
            f"Play shows {FRAMES} draws of b, starting with draw {self.draw}; the table keeps draw {self.draw}. Each "
            f"dot under the densities is one release. Everybody sees the same draws; a real fit takes b from the "
            f"operating system."
        )

    def shows(self) -> str:
        return (
            "Above, the training objective with one random tilt, with and without a person who "
            f"{self.person}; below, the densities of its lowest point over all tilts. ε = "
            f"{sentences.epsilon(self.epsilon)} limits how well one sample tells which of the two densities it came "
            f"from."
        )

    def svg_title(self) -> str:
        return f"Objective perturbation in one dimension, σ = {self.sigma:g}, λ = {self.lam:g}"

    def table(self) -> list[dict[str, str]]:
        rows = []
        for role, law in self.laws.items():
            low, high = law.interval(0.5)
            rows.append(
                {
                    "Data": f"{role} the person",
                    "θ before the tilt": sentences.fixed(law.minimiser(0.0)),
                    f"θ released by draw {self.draw}": sentences.fixed(law.minimiser(float(self.tilts(1)[0]))),
                    "half of all releases lie in": f"{sentences.fixed(low)} … {sentences.fixed(high)}",
                }
            )
        return rows

    def numbers(self) -> dict[str, Any]:
        densities = {f"density_{role}": law.density(self.grid) for role, law in self.laws.items()}
        return {"theta": self.grid} | densities | {"privacy_loss": self.loss}

    def blanks(self) -> dict[str, Any]:
        position, label = PEOPLE[self.person]
        people = {"features": list(FEATURES), "labels": list(LABELS), "radius": RADIUS}
        return {**super().blanks(), **people, "position": position, "label": label}

    def evidence(self, picture: page.Picture) -> None:
        rows = self.table()
        table, loss = st.columns(2, gap="medium")
        with table:
            page.table(rows, alt="The released θ without and with the person.")
        with loss:
            pair.show_loss(self)
        page.evidence(picture, shown=rows, name=self.name, code=self.code(), note=self.snippet_note)

    def chart(self, before: Self | None) -> figures.Figure:
        """The tilted objectives above, the released minimiser's densities below; Play draws further tilts."""
        laws = self.laws
        names = {role: f"{role} the person" for role in laws}
        theta = self.seen()
        ends = float(theta[0]), float(theta[-1])
        coarse = np.linspace(*ends, _CURVE)
        tilts = self.tilts(FRAMES)
        minimisers = {role: law.minimiser(tilts) for role, law in laws.items()}
        lowest = {role: law.objective(minimisers[role], tilts) for role, law in laws.items()}
        origin = float(laws["with"].objective(0.0))
        bottom = min(float(values.min()) for values in lowest.values())
        peak = max(float(law.density(theta).max()) for law in laws.values())

        # lists where they are short: plotly takes longer to look at a small array
        dots = [-0.1 * peak, -0.2 * peak]  # two rows under the densities, whole in a low window, too
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

        seen = before.seen() if before and not (self.fitted or before.fitted) else theta
        still = [
            figures.series(f"{names[role]}, before", seen, law.density(seen), role, ghost=True, yaxis="y2")
            for role, law in (before.laws if before else {}).items()
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
            figures.series(
                "releases", [], [], "with", mode="markers", **hidden, marker=marks | {"size": 8}, yaxis="y2"
            ),
        ]
        first = [look | now for look, now in zip(looks, moving(0), strict=True)]
        offset = 1 + len(still)
        numbers = list(range(offset, offset + len(first)))
        heights = (
            (bottom - 0.08 * abs(origin - bottom), origin + 0.9 * (origin - bottom)) if self.fitted else HELD_OBJECTIVE
        )
        return figures.figure(
            [untilted, *still, *first],
            xaxis=figures.axis("parameter θ", ends, hoverformat=".3g", anchor="y2"),
            yaxis=figures.axis("objective", heights, domain=[0.52, 1.0]),
            # no labels: each curve has area 1, so that its height only says how narrow it is
            yaxis2=figures.axis(
                "density", (-0.32 * peak, 1.08 * peak), domain=[0.0, 0.45], showticklabels=False, showgrid=False
            ),
            height=440,
            frames=[{"name": str(k), "data": moving(k), "traces": numbers} for k in range(FRAMES)],
            updatemenus=[_play_button()],
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
        "y": 0.5,  # over the thin end of the densities: the legend needs its width on a phone, the objective its height
        "yanchor": "top",
        "showactive": False,
        "bgcolor": "rgba(0,0,0,0)",
        "bordercolor": figures.BLUE,
        "font": {"color": figures.BLUE, "size": 14},
        "buttons": [
            {"label": "▶ Play", "method": "animate", "args": [None, step | {"mode": "immediate"}]},
            {"label": "■ Stop", "method": "animate", "args": [[None], stop]},
        ],
    }


def less_noise() -> None:
    show([Release(sigma, 1.0) for sigma in (2.5, 0.5)], (-1.5, 4.0), "home_try_sigma")


def less_regularisation() -> None:
    show([Release(2.5, lam) for lam in (1.0, 0.1)], (-4.0, 14.0), "home_try_lambda")


FIRST_QUESTION = Prediction.of("home", less_noise)
SECOND_QUESTION = Prediction.of("home", less_regularisation, text="lambda")


def show(releases: Sequence[Release], view: tuple[float, float], key: str) -> None:
    """The answer and the densities of each."""
    for release, column in zip(releases, st.columns(2), strict=True):
        with column:
            st.markdown(f"**σ = {release.sigma:g}, λ = {release.lam:g}.** {release.answer()}")
            picture = page.Picture(densities(release, view), release.alt())
            page.show(picture, key=f"{key}_{release.sigma:g}_{release.lam:g}")


def densities(release: Release, view: tuple[float, float]) -> figures.Figure:
    """The two densities alone, over θ from view[0] to view[1]."""
    theta = np.linspace(*view, 2 * POINTS)
    curves = {role: law.density(theta) for role, law in release.laws.items()}
    traces = [
        figures.series(f"{role} the person", theta, y, role, hover="density %{y:.3g}") for role, y in curves.items()
    ]
    xaxis = figures.axis("released θ", (float(theta[0]), float(theta[-1])), hoverformat=".3g")
    yaxis = figures.axis("density", (0.0, 1.08 * max(float(y.max()) for y in curves.values())), showticklabels=False)
    return figures.figure(traces, xaxis, yaxis, height=280)
