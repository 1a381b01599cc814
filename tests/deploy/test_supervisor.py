"""When a process is started again, replaced, and left alone; the log says nothing of people."""

import logging
import signal
import sys
import time

import pytest

from benchmarks.streamlit_client import free_port
from deploy import nginx, processes, serve
from deploy.processes import FAILURES, LONGEST_WAIT, START_WITHIN, STEADY_AFTER, App, Child, without_people
from deploy.settings import Settings
from tests.ui.waiting import until

REFUSED = (
    "2026/11/23 06:54:10 [error] 5514#5514: *15 connect() failed (111: Connection refused) while connecting to "
    'upstream, client: 192.0.2.9, server: _, request: "GET /bounds?room_key=SECRET HTTP/1.1", '
    'upstream: "http://127.0.0.1:9711/", host: "class.example", referrer: "http://class.example/bounds?room=SECRET"'
)
SERVES = """
import http.server, sys, time
class Answer(http.server.BaseHTTPRequestHandler):
    asked = 0
    def do_GET(self):
        Answer.asked += 1
        time.sleep(3600 if Answer.asked > 2 else 0)
        self.send_response(200); self.end_headers()
    def log_message(self, *what): pass
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Answer).serve_forever()
"""


@pytest.fixture
def app(tmp_path):
    return App("app 0", 1, {}, tmp_path)


@pytest.fixture
def supervisor(tmp_path, monkeypatch):
    monkeypatch.setattr(nginx, "executable", lambda: "nginx")
    return serve.Supervisor(Settings(run=tmp_path))


@pytest.mark.parametrize("line", [REFUSED, REFUSED.replace(" while connecting to upstream", "")])
def test_the_log_says_what_went_wrong_and_not_for_whom(line):
    assert without_people(line).endswith("connect() failed (111: Connection refused)")
    assert without_people("nginx: [emerg] bind() to 0.0.0.0:80 failed") == "nginx: [emerg] bind() to 0.0.0.0:80 failed"


@pytest.mark.thorough
def test_a_process_is_started_at_once_after_a_long_life_and_ever_later_after_short_ones(tmp_path):
    child = Child("x", [sys.executable, "-c", ""], {}, tmp_path)
    assert child.due(0.0)
    waits = []
    for _ in range(9):
        child.start(now=100.0)
        child.process.wait()
        assert child.gone(now=100.0) == "exit code 0"
        assert child.gone(now=100.0) is None  # told once
        waits.append(next(wait for wait in range(int(LONGEST_WAIT) + 1) if child.due(100.0 + wait)))
    assert waits == [0, 1, 2, 4, 8, 16, 30, 30, 30]
    child.start(now=200.0)
    child.process.wait()
    child.gone(now=200.0 + STEADY_AFTER)
    assert child.due(200.0 + STEADY_AFTER)


def test_a_process_that_cannot_be_started_is_tried_again(tmp_path):
    child = Child("x", [str(tmp_path / "nothing")], {}, tmp_path)
    for _ in range(3):
        child.start(now=100.0)
    assert (child.pid, child.starts) == (None, 3)
    assert [child.due(100.0 + wait) for wait in (0, 1, 2)] == [False, False, True]


def test_three_checks_without_an_answer_are_trouble_once_it_has_answered_and_so_is_too_much_memory(app):
    for _ in range(9):
        app.count(answered=False)
    assert app.trouble(now=START_WITHIN, memory=1.0, most=2.0) is None  # it is still starting
    assert "did not answer within 120 s" in app.trouble(now=START_WITHIN + 1, memory=1.0, most=2.0)
    for answered in (True, False, False, True, False, False):
        app.count(answered)
    assert app.trouble(now=START_WITHIN + 1, memory=1.0, most=2.0) is None
    app.count(answered=False)
    assert app.failures == FAILURES
    assert app.trouble(now=1.0, memory=1.0, most=2.0) == "3 health checks in a row had no answer"
    app.count(answered=True)
    assert app.trouble(now=1.0, memory=1536.4, most=1536) == "it holds 1536 MiB, more than 1536"


def test_processes_that_hold_too_much_are_replaced_one_at_a_time(supervisor, monkeypatch):
    sent = []
    for app in supervisor.apps:
        app.count(answered=True)
        monkeypatch.setattr(app, "memory", lambda: 2000.0)
        monkeypatch.setattr(app, "send", lambda number, name=app.name: sent.append((name, number)))
    supervisor.replace_one(now=1.0)
    supervisor.replace_one(now=2.0)
    assert sent == [("app 0", signal.SIGTERM)]
    supervisor.replacing.clear()  # it has ended, and its successor is not ready
    supervisor.apps[0].healthy = False
    monkeypatch.setattr(supervisor.apps[0], "memory", lambda: 100.0)
    supervisor.replace_one(now=3.0)
    assert len(sent) == 1
    supervisor.apps[0].count(answered=True)
    supervisor.replace_one(now=4.0)
    assert sent[1:] == [("app 1", signal.SIGTERM)]


@pytest.mark.slow
def test_a_process_that_hangs_is_replaced(supervisor, monkeypatch, caplog):
    for name, seconds in (("CHECK_EVERY", 0.02), ("CHECK_WITHIN", 0.2)):
        monkeypatch.setattr(processes, name, seconds)
    monkeypatch.setattr(serve, "MEMORY_EVERY", 0.0)
    app = supervisor.apps[0]
    app.port = free_port()
    app.command = [sys.executable, "-c", SERVES, str(app.port)]
    supervisor.apps, supervisor.children = [app], [app, supervisor.nginx]
    supervisor.nginx.command = [sys.executable, "-c", "import time; time.sleep(3600)"]
    monkeypatch.setattr(serve.log, "propagate", True)
    try:
        with caplog.at_level(logging.INFO, "objpert"):
            until(lambda: supervisor.tick(time.monotonic()) or app.starts == 2)
    finally:
        supervisor.end()
    assert "app 0 is replaced: 3 health checks in a row had no answer" in caplog.text
    assert "app 0 ended by signal 15" in caplog.text
    assert app.pid is None


def test_all_processes_have_one_secret_that_is_new_at_every_start(tmp_path, monkeypatch):
    monkeypatch.delenv("OBJPERT_ROOMS", raising=False)
    first, second = (serve.app_environment(Settings(run=tmp_path)) for _ in range(2))
    assert len(first["STREAMLIT_SERVER_COOKIE_SECRET"]) == 64
    assert first["STREAMLIT_SERVER_COOKIE_SECRET"] != second["STREAMLIT_SERVER_COOKIE_SECRET"]
    assert first["OBJPERT_ROOMS"] == str(tmp_path / "rooms.sqlite")
    monkeypatch.setenv("OBJPERT_ROOMS", "/elsewhere")
    assert serve.app_environment(Settings(run=tmp_path))["OBJPERT_ROOMS"] == "/elsewhere"
