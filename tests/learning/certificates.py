"""Certificates of every kind of release, each with changes that promise more and changes that promise less."""

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from objpert_core.accounting import (
    ApproximateDP,
    ApproximateMinima,
    Gaussian,
    ObjectivePerturbation,
    QuadraticPerturbation,
    TiltAndBend,
)
from objpert_core.estimators import (
    AdaOPSRegressor,
    AdaSSPRegressor,
    DPSGDLogisticRegression,
    ObjPertLogisticRegression,
    ObjPertRegressor,
    ObjPertSVC,
    OPSPTRRegressor,
    OutputPerturbationLogisticRegression,
    PrivateSearch,
)
from objpert_core.evaluation import evaluate, together
from objpert_core.learning import HingeLoss, LogisticLoss, perturb_and_solve
from objpert_core.learning.population.fit import descend_and_certify
from objpert_core.learning.population.phased import phased_release
from objpert_core.learning.population.schedules import tight_plan
from objpert_core.learning.ptr import BoundTest, DistanceTest, UpperBound, best_of, propose_test_release
from objpert_core.learning.ptr import release_under_bound as under_bound
from objpert_core.learning.quadratic.release import noisy_gram

Change = dict[str, Any]


def each(**changes):
    """A change for each field alone; for each of its values where they stand in a list."""
    return [{name: one} for name, value in changes.items() for one in (value if type(value) is list else [value])]


@dataclass(frozen=True, eq=False)
class Kind:
    """A release with its certificate, and how a certificate may not and may differ from it.

    Parameters
    ----------
    make : callable
        Makes the release: a certificate, or a model that has one.
    better : list of dict
        Changes of fields that no proof covers, or that make nonsense of it.
    weaker : list of dict
        Changes that leave a promise which the honest certificate implies.
    level : str, optional
        From which test level on these are asked.
    harmless : dict, optional
        The nasty value, by field, that leaves a valid certificate; None where nasty values are not asked.
    """

    make: Callable[[], Any]
    better: list[Change]
    weaker: list[Change]
    level: str | None = None
    harmless: Change | None = None

    @cached_property
    def model(self):
        return self.make()

    @property
    def honest(self):
        return getattr(self.model, "privacy_", self.model)

    def changed(self, changes):
        """The certificate with these changes, of which functions are asked for the value they make of the old one."""
        told = {name: new(getattr(self.honest, name)) if callable(new) else new for name, new in changes.items()}
        return dataclasses.replace(self.honest, **told)


def times(factor):
    return lambda old: factor * old


def of_kinds(kinds, level=None):
    """Run a test for each of the kinds, from their level on or from a higher one that it asks for."""
    return pytest.mark.parametrize(
        "kind",
        [
            pytest.param(kind, id=name, marks=[getattr(pytest.mark, at)] if (at := kind.level or level) else [])
            for name, kind in kinds.items()
        ],
    )


# Objective perturbation


def some_data(n=60):
    X = np.random.default_rng(0).standard_normal((n, 3))
    return X, (X[:, 0] > 0).astype(int)


def logistic(**parameters):
    return lambda: ObjPertLogisticRegression(classes=[0, 1], random_state=1, **parameters).fit(*some_data())


def in_ball_of_envelopes():
    mechanism = ApproximateMinima(ObjectivePerturbation(9.0, 20.0, 1.0, 1.0, "monotone"), 1e-6, 1e-3)
    X, y = some_data(300)
    told = {"loss": HingeLoss(), "envelope": 1.0, "radius": 0.5, "intercept_scaling": 0.0, "random_state": 3}
    return perturb_and_solve(X, 2.0 * y - 1, mechanism, delta=1e-5, **told).certificate


