"""Several releases of the same kind, by sums of their losses on a lattice, and pairs that are alike both ways."""

from __future__ import annotations

import math
from typing import Any

from tests.second_opinion.case import EPSILONS, NEAR_ONE, Case
from tests.second_opinion.compositions import symmetric
from tests.second_opinion.definition import Array, Definition, Known, Later, Pair, Product
from tests.second_opinion.gaussian import REPLACE, log_normal, shifted
from tests.second_opinion.objective import logistic, with_noise
from tests.second_opinion.wishart import ADD_REMOVE, one_row


def draws(h: float, shift: float) -> tuple[Pair, Pair]:
    """A posterior draw without the row against one with it, and the other way; both as functions of a normal v."""
    root, near = math.sqrt(shift), (-8.0, -3.0, 0.0, 3.0, 8.0)

    def loss(u: Array) -> Array:
        return (u * u - shift / (1 + h) - math.log1p(h)) / 2

    return (
        Pair(log_normal, lambda v: loss(root + math.sqrt(h) * v), near),
        Pair(log_normal, lambda v: -loss(root / (1 + h) + math.sqrt(h / (1 + h)) * v), near),
    )


def _draws(h: float, shift: float, count: int) -> Case:
    return Case(
        "repeat",
        f"{count} draws at leverage {h:g} and shift {shift:g}",
        lambda accounting: accounting.repeat(accounting.PosteriorSampling(h, shift), count),
        tuple(Product(((side, count),)) for side in draws(h, shift)),
        epsilons=(0.0, 0.3, 1.0, 3.0),
        orders=(*NEAR_ONE, 1.5, 2.0, 1 + 0.9 / h),
        looseness=5e-3,
        rdp_looseness=1e-6,
        resolved=1e-8,
    )


def _bends(s: float, m: int, d: int, count: int, slow: bool = False) -> Case:
    sides = one_row(s, (m - d - 1) / 2)
    return Case(
        "repeat",
        f"{count} bends, s {s:g}, m {m}, d {d}",
        lambda accounting: accounting.repeat(
            accounting.QuadraticPerturbation(1.0, m, d, s, adjacency=ADD_REMOVE), count
        ),
        tuple(Product(((side, count),)) for side in sides),
        epsilons=(0.0, 0.3, 1.0, 3.0),
        orders=(),
        looseness=5e-3,
        resolved=1e-8,
        slow=slow,
    )


def _alike(sigma: float, lam: float, count: int, slow: bool = False) -> Case:
    """From λ = 2σ² on the pair is that of normal noise; below nothing is smaller than that."""
    a, tight = 1 / sigma, lam >= 2 * sigma**2
    one: Definition = shifted(a * math.sqrt(count))
    if not tight:
        whole = one
        one = Known(lambda epsilon: (whole.log_delta(epsilon)[0], 0.0), lambda alpha: (whole.renyi(alpha)[0], math.inf))
    return Case(
        "Symmetrised" if count == 1 else "symmetrised",
        f"{count} times, sigma {sigma:g}, lambda {lam:g}",
        lambda accounting: _repeated(accounting, sigma, lam, count),
        (one,),
        epsilons=EPSILONS[:4],
        orders=(*NEAR_ONE, 2.0, 8.0),
        looseness=5e-3 if tight else None,
        rdp_looseness=1e-6 if tight else None,
        resolved=1e-8,
        slow=slow,
    )


def _behind_sums(center: float, scale: float, sigma: float, lam: float | None = None) -> Case:
    """A sum of directions, a sum of sizes and a fit, by default at λ = 2σ²: there three Gaussian ratios add up."""
    sums = math.hypot(1 / center, 1 / scale)
    law = (
        shifted(math.hypot(sums, 1 / sigma))
        if lam is None
        else Later(lambda: with_noise(symmetric(logistic(1 / sigma, 1 / lam), 10.0), sums))
    )
    return Case(
        "composed_fit",
        f"sums with noise {center:g} and {scale:g}, sigma {sigma:g}" + ("" if lam is None else f", lambda {lam:g}"),
        lambda accounting: accounting.composed_fit(
            accounting.ObjectivePerturbation(sigma, lam or 2 * sigma**2),
            accounting.Standardisation(center, scale).mechanisms(),
        ),
        (law,),
        epsilons=EPSILONS[:4],
        orders=(*NEAR_ONE, 2.0, 8.0),
        looseness=5e-3,
        rdp_looseness=1e-6,
        resolved=1e-8,
        slow=sigma > 100,
    )


