"""Controls bound to the URL: declare them once at the top of a page, show them; `ui.share` builds its link from them.

A control is a small frozen description with a `key` (prefixed by its page, for instance ``bounds_sigma``) and a
`default`. `show()` draws the Streamlit widget with ``bind="query-params"``, so that

* its value is in the address as ``?bounds_sigma=5`` (left out while it equals the default),
* nonsense there (not a number, out of range, not one of the options, repeated, empty) falls back to the default,
* a value that a preset wrote to the session state before `show()` wins and is put into the address.

The address holds the *formatted* option, so the formats are plain numbers without units.

    SIGMA = SelectSlider("bounds_sigma", "Noise σ", 5.0, log_values(0.1, 1000))
    CONTROLS = (SIGMA, ...)
    PRESETS = (Preset("Figure 1 left", {SIGMA: 5.0}),)

    preset_buttons(PRESETS)          # before the controls: a press sets their values exactly
    sigma = SIGMA.show()
"""

import math
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar
from urllib.parse import parse_qs, urlencode

import streamlit as st
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.scriptrunner import get_script_run_ctx

from objpert_core._literals import plain
from ui import cite, registry, slides

T = TypeVar("T")

# Two significant digits, the E24 preferred numbers: 24 steps a decade, evenly spread on a log scale to within 5 %
_E24: tuple[float, ...] = (1.0, 1.1, 1.2, 1.3, 1.5, 1.6, 1.8, 2.0, 2.2, 2.4, 2.7, 3.0)
_E24 += (3.3, 3.6, 3.9, 4.3, 4.7, 5.0, 5.6, 6.2, 6.8, 7.5, 8.2, 9.1)
# One or two digits, ten or so a decade, and only round ones: for values that people say aloud (ε, δ)
ROUND_STEPS = (1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0)


def log_values(
    low: float, high: float, *, extra: Iterable[float] = (), steps: Sequence[float] | None = None
) -> tuple[float, ...]:
    """Rounded values from `low` to `high` (both inclusive when round), evenly spread on a log scale.

    `extra` values are offered exactly, as presets need them; `steps` are the mantissas of a decade, E24 unless given.

    >>> log_values(1, 3, steps=(1, 2, 5), extra=[1.25])
    (1.0, 1.25, 2.0)
    """
    mantissas = _E24 if steps is None else steps
    decades = range(math.floor(math.log10(low)) - 1, math.floor(math.log10(high)) + 2)
    values = {float(f"{m:.12g}e{d}") for d in decades for m in mantissas}
    within = {v for v in values if low * (1 - 1e-12) <= v <= high * (1 + 1e-12)}
    return tuple(sorted(within | {float(v) for v in extra}))


def powers_of_ten(low: int, high: int) -> tuple[float, ...]:
    """1e`low`, …, 1e`high`, each the double nearest to its decimal name."""
    return tuple(float(f"1e{k}") for k in range(low, high + 1))


_NOT_TAKEN = "controls__not_taken"
_PLAIN = re.compile(r"[\w.,+−-]{1,20}")


def refuse(key: str, asked: list[str]) -> None:
    """Remember for `not_taken` what an address asked for."""
    st.session_state.setdefault(_NOT_TAKEN, {})[key] = asked


def not_taken() -> str:
    """One sentence about what the address asked for and no control could take, said once; else empty."""
    refused: Mapping[str, Sequence[str]] = st.session_state.pop(_NOT_TAKEN, {})
    if not refused:
        return ""
    named = (
        f"{key} = {' and '.join(texts)}" if all(map(_PLAIN.fullmatch, texts)) else key for key, texts in refused.items()
    )
    return f"The address asks for something that this page does not have: {', '.join(named)}."


