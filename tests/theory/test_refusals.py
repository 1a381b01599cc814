"""What is out of range is refused in one sentence that names it."""

import math

import numpy as np
import pytest

from objpert_core.accounting import ObjectivePerturbation
from objpert_core.theory import excess_risk, local_sensitivity, minimiser_law, population_risk, populations, quadratic
from objpert_core.theory.one_dimensional import OneDimensionalLogistic

FIT = ObjectivePerturbation(1.0, 1.0)


def line(features=(0.9, -0.4), labels=(1, -1), sigma=1.0, lam=1.0, **about):
    return OneDimensionalLogistic(features, labels, sigma=sigma, lam=lam, **about)


def plane(rows=((0.6, 0.2), (0.1, 0.9)), labels=(1, -1), sigma=1.0, lam=1.0):
    return minimiser_law.MinimiserLaw(np.array(rows), labels, sigma=sigma, lam=lam)


def risk(function, method="sgd", n=1000, d=10, epsilon=0.5, delta=1e-6, **about):
    return lambda: function(method, n, d, epsilon, delta, **about)


PUBLISHED = "for what is published"
RISKS = [
    ({"method": "newton"}, "method must be one of 'sgd'"),
    ({"method": "gd", "published": True}, "method must be one of 'sgd', 'prox', 'objective' if published, got 'gd'"),
    ({"n": 0}, "n must be a whole number >= 1"),
    ({"d": 2.5}, "d must be a whole number >= 1"),
    ({"epsilon": 0.0}, "epsilon must be a finite number > 0"),
    ({"delta": 1.0}, "delta must be a number strictly between"),
    ({"radius": -1.0}, "radius must be a finite number > 0"),
    ({"lipschitz": math.inf}, "lipschitz must be a finite number > 0"),
    ({"smoothness": -1.0}, "smoothness must be a number >= 0, got -1.0"),
    ({"smoothness": math.nan}, "smoothness must be a number >= 0, got nan"),
    ({"steps": 0}, "steps must be a whole number >= 1"),
    ({"step_scale": 0.0}, "step_scale must be a finite number > 0"),
    ({"lam": 0.0}, "lam must be a finite number > 0"),
    ({"epsilon": 1.5, "published": True}, f"epsilon must be at most 1 {PUBLISHED}, got 1.5"),
    ({"delta": 1e-3, "published": True}, f"delta must be at most 1/n² = 1e-06 {PUBLISHED}, got 0.001"),
    ({"smoothness": 1e6}, "smoothness must be at most 14.9666 for the method 'sgd' here, got 1000000.0"),
    ({"method": "objective", "smoothness": 1e6}, "smoothness must be at most .* for the method 'objective' here"),
    ({"method": "gd", "steps": 1, "smoothness": 1e3}, "smoothness must be at most .* for the method 'gd' here"),
]
REFUSED = [
    *(
        (risk(function, **changes), words)
        for function in (population_risk.excess_population_bound, population_risk.stability_bound)
        for changes, words in RISKS
    ),
    *(
        (lambda bound=bound, given=given: bound(*given), words)
        for bound in (excess_risk.excess_risk_bound, excess_risk.published_excess_risk_bound)
        for given, words in (
            ((FIT, 0, 3, 1.0), "rows must be a whole number >= 1, got 0"),
            ((FIT, 10, 2.5, 1.0), "dimension must be"),
            ((FIT, 10, 3, -1.0), "comparator_norm must be a finite number >= 0, got -1"),
            ((3.0, 10, 3, 1.0), "mechanism must be an ObjectivePerturbation"),
        )
    ),
    (lambda: excess_risk.best_regularisation(1.0, 3, 0.0), "comparator_norm must be a finite number > 0, got 0"),
    (lambda: quadratic.exact_excess_bound(0.0, 4, 1.0), "scale must be"),
    (lambda: quadratic.exact_excess_bound(1.0, 0, 1.0), "degrees_of_freedom must be"),
    (lambda: quadratic.exact_excess_bound(1.0, 4, -1.0), "distance must be"),
    (lambda: local_sensitivity.minimiser_sensitivity(0.0), "curvature must be a finite number > 0, got 0.0"),
    (lambda: local_sensitivity.minimiser_sensitivity(1.0, lipschitz=0.0), "lipschitz must be a finite number > 0"),
    (
        lambda: local_sensitivity.minimiser_sensitivity(1.0, concordance=-1.0),
        "concordance must be a finite number >= 0",
    ),
    (lambda: local_sensitivity.curvature_sensitivity(smoothness=-1.0), "smoothness must be a finite number >= 0"),
    (lambda: local_sensitivity.projector_sensitivity(0.0), "gap must be a finite number > 0, got 0.0"),
    *((lambda make=make: make(sigma=0.0), "sigma must be") for make in (line, plane)),
    *((lambda make=make: make(lam=math.nan), "lam must be") for make in (line, plane)),
    *((lambda make=make, y=y: make(labels=y), "labels must be") for make in (line, plane) for y in ((1, 0), (1,))),
    *((lambda x=x: plane(x), "rows must be") for x in ([[1.0, math.inf]] * 2, [1.0] * 2)),
    *((lambda x=x: line(x), "features must be") for x in ([1.0, math.inf], [[1.0], [1.0]])),
    (lambda: line(margin=-1.0), "margin must be"),
    (lambda: line().pair_epsilon(line(), 0.0), "delta must be"),
    (lambda: minimiser_law.sampled_success(plane(), plane(), draws=1), "draws must be"),
    (lambda: minimiser_law.success_allowed(1.0, 1.5), "delta must be"),
    (lambda: populations.LogisticOnSphere(0), "dimension must be a whole number >= 1, got 0"),
    (lambda: populations.LogisticOnSphere(3, -1.0), "radius must be a finite number > 0"),
    (lambda: populations.AbsoluteWithLaplace(3, scale=0.0), "scale must be a finite number > 0"),
    (lambda: populations.LinearHardInstance(3, 1.5), "bias must be a number above 0 and at most 1, got 1.5"),
    (lambda: populations.MeanEstimation(3, 0.5, 0.2), "radius must be at least the bias 0.5, got 0.2"),
    (lambda: populations.LogisticOnSphere(3).sample(0), "n must be a whole number >= 1, got 0"),
]


@pytest.mark.parametrize(("call", "words"), REFUSED)
def test_it_is_refused_in_one_sentence(call, words):
    with pytest.raises(ValueError, match=f"^{words}"):
        call()
