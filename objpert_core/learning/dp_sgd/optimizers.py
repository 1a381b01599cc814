"""The update rules of DP-SGD, for several candidates at once: one column each, one learning rate each."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from objpert_core._validation import FloatArray

_DECAY, _DECAY_OF_SQUARES, _TINY = 0.9, 0.999, 1e-8  # Adam's usual constants


class Optimizer(ABC):
    """Moves parameters of shape (D, G), from 0, along gradients of that shape; each column has a learning rate."""

    def __init__(self, shape: tuple[int, int], learning_rates: FloatArray) -> None:
        self.weights = np.zeros(shape)
        self.learning_rates = learning_rates

    @abstractmethod
    def step(self, gradient: FloatArray) -> None:
        """One update of `weights`, in place; `gradient` is overwritten."""


class SGD(Optimizer):
    """θ ← θ − η·g."""

    def step(self, gradient: FloatArray) -> None:
        gradient *= self.learning_rates
        self.weights -= gradient


class Adam(Optimizer):
    """Adam (Kingma and Ba 2015, Algorithm 1) with its usual constants: β₁ = 0.9, β₂ = 0.999, 1e-8 added to the root."""

    def __init__(self, shape: tuple[int, int], learning_rates: FloatArray) -> None:
        super().__init__(shape, learning_rates)
        self._mean, self._square, self._work = np.zeros(shape), np.zeros(shape), np.empty(shape)
        self._steps = 0

    def step(self, gradient: FloatArray) -> None:
        self._steps += 1
        work = self._work
        self._mean *= _DECAY
        np.multiply(gradient, 1 - _DECAY, out=work)
        self._mean += work
        self._square *= _DECAY_OF_SQUARES
        gradient *= gradient
        gradient *= 1 - _DECAY_OF_SQUARES
        self._square += gradient
        # (m/(1 − β₁ᵗ)) / (√(v/(1 − β₂ᵗ)) + tiny)
        np.sqrt(self._square, out=work)
        work *= (1 - _DECAY_OF_SQUARES**self._steps) ** -0.5
        work += _TINY
        np.divide(self._mean, work, out=work)
        work *= self.learning_rates / (1 - _DECAY**self._steps)
        self.weights -= work


OPTIMIZERS: dict[str, type[Optimizer]] = {"adam": Adam, "sgd": SGD}
"""Optimisers by name."""
