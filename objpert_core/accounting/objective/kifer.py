"""Calibration by a theorem that names its own noise and regularisation (`ClosedForm`): Kifer et al. (2012)."""

from __future__ import annotations

import math

import numpy as np

from objpert_core.accounting.gaussian.calibration import SIGMA_MARGIN
from objpert_core.accounting.numerics import gaussian as gauss
from objpert_core.accounting.numerics.safe_root import ROOT_MARGIN, NoRootError, nudged, root_between, smallest_above
from objpert_core.accounting.objective.bounds import ClosedForm
from objpert_core.accounting.objective.target import Calibrated, Target


def calibrate_closed_form(target: Target, form: ClosedForm) -> Calibrated:
    """The mechanism that the theorem names for this target, with the σ that was asked for if that is enough."""
    if target.tau is not None:
        return _with_output_noise(target, form, target.tau)
    least = _least_sigma(target, form, target.epsilon, math.log(target.delta))
    sigma = least if target.noise_ratio is None else target.noise_ratio * target.sigma_gauss
    if sigma < least:
        raise ValueError(
            f"noise_ratio must be at least {least / target.sigma_gauss:.6g} for bound {target.bound!r} "
            f"at ({target.epsilon:g}, {target.delta:g}), got {target.noise_ratio!r}"
        )
    return target.build(sigma, form.lam(target.epsilon, target.smoothness))


def _least_sigma(target: Target, form: ClosedForm, epsilon: float, log_delta: float) -> float:
    return form.sigma(epsilon, log_delta, target.lipschitz) * (1 + SIGMA_MARGIN)


def _with_output_noise(target: Target, form: ClosedForm, tau: float) -> Calibrated:
    """λ for the split ε₁ + ε₂ that needs the least noise, then the σ that the whole profile asks for."""
    epsilon = target.epsilon * (1 - ROOT_MARGIN)  # as ε₁ → ε a rounding of ε is worth a lot of δ
    floor = form.lam(epsilon, target.smoothness)

    def gap(lam: float, sigma: float) -> float:
        return target.gap(target.build(sigma, lam), epsilon)

    if target.noise_ratio is not None:
        sigma = target.noise_ratio * target.sigma_gauss
        if gap(floor, sigma) <= 0:
            return target.build(sigma, floor)
        try:
            return target.build(sigma, smallest_above(lambda lam: gap(lam, sigma), 2 * floor, floor))
        except NoRootError:
            raise ValueError(
                f"noise_ratio must be larger for bound {target.bound!r}: with sigma = {sigma:.6g} "
                f"({target.noise_ratio:.6g} times the Gaussian mechanism's) no lam gives "
                f"({target.epsilon:g}, {target.delta:g})-DP"
            ) from None

    def sigma_at(second: float) -> float:
        """The σ needed where ε₂ is spent on the output noise and λ is that of ε₁."""
        first = epsilon - second
        a = target.output_ratio
        if target.sigma_out is not None:
            a = 2 * tau / (form.lam(first, target.smoothness) * target.sigma_out)
        left = target.delta - math.exp(float(gauss.log_profile(second, a)))
        return _least_sigma(target, form, first, math.log(left)) if left > 0 else math.inf

    seconds = epsilon * np.concatenate([[0.0], np.geomspace(1e-9, 0.5, 200), np.linspace(0.5, 1.0, 100)[1:-1]])
    sigmas = [sigma_at(float(second)) for second in seconds]
    if math.isinf(min(sigmas)):
        raise ValueError(
            f"sigma_out must be larger for bound {target.bound!r}, tau={tau!r} and smoothness={target.smoothness!r}: "
            f"at {target.sigma_out!r} the output noise alone is not ({target.epsilon:g}, {target.delta:g})-DP"
        )
    best = int(np.argmin(sigmas))
    lam = form.lam(epsilon - float(seconds[best]), target.smoothness)
    least, enough = math.log(_least_sigma(target, form, epsilon, math.log(target.delta))) - 1e-9, math.log(sigmas[best])
    while gap(lam, math.exp(enough)) > 0:
        enough += 1e-12
    sigma = math.exp(root_between(lambda x: gap(lam, math.exp(x)), least, enough, 1e-14))
    return target.build(
        nudged(lambda x: gap(lam, x) <= 0, lambda m: sigma * (1 + m), SIGMA_MARGIN, SIGMA_MARGIN),
        lam,
    )
