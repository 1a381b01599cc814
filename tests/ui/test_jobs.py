"""The pool under the training page: how many run, who waits, how soon a stop works, what an error becomes."""

import threading
import time

import pytest
import scipy.linalg  # noqa: F401  (loads the BLAS library that a test counts the threads of)
from threadpoolctl import threadpool_info

from objpert_core import ConvergenceError
from tests.ui.waiting import ended, until
from ui.jobs import JobRunner, QueueFullError


class Gate:
    """Work that yields 0, 1, 2 … and goes on only while it is let through."""

    def __init__(self):
        self.open = threading.Event()
        self.started = threading.Event()

    def __call__(self, should_stop):
        self.started.set()
        yield 0
        while not self.open.wait(0.002):
            if should_stop():
                return
        yield 1


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def gates():
    made = []

    def make():
        made.append(Gate())
        return made[-1]

    yield make
    for gate in made:
        gate.open.set()


def test_a_job_runs_and_the_last_value_is_its_result():
    runner = JobRunner()
    view = ended(runner.submit("a", lambda should_stop: iter([1, 2, 3])))
    assert (view.state, view.latest, view.message, view.ahead) == ("finished", 3, None, 0)
    assert not view.stopping


def test_work_runs_outside_the_callers_thread_and_threads_end_with_the_queue():
    runner = JobRunner()

    def name(should_stop):
        yield threading.current_thread().name

    assert ended(runner.submit("a", name)).latest == "objpert-job"
    assert threading.current_thread().name != "objpert-job"
    until(lambda: runner._threads == 0)


def test_never_more_than_the_cap_at_once():
    runner = JobRunner(workers=2, queue_limit=50)
    lock, now, most = threading.Lock(), [0], [0]

    def work(should_stop):
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        time.sleep(0.01)
        yield 1
        with lock:
            now[0] -= 1

    jobs = [runner.submit(f"session {i}", work) for i in range(12)]
    assert [ended(job).state for job in jobs] == ["finished"] * 12
    assert most[0] == 2


def test_those_who_wait_know_how_many_are_ahead_and_go_in_order(gates):
    runner = JobRunner(workers=1)
    first, order = gates(), []
    running = runner.submit("a", first)
    until(first.started.is_set)

    def note(name):
        def work(should_stop):
            order.append(name)
            yield name

        return work

    waiting = [runner.submit(name, note(name)) for name in "bcd"]
    assert [job.view().ahead for job in waiting] == [0, 1, 2]
    assert {job.view().state for job in waiting} == {"waiting"}
    assert runner.counts() == (1, 3)
    waiting[0].stop()
    assert waiting[0].view().state == "stopped"
    assert [job.view().ahead for job in waiting[1:]] == [0, 1]
    first.open.set()
    assert [ended(job).state for job in (running, *waiting[1:])] == ["finished"] * 3
    assert order == ["c", "d"]


def test_a_full_queue_refuses_in_one_sentence_and_recovers(gates):
    runner = JobRunner(workers=1, queue_limit=2)
    first = gates()
    runner.submit("a", first)
    until(first.started.is_set)
    kept = [runner.submit(owner, lambda should_stop: iter([1])) for owner in "bc"]
    with pytest.raises(QueueFullError, match=r"1 jobs .* 2 are waiting.*try again"):
        runner.submit("d", lambda should_stop: iter([1]))
    assert runner.counts() == (1, 2)
    kept[0].stop()  # a place is free again
    late = runner.submit("d", lambda should_stop: iter([2]))
    first.open.set()
    assert ended(late).latest == 2


def test_an_owner_in_a_full_queue_may_replace_its_own_job(gates):
    runner = JobRunner(workers=1, queue_limit=1)
    first = gates()
    runner.submit("a", first)
    until(first.started.is_set)
    old = runner.submit("b", lambda should_stop: iter(["old"]))
    new = runner.submit("b", lambda should_stop: iter(["new"]))
    assert old.view().state == "stopped"
    assert old.view().latest is None
    first.open.set()
    assert ended(new).latest == "new"


def test_stop_takes_effect_at_the_next_question_and_keeps_what_there_is():
    runner, asked_late = JobRunner(), []

    def work(should_stop):
        done = 0
        while not should_stop():
            if stopped:
                asked_late.append(done)
            time.sleep(0.001)  # a solver iteration
            done += 1
            if done % 5 == 0:
                yield done

    stopped = []
    job = runner.submit("a", work)
    until(lambda: job.view().latest is not None)
    job.stop()
    stopped.append(True)
    view = ended(job)
    assert len(asked_late) <= 1  # a question that was on its way when the answer changed
    assert view.state == "stopped"
    assert view.latest >= 5


def test_a_stop_shows_as_stopping_until_it_has_taken_effect(gates):
    runner = JobRunner()
    go_on = threading.Event()

    def deaf(should_stop):
        yield 1
        go_on.wait(5)
        yield 2
        raise AssertionError("must not be asked for a third value")

    job = runner.submit("a", deaf)
    until(lambda: job.view().latest == 1)
    job.stop()
    assert job.view().stopping
    assert job.view().active
    go_on.set()
    view = ended(job)
    assert (view.state, view.latest, view.stopping) == ("stopped", 2, False)


