"""The certificate of a private fit: what was promised, by which proof, and enough numbers to check it again.

A family of mechanisms has its own kind of certificate, a subclass of `PrivacyCertificate` that names its mechanisms:
``class MyCertificate(SolvedCertificate, mechanisms=("MyMechanism",))``. It says which of its fields the mechanism
decides (`numbers`), builds the mechanism again from them (`rebuild`) and checks what its proof needs (`holds`).
`PrivacyCertificate.describe`, JSON and `verify` find it by the mechanism's name.
"""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass, fields, replace
from functools import lru_cache
from typing import Any, ClassVar, Protocol, Self

from objpert_core._validation import choice
from objpert_core.accounting import ApproximateMinima, Mechanism, ObjectivePerturbation, via_rdp
from objpert_core.accounting.mechanisms.base import ADJACENCIES
from objpert_core.accounting.mechanisms.bounds import ACCOUNTANTS, BOUND_REGISTRY, Parameters
from objpert_core.learning.problem.losses import LogisticLoss, Loss, loss_named
from objpert_core.learning.problem.rows import ROW_NORMS, row_radius

ROUNDING = 1e-12  # relative slack for δ recomputed from an ε that was found by a search


@dataclass(frozen=True, kw_only=True, repr=False)
class PrivacyCertificate(ABC):
    """What one fit promises: (ε, δ)-differential privacy of the released coefficients.

    Everything but the diagnostics is fixed before the data are looked at, but for the number of rows where
    `public_rows` says that it is treated as public; so the certificate may be published with the model. The
    diagnostics depend on the data and on the noise: they are *outside* the guarantee, for the eyes of whoever holds
    the data; `to_dict` keeps them apart under ``"diagnostics"`` and `public` leaves them out. Outside it are also a
    fit's running time, the error of a failed fit and the labels seen where they were not given.

    Attributes
    ----------
    mechanism : str
        The mechanism's name in `objpert_core.accounting`.
    epsilon, delta : float
        The guarantee for one fit. Fits on overlapping data add up.
    adjacency : str
        Which data sets count as neighbours.
    accountant : str
        How (ε, δ) was computed.
    row_norm : str
        How ‖x‖ ≤ 1 was enforced: "normalize" or "clip".
    intercept_scaling : float
        The constant s appended to every row; 0.0 without an intercept.
    noise_source : str
        Where the noise's bits came from.
    reproducible : bool
        True where the noise came from a seed: whoever knows it can subtract the noise.

    Examples
    --------
    >>> import numpy as np
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
    MECHANISMS: ClassVar[dict[str, type[PrivacyCertificate]]] = {}
    """The kinds of certificate, by `mechanism`."""

    mechanism: str
    epsilon: float
    delta: float
    adjacency: str
    accountant: str
    row_norm: str
    intercept_scaling: float
    noise_source: str
    reproducible: bool

    def __init_subclass__(cls, *, mechanisms: tuple[str, ...] = (), **rest: Any) -> None:
        super().__init_subclass__(**rest)
        for mechanism in mechanisms:
            PrivacyCertificate.MECHANISMS[mechanism] = cls

    @property
    def radius(self) -> float:
        """R = √(1 + s²), the largest norm of a row with its constant."""
        return row_radius(self.intercept_scaling)

    # --- what a family says of itself ----------------------------------------------------------------------------

    @classmethod
    @abstractmethod
    def numbers(cls, mechanism: Any) -> dict[str, Any]:
        """Name the fields that the mechanism decides, with their values; `rebuild` undoes it."""

    @abstractmethod
    def rebuild(self) -> Mechanism:
        """Build the mechanism again, from the certificate's numbers alone."""

    @abstractmethod
    def holds(self) -> bool:
        """Say whether what the proof takes for granted is true: bounds on one row, where the solver stopped."""

    @classmethod
    def uncovered(cls, mechanism: Any, loss: Loss, clip: float | None, radius: float, dimension: int) -> str | None:
        """Say why the proof is not about this problem; `perturb_and_solve` asks before it touches the data.

        Parameters
        ----------
        mechanism : Mechanism
        loss : Loss
            Before clipping.
        clip : float or None
            Threshold on the norm of every row's gradient.
        radius : float
            The largest norm of a row with its constant.
        dimension : int
            The length of θ.

        Returns
        -------
        str or None
            A clause that goes on from "mechanism's"; None where the proof covers the problem. A family that does not
            say is taken to cover nothing.
        """
        return f"certificate, a {cls.__name__}, must say which losses are covered"

    def accounted(self, mechanism: Any) -> Mechanism:
        """Choose where (ε, δ) come from: the mechanism itself, or its Rényi curve for the accountant "rdp"."""
        return by_accountant(mechanism, self.accountant)

    def cases(self, mechanism: Any) -> tuple[Any, ...]:
        """List the mechanisms that must each keep (epsilon, delta): as a rule the one."""
        return (mechanism,)

    # --- what is the same for all --------------------------------------------------------------------------------

    @staticmethod
    def kind_for(mechanism: Mechanism) -> type[PrivacyCertificate]:
        """Find the kind of certificate that describes a fit by `mechanism`.

        Raises
        ------
        ValueError
            If there is none.

        Examples
        --------
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
        """Write the certificate of a fit by `mechanism`, of the kind that its family registered.

        Parameters
        ----------
        mechanism : Mechanism
        **facts
            The fields that the mechanism does not decide.

        Raises
        ------
        ValueError
            If no kind of certificate is for this mechanism.
        """
        return PrivacyCertificate.kind_for(mechanism).from_mechanism(mechanism, **facts)

    @classmethod
    def from_mechanism(cls, mechanism: Mechanism, **facts: Any) -> Self:
        """Write a certificate of this kind; arguments as in `describe`."""
        own = {"mechanism": type(mechanism).__name__, "adjacency": mechanism.adjacency, **cls.numbers(mechanism)}
        return cls(**own, **facts)

    def verify(self) -> bool:
        """Account for the mechanism anew.

        Returns
        -------
        bool
            True if what the certificate covers is (epsilon, delta)-DP on rows of the enforced norm, and all that the
            proof needs holds. Numbers that only the coefficients tell, as `dimension`, are taken on trust.
        """
        if not self.well_formed():
            return False
        mechanism = self.rebuild()
        return bool(
            (self.mechanism, self.adjacency) == (type(mechanism).__name__, mechanism.adjacency)
            and self.holds()
            and all(
                self.accounted(case).delta(self.epsilon) <= self.delta * (1 + ROUNDING)
                for case in self.cases(mechanism)
            )
        )

    def well_formed(self) -> bool:
        """Whether the fields that all certificates share say something that a fit could have said."""
        rows = getattr(self, "public_rows", None)
        return bool(
            0 < self.delta < 1
            and 0 <= self.epsilon < math.inf
            and 0 <= self.intercept_scaling < math.inf
            and self.row_norm in ROW_NORMS
            and self.accountant in self.ACCOUNTANTS
            and self.adjacency in ADJACENCIES
            and (rows is None or rows >= 1)
        )

    def public(self) -> Self:
        """The certificate without its diagnostics: nothing left in it depends on the data but the number of rows.

        And that only where it was not given as `public_rows`.
        """
        defaults: dict[str, Any] = {
            field.name: field.default for field in fields(self) if field.name in self.DIAGNOSTICS
        }
        return replace(self, **defaults)

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain numbers and strings; what depends on the data apart, under ``"diagnostics"``."""
        values = asdict(self)
        diagnostics = {name: values.pop(name) for name in self.DIAGNOSTICS}
        if any(value is not None for value in diagnostics.values()):
            values["diagnostics"] = {
                "note": "depends on the data, outside the privacy guarantee: do not publish",
                **diagnostics,
            }
        return values

    def to_json(self, indent: int | None = 2) -> str:
        """`to_dict` as JSON; numbers keep all their digits."""
        return json.dumps(self.to_dict(), indent=indent)

    @staticmethod
    def from_dict(values: dict[str, Any]) -> PrivacyCertificate:
        """The certificate that `to_dict` described; `ValueError` where a field is missing or unknown."""
        mechanisms = PrivacyCertificate.MECHANISMS
        kind = mechanisms[choice("mechanism", values.get("mechanism"), tuple(mechanisms))]
        diagnostics = {k: v for k, v in dict(values.get("diagnostics", {})).items() if k != "note"}
        flat = dict.fromkeys(kind.DIAGNOSTICS) | {k: v for k, v in values.items() if k != "diagnostics"} | diagnostics
        expected = {item.name for item in fields(kind)}
        if wrong := expected.symmetric_difference(flat):
            raise ValueError(f"values must hold exactly a certificate's fields, got a difference in {sorted(wrong)!r}")
        for item in fields(kind):
            if isinstance(flat[item.name], list):
                flat[item.name] = tuple(flat[item.name])  # JSON knows no tuples
        return kind(**flat)

    @staticmethod
    def from_json(text: str) -> PrivacyCertificate:
        """The certificate that `to_json` wrote."""
        return PrivacyCertificate.from_dict(json.loads(text))

    def _lines(self) -> list[str]:
        """What `repr` says between the promise and the source of the noise: name and value in two columns."""
        return []

    def _rows(self) -> str:
        rows = f"rows {'normalised' if self.row_norm == 'normalize' else 'clipped'} to norm 1"
        return rows + (f" and a constant {self.intercept_scaling:g} appended" if self.intercept_scaling else "")

    def __repr__(self) -> str:
        source = f"{self.noise_source}" + (
            " (reproducible: whoever knows the seed can subtract the noise)" if self.reproducible else ""
        )
        lines = [
            f"({self.epsilon:g}, {self.delta:g})-differential privacy, {self.adjacency}",
            *self._lines(),
            f"  noise      {source}",
        ]
        return "\n".join(lines)


