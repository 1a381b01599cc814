"""A released model: its picture, what it promises, its Python. What they show may be published, so it costs nothing."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from objpert_core._literals import call
from objpert_core._validation import FloatArray
from objpert_core.datasets import Dialect, NumericTarget, safe_cell, safe_label, safe_text
from objpert_core.learning.certificates.objective import ObjectivePerturbationCertificate
from objpert_core.learning.certificates.shown import neighbours_in_words
from pages.own.jobs import Ask, Made
from ui import draws, sentences
from ui.figures import axis, figure, guide, look, series
from ui.page import Picture
from ui.snippets import Verbatim, filled
from ui.words import ACCOUNTANTS, accounted

MOST = 12  # coefficients
ROLE = "tight"
LONGEST_NAME = 26


def weights(made: Made) -> FloatArray:
    """One coefficient a feature."""
    return np.ravel(made.model.coef_)


def by_size(values: FloatArray) -> np.ndarray:
    """The places of the largest coefficients, largest first."""
    return np.argsort(-np.abs(values), kind="stable")[:MOST]


def frame(made: Made) -> pd.DataFrame:
    """Every coefficient; names as a spreadsheet may open them."""
    names = [safe_cell(name) for name in made.names]
    return pd.DataFrame({"feature": names, "coefficient": weights(made)})


def table(made: Made) -> list[dict[str, str]]:
    """The largest coefficients as texts, largest first."""
    values = weights(made)
    order = by_size(values)
    return [{"Feature": made.names[place], "Coefficient": sentences.number(float(values[place]))} for place in order]


def picture(made: Made, before: Made | None = None, *, stale: bool = False) -> Picture:
    """The largest coefficients; hollow those of the release before.

    Parameters
    ----------
    made : Made
    before : Made or None
        Drawn for the features that both have, where both have the same target.
    stale : bool
        Draw it faintly, because it is not what the controls ask for.
    """
    chosen = np.sort(by_size(weights(made)))
    names, values = [made.names[place] for place in chosen], weights(made)[chosen]
    places = np.arange(len(names), dtype=float)
    traces: list[dict[str, Any]] = [guide([0, 0], [-0.5, len(names) - 0.5])]
    edges = [0.0, *values]
    if before is not None and before.ask.schema.target == made.ask.schema.target:
        known = dict(zip(before.names, weights(before), strict=True))
        then = np.array([known.get(name, np.nan) for name in names])
        hollow = {"symbol": f"{look(ROLE).symbol}-open", "size": 10, "color": look(ROLE).color}
        traces.append(series("before", then, places, ROLE, ghost=True, mode="markers", marker=hollow))
        edges += list(then[np.isfinite(then)])
    stems = np.column_stack([np.zeros(len(names)), values, np.full(len(names), np.nan)]).ravel()
    traces.append(series("", stems, np.repeat(places, 3), ROLE, showlegend=False, hoverinfo="skip"))
    dots = series("released", values, places, ROLE, mode="markers", hover="%{customdata}: %{x:.3g}")
    labels = [safe_label(short(name)) for name in names]
    traces.append(dots | {"customdata": np.array(labels, dtype=object)})
    pad = 0.05 * (max(edges) - min(edges)) or 1.0
    chart = figure(
        draws.faint(traces, stale),
        xaxis=axis(_axis(made), (min(edges) - pad, max(edges) + pad)),
        yaxis=draws.places("", labels, (len(names) - 0.5, -0.5)),
        height=130 + 30 * max(len(names), 6),
        legend=False,
        hovermode="closest",
    )
    order = np.argsort(-np.abs(values))[:5]
    listed = "; ".join(f"{safe_text(short(names[k]))} {sentences.number(float(values[k]))}" for k in order)
    alt = f"The {len(names)} largest coefficients of the released model. Largest: {listed}."
    epsilon, delta = sentences.epsilon(made.ask.epsilon), sentences.delta(made.ask.delta)
    return Picture(chart, alt, partial(frame, made), f"Released coefficients, ε = {epsilon}, δ = {delta}")


def _axis(made: Made) -> str:
    target = made.ask.schema.target
    if isinstance(target, NumericTarget):
        return f"coefficient, in units of “{safe_label(short(target.column))}”"
    return f"coefficient, towards “{safe_label(short(target.values[-1]))}”"


def short(name: str) -> str:
    """A column's or feature's name, without its middle where it is long."""
    if len(name) <= LONGEST_NAME:
        return name
    half = LONGEST_NAME // 2
    return f"{name[: half - 1]}…{name[-half:]}"


def largest(made: Made) -> str:
    """The largest coefficient: '“age” weighs most, −3.21.'; the name counts as one word, however it is written."""
    values = weights(made)
    place = int(np.argmax(np.abs(values)))
    called = f"“{short(' '.join(made.names[place].split()))}”".replace(" ", "\u00a0")
    return f"{called} weighs most, {sentences.number(float(values[place]))}."


def certificate(made: Made) -> ObjectivePerturbationCertificate:
    """The certificate, of the one kind that both estimators of the page write."""
    assert isinstance(made.model.privacy_, ObjectivePerturbationCertificate)
    return made.model.privacy_


def promise(made: Made) -> str:
    """The promise of one release."""
    proof = made.model.privacy_
    return sentences.promise(
        proof.epsilon, proof.delta, accountant(made), adjacency=neighbours_in_words(proof.adjacency)
    )


def accountant(made: Made) -> str:
    """What its ε is accounted by."""
    proof = certificate(made)
    noises = [getattr(proof, name, None) for name in ("center_noise", "scale_noise")]
    return accounted(f"{ACCOUNTANTS[proof.bound]} beside the noisy centre and scales", *noises)


def fit_code(ask: Ask) -> str:
    """The same fit to the file; defines ``schema``, ``table`` and ``model``."""
    arguments = {"epsilon": ask.epsilon, "delta": ask.delta}
    chosen = {"public_rows": ask.rows, "random_state": ask.seed}
    arguments |= {name: value for name, value in chosen.items() if value is not None}
    if isinstance(ask.schema.target, NumericTarget):
        estimator, known = "ObjPertRegressor", "target_offset=target.offset, target_scale=target.scale"
    else:
        estimator, known = "ObjPertLogisticRegression", "classes=target.classes"
    if ask.schema.feature_ranges is not None:
        known += ", feature_ranges=schema.feature_ranges"
    marks = {name: value for name in ("delimiter", "decimal", "encoding") if (value := getattr(ask.dialect, name))}
    marks |= {"thousands": ask.dialect.thousands} if ask.dialect.thousands else {}
    usual = ask.dialect == Dialect()
    blanks = {
        "readers": "TableSchema, read_table" if usual else "Dialect, TableSchema, read_table",
        "estimator": estimator,
        "schema": "schema" if usual else f"schema, {call('Dialect', marks)}",
        "model": f"{call(estimator, arguments)[:-1]}, {known})",
    }
    return filled("own", "fit", {name: Verbatim(text) for name, text in blanks.items()})


def use_code(ask: Ask) -> str:
    """The released model on new rows; defines ``rows`` and ``predicted``."""
    row_norm, predicted = 'model["row_norm"]', "scores"
    if ask.schema.feature_ranges is not None:  # none are learned from few rows
        row_norm += ', ranges=model.get("feature_ranges") and np.array(model["feature_ranges"])'
    if not isinstance(ask.schema.target, NumericTarget):
        row_norm, predicted = f"{row_norm}, classes=np.array([0, 1])", 'np.array(model["labels"])[scores]'
    return filled("own", "use", {"row_norm": Verbatim(row_norm), "predicted": Verbatim(predicted)})
