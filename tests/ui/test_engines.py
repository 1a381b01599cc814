"""Work in other processes: what is particular to a cluster. What every engine promises stands in `test_jobs`."""

import json
import logging
import os
import pickle
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from objpert_core.experiments.compare import Settings
from objpert_core.experiments.figure2 import Piece
from objpert_core.experiments.learners import HONEST
from objpert_core.experiments.methods import Parameters
from objpert_core.experiments.population.methods import Setting
from objpert_core.experiments.studies import noise_ratios, subsampling, tuning_runs
from pages.accuracy.jobs import again
from pages.own.jobs import Ask, Held, fit
from pages.population.numbers import draw
from pages.training.jobs import Request as TrainingRequest
from pages.tuning.jobs import Request as TuningRequest
from tests.pages.apps import press, texts
from tests.pages.training.test_page import QUICK, opened
from tests.ui.waiting import begun, ended, until
from tests.ui.works import Lines, again_and_again, echo, tells, values, with_rows, yields_a_lock
from ui import jobs
from ui.jobs import JobRunner
from ui.jobs import dask_worker as cluster
from ui.request import Meter

away = pytest.importorskip("ui.jobs.dask_client")
cloudpickle = pytest.importorskip("cloudpickle", reason="work in other processes needs the package distributed")
ROOT = Path(__file__).resolve().parents[2]
SECRET = "the-row-of-one-person"

pytestmark = pytest.mark.slow


@pytest.fixture
def both_workers(cluster_of_two):
    """The cluster; a test that ends a worker process leaves two behind."""
    yield cluster_of_two
    until(lambda: len(cluster_of_two.connected().nthreads()) == 2)


def allow_failures(number, dask_scheduler):
    before, dask_scheduler.allowed_failures = dask_scheduler.allowed_failures, number
    return before


@pytest.mark.parametrize("allowed_failures", [0, 3])  # of the cluster that is started here, and of Dask itself
def test_a_worker_process_that_is_killed_loses_its_job_and_nothing_else(
    both_workers, gates, tmp_path, allowed_failures
):
    client, mine, theirs, lines = both_workers.connected(), gates(), gates(), Lines(tmp_path / "lines")
    before = client.run_on_scheduler(allow_failures, allowed_failures)
    assert before == 0
    runner, impatient = JobRunner(engine=both_workers), away.Cluster(client.scheduler.address, lease=5.0)
    lost = JobRunner(engine=impatient if allowed_failures else both_workers).submit(
        "a", partial(again_and_again, lines, mine)
    )
    begun(lost, mine)
    kept = begun(runner.submit("b", theirs), theirs)
    until(lambda: lost.view().latest == 0)
    os.kill(mine.process, signal.SIGKILL)
    view = ended(lost)
    assert (view.state, view.latest, view.message) == ("failed", 0, away.WORKER_ENDED)
    assert "has ended; nothing more was released" in view.message
    theirs.open()
    assert ended(kept).latest == 1
    until(lambda: len(client.nthreads()) == 2)
    mine.open()
    jobs_after = [runner.submit(owner, values(owner)) for owner in "cde"]
    assert [ended(job).latest for job in jobs_after] == ["c", "d", "e"]
    assert list(lines) == ["began"]  # a private fit is not repeated
    client.run_on_scheduler(allow_failures, before)
    impatient.close()


