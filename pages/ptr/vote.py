"""The picture of a vote: how often four private votes err, and the ε of noisy counts at these data."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from objpert_core._validation import FloatArray, IntArray
from objpert_core.experiments.ptr.ballot import Ballot
from ui import figures, sentences

NAMES = {
    "laplace": "Laplace noise",
    "classic": "classic test",
    "asked": "generalised test",
    "floor": "optimal vote",
}
LOOKS = {"laplace": "worst", "classic": "classic", "asked": "asked", "floor": "floor"}
_FLOOR = 1e-12  # errors below are not drawn
_POINTS = 120


@dataclass(frozen=True)
class Shown:
    """A ballot, and the gap that is read off.

    Attributes
    ----------
    ballot : Ballot
    gap : int
    """

    ballot: Ballot
    gap: int

    @property
    def gaps(self) -> IntArray:
        """Where curves are drawn: whole numbers up to where both tests pass nearly always."""
        ballot = self.ballot
        classic = 2.6 * np.log(1 / ballot.delta) / ballot.epsilon
        far = max(classic, 1.3 * ballot.passing_gap, 1.15 * self.gap, 8.0)
        return np.unique(np.rint(np.linspace(0, far, _POINTS)).astype(int))

    @property
    def here(self) -> dict[str, float]:
        """The errors at the gap."""
        return {name: float(error[0]) for name, error in self.ballot.errors(np.array([self.gap])).items()}

    @property
    def own(self) -> dict[str, float]:
        """ε of the proposed noise at the gap, by name."""
        return {name: float(value[0]) for name, value in self.ballot.epsilons(np.array([self.gap])).items()}


@lru_cache(maxsize=64)
def curves(shown: Shown) -> tuple[dict[str, FloatArray], dict[str, FloatArray]]:
    """Errors, and ε of the proposed noise, at `Shown.gaps`."""
    return shown.ballot.errors(shown.gaps), shown.ballot.epsilons(shown.gaps)


def frame(shown: Shown) -> pd.DataFrame:
    """The curves as a table."""
    errors, epsilons = curves(shown)
    columns = {f"error_{name}": error for name, error in errors.items()}
    return pd.DataFrame({"gap": shown.gaps} | columns | {f"epsilon_{name}": one for name, one in epsilons.items()})


def _rare(error: float, name: str) -> str:
    """An error; only the optimal vote's can be 0, another one's is too small for a double."""
    if error <= 0 and name == "floor":
        return "0"
    return "less than 10⁻¹²" if error < _FLOOR else sentences.scientific(error, 2)


def answer(shown: Shown) -> str:
    """Whether asking first errs less than noise, and what is possible."""
    found = shown.here
    if max(found["asked"], found["laplace"]) < _FLOOR:
        return f"At a gap of {shown.gap} asking and plain Laplace noise both err with probability less than 10⁻¹²."
    told = {name: _rare(error, name) for name, error in found.items()}
    asked, plain, little = found["asked"], found["laplace"], 1 + sentences.EXACT
    verdict = "loses to" if asked > plain * little else "beats" if plain > asked * little else "is no better than"
    optimum = "" if told["floor"] == told["laplace"] else f", the optimum {told['floor']}"
    errors = f"errors {told['asked']} against {told['laplace']}{optimum}"
    return f"At gap {shown.gap} asking {verdict} plain Laplace noise: {errors}."


def line(shown: Shown) -> str:
    """The promise of all four."""
    ballot = shown.ballot
    told = (
        f"ε = {sentences.epsilon(ballot.epsilon)} (odds of {sentences.odds(ballot.epsilon)}), "
        f"δ = {sentences.delta(ballot.delta)} for each, one voter joins or leaves. Asking is the generalised test, "
        f"which proposes Laplace noise of ε = {sentences.number(ballot.noise)}, half of ε to test, half to release; "
        f"where the test fails, noise of ε/2. It passes in most runs from a gap of {ballot.passing_gap} on. "
        "The gap is secret, and so is the lower panel."
    )
    return told.replace(" = ", "\u00a0=\u00a0").replace(" : ", "\u00a0:\u00a0")


def rows(shown: Shown) -> list[dict[str, str]]:
    """Every vote at the gap, and two others."""
    gaps = sorted({1, shown.gap, 3 * shown.gap})
    errors = shown.ballot.errors(np.array(gaps))
    listed = [
        {"How often it errs": name[0].upper() + name[1:]}
        | {f"At gap {gap}": _rare(float(error), key) for gap, error in zip(gaps, errors[key], strict=True)}
        | {"Who sees it": "public"}
        for key, name in NAMES.items()
    ]
    own = shown.ballot.epsilons(np.array(gaps))
    for key, name in (("pure", "ε of the proposed noise here, δ = 0"), ("own", "the same at δ")):
        listed.append(
            {"How often it errs": name}
            | {f"At gap {gap}": sentences.epsilon(float(one)) for gap, one in zip(gaps, own[key], strict=True)}
            | {"Who sees it": "secret"}
        )
    return listed


def alt(shown: Shown) -> str:
    """Alt text."""
    own = {name: sentences.epsilon(value) for name, value in shown.own.items()}
    return (
        f"{answer(shown)} Two panels against the gap, which is secret: above, how often four votes err, on a "
        "logarithmic scale; below, ε of the proposed noise at these data, which rises with the gap to "
        f"{sentences.epsilon(shown.ballot.noise)} where δ = 0 ({own['pure']} here) and falls to 0 at δ ({own['own']} "
        "here)."
    )


def chart(now: Shown, before: Shown | None = None) -> Any:
    """Above: errors. Below: ε of the proposed noise against the gap (Figure 3a)."""
    traces: list[dict[str, Any]] = []
    if before is not None:
        errors, epsilons = curves(before)
        for key, name in NAMES.items():
            traces.append(figures.series(f"{name}, before", before.gaps, _seen(errors[key]), LOOKS[key], ghost=True))
    errors, epsilons = curves(now)
    gaps = now.gaps
    top = 1.15 * max(now.ballot.noise, now.ballot.epsilon / 2)
    traces.append(figures.guide((now.gap, now.gap), (_FLOOR, 1.0)))
    traces.append(figures.guide((now.gap, now.gap), (0.0, top)) | {"yaxis": "y2"})
    for key, name in NAMES.items():
        hover = "errs with %{y:.3g}"
        traces.append(figures.series(name, gaps, _seen(errors[key]), LOOKS[key], hover=hover))
    half = now.ballot.epsilon / 2
    below = (
        ("below: ε of the noise (secret), δ = 0", epsilons["pure"], "secret"),
        ("below: ε of the noise (secret), at δ", epsilons["own"], "own"),
        ("below: ε that the test allows it", np.full(gaps.shape, half), "guide"),
    )
    for name, y, role in below:
        traces.append(figures.series(name, gaps, y, role, hover="ε = %{y:.3g}", yaxis="y2"))
    return figures.figure(
        traces,
        xaxis=figures.axis("gap: votes ahead (secret)", (0.0, float(gaps[-1])), anchor="y2"),
        yaxis=figures.axis("errs with probability", (_FLOOR, 1.0), log=True, domain=[0.48, 1.0]),
        yaxis2=figures.axis("data-dependent ε (secret)", (0.0, top), domain=[0.0, 0.38]),
        height=540,
        hovermode="closest",
    )


def _seen(error: FloatArray) -> FloatArray:
    return np.where(error > _FLOOR / 10, error, np.nan)
