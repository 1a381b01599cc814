"""What `benchmarks.classroom` found, as Markdown.

python -m benchmarks.classroom_report data/results/classroom.json                            # prints it
python -m benchmarks.classroom_report data/results/classroom.json --write docs/deploying.md  # between its markers
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import Any

BLOCK = re.compile(r"(?<=<!-- classroom -->\n).*?(?=<!-- /classroom -->)", re.DOTALL)
HEADS = "| | number | median, s | p95, s | p99, s | longest, s |\n|---|---|---|---|---|---|"


def as_markdown(found: dict[str, Any]) -> str:
    """The report."""
    pages = ", ".join(f"{page} {cost:.0f}" for page, cost in found["alone"].items())
    parts = [
        f"`{found['command']}`: commit {found['commit']}, {found['date']}, {found['machine']}, load before "
        f"{found['load before']:.2f}; {found['processes']} processes of the app behind nginx.",
        f"**The machine.** One person's rerun, alone, with values that nobody has had: "
        f"**{found['rerun alone']:.0f} ms** of processor time, the mean over the pages as people open them ({pages}).",
    ]
    if "class" in found:
        parts += _class(found)
    if "churn" in found:
        parts += _churn(found["churn"])
    return "\n\n".join(parts) + "\n"


def _class(found: dict[str, Any]) -> list[str]:
    notes = found["class"]
    spent, number = notes["cpu"], notes["all reruns"]["number"]
    used = ", ".join(f"{name} {100 * seconds / notes['seconds']:.0f} %" for name, seconds in spent.items())
    parts = [
        f"**{found['people']} people**, all there within {found['open within']:g} s, a move every "
        f"{found['every']:g} s, {notes['seconds'] / 60:g} minutes: {number} reruns, **{_lost(notes)}**.",
        "\n".join(
            [
                HEADS,
                _row("the way in: page, scripts, first load", notes["arrivals"]),
                *(_row(f"first load, {page}", times) for page, times in notes["loads"].items()),
                *(_row(f"rerun, {page}", times) for page, times in notes["reruns"].items()),
                _row("**rerun, all pages**", notes["all reruns"]),
            ]
        ),
        *notes["why"],
        f"Processors in use, in per cent of one: {used}; the people ran on the same machine. The apps used "
        f"{1000 * spent['apps'] / max(1, number):.0f} ms for each rerun, first loads among them.",
        _memory(notes["over time"], "seconds"),
    ]
    if after := notes.get("after the kill"):
        parts += _killed(after)
    return parts


def _killed(after: dict[str, Any]) -> list[str]:
    away = after.get("away", {"number": 0})
    told = "nobody was on it" if not away["number"] else (
        f"its {away['number']} people were away for {away['median']:.1f} s (median), {away['p95']:.1f} s (p95), "
        f"{away['longest']:.1f} s (longest), and {away['same']} of them came back to the same sliders and answer"
    )  # fmt: skip
    return [
        f"**Then one process was killed**: {told}. {_lost(after).capitalize()} among all others. Reruns in the "
        f"{after['seconds']:g} s from then on:",
        "\n".join([HEADS, _row("rerun, all pages", after["all reruns"])]),
        *after["why"],
    ]


def _churn(notes: dict[str, Any]) -> list[str]:
    rows = notes["over time"]
    return [
        f"**Sessions that come and go**, before the class: {rows[-1]['sessions']} in {notes['seconds']:.0f} s, "
        f"{_lost(notes)}.",
        _memory(rows, "sessions"),
        *notes["why"],
    ]


def _lost(notes: dict[str, Any]) -> str:
    lost, failed = notes["lost"], notes["failed"]
    return f"{lost or 'no'} lost connection{'s' * (lost > 1)}, {failed or 'no'} failed rerun{'s' * (failed > 1)}"


def _row(name: str, times: dict[str, float]) -> str:
    if not times["number"]:
        return f"| {name} | 0 | | | | |"
    told = " | ".join(f"{times[quantile]:.3f}" for quantile in ("median", "p95", "p99", "longest"))
    return f"| {name} | {times['number']} | {told} |"


def _memory(rows: list[dict[str, Any]], by: str) -> str:
    memory = " | ".join(" + ".join(f"{mebibytes:.0f}" for mebibytes in row["memory"]) for row in rows)
    times = " | ".join(f"{row[by]:g}" for row in rows)
    return f"| {by} | {times} |\n{'|---' * (len(rows) + 1)}|\n| MiB of each process | {memory} |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=Path, help="what benchmarks.classroom --json has written")
    parser.add_argument("--write", type=Path, help="a page with the markers of the block")
    options = parser.parse_args()
    block = as_markdown(json.loads(options.results.read_text(encoding="utf-8")))
    if not options.write:
        print(block)
        return 0
    page = options.write.read_text(encoding="utf-8")
    if not BLOCK.search(page):
        parser.error(f"{str(options.write)!r} has no block <!-- classroom --> … <!-- /classroom -->.")
    options.write.write_text(BLOCK.sub(lambda _: f"\n{block}\n", page), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
