"""The far end of long work: what a worker process of a Dask cluster does, and a process that keeps such a cluster.

    python -m ui.jobs.dask_worker --workers 2 --port 8786     # for the web processes of one machine; ends with SIGTERM

A piece of work takes one *slot*: a Dask task that holds nothing but a name. The web process that asked for the slot
hands the work over once it has begun, and asks again and again for what is new (`ui.jobs.dask_client`). So

* Dask has neither work nor results as arguments or values of tasks. It keeps none of them, writes none to disk, and
  logs none, whatever happens;
* the work begins once. Where a worker has died and Dask tries the slot again, nobody hands anything over to it;
* work whose web process no longer asks is told to stop after `lease` seconds, and the slot is free.

Everything that passes between the processes is pickled. Who can reach the scheduler can run code: a cluster must listen
on a private network only. The one that is started here listens on the loopback address.
"""

from __future__ import annotations

import argparse
import itertools
import multiprocessing
import os
import signal
import sys
import threading
import time
import traceback
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ui.jobs.runner import READABLE, sentence

if TYPE_CHECKING:
    from distributed import Scheduler

UNSENDABLE = "Another process cannot do this work. The server's log says why."
_slots: dict[str, _Slot] = {}  # those that have begun in this worker process
_left: deque[str] = deque(maxlen=1000)  # those that were given back: one may begin a moment later


@dataclass(frozen=True)
class Parcel:
    """Pickled work. What it holds shows nowhere, should anything between the processes print it."""

    content: bytes

    def __repr__(self) -> str:
        return "<work>"


@dataclass(frozen=True)
class Failure:
    """What ended the work.

    Attributes
    ----------
    message : str
        What people are told.
    details : str
        What the web process's log gets; empty where the message says all.
    """

    message: str
    details: str = ""

    @classmethod
    def of(cls, error: Exception, message: str | None = None) -> Failure:
        """An error of the work; one that is not written for people has details."""
        details = "" if isinstance(error, READABLE) else "".join(traceback.format_exception(error))
        return cls(message or sentence(error), details)


@dataclass(frozen=True)
class Report:
    """How far a slot is.

    Attributes
    ----------
    given : bool
        Whether it has got its work.
    version : int
        How many results there were.
    latest : object or None
        The last one, where it is new.
    now : object or None
        What the work's meter says.
    ended : bool
        Whether nothing more will come.
    failure : Failure or None
        Why it ended, where it failed.
    """

    given: bool = True
    version: int = 0
    latest: Any = None
    now: Any = None
    ended: bool = False
    failure: Failure | None = None


class _Slot:
    """One piece of work in this process, from the moment its task begins until its end has been told."""

    def __init__(self, lease: float) -> None:
        self.stop = False
        self._lease, self._asked = lease, time.monotonic()
        self._given, self._told = threading.Event(), threading.Event()
        self._parcel: Parcel | None = None
        self._meter: Any = None
        self._latest: tuple[int, Any] = (0, None)  # replaced as one: read by the thread that answers
        self._failure: Failure | None = None
        self._ended = False

    def give(self, parcel: Parcel | None) -> None:
        """Hand the work over, or None: there is none."""
        self._parcel = parcel
        self._given.set()

    def let_go(self) -> None:
        """Nobody will ask again."""
        self.stop = True
        self._told.set()
        self._given.set()

    def do(self) -> None:
        """Wait for the work, do it, wait until its end has been told."""
        import cloudpickle

        if not self._given.wait(self._lease):
            return
        try:
            if self._parcel is not None and not self._should_stop():
                (work, self._meter), self._parcel = cloudpickle.loads(self._parcel.content), None
                for step in work(self._should_stop):
                    self._latest = self._latest[0] + 1, step
                    if self._should_stop():
                        break
        except Exception as error:
            self._failure = Failure.of(error)
        self._ended = True
        self._told.wait(self._lease)

    def report(self, seen: int) -> bytes:
        """What is new since the result number `seen`, pickled."""
        import cloudpickle

        self._asked = time.monotonic()
        if not self._given.is_set():
            return cloudpickle.dumps(Report(given=False))
        ended, now = self._ended, getattr(self._meter, "now", None)  # before the results: the last one is not missed
        version, latest = self._latest
        fresh = latest if version > seen else None
        try:
            content = cloudpickle.dumps(Report(True, version, fresh, now, ended, self._failure))
        except Exception as error:
            self.let_go()
            return cloudpickle.dumps(Report(ended=True, failure=Failure.of(error, UNSENDABLE)))
        if ended:
            self._told.set()
        return content

    def _should_stop(self) -> bool:
        return self.stop or time.monotonic() - self._asked > self._lease


