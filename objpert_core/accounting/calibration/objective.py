"""From a privacy target (ε, δ) to the noise and the regularisation that meet it, and never miss it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.optimize import brentq, toms748

from objpert_core._validation import choice, in_open_unit, nonnegative, positive, positive_integer
from objpert_core.accounting.mechanisms.base import Mechanism
from objpert_core.accounting.mechanisms.gaussian import Gaussian
from objpert_core.accounting.mechanisms.objective import BOUNDS, ApproximateMinima, ObjectivePerturbation
from objpert_core.accounting.mechanisms.renyi import via_rdp
from objpert_core.accounting.numerics import gaussian as _gaussian

ACCOUNTANTS = ("profile", "rdp")

# A Rényi curve loses more than 2 % or 10 % of σ on the way to (ε, δ): no λ would do at those ratios
_RDP_NOISE_RATIO = 1.3
_LEAST_EXTRA_NOISE = 1e-4  # enough for the output noise, and for a λ that is not astronomical

# The output noise takes this share of the Gaussian mechanism's a = sensitivity/σ: 0.005 % of its square
_OUTPUT_SHARE = 0.01

_SIGMA_MARGIN = 2e-12  # above the profile's own rounding error
_LAM_MARGIN = 4e-13  # above the tolerance of the search; where ε is small beside R²/λ it moves by much more than λ
_LOG_MARGIN = 1e-13  # of 1 + log(1/δ): above the rounding of every profile, so that `epsilon(δ) <= ε` as well
_LARGEST_LAM = 1e60

_MARGIN = 1.5
_QUIET = 0.01  # the λ that `recommended_lam` would like, where the noise is so little that half the margin will do


def default_noise_ratio(bound: str, epsilon: float, accountant: str = "profile") -> float:
    """The f in σ = f·σ_Gauss that `calibrate_objective_perturbation` uses when it is left open.

    The published bound gets the paper's 1.3. The logistic bound is Gaussian from a finite λ on, and a little more
    noise buys a visibly smaller λ: 2 % between ε = 1 and 8. At smaller ε noise matters more than λ, and at larger ε
    a share of σ is worth ever more in λ, which would vanish; there the share shrinks as ε and as 8/ε.

    Parameters
    ----------
    bound : str
        One of `BOUNDS` but ``"kifer2012"``, whose σ comes from its theorem.
    epsilon : float > 0
    accountant : {"profile", "rdp"}

    Raises
    ------
    ValueError
        If an argument is out of range.

    Examples
    --------
    >>> [default_noise_ratio("logistic", epsilon) for epsilon in (0.1, 1.0, 8.0, 80.0)]
    [1.002, 1.02, 1.02, 1.002]
    """
    eps = positive("epsilon", epsilon)
    choice("bound", bound, tuple(name for name in BOUNDS if name != "kifer2012"))
    if choice("accountant", accountant, ACCOUNTANTS) == "rdp" or bound in ("two-signed", "glm", "non-glm"):
        return _RDP_NOISE_RATIO
    extra = 0.1 * min(1.0, 8 / eps) if bound == "monotone" else 0.02 * min(1.0, eps, 8 / eps)
    return 1 + max(extra, _LEAST_EXTRA_NOISE)


def recommended_lam(epsilon: float, delta: float, n_rows: int, dimension: int, lipschitz: float = 1.0) -> float:
    """A regularisation λ for objective perturbation that suits the amount of noise for each row and feature.

    Privacy asks for some λ. Where there are few rows for so much noise, more of it makes better models, because a
    direction of curvature h ≪ λ keeps a share σ/λ of the noise. In a model with even features whose margins are of
    order 1 to 3, the best λ is about σ²/(h‖θ*‖²/d) ≈ 2σ²d/n. Real features are not even: however many there are, most
    of what can be learned lies in few directions, and more than twice the λ at which the Gaussian mechanism's noise
    suffices shrinks those. Hence

        λ = min(2σ²·d/n, 2·R²/(ε + R²/(2σ²))),     σ that of the Gaussian mechanism of sensitivity R.

    Parameters
    ----------
    epsilon : float > 0
    delta : float strictly between 0 and 1
    n_rows : int >= 1
        The number of rows n. The result depends on it, so that it has to be public.
    dimension : int >= 1
        The number of parameters d.
    lipschitz : float > 0
        Bound R on the norm of one row's gradient.

    Returns
    -------
    float
        λ > 0, for `calibrate_objective_perturbation(..., lam=λ)`, which takes more where privacy asks for more.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    Both constants were chosen on synthetic data only; the evidence is in `experiments.defaults`.

    Examples
    --------
    >>> round(recommended_lam(1.0, 1e-5, n_rows=200_000, dimension=100), 4)  # less than privacy asks for
    0.0139
    >>> round(recommended_lam(1.0, 1e-5, n_rows=500, dimension=100), 4)
    1.9306
    """
    radius = positive("lipschitz", lipschitz)
    sigma, wanted = _wanted_lam(epsilon, delta, n_rows, dimension, radius)
    return min(wanted, 2 * radius**2 / (epsilon + (radius / sigma) ** 2 / 2))


def recommended_margin(epsilon: float, delta: float, n_rows: int, dimension: int, lipschitz: float = 1.0) -> float:
    """A margin for private logistic regression that suits the amount of noise for each row and feature.

    Noise is paid for by the largest slope of the loss, 1, but a row whose score is near 0 pulls with slope 1/2 only. A
    margin k (`LogisticLoss`) makes it pull with 1/(1 + e^{−k}), and costs no privacy. Where noise and λ keep the
    scores small that is nearly a free doubling of the rows; where they do not, the margin bends the model. Hence

        k = 1.5 · r/(r + 0.01),     r = 2σ²·d/n, the λ that `recommended_lam` starts from:

    1.5 for nearly every fit that noise can be seen in, and 0, logistic regression itself, in the limit of none.

    Parameters
    ----------
    epsilon, delta, n_rows, dimension, lipschitz
        As in `recommended_lam`; the result depends on the number of rows, so that it has to be public.

    Returns
    -------
    float
        k >= 0, in units of the score.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    Both constants were chosen on synthetic data only; the evidence is in `experiments.defaults`.

    Examples
    --------
    >>> round(recommended_margin(1.0, 1e-5, n_rows=500, dimension=100), 3)
    1.497
    >>> round(recommended_margin(8.0, 1e-5, n_rows=200_000, dimension=100), 3)
    0.052
    """
    wanted = _wanted_lam(epsilon, delta, n_rows, dimension, positive("lipschitz", lipschitz))[1]
    return _MARGIN * wanted / (wanted + _QUIET)


def _wanted_lam(epsilon: float, delta: float, n_rows: int, dimension: int, radius: float) -> tuple[float, float]:
    """The Gaussian mechanism's σ, and the λ = 2σ²·d/n that would suit even features."""
    sigma = calibrate_gaussian(positive("epsilon", epsilon), delta, radius).sigma
    rows, size = positive_integer("n_rows", n_rows), positive_integer("dimension", dimension)
    return sigma, 2 * sigma**2 * size / rows


