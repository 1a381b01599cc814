"""The certificate of a private fit: what was promised, by which proof, and enough numbers to check it again.

A family of mechanisms has a kind of certificate, a subclass of `PrivacyCertificate` that names its mechanisms: ``class
MyCertificate(SolvedCertificate, mechanisms=("MyMechanism",))``. The subclass says what each of its fields may say
(`STATED`) and which fields the mechanism decides (`numbers`), builds the mechanism again from these (`rebuild`) and
checks what the proof needs (`holds`). `PrivacyCertificate.describe`, JSON and `verify` find the subclass by the
mechanism's name.

A certificate may come from anybody, so neither reading nor verifying trusts anything: unknown, doubled or misplaced
keys are refused, every field is held against its rule, and `verify` answers False where anything is wrong.
"""

from __future__ import annotations

import hashlib
import json
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, ClassVar, NoReturn, Protocol, Self

import numpy as np

from objpert_core._validation import FloatArray, choice, once_each
from objpert_core.accounting import (
    ApproximateMinima,
    Mechanism,
    ObjectivePerturbation,
    Standardisation,
    group,
    via_rdp,
)
from objpert_core.accounting.mechanisms.base import ADJACENCIES, REPLACE_ONE
from objpert_core.accounting.numerics.rounding import promised
from objpert_core.accounting.objective.bounds import ACCOUNTANTS, BOUND_REGISTRY, Parameters
from objpert_core.accounting.objective.standardisation import SCALE_FLOOR
from objpert_core.accounting.terms import ROUNDING, Terms
from objpert_core.learning.noise import LARGEST_RATIO
from objpert_core.learning.problem.envelopes import widest_envelope
from objpert_core.learning.problem.losses import LOSSES, LogisticLoss, Loss, loss_named
from objpert_core.learning.problem.nonsmooth import EVERY_LOSS
from objpert_core.learning.problem.rows import ROW_NORMS, row_radius
from objpert_core.learning.stated import (
    COUNT,
    DIGEST,
    FROM_ZERO,
    NONNEGATIVE,
    OPEN_UNIT,
    POSITIVE,
    POWER_OF_TWO,
    TEXT,
    TRUTH,
    Stated,
    one_of,
    or_nothing,
)
from objpert_core.tables import to_latex, to_markdown

FAR = 10.0
"""Noise longer than so many standard deviations times √d is no noise of that kind: chances are below e⁻⁴⁰."""
_SLACK = 1e-6  # relative, for what rounding adds to a length
SCHEMA = 2
"""The form of a certificate that is written now. Form 1, whose texts have no key ``"schema"``, is read and verified."""
ON_ERROR = ("raise", "release")
"""What a fit may do with rows that are no numbers, and where its solver does not get there."""
OPERATING_SYSTEM = "operating system"
NOISE_SOURCES = (OPERATING_SYSTEM, "integer seed", "numpy RandomState", "numpy Generator")
"""Where a noise source may say that its bits came from."""
_SINCE_SCHEMA_2 = {
    "lattice": None,
    "on_error": "raise",
    "coefficients_sha256": None,
    "rows_declared": None,
    "margin": None,
    "rows_per_person": 1,
}
"""Fields that form 1 did not have, with what they say in it."""
_NOTE = "depends on the data, outside the privacy guarantee: do not publish"


def adjacency_words(
    own: str, public_rows: int | None = None, rows_declared: bool | None = None, rows_per_person: int = 1
) -> str:
    """Say which data sets are neighbours, where a rule of the fit may have read the number of rows off the data.

    A fit whose rules read the number m = `public_rows` off the data is one of a family of mechanisms, one for each m.
    The promise of each is about data sets of this size: a neighbour has one row left out of the sums, or another row in
    its place, and the rules go by m for both. With `rows_declared` the words are the mechanism's `own`.

    >>> adjacency_words("add/remove one row", 500, rows_declared=False)
    'data sets of the same size m = 500, known to all, up to one row left out of the sums'
    >>> adjacency_words("replace one row", rows_per_person=3)
    'replace up to 3 rows of one person'
    """
    several = f"up to {rows_per_person} rows of one person"
    if rows_declared is not False:
        return own if rows_per_person == 1 else own.replace("one row", several)
    if own == REPLACE_ONE:
        differ = f"that differ in {'one row' if rows_per_person == 1 else several}"
    else:
        differ = f"{'up to one row' if rows_per_person == 1 else several} left out of the sums"
    return f"data sets of the same size m = {public_rows}, known to all, {differ}"