def _behind_histograms(columns: int, first: float | None, second: float, sigma: float) -> Case:
    """Two histograms of so many columns, or one, in each of which a row is counted once, both sums, and a fit."""
    parts = (*(math.sqrt(columns) / noise for noise in (first, second) if noise), 1 / 50, 1 / 60, 1 / sigma)
    return Case(
        "composed_fit",
        f"histograms of {columns} columns with noise {first} and {second:g}, sums, sigma {sigma:g}",
        lambda accounting: accounting.composed_fit(
            accounting.ObjectivePerturbation(sigma, 2 * sigma**2),
            (
                *accounting.RangeNoise(first, second, columns).mechanisms(),
                *accounting.Standardisation(50.0, 60.0).mechanisms(),
            ),
        ),
        (shifted(math.hypot(*parts)),),
        epsilons=EPSILONS[:4],
        orders=(*NEAR_ONE, 2.0, 8.0),
        looseness=5e-3,
        rdp_looseness=1e-6,
        resolved=1e-8,
    )


def _behind_pieces(
    columns: tuple[int, int, int],
    noises: tuple[float | None, float | None, float | None],
    sigma: float,
    classes: int = 1,
    rest: float = 1.0,
    **whom: Any,
) -> Case:
    """Counts by magnitude, by cell and by category, in each of whose columns a row is counted once, and a fit for each
    of several classes; where a row is replaced both of its counts move, and the fit by twice as much.
    """
    replaced, rows = "adjacency" in whom, whom.get("rows_per_person", 1)
    counts = (
        math.sqrt(size * (2 if replaced else 1)) / noise for size, noise in zip(columns, noises, strict=True) if noise
    )
    fits = (2 if replaced else 1) / sigma * math.sqrt(1 + (classes - 1) * rest**2)
    told = f"{classes} fits, rest {rest:g}, {'replaced, ' * replaced}{rows} rows of one person"

    def make(accounting: Any) -> Any:
        noise = accounting.PieceNoise(*noises, *columns)
        adjacency = {name: value for name, value in whom.items() if name == "adjacency"}
        fit = accounting.ObjectivePerturbation(sigma, 2 * sigma**2, **adjacency)
        how = {"copies": classes, "rest_weight": rest, "rows_per_person": rows}
        return accounting.composed_fit(fit, noise.mechanisms(**adjacency), **how)

    return Case(
        "composed_fit",
        f"counts of {columns} columns with noise {noises}, sigma {sigma:g}, {told}",
        make,
        (shifted(rows * math.hypot(fits, *counts)),),
        epsilons=EPSILONS[:4],
        orders=(*NEAR_ONE, 2.0, 8.0),
        looseness=5e-3,
        rdp_looseness=1e-6,
        resolved=1e-8,
    )


def _repeated(accounting: Any, sigma: float, lam: float, count: int) -> Any:
    fit = accounting.symmetrised(accounting.ObjectivePerturbation(sigma, lam))
    return fit if count == 1 else accounting.repeat(fit, count)


CASES = (
    _behind_sums(20.0, 30.0, 8.0),
    _behind_sums(0.5, 2.0, 0.3),
    *(_behind_sums(8.0, 5.0, 3.0, lam) for lam in (0.05, 0.5, 30.0)),
    _behind_sums(1e4, 3e3, 1e3),
    _behind_histograms(1, 40.0, 20.0, 8.0),
    _behind_histograms(12, 60.0, 35.0, 4.0),
    _behind_histograms(7, None, 35.0, 4.0),
    _behind_pieces((4, 9, 5), (40.0, 20.0, 60.0), 4.0),
    _behind_pieces((0, 3, 0), (None, 9.0, None), 2.0),
    _behind_pieces((0, 0, 8), (None, None, 40.0), 8.0, adjacency=REPLACE),
    _behind_pieces((2, 6, 8), (60.0, 30.0, 80.0), 8.0, classes=3, rest=0.5),
    _behind_pieces((1, 2, 1), (40.0, 30.0, 40.0), 8.0, rows_per_person=3),
    _draws(0.3, 2.0, 3),
    _draws(0.02, 0.1, 20),
    _bends(1.0, 9, 4, 2),
    _bends(0.1, 40, 10, 5, slow=True),
    _alike(8.0, 128.0, 1),
    _alike(8.0, 128.0, 100),
    _alike(0.5, 0.5, 3),
    _alike(2.0, 0.5, 1),
    _alike(2.0, 0.5, 10, slow=True),
    _alike(5.0, 1e-6, 4, slow=True),
)