def calibrate_gaussian(epsilon: float, delta: float, sensitivity: float = 1.0) -> Gaussian:
    """The Gaussian mechanism with the least noise that is (ε, δ)-DP.

    Parameters
    ----------
    epsilon : float >= 0
    delta : float strictly between 0 and 1
    sensitivity : float > 0
        L2 sensitivity under add/remove of one row.

    Returns
    -------
    Gaussian
        `.delta(epsilon) <= delta`, with σ within a few 1e-12 (relative) of the smallest possible.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    The analytic Gaussian mechanism of Balle and Wang (2018).

    Examples
    --------
    >>> round(calibrate_gaussian(1.0, 1e-5, sensitivity=2**0.5).sigma, 3)
    5.276
    """
    eps, target = nonnegative("epsilon", epsilon), in_open_unit("delta", delta)
    size = positive("sensitivity", sensitivity)
    sigma = size / _largest_ratio(eps, target)
    mechanism = Gaussian(sigma, size)
    margin = _SIGMA_MARGIN
    while mechanism.log_delta(eps) > _log_target(target):
        mechanism = Gaussian(mechanism.sigma * (1 + margin), size)
        margin *= 2
    return mechanism


def _log_target(delta: float) -> float:
    return math.log(delta) - _LOG_MARGIN * (1 - math.log(delta))


