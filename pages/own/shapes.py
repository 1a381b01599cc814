"""An additive model's curves as small pictures, the table below them, and what the answer says of them."""

from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from objpert_core.datasets import Categories, Date, Number, safe_cell, safe_label, safe_text
from objpert_core.estimators import own_table
from pages.own.jobs import Made
from ui import draws, sentences, style
from ui.figures import Small, axis, band, bars, marks, multiples, series, ticks
from ui.page import Picture

MOST, ON_PHONE = 12, 4  # columns
ROLE = "tight"
BEYOND = 0.05  # of a range's width: how far pieces without an end reach, and half of where missing values lie
LONGEST_NAME = 26
ROOM = {False: 26, True: 18}  # for the names together under a small picture, and on a phone


def curves(made: Made) -> dict[str, pd.DataFrame]:
    """The pieces with rows, by column, the column whose effects reach farthest first; of several values that value's
    effects that do.
    """
    found: Any = own_table.shapes(made.model, made.labels)
    found = found[found["share"] > 0]
    by = [name for name in ("column", "class") if name in found]
    reach = found.groupby(by, sort=False)["effect"].agg(lambda own: own.max() - own.min()).sort_values(ascending=False)
    own: dict[str, pd.DataFrame] = {}
    for place in reach.index:
        of = place if isinstance(place, tuple) else (place,)
        own.setdefault(of[0], found[(found[by] == list(of)).all(axis=1)])
    return own


def largest(made: Made) -> str:
    """The column whose effects reach farthest: '“age” moves most, from −3.21 to 2.11.'"""
    name, own = next(iter(curves(made).items()))
    called = f"“{short(' '.join(named(name, own).split()))}”".replace(" ", "\u00a0")
    low, high = (sentences.number(float(end)) for end in (own["effect"].min(), own["effect"].max()))
    return f"{called} moves most, from {low} to {high}."


def named(name: str, own: pd.DataFrame) -> str:
    """A column's name; with the value that it speaks for, where the target has several."""
    return f"{name} → {own['class'].iloc[0]}" if "class" in own else name


def short(name: str) -> str:
    """A column's or feature's name, without its middle where it is long."""
    return sentences.short(name, LONGEST_NAME)


def table(made: Made) -> list[dict[str, str]]:
    """Where each column adds most and least, as texts."""

    def told(row: Any) -> str:
        ends = f" ({sentences.number(row.low)} to {sentences.number(row.high)})" if "low" in row else ""
        return f"{sentences.number(row.effect)}{ends}: {row.piece}, {_share(row.share)} of rows"

    return [
        {
            "Column": named(name, own),
            "Adds most": told(own.iloc[own["effect"].argmax()]),
            "Adds least": told(own.iloc[own["effect"].argmin()]),
        }
        for name, own in curves(made).items()
    ]


def frame(made: Made) -> pd.DataFrame:
    """Every piece of every column; names as a spreadsheet may open them."""
    found = own_table.shapes(made.model, made.labels)
    return found.assign(**found.select_dtypes(exclude="number").map(safe_cell))


def picture(made: Made, before: Made | None = None, *, stale: bool = False) -> Picture:
    """A small picture for each column, the one whose effects reach farthest first; faintly the release before."""
    every = curves(made)
    older = curves(before) if before is not None and before.model.pieces_ is not None else {}
    small = style.on_phone()
    shown = dict(list(every.items())[: ON_PHONE if small else MOST])
    ends = [own[name] for own in shown.values() for name in ("effect", "low", "high") if name in own]
    low, high = (float(end([end(column) for column in ends])) for end in (min, max))
    view = low - 0.08 * (high - low or 1.0), high + 0.08 * (high - low or 1.0)
    pictures = [_small(made, name, own, older.get(name), view, stale) for name, own in shown.items()]
    chart = multiples(pictures, 2, gap=0.45) if small else multiples(pictures, 3)
    told = (
        f"{safe_text(short(name))} from {sentences.number(own.effect.min())} to {sentences.number(own.effect.max())}"
        for name, own in list(shown.items())[:5]
    )
    alt = f"The curves of {len(shown)} columns in the released model. Farthest: {'; '.join(told)}."
    epsilon, delta = sentences.epsilon(made.ask.epsilon), sentences.delta(made.ask.delta)
    return Picture(chart, alt, partial(frame, made), f"Released curves, ε = {epsilon}, δ = {delta}")