@dataclass(frozen=True)
class Control:
    """What every control has: the key in the session state and the address, a label, a default, a help text."""

    key: str
    label: str
    default: Any
    help: str | None = field(default=None, kw_only=True)

    def show(self, *, disabled: bool = False, label_visibility: str = "visible") -> Any:
        """Draw the widget here and return its value."""
        if self.key not in st.session_state and (named := st.query_params.get_all(self.key)) and not self._takes(named):
            refuse(self.key, named)
        return self._draw(
            key=self.key, help=self.help, bind="query-params", disabled=disabled, label_visibility=label_visibility
        )

    def _draw(self, **common: Any) -> Any:
        raise NotImplementedError

    def _takes(self, named: Sequence[str]) -> bool:
        """Whether it can be at what the address names; may mend the address before it says so."""
        return True

    def offers(self, value: Any) -> bool:
        """Whether a preset may set it to `value`."""
        return True

    def value(self) -> Any:
        """The current value without drawing anything: what the session holds, else the default."""
        return st.session_state.get(self.key, self.default)

    def stored(self, value: Any) -> Any:
        """`value` as the session state has to hold it."""
        return value

    def encode(self, value: Any) -> str | list[str]:
        """`value` as a link writes it; a list where it names the key several times."""
        return str(value)

    def written(self, value: Any) -> str | list[str]:
        """`value` as Streamlit writes it into the address."""
        return self.encode(value)


@dataclass(frozen=True)
class _Listed(Control):
    """A control over listed values, which the address writes as they are formatted.

    `former` maps names that older links carry to options.
    """

    options: tuple[Any, ...] = ()
    format: Callable[[Any], str] = plain
    former: Mapping[str, Any] = field(default_factory=dict, hash=False, kw_only=True)

    def __post_init__(self) -> None:
        if not self.offers(self.default):
            raise ValueError(f"default of {self.key} must be one of its options, got {self.default!r}")

    def offers(self, value: Any) -> bool:
        """Whether it is among the options."""
        return value in self.options

    def _takes(self, named: Sequence[str]) -> bool:
        """Whether it offers what is named, after the present names were written over the former ones."""
        if any(name in self.former for name in named):
            now = [self.format(self.former[name]) if name in self.former else name for name in named]
            _write_address(self.key, list(dict.fromkeys(now)))
        offered = {self.format(option) for option in self.options}
        return len(named) <= self._most and all(name in offered for name in named)

    @property
    def _most(self) -> int:
        """How many values it may have."""
        return 1

    def encode(self, value: Any) -> str | list[str]:
        """The formatted option."""
        return self.format(value)


def _write_address(key: str, values: list[str]) -> None:
    """Write what an address says in other words into it, and run again: the address wins."""
    st.query_params[key] = values
    st.rerun()


@dataclass(frozen=True)
class SelectSlider(_Listed):
    """A slider over listed values; use it with `log_values` where a log scale is meant.

    An `exact` one takes every number from its first value to its last out of an address, and offers that, too.
    """

    exact: bool = field(default=False, kw_only=True)

    def _draw(self, **common: Any) -> Any:
        return st.select_slider(self.label, self._offered(), value=self.default, format_func=self.format, **common)

    def _offered(self) -> tuple[Any, ...]:
        asked: Iterable[Any] = st.session_state.get(f"{self.key}__asked", ())
        return tuple(sorted({*self.options, *asked})) if asked else self.options

    def _takes(self, named: Sequence[str]) -> bool:
        if super()._takes(named):
            return True
        try:
            (number,) = map(float, named)
        except ValueError:
            return False
        if not self.exact or not self.options[0] <= number <= self.options[-1]:
            return False
        st.session_state[f"{self.key}__asked"] = (number,)
        if self.format(number) != named[0]:
            _write_address(self.key, [self.format(number)])
        return True


@dataclass(frozen=True)
class Choice(_Listed):
    """A drop-down list, or radio buttons in a row with ``horizontal=True``, over listed values."""

    format: Callable[[Any], str] = str
    horizontal: bool = False

    def _draw(self, **common: Any) -> Any:
        draw: Any = partial(st.radio, horizontal=True) if self.horizontal else st.selectbox
        first = self.options.index(self.default)
        return draw(self.label, self.options, index=first, format_func=self.format, **common)


