"""Running many fits: every piece comes back, failures stay single, and a cluster does the same as this machine."""

import io
import os
import sys
from dataclasses import dataclass

import pytest
from threadpoolctl import threadpool_info

from objpert_core.experiments.runner import Outcome, Progress, execute


@dataclass(frozen=True)
class Square:
    number: int
    kind: str = "square"

    def __call__(self):
        if self.number < 0:
            raise ValueError(f"{self.number} is negative")
        return self.number**2


@dataclass(frozen=True)
class Threads:
    kind: str = "threads"

    def __call__(self):
        import numpy as np

        np.ones((2, 2)) @ np.ones((2, 2))
        return [pool["num_threads"] for pool in threadpool_info()]


@dataclass(frozen=True)
class Process:
    number: int
    kind: str = "process"

    def __call__(self):
        return os.getpid()


def squares(outcomes):
    return {outcome.work.number: outcome.result for outcome in outcomes}


def test_every_piece_comes_back():
    outcomes = list(execute([Square(n) for n in range(5)]))
    assert squares(outcomes) == {n: n**2 for n in range(5)}
    assert all(outcome.error is None and outcome.seconds >= 0 for outcome in outcomes)


def test_a_failure_does_not_stop_the_rest():
    outcomes = list(execute([Square(2), Square(-1), Square(3)]))
    assert squares(outcomes) == {2: 4, -1: None, 3: 9}
    assert [outcome.error for outcome in outcomes if outcome.result is None] == ["ValueError: -1 is negative"]


def test_outcomes_come_one_by_one():
    outcomes = execute([Square(n) for n in range(3)])
    assert next(outcomes).result == 0
    outcomes.close()


def test_linear_algebra_has_one_thread():
    (outcome,) = execute([Threads()])
    assert outcome.result  # there is a pool to limit
    assert set(outcome.result) == {1}


@pytest.mark.slow  # starts two interpreters
def test_other_processes_do_the_same():
    outcomes = list(execute([Square(3), Square(-2), Process(0)], jobs=2))
    assert len(outcomes) == 3
    found = squares(outcomes)
    assert (found[3], found[-2]) == (9, None)
    assert found[0] not in (None, os.getpid())


@pytest.mark.slow  # starts a scheduler and two workers
def test_a_dask_cluster_does_the_same():
    distributed = pytest.importorskip("distributed", reason="the Dask backend needs the package distributed")
    work = [*(Square(n) for n in range(6)), Square(-1)]
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None, protocol="inproc"
    ) as cluster:
        outcomes = list(execute(work, backend="dask", scheduler=cluster.scheduler_address))
    assert squares(outcomes) == squares(execute(work))
    assert len(outcomes) == len(work)


def test_dask_without_distributed_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ImportError, match="pip install distributed"):
        list(execute([Square(1)], backend="dask", scheduler="tcp://127.0.0.1:1"))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"jobs": 0}, "jobs must be a whole number >= 1, got 0"),
        ({"backend": "spark"}, "backend must be one of 'loky', 'dask', got 'spark'"),
        ({"backend": "dask"}, "scheduler must be an address"),
        ({"scheduler": "tcp://x:1"}, "scheduler must be .* absent otherwise, got scheduler='tcp://x:1'"),
    ],
)
def test_arguments_are_checked(arguments, says):
    with pytest.raises(ValueError, match=says):
        list(execute([Square(1)], **arguments))


class TestProgress:
    def lines(self, clock_step):
        """Progress over two fast pieces and two slow ones; the clock moves by `clock_step` at every look."""
        work = [Square(1, "fast"), Square(2, "slow"), Square(3, "fast"), Square(4, "slow")]
        now = iter(range(0, 100 * clock_step, clock_step))
        stream = io.StringIO()
        progress = Progress(work, stream, clock=lambda: next(now))
        for piece in work:
            took = {"fast": 1.0, "slow": 9.0}[piece.kind]
            progress.done(Outcome(piece, 0, None, took), lambda outcome: f"square of {outcome.work.number}")
        return stream.getvalue().splitlines()

    def test_it_counts_and_estimates_by_kind_and_pace(self):
        lines = self.lines(clock_step=10)
        assert lines[0] == "[1/4] square of 1"  # nothing known about the slow ones yet
        # 10 s for work of 1 + 9, the same is to come
        assert lines[1] == "[2/4] square of 2; about 10 s left"
        # 20 s for work of 11, 9 to come
        assert lines[2] == "[3/4] square of 3; about 16 s left"
        assert lines[3] == "[4/4] square of 4; about 0 s left"

    def test_long_times_are_in_minutes_and_hours(self):
        assert self.lines(clock_step=600)[1].endswith("about 10 min left")
        assert self.lines(clock_step=6000)[1].endswith("about 1 h 40 min left")
