"""The pool under the training page: how many run, who waits, how soon a stop works, what an error becomes."""

import threading
import time
from contextlib import contextmanager
from functools import partial

import pytest
from streamlit.runtime.scriptrunner.script_runner import ScriptRunner

from objpert_core import ConvergenceError
from tests.ui.waiting import Clock, begun, counted, deaf, ended, fifty, noted, raises, until, values
from ui.jobs import JobRunner, QueueFullError
from ui.run_queue import Turns
from ui.warm import warm_up


def test_a_job_runs_and_the_last_value_is_its_result(runners):
    view = ended(runners().submit("a", values(1, 2, 3)))
    assert (view.state, view.latest, view.message, view.ahead) == ("finished", 3, None, 0)
    assert not view.stopping


def test_work_runs_outside_the_callers_thread_and_threads_end_with_the_queue():
    runner = JobRunner()

    def name(should_stop):
        yield threading.current_thread().name

    assert ended(runner.submit("a", name)).latest == "objpert-job"
    assert threading.current_thread().name != "objpert-job"
    until(lambda: runner._threads == 0)


def test_never_more_than_the_cap_at_once(runners):
    runner, seen = runners(workers=2, queue_limit=50), []
    jobs = [runner.submit(f"session {i}", partial(counted, seen)) for i in range(12)]
    assert [ended(job).state for job in jobs] == ["finished"] * 12
    now = most = 0
    for line in seen:
        now += 1 if line == "in" else -1
        most = max(most, now)
    assert most == 2


def test_those_who_wait_know_how_many_are_ahead_and_go_in_order(runners, gates):
    runner, order = runners(workers=1), []
    first = gates()
    running = begun(runner.submit("a", first), first)
    waiting = [runner.submit(name, partial(noted, order, name)) for name in "bcd"]
    assert [job.view().ahead for job in waiting] == [0, 1, 2]
    assert {job.view().state for job in waiting} == {"waiting"}
    assert runner.counts() == (1, 3)
    waiting[0].stop()
    assert waiting[0].view().state == "stopped"
    assert [job.view().ahead for job in waiting[1:]] == [0, 1]
    first.opened.set()
    assert [ended(job).state for job in (running, *waiting[1:])] == ["finished"] * 3
    assert order == ["c", "d"]


def test_a_full_queue_refuses_in_one_sentence_and_recovers(runners, gates):
    runner, first = runners(workers=1, queue_limit=2), gates()
    begun(runner.submit("a", first), first)
    kept = [runner.submit(owner, values(1)) for owner in "bc"]
    with pytest.raises(QueueFullError, match=r"1 jobs .* 2 are waiting.*try again"):
        runner.submit("d", values(1))
    assert runner.counts() == (1, 2)
    kept[0].stop()  # a place is free again
    late = runner.submit("d", values(2))
    first.opened.set()
    assert ended(late).latest == 2


def test_networks_take_turns(runners, gates):
    runner, order, first = runners(workers=1), [], gates()
    begun(runner.submit("a", first, network="many"), first)
    names = ["many 1", "many 2", "many 3", "few 1", "few 2", "one 1"]
    waiting = {name: runner.submit(name, partial(noted, order, name), network=name[:-2]) for name in names}
    expected = ["few 1", "one 1", "many 1", "few 2", "many 2", "many 3"]  # many had the first turn
    assert sorted(names, key=lambda name: waiting[name].view().ahead) == expected
    first.opened.set()
    assert {ended(job).state for job in waiting.values()} == {"finished"}
    assert order == expected


def test_eighteen_sessions_of_one_network_keep_nobody_else_out(runners, gates):
    runner, doors = runners(workers=2), [gates(), gates()]
    for number, door in enumerate(doors):
        begun(runner.submit(f"running {number}", door, network="many"), door)
    crowd = [runner.submit(str(number), values(1), network="many") for number in range(runner.queue_limit)]
    with pytest.raises(QueueFullError):
        runner.submit("one more", values(1), network="many")
    other = runner.submit("other", values(2), network="few")
    assert other.view().ahead == 0
    assert (crowd[-1].view().state, crowd[-2].view().state) == ("failed", "waiting")
    assert "Please try again" in crowd[-1].view().message
    for door in doors:
        door.opened.set()
    assert ended(other).latest == 2
    assert {ended(job).state for job in crowd[:-1]} == {"finished"}