@dataclass(frozen=True)
class Several(_Listed):
    """A list from which several values are picked, at most `most`; `default` is a tuple of them.

    The address names the key once for each value.
    """

    most: int = 5

    @property
    def _most(self) -> int:
        return self.most

    def offers(self, value: Any) -> bool:
        """Whether all are among the options, and few enough."""
        return set(value) <= set(self.options) and len(value) <= self.most

    def show(self, *, disabled: bool = False, label_visibility: str = "visible") -> tuple[Any, ...]:
        """Draw the list and return what is picked, in the order of the options."""
        picked = super().show(disabled=disabled, label_visibility=label_visibility)
        return tuple(option for option in self.options if option in picked)

    def _draw(self, **common: Any) -> list[Any]:
        chosen, most = list(self.default), self.most
        return st.multiselect(
            self.label, self.options, default=chosen, format_func=self.format, max_selections=most, **common
        )

    def stored(self, value: Any) -> list[Any]:
        """`value` as the session state has to hold it."""
        return list(value)

    def encode(self, value: Any) -> list[str]:
        """The formatted options, one by one."""
        return [self.format(option) for option in value]


@dataclass(frozen=True)
class Pills(Several):
    """As `Several`, with every value in sight as a button that is on or off; `most` bounds the default only."""

    @property
    def _most(self) -> int:
        return len(self.options)

    def _draw(self, **common: Any) -> list[Any]:
        look: dict[str, Any] = {"selection_mode": "multi", "wrap": True}
        return st.pills(self.label, self.options, default=list(self.default), format_func=self.format, **look, **common)


@dataclass(frozen=True)
class Toggle(Control):
    """An on/off switch."""

    def _draw(self, **common: Any) -> bool:
        return bool(st.toggle(self.label, value=bool(self.default), **common))

    def _takes(self, named: Sequence[str]) -> bool:
        return list(named) in (["true"], ["false"])

    def encode(self, value: Any) -> str:
        """``true`` or ``false``."""
        return "true" if value else "false"


@dataclass(frozen=True)
class Number(Control):
    """A whole number typed in or stepped through: a seed, a count.

    The field is one of floats underneath: Streamlit 1.67 raises on ``?key=inf`` where it would make an integer of it.
    """

    low: int = 0
    high: int = 100
    step: int = 1

    def _draw(self, **common: Any) -> int:
        # no bounds of its own: with them the browser keeps a refused number to itself, and shows it
        self._mend_address()
        note = self._mend()
        first, step = float(self.default), float(self.step)
        number = st.number_input(self.label, value=first, step=step, format="%.0f", **common)
        if not self._fits(number):
            st.rerun()  # the browser went back to an address with it; the next run mends it
        st.session_state[f"{self.key}__used"] = number
        if note:
            st.caption(note)
        return int(number)

    def _takes(self, named: Sequence[str]) -> bool:
        try:
            (number,) = map(float, named)
        except ValueError:
            return False
        return self.low <= number <= self.high

    def _fits(self, number: float) -> bool:
        return self.low <= number <= self.high and number == int(number)

    def _mend_address(self) -> None:
        """Write a whole number into an address that has a part of one, and take out one that is out of bounds."""
        named = st.query_params.get_all(self.key)
        if self.key in st.session_state or not named:
            return
        try:
            number = float(named[-1])
        except ValueError:
            return  # Streamlit takes it out
        if self._fits(number):
            return
        if self.low <= number <= self.high:
            st.query_params[self.key] = str(_whole(number))
        else:
            del st.query_params[self.key]
        st.rerun()

    def _mend(self) -> str | None:
        """Make what the session holds a whole number within the bounds; one sentence where it was outside."""
        held = st.session_state.get(self.key)
        if held is None or self._fits(held):
            return None
        if self.low <= held <= self.high:
            st.session_state[self.key] = float(_whole(held))
            return None
        used = st.session_state.get(f"{self.key}__used", float(self.default))
        st.session_state[self.key] = used
        return f"{self.label}: type a number from {self.low:,} to {self.high:,}. The page still uses {used:,.0f}."

    def value(self) -> int:
        """The current value without drawing anything: what the session holds, else the default."""
        return _whole(super().value())

    def stored(self, value: Any) -> float:
        """`value` as the session state has to hold it."""
        return float(value)

    def encode(self, value: Any) -> str:
        """Plain decimal."""
        return str(int(value))

    def written(self, value: Any) -> str:
        """With a point, as every number of a field of floats."""
        return str(self.stored(value))

    def again(self) -> None:
        """Draw a button that moves a seed on to the next one."""
        key = f"{self.key.partition('_')[0]}_again"
        st.button("Draw again", key=key, icon=":material/casino:", on_click=self._next)

    def _next(self) -> None:
        st.session_state[self.key] = self.stored((self.value() + 1) % (self.high + 1))


