"""Composition through the tightest symmetric dominating pair: k fits cost like √k, not like k.

The law ω of a bound dominates both directions of the adjacency, and a loss that is never negative adds up like k·E[ω].
But a profile δ(ε) that holds for both directions at every ε >= 0 bounds δ at every ε < 0 as well (Zhu, Dong and Wang
2022), by H_{e^ε}(P‖Q) = 1 − e^ε + e^ε·H_{e^{−ε}}(Q‖P). The largest convex function of e^ε below both is the profile of
a symmetric pair (`SymmetricLoss`), and dominating pairs compose. For the logistic loss and λ >= 2σ² that pair is the
Gaussian mechanism's (docs/theorems.md, T8).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import logsumexp

from objpert_core._validation import FloatArray
from objpert_core.accounting.convolution.discretise import quadrature
from objpert_core.accounting.laws.base import PrivacyLoss, Steps, SymmetricLoss
from objpert_core.accounting.laws.simple import PrivacyLossLaw
from objpert_core.accounting.mechanisms.base import Mechanism, View, a_mechanism
from objpert_core.accounting.mechanisms.composition import ByConvolution

_HIGH = 13.0  # P[V > 13] ≈ 6e-39
_BISECTIONS = 80
_MASS_MARGIN = 1e-10  # far above the error of the quadrature; a little more mass than 1 is on the safe side
_NO_BREAKS = np.empty(0)
_GENTLE = 8.0  # of (α − 1)·a up to which the moments are summed directly


def _mass_from(law: PrivacyLossLaw, start: float) -> float:
    """∫ over v >= start of (1 + e^{−ω}) dP: what the part above and its mirror image weigh together."""
    log_weight, omega = quadrature(law, start, _HIGH, _NO_BREAKS)
    return float(np.exp(log_weight) @ (1 + np.exp(-omega)))


@lru_cache(maxsize=256)
def symmetric(law: PrivacyLossLaw) -> SymmetricLoss:
    """The tightest symmetric loss above a law that dominates both directions."""
    low, high = law.lowest(), _HIGH
    if law.loss(np.array([low]))[0] <= 0:  # first find where the loss becomes positive
        for _ in range(_BISECTIONS):
            middle = 0.5 * (low + high)
            low, high = (low, middle) if law.loss(np.array([middle]))[0] > 0 else (middle, high)
        high = _HIGH
    if (mass := _mass_from(law, low)) > 1 + _MASS_MARGIN:
        for _ in range(_BISECTIONS):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if _mass_from(law, middle) > 1 + _MASS_MARGIN else (low, middle)
        mass = 1 + _MASS_MARGIN  # `low` is on the safe side: the mass is not below 1
    rest = 1 + _MASS_MARGIN - mass
    return SymmetricLoss(law, low, float(np.log(rest)) if rest > 0 else -np.inf)


@dataclass(frozen=True)
class Symmetrised(View, ByConvolution):
    """`base`, composed through the tightest symmetric pair above its bound; made by `symmetrised`."""

    base: Mechanism

    def losses(self, direction: str = "remove") -> Steps | None:
        """The losses of `base`, those that dominate both directions replaced by their symmetric pair."""
        own = self.base.losses(direction)
        if own is None:
            return None
        return tuple((_symmetric_or_same(loss), count) for loss, count in own)

    def _alone(self) -> Mechanism | None:
        return None if self.base.by_convolution else self.base

    def _rdp(self, alpha: FloatArray) -> FloatArray:
        own = self.base.losses("remove")
        if own is None:
            return self.base._rdp(alpha)
        curve = self.base._rdp(alpha)
        for loss, count in own:
            if isinstance(loss, PrivacyLossLaw):
                curve = curve - count * (loss.rdp(alpha - 1) - _rdp_of_pair(symmetric(loss), loss, alpha - 1))
        return curve

    def explain(self, epsilon: float | None = None) -> str | None:
        return self.base.explain(epsilon)


def _symmetric_or_same(loss: PrivacyLoss) -> PrivacyLoss:
    return symmetric(loss) if isinstance(loss, PrivacyLossLaw) else loss


def _rdp_of_pair(pair: SymmetricLoss, law: PrivacyLossLaw, order: FloatArray) -> FloatArray:
    """log E[e^{sω}]/s of the symmetric pair at s = α − 1 (E[ω] at 0), never above that of `law`."""
    upper = law.rdp(order)
    result = upper.copy()
    gentle = order * law.a <= _GENTLE
    if gentle.any():
        log_weight, omega = quadrature(pair, pair.start, _HIGH + _GENTLE, _NO_BREAKS)
        weight = np.exp(log_weight)
        s = order[gentle][:, None]
        safe = np.where(s > 0, s, 1.0)
        exponent = s * omega
        small = np.abs(exponent) < 1
        rate = np.where(s > 0, np.expm1(np.where(small, exponent, 0.0)) / safe, omega)
        near = np.log1p(np.where(s > 0, s, 0.0) * (rate @ weight[:, None]))
        total = logsumexp(log_weight + exponent, axis=1)
        use_near = small.all(axis=1) & (s[:, 0] > 0)
        value = np.where(use_near, near[:, 0], total) / safe[:, 0]
        result[gentle] = np.where(s[:, 0] > 0, value, rate @ weight)
    return np.minimum(result, upper)


def symmetrised(mechanism: Mechanism) -> Mechanism:
    """The same mechanism with a tighter composition: through the symmetric pair above its bound.

    Its own δ and ε stay what they are; `repeat(symmetrised(m), k)` and `compose(symmetrised(m), …)` get smaller.
    Zhu, Dong and Wang (2022) for symmetric adjacency; docs/theorems.md, T8, for the pair of objective perturbation.
    What `repeat(m, k)` composes is the published pair (Redberg et al. 2023, Lemma D.6 and (D.11)).

    >>> from objpert_core.accounting import Gaussian, ObjectivePerturbation, repeat
    >>> k_fits = repeat(symmetrised(ObjectivePerturbation(sigma=8, lam=128)), 100)  # λ ≥ 2σ²
    >>> abs(k_fits.epsilon(1e-5) / Gaussian(0.8).epsilon(1e-5) - 1) < 1e-3
    True
    """
    base = a_mechanism("mechanism", mechanism)
    return base if isinstance(base, Symmetrised) else Symmetrised(base)
