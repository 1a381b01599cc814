"""The widgets of the ledger: its text bound to the address, the form that changes one entry, files that are opened.

Every change goes through a callback that writes the whole ledger's text to the session state, where the bound text
field picks it up: the address, the list and the totals always say the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import streamlit as st

from objpert_core.accounting import ledger as ledgers
from objpert_core.accounting import ledger_file
from ui import controls, sentences

NEW = "new"
_WHICH, _KIND, _NAME, _COUNT = (f"composition__{part}" for part in ("which", "kind", "name", "count"))
_FILE, _PASTED, _REFUSED, _DONE = (f"composition__{part}" for part in ("file", "pasted", "refused", "done"))


@dataclass(frozen=True)
class LedgerText(controls.TypedText):
    """The ledger as text."""

    def parse(self, text: Any) -> ledgers.Ledger:
        return ledgers.parse(text)

    def readable(self, text: Any) -> bool:
        return bool(text) and super().readable(text)

    def _typed(self) -> None:
        typed = st.session_state[self.key]
        st.session_state[self.key] = st.session_state.get(self.good, self.default)
        with _refusals():
            self.set(self.parse(typed))

    def set(self, entries: ledgers.Ledger) -> None:
        """Write a ledger to the session state; only in callbacks."""
        st.session_state[self.key] = ledgers.write(ledgers.checked(entries))


@contextmanager
def _refusals() -> Iterator[None]:
    """A `ValueError` inside a callback becomes a sentence that the page shows under the form."""
    st.session_state.pop(_REFUSED, None)
    st.session_state.pop(_DONE, None)
    try:
        yield
    except ValueError as error:
        st.session_state[_REFUSED] = sentences.sentence(str(error))


def form(text: LedgerText) -> None:
    """Choose an entry, or a new one, and change it; under it what the last change has to say, once."""
    entries = text.parsed()
    options = [NEW, *range(len(entries))]
    if st.session_state.get(_WHICH) not in options:
        st.session_state[_WHICH] = NEW
    names = {NEW: "A new entry"} | {index: f"{index + 1}. {entry.label}" for index, entry in enumerate(entries)}
    chosen, kinds = st.columns(2, gap="small")
    which = chosen.selectbox("Entry", options, key=_WHICH, format_func=names.__getitem__, on_change=_load, args=(text,))
    kind = kinds.selectbox(
        "Kind of release", list(ledgers.KINDS), key=_KIND, format_func=lambda word: ledgers.KINDS[word].label
    )
    with st.form("composition_form", border=True):
        st.text_input("Name (optional)", key=_NAME, max_chars=ledgers.LONGEST_NAME)
        fields = _fields(kind)
        for row in range(0, len(fields), 2):
            for column, (key, parameter) in zip(st.columns(2, gap="small"), fields[row : row + 2], strict=False):
                with column:
                    _field(key, parameter)
        label, icon = ("Add to the list", ":material/add:") if which == NEW else ("Save entry", ":material/save:")
        st.form_submit_button(label, key="composition_save", icon=icon, on_click=_save, args=(text,), type="primary")
    with st.container(horizontal=True):
        for name, icon, by in _ACTIONS:
            key = f"composition_{name.lower().replace(' ', '_')}"
            st.button(name, key=key, icon=icon, disabled=which == NEW, on_click=_change, args=(text, by))
    if refused := st.session_state.pop(_REFUSED, None):
        st.error(refused, icon=":material/error:")
    if done := st.session_state.pop(_DONE, None):
        st.success(done, icon=":material/check:")


_ACTIONS = (
    ("Move up", ":material/arrow_upward:", -1),
    ("Move down", ":material/arrow_downward:", 1),
    ("Remove", ":material/delete:", None),
)


def _fields(kind: str) -> list[tuple[str, ledgers.Parameter]]:
    """Key and parameter of each field of the form: how many, then those of the kind."""
    parameters = ledgers.KINDS[kind].parameters
    return [
        (_COUNT, ledgers.COUNT),
        *((f"composition__{kind}_{parameter.name}", parameter) for parameter in parameters),
    ]


def _field(key: str, parameter: ledgers.Parameter) -> None:
    if parameter.options:
        options, named = list(parameter.options), parameter.options.__getitem__
        st.selectbox(parameter.label, options, key=key, format_func=named, help="The proof that accounts for the fit.")
        return
    optional = parameter.default is None
    st.session_state.setdefault(key, parameter.default)
    number = int if parameter.whole else float
    limits: dict[str, Any] = {
        "min_value": number(parameter.low),
        "max_value": number(parameter.high),
        "value": None if optional else "min",
        "step": number(_step(parameter)),
        "format": "%d" if parameter.whole else "%.10g",
        "placeholder": "L²/4" if optional else None,
    }
    st.number_input(parameter.label + (" (not for logistic loss)" if optional else ""), key=key, **limits)


def _step(parameter: ledgers.Parameter) -> float:
    """What the field's arrows add: a power of ten about a tenth of the usual value, or one where that is usual."""
    usual = parameter.default if isinstance(parameter.default, (int, float)) else 1.0
    return 10.0 ** (math.floor(math.log10(usual)) - (1 if usual != 10.0 ** round(math.log10(usual)) else 0))


