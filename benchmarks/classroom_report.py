"""What `benchmarks.classroom` found, as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def quantiles(times: Sequence[float]) -> tuple[float, float, float]:
    """The median, and what 95 and 99 of 100 stay below; NaN of nothing."""
    if not times:
        return (float("nan"),) * 3
    ordered = sorted(times)
    return tuple(ordered[min(len(ordered) - 1, int(share * len(ordered)))] for share in (0.5, 0.95, 0.99))  # type: ignore[return-value]


def as_markdown(found: dict[str, Any]) -> str:
    """The tables."""
    head = [
        f"`{found['command']}`",
        "",
        f"Commit {found['commit']}, {found['date']}, {found['machine']}, load before {found['load before']:.2f}.",
        f"{found['processes']} app processes behind nginx.",
    ]
    parts = [head, _alone(found)]
    if "class" in found:
        parts += [_class(found), _away(found["class"]), _memory(found["class"]["over time"], "seconds")]
    if "churn" in found:
        parts += [_churn(found["churn"]), _memory(found["churn"]["over time"], "sessions")]
    return "\n\n".join("\n".join(part) for part in parts if part)


def _alone(found: dict[str, Any]) -> list[str]:
    pages = ", ".join(f"{page} {cost:.0f}" for page, cost in found["alone"].items())
    return [
        f"**The machine.** One person's rerun, alone, with values that nobody has had: "
        f"**{found['rerun alone']:.0f} ms** of processor time on average over the pages as people open them ({pages})."
    ]


def _class(found: dict[str, Any]) -> list[str]:
    notes = found["class"]
    lines = [
        f"**{found['people']} people**, open within {found['open within']:g} s, a move every {found['every']:g} s, "
        f"for {notes['seconds'] / 60:.1f} minutes: {len(notes['reruns'])} reruns, "
        f"**{len(notes['lost'])} lost connections**, {len(notes['failed'])} reruns that failed.",
        "",
        "| | number | median, s | p95, s | p99, s | longest, s |",
        "|---|---|---|---|---|---|",
        _row("the way in: page, scripts, first load", notes["arrivals"]),
    ]
    lines += [_row(f"first load, {page}", times) for page, times in notes["loads"].items()]
    lines += [_row(f"rerun, {page}", times) for page, times in notes["reruns by page"].items()]
    lines.append(_row("**rerun, all pages**", notes["reruns"]))
    lines += [f"\nLost: {lost['page']}, {lost['why']}" for lost in notes["lost"][:10]]
    lines += [f"\nFailed: {failed['page']}, {failed['why']}" for failed in notes["failed"][:10]]
    if notes["cpu"]:
        used = ", ".join(f"{name} {100 * spent / notes['seconds']:.0f} %" for name, spent in notes["cpu"].items())
        each = 1000 * notes["cpu"]["apps"] / max(1, len(notes["reruns"]))
        lines += ["", f"Processors in use, in per cent of one: {used}; the people ran on the same machine."]
        lines += [
            f"The apps used {each:.0f} ms for each rerun, first loads among them; one half followed the lecturer."
        ]
    return lines


def _row(name: str, times: Sequence[float]) -> str:
    if not times:
        return f"| {name} | 0 | | | | |"
    return f"| {name} | {len(times)} | " + " | ".join(f"{t:.3f}" for t in (*quantiles(times), max(times))) + " |"


def _away(notes: dict[str, Any]) -> list[str]:
    if notes["killed after"] is None:
        return []
    away = notes["away"]
    if not away:
        return [f"**One process was killed** after {notes['killed after']:g} s; nobody was on it."]
    times = [back["seconds"] for back in away]
    same = sum(back["same"] for back in away)
    median, p95, _ = quantiles(times)
    return [
        f"**One process was killed** after {notes['killed after']:g} s. Its {len(away)} people were away for "
        f"{median:.2f} s (median), {p95:.2f} s (p95), {max(times):.2f} s (longest); "
        f"{same} of {len(away)} came back to the same sliders and answer."
    ]


def _churn(notes: dict[str, Any]) -> list[str]:
    first, last = notes["over time"][0]["memory"], notes["over time"][-1]["memory"]
    grown = ", ".join(f"{a:.0f} → {b:.0f} MiB" for a, b in zip(first, last, strict=False))
    return [
        f"**Sessions that come and go**: {notes['over time'][-1]['sessions']} in {notes['seconds']:.0f} s, "
        f"{len(notes['lost'])} lost connections. Resident memory of the processes: {grown}."
    ]


def _memory(rows: list[dict[str, Any]], by: str) -> list[str]:
    shown = rows if len(rows) <= 12 else [rows[round(i * (len(rows) - 1) / 11)] for i in range(12)]
    return [
        f"| {by} | " + " | ".join(f"{row[by]:g}" for row in shown) + " |",
        "|---" * (len(shown) + 1) + "|",
        "| MiB of each process | " + " | ".join(" + ".join(f"{m:.0f}" for m in row["memory"]) for row in shown) + " |",
    ]
