"""From nothing to a certificate, as a new user goes: a fresh environment, `pip install` of the wheel, a fit, the app.

    python -m benchmarks.first_steps            prints the table
    python -m benchmarks.first_steps --write    puts it into docs/command.md

pip keeps no cache here, so that every package is fetched. The data are drawn here and no person's.
"""

from __future__ import annotations

import argparse
import os
import platform
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.shared import commit, put_between

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "command.md"
MARKERS = "<!-- first steps -->", "<!-- /first steps -->"
ROWS = 5_000
ACCOUNTING = "accounting --sigma 10 --lam 5 --delta 1e-5"
FIT = (
    "fit people.csv --target moved --two-values moved=no:yes --number age:18:80 --categories job=office,workshop "
    f"--epsilon 1 --public-rows {ROWS} --out release"
)
VERIFY = "verify release"


def people() -> pd.DataFrame:
    """A table of made people: age, job, and whether they moved."""
    rng = np.random.default_rng(0)
    age, job = rng.integers(18, 81, ROWS), rng.choice(["office", "workshop"], ROWS)
    moved = rng.random(ROWS) < 1 / (1 + np.exp((age - 40) / 10))
    return pd.DataFrame({"age": age, "job": job, "moved": np.where(moved, "yes", "no")})


def clean() -> dict[str, str]:
    """The environment of somebody who has nothing of this project: no module path, no pinned versions."""
    return {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "PIP_CONSTRAINT"}}


def timed(words: Sequence[str | Path], folder: Path) -> float:
    """Seconds that a command takes; `CalledProcessError` where it fails."""
    began = time.perf_counter()
    subprocess.run([str(word) for word in words], cwd=folder, check=True, stdout=subprocess.DEVNULL, env=clean())
    return time.perf_counter() - began


def until_it_answers(command: Sequence[str | Path], folder: Path) -> float:
    """Seconds from the start of the app to its first page."""
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    began = time.perf_counter()
    words = [*map(str, command), "--port", str(port), "--no-browser"]
    with subprocess.Popen(words, cwd=folder, env=clean(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as app:
        try:
            while app.poll() is None:
                try:
                    urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5).read()
                    return time.perf_counter() - began
                except OSError:
                    time.sleep(0.05)
            raise RuntimeError(f"the app ended with code {app.returncode}")
        finally:
            app.terminate()


def steps(folder: Path) -> Iterator[tuple[str, float]]:
    """Each step and its seconds."""
    timed([sys.executable, "-m", "build", "--wheel", "--outdir", folder, ROOT], folder)
    (wheel,) = folder.glob("*.whl")
    people().to_csv(folder / "people.csv", index=False)
    pip = [folder / "venv/bin/pip", "install", "-q", "--no-cache-dir"]
    objpert = folder / "venv/bin/objpert"
    yield "`python3 -m venv venv`", timed([sys.executable, "-m", "venv", "venv"], folder)
    yield f"`venv/bin/pip install ./{wheel.name}`", timed([*pip, wheel], folder)
    for words in (ACCOUNTING, FIT, VERIFY):
        yield f"`objpert {words}`", timed([objpert, *words.split()], folder)
    yield f'`venv/bin/pip install "./{wheel.name}[app]"`', timed([*pip, f"{wheel}[app]"], folder)
    yield "`objpert`, until the app answers", until_it_answers([objpert, "app"], folder)


def table() -> str:
    """The steps with their times, and where and when they were taken."""
    lines = ["| step | seconds | since the start |", "|---|---|---|"]
    load, total = os.getloadavg()[0], 0.0
    with tempfile.TemporaryDirectory() as name:
        for step, seconds in steps(Path(name)):
            total += seconds
            lines.append(f"| {step} | {seconds:.1f} | {int(total // 60)}:{total % 60:02.0f} |")
            print(lines[-1], file=sys.stderr)
    made = (
        f"`python -m benchmarks.first_steps`: {datetime.now(UTC):%Y-%m-%d}, commit {commit()}, {platform.machine()}, "
    )
    made += f"{os.cpu_count()} processors, Python {platform.python_version()}, load before {load:.1f}."
    return "\n".join([*lines, "", made])


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.first_steps", description=__doc__.partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="put the table into docs/command.md")
    options = parser.parse_args(arguments)
    made = table()
    print(made)
    if options.write:
        put_between(PAGE, MARKERS, made)
    return 0


if __name__ == "__main__":
    sys.exit(main())
