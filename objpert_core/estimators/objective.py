"""The common ground of the estimators by objective perturbation: Algorithm 1 of Redberg, Koskela and Wang (2023)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, NamedTuple

import scipy.sparse as sp

from objpert_core._validation import FloatArray, length, positive
from objpert_core.accounting import (
    ApproximateMinima,
    IntervalNoise,
    calibrate_objective_perturbation,
)
from objpert_core.accounting.objective.bounds import ACCOUNTANTS, BOUND_REGISTRY, LossFacts
from objpert_core.accounting.steps.base import asked
from objpert_core.accounting.steps.class_counts import ClassCounts, recommended_counts
from objpert_core.accounting.steps.curvature import NO_INTERVALS
from objpert_core.accounting.terms import Terms
from objpert_core.estimators.base import Seed, SharesWork
from objpert_core.estimators.constraints import Constraint, check_slope, number_from, one_of, or_none
from objpert_core.estimators.standardised import RowPlan, StandardisesRows
from objpert_core.estimators.weights import own_weights
from objpert_core.learning.allowance import DEFAULT_TAU, Allowance
from objpert_core.learning.certificates.objective import ObjectivePerturbationCertificate
from objpert_core.learning.fit import Problem, SharedOptions
from objpert_core.learning.objective_perturbation import perturb_and_solve_draws
from objpert_core.learning.problem.losses import Loss
from objpert_core.learning.problem.rows import row_radius
from objpert_core.learning.release import Release
from objpert_core.learning.streamed import Walked


class Public(NamedTuple):
    """What is public about a fit: the terms, the number of parameters, what is left of ε, what is done to rows."""

    terms: Terms
    dimension: int
    epsilon: float
    rows: RowPlan


class Plan(NamedTuple):
    """The objective, but for the noise; `lam` is the least λ, and privacy may need more."""

    loss: Loss
    clip: float | None = None
    lam: float = 0.0


def bounds_covering(*losses: LossFacts, first: str, with_rdp: bool = False) -> Constraint:
    """Met by the bounds that cover every one of `losses`; a message names the bound `first` before the others."""
    keys = [
        key
        for key, entry in BOUND_REGISTRY.items()
        if (entry.has_rdp or not with_rdp) and not any(map(entry.uncovered, losses))
    ]
    return one_of(first, *(key for key in keys if key != first))


class ObjectivePerturbationModel(SharesWork, StandardisesRows):
    """A linear model by Algorithm 1. Subclasses give `bound` a constraint and their objective in `_plan`."""

    CONSTRAINTS: ClassVar[Mapping[str, Constraint]] = {
        "noise_ratio": or_none(number_from(1)),
        "sigma_out": or_none(positive),
        "accountant": one_of(*ACCOUNTANTS),
    }

    __metadata_request__fit: ClassVar[dict[str, bool]] = {"sample_weight": False}  # routed where that is asked for
    privacy_: ObjectivePerturbationCertificate

    def __init__(
        self, *, bound: str, noise_ratio: float | None, sigma_out: float | None, accountant: str, **shared: Any
    ) -> None:
        super().__init__(**shared)
        self.bound = bound
        self.noise_ratio = noise_ratio
        self.sigma_out = sigma_out
        self.accountant = accountant

    def _fit_options(self, others: Mapping[str, Any]) -> dict[str, Any]:
        own = {name: value for name, value in others.items() if name == "sample_weight" and value is not None}
        return super()._fit_options({name: value for name, value in others.items() if name not in own}) | own

    @property
    def _left_to_rules(self) -> bool:
        return self.noise_ratio is None

    @property
    def _counts_classes(self) -> bool:
        return False

    def _weights_of_classes(self, targets: FloatArray, own: FloatArray | None) -> FloatArray | None:
        """The public weight of each row by its class, if there are any; `own` are the rows' own weights."""
        return None

    def _weights(self, targets: FloatArray, sample_weight: Any) -> FloatArray | None:
        own = None
        if sample_weight is not None:
            own = own_weights(sample_weight, targets.shape[-1], releases=self._releases)
        weights = self._weights_of_classes(targets, own)
        return own if weights is None else weights if own is None else own * weights

    @property
    def _composes(self) -> bool:
        return BOUND_REGISTRY[self.bound].has_losses and self.accountant == "profile"

    def _check_together(self, **options: Any) -> None:
        super()._check_together(**options)
        entry = BOUND_REGISTRY[self.bound]
        for name, composed in (
            ("standardize", self._map_asked_for),
            ("feature_ranges", self._private_ranges),
            ("class_weight", self._counts_classes),
        ):
            if composed and not (entry.has_losses or entry.has_rdp):
                raise ValueError(
                    f"bound must have a privacy loss or a Rényi curve to be composed, where {name}="
                    f"{getattr(self, name)!r}, got {self.bound!r}"
                )

    def _plan(self, public: Public) -> Plan:
        """The objective to minimise; nothing else of the data may count."""
        raise NotImplementedError(f"{type(self).__name__} must say what it minimises")

    def _rest_weight(self, fits: int) -> float:
        return 1.0

    def _class_counts(self) -> ClassCounts | None:
        return self._by_rule(recommended_counts) if self._counts_classes else None

    def _interval_noise(self, rows: int | None, dimension: int, fits: int) -> IntervalNoise:
        """The noise of what is released after the fit: here, nothing is."""
        return NO_INTERVALS

    def _public(self, rows: int, columns: int, *, sparse: bool = False, fits: int = 1) -> Public:
        counted, declared = self._rows_counted(rows)
        plan = self._row_plan(columns, sparse, counted)
        terms = Terms(
            self.epsilon,
            self.delta,
            self.adjacency,
            int(self.rows_per_person),
            self.accountant,
            counted,
            declared,
            asked(
                self._class_counts(),
                plan.noise,
                plan.standardisation,
                self._interval_noise(counted, columns + bool(self.fit_intercept), fits),
            ),
            fits,
            self._rest_weight(fits) if fits > 1 else 1.0,
        )
        return Public(terms, columns + bool(self.fit_intercept), terms.left, plan)

    def _draws(
        self, X: Any, targets: FloatArray, random_states: Sequence[Seed], callback: Any, **options: Any
    ) -> list[Release[ObjectivePerturbationCertificate]]:
        radius = row_radius(self._constant)
        public = self._public(
            *X.shape, sparse=getattr(X, "sparse", sp.issparse(X)), fits=len(targets) if targets.ndim == 2 else 1
        )
        self._told_of_ranges(public.rows, public.terms.public_rows, X.shape[1])
        loss, clip, lam = self._plan(public)
        gradient = loss.lipschitz * radius

        def calibrated(tau: float, lam: float, epsilon: float) -> Any:
            return calibrate_objective_perturbation(
                epsilon,
                self.delta,
                lipschitz=gradient if clip is None else min(gradient, clip),
                smoothness=loss.smoothness * radius**2,
                bound=self.bound,
                noise_ratio=self.noise_ratio,
                tau=tau,
                sigma_out=self.sigma_out,
                accountant=self.accountant,
                dimension=public.dimension if BOUND_REGISTRY[self.bound].needs_dimension else None,
                lam=lam,
                adjacency=self.adjacency,
                rows_per_person=int(self.rows_per_person),
            )

        mechanism = public.terms.calibrate(partial(calibrated, float(self.tau), lam))
        stated = self._stating_rows(public.terms)
        if self.tau == DEFAULT_TAU and (tau := self._least_tau(stated, public.dimension, loss, mechanism)) > self.tau:
            if getattr(self, "lam", None) is None:  # in step with τ, so that the output noise stays what it was
                lam = mechanism.objective.lam * tau / self.tau
            public = public._replace(terms=stated)
            mechanism = public.terms.calibrate(partial(calibrated, tau, lam))
        solving = self._sharing(callback) | SharedOptions(row_norm=public.rows.row_norm)
        weights = None if isinstance(X, Walked) else self._weights(targets, options.get("sample_weight"))
        problem = Problem(
            X,
            targets,
            loss,
            clip,
            solving=solving,
            weights=weights,
            ranges=public.rows.declared,
            declared_rows=self.public_rows,
        )
        return perturb_and_solve_draws(problem, public.terms, mechanism, random_states)

    def _stating_rows(self, terms: Terms) -> Terms:
        """The terms, with a declared number of rows even where no rule for λ or a map goes by one: τ may."""
        if terms.public_rows is not None or self.public_rows is None:
            return terms
        return replace(terms, public_rows=int(self.public_rows), rows_declared=True)

    def _least_tau(self, terms: Terms, dimension: int, loss: Loss, mechanism: ApproximateMinima) -> float:
        """A τ that rounding leaves enough of, by public numbers alone; two digits of it, rounded up.

        0 where the certificate would name no number of rows: the rows in X must not decide what is released.
        """
        if terms.public_rows is None:
            return 0.0
        objective = mechanism.objective
        least = Allowance(
            n_rows=terms.public_rows,
            dimension=dimension,
            longest=row_radius(self._constant),
            loss=loss,
            gradient=objective.lipschitz,
            lam=objective.lam,
            noise=objective.sigma,
        ).least_tau()
        return float(f"{1.1 * least:.1e}") if math.isfinite(least) else 0.0


class ClippedModel(ObjectivePerturbationModel):
    """Algorithm 1 with a choice of losses and every row's gradient clipped, in closed form."""

    CONSTRAINTS: ClassVar[Mapping[str, Constraint]] = {"clip": or_none(length)}

    def __init__(self, *, loss: str, clip: float | None, **shared: Any) -> None:
        super().__init__(**shared)
        self.loss = loss
        self.clip = clip

    def _chosen_loss(self) -> Loss:
        raise NotImplementedError(f"{type(self).__name__} must say what its loss is")

    def _check_together(self, **options: Any) -> None:
        super()._check_together(**options)
        check_slope(self._chosen_loss(), self.clip)

    @property
    def _lam_by_rule(self) -> bool:
        return False

    def _plan(self, public: Public) -> Plan:
        return Plan(self._chosen_loss(), self.clip)
