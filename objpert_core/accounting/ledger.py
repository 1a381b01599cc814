"""A privacy-budget ledger: a list of releases about the same rows, as text that fits into an address.

    fit*3:8,10,1;dpsgd:1,0.01,1000;gauss:20,1@Histogram

Entries are separated by semicolons. Each is a kind of release, ``*`` and how many of it (left out for one), ``:`` and
its parameters (`KINDS` lists them; optional ones may be left out at the end), ``@`` and a name if it has one. The list
without entries is written ``empty``. `parse` is strict and `write` gives the one canonical text of a ledger.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

import objpert_core.accounting as acc
from objpert_core._literals import call, plain

EMPTY = "empty"
MOST_ENTRIES = 20
MOST_COPIES = 1000
MOST_RUNS = 6  # different DP-SGD runs: each takes up to seconds to compose
LONGEST_NAME = 40
LONGEST_TEXT = 2000
_NUMBER = re.compile(r"\d{1,20}(\.\d{0,20})?(e[+-]?\d{1,3})?", re.ASCII | re.IGNORECASE)
_WHOLE = re.compile(r"\d{1,12}", re.ASCII)
_ENTRY = re.compile(r"(?P<kind>[a-z]+)(\*(?P<count>[^:@]*))?:(?P<values>[^@]*)(@(?P<name>.*))?", re.ASCII | re.DOTALL)

Value = float | int | str


@dataclass(frozen=True)
class Parameter:
    """One parameter of a release: its name in the core, its symbol in formulas and its label on a page."""

    name: str
    symbol: str
    label: str
    default: Value | None
    low: float = 0.0
    high: float = 0.0
    whole: bool = False  # no fractions
    options: Mapping[str, str] = field(default_factory=dict)  # the values of a parameter that is no number, in words
    required: bool = True

    def check(self, value: object) -> Value:
        """`value` in its own type; `ValueError` that names the parameter, the value and what is allowed."""
        if self.options:
            if not isinstance(value, str) or value not in self.options:
                raise ValueError(f"{self.name} must be one of {', '.join(self.options)}, got {_quoted(value)}")
            return value
        kind = "a whole number" if self.whole else "a number"
        refused = ValueError(
            f"{self.name} must be {kind} from {self.low:.12g} to {self.high:.12g}, got {_quoted(value)}"
        )
        if isinstance(value, str):
            if not (_WHOLE if self.whole else _NUMBER).fullmatch(value):
                raise refused
            value = float(value)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not self.low <= value <= self.high:
            raise refused
        if self.whole and value != int(value):
            raise refused
        return int(value) if self.whole else float(value)


@dataclass(frozen=True)
class Kind:
    """A kind of release, and how `objpert_core.accounting` makes its mechanism."""

    word: str  # in the ledger's text
    label: str
    maker: str  # a name in `objpert_core.accounting`
    parameters: tuple[Parameter, ...]  # optional ones last
    fixed: Mapping[str, Value] = field(default_factory=dict)  # the maker's other arguments
    paired: bool = False  # composed through the symmetric pair of its bound: k of them cost like √k


COUNT = Parameter("count", "", "How many", 1, 1, MOST_COPIES, whole=True)
_L = Parameter("lipschitz", "L", "Largest gradient norm L", 1.0, 1e-3, 1e3)
_PROOFS = {bound: acc.BOUND_REGISTRY[bound].named() for bound in ("logistic", "monotone", "glm")}
_FIT = (
    Parameter("sigma", "σ", "Noise σ", 8.0, 0.01, 1e6),
    Parameter("lam", "λ", "Regularisation λ", 10.0, 1e-6, 1e9),
    _L,
    Parameter("bound", "", "Proof", "logistic", options=_PROOFS, required=False),
    Parameter("smoothness", "β", "Smoothness β", None, 1e-6, 1e6, required=False),
)
_CALIBRATED = (
    Parameter("epsilon", "ε", "ε of one fit", 1.0, 0.01, 50.0),
    Parameter("delta", "δ", "δ of one fit", 1e-5, 1e-12, 0.1),
    replace(_L, required=False),
)
_DPSGD = (
    Parameter("noise_multiplier", "noise multiplier", "Noise multiplier", 1.0, 0.5, 1e3),
    Parameter("sample_rate", "q", "Sample rate q", 0.01, 1e-4, 1.0),
    Parameter("steps", "steps", "Steps", 1000, 1, 1e6, whole=True),
)
_GAUSSIAN = (
    Parameter("sigma", "σ", "Noise σ", 20.0, 1e-3, 1e9),
    Parameter("sensitivity", "sensitivity", "L2 sensitivity", 1.0, 1e-6, 1e6),
)
_CALIBRATE = "calibrate_objective_perturbation"
KINDS: Mapping[str, Kind] = {
    kind.word: kind
    for kind in (
        Kind("fit", "Objective-perturbation fit", "ObjectivePerturbation", _FIT, paired=True),
        # τ as `ObjPertLogisticRegression` has it unless told
        Kind("cal", "Fit calibrated to (ε, δ)", _CALIBRATE, _CALIBRATED, {"tau": 1e-6}, paired=True),
        Kind("dpsgd", "DP-SGD run", "DPSGD", _DPSGD),
        Kind("gauss", "Gaussian release", "Gaussian", _GAUSSIAN),
    )
}


@dataclass(frozen=True)
class Entry:
    """`count` releases of one kind; left-out parameters take their defaults."""

    kind: str
    values: tuple[Value | None, ...]  # in the order of the kind's parameters
    count: int = 1
    name: str = ""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {_quoted(self.kind)}")
        parameters, given = KINDS[self.kind].parameters, len(self.values)
        fewest = sum(parameter.required for parameter in parameters)
        if not fewest <= given <= len(parameters):
            wanted = " or ".join(str(n) for n in range(fewest, len(parameters) + 1))
            order = ", ".join(parameter.name for parameter in parameters)
            raise ValueError(f"{self.kind} takes {wanted} numbers ({order}), got {given}")
        padded = (*self.values, *(p.default for p in parameters[given:]))
        pairs = zip(parameters, padded, strict=True)
        checked = tuple(None if value is None and p.default is None else p.check(value) for p, value in pairs)
        if self.kind == "fit" and checked[3] == "logistic" and checked[4] is not None:
            raise ValueError("smoothness must be left out with the logistic bound, which does not use it")
        object.__setattr__(self, "values", checked)
        object.__setattr__(self, "count", COUNT.check(self.count))
        object.__setattr__(self, "name", _name(self.name))

    @property
    def label(self) -> str:
        """The entry's name, or what its kind is called."""
        return self.name or KINDS[self.kind].label

    @property
    def given(self) -> list[tuple[Parameter, Value]]:
        """The parameters that have a value, with it."""
        named = zip(KINDS[self.kind].parameters, self.values, strict=True)
        return [(parameter, value) for parameter, value in named if value is not None]

    @property
    def parameters(self) -> dict[str, Value]:
        """The parameters that have a value, by name."""
        return {parameter.name: value for parameter, value in self.given}

    def mechanism(self) -> acc.Mechanism:
        """One release of the entry, as the core describes it."""
        return _mechanism(replace(self, count=1, name=""))

    def one(self) -> str:
        """Python for one of the entry's releases, with ``objpert_core.accounting`` imported as ``acc``."""
        kind = KINDS[self.kind]
        made = call(f"acc.{kind.maker}", {**self.parameters, **kind.fixed})
        return f"acc.symmetrised({made})" if kind.paired else made

    def expression(self) -> str:
        """Python for all of the entry's releases."""
        return self.one() if self.count == 1 else f"acc.repeat({self.one()}, {self.count})"

    def write(self) -> str:
        """The entry's text, without what may be left out."""
        values, parameters = list(self.values), KINDS[self.kind].parameters
        while not parameters[len(values) - 1].required and values[-1] == parameters[len(values) - 1].default:
            values.pop()
        times = f"*{self.count}" if self.count > 1 else ""
        name = f"@{self.name}" if self.name else ""
        return f"{self.kind}{times}:{','.join(map(_exact, values))}{name}"


