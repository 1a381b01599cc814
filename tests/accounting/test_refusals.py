"""What numbers that are good one by one cannot be together, and choices that there are not: one sentence names which.

What is no number of its kind is refused in the last part of this file and `mechanisms/test_every_mechanism.py`.
"""

import inspect
import math
import re

import pytest

import objpert_core.accounting as acc
from objpert_core import accounting
from objpert_core.accounting import Gaussian, ObjectivePerturbation
from objpert_core.accounting.population.ball import objective_plan
from objpert_core.accounting.population.published import (
    published_objective_lam,
    published_sgd_mechanism,
)
from objpert_core.accounting.population.sizes import Sizes
from objpert_core.accounting.selection.tuning import mean_runs

NOISE, FIT = acc.Gaussian(9.0), acc.ObjectivePerturbation(8.0, 10.0)
KIFER = acc.ObjectivePerturbation(30.0, 20.0, bound="kifer2012")
REPLACED = {"adjacency": acc.REPLACE_ONE}
BEFORE = acc.Standardisation(2.0, None).mechanisms()  # more than ε = 0.5 allows


def bend(**about):
    return acc.QuadraticPerturbation(**{"scale": 1.0, "degrees_of_freedom": 9, "dimension": 4} | about)


def fit(epsilon=1.0, delta=1e-5, **about):
    return acc.calibrate_objective_perturbation(epsilon, delta, **about)


def behind_a_test(**about):
    numbers = {"epsilon": 0.5, "delta": 1e-6, "test_epsilon": 0.25, "test_delta": 0.0, "failure": 1e-6}
    return acc.ProposeTestRelease(**numbers | about)


def in_a_ball(schedule="bassily2019", n=100, epsilon=0.5, delta=1e-4, radius=4.0, **about):
    known = {"lipschitz": 1.0, "smoothness": 0.25, "bound": "logistic", "tau": 1e-6} | about
    return objective_plan(schedule, Sizes(n, 1, epsilon, delta, radius, known.pop("lipschitz")), **known)


def published(*sizes):
    return published_objective_lam(Sizes(*sizes))


def left(rest_weight):
    return acc.calibrate_remaining(1.0, 1e-5, lambda left: FIT, copies=3, rest_weight=rest_weight)


def sums(**about):
    return acc.repeat(acc.ObjectivePerturbation(8.0, 10.0, smoothness=1.0, bound="glm"), 2).pld(**about)


