"""Events of Google's dp_accounting as plain data: their fields, how they are written, how any form of one is read.

An event is an object of dp_accounting, its named tuple (`DpEvent.to_named_tuple`), the lists that `json.dumps` makes of
that, or a mapping of its "class_name" and its fields. None of them needs dp_accounting to be installed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

PACKAGE = "dp_accounting"
FIELDS: Mapping[str, tuple[str, ...]] = {
    "NoOpDpEvent": (),
    "NonPrivateDpEvent": (),
    "UnsupportedDpEvent": (),
    "RandomizedResponseDpEvent": ("noise_parameter", "num_buckets"),
    "GaussianDpEvent": ("noise_multiplier",),
    "LaplaceDpEvent": ("noise_multiplier",),
    "DiscreteLaplaceDpEvent": ("noise_parameter", "sensitivity"),
    "SelfComposedDpEvent": ("event", "count"),
    "ComposedDpEvent": ("events",),
    "PoissonSampledDpEvent": ("sampling_probability", "event"),
    "SampledWithReplacementDpEvent": ("source_dataset_size", "sample_size", "event"),
    "SampledWithoutReplacementDpEvent": ("source_dataset_size", "sample_size", "event"),
    "SingleEpochTreeAggregationDpEvent": ("noise_multiplier", "step_counts"),
    "RepeatAndSelectDpEvent": ("event", "mean", "shape"),
    "MixtureOfGaussiansDpEvent": ("standard_deviation", "sensitivities", "sampling_probs"),
    "ZCDpEvent": ("rho", "xi"),
    "TruncatedSubsampledGaussianDpEvent": (
        "dataset_size",
        "sampling_probability",
        "truncated_batch_size",
        "noise_multiplier",
    ),
}
"""The fields of every event of dp_accounting 0.6, in their order."""
_DEFAULTS: Mapping[tuple[str, str], Any] = {("ZCDpEvent", "xi"): 0.0}
_TUPLE = ("module_name", "class_name")  # the first two entries of a named tuple


class PlainEvents:
    """Stands for dp_accounting's module of events, and makes plain data."""

    def __getattr__(self, name: str) -> Any:
        if name not in FIELDS:
            raise AttributeError(name)
        return lambda *values: {"class_name": name, **dict(zip(FIELDS[name], values, strict=True))}


@dataclass(frozen=True)
class EventMaker:
    """What a mechanism makes its event with: `events` is dp_accounting's module, or `PlainEvents`."""

    events: Any
    turned: bool = False  # rows are replaced where the event is read, as if one moved the sum by twice the norm
    cover: bool = False  # write a mechanism without an event as Gaussian noise that covers it

    def gaussian(self, ratio: float) -> Any:
        """The event of Gaussian noise that is sensitivity/`ratio`, or as little less as doubles allow."""
        moved = 2.0 if self.turned else 1.0
        noise = moved / ratio
        while moved / noise < ratio:
            noise = math.nextafter(noise, 0.0)
        return self.events.GaussianDpEvent(noise)


def fields_of(event: Any) -> tuple[str, dict[str, Any]]:
    """Name an event, in any of its forms, and its unchecked fields; `ValueError` for what is no event of dp_accounting,
    or has fields that are not in `FIELDS`: they might cost privacy.
    """
    module, name, fields = _taken_apart(event)
    if not isinstance(name, str) or name not in FIELDS or not _is_of_package(module):
        raise ValueError(f"event must be an event of dp_accounting, got {_shown(event if name is None else name)}")
    wanted = FIELDS[name]
    if not isinstance(fields, Mapping):
        fields = dict(zip(wanted, fields, strict=False)) | {
            f"number {len(wanted) + 1}": 0 for _ in fields[len(wanted) :]
        }
    for field in fields:
        if field not in wanted:
            raise ValueError(f"{name} must have no fields but {list(wanted)}, got {_shown(field)}")
    whole = {field: fields.get(field, _DEFAULTS.get((name, field))) for field in wanted}
    for field, value in whole.items():
        if value is None:
            raise ValueError(f"{name} must have the field {field!r}, got none")
    return name, whole


def _taken_apart(event: Any) -> tuple[Any, Any, Any]:
    """Module, class and fields (by name, or in their order) of what may be an event; the class is None of others."""
    if isinstance(event, Mapping):
        rest = {key: value for key, value in event.items() if key not in _TUPLE}
        return event.get("module_name", PACKAGE), event.get("class_name"), rest
    if isinstance(event, tuple) and (names := getattr(event, "_fields", ()))[:2] == _TUPLE:
        return event[0], event[1], dict(zip(names[2:], event[2:], strict=True))
    if isinstance(event, (list, tuple)):
        return (event[0], event[1], event[2:]) if len(event) > 1 else (None, None, ())
    kind = type(event)
    known = getattr(kind, "__attrs_attrs__", ())
    return kind.__module__, kind.__name__, {field.name: getattr(event, field.name) for field in known}


def _is_of_package(module: Any) -> bool:
    return isinstance(module, str) and module.split(".")[0] == PACKAGE


def is_sequence(value: Any) -> bool:
    """Whether a field holds several entries: a list, a tuple or an array; a text does not."""
    if isinstance(value, np.ndarray):
        return value.ndim == 1
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def _shown(value: Any) -> str:
    text = f"{value!r}" if isinstance(value, (str, int, float)) else type(value).__name__
    return text if len(text) <= 40 else f"{text[:40]}…"