Ledger = tuple[Entry, ...]


@lru_cache(maxsize=500)
def _mechanism(entry: Entry) -> acc.Mechanism:
    kind = KINDS[entry.kind]
    made: acc.Mechanism = getattr(acc, kind.maker)(**entry.parameters, **kind.fixed)
    return acc.symmetrised(made) if kind.paired else made


def _quoted(value: object) -> str:
    """The value, short and without line breaks, for an error message that quotes an address."""
    text = value if isinstance(value, str) else repr(value)
    shown = "".join(c if c.isprintable() and c not in "`*_[]<>$\\#:" else "?" for c in text[:30])
    return f"'{shown}…'" if len(text) > 30 else f"'{shown}'"


def _name(value: object) -> str:
    """A name without anything that a table cell, a spreadsheet or the text could take for more than a name."""
    name = value if isinstance(value, str) else "?"
    name = " ".join(unicodedata.normalize("NFC", name[: 4 * LONGEST_NAME]).split(" ")).strip()
    fine = all(c in " -'()," or unicodedata.category(c)[0] in "LMN" for c in name)
    if len(name) > LONGEST_NAME or not fine or not (name == "" or unicodedata.category(name[0])[0] in "LN"):
        allowed = f"letters, digits, spaces and - ' ( ) , up to {LONGEST_NAME}, starting with a letter or a digit"
        raise ValueError(f"name must be {allowed}, got {_quoted(value)}")
    return name


