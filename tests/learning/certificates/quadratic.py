"""Noisy Gram matrices, with changes that promise more or less."""

import dataclasses

import numpy as np

from objpert_core.accounting import (
    QuadraticPerturbation,
    TiltAndBend,
)
from objpert_core.learning.quadratic.release import noisy_gram
from tests.learning.certificates.kind import Kind, each, known_size, times

BEND = QuadraticPerturbation(scale=1.5, degrees_of_freedom=12, dimension=3)
BOTH = TiltAndBend(  # which is accounted for at once
    dataclasses.replace(BEND, adjacency="add/remove one row"), 9.0, 1.0
)
rng = np.random.default_rng(0)
X = rng.normal(size=(200, 3)) / 2
Y = X @ np.array([0.5, 0.0, -1.0]) + 0.1 * rng.normal(size=200)
SPENT = {"epsilon": 5.0, "delta": 1e-3}


def bent(X=X, y=Y, **changes):
    return noisy_gram(X, y, BEND, **({"random_state": 0} | SPENT | changes))


def tilted(X=X, y=Y, **changes):
    return noisy_gram(X, y, BOTH, **({"random_state": 0, "residual_bound": 1.0} | SPENT | changes))


def tight(release):
    """A certificate that states no more than is proved, so that a better one is not."""

    def certificate():
        spent = release().certificate
        return dataclasses.replace(spent, epsilon=float(spent.rebuild().epsilon(spent.delta)))

    return certificate


OF_GRAM = [
    *each(epsilon=times(0.999), delta=0.99e-3, scale=[1.49, 0.0], degrees_of_freedom=[11, 3], dimension=[0, 11]),
    *each(smoothness=[0.999, 1.2], bound=["glm", "published"], intercept_scaling=0.3, rows_per_person=2),
    *each(lattice=[1.0, None], accountant="rdp", schema=1, mechanism="ApproximateMinima", reproducible=False),
    *each(adjacency=["replace up to 2 rows of one person", known_size(200) + "that differ in one row"]),
    *each(residual_bound=-1.0, rows_declared=True),
    {"residual_bound": 5e-324, "sigma": 5e-323, "mechanism": "TiltAndBend"},
    {"lattice": None, "coefficients_sha256": "0" * 64},
    {"schema": 1, "lattice": None},
]
OF_BENDS = OF_GRAM + each(sigma=1.0, residual_bound=1.0, mechanism="TiltAndBend", dimension=4)
OF_TILTS = OF_GRAM + each(adjacency="replace one row", sigma=[2.0, None], residual_bound=[2.0, 0.0])
WEAKER_GRAM = [
    *each(epsilon=lambda old: old + 0.1, delta=2e-3, scale=1.51, degrees_of_freedom=13, dimension=2),
    *each(on_error="release", row_norm="normalize"),
]
NEVER_NAMED = {"epsilon": 1.7e308, "coefficients_sha256": None, "rows_declared": None}
QUADRATIC = {
    "bent": Kind(tight(bent), OF_BENDS, WEAKER_GRAM, "thorough", NEVER_NAMED),
    "tilted": Kind(tight(tilted), OF_TILTS, [{"epsilon": 6.0}], "thorough", NEVER_NAMED | {"sigma": 1.7e308}),
}
