"""A search is paid for in one certificate, plans what it spends by public numbers, and chooses what is better."""

import dataclasses
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import objpert_core.estimators as est
from objpert_core.accounting import compose
from objpert_core.evaluation import evaluate, split_by_coin, together
from objpert_core.exceptions import ConvergenceError, UncoveredDataWarning
from objpert_core.learning import PrivacyCertificate
from objpert_core.learning.allowance import Allowance

rng = np.random.default_rng(0)
X = rng.normal(size=(4000, 3))
X[:, 2] *= 30
y = (X[:, 0] + 0.3 * rng.normal(size=4000) > 0).astype(int)
ONE = est.OutputPerturbationLogisticRegression(classes=[0, 1], public_rows=4000)
GRID = {"row_norm": ["normalize", "clip"], "margin": [0.0, 0.5]}


def search(one=ONE, grid=GRID, **parameters):
    return est.PrivateSearch(one, grid, **{"random_state": 0} | parameters)


@pytest.fixture(scope="module")
def found():
    return search().fit(X, y)


@pytest.mark.filterwarnings("ignore::objpert_core.exceptions.PrivacyBudgetWarning")
def test_one_certificate_covers_fits_scores_and_choice(found):
    spent = found.privacy_
    assert (spent.epsilon, spent.delta, spent.public_rows) == (1.0, 1e-5, 2800)
    assert spent.verify()
    assert spent.verify(found.best_estimator_)
    assert spent.verify(found.best_estimator_.release())
    assert found.best_estimator_.privacy_ is spent
    assert PrivacyCertificate.from_json(spent.to_json()) == spent
    own = spent.fit_certificate
    assert 0.3 < own.epsilon < 0.6
    assert 0.95 < spent.rebuild().epsilon(1e-5) <= 1.0
    assert len(spent.settings) == 4
    assert "all 4 settings, composed" in repr(spent)
    for forged in ({"reproducible": False, "noise_source": "operating system"}, {"on_error": "release"}):
        assert not dataclasses.replace(spent, **forged).verify(), forged
    assert not spent.verify(ONE.__class__(classes=[0, 1], public_rows=2800, random_state=3).fit(X, y))


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore::objpert_core.exceptions.PrivacyBudgetWarning")
def test_a_searchs_certificate_names_its_model_and_stands_for_all_of_it_beside_scores():
    X_train, X_test, y_train, y_test = split_by_coin(X, y, random_state=0)
    whole = search(grid={"margin": [0.0, 0.5]}).fit(X_train, y_train)
    scores = evaluate(whole.best_estimator_, X_test, y_test, random_state=0)
    assert whole.privacy_.coefficients_sha256 == scores.certificate.coefficients_sha256
    both = together(whole.privacy_, scores)
    assert (both.epsilon, both.delta) == (1.0, 1e-5)
    assert both.verify(whole.best_estimator_)
    assert PrivacyCertificate.from_json(both.to_json()) == both
    again = together(whole.privacy_, scores, "same rows")
    apart = [one.accounted(one.rebuild()) for one in (whole.privacy_, scores.certificate)]
    assert again.epsilon == compose(*apart).epsilon(2e-5) > 1.0
    assert again.verify(whole.best_estimator_)
    with pytest.raises(ValueError, match=r"must be a whole, .* of a “private search”"):
        together(whole.privacy_.fit_certificate, scores)


def test_a_search_of_an_earlier_text_verifies_and_its_parts_stand_for_nothing(found):
    """Texts did not say what is part of what, and a search did not name its model."""
    values = found.privacy_.to_dict()
    for part in (values["fit"], *values["settings"]):
        assert part.pop("part_of") == "private search"
    values |= {"coefficients_sha256": None, "lattice": None}
    old = PrivacyCertificate.from_dict(values)
    assert old.verify(found.best_estimator_)
    assert old.to_dict() == values
    assert not old.fit_certificate.verify()
    assert not dataclasses.replace(found.privacy_, coefficients_sha256="0" * 64).verify()
    assert not dataclasses.replace(found.privacy_, fit=values["fit"] | {"part_of": "fit and evaluation"}).verify()


def test_it_answers_as_scikit_learns_searches_do(found):
    assert found.best_params_ in [{"row_norm": norm, "margin": m} for norm in GRID["row_norm"] for m in GRID["margin"]]
    assert found.best_params_["row_norm"] == found.best_estimator_.row_norm == found.privacy_.row_norm
    assert 0 <= found.best_score_ <= 1
    assert found.classes_.tolist() == [0, 1]
    assert found.n_features_in_ == 3
    for name in ("predict", "predict_proba", "decision_function"):
        np.testing.assert_array_equal(getattr(found, name)(X), getattr(found.best_estimator_, name)(X))
    assert found.score(X, y) == found.best_estimator_.score(X, y)
    assert not hasattr(search(est.ObjPertRegressor()), "predict_proba")


