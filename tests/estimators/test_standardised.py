"""Estimators on privately centred and scaled rows: what decides, what it costs the fit, and what it is good for."""

import pickle

import numpy as np
import pytest

import objpert_core.accounting as acc
import objpert_core.estimators as est

LABELS = {"classes": [0, 1]}
OFF = {"center_noise": None, "scale_noise": None}


def data(n=2000, d=6, seed=0):
    """Rows off centre whose signal lies in the smallest columns."""
    rng = np.random.default_rng(seed)
    sizes = np.array([10.0] + [0.3] * (d - 1))
    X = rng.normal(size=(n, d)) * sizes + np.array([30.0] + [0.0] * (d - 1))
    return X, (X[:, 1] + X[:, 2] > 0).astype(int)


def noises(certificate):
    return {name: getattr(certificate, name) for name in OFF}


# What decides


ASKED_OTHERWISE = [
    {"lam": 1.0},
    {"noise_ratio": 1.1},
    {"row_norm": "clip"},
    {"accountant": "rdp", "noise_ratio": 1.4},
    {"bound": "kifer2012"},
    {"standardize": False},
    {"standardize": np.bool_(False)},
    {"standardize": acc.Standardisation(None, None)},
]


@pytest.mark.thorough
@pytest.mark.parametrize("parameters", ASKED_OTHERWISE, ids=str)
def test_rows_stay_as_they_are_where_something_else_was_asked_for(parameters):
    model = est.ObjPertLogisticRegression(**LABELS, **parameters).fit(*data())
    assert (model.center_, model.scale_) == (None, None)
    assert noises(model.privacy_) == OFF
    assert "center_noise" not in model.privacy_.to_dict()
    assert model.privacy_.verify(model)


@pytest.mark.thorough
def test_the_rule_goes_by_public_numbers_alone():
    plan = acc.recommended_standardisation(1.0, 1e-5, 5000, 6)
    for X, y in (data(), data(n=300, seed=1)):
        spent = est.ObjPertLogisticRegression(**LABELS, public_rows=5000).fit(X, y).privacy_
        assert acc.Standardisation(**noises(spent)) == plan
        assert (spent.public_rows, spent.rows_declared, spent.adjacency) == (5000, True, "add/remove one row")
    spent = est.ObjPertLogisticRegression(**LABELS).fit(*data(n=300)).privacy_
    assert acc.Standardisation(**noises(spent)) == acc.recommended_standardisation(1.0, 1e-5, 300, 6)
    assert (spent.public_rows, spent.rows_declared) == (300, False)


@pytest.mark.thorough
def test_the_plan_can_be_read_without_data():
    model = est.ObjPertLogisticRegression(epsilon=0.5, **LABELS)
    planned, spent = model.planned(2000, 6), model.fit(*data()).privacy_
    assert (
        planned.standardisation
        == acc.Standardisation(**noises(spent))
        == acc.recommended_standardisation(0.5, 1e-5, 2000, 6)
    )
    assert planned.epsilon == acc.remaining_epsilon(0.5, 1e-5, planned.standardisation.mechanisms())
    assert planned.margin == model.margin_ == spent.loss_parameter
    public = planned.epsilon, 1e-5, 2000, 7, spent.radius
    assert planned.lam == acc.recommended_lam(*public)
    assert planned.margin == acc.recommended_margin(*public, standardised=True)
    assert spent.lam >= planned.lam
    assert model.planned(2000, 6, sparse=True).standardisation.center_noise is None
    assert model.set_params(public_rows=77).planned(2000, 6) == model.planned(77, 6)
    given = model.set_params(lam=1.0).planned(2000, 6)
    assert (given.standardisation, given.terms.steps) == (acc.Standardisation(None, None), ())
    assert (given.epsilon, given.lam, given.margin) == (0.5, 1.0, 0.0)
    with pytest.raises(ValueError, match="rows must be a whole number >= 1, got 0"):
        model.planned(0, 6)


# What it costs


COSTS = [
    ({}, 1e-4),
    ({"bound": "monotone"}, 1e-4),
    pytest.param({"accountant": "rdp", "standardize": True}, 1e-4, marks=pytest.mark.slow),
    pytest.param({"adjacency": "replace one row"}, 2e-2, marks=pytest.mark.slow),
    pytest.param({"rows_per_person": 2}, 2e-2, marks=pytest.mark.exhaustive),
]


@pytest.mark.thorough
@pytest.mark.parametrize(("parameters", "slack"), COSTS, ids=str)
def test_the_fit_gets_what_the_sums_leave_and_all_of_it(parameters, slack):
    model = est.ObjPertLogisticRegression(**LABELS, public_rows=2000, random_state=0, **parameters).fit(*data())
    spent = model.privacy_
    adjacency, people = spent.mechanism_adjacency, spent.rows_per_person
    before = acc.Standardisation(**noises(spent)).mechanisms(adjacency)
    whole = acc.composed_fit(spent.rebuild(), before, rows_per_person=people, accountant=spent.accountant)
    assert (1 - slack) * 1e-5 <= whole.delta(1.0) <= 1e-5
    assert len(before) == 2
    assert spent.verify(model)
    rule = acc.full_standardisation if model.standardize is True else acc.recommended_standardisation
    assert acc.Standardisation(**noises(spent)) == rule(1.0, 1e-5, 2000, 6, adjacency=adjacency, rows_per_person=people)
    alone = acc.calibrate_objective_perturbation(
        1.0, 1e-5, spent.radius, bound=spent.bound, tau=spent.tau, accountant=spent.accountant,
        adjacency=adjacency, rows_per_person=people, lam=spent.lam,
    )  # fmt: skip
    assert spent.sigma > alone.objective.sigma


@pytest.mark.thorough
def test_a_certificate_says_what_went_by_the_number_of_rows():
    X, y = data()
    svc = est.ObjPertSVC(**LABELS, standardize=True, random_state=0).fit(X, y)
    assert "public     center and scale were chosen for 2000 rows" in repr(svc.privacy_)
    model = est.ObjPertLogisticRegression(
        **LABELS, lam=0.5, standardize=acc.Standardisation(None, 40.0), random_state=0
    )
    assert "public     scale or lam was chosen for 2000 rows" in repr(model.fit(X, y).privacy_)
    model = est.OutputPerturbationLogisticRegression(**LABELS, standardize=False, public_rows=2000, random_state=0)
    assert "public     lam was chosen for 2000 rows, a number that" in repr(model.fit(X, y).privacy_)


# What it is good for


@pytest.mark.thorough
@pytest.mark.parametrize(
    "kind", [est.ObjPertLogisticRegression, est.OutputPerturbationLogisticRegression, est.ObjPertSVC]
)
def test_rows_off_centre_with_small_columns_are_learned_from(kind):
    (X, y), (X_test, y_test) = data(n=4000), data(n=4000, seed=9)
    raw, mapped = (
        kind(**LABELS, random_state=0, standardize=choice).fit(X, y).score(X_test, y_test) for choice in (False, "auto")
    )
    assert 1 - mapped < min(0.15, (1 - raw) / 2)


def test_a_model_that_was_stored_before_there_were_maps_is_read():
    model = est.ObjPertLogisticRegression(**LABELS, standardize=False, random_state=0).fit(*data())
    older = pickle.loads(pickle.dumps(model))
    del older.standardize
    np.testing.assert_array_equal(older.predict(data()[0]), model.predict(data()[0]))
    assert older.privacy_.verify(older)
