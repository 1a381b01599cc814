"""Bytes to text: what is no text is refused before anything is unpacked, and encodings are told apart."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from objpert_core.datasets.tables.messages import TableError

_AS_CSV = "save the table as CSV in UTF-8"
_NEITHER = "neither UTF-8 nor surely Windows-1252"
_OTHER_FILES = (  # what such files begin with; none is opened
    (b"PK", "a workbook (xlsx, ods) or a zip archive"),
    (b"\xd0\xcf\x11\xe0", "a workbook (xls)"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ", "an xz archive"),
    (b"7z\xbc\xaf", "a 7z archive"),
    (b"(\xb5/\xfd", "a zstd archive"),
    (b"Rar!", "a rar archive"),
    (b"%PDF", "a PDF"),
    (b"{\\rtf", "a text document (rtf)"),
    (b"PAR1", "a Parquet file"),
    (b"ARROW1", "an Arrow file"),
    (b"SQLite format 3", "a database"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"GIF8", "a picture"),
    (b"\x7fELF", "a program"),
)
_ZIP = re.compile(rb"PK[\x03\x05\x07]")
_BYTE_ORDER_MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")


class Decoded(NamedTuple):
    """A file as text, with line feeds whatever its lines ended with (at most one at the end), and its cautions."""

    text: str
    encoding: str
    cautions: tuple[str, ...] = ()


def decode(content: bytes, encoding: str | None = None) -> Decoded:
    """The text of a file."""
    if not isinstance(content, bytes):
        raise TypeError(f"content must be bytes, got {type(content).__name__}")
    refuse_other_files(content)
    text, encoding, cautions = _letters(content, encoding)
    text = line_feeds(text).rstrip("\n")
    if not text.strip():
        raise TableError("the file must hold a table, and it is empty")
    if found := _CONTROL.search(text):
        row = row_after(text[: found.start()])
        raise TableError(f"row {row} holds a control character: the file must be text; {_AS_CSV}", row=row)
    _refuse_other_texts(text)
    return Decoded(text, encoding, cautions)


def line_feeds(text: str) -> str:
    """The text with line feeds, whatever its lines end with."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def row_after(text: str) -> int:
    """The row in which the next character after `text` stands, where line ends within quotation marks end no row."""
    return 1 + "".join(line_feeds(text).split('"')[::2]).count("\n")


def refuse_other_files(content: bytes) -> None:
    """`TableError` for what begins as a file that is no text."""
    for start, kind in _OTHER_FILES:
        if content.startswith(start) and (start != b"PK" or _ZIP.match(content)):
            raise TableError(f"the file must be text with one row a line, got {kind}: {_AS_CSV}")


def _refuse_other_texts(text: str) -> None:
    start, end = text.lstrip()[:200].lower(), text.rstrip()[-1:]
    if start.startswith(("<!doctype", "<html", "<?xml", "<table", "<head", "<body", "<svg")):
        raise TableError(f"the file must be a table as CSV, got a web page or XML: {_AS_CSV}", row=1)
    if (start[0], end) in (("{", "}"), ("[", "]")):
        raise TableError(f"the file must be a table as CSV, got JSON: {_AS_CSV}", row=1)


def _letters(content: bytes, encoding: str | None) -> tuple[str, str, tuple[str, ...]]:
    for mark, meant in _BYTE_ORDER_MARKS:
        if content.startswith(mark):
            if encoding not in (None, meant):
                raise TableError(f"the file says that it is {meant}, not {encoding}", row=1, asks="encoding")
            return _strictly(content, "utf-8-sig" if meant == "utf-8" else meant), meant, ()
    if encoding is not None:
        return _strictly(content, encoding), encoding, ()
    if b"\0" in content:
        row = row_after(content[: content.index(b"\0")].decode("latin-1"))
        raise TableError(f"row {row} holds a NUL byte: the file must be text; {_AS_CSV}", row=row, asks="encoding")
    try:
        return content.decode("utf-8"), "utf-8", ()
    except UnicodeDecodeError as error:
        return _western(content, error), "windows-1252", (
            "the file is not UTF-8 and was read as Windows-1252: if letters in the names look wrong, "
            "save it as CSV in UTF-8",
        )  # fmt: skip


def _strictly(content: bytes, encoding: str) -> str:
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        row = row_after(content[: error.start].decode(encoding, errors="ignore"))
        own = encoding.removesuffix("-sig")
        guess = "; they may be windows-1252" if own == "utf-8" else ""
        raise TableError(
            f"row {row} holds letters that are not {own}{guess}: {_AS_CSV}", row=row, asks="encoding"
        ) from None


def encoding_of(pieces: Iterable[bytes]) -> str:
    """The encoding of a file of any size, found as by `decode`; no piece ends within a letter of UTF-8."""
    seen: set[str] = set()
    for place, piece in enumerate(pieces):
        marked = [meant for mark, meant in _BYTE_ORDER_MARKS if place == 0 and piece.startswith(mark)]
        if marked:
            return marked[0]
        if piece.isascii():
            continue
        try:
            piece.decode("utf-8")
            seen.add("utf-8")
        except UnicodeDecodeError as error:
            _western(piece, error)
            seen.add("windows-1252")
        if len(seen) == 2:
            raise TableError(f"the file holds letters that are {_NEITHER}: {_AS_CSV}", asks="encoding")
    return seen.pop() if seen else "utf-8"


def _western(content: bytes, error: UnicodeDecodeError) -> str:
    """The text as Windows-1252, unless it has letters in UTF-8, too, or bytes that Windows-1252 does not know."""
    loose = content.decode("utf-8", errors="surrogateescape")
    mixed = re.search(r"[^\x00-\x7f\udc80-\udcff]", loose)
    try:
        text = content.decode("windows-1252")
    except UnicodeDecodeError:
        text = None
    if mixed or text is None:
        row = row_after(content[: error.start].decode("utf-8", errors="ignore"))
        raise TableError(
            f"row {row} holds letters that are {_NEITHER}: {_AS_CSV}",
            row=row,
            asks="encoding",
        ) from None
    return text