def test_the_better_setting_wins():
    """One column that is never negative: without an intercept every answer is the same."""
    ages = rng.uniform(0, 1, size=(4000, 1))
    grid = {"fit_intercept": [False, True], "intercept_scaling": [1.0]}
    model = search(
        est.OutputPerturbationLogisticRegression(classes=[0, 1], public_rows=4000, advanced={"row_norm": "clip"}),
        grid,
        epsilon=8.0,
    ).fit(ages, (ages[:, 0] > 0.5).astype(int))
    assert model.best_params_["fit_intercept"]
    assert model.best_score_ > 0.8
    assert evaluate(model.best_estimator_, ages, y, random_state=0).verify(model.best_estimator_)


@pytest.mark.thorough
def test_with_many_settings_a_random_number_is_tried():
    many = search(grid={"margin": np.linspace(0, 2, 25).tolist()}).fit(X, y)
    assert many.privacy_.mean_runs == pytest.approx(-25 * np.log(0.1))
    assert many.privacy_.verify(many.best_estimator_)
    assert "the best of K runs" in repr(many.privacy_)
    assert not dataclasses.replace(many.privacy_, mean_runs=None).verify()


def test_no_seed_takes_all_chance_from_the_operating_system():
    models = [search(grid={"margin": [0.0]}, random_state=None).fit(X, y) for _ in range(2)]
    assert models[0].privacy_.noise_source == "operating system"
    assert not np.array_equal(models[0].best_estimator_.coef_, models[1].best_estimator_.coef_)
    seeded = [search(grid={"margin": [0.0]}).fit(X, y) for _ in range(2)]
    np.testing.assert_array_equal(seeded[0].best_estimator_.coef_, seeded[1].best_estimator_.coef_)
    assert seeded[0].privacy_.reproducible


def test_a_number_of_rows_that_was_read_off_is_admitted():
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model = search(est.ObjPertLogisticRegression(), {"standardize": [False]}).fit(X, y)
    assert {warning.category for warning in told} <= {UncoveredDataWarning}  # and none of copies
    assert "data sets of the same size m" in model.privacy_.adjacency
    assert model.privacy_.rows_declared is False
    assert model.privacy_.verify(model.best_estimator_)


@pytest.mark.parametrize(
    ("rows", "labels"),
    [(sp.csr_array(X), y), (pd.DataFrame(X, columns=list("abc")), pd.Series(y)), (X.tolist(), y.tolist())],
    ids=["sparse", "frame", "lists"],
)
def test_rows_may_be_in_any_container(rows, labels):
    assert search(grid={"margin": [0.0, 1.0]}).fit(rows, labels).privacy_.verify()


@pytest.mark.thorough
def test_a_grid_names_advanced_options_as_it_likes():
    found = [search(grid={name: ["clip", "normalize"]}).fit(X, y) for name in ("row_norm", "advanced__row_norm")]
    assert found[0].privacy_ == found[1].privacy_
    assert list(found[1].best_params_) == ["advanced__row_norm"]


@pytest.mark.thorough
def test_regressions_and_several_classes_are_searched():
    errors = search(est.ObjPertRegressor(target_range=(-3.0, 3.0)), {"row_norm": ["clip"]}, largest_error=3.0).fit(
        X, X[:, 0]
    )
    assert errors.best_score_ <= 0
    assert errors.privacy_.verify(errors.best_estimator_)
    three = np.digitize(X[:, 0], [-0.5, 0.5])
    one = est.ObjPertLogisticRegression(classes=[0, 1, 2], public_rows=4000)
    with pytest.raises(ValueError, match="for 3 classes"):
        search(one, {"margin": [0.0]}, scoring="auc").fit(X, three)
    model = search(one, {"standardize": [False], "margin": [0.0]}, epsilon=4.0).fit(X, three)
    assert model.predict(X).shape == (4000,)
    assert model.privacy_.verify(model.best_estimator_)
    assert model.predict_proba(X).shape == (4000, 3)


