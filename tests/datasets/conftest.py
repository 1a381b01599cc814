import hashlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from objpert_core.datasets import _catalogue, _files

REAL_DATA = Path(__file__).resolve().parents[3] / "shared" / "data"


@pytest.fixture(autouse=True)
def clean_slate(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test sees another one's environment or cached data, and none waits between tries."""
    monkeypatch.delenv(_files.DATA_DIR_VARIABLE, raising=False)
    monkeypatch.delenv(_files.BASE_URL_VARIABLE, raising=False)
    monkeypatch.setattr(_files.time, "sleep", lambda seconds: None)
    _catalogue._cache.clear()


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Where data sets look for their files, and nowhere else: nobody answers to what they ask."""
    monkeypatch.setenv(_files.DATA_DIR_VARIABLE, str(tmp_path))
    monkeypatch.setenv(_files.BASE_URL_VARIABLE, "http://127.0.0.1:1/")
    return tmp_path


@pytest.fixture
def real_adult(monkeypatch: pytest.MonkeyPatch) -> Path:
    if not (REAL_DATA / "adult" / "adult.data").is_file():
        pytest.skip("the real Adult files are not in ../shared/data")
    monkeypatch.setenv(_files.DATA_DIR_VARIABLE, str(REAL_DATA))
    return REAL_DATA / "adult"


class Server:
    """A web server on this machine; `failures[path]` is a list of statuses (or "cut") to answer with first."""

    def __init__(self) -> None:
        self.content: dict[str, bytes] = {}
        self.failures: dict[str, list[int | str]] = {}
        self.requests: list[str] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.requests.append(self.path)
                queue = outer.failures.get(self.path, [])
                failure = queue.pop(0) if queue else None
                body = outer.content.get(self.path)
                if isinstance(failure, int) or body is None:
                    self.send_error(failure if isinstance(failure, int) else 404)
                    return
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body[: len(body) // 2] if failure == "cut" else body)

            def log_message(self, *arguments: object) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}/"
        threading.Thread(target=self.http.serve_forever, args=(0.01,), daemon=True).start()


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server()
    yield running
    running.http.shutdown()
    running.http.server_close()


@pytest.fixture
def archive(server: Server, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Server:
    """A server that answers to what data sets ask."""
    monkeypatch.setenv(_files.BASE_URL_VARIABLE, server.url)
    return server


@pytest.fixture
def small_gisette(server: Server) -> tuple[_files.RawFile, ...]:
    """Files of Gisette's format, 40 + 10 rows of 12 columns, served under the archive's paths."""
    generator = np.random.default_rng(5)

    def matrix(rows: int) -> bytes:
        # The archive's lines end in a space before the line break.
        return "".join(" ".join(map(str, row)) + " \n" for row in generator.integers(0, 1000, (rows, 12))).encode()

    def labels(rows: int) -> bytes:
        return "".join(f"{mark}\n" for mark in generator.choice([-1, 1], rows)).encode()

    files = []
    for raw, body in zip(_catalogue.GISETTE_FILES, (matrix(40), matrix(10), labels(40), labels(10)), strict=True):
        server.content["/" + raw.remote] = body
        files.append(_files.RawFile(raw.folder, raw.name, raw.remote, hashlib.sha256(body).hexdigest()))
    return tuple(files)
