"""Command lines run in this process, as a terminal shows them; the console blocks of a page."""

import contextlib
import io
import re
import shlex

import numpy as np

from objpert_core.cli import main
from tests.datasets.tables.fixtures import FILES

PEOPLE = (FILES / "google_sheets.csv").read_bytes()
"""Forty people, as docs/own_data.md has them."""
COLUMNS = (
    'people.csv --target moved --two-values moved=no:yes --number age:18:80 --number "weekly hours:0:48" '
    '--missing "weekly hours=38" --categories job=office,café,workshop --categories member=FALSE,TRUE'
)


def run(line: str) -> tuple[int, str]:
    """Exit code and all that a terminal shows of ``objpert …``."""
    program, *arguments = shlex.split(line)
    assert program == "objpert", line
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(shown):
        code = main(arguments)
    return code, shown.getvalue()


def console(page: str) -> list[tuple[str, str]]:
    """Every command of a page's console blocks, with what stands below it."""
    found = []
    for block in re.findall(r"^```console\n(.*?)^```$", page, flags=re.DOTALL | re.MULTILINE):
        for piece in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            lines = piece.splitlines(keepends=True)
            end = next(at for at, line in enumerate(lines) if not line.endswith("\\\n"))
            found.append(("".join(lines[: end + 1]).replace("\\\n", " "), "".join(lines[end + 1 :])))
    return found


def town() -> bytes:
    """Five thousand made people whose chance of moving falls with age."""
    generator = np.random.default_rng(0)
    age, hours = generator.integers(18, 81, 5000), generator.integers(0, 49, 5000)
    job = generator.choice(["office", "café", "workshop"], 5000)
    scores = -0.05 * (age - 40) + 0.6 * (job == "café")
    moved = np.where(generator.random(5000) < 1 / (1 + np.exp(-scores)), "yes", "no")
    lines = [f"{a},{h},{j},{m}" for a, h, j, m in zip(age, hours, job, moved, strict=True)]
    return "\n".join(["age,weekly hours,job,moved", *lines, ""]).encode()
