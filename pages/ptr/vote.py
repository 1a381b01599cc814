"""A vote: how often four private votes err; below, the ε of noisy counts at these data."""

from collections.abc import Callable
from functools import cached_property, partial
from typing import Any, Self

import numpy as np

from objpert_core._validation import FloatArray, IntArray
from objpert_core.experiments.ptr.ballot import Ballot
from pages.ptr.controls import DELTA, EPSILON, GAP, NOISE
from pages.ptr.parts import further
from ui import figures, page, sentences
from ui.view import Course, View, set_by

NAMES = {
    "laplace": "Laplace noise",
    "classic": "classic test",
    "asked": "generalised test",
    "floor": "optimal vote",
}
LOOKS = {"laplace": "worst", "classic": "classic", "asked": "asked", "floor": "floor"}
_FLOOR = 1e-12  # errors below are not drawn
_POINTS = 120


class Vote(View, name="ptr_vote", title="A vote", snippet="vote"):
    """A ballot, and the gap that is read off."""

    gap: int = set_by(GAP, "gap")
    epsilon: float = set_by(EPSILON, "ε")
    noise: float = set_by(NOISE, "ε of the noise")
    delta: float = set_by(DELTA, "δ", aside=True)

    @cached_property
    def ballot(self) -> Ballot:
        """The four votes."""
        return Ballot(self.epsilon, self.delta, self.noise)

    @cached_property
    def gaps(self) -> IntArray:
        """Where curves are drawn: whole numbers up to where both tests pass nearly always."""
        classic = 2.6 * np.log(1 / self.delta) / self.epsilon
        far = max(classic, 1.3 * self.ballot.passing_gap, 1.15 * self.gap, 8.0)
        return np.unique(np.rint(np.linspace(0, far, _POINTS)).astype(int))

    @cached_property
    def errors(self) -> dict[str, FloatArray]:
        """The errors at `gaps`."""
        return self.ballot.errors(self.gaps)

    @cached_property
    def epsilons(self) -> dict[str, FloatArray]:
        """ε of the proposed noise at `gaps`."""
        return self.ballot.epsilons(self.gaps)

    @cached_property
    def here(self) -> dict[str, float]:
        """The errors at the gap."""
        return {name: float(error[0]) for name, error in self.ballot.errors(np.array([self.gap])).items()}

    def answer(self) -> str:
        here = self.here
        if max(here["asked"], here["laplace"]) < _FLOOR:
            return f"At gap {self.gap} asking and plain Laplace noise both err with probability less than 10⁻¹²."
        texts = {name: _rare(error, name) for name, error in here.items()}
        asked, plain, little = here["asked"], here["laplace"], 1 + sentences.EXACT
        verdict = "loses to" if asked > plain * little else "beats" if plain > asked * little else "is no better than"
        optimum = "" if texts["floor"] == texts["laplace"] else f", the optimum {texts['floor']}"
        errors = f"errors {texts['asked']} against {texts['laplace']}{optimum}"
        return f"At gap {self.gap} asking {verdict} plain Laplace noise: {errors}."

    def promise(self) -> str:
        adjacency = "one voter joins or leaves"
        return sentences.promise(self.epsilon, self.delta, "each vote’s own proof", adjacency=adjacency)

    def note(self) -> str:
        return (
            f"The generalised test proposes noise whose own ε is {sentences.number(self.noise)}. Half of the budget ε "
            "pays for the test, half for the release. If the test fails, the noise has ε/2. The test passes in most "
            f"runs from a gap of {self.ballot.passing_gap} on."
        )

    def courses(self) -> list[Course]:
        return [("the error of asking", self.here["asked"], lambda error: _rare(error, "asked"))]

    def went(self, before: Self) -> str:
        return f"{super().went(before)}; the test passes in most runs from gap {self.ballot.passing_gap} on"

    def table(self) -> list[dict[str, str]]:
        """Return a row for each vote and two for ε, at the gap and two others."""
        gaps = sorted({1, self.gap, 3 * self.gap})
        errors, epsilons = self.ballot.errors(np.array(gaps)), self.ballot.epsilons(np.array(gaps))

        def row(name: str, values: FloatArray, write: Callable[[float], str], who: str) -> dict[str, str]:
            cells = {f"At gap {gap}": write(float(value)) for gap, value in zip(gaps, values, strict=True)}
            return {"Quantity": name} | cells | {"Who sees it": who}

        return [
            *(
                row(sentences.capital(name), errors[key], partial(_rare, name=key), "public")
                for key, name in NAMES.items()
            ),
            row("ε of the proposed noise here, δ = 0", epsilons["pure"], sentences.epsilon, "secret"),
            row("ε of the proposed noise here, at δ", epsilons["own"], sentences.epsilon, "secret"),
        ]

    def numbers(self) -> dict[str, Any]:
        return {"gap": self.gaps} | self.errors

    def shows(self) -> str:
        return "How often four votes err, on a logarithmic scale, against the gap, which is secret."

    def chart(self, before: Self | None) -> figures.Figure:
        traces = [] if before is None else before._errors(ghost=True)
        traces = [*traces, figures.guide((self.gap, self.gap), (_FLOOR, 1.0)), *self._errors()]
        xaxis = figures.axis("gap: votes ahead (secret)", (0.0, float(self.gaps[-1])))
        yaxis = figures.axis("errs with probability", (_FLOOR, 1.0), log=True)
        return figures.figure(traces, xaxis, yaxis, height=400, hovermode="closest")

    def _errors(self, *, ghost: bool = False) -> list[dict[str, Any]]:
        look: dict[str, Any] = {"ghost": True} if ghost else {"hover": "errs with %{y:.3g}"}
        before = ", before" if ghost else ""
        return [
            figures.series(
                f"{name}{before}", self.gaps, figures.above(self.errors[key], _FLOOR / 10), LOOKS[key], **look
            )
            for key, name in NAMES.items()
        ]

    def below(self, before: Self | None) -> None:
        further("ptr_vote_epsilons", self.of_the_noise())

    def of_the_noise(self) -> page.Picture:
        """ε of the proposed noise against the gap (Figure 3a)."""
        half, top = self.epsilon / 2, 1.15 * max(self.noise, self.epsilon / 2)
        traces = [figures.guide((self.gap, self.gap), (0.0, top))]
        for name, y, role in (
            ("this noise, δ = 0", self.epsilons["pure"], "secret"),
            ("this noise, at δ", self.epsilons["own"], "own"),
            ("allowed by the test", np.full(self.gaps.shape, half), "guide"),
        ):
            traces.append(figures.series(name, self.gaps, y, role, hover="ε = %{y:.3g}"))
        xaxis = figures.axis("gap: votes ahead (secret)", (0.0, float(self.gaps[-1])))
        yaxis = figures.axis("data-dependent ε (secret)", (0.0, top))
        chart = figures.figure(traces, xaxis, yaxis, height=300, hovermode="closest")
        here = self.ballot.epsilons(np.array([self.gap]))
        pure, own = (sentences.epsilon(float(here[name][0])) for name in ("pure", "own"))
        alt = (
            "ε of the proposed noise at these data against the gap, both secret: it rises with the gap to "
            f"{sentences.epsilon(self.noise)} where δ = 0 ({pure} here) and falls to 0 at δ ({own} here)."
        )
        return page.Picture(chart, alt, lambda: {"gap": self.gaps} | self.epsilons)


def _rare(error: float, name: str) -> str:
    """An error; only the optimal vote's can be 0, another one's is too small for a double."""
    if error <= 0 and name == "floor":
        return "0"
    return "less than 10⁻¹²" if error < _FLOOR else sentences.scientific(error, 2)
