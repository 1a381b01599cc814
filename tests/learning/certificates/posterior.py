"""Posterior draws and noisy sums, with changes that promise more or less."""

import math

import numpy as np

from objpert_core.estimators import (
    AdaOPSRegressor,
    AdaSSPRegressor,
    OPSPTRRegressor,
)
from tests.learning.certificates.kind import Kind, each

rng = np.random.default_rng(6)
FEATURES = rng.normal(size=(400, 3))
TARGETS = 0.3 * FEATURES[:, 0]
JUDGED = {"mean_runs": 3, "validation": (FEATURES[:20], TARGETS[:20])}


def drawn(estimator, **parameters):
    return lambda: estimator(random_state=0, **parameters).fit(FEATURES, TARGETS)


OF_REGRESSION = [
    *each(delta=0.9e-5, epsilon=0.5, rows_per_person=2, accountant="rdp", mechanism="ApproximateMinima", schema=1),
    *each(adjacency=["replace one row", "replace up to 2 rows of one person"], target_bound=[0.0, math.nan]),
    *each(reproducible=False, rows_declared=True, lattice=0.3),
    {"lattice": None, "coefficients_sha256": "0" * 64},
]
OF_DRAWS = OF_REGRESSION + each(
    eigenvalue_mu=5.0, norm_mu=5.0, failure=2e-5, mean_runs=[10.0, 0.5], public_validation=1
)
OF_TIGHT = OF_DRAWS + each(separation=0.3, leverage=0.4)
OF_SPLIT = OF_DRAWS + each(  # test_epsilon=0.4 holds: two releases together cost less than their shares
    release_epsilon=0.6, release_delta=9e-6, test_epsilon=0.2, test_delta=1e-12, certified=False, shifted=False,
    tail=3.0, mechanism="PrivateSelection",
)  # fmt: skip
OF_BEST_SPLIT = OF_DRAWS + each(
    release_epsilon=0.8, test_epsilon=0.01, public_validation=False, tail=3.0, mechanism="ProposeTestRelease"
)
OF_SUMS = OF_REGRESSION + each(gram_noise=[5.0, 0.0], moment_noise=5.0, eigenvalue_noise=5.0, dimension=0, lattice=None)
WEAKER_DRAW = each(epsilon=1.1, delta=2e-5, on_error="release")
GREATEST = ("epsilon", "gram_noise", "moment_noise", "eigenvalue_noise", "tail")
LEAST = ("lattice", "failure", "release_delta", "release_epsilon", "eigenvalue_mu", "norm_mu")
EXTREMES = dict.fromkeys(GREATEST, 1.7e308) | dict.fromkeys(LEAST, 5e-324)
EXTREMES |= {"coefficients_sha256": None, "dimension": 10**400, "separation": 0.0, "public_validation": True}


def of_draws(estimator, better, weaker, level=None, **parameters):
    return Kind(drawn(estimator, **parameters), better, [*WEAKER_DRAW, weaker], level, EXTREMES)


POSTERIOR = {
    "tight": of_draws(AdaOPSRegressor, [*OF_TIGHT, {"leverage": 2.0}], {"separation": 0.1}),
    "best": of_draws(OPSPTRRegressor, [*OF_TIGHT, {"public_validation": False}], {"leverage": 0.01}, "slow", **JUDGED),
    "split": of_draws(AdaOPSRegressor, OF_SPLIT, {"tail": 9.0}, accounting="split"),
    "best, split": of_draws(
        OPSPTRRegressor, OF_BEST_SPLIT, {"eigenvalue_mu": 1e-3}, "slow", accounting="split", lams=[300.0], **JUDGED
    ),
    "sums": of_draws(AdaSSPRegressor, OF_SUMS, {"gram_noise": 9.0}),
}