def coefficients_sha256(coef: Any, intercept: Any, center: Any = None, scale: Any = None) -> str:
    """The fingerprint, 64 hexadecimal digits, of published coefficients, by which a certificate names its model.

    SHA-256 of four pieces: the line ``coef_`` with the array's shape, its entries as little-endian doubles in C order,
    the line ``intercept_`` with its shape, and its entries. A line is ASCII, its parts stand one blank apart, and it
    ends with a line feed: ``coef_ 1 30`` for one row of thirty coefficients, ``intercept_`` for a number. Where the
    model centres or scales its rows, the line ``center_`` with its entries follows, then ``scale_``.
    """
    digest = hashlib.sha256()
    pieces = {"coef_": coef, "intercept_": intercept}
    pieces |= {name: values for name, values in (("center_", center), ("scale_", scale)) if values is not None}
    for name, values in pieces.items():
        array = np.asarray(values, dtype="<f8")
        digest.update(" ".join([name, *map(str, array.shape)]).encode("ascii") + b"\n")
        digest.update(array.tobytes(order="C"))
    return digest.hexdigest()


@dataclass(frozen=True, kw_only=True, repr=False)
class PrivacyCertificate(ABC):
    """What one fit promises: (ε, δ)-differential privacy of all that is released: coefficients, centre and scales.

    Everything but the diagnostics is fixed before the data are looked at, except the number of rows where `public_rows`
    says that it is treated as public. So the certificate may be published with the model. The diagnostics depend on the
    data and on the noise: they are *outside* the guarantee, for the eyes of whoever holds the data. `to_dict` keeps
    them apart under ``"diagnostics"`` and `public` leaves them out. Also outside the guarantee are a fit's running
    time, the error of a failed fit, and the labels seen where they were not given.

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
        arithmetic, and form 1 does not tell whether the number of rows was declared.
    lattice : float or None
        Spacing h of the lattice that the release, or for DP-SGD every step's sum, lies on; a power of two. None: not on
        a lattice.
    on_error : {"raise", "release"}
        What the fit did with invalid rows and where its solver failed. Taken on trust.
    coefficients_sha256 : str or None
        SHA-256 fingerprint of the coefficients that the certificate is about; None where nothing was released, or
        before the coefficients have got their names.
    rows_declared : bool or None
        Whether the public number of rows was declared before the data were looked at, or read off the data; None where
        no rule reads that number.
    rows_per_person : int
        How many rows of one person the promise covers together.

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
    """Names of the fields that depend on the data; each has a default, what `public` puts in its place."""
    ACCOUNTANTS: ClassVar[tuple[str, ...]] = ("profile",)
    """What `accountant` may say."""
    STATED: ClassVar[Mapping[str, Stated]] = {
        "epsilon": NONNEGATIVE,
        "delta": OPEN_UNIT,
        "adjacency": TEXT,
        "row_norm": one_of(*ROW_NORMS),
        "intercept_scaling": NONNEGATIVE,
        "noise_source": one_of(*NOISE_SOURCES),
        "reproducible": TRUTH,
        "lattice": or_nothing(POWER_OF_TWO),
        "on_error": one_of(*ON_ERROR),
        "coefficients_sha256": or_nothing(DIGEST),
        "rows_declared": or_nothing(TRUTH),
        "rows_per_person": COUNT,
    }
    """What each of the class's own fields may say; `stated` adds those of the classes it comes from."""
    MECHANISMS: ClassVar[dict[str, type[PrivacyCertificate]]] = {}
    """The kinds of certificate, by `mechanism`, but for those of an algorithm of their own."""
    ALGORITHMS: ClassVar[dict[str, type[PrivacyCertificate]]] = {}
    """The kinds whose mechanism others have, too, by the algorithm's name."""
    ALGORITHM: ClassVar[str | None] = None
    """The name of the kind's own algorithm, which its texts carry; None where the mechanism tells the kind."""
    OWN_MECHANISMS: ClassVar[tuple[str, ...]] = ()
    """What `mechanism` may say."""
    FIRST_SCHEMA: ClassVar[int] = 1
    """The oldest form that this kind was written in."""
    LATER: ClassVar[tuple[str, ...]] = ()
    """Fields that came after the kind's first texts: a text leaves them out where they have their default."""

    mechanism: str
    epsilon: float
    delta: float
    adjacency: str
    accountant: str
    row_norm: str
    intercept_scaling: float
    noise_source: str
    reproducible: bool
    schema: int = SCHEMA
    lattice: float | None = None
    on_error: str = "raise"
    coefficients_sha256: str | None = None
    rows_declared: bool | None = None
    rows_per_person: int = 1

    def __init_subclass__(cls, *, mechanisms: tuple[str, ...] = (), algorithm: str | None = None, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        cls.OWN_MECHANISMS, cls.ALGORITHM = mechanisms, algorithm
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
            if self.adjacency == adjacency_words(own, rows, self.rows_declared, self.rows_per_person):
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

        `perturb_and_solve` asks before it touches the data. A family without such a rule is taken to cover nothing.
        `loss` is the loss before clipping, `clip` the threshold on every row's gradient norm or None, `radius` the
        largest norm of a row with its constant, and `dimension` the length of θ.
        """
        return f"certificate, a {cls.__name__}, must say which losses are covered"

    def accounted(self, mechanism: Any) -> Mechanism:
        """Choose where (ε, δ) come from: the mechanism itself, or its Rényi curve for the accountant "rdp".

        Where `mechanism` is about one row, the result is about all rows of one person.
        """
        return by_accountant(group(mechanism, self.rows_per_person), self.accountant)

    def cases(self, mechanism: Any) -> tuple[Any, ...]:
        """List the mechanisms that must each keep (epsilon, delta): as a rule `mechanism` alone."""
        return (mechanism,)

    # --- what is the same for all --------------------------------------------------------------------------------

    @staticmethod
    def kind_for(mechanism: Mechanism) -> type[PrivacyCertificate]:
        """Find the kind of certificate that describes a fit by `mechanism`; ValueError if there is none.

        >>> PrivacyCertificate.kind_for(ApproximateMinima(ObjectivePerturbation(5.0, 2.0), 1e-6, 0.1)).__name__
        'ObjectivePerturbationCertificate'
        """
        name = type(mechanism).__name__
        if name not in PrivacyCertificate.MECHANISMS:
            raise ValueError(
                f"mechanism must be one of {', '.join(PrivacyCertificate.MECHANISMS)}, which have a certificate, "
                f"got {mechanism!r}"
            )
        return PrivacyCertificate.MECHANISMS[name]

    @staticmethod
    def describe(mechanism: Mechanism, **facts: Any) -> PrivacyCertificate:
        """Write the certificate of a fit by `mechanism`, of the kind that its family registered; ValueError if there is
        none.

        `facts` are the fields that the mechanism does not decide.
        """
        return PrivacyCertificate.kind_for(mechanism).from_mechanism(mechanism, **facts)

    @classmethod
    def from_mechanism(cls, mechanism: Mechanism, **facts: Any) -> Self:
        """Write a certificate of this kind; arguments as in `describe`."""
        known = {name: facts[name] for name in ("public_rows", "rows_declared", "rows_per_person") if name in facts}
        words = adjacency_words(mechanism.adjacency, **known)
        own = {"mechanism": type(mechanism).__name__, "adjacency": words, **cls.numbers(mechanism)}
        return cls(**own, **facts)

    def about(self, coef: Any, intercept: Any, center: Any = None, scale: Any = None) -> Self:
        """Return this certificate with the fingerprint of these coefficients, which it then is about."""
        return replace(self, coefficients_sha256=coefficients_sha256(coef, intercept, center, scale))

    def verify(self, model: Any = None) -> bool:
        """Account for the mechanism anew, and say whether the certificate holds; it never raises.

        Parameters
        ----------
        model : estimator, optional
            A fitted model, or anything with `coef_` and `intercept_`, and with `center_` and `scale_` where rows are
            centred and scaled. The certificate must then name these very coefficients, and numbers that only the
            coefficients tell, as `dimension`, must be right. Without a model those numbers are taken on trust.

        Returns
        -------
        bool
            True if every field keeps its rule, what the certificate covers is (epsilon, delta)-DP on rows of the
            enforced norm, and the proof's conditions hold.
        """
        try:
            with np.errstate(all="ignore"):
                return self.complaint() is None and self._proved() and (model is None or self._names(model))
        except Exception:  # anybody may have written it: what cannot be accounted for is not proved
            return False

    def _proved(self) -> bool:
        """Whether the mechanism, built again from the numbers, keeps (epsilon, delta) and its proof applies."""
        mechanism = self.rebuild()
        return bool(
            (self.mechanism, self.mechanism_adjacency) == (type(mechanism).__name__, mechanism.adjacency)
            and self.holds()
            and (self.lattice is None or self.fine_enough(self.lattice, getattr(self, "dimension", None) or 1))
            and all(
                self.accounted(case).delta(self.epsilon) <= self.delta * (1 + ROUNDING)
                for case in self.cases(mechanism)
            )
        )

    def lies_on_lattice(self, coef: FloatArray) -> bool:
        """Say whether a release on the certificate's lattice can have these coefficients; here, any are allowed."""
        return True

    def _names(self, model: Any) -> bool:
        """Whether this is the certificate of this model's coefficients."""
        coef, intercept = np.asarray(model.coef_), np.asarray(model.intercept_)
        fits, features = getattr(self, "fits", 1), coef.shape[-1]
        if coef.ndim == 1:
            as_many = fits == 1 and intercept.size == 1
        else:
            as_many = coef.ndim == 2 and (len(coef), intercept.shape) == (fits, (fits,))
        if not as_many:
            return False
        dimension = features + (self.intercept_scaling > 0)
        promised = getattr(self, "dimension", None)
        maps = [
            (getattr(model, f"{step}_", None), getattr(self, f"{step}_noise", None)) for step in ("center", "scale")
        ]
        center, scale = (None if values is None else np.asarray(values) for values, _ in maps)
        return bool(
            all(_doubles(array) for array in (coef, intercept))
            and all((values is None) is (noise is None) for values, noise in maps)
            and all(array is None or (_doubles(array) and array.shape == (features,)) for array in (center, scale))
            and self.coefficients_sha256 == coefficients_sha256(coef, intercept, center, scale)
            and (promised is None or promised >= dimension)
            and (self.intercept_scaling > 0 or coef.ndim == 1 or not intercept.any())  # a regressor's may be its offset
            and (self.lattice is None or self.fine_enough(self.lattice, dimension))
            and (self.lattice is None or self.lies_on_lattice(coef))
            and self._within_reach(coef, intercept, center, scale)
        )

    def reach(self, dimension: int) -> float | None:
        """Bound ‖θ‖ by the certificate's own numbers, generously (docs/certificates.md); None where none bounds it."""
        return None

    @property
    def most_rows(self) -> float | None:
        """How many rows `reach` allows for: ten times a declared number, which may be too small."""
        rows = getattr(self, "public_rows", None)
        return None if rows is None else rows * (10.0 if self.rows_declared else 1.0)

    def _within_reach(self, coef: Any, intercept: Any, center: Any, scale: Any) -> bool:
        """Whether the fit can have ended there; a regressor's units are its targets', which no certificate names."""
        mapped = (center is None or np.linalg.norm(center) <= 1 + _SLACK) and (
            scale is None or bool(np.all((scale > 0) & (scale <= SCALE_FLOOR**-0.5 * (1 + _SLACK))))
        )
        constant = [intercept[:, None] / self.intercept_scaling] if coef.ndim == 2 and self.intercept_scaling else []
        theta = np.hstack([coef, *constant])
        reach = self.reach(theta.shape[-1]) if coef.ndim == 2 else None
        lengths = np.linalg.norm(theta, axis=-1)  # of coefficients that are no numbers none is below a bound
        return bool(mapped and np.all(lengths <= (math.inf if reach is None else reach * (1 + _SLACK))))

    def fine_enough(self, spacing: float, dimension: int) -> bool:
        """Say whether the proof has room for rounding to a lattice of this `spacing`; without a rule there is none."""
        return False

    @classmethod
    def stated(cls) -> dict[str, Stated]:
        """What each field may say, by name: `STATED` of this class and of all that it comes from."""
        tables = (vars(parent).get("STATED", {}) for parent in reversed(cls.__mro__))
        own = {name: rule for table in tables for name, rule in table.items()}
        return own | {
            "mechanism": one_of(*cls.OWN_MECHANISMS),
            "accountant": one_of(*cls.ACCOUNTANTS),
        }

    def complaint(self) -> str | None:
        """Say what is wrong with the first bad field or pair of fields, as a clause; None where nothing is wrong.

        A field without a rule in `STATED` is wrong.
        """
        if type(self.schema) is not int or not self.FIRST_SCHEMA <= self.schema <= SCHEMA:
            forms = SCHEMA if self.FIRST_SCHEMA == SCHEMA else f"{self.FIRST_SCHEMA} or {SCHEMA}"
            return f"schema must be {forms}, got {self.schema!r}"
        rules = self.stated()
        for item in fields(self):
            value = getattr(self, item.name)
            if item.name == "schema":
                continue
            if self.schema == 1 and item.name in _SINCE_SCHEMA_2:
                absent = _SINCE_SCHEMA_2[item.name]
                if type(value) is not type(absent) or value != absent:
                    return f"{item.name} must be {absent!r} in a certificate of form 1, got {value!r}"
            elif self.schema == 1 and item.name in self.LATER and value is not item.default:
                return f"{item.name} must be {item.default!r} in a certificate of form 1, got {value!r}"
            elif item.name not in rules:
                return f"{item.name} must have a rule in {type(self).__name__}.STATED"
            elif not rules[item.name].met(value):
                return f"{item.name} must be {rules[item.name].allowed}, got {value!r}"
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
        try:
            _ = self.mechanism_adjacency
        except ValueError as problem:
            return str(problem)
        return None

    def public(self) -> Self:
        """Return the certificate without its diagnostics: the rest depends on the data through the number of rows
        alone.

        That dependence is there only where `public_rows` was not given; `rows_declared` tells. The fingerprint depends
        on the data through the released coefficients alone.
        """
        defaults: dict[str, Any] = {
            field.name: field.default for field in fields(self) if field.name in self.DIAGNOSTICS
        }
        return replace(self, **defaults)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain numbers and strings; what depends on the data is under ``"diagnostics"``."""
        values = asdict(self)
        if self.schema == 1:  # as it was written
            values = {name: value for name, value in values.items() if name not in _since_form_1()}
        for item in fields(self):
            if item.name in self.LATER and values[item.name] == item.default:
                del values[item.name]
        if self.ALGORITHM is not None:
            values = {"algorithm": self.ALGORITHM, **values}
        diagnostics = {name: values.pop(name) for name in self.DIAGNOSTICS}
        if any(value is not None for value in diagnostics.values()):
            values["diagnostics"] = {"note": _NOTE, **diagnostics}
        return values

    def to_json(self, indent: int | None = 2) -> str:
        """Return `to_dict` as JSON; numbers keep all their digits."""
        return json.dumps(self.to_dict(), indent=indent)

    @staticmethod
    def from_dict(values: Any) -> PrivacyCertificate:
        """Return the certificate that `to_dict` described. Its content is not judged here: ask `verify`.

        A dict without the key ``"schema"`` is of form 1, written before there were forms. ValueError if a field is
        missing, unknown, or stands where it does not belong (diagnostics, and nothing else, stand under
        ``"diagnostics"``), or the form is a newer one.
        """
        if type(values) is not dict:
            raise ValueError(f"values must be a dict as to_dict writes it, got a {type(values).__name__}")
        named = "mechanism" if values.get("algorithm") is None else "algorithm"
        kinds = PrivacyCertificate.MECHANISMS if named == "mechanism" else PrivacyCertificate.ALGORITHMS
        kind = kinds[choice(named, values.get(named), tuple(kinds))]
        schema = values.get("schema", SCHEMA)
        if type(schema) is not int or schema != SCHEMA:
            raise ValueError(f"schema must be {SCHEMA}, or left out by texts of form 1, got {schema!r}")
        if "schema" not in values:
            schema = 1
        names = {item.name for item in fields(kind)}
        promises = names.difference(kind.DIAGNOSTICS, kind.LATER, () if schema > 1 else _since_form_1())
        allowed = {"diagnostics"} if kind.DIAGNOSTICS else set()
        allowed |= {"algorithm"} if named == "algorithm" else set()
        _exactly("values", values, promises, allowed | (set(kind.LATER) if schema > 1 else set()))
        diagnostics = values.get("diagnostics", dict.fromkeys(kind.DIAGNOSTICS))
        if type(diagnostics) is not dict:
            raise ValueError(f"diagnostics must be a dict as to_dict writes it, got a {type(diagnostics).__name__}")
        _exactly("diagnostics", diagnostics, set(kind.DIAGNOSTICS), {"note"})
        flat = values | diagnostics | {"schema": schema}
        return kind(**{name: _tuple(value) for name, value in flat.items() if name in names})

    @staticmethod
    def from_json(text: str | bytes) -> PrivacyCertificate:
        """Return the certificate that `to_json` wrote.

        ValueError if `text` is not JSON, names one key twice (readers would differ in which they believe), holds NaN or
        an infinity, or does not hold what `from_dict` takes.
        """
        try:
            values = json.loads(text, object_pairs_hook=once_each, parse_constant=_no_number)
        except (ValueError, TypeError, RecursionError) as problem:
            raise ValueError(f"text must be a certificate as to_json writes it, got no such JSON: {problem}") from None
        return PrivacyCertificate.from_dict(values)

    def _lines(self) -> list[str]:
        """The lines of `repr` between the promise and the source of the noise: name and value in two columns."""
        return []

    def _rows(self) -> str:
        rows = f"rows {'normalised' if self.row_norm == 'normalize' else 'clipped'} to norm 1"
        return rows + (f" and a constant {self.intercept_scaling:g} appended" if self.intercept_scaling else "")

    def __repr__(self) -> str:
        try:
            if problem := self.complaint():
                return f"{type(self).__name__} that no fit has written: {problem}"
            return self._shown()
        except Exception:  # as in `verify`
            return f"{type(self).__name__} that no fit has written"

    def statement(self) -> list[dict[str, str]]:
        """Return what the certificate says as rows of a table, from the fields that `public` keeps alone.

        ValueError if a field says what no fit writes.
        """
        if problem := self.complaint():
            raise ValueError(f"the certificate must be one that a fit has written: {problem}")
        promise, *lines = self._shown().split("\n")
        parts = [line.split(maxsplit=1) for line in lines]
        return [dict(zip(("part", "what it says"), row, strict=True)) for row in (["promise", promise], *parts)]

    def to_markdown(self, *, caption: str = "") -> str:
        """`statement` as a table in Markdown, for a model's card or a report."""
        return to_markdown(self.statement(), caption=caption)

    def to_latex(self, *, caption: str = "", label: str = "") -> str:
        """`statement` as a table in LaTeX, for a paper; arguments as for `objpert_core.tables.to_latex`."""
        return to_latex(self.statement(), caption=caption, label=label)

    def _shown(self) -> str:
        source = f"{self.noise_source}" + (
            " (reproducible: whoever knows the seed can subtract the noise)" if self.reproducible else ""
        )
        lines = [
            f"({promised(self.epsilon)}, {promised(self.delta)})-differential privacy, {self.adjacency}",
            *self._lines(),
            f"  noise      {source}",
        ]
        if self.on_error == "release":
            lines.append("  errors     invalid rows count as none; that no solver got there is not covered (T23)")
        if self.schema == 1:
            lines.append("  form       1: proved in exact arithmetic, not in floating point")
        return "\n".join(lines)


def _doubles(array: Any) -> bool:
    """Whether doubles, of which the fingerprint is made, hold all of the array; wider numbers could carry more."""
    return bool(array.dtype.kind == "f" and array.dtype.itemsize <= 8)


def _since_form_1() -> set[str]:
    return {"schema", *_SINCE_SCHEMA_2}


def _exactly(name: str, values: dict[Any, Any], needed: set[str], allowed: set[str]) -> None:
    """`ValueError` unless `values` has every key of `needed`, and beyond them only keys of `allowed`."""
    if wrong := set(values).difference(allowed).symmetric_difference(needed):
        raise ValueError(
            f"{name} must hold exactly a certificate's fields, got a difference in {sorted(wrong, key=str)!r}"
        )


def _tuple(value: Any) -> Any:
    return tuple(value) if type(value) is list else value  # JSON knows no tuples


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


@dataclass(frozen=True, kw_only=True, repr=False)
class SolvedCertificate(PrivacyCertificate):
    """The certificate of a release whose proof needs a solver to get near the minimiser.

    Attributes
    ----------
    gradient_norm : float or None
        Diagnostic: the gradient norm verified at the solution, of several fits the largest; None in a `public` one.
    n_iter : int or None
        Diagnostic: the solver's iterations in all fits together; None in a `public` certificate.
    center_noise : float or None
        Standard deviation of the noise on the sum of the rows' directions, where rows were centred before the fit.
    scale_noise : float or None
        Standard deviation of the noise on the sum of the sizes, where columns were scaled before the fit.
    fits : int
        How many fits by the mechanism there are, one for each class against the others.
    rest_weight : float
        How long a row is in the fits of classes that it does not belong to.
    """

    DIAGNOSTICS: ClassVar[tuple[str, ...]] = ("gradient_norm", "n_iter")
    LATER: ClassVar[tuple[str, ...]] = ("center_noise", "scale_noise", "fits", "rest_weight")

    STATED: ClassVar[Mapping[str, Stated]] = {
        "center_noise": or_nothing(POSITIVE),
        "scale_noise": or_nothing(POSITIVE),
        "fits": COUNT,
        "rest_weight": POSITIVE,
        "gradient_norm": or_nothing(NONNEGATIVE),
        "n_iter": or_nothing(FROM_ZERO),
    }
    OUTPUT_NOISE: ClassVar[str] = "sigma_out"
    """The field with the standard deviation of the noise on every coefficient."""

    gradient_norm: float | None = None
    n_iter: int | None = None
    center_noise: float | None = None
    scale_noise: float | None = None
    fits: int = 1
    rest_weight: float = 1.0

    @property
    def standardisation(self) -> Standardisation:
        """The noise of the centre and the scales that were released before the fit."""
        return Standardisation(self.center_noise, self.scale_noise)

    @property
    def terms(self) -> Terms:
        """What is promised, and what the promise pays for."""
        return Terms(
            self.epsilon,
            self.delta,
            self.mechanism_adjacency,
            self.rows_per_person,
            self.accountant,
            standardisation=self.standardisation,
            fits=self.fits,
            rest_weight=self.rest_weight,
        )

    def accounted(self, mechanism: Any) -> Mechanism:
        """Return the whole: what was released before, and all fits, for all rows of one person."""
        return self.terms.whole(mechanism)

    def _contradiction(self) -> str | None:
        steps = {name: getattr(self, name) for name in ("center_noise", "scale_noise")}
        for name, noise in steps.items():
            if noise is not None and self.row_norm != "normalize":
                return f"{name} must be None for row_norm={self.row_norm!r}, got {noise!r}"
            if noise is not None and getattr(self, "public_rows", None) is None:
                return f"public_rows must be a number where {name} is one, got None"
        if self.rest_weight != 1.0 and not (self.fits > 1 and self.rest_weight < 1.0):
            return f"rest_weight must be 1.0 for one fit, and at most 1.0 for several, got {self.rest_weight!r}"
        return super()._contradiction()

    def _by_rows(self, rows: int | None, declared: bool | None, *, has_rule: bool) -> list[str]:
        """The line of `repr` on what was chosen by the number of rows; a map may go by rows where λ does not."""
        steps = [name for name in ("center", "scale") if getattr(self, f"{name}_noise") is not None]
        if not steps:
            what = "lam was"
        elif has_rule:
            what = f"{', '.join(steps)} or lam were"
        else:
            what = f"{' and '.join(steps)} {'was' if len(steps) == 1 else 'were'}"
        return by_public_rows(rows, declared, what)

    def _before(self) -> list[str]:
        """The lines of `repr` for what was released before the fit, and for several fits."""
        steps = [
            ("center", "directions centred", self.center_noise, "Σu"),
            ("scale", "columns scaled", self.scale_noise, "Σ|z|"),
        ]
        lines = [
            f"  {name:<10} {what}, noise on {of} {noise:.6g}: part of the promise"
            for name, what, noise, of in steps
            if noise is not None
        ]
        if self.fits > 1:
            rest = "" if self.rest_weight == 1.0 else f", rows of other classes {self.rest_weight:.6g} times as long"
            lines.append(f"  fits       {self.fits}, one for each class against the others{rest}")
        return lines

    def fine_enough(self, spacing: float, dimension: int) -> bool:
        """Say whether a lattice of this `spacing` has room in the proof: λh√D/2 ≤ τ, and 2¹⁰ ≤ σ/h ≤ 2⁵².

        Rounding moves θ̃ by h√D/2 at most, which is paid out of τ. The noise must be many lattice points wide, and not
        so many that doubles cannot tell the points apart.
        """
        lam, tau, noise = (getattr(self, name) for name in ("lam", "tau", self.OUTPUT_NOISE))
        points = noise / spacing
        return bool(lam * spacing * math.sqrt(dimension) / 2 <= tau and 2.0**10 <= points <= LARGEST_RATIO)

    def lies_on_lattice(self, coef: FloatArray) -> bool:
        """Say whether a classifier's coefficients are multiples of h; a regressor's are scaled after rounding."""
        return self.lattice is None or coef.ndim == 1 or not np.fmod(coef, self.lattice).any()

    def reached(self, tau: float) -> bool:
        """Say whether the solver stopped where the gradient's norm is at most `tau`, as far as the diagnostics tell."""
        return self.gradient_norm is None or self.gradient_norm <= tau


@dataclass(frozen=True, kw_only=True, repr=False)
class ObjectivePerturbationCertificate(SolvedCertificate, mechanisms=("ApproximateMinima",)):
    """The certificate of Algorithm 1 of Redberg, Koskela and Wang (2023); see also `SolvedCertificate` for fields.

    Attributes
    ----------
    bound : str
        The theorem used; `accountant` says how (ε, δ) came from the theorem ("profile" or "rdp").
    sigma, lam : float
        Standard deviation of each entry of the objective's linear noise, and the regularisation λ.
    tau, sigma_out : float
        Gradient norm the solver had to reach, and the standard deviation of the noise on the coefficients.
    lipschitz, smoothness : float
        Bounds on one row's gradient norm (the radius R = √(1 + s²) for logistic regression) and Hessian norm.
    dimension : int or None
        Number of parameters, where the bound uses it.
    loss : str
    loss_parameter : float or None
        The loss, as `loss_named` knows it.
    clip : float or None
        Threshold C to which every row's gradient was clipped in norm.
    public_rows : int or None
        The number of rows, where λ was chosen by that number, which the guarantee then takes as public.
    ball_radius : float or None
        M, where θ was looked for in the ball ‖θ‖ ≤ M; the output noise comes on top. The ball costs no privacy.
    envelope : float or None
        β, where every row's loss was replaced by its Moreau envelope of this smoothness in θ; a loss with corners needs
        an envelope.
    """

    ACCOUNTANTS: ClassVar[tuple[str, ...]] = ACCOUNTANTS
    LATER: ClassVar[tuple[str, ...]] = (*SolvedCertificate.LATER, "ball_radius", "envelope")
    STATED: ClassVar[Mapping[str, Stated]] = {
        "bound": one_of(*BOUND_REGISTRY),
        "sigma": POSITIVE,
        "lam": POSITIVE,
        "tau": POSITIVE,
        "sigma_out": POSITIVE,
        "lipschitz": POSITIVE,
        "smoothness": NONNEGATIVE,
        "dimension": or_nothing(COUNT),
        "loss": one_of(*EVERY_LOSS),
        "loss_parameter": or_nothing(NONNEGATIVE),
        "clip": or_nothing(POSITIVE),
        "public_rows": or_nothing(COUNT),
        "ball_radius": or_nothing(POSITIVE),
        "envelope": or_nothing(POSITIVE),
    }

    bound: str
    sigma: float
    lam: float
    tau: float
    sigma_out: float
    lipschitz: float
    smoothness: float
    dimension: int | None
    loss: str = LogisticLoss.name
    loss_parameter: float | None = None
    clip: float | None = None
    public_rows: int | None = None
    ball_radius: float | None = None
    envelope: float | None = None

    @classmethod
    def numbers(cls, mechanism: ApproximateMinima) -> dict[str, Any]:
        """Name theorem, noise, regularisation and bounds on one row."""
        objective = mechanism.objective
        own = {name: getattr(objective, name) for name in _OF_OBJECTIVE}
        return {**own, "tau": mechanism.tau, "sigma_out": mechanism.sigma_out}

    def reach(self, dimension: int) -> float | None:
        """λ‖θ‖ ≤ nL + ‖b‖ + τ, or the ball's M, and the output noise; see `PrivacyCertificate.reach`."""
        noise = FAR * math.sqrt(dimension)
        minimum = math.inf if self.ball_radius is None else self.ball_radius
        if self.most_rows is not None:
            minimum = min(minimum, (self.most_rows * self.lipschitz + noise * self.sigma + self.tau) / self.lam)
        return None if math.isinf(minimum) else minimum + noise * self.sigma_out

    def rebuild(self) -> ApproximateMinima:
        """See `PrivacyCertificate.rebuild`."""
        own = {name: getattr(self, name) for name in _OF_OBJECTIVE}
        objective = ObjectivePerturbation(**own, adjacency=self.mechanism_adjacency)
        return ApproximateMinima(objective, self.tau, self.sigma_out)

    @classmethod
    def uncovered(
        cls, mechanism: ApproximateMinima, loss: Loss, clip: float | None, radius: float, dimension: int
    ) -> str | None:
        """Say why the theorem does not cover the problem; see `PrivacyCertificate.uncovered`."""
        return covers(mechanism.objective, loss, clip, radius, dimension)

    def holds(self) -> bool:
        """Say whether the bounds on gradient and Hessian hold for this loss on these rows, and τ was reached."""
        loss = loss_named(self.loss, self.loss_parameter, EVERY_LOSS)
        if self.envelope is not None:
            loss = widest_envelope(loss, self.envelope, self.radius)
        return covers(self.rebuild().objective, loss, self.clip, self.radius) is None and self.reached(self.tau)

    def _contradiction(self) -> str | None:
        if self.envelope is None and self.loss not in LOSSES:
            return f"envelope must be a number for the loss {self.loss!r}, which has corners, got None"
        if self.rest_weight != 1.0 and (self.loss != LogisticLoss.name or (self.clip, self.envelope) != (None, None)):
            return f"rest_weight must be 1.0 but for the logistic loss as it is, got {self.rest_weight!r}"
        return super()._contradiction()

    def _lines(self) -> list[str]:
        own = f" ({self.loss_parameter:g})" if self.loss_parameter else ""
        rounded = "" if self.envelope is None else f", its envelope of smoothness {self.envelope:.6g}"
        clipped = "" if self.clip is None else f", gradients clipped to norm {self.clip:g}"
        kept = [] if self.ball_radius is None else [f"  ball       ‖θ‖ ≤ {self.ball_radius:g}, before the output noise"]
        return [
            f"  proof      bound {self.bound!r}, accountant {self.accountant!r}, {self.mechanism}",
            *self._before(),
            f"  objective  {self.loss} loss{own}{rounded}{clipped}, sigma = {self.sigma:.6g}, lam = {self.lam:.6g}, "
            f"R = {self.radius:.6g} ({self._rows()})",
            *kept,
            f"  solver     gradient norm ≤ tau = {self.tau:g}, output noise sigma_out = {self.sigma_out:.6g}",
            *self._by_rows(self.public_rows, self.rows_declared, has_rule=self.loss == LogisticLoss.name),
        ]


_OF_OBJECTIVE = ("bound", "sigma", "lam", "lipschitz", "smoothness", "dimension")


def by_public_rows(rows: int | None, declared: bool | None = None, what: str = "lam was") -> list[str]:
    """Say on a line of a certificate's `repr` that `what` was chosen by the number of rows; no line for None.

    >>> by_public_rows(None), by_public_rows(500, declared=True)
    ([], ['  public     lam was chosen for 500 rows, a number that was declared'])
    """
    if rows is None:
        return []
    how = ", a number that was declared" if declared else ": their number is treated as public"
    return [f"  public     {what} chosen for {rows} rows{how}"]


def by_accountant(mechanism: Mechanism, accountant: str) -> Mechanism:
    """See `PrivacyCertificate.accounted`."""
    return via_rdp(mechanism) if accountant == "rdp" else mechanism


class Bounded(Parameters, Protocol):
    """What `covers` reads: a theorem, and what the theorem is told of one row."""

    @property
    def bound(self) -> str:
        """The theorem's key in `BOUND_REGISTRY`."""


def covers(
    promised: Bounded, loss: Loss, clip: float | None, radius: float, dimension: int | None = None
) -> str | None:
    """Say why the proof does not cover `loss`, clipped at `clip`, on rows of norm `radius`; None if the proof does.

    >>> covers(ObjectivePerturbation(5.0, 2.0), LogisticLoss(), None, 1.5)
    'lipschitz must be at least 1.5, got 1.0'
    """
    if clip is not None and not clip > 0:
        return f"clip must be None or a number > 0, got {clip!r}"
    theorem = BOUND_REGISTRY[promised.bound]
    if reason := theorem.uncovered(loss):
        return reason
    gradient = loss.lipschitz * radius
    if clip is not None and not theorem.needs_whole_radius:
        gradient = min(gradient, clip)
    for name, value, needed in (
        ("lipschitz", promised.lipschitz, gradient),
        ("smoothness", promised.smoothness, loss.smoothness * radius**2),
        ("dimension", promised.dimension, dimension),
    ):
        if value is not None and needed is not None and not value >= needed:
            return f"{name} must be at least {needed!r}, got {value!r}"
    return None
