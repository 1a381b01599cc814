"""Output perturbation: the minimiser of a regularised objective plus Gaussian noise."""

from __future__ import annotations

from dataclasses import dataclass

from objpert_core.accounting.gaussian.mechanism import GaussianNoise


@dataclass(frozen=True)
class OutputPerturbation(GaussianNoise):
    """Output perturbation: solve without noise, then add N(0, σ² I) to the solution.

    Chaudhuri, Monteleoni and Sarwate (2011), Algorithm 1, with Gaussian noise. Its privacy is the Gaussian mechanism's.

    Parameters
    ----------
    sigma : float > 0
        Standard deviation of the noise on each coefficient.
    sensitivity : float > 0
        How far the solution moves at most between neighbours, in the L2 norm. For a λ-strongly convex objective whose
        gradient has norm τ or less where the solver stops, and rows with gradients of norm R or less, the sensitivity
        is (R + 2τ)/λ when a row is added or removed and (2R + 2τ)/λ when one is replaced
        (`objpert_core.learning.output_perturbation.output_sensitivity`).
    adjacency : {"add/remove one row", "replace one row"}

    Examples
    --------
    >>> from objpert_core.accounting import Gaussian
    >>> fit = OutputPerturbation(sigma=0.5, sensitivity=0.2, adjacency="replace one row")
    >>> fit.epsilon(1e-5) == Gaussian(0.5, 0.2).epsilon(1e-5)
    True
    """
