"""The widgets of the ledger: its text bound to the address, the form that changes one entry, files that are opened.

Every change goes through a callback that writes the whole ledger's text to the session state, where the bound text
field picks it up: the address, the list and the totals always say the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import streamlit as st

from pages.composition import files as ledger_files
from pages.composition import ledger as lg
from ui import sentences
from ui.controls import Control, SelectSlider

NEW = "new"
_WHICH, _KIND, _NAME, _COUNT = (f"composition__{part}" for part in ("which", "kind", "name", "count"))
_FILE, _PASTED, _REFUSED, _DONE = (f"composition__{part}" for part in ("file", "pasted", "refused", "done"))


@dataclass(frozen=True)
class LedgerText(Control):
    """The ledger as text, in the address and in a field; what cannot be read falls back to the default."""

    def mend(self) -> None:
        """At the start of a page's run: replace what cannot be read by the default, in the address as well.

        On the first run the address wins over anything that is set here; `show` then runs the page once more.
        """
        if self.key not in st.session_state:
            if not all(map(_readable, st.query_params.get_all(self.key))):
                del st.query_params[self.key]
        elif not _readable(st.session_state[self.key]):
            st.session_state[self.key] = self.default

    def show(self, *, disabled: bool = False, label_visibility: str = "visible") -> str:
        """Draw the field and return the text."""
        text = st.text_input(
            self.label,
            value=self.default,
            on_change=self._typed,
            **self._common(disabled, label_visibility),
        )
        if not _readable(text):
            st.rerun()
        st.session_state[self._good] = text
        return text

    @property
    def _good(self) -> str:
        return f"{self.key}__good"

    def _typed(self) -> None:
        """Put what was typed into its canonical form, or the last good text back with a reason."""
        with _Refusals():
            st.session_state[self.key] = lg.write(lg.parse(st.session_state[self.key]))
            return
        st.session_state[self.key] = st.session_state.get(self._good, self.default)

    def ledger(self) -> lg.Ledger:
        """The entries."""
        text = self.value()
        return lg.parse(text if _readable(text) else self.default)

    def set(self, entries: lg.Ledger) -> None:
        """Write a ledger to the session state; only in callbacks."""
        st.session_state[self.key] = lg.write(lg.checked(entries))


def _readable(text: Any) -> bool:
    try:
        lg.parse(text)
    except ValueError:
        return False
    return bool(text)


class _Refusals:
    """A `ValueError` inside a callback becomes a sentence that the page shows under the form."""

    def __enter__(self) -> None:
        st.session_state.pop(_REFUSED, None)
        st.session_state.pop(_DONE, None)

    def __exit__(self, kind: Any, error: BaseException | None, _trace: Any) -> bool:
        if isinstance(error, ValueError):
            st.session_state[_REFUSED] = sentences.sentence(str(error))
            return True
        return False


def messages() -> None:
    """What the last change has to say, once."""
    if refused := st.session_state.pop(_REFUSED, None):
        st.error(refused, icon=":material/error:")
    if done := st.session_state.pop(_DONE, None):
        st.success(done, icon=":material/check:")


def form(text: LedgerText) -> None:
    """Choose an entry, or a new one, and change it."""
    entries = text.ledger()
    options = [NEW, *range(len(entries))]
    if st.session_state.get(_WHICH) not in options:
        st.session_state[_WHICH] = NEW
    chosen, kinds = st.columns(2, gap="small")
    which = chosen.selectbox(
        "Entry",
        options,
        key=_WHICH,
        format_func=lambda item: "A new one" if item == NEW else f"{item + 1}. {entries[item].label}",
        on_change=_load,
        args=(text,),
    )
    kind = kinds.selectbox("Kind of release", list(lg.KINDS), key=_KIND, format_func=lambda word: lg.KINDS[word].label)
    with st.form("composition_form", border=True):
        st.text_input("Name (optional)", key=_NAME, max_chars=lg.LONGEST_NAME)
        fields: list[lg.Parameter | None] = [None, *lg.KINDS[kind].parameters]  # None: how many
        for row in range(0, len(fields), 2):
            for column, parameter in zip(st.columns(2, gap="small"), fields[row : row + 2], strict=False):
                with column:
                    if parameter:
                        _field(kind, parameter)
                    else:
                        st.number_input("How many", 1, lg.MOST_COPIES, key=_COUNT)
        label, icon = ("Add to the list", ":material/add:") if which == NEW else ("Save entry", ":material/save:")
        st.form_submit_button(label, key="composition_save", icon=icon, on_click=_save, args=(text,), type="primary")
    with st.container(horizontal=True):
        off = which == NEW
        for name, icon, action in _ACTIONS:
            key = f"composition_{name.lower().replace(' ', '_')}"
            st.button(name, key=key, icon=icon, disabled=off, on_click=action, args=(text,))
    messages()


def _field(kind: str, parameter: lg.Parameter) -> None:
    key = _key(kind, parameter)
    if parameter.options:
        st.selectbox(parameter.label, parameter.options, key=key, help="Which proof the fit is accounted by.")
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


def _step(parameter: lg.Parameter) -> float:
    """What the field's arrows add: a power of ten about a tenth of the usual value."""
    usual = parameter.default if isinstance(parameter.default, (int, float)) else 1.0
    return 10.0 ** (math.floor(math.log10(usual)) - (1 if usual != 10.0 ** round(math.log10(usual)) else 0))


