"""Rows that a linear model nearly explains."""

import numpy as np


def labelled(n=2000, d=5, seed=0):
    """Normal rows, and the side of a plane that each is on, but for noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X @ rng.normal(size=d) + 0.3 * rng.normal(size=n) > 0).astype(int)


def numbered(n=2000, d=4, noise=0.1, seed=0):
    """Features in the unit ball, targets of size about 1."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, d)) / np.sqrt(d)
    return X, X @ np.linspace(1, -1, d) + 0.2 + noise * rng.normal(size=n)
