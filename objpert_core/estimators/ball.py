"""What the recipes of models in a ball share: the loss that is minimised, and the public sizes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from objpert_core._validation import boolean, in_open_unit, length, nonnegative
from objpert_core.accounting.population.published import SCHEDULES
from objpert_core.accounting.population.sizes import Sizes
from objpert_core.accounting.terms import Terms
from objpert_core.estimators.constraints import Constraint, one_of
from objpert_core.estimators.parameters import Settings
from objpert_core.estimators.recipe import Public
from objpert_core.learning.problem.losses import HuberisedHingeLoss, HuberLoss, LogisticLoss, Loss, SquaredLoss
from objpert_core.learning.problem.nonsmooth import AbsoluteLoss, EpsilonInsensitiveLoss, HingeLoss, PinballLoss

_LOSSES: Mapping[str, Callable[[Settings], Loss]] = {
    LogisticLoss.name: lambda s: LogisticLoss(),
    HingeLoss.name: lambda s: HingeLoss(),
    HuberisedHingeLoss.name: lambda s: HuberisedHingeLoss(s.hinge_width),
    AbsoluteLoss.name: lambda s: AbsoluteLoss(),
    PinballLoss.name: lambda s: PinballLoss(s.quantile),
    EpsilonInsensitiveLoss.name: lambda s: EpsilonInsensitiveLoss(s.insensitive_width),
    HuberLoss.name: lambda s: HuberLoss(s.huber_threshold),
    SquaredLoss.name: lambda s: SquaredLoss(),
}
MARGINS = (LogisticLoss.name, HingeLoss.name, HuberisedHingeLoss.name)
"""Losses of margins, whose slopes are all bounded."""
ROBUST = (AbsoluteLoss.name, PinballLoss.name, EpsilonInsensitiveLoss.name, HuberLoss.name)
"""Losses of residuals with a bounded slope."""
CONSTRAINTS: Mapping[str, Constraint] = {
    "radius": length,
    "schedule": one_of(*SCHEDULES),
    "strict": boolean,
    "loss": one_of(*MARGINS),
    "hinge_width": length,
    "quantile": in_open_unit,
    "insensitive_width": nonnegative,
    "huber_threshold": length,
}
OF_RESIDUALS: Mapping[str, Any] = {"insensitive_width": 0.1, "huber_threshold": 1.0}
"""Advanced options of regressions."""


def chosen_loss(s: Settings) -> Loss:
    """The loss that settings ask for, not yet clipped or smoothed."""
    return _LOSSES[s.loss](s)


def sizes_of(s: Settings, rows: int, dimension: int, lipschitz: float) -> Sizes:
    """The public numbers that noise and steps go by."""
    about: dict[str, Any] = {"adjacency": s.adjacency, "rows_per_person": s.rows_per_person}
    return Sizes(max(rows, 1), dimension, s.epsilon, s.delta, s.radius, lipschitz, **about)


def terms_of(s: Settings, public: Public, *, reads_rows: bool = True, epsilon: float | None, adjacency: str) -> Terms:
    """The promise; it names the number of rows where a rule goes by it."""
    rows = max(s.public_rows or public.rows, 1)
    declared: dict[str, Any] = {"public_rows": rows, "rows_declared": s.public_rows is not None} if reads_rows else {}
    return Terms(epsilon, s.delta, adjacency, s.rows_per_person, **declared)
