"""Python that gives the numbers on the screen: cells with placeholders, ``# %% name``, in a page's ``snippets.py``.

A cell is complete (imports included), short enough to read aloud, and prints its result. It is made from the same
parameters that the page used. Tests execute every one and compare what it prints, and the names it defines, with the
plotted numbers.
"""

import re
from collections.abc import Mapping
from typing import Any

from ui.registry import ROOMS


class Verbatim(str):
    """Text that stands in a snippet as it is: a part of an expression, a capital word that is no placeholder."""

    def __repr__(self) -> str:
        return str(self)


def filled(page: str, name: str, blanks: Mapping[str, Any]) -> str:
    """The cell `name` of ``pages/<page>/snippets.py`` with its placeholders, the capital names, filled in.

    A line that is the name of another cell in capitals stands for that cell.
    """
    text = (ROOMS / page / "snippets.py").read_text(encoding="utf-8")
    _, *cells = re.split(r"^# %% (\w+)\n", text, flags=re.MULTILINE)
    known = dict(zip(cells[::2], cells[1::2], strict=True))
    template = re.sub(r"^[A-Z]+$", lambda line: known.get(line[0].lower(), line[0]).strip(), known[name], flags=re.M)
    template = template.rstrip() + "\n"
    values = {key.upper(): value for key, value in blanks.items()}
    return re.sub(r"\b[A-Z][A-Z_]+\b", lambda match: repr(values.get(match[0], Verbatim(match[0]))), template)
