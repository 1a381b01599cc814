"""The training page's pictures: pure functions from a comparison to a figure, its numbers and its alt text."""

import math
import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from objpert_core.evaluation import TwoClasses
from objpert_core.experiments.compare import ROC_GRID, Comparison, Fit
from objpert_core.experiments.learners import COMPARABLE, NON_PRIVATE
from pages.training import pixels
from pages.training.tables import frame, provenance
from pages.training.words import LABELS, majority
from ui import draws, sentences
from ui.figures import axis, figure, guide, look, of_learner, series, translucent
from ui.page import Picture
from ui.words import accuracy as percent

ROLE = {name: of_learner(name) for name in COMPARABLE}
_ROC_CORNER = ((0.0, 0.3), (0.7, 1.0))
_LONGEST_LABEL = 30
FEW, MANY = 5, 12  # coefficients
BESIDE = 230  # pixels of the small pictures under the stage
_WIDEST_LINE = 12  # characters of a name under its dots
_MARGIN = {"l": 8, "r": 28, "t": 8, "b": 8}  # room on the right for half a tick label


def accuracy(
    comparison: Comparison, previous: Comparison | None = None, *, close_up: bool = False, stale: bool = False
) -> Picture:
    """Every draw as a faint dot, each method's mean with its 95 % interval, and the majority class as a line.

    Ghosts show `previous` on the same data; a `close_up` ends at the lowest draw instead of at the majority class; what
    is `stale` is faint, because the controls have moved on.
    """
    traces: list[dict[str, Any]] = []
    methods, former = comparison.settings.methods, _ghost(previous, comparison)
    for place, method in enumerate(methods):
        scores, mean = comparison.evaluation(method), comparison.accuracy(method)
        fits = comparison.of(method) if method != NON_PRIVATE and scores is None else ()
        values, seeds = [fit.accuracy for fit in fits], [fit.seed for fit in fits]
        old = former.accuracy(method) if former else None
        told = None if scores is None else scores.accuracy()
        spread = draws.spread(LABELS[method], place, ROLE[method], mean, values, seeds, old, told)
        traces += [trace | {"showlegend": False} for trace in spread]  # the axis names them
    view = draws.view(traces, *(() if close_up and comparison.fits else (comparison.baseline,)))
    ends = (-0.5, len(methods) - 0.5)
    always = f"always “{majority(comparison)}” {percent(comparison.baseline)}"
    if view[0] <= comparison.baseline <= view[1]:
        traces.append(guide(ends, [comparison.baseline] * 2, name=always) | {"showlegend": True})
    labels = [_named(comparison, method) for method in methods]
    chart = figure(
        draws.faint(traces, stale),
        xaxis=draws.places(_on(comparison, _target(comparison)), labels, ends),
        yaxis=axis("test accuracy", view, tickformat=".1%"),
        height=_height(comparison) - BESIDE + 80,  # other pictures of the same models stand below it
        hovermode="closest",
    )
    words = [f"{LABELS[m]} {percent(c.mean)}" for m in methods if (c := comparison.accuracy(m))]
    words.append(f"majority class {percent(comparison.baseline)}")
    alt = f"Test accuracy on {comparison.data.label}: {', '.join(words)}."
    return Picture(chart, alt, lambda: frame(comparison))


def _named(comparison: Comparison, method: str) -> str:
    """A method under its dots: its name on short lines, and what it reaches."""
    reached = comparison.accuracy(method)
    short = LABELS[method].removeprefix("Algorithm 1 with ").removeprefix("the ")
    name = textwrap.wrap(short, _WIDEST_LINE, break_long_words=False)
    exact = ", exact" if comparison.settings.publishable and method == NON_PRIVATE else ""
    return "<br>".join([*name, f"{percent(reached.mean)}{exact}" if reached else "not trained yet"])


