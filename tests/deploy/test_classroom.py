"""What the load test says of its measurements, and that the page says the same."""

import json

from benchmarks.classroom import MARKERS, PAGE, Classroom, as_markdown, summary
from deploy.settings import ROOT


def test_quantiles_are_times_that_were_measured():
    times = [float(i) for i in range(1000)]
    assert summary(times) == {"number": 1000, "median": 500.0, "p95": 950.0, "p99": 990.0, "longest": 999.0}
    assert summary([4.0, 1.0]) == {"number": 2, "median": 4.0, "p95": 4.0, "p99": 4.0, "longest": 4.0}
    assert summary([]) == {"number": 0}


def test_what_was_lost_is_counted_and_told_once():
    room = Classroom("nowhere", 10.0)
    room.lost, room.away = ["bounds: ConnectionError: closed"], [(1.5, True), (2.5, False)]
    notes = room.taken()
    assert (notes["lost"], notes["why"]) == (1, ["bounds: ConnectionError: closed"])
    assert (notes["away"]["number"], notes["away"]["same"]) == (2, 1)
    assert room.taken()["lost"] == 0


def test_the_page_says_what_was_stored():
    stored = json.loads((ROOT / "data" / "results" / "classroom.json").read_text())
    block = PAGE.read_text().partition(MARKERS[0])[2].partition(MARKERS[1])[0]
    assert block.strip() == as_markdown(stored)
    stored["churn"] |= {"lost": 1, "why": ["tuning: ConnectionError: closed"]}
    assert "**Sessions that come and go**, before the class: 2000 in 176 s, 1 lost connection," in as_markdown(stored)
    assert as_markdown(stored).endswith("\n\ntuning: ConnectionError: closed")
