"""A table of texts as Markdown, LaTeX, CSV, JSON or aligned text: what pages show and commands print, for a paper.

Rows are mappings from column to text, and columns stand in the order in which rows first name them. The numbers are
already rounded, promises upwards. Every text is escaped for the format that it is written in.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence

from objpert_core import __version__
from objpert_core._validation import choice
from objpert_core.latex_text import escaped, with_powers

Rows = Sequence[Mapping[str, str]]
FORMATS = ("text", "markdown", "latex", "csv", "json")
LONG = 45
"""Rows that still fit on a page of LaTeX; more of them make a ``longtable``."""

_NUMBER = re.compile(r"([−+-]?[\d,]*\d)(\.\d+)?(?!\d)(.*)")
_NUMERIC = re.compile(r"(?:[<>≤≥≈]? ?[−+-]?|\()\d")  # in parentheses, a standard error beneath its coefficient
_HYPHEN = re.compile(r"^-(?=\d)")
_MISSING = ("", "–", "∞", "−∞")
_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|~$&!])")
_FORMULA_STARTS = frozenset("=+-−@＝＋－＠\t\r\n")
_UNSEEN = {"Cc", "Cf", "Zl", "Zp", "Zs"}  # what may stand before a formula and be dropped: blanks, marks without width
_AMOUNT = r"(?:∞|\d[\d., '’\u00a0\u202f]*+(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)"
_PLAIN_NUMBER = re.compile(rf"[+−-] ?{_AMOUNT}(?: ?± ?{_AMOUNT})?(?: ?%)?")
_LABEL = re.compile(r"[A-Za-z0-9:._-]*")
_SHORT = 14
"""Letters of a number that stays on one line, as 84.02 ± 0.31."""
LOOKALIKES = dict(zip("*`~$[]{}<>|\\_:.", "∗'∼＄［］｛｝‹›¦∖＿∶․", strict=True))
"""Letters of a stranger's text that a page could take for marks, and what stands there instead (`safe_text`)."""
_AS_TYPED = str.maketrans({other: mark for mark, other in LOOKALIKES.items() if other != "'"})
_LINE = 345.0
"""Points of an article's line."""
_SIZES = {"": (10.0, 6.0), r"\small": (9.25, 6.0), r"\footnotesize": (8.5, 6.0)}
_WIDE = " % wider than a line: turn its page, as with the package pdflscape"
_SIZES[r"\footnotesize\setlength{\tabcolsep}{3pt}"] = (8.5, 3.0)
"""Points of an em, of which a letter takes about a half, and of the gap on each side of a column."""


def write(rows: Rows, form: str, *, caption: str = "", label: str = "") -> str:
    r"""The table in one of `FORMATS`, with a line feed at its end; only LaTeX has a label, and CSV and JSON have no
    caption.

    Without rows the text is empty, in JSON an empty list. `ValueError` for another `form` or label.
    """
    choice("form", form, FORMATS)
    if form == "latex":
        return to_latex(rows, caption=caption, label=label)
    captioned: dict[str, Callable[..., str]] = {"text": to_text, "markdown": to_markdown}
    if form in captioned:
        return captioned[form](rows, caption=caption)
    return to_csv(rows) if form == "csv" else to_json(rows)


def to_text(rows: Rows, *, caption: str = "") -> str:
    """The table for a terminal, in aligned columns, numbers to the right; the caption is a line above it."""
    if not rows:
        return ""
    heads, cells = _cells(rows)
    right = [_numeric(column) for column in zip(*cells, strict=True)]
    widths = [max(map(_width, column)) for column in zip(heads, *cells, strict=True)]
    lines = [_one_line(caption)] if caption else []
    for row in (heads, *cells):
        padded = (
            " " * (width - _width(cell)) + cell if flush else cell + " " * (width - _width(cell))
            for cell, width, flush in zip(row, widths, right, strict=True)
        )
        lines.append("  ".join(padded).rstrip())
    return "\n".join(lines) + "\n"


def to_markdown(rows: Rows, *, caption: str = "") -> str:
    """The table as GitHub, pandoc and Jupyter read it, numbers to the right; the caption is a paragraph above it."""
    if not rows:
        return ""
    heads, cells = _cells(rows)
    lines = [unmarked(caption), ""] if caption else []
    lines.append("| " + " | ".join(map(unmarked, heads)) + " |")
    lines.append("|" + "".join("---:|" if _numeric(column) else "---|" for column in zip(*cells, strict=True)))
    lines += ["| " + " | ".join(map(unmarked, row)) + " |" for row in cells]
    return "\n".join(lines) + "\n"