def test_rows_of_one_person_share_a_coin():
    one = est.OutputPerturbationLogisticRegression(classes=[0, 1], public_rows=4000, rows_per_person=2)
    with pytest.raises(ValueError, match="groups must"):
        search(one, {"margin": [0.0]}).fit(X, y)
    model = search(one, {"margin": [0.0, 1.0]}).fit(X, y, groups=np.arange(4000) // 2)
    assert model.privacy_.rows_per_person == 2
    assert model.privacy_.verify(model.best_estimator_)


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"grid": {"epsilon": [1.0]}}, "param_grid must name"),
        ({"grid": {"C": [1.0]}}, "param_grid must name"),
        ({"grid": {"margin": []}}, "param_grid must map"),
        ({"grid": 3}, "param_grid must map"),
        ({"one": 3}, "estimator must"),
        ({"one": est.ObjPertLogisticRegression(on_error="release")}, "on_error must"),
        ({"epsilon": 0.0}, "epsilon must"),
        ({"test_share": 1.0}, "test_share must"),
        ({"scoring": "f1"}, "scoring must"),
        ({"scoring": "neg_mean_absolute_error"}, "scoring must"),
        ({"largest_error": 1.0}, "largest_error must"),
        ({"random_state": -1}, "random_state must"),
    ],
    ids=lambda one: next(iter(one)) if isinstance(one, dict) else "",
)
def test_what_makes_no_sense_is_refused_before_the_data_are_touched(parameters, said):
    with pytest.raises(ValueError, match=said):
        search(**parameters).fit(None, None)


def test_a_fit_that_fails_releases_nothing():
    model = search(
        est.ObjPertLogisticRegression(classes=[0, 1], public_rows=4000, advanced={"max_iter": 1}),
        {"standardize": [False]},
    )
    with pytest.raises(ConvergenceError):
        model.fit(X, y)
    assert not hasattr(model, "best_estimator_")


@pytest.mark.thorough
def test_only_the_released_model_warns_of_its_numbers(monkeypatch):
    """Of a random number of runs one is paid for: a warning by another one would tell of it."""
    warned = []
    monkeypatch.setattr("objpert_core.estimators.base.warn_of_one_answer", lambda model, _: warned.append(model))
    rare = (np.arange(4000) % 50 == 0).astype(int)
    one = est.ObjPertLogisticRegression(classes=[0, 1], public_rows=4000)
    model = search(one, {"margin": np.linspace(0, 2, 25).tolist()}, epsilon=4.0).fit(X, rare)
    assert warned == [model.best_estimator_]


def test_a_searchs_model_with_intervals_has_a_summary():
    one = est.ObjPertLogisticRegression(classes=[0, 1], public_rows=4000, intervals=True, advanced={"row_norm": "clip"})
    model = search(one, {"intercept_scaling": [0.5]}, epsilon=4.0).fit(X, y)
    assert model.privacy_.verify(model.best_estimator_)
    assert (model.best_estimator_.summary()["std err"] > 0).all()


@pytest.mark.thorough
def test_a_choice_that_nobody_pays_for_is_refused():
    one = est.DPSGDLogisticRegression(classes=[0, 1], public_rows=2800, epochs=1, tuning="dishonest")
    with pytest.raises(ValueError, match=r"^tuning must be 'none' or 'honest' in a search, .* got 'dishonest'$"):
        search(one.set_params(learning_rates=[0.1, 0.2]), {"clip": [0.5, 1.0]}).fit(X, y)


@pytest.mark.parametrize("rows", [50, 300])
def test_rows_that_are_too_few_for_ranges_are_named_too(rows):
    one = est.OutputPerturbationLogisticRegression(classes=[0, 1], feature_ranges="private", lam=5.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = search(one, {"lam": [5.0, 9.0]}, epsilon=4.0).fit(X[:rows], y[:rows])
    assert (model.best_estimator_.feature_ranges_ is None) == (rows == 50)
    assert model.privacy_.rows_declared is False
    assert f"same size m = {model.privacy_.public_rows}, known to all" in model.privacy_.adjacency
    assert model.privacy_.verify(model.best_estimator_)


def test_a_search_reads_no_number_of_rows_that_no_rule_goes_by(monkeypatch):
    """Not even for a default of τ, which a number of rows that no certificate names must not raise."""
    monkeypatch.setattr(Allowance, "least_tau", lambda numbers: 5e-9 * numbers.n_rows)  # as many rows would ask for
    one = est.ObjPertSVC(classes=[0, 1])
    with pytest.raises(ConvergenceError, match="tau is too small"):
        search(one, {"clip": [1.0]}).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UncoveredDataWarning)
        model = search(one, {"clip": [1.0]}).fit(X[:60], y[:60])
    assert (model.privacy_.public_rows, model.privacy_.adjacency) == (None, "add/remove one row")
    assert model.best_estimator_.tau == 1e-6


def test_a_search_names_the_rows_where_one_setting_of_several_reads_them():
    one = est.ObjPertLogisticRegression(classes=[0, 1], standardize=False)
    model = search(one, {"lam": [5.0, None]}).fit(X, y)
    assert model.privacy_.rows_declared is False
    assert model.privacy_.verify(model.best_estimator_)
