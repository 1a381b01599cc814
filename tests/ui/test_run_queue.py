"""Runs take turns: so many at once, in order, and nobody waits for something slow."""

import threading

import pytest
from streamlit.runtime.scriptrunner.script_runner import ScriptRunner

from tests.ui.waiting import until
from ui.run_queue import Turns
from ui.warm import warm_up

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