@dataclass(frozen=True, kw_only=True, repr=False)
class SolvedCertificate(PrivacyCertificate):
    """The certificate of a release whose proof needs a solver to get near the minimiser.

    Attributes
    ----------
    gradient_norm : float or None
        Diagnostic: the gradient norm verified at the solution; None in a `public` certificate.
    n_iter : int or None
        Diagnostic: the solver's iterations; None in a `public` certificate.
    """

    DIAGNOSTICS: ClassVar[tuple[str, ...]] = ("gradient_norm", "n_iter")

    gradient_norm: float | None = None
    n_iter: int | None = None

    def reached(self, tau: float) -> bool:
        """Say whether the solver stopped where the gradient's norm is at most `tau`, as far as the diagnostics tell."""
        return self.gradient_norm is None or self.gradient_norm <= tau


@dataclass(frozen=True, kw_only=True, repr=False)
class ObjectivePerturbationCertificate(SolvedCertificate, mechanisms=("ApproximateMinima",)):
    """The certificate of Algorithm 1 of Redberg, Koskela and Wang (2023).

    Other fields: `PrivacyCertificate`, `SolvedCertificate`.

    Attributes
    ----------
    bound : str
        The theorem used; `accountant` says how (ε, δ) came from it ("profile" or "rdp").
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
        The number of rows, where λ was chosen by it: the guarantee then takes that number as public.
    """

    ACCOUNTANTS: ClassVar[tuple[str, ...]] = ACCOUNTANTS

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

    @classmethod
    def numbers(cls, mechanism: ApproximateMinima) -> dict[str, Any]:
        """Name theorem, noise, regularisation and bounds on one row."""
        objective = mechanism.objective
        own = {name: getattr(objective, name) for name in _OF_OBJECTIVE}
        return {**own, "tau": mechanism.tau, "sigma_out": mechanism.sigma_out}

    def rebuild(self) -> ApproximateMinima:
        """Build the mechanism again, from the certificate's numbers alone."""
        objective = ObjectivePerturbation(**{name: getattr(self, name) for name in _OF_OBJECTIVE})
        return ApproximateMinima(objective, self.tau, self.sigma_out)

    @classmethod
    def uncovered(
        cls, mechanism: ApproximateMinima, loss: Loss, clip: float | None, radius: float, dimension: int
    ) -> str | None:
        """Say why the theorem does not cover the problem; see `covers`."""
        return covers(mechanism.objective, loss, clip, radius, dimension)

    def holds(self) -> bool:
        """Say whether the bounds on gradient and Hessian hold for this loss on these rows and τ was reached."""
        loss = loss_named(self.loss, self.loss_parameter)
        return covers(self.rebuild().objective, loss, self.clip, self.radius) is None and self.reached(self.tau)

    def _lines(self) -> list[str]:
        own = f" ({self.loss_parameter:g})" if self.loss_parameter else ""
        clipped = "" if self.clip is None else f", gradients clipped to norm {self.clip:g}"
        return [
            f"  proof      bound {self.bound!r}, accountant {self.accountant!r}, {self.mechanism}",
            f"  objective  {self.loss} loss{own}{clipped}, sigma = {self.sigma:.6g}, lam = {self.lam:.6g}, "
            f"R = {self.radius:.6g} ({self._rows()})",
            f"  solver     gradient norm ≤ tau = {self.tau:g}, output noise sigma_out = {self.sigma_out:.6g}",
            *by_public_rows(self.public_rows),
        ]


