"""Events of Google's dp_accounting read and written; dp_accounting itself is not needed."""

from __future__ import annotations

import json
import math
import numbers
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from objpert_core._validation import (
    FloatArray,
    epsilon_array,
    from_a_stranger,
    integer_up_to,
    nonnegative,
    nonnegative_integer,
    unit_array,
    within,
)
from objpert_core.accounting.dp_sgd.mechanism import DPSGD
from objpert_core.accounting.dp_sgd.sampled import SampledWithoutReplacement, SampledWithReplacement
from objpert_core.accounting.gaussian.mechanism import Gaussian
from objpert_core.accounting.mechanisms.base import ADD_REMOVE, ADJACENCIES, REPLACE_ONE, Mechanism, a_mechanism
from objpert_core.accounting.mechanisms.composition import compose, repeat
from objpert_core.accounting.mechanisms.event_forms import PlainEvents, fields_of, is_sequence
from objpert_core.accounting.mechanisms.group import replace_one
from objpert_core.accounting.mechanisms.renyi import Concentrated
from objpert_core.accounting.numerics.mixture import log_binomial_weights
from objpert_core.accounting.selection.mechanism import PrivateSelection

FORMAT = "dp_accounting events 1"
MOST_STEPS = 10**12
MOST_EVENTS = 10_000
DEEPEST = 50
LARGEST_TEXT = 1_000_000  # characters
LONGEST_REASON = 240  # characters of a refusal, which may quote what it refuses
RELATIONS = {ADD_REMOVE: "ADD_OR_REMOVE_ONE", REPLACE_ONE: "REPLACE_ONE"}
"""The name that dp_accounting has for each adjacency."""
_BINOMIAL = 1e-12  # relative, how near a mixture's weights must be to those of a number of rows
_NO_MECHANISM = {
    "NonPrivateDpEvent": "it is not private: its ε is infinite",
    "UnsupportedDpEvent": "it says of itself that nothing is known of its privacy",
    "SingleEpochTreeAggregationDpEvent": "there is no mechanism here for sums along a tree",
    "TruncatedSubsampledGaussianDpEvent": "there is no mechanism here for batches that are cut to a size",
    **dict.fromkeys(
        ("LaplaceDpEvent", "DiscreteLaplaceDpEvent", "RandomizedResponseDpEvent"),
        "there is no mechanism here for it; Tabulated.from_dp_accounting takes its privacy loss distribution",
    ),
}


def from_dp_event(event: Any, adjacency: Any = ADD_REMOVE) -> Mechanism:
    """Read an event of Google's dp_accounting as a mechanism.

    `ValueError` if an event has no mechanism here, is not private, or does not go with the adjacency; if nothing is
    released; for more than 10,000 events, 50 levels or 10¹² steps.

    Parameters
    ----------
    event : DpEvent, or a form of it
        The object, its `to_named_tuple()`, the lists that `json.dumps` makes of that, or plain data:
        ``{"class_name": "GaussianDpEvent", "noise_multiplier": 4.0}``.
    adjacency : str or NeighboringRelation
        An event does not say which data sets are neighbours; its accountant does. `ADD_REMOVE`, `REPLACE_ONE`, or
        dp_accounting's ADD_OR_REMOVE_ONE or REPLACE_ONE, as a member of its enum or by name. Its REPLACE_SPECIAL has
        no counterpart here, and is refused.

    Returns
    -------
    Mechanism
        Equal parts are counted together. Events that cost nothing (NoOp, a sample of nobody) are left out.

        * Gaussian: `Gaussian`. A row that is replaced moves the sum by twice the norm, as the event defines its
          noise; `RdpAccountant` counts the norm once there, and promises too little.
        * PoissonSampled: `DPSGD`. Several Gaussian events on one sample count as one, where rows are added or removed.
        * SampledWithReplacement and SampledWithoutReplacement, where rows are replaced: the mechanisms of that name.
        * MixtureOfGaussians: `DPSGD` of several rows of one person, if the mixture is theirs.
        * SelfComposed, Composed: `repeat`, `compose`. RepeatAndSelect: `PrivateSelection`.
        * ZC with ξ = 0: `Concentrated`.

    Examples
    --------
    >>> from_dp_event({"class_name": "GaussianDpEvent", "noise_multiplier": 4.0})
    Gaussian(sigma=4.0, sensitivity=1.0, adjacency='add/remove one row')
    """
    reader = _Reader(adjacency_of(adjacency))
    reader.read(event, 1, 0)
    return reader.made()


