"""What people bring from scikit-learn by habit, and errors that say which entry and what to do."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer

import objpert_core.estimators as est
from objpert_core.estimators import DPSGDLogisticRegression, ObjPertLogisticRegression

ROWS = np.random.default_rng(0).normal(size=(60, 3))
LABELS = (ROWS[:, 0] > 0).astype(int)


@pytest.mark.parametrize(
    ("kind", "name", "answer"),
    [
        (est.OutputPerturbationLogisticRegression, "C", "λ is `lam`, about 1/C"),
        (est.ObjPertSVC, "C", "λ follows from `epsilon`, `delta` and `noise_ratio`"),
        (est.QOPLasso, "C", "the penalty is `alpha` times"),
        (est.OPSPTRRegressor, "alpha", "the candidates for λ are `lams`"),
        (est.AdaSSPRegressor, "alpha", "λ follows from `epsilon`, `delta` and a noisy eigenvalue"),
        (est.PhasedERMClassifier, "alpha", "the ball of `radius`, and there is no penalty"),
        (est.DPSGDLogisticRegression, "alpha", "there is no penalty"),
        (est.ObjPertSVC, "tol", "ends at the gradient norm `tau`"),
        (est.DPSGDLogisticRegression, "max_iter", "`epochs` and `batch_size` fix the number of steps"),
        (est.NoisySGDRegressor, "tol", "`schedule` fixes the number of steps"),
        (est.PhasedERMClassifier, "max_iter", "as far as the mechanism needs"),
        (est.AdaOPSRegressor, "max_iter", "nothing iterates"),
        (est.QOPLasso, "penalty", "the penalty is `alpha` times"),
        (est.ObjPertRegressor, "l1_ratio", "the penalty is λ/2‖θ‖²; QOPLasso"),
        (est.NoisySGDClassifier, "penalty", "there is no penalty"),
    ],
)
def test_the_answer_to_a_habit_depends_on_what_the_model_has(kind, name, answer):
    with pytest.raises(TypeError, match=rf"^{kind.__name__} has no parameter '{name}': .*{answer}"):
        kind(**{name: 1.0})


@pytest.mark.parametrize("found", [np.nan, np.inf, 1e200])
def test_an_entry_that_cannot_be_used_is_named_with_its_column_and_what_to_do(found):
    bad = ROWS.copy()
    bad[7, 1] = found
    names = ["age", "pay", "job"]
    model = ObjPertLogisticRegression(classes=[0, 1], public_rows=60)
    trained = clone(model).fit(pd.DataFrame(ROWS, columns=names), LABELS)
    for rows, column in (
        (bad, "1"),
        (np.asfortranarray(bad), "1"),
        (sp.csr_array(bad), "1"),
        (pd.DataFrame(bad, columns=names), "'pay'"),
        (pl.DataFrame(bad, schema=names), "'pay'"),
    ):
        match = rf"in row 7, column {column}: fill it by a public rule, or leave such rows out"
        for kind in (model, DPSGDLogisticRegression(classes=[0, 1])):
            with pytest.raises(ValueError, match=match):
                clone(kind).fit(rows, LABELS)
    with pytest.raises(ValueError, match="in row 7, column 'pay'"):
        trained.predict(pd.DataFrame(bad, columns=names))


@pytest.mark.parametrize(
    ("classes", "labels", "refused"),
    [
        (["0", "1"], LABELS, True),
        (["0", "1"], pd.Series(LABELS), True),
        (["0", "1", "2"], LABELS, True),
        ([0, 1], LABELS.astype(str), True),
        ([0.0, 1.0], LABELS, False),
        ([0, 1], LABELS > 0, False),
        (["0", "1"], LABELS.astype(object), False),  # each entry has a type of its own, which is not public
    ],
)
def test_labels_of_another_type_than_the_classes_are_refused_where_no_row_would_count(classes, labels, refused):
    model = ObjPertLogisticRegression(classes=classes, on_error="release", public_rows=60, random_state=0)
    if refused:
        with pytest.raises(ValueError, match=r"^classes must be of the type of y, .*: no row would count"):
            model.fit(ROWS, labels)
    else:
        assert model.fit(ROWS, labels).privacy_.on_error == "release"


@pytest.mark.thorough
def test_dp_sgd_left_to_its_rules_uses_all_of_few_rows_in_every_step():
    few = DPSGDLogisticRegression(classes=[0, 1], public_rows=999, random_state=0).fit(ROWS, LABELS).privacy_
    assert (few.sample_rate, few.steps, few.candidates) == (1.0, 60, (0.5,))
    for given in ({"learning_rate": 0.03}, {"batch_size": 256}, {"public_rows": 1000}, {"optimizer": "sgd"}):
        asked = {"classes": [0, 1], "public_rows": 999, "random_state": 0, "epochs": 2} | given
        spent = DPSGDLogisticRegression(**asked).fit(ROWS, LABELS).privacy_
        assert (spent.batch_size, spent.candidates) == (256, (0.03,))


@pytest.mark.thorough
def test_dp_sgd_learns_from_few_rows_that_are_much_alike():
    """Raw cells, of nearly one direction: with steps of 0.03 every answer is the majority's."""
    X, y = load_breast_cancer(return_X_y=True)

    def right(**given):
        models = [DPSGDLogisticRegression(4.0, classes=[0, 1], random_state=seed, **given) for seed in range(4)]
        return np.mean([model.fit(X, y).score(X, y) for model in models])

    assert right(learning_rate=0.03) < 0.66
    assert right() > 0.72
