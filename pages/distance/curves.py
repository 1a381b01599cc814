"""The four curves of a fit, their Rényi divergences or their privacy profiles, and how far each is from the least."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np

import objpert_core.accounting as acc
from objpert_core._validation import FloatArray
from objpert_core.accounting.distance import over_lower_bound
from pages.distance import maps
from ui import bounds, figures, page, parameters, sentences, snippets, why
from ui.bounds import Setting, along, at, grid
from ui.controls import Control, SelectSlider, log_values, powers_of_ten
from ui.view import View, set_by

LARGE_SMALL = Setting(sigma=10.0, lam=2.0, smoothness=1.0, lipschitz=1.0)
SILENT = Setting(sigma=10.0, lam=0.2, smoothness=0.25, lipschitz=1.0)
RENYI, PROFILE = "Rényi curves", "Privacy profiles"

TWICE = "Two pictures of the same four privacy losses: Rényi divergences, as in the paper’s figure, or δ against ε."
SHOW = parameters.show("distance", (RENYI, PROFILE), TWICE)
SIGMA, LAM, BETA, LIPSCHITZ = MECHANISM = parameters.mechanism("distance", LARGE_SMALL, SILENT)
READ_DELTA = parameters.read_delta("distance", label="Compare ε at δ =")
READ_ALPHA = SelectSlider("distance_alpha", "Read ε(α) at α =", 10.0, log_values(1, 10_000, steps=parameters.FEW_STEPS))
ALPHA_MAX = parameters.view("distance", "α axis up to", 10_000.0, powers_of_ten(1, 6))
EPS_ENDS = (0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0)
EPS_MAX = parameters.view("distance", "ε axis up to", 2.0, EPS_ENDS, name="eps_view")
GHOST = parameters.ghost("distance")

NAMES: Mapping[str, str] = {
    "lower": bounds.NAMES["lower"],
    "half": "Half-normal (λ → ∞)",
    "glm": bounds.NAMES["glm"],
    "logistic": bounds.NAMES["logistic"],
}
SOURCES: Mapping[str, str] = {
    "lower": "Theorem B.1, Corollary 3.5",
    "half": "Theorem 3.1 with λ → ∞",
    "glm": "Theorems 3.1 and 3.2",
    "logistic": "this project, T1",
}
ROLES = {"lower": "lower", "half": "noise", "glm": "glm", "logistic": "logistic"}
POINTS = 201


def orders(alpha_max: float) -> FloatArray:
    """The Rényi orders at which curves are drawn: from 1, evenly on a logarithmic axis."""
    alpha = np.geomspace(1.0, alpha_max, POINTS)
    alpha[0], alpha[-1] = 1.0, alpha_max
    return alpha


class Distance(Setting, View, name="distance", title="Distance to optimality", snippet="curves"):
    """A fit; ε is read at δ, ε(α) at α."""

    sigma: float = set_by(SIGMA)
    lam: float = set_by(LAM)
    smoothness: float = set_by(BETA, aside=True)
    lipschitz: float = set_by(LIPSCHITZ, aside=True)
    show_as: str = set_by(SHOW, compare=False)
    delta: float = set_by(READ_DELTA, compare=False)
    alpha: float = set_by(READ_ALPHA, aside=True, compare=False)
    alpha_max: float = set_by(ALPHA_MAX, aside=True, compare=False)
    eps_max: float = set_by(EPS_MAX, aside=True, compare=False)

    answers_in_alt = False

    @classmethod
    def now(cls) -> Self:
        view = super().now()
        return replace(view, eps_max=parameters.followed(EPS_MAX, view.eps_max, view.epsilon("logistic")))

    @classmethod
    def beside_axes(cls) -> None:
        parameters.fit_axis(EPS_MAX, cls.now().epsilon("logistic"), idle=SHOW.value() != PROFILE)

    @classmethod
    def idle(cls, control: Control) -> bool:
        return control in ((READ_ALPHA, ALPHA_MAX) if SHOW.value() == PROFILE else (EPS_MAX,))

    def mechanism(self, name: str) -> acc.Mechanism:
        """The mechanism behind one curve of `NAMES`; raises `ValueError` for values out of range."""
        return acc.HalfNormal(self.sigma, self.lipschitz) if name == "half" else super().mechanism(name)

    def renyi(self, name: str) -> FloatArray:
        """ε(α) at `orders`; inf where the bound proves nothing."""
        return along(self.mechanism(name), "rdp", orders, self.alpha_max)

    def profile(self, name: str) -> FloatArray:
        """δ(ε) on `ui.bounds.grid`; 1 where the bound proves nothing."""
        return along(self.mechanism(name), "delta", grid, self.eps_max)

    def epsilon(self, name: str) -> float:
        """Smallest ε that the curve proves at δ."""
        return at(self.mechanism(name), "epsilon", self.delta)

    def distance(self, name: str) -> float:
        """How many times the least is that any proof could show the curve's ε is."""
        return float(over_lower_bound(self.epsilon(name), self.epsilon("lower")))

    def divergence(self, name: str) -> float:
        """The curve's ε(α)."""
        return at(self.mechanism(name), "rdp", self.alpha)

    @property
    def optimal_lam(self) -> float:
        """The λ from which on the tight bound is exact at this σ and δ."""
        return float(acc.optimal_lam(self.epsilon("lower"), self.sigma, self.lipschitz))

    def answer(self) -> str:
        tight, lower = map(self.epsilon, ("logistic", "lower"))
        published = self.logistic.epsilon("glm")  # one sentence is about one loss
        text = f"Our theorem certifies ε = {sentences.epsilon(tight)}, {_least(tight, lower)}"
        if math.isinf(published):
            return f"{text}; the 2023 theorem certifies nothing."
        price = f"{sentences.ratio(published / lower)} the least" if lower else f"ε = {sentences.epsilon(published)}"
        return f"{text}; the 2023 theorem certifies {price}."

    def promise(self) -> str:
        return sentences.promise(self.epsilon("logistic"), self.delta, sentences.TIGHT)

    def moved(self, before: Self | None) -> str:
        return why.moved(before, self, self.delta)

    def remarks(self) -> list[str]:
        silent = self.silent("glm")
        return [f"**{NAMES['glm']}.** {silent}"] if silent else []

    def note(self) -> str:
        """What the published ε is made of, and where the tight proof is exact."""
        is_exact = "is" if self.lam >= self.optimal_lam else "would be"
        parts = [
            self.prices(),
            f"Our theorem {is_exact} exact from λ = {sentences.number(self.optimal_lam, up=True)} on, at this σ and δ.",
        ]
        if self.smoothness != self.logistic_smoothness:
            parts.append(sentences.logistic_curve(self.smoothness, self.logistic_smoothness, self.lipschitz))
        return " ".join(parts)

    def prices(self) -> str:
        """What the published ε is made of: the least possible, the unknown sign and the curvature."""
        published, half, lower = map(self.epsilon, ("glm", "half", "lower"))
        if math.isinf(published):
            return (
                f"The 2023 theorem pays −log(1 − β/λ) for the curvature, which is infinite where λ ≤ β = "
                f"{sentences.number(self.smoothness)}; as λ → ∞ the theorem proves ε = {sentences.epsilon(half)}."
            )
        sign, curvature = (sentences.epsilon(max(price, 0.0)) for price in (half - lower, published - half))
        return (
            f"For β = {sentences.number(self.smoothness)} the 2023 theorem’s ε has three parts: "
            f"{sentences.epsilon(lower)} for the Gaussian noise, {sign} for not knowing the gradient’s sign, and "
            f"{curvature} for the curvature. The last part falls as λ grows."
        )

    def shows(self) -> str:
        if self.show_as == PROFILE:
            what, place = (
                "Privacy profile, δ on a logarithmic scale against ε",
                f"ε at δ = {sentences.delta(self.delta)}",
            )
        else:
            what = "Rényi divergence ε(α) against α, both logarithmic"
            place = f"ε(α) at α = {sentences.scientific(self.alpha)}"
        read = self.epsilon if self.show_as == PROFILE else self.divergence
        ranking = sentences.ranking({label: read(name) for name, label in NAMES.items()})
        return f"{what}, for four mechanisms with the same noise. {place}: {ranking}."

    def svg_title(self) -> str:
        return f"{self.show_as} of objective perturbation, {self}"

    def table(self) -> list[dict[str, str]]:
        return [
            {
                "Curve": f"{NAMES[name]}, {source}",
                f"ε at δ = {sentences.delta(self.delta)}": sentences.proved(self.epsilon(name)),
                "Distance": sentences.ratio(self.distance(name)),
                f"Rényi ε(α) at α = {sentences.scientific(self.alpha)}": sentences.proved(self.divergence(name)),
                "ε(α) / Gaussian": sentences.ratio(self.divergence(name) / self.divergence("lower")),
            }
            for name, source in SOURCES.items()
        ]

    def numbers(self) -> dict[str, Any]:
        if self.show_as == PROFILE:
            return {"epsilon": grid(self.eps_max)} | {f"delta_{n}": self.profile(n) for n in NAMES}
        return {"alpha": orders(self.alpha_max)} | {f"rdp_{n}": self.renyi(n) for n in NAMES}

    def blanks(self) -> dict[str, Any]:
        names = ("sigma", "lam", "lipschitz", "smoothness")
        objective = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return {**super().blanks(), "edges": maps.CELLS + 1, "objective": snippets.Verbatim(objective)}

    def chart(self, before: Self | None) -> Any:
        """ε(α) as in Figure 4 of Redberg et al. (2023), or δ(ε)."""
        if self.show_as == PROFILE:
            view, guide = (min(1e-10, self.delta / 100), 2.0), ((0.0, self.eps_max), (self.delta, self.delta))
            x, curve, hover = grid(self.eps_max), Distance.profile, "δ ≈ %{y:.3g}"
            across = figures.axis("privacy budget ε", (0.0, self.eps_max), hoverformat=".3g")
            up = figures.axis("slack δ", view, log=True)
        else:
            view = figures.decades(*map(self.renyi, NAMES))
            guide = (self.alpha, self.alpha), view
            x, curve, hover = orders(self.alpha_max), Distance.renyi, "ε(α) = %{y:.3g}"
            across = figures.axis("Rényi order α", (1.0, self.alpha_max), log=True, hoverformat=".3g")
            up = figures.axis("Rényi divergence ε(α)", view, log=True)
        traces = figures.curves(
            NAMES,
            x,
            lambda name, at: curve(at, name),
            self,
            before,
            between=[figures.guide(*guide)],
            role=lambda name, at: ROLES[name],
            hover=hover,
        )
        return figures.figure(traces, across, up, height=440, margin=maps.MARGIN)

    def evidence(self, picture: page.Picture) -> None:
        page.evidence(picture, self.table(), name=self.name)

    def below(self, before: Self | None) -> None:
        """The maps; then the lines of Python, which make them, too."""
        maps.show(self, self.delta, before)
        page.reproduce(self.code())


