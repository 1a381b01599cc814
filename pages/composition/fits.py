"""k fits accounted for by convolution, with a validated band, and by Rényi: their profiles, or how wide the band is."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Self

import numpy as np

import objpert_core.accounting as acc
from objpert_core._literals import call
from objpert_core._validation import FloatArray
from pages.composition import controls, totals
from pages.composition.controls import BETA, BOUND, BOUNDS, COUNTS, CURVES, EPS_MAX, LOOKS, PAIRED
from pages.composition.totals import share_up
from ui import figures, page, parameters, sentences, snippets
from ui.bounds import ORDERS, renyi_curve
from ui.controls import Control
from ui.sentences import count, delta, epsilon, number, proved, scientific
from ui.view import View, set_by

RARE = 0.1  # the δ that anybody promises are below
POINTS = 201  # on the ε axis, ends included
VISIBLE = 0.01  # relative width of ε from which the band can be seen on the chart
DASHED = "dashed: by Rényi"  # one entry of the legend for all of them
ACCOUNTANTS: Mapping[str, str] = {
    "glm": "convolution under the 2023 theorem",
    "glm-pair": "convolution under the symmetric pair of the 2023 theorem",
    "logistic": "convolution under our theorem",
    "logistic-pair": "convolution under the symmetric pair of our theorem",
}
_REASONS = {  # more of it, less of it
    "σ": ("every fit is noisier", "every fit is less noisy"),
    "λ": ("every fit shows less of one person’s curvature", "every fit shows more of one person’s curvature"),
    "β": ("one person’s curvature may be larger", "one person’s curvature is smaller"),
    "L": ("one person’s gradient may be larger", "one person’s gradient is smaller"),
    "δ": ("the promise allows more slack", "the promise allows less slack"),
}
_REMEMBERED = 500


def grid(eps_max: float) -> FloatArray:
    """The ε at which curves are drawn."""
    return np.linspace(0.0, eps_max, POINTS)


@lru_cache(maxsize=_REMEMBERED)
def profile(fit: acc.Mechanism, k: int, eps_max: float, floor: float, width: float) -> tuple[FloatArray, FloatArray]:
    """Validated (lower, upper) bounds on δ of k fits on `grid(eps_max)`; NaN where both are below the floor.

    What is below the floor is not asked for: it takes longer the smaller it is.
    """
    inside = renyi_profile(fit, k, eps_max) >= floor  # it is above both bounds
    both = np.full((2, POINTS), np.nan)
    if inside.any():
        both[:, inside] = acc.repeat(fit, k).delta_bounds(grid(eps_max)[inside], width)
    both.setflags(write=False)
    return both[0], both[1]


@lru_cache(maxsize=_REMEMBERED)
def renyi_profile(fit: acc.Mechanism, k: int, eps_max: float) -> FloatArray:
    """δ of k fits on `grid(eps_max)` from the Rényi curve at `ORDERS`."""
    values = np.asarray(acc.rdp_to_delta(ORDERS, k * renyi_curve(fit), grid(eps_max)))
    values.setflags(write=False)
    return values


@dataclass(frozen=True)
class Reading:
    """What k fits cost: validated interval [low, epsilon] of ε at δ, by Rényi, and k times the ε of one fit.

    `delta_share` is the largest relative width of the band of δ where it is drawn and δ is at most `RARE`.
    """

    k: int
    low: float
    epsilon: float
    renyi: float
    added: float
    delta_share: float

    @property
    def share(self) -> float:
        """(upper − lower)/upper of the validated interval of ε."""
        return (self.epsilon - self.low) / self.epsilon if 0 < self.epsilon < math.inf else math.nan


@lru_cache(maxsize=_REMEMBERED)
def reading(fit: acc.Mechanism, k: int, delta: float, eps_max: float, floor: float, width: float) -> Reading:
    """What k fits cost at δ."""
    fits = frozenset({(fit, k)})
    below, above = profile(fit, k, eps_max, floor, width)
    drawn = (above >= floor) & (above <= RARE)
    share = float(np.max(1 - below[drawn] / above[drawn])) if drawn.any() else math.nan
    low, high = totals.epsilon_bounds(fits, delta, width)
    renyi, alone = totals.renyi_epsilon(fits, delta), totals.epsilon_alone(fit, delta)
    return Reading(k, low, high, renyi, k * alone, share)


class Fits(View, name="composition", title="k fits together", snippet="fits"):
    """A fit, how many of it, and the δ at which ε is read; drawn up to `eps_max` and down to `floor`."""

    counts: tuple[int, ...] = set_by(COUNTS)
    sigma: float = set_by(controls.SIGMA)
    proof: str = set_by(BOUND)  # a key of `BOUNDS`
    lam: float = set_by(controls.LAM)
    delta: float = set_by(controls.READ_DELTA)
    smoothness: float = set_by(BETA, aside=True)
    lipschitz: float = set_by(controls.LIPSCHITZ, aside=True)
    show_as: str = set_by(controls.SHOW, aside=True, compare=False)
    renyi: bool = set_by(controls.RENYI, aside=True, compare=False)
    eps_max: float = set_by(EPS_MAX, aside=True, compare=False)
    floor: float = set_by(controls.FLOOR, aside=True, compare=False)
    width: float = set_by(controls.WIDTH, aside=True, compare=False)  # that the grid aims at, a share of ε

    named = {"sigma": "σ", "lam": "λ", "smoothness": "β", "lipschitz": "L", "most": "k", "delta": "δ", "proof": "proof"}
    answers_in_alt = False

    @classmethod
    def now(cls) -> Self:
        """With each number of fits in order, the usual ones where none is picked, and β where the proof uses it."""
        view = super().now()
        counts = tuple(k for k in COUNTS.options if k in view.counts) or COUNTS.default
        view = replace(view, counts=counts, smoothness=1.0 if cls.idle(BETA) else view.smoothness)
        return replace(view, eps_max=parameters.followed(EPS_MAX, view.eps_max, view.total))

    @classmethod
    def beside_axes(cls) -> None:
        total = cls.now().total
        parameters.fit_axis(EPS_MAX, total, idle=math.isinf(total))

    @property
    def total(self) -> float:
        """ε of the largest number of fits, rounded up."""
        return totals.epsilon_bounds(frozenset({(self.fit, self.most)}), self.delta, self.width)[1]

    @classmethod
    def idle(cls, control: Control) -> bool:
        return control is BETA and not BOUNDS[BOUND.value()].startswith("glm")

    @property
    def base(self) -> str:
        """The bound of one fit, however it is composed."""
        return BOUNDS[self.proof].removesuffix(PAIRED)

    @property
    def paired(self) -> bool:
        """Whether the fits are composed through the symmetric pair."""
        return BOUNDS[self.proof].endswith(PAIRED)

    @property
    def fit(self) -> acc.Mechanism:
        """As the core describes it; the logistic bound has a smoothness of its own."""
        smoothness = self.smoothness if self.base == "glm" else None
        one = acc.ObjectivePerturbation(self.sigma, self.lam, self.lipschitz, smoothness, self.base)  # type: ignore[arg-type]
        return acc.symmetrised(one) if self.paired else one

    @property
    def most(self) -> int:
        """The largest number of fits, which the answer is about."""
        return self.counts[-1]

    @property
    def last(self) -> Reading:
        """What the largest number of fits costs."""
        return self.reading(self.most)

    def reading(self, k: int) -> Reading:
        """What k fits cost."""
        return reading(self.fit, k, self.delta, self.eps_max, self.floor, self.width)

    def profile(self, k: int) -> tuple[FloatArray, FloatArray]:
        """The band of k fits, as drawn."""
        return profile(self.fit, k, self.eps_max, self.floor, self.width)

    def __str__(self) -> str:
        beta = f", β = {self.smoothness:g}" if self.base == "glm" else ""
        return f"σ = {self.sigma:g}, λ = {self.lam:g}{beta}, L = {self.lipschitz:g}"

    def answer(self) -> str:
        """What the fits cost together, against k times the ε of one."""
        k, total, place = self.most, self.last.epsilon, f"at δ = {delta(self.delta)}"
        if math.isinf(total):
            return f"No bound proves a finite ε for {count(k, 'fit')} {place} with this setting."
        cost = f"{count(k, 'fit').capitalize()} {'costs' if k == 1 else 'cost'} ε = {epsilon(total)} {place}"
        one = self.last.added / k
        added = k * one
        if k == 1 or not 0 < added < math.inf:
            return f"{cost}."
        if total >= added * (1 - 1e-3):
            return f"{cost}; adding up proves the same ε, but only at {k:,} × δ."
        return f"{cost}, not {k:,} × {epsilon(one)} = {epsilon(added)}."

    def promise(self) -> str:
        return sentences.promise(self.last.epsilon, self.delta, ACCOUNTANTS[BOUNDS[self.proof]])

    def moved(self, before: Self | None) -> str:
        """What was changed since, and what that did to ε of the largest number of fits; of another proof no more."""
        if before is None or not (changes := sentences.changed(before, self, self.named)):
            return ""
        if before.proof != self.proof:
            changes = [change for change in changes if change[0] in ("k", "δ", "proof")]
        then, total = before.last.epsilon, self.last.epsilon
        text = f"{sentences.shift(changes)}: {sentences.course('ε', then, total)}"
        if len(changes) > 1 or not 0 < min(then, total) <= max(then, total) < math.inf:
            return f"{text}."
        what, old, new = changes[0]
        if what == "k":
            times, dearer = max(old, new) / min(old, new), max(total, then) / min(total, then)
            return f"{text}; {number(times)} times the fits cost {number(dearer, up=True)} times the ε."
        if what == "proof":
            return f"{text}; the fits are the same, only the proof differs."
        if epsilon(then) == epsilon(total):
            return f"{text}; {what} does not matter here."
        return f"{text}; {_REASONS[what][new < old]}."

    def remarks(self) -> list[str]:
        why = self.fit.explain()
        return [why] if why else []

    def note(self) -> str:
        """How wide the validated band is; it is mostly too thin to be seen."""
        last = self.last
        if self.remarks() or not 0 < last.epsilon < math.inf:
            return ""
        thin = ", less than the width of the line" if last.share < VISIBLE else ""
        return (
            f"For {count(last.k, 'fit')} this proof’s ε is computed with a relative error of at most "
            f"{scientific(last.share, 2, up=True)}{thin}. The promise includes this error."
        )

    def shows(self) -> str:
        if self.show_as == CURVES:
            return self.costs()
        shares = {k: self.reading(k).delta_share for k in self.counts}
        parts = [f"{count(k, 'fit')} {share_up(share)}" for k, share in shares.items() if math.isfinite(share)]
        return (
            "Relative width of the validated band of δ, on a logarithmic scale against ε, one curve for each number "
            "of fits. "
            f"Largest from δ = {number(RARE)} down: {'; '.join(parts) or 'nothing is proved'}."
        )

    def costs(self) -> str:
        """What the profiles show, and the table."""
        parts = [
            f"{count(r.k, 'fit')} {epsilon(r.epsilon)}, by Rényi {epsilon(r.renyi)}"
            if math.isfinite(r.epsilon)
            else f"{count(r.k, 'fit')} nothing proved"
            for r in map(self.reading, self.counts)
        ]
        return (
            "Privacy profile, δ on a logarithmic scale against ε, one solid curve for each number of fits and a dashed "
            f"one for its Rényi bound. ε at δ = {delta(self.delta)}: {'; '.join(parts)}."
        )

    def svg_title(self) -> str:
        return f"Composition of objective perturbation, {self}"

    def table(self) -> list[dict[str, str]]:
        return [
            {
                "Fits k": f"{r.k:,}",
                f"ε at δ = {delta(self.delta)}": proved(r.epsilon),
                "Validated width": scientific(r.epsilon - r.low, 2, up=True) if math.isfinite(r.epsilon) else "–",
                "ε by Rényi": proved(r.renyi),
                "k × ε of one": proved(r.added),
                "k × ε of one / ε": sentences.ratio(r.added / r.epsilon if 0 < r.epsilon < math.inf else math.nan),
                "Even odds become at most": sentences.odds(r.epsilon).replace(" ", "\u00a0"),
            }
            for r in map(self.reading, self.counts)
        ]

    def evidence(self, picture: page.Picture) -> None:
        page.table(self.table(), alt=self.costs())
        page.evidence(picture, shown=self.table(), name=self.name, code=self.code())

    def numbers(self) -> Any:
        """ε, and for each number of fits both validated bounds on δ and the Rényi one."""
        columns = {"epsilon": grid(self.eps_max)}
        for k in self.counts:
            low, high = self.profile(k)
            renyi = renyi_profile(self.fit, k, self.eps_max)
            columns |= {f"delta_lower_{k}": low, f"delta_{k}": high, f"delta_renyi_{k}": renyi}
        return columns

    def blanks(self) -> dict[str, Any]:
        given: dict[str, Any] = {"sigma": self.sigma, "lam": self.lam, "lipschitz": self.lipschitz}
        given |= {"smoothness": self.smoothness} if self.base == "glm" else {}
        one = call("acc.ObjectivePerturbation", given | {"bound": self.base})
        fit = snippets.Verbatim(f"acc.symmetrised({one})" if self.paired else one)
        return {**super().blanks(), "mechanism": fit, "points": POINTS, "counts": list(self.counts)}

    def chart(self, before: Self | None) -> Any:
        """The profiles or the band's width."""
        if self.show_as == CURVES:
            same = before is None or replace(before, counts=self.counts, delta=self.delta) == self
            return self.profiles(None if same else before)
        x, traces = grid(self.eps_max), []
        for k, look in zip(self.counts, LOOKS, strict=False):
            low, high = self.profile(k)
            share = np.where((high >= self.floor) & (high < 1) & (low < high), 1 - low / high, np.nan)
            traces.append(_curve(f"k = {k}", x, share, look, value="width"))
        xaxis = figures.axis("privacy budget ε", (0.0, self.eps_max), hoverformat=".3g")
        yaxis = figures.axis("(upper − lower) / upper bound on δ", (1e-7, 2.0), log=True)
        return figures.figure(traces, xaxis, yaxis, height=500)

    def profiles(self, before: Self | None, *, height: int = 500, read: bool = True) -> Any:
        """δ(ε) of each number of fits: validated band, upper end solid, Rényi dashed; a guide where ε is `read`."""
        x, looks = grid(self.eps_max), list(zip(self.counts, LOOKS, strict=False))
        traces = [figures.guide((0, self.eps_max), (self.delta, self.delta))] if read else []
        if before is not None:
            for k, (color, _) in looks:
                traces.append(figures.series(f"k = {k}, before", x, before.profile(k)[1], "guide", ghost=True))
                traces[-1]["line"]["color"] = color
        for k, look in looks:
            low, high = self.profile(k)
            known = np.isfinite(high)
            traces.append(figures.band(x[known], np.maximum(low, self.floor * 1e-3)[known], high[known], "guide"))
            traces[-1]["fillcolor"] = figures.translucent(look[0], 0.3)
            if self.renyi:
                by_renyi = renyi_profile(self.fit, k, self.eps_max)
                traces.append(_curve(f"k = {k}, Rényi", x, by_renyi, look, "dash", showlegend=False))
            traces.append(_curve(f"k = {k}", x, high, look))
        if self.renyi:
            dashed = {"color": figures.GREY, "dash": "dash"}
            traces.append(figures.series(DASHED, [0.0], [np.nan], "guide", line=dashed))
        xaxis = figures.axis("privacy budget ε", (0.0, self.eps_max), hoverformat=".3g")
        yaxis = figures.axis("slack δ", (self.floor, 2.0), log=True)
        return figures.figure(traces, xaxis, yaxis, height=height)


def _curve(
    name: str, x: Any, y: Any, look: tuple[str, str], dash: str = "solid", *, value: str = "δ", **extra: Any
) -> dict[str, Any]:
    """One curve in the look of its number of fits; a few markers tell solid ones apart without colour."""
    (color, symbol), solid = look, dash == "solid"
    extra |= {"line": {"color": color, "dash": dash, "width": 2.5 if solid else 1.8, "simplify": False}}
    if solid:
        extra["marker"] = {"color": color, "symbol": symbol, "size": 9, "maxdisplayed": 12}
    mode = "lines+markers" if solid else "lines"
    return figures.series(name, x, y, "guide", mode=mode, hover=f"{value} = %{{y:.3g}}", **extra)