def adjacency_of(relation: Any) -> str:
    """Name the adjacency that a neighbouring relation of dp_accounting is; `ValueError` where none is the same."""
    name = relation if isinstance(relation, str) else getattr(relation, "name", None)
    if name in ADJACENCIES:
        return str(name)
    for adjacency, theirs in RELATIONS.items():
        if name == theirs:
            return adjacency
    if name == "REPLACE_SPECIAL":
        raise ValueError("adjacency must not be REPLACE_SPECIAL: no mechanism here is about rows that become special")
    allowed = ", ".join(repr(one) for one in (*ADJACENCIES, *RELATIONS.values()))
    raise ValueError(f"adjacency must be one of {allowed}, got {relation!r:.60}")


class _RefusedEventError(ValueError):
    """A refusal that names the event it is about."""


@dataclass
class _Reader:
    """Goes through an event and counts the mechanisms it is made of."""

    adjacency: str
    parts: Counter[Mechanism] = field(default_factory=Counter)
    seen: list[int] = field(default_factory=lambda: [0])  # how many events; shared with readers of what is inside

    def made(self) -> Mechanism:
        if not self.parts:
            raise ValueError("event must release something, got only events that cost nothing")
        whole = [_repeated(mechanism, count) for mechanism, count in self.parts.items()]
        return whole[0] if len(whole) == 1 else compose(*whole)

    def read(self, event: Any, count: int, depth: int) -> None:
        """Add `count` times the mechanisms that an event is made of."""
        self.seen[0] += 1
        if self.seen[0] > MOST_EVENTS:
            raise _RefusedEventError(f"event must be made of at most {MOST_EVENTS:,} events, got more")
        if depth > DEEPEST:
            raise _RefusedEventError(f"event must have at most {DEEPEST} levels, got more")
        name, fields = fields_of(event)
        if name in _NO_MECHANISM:
            raise _RefusedEventError(f"event must be one that has a mechanism, got {name}: {_NO_MECHANISM[name]}")
        try:
            if name == "ComposedDpEvent":
                for one in _several("events", fields["events"]):
                    self.read(one, count, depth + 1)
            elif name == "SelfComposedDpEvent":
                if times := nonnegative_integer("count", fields["count"]):
                    self.read(fields["event"], _steps(count * times), depth + 1)
            elif (mechanism := self._one(name, fields, depth)) is not None:
                self.parts[mechanism] = _steps(self.parts[mechanism] + count)
        except _RefusedEventError:
            raise
        except (ValueError, NotImplementedError) as error:
            raise _RefusedEventError(f"{name}: {error}"[:LONGEST_REASON]) from None

    def _one(self, name: str, fields: dict[str, Any], depth: int) -> Mechanism | None:
        """The mechanism of one event that composes nothing; None where it costs nothing."""
        if name == "GaussianDpEvent":
            return self._adjacent(Gaussian(_noise(fields["noise_multiplier"])))
        if name == "PoissonSampledDpEvent":
            return self._poisson(fields, depth)
        if name in ("SampledWithReplacementDpEvent", "SampledWithoutReplacementDpEvent"):
            return self._fixed_batches(name, fields, depth)
        if name == "MixtureOfGaussiansDpEvent":
            return self._mixture(fields)
        if name == "RepeatAndSelectDpEvent":
            return self._selected(fields, depth)
        if name == "ZCDpEvent":
            return self._concentrated(fields)
        return None  # NoOp

    def _adjacent(self, mechanism: Mechanism) -> Mechanism:
        return replace_one(mechanism) if self.adjacency == REPLACE_ONE else mechanism

    def _inside(self, fields: dict[str, Any], depth: int) -> _Reader:
        """A reader of the event inside another one."""
        inner = _Reader(self.adjacency, seen=self.seen)
        inner.read(fields["event"], 1, depth + 1)
        return inner

    def _poisson(self, fields: dict[str, Any], depth: int) -> Mechanism | None:
        probability = nonnegative("sampling_probability", fields["sampling_probability"])
        if probability > 1:
            raise ValueError(f"sampling_probability must be a number from 0 to 1, got {probability!r}")
        inner = self._inside(fields, depth).parts
        if probability == 0 or not inner:
            return None
        noise = self._noise_of(inner, several=self.adjacency == ADD_REMOVE)
        return DPSGD(noise, probability, 1, adjacency=self.adjacency)

    def _fixed_batches(self, name: str, fields: dict[str, Any], depth: int) -> Mechanism | None:
        if self.adjacency != REPLACE_ONE:
            raise ValueError(f"adjacency must be {REPLACE_ONE!r} for batches of a fixed size, got {self.adjacency!r}")
        kind = SampledWithReplacement if name == "SampledWithReplacementDpEvent" else SampledWithoutReplacement
        rows = integer_up_to("source_dataset_size", fields["source_dataset_size"], MOST_STEPS)
        size = integer_up_to("sample_size", fields["sample_size"], MOST_STEPS)
        inner = self._inside(fields, depth).parts
        return kind(self._noise_of(inner), size, rows, 1) if inner else None

    def _noise_of(self, inner: Counter[Mechanism], several: bool = False) -> float:
        if not all(isinstance(one, Gaussian) for one in inner) or (not several and inner.total() > 1):
            allowed = "Gaussian events" if several else "one Gaussian event"
            raise ValueError(f"event must be {allowed} where a sample is drawn for it, got another")
        noises = [(one.sigma, count) for one, count in inner.items() if isinstance(one, Gaussian)]
        if inner.total() == 1:
            return noises[0][0]
        squared = math.fsum(count / noise**2 for noise, count in noises) * (1 + 2.0**-51)  # above what all this rounds
        return math.nextafter(1 / math.sqrt(squared), 0.0)

    def _mixture(self, fields: dict[str, Any]) -> Mechanism | None:
        if self.adjacency != ADD_REMOVE:
            raise ValueError(f"adjacency must be {ADD_REMOVE!r} for a mixture, got {self.adjacency!r}")
        noise = _noise(fields["standard_deviation"], "standard_deviation")
        moves = epsilon_array(_numbers("sensitivities", fields["sensitivities"]), "sensitivities")
        weights = unit_array(_numbers("sampling_probs", fields["sampling_probs"]), "sampling_probs")
        rows = moves.size - 1
        unit = float(moves[-1]) / rows if rows > 0 else 0.0
        if unit > 0 and moves.shape == weights.shape and np.array_equal(moves, unit * np.arange(rows + 1)):
            multiplier = noise if unit == 1 else noise / unit * (1 - 2.0**-51)  # below what all this rounds
            mean = float(np.arange(rows + 1) @ weights) / rows
            for rate in (float(f"{mean:.15g}"), mean):
                if 0 < rate < 1 and _near(weights, np.exp(log_binomial_weights(rows, rate))):
                    return DPSGD(multiplier, rate, 1, group_size=rows)
        raise ValueError("a mixture must be that of several rows of one person, each of which joins a batch by itself")

    def _selected(self, fields: dict[str, Any], depth: int) -> Mechanism | None:
        mean, shape = fields["mean"], fields["shape"]
        inner = self._inside(fields, depth)
        if not inner.parts:
            return None
        poisson = isinstance(shape, float) and shape == math.inf
        return PrivateSelection(inner.made(), mean, None if poisson else shape)

    def _concentrated(self, fields: dict[str, Any]) -> Mechanism | None:
        rho, xi = nonnegative("rho", fields["rho"]), nonnegative("xi", fields["xi"])
        if xi > 0:
            raise ValueError(f"xi must be 0: there is no mechanism here for more, got {xi!r}")
        if rho == 0:
            return None
        ratio = math.nextafter(math.sqrt(2 * rho), math.inf)
        return Concentrated(Gaussian(_noise(math.nextafter(1 / ratio, 0.0), "1/√(2ρ)"), adjacency=self.adjacency))