def _key(kind: str, parameter: lg.Parameter) -> str:
    return f"composition__{kind}_{parameter.name}"


def _load(text: LedgerText) -> None:
    """Fill the form with the chosen entry."""
    state, which = st.session_state, st.session_state[_WHICH]
    if which == NEW:
        state[_NAME], state[_COUNT] = "", 1
        return
    entry = text.ledger()[which]
    state[_KIND], state[_NAME], state[_COUNT] = entry.kind, entry.name, entry.count
    for parameter, value in zip(lg.KINDS[entry.kind].parameters, entry.values, strict=True):
        state[_key(entry.kind, parameter)] = value


def _drafted() -> lg.Entry:
    """The entry that the form describes."""
    state, kind = st.session_state, st.session_state[_KIND]
    values = [state[_key(kind, parameter)] for parameter in lg.KINDS[kind].parameters]
    if kind == "fit" and values[3] == "logistic":
        values[4] = None  # the logistic bound has a smoothness of its own
    return lg.Entry(kind, tuple(values), state[_COUNT], state[_NAME])


def _save(text: LedgerText) -> None:
    with _Refusals():
        entries, entry, which = text.ledger(), _drafted(), st.session_state[_WHICH]
        text.set(lg.checked((*entries, entry)) if which == NEW else lg.replaced(entries, which, entry))
        st.session_state[_DONE] = (
            f"Entry {len(entries) + 1} added: {entry.label}." if which == NEW else f"Entry {which + 1} saved."
        )


def _remove(text: LedgerText) -> None:
    with _Refusals():
        which = st.session_state[_WHICH]
        text.set(lg.removed(text.ledger(), which))
        st.session_state[_WHICH] = NEW
        _load(text)
        st.session_state[_DONE] = f"Entry {which + 1} removed."


def _move(text: LedgerText, by: int) -> None:
    with _Refusals():
        entries, which = text.ledger(), st.session_state[_WHICH]
        text.set(lg.moved(entries, which, by))
        st.session_state[_WHICH] = min(max(which + by, 0), len(entries) - 1)


_ACTIONS: tuple[tuple[str, str, Callable[[LedgerText], None]], ...] = (
    ("Move up", ":material/arrow_upward:", lambda text: _move(text, -1)),
    ("Move down", ":material/arrow_downward:", lambda text: _move(text, 1)),
    ("Remove", ":material/delete:", _remove),
)


def saved(text: LedgerText, delta: SelectSlider, target: SelectSlider) -> None:
    """Go on with a ledger from a file, from what is pasted, or from its text."""
    with st.expander("Go on with a saved ledger", icon=":material/folder_open:"):
        st.file_uploader(
            "A JSON or CSV file from this page",
            type=["json", "csv"],
            key=_FILE,
            on_change=_open,
            args=(_FILE, text, delta, target),
        )
        st.text_area("Or paste what is in it", key=_PASTED, height=100, max_chars=ledger_files.LARGEST)
        st.button("Open what is pasted", key="composition_open", on_click=_open, args=(_PASTED, text, delta, target))
        text.show()
        st.caption(
            "One entry: kind, * how many, : its parameters in the form's order, @ its name. Kinds: "
            + ", ".join(f"{word} ({kind.label})" for word, kind in lg.KINDS.items())
            + ". Of a file only its entries, δ and the target are read; everything else is computed again."
        )


def _open(source: str, text: LedgerText, delta: SelectSlider, target: SelectSlider) -> None:
    content = st.session_state[source]
    if not content:
        return
    with _Refusals():
        found = ledger_files.read(content if isinstance(content, str) else content.getvalue())
        text.set(found.entries)
        kept = []
        for control, value in ((delta, found.delta), (target, found.target)):
            if value in control.options:
                st.session_state[control.key] = value
            elif value is not None:
                told = f"{control.label} = {sentences.scientific(value, 3)}"
                kept.append(f"{told} is not offered here and was left as it was.")
        st.session_state[_WHICH] = NEW
        n = sentences.count(len(found.entries), "entry", "entries")
        st.session_state[_DONE] = " ".join([f"{n[0].upper()}{n[1:]} opened.", *kept])