def test_work_whose_web_process_was_killed_stops(cluster_of_two, gates):
    gate = gates()
    script = f"""
import time
from pathlib import Path
from tests.ui.works import Gate
from ui.jobs import JobRunner
from ui.jobs.dask_client import Cluster
gate = Gate.__new__(Gate)
gate.folder = Path({str(gate.folder)!r})
job = JobRunner(engine=Cluster({cluster_of_two.connected().scheduler.address!r}, lease=5.0)).submit("a", gate)
while (view := job.view()).active and view.latest is None:
    time.sleep(0.01)
print(view.state, flush=True)
while job.view().active:
    time.sleep(0.01)
"""
    process = subprocess.Popen([sys.executable, "-c", script], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "running\n"
    assert not gate.noted("stopped")
    process.kill()
    process.wait()
    process.stdout.close()
    until(lambda: gate.noted("stopped"))


@contextmanager
def errors_written_to(file):
    """What processes started meanwhile write to the standard error."""
    kept = os.dup(2)
    with file.open("ab") as opened:
        os.dup2(opened.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(kept, 2)
            os.close(kept)


def test_a_lost_cluster_is_said_and_the_next_job_gets_another_and_rows_leave_no_trace(
    gates, tmp_path, monkeypatch, caplog
):
    monkeypatch.setenv("DASK_TEMPORARY_DIRECTORY", str(tmp_path / "scratch"))
    log = tmp_path / "log"
    alone = away.Cluster(workers=1)
    with errors_written_to(log):
        alone.connected()
    rows, runner = [f"{SECRET} {number}" for number in range(200_000)], JobRunner(engine=alone)
    assert sum(map(len, rows)) > 5_000_000
    fails, killed, lost = gates(), gates(), gates()
    fails.open()
    assert "KeyError" in ended(runner.submit("a", partial(with_rows, rows, fails))).message
    job = begun(runner.submit("a", partial(with_rows, rows, killed)), killed)
    os.kill(killed.process, signal.SIGKILL)
    assert ended(job).message == away.WORKER_ENDED
    job = begun(runner.submit("a", partial(with_rows, rows, lost)), lost)
    written = [path.read_bytes() for path in (tmp_path / "scratch").rglob("*") if path.is_file()]
    first = alone._own.pid
    os.kill(first, signal.SIGKILL)
    assert ended(job).message == away.CLUSTER_LOST
    until(lambda: not Path(f"/proc/{lost.process}").exists())  # its workers go with it
    with errors_written_to(log):
        assert ended(runner.submit("a", values(7))).latest == 7
    assert alone._own.pid != first
    alone.close()
    assert written
    assert b"distributed.nanny" in log.read_bytes()  # what Dask has to say about the dead is there
    assert not any(SECRET.encode() in content for content in (*written, log.read_bytes(), caplog.text.encode()))


def test_a_cluster_that_is_not_there_is_said_in_a_sentence(caplog):
    runner = JobRunner(engine=away.Cluster("tcp://127.0.0.1:9", patience=0.5))  # nobody listens there
    view = ended(runner.submit("a", values(1)))
    assert (view.state, view.message) == ("failed", away.UNREACHABLE)
    assert "tcp://127.0.0.1:9" in caplog.text


def test_what_cannot_be_pickled_is_said_in_a_sentence(cluster_of_two, caplog):
    runner = JobRunner(engine=cluster_of_two)
    for work in (partial(values(1), threading.Lock()), yields_a_lock):
        view = ended(runner.submit("a", work))
        assert (view.state, view.message) == ("failed", away.UNSENDABLE)
    assert caplog.text.count("cannot pickle '_thread.lock' object") == 2


def test_large_work_and_large_results_arrive(cluster_of_two):
    content = os.urandom(10_000_000)
    assert ended(JobRunner(engine=cluster_of_two).submit("a", partial(echo, content))).latest == content[::-1]


def test_a_meter_tells_from_the_other_process(cluster_of_two, gates):
    meter, gate = Meter(), gates()
    job = JobRunner(engine=cluster_of_two).submit("a", partial(tells, meter, gate), meter=meter)
    until(lambda: meter.now == ("paid", 4))
    gate.open()
    assert ended(job).latest == 1


def test_web_processes_in_front_of_one_cluster_share_its_slots(cluster_of_two, gates):
    other = away.Cluster(cluster_of_two.connected().scheduler.address)
    here, there = JobRunner(engine=cluster_of_two), JobRunner(engine=other)
    first, second, third = gates(), gates(), gates()
    begun(here.submit("a", first), first)
    begun(here.submit("b", second), second)
    third.open()
    waits, last = there.submit("c", third), there.submit("d", values("d"))
    until(lambda: last.view().ahead == 1)
    assert [waits.view().state, waits.view().ahead, last.view().state] == ["waiting", 0, "waiting"]
    assert there.counts() == (0, 2)
    assert not third.began
    first.open()
    assert [ended(waits).latest, ended(last).latest] == [1, "d"]
    second.open()
    stopped = gates()
    begun(here.submit("a", stopped), stopped)
    other.close()


def test_a_slot_that_was_given_back_before_it_began_waits_for_no_work():
    cluster.let_go("given back")
    slot = threading.Thread(target=cluster.take_slot, args=("given back", 3600.0), daemon=True)
    slot.start()
    slot.join(60)
    assert not slot.is_alive()


def test_what_must_be_done_here_is_done_here(cluster_of_two, gates):
    gate = gates()
    gate.open()
    ended(JobRunner(engine=cluster_of_two).submit("a", gate, here=True))
    assert gate.process == os.getpid()


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:8786", "tls://scheduler.example:8786", "tcp://[::1]:8786"])
def test_an_address_is_a_cluster(address):
    assert isinstance(jobs.chosen(address), away.Cluster)


@pytest.mark.parametrize(
    "nonsense", ["yes", "tcp://", "tcp://host", "tcp://host:port", "http://host:80", "tcp://h:1/x"]
)
def test_nonsense_means_threads_and_a_line_in_the_log(nonsense, monkeypatch, caplog):
    monkeypatch.setenv("OBJPERT_DASK", nonsense)
    runner = jobs.shared_runner.__wrapped__()
    assert ended(runner.submit("a", lambda should_stop: iter([os.getpid()]))).latest == os.getpid()
    (record,) = caplog.records
    assert record.levelno == logging.ERROR
    assert f"got {nonsense!r}" in record.message


def test_without_the_package_it_says_what_to_install(monkeypatch):
    assert jobs.chosen("") is None
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ValueError, match="pip install distributed"):
        jobs.chosen("local")


def works():
    """The work of every page that has some, as the page starts it."""
    meter = Meter()
    return {
        "training": partial(TrainingRequest("adult-synthetic", 0, Settings(methods=(HONEST,))).work, meter=meter),
        "honest": partial(TuningRequest("synthetic-l", 0, tuning_runs.Settings()).work, meter=meter),
        "planner": partial(noise_ratios.sample, noise_ratios.Plan(1.0, 1e-5, "logistic", 1000, 5)),
        "population": partial(draw, Setting("logistic", 1000, 2, 1.0), 5),
        "accuracy": partial(again, Piece("breast-cancer", "tight", 2.0, 1, Parameters()), meter),
        "own": partial(fit, Ask("{}", 1.0, 1e-5), Held(b"1,2")),
        "accuracy, rows": partial(subsampling.learning_curve, subsampling.Plan("breast-cancer", 1.0)),
    }


def test_pages_send_their_requests_and_nothing_else():
    """The worker imports what it needs; neither rows nor Streamlit are among what is sent or loaded."""
    sent = {name: cloudpickle.dumps(work) for name, work in works().items()}
    assert {name: len(content) for name, content in sent.items() if len(content) > 4000} == {}
    script = """
import json, pickle, sys
for name, content in pickle.load(sys.stdin.buffer).items():
    pickle.loads(content)
print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})))
"""
    found = subprocess.run([sys.executable, "-c", script], input=pickle.dumps(sent), capture_output=True, cwd=ROOT)
    loaded = json.loads(found.stdout)
    assert "objpert_core" in loaded
    assert {"streamlit", "plotly"}.isdisjoint(loaded)


def test_live_training_is_trained_elsewhere_with_progress_and_stop(cluster_of_two, monkeypatch):
    runner = JobRunner(engine=cluster_of_two)
    monkeypatch.setattr(jobs, "shared_runner", lambda: runner)
    at = opened((HONEST,), **QUICK | {"data": "adult-synthetic", "epochs": "20"})
    press(at, "Run")
    run = at.session_state["training__run"]
    until(lambda: run.meter.now is not None or not run.job.view().active)
    at.run()
    assert ": run 1, step " in at.get("progress")[0].proto.text
    press(at, "Stop")
    assert ended(run.job).state == "stopped"
    assert "Stopped " in texts(at.run())
