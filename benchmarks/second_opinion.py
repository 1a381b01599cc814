"""How far every mechanism's answers lie from its second opinion: the table at the end of docs/theorems.md.

    python -m benchmarks.second_opinion                   # a quarter of an hour; writes docs/theorems.md
    python -m benchmarks.second_opinion --only Gaussian   # prints the rows of mechanisms with such names

The cases, those of the slow tests included, are those of `tests/second_opinion`.
"""

from __future__ import annotations

import argparse
import math
import re
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from benchmarks.shared import markdown
from objpert_core import accounting
from tests.second_opinion.cases import CASES
from tests.second_opinion.measured import Point, points

DOCUMENT = Path(__file__).parents[1] / "docs" / "theorems.md"
BLOCK = r"(<!-- second_opinion -->\n).*?(<!-- /second_opinion -->)"
HEADS = ("mechanism", "points", "least ratio", "of which from above", "greatest ratio of δ", "of Rényi divergences")
_SMALLEST = math.log(1e-300)


def ratio_text(log_ratio: float) -> str:
    """A ratio by its logarithm: as 1 ± its distance from 1, where that is small."""
    if math.isnan(log_ratio):
        return "–"
    if log_ratio > 690:
        return "> 1e300"
    away = math.expm1(log_ratio)
    if abs(away) < 1e-9:
        return "1"
    return f"1 {'+' if away > 0 else '−'} {abs(away):.1e}" if abs(away) < 0.1 else f"{1 + away:.3g}"


def row(name: str, asked: Iterable[Point]) -> tuple[str, ...]:
    """The worst of a mechanism's points that are numbers, δ from 1e-300 on."""
    kept = [point for point in asked if point.least > _SMALLEST and math.isfinite(point.least)]
    above = {what: [p.above for p in kept if p.what == what and p.looseness is not None] for what in ("delta", "rdp")}
    least = min((point.below for point in kept), default=math.nan)
    most = [ratio_text(max(found, default=math.nan)) for found in above.values()]
    return (f"`{name}`", str(len(kept)), ratio_text(least), str(sum(map(len, above.values()))), *most)


def table(only: str = "") -> str:
    """The table, of mechanisms whose names contain `only`."""
    found = defaultdict(list)
    for case in CASES:
        if only in case.mechanism:
            found[case.mechanism] += points(case, case.make(accounting))
    return markdown(HEADS, [row(name, found[name]) for name in sorted(found)])


def main() -> None:
    """The command line; see the top of this file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="NAME", help="print the rows of these mechanisms")
    options = parser.parse_args()
    if options.only:
        print(table(options.only))
        return
    made = table()
    text = DOCUMENT.read_text(encoding="utf-8")
    DOCUMENT.write_text(re.sub(BLOCK, rf"\g<1>{made}\n\2", text, flags=re.DOTALL), encoding="utf-8")


if __name__ == "__main__":
    main()
