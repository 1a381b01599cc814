"""The picture of many teachers: their votes, the distance to trouble, and what the labels cost."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from objpert_core._validation import FloatArray
from objpert_core.experiments.ptr.teachers import CLASSES, Proposal
from pages.ptr.line import chance, share, small, without_dust
from pages.ptr.line_charts import bars
from ui import figures, sentences

EPSILONS = np.unique(np.concatenate([np.geomspace(0.1, 10, 17), [0.7]]))


@lru_cache(maxsize=64)
def distances(asked: Proposal) -> FloatArray:
    """D at every proposal of `EPSILONS`; infinite where all votes suit it."""
    return np.array([replace(asked, epsilon=float(one)).distance for one in EPSILONS])


def frame(asked: Proposal) -> pd.DataFrame:
    """The curve as a table."""
    return pd.DataFrame({"epsilon": EPSILONS, "distance": distances(asked), "threshold": asked.threshold})


def answer(asked: Proposal) -> str:
    """What the labels cost, and how often they come out."""
    any_votes = asked.teachers.any_votes
    if asked.total >= any_votes:
        return (
            f"Do not ask: these labels cost {small(any_votes)} for any votes, proposal and test {small(asked.total)}."
        )
    told = f"Proposal and test cost ε = {small(asked.total)}, any votes {small(any_votes)}"
    return f"{told}; the test passes {share(asked.pass_probability)} (secret)."


def promise(asked: Proposal) -> str:
    """The promise of proposal and test."""
    adjacency = "one teacher replaced, with all its votes"
    return sentences.promise(without_dust(asked.total), asked.delta, "Rényi curves", adjacency=adjacency)


def note(asked: Proposal) -> str:
    """What is labelled."""
    teachers = asked.teachers
    return (
        f"{teachers.queries} rows, {teachers.number:,} teachers, noise σ = {teachers.sigma:g} on each count. D is how "
        "many teachers must change until the proposal is wrong."
    )


_VOTES = {"first": "first share", "second": "second share", "number": "teachers", "sigma": "σ"}


def moved(before: Proposal | None, now: Proposal) -> str:
    """What was changed since `before`, and what that did to ε and to the test; empty where nothing was."""
    if before is None or before == now:
        return ""
    changes = sentences.changed(before.teachers, now.teachers, _VOTES)
    changes += sentences.changed(before, now, {"epsilon": "ε′", "test_epsilon": "ε̂"})
    total = sentences.course("ε", before.total, now.total, small)
    distance = sentences.course("D (secret)", before.distance, now.distance, _teachers)
    return f"{sentences.shift(changes)}: {total}, {distance}."


def _teachers(value: float) -> str:
    return "any votes suit it" if math.isinf(value) else f"{value:g}"


def rows(asked: Proposal) -> list[dict[str, str]]:
    """Every number, and who may see it."""
    teachers = asked.teachers
    found = (
        ("ε of these labels, any votes, exactly", small(teachers.any_votes), "public"),
        ("ε of these labels, these votes", small(teachers.these_votes), "secret"),
        ("ε of proposal and test", small(asked.total), "public"),
        ("Distance D: teachers until the proposal is wrong", _teachers(asked.distance), "secret"),
        ("Threshold of the test", f"{asked.threshold}", "public"),
        ("Probability to pass", chance(asked.pass_probability), "secret"),
    )
    return [{"Quantity": name, "Value": value, "Who sees it": who} for name, value, who in found]


def votes_alt(asked: Proposal) -> str:
    """Alt text of the votes."""
    first, second = np.sort(asked.teachers.counts.mean(axis=0))[::-1][:2]
    return f"Votes for ten classes (secret), means over the rows: {first:.0f} for the first, {second:.0f} for the next."


def alt(asked: Proposal) -> str:
    """Alt text of the distance."""
    return (
        f"{answer(asked)} The distance D against the proposed ε of the labels, logarithmic, rises from 0; the test’s "
        f"threshold is {asked.threshold} teachers, and {_here(asked)}."
    )


def _here(asked: Proposal) -> str:
    return "any votes suit this proposal" if math.isinf(asked.distance) else f"D here is {asked.distance:g} (secret)"


def costs_frame(asked: Proposal) -> pd.DataFrame:
    """The bars without rounding."""
    teachers = asked.teachers
    found = {"any votes": teachers.any_votes, "these votes": teachers.these_votes, "proposal and test": asked.total}
    return pd.DataFrame({"of": list(found), "epsilon": list(found.values())})


def votes_frame(asked: Proposal) -> pd.DataFrame:
    """The mean votes."""
    return pd.DataFrame({"class": np.arange(1, CLASSES + 1), "votes": asked.teachers.counts.mean(axis=0)})


def costs(asked: Proposal) -> Any:
    """ε three ways, as bars."""
    teachers = asked.teachers
    found = (
        ("any votes", teachers.any_votes, "worst"),
        ("these votes<br>(secret)", teachers.these_votes, "secret"),
        ("proposal and test", asked.total, "asked"),
    )
    return bars(found, "ε of all labels")


def costs_alt(asked: Proposal) -> str:
    """Alt text of the bars."""
    teachers = asked.teachers
    return (
        f"Three bars: ε of the labels is {small(teachers.any_votes)} for any votes, "
        f"{small(teachers.these_votes)} for these votes, which is secret, and "
        f"{small(asked.total)} by proposal and test."
    )


def votes(asked: Proposal) -> Any:
    """The mean votes as bars, the first in colour."""
    means = asked.teachers.counts.mean(axis=0)
    places = np.arange(1, CLASSES + 1)
    colors = [figures.look("asked" if one == 1 else "guide").color for one in places.tolist()]
    drawn = {"type": "bar", "name": "votes", "x": places, "y": means, "marker": {"color": colors}}
    drawn |= {"hovertemplate": "class %{x}: %{y:.0f} votes<extra></extra>"}
    return figures.figure(
        [drawn],
        xaxis=figures.axis(
            "class", (0.4, CLASSES + 0.6), tickmode="array", tickvals=places, ticktext=places.astype(str)
        ),
        yaxis=figures.axis("mean votes (secret)", (0.0, 1.05 * float(means.max()))),
        height=220,
        legend=False,
    )


def chart(now: Proposal, before: Proposal | None = None) -> Any:
    """D against the proposal, and the threshold."""
    traces: list[dict[str, Any]] = []
    if before is not None:
        y = figures.finite(distances(before))
        traces.append(figures.series("distance D, before", EPSILONS, y, "secret", ghost=True))
    found = distances(now)
    known = found[np.isfinite(found)]
    top = 1.15 * max(float(known.max()) if known.size else 0.0, 1.5 * now.threshold)
    traces.append(figures.guide((now.epsilon, now.epsilon), (0.0, top)))
    ends = EPSILONS[[0, -1]]
    label = f"threshold {now.threshold}"
    traces.append(figures.series(label, ends, (now.threshold, now.threshold), "tight", hoverinfo="skip"))
    hover = "%{y:.0f} teachers"
    traces.append(
        figures.series(
            "distance D (secret)", EPSILONS, figures.finite(found), "secret", mode="lines+markers", hover=hover
        )
    )
    traces += _beyond(found, top)
    if math.isfinite(now.distance):
        dot = figures.series("D here (secret)", [now.epsilon], [now.distance], "asked", mode="markers", hover=hover)
        dot["marker"] |= {"size": 13}
        traces.append(dot)
    return figures.figure(
        traces,
        xaxis=figures.axis("proposed ε′ of the labels", (0.1, 10.0), log=True),
        yaxis=figures.axis("teachers to change", (0.0, top)),
        height=380,
        hovermode="closest",
    )


def _beyond(found: FloatArray, top: float) -> list[dict[str, Any]]:
    """A word where the curve ends: D is infinite from there on."""
    known = np.flatnonzero(np.isfinite(found))
    if known.size == found.size:
        return []
    if not known.size:
        place, height, side, told = 1.0, 0.0, "top center", "any votes suit every proposal"
    else:
        last = known[-1]
        place, height = float(EPSILONS[last]), float(found[last])
        side, told = ("top left" if place > 1 else "top right"), "beyond: any votes suit it"
    note = figures.series(
        told, [place], [height + 0.03 * top], "secret", mode="text", hoverinfo="skip", showlegend=False
    )
    return [note | {"text": [told], "textposition": side}]
