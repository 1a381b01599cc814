"""The words of stored results on the page "Tilt or bend?": answers, captions, tables, alt texts."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from objpert_core.experiments.quadratic import figure1, figure2, matter, regression
from objpert_core.experiments.results import Results
from pages.quadratic import numbers
from pages.quadratic.words import AGREEING, EXACT, REPLACED, count, times
from ui import sentences

PANELS = {"exact": "exact solver (left)", "inexact": "inexact solver (right)"}
NO_TIGHT = "The exact theorem needs an anchor without error: shown is the sharpened bound."
EACH = "each one’s own theorem"


def kappa_answer(found: Results, kappa: float) -> str:
    """Tilt, bend and anchor at one box."""
    tilt, bend, anchor = (_mean(found, method, kappa=kappa) for method in ("lop", "qop", "anchor"))
    behind = "no worse" if anchor <= bend * 1.0005 else f"{times(anchor / bend)} times worse"
    return f"At κ = {kappa:g} the tilt’s risk is {times(tilt / bend)} times the bend’s; the anchor alone is {behind}."


def _mean(found: Results, method: str, **wanted: float) -> float:
    interval = found.interval(method=method, **wanted)
    return math.nan if interval is None else interval.mean


KAPPA_PROMISE = sentences.promise(
    figure2.EPSILON, figure2.DELTA, f"{EACH}, but for the bends as run", adjacency=REPLACED
)
KAPPA_NOTE = (
    "n = 300, d = 100, weight of the regulariser ω = 1, ten draws, 95 % intervals. The bends are not private as run in "
    "the paper: their anchor is off."
)


def matter_answer(found: Results, n: int) -> str:
    """What the exact theorem saves where data matter."""
    exact, published, anchor = (_mean(found, name, n=n) for name in ("exact", "published", "anchor"))
    return (
        f"At n = {n:,} the exact theorem loses {times(published / exact)} times less than the published, "
        f"{times(anchor / exact)} times less than the anchor."
    )


MATTER_PROMISE = sentences.promise(matter.EPSILON, matter.DELTA, EACH, adjacency=AGREEING)
MATTER_NOTE = (
    "d = 20, m = 40, unit rows, weight of the regulariser ω = n/50, the anchor is θ*, ten draws, 95 % intervals."
)


def regression_answer(found: Results, case: tuple[int, int, float]) -> str:
    """Who is the most accurate, and how far bend and tilt are behind."""
    n, d, epsilon = case
    means = {
        method: _mean(found, method, n=n, d=d, epsilon=epsilon) for method in ("objective", "centred", "adassp-tight")
    }
    best, *rest = sorted(means, key=lambda method: means[method])
    first, second = (f"{_SHORT[method]} has {times(means[method] / means[best])}" for method in rest)
    return f"{_SHORT[best][0].upper()}{_SHORT[best][1:]} is the most accurate; {first} times its error, {second}."


_SHORT = {"objective": "objective perturbation", "centred": "bend and tilt", "adassp-tight": "AdaSSP"}


def regression_promise(case: tuple[int, int, float]) -> str:
    """The promise of every method."""
    return sentences.promise(case[2], regression.DELTA, "each one’s own accountant")


def regression_note(case: tuple[int, int, float]) -> str:
    """What was learnt."""
    n, d, _ = case
    draws = sentences.count(len(regression.SEEDS), "draw")
    return f"n = {n:,}, d = {d}, unit rows, noise 0.1, {draws}, 95 % intervals."


def regression_rows(found: Results, case: tuple[int, int, float]) -> list[dict[str, str]]:
    """Every method, the best first."""
    n, d, epsilon = case
    rows = []
    for method, label in regression.LABELS.items():
        interval = found.interval(n=n, d=d, epsilon=epsilon, method=method)
        if interval is not None:
            rows.append((interval.mean, label, interval.half_width))
    best = min(mean for mean, _, _ in rows)
    return [
        {
            "Method": label,
            "Excess test error": count(mean),
            "± (95 %)": count(half) if half > 0 else "–",
            "Over the best": sentences.ratio(mean / best, up=False),
        }
        for mean, label, half in sorted(rows)
    ]


def against_rows(found: Results, column: str, labels: Mapping[str, str]) -> list[dict[str, str]]:
    """Means against a column: a row for each method."""
    table = numbers.means(found, column, list(labels))
    places = sorted(set(table[column]))
    shown = places if len(places) <= 6 else [place for place in places if math.log10(place) % 1 in (0.0,)]
    rows = []
    for method, label in labels.items():
        row = {"Method": label}
        for place in shown:
            own = table[(table["method"] == method) & (table[column] == place)]["mean"]
            row[f"{'κ' if column == 'kappa' else column} = {place:,g}"] = "–" if own.empty else count(own.iloc[0])
        rows.append(row)
    return rows


def against_alt(answer: str, what: str, over: str) -> str:
    """Alt text of the charts against κ and n."""
    return f"{answer} {what} against {over}, both logarithmic, for every method."


def heat_answer(found: Results, panel: str, proof: str, at: tuple[float, float]) -> str:
    """One cell, beside the published bound and what needs no data."""
    own, published = (_cell(found, panel, name, at) for name in (proof, "published"))
    told = f"The bound on the risk is {_up(own)}"
    if proof != "published":
        told += f", published {_up(published)}"
    return f"{told}; returning θ* without data loses at most {figure1.WITHOUT_DATA:g}."


def _cell(found: Results, panel: str, proof: str, at: tuple[float, float]) -> float:
    epsilon, delta = at
    return found.values(panel=panel, proof=proof, epsilon=repr(epsilon), delta=repr(delta))[0]


def _up(value: float) -> str:
    return sentences.number(value, 3, up=True)


def heat_promise(proof: str, at: tuple[float, float]) -> str:
    """What the marked cell keeps."""
    accountant = {"published": "the published proof", "sharpened": "the sharpened proof", "tight": EXACT}[proof]
    return sentences.promise(*at, accountant, adjacency=AGREEING)


def heat_note(panel: str) -> str:
    """What the map is of."""
    return f"{PANELS[panel]}, d = 12, n = 10, L = ρ = G = D = 1, best m in every cell."


def heat_rows(found: Results, panel: str, proof: str) -> list[dict[str, str]]:
    """The map as a table: a row for each δ, round values of ε."""
    epsilons, deltas, values, degrees = numbers.grid(found, panel, proof)
    shown = [place for place, epsilon in enumerate(epsilons) if epsilon in (0.1, 0.3, 1.0, 3.0, 10.0)]
    return [
        {"δ": sentences.delta(delta)}
        | {f"ε = {epsilons[place]:g}": f"{_up(row[place])} (m = {row_m[place]:.0f})" for place in shown}
        for delta, row, row_m in zip(deltas, values, degrees, strict=True)
    ]


def heat_alt(found: Results, panel: str, proof: str, at: tuple[float, float]) -> str:
    """Alt text."""
    _, _, values, _ = numbers.grid(found, panel, proof)
    return (
        f"{heat_answer(found, panel, proof, at)} A map over ε and δ of the least bound on the excess risk, "
        f"{figure1.PROOFS[proof]}: from {_up(float(np.nanmin(values)))} to {_up(float(np.nanmax(values)))}, falling as "
        "either grows."
    )


def nothing_stored(name: str) -> str:
    """What a picture says where there are no results."""
    return f"This picture needs stored results: python -m objpert_core.experiments quadratic {name}"


def nearest_line(asked: tuple[float, float], shown: tuple[float, float]) -> str | None:
    """What is marked in place of what was asked for; None where that is stored."""
    if asked == shown:
        return None
    return f"Not stored for ε = {asked[0]:g}, δ = {asked[1]:g}; marked: ε = {shown[0]:g}, δ = {shown[1]:g}."


def made_by(found: Results) -> str:
    """How the stored results were made."""
    notes = found.notes
    told = f"Stored results of `{notes['command']}`, commit {notes['commit']}, {notes['versions']}"
    return f"{told}; seeds: {notes['seeds']}."
