"""What the comparison with other libraries measures."""

import numpy as np
import pytest

from benchmarks.learners_peers import FITS, scores
from objpert_core.datasets import load

CONSTANT = 0.3


def test_coefficients_are_of_rows_with_the_constant():
    X = np.array([[1.0, 2.0], [0.0, -1.0]])
    assert scores(np.array([1.0, 0.5, 10.0]), X, CONSTANT).tolist() == [5.0, 2.5]


@pytest.mark.slow
def test_a_model_of_ours_is_judged_with_its_centre_and_scales():
    data = load("breast-cancer")
    task = {"epsilon": 8.0, "delta": 1e-5, "seed": 0, "parameters": {"estimator": "ObjPertLogisticRegression"}}
    model = FITS["objpert"](data.X_train, data.y_train, task)
    assert model.center_ is not None
    right = (scores(model, data.X_test, CONSTANT) > 0) == (data.y_test == 1)
    assert np.mean(right) == model.score(data.X_test, data.y_test) > 0.85
