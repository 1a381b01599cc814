"""What objective perturbation is given unless told: its share of noise, its regularisation λ and its margin."""

from __future__ import annotations

import math

from objpert_core._validation import choice, positive, positive_integer
from objpert_core.accounting.gaussian.calibration import calibrate_gaussian
from objpert_core.accounting.objective.bounds import ACCOUNTANTS, BOUND_REGISTRY, PUBLISHED_NOISE_RATIO

_MARGIN = 1.5
_STANDARDISED = 2.0  # times the margin, where rows are centred and scaled
_WIDE = 0.15  # the norm of noise in a mean of unit rows at which half of what wide rows gain is left
_QUIET = 0.01  # the λ that `recommended_lam` would like, where the noise is so little that half the margin will do


def default_noise_ratio(bound: str, epsilon: float, accountant: str = "profile") -> float:
    """The f in σ = f·σ_Gauss that `calibrate_objective_perturbation` uses when it is left open.

    The bounds "glm", "two-signed" and "non-glm" get the paper's 1.3, as every bound does through its Rényi curve.
    "monotone" gets 1.1, less above ε = 8. The logistic bound is Gaussian from a finite λ on, and 2 % more noise buy a
    visibly smaller λ from ε = 1 to 8; below and above, the 2 % shrink as ε and 8/ε do. `ValueError` if ε is not
    positive, or the bound names its own σ, as ``"kifer2012"`` does.

    >>> [default_noise_ratio("logistic", epsilon) for epsilon in (0.1, 1.0, 8.0, 80.0)]
    [1.002, 1.02, 1.02, 1.002]
    """
    eps = positive("epsilon", epsilon)
    choice("bound", bound, tuple(key for key, entry in BOUND_REGISTRY.items() if entry.noise_ratio is not None))
    own = BOUND_REGISTRY[bound].noise_ratio
    assert own is not None
    return PUBLISHED_NOISE_RATIO if choice("accountant", accountant, ACCOUNTANTS) == "rdp" else own(eps)


def recommended_lam(epsilon: float, delta: float, n_rows: int, dimension: int, lipschitz: float = 1.0) -> float:
    """A regularisation λ for objective perturbation that suits the amount of noise for each row and feature.

    Where there are few rows for so much noise, more λ than privacy asks for makes better models. With even features the
    best λ is about 2σ²d/n; real features are not even, and more than twice the λ at which the Gaussian mechanism's
    noise suffices shrinks what can be learned. Hence

        λ = min(2σ²·d/n, 2·R²/(ε + R²/(2σ²))),     σ that of the Gaussian mechanism of sensitivity R,

    for `calibrate_objective_perturbation(..., lam=λ)`, which takes more where privacy asks for more. Both constants
    were chosen on synthetic data only.

    Parameters
    ----------
    epsilon : float > 0
    delta : float strictly between 0 and 1
    n_rows : int >= 1
        The number of rows n, which has to be public: the result depends on it.
    dimension : int >= 1
        The number of parameters d.
    lipschitz : float > 0
        Bound R on the norm of one row's gradient.

    Examples
    --------
    >>> round(recommended_lam(1.0, 1e-5, n_rows=500, dimension=100), 4)
    1.9306
    """
    radius = positive("lipschitz", lipschitz)
    sigma, wanted = _wanted_lam(epsilon, delta, n_rows, dimension, radius)
    return min(wanted, 2 * radius**2 / (epsilon + (radius / sigma) ** 2 / 2))


def recommended_margin(
    epsilon: float,
    delta: float,
    n_rows: int,
    dimension: int,
    lipschitz: float = 1.0,
    *,
    standardised: bool = False,
) -> float:
    """A margin for private logistic regression that suits the amount of noise for each row and feature.

    Noise is paid for by the largest slope of the loss, 1, but a row whose score is near 0 pulls with slope 1/2 only. A
    margin k (`LogisticLoss`) makes it pull with 1/(1 + e^{−k}), and costs no worst-case privacy. Hence, with r =
    2σ²·d/n,

        k = 1.5 · r/(r + 0.01):

    0 in the limit of no noise. On rows that are centred and scaled k is 2 + min(1, d/n)/(1 + (q/0.15)²) times as much,
    with q = σ√d/(Rn) the norm of the noise in a mean of rows. The rules were chosen on synthetic data only.

    Arguments are those of `recommended_lam`; `standardised` says that rows are centred or scaled
    (`recommended_standardisation`).

    >>> round(recommended_margin(1.0, 1e-5, n_rows=500, dimension=100), 3)
    1.497
    >>> round(recommended_margin(8.0, 1e-5, n_rows=500, dimension=1000, standardised=True), 3)
    4.379
    """
    radius = positive("lipschitz", lipschitz)
    sigma, wanted = _wanted_lam(epsilon, delta, n_rows, dimension, radius)
    margin = _MARGIN * wanted / (wanted + _QUIET)
    if not standardised:
        return margin
    noise = sigma / radius * math.sqrt(dimension) / n_rows
    return margin * (_STANDARDISED + min(1.0, dimension / n_rows) * (_WIDE / math.hypot(_WIDE, noise)) ** 2)


def _wanted_lam(epsilon: float, delta: float, n_rows: int, dimension: int, radius: float) -> tuple[float, float]:
    """The Gaussian mechanism's σ, and the λ = 2σ²·d/n that would suit even features."""
    sigma = calibrate_gaussian(positive("epsilon", epsilon), delta, radius).sigma
    rows, size = positive_integer("n_rows", n_rows), positive_integer("dimension", dimension)
    return sigma, 2 * sigma**2 * size / rows
