"""The certificate of a private fit: what was promised, by which proof, and enough numbers to check it again."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from objpert_core.accounting import ApproximateMinima, Mechanism, ObjectivePerturbation, via_rdp
from objpert_core.learning.losses import LogisticLoss
from objpert_core.learning.rows import row_radius

ROUNDING = 1e-12  # relative slack for δ recomputed from an ε that was found by a search
_DIAGNOSTICS = ("gradient_norm", "n_iter")


@dataclass(frozen=True)
class PrivacyCertificate:
    """What one fit promises: (ε, δ)-differential privacy of the released coefficients.

    Everything but the diagnostics is fixed before the data are looked at, so the certificate may be published
    with the model. `gradient_norm` and `n_iter` depend on the data and on the noise: they are *outside* the
    guarantee, for the eyes of whoever holds the data; `to_dict` keeps them apart under ``"diagnostics"`` and
    `public` leaves them out. Outside it are also a fit's running time, the `ConvergenceError` of a failed fit and
    the labels seen where they were not given.

    Attributes
    ----------
    mechanism : str
        ``"ApproximateMinima"``, Algorithm 1 of Redberg, Koskela and Wang (2023).
    epsilon, delta : float
        The guarantee for one fit. Fits on overlapping data add up.
    adjacency : str
        Which data sets count as neighbours.
    bound, accountant : str
        The theorem used and how (ε, δ) was computed from it ("profile" or "rdp").
    sigma, lam : float
        Standard deviation of each entry of the objective's linear noise, and the regularisation λ.
    tau, sigma_out : float
        Gradient norm the solver had to reach, and the standard deviation of the noise on the coefficients.
    lipschitz, smoothness : float
        Bounds on one row's gradient norm (the radius R = √(1 + s²)) and Hessian norm.
    dimension : int or None
        Number of parameters, where the bound uses it.
    row_norm : str
        How ‖x‖ ≤ 1 was enforced: "normalize" or "clip".
    intercept_scaling : float
        The constant s appended to every row; 0.0 without an intercept.
    noise_source : str
        Where the noise's bits came from.
    reproducible : bool
        True where the noise came from a seed: whoever knows it can subtract the noise.
    gradient_norm : float or None
        Diagnostic: the gradient norm verified at the solution, ≤ tau; None in a `public` certificate.
    n_iter : int or None
        Diagnostic: the solver's iterations; None in a `public` certificate.

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

    mechanism: str
    epsilon: float
    delta: float
    adjacency: str
    bound: str
    accountant: str
    sigma: float
    lam: float
    tau: float
    sigma_out: float
    lipschitz: float
    smoothness: float
    dimension: int | None
    row_norm: str
    intercept_scaling: float
    noise_source: str
    reproducible: bool
    gradient_norm: float | None = None
    n_iter: int | None = None

    @property
    def radius(self) -> float:
        """R = √(1 + s²), the largest norm of a row with its constant."""
        return row_radius(self.intercept_scaling)

    def rebuild(self) -> ApproximateMinima:
        """The mechanism again, from the certificate's numbers alone."""
        objective = ObjectivePerturbation(
            self.sigma, self.lam, self.lipschitz, self.smoothness, self.bound, self.dimension
        )
        return ApproximateMinima(objective, self.tau, self.sigma_out)

    def verify(self) -> bool:
        """Account for the mechanism anew: True if it is (epsilon, delta)-DP on rows of the enforced norm.

        Also checks that the bounds on gradient and Hessian hold for these rows and that τ was reached.
        """
        mechanism: Mechanism = self.rebuild()
        if self.accountant == "rdp":
            mechanism = via_rdp(mechanism)
        return bool(
            mechanism.delta(self.epsilon) <= self.delta * (1 + ROUNDING)
            and self.lipschitz >= self.radius
            and self.smoothness >= LogisticLoss.smoothness * self.radius**2
            and (self.gradient_norm is None or self.gradient_norm <= self.tau)
        )

    def public(self) -> PrivacyCertificate:
        """The certificate without its diagnostics: nothing left in it depends on the data."""
        return replace(self, gradient_norm=None, n_iter=None)

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain numbers and strings; what depends on the data apart, under ``"diagnostics"``."""
        values = asdict(self)
        diagnostics = {name: values.pop(name) for name in _DIAGNOSTICS}
        if any(value is not None for value in diagnostics.values()):
            values["diagnostics"] = {
                "note": "depends on the data, outside the privacy guarantee: do not publish",
                **diagnostics,
            }
        return values

    def to_json(self, indent: int | None = 2) -> str:
        """`to_dict` as JSON; numbers keep all their digits."""
        return json.dumps(self.to_dict(), indent=indent)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> PrivacyCertificate:
        """The certificate that `to_dict` described; `ValueError` where a field is missing or unknown."""
        diagnostics = {k: v for k, v in dict(values.get("diagnostics", {})).items() if k != "note"}
        flat = dict.fromkeys(_DIAGNOSTICS) | {k: v for k, v in values.items() if k != "diagnostics"} | diagnostics
        expected = {item.name for item in fields(cls)}
        if wrong := expected.symmetric_difference(flat):
            raise ValueError(f"values must hold exactly a certificate's fields, got a difference in {sorted(wrong)!r}")
        return cls(**flat)

    @classmethod
    def from_json(cls, text: str) -> PrivacyCertificate:
        """The certificate that `to_json` wrote."""
        return cls.from_dict(json.loads(text))

    def __repr__(self) -> str:
        rows = f"rows {'normalised' if self.row_norm == 'normalize' else 'clipped'} to norm 1"
        if self.intercept_scaling:
            rows += f" and a constant {self.intercept_scaling:g} appended"
        source = f"{self.noise_source}" + (
            " (reproducible: whoever knows the seed can subtract the noise)" if self.reproducible else ""
        )
        lines = [
            f"({self.epsilon:g}, {self.delta:g})-differential privacy, {self.adjacency}",
            f"  proof      bound {self.bound!r}, accountant {self.accountant!r}, {self.mechanism}",
            f"  objective  sigma = {self.sigma:.6g}, lam = {self.lam:.6g}, R = {self.radius:.6g} ({rows})",
            f"  solver     gradient norm ≤ tau = {self.tau:g}, output noise sigma_out = {self.sigma_out:.6g}",
            f"  noise      {source}",
        ]
        return "\n".join(lines)
