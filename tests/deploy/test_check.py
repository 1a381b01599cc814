"""The check for a monitor: what it says of a server that works, of one that does not, and its exit codes."""

import sqlite3
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from deploy import check
from deploy.check import ASKED_WRONGLY, GOOD, LOOK, UNUSABLE, Report
from deploy.settings import ROOT
from ui import votes


class Listens(BaseHTTPRequestHandler):
    """A server that is healthy, and has no page."""

    def do_GET(self):
        healthy = self.path == "/_stcore/health"
        self.send_response(200 if healthy else 404)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        """Say nothing."""


@pytest.fixture
def listens():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Listens)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_a_server_is_unusable_that_draws_nothing_does_not_listen_or_has_another_run_folder(listens, capsys, tmp_path):
    assert check.main([listens]) == UNUSABLE
    assert capsys.readouterr().out.startswith("CRITICAL: page: the page's websocket is refused")
    assert check.main(["http://127.0.0.1:1"]) == UNUSABLE  # where nobody listens
    assert capsys.readouterr().out.startswith("CRITICAL: page: ")
    assert check.main([listens, "--run", str(tmp_path)]) == UNUSABLE
    assert "has no state of a server" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "required: address"),
        (["localhost"], "the address is 'localhost'; it must be like http://127.0.0.1:8080."),
        (["http://a?room=BCDFGH"], "it must be like"),
        (["http://a", "--slow", "40"], "--slow is 40; it must be above 0 and at most --late, 30."),
        (["http://a", "--slow", "soon"], "invalid float value"),
    ],
)
def test_who_asks_wrongly_is_not_told_of_a_broken_server(arguments, sentence, capsys):
    with pytest.raises(SystemExit) as ended:
        check.main(arguments)
    assert ended.value.code == ASKED_WRONGLY
    assert sentence in capsys.readouterr().err


@pytest.mark.parametrize(("seconds", "code"), [(4.9, GOOD), (5.0, LOOK), (30.0, UNUSABLE)])
def test_a_number_is_judged_at_both_limits_and_told_with_them(seconds, code):
    report = Report()
    report.number("page", seconds, "s", low=5.0, high=30.0, sentence="the page is slow")
    assert report.code == code
    assert report.line().endswith(f" | page={seconds:g}s;5;30")
    assert ("the page is slow" in report.line()) == (code != GOOD)
    for another in (LOOK, UNUSABLE, LOOK):
        report.found(another, "a")
    assert report.line().startswith("CRITICAL: ")  # the worst decides


@pytest.mark.parametrize(("days", "code"), [(22, GOOD), (20, LOOK), (4, UNUSABLE), (-1, UNUSABLE)])
def test_a_certificate_is_renewed_in_time(days, code):
    report = Report()
    check.look_at_certificate(report, ends=days * 86400.0 + 7.0, now=7.0)
    assert report.code == code


def test_rooms_are_counted_in_the_file_of_the_votes(tmp_path):
    assert check.MOST_ROOMS == votes.MOST_ROOMS
    assert check.open_rooms(tmp_path) == 0
    rooms = votes.Rooms(tmp_path / check.ROOMS)
    for _ in range(3):
        rooms.open()
    assert check.open_rooms(tmp_path) == 3
    spoilt = tmp_path / "spoilt"
    spoilt.mkdir()
    (spoilt / check.ROOMS).write_bytes(b"no file of votes" * 100)
    with pytest.raises(sqlite3.DatabaseError):
        check.open_rooms(spoilt)


def test_the_page_says_the_limits():
    text = (ROOT / "docs" / "deploying.md").read_text(encoding="utf-8")
    for limits in (
        f"from {check.SLOW:g} s, broken from {check.LATE:g} s",
        f"from {100 * check.SHARE_OF_MEMORY:g} % of `--memory`",
        f"below {check.DISK_LOW} MiB, full below {check.DISK_FULL}",
        f"from {0.9 * check.MOST_ROOMS:g} of {check.MOST_ROOMS}",
        f"below {check.DAYS_LEFT} days, broken below {check.LAST_DAYS}",
    ):
        assert limits in text
