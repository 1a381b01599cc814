"""Python that gives the numbers on the page "Ask the data first"; tests execute it."""

from __future__ import annotations

from objpert_core.experiments.ptr.teachers import Proposal
from pages.ptr.gamma import Draw
from pages.ptr.line import Shown
from pages.ptr.stored_numbers import Curve, Look
from pages.ptr.vote import Shown as Voted

STORED = "In a checkout these lines print the stored means; the file names its command, seeds and commit."


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


def stored(look: Look, at: float, shown: tuple[Curve, ...]) -> str:
    """Stored means at one place; defines ``means``."""
    setting = dict(look.setting) | {look.column: int(at) if at == int(at) and look.column in _WHOLE else at}
    free = [curve.method for curve in shown if curve.free]
    listed = tuple(curve.method for curve in shown if not curve.free)
    told = f"""from objpert_core.experiments.ptr import stored

found, setting = stored.load({look.name!r}), {setting!r}
"""
    if look.over:
        return f"""{told}means = {{
    method: max(
        found.interval(**setting, method=method, {look.over}=one).mean
        for one in found.cells({look.over!r})
        if found.values(**setting, method=method, {look.over}=one)
    )
    for method in {listed!r}
}}
print(means)
"""
    told += f"means = {{method: found.interval(**setting, method=method).mean for method in {listed!r}}}\n"
    if free:
        told += f"for method in {tuple(free)!r}:\n"
        told += (
            f'    means[method] = found.interval(**setting | {{{look.column!r}: float("inf")}}, method=method).mean\n'
        )
    return told + "print(means)\n"


_WHOLE = ("n", "gap")


def pate(asked: Proposal) -> str:
    """Labels by many teachers; defines ``teachers`` and ``asked``."""
    told = ", ".join(f"{key}={value!r}" for key, value in vars(asked.teachers).items() if key in _VOTES)
    return f"""from objpert_core.experiments.ptr.teachers import Proposal, Teachers

teachers = Teachers({told})
asked = Proposal(teachers, epsilon={asked.epsilon!r}, test_epsilon={asked.test_epsilon!r}, delta={asked.delta!r})
print(teachers.any_votes, teachers.these_votes, asked.total)
print(asked.distance, asked.threshold, asked.pass_probability)
"""


_VOTES = ("first", "second", "number", "sigma", "queries", "seed")
