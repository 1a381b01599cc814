"""Every estimator that stops at `tau` ends with its default at ordinary sizes, tall and wide."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import is_classifier

from objpert_core import estimators
from objpert_core.estimators.recipe import Public
from objpert_core.exceptions import ConvergenceError
from objpert_core.learning.allowance import Allowance
from tests.estimators.contract.case import names_of

SOLVED = sorted(
    (
        kind
        for kind in map(estimators.__dict__.__getitem__, estimators.__all__)
        if hasattr(kind, "fit_beside") and "tau" in names_of(kind()) and not kind.reads_tables  # which are not sparse
    ),
    key=lambda kind: kind.__name__,
)


assert len(SOLVED) == 6


def model(kind, **options):
    named = names_of(kind())
    told = {"classes": [0, 1], "random_state": 0} | options
    return kind(**{name: value for name, value in told.items() if name in named})


def sparse(n, d, entries=10):
    rng = np.random.default_rng(0)
    places = np.minimum(rng.integers(0, d, (2, n, entries)).min(axis=0), d - 1)
    X = sp.csr_array((rng.random(n * entries) + 0.1, places.ravel(), np.arange(0, n * entries + 1, entries)), (n, d))
    X.sum_duplicates()
    return X, (X @ rng.normal(size=d) > 0).astype(float)


def dense(n, d):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    return X, (X @ rng.normal(size=d) > 0).astype(float)


def labelled(kind, y):
    return y.astype(int) if is_classifier(kind()) else y


def ends(kind, X, y, **options):
    fitted = model(kind, public_rows=X.shape[0], **options).fit(X, labelled(kind, y))
    assert fitted.privacy_.verify(fitted)
    assert fitted.privacy_.gradient_norm <= fitted.privacy_.tau == 1e-6
    return fitted


def slow_in_a_ball(kinds):
    """The calibration of those takes a second."""
    return [pytest.param(kind, marks=pytest.mark.slow if "SCO" in kind.__name__ else ()) for kind in kinds]


class AskedError(Exception):
    """Raised where a fit would begin."""


@pytest.mark.thorough
@pytest.mark.parametrize("d", [1, 1000, 10**5, 2 * 10**5])
@pytest.mark.parametrize("kind", slow_in_a_ball(SOLVED))
def test_the_default_is_no_smaller_than_rounding_allows(kind, d, monkeypatch):
    """By the public numbers that a fit is asked about, from a hundred rows to ten million."""
    asked = {}

    def refuse(numbers, tau):
        asked.update(numbers=numbers, tau=tau)
        raise AskedError

    monkeypatch.setattr(Allowance, "refuse", refuse)
    X = sp.csr_array((np.ones(2), [0, d - 1], [0, 1, 2]), (2, d))
    for n in (100, 10**4, 10**6, 10**7):
        with pytest.raises(AskedError):
            model(kind, public_rows=n, on_error="release").fit(X, labelled(kind, np.array([0.0, 1.0])))
        numbers = replace(asked["numbers"], n_rows=n)
        assert asked["tau"] == 1e-6
        assert numbers.least_tau() <= asked["tau"]
        assert numbers.least_tau() < 1e-13 * n + 5e-8  # and grows with the rows as their sum does, no faster


MANY = [
    pytest.param(partial(dense, 1_000_000, 3), marks=pytest.mark.slow, id="many"),
    pytest.param(partial(sparse, 1_000_000, 100_000), marks=pytest.mark.exhaustive, id="many and wide"),
    pytest.param(partial(dense, 10_000_000, 3), marks=pytest.mark.exhaustive, id="ten million"),
    pytest.param(partial(sparse, 100_000, 200_000, 50), marks=pytest.mark.exhaustive, id="200,000 columns"),
]


@pytest.mark.parametrize("kind", SOLVED)
@pytest.mark.parametrize("made", MANY)
def test_rows_may_be_many(kind, made):
    ends(kind, *made())


@pytest.mark.thorough
@pytest.mark.parametrize("kind", slow_in_a_ball(SOLVED))
def test_an_explicit_tau_is_kept_or_refused(kind):
    X, y = dense(500, 3)
    told = {"public_rows": 500, "tau": 3e-5}
    assert model(kind, **told).fit(X, labelled(kind, y)).privacy_.tau == 3e-5
    refused = model(kind, **(told | {"tau": 1e-13}))
    with pytest.raises(ConvergenceError, match=r"it must be at least \S+ for 500 rows, [34] parameters"):
        refused.fit(X, labelled(kind, y))
    assert not hasattr(refused, "coef_")


@pytest.mark.thorough
@pytest.mark.parametrize("declared", [True, False])
@pytest.mark.parametrize(
    ("kind", "told"),
    [("ObjPertLogisticRegression", {}), ("ObjPertLogisticRegression", {"lam": 50.0}), ("ObjPertSVC", {})]
    + [("ObjPertRegressor", told) for told in ({}, {"standardize": True, "row_norm": "normalize"})],
)
def test_the_rows_in_x_decide_nothing_that_no_certificate_names(kind, told, declared):
    """Not even whether the default of τ will do, beyond ten million rows."""
    rows = 3 * 10**8
    for given in (rows, 3 * rows):
        one = model(getattr(estimators, kind), **told, **({"public_rows": rows} if declared else {}))
        planned = one.recipe(Public(given, 100))
        terms, mechanism = planned.terms, planned.mechanism
        named = rows if declared else given if planned.reads_rows else None
        assert (terms.public_rows, terms.rows_declared) == (named, declared)
        assert (mechanism.tau > 1e-6) == (named is not None)


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["ObjPertLogisticRegression", "ObjPertSVC", "ObjPertRegressor"])
@pytest.mark.parametrize("rows", [10**6, 10**7, 10**8, 10**10])
def test_the_default_is_enough_for_every_number_of_rows(kind, rows):
    """By public numbers alone; at ordinary sizes it is the number that it was."""
    one = model(getattr(estimators, kind), public_rows=rows)
    planned = one.planned(rows, 100)
    terms, mechanism = planned.terms, planned.mechanism
    assert terms.proved(mechanism) <= one.epsilon
    radius = 1.05
    numbers = {"dimension": 101, "longest": radius, "loss": planned.objective.loss}
    found = mechanism.objective
    Allowance(n_rows=rows, gradient=found.lipschitz, lam=found.lam, noise=found.sigma, **numbers).refuse(mechanism.tau)
    assert (mechanism.tau == 1e-6) == (rows <= 10**7)
    assert mechanism.tau < 1e-13 * rows + 1e-6
    assert mechanism.sigma_out < 0.01
    assert found.lam < 1e-6 * rows + 20


@pytest.mark.parametrize(
    ("kind", "told", "words"),
    [
        ("ObjPertSVC", {}, "tau or lam was chosen for 400 rows, a number that was declared"),
        ("ObjPertLogisticRegression", {"lam": 50.0}, "tau or lam was chosen for 400 rows, a number that was declared"),
    ],
)
def test_a_certificate_names_the_rows_that_its_tau_went_by(kind, told, words, monkeypatch):
    monkeypatch.setattr(Allowance, "least_tau", lambda numbers: 2e-8 * numbers.n_rows)  # as many rows would ask for
    X, y = dense(500, 3)
    fitted = model(getattr(estimators, kind), public_rows=400, **told).fit(X, y.astype(int))
    assert (fitted.privacy_.tau, fitted.privacy_.public_rows, fitted.privacy_.rows_declared) == (8.8e-6, 400, True)
    assert words in repr(fitted.privacy_)
    assert fitted.privacy_.verify(fitted)
    with pytest.raises(ConvergenceError, match="for 500 rows"):
        model(getattr(estimators, kind), **told).fit(X, y.astype(int))


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("ObjPertLogisticRegression", {"lam": 5.0, "standardize": False}),
        ("ObjPertSVC", {}),
        ("OutputPerturbationLogisticRegression", {"lam": 5.0, "standardize": False}),
        ("ObjPertSCOClassifier", {"lam": 200.0}),
    ],
)
def test_a_declared_number_of_rows_decides_whether_a_tau_is_refused(kind, told):
    """Also where no certificate names the number: the rows in X tell nothing by a refusal."""
    X, y = dense(3000, 3)
    told = told | {"on_error": "release"}

    def refused(rows, tau, **declared):
        """The error; None where the fit is released."""
        try:
            fitted = model(getattr(estimators, kind), tau=tau, **declared, **told).fit(X[:rows], y[:rows].astype(int))
        except ConvergenceError as error:
            return str(error)
        return None if fitted.privacy_.public_rows is None else "named"

    between = next(tau for tau in 10.0 ** np.arange(-12, -7, 0.25) if not refused(100, tau))
    assert "for 3000 rows" in refused(3000, between)
    assert not refused(3000, between, public_rows=100)
    assert "for 3000 rows" in refused(100, between, public_rows=3000)
