"""Evaluations, a fit with its evaluation, and searches, with changes that promise more or less."""

from objpert_core.estimators import (
    OutputPerturbationLogisticRegression,
    PrivateSearch,
)
from objpert_core.evaluation import evaluate, together
from tests.learning.certificates.kind import Kind, each, logistic, some_data, times


def counted():
    return evaluate(logistic()(), *some_data(), random_state=0).certificate


def both(split):
    def certificate():
        fit = logistic(public_rows=60)()
        return together(fit.privacy_, evaluate(fit, *some_data(), random_state=0), split)

    return certificate


OF_COUNTS = [
    *each(epsilon=[0.99, "x"], delta=0.9e-5, sigma=[3.7, 0.0], cells=[0, 64.0], counts_sha256=["f" * 63, None]),
    *each(adjacency="replace one row", rows_per_person=2, accountant="rdp", mechanism="Composition", schema=1),
    *each(lattice=[None, 0.5], reproducible=False, row_norm="clip", intercept_scaling=0.3, on_error="release"),
    {"rows_per_person": 2, "adjacency": "add/remove up to 2 rows of one person"},
]
NO_MODEL = {"coefficients_sha256": "0" * 64}
OF_BOTH_PARTS = [
    *each(epsilon=times(0.99), delta=times(0.9), public_rows=[61, None], on_error="release"),
    *each(fit=[{}, None, "text", lambda old: old | {"epsilon": 0.9}]),
    *each(evaluation=[{}, 3, *(lambda old, new=new: old | new for new in ({"sigma": 1.0}, NO_MODEL))]),
    {"reproducible": False, "noise_source": "operating system"},
    *each(adjacency="replace one row", rows_per_person=2, accountant="rdp", lattice=1.0, row_norm="clip", schema=1),
]


def searched(settings):
    def certificate():
        one = OutputPerturbationLogisticRegression(classes=[0, 1], public_rows=60)
        return PrivateSearch(one, {"margin": settings}, random_state=1).fit(*some_data()).privacy_

    return certificate


OF_SEARCHES = [
    *each(epsilon=times(0.97), delta=times(0.8), settings=[(), None, "text", lambda old: old[:1]], fit=[{}, None]),
    *each(score_noise=[0.1, 0.0], public_rows=[43, None], accountant="rdp", lattice=1.0, row_norm="clip", schema=1),
    *each(adjacency="replace one row", rows_per_person=2, intercept_scaling=0.5, on_error="release"),
]
EVALUATED = {
    "search": Kind(
        searched([0.0, 1.0]), [*OF_SEARCHES, {"mean_runs": 2.0}], each(epsilon=1.1, score_noise=times(2)), "thorough"
    ),
    "search by chance": Kind(
        searched([0.1 * at for at in range(25)]),
        [{"mean_runs": None}, *each(mean_runs=90.0)],
        each(epsilon=1.1),
        "slow",
    ),
    "counts": Kind(counted, OF_COUNTS, each(epsilon=1.1, sigma=4.0, cells=7)),
    "fit and counts": Kind(both("coin"), [*OF_BOTH_PARTS, {"split": "shuffle"}], each(epsilon=1.1), "thorough"),
    "fit and counts, same rows": Kind(both("same rows"), [*OF_BOTH_PARTS, {"split": "coin"}], [], "thorough"),
}
