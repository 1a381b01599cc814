"""Populations whose excess risk is known to many digits: rows to learn from, and models judged without a test set.

Each is a law of rows (x, y) with a loss ℓ(θ; x, y), convex in θ, and a ball ‖θ‖ ≤ M of dimension d >= 1. θ* minimises
the risk L(θ) = E ℓ(θ; x, y) over the ball, and L(θ) − L(θ*) is computed by quadrature or in closed form. θ has shape
(d,), or (k, d) for k models at once.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import eigh_tridiagonal
from scipy.special import betaln, expit, log_expit

from objpert_core._validation import FloatArray, check_fields, positive, positive_integer, rate
from objpert_core.accounting import calibrate_gaussian

_SHARP = 20.0  # −log of what quadrature may leave out, and a little more
_LONGEST = 200.0  # ‖θ‖ up to which the nodes grow with it
_AT_ONCE = 2**21  # nodes times models that are evaluated together


class Population(ABC):
    """A law of rows, a loss and a ball: what a method's excess risk is measured on."""

    loss: ClassVar[str]
    """The loss's name."""
    dimension: int
    radius: float

    @property
    @abstractmethod
    def lipschitz(self) -> float:
        """L: the largest norm of a row's gradient, at any θ in the ball."""

    @property
    @abstractmethod
    def smoothness(self) -> float:
        """β: the largest curvature of a row's loss, as a function of θ; `inf` for a loss with corners."""

    @property
    @abstractmethod
    def minimiser(self) -> FloatArray:
        """θ*, shape (d,)."""

    @property
    @abstractmethod
    def least_risk(self) -> float:
        """L(θ*)."""

    @abstractmethod
    def sample(self, n: int, seed: Any = None) -> tuple[FloatArray, FloatArray]:
        """Draw n rows: X of shape (n, d) and y of shape (n,); `seed` is what `numpy.random.default_rng` takes."""

    @abstractmethod
    def losses(self, theta: FloatArray, X: FloatArray, y: FloatArray) -> FloatArray:
        """ℓ(θ; x, y) of each row, shape (n,), or (k, n)."""

    @abstractmethod
    def opposite(self, X: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Rows that pull the other way: what the worst neighbour may hold instead."""

    @abstractmethod
    def _excess(self, thetas: FloatArray) -> FloatArray:
        """L(θ) − L(θ*) of each row of `thetas`."""

    def excess(self, theta: FloatArray) -> Any:
        """L(θ) − L(θ*): negative only outside the ball, or by rounding; `ValueError` unless θ has d finite entries."""
        thetas = np.atleast_2d(np.asarray(theta, dtype=np.float64))
        if thetas.ndim != 2 or thetas.shape[1] != self.dimension or not np.isfinite(thetas).all():
            raise ValueError(f"theta must hold {self.dimension} finite numbers, got shape {np.shape(theta)}")
        found = self._excess(thetas)
        return float(found[0]) if np.ndim(theta) == 1 else found

    def risk(self, theta: FloatArray) -> Any:
        """L(θ), the population risk."""
        return self.least_risk + self.excess(theta)

    def generalisation_gap(self, theta: FloatArray, X: FloatArray, y: FloatArray) -> Any:
        """L(θ) less the mean loss on the rows given: what training on them hides."""
        return self.risk(theta) - self.losses(np.asarray(theta), X, y).mean(axis=-1)

    def __post_init__(self) -> None:
        check_fields(self, positive_integer, "dimension")
        check_fields(self, positive, "radius")


def _on_sphere(n: int, dimension: int, random: np.random.Generator) -> FloatArray:
    rows = random.standard_normal((positive_integer("n", n), dimension))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


class _OnSphere(Population):
    """Rows of any direction, and a θ* with equal entries of norm M."""

    @cached_property
    def minimiser(self) -> FloatArray:
        """θ*: M/√d everywhere."""
        return np.full(self.dimension, self.radius / math.sqrt(self.dimension))


@dataclass(frozen=True)
class LogisticOnSphere(_OnSphere):
    """x uniform on the unit sphere, y = ±1 with P(y = 1 | x) = expit(xᵀθ*), ‖θ*‖ = `radius` M, and the logistic loss.

    θ* has equal entries. With s(u) = log(1 + e^u), the excess risk is E[s(b) − s(a) − s'(a)(b − a)], a = xᵀθ*, b = xᵀθ,
    in which only x's projection on the plane of θ and θ* matters: its squared length q has the density
    (d − 2)/2·(1 − q)^{(d − 4)/2} on [0, 1], and its angle is uniform.

    >>> round(LogisticOnSphere(10).excess(np.zeros(10)), 5)
    0.13724
    """

    dimension: int
    radius: float = 4.0

    loss = "logistic"
    lipschitz = 1.0
    smoothness = 0.25

    @cached_property
    def least_risk(self) -> float:
        """The mean entropy of y given x, in nats."""
        along, _, weights = self._nodes(self.radius)
        a = self.radius * along
        return float(weights @ (_softplus(a) - expit(a) * a))

    def sample(self, n: int, seed: Any = None) -> tuple[FloatArray, FloatArray]:
        random = np.random.default_rng(seed)
        X = _on_sphere(n, self.dimension, random)
        return X, np.where(random.random(n) < expit(X @ self.minimiser), 1.0, -1.0)

    def losses(self, theta: FloatArray, X: FloatArray, y: FloatArray) -> FloatArray:
        """log(1 + e^{−y xᵀθ})."""
        return _softplus(-y * (theta @ X.T))

    def opposite(self, X: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The other label."""
        return X, -y

    def _nodes(self, longest: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Coordinates of x along θ* and across it, and weights: enough of them for models of norm `longest`."""
        if self.dimension == 1:
            return np.ones(1), np.zeros(1), np.ones(1)
        away = math.pi / min(longest, _LONGEST)  # where s has its nearest singularity, in units of x
        count = math.ceil(_SHARP / math.asinh(away))
        angles = math.pi * (np.arange(count) + 0.5) / count  # half a turn: x and −x count the same
        if self.dimension == 2:
            squares, masses = np.ones(1), np.ones(1)
        else:
            ellipse = 1 + 2 * away**2
            squares, masses = unit_jacobi(
                math.ceil(_SHARP / math.log(ellipse + math.sqrt(ellipse**2 - 1))) + 2, (self.dimension - 4) / 2
            )
        lengths = np.sqrt(squares)[:, None]
        weights = np.repeat(masses / count, count)
        return (lengths * np.cos(angles)).ravel(), (lengths * np.sin(angles)).ravel(), weights

    def _excess(self, thetas: FloatArray) -> FloatArray:
        forward = thetas @ self.minimiser / self.radius
        across = np.linalg.norm(thetas - forward[:, None] * (self.minimiser / self.radius), axis=1)
        longest = float(max(np.linalg.norm(thetas, axis=1).max(), self.radius))
        u, v, weights = self._nodes(longest)
        a = self.radius * u
        constant, slope = _softplus(a), expit(a)
        found = np.empty(len(thetas))
        size = max(1, _AT_ONCE // len(u))
        for start in range(0, len(thetas), size):
            part = slice(start, start + size)
            b = forward[part, None] * u + across[part, None] * v
            found[part] = (_softplus(b) - constant - slope * (b - a)) @ weights
        return found


@dataclass(frozen=True)
class AbsoluteWithLaplace(_OnSphere):
    """x uniform on the unit sphere, y = xᵀθ* + Laplace noise, ‖θ*‖ = `radius` M, and the absolute loss.

    `scale` b > 0 is the noise's mean size. For a residual that is off by v, E|v + noise| − E|noise| = |v| +
    b·expm1(−|v|/b). Here v = ‖θ − θ*‖·x₁, and x₁ = sin φ with a density proportional to cos^{d − 2}φ.

    >>> round(AbsoluteWithLaplace(10).excess(np.zeros(10)), 4)
    0.2391
    """

    dimension: int
    radius: float = 2.0
    scale: float = 0.5

    loss = "absolute"
    lipschitz = 1.0
    smoothness = math.inf

    def __post_init__(self) -> None:
        super().__post_init__()
        check_fields(self, positive, "scale")

    @property
    def least_risk(self) -> float:
        """The noise's mean size, b."""
        return self.scale

    def sample(self, n: int, seed: Any = None) -> tuple[FloatArray, FloatArray]:
        random = np.random.default_rng(seed)
        X = _on_sphere(n, self.dimension, random)
        return X, X @ self.minimiser + random.laplace(scale=self.scale, size=n)

    def losses(self, theta: FloatArray, X: FloatArray, y: FloatArray) -> FloatArray:
        """|xᵀθ − y|."""
        return np.abs(theta @ X.T - y)

    def opposite(self, X: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The noise with the other sign."""
        return X, 2 * (X @ self.minimiser) - y

    def _excess(self, thetas: FloatArray) -> FloatArray:
        off = np.linalg.norm(thetas - self.minimiser, axis=1) / self.scale
        if self.dimension == 1:
            return self.scale * _overshoot(off)
        nodes, weights = _first_coordinate(self.dimension)
        return self.scale * (_overshoot(off[:, None] * nodes) @ weights)


@dataclass(frozen=True)
class _Cube(Population):
    """z uniform on the corners of a cube but for a bias: z ∈ {±1/√d}^d with independent entries, ‖E z‖ = `bias`."""

    dimension: int
    bias: float
    radius: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_fields(self, rate, "bias")

    @cached_property
    def mean(self) -> FloatArray:
        """E z: bias/√d everywhere."""
        return np.full(self.dimension, self.bias / math.sqrt(self.dimension))

    def sample(self, n: int, seed: Any = None) -> tuple[FloatArray, FloatArray]:
        """Draw corners of the cube, of norm 1; y is 1 and has no part in the loss."""
        random = np.random.default_rng(seed)
        up = random.random((positive_integer("n", n), self.dimension)) < (1 + self.bias) / 2
        return np.where(up, 1.0, -1.0) / math.sqrt(self.dimension), np.ones(n)

    def opposite(self, X: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The corner across."""
        return -X, y


@dataclass(frozen=True)
class LinearHardInstance(_Cube):
    """The linear loss −⟨θ, z⟩ on corners of a cube: only the direction of E z is to be learnt, and no method is fast.

    0 < `bias` = ‖E z‖ <= 1; `hard_bias` has the worst for a sample size and a privacy. On such data Bassily, Smith and
    Thakurta (2014) prove lower bounds.

    >>> population = LinearHardInstance(500, 0.05)
    >>> population.excess(np.zeros(500)), abs(population.excess(population.minimiser)) < 1e-15
    (0.05, True)
    """

    loss = "linear"
    lipschitz = 1.0
    smoothness = 0.0

    @cached_property
    def minimiser(self) -> FloatArray:
        """θ*: as long as may be, in the direction of E z."""
        return self.radius / self.bias * self.mean

    @property
    def least_risk(self) -> float:
        """−M·‖E z‖."""
        return -self.radius * self.bias

    def losses(self, theta: FloatArray, X: FloatArray, y: FloatArray) -> FloatArray:
        """−⟨θ, z⟩."""
        return -(theta @ X.T)

    def _excess(self, thetas: FloatArray) -> FloatArray:
        return self.radius * self.bias - thetas @ self.mean


@dataclass(frozen=True)
class MeanEstimation(_Cube):
    """The squared distance ½‖θ − z‖² on corners of a cube: the mean is to be found, with a Hessian of full rank.

    0 < `bias` = ‖E z‖ <= 1, and the radius M is at least `bias`.

    >>> MeanEstimation(9, 0.5).excess(np.zeros(9))
    0.125
    """

    loss = "squared distance"
    smoothness = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.radius < self.bias:
            raise ValueError(f"radius must be at least the bias {self.bias!r}, got {self.radius!r}")

    @property
    def lipschitz(self) -> float:
        """M + 1, the distance between a θ in the ball and the corner across."""
        return self.radius + 1.0

    @property
    def minimiser(self) -> FloatArray:
        """E z."""
        return self.mean

    @property
    def least_risk(self) -> float:
        """Half the variance of z, (1 − ‖E z‖²)/2."""
        return (1 - self.bias**2) / 2

    def losses(self, theta: FloatArray, X: FloatArray, y: FloatArray) -> FloatArray:
        """½‖θ − z‖², with ‖z‖ = 1."""
        return ((theta**2).sum(axis=-1, keepdims=True) + 1.0) / 2 - theta @ X.T

    def _excess(self, thetas: FloatArray) -> FloatArray:
        return ((thetas - self.mean) ** 2).sum(axis=1) / 2


def hard_bias(n: int, d: int, epsilon: float, delta: float) -> float:
    """Find the bias at which the hard instance is hardest: max(1/√n, √d·σ_G/n), 1 at most.

    σ_G is the analytic Gaussian mechanism's noise at sensitivity 1 for the learner's (ε, δ), n the number of rows.

    >>> round(hard_bias(10_000, 500, 0.5, 1e-8), 4)
    0.0221
    """
    rows, dimension = positive_integer("n", n), positive_integer("d", d)
    noise = calibrate_gaussian(epsilon, delta).sigma
    return min(1.0, max(1 / math.sqrt(rows), math.sqrt(dimension) * noise / rows))


def unit_jacobi(count: int, exponent: float) -> tuple[FloatArray, FloatArray]:
    """Gauss nodes, `count` >= 1 of them, on [0, 1] for the weight (1 + a)(1 − q)^a of mass 1, a = `exponent` > −1.

    SciPy's own nodes overflow from about a = 1,000 on, as their weights have another mass.

    >>> nodes, weights = unit_jacobi(4, 0.0)
    >>> round(float(weights @ nodes**7), 12)
    0.125
    """
    k = np.arange(1, count, dtype=np.float64)
    total = 2 * k + exponent
    diagonal = np.empty(count)
    diagonal[0] = -exponent / (exponent + 2)
    diagonal[1:] = -(exponent**2) / (total * (total + 2))
    beside = 2 * k * (k + exponent) / (total * np.sqrt((total + 1) * (total - 1)))
    nodes, vectors = eigh_tridiagonal(diagonal, beside)
    return (1 + nodes) / 2, vectors[0] ** 2


def _first_coordinate(dimension: int) -> tuple[FloatArray, FloatArray]:
    """Nodes for |x₁|, x uniform on the unit sphere of dimension >= 2, dense towards 0, and weights of mass 1."""
    nodes, masses = np.polynomial.legendre.leggauss(16)
    top = min(math.pi / 2, 14 / math.sqrt(max(dimension - 2, 1)))
    edges = np.concatenate(([0.0], top * 2.0 ** np.arange(-24, 1)))
    half, middle = np.diff(edges) / 2, (edges[1:] + edges[:-1]) / 2
    angles = (middle[:, None] + half[:, None] * nodes).ravel()
    log_density = (dimension - 2) * np.log(np.cos(angles)) + math.log(2) - betaln(0.5, (dimension - 1) / 2)
    return np.sin(angles), (half[:, None] * masses).ravel() * np.exp(log_density)


def _softplus(u: FloatArray) -> FloatArray:
    return -log_expit(-u)


def _overshoot(x: FloatArray) -> FloatArray:
    """x + expm1(−x), also where the two nearly cancel."""
    series = x * x / 2 * (1 - x / 3 * (1 - x / 4 * (1 - x / 5 * (1 - x / 6))))
    return np.where(x < 1e-2, series, x + np.expm1(-x))
