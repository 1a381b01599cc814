"""Imports what is slow to import once, and keeps the garbage collector from walking over it after every run.

Streamlit forces a full collection after each script run. With scikit-learn, scipy, pandas and plotly loaded that takes
tens of milliseconds, several times what a page takes to rerun. `warm_up` loads them, builds one figure so that plotly's
lazily imported validators are there too, and moves everything so far to the permanent generation with `gc.freeze`.
It runs once per process, whichever page is opened first.
"""

from __future__ import annotations

import gc
import threading

import numpy as np
import pandas as pd
import plotly.io
import scipy.optimize
import scipy.special
import scipy.stats
import sklearn.linear_model
import sklearn.metrics  # noqa: F401

import objpert_core.accounting  # noqa: F401
from ui import figures

_lock = threading.Lock()
_done = False


def warm_up() -> None:
    """Load, build one figure, freeze; every further call returns at once."""
    global _done
    with _lock:
        if _done:
            return
        points = np.linspace(0.1, 1.0, 3)
        chart = figures.figure(
            [figures.series("warm", points, points, "logistic"), figures.band(points, points, points, "logistic")],
            xaxis=figures.axis("x", (0, 1)),
            yaxis=figures.axis("y", (0.1, 1), log=True),
        )
        plotly.io.to_json(chart, validate=False)
        pd.DataFrame({"x": points}).to_csv(index=False)
        scipy.special.ndtr(points), scipy.stats.norm.ppf(0.5), scipy.optimize.brentq(lambda x: x, -1, 1)
        gc.collect()
        gc.freeze()
        _done = True
