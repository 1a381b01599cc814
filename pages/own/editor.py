"""The widgets around a table: how its file is written, one line a column, a schema that is loaded or kept.

What is typed is kept by the column's name for as long as the session lasts. A mended file with the same columns finds
it again.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import streamlit as st

from objpert_core.datasets import Dialect, Sketch, TableError, TableSchema, look_at
from pages.own import form, upload
from pages.own.upload import Upload
from ui import jobs, page, sentences

_TYPED, _GRID, _LOOKED, _LOADED = (f"own__{part}" for part in ("typed", "grid", "looked", "loaded"))
_SCHEMA = "own__schema"
_MARKS: dict[str, dict[str, Any]] = {
    "delimiter": {"find out": None, "comma ,": ",", "semicolon ;": ";", "tab": "\t", "bar |": "|"},
    "decimal": {"find out": None, "point .": ".", "comma ,": ","},
    "thousands": {"none": "", "comma ,": ",", "point .": ".", "apostrophe ’": "'", "blank": " "},
    "encoding": {"find out": None, "UTF-8": "utf-8", "UTF-16": "utf-16", "Windows-1252": "windows-1252"},
}
_ASKED = {
    "delimiter": "Columns are separated by",
    "decimal": "Decimal mark",
    "thousands": "Thousands are separated by",
    "encoding": "Encoding",
}
_ROWS_HELP = (
    "Type the number only if people know the number without this table. The rules for the noise and λ use it, and the "
    "certificate holds whatever the true number is. If you leave the field empty, the page counts the rows, and the "
    "certificate says that everybody may know the number of rows."
)
ROWS_COUNTED = "counted, and known to all"
"""What stands in the field for the number of rows while nothing is typed there."""
_LABELS = {
    "role": ("Role", None),
    "low": (
        "Lowest",
        "The smallest possible value, as publicly known. Smaller values count as this one. "
        f"Type “{form.LEARNED}” if nobody knows a number’s range.",
    ),
    "high": ("Highest", "The largest possible value, as publicly known. Larger values count as this one."),
    "categories": (
        "Categories",
        "Separate the values by semicolons. For a target, type its values; of two, the value for “no” comes first.",
    ),
    "missing": ("If missing", "The public value that replaces a missing one. If empty, a missing value is refused."),
    "written": ("Written as", "The form of a date, such as %d.%m.%Y, or the currency symbol of a sum, such as $."),
    "mark": ("Mark missing", "Adds a feature that says whether the number was missing."),
    "other": (
        "Others too",
        "If on, an unlisted value counts as none of the categories. If off, an unlisted value is refused.",
    ),
}


@dataclass(frozen=True)
class Known:
    """What is known of a table before it is fitted."""

    text: str  # its schema as JSON; empty where something lacks
    dialect: Dialect
    step: str  # what to do next; empty where everything is there
    rows: int | None = None  # the number of its rows, where it is public
    idle: tuple[str, ...] = ()  # the columns that are left out although something is typed about them


def show(uploaded: Upload | None) -> Known:
    """Draw all of it; what is wrong with the file or the lines is said where it stands."""
    dialect = _dialect()
    if uploaded is None:
        rows = _rows()
        _load()
        return Known("", dialect, "upload your table", rows)
    sketch = _looked(uploaded, dialect)
    if isinstance(sketch, str):
        st.error(sketch, icon=":material/error:")
        rows = _rows()
        written(dialect, opened=True)
        _load()
        return Known("", dialect, "correct the file, or say how it is written", rows)
    for caution in sketch.cautions:
        st.info(sentences.sentence(caution), icon=":material/info:")
    lines, rows = _edited(sketch.names), _rows()
    try:
        text, step = form.schema(lines).to_json(), ""
    except ValueError as error:  # holds what was typed, and columns' names: shown, and not logged
        text, step = "", str(error)
    written(dialect, opened=sketch.dialect.decimal is None)
    _load(text)
    if sketch.dialect.decimal is None:
        return Known("", dialect, "choose the decimal mark of the file’s numbers", rows)
    return Known(text, dialect, step, rows, form.idle(lines))


def _rows() -> int | None:
    """The number of rows, where it is public."""
    label = "Number of rows, if public"
    options: dict[str, Any] = {"help": _ROWS_HELP, "placeholder": ROWS_COUNTED, "width": 320}
    rows = st.number_input(label, 1, 10_000_000, None, key="own__rows", **options)
    return int(rows) if rows else None


def _dialect() -> Dialect:
    """How the file is written, as far as it was said."""
    said = {name: marks[st.session_state.get(f"own__{name}") or next(iter(marks))] for name, marks in _MARKS.items()}
    return Dialect(**said)


def written(dialect: Dialect, *, opened: bool) -> None:
    """Where one says how the file is written."""
    with st.expander("How the file is written", icon=":material/format_quote:", expanded=opened):
        for column, (name, marks) in zip(st.columns(len(_MARKS)), _MARKS.items(), strict=True):
            column.selectbox(_ASKED[name], list(marks), key=f"own__{name}")


def _looked(uploaded: Upload, dialect: Dialect) -> Sketch | str:
    """The names of the file's columns, or one sentence on why there are none; read once a file."""
    asked, held = (uploaded.number, dialect), st.session_state.get(_LOOKED)
    if held is not None and held[0] == asked:
        return held[1]
    found: Sketch | str
    try:
        with jobs.moment():
            found = look_at(uploaded.content, dialect)
    except TableError as error:
        found = sentences.sentence(str(error))
    st.session_state[_LOOKED] = asked, found
    return found