CLIPPED = {"clip": -1.0, "bound": "two-signed", "lipschitz": 1e-3, "smoothness": 1.09, "lam": 100.0, "sigma": 0.01}
NO_SIZE = [0.0, -1.0, math.nan, math.inf, 1, "1"]
OBJECTIVE = {
    "rule for lam": Kind(
        logistic(),
        [
            *each(reproducible=False, noise_source=["operating system", "dice"], gradient_norm=[-5.0, math.nan]),
            *each(n_iter=["lots", 2.5], public_rows=[math.inf, 60.0], rows_declared=[True, None, 0]),
            *each(epsilon=["x", True], lattice=[0.3, None, 2.0**-70, 1.0], on_error="hide", schema=[1, "2"]),
            {"coefficients_sha256": "f" * 63},
            {"bound": "kifer2012", "accountant": "rdp"},
        ],
        [{"epsilon": 1.1}, {"delta": 2e-5}],
    ),
    "least lam": Kind(
        logistic(lam=0.0),
        [
            *each(epsilon=0.999, delta=0.9999e-5, sigma=3.9, lam=0.71, sigma_out=1e-5, tau=1e-4, gradient_norm=2e-6),
            *each(lipschitz=1.0440, smoothness=0.2, intercept_scaling=0.5, bound="glm", row_norm="none"),
            *each(accountant="magic", mechanism="Gaussian", public_rows=-5),
            {"delta": 1.5, "sigma": 0.1},
            {"intercept_scaling": math.nan, "lipschitz": 1e-3, "sigma": 0.01},
            CLIPPED,
        ],
        [{"sigma": 4.2, "lam": 0.8}, {"epsilon": 1.1}],
    ),
    "least lam, not for replaced rows": Kind(logistic(lam=0.0), each(adjacency="replace one row"), [], "slow"),
    "intervals": Kind(
        logistic(intervals="sandwich", epsilon=8.0, public_rows=2_000),
        [
            *each(hessian_noise=[*NO_SIZE, None, times(0.5)], outer_noise=[*NO_SIZE, times(0.99)], loss_parameter=1.0),
            *each(weighted=True, ball_radius=1.0, center_noise=20.0, public_rows=None, epsilon=7.99),
            {"fits": 2, "rest_weight": 1.0},
        ],
        [{"outer_noise": times(2.0)}, {"hessian_noise": times(2.0)}, {"epsilon": 8.1}],
    ),
    "envelope in a ball": Kind(
        in_ball_of_envelopes,
        [
            *each(ball_radius=[*NO_SIZE, True], envelope=[*NO_SIZE, None, 1.0 + 1e-9, 2.0], epsilon=0.1),
            *each(smoothness=[0.5, 1.0 - 1e-9, None], bound=["logistic", "kifer2012"], lipschitz=0.9),
            *each(loss=["absolute", "pinball", "squared-hinge", "epsilon-insensitive", "moreau"], loss_parameter=0.5),
            {"intercept_scaling": 0.3},
            {"loss": "logistic", "bound": "logistic"},
            {"loss": "huber", "loss_parameter": 1.5, "bound": "two-signed"},
            {"schema": 1, "lattice": None},
        ],
        each(ball_radius=[None, 7.0], envelope=0.5, loss="logistic"),  # what costs no privacy
    ),
}

# DP-SGD

HONEST = {"learning_rates": [0.01, 0.1], "mean_runs": 2.5}
DISHONEST = {"learning_rates": [0.01, 0.1], "tuning": "dishonest"}


def trained(seed=0, judges=False, **parameters):
    X = np.random.default_rng(seed).normal(size=(300, 3))
    y = (X[:, 0] > 0).astype(int)
    arguments = {"X_val": X[:50], "y_val": y[:50]} if judges else {}
    settings = {"classes": [0, 1], "epochs": 3, "batch_size": 40} | parameters
    return lambda: DPSGDLogisticRegression(**settings).fit(X, y, **arguments)


def trained_dishonestly():
    options = {"epochs": 1, "learning_rates": [0.1, 0.2], "tuning": "dishonest", "accountant": "rdp"}
    return DPSGDLogisticRegression(classes=[0, 1], **options).fit(*some_data())


