"""One-vs-rest: several classes by one fit for each, under one promise.

Every row is in all K fits, whose noise is independent: it might as well be √K times as long (docs/theorems.md, T46).
Where a row stands for "not this class" it may be made w times as long, and costs what one √(1 + (K − 1)w²) long does.
"""

from __future__ import annotations

import math
from dataclasses import replace

from objpert_core._validation import positive_integer, within
from objpert_core.accounting.mechanisms.base import ADD_REMOVE, Mechanism, a_mechanism
from objpert_core.accounting.mechanisms.composition import compose, repeat
from objpert_core.accounting.mechanisms.symmetrised import symmetrised
from objpert_core.accounting.objective.mechanism import ApproximateMinima, ObjectivePerturbation

SHORTEST_REST = 1e-3
"""The least weight of the rows of other classes; there is no reason to go near it."""


def balanced_rest(classes: int) -> float:
    """The weight w = 1/√(K − 1) at which a row counts as much in all other classes' fits together as in its own fit.

    K >= 2 fits then cost what two cost with w = 1. `ValueError` unless `classes` is a whole number of a sensible size.

    >>> balanced_rest(10) == 1 / 3
    True
    """
    count = positive_integer("classes", classes)
    return 1.0 if count < 3 else max(1 / math.sqrt(count - 1), SHORTEST_REST)


def one_vs_rest(
    fit: Mechanism, classes: int, rest_weight: float = 1.0, *, by_symmetric_pairs: bool = True
) -> Mechanism:
    """The composition of one fit for each class against all others, on the same rows with independent noise.

    `ValueError` if a weight below 1 is asked for where its effect is not known.

    Parameters
    ----------
    fit : Mechanism
        One fit, for rows of full length.
    classes : int >= 1
        K, the number of fits.
    rest_weight : float from 0.001 to 1
        w: a row is w times as long in the fits of the K − 1 classes that it does not belong to. Less than 1 only for
        objective perturbation, where a row is added or removed: then a neighbour's row has one class.
    by_symmetric_pairs : bool
        Whether to compose the symmetric pairs above the bounds (T8), which costs less; else the bounds as they are.

    Examples
    --------
    >>> fit = ObjectivePerturbation(sigma=20, lam=800)  # λ ≥ 2σ²: as private as Gaussian noise
    >>> round(one_vs_rest(fit, 10, 1 / 3).epsilon(1e-5) / ObjectivePerturbation(20, 800, 2**0.5).epsilon(1e-5), 3)
    1.0
    """
    a_mechanism("fit", fit)
    count, weight = positive_integer("classes", classes), within("rest_weight", rest_weight, SHORTEST_REST, 1.0)
    alone = count == 1 or weight == 1.0
    if not alone and fit.adjacency != ADD_REMOVE:
        raise ValueError(f"rest_weight must be 1.0 where a row is replaced, got {rest_weight!r}")
    parts = [(fit, count)] if alone else [(fit, 1), (_shorter(fit, weight), count - 1)]
    symmetric = by_symmetric_pairs and fit.has_losses
    return compose(*(repeat(symmetrised(part) if symmetric else part, times) for part, times in parts))


def _shorter(fit: Mechanism, weight: float) -> Mechanism:
    """The same fit for a row that is w times as long: gradients shrink by w, curvature by its square."""
    if isinstance(fit, ApproximateMinima):
        objective = _shorter(fit.objective, weight)
        assert isinstance(objective, ObjectivePerturbation)
        return replace(fit, objective=objective)
    if isinstance(fit, ObjectivePerturbation):
        up = 1 + 2.0**-50  # no rounding makes a bound smaller
        return replace(fit, lipschitz=fit.lipschitz * weight * up, smoothness=fit.smoothness * weight**2 * up)
    raise ValueError(f"rest_weight must be 1.0 for a {type(fit).__name__}, got {weight!r}")
