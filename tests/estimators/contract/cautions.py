"""What is warned of, and how often."""

import pickle
import warnings

import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from objpert_core.estimators import PublicRangeScaler
from objpert_core.estimators.cautions import forget_cautions
from objpert_core.exceptions import PrivacyBudgetWarning, UncoveredDataWarning
from tests.estimators.contract.case import Case


def one_fit_at_a_time_does_not_warn(case: Case) -> None:
    X, y = case.data
    known = case.of(classes=case.labels, public_rows=len(y))
    forget_cautions()
    with warnings.catch_warnings():
        warnings.simplefilter("error", PrivacyBudgetWarning)
        model = case.new(**known)
        model.fit(X, y).fit(2 * X, y)  # other data
        clone(model).fit(X, y)
        for step in (FunctionTransformer(), PublicRangeScaler(-9.0, 9.0)):
            clone(make_pipeline(step, case.new(**known))).fit(X, y).predict(X)


def what_the_promise_does_not_cover_is_told_once(case: Case) -> None:
    X, y = case.data
    forget_cautions()
    unknown = case.of(classes=None, public_rows=None, lam=None, noise_ratio=None)
    pipeline = make_pipeline(StandardScaler(), case.new(**unknown))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", UncoveredDataWarning)
        pipeline.fit(X, y)
        pipeline.fit(X, y)
    texts = [str(one.message) for one in told if one.category is UncoveredDataWarning]
    read = {"classes", "public_rows"} & unknown.keys() - (set() if case.reads_rows else {"public_rows"})
    for name in ("classes", "public_rows"):
        assert sum(text.startswith(f"{name}=None: ") for text in texts) == (name in read)
    assert sum("pipeline fits StandardScaler on the data" in text for text in texts) == 1
    assert len(texts) == 1 + len(read)


def fitting_the_same_data_again_is_told_once(case: Case) -> None:
    X, y = case.data
    forget_cautions()
    model = case.fit()
    with pytest.warns(PrivacyBudgetWarning, match="fitted again to the same data") as told:
        model.fit(X.copy(), y.copy()).fit(X, y)
    again = [one for one in told if "fitted again" in str(one.message)]
    assert [one.filename for one in again] == [__file__]


def what_was_fitted_before_is_in_no_pickle(case: Case) -> None:
    model = case.fit()
    known = set(vars(case.fit()))
    assert set(vars(model)) == known
    again = pickle.loads(pickle.dumps(model))
    with warnings.catch_warnings():
        warnings.simplefilter("error", PrivacyBudgetWarning)
        warnings.simplefilter("ignore", UncoveredDataWarning)
        again.fit(*case.data)


def fitting_several_copies_warns_that_each_spends_budget(case: Case) -> None:
    forget_cautions()
    with pytest.warns(PrivacyBudgetWarning, match=r"Every fit spends its own \(epsilon, delta\)") as told:
        cross_val_score(case.new(), *case.data, cv=3)
    assert sum("Several copies" in str(one.message) for one in told) == 1  # once a process
    forget_cautions()
    model = case.new()
    clones = clone(model), clone(model)
    with pytest.warns(PrivacyBudgetWarning, match=f"Several copies of one {type(model).__name__}") as told:
        clones[1].fit(*case.data)
    assert told[0].filename == __file__  # it points at the line that fits
