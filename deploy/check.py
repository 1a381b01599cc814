"""Whether the app can be used: `deploy/check http://127.0.0.1:8080`, for a monitor (docs/deploying.md).

A health check says that a process listens. This one opens a page over a websocket, as a browser does, and waits for its
chart. It prints one line and numbers after a bar, and ends with 0 (good), 1 (look at it), 2 (people cannot use it) or 3
(wrong arguments), as monitoring programs expect.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import shutil
import socket
import sqlite3
import ssl
import sys
import time
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn
from urllib.parse import urlsplit

from deploy.serve import ROOMS
from deploy.settings import Settings

GOOD, LOOK, UNUSABLE, ASKED_WRONGLY = range(4)
SAID = {GOOD: "OK", LOOK: "WARNING", UNUSABLE: "CRITICAL", ASKED_WRONGLY: "UNKNOWN"}
PAGE = "bounds"
SLOW, LATE = 5.0, 30.0  # seconds to the chart
DAYS_LEFT, LAST_DAYS = 21, 5  # of the certificate
DISK_LOW, DISK_FULL = 500, 100  # MiB that are free where the run folder lies
SHARE_OF_MEMORY = 0.9  # of what a process may hold
MOST_ROOMS = 200  # ui/votes.py's, whose import would take seconds; a test compares them
LARGEST_MESSAGE = 2**25


@dataclass
class Report:
    """What was found: the worst code, sentences about what is not good, numbers."""

    code: int = GOOD
    sentences: list[str] = field(default_factory=list)
    numbers: list[str] = field(default_factory=list)

    def found(self, code: int, sentence: str) -> None:
        """Note what is not good."""
        self.code = max(self.code, code)
        self.sentences.append(sentence)

    def number(self, name: str, value: float, unit: str = "", *, low: float, high: float, sentence: str) -> None:
        """Note a number that should be below `low`, and must be below `high`."""
        self.numbers.append(f"{name}={value:.4g}{unit};{low:g};{high:g}")
        if value >= low:
            self.found(UNUSABLE if value >= high else LOOK, sentence)

    def least(self, name: str, value: float, unit: str = "", *, low: float, lowest: float, sentence: str) -> None:
        """Note a number that should be at least `low`, and must be at least `lowest`."""
        self.numbers.append(f"{name}={value:.4g}{unit};{low:g}:;{lowest:g}:")
        if value < low:
            self.found(UNUSABLE if value < lowest else LOOK, sentence)

    def line(self) -> str:
        """The line for the monitor."""
        said = "; ".join(self.sentences) or "the page is drawn"
        return f"{SAID[self.code]}: {said} | {' '.join(self.numbers)}"


def drawn(address: str, within: float, page: str = PAGE) -> float:
    """Open a page as a browser does; the seconds until all of it has come.

    Raises
    ------
    OSError, TimeoutError
        If nobody answers, or not in time.
    RuntimeError
        With a sentence, if what comes is no page with a chart.
    """
    from streamlit.proto.BackMsg_pb2 import BackMsg
    from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
    from websockets.exceptions import WebSocketException
    from websockets.sync.client import connect
    from websockets.typing import Origin, Subprotocol

    opening = BackMsg()
    opening.rerun_script.page_name = page
    start, charts = time.monotonic(), 0
    try:
        with connect(
            f"{address.replace('http', 'ws', 1)}/_stcore/stream",
            subprotocols=[Subprotocol("streamlit"), Subprotocol("none")],
            origin=Origin(address),
            open_timeout=within,
            max_size=LARGEST_MESSAGE,
            compression=None,
        ) as link:
            link.send(opening.SerializeToString())
            while True:
                message = ForwardMsg()
                message.ParseFromString(link.recv(timeout=max(0.0, start + within - time.monotonic())))
                kind = message.WhichOneof("type")
                if kind == "script_finished":
                    break
                if kind == "delta" and message.delta.WhichOneof("type") == "new_element":
                    element = message.delta.new_element.WhichOneof("type")
                    charts += element == "plotly_chart"
                    if element == "exception":
                        raise RuntimeError("the page shows an error in place of its chart")
    except (WebSocketException, EOFError, ValueError) as error:  # ValueError: what is no HTTP/1.1, before websockets 15
        raise RuntimeError(f"the page's websocket is refused ({type(error).__name__})") from None
    if charts == 0:
        raise RuntimeError("the page comes without its chart")
    return time.monotonic() - start


def look_at_page(report: Report, name: str, address: str, slow: float, late: float) -> None:
    """Health and page of one address."""
    try:
        with urllib.request.urlopen(f"{address}/_stcore/health", timeout=late) as answer:
            answer.read()
        seconds = drawn(address, late)
    except RuntimeError as error:
        report.found(UNUSABLE, f"{name}: {error}")
    except (TimeoutError, OSError) as error:
        why = f"no page within {late:g} s" if isinstance(error, TimeoutError) else str(getattr(error, "reason", error))
        report.found(UNUSABLE, f"{name}: {why}")
    else:
        sentence = f"{name}: the page took {seconds:.1f} s"
        report.number(name.replace(" ", "_"), seconds, "s", low=slow, high=late, sentence=sentence)


def end_of_certificate(host: str, port: int, within: float) -> float:
    """Until when the certificate of an https address holds, in seconds since 1970.

    Raises
    ------
    OSError
        If nobody answers, or the certificate is not accepted.
    """
    with (
        socket.create_connection((host, port), timeout=within) as plain,
        ssl.create_default_context().wrap_socket(plain, server_hostname=host) as secured,
    ):
        return ssl.cert_time_to_seconds(str((secured.getpeercert() or {})["notAfter"]))


def look_at_certificate(report: Report, ends: float, now: float) -> None:
    """How many days the certificate still holds."""
    days = (ends - now) / 86400
    report.least(
        "certificate_days", days, low=DAYS_LEFT, lowest=LAST_DAYS, sentence=f"the certificate ends in {days:.0f} days"
    )


def look_at_run_folder(report: Report, run: Path, memory: int, slow: float, late: float) -> None:
    """Every process by itself, how often each was started, what it holds, and the room that is left on the disk.

    Raises
    ------
    OSError, ValueError, KeyError, sqlite3.Error
        If the folder is not one that a server of ours is using.
    """
    state = json.loads((run / "state.json").read_text(encoding="utf-8"))
    for number, app in enumerate(state["apps"]):
        look_at_page(report, f"process {number}", f"http://127.0.0.1:{app['port']}", slow, late)
        report.numbers.append(f"starts_{number}={app['starts']}c")
        try:
            held = int(Path(f"/proc/{app['pid']}/statm").read_text().split()[1]) * 4096 / 2**20
        except (OSError, ValueError, IndexError):
            continue  # it has just ended, or the system does not tell
        sentence = f"process {number} holds {held:.0f} MiB and is replaced at {memory}"
        report.number(f"memory_{number}", held, "MB", low=SHARE_OF_MEMORY * memory, high=2 * memory, sentence=sentence)
    free = shutil.disk_usage(run).free / 2**20
    report.least(
        "disk_free", free, "MB", low=DISK_LOW, lowest=DISK_FULL, sentence=f"{free:.0f} MiB are free on the disk"
    )
    rooms = open_rooms(run)
    sentence = f"{rooms} rooms are open, and no more than {MOST_ROOMS} can be"
    report.number("rooms", rooms, low=0.9 * MOST_ROOMS, high=MOST_ROOMS, sentence=sentence)


def open_rooms(run: Path) -> int:
    """How many rooms of classes the server's own file holds: a number, no names."""
    file = run / ROOMS
    if not file.exists():
        return 0
    with contextlib.closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True, timeout=5)) as votes:
        return int(votes.execute("SELECT count(*) FROM room").fetchone()[0])