_HERE = Path(__file__).parent
_LINES = st.components.v2.component(
    "own_lines",
    js=(_HERE / "lines.js").read_text(encoding="utf-8"),
    css=(_HERE / "lines.css").read_text(encoding="utf-8"),
    isolate_styles=False,
)
"""Fields that keep what is typed into them: Streamlit's grid loses letters while a run is under way."""
# Each is wide enough for its title, and all nine fit beside the panel.
_PIXELS = dict(zip(_LABELS, (145, 72, 74, 115, 92, 98, 104, 90), strict=True))


def _edited(names: tuple[str, ...]) -> tuple[form.Line, ...]:
    """The lines as they are typed."""
    known: dict[str, form.Line] = st.session_state.setdefault(_TYPED, {})
    held = st.session_state.get(_GRID)
    if held is None or held[0] != names or _key(held[1]) not in st.session_state:
        version = 0 if held is None else held[1] + 1
        held = st.session_state[_GRID] = names, version, form.lines_for(names, known)
    _, version, first = held  # the same in every run: what is typed since is the browser's, which tells all of it
    data = {"version": version, "fields": _FIELDS, "rows": [asdict(line) for line in first]}
    told = _LINES(key=_key(version), data=data).get("rows")
    lines = first if told is None else form.typed(names, told)
    known.update((line.column, line) for line in lines)
    return lines


def _key(version: int) -> str:
    return f"own_lines_{version}"  # a component’s key has no two underscores in a row


def _field(name: str) -> Mapping[str, Any]:
    """What the browser has to know of one thing that is typed about a column."""
    label, told = _LABELS[name]
    kind = "choice" if name == "role" else "switch" if name in form.SWITCHES else "text"
    options = form.ROLES if kind == "choice" else ()
    return {"name": name, "label": label, "help": told, "kind": kind, "options": options, "width": _PIXELS[name]}


_FIELDS = [_field(name) for name in _LABELS]


def _load(text: str = "") -> None:
    """Where the lines are saved, once they make a schema, and opened again."""
    with st.expander("Save or load your entries", icon=":material/folder_open:"):
        if text:
            page.download("Save the schema", text.encode, "schema.json", "download", key="own_saved")
        st.caption("A `schema.json` from this page, or from Python, fills in the columns by name.")
        upload.note(_SCHEMA, st.file_uploader("A schema as JSON", type=["json"], key=_SCHEMA, on_change=_loaded))
        if told := st.session_state.get(_LOADED):
            st.caption(told)


def _loaded() -> None:
    file = st.session_state[_SCHEMA]
    if file is None:
        return
    try:
        lines = form.of_schema(TableSchema.from_json(file.getvalue().decode("utf-8")))
    except UnicodeDecodeError:
        st.session_state[_LOADED] = "A schema is text in UTF-8; this file is not."
    except ValueError as error:
        st.session_state[_LOADED] = sentences.sentence(str(error))
    else:
        st.session_state.setdefault(_TYPED, {}).update(lines)
        if (held := st.session_state.get(_GRID)) is not None:
            st.session_state[_GRID] = (), held[1], held[2]  # drawn anew
        st.session_state[_LOADED] = f"Filled in: {sentences.count(len(lines), 'column')}."
