"""What the load test says of its measurements."""

import math

import pytest

from benchmarks.classroom import mixture
from benchmarks.classroom_people import Classroom
from benchmarks.classroom_report import as_markdown, quantiles


def test_quantiles_are_times_that_were_measured():
    assert quantiles([4.0, 1.0, 3.0, 2.0]) == (3.0, 4.0, 4.0)
    assert quantiles([float(i) for i in range(1000)]) == (500.0, 950.0, 990.0)
    assert all(math.isnan(value) for value in quantiles([]))


def test_two_of_five_people_open_bounds():
    pages = mixture(list(Classroom.SLIDERS))
    assert (len(pages), pages.count("bounds")) == (5, 2)


@pytest.mark.parametrize("killed", [None, 30.0])
def test_the_report_tells_what_was_lost_and_who_was_away(killed):
    lost = [{"page": "bounds", "why": "ConnectionError: closed"}]
    notes = {
        "seconds": 60.0, "reruns": [0.1, 0.2], "reruns by page": {"bounds": [0.1, 0.2]}, "loads": {"bounds": [0.3]},
        "arrivals": [0.4], "lost": lost, "failed": [], "killed after": killed,
        "away": [{"seconds": 1.5, "same": True}, {"seconds": 2.5, "same": False}],
        "cpu": {"apps": 6.0, "nginx": 0.6, "people": 1.2},
        "over time": [{"seconds": 0.0, "memory": [300.0, 310.0]}],
    }  # fmt: skip
    text = as_markdown(
        {"command": "x", "commit": "y", "date": "z", "machine": "m", "load before": 0.0, "processes": 2, "people": 3,
         "every": 10.0, "open within": 60.0, "alone": {"bounds": 25.0}, "rerun alone": 25.0, "class": notes}
    )  # fmt: skip
    assert "**25 ms**" in text
    assert "2 reruns, **1 lost connections**, 0 reruns that failed." in text
    assert "Lost: bounds, ConnectionError: closed" in text
    assert "| **rerun, all pages** | 2 | 0.200 | 0.200 | 0.200 | 0.200 |" in text
    assert "apps 10 %, nginx 1 %, people 2 %" in text
    assert ("1 of 2 came back to the same sliders and answer" in text) == (killed is not None)
