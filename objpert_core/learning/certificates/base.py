"""The certificate of a private fit: what was promised, by which proof, and enough numbers to check it again.

A family has a kind, a subclass that names its mechanisms: ``class Mine(SolvedCertificate, mechanisms=("Own",))``. It
declares its fields with their rules (`fact`), says which of them the mechanism decides (`numbers`), builds the
mechanism again from these (`rebuild`) and checks what the proof needs (`holds`); texts find it by the mechanism's name.

A certificate may come from anybody: unknown, doubled or misplaced keys are refused, every field is held against its
rule, and `verify` answers False where anything is wrong.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import Field, dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from objpert_core._validation import FloatArray
from objpert_core.accounting import Mechanism, group, via_rdp
from objpert_core.accounting.mechanisms.base import ADJACENCIES
from objpert_core.accounting.terms import ROUNDING
from objpert_core.learning.certificates import shown
from objpert_core.learning.certificates.field_rules import (
    COUNT,
    DIGEST,
    LATER,
    NONNEGATIVE,
    OPEN_UNIT,
    POWER_OF_TWO,
    ROWS_USED,
    SCHEMA,
    TEXT,
    TRUTH,
    Rule,
    fact,
    facts_of,
    form,
    one_of,
    or_nothing,
    rows_of_each_person,
)
from objpert_core.learning.certificates.model import coefficients_sha256, is_about
from objpert_core.learning.certificates.text import as_dict, kind_and_fields, parsed_json
from objpert_core.learning.problem.losses import Loss
from objpert_core.learning.problem.rows import ROW_NORMS, row_radius
from objpert_core.tables import to_latex, to_markdown

ON_ERROR = ("raise", "release")
"""What a fit may do with rows that are no numbers, and where its solver does not get there."""
OPERATING_SYSTEM = "operating system"
NOISE_SOURCES = (OPERATING_SYSTEM, "integer seed", "numpy RandomState", "numpy Generator")
"""Where a noise source may say that its bits came from."""
BOTH, SEARCH = WHOLES = ("fit and evaluation", "private search")
"""The algorithms whose certificates hold others."""


@dataclass(frozen=True, kw_only=True, repr=False)
class PrivacyCertificate(ABC):
    """What one fit promises: (ε, δ)-differential privacy of all that is released.

    Everything but the diagnostics is fixed before the data are looked at, with two exceptions: the number of rows where
    `public_rows` says that it is treated as public, and what follows from released numbers, which the promise covers:
    fingerprints of coefficients and noisy counts, and the lattice of a posterior draw (docs/theorems.md, T14 and T39).
    So the certificate may be published with the model. The diagnostics depend on the data and on the noise: they are
    *outside* the guarantee. `to_dict` keeps them apart under ``"diagnostics"`` and `public` leaves them out. Also
    outside the guarantee are a fit's running time, the error of a failed fit, and the labels seen where they were not
    given.

    Attributes
    ----------
    mechanism : str
        The mechanism's name in `objpert_core.accounting`.
    epsilon, delta : float
        The guarantee for one fit. Fits on overlapping data add up.
    adjacency : str
        Which data sets count as neighbours: the mechanism's own adjacency where the number of rows was declared or no
        rule reads that number; data sets of one known size where that number was read off the data.
    accountant : str
        How (ε, δ) was computed.
    row_norm : str
        How ‖x‖ ≤ 1 was enforced: "normalize" or "clip".
    intercept_scaling : float
        The constant s appended to every row; 0.0 without an intercept.
    noise_source : str
        Where the noise's bits came from; one of `NOISE_SOURCES`.
    reproducible : bool
        True where the noise came from a seed: whoever knows the seed can subtract the noise.
    schema : int
        The form of the certificate, 1 or 2. Form 1 says nothing of the fields below: its promise holds in exact
        arithmetic.
    lattice : float or None
        Spacing h of the lattice that the release, or for DP-SGD every step's sum, lies on; a power of two. None: not on
        a lattice.
    on_error : {"raise", "release"}
        What the fit did with invalid rows and where its solver failed. Taken on trust.
    SHA-256 fingerprint of the coefficients that the certificate is about; None as long as there are none.
    rows_declared : bool or None
        Whether the public number of rows was declared before the data were looked at, or read off the data; None where
        no rule reads that number.
    rows_per_person : int
        How many rows of one person the promise covers together.
    part_of : {"fit and evaluation", "private search"} or None
        The kind of certificate that holds this one. A part does not verify: the whole does, and promises less.
    Which rows of the table were used, by a rule about each row or each person's rows alone; None for all. Taken on
    trust.
        target left out; None for all. Taken on trust.

    Examples
    --------
    >>> from objpert_core.estimators import ObjPertLogisticRegression
    >>> X, y = np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([0, 1])
    >>> certificate = ObjPertLogisticRegression(classes=[0, 1]).fit(X, y).privacy_
    >>> certificate.verify()
    True
    >>> PrivacyCertificate.from_json(certificate.to_json()) == certificate
    True
    """

    DIAGNOSTICS: ClassVar[tuple[str, ...]] = ()
    """Names of the fields that depend on the data; `public` puts None in their place."""
    MECHANISMS: ClassVar[dict[str, type[PrivacyCertificate]]] = {}
    """The kinds of certificate, by `mechanism`, but for those of an algorithm of their own."""
    ALGORITHMS: ClassVar[dict[str, type[PrivacyCertificate]]] = {}
    """The kinds whose mechanism others have, too, by the algorithm's name."""
    ALGORITHM: ClassVar[str | None] = None
    """The name of the kind's own algorithm, which its texts carry; None where the mechanism tells the kind."""
    OWN_MECHANISMS: ClassVar[tuple[str, ...]] = ()
    """What `mechanism` may say."""

    mechanism: str
    epsilon: float = fact(NONNEGATIVE)
    delta: float = fact(OPEN_UNIT)
    adjacency: str = fact(TEXT)
    accountant: str = fact(one_of("profile"))
    row_norm: str = fact(one_of(*ROW_NORMS))
    intercept_scaling: float = fact(NONNEGATIVE)
    noise_source: str = fact(one_of(*NOISE_SOURCES))
    reproducible: bool = fact(TRUTH)
    schema: int = fact(form(1), since=2, default=SCHEMA)
    lattice: float | None = fact(or_nothing(POWER_OF_TWO), since=2, default=None)
    on_error: str = fact(one_of(*ON_ERROR), since=2, default="raise")
    coefficients_sha256: str | None = fact(or_nothing(DIGEST), since=2, default=None)
    rows_declared: bool | None = fact(or_nothing(TRUTH), since=2, default=None)
    rows_per_person: int = fact(COUNT, since=2, default=1)
    part_of: str | None = fact(or_nothing(one_of(*WHOLES)), since=LATER, default=None)
    rows_used: str | None = fact(or_nothing(ROWS_USED), since=LATER, default=None)

    def __init_subclass__(cls, *, mechanisms: tuple[str, ...] = (), algorithm: str | None = None, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        cls.OWN_MECHANISMS, cls.ALGORITHM = mechanisms, algorithm
        declared = {name: item.metadata for name, item in vars(cls).items() if isinstance(item, Field)}
        cls.DIAGNOSTICS += tuple(name for name, metadata in declared.items() if metadata.get("diagnostic"))
        if algorithm is not None:
            PrivacyCertificate.ALGORITHMS[algorithm] = cls
        else:
            PrivacyCertificate.MECHANISMS.update(dict.fromkeys(mechanisms, cls))

    @property
    def radius(self) -> float:
        """R = √(1 + s²), the largest norm of a row with its constant."""
        return row_radius(self.intercept_scaling)

    @property
    def mechanism_adjacency(self) -> str:
        """The mechanism's own adjacency, read back from `adjacency`; ValueError if no mechanism has these words."""
        rows = getattr(self, "public_rows", None)
        for own in ADJACENCIES:
            if self.adjacency == shown.adjacency_words(own, rows, self.rows_declared, self.rows_per_person):
                return own
        raise ValueError(
            f"adjacency must be what rows_declared = {self.rows_declared!r}, public_rows = {rows!r} and "
            f"rows_per_person = {self.rows_per_person!r} ask for, got {self.adjacency!r}"
        )

    # --- what a family says of itself ----------------------------------------------------------------------------

    @classmethod
    @abstractmethod
    def numbers(cls, mechanism: Any) -> dict[str, Any]:
        """Name the fields that the mechanism decides, with their values; `rebuild` is the inverse."""

    @abstractmethod
    def rebuild(self) -> Mechanism:
        """Build the mechanism again, from the certificate's numbers alone."""

    @abstractmethod
    def holds(self) -> bool:
        """Say whether the proof's conditions hold: bounds on one row, and a gradient as short as promised."""

    @classmethod
    def uncovered(cls, mechanism: Any, loss: Loss, clip: float | None, radius: float, dimension: int) -> str | None:
        """Say why the proof does not cover this problem, in a clause after "mechanism's"; None where the proof does.

        `perturb_and_solve` asks before it touches the data; `loss` is the one before clipping, `clip` C, and `radius`
        the largest norm of a row with its constant. A family without such a rule covers nothing."""
        return f"certificate, a {cls.__name__}, must say which losses are covered"

    def accounted(self, mechanism: Any) -> Mechanism:
        """Return all that `mechanism` stands for, for all rows of one person: this keeps (ε, δ), and composes."""
        whole = group(mechanism, self.rows_per_person)
        return via_rdp(whole) if self.accountant == "rdp" else whole

    # --- what is the same for all --------------------------------------------------------------------------------

    @staticmethod
    def kind_for(mechanism: Mechanism) -> type[PrivacyCertificate]:
        """Find the kind of certificate that describes a fit by `mechanism`; ValueError if there is none."""
        name = type(mechanism).__name__
        if name not in PrivacyCertificate.MECHANISMS:
            raise ValueError(
                f"mechanism must be one of {', '.join(PrivacyCertificate.MECHANISMS)}, which have a certificate, "
                f"got {mechanism!r}"
            )
        return PrivacyCertificate.MECHANISMS[name]

    @staticmethod
    def describe(mechanism: Mechanism, **facts: Any) -> PrivacyCertificate:
        """Write the certificate of a fit by `mechanism`; `facts` are all fields that the mechanism does not decide."""
        return PrivacyCertificate.kind_for(mechanism).from_mechanism(mechanism, **facts)

    @classmethod
    def from_mechanism(cls, mechanism: Mechanism, **facts: Any) -> Self:
        """Write a certificate of this kind; arguments as in `describe`."""
        known = {name: facts[name] for name in ("public_rows", "rows_declared", "rows_per_person") if name in facts}
        words = shown.adjacency_words(mechanism.adjacency, **known)
        own = {"mechanism": type(mechanism).__name__, "adjacency": words, **cls.numbers(mechanism)}
        return cls(**own, **facts)

    def about(self, coef: Any, intercept: Any, published: Mapping[str, Any] | None = None) -> Self:
        """Return this certificate with the fingerprint of these coefficients; `published` is as in `Release`."""
        return replace(self, coefficients_sha256=coefficients_sha256(coef, intercept, published))

    def verify(self, model: Any = None) -> bool:
        """Account for the mechanism anew, and say whether the certificate holds; it never raises. `objection` says why.

        Parameters
        ----------
        model : estimator, optional
            A fitted model, or anything with `coef_` and `intercept_`, and what else was released: `center_`, `scale_`,
            `feature_ranges_`. The certificate must then name these very numbers, and those that only coefficients tell,
            such as `dimension`, must be right; without a model they are taken on trust.

        Returns
        -------
        bool
            True if every field keeps its rule, what the certificate covers is (epsilon, delta)-DP on rows of the
            enforced norm, and the proof's conditions hold; False for a part of another certificate.
        """
        try:
            with np.errstate(all="ignore"):
                whole = self.complaint() is None and self.part_of is None
                return whole and self._proved() and (model is None or is_about(self, model))
        except Exception:  # anybody may have written it: what cannot be accounted for is not proved
            return False

    def objection(self) -> str | None:
        """Say why `verify` without a model is False, as a clause; None where it is True."""
        if self.verify():
            return None
        if problem := self.complaint():
            return problem
        return "its ε and δ do not follow from its other numbers" if self.part_of is None else shown.part_words(self)

    def _proved(self) -> bool:
        """Whether the mechanism, built again from the numbers, keeps (epsilon, delta) and its proof applies."""
        mechanism = self.rebuild()
        return bool(
            (self.mechanism, self.mechanism_adjacency) == (type(mechanism).__name__, mechanism.adjacency)
            and self.holds()
            and (self.lattice is None or self.fine_enough(self.lattice, getattr(self, "dimension", None) or 1))
            and self.accounted(mechanism).delta(self.epsilon) <= self.delta * (1 + ROUNDING)
        )

    def lies_on_lattice(self, coef: FloatArray) -> bool:
        """Say whether a release on the certificate's lattice can have these coefficients; here, any are allowed."""
        return True

    def reach(self, dimension: int) -> float | None:
        """Bound ‖θ‖ by the certificate's own numbers, generously (docs/certificates.md); None where none bounds it."""
        return None

    @property
    def most_rows(self) -> float | None:
        """How many rows `reach` allows for: ten times a declared number, which may be too small."""
        rows = getattr(self, "public_rows", None)
        return None if rows is None else rows * (10.0 if self.rows_declared else 1.0)

    def fine_enough(self, spacing: float, dimension: int) -> bool:
        """Say whether the proof has room for rounding to a lattice of this `spacing`; without a rule there is none."""
        return False

    @classmethod
    def field_rules(cls) -> dict[str, Rule]:
        """What each field may say, by name; the class itself decides what `mechanism` may say."""
        rules = {item.name: item.rule for item in facts_of(cls) if item.rule is not None}
        return {"mechanism": one_of(*cls.OWN_MECHANISMS), **rules}

    def complaint(self) -> str | None:
        """Say what is wrong with the first bad field or pair of fields, as a clause; None where nothing is wrong."""
        rules = self.field_rules()
        if not rules["schema"].met(self.schema):
            return f"schema must be {rules['schema'].allowed}, got {self.schema!r}"
        for item in facts_of(type(self)):
            value, rule = getattr(self, item.name), rules.get(item.name)
            if self.schema == 1 and item.since > 1 and item.name != "schema":
                if type(value) is not type(item.default) or value != item.default:
                    return f"{item.name} must be {item.default!r} in a certificate of form 1, got {value!r}"
            elif rule is None:
                return f"{item.name} must have a rule: declare it by fact in {type(self).__name__}"
            elif not rule.met(value):
                return f"{item.name} must be {rule.allowed}, got {value!r}"
        return self._contradiction()

    def _contradiction(self) -> str | None:
        """What contradicts among fields that each keep their own rule."""
        rows = getattr(self, "public_rows", None)
        if self.reproducible is (self.noise_source == OPERATING_SYSTEM):
            return f"reproducible must be {not self.reproducible} for noise from the {self.noise_source}"
        if self.schema > 1 and (rows is None) is not (self.rows_declared is None):
            return f"rows_declared must be None where public_rows is, and only there, got {self.rows_declared!r}"
        if self.schema > 1 and self.coefficients_sha256 is not None and self.lattice is None:
            return "lattice must be a number where there are coefficients, got None"
        if (kept := rows_of_each_person(self.rows_used)) not in (None, self.rows_per_person):
            return f"rows_per_person must be the {kept} that rows_used keeps of each person, got {self.rows_per_person}"
        try:
            _ = self.mechanism_adjacency
        except ValueError as problem:
            return str(problem)
        return None

    def public(self) -> Self:
        """Return the certificate without its diagnostics."""
        diagnostics: dict[str, Any] = dict.fromkeys(self.DIAGNOSTICS)
        return replace(self, **diagnostics)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain numbers and strings; what depends on the data is under ``"diagnostics"``."""
        return as_dict(self)

    def to_json(self, indent: int | None = 2) -> str:
        """Return `to_dict` as JSON; numbers keep all their digits."""
        return json.dumps(self.to_dict(), indent=indent)

    @staticmethod
    def from_dict(values: Any) -> PrivacyCertificate:
        """Return the certificate that `to_dict` described, without the key ``"schema"`` one of form 1; `verify` judges
        it.

        ValueError for fields that are missing, unknown or out of place, and for a newer form.
        """
        kind, own = kind_and_fields(values, PrivacyCertificate.MECHANISMS, PrivacyCertificate.ALGORITHMS)
        return kind(**own)

    @staticmethod
    def from_json(text: str | bytes) -> PrivacyCertificate:
        """Return the certificate that `to_json` wrote.

        ValueError if `text` is not JSON, names a key twice, holds NaN or an infinity, or not what `from_dict` takes.
        """
        return PrivacyCertificate.from_dict(parsed_json(text))

    def _lines(self) -> list[str]:
        """The lines of `repr` between the promise and the source of the noise: name and value in two columns."""
        return []

    def _rows(self) -> str:
        return shown.row_words(self.row_norm, self.intercept_scaling)

    def __repr__(self) -> str:
        try:
            if problem := self.complaint():
                return f"{type(self).__name__} that no fit has written: {problem}"
            return self._shown()
        except Exception:  # as in `verify`
            return f"{type(self).__name__} that no fit has written"

    def statement(self) -> list[dict[str, str]]:
        """Return what the certificate's public fields say as rows of a table; ValueError for what no fit writes."""
        if problem := self.complaint():
            raise ValueError(f"the certificate must be one that a fit has written: {problem}")
        return shown.as_table(self._shown())

    def to_markdown(self, *, caption: str = "") -> str:
        """`statement` as a table in Markdown, for a model's card or a report."""
        return to_markdown(self.statement(), caption=caption)

    def to_latex(self, *, caption: str = "", label: str = "") -> str:
        """`statement` as a table in LaTeX, for a paper; arguments as for `objpert_core.tables.to_latex`."""
        return to_latex(self.statement(), caption=caption, label=label)

    def _shown(self) -> str:
        return shown.whole_text(self, self._lines())
