"""The common ground of the estimators in a ball: its radius, the loss they minimise, and the public number of rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from objpert_core._validation import boolean, in_open_unit, length, nonnegative, positive_integer
from objpert_core.accounting.population.published import SCHEDULES
from objpert_core.estimators.constraints import Constraint, one_of, or_none
from objpert_core.estimators.former import LinearClassifier, LinearModel, ScaledTargets
from objpert_core.learning.problem.losses import HuberisedHingeLoss, HuberLoss, LogisticLoss, Loss, SquaredLoss
from objpert_core.learning.problem.nonsmooth import AbsoluteLoss, EpsilonInsensitiveLoss, HingeLoss, PinballLoss


class InBall(LinearModel):
    """A linear model that is looked for in the ball ‖θ‖ ≤ `radius`; subclasses give the loss in `_chosen_loss`."""

    CONSTRAINTS: ClassVar[Mapping[str, Constraint]] = {"radius": length, "public_rows": or_none(positive_integer)}

    def __init__(self, *, radius: float, loss: str, public_rows: int | None, **shared: Any) -> None:
        super().__init__(**shared)
        self.radius = radius
        self.loss = loss
        self.public_rows = public_rows

    def _chosen_loss(self) -> Loss:
        """The loss the parameters ask for, not yet clipped."""
        raise NotImplementedError(f"{type(self).__name__} must say what its loss is")

    def _reads_rows(self) -> bool:
        return self.public_rows is None


class Scheduled(InBall):
    """A model in a ball whose noise is this project's or as published."""

    CONSTRAINTS: ClassVar[Mapping[str, Constraint]] = {"schedule": one_of(*SCHEDULES), "strict": boolean}

    def __init__(self, *, schedule: str, strict: bool, **shared: Any) -> None:
        super().__init__(**shared)
        self.schedule = schedule
        self.strict = strict


_MARGINS: Mapping[str, Callable[[float], Loss]] = {
    LogisticLoss.name: lambda width: LogisticLoss(),
    HingeLoss.name: lambda width: HingeLoss(),
    HuberisedHingeLoss.name: HuberisedHingeLoss,
}


class MarginInBall(LinearClassifier, InBall):
    """A classifier in a ball."""

    CONSTRAINTS: ClassVar[Mapping[str, Constraint]] = {"loss": one_of(*_MARGINS), "hinge_width": length}

    def __init__(self, *, hinge_width: float, **shared: Any) -> None:
        super().__init__(**shared)
        self.hinge_width = hinge_width

    def _chosen_loss(self) -> Loss:
        return _MARGINS[self.loss](float(self.hinge_width))


ROBUST = (AbsoluteLoss.name, PinballLoss.name, EpsilonInsensitiveLoss.name, HuberLoss.name)
"""Losses of residuals with a bounded slope."""


class ResidualInBall(ScaledTargets, InBall):
    """A regressor in a ball."""

    CONSTRAINTS: ClassVar[Mapping[str, Constraint]] = {
        "loss": one_of(*ROBUST),
        "quantile": in_open_unit,
        "insensitive_width": nonnegative,
        "huber_threshold": length,
    }

    def __init__(self, *, quantile: float, insensitive_width: float, huber_threshold: float, **shared: Any) -> None:
        super().__init__(**shared)
        self.quantile = quantile
        self.insensitive_width = insensitive_width
        self.huber_threshold = huber_threshold

    def _chosen_loss(self) -> Loss:
        chosen: dict[str, Loss] = {
            AbsoluteLoss.name: AbsoluteLoss(),
            PinballLoss.name: PinballLoss(float(self.quantile)),
            EpsilonInsensitiveLoss.name: EpsilonInsensitiveLoss(float(self.insensitive_width)),
            HuberLoss.name: HuberLoss(float(self.huber_threshold)),
            SquaredLoss.name: SquaredLoss(),
        }
        return chosen[self.loss]
