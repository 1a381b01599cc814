"""Exact random whole numbers: two-sided geometric noise, and the number of tries until the first success."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

from objpert_core._validation import in_open_unit, positive, rate
from objpert_core.learning.noise import NoiseSource, Unfolding, with_digits
from objpert_core.learning.sampling import selected

_SLACK = 1 + 2.0**-45


def two_sided_geometric(source: NoiseSource, decay: float) -> int:
    """Draw a whole k with a probability proportional to e^{−decay·|k|}: the difference of two geometric ones."""
    per_step = Decimal(positive("decay", decay))
    return _geometric(source, per_step) - _geometric(source, per_step)


def _geometric(source: NoiseSource, decay: Decimal) -> int:
    uniform, digits = Unfolding(0, 0, source.read), 40
    while True:
        uniform.unfold()
        with with_digits(digits):
            slack = Decimal(10) ** (20 - digits)
            low, high = uniform.bounds()
            if low > 0:
                most, least = -low.ln() / decay * (1 + slack), -high.ln() / decay * (1 - slack)
                if (found := int(least)) == int(most):
                    return found
        digits += 40


def tail_point(decay: float, failure: float) -> int:
    """The least k >= 1 that two-sided geometric noise reaches with a probability of at most `failure`, rounded up."""
    per_step, log_failure = positive("decay", decay), math.log(in_open_unit("failure", failure))
    log_least = (-log_failure - math.log1p(math.exp(-per_step))) / per_step
    return max(1, math.ceil(log_least * (_SLACK if log_least > 0 else 1.0)))


def decay_of(epsilon: float, sensitivity: int) -> float:
    """The largest double `decay` with decay·sensitivity <= ε, or the next one below it."""
    decay = epsilon / sensitivity
    while Fraction(decay) * sensitivity > Fraction(epsilon):
        decay = math.nextafter(decay, 0.0)
    return decay


def first_success(source: NoiseSource, probability: float) -> int:
    """Draw the number of tries, 1 or more, until the first success, where each succeeds with that `probability`."""
    chance = rate("probability", probability)
    tries = min(math.ceil(4 / chance), 2**40)
    failed = 0
    while not (successes := selected(source, tries, chance)).size:
        failed += tries
    return failed + int(successes[0]) + 1