@lru_cache(maxsize=4096)
def _largest_ratio(epsilon: float, delta: float) -> float:
    """The largest a = sensitivity/σ that is (ε, δ)-DP, less a margin."""
    log_delta = _log_target(delta)

    def gap(log_a: float) -> float:
        return float(_gaussian.log_profile(epsilon, math.exp(log_a))) - log_delta

    low, high = math.log(max(epsilon, 1e-3)), math.log(max(math.sqrt(2 * epsilon), 1e-3))
    while gap(low) > 0:
        low -= 2.0
    while gap(high) <= 0:
        high += 2.0
    root = float(brentq(gap, low, high, xtol=1e-15, rtol=1e-15))
    return math.exp(root) * (1 - _SIGMA_MARGIN)


def calibrate_objective_perturbation(
    epsilon: float,
    delta: float,
    lipschitz: float = 1.0,
    smoothness: float | None = None,
    bound: str = "logistic",
    noise_ratio: float | None = None,
    tau: float | None = None,
    sigma_out: float | None = None,
    *,
    accountant: str = "profile",
    dimension: int | None = None,
    lam: float = 0.0,
) -> ObjectivePerturbation | ApproximateMinima:
    """The noise σ and the smallest regularisation λ with which objective perturbation is (ε, δ)-DP.

    σ is `noise_ratio` times that of the analytic Gaussian mechanism of sensitivity `lipschitz`: more noise buys a
    smaller λ (Redberg et al. 2023, Section 5).

    Parameters
    ----------
    epsilon : float > 0
    delta : float strictly between 0 and 1
    lipschitz, smoothness, bound, dimension
        As in `ObjectivePerturbation`.
    noise_ratio : float >= 1, optional
        f in σ = f·σ_Gauss; by default `default_noise_ratio` (at least 1.02 where ε < 1000·δ), and for ``"kifer2012"``
        the σ of Theorem 2.8.
    tau : float > 0, optional
        Gradient norm at which the solver may stop; the result is then an `ApproximateMinima`.
    sigma_out : float > 0, optional
        Standard deviation of the output noise; by default so much that it takes 1 % of the Gaussian mechanism's
        sensitivity-to-noise ratio, which costs 0.005 % in σ (about 2 % with ``"kifer2012"``). Needs `tau`.
    accountant : {"profile", "rdp"}
        Account by the bound's privacy profile, or only through its Rényi curve as the paper's experiments do.
    lam : float >= 0
        A regularisation not to go below: where it is more than privacy needs, the result has this λ, and unless
        `noise_ratio` is given the smallest σ that this λ allows. See `recommended_lam`.

    Returns
    -------
    ObjectivePerturbation or ApproximateMinima
        Its ε at `delta` does not exceed `epsilon` and is within 1e-6 (relative) of it, unless the next smaller λ would
        exceed it: ``"kifer2012"`` needs λ >= 2β/ε, and "glm" and "non-glm" need a λ > β that is a double; or `lam`
        asked for more.

    Raises
    ------
    ValueError
        If an argument is out of range, or no λ meets the target at this `noise_ratio`.

    Examples
    --------
    >>> mechanism = calibrate_objective_perturbation(1.0, 1e-5, lipschitz=2**0.5)
    >>> mechanism.epsilon(1e-5) <= 1.0
    True
    """
    options = {
        "epsilon": positive("epsilon", epsilon),
        "delta": in_open_unit("delta", delta),
        "lipschitz": positive("lipschitz", lipschitz),
        "smoothness": positive("smoothness", lipschitz**2 / 4 if smoothness is None else smoothness),
        "bound": choice("bound", bound, BOUNDS),
        "noise_ratio": None if noise_ratio is None else positive("noise_ratio", noise_ratio),
        "tau": None if tau is None else positive("tau", tau),
        "sigma_out": None if sigma_out is None else positive("sigma_out", sigma_out),
        "accountant": choice("accountant", accountant, ACCOUNTANTS),
        "dimension": None if dimension is None else positive_integer("dimension", dimension),
    }
    nonnegative("lam", lam)
    if sigma_out is not None and tau is None:
        raise ValueError(f"sigma_out needs tau, the gradient norm it covers; got sigma_out={sigma_out!r} and tau=None")
    if noise_ratio is not None and noise_ratio < 1:
        raise ValueError(f"noise_ratio must be a finite number >= 1, got {noise_ratio!r}")
    if bound == "kifer2012" and accountant == "rdp":
        raise ValueError("bound 'kifer2012' has a profile only: it does not allow accountant='rdp'")
    if bound == "non-glm" and (accountant != "rdp" or dimension is None):
        raise ValueError("bound 'non-glm' has a Rényi curve only: it needs accountant='rdp' and dimension")
    mechanism = _calibrate(**options)
    if lam <= _objective(mechanism).lam:
        return mechanism
    fixed_sigma = noise_ratio is not None or bound == "kifer2012"  # that theorem's σ does not depend on λ
    return _regularised(mechanism, float(lam), epsilon, delta, accountant, fixed_sigma, sigma_out is not None)