def to_latex(rows: Rows, *, caption: str = "", label: str = "") -> str:
    """The table for plain pdfLaTeX, with booktabs' lines and numbers on the decimal sign; its first line says which
    packages it needs.

    More than `LONG` rows make a ``longtable``; columns of words are broken where it would be too wide. The caption is
    text; a label of other than letters, digits and ``:._-`` is a `ValueError`.
    """
    if not _LABEL.fullmatch(label):
        raise ValueError(f"label must have letters, digits and :._- only, got {label!r}")
    if not rows:
        return ""
    heads, cells = _cells(rows)
    size, layout = _layout(heads, cells)
    columns = [_on_the_decimal_sign(column) for column in zip(*cells, strict=True)]
    head = " & ".join(map(escaped, heads)) + r" \\"
    body = [" & ".join(row) + r" \\" for row in zip(*columns, strict=True)]
    named = rf"\caption{{{escaped(caption)}}}" if caption else ""
    named += rf"\label{{{label}}}" if caption and label else ""
    kind, package = ("longtable", ",longtable") if len(cells) > LONG else ("table", "")
    lines = [rf"% objpert {__version__}: \usepackage{{booktabs,array{package}}}"]
    if kind == "table":
        lines += [r"\begin{table}", r"  \centering", *([f"  {named}"] if named else [])]
        lines += [f"  {size}"] if size else []
        lines += [rf"  \begin{{tabular}}{{{layout}}}", r"    \toprule", f"    {head}", r"    \midrule"]
        lines += [f"    {row}" for row in body]
        lines += [r"    \bottomrule", r"  \end{tabular}", r"\end{table}"]
    else:
        lines += [f"{{{size}", rf"\begin{{longtable}}{{{layout}}}", *([rf"  {named} \\"] if named else [])]
        lines += [r"  \toprule", f"  {head}", r"  \midrule", r"  \endhead", r"  \bottomrule", r"  \endfoot"]
        lines += [*(f"  {row}" for row in body), r"\end{longtable}}"]
    return "\n".join(lines) + "\n"


def to_csv(rows: Rows) -> str:
    """The shown texts as CSV under the columns' names; what a spreadsheet takes for a formula begins with a mark."""
    if not rows:
        return ""
    file = io.StringIO()
    heads, cells = _cells(rows)
    csv.writer(file, lineterminator="\n").writerows([[safe_cell(cell) for cell in row] for row in (heads, *cells)])
    return file.getvalue()


def safe_cell(text: str) -> str:
    """Text for a file that a spreadsheet may open: what begins as formulas do gets a mark, but for a plain number.

    The rest of the text does not matter: ``-2+3+cmd|…`` begins with a number, and a spreadsheet would compute it.

    >>> safe_cell("=1+1"), safe_cell("-2+3"), safe_cell("−2.5 ± 0.3"), safe_cell("age")
    ("'=1+1", "'-2+3", '−2.5 ± 0.3', 'age')
    """
    seen = (letter for letter in text if letter in _FORMULA_STARTS or unicodedata.category(letter) not in _UNSEEN)
    begins = next(seen, "") in _FORMULA_STARTS
    return "'" + text if begins and not _PLAIN_NUMBER.fullmatch(text.strip(" ")) else text


def is_formula(text: str) -> bool:
    """Whether an unannounced value looks like a formula; a sign by itself does not."""
    return len(text) > 1 and safe_cell(text) != text


def to_json(rows: Rows) -> str:
    """The rows as a JSON list of objects, texts as they are shown."""
    return json.dumps([dict(row) for row in rows], ensure_ascii=False, indent=2) + "\n"


# --- what the formats share ---------------------------------------------------------------------------------------


def _cells(rows: Rows) -> tuple[list[str], list[list[str]]]:
    heads = list(dict.fromkeys(name for row in rows for name in row))
    return [_one_line(head) for head in heads], [[_one_line(str(row.get(name, ""))) for name in heads] for row in rows]


