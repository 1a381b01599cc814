"""Comparisons with made-up accuracies, and what is drawn of one; every picture of the page."""

from dataclasses import replace

import numpy as np

from objpert_core.experiments.learners import NON_PRIVATE, PUBLISHED, TIGHT
from pages.training import charts as training
from tests.plotted import decode

DRAWINGS = [training.accuracy, training.roc, training.coefficients, training.gradient_norms]


def made_up(last, epsilon=1.0, baseline=0.75, **accuracies):
    """A comparison with these accuracies instead of the measured ones."""
    names = {"reference": NON_PRIVATE, "published": PUBLISHED, "tight": TIGHT}
    fits = []
    for key, values in accuracies.items():
        like = last.of(names[key])[0]
        fits += [replace(like, accuracy=value) for value in np.atleast_1d(values)]
    return replace(last, settings=replace(last.settings, epsilon=epsilon), baseline=baseline, fits=tuple(fits))


def drawn(picture, name):
    """(x, y) of the first trace whose name begins so."""
    trace = next(t for t in picture.figure.to_plotly_json()["data"] if t["name"].startswith(name))
    return decode(trace["x"]), decode(trace["y"]), trace