def calibrate_published(
    epsilon: float,
    delta: float,
    lipschitz: float = 1.0,
    smoothness: float | None = None,
    tau: float | None = None,
    sigma_out: float | None = None,
) -> ObjectivePerturbation | ApproximateMinima:
    """The calibration of the paper's experiments: σ = 1.3·σ_Gauss and the smallest λ by the "glm" bound via Rényi.

    Arguments, result and errors as in `calibrate_objective_perturbation` (Redberg et al. 2023, Section 5, where
    tau = 0.01 and sigma_out = 0.15).

    Examples
    --------
    >>> round(calibrate_published(1.0, 1e-5, lipschitz=2**0.5).lam, 2)
    3.71
    """
    return calibrate_objective_perturbation(
        epsilon, delta, lipschitz, smoothness, "glm", 1.3, tau, sigma_out, accountant="rdp"
    )


@lru_cache(maxsize=4096)
def _calibrate(
    *,
    epsilon: float,
    delta: float,
    lipschitz: float,
    smoothness: float,
    bound: str,
    noise_ratio: float | None,
    tau: float | None,
    sigma_out: float | None,
    accountant: str,
    dimension: int | None,
) -> ObjectivePerturbation | ApproximateMinima:
    sigma_gauss = calibrate_gaussian(epsilon, delta, lipschitz).sigma
    if bound == "kifer2012":
        if tau is not None:
            return _calibrate_kifer_minima(
                epsilon, delta, lipschitz, smoothness, noise_ratio, sigma_gauss, tau, sigma_out
            )
        return _calibrate_kifer(epsilon, delta, lipschitz, smoothness, noise_ratio, sigma_gauss)
    if noise_ratio is None:
        noise_ratio = default_noise_ratio(bound, epsilon, accountant)
        if epsilon < 1e3 * delta:  # around ε = δ output noise costs its share of σ, not the square of that
            noise_ratio = max(noise_ratio, 1 + 2 * _OUTPUT_SHARE)
    sigma = sigma_gauss * noise_ratio
    output_ratio = _OUTPUT_SHARE * lipschitz / sigma_gauss

    def build(lam: float) -> ObjectivePerturbation | ApproximateMinima:
        objective = ObjectivePerturbation(sigma, lam, lipschitz, smoothness, bound, dimension)
        if tau is None:
            return objective
        return ApproximateMinima(objective, tau, 2 * tau / (lam * output_ratio) if sigma_out is None else sigma_out)

    def gap(lam: float) -> float:
        mechanism: Mechanism = build(lam)
        if accountant == "rdp":
            mechanism = via_rdp(mechanism)
        return float(mechanism._log_delta(np.array([epsilon]))[0]) - _log_target(delta)

    guess = lipschitz**2 / (epsilon + (lipschitz / sigma) ** 2 / 2) * (1 + _SIGMA_MARGIN)
    if bound == "logistic" and noise_ratio == 1 and tau is None and accountant == "profile" and gap(guess) <= 0:
        return build(guess)  # the closed form: from here on the bound is the Gaussian profile
    try:
        lam = _smallest_root(gap, guess, smoothness if bound in ("glm", "non-glm") else 0.0)
    except ValueError:
        raise ValueError(
            f"noise_ratio must be larger for bound {bound!r} and accountant {accountant!r}: with sigma = {sigma:.6g} "
            f"({sigma / sigma_gauss:.6g} times the Gaussian mechanism's) no lam is ({epsilon:g}, {delta:g})-DP"
        ) from None
    return build(lam)


