"""δ against ε of one bend by three proofs, on request beside the Gaussian mechanism of the same (ε, δ)."""

from dataclasses import replace
from typing import Any, Self

import numpy as np

from objpert_core._validation import FloatArray
from objpert_core.accounting import QuadraticPerturbation, calibrate_gaussian
from pages.quadratic.controls import BY, DEGREES, DELTA, EPSILON, GAUSSIAN, SIZE
from pages.quadratic.numbers import BEST, PROOFS, calibrated, count, degrees, promise_of_bend, times, tiny
from ui import figures, sentences
from ui.bounds import along, at
from ui.view import Course, View, set_by

ROLES = {"published": "bend-published", "sharpened": "bend-sharpened", "exact": "bend-exact"}
POINTS = 121
_FLOOR = 1e-16  # δ below is not drawn


class Profile(View, name="quadratic_profile", title="δ against ε, three proofs", snippet="profile"):
    """One bend, three proofs."""

    epsilon: float = set_by(EPSILON)
    delta: float = set_by(DELTA, aside=True)
    size: int = set_by(SIZE)
    ratio: float = set_by(DEGREES)
    by: str = set_by(BY)
    gaussian: bool = set_by(GAUSSIAN, switch=True)

    named = {"epsilon": "ε", "delta": "δ", "size": "d", "m_over_d": "m/d", "by": "calibrated by"}

    @property
    def bend(self) -> QuadraticPerturbation:
        """The bend that one proof calibrates; all of them read it."""
        return calibrated(self.epsilon, self.delta, self.size, degrees(self.size, self.ratio), self.by)

    def proved(self, proof: str) -> QuadraticPerturbation:
        """The same bend under another proof."""
        return replace(self.bend, bound=proof)

    def delta_at(self, proof: str) -> float:
        """δ at the target's ε by one proof."""
        return at(self.proved(proof), "delta", self.epsilon)

    @property
    def epsilons(self) -> FloatArray:
        """Where profiles are drawn."""
        return _grid(self.epsilon)

    def profile(self, proof: str) -> FloatArray:
        """δ(ε) by one proof, at `epsilons`; 0 where it is below the smallest double."""
        return along(self.proved(proof), "delta", _grid, self.epsilon)

    def gaussian_delta(self, epsilon: Any) -> FloatArray:
        """δ of the Gaussian mechanism that is calibrated to the same (ε, δ)."""
        return np.asarray(calibrate_gaussian(self.epsilon, self.delta).delta(epsilon), dtype=float)

    @property
    def m_over_d(self) -> float | str:
        """The ratio, as the control names it."""
        return "best" if self.ratio == BEST else self.ratio

    def blanks(self) -> dict[str, Any]:
        return {**super().blanks(), "degrees": degrees(self.size, self.ratio)}

    def code(self) -> str:
        return super().code().replace(", degrees_of_freedom=None", "")

    def answer(self) -> str:
        if self.gaussian:
            exact = self.proved("exact")
            bend, beside = float(exact.delta(2 * self.epsilon)), float(self.gaussian_delta(2 * self.epsilon))
            told = f"At twice ε the bend has δ = {tiny(bend)}, the Gaussian mechanism {tiny(beside)}"
            return f"{told}; the bend never falls below {tiny(exact.floor)}." if exact.floor > 1e-300 else f"{told}."
        target = sentences.delta(self.delta)
        if self.by == "exact":
            published = self.delta_at("published")
            if published >= 1:
                return f"The exact theorem proves δ = {target} for this noise; the published proof proves nothing."
            return f"The exact theorem proves δ = {target} for this noise, the published proof {tiny(published)}."
        exact_delta = tiny(self.delta_at("exact"))
        less = self.bend.scale / calibrated(self.epsilon, self.delta, self.size, self.bend.degrees_of_freedom).scale
        return f"The {self.by} noise has δ = {exact_delta}, not {target}; {times(less)} times less is enough."

    def promise(self) -> str:
        return promise_of_bend(self.epsilon, self.delta, self.by)

    def note(self) -> str:
        bend = self.bend
        return f"d = {self.size}, m = {bend.degrees_of_freedom}, L = 1, σ² = {count(bend.scale)}."

    def courses(self) -> list[Course]:
        return [("the noise σ²", self.bend.scale, count)]

    def table(self) -> list[dict[str, str]]:
        m = self.bend.degrees_of_freedom
        exact = calibrated(self.epsilon, self.delta, self.size, m).scale
        rows = []
        for proof, label in PROOFS.items():
            scale = calibrated(self.epsilon, self.delta, self.size, m, proof).scale
            floor = sentences.delta(self.proved(proof).floor) if proof == "exact" else "–"
            rows.append(
                {
                    "Proof": label,
                    f"δ at ε = {sentences.epsilon(self.epsilon)}, this noise": tiny(self.delta_at(proof)),
                    "σ² that the proof needs": count(scale),
                    "Over exact": sentences.ratio(scale / exact, up=False),
                    "Floor of δ": floor,
                }
            )
        return rows

    def numbers(self) -> dict[str, Any]:
        columns = {proof: self.profile(proof) for proof in PROOFS}
        return {"epsilon": self.epsilons} | columns | {"gaussian": self.gaussian_delta(self.epsilons)}

    def shows(self) -> str:
        told = "; ".join(f"{label} {tiny(self.delta_at(proof))}" for proof, label in PROOFS.items())
        beside = " Beside them the Gaussian mechanism of the same (ε, δ)." if self.gaussian else ""
        return f"δ on a logarithmic scale against ε, for one bend and three proofs. At the target’s ε: {told}.{beside}"

    def chart(self, before: Self | None) -> Any:
        x, traces = self.epsilons, []
        names = {proof: f"{label} proof" for proof, label in PROOFS.items()}
        if before is not None:
            for proof, name in names.items():
                y = figures.above(before.profile(proof), _FLOOR)
                traces.append(figures.series(f"{name}, before", before.epsilons, y, ROLES[proof], ghost=True))
        traces.append(figures.guide((0, x[-1]), (self.delta, self.delta)))
        traces.append(figures.guide((self.epsilon, self.epsilon), (_FLOOR, 1.0)))
        if self.gaussian:
            y = figures.above(self.gaussian_delta(x), _FLOOR)
            traces.append(figures.series("Gaussian mechanism", x, y, "lower", hover="δ = %{y:.3g}"))
        for proof, name in names.items():
            y = figures.above(self.profile(proof), _FLOOR)
            traces.append(figures.series(name, x, y, ROLES[proof], hover="δ = %{y:.3g}"))
        floor = self.proved("exact").floor
        if floor > _FLOOR:
            ends = x[[0, -1]]
            traces.append(figures.series("floor: no ε has less", ends, (floor, floor), "anchor", hover="%{y:.3g}"))
        shown = [float(np.nanmin(trace["y"])) for trace in traces if np.isfinite(trace["y"]).any()]
        bottom = max(min(value for value in shown if value > 0) / 3, self.delta * 1e-9, _FLOOR)
        xaxis = figures.axis("privacy budget ε", (0.0, float(x[-1])), hoverformat=".3g")
        yaxis = figures.axis("slack δ", (bottom, 2.0), log=True)
        return figures.figure(traces, xaxis, yaxis, height=400)


def _grid(epsilon: float) -> FloatArray:
    return np.linspace(0.0, 3 * epsilon, POINTS)