MORE_NOISE = [{"noise_multiplier": times(2)}]
SGD = {
    "one run": Kind(
        trained(),
        [
            *each(epsilon=0.99, delta=0.999e-5, batch_size=41, epochs=2, public_rows=[301, -300], clip=-1.0),
            *each(validation_fraction=7.0, optimizer="evil", row_norm="none", accountant="magic", tuning="honest"),
            *each(noise_multiplier=1.0, sample_rate=0.9, steps=100, choice_covered=False, candidates=(0.1, 0.2)),
            *each(adjacency="replace one row", mechanism="PrivateSelection"),
            {"sample_rate": 0.05, "noise_multiplier": 2.0},
            {"steps": 1, "noise_multiplier": 4.0},
        ],
        MORE_NOISE,
        "slow",
    ),
    "honest": Kind(
        trained(**HONEST),
        each(score_noise=[1.0, None], mean_runs=[5.0, None]),
        [{"score_noise": times(2)}],
        "slow",
    ),
    "dishonest": Kind(
        trained_dishonestly,
        [
            *each(choice_covered=[1, "yes", True], candidates=[(math.nan, 0.1), [0.1, 0.2], ()], clip=math.inf),
            *each(public_rows=math.inf, margin=[None, -1.0], validation_fraction=math.nan, lattice=2.0**-10),
        ],
        MORE_NOISE,
    ),
    "allocated": Kind(
        trained(sampling="allocation", batch_size=50, epochs=1),  # 50 of 300: both samplings have rate 1/6
        [
            *each(epsilon=0.99, sampling=["poisson", "shuffle"], mechanism="DPSGD", steps=12, epochs=2),
            *each(sample_rate=0.1, accountant="rdp", mean_runs=2.0, rows_per_person=2, schema=1, public_rows=600),
            {"noise_multiplier": 1.0},
            {"sampling": "poisson", "mechanism": "DPSGD"},
            {"mean_runs": 2.0, "tuning": "honest", "mechanism": "PrivateSelection"},
        ],
        MORE_NOISE,
        "slow",
    ),
} | {
    name: Kind(trained(**parameters), [], [], "slow")
    for name, parameters in {
        "by Rényi": {"accountant": "rdp", "optimizer": "sgd"},
        "clipped": {"clip": 0.2, "fit_intercept": False, "row_norm": "clip"},
        "honest by Rényi": HONEST | {"accountant": "rdp", "validation_fraction": 0.3},
        "dishonest, by profile": DISHONEST,
        "all rows in every step": {"batch_size": 1000},
        "allocated, dishonest": DISHONEST | {"sampling": "allocation"},
    }.items()
}

# Descent and phases

CORNERS = np.repeat([[1.0, 0.0], [0.0, 1.0]], 30, axis=0), np.repeat([1.0, -1.0], 30)


def phased(loss, **options):
    return lambda: phased_release(*CORNERS, loss, epsilon=1.0, delta=1e-4, radius=1.0, **options).certificate


def descent(sampling, loss, declared):
    def certificate():
        told = {"radius": 0.2, "lipschitz": 1.0, "smoothness": loss.smoothness, "sampling": sampling}
        plan = tight_plan(60, 2, 1.0, 1e-4, **told)
        return descend_and_certify(*CORNERS, loss, plan, epsilon=1.0, delta=1e-4, rows_declared=declared).certificate

    return certificate


def known_size(m):
    return f"data sets of the same size m = {m}, known to all, "


OF_BOTH = [
    *each(epsilon=0.99, delta=0.9e-4, noise_multiplier=1.0, lipschitz=0.999, intercept_scaling=0.3, rows_per_person=2),
    *each(loss="squared", loss_parameter=-1.0, mechanism="ApproximateMinima", accountant="rdp", schema=1, lattice=1.0),
    *each(adjacency=["add/remove one row", known_size(60) + "up to one row left out of the sums"]),
    *each(adjacency=known_size(61) + "that differ in one row", ball_radius=math.inf, public_rows=0),
]
OF_PHASES = OF_BOTH + each(phases=[7, 10**12, 0], slack=[0.0, 1e-30], first_step=0.0)
OF_DESCENT = OF_BOTH + each(
    steps=10**6, batch_size=[61.0, 0.0], sampling="allocation", step_size=0.0, schedule="own", envelope=0.0
)
WEAKER_STEPS = [{"epsilon": 1.1}, {"delta": 2e-4}, {"noise_multiplier": times(2)}]
POPULATION = {
    "phased": Kind(phased(LogisticLoss()), OF_PHASES, WEAKER_STEPS, "thorough"),
    "phased, declared": Kind(phased(HingeLoss(), public_rows=60), OF_PHASES, WEAKER_STEPS, "thorough"),
    "full batch": Kind(
        descent("full batch", LogisticLoss(), True), [*OF_DESCENT, {"loss": "absolute"}], WEAKER_STEPS, "thorough"
    ),
    "full batch, corners": Kind(
        descent("full batch", HingeLoss(), False), [*OF_DESCENT, {"envelope": None}], WEAKER_STEPS, "thorough"
    ),
    "without replacement": Kind(
        descent("without replacement", LogisticLoss(), True), OF_DESCENT, WEAKER_STEPS, "thorough"
    ),
}

# Noisy Gram matrices

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

# Posterior draws and noisy sums

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

# Tested releases and the best of several

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