def _load(text: LedgerText) -> None:
    """Fill the form with the chosen entry."""
    state, which = st.session_state, st.session_state[_WHICH]
    if which == NEW:
        state[_NAME], state[_COUNT] = "", 1
        return
    entry = text.parsed()[which]
    state[_KIND], state[_NAME] = entry.kind, entry.name
    for (key, _), value in zip(_fields(entry.kind), (entry.count, *entry.values), strict=True):
        state[key] = value


def _drafted() -> ledgers.Entry:
    """The entry that the form describes."""
    kind = st.session_state[_KIND]
    count, *values = (st.session_state[key] for key, _ in _fields(kind))
    if kind == "fit" and values[3] == "logistic":
        values[4] = None  # the logistic bound has a smoothness of its own
    return ledgers.Entry(kind, tuple(values), count, st.session_state[_NAME])


def _save(text: LedgerText) -> None:
    with _refusals():
        entries, entry, which = text.parsed(), _drafted(), st.session_state[_WHICH]
        text.set((*entries, entry) if which == NEW else ledgers.replaced(entries, which, entry))
        done = f"Entry {len(entries) + 1} added: {entry.label}." if which == NEW else f"Entry {which + 1} saved."
        st.session_state[_DONE] = done


def _change(text: LedgerText, by: int | None) -> None:
    """Move the chosen entry `by` places, or remove it."""
    with _refusals():
        entries, which = text.parsed(), st.session_state[_WHICH]
        if by is not None:
            text.set(ledgers.moved(entries, which, by))
            st.session_state[_WHICH] = min(max(which + by, 0), len(entries) - 1)
            return
        text.set(ledgers.replaced(entries, which))
        st.session_state[_WHICH] = NEW
        _load(text)
        st.session_state[_DONE] = f"Entry {which + 1} removed."


def saved(text: LedgerText, delta: controls.SelectSlider, target: controls.SelectSlider) -> None:
    """Go on with a ledger from a file, from what is pasted, or from its text."""
    with st.expander("Go on with a saved ledger", icon=":material/folder_open:"):
        label, controls = "A JSON or CSV file from this page, or events of dp_accounting", (text, delta, target)
        st.file_uploader(label, type=["json", "csv"], key=_FILE, on_change=_open, args=(_FILE, *controls))
        st.text_area("Or paste the file’s content", key=_PASTED, height=100, max_chars=ledger_file.LARGEST)
        st.button("Open the pasted text", key="composition_open", on_click=_open, args=(_PASTED, *controls))
        text.show()
        st.caption(
            "Write an entry as kind, *count, :parameters in the order of the form, @name. Kinds: "
            + ", ".join(f"{word} ({kind.label})" for word, kind in ledgers.KINDS.items())
            + ". From a file the page reads only the entries (or the event), δ and the target. It computes "
            "everything else again."
        )


def _open(source: str, text: LedgerText, delta: controls.SelectSlider, target: controls.SelectSlider) -> None:
    content = st.session_state[source]
    if not content:
        return
    with _refusals():
        found = ledger_file.read(content if isinstance(content, str) else content.getvalue())
        text.set(found.entries)
        told = [f"{sentences.count(len(found.entries), 'entry', 'entries').capitalize()} opened."]
        for control, value in ((delta, found.delta), (target, found.target)):
            if value in control.options:
                st.session_state[control.key] = value
            elif value is not None:
                what = f"{control.label} = {sentences.scientific(value, 3)}"
                told.append(f"{what} is not offered here, so the old value stays.")
        st.session_state[_WHICH] = NEW
        st.session_state[_DONE] = " ".join(told)
