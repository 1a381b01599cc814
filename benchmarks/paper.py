"""The short paper: its text with all numbers computed anew, and a PDF of that text.

    python -m benchmarks.paper

reads docs/paper/paper.in.md and writes docs/paper/paper.md and docs/paper/paper.pdf. Takes a few seconds.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from xml.sax.saxutils import escape

import reportlab
from reportlab.lib.colors import HexColor
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Flowable, KeepTogether, Paragraph, Preformatted, SimpleDocTemplate, Spacer, Table

from benchmarks.paper_numbers import filled

FOLDER = Path(__file__).parents[1] / "docs" / "paper"
SOURCE, TEXT, PRINTED = (FOLDER / name for name in ("paper.in.md", "paper.md", "paper.pdf"))
FONT = Path(__file__).parents[1] / "ui" / "svg" / "font" / "DejaVuSans.ttf"
BESIDE = Path(reportlab.__file__).parent / "fonts"
"""Bitstream Vera, of which DejaVu is the larger sister. It comes with reportlab and has bold and slanted letters."""
LETTERS, BOLD, SLANTED, TYPED = "PaperText", "PaperBold", "PaperSlanted", "Courier"
INK, RULE = HexColor("#1f2933"), HexColor("#9aa5b1")
WIDTH = A4[0] - 44 * mm - 12  # a frame of reportlab has a padding of six points
_RAISED = {"<sub>": '<sub rise="2" size="6.6">', "<sup>": '<sup rise="3.4" size="6.6">'}
_MARKS = re.compile(r"\*\*(?P<bold>.+?)\*\*|(?<![\w*])\*(?P<slanted>[^*\s][^*]*?)\*(?!\w)|`(?P<typed>[^`]+)`")


def digest(text: str) -> str:
    """What the PDF says of the text that it was made of."""
    return hashlib.sha256(text.encode()).hexdigest()


def as_pdf(text: str) -> bytes:
    """A PDF of a text in the Markdown that the paper uses; the same bytes each time."""
    for name, path in ((LETTERS, FONT), (BOLD, BESIDE / "VeraBd.ttf"), (SLANTED, BESIDE / "VeraIt.ttf")):
        pdfmetrics.registerFont(TTFont(name, str(path)))
    file = BytesIO()
    title = re.match(r"# (.*)\n", text)[1]
    document = SimpleDocTemplate(
        file,
        pagesize=A4,
        leftMargin=22 * mm,
        rightMargin=22 * mm,
        topMargin=20 * mm,
        bottomMargin=20 * mm,
        title=title,
        author="objpert",
        subject=digest(text),
        invariant=1,
        lang="en",
    )
    document.build(list(_flow(text)), onFirstPage=_foot, onLaterPages=_foot)
    return file.getvalue()


def _foot(canvas: Canvas, document: SimpleDocTemplate) -> None:
    canvas.setFont(LETTERS, 8)
    canvas.setFillColor(INK)
    canvas.drawCentredString(A4[0] / 2, 11 * mm, str(document.page))


# --- blocks ------------------------------------------------------------------------------------------------------


def _style(size: float, **more: object) -> ParagraphStyle:
    return ParagraphStyle("", fontName=LETTERS, fontSize=size, leading=1.42 * size, textColor=INK, **more)


BODY = _style(9.2, spaceAfter=5.5, alignment=4)
FORMULA = _style(9.2, leftIndent=9 * mm, spaceAfter=5.5)
CODE = ParagraphStyle("", fontName=TYPED, fontSize=9, leftIndent=9 * mm)
POINT = _style(9.2, leftIndent=5 * mm, bulletIndent=1 * mm, spaceAfter=3)
CELL = _style(7.8)
HEADS = {
    1: _style(17, spaceAfter=8, alignment=1),
    2: _style(11.5, spaceBefore=7, spaceAfter=5, keepWithNext=1),
}


def _flow(text: str) -> Iterator[Flowable]:
    for block in re.split(r"\n{2,}", text.strip()):
        lines = block.splitlines()
        if level := len(block) - len(block.lstrip("#")):
            yield Paragraph(_marked(block[level + 1 :], base=BOLD), HEADS[level])
        elif block.startswith("> "):
            for formula in re.split(r"\n>\s*\n", block):
                yield Paragraph(
                    _marked(" ".join(line[2:] for line in formula.splitlines()).replace("  ", WIDE)), FORMULA
                )
        elif block.startswith("|"):
            yield KeepTogether([_table(lines), Spacer(0, 7)])
        elif block.startswith("* "):
            for point in re.split(r"\n(?=\* )", block):
                yield Paragraph(_marked(" ".join(point[2:].split())), POINT, bulletText="•")
            yield Spacer(0, 3)
        elif block.startswith("`" * 3):
            yield Preformatted("\n".join(lines[1:-1]), CODE)
            yield Spacer(0, 6)
        else:
            yield Paragraph(_marked(" ".join(lines)), BODY)


def _table(lines: list[str]) -> Table:
    """As wide as the text; a column gets a share by its longest line."""
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in (lines[0], *lines[2:])]
    longest = [max(7, *(min(len(row[i]), 34) for row in rows)) for i in range(len(rows[0]))]
    cells = [
        [Paragraph(_marked(cell, base=BOLD if i == 0 else LETTERS), CELL) for cell in row] for i, row in enumerate(rows)
    ]
    return Table(
        cells,
        colWidths=[WIDTH * share / sum(longest) for share in longest],
        style=[
            ("LINEABOVE", (0, 0), (-1, 0), 0.8, INK),
            ("LINEBELOW", (0, 0), (-1, 0), 0.5, RULE),
            ("LINEBELOW", (0, -1), (-1, -1), 0.8, INK),
            ("VALIGN", (0, 0), (-1, -1), "TOP"),
            ("TOPPADDING", (0, 0), (-1, -1), 1.6),
            ("BOTTOMPADDING", (0, 0), (-1, -1), 2.2),
            ("LEFTPADDING", (0, 0), (-1, -1), 2),
            ("RIGHTPADDING", (0, 0), (-1, -1), 4),
        ],
    )


WIDE = 4 * "\N{NO-BREAK SPACE}"
"""Between the parts of a formula, where the text has two spaces."""


# --- letters -----------------------------------------------------------------------------------------------------


def _marked(text: str, base: str = LETTERS) -> str:
    """What stands in a paragraph: **bold**, *slanted*, `typed`, and links by their words; <sub> and <sup> stay."""
    text = re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", text)
    parts, end = [], 0
    for found in _MARKS.finditer(text):
        parts.append(_in(text[end : found.start()], base))
        face = {"bold": BOLD, "slanted": SLANTED, "typed": TYPED}[found.lastgroup]
        parts.append(_in(found[found.lastgroup], face))
        end = found.end()
    return "".join([*parts, _in(text[end:], base)])


def _in(text: str, face: str) -> str:
    """`text` in a face; letters that it does not have, such as Greek ones, in that which has all."""
    pieces = []
    for piece in re.findall(r"</?su[bp]>|[ -ÿ]+?(?=</?su[bp]>|[^ -ÿ]|$)|[^ -ÿ]+", text):
        if re.fullmatch(r"</?su[bp]>", piece):
            pieces.append(_RAISED.get(piece, piece))
        elif face == LETTERS or piece[0] > "ÿ":
            pieces.append(escape(piece))
        else:
            pieces.append(f'<font name="{face}">{escape(piece)}</font>')
    return "".join(pieces)


def main() -> None:
    text = filled(SOURCE.read_text(encoding="utf-8"))
    TEXT.write_text(text, encoding="utf-8")
    PRINTED.write_bytes(as_pdf(text))
    print(f"wrote {TEXT} and {PRINTED}")


if __name__ == "__main__":
    main()
