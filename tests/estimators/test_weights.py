"""Weights of classes and of rows: what they change, what they cost, and what happens to those that are none."""

import dataclasses
import warnings

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import kstest
from sklearn.base import clone
from sklearn.metrics import recall_score

from objpert_core.accounting import Gaussian, compose
from objpert_core.estimators import ObjPertLogisticRegression, ObjPertRegressor, ObjPertSVC
from objpert_core.learning.certificates.base import PrivacyCertificate
from objpert_core.learning.noise import noise_source

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(4000, 4))
SCORES = ROWS @ [1.0, -0.5, 0.5, 0.2] + 0.5 * RNG.normal(size=4000)
RAREST = np.quantile(SCORES, 0.96)
LABELS = (SCORES > RAREST).astype(int)
RARE = {0: 1.0, 1: 24.0}


def private(epsilon=4.0, **parameters):
    return ObjPertLogisticRegression(
        epsilon, **{"random_state": 0, "classes": [0, 1], "public_rows": 4000} | parameters
    )


@pytest.mark.thorough
def test_at_much_epsilon_the_fit_is_the_weighted_minimum():
    own = RNG.uniform(0.2, 1.0, 4000)
    model = private(1e6, lam=1.0, standardize=False, class_weight={1: 4.0}).fit(ROWS, LABELS, sample_weight=own)
    assert model.class_weight_ == {0: 0.25, 1: 1.0}
    weights = own * np.where(LABELS == 1, 1.0, 0.25)
    rows = np.hstack([ROWS / np.linalg.norm(ROWS, axis=1, keepdims=True), np.full((4000, 1), 0.3)])
    signs = np.where(LABELS == 1, 1.0, -1.0)

    def objective(theta):
        return weights @ np.logaddexp(0, -signs * (rows @ theta)) + model.privacy_.lam / 2 * theta @ theta

    theta = minimize(objective, np.zeros(5), tol=1e-12).x
    np.testing.assert_allclose(model.coef_[0], theta[:4], atol=1e-2)
    np.testing.assert_allclose(model.intercept_[0], 0.3 * theta[4], atol=1e-2)


@pytest.mark.thorough
@pytest.mark.parametrize("weight", [RARE, "balanced"])
def test_weights_find_the_rare_class(weight):
    plain, model = private().fit(ROWS, LABELS), private(class_weight=weight).fit(ROWS, LABELS)
    assert recall_score(LABELS, plain.predict(ROWS)) < 0.2
    assert recall_score(LABELS, model.predict(ROWS)) > 0.8
    assert model.class_weight_[1] == 1.0
    assert model.class_weight_[0] == pytest.approx(1 / 24, rel=0.3)
    assert plain.class_weight_ == {0: 1.0, 1: 1.0}


@pytest.mark.thorough
def test_public_weights_cost_nothing_and_noisy_counts_are_paid_for():
    plain, public, counted = (private(class_weight=weight).fit(ROWS, LABELS) for weight in (None, RARE, "balanced"))
    assert (public.privacy_.sigma, public.privacy_.lam) == (plain.privacy_.sigma, plain.privacy_.lam)
    assert (plain.privacy_.weighted, public.privacy_.weighted, counted.privacy_.weighted) == (False, True, True)
    spent = counted.privacy_
    assert spent.sigma > plain.privacy_.sigma
    assert spent.verify(counted)
    assert "weights    at most 1, by counts of the classes, noise on each" in repr(spent)
    assert "weights    at most 1, each row's own" in repr(public.privacy_)
    assert PrivacyCertificate.from_json(spent.to_json()) == spent
    assert '"weighted"' not in plain.privacy_.to_json()
    everything = compose(spent.rebuild(), *spent.terms.beside())
    assert Gaussian(spent.class_count_noise) in spent.terms.beside()
    assert everything.delta(4.0) == pytest.approx(1e-5, rel=1e-2)


def test_a_certificate_that_forgets_the_counts_or_their_noise_does_not_verify():
    spent = private(class_weight="balanced").fit(ROWS, LABELS).privacy_
    assert not dataclasses.replace(spent, class_count_noise=spent.class_count_noise / 3).verify()
    assert not dataclasses.replace(spent, weighted=False).verify()


def test_the_noise_of_the_counts_is_drawn_first_and_rounded():
    model = private(class_weight="balanced").fit(ROWS, LABELS)
    noise = noise_source(0).rounded_normal(model.privacy_.class_count_noise, 2)
    counts = np.array([np.sum(LABELS == 0), np.sum(LABELS == 1)]) + noise
    assert model.class_weight_ == {0: counts[1] / counts[0], 1: 1.0}


