"""The figures of a page for a paper, made from this checkout. Needs kaleido (the extra "pdf") and a Chromium.

    python -m benchmarks.figures bounds                                    # bounds-1.pdf, bounds-1.svg
    python -m benchmarks.figures bounds bounds_sigma=5 --column 174 --out figures

A control is what stands in the page's address ("Share" has it). Each chart of the page becomes a PDF of the column's
width with its font embedded, and an SVG of the same.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from benchmarks.thumbnails import QUICK, charts
from ui import registry
from ui.chart import Chart
from ui.printed import draw, printed

COLUMN = 84.0


def main(arguments: Sequence[str] | None = None) -> None:
    names = [entry.name for entry in registry.PAGES if entry.name != "lessons"]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=names, metavar="page", help=f"of {', '.join(names)}")
    parser.add_argument("controls", nargs="*", metavar="control=value", help="as in the page's address")
    parser.add_argument("--column", type=float, default=COLUMN, help="width in mm (default: %(default)g)")
    parser.add_argument("--out", type=Path, default=Path(), help="folder (default: this one)")
    options = parser.parse_args(arguments)
    if not 30 <= options.column <= 400:
        parser.error(f"--column must be from 30 to 400 mm, got {options.column:g}")
    if wrong := [control for control in options.controls if "=" not in control]:
        parser.error(f"a control must be name=value, got {wrong[0]!r}")
    controls = QUICK.get(options.name, {}) | dict(control.split("=", 1) for control in options.controls)
    try:
        found = charts(options.name, controls)
    except ValueError as error:
        parser.error(str(error))
    options.out.mkdir(parents=True, exist_ok=True)
    for number, (spec, title) in enumerate(found, start=1):
        place = options.out / f"{options.name}-{number}"
        figure = printed(Chart(spec), column=options.column)
        for form in ("pdf", "svg"):
            place.with_suffix(f".{form}").write_bytes(draw(figure, form))
        print(f"{place}.pdf, {place}.svg: {title}")


if __name__ == "__main__":
    main()