REFUSED = {
    "objective perturbation": [
        (lambda: acc.ObjectivePerturbation(1, 1, bound="tight"), "bound must be one of 'logistic', .*, got 'tight'"),
        (lambda: acc.ObjectivePerturbation(1, 1, bound=None), "bound must be one of 'logistic', .*, got None"),
        *(
            (lambda d=d: acc.ObjectivePerturbation(1, 1, bound="non-glm", dimension=d), "dimension must be a whole n")
            for d in (None, 0, 2.0, True)
        ),
        (lambda: acc.ApproximateMinima(NOISE, 1, 1), "objective must be an ObjectivePerturbation, got Gaussian"),
        (lambda: fit(noise_ratio=0.9), "noise_ratio must be a finite number >= 1, got 0.9"),
        (lambda: fit(sigma_out=0.1), "sigma_out needs tau.*sigma_out=0.1"),
        (lambda: fit(bound="kifer2012", accountant="rdp"), "bound 'kifer2012' has a profile only"),
        (lambda: fit(bound="kifer2012", tau=1e-6, accountant="rdp"), ".*does not allow accountant='rdp'"),
        (lambda: fit(bound="non-glm"), "bound 'non-glm' has a Rényi curve only"),
        (lambda: fit(bound="non-glm", accountant="rdp"), ".*needs accountant='rdp' and dimension"),
        (lambda: fit(bound="glm", noise_ratio=1.01), "noise_ratio must be larger for bound 'glm'"),
        (lambda: fit(accountant="rdp", noise_ratio=1.01), "noise_ratio must be larger .* accountant 'rdp'"),
        (lambda: fit(0.1, bound="kifer2012", tau=0.1, sigma_out=1e-9), r"sigma_out must be larger for .*, tau=0\.1 "),
        (lambda: fit(bound="kifer2012", tau=1e-6, noise_ratio=1.5), r"noise_ratio must be larger for .*\(1\.5 times"),
        (
            lambda: fit(2.0, 1e-6, bound="glm", rows_per_person=2, noise_ratio=1.0, accountant="rdp"),
            "noise_ratio must be larger",
        ),
        (lambda: fit(1e4, 1e-6, bound="kifer2012", rows_per_person=2), "epsilon must be smaller"),
    ],
    "a fit and what is beside it": [
        (lambda: acc.one_vs_rest(FIT, 3, 1e-4), "rest_weight must be a number from .*, got 0.0001"),
        (lambda: acc.remaining_epsilon(1.0, 1e-5, copies=3, rest_weight=1.1), "rest_weight must be .*, got 1.1"),
        (lambda: left(0.0), "rest_weight must be .*, got 0.0"),
        (lambda: acc.composed_fit(FIT, copies=3, rest_weight=0.5, rows_per_person=2), "rest_weight must be 1.0"),
        (lambda: acc.composed_fit(KIFER, BEFORE), "mechanism must have a privacy loss or a Rényi curve to be composed"),
        (lambda: acc.composed_fit(FIT, (acc.Gaussian(2.0, **REPLACED),)), "mechanisms must share one adjacency"),
        (lambda: acc.remaining_epsilon(0.5, 1e-5, BEFORE), "before must leave something of epsilon"),
        (lambda: acc.calibrate_remaining(0.5, 1e-5, fit, BEFORE), "before must leave something of epsilon"),
        *(
            (lambda n=n, v=v: acc.Standardisation(**{"center_noise": None, "scale_noise": None, n: v}), f"{n} must be ")
            for n in ("center_noise", "scale_noise")
            for v in (0.0, math.nan, "1", True, 1e-300, 1e300)
        ),
    ],
    "a ball": [
        (lambda: in_a_ball(epsilon=1.1), "epsilon must be at most 1 for what is published, got 1.1"),
        (lambda: in_a_ball(delta=1.1e-4), "delta must be at most 1/n² = 0.0001 for what is published, got 0.00011"),
        (lambda: in_a_ball(radius=1e3), r"smoothness must be at most epsilon\*lam/2 = 0\.018.* \(lam = 0\.07.*\), got"),
        (lambda: in_a_ball(lam=0.5), "lam must be None for schedule='bassily2019', which has its own, got 0.5"),
        (lambda: in_a_ball("printed"), "schedule must be one of 'tight', 'bassily2019', got 'printed'"),
        (lambda: in_a_ball(n=0), "n must be a whole number >= 1, got 0"),
        (lambda: in_a_ball(radius=0.0), "radius must be a finite number > 0, got 0.0"),
        (lambda: in_a_ball(smoothness=-1.0), "smoothness must be a finite number >= 0, got -1.0"),
        (lambda: in_a_ball(bound="kifer2012"), "bound must be one of 'logistic', 'monotone', 'two-signed', 'glm', got"),
        (lambda: in_a_ball(tau=0.0), "tau must be"),
        (lambda: in_a_ball(sigma_out=-1.0), "sigma_out must be"),
        (
            lambda: in_a_ball("tight", 10, 1.0, 1e-6, lam=1e6, tau=1.0, sigma_out=1e-9),
            r"sigma_out must be larger for tau=1\.0 and lam = 1e",
        ),
        *(
            (lambda publish=publish, given=given: publish(*given), words)
            for publish in (published_sgd_mechanism, published)
            for given, words in (
                ((0, 1, 1.0, 1e-9), "n must be a whole number >= 1"),
                ((10, 1, 1.1, 1e-9), "epsilon must be at most 1 for what is published, got 1.1"),
                ((100, 1, 1.0, 1.1e-4), "delta must be at most 1/n² = 0.0001 for what is published"),
                ((100, 1, 1.0, 0.0), "delta must be a number strictly between 0 and 1"),
            )
        ),
    ],
    "steps": [
        (lambda: published_sgd_mechanism(99, 9, 1.0, 1e-8, sampling="shuffle"), "sampling must be one of 'with repl"),
        (lambda: acc.DPSGD(1.0, 1.1, 1), "sample_rate must be"),
        (lambda: acc.calibrate_dpsgd(1.0, 1e-5, 1.5, 100), "sample_rate must be a number above 0 and at most 1, got"),
        (
            lambda: acc.calibrate_dpsgd(1e-40, 1e-80, 1.0, 1000, "rdp"),
            "epsilon and delta must be larger for sample_rate = 1, .*steps = 1000",
        ),
        (lambda: acc.SampledWithoutReplacement(1.0, 11, 10, 1), "batch_size must be at most rows = 10 .*got 11"),
        (lambda: acc.calibrate_sampled(1.0, 1e-6, 11, 10, 3), "batch_size must be at most rows"),
        (lambda: acc.RandomAllocation(1.0, 10, 11), "selections must be at most steps = 10, got 11"),
        (lambda: acc.calibrate_allocation(1.0, 1e-5, 3, 4), "selections must be at most steps"),
    ],
    "several": [
        (lambda: acc.compose(), ".*at least one mechanism"),
        (lambda: acc.compose(FIT, 3.0), "mechanism must be one of this package's mechanisms"),
        (lambda: acc.repeat(NOISE, 2).delta_bounds(0.5, relative_width=0.0), "relative_width must be a finite"),
        (lambda: acc.repeat(NOISE, 2).epsilon_bounds(0.5, relative_width=math.nan), "relative_width must be"),
        *((lambda w=w: sums(interval=w), "interval must be a finite number > 0") for w in (0.0, -1.0, "fine")),
        (lambda: sums(interval=1e-12), "interval must be larger"),
        (lambda: sums(direction="replace"), "direction must be one of"),
        (lambda: sums(pessimistic="yes"), "pessimistic must be True or False"),
        (lambda: acc.Tabulated.from_dp_accounting(3), "pld must be a PrivacyLossDistribution of dp_accounting, got 3"),
        (lambda: acc.Tabulated.from_dp_accounting(NOISE.to_pld(1e-2), "swap"), "adjacency must be"),
        (lambda: acc.rdp_to_delta([2, 3], [0.1], 1.0), r"rdp must have one value for each of.* got \(1,\) for \(2,\)"),
        (lambda: acc.rdp_to_delta([], [], 1.0), "rdp must have one value for each of alphas"),
        (lambda: acc.rdp_to_delta([[2.0]], [[0.1]], 1.0), "rdp must have one value for each of alphas"),
        (lambda: acc.rdp_to_delta([0.5], [0.1], 1.0), "alphas must be a finite Rényi order >= 1, got 0.5"),
        (lambda: acc.rdp_to_epsilon([2.0], [-0.1], 0.1), r"rdp must be >= 0 \(inf is allowed\), got -0.1"),
        (lambda: acc.rdp_to_epsilon([2.0], [math.nan], 0.1), r"rdp must be >= 0 \(inf is allowed\), got nan"),
        (lambda: acc.posterior(1.5, 1.0), "prior must be a number from 0 to 1, got 1.5"),
        (lambda: acc.posterior(0.5, math.nan), "epsilon must be a number >= 0, got nan"),
        (lambda: acc.posterior(0.5, "1"), "epsilon must be a number >= 0, got '1'"),
    ],
    "the best of several": [
        (lambda: acc.PrivateSelection(NOISE, 0.5, 1), "mean_runs must be a finite number >= 1, got 0.5"),
        (lambda: acc.PrivateSelection(NOISE, 3, -1), "eta must be a finite number > -1, got -1"),
        (lambda: acc.PrivateSelection(NOISE, 1e6, -0.99), "mean_runs must be below .* for eta = -0.99, got 1000000"),
        (lambda: acc.PrivateSelection.negative_binomial(NOISE, 1, 0.0), "gamma must be a number above 0 and"),
        (lambda: acc.PrivateSelection(NOISE, 3).pmf(1.5), "k must be a whole number >= 0, got 1.5"),
        (lambda: acc.PrivateSelection(NOISE, 3).pmf([1, -1]), "k must be a whole number >= 0, got -1"),
        (lambda: acc.liu_talwar_epsilon(NOISE, 0.1, 0.9), "mean_runs must be a finite number >= 1, got 0.9"),
        (lambda: mean_runs(10**6, 0.9, 1), "more_than must be"),
        (lambda: mean_runs(10, 0.0), "probability must be"),
        (lambda: mean_runs(10, 1.0, 1), "probability must be"),
        (lambda: mean_runs(10, 0.9, -1), "eta must be"),
        (lambda: mean_runs(10, 0.9, eta=-0.5), r"probability must be at most 0\.176 for more_than = 10"),
    ],
    "bends": [
        (lambda: bend(scale=1e101), "scale must be a number from 1e-100 to 1e.100, got 1e.101"),
        (lambda: bend(degrees_of_freedom=4), r"degrees_of_freedom must be at least dimension \+ 1 = 5, got 4"),
        (lambda: bend(bound="tight"), "bound must be .* got 'tight'"),
        (lambda: bend(bound="glm"), "adjacency must be 'add/remove one row' for bound 'glm', got 'replace one row'"),
        (lambda: bend(tolerance=0.1), "tolerance, anchor_error and sigma_out must be 0 for bound 'exact', got 0.1"),
        (lambda: bend(bound="published", tolerance=0.1), "sigma_out must be a number > 0 .* got 0.0"),
        (lambda: bend(bound="published", rank=0), "rank must be .* got 0"),
        (lambda: acc.TiltAndBend(1, 1.0, 1.0), "bend must be a QuadraticPerturbation by bound 'exact' or 'glm', got 1"),
        (lambda: acc.TiltAndBend(bend(bound="published"), 1.0, 1.0), "bend must be .*, got QuadraticPerturbation"),
        (lambda: acc.calibrate_quadratic_perturbation(2e4, 1e-5, 5), "epsilon must be a number from 1e-08 to 10000"),
        (
            lambda: acc.calibrate_quadratic_perturbation(1.0, 1e-300, 5, degrees_of_freedom=6),
            "degrees_of_freedom must be .* delta = 1e-300 .* got 6",
        ),
        (
            lambda: acc.calibrate_tilt_and_bend(1.0, 1e-5, 5, 1.0, degrees_of_freedom=3),
            r"degrees_of_freedom must be at least dimension \+ 1 = 6, got 3",
        ),
        (
            lambda: acc.calibrate_tilt_and_bend(1.0, 1e-5, 5, 1.0, tilt_share=1.0),
            "tilt_share must be a number strictly between 0 and 1, got 1.0",
        ),
        (lambda: acc.optimal_published_bound(1.0, 0.1, 3, bound="glm"), "bound must be .* got 'glm'"),
        (lambda: acc.published_scale(1.0, 0.1, 5, 5), r"degrees_of_freedom must be at least dimension \+ 1 = 6, got 5"),
        (lambda: acc.published_scale(1.0, 0.1, 5, 9, share=1.0), "share must be .* got 1.0"),
    ],
    "asking the data first": [
        (lambda: acc.ApproximateDP(701, 0.1), "epsilon must be a number from 0 to 700, got 701"),
        (lambda: acc.ApproximateDP(1, 1.0), "delta must be a number >= 0 and below 1"),
        (lambda: acc.ApproximateDP(0, 0), "epsilon and delta must not both be 0"),
        (lambda: behind_a_test(covers="removed"), "covers must be one of"),
        (lambda: behind_a_test(shifted=1), "shifted must be True or False"),
        (lambda: behind_a_test(epsilon=400, test_epsilon=400), r"epsilon \+ test_epsilon must be a number from 0"),
        (lambda: behind_a_test(failure=1.0), "failure must be a number >= 0 and below 1"),
        (lambda: behind_a_test(delta=0.6, test_delta=0.5), "delta of the whole must be a number >= 0 and below 1"),
        (lambda: behind_a_test(uniform=True, fallback_delta=0.1), "fallback_delta must be 0 behind a released bound"),
        (lambda: behind_a_test(covers="added", **REPLACED), "adjacency must be 'add/remove one row' for covers = 'add"),
        (lambda: behind_a_test(epsilon=0, delta=0, test_epsilon=0, failure=0), ".* must not all be 0"),
        (lambda: acc.AdaptiveSampling(0.3, 0.4, 2.0, 0.8, 1e-9), "leverage must be"),
        (lambda: acc.AdaptiveSampling(0.3, 0.4, 0.1, 0.8, 1e-9, mean_runs=0.5), "mean_runs must be"),
        (lambda: acc.calibrate_adaptive_sampling(1e-4, 1e-6), "epsilon must be a float from 0.001 to 100, got 0.0001"),
        (lambda: acc.posterior_precision(1.0, 1e-6, 1.7), "leverage must be"),
        (lambda: acc.published_posterior_precision(1.0, 1e-6, 1.7), "leverage must be"),
        *(  # T38 (b) ends at 1.618
            (lambda make=make: make(acc.PosteriorSampling(leverage=1.7, shift=0.5)), "leverage must be .*1.61803, got")
            for make in (acc.replace_one, lambda one: acc.group(one, 2))
        ),
        (lambda: acc.tested_rdp([1.0, 2.0], NOISE.rdp, NOISE.rdp, NOISE.rdp, 1e-6), "alpha must be a number > 1"),
        (lambda: acc.GNMax(20.0).rdp_at([math.nan, 2.0], 2.0), "counts must"),
        *((lambda c=c: acc.GNMax(20.0).rdp_at(c, 2.0), "counts must") for c in ([1.0], [-1.0, 2.0])),
        (lambda: acc.GNMax(20.0).rdp_at([1, 2], 1.0), "alpha must be"),
        (lambda: acc.GNMax(20.0).distance([1, 2], 2.0, 0.0), "budget must be"),
        (lambda: acc.LaplaceVote(1.0).error(0.5), "gap must be"),
    ],
    "distances": [
        (lambda: acc.optimal_lam(-1.0, 1.0), "epsilon must be a finite number >= 0, got -1.0"),
        (lambda: acc.optimal_lam(1.0, 0.0), "sigma must be a finite number > 0, got 0.0"),
        (lambda: acc.optimal_lam(1.0, 1.0, math.inf), "lipschitz must be a finite number > 0, got inf"),
        (lambda: acc.boundary_lam([0.0], 0.1), "sigma must be a finite number > 0, got 0"),
        *(
            (lambda bad=bad: acc.distance_to_optimality(bad, 1e-5), "mechanism must be objective pert")
            for bad in (acc.repeat(NOISE, 2), "mechanism", None)
        ),
        (lambda: acc.distance_map([1.0, -1.0], [1.0], 1e-5), "sigma must be a finite number > 0, got -1.0"),
        (lambda: acc.distance_map([1.0], [math.nan], 1e-5), "lam must be a finite number > 0, got nan"),
        (lambda: acc.distance_map([[1.0]], [1.0], 1e-5), r"sigma must be 1-d, got an array of shape \(1, 1\)"),
        (lambda: acc.distance_map([1.0], [1.0], 1e-5, bound="kifer2012"), "bound must be one of 'logistic', 'glm'"),
    ],
}


