"""Gradients with 60 digits, of the rows as their factors make them, which are exact doubles."""

from fractions import Fraction

import mpmath


def exact_gradient(X, targets, rows, theta, lam, slope, times=1):
    """Without the linear term; `slope` takes score and target, and each row stands there so many times."""
    with mpmath.workdps(60):
        total = [mpmath.mpf(lam) * mpmath.mpf(float(value)) for value in theta]
        for x, factor, target in zip(X, rows.factors[::times], targets, strict=True):
            row = [Fraction(float(value)) * Fraction(float(factor)) for value in x]
            row += [Fraction(rows.constant)] * (rows.constant > 0)
            row = [mpmath.mpf(value.numerator) / value.denominator for value in row]
            score = mpmath.fsum(a * mpmath.mpf(float(b)) for a, b in zip(row, theta, strict=True))
            pull = times * slope(score, mpmath.mpf(float(target)))
            total = [sum_ + pull * a for sum_, a in zip(total, row, strict=True)]
        return total


def exact_norm(gradient, b):
    """The norm of a gradient with this linear term."""
    with mpmath.workdps(60):
        return mpmath.sqrt(mpmath.fsum((a + mpmath.mpf(float(c))) ** 2 for a, c in zip(gradient, b, strict=True)))
