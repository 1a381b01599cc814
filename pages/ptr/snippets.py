"""Python that gives the numbers on the page "Ask the data first"; tests execute it."""

from __future__ import annotations

from pages.ptr.gamma import Draw
from pages.ptr.line import Shown
from pages.ptr.vote import Shown as Voted


def points(shown: Shown) -> str:
    """The first picture; defines ``points`` and ``outcome``."""
    data = shown.points
    told = f"people={data.people}, bound={data.bound!r}, epsilon={data.epsilon!r}, delta={data.delta!r}"
    return f"""from objpert_core.experiments.ptr.points import Points

values = {data.values!r}
points = Points(values, {told}, published={data.published!r})
outcome = points.run(seed={shown.seed}, fallback={shown.fallback})
print(points.global_epsilon, points.local_epsilon, points.own_epsilon)
print(points.distance, points.threshold, points.pass_probability, outcome)
"""


def gamma(draw: Draw) -> str:
    """One posterior draw; defines ``printed``, ``exact`` and ``true_delta``."""
    return f"""from objpert_core.accounting import PosteriorSampling, posterior_precision, published_posterior_precision

epsilon, delta, leverage = {draw.epsilon!r}, {draw.delta!r}, {draw.leverage!r}
printed = published_posterior_precision(epsilon, delta, leverage)
exact = posterior_precision(epsilon, delta, leverage)
true_delta = PosteriorSampling(leverage, printed).delta(epsilon) if printed else None
print(printed, exact, true_delta)
"""


def vote(shown: Voted) -> str:
    """Four votes at one gap; defines ``errors`` and ``epsilons``."""
    ballot = shown.ballot
    return f"""import numpy as np

from objpert_core.experiments.ptr.ballot import Ballot

ballot = Ballot({ballot.epsilon!r}, {ballot.delta!r}, noise={ballot.noise!r})
gap = np.array([{shown.gap}])
errors, epsilons = ballot.errors(gap), ballot.epsilons(gap)
print(errors, epsilons, ballot.least_gap)
"""