def _least(eps: float, lower: float) -> str:
    """How an ε compares with the least possible one."""
    if eps <= lower * (1 + sentences.EXACT):
        return "the least possible"
    if lower == 0:
        return "where the least possible is 0"
    if eps < 1.001 * lower:
        return "almost the least possible"
    return f"{sentences.ratio(eps / lower)} the least possible"


def against_lam(sigma: float, delta: float) -> page.Picture:
    """The distance of both proofs against λ at one σ, with the level that the published one falls to."""
    lams = np.geomspace(1e-1, 1e4, 61)
    views = [Distance(sigma, float(lam), 1.0, 1.0, delta=delta) for lam in lams]
    half = views[0].distance("half")
    names, hover = {name: NAMES[name] for name in maps.BOUNDS}, "%{y:.3g} times"

    def curve(name: str, along: list[Distance]) -> list[float]:
        return [view.distance(name) for view in along]

    level = figures.series(NAMES["half"], [lams[0], lams[-1]], [half, half], ROLES["half"], hover=hover)
    traces = [level, *figures.curves(names, lams, curve, views, None, hover=hover)]
    xaxis = figures.axis("regularisation λ", (lams[0], lams[-1]), log=True, hoverformat=".3g")
    yaxis = figures.axis("distance to optimality", (0.9, 2.5))
    chart = figures.figure(traces, xaxis, yaxis, height=360, margin=maps.MARGIN)
    alt = (
        f"Distance to optimality against λ, logarithmic, at σ = {sentences.number(sigma)} and "
        f"δ = {sentences.delta(delta)}: the 2023 theorem falls towards a level above 1, our theorem reaches 1."
    )
    return page.Picture(chart, alt)
