"""Every loss there is, and targets for it."""

import numpy as np
import pytest

from objpert_core.learning import (
    AbsoluteLoss,
    EpsilonInsensitiveLoss,
    HingeLoss,
    HuberisedHingeLoss,
    HuberLoss,
    LogisticLoss,
    PinballLoss,
    SquaredHingeLoss,
    SquaredLoss,
)

CORNERED = [HingeLoss(), AbsoluteLoss(), PinballLoss(0.2), EpsilonInsensitiveLoss(0.3), EpsilonInsensitiveLoss(0.0)]
MARGINS = [LogisticLoss(), LogisticLoss(1.6), SquaredHingeLoss(), HuberisedHingeLoss(0.5), HuberisedHingeLoss(2.0)]
SMOOTH = [*MARGINS, SquaredLoss(), HuberLoss(1.0), HuberLoss(0.2)]
EVERY = [*CORNERED, *SMOOTH]
every = pytest.mark.parametrize("loss", EVERY, ids=repr)
cornered = pytest.mark.parametrize("loss", CORNERED, ids=repr)
smooth = pytest.mark.parametrize("loss", SMOOTH, ids=repr)


def targets_of(loss, n, seed=0):
    rng = np.random.default_rng(seed)
    return rng.choice([-1.0, 1.0], n) if loss.monotone else 3 * rng.normal(size=n)


def difference(function, scores, step):
    """The derivative of a function of scores, by central differences."""
    return (function(scores + step) - function(scores - step)) / (2 * step)
