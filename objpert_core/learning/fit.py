"""What every private fit of a linear model does, whatever its mechanism: enforce norms, solve, add noise, certify."""

from __future__ import annotations

import math
from typing import Any, TypedDict

import numpy as np

from objpert_core._validation import FloatArray, nonnegative
from objpert_core.accounting import Mechanism
from objpert_core.accounting.mechanisms.base import Perturbation
from objpert_core.exceptions import ConvergenceError
from objpert_core.learning.certificate import PrivacyCertificate
from objpert_core.learning.lattice import FINENESS, power_of_two, release_on_lattice
from objpert_core.learning.noise import LARGEST_RATIO, noise_source
from objpert_core.learning.problem.losses import Loss
from objpert_core.learning.problem.objective import PerturbedObjective, check_targets
from objpert_core.learning.problem.rounding import gradient_norm_bound
from objpert_core.learning.problem.rows import Rows
from objpert_core.learning.release import Refused, Release
from objpert_core.learning.solvers import Callback, SolverResult, solve


class FitOptions(TypedDict, total=False):
    """Keyword arguments that all private fits of linear models share; meanings and defaults: `Fit`."""

    row_norm: str
    intercept_scaling: float
    solver: str
    max_iter: int
    random_state: int | np.random.RandomState | np.random.Generator | None
    callback: Callback | None


class Fit:
    """One private fit: its rows, its noise and its solver.

    Parameters
    ----------
    X : ndarray or scipy sparse matrix, shape (n, d)
        Rows are rescaled or clipped to norm 1 here, whatever they were.
    targets : ndarray, shape (n,)
        −1.0 or +1.0 for a `MarginLoss`; any finite numbers for a `ResidualLoss`.
    loss : Loss
    row_norm : {"normalize", "clip"}, default="normalize"
        See `Rows`. A zero row stays zero: it speaks through the constant only.
    intercept_scaling : float, default=0.3
        The constant s appended to every row; 0 for no intercept.
    solver, max_iter, callback
        See `solve`; "newton", 1000 and None unless given.
    random_state : None, int, RandomState or Generator, default=None
        See `noise_source`.

    Attributes
    ----------
    rows : Rows
    source : NoiseSource
        What the perturbation is drawn from, and then the output noise.

    Raises
    ------
    ValueError
        If an argument is out of range, X and targets differ in length, or X holds NaN, inf or no rows.
    """

    def __init__(
        self,
        X: Any,
        targets: FloatArray,
        loss: Loss,
        *,
        row_norm: str = "normalize",
        intercept_scaling: float = 0.3,
        solver: str = "newton",
        max_iter: int = 1000,
        random_state: int | np.random.RandomState | np.random.Generator | None = None,
        callback: Callback | None = None,
    ) -> None:
        self.source = noise_source(random_state)
        self.rows = Rows(X, row_norm, nonnegative("intercept_scaling", intercept_scaling))
        check_targets(targets, self.rows.n_rows, loss)
        self._targets, self._row_norm = targets, row_norm
        self._solver, self._max_iter, self._callback = solver, max_iter, callback

    def release(
        self,
        mechanism: Mechanism,
        perturbation: Perturbation,
        loss: Loss,
        /,
        *,
        stop_at: float,
        output_noise: float,
        **facts: Any,
    ) -> Release[Any]:
        """Minimise the perturbed objective until its gradient is as short as promised, add noise to θ and certify it.

        τ pays for all that arithmetic adds. The gradient as computed, a bound on its rounding, the distance of the
        noise drawn from normal noise and the rounding of θ to the lattice together must not exceed it
        (docs/theorems.md, T15). So the solver has to come to τ/2.

        Parameters
        ----------
        mechanism : Mechanism
            What the certificate describes.
        perturbation : Perturbation
            What is added to the sum of the losses.
        loss : Loss
            Clipped, where it has to be.
        stop_at : float > 0
            τ, the gradient norm to reach.
        output_noise : float
            Standard deviation of the noise on every coefficient.
        **facts
            The certificate's fields that neither the mechanism nor this fit decides.

        Raises
        ------
        ConvergenceError
            If the solver does not reach τ. Nothing is released and no other noise is tried: choosing the noise by
            whether the solver likes it would void the proof.
        """
        rows = self.rows
        linear = np.zeros(rows.dimension) if perturbation.linear is None else perturbation.linear
        objective = PerturbedObjective(rows, self._targets, perturbation.quadratic, linear, loss)
        step = objective.strong_convexity * math.sqrt(rows.dimension)  # what a lattice of spacing 2 costs of τ
        spacing = _spacing(stop_at, step, output_noise)
        result = solve(
            objective,
            tau=stop_at / 2,
            solver=self._solver,
            max_iter=self._max_iter,
            callback=self._callback,
        )
        reached = gradient_norm_bound(objective, result.theta) + perturbation.error + step * spacing / 2
        if not reached <= stop_at:
            raise ConvergenceError(_not_converged(result, reached, stop_at, self._max_iter))
        certificate = self._certificate(
            mechanism, gradient_norm=reached, n_iter=result.iterations, lattice=spacing, **facts
        )
        theta = release_on_lattice(result.theta, output_noise, spacing, self.source)
        return Release(theta, certificate, result.gradient_norms)

    def refuse(self, mechanism: Mechanism, reason: str, /, **facts: Any) -> Refused[Any]:
        """Release no model, and certify what it cost to find out that there is none.

        Parameters
        ----------
        mechanism : Mechanism
            What the certificate describes: all that a release would have cost.
        reason : str
            One sentence, which may say only what the mechanism covers.
        **facts
            As in `release`.
        """
        return Refused(self._certificate(mechanism, **facts), reason)

    def _certificate(self, mechanism: Mechanism, /, **facts: Any) -> PrivacyCertificate:
        return PrivacyCertificate.describe(
            mechanism,
            row_norm=self._row_norm,
            intercept_scaling=self.rows.constant,
            noise_source=self.source.origin,
            reproducible=self.source.reproducible,
            **facts,
        )


def _spacing(tau: float, step: float, output_noise: float) -> float:
    """Choose the lattice from public numbers: rounding θ to it costs at most τ/16, and the noise is far wider."""
    spacing = power_of_two(min(tau / (8 * step), output_noise / FINENESS))
    if not output_noise / spacing <= LARGEST_RATIO:
        raise ValueError(
            f"sigma_out must be at most {LARGEST_RATIO * spacing:.3g} for tau = {tau:g}, got {output_noise!r}"
        )
    return spacing


def _not_converged(result: SolverResult, reached: float, tau: float, max_iter: int) -> str:
    """Say where the solver stopped, and what might help."""
    if result.exhausted:
        advice = f"raise max_iter above {max_iter} or try another solver"
    else:
        advice = f"tau is too small for these data in double precision: with all rounding the norm may be {reached:.3g}"
    return (
        f"solver {result.solver!r} reached gradient norm {result.gradient_norm:.3g} in {result.iterations} iterations, "
        f"but the privacy proof needs tau = {tau:g}; nothing was released ({advice})"
    )
