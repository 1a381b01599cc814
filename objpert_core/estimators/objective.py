"""What the recipes by objective perturbation share: Algorithm 1 of Redberg, Koskela and Wang (2023)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from objpert_core._validation import positive
from objpert_core.accounting import ApproximateMinima, calibrate_objective_perturbation
from objpert_core.accounting.objective.bounds import ACCOUNTANTS, BOUND_REGISTRY, LossFacts
from objpert_core.accounting.steps.class_counts import recommended_counts
from objpert_core.accounting.terms import Terms
from objpert_core.estimators.constraints import Constraint, number_from, one_of, or_none
from objpert_core.estimators.parameters import Settings, Together
from objpert_core.estimators.recipe import Data, Learned, Objective, Public, Recipe
from objpert_core.estimators.steps_before import (
    RowPlan,
    asks_for_map,
    asks_for_ranges,
    auto_or_plan,
    by_rule_for,
    further_steps,
    ranges_or_private,
    reads_rows,
    row_plan,
    rows_cautions,
    terms_of,
)
from objpert_core.estimators.weights import BALANCED, by_label, class_weights
from objpert_core.learning.allowance import DEFAULT_TAU, Allowance
from objpert_core.learning.fit import Problem, Seed, SharedOptions
from objpert_core.learning.objective_perturbation import perturb_and_solve_draws
from objpert_core.learning.problem.losses import Loss
from objpert_core.learning.problem.rows import row_radius
from objpert_core.learning.solvers import Callback

SOLVED: Mapping[str, Any] = {
    "tau": DEFAULT_TAU,
    "solver": "newton",
    "max_iter": 1000,
    "intercept_scaling": 0.3,
    "row_norm": "normalize",
}
"""Advanced options of every model that a solver finds."""
ADVANCED: Mapping[str, Any] = {"noise_ratio": None, "accountant": "profile", "sigma_out": None, "steps": (), **SOLVED}
"""And of every model by objective perturbation, beside its `bound`."""
OF_ROWS: Mapping[str, Constraint] = {
    "standardize": auto_or_plan,
    "feature_ranges": ranges_or_private,
    "steps": further_steps,
}
CONSTRAINTS: Mapping[str, Constraint] = {
    **OF_ROWS,
    "noise_ratio": or_none(number_from(1)),
    "sigma_out": or_none(positive),
    "accountant": one_of(*ACCOUNTANTS),
    "class_weight": class_weights,
}
NORMALISED = Together(
    "row_norm",
    lambda s: not asks_for_map(s) or s.row_norm == "normalize",
    "be 'normalize'",
    "where standardize={standardize!r}",
    ": rows of different length are not centred",
)


def _composed(name: str, asked: Any) -> Together:
    def holds(s: Settings) -> bool:
        entry = BOUND_REGISTRY[s.bound]
        return not asked(s) or entry.has_losses or entry.has_rdp

    return Together(
        "bound", holds, "have a privacy loss or a Rényi curve to be composed,", f"where {name}={{{name}!r}}"
    )


TOGETHER = (
    NORMALISED,
    _composed("standardize", asks_for_map),
    _composed("feature_ranges", asks_for_ranges),
    _composed("steps", lambda s: s.steps),
    _composed("class_weight", lambda s: getattr(s, "class_weight", None) == BALANCED),
)


def slope_is_bounded(chosen_loss: Any) -> Together:
    """A `clip` where nothing else bounds a gradient; `chosen_loss` gives the loss that settings ask for."""
    return Together(
        "clip",
        lambda s: s.clip is not None or math.isfinite(chosen_loss(s).lipschitz),
        "be a finite number > 0",
        "for the loss {loss!r}, whose slope has no bound",
    )


def bounds_covering(*losses: LossFacts, first: str, with_rdp: bool = False) -> Constraint:
    """Met by the bounds that cover every one of `losses`; a message names the bound `first` before the others."""
    keys = [
        key
        for key, entry in BOUND_REGISTRY.items()
        if (entry.has_rdp or not with_rdp) and not any(map(entry.uncovered, losses))
    ]
    return one_of(first, *(key for key in keys if key != first))


_ALSO = {"class_counts": "weights of classes", "curvature": "curvature at the coefficients"}
"""What the promise of a fit with these steps covers besides."""


def composes(s: Settings) -> bool:
    """Whether a fit composes with private sums without losing much by it."""
    return BOUND_REGISTRY[s.bound].has_losses and s.accountant == "profile"


def constant_of(s: Settings) -> float:
    """The constant appended to every row; 0.0 without an intercept."""
    return float(s.intercept_scaling) if getattr(s, "fit_intercept", True) else 0.0


def solving(s: Settings, row_norm: str, callback: Callback | None) -> SharedOptions:
    """How a solver goes about it."""
    return {
        "row_norm": row_norm,
        "intercept_scaling": constant_of(s),
        "solver": s.solver,
        "max_iter": s.max_iter,
        "on_error": s.on_error,
        "callback": callback,
    }


def by_objective_perturbation(
    model: Any, public: Public, rows: RowPlan, terms: Terms, objective: Objective, *, counted: bool
) -> Recipe:
    """The recipe of a fit by Algorithm 1, with σ and λ for what the steps leave of (ε, δ)."""
    s, name = model.settings, type(model).__name__
    tau, lam = s.tau, objective.lam
    dimension = (rows.features or public.columns) + (constant_of(s) > 0)
    mechanism = _calibrated(s, terms, objective, dimension, tau, lam)
    stated = _stating_rows(s, terms)
    if tau == DEFAULT_TAU and (least := _least_tau(s, stated, dimension, objective.loss, mechanism)) > tau:
        if getattr(s, "lam", None) is None:  # in step with τ, so that the output noise stays what it was
            lam = mechanism.objective.lam * least / tau
        terms, mechanism = stated, _calibrated(s, stated, objective, dimension, least, lam)

    def run(data: Data, random_states: Sequence[Seed], callback: Callback | None) -> list[Learned]:
        problem = Problem(
            data.X,
            data.targets,
            objective.loss,
            objective.clip,
            solving=solving(s, rows.row_norm, callback),
            weights=data.weights,
            declared=rows.declared,
            declared_rows=s.public_rows,
        )
        releases = perturb_and_solve_draws(problem, terms, mechanism, random_states)
        margin = {"margin_": float(objective.loss.parameter or 0.0)} if model.has_probabilities else {}
        return [
            Learned(one, {**solved(one), **margin, **by_label(model, one.published.get("class_weights_"))})
            for one in releases
        ]

    return Recipe(
        "objective perturbation",
        terms,
        mechanism,
        public,
        run,
        objective,
        rows.row_norm,
        rows.told,
        counted,
        (*rows.released, *(_ALSO[step.name] for step in terms.steps if step.name in _ALSO)),
        (*rows_cautions(s, name, counted), *rows.cautions),
    )


def solved(release: Any) -> dict[str, Any]:
    """What a model that a solver found has besides."""
    return {"n_iter_": release.certificate.n_iter, "gradient_norms_": np.array(release.gradient_norms)}


def by_clipped_gradients(model: Any, public: Public, loss: Loss) -> Recipe:
    """The recipe of a fit by Algorithm 1 with every row's gradient clipped, in closed form, and the smallest λ."""
    s, name = model.settings, type(model).__name__
    may_compose = s.noise_ratio is None and composes(s)
    counted = reads_rows(s, may_compose)
    rows = row_plan(s, public, by_rule=may_compose, name=name)
    counts = by_rule_for(s, recommended_counts) if getattr(s, "class_weight", None) == BALANCED else None
    terms = terms_of(s, public, counts, *rows.steps, reads_rows=counted, accountant=s.accountant)
    return by_objective_perturbation(model, public, rows, terms, Objective(loss, clip=s.clip), counted=counted)