def test_an_owner_in_a_full_queue_may_replace_its_own_job(runners, gates):
    runner, first = runners(workers=1, queue_limit=1), gates()
    begun(runner.submit("a", first), first)
    old = runner.submit("b", values("old"))
    new = runner.submit("b", values("new"))
    assert old.view().state == "stopped"
    assert old.view().latest is None
    first.opened.set()
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


def test_a_stop_shows_as_stopping_until_it_has_taken_effect(runners, gates):
    gate = gates()
    job = runners().submit("a", partial(deaf, gate))
    until(lambda: job.view().latest == 1)
    job.stop()
    assert job.view().stopping
    assert job.view().active
    gate.opened.set()
    view = ended(job)
    assert (view.state, view.latest, view.stopping) == ("stopped", 2, False)


def test_starting_the_next_job_stops_the_owners_previous_one_only(runners, gates):
    runner = runners(workers=2)
    mine, theirs = gates(), gates()
    old, other = begun(runner.submit("me", mine), mine), begun(runner.submit("somebody", theirs), theirs)
    new = runner.submit("me", values(1))
    assert ended(old).state == "stopped"
    assert ended(new).state == "finished"
    assert other.view().state == "running"


def test_a_job_nobody_looks_at_is_stopped_and_one_that_is_looked_at_is_not(runners, gates):
    clock = Clock()
    runner = runners(workers=2, abandoned_after=10.0, clock=clock)
    left, watched = gates(), gates()
    abandoned = begun(runner.submit("left", left), left)
    until(lambda: abandoned.view().latest == 0)
    kept = begun(runner.submit("watched", watched), watched)
    for _ in range(4):
        clock.now += 4.0
        assert kept.view().state == "running"
    until(lambda: runner.counts() == (1, 0))  # nobody had to look for this to happen
    assert ended(abandoned).state == "stopped"
    assert abandoned.view().latest == 0
    assert kept.view().state == "running"


def test_an_abandoned_job_leaves_the_queue(runners, gates):
    clock = Clock()
    runner = runners(workers=1, abandoned_after=10.0, clock=clock)
    first = gates()
    running = begun(runner.submit("a", first), first)
    gone = runner.submit("b", values(1))
    clock.now = 8.0
    running.view()
    last = runner.submit("c", values(1))
    assert last.view().ahead == 1
    clock.now = 11.0
    assert last.view().ahead == 0
    assert gone.view().state == "stopped"


@pytest.mark.parametrize("error", [ValueError("sigma must be > 0"), ConvergenceError("did not reach tau")])
def test_errors_written_for_people_are_passed_on(runners, error, caplog):
    view = ended(runners().submit("a", partial(raises, error)))
    assert (view.state, view.latest, view.message) == ("failed", 1, str(error))
    assert not caplog.text


@pytest.mark.parametrize(("error", "told"), [(KeyError("secret internals"), "KeyError"), (MemoryError(), "memory")])
def test_other_errors_become_one_sentence_and_go_to_the_log(runners, error, told, caplog):
    view = ended(runners().submit("a", partial(raises, error)))
    assert (view.state, view.latest) == ("failed", 1)
    assert told in view.message
    assert "secret" not in view.message
    assert "Traceback" not in view.message
    assert "".join(error.args) in caplog.text


def test_a_failed_job_does_not_take_the_worker_with_it(runners):
    runner = runners(workers=1)
    bad, good = runner.submit("a", partial(raises, RuntimeError("broken"))), runner.submit("b", values(7))
    assert ended(bad).state == "failed"
    assert ended(good).latest == 7


