"""A budget for releases, each chosen with its noise after seeing those before (docs/theorems.md, T20).

`compose` needs noise levels that are fixed beforehand. A filter refuses what would exceed the budget. Its unit is μ of
Gaussian differential privacy, in which squares add up and nothing is lost against a composition.
"""

from __future__ import annotations

import math
import threading
from fractions import Fraction

from objpert_core._validation import choice, positive
from objpert_core.accounting.gaussian.calibration import calibrate_gaussian
from objpert_core.accounting.gaussian.mechanism import Gaussian
from objpert_core.accounting.mechanisms.base import ADD_REMOVE, ADJACENCIES, Mechanism, a_mechanism
from objpert_core.exceptions import PrivacyBudgetExceededError

_ROUNDING = 2.0**-50  # of a sum of squares and of its root
_PAYING = threading.Lock()  # two threads that ask at once must not both be told that there is room; filters get pickled


class PrivacyOdometer:
    """What the releases so far have cost, in μ.

    The reading is √(Σ μᵢ²), rounded up. The releases are reading-GDP if the noise of all was fixed beforehand, or if
    somebody would have stopped at this very number, whatever was released. Where the releases decide how much is spent,
    no number that depends on them is a level of privacy: fix a budget first, and use `PrivacyFilter`. `adjacency`,
    "add/remove one row" or "replace one row", is that of all releases.

    >>> spent = PrivacyOdometer()
    >>> spent.spend(Gaussian(sigma=5.0))
    >>> spent.spend(Gaussian(sigma=5.0))
    >>> round(spent.reading, 6), round(spent.epsilon(1e-5), 4)
    (0.282843, 1.0608)
    """

    def __init__(self, adjacency: str = ADD_REMOVE) -> None:
        self._adjacency = choice("adjacency", adjacency, ADJACENCIES)
        self._releases: list[tuple[Mechanism, float]] = []

    @property
    def adjacency(self) -> str:
        """Which data sets count as neighbours."""
        return self._adjacency

    @property
    def releases(self) -> tuple[tuple[Mechanism, float], ...]:
        """Every release, with its μ."""
        return tuple(self._releases)

    @property
    def reading(self) -> float:
        """√(Σ μᵢ²), rounded up; 0.0 before the first release."""
        if not self._releases:
            return 0.0
        # Not a sum of squares: these vanish below 1e-162.
        return math.nextafter(math.hypot(*(mu for _, mu in self._releases)) * (1 + _ROUNDING), math.inf)

    def epsilon(self, delta: float) -> float:
        """ε at δ of the Gaussian mechanism of this reading; the class says when the reading is a promise."""
        return 0.0 if self.reading == 0 else float(Gaussian(1.0, self.reading).epsilon(delta))

    def price(self, mechanism: Mechanism) -> float:
        """The μ of a release of `mechanism`; nothing is spent. `ValueError` if it is no mechanism, means other
        neighbours, or no μ is known to cover it."""
        mu = a_mechanism("mechanism", mechanism).mu()
        if mechanism.adjacency != self.adjacency:
            raise ValueError(f"mechanism must be about {self.adjacency!r}, got one about {mechanism.adjacency!r}")
        if not math.isfinite(mu):
            raise ValueError(f"mechanism must have a finite mu(), got {mechanism!r}, for which none is known")
        return mu

    def spend(self, mechanism: Mechanism) -> None:
        """Enter one release of `mechanism`; errors as in `price`."""
        self._releases.append((mechanism, self.price(mechanism)))


class PrivacyFilter(PrivacyOdometer):
    """A budget in μ, fixed beforehand: everything released under it is μ-GDP, however the releases were chosen.

    docs/theorems.md, T20; Koskela, Tobaben and Honkela (2023), Smith and Thakurta (2022). The next mechanism may depend
    on all that was released, and on the data in no other way; call `spend` before releasing. A pickled or copied filter
    is a second budget: keep one for all releases from one data set.

    `mu` > 0 is the budget; `PrivacyFilter.for_target(epsilon, delta)` takes it from (ε, δ).

    >>> budget = PrivacyFilter.for_target(1.0, 1e-5)
    >>> budget.spend(Gaussian(sigma=5.0))
    >>> round(budget.left, 4)
    0.1785
    >>> budget.allows(Gaussian(sigma=5.0))
    False
    """

    def __init__(self, mu: float, adjacency: str = ADD_REMOVE) -> None:
        super().__init__(adjacency)
        self._mu = positive("mu", mu)

    @classmethod
    def for_target(cls, epsilon: float, delta: float, adjacency: str = ADD_REMOVE) -> PrivacyFilter:
        """The filter with the largest budget that is (ε, δ)-DP, for ε > 0 and 0 < δ < 1; `ValueError` for others."""
        ratio = 1 / calibrate_gaussian(positive("epsilon", epsilon), delta).sigma
        return cls(math.nextafter(ratio, 0.0), adjacency)

    @property
    def mu(self) -> float:
        """The budget."""
        return self._mu

    def _fits(self, mu: float) -> bool:
        """Whether the squares add up to no more than the budget's, in exact arithmetic."""
        spent = sum((Fraction(one) ** 2 for _, one in self._releases), Fraction(0))
        return spent + Fraction(mu) ** 2 <= Fraction(self.mu) ** 2

    @property
    def left(self) -> float:
        """√(μ² − Σ μᵢ²), rounded down: the μ of a release that would use up the budget."""
        rest = Fraction(self.mu) ** 2 - sum((Fraction(one) ** 2 for _, one in self._releases), Fraction(0))
        return math.sqrt(rest) * (1 - _ROUNDING)

    def allows(self, mechanism: Mechanism) -> bool:
        """Whether `spend(mechanism)` would be allowed; errors as in `price`."""
        return self._fits(self.price(mechanism))

    def spend(self, mechanism: Mechanism) -> None:
        """Pay for one release of `mechanism`, before it is made; errors as in `price`. `PrivacyBudgetExceededError` if
        the release would exceed the budget: nothing is spent then, and a smaller release may follow."""
        mu = self.price(mechanism)
        with _PAYING:
            if self._fits(mu):
                self._releases.append((mechanism, mu))
                return
        raise PrivacyBudgetExceededError(
            f"mechanism must have a mu() of at most {self.left:.6g}, which is left of {self.mu:.6g}, got {mu:.6g}"
        )
