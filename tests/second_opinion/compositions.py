"""Several releases on the same rows: sums of losses on a lattice, and Gaussian ones in closed form."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.optimize
from scipy.special import erf

from tests.second_opinion.batches import added, fixed, opposed
from tests.second_opinion.case import Case
from tests.second_opinion.definition import Array, Bracket, Definition, Known, Later, Pair, Product, log_integral
from tests.second_opinion.gaussian import REPLACE, half_normal, log_normal, shifted, wide
from tests.second_opinion.objective import log_noise, logistic, monotone, two_signed, with_noise

SMALL = (0.0, 0.01, 0.1, 0.3, 1.0, 3.0)


def symmetric(law: Pair, top: float) -> Pair:
    """The pair of T8: the law's loss above the v from which it and its mirror image have mass one, and that image.

    The loss must rise in v. Right of 0 stands v = threshold + x, left of 0 the same outcomes, as the other side sees
    them.
    """

    def spare(threshold: float) -> float:
        def log_f(v: Array) -> Array:
            return np.where(v > threshold, law.log_p(v) + np.log1p(np.exp(-np.maximum(law.loss(v), 0.0))), -np.inf)

        return log_integral(log_f, (*law.points, threshold))

    threshold = scipy.optimize.brentq(spare, -40.0, top, xtol=1e-14)

    def log_p(x: Array) -> Array:
        v = threshold + np.abs(x)
        return law.log_p(v) - np.where(x < 0, law.loss(v), 0.0)

    def loss(x: Array) -> Array:
        return np.where(x < 0, -1, 1) * law.loss(threshold + np.abs(x))

    beyond = [point - threshold for point in law.points if point > threshold]
    points = np.unique([-1.0, 0.0, 1.0, *beyond, *(-point for point in beyond)])
    return Pair(log_p, loss, tuple(points))


def _case(mechanism: str, note: str, make: Callable[[Any], Any], *definitions: Definition, **other: Any) -> Case:
    other = {"epsilons": SMALL, "looseness": 1e-3, "resolved": 1e-9, "rdp_looseness": 1e-6} | other
    return Case(mechanism, note, make, definitions, **other)


def _compositions() -> Iterator[Case]:
    for sigma, k in ((0.5, 2), (3.0, 10), (40.0, 1000)):
        whole = shifted(math.sqrt(k) / sigma)
        yield _case(
            "repeat", f"Gaussian {sigma:g}, {k} times", lambda on, s=sigma, k=k: on.repeat(on.Gaussian(s), k), whole
        )
    yield _case(
        "compose",
        "two Gaussians, deep",
        lambda on: on.compose(on.Gaussian(0.1), on.Gaussian(4.0, 3.0)),
        shifted(math.hypot(10.0, 0.75)),
        epsilons=(0.0, 50.0, 200.0, 500.0),
    )
    parts = (shifted(0.1), 1), (half_normal(0.3), 2)
    yield _case(
        "Composition",
        "Gaussian and two half-normal ones",
        lambda on: on.compose(on.Gaussian(10.0), on.repeat(on.HalfNormal(1 / 0.3), 2)),
        Product(parts),
        looseness=1.7,  # half-normal noise is composed by its Rényi curve
    )
    yield _case(
        "compose",
        "coins and Gaussian noise",
        lambda on: on.compose(on.DPSGD(0.8, 0.05, 3), on.Gaussian(2.0)),
        *(Product(((one, 3), (shifted(0.5), 1))) for one in added(1.25, 0.05)),
        slow=True,
    )
    yield _case(
        "compose",
        "rows replaced: coins, batches of a fixed size, Gaussian noise",
        lambda on: on.compose(
            on.DPSGD(2.0, 0.1, 5, adjacency=REPLACE),
            on.SampledWithoutReplacement(3.0, 1, 10, 5),
            on.Gaussian(8.0, 2.0, adjacency=REPLACE),
        ),
        Product(((opposed(0.5, 0.1)[0], 5), (fixed(3.0, 1, 10), 5), (shifted(0.25), 1))),
        slow=True,
        rdp_looseness=1.1,  # of large orders, as for coins alone
    )
    fit = logistic(1 / 8, 1 / 10)
    for k in (1, 2, 3, 30):
        yield _case(
            "repeat",
            f"{k} fits by T1's law as it stands",
            lambda on, k=k: on.repeat(on.ObjectivePerturbation(8.0, 10.0), k),
            Product(((fit, k),)),
            slow=True,
        )
    three = ((fit, 1), (monotone(0.2, 0.5), 1), (two_signed(0.1, math.log1p(0.01)), 1))
    yield _case(
        "compose",
        "three bounds on objective perturbation",
        lambda on: on.compose(
            on.ObjectivePerturbation(8.0, 10.0),
            on.ObjectivePerturbation(5.0, 0.5, bound="monotone"),
            on.ObjectivePerturbation(10.0, 25.0, bound="two-signed"),
        ),
        Product(three),
        slow=True,
    )


def two_half_normals(a: float, shift: float) -> Pair:
    """2·shift + a² + a·(|v| + |w|): (|v| + |w|)/√2 has the density 2·φ(x)·2·erf(x/√2) on x > 0."""

    def log_p(x: Array) -> Array:
        return np.where(x > 0, math.log(4) + log_normal(x) + np.log(erf(np.maximum(x, 1e-300) / math.sqrt(2))), -np.inf)

    return Pair(log_p, lambda x: 2 * shift + a * a + a * math.sqrt(2) * x, (0.0, 1.0, 3.0), whole=False)


def two_steps(a: float, q: float) -> tuple[Known, Known]:
    """Two steps by coins, both orders: what the first leaves of ε is asked of normal noise, at another ε."""

    def removed(epsilon: Array) -> Array:
        more = np.expm1(np.minimum(epsilon, 500)) / q
        moved = np.where(epsilon < 500, np.log1p(np.maximum(more, -1)), epsilon - math.log(q))
        return np.where(more > -1, math.log(q) + log_noise(moved, a), np.log(-np.expm1(epsilon)))

    def added_to(epsilon: Array) -> Array:
        log_share = np.log(np.maximum(-np.expm1(epsilon + math.log1p(-q)), 0))
        return np.where(log_share > -np.inf, log_share + log_noise(epsilon + math.log(q) - log_share, a), -np.inf)

    def after(step: Pair, log_profile: Callable[[Array], Array]) -> Known:
        def delta(epsilon: float) -> Bracket:
            found = log_integral(lambda x: step.log_p(x) + log_profile(epsilon - step.loss(x)), step.points)
            return found, found

        return Known(delta, lambda alpha: (2 * step.renyi(alpha)[0], 2 * step.renyi(alpha)[1]))

    first, other = added(a, q)
    return after(first, removed), after(other, added_to)


def _two() -> Iterator[Case]:
    """One of two is normal noise, or both are half-normal: however small δ is, it has all digits."""
    deep = {"epsilons": (0.0, 0.3, 1.0, 2.0, 4.0, 7.0), "looseness": 2e-3, "resolved": 1e-30}
    fit, laws = {"sigma": 5.0, "lam": 2.0}, {"logistic": logistic(0.2, 0.5), "monotone": monotone(0.2, 0.125)}
    laws |= {"glm": two_signed(0.2, -math.log1p(-0.125))}
    for bound, law in laws.items():
        yield _case(
            "compose",
            f"normal noise and a fit, {bound}",
            lambda on, bound=bound: on.compose(on.Gaussian(4.0), on.ObjectivePerturbation(bound=bound, **fit)),
            with_noise(law, 0.25),
            **deep | {"slow": bound != "glm"},
        )
    yield _case(
        "compose",
        "normal noise and approximate minima, whose maximum jumps",
        lambda on: on.compose(on.ApproximateMinima(on.ObjectivePerturbation(0.4, 0.3), 0.05, 1.0), on.Gaussian(2.0)),
        with_noise(logistic(2.5, 1 / 0.3), math.hypot(0.5, 1 / 3)),
        **deep | {"epsilons": (0.0, 1.0, 5.0, 10.0, 20.0), "slow": True},
    )
    yield _case(
        "compose",
        "normal noise and a step by coins",
        lambda on: on.compose(on.DPSGD(1.5, 0.1, 1), on.Gaussian(4.0)),
        *(with_noise(side, 0.25) for side in added(1 / 1.5, 0.1)),
        **deep | {"slow": True},
    )
    for sigma, lam, beta in ((5.0, 2.0, 0.25), (0.8, 3.0, 1.5)):
        yield _case(
            "repeat",
            f"2 fits by Theorem 3.1, sigma {sigma:g}",
            lambda on, given=(sigma, lam, 1.0, beta): on.repeat(on.ObjectivePerturbation(*given, bound="glm"), 2),
            two_half_normals(1 / sigma, -math.log1p(-beta / lam)),
            **deep | {"slow": True},
        )
    for noise, rate in ((1.0, 0.0071), (0.8, 0.3), (2.0, 1e-3), (0.5, 0.02), (5.0, 0.9)):
        yield _case(
            "DPSGD",
            f"noise {noise:g}, rate {rate:g}, two steps, deep",
            lambda on, given=(noise, rate, 2): on.DPSGD(*given),
            *two_steps(1 / noise, rate),
            **deep | {"epsilons": (0.0, 0.03, 0.3, 1.0, 2.0, 4.0, 7.0)},
        )
    glm, fits = laws["glm"], two_half_normals(0.2, -math.log1p(-0.125))
    steps = tuple(Product(((side, 2), (glm, 1))) for side in added(1 / 1.5, 0.1))
    for note, make, definitions, how in (
        ("three fits", lambda on, fit: on.repeat(fit, 3), (Product(((glm, 3),)),), {}),
        (
            "two fits and normal noise",
            lambda on, fit: on.compose(on.repeat(fit, 2), on.Gaussian(4.0)),
            (with_noise(fits, 0.25),),
            deep,
        ),
        ("a fit and two steps by coins", lambda on, fit: on.compose(fit, on.DPSGD(1.5, 0.1, 2)), steps, {}),
    ):
        yield _case(
            "compose",
            f"{note}, by Theorem 3.1",
            lambda on, make=make: make(on, on.ObjectivePerturbation(bound="glm", **fit)),
            *definitions,
            **how,
        )
    loud = two_signed(1.25, -math.log1p(-0.5))
    yield _case(
        "compose",
        "a step by coins beside a loss that is never small: the row that is added decides",
        lambda on: on.compose(on.DPSGD(0.8, 0.3, 1), on.ObjectivePerturbation(0.8, 3.0, 1.0, 1.5, "glm")),
        *(Product(((side, 1), (loud, 1))) for side in added(1.25, 0.3)),
        slow=True,
    )


def _classes() -> Iterator[Case]:
    for sigma, lam, k, w in (
        (20.0, 800.0, 10, 1.0),
        (20.0, 800.0, 10, 1 / 3),
        (0.5, 0.5, 26, 0.2),
        (1e3, 1e7, 100, 1e-3),
    ):
        whole = math.sqrt(1 + (k - 1) * w * w) / sigma
        yield _case(
            "one_vs_rest",
            f"{k} classes, weight {w:g}, sigma {sigma:g}, lam {lam:g}",
            lambda on, given=(sigma, lam, k, w): on.one_vs_rest(on.ObjectivePerturbation(*given[:2]), *given[2:]),
            shifted(whole),
            epsilons=wide(whole)[:-1],
        )
    whole_row, short = logistic(1 / 8, 1 / 10), logistic(0.5 / 8, 0.25 / 10)
    yield _case(
        "one_vs_rest",
        "3 classes, weight 0.5, T1's laws as they stand",
        lambda on: on.one_vs_rest(on.ObjectivePerturbation(8.0, 10.0), 3, 0.5, by_symmetric_pairs=False),
        Product(((whole_row, 1), (short, 2))),
        slow=True,
    )
    yield _case(
        "one_vs_rest",
        "3 classes, weight 0.5, symmetric pairs",
        lambda on: on.one_vs_rest(on.ObjectivePerturbation(8.0, 10.0), 3, 0.5),
        Later(lambda: Product(((symmetric(whole_row, 10.0), 1), (symmetric(short, 10.0), 2)))),
        slow=True,
    )


def _distributions() -> Iterator[Case]:
    options = {"orders": (), "looseness": 1e-3}
    yield _case("DiscretePLD", "Gaussian", lambda on: on.Gaussian(2.0).pld(), shifted(0.5), **options)
    yield _case("DiscretePLD", "small noise", lambda on: on.Gaussian(0.05).pld(), shifted(20.0), **options)
    for index, direction in enumerate(("remove", "add")):
        yield _case(
            "DiscretePLD",
            f"coins, {direction}",
            lambda on, direction=direction: on.DPSGD(1.0, 0.05, 4).pld(direction=direction),
            Product(((added(1.0, 0.05)[index], 4),)),
            **options,
        )
    law = with_noise(logistic(1.0, 2.0), 0.1)
    yield _case(
        "DiscretePLD",
        "approximate minima",
        lambda on: on.ApproximateMinima(on.ObjectivePerturbation(1.0, 0.5), 0.025, 1.0).pld(),
        law,
        **options,
    )


CASES = (*_compositions(), *_two(), *_classes(), *_distributions())
