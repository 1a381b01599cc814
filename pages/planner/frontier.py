"""The frontier: the smallest λ against f under each bound, and the point chosen on it."""

from collections.abc import Mapping
from typing import Any, Self

import pandas as pd
from streamlit.delta_generator import DeltaGenerator

from pages.planner import cost, numbers
from pages.planner.controls import BOUND, DELTA, EPSILON, F_MAX, FEATURES, NORM, RATIO, ROWS, SAMPLE, SCALING, SPECIAL
from pages.planner.cost import along
from pages.planner.numbers import NAMES, Setting, Spot, lam, nats, written
from ui import bounds, figures, page, sentences, style, words
from ui.view import View, set_by

ACCOUNTANTS: Mapping[str, str] = {**words.ACCOUNTANTS, "rdp": "the Rényi curve of the 2023 theorem"}
_REASONS = {  # more of it, less of it
    "f": ("with more noise, λ may be smaller", "with less noise, λ must be larger"),
    "ε": ("a weaker promise needs less λ", "a stronger promise needs more λ"),
    "δ": ("the promise allows more slack", "the promise allows less slack"),
    "s": ("the rows are longer", "the rows are shorter"),
}


class Frontier(Setting, View, name="planner", title="The frontier of σ and λ", snippet="frontier"):
    """A setting's frontiers up to `f_max`, those for other losses on request."""

    ratio: float = set_by(RATIO)
    epsilon: float = set_by(EPSILON)
    bound: str = set_by(BOUND)
    rows: int = set_by(ROWS)
    features: int = set_by(FEATURES)
    norm: float = set_by(NORM)
    delta: float = set_by(DELTA, aside=True)
    intercept_scaling: float = set_by(SCALING, aside=True)
    f_max: float = set_by(F_MAX, aside=True, compare=False)
    two_signed: bool = set_by(SPECIAL["two-signed"], aside=True, compare=False)
    monotone: bool = set_by(SPECIAL["monotone"], aside=True, compare=False)

    chart_key = "planner_frontier"
    answers_in_alt = False
    named = {
        "ratio": "f",
        "bound_name": "bound",
        "epsilon": "ε",
        "delta": "δ",
        "rows": "n",
        "features": "d",
        "intercept_scaling": "s",
        "norm": "‖θ₀‖",
    }

    @property
    def bound_name(self) -> str:
        """What the chosen bound is called."""
        return NAMES[self.bound]

    @property
    def bounds(self) -> tuple[str, ...]:
        """The bounds in sight: those for other losses where they are asked for or chosen."""
        return tuple(name for name in NAMES if name == self.bound or getattr(self, name.replace("-", "_"), True))

    @property
    def here(self) -> Spot | None:
        """The chosen point; None where no λ meets the target."""
        return numbers.spot(self, self.bound, self.ratio)

    def blanks(self) -> dict[str, Any]:
        return {
            **super().blanks(),
            "bound": "glm" if self.bound == "rdp" else self.bound,
            "radius": self.radius,
            "number_of_rows": self.rows,
            "length_of_theta": self.dimension,
            "guessed_norm_of_theta": self.norm,
            "fitted": numbers.fitted_ratio(self),
            "scaling": self.intercept_scaling,
        }

    def code(self) -> str:
        """The point's σ and λ, the theorem's value, and an estimator with them, where the point keeps the promise."""
        if self.here is None:
            return ""
        code, fitted = super().code(), numbers.fitted_ratio(self)
        if self.bound != "rdp":
            code = code.replace(', accountant="rdp"', "").replace(', "accountant": "rdp"', "")
        if not self.intercept_scaling:
            code = code.replace(f', "intercept_scaling": {self.intercept_scaling!r}}}', "},\n    fit_intercept=False")
        note = "" if fitted == self.ratio else f"  # f = {written(fitted)}: room for the output noise"
        return code.replace("ObjPertLogisticRegression(\n", f"ObjPertLogisticRegression({note}\n")

    def answer(self) -> str:
        here = self.here
        if here is None:
            spots = numbers.frontier(self, self.bound)
            more = f": take f ≥ {written(spots[0].ratio)}" if spots else ", nor with any f up to 3"
            wanted = f"No λ keeps ε = {sentences.epsilon(self.epsilon)} with f = {written(self.ratio)}"
            return f"{wanted} by {bounds.called(self.bound)}{more}."
        sigma = sentences.number(here.sigma, 3, up=True)
        kept = f"σ = {sigma}, λ = {lam(here)} keep the promise ε = {sentences.epsilon(self.epsilon)}"
        return f"{kept}; training loss rises by at most {nats(here.excess)} nats per row on average."

    def promise(self) -> str:
        """The promise; none where no λ keeps one."""
        if self.here is None:
            return ""
        return sentences.promise(self.epsilon, self.delta, ACCOUNTANTS[self.bound])

    def went(self, before: Self) -> str:
        then, here = before.here, self.here
        if then is None or here is None:
            return "some λ keeps the promise now" if here else "no λ keeps the promise"
        if lam(then) == lam(here):
            loss = sentences.course("the loss’s bound", then.excess, here.excess, nats)
            return f"λ stays at {lam(here)}; {loss}"
        course = sentences.course("λ", then.lam, here.lam, lambda value: sentences.scientific(value, 3, up=True))
        (what, old, new), *more = sentences.changed(before, self, self.named)
        return course if more or what not in _REASONS else f"{course}; {_REASONS[what][new < old]}"

    def note(self) -> str:
        return " ".join(filter(None, (self.closed_form(), self.off_view())))

    def closed_form(self) -> str:
        """What λ = R²/(ε + R²/(2σ²)) is, with its numbers."""
        point = numbers.closed_form(self)
        return (
            "The grey cross at f = 1 needs no search: σ is the Gaussian mechanism’s, "
            f"{sentences.number(point.sigma, 4, up=True)}, and λ = R²/(ε + R²/(2σ²)) = "
            f"{sentences.scientific(point.lam, 4, up=True)} with R = {self.radius:.4g}."
        )

    def off_view(self) -> str:
        """Where Kifer's point is, when it is outside the picture."""
        point = numbers.kifer(self)
        if point.ratio <= self.f_max:
            return ""
        where = f"f = {point.ratio:.3g} and λ = {lam(point)}"
        return f"The {bounds.NAMES['kifer2012']} asks for {where}, outside the picture."

    def table(self) -> list[dict[str, str]]:
        """Return σ, λ and the theorem at this f under each bound, and each bound's best f."""
        point = numbers.kifer(self)
        rows = [
            (name, "", numbers.spot(self, name, self.ratio), numbers.least(numbers.frontier(self, name)))
            for name in self.bounds
        ]
        return [
            {
                "Bound": f"{bounds.NAMES[name]}, {bounds.SOURCES[name]}{at}",
                "σ": sentences.number(here.sigma, 4, up=True) if here else "no λ works",
                "λ at least": sentences.scientific(here.lam, 4, up=True) if here else "–",
                "excess loss, at most": nats(here.excess) if here else "–",
                "best f": f"{best.ratio:.4g}" if best else "–",
                "excess loss at best f": nats(best.excess) if best else "–",
            }
            for name, at, here, best in [*rows, ("kifer2012", f", f = {point.ratio:.3g}", point, point)]
        ]

    def numbers(self) -> pd.DataFrame:
        rows = [(name, spot.ratio, spot.sigma, spot.lam) for name, spot in numbers.all_spots(self)]
        return pd.DataFrame(rows, columns=["bound", "noise_ratio", "sigma", "lambda"])

    def svg_title(self) -> str:
        return f"Smallest λ against f, {self.target}"

    def shows(self) -> str:
        lams = ", ".join(f"{NAMES[name]} {lam(numbers.spot(self, name, self.ratio))}" for name in self.bounds)
        target = f"ε = {sentences.epsilon(self.epsilon)} at δ = {sentences.delta(self.delta)}"
        return (
            f"Smallest regularisation λ against the noise ratio f for {target}. At f = {written(self.ratio)}: {lams}."
        )

    def chart(self, before: Self | None) -> figures.Figure:
        """Draw λ against f under each bound, with the marked recipes, Kifer's point and the setting's own."""
        look = {"color": figures.GREY, "dash": "dot", "width": 1.5}
        ends, hover = (1.0, self.f_max), "λ = %{y:.3g}"
        liked = [numbers.wanted(self, f) for f in ends]
        wanted = figures.series("best λ for learning", ends, liked, "guide", hover=hover, line=look)
        title, hovers = "regularisation λ", (hover, "λ = %{y:.4g}")
        return along(self, self.bounds, "lam", self.f_max, before, title=title, hovers=hovers, under=[wanted])

    def show(self, left: DeltaGenerator, *, ghost: bool = True) -> None:
        super().show(left, ghost=ghost)
        if style.embedded():
            page.keep(*SAMPLE)

    def below(self, before: Self | None) -> None:
        cost.draw(self, self.bounds, self.f_max, before)
