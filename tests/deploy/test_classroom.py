"""What the load test says of its measurements, and that the page says the same."""

import json

import pytest

from benchmarks.classroom import mixture
from benchmarks.classroom_people import Classroom, summary
from benchmarks.classroom_report import BLOCK, as_markdown
from deploy.settings import ROOT

STORED = ROOT / "data" / "results" / "classroom.json"
GUIDE = (ROOT / "docs" / "deploying.md").read_text()


def test_quantiles_are_times_that_were_measured_and_two_of_five_people_open_bounds():
    times = [float(i) for i in range(1000)]
    assert summary(times) == {"number": 1000, "median": 500.0, "p95": 950.0, "p99": 990.0, "longest": 999.0}
    assert summary([4.0, 1.0]) == {"number": 2, "median": 4.0, "p95": 4.0, "p99": 4.0, "longest": 4.0}
    assert summary([]) == {"number": 0}
    pages = mixture(list(Classroom.SLIDERS))
    assert (len(pages), pages.count("bounds")) == (5, 2)


def test_the_report_tells_what_was_lost_and_who_was_away():
    room = Classroom("nowhere", ["bounds"], 10.0)
    room.reruns["bounds"], room.loads["bounds"], room.arrivals = [0.1, 0.2], [0.3], [0.4]
    room.lost = [{"page": "bounds", "why": "ConnectionError: closed"}]
    room.away = [{"seconds": 1.5, "same": True}, {"seconds": 2.5, "same": False}]
    memory = [{"seconds": 0, "sessions": 0, "memory": [300, 310]}, {"seconds": 60, "sessions": 9, "memory": [301, 311]}]
    notes = room.taken() | {"seconds": 60.0, "over time": memory}
    text = as_markdown(
        {
            **dict.fromkeys(("command", "commit", "date", "machine"), "told"),
            **dict.fromkeys(("load before", "processes", "people", "every", "open within"), 2),
            "alone": {"bounds": 25.0},
            "rerun alone": 25.0,
            "class": notes | {"cpu": {"apps": 6.0, "nginx": 0.6, "people": 1.2}, "after the kill": notes},
            "churn": notes,
        }
    )
    for told in (
        "**25 ms**",
        "2 reruns, **1 lost connection, no failed rerun**.",
        "\n\nbounds: ConnectionError: closed\n\n",
        "| **rerun, all pages** | 2 | 0.200 | 0.200 | 0.200 | 0.200 |",
        "apps 10 %, nginx 1 %, people 2 %",
        "its 2 people were away for 2.5 s (median), 2.5 s (p95), 2.5 s (longest), and 1 of them came back",
        "9 in 60 s, 1 lost connection, no failed rerun.",
        "| MiB of each process | 300 + 310 | 301 + 311 |",
    ):
        assert told in text


def test_the_page_says_what_was_stored():
    (block,) = BLOCK.findall(GUIDE)
    if not STORED.exists():
        pytest.skip("the load test has not been run yet: python -m benchmarks.classroom")
    assert block.strip() == as_markdown(json.loads(STORED.read_text())).strip()
