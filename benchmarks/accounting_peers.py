"""The other accountants, each called the way its documentation says; None where a library is not installed."""

from __future__ import annotations

import importlib
import math
import warnings
from collections.abc import Callable, Sequence
from importlib import metadata
from typing import Any

import numpy as np
from scipy.special import ndtr

from objpert_core.accounting import ObjectivePerturbation

PEERS = {"dp-accounting": "dp_accounting", "autodp": "autodp", "prv-accountant": "prv_accountant"}
INSTALL = "pip install dp-accounting==0.6.0 autodp==0.2.3.1 prv-accountant==0.2.0"
INTERVAL = 1e-4  # dp-accounting's default
PRV_DELTA_SHARE = 1e-3  # of δ, what prv-accountant's documentation recommends as its error


def version(name: str) -> str | None:
    """The installed version of a peer that can be imported."""
    try:
        importlib.import_module(PEERS[name])
        return metadata.version(name)
    except ImportError:
        return None


# --- Rényi curves of one step of the subsampled Gaussian ----------------------------------------------------------


def dp_accounting_rdp(orders: Sequence[float], q: float, sigma: float) -> np.ndarray:
    from dp_accounting import GaussianDpEvent, PoissonSampledDpEvent
    from dp_accounting.rdp import RdpAccountant

    accountant = RdpAccountant(orders=orders)
    accountant.compose(PoissonSampledDpEvent(q, GaussianDpEvent(sigma)))
    return np.asarray(accountant.rdp)


def autodp_rdp(orders: Sequence[float], q: float, sigma: float) -> np.ndarray:
    from autodp.mechanism_zoo import GaussianMechanism
    from autodp.transformer_zoo import AmplificationBySampling

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        step = AmplificationBySampling(PoissonSampling=True)(GaussianMechanism(sigma), q, improved_bound_flag=True)
        return np.array([float(step.RenyiDP(order)) for order in orders])


def prv_rdp(orders: Sequence[float], q: float, sigma: float) -> np.ndarray:
    from prv_accountant import PoissonSubsampledGaussianMechanism

    step = PoissonSubsampledGaussianMechanism(sampling_probability=q, noise_multiplier=sigma)
    return np.array([float(step.rdp(order)) for order in orders])


RDP: dict[str, tuple[str, Callable[[Sequence[float], float, float], np.ndarray]]] = {
    "dp-accounting": ("RdpAccountant(orders).compose(PoissonSampledDpEvent)", dp_accounting_rdp),
    "autodp": ("AmplificationBySampling()(GaussianMechanism).RenyiDP(order)", autodp_rdp),
    "prv-accountant": ("PoissonSubsampledGaussianMechanism.rdp(order)", prv_rdp),
}


# --- ε at δ by privacy loss distributions --------------------------------------------------------------------------


def dp_accounting_sgd_upper(q: float, sigma: float, steps: int, delta: float) -> tuple[None, float]:
    from dp_accounting import GaussianDpEvent, PoissonSampledDpEvent
    from dp_accounting.pld import PLDAccountant

    accountant = PLDAccountant(value_discretization_interval=INTERVAL)
    accountant.compose(PoissonSampledDpEvent(q, GaussianDpEvent(sigma)), steps)
    return None, float(accountant.get_epsilon(delta))


def dp_accounting_gaussian(q: float, sigma: float, steps: int, delta: float) -> tuple[float, float]:
    """(optimistic, pessimistic); the former by rounding down, as connect-the-dots only bounds from above."""
    from dp_accounting.pld import privacy_loss_distribution as pld

    low, high = (
        pld.from_gaussian_mechanism(
            sigma,
            sampling_prob=q,
            value_discretization_interval=INTERVAL,
            pessimistic_estimate=pessimistic,
            use_connect_dots=pessimistic,
        )
        .self_compose(steps)
        .get_epsilon_for_delta(delta)
        for pessimistic in (False, True)
    )
    return float(low), float(high)


def autodp_sgd(q: float, sigma: float, steps: int, delta: float) -> tuple[None, float]:
    """Rényi accounting: autodp's Fourier accountant calls scipy.integrate.quadrature, which SciPy 1.14 removed."""
    from autodp.mechanism_zoo import NoisySGD_Mechanism

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return None, float(NoisySGD_Mechanism(prob=q, sigma=sigma, niter=steps).get_approxDP(delta))


def prv_bounds(prv: Any, steps: int, delta: float, eps_error: float) -> tuple[float, float]:
    from prv_accountant import PRVAccountant

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        accountant = PRVAccountant(
            prvs=[prv], max_self_compositions=[steps], eps_error=eps_error, delta_error=delta * PRV_DELTA_SHARE
        )
        low, _, high = accountant.compute_epsilon(delta, [steps])
    return float(low), float(high)


