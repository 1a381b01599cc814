"""`python -m benchmarks.experiments` as people type it: work is stored piece by piece and goes on where it stopped."""

import math
import os
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from benchmarks.experiments.__main__ import main
from benchmarks.experiments.runner import attempt, execute
from objpert_core.exceptions import DataUnavailableError
from objpert_core.experiments import figure2, measure
from objpert_core.experiments.measure import measured
from objpert_core.experiments.results import read


@pytest.fixture
def out(tmp_path):
    return tmp_path / "figure2.csv"


def figure(out, *more, methods=("published", "tight"), epsilons=("1",), trials=2):
    what = ["--dataset", "digits-4-9", "--methods", *methods, "--epsilons", *epsilons, "--trials", str(trials)]
    return main(["figure2", *what, "--out", str(out), *more])


def test_a_sweep_stores_and_reports(out, capsys):
    assert figure(out, "--note", "two trials", methods=("non-private", "tight")) == 0
    said = capsys.readouterr()
    lines = said.err.splitlines()
    assert lines[0] == "figure2: 4 of 4 pieces to do"
    assert len(lines) == 5
    assert lines[2].startswith("[2/4] method tight, epsilon 1.0, trial 0: ")
    assert said.out.startswith("Test accuracy against ε")
    found = read(out)
    assert [run.key for run in found.runs] == [
        (*one, trial) for trial in range(2) for one in (("non-private", math.inf), ("tight", 1.0))
    ]
    (session,) = found.sessions
    assert session["command"].startswith("python -m benchmarks.experiments figure2 --dataset digits-4-9 --m")
    assert session["note"] == "two trials"
    assert figure(out, "--report", trials=1) == 0
    assert capsys.readouterr().out == said.out


@pytest.mark.thorough
def test_the_same_command_goes_on_and_a_method_can_be_done_again(out, capsys):
    for trials, more, says in (
        (1, (), "2 of 2"),
        (2, (), "2 of 4"),
        (2, (), "0 of 4"),
        (2, ("--redo", "tight"), "2 of 4"),
        (3, ("--pieces", "1"), "1 of 6"),
    ):
        assert figure(out, *more, trials=trials) == 0
        assert capsys.readouterr().err.startswith(f"figure2: {says} pieces to do")
    assert len(read(out).runs) == 5


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--epsilons", "0"], "epsilons must be a finite number > 0, got 0.0"),
        (["--trials", "0"], "trials must be a whole number >= 1, got 0"),
        (["--jobs", "0"], "jobs must be a whole number >= 1, got 0"),
    ],
)
def test_bad_values_are_named_in_one_sentence(out, capsys, arguments, says):
    assert main(["figure2", "--dataset", "digits-4-9", "--out", str(out), *arguments]) == 2
    (line,) = [line for line in capsys.readouterr().err.splitlines() if line.startswith("error: ")]
    assert says in line
    assert not out.exists() or read(out).runs == ()


