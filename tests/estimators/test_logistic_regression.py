"""Private logistic regression: what it fits, the published recipe, the rules for λ and margin, memory, and searches."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

from objpert_core.accounting import calibrate_gaussian, calibrate_published, recommended_lam, recommended_margin
from objpert_core.estimators import ObjPertLogisticRegression
from tests.estimators.rows import labelled
from tests.learning.taking import peak_of

# Learning


def test_a_huge_epsilon_approaches_the_model_without_privacy():
    X, y = labelled()
    model = ObjPertLogisticRegression(
        epsilon=1000.0,
        noise_ratio=1.001,
        fit_intercept=False,
        random_state=0,
        tau=1e-8,  # where λ is next to nothing, the output noise is τ/λ times something
    ).fit(X, y)
    rows = X / np.linalg.norm(X, axis=1, keepdims=True)
    peer = LogisticRegression(C=1 / model.privacy_.lam, fit_intercept=False, tol=1e-10).fit(rows, y)
    np.testing.assert_allclose(model.coef_, peer.coef_, rtol=0.02)


@pytest.mark.thorough
def test_the_intercept_follows_the_base_rate():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(4000, 2)), (rng.random(4000) < 0.9).astype(int)
    model = ObjPertLogisticRegression(epsilon=8.0, advanced={"intercept_scaling": 1.0}).fit(X, y)
    assert model.intercept_[0] == pytest.approx(np.log(9), abs=0.4)
    assert ObjPertLogisticRegression(fit_intercept=False).fit(X, y).intercept_.tolist() == [0.0]


def test_the_published_recipe_is_the_papers():
    model = ObjPertLogisticRegression.published(epsilon=1.0, delta=1e-5).fit(*labelled())
    spent = model.privacy_
    assert (spent.bound, spent.accountant, spent.tau, spent.sigma_out) == ("glm", "rdp", 0.01, 0.15)
    assert spent.radius == pytest.approx(np.sqrt(2))
    assert spent.sigma == pytest.approx(1.3 * 5.276, rel=1e-3)  # design note, "Calibration in closed form"
    assert spent.lam == calibrate_published(1.0, 1e-5, 2**0.5, tau=0.01, sigma_out=0.15).objective.lam
    assert spent.lam == pytest.approx(4.02, abs=0.01)  # 3.73 in the note, which leaves tau out
    assert ObjPertLogisticRegression.published(advanced={"tau": 1e-3}).tau == 1e-3


def test_the_default_bound_needs_less_noise_and_less_regularisation_than_the_published_one():
    X, y = labelled(n=50)
    tight = ObjPertLogisticRegression(lam=0.0, advanced={"intercept_scaling": 1.0}).fit(X, y).privacy_
    published = ObjPertLogisticRegression.published().fit(X, y).privacy_
    assert tight.sigma < 0.8 * published.sigma
    assert tight.lam < 0.6 * published.lam


def test_regularisation_follows_the_rule_where_it_asks_for_more_than_privacy_does():
    X, y = labelled(n=60)
    spent = ObjPertLogisticRegression(standardize=False).fit(X, y).privacy_
    least = ObjPertLogisticRegression(lam=0.0).fit(X, y).privacy_
    assert spent.lam == recommended_lam(1.0, 1e-5, 60, 6, spent.radius) > least.lam
    assert spent.sigma < least.sigma  # a larger λ needs less noise
    assert spent.verify()
    told = ObjPertLogisticRegression(public_rows=10**6, standardize=False).fit(X, y).privacy_
    assert (told.lam, told.sigma, told.public_rows) == (least.lam, least.sigma, 10**6)
    chosen = ObjPertLogisticRegression(lam=50.0, advanced={"noise_ratio": 1.5}).fit(X, y).privacy_
    assert chosen.lam == 50.0
    assert chosen.sigma == pytest.approx(1.5 * calibrate_gaussian(1.0, 1e-5, chosen.radius).sigma)
    assert chosen.verify()


def test_the_margin_follows_the_rule_and_costs_no_privacy():
    X, y = labelled(n=60)
    raw = {"standardize": False}
    fitted = {k: ObjPertLogisticRegression(margin=k, random_state=0, **raw).fit(X, y) for k in (None, 0.0, 2.0)}
    spent = {k: model.privacy_ for k, model in fitted.items()}
    rule = recommended_margin(1.0, 1e-5, 60, 6, spent[None].radius)
    assert {k: model.margin_ for k, model in fitted.items()} == {None: rule, 0.0: 0.0, 2.0: 2.0}
    assert {k: s.loss_parameter for k, s in spent.items()} == {None: rule, 0.0: 0.0, 2.0: 2.0}
    assert {(s.epsilon, s.sigma, s.lam) for s in spent.values()} == {(1.0, spent[0.0].sigma, spent[0.0].lam)}
    assert all(s.verify() for s in spent.values())
    assert len({model.coef_[0, 0] for model in fitted.values()}) == 3
    told = ObjPertLogisticRegression(public_rows=10**6, standardize=False).fit(X, y)
    assert told.margin_ == recommended_margin(1.0, 1e-5, 10**6, 6, spent[None].radius)
    for parameters in ({"lam": 1.0}, {"noise_ratio": 1.1}):  # nothing then depends on the number of rows
        model = ObjPertLogisticRegression(**parameters).fit(X, y)
        assert (model.margin_, model.privacy_.public_rows) == (0.0, None)
    assert ObjPertLogisticRegression.published().fit(X, y).margin_ == 0.0
    assert ObjPertLogisticRegression.kifer2012().fit(X, y).margin_ == 0.0


# Memory


@pytest.mark.thorough
def test_sparse_input_is_never_made_dense():
    X = sp.random_array((4000, 2000), density=0.002, format="csr", random_state=np.random.default_rng(0))
    y = np.arange(4000) % 2
    peak = peak_of(lambda: ObjPertLogisticRegression(advanced={"solver": "newton-cg"}).fit(X, y).predict(X))
    assert peak < 4000 * 2000 * 8 / 20


@pytest.mark.slow
def test_dense_fit_takes_little_memory_beyond_the_data():
    X, y = labelled(n=40_000, d=60)
    for standardize, most in ((False, 0.7), ("auto", 1.3)):  # first a copy in single precision; then standardised rows
        model = ObjPertLogisticRegression(standardize=standardize)
        model.fit(X[:100], y[:100])  # what is imported or cached on first use
        assert peak_of(lambda model=model: model.fit(X, y)) < most * X.nbytes
