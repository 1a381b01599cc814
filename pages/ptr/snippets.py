# %% gamma
from objpert_core.accounting import PosteriorSampling, posterior_precision, published_posterior_precision

epsilon, delta, leverage = EPSILON, DELTA, LEVERAGE
printed = published_posterior_precision(epsilon, delta, leverage)
exact = posterior_precision(epsilon, delta, leverage)
true_delta = PosteriorSampling(leverage, printed).delta(epsilon) if printed else None
print(printed, exact, true_delta)

# %% line
from objpert_core.experiments.ptr.points import Points

values = VALUES
points = Points(values, people=PEOPLE, bound=BOUND, epsilon=EPSILON, delta=DELTA, published=PUBLISHED)
outcome = points.run(seed=SEED, fallback=FALLBACK)
print(points.global_epsilon, points.local_epsilon, points.own_epsilon)
print(points.distance, points.threshold, points.pass_probability, outcome)

# %% means
from objpert_core.experiments.ptr import stored

found, setting = stored.load(EXPERIMENT), SETTING
means = {method: found.interval(**setting, method=method).mean for method in METHODS}
print(means)

# %% means_free
from objpert_core.experiments.ptr import stored

found, setting = stored.load(EXPERIMENT), SETTING
means = {method: found.interval(**setting, method=method).mean for method in METHODS}
for method in FREE:
    means[method] = found.interval(**setting | {COLUMN: float("inf")}, method=method).mean
print(means)

# %% means_over
from objpert_core.experiments.ptr import stored

found, setting = stored.load(EXPERIMENT), SETTING
means = {
    method: max(
        found.interval(**setting, method=method, lam=one).mean
        for one in found.cells(OVER)
        if found.values(**setting, method=method, lam=one)
    )
    for method in METHODS
}
print(means)

# %% pate
from objpert_core.experiments.ptr.teachers import Proposal, Teachers

teachers = Teachers(first=FIRST, second=SECOND, number=NUMBER, sigma=SIGMA, queries=QUERIES, seed=SEED)
asked = Proposal(teachers, epsilon=EPSILON, test_epsilon=TEST_EPSILON, delta=DELTA)
print(teachers.any_votes, teachers.these_votes, asked.total)
print(asked.distance, asked.threshold, asked.pass_probability)

# %% vote
import numpy as np

from objpert_core.experiments.ptr.ballot import Ballot

ballot = Ballot(EPSILON, DELTA, noise=NOISE)
gap = np.array([GAP])
errors, epsilons = ballot.errors(gap), ballot.epsilons(gap)
print(errors, epsilons, ballot.least_gap)
