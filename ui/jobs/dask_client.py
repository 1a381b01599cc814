"""The near end of long work: an engine that has it done by a Dask cluster, its own or one that somebody runs.

Each job keeps its thread of the runner, which asks the worker a few times a second what is new. So whatever the runner
promises about owners, the queue, Stop and abandoned jobs holds here as it does for threads.
"""

from __future__ import annotations

import asyncio
import atexit
import logging
import pickle
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from ui.jobs import dask_worker as cluster
from ui.jobs.dask_worker import UNSENDABLE, Parcel, Place, Report
from ui.jobs.runner import ElsewhereError, Work

if TYPE_CHECKING:
    from distributed import Client

T = TypeVar("T")
_log = logging.getLogger(__name__)
_ROOT = Path(__file__).resolve().parents[2]

AGAIN = "nothing more was released. Please start the work again."
WORKER_ENDED = f"The process that did this work has ended; {AGAIN}"
CLUSTER_LOST = f"The cluster that did this work was lost; {AGAIN}"
UNREACHABLE = "The cluster for long work cannot be reached. Please try again in a minute."

LEASE_SECONDS = 20.0
"""Work whose web process has not asked for so long is told to stop."""
_PARTING_SECONDS = 2.0
_FIRST_PAUSE, _LONGEST_PAUSE = 0.02, 0.25  # between two questions, in seconds; a Stop takes no longer than that
_GLANCE = 0.1  # how often a question that is under way checks whether the slot is still there
_SILENT = object()  # a worker's answer that did not come


def is_address(text: str) -> bool:
    """Whether a text names a scheduler: ``tcp://host:port``, or ``tls://``, whose certificates Dask's settings name."""
    with suppress(ValueError):  # of a port that is no number
        parts = urlsplit(text)
        return parts.scheme in ("tcp", "tls") and bool(parts.hostname and parts.port) and not parts.path
    return False