def _whole(value: float) -> int:
    """The whole number that the field shows for `value`."""
    return math.floor(value + 0.5)


@dataclass(frozen=True)
class TypedText(Control):
    """Text in a field and in the address; what cannot be read falls back to the default."""

    def parse(self, text: Any) -> Any:
        """What the text says; ValueError where it says nothing."""
        raise NotImplementedError

    def readable(self, text: Any) -> bool:
        """Whether the text says what it should."""
        try:
            self.parse(text)
        except ValueError:
            return False
        return True

    def parsed(self) -> Any:
        """What the control's text says, or its default where that cannot be read."""
        text = self.value()
        return self.parse(text if self.readable(text) else self.default)

    def mend(self) -> None:
        """Before the page is drawn, replace what cannot be read; on the first run in the address, which would win."""
        if self.key in st.session_state:
            if not self.readable(st.session_state[self.key]):
                st.session_state[self.key] = self.default
        elif not all(map(self.readable, st.query_params.get_all(self.key))):
            del st.query_params[self.key]

    def _draw(self, **common: Any) -> str:
        text = str(st.text_input(self.label, value=self.default, on_change=self._typed, **common))
        if not self.readable(text):
            st.rerun()
        st.session_state[self.good] = text
        return text

    @property
    def good(self) -> str:
        """Where the session keeps the last text that could be read."""
        return f"{self.key}__good"

    def _typed(self) -> None:
        raise NotImplementedError


@dataclass(frozen=True)
class Preset:
    """A named setting: the exact value of each control it moves, and one line on what it shows."""

    name: str
    values: Mapping[Control, Any]
    help: str | None = None

    def __post_init__(self) -> None:
        for control, value in self.values.items():
            if not control.offers(value):
                raise ValueError(f"preset {self.name!r} sets {control.key} to {value!r}, which it does not offer")

    @property
    def moved(self) -> str:
        """What it sets off the defaults, 'Noise σ 2.5, Regularisation λ 10'; 'as on arrival' where that is nothing."""
        said = {True: "on", False: "off"}
        pairs = [
            (control, said[value] if isinstance(value, bool) else control.encode(value))
            for control, value in self.values.items()
            if value != control.default
        ]
        words = (f"{control.label} {text if isinstance(text, str) else ' and '.join(text)}" for control, text in pairs)
        return ", ".join(words) or "as on arrival"

    @property
    def shown(self) -> bool:
        """Whether the page is at this setting, also before its controls were drawn for the first time."""
        unread = [c for c in self.values if c.key in st.query_params and c.key not in st.session_state]
        return not unread and all(control.value() == value for control, value in self.values.items())

    def apply(self) -> None:
        """Write the values to the session state; only before the controls are shown (a button's callback is)."""
        for control, value in self.values.items():
            st.session_state[control.key] = control.stored(value)
        _write_at_once(self.values)


def _write_at_once(values: Mapping[Control, Any]) -> None:
    """Write values into the address as one entry of the browser's history.

    Left to itself Streamlit writes an address, and so an entry, for each control that is drawn with another value, and
    Back leads to settings that nobody chose.
    """
    context = get_script_run_ctx()
    if context is None:
        return
    asked = parse_qs(context.query_string, keep_blank_values=True)  # the browser's; Streamlit's own copy may be older
    asked.pop(slides.ASK, None)  # a question was about the picture before
    for control, value in values.items():
        asked.pop(control.key, None)
        if value != control.default:
            written = control.written(value)
            asked[control.key] = [written] if isinstance(written, str) else written
    with context.session_state.query_params() as address:
        address.clear_with_no_forward_msg()
        for key, texts in asked.items():
            address.set_with_no_forward_msg(key, texts)
    message = ForwardMsg()
    message.page_info_changed.query_string = context.query_string = urlencode(asked, doseq=True)
    context.enqueue(message)


