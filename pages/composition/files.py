"""A ledger as a file: a table or a JSON document with everything that is needed to compute it again.

`objpert_core.accounting.ledger_file` reads them back.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import pandas as pd

from objpert_core.accounting import ledger
from objpert_core.accounting.ledger_file import FORMAT
from pages.composition.totals import WIDTH, Line
from ui import sentences

_SHARED = ("delta", "target_epsilon", "adjacency")


def rows(lines: Sequence[Line], delta: float, target: float) -> list[dict[str, Any]]:
    """One dictionary an entry: what it is, how to compute it, and the running totals."""
    return [
        {
            "position": position,
            "name": line.entry.label,
            "entry": line.entry.write(),
            "kind": line.entry.kind,
            "count": line.entry.count,
            "mechanism": line.entry.expression(),
            "epsilon_of_one": line.alone,
            "running_epsilon": line.total,
            "running_epsilon_certified_lower": line.low,
            "running_epsilon_renyi": line.renyi,
            "running_sum_of_epsilon": line.added,
            "delta": delta,
            "target_epsilon": target,
            "adjacency": sentences.ADJACENCY,
        }
        for position, line in enumerate(lines, 1)
    ]


def frame(lines: Sequence[Line], delta: float, target: float) -> pd.DataFrame:
    """The rows as a table; its columns are there for an empty ledger too."""
    example = Line(ledger.Entry("gauss", (1.0, 1.0)), 0.0, 0.0, 0.0, 0.0, 0.0)
    return pd.DataFrame(rows(lines, delta, target), columns=list(rows([example], delta, target)[0]))


def to_json(lines: Sequence[Line], delta: float, target: float) -> str:
    """The ledger as a JSON document; an infinite ε is null, as JSON has no infinity."""
    entries = [
        {key: _finite(value) for key, value in row.items() if key not in _SHARED}
        | {"parameters": line.entry.parameters}
        for row, line in zip(rows(lines, delta, target), lines, strict=True)
    ]
    document = {
        "format": FORMAT,
        "delta": delta,
        "target_epsilon": target,
        "adjacency": sentences.ADJACENCY,
        "import": "import objpert_core.accounting as acc",
        "relative_width": WIDTH,  # of epsilon_bounds, to compute the same numbers
        "entries": entries,
    }
    return json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