def _small(
    made: Made, name: str, own: pd.DataFrame, older: pd.DataFrame | None, view: tuple[float, float], stale: bool
) -> Small:
    """The picture of one column; the mark of missing values stands at the right end of an axis of numbers."""
    column = made.ask.schema.columns[name]
    if isinstance(column, Categories):
        ends, texts = (-0.5, len(own) - 0.5), [safe_label(short(piece)) for piece in own["piece"]]
        places = dict(zip(own["piece"], map(float, range(len(own))), strict=True))
        marked = ticks([*places.values()], texts if len("".join(texts)) <= ROOM[style.on_phone()] else [""] * len(own))
    else:
        low, high = _ends(column, own)
        width, missing = high - low, ["missing"] if "missing" in own["piece"].tolist() else []
        ends = low - BEYOND * width, high + (3 if missing else 1) * BEYOND * width
        places = dict.fromkeys(missing, high + 2 * BEYOND * width)
        texts = (
            [column.low, column.high]
            if isinstance(column, Date)
            else [sentences.minus(f"{end:g}") for end in (low, high)]
        )
        marked = ticks([low, high, *places.values()], [*texts, *("?" for _ in missing)])
    traces = [] if older is None else _traces(older, ends, places, ghost=True)
    traces += _traces(own, ends, places)
    xaxis, yaxis = axis("", ends, showgrid=False, tickangle=0, **marked), axis("", view, nticks=4)
    return Small(safe_label(short(named(name, own))), draws.faint(traces, stale), xaxis, yaxis)


def _ends(column: Number | Date, own: pd.DataFrame) -> tuple[float, float]:
    """Where the axis of numbers ends: at the declared range, or at the outermost ends of pieces."""
    known = column.number if isinstance(column, Date) else column
    inner = own[["from", "to"]].to_numpy().ravel()
    inner = inner[np.isfinite(inner)]
    if not known.is_private:
        return known.low, known.high
    return (inner.min(), inner.max()) if len(set(inner)) > 1 else (0.0, 1.0)


def _traces(
    own: pd.DataFrame, ends: tuple[float, float], places: dict[str, float], ghost: bool = False
) -> list[dict[str, Any]]:
    """Steps over the intervals of numbers, and marks for what is no number."""
    steps, others = own[own["to"].notna()], own[own["to"].isna() & own["piece"].isin(places)]
    x = steps[["from", "to"]].clip(*ends).to_numpy().ravel()
    traces, name = [], "before" if ghost else "released"
    if len(steps):
        twice = steps.loc[steps.index.repeat(2)]
        if "low" in own and not ghost:
            traces.append(band(x, twice["low"], twice["high"], ROLE))
        traces.append(series(name, x, twice["effect"], ROLE, ghost=ghost, **_told(twice)))
    if len(others):
        at = others["piece"].map(places)
        off: dict[str, Any] = {}
        if "low" in own and not ghost:
            low, middle, high = (others[end].to_numpy() for end in ("low", "effect", "high"))
            off = {"error_y": bars(low, middle, high, ROLE, thickness=1.5, width=3)}
        traces.append(marks(name, at, others["effect"], ROLE, 7, ghost=ghost, **_told(others), **off))
    return traces


def _told(pieces: pd.DataFrame) -> dict[str, Any]:
    """What a trace says of its pieces when they are pointed at."""
    told = pieces[["piece", "share"]].assign(piece=pieces["piece"].map(safe_label)).to_numpy()
    hover = "%{customdata[0]}: %{y:.3g}, %{customdata[1]:.0%} of rows"
    return {"hover": hover, "customdata": told, "showlegend": False}


def _share(share: float) -> str:
    return sentences.percent(share, 0) if share >= 0.005 else "under 1 %"
