"""What is no tilt of a strongly convex objective has to be refused, whatever type it comes in."""

import numpy as np
import pytest

from objpert_core.learning.problem.objective import PerturbedObjective
from objpert_core.learning.problem.rows import Rows

INDEFINITE = [[1.0, 0.0], [0.0, -20.0]]
CROOKED = [[1.0, 1.0], [0.0, 1.0]]


def objective(lam=1.0, linear=(0.5, 0.5)):
    rows = Rows(np.array([[1.0, 0.0], [0.0, 1.0]]), "clip")
    return PerturbedObjective(rows, np.array([1.0, -1.0]), lam=lam, linear=linear)


@pytest.mark.parametrize("lam", [0.0, -1.0, np.nan, np.inf, np.array(-1.0), INDEFINITE, CROOKED], ids=str)
def test_a_quadratic_term_that_is_not_positive_definite_is_refused(lam):
    with pytest.raises(ValueError, match="lam must be"):
        objective(lam=lam)


@pytest.mark.parametrize("linear", [np.ones(1), np.array(1.0)], ids=str)
def test_a_linear_term_of_another_length_is_refused(linear):
    with pytest.raises(ValueError, match="linear must be"):
        objective(linear=linear)