@pytest.mark.parametrize(("call", "words"), [case for cases in REFUSED.values() for case in cases])
def test_it_is_refused_in_one_sentence(call, words):
    with pytest.raises(ValueError, match=f"^{words}") as refused:
        call()
    assert "\n" not in str(refused.value)


# Every public function of numbers names what is not one of them, with its value, before it computes anything


GIVEN = {  # what no function refuses, by the names of the parameters
    "epsilon": 0.5, "delta": 1e-5, "sample_rate": 0.1, "steps": 10, "mean_runs": 5.0, "batch_size": 2, "rows": 10,
    "dimension": 3, "degrees_of_freedom": 9, "residual_bound": 1.0, "leverage": 0.1, "gamma": 1.0, "n_rows": 100,
    "gradient_bound": 1.0, "smoothness": 1.0, "classes": 3, "more_than": 10, "probability": 0.9, "k": 2, "size": 2,
    "mechanism": Gaussian(9.0), "base": Gaussian(9.0), "fit": ObjectivePerturbation(9.0, 99.0), "bound": "logistic",
    "before": (Gaussian(99.0),), "calibrate": Gaussian, "sigma": [9.0], "lam": [9.0], "alpha": 2.0, "failure": 1e-9,
    "test": Gaussian(9.0).rdp, "budget": Gaussian(9.0).rdp, "worst": Gaussian(9.0).rdp, "tau": 1e-3,
    "copies": 3, "text": "{}", "unknown": 2, "numbers": 3, "listed": 4,
}  # fmt: skip
NONSENSE = {
    "float": [-1.5, math.nan, math.inf, "1", [1.0], 1j, 10**400],
    "int": [-1, 2.5, math.nan, "1", True, None, 10**400],
    "str": ["none", None, 3],
    "Mechanism": [3.0, "glm", None, Gaussian],
}
NEEDED_BY_OTHERS = ("tau", "copies")