def test_time_counts_from_the_start_and_stands_still_after_the_end(runners, gates):
    clock = Clock()
    runner, gate = runners(clock=clock, workers=1), gates()
    job = begun(runner.submit("a", gate), gate)
    queued = runner.submit("b", values(1))
    clock.now = 3.0
    assert job.view().seconds == 3.0
    assert queued.view().seconds == 0.0
    gate.opened.set()
    assert [ended(job).seconds, ended(queued).seconds] == [3.0, 0.0]
    clock.now = 50.0
    assert [job.view().seconds, queued.view().seconds] == [3.0, 0.0]


@pytest.mark.slow
def test_a_running_job_uses_its_part_of_the_cores_only(gates, monkeypatch):
    """What is asked of the library, which is one for the whole process: others may be asking, too."""
    limits = []

    @contextmanager
    def threadpool_limits(**limit):
        limits.append(limit)
        yield
        limits.remove(limit)

    monkeypatch.setattr("os.cpu_count", lambda: 4)
    monkeypatch.setattr("ui.jobs.threadpool_limits", threadpool_limits)
    for workers in (1, 2, 4, 8):
        runner, gate = JobRunner(workers=workers), gates()
        job = begun(runner.submit("a", gate), gate)
        assert limits == [{"limits": max(1, 4 // workers), "user_api": "blas"}]
        gate.opened.set()
        ended(job)
        until(lambda runner=runner: runner.counts() == (0, 0))
        assert limits == []


def test_the_runner_forgets_a_job_when_it_ends(runners):
    runner = runners()
    job = runner.submit("a", values(1))
    ended(job)
    until(lambda: runner.counts() == (0, 0))
    assert job._work is None


@pytest.mark.thorough
def test_a_storm_of_sessions_leaves_nothing_behind(runners):
    runner = runners(workers=2, queue_limit=1000)
    jobs = []

    def session(name):
        for _ in range(10):
            jobs.append(runner.submit(name, fifty))
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


# Runs take turns: so many at once, in order, and nobody waits for something slow


LONG = 3600.0


class Run(threading.Thread):
    """Waits for its turn, notes that it has come, and ends when it is told to."""

    def __init__(self, turns, order, name):
        super().__init__(daemon=True, name=name)
        self.turns, self.order = turns, order
        self.has_turn, self.may_end = threading.Event(), threading.Event()

    def run(self):
        with self.turns.turn():
            self.order.append(self.name)
            self.has_turn.set()
            self.may_end.wait()


def test_two_at_once_and_the_others_in_the_order_in_which_they_came():
    turns, order = Turns(at_once=2, slow_after=LONG), []
    runs = [Run(turns, order, str(i)) for i in range(5)]
    for number, run in enumerate(runs):
        run.start()
        if number < 2:
            assert run.has_turn.wait(60)
        else:
            until(lambda number=number: len(turns._line) == number - 1)
    assert order == ["0", "1"]
    runs[1].may_end.set()
    assert runs[2].has_turn.wait(60)
    until(lambda: len(turns._line) == 2)
    for run in runs:
        run.may_end.set()
    for run in runs:
        run.join(60)
    assert order == ["0", "1", "2", "3", "4"]


def test_nobody_waits_for_somebody_slow():
    turns, order = Turns(at_once=1, slow_after=0.01), []
    slow, quick = Run(turns, order, "slow"), Run(turns, order, "quick")
    slow.start()
    assert slow.has_turn.wait(60)
    quick.start()
    assert quick.has_turn.wait(60)  # although the slow one has not ended
    for run in (slow, quick):
        run.may_end.set()
        run.join(60)


def test_a_run_that_fails_gives_its_turn_back():
    turns = Turns(at_once=1, slow_after=LONG)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError), turns.turn():
            1 / 0  # noqa: B018


def test_pages_take_turns_with_the_streamlit_that_is_installed():
    warm_up()
    assert ScriptRunner._run_script.__wrapped__.__qualname__ == "ScriptRunner._run_script"
