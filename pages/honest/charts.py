"""The charts of the page "Honest or not", and the numbers in them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from objpert_core.experiments.studies.tuning_runs import Draw, TuningRuns
from pages.honest.words import WAYS
from ui import draws
from ui.figures import axis, figure, guide, series
from ui.words import accuracy, given

ROLE = {"judges": "dpsgd-dishonest-rdp", "fresh": "dpsgd-dishonest-pld", "honest": "dpsgd-honest", "fixed": "tight"}
_BINS = 16


def accuracies(result: TuningRuns, previous: TuningRuns | None = None, *, stale: bool = False) -> go.Figure:
    """Every draw as a faint dot and the mean with its 95 % interval, for each way to get a learning rate."""
    traces: list[dict[str, Any]] = []
    seeds = [draw.seed for draw in result.draws]
    for place, (way, label) in enumerate(WAYS.items()):
        former = previous.mean(way) if previous is not None and compares(previous, result) else None
        values = [draw.of(way) for draw in result.draws]
        traces += draws.spread(label, place, ROLE[way], result.mean(way), values, seeds, former)
    labels = [
        f"{label.replace(', ', ',<br>')}<br>{accuracy(given(result.mean(way)).mean)}" for way, label in WAYS.items()
    ]
    return figure(
        draws.faint(traces, stale),
        xaxis=draws.places("", labels, (-0.5, len(labels) - 0.5)),
        yaxis=axis("share of right answers", draws.view(traces), tickformat=".1%"),
        legend=False,
    )


def compares(previous: TuningRuns | None, result: TuningRuns) -> bool:
    """Whether an earlier result is drawn beside this one: it has to be about the same data."""
    return previous is not None and previous.data.name == result.data.name


def runs(result: TuningRuns, draw: Draw, *, stale: bool = False) -> go.Figure:
    """Paid tuning's K runs by learning rate: the noisy score that judged them and what fresh rows say."""
    rates = np.array(result.settings.learning_rates)
    edges = (float(rates.min()) / 1.6, float(rates.max()) * 1.6)
    traces: list[dict[str, Any]] = []
    values = np.concatenate([draw.scores, draw.accuracy, [draw.honest]])
    if len(draw.runs):
        gaps = np.full(len(draw.runs), np.nan)
        between = np.column_stack([draw.scores, draw.accuracy, gaps]).ravel()
        traces.append(guide(np.repeat(draw.runs, 3), between))  # type: ignore[arg-type]
        hover = "learning rate %{x:.2g}: %{y:.1%}"
        for name, shares, role in (
            ("private score, noise included", draw.scores, "dpsgd-honest"),
            ("on fresh rows", draw.accuracy, "published"),
        ):
            traces.append(series(name, draw.runs, shares, role, mode="markers", hover=hover))
    if draw.released is not None:
        at, name = [draw.runs[draw.released]], "released, on fresh rows"
        best = series(name, at, [draw.honest], "tight", mode="markers", hover="%{y:.2%}")
        traces.append(best | {"marker": {**best["marker"], "size": 14}})
    else:
        traces.append(guide(edges, [draw.honest, draw.honest], name="θ = 0, released") | {"showlegend": True})
    low, high = float(values.min()), float(values.max())
    pad = max(0.02, 0.06 * (high - low))
    return figure(
        draws.faint(traces, stale),
        xaxis=axis("learning rate", edges, log=True),
        yaxis=axis("share of right answers", (low - pad, high + pad), tickformat=".0%"),
        height=340,
        hovermode="closest",
    )


def curse(result: TuningRuns, *, stale: bool = False) -> go.Figure:
    """How much juries flatter the candidate they choose, beside a learning rate that nobody chose."""
    chosen = np.concatenate([draw.curse for draw in result.draws])
    nobody = np.concatenate([draw.no_curse for draw in result.draws])
    low, high = 100 * min(chosen.min(), nobody.min(), 0.0), 100 * max(chosen.max(), nobody.max(), 0.0)
    edges = np.linspace(low, high + 1e-9 + 0.001 * (high - low), _BINS + 1)
    traces, top = [], 0.0
    for name, gaps, role in (
        ("chosen by these judges", chosen, "dpsgd-dishonest-rdp"),
        ("fixed in advance", nobody, "tight"),
    ):
        share = np.histogram(100 * gaps, edges)[0] / len(gaps)
        top = max(top, float(share.max()))
        x, y = np.repeat(edges, 2), np.concatenate([[0.0], np.repeat(share, 2), [0.0]])
        traces.append(series(f"{name}, mean {100 * gaps.mean():+.1f}", x, y, role, hover="%{y:.0%} at %{x:.1f} points"))
    traces.insert(0, guide([0, 0], [0, 1.08 * top]))
    return figure(
        draws.faint(traces, stale),
        xaxis=axis("judges’ share of right answers minus fresh rows’, points", (edges[0], edges[-1])),
        yaxis=axis("share of juries", (0, 1.08 * top), tickformat=".0%"),
        height=340,
        hovermode="closest",
    )


def _about(result: TuningRuns) -> dict[str, Any]:
    fields = ("epsilon", "delta", "batch_size", "epochs", "accountant", "mean_runs")
    settings = {field: getattr(result.settings, field) for field in fields}
    data = {"data_set": result.data.label, "split_seed": result.data.split_seed}
    return data | settings | {"judges": result.judges}


def accuracies_frame(result: TuningRuns) -> pd.DataFrame:
    """A row for each draw."""
    return pd.DataFrame(
        [
            _about(result)
            | {"noise_seed": draw.seed, **{way: draw.of(way) for way in WAYS}}
            | {"unpaid_learning_rate": draw.rates[draw.chosen], "K": len(draw.runs)}
            | {"paid_learning_rate": None if draw.released is None else draw.runs[draw.released]}
            for draw in result.draws
        ]
    )


def runs_frame(result: TuningRuns) -> pd.DataFrame:
    """A row for each run of paid tuning, of every draw."""
    return pd.DataFrame(
        [
            _about(result)
            | {"noise_seed": draw.seed, "run": number + 1, "learning_rate": draw.runs[number]}
            | {"score": draw.scores[number], "fresh": draw.accuracy[number], "released": number == draw.released}
            for draw in result.draws
            for number in range(len(draw.runs))
        ]
    )


def curse_frame(result: TuningRuns) -> pd.DataFrame:
    """A row for each jury."""
    return pd.DataFrame(
        [
            _about(result) | {"noise_seed": draw.seed, "jury": number + 1, "chosen": chosen, "fixed": fixed}
            for draw in result.draws
            for number, (chosen, fixed) in enumerate(zip(draw.curse, draw.no_curse, strict=True))
        ]
    )