def _exact(value: Value | None) -> str:
    """The shortest text that reads back as the same value; empty for what is not set."""
    if value is None or isinstance(value, str):
        return value or ""
    return plain(value) if float(plain(value)) == value else repr(value)


def write(ledger: Sequence[Entry]) -> str:
    """The canonical text of a ledger, which `parse` reads back as the same."""
    return ";".join(entry.write() for entry in ledger) or EMPTY


def parse(text: str) -> Ledger:
    """The ledger that a text describes; raises `ValueError` with one sentence that says which entry is wrong.

    >>> [entry.count for entry in parse("fit*3:8,10,1;gauss:20,1@Histogram")]
    [3, 1]
    """
    if len(text) > LONGEST_TEXT:
        raise ValueError(f"ledger must have at most {LONGEST_TEXT:,} characters, got {len(text):,}")
    if text.strip() in ("", EMPTY):
        return ()
    pieces = text.split(";")
    if len(pieces) > MOST_ENTRIES:
        raise ValueError(f"ledger must have at most {MOST_ENTRIES} entries, got {len(pieces)}")
    entries = tuple(_entry(number, piece.strip()) for number, piece in enumerate(pieces, 1))
    runs = {entry.values for entry in entries if entry.kind == "dpsgd"}
    if len(runs) > MOST_RUNS:
        raise ValueError(f"ledger must have at most {MOST_RUNS} different DP-SGD runs, got {len(runs)}")
    return entries


def _entry(number: int, text: str) -> Entry:
    found = _ENTRY.fullmatch(text)
    if found is None:
        raise ValueError(f"entry {number} must look like fit*3:8,10,1@Name, got {_quoted(text)}")
    values = tuple(value.strip() for value in found["values"].split(","))
    count = "1" if found["count"] is None else found["count"].strip()
    try:
        return Entry(found["kind"], values, count, found["name"] or "")  # type: ignore[arg-type]  # checks convert
    except ValueError as error:
        raise ValueError(f"entry {number}: {error}") from None


def checked(ledger: Sequence[Entry]) -> Ledger:
    """The ledger if it is within the limits; `ValueError` otherwise."""
    return parse(write(ledger))


def moved(ledger: Ledger, index: int, by: int) -> Ledger:
    """The entry at `index` moved `by` places, at most to either end."""
    entries = list(ledger)
    entry = entries.pop(index)
    entries.insert(min(max(index + by, 0), len(entries)), entry)
    return tuple(entries)


def replaced(ledger: Ledger, index: int, *entries: Entry) -> Ledger:
    """The ledger with other entries at `index`, or with none."""
    return checked((*ledger[:index], *entries, *ledger[index + 1 :]))
