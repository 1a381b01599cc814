"""Generated rows with known coefficients: even, correlated, skewed, rare, steep, and with a model that is wrong."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from objpert_core._validation import FloatArray, choice

CONSTANT = 0.3
"""The constant that every row gets, as from the estimators unless told."""
SHAPES = ("even", "correlated", "collinear", "skewed", "rare", "bent", "steep", "half-steep")
_LENGTH = 4.0  # of the coefficients
_SIZE = 0.8  # the typical norm of a row
_NEIGHBOUR = {"correlated": 0.7, "collinear": 0.95}  # correlation of columns side by side
_INTERCEPT = {"rare": -3.5, "skewed": -0.5}
_STEEP = {"steep": 1.0, "half-steep": 0.5}
_EFFECTS = (24.0, -18.0, 0.0, 6.0)  # of rows in the cube of edge 2/√d: scores have deviation 9, or half of it
_SHARE_OF_ONES = 0.2
_MANY = 400_000  # rows, from which the coefficients of a wrong model are read off


class Shape(NamedTuple):
    """Rows of norm at most 1 with the constant, the chance of a positive label, and the coefficients to be covered."""

    rows: FloatArray
    chances: FloatArray
    theta: FloatArray


def drawn(name: str, n: int, d: int, generator: np.random.Generator) -> Shape:
    """Rows of a shape, (n, d + 1), drawn anew; θ includes the intercept over the constant."""
    X = _rows(choice("name", name, SHAPES), n, d, generator)
    return Shape(X, _chances(name, X, _slopes(name, d)), truth(name, d))


def truth(name: str, d: int) -> FloatArray:
    """θ₀, shape (d + 1,): of a wrong model what minimises the expected loss, from many rows."""
    return _best(name, d) if name == "bent" else _slopes(name, d)


def _rows(name: str, n: int, d: int, generator: np.random.Generator) -> FloatArray:
    if name in _STEEP:
        return np.column_stack([generator.uniform(-1, 1, (n, d)) / math.sqrt(d), np.full(n, CONSTANT)])
    X = generator.standard_normal((n, d))
    if name in _NEIGHBOUR:
        own = _NEIGHBOUR[name]
        for column in range(1, d):
            X[:, column] = own * X[:, column - 1] + math.sqrt(1 - own**2) * X[:, column]
    if name in ("skewed", "bent"):
        X = generator.exponential(size=(n, d)) * 0.75
        X[:, ::2] = 1.1 * (generator.random((n, (d + 1) // 2)) < _SHARE_OF_ONES)
    X *= _SIZE / math.sqrt(d)
    X /= np.maximum(1.0, np.linalg.norm(X, axis=1))[:, None]
    return np.column_stack([X, np.full(n, CONSTANT)])


def _slopes(name: str, d: int) -> FloatArray:
    if name in _STEEP:
        return np.append(_STEEP[name] * np.resize(_EFFECTS, d), 0.0)
    theta = np.array([(-1.0) ** column * (1 + column % 3) for column in range(d)])
    return np.append(theta * _LENGTH / np.linalg.norm(theta), _INTERCEPT.get(name, 0.5) / CONSTANT)


def _chances(name: str, X: FloatArray, theta: FloatArray) -> FloatArray:
    scores = X @ theta
    return expit(3 * np.sin(1.5 * scores) if name == "bent" else scores)


@lru_cache(maxsize=64)
def _best(name: str, d: int) -> FloatArray:
    X = _rows(name, _MANY, d, np.random.default_rng(d))
    chances, theta = _chances(name, X, _slopes(name, d)), np.zeros(d + 1)
    for _ in range(25):
        p = expit(X @ theta)
        theta -= np.linalg.solve((X * (p * (1 - p))[:, None]).T @ X, X.T @ (p - chances))
    return theta
