"""Quadratic objective perturbation: bend the objective by a random quadratic form instead of tilting it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial

import numpy as np

from objpert_core._validation import FloatArray, between, check_fields, choice, nonnegative, positive_integer
from objpert_core.accounting.laws.base import Steps
from objpert_core.accounting.laws.discrete import DiscreteLoss
from objpert_core.accounting.mechanisms.base import ADD_REMOVE, REPLACE_ONE, Mechanism, check_adjacency
from objpert_core.accounting.numerics import chain
from objpert_core.accounting.numerics.search import smallest_epsilon
from objpert_core.accounting.quadratic import wishart, wishart_glm
from objpert_core.accounting.quadratic.law import bend_loss
from objpert_core.accounting.quadratic.wishart_published import Published

QUADRATIC_BOUNDS = ("exact", "glm", "sharpened", "published")
"""Proofs for quadratic objective perturbation; see `QuadraticPerturbation`."""
_DENSITY = 2  # of the points from which a pair for composition is made
_FARTHEST = 1e9  # ε beyond is not looked for
_ROUNDS = 60
_ORDER = 1e-13  # of log δ: sums over many ε at once may round in another order than over one
_COARSE = np.linspace(0.0, 1.0, 17)
_CLOSE = 1e-9  # of log δ, where a search for ε ends; then ε is moved to the safe side


def _interpolated(gap: FloatArray, epsilon: FloatArray) -> float:
    """ε where the gap is 0, by the polynomial of ε in the gap through up to four points (Lagrange)."""
    total = 0.0
    for i, one in enumerate(gap):
        rest = np.delete(gap, i)
        total += float(epsilon[i] * np.prod(rest / (rest - one)))
    return total


@dataclass(frozen=True)
class QuadraticPerturbation(Mechanism):
    """Quadratic objective perturbation: add σ²/2·(θ − θ*)ᵀW(θ − θ*) with W ~ Wishart_d(m), and release the minimiser.

    Every loss must be least at the anchor θ*, whatever the record (interpolation). For a squared loss the minimiser is
    then a function of XᵀX + σ²W alone, and bound "exact" gives the privacy of releasing that matrix: of every
    regulariser, constraint and solver at once. No Rényi divergence is finite: with probability `floor` a release is one
    that is impossible without the row, so that `rdp` is infinite. Compositions are of the losses of the worst row, or
    of the pair of the profile. `ValueError` if no theorem covers the combination.

    Parameters
    ----------
    scale : float from 1e-100 to 1e100
        σ².
    degrees_of_freedom, dimension : int
        m >= d + 1, and d >= 1, the length of θ.
    smoothness : float from 1e-100 to 1e100
        L: no loss curves more; for the squared loss the largest ‖x‖².
    adjacency : {"replace one row", "add/remove one row"}
    bound : {"exact", "glm", "sharpened", "published"}
        "exact": squared loss; attained by the worst rows (T31). "glm": any convex smooth loss of xᵀθ, add/remove only
        (T32). "published": Theorem 3.1 of Cortild and Cartis (2026) as printed; "sharpened": the same with what its
        proof gives away taken back, and mended where it is not exact (T33). Both are for any L-smooth convex loss.
    rank : int >= 1
        ρ, the largest rank of a loss's Hessian; 1 for losses of xᵀθ. Used by the last two bounds.
    tolerance : float >= 0
        τ, by which the solver's objective may exceed the least value. "exact" and "glm" need none: the first holds for
        whatever is computed from the noisy matrix, the second is about the exact minimiser.
    anchor_error, sigma_out : float >= 0
        η, how far the anchor may be from θ*, and the standard deviation of normal noise on the release, which τ > 0 and
        η > 0 need.

    Examples
    --------
    >>> bend = QuadraticPerturbation(scale=1.0, degrees_of_freedom=9, dimension=4, adjacency="add/remove one row")
    >>> round(bend.delta(0.3), 5)
    0.08278
    """

    scale: float
    degrees_of_freedom: int
    dimension: int
    smoothness: float = 1.0
    adjacency: str = REPLACE_ONE
    bound: str = "exact"
    rank: int = field(default=1, kw_only=True)
    tolerance: float = field(default=0.0, kw_only=True)
    anchor_error: float = field(default=0.0, kw_only=True)
    sigma_out: float = field(default=0.0, kw_only=True)

    def __post_init__(self) -> None:
        check_fields(self, between(1e-100, 1e100), "scale", "smoothness")
        check_fields(self, positive_integer, "degrees_of_freedom", "dimension", "rank")
        check_fields(self, nonnegative, "tolerance", "anchor_error", "sigma_out")
        if self.degrees_of_freedom < self.dimension + 1:
            raise ValueError(
                f"degrees_of_freedom must be at least dimension + 1 = {self.dimension + 1}, "
                f"got {self.degrees_of_freedom!r}"
            )
        choice("bound", self.bound, QUADRATIC_BOUNDS)
        check_adjacency(self)
        if self.bound == "glm" and self.adjacency != ADD_REMOVE:
            raise ValueError(
                f"adjacency must be {ADD_REMOVE!r} for bound 'glm', got {self.adjacency!r}: for replaced rows only the "
                "squared loss has a proof (bound 'exact')"
            )
        if self._inexact and self.bound in ("exact", "glm"):
            raise ValueError(
                f"tolerance, anchor_error and sigma_out must be 0 for bound {self.bound!r}, got "
                f"{self.tolerance!r}, {self.anchor_error!r} and {self.sigma_out!r}"
            )
        if (self.tolerance or self.anchor_error) and not self.sigma_out:
            raise ValueError(
                f"sigma_out must be a number > 0 where tolerance = {self.tolerance!r} or "
                f"anchor_error = {self.anchor_error!r} is not 0, got {self.sigma_out!r}"
            )
        if self.bound in ("exact", "glm"):
            object.__setattr__(self, "rank", 1)  # of no meaning: equal mechanisms compare equal

    @property
    def _inexact(self) -> bool:
        return bool(self.tolerance or self.anchor_error or self.sigma_out)

    @property
    def shift(self) -> float:
        """s = L/σ²: how far one row moves the χ² variable."""
        return self.smoothness / self.scale

    @property
    def k(self) -> float:
        """(m − d − 1)/2, the power of the determinant in the Wishart density."""
        return (self.degrees_of_freedom - self.dimension - 1) / 2

    @property
    def floor(self) -> float:
        """P[χ²_{m−d+1} <= s], rounded up: no ε has a smaller δ under "exact" and "glm"."""
        return float(np.exp(wishart.log_floor(np.array([self.shift]), np.array([self.k]))[0]) * (1 + wishart.SLACK))

    @property
    def has_rdp(self) -> bool:
        """False: `rdp` is infinite at every order."""
        return False

    def no_rdp(self) -> str:
        return self.explain() or (
            "no Rényi divergence of quadratic objective perturbation is finite: a row that is added makes releases "
            f"possible that were not, with probability {self.floor:.3g}"
        )

    def _rdp(self, alpha: FloatArray) -> FloatArray:
        return np.full(alpha.shape, np.inf)

    # --- the profile ---------------------------------------------------------------------------------------------

    @cached_property
    def signed_profiles(self) -> tuple[Callable[[FloatArray], FloatArray], ...]:
        """log δ at any real ε, for each pair of data sets that may be the worst."""
        s, k = np.array([self.shift]), np.array([self.k])
        if self.bound == "glm":
            pairs = wishart_glm.log_delta_removed, wishart_glm.log_delta_added
            return tuple(partial(log_delta, s=self.shift, k=self.k) for log_delta in pairs)
        if self.bound == "exact":
            one_row = partial(wishart.log_delta_removed, s=s, k=k), partial(wishart.log_delta_added, s=s, k=k)
            if self.adjacency == ADD_REMOVE or self.dimension == 1:
                return one_row
            return (*one_row, partial(wishart.log_delta_swapped, s=s, k=k))
        return (partial(chain.at_any_epsilon, self._published.log_delta),)

    @cached_property
    def _published(self) -> Published:
        return Published(
            scale=self.scale,
            degrees_of_freedom=self.degrees_of_freedom,
            dimension=self.dimension,
            smoothness=self.smoothness,
            rank=self.rank,
            sharpened=self.bound == "sharpened",
            tolerance=self.tolerance,
            anchor_error=self.anchor_error,
            sigma_out=self.sigma_out,
        )

    def _log_delta(self, epsilon: FloatArray) -> FloatArray:
        return np.max([profile(epsilon) for profile in self.signed_profiles], axis=0)

    def _epsilon(self, log_delta: FloatArray) -> FloatArray:
        result = np.full(log_delta.shape, np.inf)
        floor = (
            wishart.log_floor(np.array([self.shift]), np.array([self.k])) if self.bound in ("exact", "glm") else -np.inf
        )
        within_reach = log_delta > floor
        if within_reach.any():
            result[within_reach] = self._finite_epsilon(log_delta[within_reach])
        return result

    def _finite_epsilon(self, log_delta: FloatArray) -> FloatArray:
        if self.bound != "exact" or len(self.signed_profiles) < 3:
            return smallest_epsilon(self._log_delta, log_delta)
        return np.array([self._root(float(target) - _ORDER) for target in log_delta])

    def _root(self, target: float) -> float:
        """The ε of one log δ: a coarse look at where it must be, two interpolations, and a step to the safe side."""
        a = self.shift / math.sqrt(2 * self.k + 2)  # nearly a Gaussian mechanism of this ratio where k is large
        grid = (1.3 + 0.4 * a) * (a * a / 2 + a * math.sqrt(-2 * target)) * _COARSE
        while not (value := self._log_delta(grid))[-1] <= target:
            grid = 2 * grid
            if not grid[-1] < _FARTHEST:
                return math.inf
        place = int(np.argmax(value <= target))
        if place == 0:
            return 0.0
        near = slice(max(place - 2, 0), place + 2)
        found = _interpolated(value[near] - target, grid[near])
        low, high = float(grid[place - 1]), float(grid[place])
        step = 1e-4 * (high - low)
        for _ in range(_ROUNDS):
            if not low < found < high:  # where one pair of rows takes over from another
                found = 0.5 * (low + high)
            tried = np.clip(found + step * np.array([-1.0, 0.0, 1.0]), low, high)
            gap = self._log_delta(tried) - target
            low, high = max([low, *tried[gap > 0].tolist()]), min([high, *tried[gap <= 0].tolist()])
            if high - low <= _CLOSE * high:
                break
            found = _interpolated(gap, tried) if np.unique(gap).size == 3 else math.nan
            step = _CLOSE / 4 * high
        return high

    # --- compositions --------------------------------------------------------------------------------------------

    @cached_property
    def _pair(self) -> DiscreteLoss:
        """The symmetric pair of the profile, its chords in place of its curve: no δ is smaller."""
        return DiscreteLoss(*chain.atoms(*chain.polygon(self._log_delta, _DENSITY)))

    def losses(self, direction: str = "remove") -> Steps | None:
        """The loss of one direction where the worst row's is known; otherwise the discretised pair of the profile."""
        if self.bound == "exact" and self.adjacency == ADD_REMOVE:
            return ((bend_loss(self.shift, self.k, direction), 1),)
        return None if self.explain() is not None else ((self._pair, 1),)

    def explain(self, epsilon: float | None = None) -> str | None:
        if self.bound in ("sharpened", "published") and (reason := self._published.explain()) is not None:
            return reason
        return super().explain(epsilon)