def prv_sgd(q: float, sigma: float, steps: int, delta: float, eps_error: float) -> tuple[float, float]:
    from prv_accountant import PoissonSubsampledGaussianMechanism

    step = PoissonSubsampledGaussianMechanism(sampling_probability=q, noise_multiplier=sigma)
    return prv_bounds(step, steps, delta, eps_error)


def prv_gaussian(sigma: float, steps: int, delta: float, eps_error: float) -> tuple[float, float]:
    from prv_accountant import GaussianMechanism

    return prv_bounds(GaussianMechanism(noise_multiplier=sigma), steps, delta, eps_error)


# --- objective perturbation, which no library knows: our law handed to their general machinery ----------------------


Grid = tuple[float, int, int, np.ndarray]


def law_on_grid(fit: ObjectivePerturbation, interval: float = INTERVAL) -> Grid:
    """(interval, first, last, δ): the fit's profile at multiples of the interval, where its loss can lie."""
    assert fit.law is not None
    low, high = fit.law.reach(80.0)
    ends = fit.law.loss(np.array([low, high]))
    first, last = math.floor(float(ends[0]) / interval) - 1, math.ceil(float(ends[1]) / interval)
    epsilon = interval * np.arange(first, last + 1)
    profile = np.exp(fit.law.log_profile(np.maximum(epsilon, 0.0)))
    never = 1 - fit.delta(0.0)  # E[e^{−ω}], as ω is never negative
    return interval, first, last, np.where(epsilon < 0, 1 - np.exp(epsilon) * never, profile)


def dp_accounting_fits_upper(grid: Grid, fits: int, delta: float) -> tuple[None, float]:
    """Connect-the-dots (pessimistic) from the profile on the grid, then `self_compose`."""
    from dp_accounting.pld import pld_pmf
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

    one = PrivacyLossDistribution(pld_pmf.create_pmf_pessimistic_connect_dots_fixed_gap(*grid))
    return None, float(one.self_compose(fits).get_epsilon_for_delta(delta))


def dp_accounting_fits_lower(
    fit: ObjectivePerturbation, fits: int, delta: float, interval: float = INTERVAL
) -> tuple[float, None]:
    """Optimistic: the law cut into bins, each at its least loss; `from_two_probability_mass_functions` rounds down."""
    from dp_accounting.pld import privacy_loss_distribution as pld

    law = fit.law
    assert law is not None
    low, high = law.reach(80.0)
    least, most = law.loss(np.array([low, high]))
    edges = np.linspace(low, high, math.ceil(4 * (most - least) / interval) + 1)  # losses well below the interval
    mass = np.abs(np.diff(ndtr(np.where(edges < 0, edges, -edges)))) / (1 - ndtr(law.lowest()))
    log_upper = np.log(mass)
    log_lower = log_upper - law.loss(edges[:-1])
    one = pld.from_two_probability_mass_functions(
        dict(enumerate(log_lower.tolist())),
        dict(enumerate(log_upper.tolist())),
        pessimistic_estimate=False,
        value_discretization_interval=interval,
    )
    return float(one.self_compose(fits).get_epsilon_for_delta(delta)), None


def dp_accounting_fits(
    fit: ObjectivePerturbation, grid: Grid, fits: int, delta: float
) -> tuple[float | None, float | None]:
    """Both sides, on the grid's interval."""
    return dp_accounting_fits_lower(fit, fits, delta, grid[0])[0], dp_accounting_fits_upper(grid, fits, delta)[1]


def prv_fits(fit: ObjectivePerturbation, fits: int, delta: float, eps_error: float) -> tuple[float, float]:
    """A `PrivacyRandomVariable` with our law's distribution function and Rényi curve."""
    from prv_accountant import PrivacyRandomVariable

    law = fit.law
    assert law is not None
    lowest = law.lowest()
    least = float(law.loss(np.array([lowest]))[0])

    class OneFit(PrivacyRandomVariable):
        def cdf(self, t: Any) -> Any:
            place = np.atleast_1d(np.asarray(t, dtype=float))
            below = ndtr(law.position(np.maximum(place, least)))
            scaled = (below - ndtr(lowest)) / (1 - ndtr(lowest))
            result = np.where(place < least, 0.0, scaled)
            return result if np.ndim(t) else result[0]

        def rdp(self, alpha: float) -> float:
            return float(fit.rdp(alpha))

    return prv_bounds(OneFit(), fits, delta, eps_error)