_OF_OBJECTIVE = ("bound", "sigma", "lam", "lipschitz", "smoothness", "dimension")


def by_public_rows(rows: int | None) -> list[str]:
    """Say on a line of a certificate's `repr` that λ was chosen by the number of rows; no line where it was not.

    Examples
    --------
    >>> by_public_rows(None), len(by_public_rows(500))
    ([], 1)
    """
    return [] if rows is None else [f"  public     lam was chosen for {rows} rows: their number is treated as public"]


def by_accountant(mechanism: Mechanism, accountant: str) -> Mechanism:
    """Choose where (ε, δ) come from: `mechanism` itself, or its Rényi curve alone for the accountant "rdp".

    Examples
    --------
    >>> exact = ApproximateMinima(ObjectivePerturbation(5.0, 2.0), 1e-6, 0.1)
    >>> by_accountant(exact, "rdp").epsilon(1e-5) > by_accountant(exact, "profile").epsilon(1e-5)
    True
    """
    return via_rdp(mechanism) if accountant == "rdp" else mechanism


@lru_cache(maxsize=4096)
def proved_epsilon(mechanism: Mechanism, epsilon: float | None, delta: float, accountant: str = "profile") -> float:
    """Find the ε that a certificate may state at `delta`.

    Parameters
    ----------
    mechanism : Mechanism
    epsilon : float or None
        An ε that the mechanism should keep, for example the one it was calibrated to; None takes the mechanism's own.
    delta : float
    accountant : {"profile", "rdp"}

    Returns
    -------
    float
        `epsilon`, or the mechanism's own where that is None.

    Raises
    ------
    ValueError
        If the mechanism does not keep `epsilon`, or no ε at all.

    Examples
    --------
    >>> proved_epsilon(ApproximateMinima(ObjectivePerturbation(5.0, 2.0), 1e-6, 0.1), 1.0, 1e-5)
    1.0
    """
    accounted = by_accountant(mechanism, accountant)
    if epsilon is not None and accounted.delta(epsilon) <= delta * (1 + ROUNDING):
        return epsilon
    proved = accounted.epsilon(delta)
    if math.isinf(proved):
        raise ValueError(f"mechanism must be private at delta = {delta:g}; {mechanism.explain() or 'it is not'}")
    if epsilon is not None:
        raise ValueError(f"epsilon must be at least {proved!r}, what the mechanism has at {delta=}, got {epsilon!r}")
    return float(proved)


class Bounded(Parameters, Protocol):
    """What `covers` has to know: a theorem, and what it is told of one row."""

    @property
    def bound(self) -> str:
        """The theorem's key in `BOUND_REGISTRY`."""


def covers(
    promised: Bounded, loss: Loss, clip: float | None, radius: float, dimension: int | None = None
) -> str | None:
    """Why the proof does not cover `loss`, clipped at `clip`, on rows of norm `radius`; None if it does.

    Parameters
    ----------
    promised : ObjectivePerturbation or ObjectivePerturbationCertificate
    loss : Loss
    clip : float or None
    radius : float
    dimension : int, optional
        Compared with the theorem's where both are given.

    Examples
    --------
    >>> covers(ObjectivePerturbation(5.0, 2.0), LogisticLoss(), None, 1.0) is None
    True
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