def presets(
    page: str, controls: Iterable[Control], name: str = "presets", *, also: Iterable[Control] = ()
) -> tuple[Preset, ...]:
    """The presets in the ``presets.toml`` of a page, or in another file of that `name`: a table each.

    A table holds the hint and what the preset sets, by the controls' keys without the page's name. The others of
    `controls` are set to their defaults; what a table sets `also` is left as it is by the others.
    """
    usual = {control: control.default for control in controls}
    known = {control.key.removeprefix(f"{page}_"): control for control in (*usual, *also)}
    tables = tomllib.loads((registry.ROOMS / page / f"{name}.toml").read_text(encoding="utf-8"))
    return tuple(
        Preset(
            title,
            usual | {known[key]: _hashable(value) for key, value in values.items() if key != "hint"},
            values["hint"],
        )
        for title, values in tables.items()
    )


def _hashable(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


IN_A_ROW = 5
"""Presets that have a button of their own; the others stand under "More"."""


def preset_buttons(presets: Sequence[Preset], *, prefix: str) -> None:
    """One button a preset, the later ones under "More"; a press moves the controls to exactly its values.

    A slide (``?embed=true``) has two buttons instead, back and on, which the arrow keys press, too.
    """
    if st.context.is_embedded:
        _deck(tuple(presets), f"{prefix}__slide")
        return
    row = len(presets) if len(presets) <= IN_A_ROW + 1 else IN_A_ROW
    with st.container(horizontal=True, key=f"{prefix}_presets"):
        for preset in presets[:row]:
            _button(preset, prefix)
        if presets[row:]:
            with st.popover("More", key=f"{prefix}__more"):
                for preset in presets[row:]:
                    _button(preset, prefix)
        if prefix in cite.CITED:
            with st.popover("Cite", icon=":material/format_quote:", key=f"{prefix}__cite"):
                st.caption("The presets follow the figures and tables of this paper.")
                st.code(cite.bibtex(prefix), language=None, wrap_lines=True)


def _button(preset: Preset, prefix: str) -> None:
    st.button(preset.name, key=f"{prefix}_preset_{preset.name}", help=preset.help, on_click=preset.apply)


def _deck(presets: tuple[Preset, ...], key: str) -> None:
    """The presets one after the other; the setting of the link comes before the first.

    A button's key names the place it leads on from: a page that draws itself again may get a press twice.
    """
    at = st.session_state.get(key, 0 if presets[0].shown else -1)

    def go(place: int) -> None:
        st.session_state[key] = place
        st.session_state[f"{key}_turned"] = slides.ASK in st.query_params
        presets[place].apply()

    if st.session_state.pop(f"{key}_turned", False):
        st.rerun()  # from the question to the next picture: the question is drawn elsewhere on the page

    with st.container(horizontal=True, vertical_alignment="center", key=f"{key}__deck"):
        last = len(presets) - 1
        st.button("‹", key=f"{key}_back_{at}", shortcut="Left", on_click=go, args=(max(at - 1, 0),), disabled=at <= 0)
        title = f"{presets[at].name} ({at + 1}/{last + 1})" if at >= 0 else "This link"
        st.markdown(slides.leading_off(title), width="content")
        st.button(
            "›", key=f"{key}_on_{at}", shortcut="Right", on_click=go, args=(min(at + 1, last),), disabled=at >= last
        )


def previous(prefix: str, setting: T) -> T | None:
    """The setting this session showed on the page before `setting`, for its ghost line; None at first."""
    state, now, before = st.session_state, f"{prefix}__now", f"{prefix}__before"
    if state.get(now) != setting:
        state[before] = state.get(now)
        state[now] = setting
    return state[before]
