"""Other neighbours from the same noise: a row that is replaced, and several rows of one person."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from objpert_core._validation import integer_up_to, positive_integer, within
from objpert_core.accounting.dp_sgd.mechanism import DPSGD
from objpert_core.accounting.gaussian.calibration import calibrate_gaussian, log_target
from objpert_core.accounting.gaussian.mechanism import Gaussian, GaussianNoise
from objpert_core.accounting.mechanisms.base import REPLACE_ONE, Mechanism, a_mechanism
from objpert_core.accounting.mechanisms.chain import Chained
from objpert_core.accounting.mechanisms.composition import Composition
from objpert_core.accounting.mechanisms.renyi import ViaRDP
from objpert_core.accounting.mechanisms.symmetrised import Symmetrised
from objpert_core.accounting.mechanisms.tabulated import Tabulated
from objpert_core.accounting.numerics.safe_root import NoRootError, root_within
from objpert_core.accounting.objective.mechanism import ApproximateMinima, ObjectivePerturbation
from objpert_core.accounting.posterior.adaptive_sampling import AdaptiveSampling
from objpert_core.accounting.posterior.mechanism import PosteriorSampling
from objpert_core.accounting.posterior.profile import LARGEST_LEVERAGE
from objpert_core.accounting.selection.mechanism import PrivateSelection

_MOST_ROWS = 1000  # a chain that long takes seconds
_TOLERANCE = 0.02  # of log δ: a thousandth of the noise or so
Calibrated = TypeVar("Calibrated", bound=Mechanism)


def replace_one(mechanism: Mechanism) -> Mechanism:
    """The same mechanism where neighbours differ in one row that is replaced: removed, and another row added.

    Its δ is min over t of δ(t) + e^t·δ(ε − t), with t over all real numbers, or less where more is known: Gaussian
    noise gets twice the sensitivity (no value can move farther; a sum does, if rows can move it both ways), objective
    perturbation T17, DP-SGD the exact pair of its steps, a composition that of its parts (docs/theorems.md, T17 to
    T19). Where more is known of the value, the cost may be lower: the sensitivity of output perturbation is (2R +
    2τ)/λ, not 2(R + 2τ)/λ (T10). A mechanism about replaced rows is returned as it is. `ValueError` for what is no
    mechanism, and for a posterior draw whose leverage is above 1.618 (T38).

    >>> from objpert_core.accounting import Gaussian
    >>> replace_one(Gaussian(sigma=4.0)) == Gaussian(sigma=4.0, sensitivity=2.0, adjacency="replace one row")
    True
    """
    one = a_mechanism("mechanism", mechanism)
    if one.adjacency == REPLACE_ONE:
        return one
    if isinstance(one, GaussianNoise):
        return replace(one, sensitivity=2 * one.sensitivity, adjacency=REPLACE_ONE)
    if isinstance(one, (ObjectivePerturbation, DPSGD, AdaptiveSampling)):
        return replace(one, adjacency=REPLACE_ONE)
    if isinstance(one, ApproximateMinima):
        return replace(one, objective=replace(one.objective, adjacency=REPLACE_ONE))
    if isinstance(one, Composition):
        return Composition(tuple((replace_one(part), count) for part, count in one.parts))
    if isinstance(one, (ViaRDP, Symmetrised, Tabulated, PrivateSelection)):  # T11 holds for any two data sets
        return replace(one, base=replace_one(one.base))
    if isinstance(one, Chained):
        return Chained(one.base, 2 * one.length, adjacency=REPLACE_ONE)
    return _chained(one, 2, REPLACE_ONE)


def group(mechanism: Mechanism, size: int) -> Mechanism:
    """The same mechanism where neighbours differ in up to `size` rows of one person.

    docs/theorems.md, T18 and T19; Dong, Roth and Su (2022, arXiv 1905.02383, Theorem 2.14) for trade-off functions. Its
    δ is min over ε₁ + … + ε_k = ε of Σ e^{ε₁ + … + ε_{i−1}}·δ(ε_i), the best that follows from the profile alone, or
    less where more is known: Gaussian noise gets `size` times the sensitivity, DP-SGD the exact pair of its steps, a
    composition that of its parts. `ValueError` if `size` is above 1000 where the mechanism is not as private as
    Gaussian noise, whose rows add up in closed form. Also for a posterior draw whose leverage is above 1.618 (T38); the
    draw's numbers must be the largest that any of these data sets gives.

    Parameters
    ----------
    size : int >= 1
        The largest number of rows that one person has; all are added, removed or, if that is what `mechanism` is about,
        replaced together.

    Examples
    --------
    >>> from objpert_core.accounting import Gaussian
    >>> group(Gaussian(sigma=9.0), 3).epsilon(1e-5) == Gaussian(sigma=3.0).epsilon(1e-5)
    True
    """
    one, k = a_mechanism("mechanism", mechanism), positive_integer("size", size)
    if k == 1:
        return one
    if isinstance(one, GaussianNoise):
        return replace(one, sensitivity=k * one.sensitivity)
    if one.gaussian_ratio is None and not isinstance(one, Composition):  # which is asked part by part
        integer_up_to("size", k, _MOST_ROWS)
    if isinstance(one, DPSGD):
        return replace(one, group_size=k * one.group_size)
    if isinstance(one, Composition):
        return Composition(tuple((group(part, k), count) for part, count in one.parts))
    if isinstance(one, (ViaRDP, Symmetrised, Tabulated, PrivateSelection)):
        return replace(one, base=group(one.base, k))
    if isinstance(one, Chained):
        return replace(one, length=k * one.length)
    if isinstance(one, AdaptiveSampling) and one.mean_runs > 1:  # T11 holds for any two data sets
        return PrivateSelection(group(one.single, k), one.mean_runs, 1)
    if isinstance(one, (ObjectivePerturbation, ApproximateMinima, AdaptiveSampling)) and one.links is not None:
        return replace(one.links, length=2 * k)
    return _chained(one, k, one.adjacency)


def calibrate_group(make: Callable[[float], Calibrated], epsilon: float, delta: float, size: int) -> Calibrated:
    """One row's mechanism ``make(ε')`` at nearly the largest ε' for which ``group(make(ε'), size)`` is (ε, δ)-DP.

    `make(ε')` has to be more private the less ε' is. `ValueError` where no ε' is small enough.
    """
    if size == 1:
        return make(epsilon)
    known: dict[float, Calibrated] = {}

    def gap(log_sigma: float) -> float:
        known[log_sigma] = make(float(Gaussian(math.exp(log_sigma)).epsilon(delta)))
        return max(float(group(known[log_sigma], size).log_delta(epsilon)) - log_target(delta), -50.0)

    start = math.log(size * calibrate_gaussian(epsilon, delta).sigma)
    try:
        return known[root_within(gap, start, 2 * math.log(delta), _TOLERANCE)[0]]
    except NoRootError:
        raise ValueError(
            f"rows_per_person must be smaller for epsilon={epsilon:g} and delta={delta:g}, got {size!r}"
        ) from None


def _chained(one: Mechanism, length: int, adjacency: str) -> Chained:
    """The chain; a posterior draw stands for the draw at every row along it: its leverage must cover smaller ones."""
    if isinstance(one, PosteriorSampling):
        within("leverage", one.leverage, 1e-100, LARGEST_LEVERAGE)
    return Chained(one, length, adjacency=adjacency)
