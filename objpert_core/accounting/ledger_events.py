"""A ledger as events of Google's dp_accounting, and back; dp_accounting itself is not needed.

Noise and DP-SGD have events. A fit has one where it costs what Gaussian noise costs (λ >= 2σ²). Any other release is
written as the least Gaussian noise that covers it, so that dp_accounting's total is never below the truth.
"""

from __future__ import annotations

from objpert_core.accounting import ledger
from objpert_core.accounting.dp_sgd.mechanism import DPSGD
from objpert_core.accounting.gaussian.mechanism import Gaussian
from objpert_core.accounting.mechanisms.base import ADD_REMOVE, Mechanism
from objpert_core.accounting.mechanisms.composition import Composition, compose, repeat
from objpert_core.accounting.mechanisms.event_forms import PlainEvents
from objpert_core.accounting.mechanisms.events import read_dp_events, write_dp_events


def entries_of(mechanism: Mechanism) -> ledger.Ledger:
    """List a composition of Gaussian noise and DP-SGD as entries without names; `ValueError` for what no ledger has.

    >>> ledger.write(entries_of(compose(repeat(Gaussian(20.0), 3), DPSGD(1.0, 0.01, 500))))
    'gauss*3:20,1;dpsgd:1,0.01,500'
    """
    if mechanism.adjacency != ADD_REMOVE:
        raise ValueError(f"a ledger's releases must be about {ADD_REMOVE!r}, got {mechanism.adjacency!r}")
    parts = mechanism.parts if isinstance(mechanism, Composition) else ((mechanism, 1),)
    if len(parts) > ledger.MOST_ENTRIES:
        raise ValueError(f"ledger must have at most {ledger.MOST_ENTRIES} entries, got {len(parts)}")
    return ledger.checked([_entry(place, part, count) for place, (part, count) in enumerate(parts, 1)])


def _entry(place: int, part: Mechanism, count: int) -> ledger.Entry:
    try:
        if isinstance(part, Gaussian):
            return ledger.Entry("gauss", (part.sigma, part.sensitivity), count)
        if isinstance(part, DPSGD) and part.group_size == 1:
            return ledger.Entry("dpsgd", (part.noise_multiplier, part.sample_rate, part.steps), count)
    except ValueError as error:
        raise ValueError(f"event {place}: {error}") from None
    raise ValueError(f"event {place} must be Gaussian noise or DP-SGD with one row a person, got {type(part).__name__}")


def read(text: str) -> ledger.Ledger:
    """Read a document of events, as `write` or `write_dp_events` makes it; errors are those of `entries_of`."""
    return entries_of(read_dp_events(text))


def write(entries: ledger.Ledger) -> str:
    """Write a ledger as a document of events; entries without an event are covered by Gaussian noise.
    `NotImplementedError` means that nothing is proved about an entry."""
    return write_dp_events(_together(entries), cover=True)


def written(entries: ledger.Ledger) -> Mechanism:
    """What a reader of `write` accounts for: as private as the ledger, or less where an entry is covered.

    >>> entries = ledger.parse("fit:8,10,1")
    >>> covered(entries), entries[0].mechanism().epsilon(1e-5) < written(entries).epsilon(1e-5)
    ((1,), True)
    """
    return read_dp_events(write(entries))


def covered(entries: ledger.Ledger) -> tuple[int, ...]:
    """The numbers, from 1 on, of entries without an event."""
    return tuple(number for number, entry in enumerate(entries, 1) if not _has_event(entry.mechanism()))


def _has_event(mechanism: Mechanism) -> bool:
    try:
        mechanism.event(PlainEvents())
    except NotImplementedError:
        return False
    return True


def _together(entries: ledger.Ledger) -> Mechanism:
    if not entries:
        raise ValueError("ledger must have an entry to be written as events, got none")
    return compose(*(repeat(entry.mechanism(), entry.count) for entry in entries))
