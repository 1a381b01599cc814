"""The question that `objpert accounting` asks of a mechanism, ε at δ or δ at ε, and the answer."""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass
from typing import Any

from objpert_core.cli.output import INFINITE, down, finite, typed, up


@dataclass(frozen=True)
class Found:
    """An ε or a δ, and the reason for its value where nothing is proved."""

    value: float
    why: str = ""


@dataclass(frozen=True)
class Question:
    """ε at δ = `at`, or δ at ε = `at`; by Rényi curves alone where `renyi` is set."""

    quantity: str
    at: float
    renyi: bool

    @property
    def symbol(self) -> str:
        """The quantity asked for: ε or δ."""
        return "ε" if self.quantity == "epsilon" else "δ"

    @property
    def where(self) -> str:
        """At which δ or ε, in words."""
        return f"at {'δ' if self.quantity == 'epsilon' else 'ε'} = {typed(self.at)}"

    @property
    def inputs(self) -> dict[str, Any]:
        """The same as `where`, for JSON."""
        return {"delta" if self.quantity == "epsilon" else "epsilon": self.at}

    def by_renyi(self, mechanism: Any) -> bool:
        """Whether the Rényi curve alone answers: it was asked for, or the mechanism has nothing else."""
        return self.renyi or not mechanism.has_profile

    def ask(self, mechanism: Any) -> Found:
        """The answer of a mechanism; `NotImplementedError` where its proof has none."""
        from objpert_core.accounting import via_rdp

        asked = via_rdp(mechanism) if self.by_renyi(mechanism) else mechanism
        value = float(getattr(asked, self.quantity)(self.at))
        if self.quantity == "delta":
            value = max(value, math.ulp(0.0))  # a δ that is smaller than every double is not 0
        silent = math.isinf(value) if self.quantity == "epsilon" else value >= 1
        why = mechanism.explain(None if self.quantity == "epsilon" else self.at) if silent else None
        return Found(value, why or "")

    def lower(self, mechanism: Any) -> float | None:
        """A bound that no proof can go below; None where none is known."""
        bound = mechanism.lower_bound
        return None if bound is None else float(getattr(bound, self.quantity)(self.at))

    def headline(self, value: float) -> str:
        """The answer in one line."""
        if math.isinf(value):
            return f"{self.symbol} is infinite {self.where}: nothing is proved"
        return f"{self.symbol} = {up(value)} {self.where}"

    def no_less(self, lower: float | None) -> str:
        """The lower bound, in words."""
        return "" if lower is None else f"{self.symbol} = {down(lower)}"

    def both(self, alone: Found, so_far: Found) -> dict[str, Any]:
        """The cost of one release of a list, and of all up to it, for JSON; null is infinite."""
        return {
            f"{self.quantity}_of_one": finite(alone.value),
            f"running_{self.quantity}": finite(so_far.value),
        }

    def entry(self, found: Found) -> dict[str, Any]:
        """The answer for JSON: a number or null, a word for null, the reason."""
        word = INFINITE if math.isinf(found.value) else None
        return {self.quantity: finite(found.value), "word": word, "reason": found.why or None}


def add_question(command: argparse.ArgumentParser) -> Any:
    """Add the options that ask, and return their group, for further options."""
    group = command.add_argument_group("what is asked")
    group.add_argument("--delta", type=float, metavar="X", help="the slack δ at which to give ε")
    group.add_argument("--epsilon", type=float, metavar="X", help="the ε at which to give δ")
    group.add_argument("--renyi", action="store_true", help="account by the Rényi curve alone")
    return group


def question(options: argparse.Namespace, delta: float | None = None) -> Question:
    """The question, at `delta` where nothing was said; `ValueError` unless δ or ε was given, and not both."""
    if options.delta is not None and options.epsilon is not None:
        raise ValueError("give --delta, to learn ε, or --epsilon, to learn δ, and not both")
    if options.epsilon is not None:
        return Question("delta", options.epsilon, options.renyi)
    at = delta if options.delta is None else options.delta
    if at is None:
        raise ValueError("give --delta, to learn ε, or --epsilon, to learn δ")
    return Question("epsilon", at, options.renyi)
