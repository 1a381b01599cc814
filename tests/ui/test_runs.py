"""One way to run a job on a page: start, poll, stop, refuse, and forget with the session."""

import threading

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from tests.ui.waiting import until
from ui import jobs, runs
from ui.jobs import JobRunner, JobView


def script():
    import streamlit as st

    from tests.ui.test_runs import GATE, RUNS, work
    from ui import runs

    def results(asked):
        seen = RUNS.look(lambda seen: runs.stage(seen.view, "Loading …", lambda latest: (0.5, f"at {latest}")), outcome)
        if seen is not None:
            st.text(f"{seen.run.request}: {seen.latest}, before: {seen.run.previous}")

    def outcome(view):
        return runs.ended_early(view, "It was stopped.")

    GATE.drawn += 1
    if st.button("Run", key="run"):
        RUNS.start(f"request {GATE.drawn}", work, previous=RUNS.previous())
    RUNS.follow(results, "asked")


class Gate:
    """Lets the work go on; counts the runs of the whole page."""

    def __init__(self):
        self.open, self.drawn, self.error = threading.Event(), 0, None


GATE: Gate = Gate()
RUNS: runs.Runs[int] = runs.Runs("testing")


def work(should_stop):
    yield 1
    while not GATE.open.wait(0.002):
        if should_stop():
            return
    if GATE.error:
        raise GATE.error
    yield 2


@pytest.fixture(autouse=True)
def fresh():
    jobs.shared_runner.cache_clear()
    GATE.__init__()
    yield
    GATE.open.set()
    jobs.shared_runner.cache_clear()


@pytest.fixture
def timers(monkeypatch):
    """What `run_every` the fragments had, in order."""
    found, fragment = [], st.fragment

    def watched(function=None, *, run_every=None):
        found.append(run_every)
        return fragment(function, run_every=run_every)

    monkeypatch.setattr(st, "fragment", watched)
    return found


def opened():
    app = AppTest.from_function(script, default_timeout=20).run()
    assert not app.exception
    return app


def running(app):
    """The page with a run under way that has its first value."""
    app.button(key="run").click().run()
    until(lambda: app.session_state["testing__run"].job.view().latest == 1)
    return app.run()


def ended(app):
    until(lambda: not app.session_state["testing__run"].job.view().active)
    return app.run()


@pytest.mark.slow
def test_it_polls_while_the_run_is_under_way_and_only_then(timers):
    app = opened()
    assert timers == [None]
    running(app)
    assert set(timers[1:]) == {runs.POLL_SECONDS}
    assert app.get("progress")[0].proto.text == "at 1"
    assert app.text[0].value == "request 2: 1, before: None"
    GATE.open.set()
    ended(app)
    assert timers[-1] is None
    assert not app.get("progress")
    assert [button.key for button in app.button] == ["run"]
    assert app.text[0].value == "request 2: 2, before: None"
    assert not app.info


def test_a_poll_that_finds_the_run_ended_draws_the_whole_page_once_more(monkeypatch):
    """Stop, and what else a page has around its results, change when a run ends; and the timer must go."""
    again, drawn = [], []
    monkeypatch.setattr(runs.st, "rerun", lambda: again.append(True))
    monkeypatch.setattr(runs.Runs, "active", property(lambda self: False))
    RUNS._drawn(lambda *asked: drawn.append(asked), True, ("asked",))
    RUNS._drawn(lambda *asked: drawn.append(asked), False, ("asked",))
    assert (again, drawn) == ([True], [("asked",), ("asked",)])


def test_a_failure_is_one_sentence():
    GATE.error = ValueError("lam must be > 0")
    GATE.open.set()
    app = opened()
    app.button(key="run").click().run()
    ended(app)
    assert [error.value for error in app.error] == ["Lam must be > 0."]


def test_a_result_that_is_not_worth_it_leaves_the_ghost_before(monkeypatch):
    class Done:
        def __init__(self, latest):
            self.latest = latest

        def view(self):
            return JobView("stopped", self.latest, None, 0, False, 1.0)

    held = {}
    monkeypatch.setattr(runs.st, "session_state", held)
    assert RUNS.previous() is None
    held["testing__run"] = runs.Run("request", Done(3), previous=7)
    assert (RUNS.previous(), RUNS.previous(lambda result: result > 5)) == (3, 7)
    held["testing__run"] = runs.Run("request", Done(None), previous=7)
    assert RUNS.previous() == 7


@pytest.mark.slow
def test_a_refused_run_is_said_until_the_next_press(monkeypatch):
    full = JobRunner(workers=1, queue_limit=0)
    monkeypatch.setattr(jobs, "shared_runner", lambda: full)
    other = full.submit("somebody else", work)
    app = opened()
    app.button(key="run").click().run()
    assert "The server is busy" in app.error[0].value
    assert "testing__run" not in app.session_state
    assert "The server is busy" in app.run().error[0].value  # a poll does not wipe it away
    other.stop()
    until(lambda: full.counts() == (0, 0))
    app.button(key="run").click().run()
    assert not app.error
    assert "testing__run" in app.session_state


def test_two_kinds_on_one_page_do_not_get_into_each_others_way(monkeypatch):
    monkeypatch.setattr(runs.st, "session_state", held := {})
    one, other = runs.Runs("testing", "one"), runs.Runs("testing", "other")
    one.start("request", work)
    assert (one.active, other.active) == (True, False)
    assert set(held) == {"testing__one", "testing__owner"}
    one.latest().job.stop()


@pytest.mark.parametrize(
    ("state", "latest", "stopping", "expected"),
    [
        ("waiting", None, False, (0.0, "Waiting for a free slot (you are next).")),
        ("running", None, False, (0.0, "Loading …")),
        ("running", None, True, (0.0, "Stopping …")),
        ("running", 0.25, False, (0.25, "a quarter")),
        ("running", 0.25, True, (0.25, "Stopping …")),
        ("running", 1.25, False, (1.0, "a quarter")),
    ],
)
def test_the_stage_of_a_job_in_words(state, latest, stopping, expected):
    view = JobView(state, latest, None, 0, stopping, 1.0)
    assert runs.stage(view, "Loading …", lambda share: (share, "a quarter")) == expected
