"""The server as a class meets it: real nginx, two real processes, real websockets; one process is killed."""

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import urllib.request
from contextlib import AsyncExitStack, closing
from http.client import HTTPConnection

import pytest

from benchmarks.streamlit_client import Browser, Person
from deploy.settings import UPLOAD_MEBIBYTES, UPLOADS_AT_ONCE
from tests.deploy.conftest import DOCKERFILE, MEBIBYTE, alive, deployed_server
from tests.ui.waiting import awaited, until

pytestmark = pytest.mark.slow
CLOSED = ("metrics", "%6detrics", "/metrics", "x/../metrics", "agent/interact", "agent/openapi.json", "agent/mcp")


def sessions(port):
    """How many people a process has: behind nginx it tells."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/metrics", timeout=30) as answer:
        lines = answer.read().decode().splitlines()
    return next(int(float(line.split()[-1])) for line in lines if line.startswith("active_sessions"))


async def come(server, page="bounds", **chosen):
    """A browser with an open page."""
    browser = Browser(server)
    await browser.load(page)
    person = Person(await browser.connect(), page, chosen={f"{page}_{name}": value for name, value in chosen.items()})
    await person.open()
    return browser, person


def headers_of_upload(size, cookies):
    return {
        "Content-Type": "multipart/form-data; boundary=x",
        "Content-Length": str(size),
        "Cookie": "; ".join(f"{name}={value}" for name, value in cookies.items()),
        "X-Xsrftoken": cookies.get("_streamlit_xsrf", ""),
    }


def upload(server, session, size, cookies, sends=True):
    """The status of handing in a table of this size; or of announcing it and waiting for the answer."""
    part = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n'
    body = part + bytes(size) + b"\r\n--x--\r\n"
    connection = HTTPConnection(server, timeout=60)
    connection.putrequest("PUT", f"/_stcore/upload_file/{session}/1-2-3")
    for name, value in headers_of_upload(len(body), cookies).items():
        connection.putheader(name, value)
    connection.endheaders(body if sends else None)
    with closing(connection):
        return connection.getresponse().status


def headers_of(server, path, method="GET", **headers):
    request = urllib.request.Request(f"http://{server}{path}", headers=headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.headers
    except urllib.error.HTTPError as error:
        return error.code, error.headers


def test_people_are_spread_stay_and_come_back_after_their_process_was_killed(deployed):
    ports = [app["port"] for app in deployed.state()["apps"]]
    other = {"0": "1", "1": "0"}

    async def lesson():
        people = [await come(deployed.server, sigma="10") for _ in range(4)]
        assert [sessions(port) for port in ports] == [2, 2]
        browser, person = people[0]
        mine = browser.cookies["objpert_process"]
        table, written = 2 * MEBIBYTE, deployed.run / "temp" / "body"
        untouched = written.stat().st_mtime_ns
        assert upload(deployed.server, person.session, table, browser.cookies) == 204
        wrong = browser.cookies | {"objpert_process": other[mine]}
        assert upload(deployed.server, person.session, 9, wrong) == 400  # nobody knows the session there
        assert written.stat().st_mtime_ns == untouched  # not for a moment was there a file

        await person.choose("lambda", person.sliders["lambda"][0].options[100])
        said, stood = person.answer("lambda"), person.chosen["bounds_lambda"]
        os.kill(deployed.state()["apps"][int(mine)]["pid"], signal.SIGKILL)
        await asyncio.wait_for(person.link.wait_closed(), 60)
        secret = Browser(deployed.server, {"objpert_process": mine})
        status, _ = await secret.get("/bounds?room_key=SECRET")
        assert (status, secret.cookies["objpert_process"]) == (200, other[mine])
        assert (await browser.get("/_stcore/health"))[0] == 200
        person.link = await browser.connect(person.session)
        await person.open()
        assert (person.answer("lambda"), person.stands("lambda")) == (said, stood)
        assert browser.cookies["objpert_process"] == other[mine]

        deployed.wait_until(
            lambda state: state["apps"][int(mine)]["starts"] == 2 and state["apps"][int(mine)]["healthy"]
        )
        assert upload(deployed.server, person.session, table, browser.cookies) == 204  # still where the session is
        await asyncio.gather(*(each.link.close() for _, each in people))

    awaited(lesson())
    log = deployed.log.read_text()
    assert "ended by signal 9" in log
    assert "connect() failed" in log  # what went wrong is told, not to whom
    assert "SECRET" not in log
    assert "room_key" not in log


def test_what_nobody_needs_is_closed_and_what_is_sent_is_guarded(deployed):
    for path in CLOSED:
        assert headers_of(deployed.server, f"/_stcore/{path}")[0] == 404, path
    assert headers_of(deployed.server, "/bounds/_stcore/health")[0] == 404
    assert headers_of(deployed.server, "/bounds", method="POST")[0] == 403
    status, headers = headers_of(deployed.server, "/bounds", Host="class.example:8080")
    assert status == 200
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert "frame-ancestors 'self'" in headers["Content-Security-Policy"]
    assert "ws://class.example:8080" in headers["Content-Security-Policy"]
    assert headers["Set-Cookie"].endswith("; Path=/; Max-Age=43200; HttpOnly; SameSite=Lax")

    scripts = awaited(Browser(deployed.server).load("home"))
    script = next(path for path in scripts if path.endswith(".js"))
    status, headers = headers_of(deployed.server, f"/{script}", **{"Accept-Encoding": "gzip"})
    assert (status, headers["Content-Encoding"], headers["Content-Type"]) == (200, "gzip", "text/javascript")
    assert headers["Cache-Control"] == "max-age=31536000"
    assert headers_of(deployed.server, f"/{script}")[1]["Content-Encoding"] is None  # for who cannot unpack it
    assert headers_of(deployed.server, "/static/js/none.js")[0] == 404
    too_large = (UPLOAD_MEBIBYTES + 2) * MEBIBYTE  # refused before it reaches the app
    assert upload(deployed.server, "nobody", too_large, {}, sends=False) == 413


def test_uploads_that_are_not_finished_are_few(deployed):
    async def run():
        browser, person = await come(deployed.server)
        headers = headers_of_upload(1000, browser.cookies) | {"Host": deployed.server}
        lines = [f"PUT /_stcore/upload_file/{person.session}/1-2-3 HTTP/1.1", *map(": ".join, headers.items())]
        started = "\r\n".join([*lines, "", ""])

        async def answer():
            return await asyncio.to_thread(upload, deployed.server, person.session, 1, browser.cookies)

        async def answered(status):
            while await answer() != status:
                await asyncio.sleep(0.05)

        async def begin():
            links.append(await asyncio.open_connection("127.0.0.1", deployed.port))
            links[-1][1].write(started.encode())

        links = []
        await asyncio.wait_for(answered(204), 60)
        for _ in range(UPLOADS_AT_ONCE):
            await begin()
        for _ in range(10):  # one of them was refused where nginx still counted the upload before it
            if await answer() == 429:
                break
            await begin()
        await asyncio.wait_for(answered(429), 60)
        for _, writer in links:
            writer.close()
        await asyncio.wait_for(answered(204), 60)
        await person.link.close()

    awaited(run())


def test_the_images_health_check_knows_a_server_that_answers(deployed):
    _, command = re.search(r"HEALTHCHECK (.*)\\\n *CMD (.*)", DOCKERFILE).groups()
    for port, code in ((deployed.port, 0), (1, 1)):  # nobody listens on port 1
        asked = [word.replace(":8080/", f":{port}/") for word in json.loads(command)]
        assert subprocess.run(asked, cwd=deployed.folder, stderr=subprocess.DEVNULL, timeout=60).returncode == code


def test_a_monitor_is_told_that_pages_are_drawn(deployed):
    command = [deployed.folder / "deploy" / "check", f"http://{deployed.server}", "--run", deployed.run, "--slow", "60"]
    told = subprocess.run([*command, "--late", "60"], capture_output=True, text=True, timeout=300, cwd=deployed.folder)
    assert told.stdout.startswith("OK: the page is drawn | page="), told
    numbers = dict(part.split("=") for part in told.stdout.partition(" | ")[2].split())
    assert {"page", "process_0", "process_1", "starts_0", "memory_1", "disk_free", "rooms"} <= set(numbers)
    assert told.returncode == 0


def test_a_second_server_is_refused_with_a_sentence(deployed, tmp_path):
    serve = deployed.folder / "deploy" / "serve"
    same_folder = subprocess.run([serve, *deployed.arguments], capture_output=True, text=True, timeout=60)
    assert same_folder.returncode == 1
    assert f"Process {deployed.state()['supervisor']} already serves from '{deployed.run}'." in same_folder.stderr
    elsewhere = [*deployed.arguments[:-1], str(tmp_path / "run")]
    same_port = subprocess.run([serve, *elsewhere], capture_output=True, text=True, timeout=60)
    assert same_port.returncode == 1
    assert f"Port {deployed.port} cannot be had" in same_port.stderr


async def websockets_until(server, status):
    """How many websockets one address gets before it gets this status."""
    async with AsyncExitStack() as stack:
        for number in range(9):
            if (await Browser(server).get("/_stcore/health"))[0] == status:
                return number
            await stack.enter_async_context(await Browser(server).connect())
    return None


def test_a_small_server_holds_its_limit_and_everybody_ends_with_it_however_it_ends(needs_nginx, tmp_path):
    with deployed_server(tmp_path / "a", 1, "--per-address", "3") as served:
        assert awaited(websockets_until(served.server, 429)) == 3
        assert oct(served.run.stat().st_mode)[-3:] == "700"
        pids = served.pids()
        (served.run / "rooms.sqlite").touch()
        (served.run / "rooms.sqlite-wal").touch()
        served.process.send_signal(signal.SIGTERM)
        assert served.process.wait(60) == 0
        until(lambda: not any(map(alive, pids)))
        assert {path.name for path in served.run.iterdir()} == {"assets", "lock", "nginx.conf", "temp"}  # no votes
        served.start(os.environ | {"PYTHONDONTWRITEBYTECODE": "1"})  # the folder and the ports are free again
        pids = served.pids()
        served.process.kill()
        until(lambda: not any(map(alive, pids)))
        served.process.wait()
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", served.port))