# Evaluations, and a fit with its evaluation


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
OF_BOTH_PARTS = [
    *each(epsilon=times(0.99), delta=times(0.9), fit=[{}, None, "text"], evaluation=[{}, 3], public_rows=[61, None]),
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

# Fits of 300 rows, for random changes


def many_rows(estimator, level="slow", **parameters):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    model = estimator(**({} if estimator is ObjPertRegressor else {"classes": [0, 1]}), **parameters)
    return Kind(lambda: model.fit(X, (X[:, 0] > 0).astype(int)), [], [{"epsilon": times(1.5)}], level)


def in_ball(loss, bound, envelope):
    """A fit in a ball about rows that are added or removed: those of the estimators are slower to account for."""

    def model():
        X = np.random.default_rng(0).normal(size=(300, 4))
        mechanism = ApproximateMinima(
            ObjectivePerturbation(8.0, 6.0, 1.0, envelope or loss.smoothness, bound), 1e-6, 0.01
        )
        told = {"loss": loss, "intercept_scaling": 0.0, "radius": 0.5, "envelope": envelope}
        release = perturb_and_solve(X, np.where(X[:, 0] > 0, 1.0, -1.0), mechanism, delta=1e-5, **told)
        coef, intercept = release.theta.reshape(1, -1), np.zeros(1)
        return SimpleNamespace(coef_=coef, intercept_=intercept, privacy_=release.certificate.about(coef, intercept))

    return Kind(model, [], [{"epsilon": times(1.5)}], "slow")


OUTPUT = OutputPerturbationLogisticRegression
STEPS = {"batch_size": 100, "epochs": 1}
TUNED = STEPS | {"learning_rates": [0.1, 0.2], "accountant": "rdp"}
FITTED = {
    "declared": many_rows(ObjPertLogisticRegression, public_rows=300),
    "read off": many_rows(ObjPertLogisticRegression),
    "no rule": many_rows(ObjPertLogisticRegression, lam=0.0, random_state=1, fit_intercept=False),
    "monotone": many_rows(
        ObjPertLogisticRegression, "thorough", bound="monotone", row_norm="clip", fit_intercept=False
    ),
    "glm": many_rows(ObjPertLogisticRegression, "thorough", bound="glm", lam=0.0),
    "kifer2012": many_rows(ObjPertLogisticRegression, bound="kifer2012", lam=0.0),
    "non-glm": many_rows(ObjPertLogisticRegression, "thorough", bound="non-glm", accountant="rdp", epsilon=8.0),
    "by Rényi": many_rows(ObjPertLogisticRegression, accountant="rdp", noise_ratio=1.3),
    "hinge": many_rows(ObjPertSVC, clip=0.5),
    "rounded hinge": many_rows(ObjPertSVC, loss="huberised-hinge", clip=None),
    "ridge": many_rows(ObjPertRegressor, target_scale=3.0),
    "huber": many_rows(ObjPertRegressor, loss="huber", clip=None, huber_threshold=0.5, bound="two-signed"),
    "output": many_rows(OUTPUT),
    "output, declared": many_rows(OUTPUT, public_rows=300, random_state=1, margin=1.0),
    "output, replaced": many_rows(OUTPUT, adjacency="replace"),
    "output, lam": many_rows(OUTPUT, lam=3.0),
    "DP-SGD": many_rows(DPSGDLogisticRegression, **STEPS | {"epochs": 2}, public_rows=300, accountant="rdp"),
    "DP-SGD, read off": many_rows(DPSGDLogisticRegression, **STEPS, clip=0.3, fit_intercept=False),
    "allocated": many_rows(DPSGDLogisticRegression, **STEPS, sampling="allocation"),
    "honest": many_rows(DPSGDLogisticRegression, **TUNED, mean_runs=2.5),
    "dishonest": many_rows(DPSGDLogisticRegression, **TUNED, tuning="dishonest"),
    "ball": in_ball(LogisticLoss(), "logistic", None),
    "envelope in a ball": in_ball(HingeLoss(), "monotone", 0.5),
}

FAMILIES = {"objective": OBJECTIVE, "DP-SGD": SGD, "population": POPULATION, "quadratic": QUADRATIC}
FAMILIES |= {"posterior": POSTERIOR, "tested": TESTED, "evaluated": EVALUATED, "fitted": FITTED}
EVERY = {f"{family}, {name}": kind for family, kinds in FAMILIES.items() for name, kind in kinds.items()}
