"""Tested releases and the best of several, with changes that promise more or less."""

import dataclasses
import math
from types import SimpleNamespace

from objpert_core.accounting import (
    ApproximateDP,
    Gaussian,
)
from objpert_core.learning.ptr import BoundTest, DistanceTest, UpperBound, best_of, propose_test_release
from objpert_core.learning.ptr import release_under_bound as under_bound
from tests.learning.certificates.kind import Kind, each

SHARE = {"epsilon": 0.25, "delta": 1e-7}
MECHANISM = SimpleNamespace(covers="added", epsilon_at=lambda X, delta: 0.1, release=lambda X, source: 3)
WORST = SimpleNamespace(epsilon=0.25, delta=1e-8, release=lambda X, source: 0)
SPREAD = UpperBound(lambda X: 1.0, sensitivity=0.5, epsilon=0.5, failure=1e-6)
OWN = SimpleNamespace(epsilon=0.5, delta=0.0, failure=0.0, shifted=True, passes=lambda X, source: True)


def tested(test, **options):
    return lambda: propose_test_release(None, MECHANISM, test, **SHARE | options).certificate


def by_distance(**options):
    return tested(DistanceTest(lambda X: 90, 0.5, 1e-6), fallback=WORST, **options)


def by_bound(**changes):
    return tested(BoundTest(dataclasses.replace(SPREAD, **changes), 30.0))


def best(base, **options):
    return lambda: best_of(lambda one, source: one, [1, 2], float, base=base, **{"mean_runs": 10} | options).certificate


TESTED = {
    "distance": Kind(
        by_distance(),
        [
            *each(epsilon=0.74, test_epsilon=0.4, failure=1e-7, threshold=[26.0, None], shifted=True, certified=False),
            *each(caveat="but", fallback_delta=[-1e-8, 1e-7], rows_per_person=2, adjacency="replace one row"),
            *each(mechanism="Gaussian", release_epsilon=1, release_delta=math.nan, sensitivity=1.0, reproducible=True),
            *each(lattice=0.5, row_norm="normalize", intercept_scaling=0.3),
            {"delta": 1e-6},  # without e^ε̂, and without the fallback's share
            {"test": "own", "threshold": 27.0, "uniform": True},
            {"rows_per_person": 2, "adjacency": "add/remove up to 2 rows of one person"},
            {"sensitivity": 1.0, "shift": 1.0},
        ],
        each(epsilon=0.8, delta=2e-6),
    ),
    "seeded": Kind(by_distance(random_state=1), each(reproducible=False), each(epsilon=0.8)),
    "upper bound": Kind(
        by_bound(), each(sensitivity=[1.0, None], shift=13.0, threshold=None, test="distance"), each(epsilon=0.8)
    ),
    "gaussian bound": Kind(by_bound(delta=1e-7, shifted=True), each(test_delta=0.0, shifted=False), each(epsilon=0.8)),
    "own": Kind(tested(OWN, delta=0.0), each(epsilon=0.74), each(epsilon=0.8)),
    "released bound": Kind(
        lambda: under_bound(None, SPREAD, lambda most: most, lambda X, most, source: 1, **SHARE).certificate,
        each(uniform=False, delta=1.1e-6 - 1e-9, fallback_delta=0.0),
        each(epsilon=0.8),
    ),
    "best of several": Kind(
        best(ApproximateDP(0.5, 1e-7)),
        [
            *each(mean_runs=20.0, eta=[None, 0.0], base=["Wrapper", "__all__"], candidates=0, epsilon=0.5, delta=1e-7),
            *each(arguments=[(0.6, 1e-7, "add/remove one row"), (0.5, 1e-7), (0.5, 1e-7, ("add",))]),
            {"arguments": [0.5, 1e-7, "add/remove one row"]},
        ],
        each(epsilon=1.6, delta=2e-6),
    ),
    "best by poisson": Kind(
        best(Gaussian(20.0), eta=None, delta=1e-6),
        [{"mean_runs": 0.0}, {"rows_per_person": 3, "adjacency": "add/remove up to 3 rows of one person"}],
        each(delta=2e-6),
    ),
}