def _repeated(mechanism: Mechanism, count: int) -> Mechanism:
    """`count` releases of one mechanism; a mechanism that has steps takes more of them."""
    if isinstance(mechanism, (DPSGD, SampledWithReplacement, SampledWithoutReplacement)):
        return replace(mechanism, steps=count)
    return mechanism if count == 1 else repeat(mechanism, count)


def _several(name: str, value: Any) -> Any:
    if not is_sequence(value) or len(value) > MOST_EVENTS:
        raise ValueError(f"{name} must be a list of at most {MOST_EVENTS:,} entries, got {type(value).__name__}")
    return value


def _numbers(name: str, value: Any) -> Any:
    if not all(isinstance(entry, numbers.Real) for entry in _several(name, value)):
        raise ValueError(f"{name} must be a list of numbers, got a list with something else in it")
    return value


def _steps(count: int) -> int:
    return integer_up_to("count", count, MOST_STEPS)


def _noise(value: Any, name: str = "noise_multiplier") -> float:
    return within(name, value, 1e-100, 1e100)


def _near(weights: FloatArray, others: FloatArray) -> bool:
    return bool(np.allclose(weights, others / others.sum(), rtol=_BINOMIAL, atol=0.0))


def write_dp_events(mechanism: Mechanism, *, cover: bool = False) -> str:
    """Write a mechanism as events of dp_accounting, in JSON; `read_dp_events` and `from_dp_event` read it back.

    The document names the neighbouring relation its event is for: that of the mechanism. `Mechanism.to_dp_event` says
    what has an event, what `cover` does, and what is refused.

    >>> text = write_dp_events(repeat(Gaussian(10.0), 7))
    >>> read_dp_events(text) == repeat(Gaussian(10.0), 7)
    True
    """
    one = a_mechanism("mechanism", mechanism)
    document = {
        "format": FORMAT,
        "neighboring_relation": RELATIONS[one.adjacency],
        "event": one.event(PlainEvents(), one.adjacency, cover=cover),
    }
    return json.dumps(document, indent=2, allow_nan=False) + "\n"


def read_dp_events(text: str) -> Mechanism:
    """Read what `write_dp_events` has written, or anybody else in that form, as `from_dp_event` makes it.

    `text` is JSON with the keys "format", "neighboring_relation" and "event". `ValueError` if it is no such document,
    names no neighbouring relation, or `from_dp_event` refuses its event.

    >>> event = ["dp_accounting.dp_event", "GaussianDpEvent", 4.0]  # as json.dumps writes the named tuple
    >>> document = {"format": "dp_accounting events 1", "neighboring_relation": "REPLACE_ONE", "event": event}
    >>> read_dp_events(json.dumps(document))
    Gaussian(sigma=4.0, sensitivity=2.0, adjacency='replace one row')
    """
    if not isinstance(text, str):
        raise ValueError(f"text must be JSON, got {type(text).__name__}")
    document = from_a_stranger("text", text, LARGEST_TEXT)
    if not isinstance(document, dict) or document.get("format") != FORMAT or "event" not in document:
        raise ValueError(f'text must be a document with "format": "{FORMAT}" and an "event"')
    if "neighboring_relation" not in document:
        raise ValueError('text must name its "neighboring_relation": an event alone does not say who neighbours are')
    return from_dp_event(document["event"], document["neighboring_relation"])