class Cluster:
    """Has work done by a Dask cluster; connects when the first job begins, and again when the cluster was lost.

    Parameters
    ----------
    address : str or None
        Of the scheduler; None for a cluster of its own, which ends with this process.
    workers : int
        How many worker processes a cluster of its own has.
    lease : float
        Seconds after which work is told to stop that nobody asks for.
    patience : float
        Seconds that a connection may take.
    """

    def __init__(
        self,
        address: str | None = None,
        *,
        workers: int = 2,
        lease: float = LEASE_SECONDS,
        patience: float = 10.0,
    ) -> None:
        self._address = address
        self._workers = workers
        self._lease = lease
        self._patience = patience
        self._lock = threading.Lock()
        self._own: subprocess.Popen[str] | None = None
        self._own_address = ""
        self._client: Client | None = None
        self._width = workers
        atexit.register(self.close)

    @property
    def width(self) -> int:
        """How many slots the cluster had when it was last connected to."""
        return self._width

    def carry_out(
        self, work: Work[T], meter: Any, should_stop: Callable[[], bool], place: Callable[[int | None], None]
    ) -> Generator[T, None, None]:
        """The work's results as far as they were asked for in time, always with the last one.

        Raises
        ------
        ElsewhereError
            The work failed, cannot be pickled, or the process that did it, or the cluster, is gone.
        """
        import cloudpickle

        try:
            parcel = Parcel(cloudpickle.dumps((work, meter)))
        except Exception as error:
            _log.error("work cannot be pickled", exc_info=error)
            raise ElsewhereError(UNSENDABLE) from None
        line, ended = _Line(self.connected(), self._lease), False
        try:
            worker = self._handed_over(line, parcel, should_stop, place)
            if worker is not None:
                place(None)
                yield from _results(line, worker, meter, should_stop)
                ended = True
        except ElsewhereError:
            ended = True
            raise
        finally:
            line.leave(ended)

    def _handed_over(
        self, line: _Line, parcel: Parcel, should_stop: Callable[[], bool], place: Callable[[int], None]
    ) -> str | None:
        """The worker that has got the work, as soon as the slot has begun; None where a stop was sooner."""
        for _ in _moments():
            if should_stop():
                return None
            found = line.find()
            if found is None:  # the scheduler has not heard of it yet, or no more
                line.must_be_there()
                continue
            self._width = max(1, found.slots)
            place(found.ahead)
            if found.worker is None or not isinstance(line.ask(found.worker, cluster.ask, 0, False), bytes):
                continue
            if line.ask(found.worker, cluster.give, parcel):  # also where the answer got lost: it is never given twice
                return found.worker
        raise AssertionError("moments do not end")

    def connected(self) -> Client:
        """The client of the cluster, which is started where it is one of its own.

        Raises
        ------
        ElsewhereError
            It cannot be reached.
        """
        import dask
        from distributed import Client

        with self._lock:
            if self._client is not None and self._client.status == "running":
                return self._client
            self._disconnect()
            dask.config.set({"distributed.comm.timeouts.connect": f"{self._patience:g}s"})
            try:
                address = self._address or self._started()
                self._client = Client(address, timeout=self._patience, set_as_default=False)
                self._width = max(1, sum(self._client.nthreads().values()))
            except (OSError, ValueError) as error:
                _log.error("no connection to the cluster %s: %s", self._address or "of its own", error)
                raise ElsewhereError(UNREACHABLE) from error
            return self._client

    def close(self) -> None:
        """Leave the cluster; one of its own ends."""
        with self._lock:
            self._disconnect()
            if self._own is not None:
                own, self._own = self._own, None
                assert own.stdin is not None
                own.stdin.close()
                try:
                    own.wait(_PARTING_SECONDS)
                except subprocess.TimeoutExpired:  # it waits for work that goes on
                    own.kill()
                    own.wait()

    def _disconnect(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            with suppress(Exception, CancelledError):
                client.close(timeout=2)

    def _started(self) -> str:
        """The address of this process's own cluster.

        It is a process by itself: nothing is spawned from a web server's, whose script would be run again.
        """
        if self._own is None or self._own.poll() is not None:
            command = [sys.executable, "-m", "ui.jobs.dask_worker", "--with-parent", "--workers", str(self._workers)]
            self._own = subprocess.Popen(
                command, cwd=_ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
            )
            assert self._own.stdout is not None
            self._own_address = self._own.stdout.readline().strip()
            if not self._own_address:
                raise OSError(f"it ended with exit code {self._own.wait()} before it listened")
        return self._own_address


class _Line:
    """One slot, and the questions about it. A question ends at once where the slot or the cluster is gone.

    Parameters
    ----------
    client : Client
    patience : float
        Seconds: who asks no question for so long leaves the slot, and who gets no answer for so long gives it up.
    """

    def __init__(self, client: Client, patience: float) -> None:
        self.patience = patience
        self._name = f"objpert-{uuid.uuid4().hex}"
        self._client = client
        with _answers():
            self.slot = client.submit(cluster.take_slot, self._name, patience, key=self._name, pure=False, retries=0)

    def find(self) -> Place | None:
        """Where the slot is; None where the scheduler does not know."""
        return self._answer(lambda: self._client.run_on_scheduler(cluster.find, self._name))

    def ask(self, worker: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """What a function of `ui.jobs.dask_worker` returns on a worker; `_SILENT` where it did not answer."""
        told = (self._name, *arguments)
        found = self._answer(lambda: self._client.run(function, *told, workers=[worker], on_error="return"))
        return _SILENT if isinstance(found[worker], Exception) else found[worker]

    def leave(self, ended: bool) -> None:
        """Give the slot back; work that has not ended must end, and a slot that has none waits for none."""
        self.slot.release()
        if not ended:
            with suppress(ElsewhereError), _answers():
                self._client.run(cluster.let_go, self._name, on_error="ignore")

    def _answer(self, question: Callable[[], Any]) -> Any:
        with _answers():
            return self._client.sync(self._race, question)

    async def _race(self, question: Callable[[], Any]) -> Any:
        call = asyncio.ensure_future(question())  # a coroutine, because it is asked from the client's own loop
        end = time.monotonic() + self.patience
        try:
            while not call.done():
                await asyncio.wait({call}, timeout=_GLANCE)
                if not call.done():
                    self.must_be_there()
                    if time.monotonic() > end:
                        raise ElsewhereError(WORKER_ENDED)
            return call.result()
        finally:
            call.cancel()

    def must_be_there(self) -> None:
        """Raise where the slot is gone: the scheduler tells so without being asked."""
        if self.slot.status in ("error", "lost"):
            raise ElsewhereError(WORKER_ENDED)
        if self.slot.status == "cancelled":
            raise ElsewhereError(CLUSTER_LOST)


@contextmanager
def _answers() -> Iterator[None]:
    """Whatever keeps the client from answering means that the cluster is lost."""
    try:
        yield
    except ElsewhereError:
        raise
    except (Exception, CancelledError, asyncio.CancelledError) as error:
        _log.error("the cluster does not answer: %s", type(error).__name__)
        raise ElsewhereError(CLUSTER_LOST) from error


def _results(line: _Line, worker: str, meter: Any, should_stop: Callable[[], bool]) -> Generator[Any, None, None]:
    """What the work yields, as far as somebody asks in time; raises where it failed or is gone."""
    seen, held, heard = 0, None, time.monotonic()
    for _ in _moments():
        stop = should_stop()
        answer = line.ask(worker, cluster.ask, seen, stop)
        if answer is None or (answer is _SILENT and time.monotonic() - heard > line.patience):
            raise ElsewhereError(WORKER_ENDED)
        if answer is _SILENT:
            line.must_be_there()
            continue
        heard, report = time.monotonic(), _unpacked(answer)
        if meter is not None:
            meter.now = report.now
        if report.version > seen:
            seen, held = report.version, report
        if held is not None and (report.ended or not stop):  # after a stop the runner takes one more, the last
            yield held.latest
            held = None
        if report.failure is not None:
            if report.failure.details:
                _log.error("work failed on %s\n%s", worker, report.failure.details)
            raise ElsewhereError(report.failure.message)
        if report.ended:
            return


def _unpacked(answer: bytes) -> Report:
    try:
        return pickle.loads(answer)
    except Exception as error:
        _log.error("a result cannot be unpickled", exc_info=error)
        raise ElsewhereError(UNSENDABLE) from error


def _moments() -> Iterator[None]:
    """Pauses between questions, the first ones short: much work is small."""
    pause = _FIRST_PAUSE
    while True:
        yield
        time.sleep(pause)
        pause = min(1.5 * pause, _LONGEST_PAUSE)
