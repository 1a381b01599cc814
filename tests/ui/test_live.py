"""What pages share that train on a data set: the request and its differences, meters, and charts of draws."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import pytest

from objpert_core.experiments.summary import mean_interval
from ui import draws, live, words


@dataclass(frozen=True)
class Settings:
    epsilon: float = 1.0
    rows: tuple[int, ...] = (1, 2)


@dataclass(frozen=True)
class Request(live.Request[str]):
    def study(self, data, should_stop, tell):
        for fit in range(2):
            tell("fit", fit)
            yield f"{data.name} {fit}"


def test_the_work_tells_where_it_is_and_forgets_it_with_each_fit():
    meter = live.Meter()
    work = Request("breast-cancer", 0, Settings()).work(lambda: False, meter)
    assert meter.now is None
    assert next(work) == "breast-cancer 0"
    assert meter.now is None
    meter.tell("fit", 7)
    assert meter.now == ("fit", 7)
    assert list(work) == ["breast-cancer 1"]


def test_only_what_moved_and_counts_is_named():
    def moved(asked, fields, **more):
        return live.differences(Request("a", 0, Settings()), asked, fields, "see", **more)

    assert moved(Request("a", 0, Settings()), ["epsilon"]) is None
    assert moved(Request("a", 0, Settings(rows=(3,))), ["epsilon"]) is None
    words = moved(Request("b", 2, Settings(epsilon=0.5)), ["epsilon"])
    assert words == (
        "These results are for data set = a (now b), split seed = 0 (now 2), ε = 1 (now 0.5). Press Run to see."
    )
    assert "rows = 2 (now 1)" in moved(Request("a", 0, Settings(rows=(3,))), ["rows"], said=lambda v: len(v))


def test_a_spread_is_the_mean_before_the_draws_and_the_mean():
    values, former = [0.8, 0.9, 0.85, 0.86, 0.84], mean_interval([0.7])
    ghost, dots, mean = draws.spread("tight", 2, "tight", mean_interval(values), values, [4, 5, 6, 7, 8], former)
    assert ghost["meta"]["ghost"]
    assert (list(ghost["y"]), list(dots["y"]), list(dots["customdata"])) == ([0.7], values, [4, 5, 6, 7, 8])
    assert (mean["name"], mean["x"][0]) == ("tight 85.00 %", 2)
    low, high = draws.view([ghost, dots, mean], 0.5)
    assert low < 0.5
    assert high >= mean_interval(values).within()[1]
    assert len(draws.spread("tight", 0, "tight", None, former=mean_interval([0.7]))) == 1
    assert "error_y" not in draws.spread("tight", 0, "tight", mean_interval([0.7]))[0]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0.05, 0.0], "is within the noise of two draws (+2.50 points, 95 % interval −29.27 to +34.27"),
        ([0.02, 0.021, 0.02], ""),
        ([0.0001, -0.0001, 0.0], ""),
        ([0.5], ""),
    ],
)
def test_differences_that_cannot_be_told_from_0(values, expected):
    assert words.unclear(mean_interval(values)) == expected


def test_a_result_that_is_not_there_is_an_error():
    assert words.given(np.float64(0.0)) == 0
    with pytest.raises(ValueError, match="no result yet"):
        words.given(None)


@dataclass(frozen=True)
class Counted(Request):
    def study(self, data, should_stop, tell):
        with LOCK:
            MADE.append(self.split_seed)
            BUSY.append(len(MADE) - len(DONE))
        time.sleep(0.02)
        with LOCK:
            DONE.append(self.split_seed)
        if self.settings.epsilon < 0:
            raise RuntimeError("secret")
        yield f"{data.name} {self.split_seed}"


LOCK, MADE, DONE, BUSY = threading.Lock(), [], [], []


def test_what_takes_a_moment_is_made_once_for_all_who_ask_and_two_at_once():
    asked = [Counted("breast-cancer", seed, Settings()) for seed in (0, 1, 2, 3) * 3]
    with ThreadPoolExecutor(12) as pool:
        (told,) = zip(*pool.map(live.at_once, asked), strict=True)
    assert list(told) == [f"breast-cancer {request.split_seed}" for request in asked]
    assert sorted(MADE) == [0, 1, 2, 3]
    assert max(BUSY) <= 2
    with pytest.raises(ValueError, match=r"An unexpected error occurred in the background \(RuntimeError\)"):
        live.at_once(Counted("breast-cancer", 0, Settings(epsilon=-1.0)))
