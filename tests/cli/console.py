"""Command lines run in this process, as a terminal shows them; the console blocks of a page."""

import contextlib
import io
import re
import shlex

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
