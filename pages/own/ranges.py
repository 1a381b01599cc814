"""How a range that is read off the data moves everybody: the chart that the prediction reveals."""

import numpy as np

from objpert_core._validation import FloatArray
from objpert_core.datasets import Number
from ui import page
from ui.figures import axis, figure, series

ALT = (
    "Each age becomes a feature from −1 to 1. The typed range, 0 to 120, gives one line. A range read off the table "
    "gives a steeper line, and an even steeper one without the 104-year-old."
)


def revealed() -> None:
    ages = np.linspace(18.0, 104.0, 87)
    traces = [
        series("typed: 0 to 120", ages, _scaled(ages, 0, 120), "tight", hover="%{y:.2f}"),
        series("read off, with her", ages, _scaled(ages, 18, 104), "with", hover="%{y:.2f}"),
        series("read off, without her", ages, _scaled(ages, 18, 81), "without", hover="%{y:.2f}"),
    ]
    chart = figure(traces, xaxis=axis("age", (15, 107)), yaxis=axis("feature", (-1.1, 1.1)), height=360)
    page.show(page.Picture(chart, ALT), key="own_try_chart")


def _scaled(ages: FloatArray, low: float, high: float) -> FloatArray:
    """What the reader makes of a number in this range."""
    known = Number(low, high)
    return np.clip((2 * ages - known.low - known.high) / (known.high - known.low), -1.0, 1.0)