def _objective(mechanism: ObjectivePerturbation | ApproximateMinima) -> ObjectivePerturbation:
    return mechanism.objective if isinstance(mechanism, ApproximateMinima) else mechanism


@lru_cache(maxsize=4096)
def _regularised(
    mechanism: ObjectivePerturbation | ApproximateMinima,
    lam: float,
    epsilon: float,
    delta: float,
    accountant: str,
    fixed_sigma: bool,
    fixed_sigma_out: bool,
) -> ObjectivePerturbation | ApproximateMinima:
    """The calibrated mechanism with a larger λ and, unless σ was asked for, as little noise as that allows.

    Every bound falls as λ grows, and so does the output noise's sensitivity 2τ/λ.
    """

    def build(sigma: float) -> ObjectivePerturbation | ApproximateMinima:
        objective = replace(_objective(mechanism), sigma=sigma, lam=lam)
        if not isinstance(mechanism, ApproximateMinima):
            return objective
        share = 1.0 if fixed_sigma_out else mechanism.objective.lam / lam
        return replace(mechanism, objective=objective, sigma_out=mechanism.sigma_out * share)

    def gap(sigma: float) -> float:
        built: Mechanism = build(sigma)
        if accountant == "rdp":
            built = via_rdp(built)
        return float(built._log_delta(np.array([epsilon]))[0]) - _log_target(delta)

    most = _objective(mechanism).sigma
    least = calibrate_gaussian(epsilon, delta, _objective(mechanism).lipschitz).sigma
    if fixed_sigma or least >= most:
        return build(most)
    sigma = least
    if gap(least) > 0:
        sigma = float(toms748(lambda x: _clipped(gap(x)), least, most, xtol=1e-13 * least, rtol=1e-15))
    margin = _SIGMA_MARGIN
    while gap(sigma) > 0:
        sigma *= 1 + margin
        margin *= 2
    return build(min(sigma, most))


def _calibrate_kifer(
    epsilon: float,
    delta: float,
    lipschitz: float,
    smoothness: float,
    noise_ratio: float | None,
    sigma_gauss: float,
) -> ObjectivePerturbation:
    """Theorem 2.8 read as it stands: λ = 2β/ε and σ = L·√(8 log(2/δ) + 4ε)/ε."""
    least = _kifer_sigma(epsilon, math.log(delta), lipschitz)
    sigma = _kifer_ratio(noise_ratio, least, sigma_gauss, epsilon, delta)
    return ObjectivePerturbation(sigma, _kifer_lam(epsilon, smoothness), lipschitz, smoothness, "kifer2012")


def _kifer_sigma(epsilon: float, log_delta: float, lipschitz: float) -> float:
    return lipschitz * math.sqrt(8 * (math.log(2) - log_delta) + 4 * epsilon) / epsilon * (1 + _SIGMA_MARGIN)


def _kifer_lam(epsilon: float, smoothness: float) -> float:
    lam = 2 * smoothness / epsilon
    while lam * epsilon < 2 * smoothness:
        lam = math.nextafter(lam, math.inf)
    return lam


def _kifer_ratio(noise_ratio: float | None, least: float, sigma_gauss: float, epsilon: float, delta: float) -> float:
    """The σ that was asked for; `least` where none was."""
    if noise_ratio is None:
        return least
    if noise_ratio * sigma_gauss < least:
        raise ValueError(
            f"noise_ratio must be at least {least / sigma_gauss:.6g} for bound 'kifer2012' "
            f"at ({epsilon:g}, {delta:g}), got {noise_ratio!r}"
        )
    return noise_ratio * sigma_gauss