def questions():
    """(function, parameter, its nonsense) of every public one."""
    for name in accounting.__all__:
        function = getattr(accounting, name)
        if inspect.isfunction(function):
            for parameter, about in inspect.signature(function).parameters.items():
                kind = str(about.annotation).removesuffix(" | None")
                if kind in NONSENSE and parameter not in ("text", "mechanisms"):
                    yield pytest.param(function, parameter, kind, id=f"{name} {parameter}")


@pytest.mark.parametrize(("function", "parameter", "kind"), list(questions()))
def test_what_is_no_number_of_its_kind_is_named_with_its_value(function, parameter, kind):
    needed = inspect.signature(function).parameters.items()
    given = {name: GIVEN[name] for name, about in needed if about.default is about.empty or name in NEEDED_BY_OTHERS}
    optional = "None" in str(dict(needed)[parameter].annotation)
    for bad in NONSENSE[kind]:
        if bad is not None or not optional:
            with pytest.raises(ValueError, match=rf"^{parameter} must be .*got {re.escape(repr(bad))}"):
                function(**given | {parameter: bad})


def test_every_public_name_has_an_example():
    public = [getattr(acc, name) for name in acc.__all__]
    described = [o for o in public if inspect.isfunction(o) or (inspect.isclass(o) and not inspect.isabstract(o))]
    lacking = [o.__name__ for o in described if ">>>" not in (o.__doc__ or "")]
    # made by functions, each of which has one: compose, parallel, symmetrised, tabulated, via_rdp
    assert lacking == ["Composition", "Parallel", "Symmetrised", "Tabulated", "ViaRDP"]
