"""A search seen from inside is the search: the same runs, the same winner, the same ε for each fit."""

import pytest
from sklearn.model_selection import ParameterGrid

from objpert_core import datasets
from objpert_core.accounting import compose
from objpert_core.estimators import ObjPertLogisticRegression, PrivateSearch
from objpert_core.experiments.studies.searches import GRID, searched


@pytest.mark.thorough
def test_the_runs_are_those_of_a_private_search_with_the_same_seed():
    data = datasets.load("breast-cancer")
    found = searched(data, 4.0, 1e-5, 7)
    own = ObjPertLogisticRegression(classes=[0, 1], public_rows=len(data.X_train))
    search = PrivateSearch(own, GRID, 4.0, 1e-5, random_state=7).fit(data.X_train, data.y_train)
    assert [one.setting for one in found.candidates] == list(ParameterGrid(dict(GRID)))
    assert found.best is found.candidates[search.best_index_]
    assert found.best.score.value == search.best_score_
    assert found.best.worth == search.score(data.X_test, data.y_test)
    assert found.fit_epsilon == search.privacy_.fit_certificate.epsilon
    alone = ObjPertLogisticRegression(4.0, 1e-5, classes=[0, 1], public_rows=len(data.X_train), random_state=7)
    assert found.fixed == alone.fit(data.X_train, data.y_train).score(data.X_test, data.y_test)


@pytest.mark.thorough
def test_unpaid_fits_spend_what_their_certificates_compose_to():
    found = searched(datasets.load("digits-4-9"), 1.0, 1e-5, 0)
    assert found.fit_epsilon < 1 < found.unpaid_epsilon
    one = ObjPertLogisticRegression(1.0, 1e-5, classes=[0, 1], public_rows=200, random_state=0)
    data = datasets.load("digits-4-9")
    fit = one.fit(data.X_train, data.y_train).privacy_
    assert compose(*[fit.rebuild()] * 4).epsilon(1e-5) == pytest.approx(found.unpaid_epsilon, rel=0.1)