def take_slot(name: str, lease: float) -> None:
    """The Dask task; runs on a worker. It ends with the work, or `lease` seconds after the last question."""
    slot = _slots[name] = _Slot(lease)
    try:
        if name not in _left:
            slot.do()
    finally:
        del _slots[name]


def give(name: str, parcel: Parcel) -> bool:
    """Hand work over to a slot of this worker; False where it is gone."""
    slot = _slots.get(name)
    if slot is not None:
        slot.give(parcel)
    return slot is not None


def ask(name: str, seen: int, stop: bool) -> bytes | None:
    """How far a slot of this worker is, as a pickled `Report`; None where there is none, not yet or no more."""
    slot = _slots.get(name)
    if slot is None:
        return None
    slot.stop = slot.stop or stop
    return slot.report(seen)


def let_go(name: str) -> None:
    """A slot, should this worker have it, must end, and nobody will ask for it again."""
    _left.append(name)
    if slot := _slots.get(name):
        slot.let_go()


@dataclass(frozen=True)
class Place:
    """Where a slot is.

    Attributes
    ----------
    worker : str or None
        The worker that has or will have it; None while there is none.
    ahead : int
        How many slots wait in front of it, those of other web processes included.
    slots : int
        How many the cluster has for all.
    """

    worker: str | None
    ahead: int
    slots: int


def find(name: str, dask_scheduler: Scheduler) -> Place | None:
    """Where a slot is; runs on the scheduler, and is None where that knows of no such slot."""
    task = dask_scheduler.tasks.get(name)
    if task is None:
        return None
    before = itertools.takewhile(lambda other: other is not task, dask_scheduler.tasks.values())  # in order of arrival
    earlier = sum(other.state in ("processing", "queued", "no-worker") for other in before)
    worker, slots = task.processing_on, dask_scheduler.total_nthreads
    return Place(worker.address if worker else None, max(0, earlier - slots), slots)


def _part_of_the_cores(workers: int) -> dict[str, str]:
    """How many threads each worker's linear algebra has; read when the libraries are loaded."""
    threads = str(max(1, (os.cpu_count() or 1) // workers))
    return {f"{library}_NUM_THREADS": threads for library in ("OMP", "MKL", "OPENBLAS")}


def main(arguments: list[str] | None = None) -> None:
    """Keep a scheduler and workers on the loopback address; prints the address of the scheduler."""
    import dask
    from distributed import LocalCluster

    parser = argparse.ArgumentParser(prog="python -m ui.jobs.dask_worker", description=main.__doc__)
    parser.add_argument("--workers", type=int, default=2, help="worker processes, each for one job at a time")
    parser.add_argument("--port", type=int, default=0, help="of the scheduler; 0 for any free one")
    parser.add_argument("--with-parent", action="store_true", help="end when the standard input is closed")
    chosen = parser.parse_args(arguments)
    dask.config.set(
        {
            "distributed.scheduler.allowed-failures": 0,  # a worker that dies takes its slot with it
            "distributed.worker.memory.target": False,  # nothing is ever written to disk
            "distributed.worker.memory.spill": False,
            "distributed.worker.memory.pause": False,
            "distributed.worker.profile.enabled": False,
            "distributed.deploy.lost-worker-timeout": "365 days",  # it is started again by its nanny, not given up
            "distributed.comm.timeouts.connect": "10s",
            "distributed.scheduler.http.routes": [],
            "distributed.worker.http.routes": [],
            "distributed.nanny.pre-spawn-environ": _part_of_the_cores(chosen.workers),
        }
    )
    told = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what work prints must not fill a pipe that nobody reads
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with LocalCluster(
        n_workers=chosen.workers,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        scheduler_port=chosen.port,
        scheduler_kwargs={"dashboard": False, "dashboard_address": "127.0.0.1:0"},
        worker_dashboard_address=None,
    ) as cluster:
        print(cluster.scheduler_address, file=told, flush=True)
        try:
            if chosen.with_parent:
                sys.stdin.read()
            else:
                threading.Event().wait()
        finally:  # Dask would wait for work that goes on
            for worker in multiprocessing.active_children():
                worker.kill()


if __name__ == "__main__":  # Dask's workers are spawned: they import this file under another name
    main()
