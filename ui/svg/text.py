"""Text in an SVG file: how wide it will be, where to break it, and how to write it.

Nobody knows which font a reader's machine has, so widths are estimates: Helvetica's, and a tenth more.
"""

from __future__ import annotations

import re
from xml.sax.saxutils import escape

SIZE = 13.0  # of ordinary text, in pixels
POINTS = 8.0  # of text in a figure for a paper
POINT = POINTS / SIZE  # of the paper, for a pixel
LINE = 16.0  # from one line to the next
INK = "#222222"
FONTS = "Helvetica, Arial, sans-serif"

_WIDTHS = {0.28: " .,:;!|'/\\Iijlft()[]ιτ·’‘", 0.4: 'r-"“”⁻⁰¹²³⁴⁵⁶⁷⁸⁹', 0.8: "mwMWGOQ%@&−…", 0.69: "ABCDEHKNPRSUVXY"}
_WIDTH = {letter: width for width, letters in _WIDTHS.items() for letter in letters}
_SLACK = 1.1


def text_width(text: str, size: float = SIZE) -> float:
    """An estimate of a line's width in pixels, rather too much than too little."""
    return _SLACK * size * sum(_WIDTH.get(letter, 0.57) for letter in text)


def plain(text: str) -> str:
    """One line without plotly's tags."""
    return " ".join(lines(text))


def lines(text: str, room: float | None = None, size: float = SIZE) -> list[str]:
    """A text without plotly's tags, broken where it says so and, given the `room`, where it would be too wide."""
    found = []
    for part in re.sub(r"</?[bi]>", "", text).split("<br>"):
        words = part.split()
        while words:
            count = len(words)
            while room is not None and count > 1 and text_width(" ".join(words[:count]), size) > room:
                count -= 1
            found.append(" ".join(words[:count]))
            words = words[count:]
    return found


def write(text: str, x: float, y: float, anchor: str = "start", more: str = "") -> str:
    """One line of text with its baseline at y."""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{INK}"{more}>{escape(text)}</text>'