@pytest.mark.parametrize("arguments", [["figure2"], ["figure2", "--dataset", "mnist"], ["figure9"], []])
def test_nonsense_shows_the_usage(arguments, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    assert "usage: python -m benchmarks.experiments" in capsys.readouterr().err


def test_an_interrupted_sweep_says_that_it_can_go_on_and_goes_on(out, capsys, monkeypatch):
    original, calls = figure2.fit, []

    def interrupted(*arguments):
        calls.append(arguments)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return original(*arguments)

    monkeypatch.setattr(figure2, "fit", interrupted)
    assert figure(out) == 130
    assert "the same command goes on" in capsys.readouterr().err
    (before,) = read(out).runs
    assert figure(out) == 0
    assert capsys.readouterr().err.startswith("figure2: 3 of 4 pieces to do")
    assert read(out).runs[0] == before
    assert len(calls) == 2 + 3
    assert figure(at_once := out.with_name("at_once.csv")) == 0
    assert accuracies(out) == accuracies(at_once)
    assert len(accuracies(out)) == 4


def accuracies(path):
    return {run.key: (run.seed, run.accuracy) for run in read(path).runs}


def test_fits_that_fail_make_the_command_fail_and_are_tried_again(out, capsys, monkeypatch):
    original = figure2.fit

    def fails(data, method, *rest):
        if method == "published":
            raise RuntimeError("no")
        return original(data, method, *rest)

    with monkeypatch.context() as patch:
        patch.setattr(figure2, "fit", fails)
        assert figure(out) == 1
    said = capsys.readouterr().err
    assert "method published, epsilon 1.0, trial 1: FAILED: RuntimeError: no" in said
    assert "2 pieces failed, the first with RuntimeError: no" in said
    assert [run.method for run in read(out).runs] == ["tight"] * 2
    assert figure(out) == 0
    assert len(read(out).runs) == 4


def test_a_folder_gets_the_file_of_its_data_set(tmp_path):
    assert figure(tmp_path, methods=("tight",), trials=1) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["figure2_digits-4-9.csv"]


def test_missing_files_are_told_before_any_fit(out, capsys, monkeypatch):
    def absent(name):
        raise DataUnavailableError(f"{name} is not on disk")

    monkeypatch.setattr("benchmarks.experiments.__main__.fetch", absent)
    assert figure(out) == 2
    assert "error: digits-4-9 is not on disk" in capsys.readouterr().err


# --- the runner --------------------------------------------------------------------------------------------------


def square(number):
    if number < 0:
        raise ValueError(f"{number} is negative")
    yield number**2


def threads():
    import numpy as np

    np.ones((2, 2)) @ np.ones((2, 2))
    return [pool["num_threads"] for pool in threadpool_info()]


def squares(outcomes):
    return {outcome.piece: (outcome.rows, outcome.error) for outcome in outcomes}


FOUND = {(2,): ((4,), None), (-1,): ((), "ValueError: -1 is negative"), (3,): ((9,), None)}


def test_every_piece_comes_back_and_a_failure_does_not_stop_the_rest():
    assert squares(execute(square, list(FOUND))) == FOUND


def test_outcomes_come_one_by_one():
    outcomes = execute(square, [(0,), (1,)])
    assert next(outcomes).rows == (0,)
    outcomes.close()


def test_linear_algebra_has_one_thread():
    (outcome,) = execute(threads, [()])
    assert set(outcome.rows) == {1}


def process():
    return [os.getpid()]


@pytest.mark.slow  # starts two interpreters
def test_other_processes_do_the_same():
    assert squares(execute(square, list(FOUND), jobs=2)) == FOUND
    (outcome,) = execute(process, [()], jobs=2)
    assert outcome.rows != (os.getpid(),)


@pytest.mark.slow  # starts a scheduler and two workers
def test_a_cluster_gives_the_same_numbers(out):
    distributed = pytest.importorskip("distributed", reason="a cluster needs the package distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None, protocol="inproc"
    ) as cluster:
        assert squares(execute(square, list(FOUND), scheduler=cluster.scheduler_address)) == FOUND
        assert figure(out, "--scheduler", cluster.scheduler_address) == 0
    here = out.with_name("here.csv")
    assert figure(here) == 0
    assert accuracies(out) == accuracies(here)


def test_a_cluster_without_distributed_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ImportError, match="pip install distributed"):
        list(execute(square, [(1,)], scheduler="tcp://127.0.0.1:1"))


def test_a_worker_of_another_version_refuses():
    with pytest.raises(RuntimeError, match=r"the run was started with 0\.0\.0"):
        attempt(square, (1,), "0.0.0")


# Memory and processor time of one call


MEGABYTES = 64


def large():
    return float(np.ones(MEGABYTES * 2**17).sum())


def can_reset():
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return False
    return True


@pytest.mark.slow
@pytest.mark.skipif(not can_reset(), reason="this system does not let a process reset its high-water mark")
def test_memory_is_what_the_call_itself_needed():
    held = np.ones(MEGABYTES * 2**17)  # in use before, so it does not count
    took = measured(large)
    assert took.result == held.sum()
    assert took.peak_mb == pytest.approx(MEGABYTES, rel=0.2)
    assert measured(lambda: 0).peak_mb < MEGABYTES / 4  # an earlier peak does not either


@pytest.mark.thorough
def test_beside_other_threads_memory_is_not_told():
    found = []
    thread = threading.Thread(target=lambda: found.append(measured(large)))
    thread.start()
    thread.join()
    assert found[0].peak_mb is None
    assert found[0].result > 0


def test_where_the_system_does_not_tell_memory_is_unknown(monkeypatch, tmp_path):
    monkeypatch.setattr(measure, "CLEAR_REFS", tmp_path / "absent" / "clear_refs")
    assert measured(large).peak_mb is None


def test_what_the_call_raises_is_passed_on():
    with pytest.raises(ZeroDivisionError):
        measured(lambda: 1 / 0)