def test_starting_the_next_job_stops_the_owners_previous_one_only(gates):
    runner = JobRunner(workers=3)
    mine, theirs = gates(), gates()
    old, other = runner.submit("me", mine), runner.submit("somebody", theirs)
    until(lambda: mine.started.is_set() and theirs.started.is_set())
    new = runner.submit("me", lambda should_stop: iter([1]))
    assert ended(old).state == "stopped"
    assert ended(new).state == "finished"
    assert other.view().state == "running"


def test_a_job_nobody_looks_at_is_stopped_and_one_that_is_looked_at_is_not(gates):
    clock = Clock()
    runner = JobRunner(workers=2, abandoned_after=10.0, clock=clock)
    left, watched = gates(), gates()
    abandoned, kept = runner.submit("left", left), runner.submit("watched", watched)
    until(lambda: left.started.is_set() and watched.started.is_set())
    for _ in range(4):
        clock.now += 4.0
        assert kept.view().state == "running"
    until(lambda: runner.counts() == (1, 0))  # nobody had to look for this to happen
    assert ended(abandoned).state == "stopped"
    assert abandoned.view().latest == 0
    assert kept.view().state == "running"


def test_an_abandoned_job_leaves_the_queue(gates):
    clock = Clock()
    runner = JobRunner(workers=1, abandoned_after=10.0, clock=clock)
    first = gates()
    running = runner.submit("a", first)
    until(first.started.is_set)
    gone = runner.submit("b", lambda should_stop: iter([1]))
    clock.now = 8.0
    running.view()
    last = runner.submit("c", lambda should_stop: iter([1]))
    assert last.view().ahead == 1
    clock.now = 11.0
    assert last.view().ahead == 0
    assert gone.view().state == "stopped"


@pytest.mark.parametrize("error", [ValueError("sigma must be > 0"), ConvergenceError("did not reach tau")])
def test_errors_written_for_people_are_passed_on(error):
    def work(should_stop):
        yield 1
        raise error

    view = ended(JobRunner().submit("a", work))
    assert (view.state, view.latest, view.message) == ("failed", 1, str(error))


def test_other_errors_become_one_sentence_and_go_to_the_log(caplog):
    def work(should_stop):
        yield 1
        raise KeyError("secret internals")

    view = ended(JobRunner().submit("a", work))
    assert view.state == "failed"
    assert "KeyError" in view.message
    assert "secret" not in view.message
    assert "Traceback" not in view.message
    assert "secret internals" in caplog.text


def test_no_memory_has_its_own_advice():
    def work(should_stop):
        raise MemoryError
        yield

    assert "memory" in ended(JobRunner().submit("a", work)).message


def test_a_failed_job_does_not_take_the_worker_with_it():
    runner = JobRunner(workers=1)

    def broken(should_stop):
        raise RuntimeError("broken")
        yield

    bad, good = runner.submit("a", broken), runner.submit("b", lambda should_stop: iter([7]))
    assert ended(bad).state == "failed"
    assert ended(good).latest == 7


def test_time_counts_from_the_start_and_stands_still_after_the_end():
    clock = Clock()
    runner = JobRunner(clock=clock, workers=1)
    gate = Gate()
    job = runner.submit("a", gate)
    until(gate.started.is_set)
    queued = runner.submit("b", lambda should_stop: iter([1]))
    clock.now = 3.0
    assert job.view().seconds == 3.0
    assert queued.view().seconds == 0.0
    gate.open.set()
    assert ended(job).seconds == 3.0
    clock.now = 50.0
    assert job.view().seconds == 3.0
    assert ended(queued).seconds == 0.0


@pytest.mark.slow
def test_a_running_job_uses_its_part_of_the_cores_only(gates, monkeypatch):
    monkeypatch.setattr("ui.jobs.os.cpu_count", lambda: 4)

    def blas():
        return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

    before = blas()
    for workers in (1, 2, 4, 8):
        runner = JobRunner(workers=workers)
        gate = gates()
        job = runner.submit("a", gate)
        until(gate.started.is_set)
        assert set(blas()) == {max(1, 4 // workers)}
        gate.open.set()
        ended(job)
        until(lambda runner=runner: runner.counts() == (0, 0))
        assert blas() == before


def test_the_runner_forgets_a_job_when_it_ends():
    runner = JobRunner()
    job = runner.submit("a", lambda should_stop: iter([1]))
    ended(job)
    until(lambda: runner.counts() == (0, 0))
    assert job._work is None


def test_a_storm_of_sessions_leaves_nothing_behind():
    runner = JobRunner(workers=2, queue_limit=1000)

    def work(should_stop):
        for i in range(50):
            if should_stop():
                return
            yield i
            time.sleep(0)

    jobs = []

    def session(name):
        for _ in range(10):
            jobs.append(runner.submit(name, work))
            jobs[-1].view()

    sessions = [threading.Thread(target=session, args=(str(i),)) for i in range(10)]
    for thread in sessions:
        thread.start()
    for thread in sessions:
        thread.join()
    states = [ended(job).state for job in jobs]
    assert set(states) <= {"finished", "stopped"}
    assert states.count("finished") >= 1
    until(lambda: runner.counts() == (0, 0) and runner._threads == 0)
