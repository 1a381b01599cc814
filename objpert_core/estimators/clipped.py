"""What regression and support vector machines share: Algorithm 1 with per-row gradients clipped in closed form."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from objpert_core._validation import choice, positive
from objpert_core.accounting import calibrate_objective_perturbation
from objpert_core.estimators.base import LinearModel
from objpert_core.learning.certificate import ObjectivePerturbationCertificate
from objpert_core.learning.objective_perturbation import perturb_and_solve
from objpert_core.learning.problem.losses import FloatArray, Loss
from objpert_core.learning.problem.rows import row_radius
from objpert_core.learning.solvers import Callback


class ClippedLinearModel(LinearModel):
    """A linear model by Algorithm 1 with a loss of its own, clipped.

    Subclasses name the `LOSSES` and `BOUNDS` they offer, build the loss in `chosen_loss`, and call `release` in `fit`.
    """

    LOSSES: ClassVar[tuple[str, ...]]
    BOUNDS: ClassVar[tuple[str, ...]]
    privacy_: ObjectivePerturbationCertificate

    def chosen_loss(self) -> Loss:
        """The loss the parameters ask for, not yet clipped."""
        raise NotImplementedError(f"{type(self).__name__} must say what its loss is")

    def validate_parameters(self) -> Loss:
        """The loss, once every parameter has been found in range; nothing of the data is needed for that."""
        for name, allowed in (("loss", self.LOSSES), ("bound", self.BOUNDS)):
            choice(name, getattr(self, name), allowed)
        self.check_solving()
        self.validated_constant()
        loss = self.chosen_loss()
        if self.clip is not None:
            positive("clip", self.clip)
        elif not np.isfinite(loss.lipschitz):
            raise ValueError(f"clip must be a finite number > 0 for the loss {loss.name!r}, whose slope has no bound")
        return loss

    def release(self, X: Any, targets: FloatArray, loss: Loss, callback: Callback | None) -> FloatArray:
        """Calibrate, fit and record what it cost; the private θ, shape (D,), its last entry times s if it is there."""
        constant = self.validated_constant()
        radius = row_radius(constant)
        gradient = loss.lipschitz * radius
        mechanism = calibrate_objective_perturbation(
            self.epsilon,
            self.delta,
            lipschitz=gradient if self.clip is None else min(gradient, self.clip),
            smoothness=loss.smoothness * radius**2,
            bound=self.bound,
            noise_ratio=self.noise_ratio,
            tau=self.tau,
            sigma_out=self.sigma_out,
            accountant=self.accountant,
            dimension=X.shape[1] + bool(constant) if self.bound == "non-glm" else None,
        )
        found = perturb_and_solve(
            X,
            targets,
            mechanism,  # type: ignore[arg-type]  # with tau the calibration gives an ApproximateMinima
            delta=self.delta,
            loss=loss,
            clip=self.clip,
            epsilon=self.epsilon,
            accountant=self.accountant,
            row_norm=self.row_norm,
            intercept_scaling=constant,
            solver=self.solver,
            max_iter=self.max_iter,
            random_state=self.random_state,
            callback=callback,
        )
        self.record_solving(found)
        theta = found.theta
        if constant:
            theta[-1] *= constant
        return theta