def _one_line(text: str) -> str:
    """One line without what a terminal obeys, marks without width and halves of letters."""
    kept = {"Cc": " ", "Cf": "", "Cs": "\N{REPLACEMENT CHARACTER}"}
    return " ".join("".join(kept.get(unicodedata.category(letter), letter) for letter in text).split())


def _width(text: str) -> int:
    """How many places of a terminal a text takes."""
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    return len(text) + wide - sum(bool(unicodedata.combining(letter)) for letter in text)


def _numeric(column: Sequence[str]) -> bool:
    """Whether every cell that is not missing begins with a number, and is little more."""
    shown = [cell for cell in column if cell not in _MISSING]
    return bool(shown) and all(_NUMERIC.match(cell) and len(cell.split()) <= 4 for cell in shown)


def unmarked(text: str) -> str:
    """Text in which Markdown sees no markup."""
    return _MARKUP.sub(r"\\\1", _one_line(text))


# --- LaTeX --------------------------------------------------------------------------------------------------------


def _on_the_decimal_sign(column: Sequence[str]) -> list[str]:
    """The cells as LaTeX, with an invisible rest behind the decimal sign; flush right where units differ."""
    if not _numeric(column):
        return [escaped(cell) for cell in column]
    column = [_HYPHEN.sub("−", with_powers(cell)) for cell in column]
    plain = [escaped(cell) for cell in column]
    parts = [_NUMBER.fullmatch(cell) for cell in column]
    units = {found.group(3) for found in parts if found}
    if len(units) != 1 or any(not found and cell not in _MISSING for found, cell in zip(parts, column, strict=True)):
        beside = any(cell.startswith("(") for cell in column)
        return [cell + r"\phantom{)}" if beside and cell and not cell.endswith(")") else cell for cell in plain]
    longest = max(len(found.group(2) or "") for found in parts if found)
    unit = escaped(units.pop())
    cells = []
    for found, cell in zip(parts, plain, strict=True):
        if found is None:
            cells.append(cell)
            continue
        whole, share = escaped(found.group(1)), found.group(2) or ""
        unseen = ("." if longest and not share else "") + "0" * (longest - max(len(share), 1) if longest else 0)
        cells.append(f"{whole}{share}{unit}" + (rf"\phantom{{{unseen}}}" if unseen else ""))
    return cells


def _layout(heads: Sequence[str], cells: Sequence[Sequence[str]]) -> tuple[str, str]:
    """Size of the letters and the columns' kinds, so that the table is no wider than a line if possible."""
    columns = list(zip(*cells, strict=True))
    right = [_numeric(column) for column in columns]
    natural = [max(map(_width, (head, *column))) for head, column in zip(heads, columns, strict=True)]
    for size in ("", r"\small"):
        if sum(natural) <= _room(size, len(columns)):
            return size, "".join("r" if flush else "l" for flush in right)
    words = [
        max(_width(word) for text in (head, *column) for word in ["", *text.split()])
        for head, column in zip(heads, columns, strict=True)
    ]
    least = [  # short numbers are not broken into lines, their heads are
        max(word, min(max(map(_width, column)), _SHORT)) if flush else word
        for word, column, flush in zip(words, columns, right, strict=True)
    ]
    for size in list(_SIZES)[1:]:
        room = _room(size, len(columns)) - len(columns)
        if sum(least) <= room:
            break
    else:
        size += _WIDE
    spare = max(0.0, room - sum(least))
    wanted = [math.sqrt(max(0, full - need)) for full, need in zip(natural, least, strict=True)]
    share = spare / (sum(wanted) or 1.0)
    widths = [min(full, need + share * want) for full, need, want in zip(natural, least, wanted, strict=True)]
    kinds = (
        rf">{{\ragged{'left' if flush else 'right'}\arraybackslash}}p{{{0.5 * width + 0.3:.1f}em}}"
        for flush, width in zip(right, widths, strict=True)
    )
    return size, "".join(kinds)


def _room(size: str, columns: int) -> float:
    """How many letters a line of so many columns holds."""
    em, gap = _SIZES[size]
    return (_LINE - 2 * gap * columns) / (em / 2)


def as_typed(text: str) -> str:
    """A text with the marks that `LOOKALIKES` replaced, for a terminal, where nobody takes them for marks."""
    return text.translate(_AS_TYPED)