def roc(
    comparison: Comparison,
    previous: Comparison | None = None,
    *,
    corner: bool = False,
    small: bool = False,
    stale: bool = False,
) -> Picture:
    """The mean ROC curve of each method; `corner` shows the few false and many true positives only.

    A `small` one stands under the stage, where the accuracies name the methods.
    """
    traces = [guide([0, 1], [0, 1], name="guessing")]
    columns: dict[str, Any] = {**provenance(comparison.data), "false_positive_rate": ROC_GRID}
    words, former = [], _ghost(previous, comparison)
    for method in comparison.settings.methods:
        if former is not None and (old := former.roc(method)) is not None:
            traces.append(series(f"{LABELS[method]}, before", ROC_GRID, old, ROLE[method], ghost=True))
        curve, area = comparison.roc(method), comparison.auc(method)
        if curve is None or area is None:
            continue
        scores, told = comparison.evaluation(method), f"{area.mean:.3f}"
        if isinstance(scores, TwoClasses):
            told = str(scores.auc())
        name = f"{LABELS[method]} (AUC {told})"
        traces.append(series(name, ROC_GRID, curve, ROLE[method], hover="%{y:.1%}"))
        columns[f"true_positive_rate, {method}"] = curve
        words.append(f"{LABELS[method]} {told}")
    across, up = _ROC_CORNER if corner else ((0.0, 1.0), (0.0, 1.0))
    xaxis = axis(_on(comparison, "false positive rate"), across, tickformat=".0%")
    yaxis = axis("true positive rate", up, tickformat=".0%")
    chart = figure(
        draws.faint(traces, stale),
        xaxis,
        yaxis,
        height=BESIDE if small else _height(comparison),
        legend=not small,
        margin=_MARGIN,
    )
    classes = len(comparison.data.classes)
    each = f" (mean of {classes}, each class against the rest)" if classes > 2 else ""
    alt = f"Mean ROC curves on {comparison.data.label}{each}; area under them: {', '.join(words)}."
    return Picture(chart, alt, lambda: columns)


def coefficients(
    comparison: Comparison, previous: Comparison | None = None, *, small: bool = False, stale: bool = False
) -> Picture:
    """The largest coefficients of the first model beside the others': mean over the draws, line from least to most.

    A `small` one has fewer, and stands under the stage, where the accuracies name the methods. Those of more than two
    classes are images.
    """
    if len(comparison.data.classes) > 2:
        return pixels.images(comparison, height=BESIDE + 70 if small else 430, stale=stale)
    count = FEW if small else MANY
    chosen, methods = comparison.largest_coefficients(count), comparison.settings.methods
    former = _ghost(previous, comparison)
    names = [comparison.data.feature_names[column] for column in chosen]
    table: dict[str, Any] = {**provenance(comparison.data), "feature": names}
    traces: list[dict[str, Any]] = [guide([0, 0], [-0.5, len(names) - 0.5])]
    edges = [0.0]
    for place, method in enumerate(methods):
        fits = comparison.of(method)
        if not fits:
            continue
        values = np.array([fit.coef[chosen] for fit in fits])
        places = np.arange(len(names)) + (0.75 / len(methods)) * (place - (len(methods) - 1) / 2)
        low, mean, high = values.min(axis=0), values.mean(axis=0), values.max(axis=0)
        if former is not None and method != NON_PRIVATE and (old := former.of(method)):
            was = np.mean([fit.coef[chosen] for fit in old], axis=0)
            hollow = {"symbol": f"{look(ROLE[method]).symbol}-open", "size": 8, "color": look(ROLE[method]).color}
            name = f"{LABELS[method]}, before"
            traces.append(series(name, was, places, ROLE[method], ghost=True, mode="markers", marker=hollow))
            edges += [was.min(), was.max()]
        if method != NON_PRIVATE:
            gaps = np.full(len(names), np.nan)
            across = np.column_stack([low, high, gaps]).ravel()
            traces.append(series("", across, np.repeat(places, 3), ROLE[method], showlegend=False, hoverinfo="skip"))
            traces[-1]["line"] = {**traces[-1]["line"], "dash": "solid", "width": 1.5}
            table |= {f"{method}, least": low, f"{method}, most": high}
        hover = "%{customdata}: %{x:.3g}"
        points = series(LABELS[method], mean, places, ROLE[method], mode="markers", hover=hover)
        traces.append(points | {"customdata": np.array(names, dtype=object)})
        table[f"{method}, mean"] = mean
        edges += [low.min(), high.max()]
    pad = 0.05 * (max(edges) - min(edges)) or 1.0
    labels = [sentences.short(name, _LONGEST_LABEL) for name in names]
    title = _on(comparison, "coefficient").replace(" (", "<br>(")  # on a telephone the names leave it little room
    chart = figure(
        draws.faint(traces, stale),
        xaxis=axis(title, (min(edges) - pad, max(edges) + pad)),
        yaxis=draws.places("", labels, (len(names) - 0.5, -0.5)),
        margin=_MARGIN,
        height=BESIDE if small else 90 + max(38, 11 * len(methods)) * max(len(names), 3),
        legend=not small,
        hovermode="closest",
    )
    share, main = comparison.kept(chosen), comparison.settings.main
    whose = "non-private" if NON_PRIVATE in methods else LABELS[methods[0]]
    beside = ", the private ones beside them" if NON_PRIVATE in methods else ", the others' beside them"
    alt = f"The {len(names)} largest {whose} coefficients on {comparison.data.label}{beside}"
    if share is not None and main is not None:
        alt += f"; those of the model “{LABELS[main]}” are on average {sentences.percent(share, 0)} as large"
    alt += "."
    return Picture(chart, alt, lambda: table)