@pytest.mark.thorough
def test_several_classes_have_weights():
    y = np.digitize(SCORES, np.quantile(SCORES, [0.7, 0.95]))
    for weight in ({2: 10.0}, "balanced"):
        model = ObjPertLogisticRegression(
            8.0, classes=[0, 1, 2], lam=9.0, margin=0.0, standardize=False, class_weight=weight, random_state=0
        ).fit(ROWS, y)
        assert set(model.class_weight_) == {0, 1, 2}
        assert model.class_weight_[2] == 1.0
        assert model.privacy_.verify(model)
        assert recall_score(y, model.predict(ROWS), average=None)[2] > 0.7


@pytest.mark.thorough
def test_other_losses_take_weights():
    svc = ObjPertSVC(4.0, classes=[0, 1], class_weight="balanced", random_state=0).fit(ROWS, LABELS)
    assert svc.privacy_.verify(svc)
    assert recall_score(LABELS, svc.predict(ROWS)) > 0.8
    far = np.where(RNG.random(4000) < 0.3, 5.0, 0.0)
    trusted = ObjPertRegressor(4.0, target_range=(-2.0, 2.0), random_state=0)
    with_weights = trusted.fit(ROWS / 4, SCORES + far, sample_weight=np.where(far > 0, 0.0, 1.0))
    assert abs(with_weights.intercept_) < 0.3
    assert with_weights.privacy_.verify(with_weights)


@pytest.mark.parametrize("standardize", [False, "auto"])
@pytest.mark.parametrize("weight", [None, "balanced"])
def test_a_row_whose_weight_is_none_counts_as_none(standardize, weight):
    """With on_error="release"; the row is left out of the counts, too."""
    model = private(on_error="release", standardize=standardize, class_weight=weight)
    bad = np.array([1.5, np.nan, -1.0, np.inf, 0.0])
    own = np.append(np.full(3995, 0.5), bad)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        first = model.fit(ROWS, LABELS, sample_weight=own).coef_
        np.testing.assert_array_equal(
            first, private(on_error="release", standardize=standardize, class_weight=weight)
            .fit(ROWS[:3995], LABELS[:3995], sample_weight=own[:3995]).coef_,
        )  # fmt: skip
        words = [*own[:3995].tolist(), "x", None, "", [], -3]
        np.testing.assert_array_equal(model.fit(ROWS, LABELS, sample_weight=words).coef_, first)
        X = ROWS.copy()
        X[-5:] = np.nan
        np.testing.assert_array_equal(model.fit(X, LABELS, sample_weight=np.full(4000, 0.5)).coef_, first)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"class_weight": {2: 1.0}}, r"class_weight must name labels in classes=\[0, 1\] only, got 2"),
        ({"class_weight": "balanced", "bound": "kifer2012", "lam": 0.0}, "bound must have a privacy loss"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(parameters, message):
    with pytest.raises(ValueError, match=message):
        private(**parameters).fit(ROWS, LABELS)


@pytest.mark.thorough
def test_what_is_released_has_the_law_of_the_weighted_objective():
    """In one dimension −J'(θ) is N(0, σ²) at what is released: with each row's own weight, and not without."""
    x, y = np.where(RNG.random(400) < 0.7, 1.0, -1.0), (RNG.random(400) < 0.6).astype(int)
    own = np.where(x > 0, 0.2, 0.9)
    model = ObjPertLogisticRegression(
        2.0, classes=[0, 1], class_weight={0: 1.0, 1: 2.0}, fit_intercept=False, standardize=False, lam=2.0
    )
    draws = [
        clone(model).set_params(random_state=seed).fit(x[:, None], y, sample_weight=own).coef_[0, 0]
        for seed in range(300, 600)
    ]
    sigma, lam = (getattr(model.fit(x[:, None], y).privacy_, name) for name in ("sigma", "lam"))
    signs, theta = np.where(y == 1, 1.0, -1.0), np.array(draws)[:, None]

    def chance(weights):
        slope = lam * theta[:, 0] - (weights * signs * x * expit(-signs * x * theta)).sum(axis=1)
        return kstest(slope / sigma, "norm").pvalue

    assert chance(own * np.where(y == 1, 1.0, 0.5)) > 0.01
    assert max(map(chance, (own, np.ones(400), np.where(y == 1, 1.0, 0.5)))) < 0.01
