"""The certificate of a private fit: what was promised, by which proof, and enough numbers to check it again."""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, ClassVar, Self

from objpert_core._validation import choice
from objpert_core.accounting import ApproximateMinima, Mechanism, ObjectivePerturbation, via_rdp
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

    @abstractmethod
    def rebuild(self) -> Mechanism:
        """The mechanism again, from the certificate's numbers alone."""

    @abstractmethod
    def verify(self) -> bool:
        """Account for the mechanism anew: True if it is (epsilon, delta)-DP on rows of the enforced norm."""

    def well_formed(self) -> bool:
        """Whether the fields that all certificates share say something that a fit could have said."""
        rows = getattr(self, "public_rows", None)
        return bool(
            0 < self.delta < 1
            and 0 <= self.epsilon < math.inf
            and 0 <= self.intercept_scaling < math.inf
            and self.row_norm in ROW_NORMS
            and self.accountant in self.ACCOUNTANTS
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
class ObjectivePerturbationCertificate(PrivacyCertificate, mechanisms=("ApproximateMinima",)):
    """The certificate of Algorithm 1 of Redberg, Koskela and Wang (2023); common fields: `PrivacyCertificate`.

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
    gradient_norm : float or None
        Diagnostic: the gradient norm verified at the solution, ≤ tau; None in a `public` certificate.
    n_iter : int or None
        Diagnostic: the solver's iterations; None in a `public` certificate.
    """

    DIAGNOSTICS: ClassVar[tuple[str, ...]] = ("gradient_norm", "n_iter")
    ACCOUNTANTS: ClassVar[tuple[str, ...]] = ("profile", "rdp")

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
    gradient_norm: float | None = None
    n_iter: int | None = None

    def rebuild(self) -> ApproximateMinima:
        """The mechanism again, from the certificate's numbers alone."""
        objective = ObjectivePerturbation(
            self.sigma, self.lam, self.lipschitz, self.smoothness, self.bound, self.dimension
        )
        return ApproximateMinima(objective, self.tau, self.sigma_out)

    def verify(self) -> bool:
        """Account for the mechanism anew: True if it is (epsilon, delta)-DP on rows of the enforced norm.

        Also checks that the bounds on gradient and Hessian hold for this loss on these rows and that τ was reached.
        `dimension` is taken on trust: compare it with the coefficients.
        """
        rebuilt = self.rebuild()
        if not self.well_formed() or (self.mechanism, self.adjacency) != (type(rebuilt).__name__, rebuilt.adjacency):
            return False
        mechanism: Mechanism = via_rdp(rebuilt) if self.accountant == "rdp" else rebuilt
        loss = loss_named(self.loss, self.loss_parameter)
        return bool(
            mechanism.delta(self.epsilon) <= self.delta * (1 + ROUNDING)
            and covers(rebuilt.objective, loss, self.clip, self.radius) is None
            and (self.gradient_norm is None or self.gradient_norm <= self.tau)
        )

    def _lines(self) -> list[str]:
        own = f" ({self.loss_parameter:g})" if self.loss_parameter else ""
        clipped = "" if self.clip is None else f", gradients clipped to norm {self.clip:g}"
        public = [] if self.public_rows is None else [by_public_rows(self.public_rows)]
        return [
            f"  proof      bound {self.bound!r}, accountant {self.accountant!r}, {self.mechanism}",
            f"  objective  {self.loss} loss{own}{clipped}, sigma = {self.sigma:.6g}, lam = {self.lam:.6g}, "
            f"R = {self.radius:.6g} ({self._rows()})",
            f"  solver     gradient norm ≤ tau = {self.tau:g}, output noise sigma_out = {self.sigma_out:.6g}",
            *public,
        ]


def by_public_rows(rows: int) -> str:
    """The line of a certificate that says that λ was chosen by the number of rows."""
    return f"  public     lam was chosen for {rows} rows: their number is treated as public"


def covers(
    objective: ObjectivePerturbation, loss: Loss, clip: float | None, radius: float, dimension: int | None = None
) -> str | None:
    """Why the objective's proof does not cover `loss`, clipped at `clip`, on rows of norm `radius`; None if it does.

    Examples
    --------
    >>> covers(ObjectivePerturbation(5.0, 2.0), LogisticLoss(), None, 1.0) is None
    True
    >>> covers(ObjectivePerturbation(5.0, 2.0), LogisticLoss(), None, 1.5)
    'lipschitz must be at least 1.5, got 1.0'
    """
    if clip is not None and not clip > 0:
        return f"clip must be None or a number > 0, got {clip!r}"
    gradient = min(loss.lipschitz * radius, math.inf if clip is None else clip)
    # The tight logistic bound pairs each slope of the logistic loss with its curvature at rows of one radius.
    needed_by_bound = LogisticLoss.lipschitz * radius if objective.bound == "logistic" else gradient
    if objective.bound == "logistic" and loss.name != LogisticLoss.name:
        return f"bound must not be 'logistic' for the loss {loss.name!r}"
    if objective.bound == "monotone" and not loss.monotone:
        return f"bound must not be 'monotone' for the loss {loss.name!r}, whose slope has either sign"
    for name, value, needed in (
        ("lipschitz", objective.lipschitz, needed_by_bound),
        ("smoothness", objective.smoothness, loss.smoothness * radius**2),
        ("dimension", objective.dimension, dimension),
    ):
        if value is not None and needed is not None and not value >= needed:
            return f"{name} must be at least {needed!r}, got {value!r}"
    return None