def gradient_norms(comparison: Comparison, *, stale: bool = False) -> Picture:
    """The gradient's norm by solver iteration, the first draw in full, the others faintly, and each method's τ.

    DP-SGD takes a fixed number of steps and has no such norm to reach; it is left out.
    """
    traces: list[dict[str, Any]] = []
    edges: list[float] = []
    steps = 1
    words = []
    for method in comparison.settings.private:
        fits = comparison.of(method)
        if not fits or not fits[0].gradient_norms:
            continue
        shape, tau = look(ROLE[method]), _tau(fits[0])
        if len(fits) > 1:
            x, y = _joined(fits[1:])
            traces.append(series("", x, y, ROLE[method], showlegend=False, hoverinfo="skip"))
            traces[-1]["line"] = {"color": translucent(shape.color, 0.3), "dash": "solid", "width": 1}
        first = np.array(fits[0].gradient_norms)
        name = f"{LABELS[method]}, noise seed {fits[0].seed}"
        hover = "iteration %{x}: %{y:.2e}"
        traces.append(series(name, np.arange(len(first)), first, ROLE[method], mode="lines+markers", hover=hover))
        steps = max(steps, *(len(fit.gradient_norms) - 1 for fit in fits))
        edges += [tau, *(norm for fit in fits for norm in fit.gradient_norms)]
        label = f"τ = {sentences.scientific(tau)} ({LABELS[method]})"
        line = {"color": shape.color, "dash": "dot", "width": 1.5}
        traces.append(series(label, [0, 1000], [tau, tau], ROLE[method], hoverinfo="skip", line=line))
        words.append(f"{LABELS[method]} reaches τ = {sentences.scientific(tau)} in {len(first) - 1} iterations")
    low, high = (min(edges), max(edges)) if edges else (1e-6, 1.0)
    low = max(low, 1e-12)  # a gradient of exactly zero has no place on a log axis
    xaxis = axis(_on(comparison, "solver iteration"), (-0.3, steps + 0.3))
    yaxis = axis("gradient norm ‖∇‖₂", (10 ** math.floor(math.log10(low)), 3 * high), log=True)
    chart = figure(draws.faint(traces, stale), xaxis, yaxis, height=_height(comparison), hovermode="closest")
    alt = f"Gradient norm by iteration on {comparison.data.label}: {'; '.join(words) or 'no such method was run'}."
    return Picture(chart, alt, lambda: _norms_frame(comparison))


def _norms_frame(comparison: Comparison) -> pd.DataFrame:
    where = provenance(comparison.data)
    columns = ["method", "noise_seed", "iteration", "gradient_norm", "tau"]
    rows = [
        {**where, **dict(zip(columns, (fit.method, fit.seed, step, norm, _tau(fit)), strict=True))}
        for fit in comparison.fits
        for step, norm in enumerate(fit.gradient_norms)
    ]
    return pd.DataFrame(rows, columns=[*where, *columns])


def _tau(fit: Fit) -> float:
    """The gradient norm that the proof of a fit asks for; of a certificate that has one."""
    return float(fit.privacy.tau)  # type: ignore[union-attr]


def _joined(fits: Sequence[Fit]) -> tuple[np.ndarray, np.ndarray]:
    """Several traces as one, with gaps between them."""
    x = np.concatenate([[*range(len(fit.gradient_norms)), np.nan] for fit in fits])
    return x, np.concatenate([[*fit.gradient_norms, np.nan] for fit in fits])


def _ghost(previous: Comparison | None, comparison: Comparison) -> Comparison | None:
    """The earlier comparison if it is another one on the same rows."""
    if previous is None or previous is comparison:
        return None
    old, new = previous.data, comparison.data
    return previous if (old.name, old.split_seed) == (new.name, new.split_seed) else None


def _on(comparison: Comparison, title: str) -> str:
    """An axis title with the data set under it: a picture that leaves the page still says if its rows stand in."""
    return f"{title}<br>on {comparison.data.label}"


def _height(comparison: Comparison) -> int:
    """Pixels: on a telephone the legend has a line for each method, and the picture keeps its room."""
    return 430 + 20 * max(0, len(comparison.settings.methods) - 3)


def _target(comparison: Comparison) -> str:
    settings = comparison.settings
    return f"ε = {sentences.epsilon(settings.epsilon)}, δ = {sentences.delta(settings.delta)}"