def _calibrate_kifer_minima(
    epsilon: float,
    delta: float,
    lipschitz: float,
    smoothness: float,
    noise_ratio: float | None,
    sigma_gauss: float,
    tau: float,
    sigma_out: float | None,
) -> ApproximateMinima:
    """λ = 2β/ε₁ for the split ε₁ + ε₂ that needs the least noise, then the σ that the whole profile asks for.

    At one split Theorem 2.8 has to give ε₁ and δ − δ_Gauss(ε₂), where δ_Gauss is the output noise's
    (`ApproximateMinima`, notes). With σ given it is λ that is searched for.
    """
    target_epsilon, epsilon = epsilon, epsilon * (1 - _LAM_MARGIN)  # as λ → 2β/ε a rounding of ε is worth a lot of δ
    floor = _kifer_lam(epsilon, smoothness)
    output_ratio = _OUTPUT_SHARE * lipschitz / sigma_gauss

    def build(lam: float, sigma: float) -> ApproximateMinima:
        objective = ObjectivePerturbation(sigma, lam, lipschitz, smoothness, "kifer2012")
        return ApproximateMinima(objective, tau, 2 * tau / (lam * output_ratio) if sigma_out is None else sigma_out)

    def gap(lam: float, sigma: float) -> float:
        return float(build(lam, sigma)._log_delta(np.array([epsilon]))[0]) - _log_target(delta)

    if noise_ratio is not None:
        sigma = noise_ratio * sigma_gauss
        if gap(floor, sigma) <= 0:
            return build(floor, sigma)
        try:
            return build(_smallest_root(lambda lam: gap(lam, sigma), 2 * floor, floor), sigma)
        except ValueError:
            raise ValueError(
                f"noise_ratio must be larger for bound 'kifer2012': with sigma = {sigma:.6g} ({noise_ratio:.6g} times "
                f"the Gaussian mechanism's) no lam is ({target_epsilon:g}, {delta:g})-DP"
            ) from None

    def sigma_at(second: float) -> float:
        """The σ needed where ε₂ is spent on the output noise and λ = 2β/ε₁."""
        first = epsilon - second
        a = output_ratio if sigma_out is None else tau * first / (smoothness * sigma_out)
        left = delta - math.exp(float(_gaussian.log_profile(second, a)))
        return _kifer_sigma(first, math.log(left), lipschitz) if left > 0 else math.inf

    seconds = epsilon * np.concatenate([[0.0], np.geomspace(1e-9, 0.5, 200), np.linspace(0.5, 1.0, 100)[1:-1]])
    sigmas = [sigma_at(float(second)) for second in seconds]
    if math.isinf(min(sigmas)):
        raise ValueError(
            f"sigma_out must be larger for bound 'kifer2012', tau={tau!r} and smoothness={smoothness!r}: at "
            f"{sigma_out!r} the output noise alone is not ({target_epsilon:g}, {delta:g})-DP"
        )
    best = int(np.argmin(sigmas))
    lam = _kifer_lam(epsilon - float(seconds[best]), smoothness)
    least, enough = math.log(_kifer_sigma(epsilon, math.log(delta), lipschitz)) - 1e-9, math.log(sigmas[best])
    while gap(lam, math.exp(enough)) > 0:
        enough += 1e-12
    log_sigma = float(toms748(lambda x: _clipped(gap(lam, math.exp(x))), least, enough, xtol=1e-14, rtol=1e-15))
    margin = _SIGMA_MARGIN
    while gap(lam, math.exp(log_sigma) * (1 + margin)) > 0:
        margin *= 2
    return build(lam, math.exp(log_sigma) * (1 + margin))


def _smallest_root(gap: Callable[[float], float], guess: float, floor: float) -> float:
    """The smallest λ > floor with gap(λ) <= 0, rounded up, for a gap that decreases in λ; ValueError if there is none.

    The search runs over log(λ − floor): close to the floor the bounds change with that, not with λ.
    """
    low = high = max(guess - floor, 1e-3 * guess)
    if gap(floor + low) > 0:
        while gap(floor + high) > 0:
            if high > _LARGEST_LAM * guess:
                raise ValueError("no root")
            low, high = high, high * (2.0 if high < 1e3 * guess else 1e3)
    else:
        while gap(floor + low) <= 0:
            low, high = low / 2, low
    root = toms748(lambda x: _clipped(gap(floor + math.exp(x))), math.log(low), math.log(high), xtol=1e-13, rtol=1e-15)
    excess, margin = math.exp(float(root)), _LAM_MARGIN
    while gap(floor + excess * (1 + margin)) > 0:
        margin *= 2
    return floor + excess * (1 + margin)


def _clipped(value: Any) -> float:
    """A finite stand-in for the infinities of a bound that proves nothing, or everything, at this λ."""
    return float(np.clip(value, -1e6, 1e6))
