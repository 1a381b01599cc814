"""The pictures of a vote: how often four private votes err, and the ε of noisy counts at these data."""

from __future__ import annotations

from collections.abc import Mapping
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
    """The errors as a table."""
    return _table(shown, curves(shown)[0])


def epsilons_frame(shown: Shown) -> pd.DataFrame:
    """The ε as a table."""
    return _table(shown, curves(shown)[1])


def _table(shown: Shown, found: Mapping[str, FloatArray]) -> pd.DataFrame:
    return pd.DataFrame({"gap": shown.gaps} | dict(found))


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


def promise(shown: Shown) -> str:
    """The promise of all four."""
    ballot = shown.ballot
    adjacency = "one voter joins or leaves"
    return sentences.promise(ballot.epsilon, ballot.delta, "each vote’s own proof", adjacency=adjacency)


def note(shown: Shown) -> str:
    """How asking goes."""
    ballot = shown.ballot
    return (
        f"The generalised test proposes Laplace noise of ε = {sentences.number(ballot.noise)}: half of ε to test, half "
        f"to release; where it fails, noise of ε/2. It passes in most runs from a gap of {ballot.passing_gap} on."
    )


_FIELDS = {"epsilon": "ε", "delta": "δ", "noise": "ε of the noise"}


def moved(before: Shown | None, now: Shown) -> str:
    """What was changed since `before`, and what that did to the error of asking; empty where nothing was."""
    if before is None or before == now:
        return ""
    changes = [*sentences.changed(before, now, {"gap": "gap"}), *sentences.changed(before.ballot, now.ballot, _FIELDS)]
    error = sentences.course(
        "the error of asking", before.here["asked"], now.here["asked"], lambda e: _rare(e, "asked")
    )
    return f"{sentences.shift(changes)}: {error}; the test passes in most runs from gap {now.ballot.passing_gap} on."


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
    """Alt text of the errors."""
    return f"{answer(shown)} How often four votes err, on a logarithmic scale, against the gap, which is secret."


def epsilons_alt(shown: Shown) -> str:
    """Alt text of the data-dependent ε."""
    own = {name: sentences.epsilon(value) for name, value in shown.own.items()}
    return (
        "ε of the proposed noise at these data against the gap, both secret: it rises with the gap to "
        f"{sentences.epsilon(shown.ballot.noise)} where δ = 0 ({own['pure']} here) and falls to 0 at δ ({own['own']} "
        "here)."
    )


def chart(now: Shown, before: Shown | None = None) -> Any:
    """How often four votes err."""
    traces: list[dict[str, Any]] = []
    if before is not None:
        errors, _ = curves(before)
        for key, name in NAMES.items():
            traces.append(figures.series(f"{name}, before", before.gaps, _seen(errors[key]), LOOKS[key], ghost=True))
    errors, _ = curves(now)
    traces.append(figures.guide((now.gap, now.gap), (_FLOOR, 1.0)))
    for key, name in NAMES.items():
        traces.append(figures.series(name, now.gaps, _seen(errors[key]), LOOKS[key], hover="errs with %{y:.3g}"))
    return figures.figure(
        traces,
        xaxis=figures.axis("gap: votes ahead (secret)", (0.0, float(now.gaps[-1]))),
        yaxis=figures.axis("errs with probability", (_FLOOR, 1.0), log=True),
        height=400,
        hovermode="closest",
    )


def epsilons(now: Shown) -> Any:
    """ε of the proposed noise against the gap (Figure 3a)."""
    gaps, (_, found) = now.gaps, curves(now)
    half, top = now.ballot.epsilon / 2, 1.15 * max(now.ballot.noise, now.ballot.epsilon / 2)
    traces = [figures.guide((now.gap, now.gap), (0.0, top))]
    for name, y, role in (
        ("this noise, δ = 0", found["pure"], "secret"),
        ("this noise, at δ", found["own"], "own"),
        ("allowed by the test", np.full(gaps.shape, half), "guide"),
    ):
        traces.append(figures.series(name, gaps, y, role, hover="ε = %{y:.3g}"))
    return figures.figure(
        traces,
        xaxis=figures.axis("gap: votes ahead (secret)", (0.0, float(gaps[-1]))),
        yaxis=figures.axis("data-dependent ε (secret)", (0.0, top)),
        height=300,
        hovermode="closest",
    )


def _seen(error: FloatArray) -> FloatArray:
    return np.where(error > _FLOOR / 10, error, np.nan)