class Asked(argparse.ArgumentParser):
    """A monitor takes 2 for a broken server: who asks wrongly gets 3."""

    def error(self, message: str) -> NoReturn:
        """End with the sentence and the code."""
        self.exit(ASKED_WRONGLY, f"{SAID[ASKED_WRONGLY]}: {message}\n")


def main(arguments: list[str] | None = None) -> int:
    """Look, print the line; the exit code."""
    parser = Asked(
        prog="deploy/check", description="Whether the app can be used, for a monitor: exit code 0, 1, 2 or 3."
    )
    parser.add_argument("address", help="what people open: http://127.0.0.1:8080")
    parser.add_argument(
        "--run", type=Path, help="the server's run folder, on the same machine: looks at each process, too"
    )
    parser.add_argument(
        "--memory", type=int, default=Settings.memory, help="MiB a process may hold (default: the server's)"
    )
    parser.add_argument("--slow", type=float, default=SLOW, help=f"seconds to a page from which on to warn ({SLOW:g})")
    parser.add_argument("--late", type=float, default=LATE, help=f"seconds after which it is given up ({LATE:g})")
    given = parser.parse_args(arguments)
    asked = urlsplit(given.address)
    if asked.scheme not in ("http", "https") or not asked.hostname or asked.query:
        parser.error(f"the address is {given.address!r}; it must be like http://127.0.0.1:8080.")
    if not 0 < given.slow <= given.late:
        parser.error(f"--slow is {given.slow:g}; it must be above 0 and at most --late, {given.late:g}.")

    report = Report()
    look_at_page(report, "page", given.address.rstrip("/"), given.slow, given.late)
    if asked.scheme == "https":
        try:
            look_at_certificate(report, end_of_certificate(asked.hostname, asked.port or 443, given.late), time.time())
        except OSError as error:
            report.found(UNUSABLE, f"the certificate is not accepted: {error}")
    if given.run is not None:
        try:
            look_at_run_folder(report, given.run, given.memory, given.slow, given.late)
        except (OSError, ValueError, KeyError, sqlite3.Error) as error:
            report.found(UNUSABLE, f"the run folder {str(given.run)!r} has no state of a server: {error}")
    print(report.line())
    return report.code


if __name__ == "__main__":
    sys.exit(main())
