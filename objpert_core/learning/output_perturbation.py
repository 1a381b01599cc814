"""Output perturbation: solve the regularised problem without noise, release the solution plus Gaussian noise.

Sensitivity. J(θ; Z) = Σ ℓ(θ; z) + λ/2 ‖θ‖² is λ-strongly convex, so λ‖θ − θ'‖ ≤ ‖∇J(θ; Z') − ∇J(θ'; Z')‖ for any two
points and any data Z'. Let the solver stop at θ̃ on Z and at θ̃' on Z', each where its own gradient has norm ≤ τ, and
let every row's gradient have norm ≤ R. With Z' = Z ∪ {z'},

    ∇J(θ̃; Z') = ∇J(θ̃; Z) + ∇ℓ(θ̃; z'),     so     λ‖θ̃ − θ̃'‖ ≤ (τ + R) + τ,

and with z replaced by z' the middle term is ∇ℓ(θ̃; z') − ∇ℓ(θ̃; z), of norm ≤ 2R. The release is therefore a Gaussian
mechanism of sensitivity (R + 2τ)/λ under adding or removing a row and (2R + 2τ)/λ under replacing one. No solver's
stopping place enters but through τ, whatever path it took.

Both are tight for the logistic loss: let many rows pull θ̃ far out in one direction. A misclassified row that is nearly
orthogonal to it has a slope close to 1 and moves θ̃ by nearly R/λ, as nothing but λ resists there; replaced by its
mirror image on the other side it moves it by nearly 2R/λ.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from objpert_core._validation import choice, in_open_unit, positive, positive_integer
from objpert_core.accounting import Gaussian, calibrate_gaussian
from objpert_core.exceptions import ConvergenceError
from objpert_core.learning.certificate import ROUNDING, PrivacyCertificate, by_public_rows
from objpert_core.learning.noise import noise_source
from objpert_core.learning.objective_perturbation import Release, check_targets, not_converged
from objpert_core.learning.problem.losses import LOGISTIC, FloatArray, LogisticLoss
from objpert_core.learning.problem.objective import PerturbedObjective
from objpert_core.learning.problem.rows import Rows, row_radius
from objpert_core.learning.solvers import Callback, solve

ADJACENCIES = ("add/remove", "replace")


def output_sensitivity(lam: float, lipschitz: float, tau: float, adjacency: str = "add/remove") -> float:
    """How far one row can move the point at which a solver stops: (R + 2τ)/λ, or (2R + 2τ)/λ if it is replaced.

    Parameters
    ----------
    lam : float > 0
        The regularisation λ.
    lipschitz : float > 0
        Bound R on the norm of one row's gradient; for the logistic loss the largest row norm.
    tau : float > 0
        Gradient norm at which the solver may stop.
    adjacency : {"add/remove", "replace"}

    Returns
    -------
    float
        L2 sensitivity of θ̃.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    Chaudhuri, Monteleoni and Sarwate (2011), Lemma 7 and Corollary 8, for a solver that is not exact: proof at the
    top of this file.

    Examples
    --------
    >>> round(output_sensitivity(lam=10.0, lipschitz=1.0, tau=1e-6), 12)
    0.1000002
    """
    return (_moved(lipschitz, adjacency) + 2 * positive("tau", tau)) / positive("lam", lam)


def _moved(lipschitz: float, adjacency: str) -> float:
    """How far one row can move the gradient at any θ."""
    return positive("lipschitz", lipschitz) * (1 if choice("adjacency", adjacency, ADJACENCIES) == "add/remove" else 2)


def recommended_output_lam(
    epsilon: float,
    delta: float,
    n_rows: int,
    lipschitz: float = 1.0,
    adjacency: str = "add/remove",
) -> float:
    """The λ that `OutputPerturbationLogisticRegression` takes unless told; a function of public numbers only.

    Noise of standard deviation σ/λ on every coefficient, σ being the Gaussian mechanism's for one row's gradient, costs
    about ½(σ/λ)²·tr(H) of the loss, and tr(H) = h·n·R² whatever the number of features; regularisation costs about
    ½λ‖θ*‖². The sum is least at λ = (2h/‖θ*‖²·σ²R²n)^⅓. With the constant that did best on synthetic data
    (`experiments.defaults`),

        λ = ½·(σ²R²n)^⅓.

    Parameters
    ----------
    epsilon : float > 0
    delta : float strictly between 0 and 1
    n_rows : int >= 1
        The number of rows n. The result depends on it, so that it has to be public.
    lipschitz : float > 0
        The radius R.
    adjacency : {"add/remove", "replace"}

    Returns
    -------
    float
        λ > 0.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Examples
    --------
    >>> round(recommended_output_lam(1.0, 1e-5, 10_000), 2)
    25.91
    """
    rows = positive_integer("n_rows", n_rows)
    sigma = calibrate_gaussian(positive("epsilon", epsilon), delta, _moved(lipschitz, adjacency)).sigma
    return float(0.5 * ((sigma * lipschitz) ** 2 * rows) ** (1 / 3))


@dataclass(frozen=True, kw_only=True, repr=False)
class OutputPerturbationCertificate(PrivacyCertificate, mechanisms=("OutputPerturbation",)):
    """The certificate of a fit by output perturbation.

    Attributes
    ----------
    sigma : float
        Standard deviation of the noise on each coefficient.
    lam : float
        The regularisation λ.
    tau : float
        Gradient norm the solver had to reach.
    lipschitz : float
        Bound on one row's gradient norm: the radius R = √(1 + s²).
    public_rows : int or None
        The number of rows, where λ was chosen by it: the guarantee then takes that number as public.
    gradient_norm : float or None
        Diagnostic: the gradient norm verified at the solution, ≤ tau; None in a `public` certificate.
    n_iter : int or None
        Diagnostic: the solver's iterations; None in a `public` certificate.
    """

    DIAGNOSTICS: ClassVar[tuple[str, ...]] = ("gradient_norm", "n_iter")

    sigma: float
    lam: float
    tau: float
    lipschitz: float
    public_rows: int | None = None
    gradient_norm: float | None = None
    n_iter: int | None = None

    @property
    def sensitivity(self) -> float:
        """How far one row can move the solution; see `output_sensitivity`."""
        return output_sensitivity(self.lam, self.lipschitz, self.tau, self.adjacency.removesuffix(" one row"))

    def rebuild(self) -> Gaussian:
        """The Gaussian mechanism again, its sensitivity derived anew from λ, R and τ."""
        return Gaussian(self.sigma, self.sensitivity)

    def verify(self) -> bool:
        """Account for the mechanism anew: True if it is (epsilon, delta)-DP on rows of the enforced norm."""
        return bool(
            self.well_formed()
            and self.rebuild().delta(self.epsilon) <= self.delta * (1 + ROUNDING)
            and self.lipschitz >= self.radius
            and (self.gradient_norm is None or self.gradient_norm <= self.tau)
        )

    def _lines(self) -> list[str]:
        public = [] if self.public_rows is None else [by_public_rows(self.public_rows)]
        return [
            f"  proof      Gaussian mechanism of sensitivity {self.sensitivity:.6g}, {self.mechanism}",
            f"  objective  logistic loss, lam = {self.lam:.6g}, R = {self.radius:.6g} ({self._rows()})",
            f"  solver     gradient norm ≤ tau = {self.tau:g}, noise on every coefficient sigma = {self.sigma:.6g}",
            *public,
        ]


def solve_and_perturb(
    X: Any,
    targets: FloatArray,
    *,
    epsilon: float,
    delta: float,
    loss: LogisticLoss = LOGISTIC,
    lam: float | None = None,
    public_rows: int | None = None,
    tau: float = 1e-6,
    adjacency: str = "add/remove",
    row_norm: str = "normalize",
    intercept_scaling: float = 0.3,
    solver: str = "newton",
    max_iter: int = 1000,
    random_state: int | np.random.RandomState | np.random.Generator | None = None,
    callback: Callback | None = None,
) -> Release[OutputPerturbationCertificate]:
    """Private logistic regression by output perturbation: solve once, then add noise to the solution.

    Parameters
    ----------
    X : ndarray or scipy sparse matrix, shape (n, d)
        Rows are rescaled or clipped to norm 1 here, whatever they were.
    targets : ndarray, shape (n,)
        −1.0 or +1.0.
    epsilon, delta : float
        The guarantee of the release.
    loss : LogisticLoss
        With a margin or without: its gradients have norm ≤ R either way.
    lam : float > 0, optional
        λ; by default `recommended_output_lam` for `public_rows`.
    public_rows : int, optional
        The number of rows that this rule goes by; by default X's, which is then treated as public.
    tau : float > 0
        Gradient norm the solver must reach.
    adjacency : {"add/remove", "replace"}
        Which data sets count as neighbours; replacing a row needs twice the noise.
    row_norm, intercept_scaling, solver, max_iter, random_state, callback
        As in `perturb_and_solve`.

    Returns
    -------
    Release

    Raises
    ------
    ConvergenceError
        If the solver does not reach τ; nothing is released.
    ValueError
        If an argument is out of range, X and targets differ in length, or X holds NaN, inf or no rows.

    Notes
    -----
    Chaudhuri, Monteleoni and Sarwate (2011), Algorithm 1, with Gaussian noise and the sensitivity proved at the top
    of this file. There the loss is averaged over n rows; here it is summed, so that λ here is nλ there.

    Examples
    --------
    >>> X = np.repeat([[1.0, 0.0], [0.0, 1.0]], 5000, axis=0)
    >>> targets = np.repeat([1.0, -1.0], 5000)
    >>> release = solve_and_perturb(X, targets, epsilon=1.0, delta=1e-5, intercept_scaling=0.0)
    >>> release.certificate.verify(), bool(release.theta[0] > 0 > release.theta[1])
    (True, True)
    """
    positive("epsilon", epsilon), in_open_unit("delta", delta), positive("tau", tau)
    choice("adjacency", adjacency, ADJACENCIES)
    source = noise_source(random_state)
    rows = Rows(X, row_norm, intercept_scaling)
    check_targets(targets, rows.n_rows, loss)
    radius = row_radius(rows.constant)
    used_rows = None
    if lam is None:
        used_rows = rows.n_rows if public_rows is None else positive_integer("public_rows", public_rows)
        lam = recommended_output_lam(epsilon, delta, used_rows, radius, adjacency)
    gaussian = calibrate_gaussian(epsilon, delta, output_sensitivity(lam, radius, tau, adjacency))
    result = solve(
        PerturbedObjective(rows, targets, lam, np.zeros(rows.dimension), loss),
        tau=tau,
        solver=solver,
        max_iter=max_iter,
        callback=callback,
    )
    if not result.converged:
        raise ConvergenceError(not_converged(result, tau, max_iter))
    certificate = OutputPerturbationCertificate(
        mechanism="OutputPerturbation",
        epsilon=float(epsilon),
        delta=float(delta),
        adjacency=f"{adjacency} one row",
        accountant="profile",
        row_norm=row_norm,
        intercept_scaling=rows.constant,
        noise_source=source.origin,
        reproducible=source.reproducible,
        sigma=gaussian.sigma,
        lam=lam,
        tau=float(tau),
        lipschitz=radius,
        public_rows=used_rows,
        gradient_norm=result.gradient_norm,
        n_iter=result.iterations,
    )
    theta = result.theta + gaussian.sigma * source.standard_normal(rows.dimension)
    return Release(theta, certificate, result.gradient_norms)
