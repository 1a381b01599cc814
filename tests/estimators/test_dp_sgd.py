"""DP-SGD: what it learns, how its learning rate is chosen, what it refuses."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone

from objpert_core.estimators import DPSGDLogisticRegression
from objpert_core.exceptions import PrivacyBudgetWarning
from objpert_core.learning.dp_sgd import training as dp_sgd_training
from objpert_core.learning.dp_sgd import tuning as dp_sgd_tuning
from objpert_core.learning.problem.rows import Rows
from tests.estimators.rows import labelled
from tests.learning.taking import peak_of

QUICK = {"epochs": 5, "classes": [0, 1]}


# Random allocation


@pytest.mark.slow
def test_every_row_is_used_once_in_each_epoch_and_the_sums_are_divided_by_the_expected_size(monkeypatch):
    used, sizes = [], []
    total = dp_sgd_training.Gradients.total

    def watched_total(self, batch, weights):
        used.append(batch)
        return total(self, batch, weights)

    monkeypatch.setattr(dp_sgd_training.Gradients, "total", watched_total)
    monkeypatch.setattr(dp_sgd_training.NoisySums, "add", lambda *_: sizes.append(1))
    X, y = labelled(n=300)
    options = {"batch_size": 80, "epochs": 2, "classes": [0, 1], "optimizer": "sgd", "learning_rate": 1.0}
    model = DPSGDLogisticRegression(sampling="allocation", random_state=0, public_rows=320, **options).fit(X, y)
    assert len(used) == len(sizes) == model.n_iter_ == 8
    for epoch in (used[:4], used[4:]):
        assert np.array_equal(np.sort(np.concatenate(epoch)), np.arange(300))
    rows, theta = Rows(X, "normalize", 0.3), np.zeros((6, 1))
    for batch in used:
        theta = theta - total(dp_sgd_training.Gradients(rows, 2.0 * y - 1.0, np.inf), batch, theta) / 80
    np.testing.assert_allclose(np.append(model.coef_, model.intercept_ / 0.3), theta.ravel(), rtol=1e-9)
    assert (model.privacy_.sample_rate, model.privacy_.steps) == (0.25, 8)


@pytest.mark.slow
def test_an_allocated_fit_learns_with_less_noise_and_verifies():
    X, y = labelled()
    poisson, allocated = (
        DPSGDLogisticRegression(sampling=sampling, random_state=0, **QUICK).fit(X[:1500], y[:1500])
        for sampling in ("poisson", "allocation")
    )
    assert allocated.privacy_.noise_multiplier < poisson.privacy_.noise_multiplier
    assert allocated.score(X[1500:], y[1500:]) > 0.8
    assert allocated.privacy_.verify(allocated)
    assert clone(allocated).set_params(batch_size=5000).fit(X, y).privacy_.verify()


# Choosing the learning rate


def watched_honest_fit(monkeypatch, **parameters):
    """The model, which rows of `X` were ever in a batch and which were ever counted, and the asked mean of K."""
    trained, counted, means = set(), set(), []
    total, right, count = dp_sgd_training.Gradients.total, dp_sgd_tuning.right_answers, dp_sgd_tuning.poisson_count

    def watched_total(self, batch, weights):
        trained.update(batch.tolist())
        return total(self, batch, weights)

    def watched_right(rows, targets, thetas, members=None):
        counted.update(range(rows.n_rows) if members is None else members.tolist())
        return right(rows, targets, thetas, members)

    def watched_count(source, mean):
        means.append(mean)
        return count(source, mean)

    monkeypatch.setattr(dp_sgd_training.Gradients, "total", watched_total)
    monkeypatch.setattr(dp_sgd_tuning, "right_answers", watched_right)
    monkeypatch.setattr(dp_sgd_tuning, "poisson_count", watched_count)
    options = QUICK | {"learning_rates": [0.03, 0.1], "mean_runs": 4.0, "validation_fraction": 0.3, "random_state": 1}
    return DPSGDLogisticRegression(**options | parameters).fit(*labelled(n=400)), trained, counted, means


@pytest.mark.slow
def test_no_row_is_both_trained_on_and_counted(monkeypatch):
    """The proof of honest tuning stands on it; nothing that is released would show it if it were not so."""
    model, trained, counted, means = watched_honest_fit(monkeypatch)
    assert model.privacy_.verify()
    assert model.candidates_
    assert len(trained) > 200
    assert len(counted) > 80
    assert not trained & counted
    assert trained | counted <= set(range(400))
    assert means == [model.privacy_.mean_runs] == [4.0]  # K is drawn with the mean that is accounted for


def test_honest_tuning_without_a_run_releases_zero():
    X, y = labelled(n=200)
    models = (
        DPSGDLogisticRegression(learning_rates=[0.1], mean_runs=0.05, random_state=seed, **QUICK).fit(X, y)
        for seed in range(50)
    )
    model = next(model for model in models if not model.candidates_)
    assert not model.coef_.any()
    assert not model.intercept_.any()
    assert model.learning_rate_ is None
    assert set(model.predict(X)) == {0}


@pytest.mark.slow
def test_choosing_without_paying_or_saying_so_warns():
    X, y = labelled(n=300)
    with pytest.warns(PrivacyBudgetWarning, match="nobody pays for the choice: privacy_ covers one run only"):
        model = DPSGDLogisticRegression(learning_rates=[0.01, 0.1], **QUICK).fit(X, y)
    assert model.privacy_.tuning == "dishonest"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", category=FutureWarning)  # options may be named flat
        DPSGDLogisticRegression(learning_rates=[0.01, 0.1], tuning="dishonest", **QUICK).fit(X, y)
        DPSGDLogisticRegression(learning_rates=[0.01, 0.1], mean_runs=2.0, **QUICK).fit(X, y)


# Data


@pytest.mark.thorough
def test_dense_rows_are_not_copied():
    X, y = labelled(n=20_000, d=60)
    model = DPSGDLogisticRegression(epochs=1, batch_size=1000, random_state=0, accountant="rdp")
    model.fit(X, y)  # imports and calibration tables
    assert peak_of(lambda: model.fit(X, y)) < 0.6 * X.nbytes


# Refusals

DISHONEST = {"tuning": "dishonest", "learning_rates": [0.1]}
ALLOCATED = {"sampling": "allocation"}


CONTRADICTIONS = [
    ({"tuning": "maybe", "learning_rates": [0.1]}, "tuning must be one of 'honest', 'dishonest', got 'maybe'"),
    ({"tuning": "honest"}, "tuning must be None where learning_rates is None, got 'honest'"),
    ({"mean_runs": 3.0}, "mean_runs must be None where learning_rates is None, got 3.0"),
    ({"tuning": "honest", "learning_rates": [0.1]}, "mean_runs must be a finite number > 0 for tuning='honest'"),
    (DISHONEST | {"mean_runs": 2.0}, "mean_runs must be None for tuning='dishonest', got 2.0"),
    (ALLOCATED | {"adjacency": "replace one row"}, "adjacency must be 'add/remove one row' for sampl"),
    (ALLOCATED | {"rows_per_person": 2}, "rows_per_person must be 1 for sampling='allocation', got 2"),
    (ALLOCATED | {"accountant": "rdp"}, "accountant must be 'pld' for sampling='allocation', got 'rdp'"),
    (
        ALLOCATED | {"learning_rates": [0.1], "mean_runs": 2.0},
        "mean_runs must be None for sampling='allocation', got 2.0",
    ),
    ({"learning_rates": [0.1, 0.0]}, "learning_rates must be a finite number > 0, got 0.0"),
    ({"learning_rate": 1e10}, r"learning_rate must be at most 1e\+09, got 10000000000\.0"),
    ({"learning_rates": [0.1, 2e9]}, r"learning_rates must be at most 1e\+09, got 2000000000\.0"),
    ({"learning_rates": "fine"}, "learning_rates must be a finite number > 0, got 'fine'"),
]


@pytest.mark.parametrize(("parameters", "message"), CONTRADICTIONS, ids=str)
def test_parameters_that_contradict_each_other_are_refused_before_the_data_are_touched(parameters, message):
    with pytest.raises(ValueError, match=message):
        DPSGDLogisticRegression(**parameters).fit(None, None)


def test_judges_must_be_complete_and_have_something_to_judge():
    X, y = labelled(n=300)
    tuned = {"learning_rates": [0.1], "mean_runs": 1.0}
    for parameters, judges, message in (
        (tuned, {"X_val": X}, "X_val and y_val must be given together"),
        ({}, {"X_val": X, "y_val": y}, "X_val must be None where learning_rates is None: there is nothing"),
        (tuned, {"X_val": X[:, :4], "y_val": y}, "X has 4 features"),
        (tuned, {"X_val": X, "y_val": y + 1}, r"y must hold only labels in classes=\[0, 1\], got 2"),
    ):
        with pytest.raises(ValueError, match=message):
            DPSGDLogisticRegression(**parameters).fit(X, y, **judges)
