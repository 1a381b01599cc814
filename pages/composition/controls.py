"""The controls of the page "Several releases": those of the fits, those of the list, and what changes the list.

Every change of the list goes through a callback that writes its whole text to the session state, where the bound text
field picks it up: the address, the list and the totals always say the same.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import streamlit as st

from objpert_core.accounting import ledger as ledgers
from objpert_core.accounting import ledger_file
from objpert_core.accounting.ledger import MOST_ENTRIES
from ui import controls, figures, parameters, sentences
from ui.controls import ROUND_STEPS, Choice, Control, Number, SelectSlider, Several, Toggle, log_values

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


# Colour and marker of the curves for the first, second, … number of fits; none differs by colour alone
LOOKS = (
    (figures.BLUE, "square"),
    (figures.TEAL, "circle"),
    (figures.GREEN, "diamond"),
    (figures.OLIVE, "triangle-up"),
    (figures.BROWN, "x"),
)
PAIRED = "-pair"  # ends the name of a bound that is composed through its symmetric pair
BOUNDS = {
    "2023 theorem": "glm",
    "2023 theorem, symmetric pair": "glm-pair",
    "our theorem": "logistic",
    "our theorem, symmetric pair": "logistic-pair",
}
CURVES, WIDTHS = "δ against ε", "width of the validated band"

# Figure 3 of the paper; the text does not name its k
TILT = "Standard deviation of each coordinate of the random tilt b, in every fit."
SIGMA = parameters.sigma("composition", 8.0, extra=[8.0], help=TILT)
LAM = parameters.lam("composition", 10.0, help=None)
CURVATURE = "Largest curvature of one person’s loss. Only the 2023 theorem uses this slider."
BETA = parameters.smoothness("composition", 1.0, help=CURVATURE)
LIPSCHITZ = parameters.lipschitz("composition", 1.0, help=None)
WERE = ("Theorem 3.1", "Theorem 3.1, symmetric pair", "tight, logistic loss", "tight, symmetric pair")
FORMER = dict(zip(WERE, BOUNDS, strict=True))  # what older links call a proof
BOUND = Choice("composition_bound", "Proof for each fit", "2023 theorem", tuple(BOUNDS), former=FORMER)
COUNTS = Several(
    "composition_k",
    "Numbers of fits k",
    (1, 2, 5, 10),
    options=(1, 2, 3, 4, 5, 7, 10, 12, 15, 20, 30, 50, 70, 100, 200, 365, 500, 1000),
    format=str,
    most=len(LOOKS),
)
READ_DELTA = parameters.read_delta("composition")
LARGE = log_values(100, 1e7, steps=(1, 2, 5))  # a thousand fits with very little noise cost ε = 5,000,000
ENDS = (0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 30.0, 50.0, *LARGE)
EPS_MAX = parameters.view("composition", "ε axis up to", 5.0, ENDS)
FLOOR = parameters.floor("composition", (1e-50, 1e-20, 1e-15, 1e-12, 1e-10, 1e-8, 1e-6, 1e-4))
SHOW = Choice("composition_show", "Show", CURVES, (CURVES, WIDTHS))
WIDTH = SelectSlider(
    "composition_width",
    "Wanted width of the band, share of ε",
    1e-3,
    (2e-4, 1e-3, 5e-3, 0.02, 0.1),
    help="Sets how fine the grid of the convolution is. At 0.1 you can see the band.",
)
RENYI = Toggle("composition_renyi", "Rényi curves", True)
GHOST = parameters.ghost("composition")

LEDGER = LedgerText(
    "composition_ledger", "The list as text", "fit*3:8,10,1@Models;dpsgd:1,0.01,1000;gauss:20,1@Histogram"
)
LEDGER_DELTA = parameters.delta("composition", name="list_delta", label="δ for the whole list")
TARGET = SelectSlider("composition_target", "Target ε", 3.0, log_values(0.1, 50, steps=ROUND_STEPS))
LEFT = Toggle(
    "composition_left",
    "Say what still fits",
    False,
    help="How many more of each entry would keep the composed total within the target.",
)
FILTER = Toggle(
    "composition_filter",
    "Privacy filter: choose the noise as you go",
    False,
    help="A budget in μ lets releases through one by one. For Gaussian noise, μ is the sensitivity (how far one row "
    "can move the result) over σ. You fix the budget beforehand, but not the noise.",
)
RELEASED = Number(
    "composition_released",
    "Entries that are released already",
    1,
    low=0,
    high=MOST_ENTRIES,
    help="The other entries are planned.",
)
FITS = (SIGMA, LAM, BETA, LIPSCHITZ, BOUND, COUNTS, READ_DELTA, SHOW, RENYI, EPS_MAX, FLOOR, WIDTH)
LIST = (LEDGER, LEDGER_DELTA, TARGET, LEFT, FILTER, RELEASED)
LINKED: tuple[Control, ...] = (*FITS, GHOST, *LIST)