def _calibrated(
    s: Settings, terms: Terms, objective: Objective, dimension: int, tau: float, lam: float
) -> ApproximateMinima:
    radius = row_radius(constant_of(s))
    gradient = objective.loss.lipschitz * radius

    def for_what_is_left(epsilon: float) -> Any:
        return calibrate_objective_perturbation(
            epsilon,
            s.delta,
            lipschitz=gradient if objective.clip is None else min(gradient, objective.clip),
            smoothness=objective.loss.smoothness * radius**2,
            bound=s.bound,
            noise_ratio=s.noise_ratio,
            tau=tau,
            sigma_out=s.sigma_out,
            accountant=s.accountant,
            dimension=dimension if BOUND_REGISTRY[s.bound].needs_dimension else None,
            lam=lam,
            adjacency=s.adjacency,
            rows_per_person=s.rows_per_person,
        )

    return terms.calibrate(for_what_is_left)


def _stating_rows(s: Settings, terms: Terms) -> Terms:
    """The terms, with a declared number of rows even where no rule for λ or a map goes by one: τ may."""
    if terms.public_rows is not None or s.public_rows is None:
        return terms
    return replace(terms, public_rows=s.public_rows, rows_declared=True)


def _least_tau(s: Settings, terms: Terms, dimension: int, loss: Loss, mechanism: ApproximateMinima) -> float:
    """A τ that rounding leaves enough of, by public numbers alone; two digits of it, rounded up.

    0 where the certificate would name no number of rows: the rows in X must not decide what is released.
    """
    if terms.public_rows is None:
        return 0.0
    objective = mechanism.objective
    least = Allowance(
        n_rows=terms.public_rows,
        dimension=dimension,
        longest=row_radius(constant_of(s)),
        loss=loss,
        gradient=objective.lipschitz,
        lam=objective.lam,
        noise=objective.sigma,
    ).least_tau()
    return float(f"{1.1 * least:.1e}") if math.isfinite(least) else 0.0
