"""Linear regression by posterior samples and by noisy sums: what is their own beside the contract."""

import dataclasses
import math
import warnings

import numpy as np
import pytest

from objpert_core.accounting import calibrate_gaussian
from objpert_core.estimators import AdaOPSRegressor, AdaSSPRegressor, OPSPTRRegressor
from objpert_core.estimators.ops_ptr import _printed_share
from objpert_core.exceptions import ReleaseRefusedError
from objpert_core.learning import PrivacyCertificate
from tests.estimators.contract.case import assert_unfitted

EACH = [AdaSSPRegressor, AdaOPSRegressor, OPSPTRRegressor]
rng = np.random.default_rng(3)
TRUTH = np.array([0.6, 0.0, -0.4])
X = rng.uniform(-0.5, 0.5, size=(6000, 3))
Y = X @ TRUTH + 0.05 * rng.normal(size=6000)
JUDGES = X[:50], Y[:50]


def synthetic():
    """ "synthetic-r": 10,000 rows of norm 1 in ten dimensions, in the split of seed 1000."""
    one = np.random.default_rng(12345)
    rows, theta = one.normal(size=(10_000, 10)), one.normal(size=10)
    theta /= np.linalg.norm(theta)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    y = np.clip(rows @ theta + 0.1 * one.normal(size=10_000), -1, 1)
    order = np.random.default_rng(1000).permutation(10_000)
    return [(rows[part], y[part]) for part in (order[:6000], order[6000:7000], order[7000:])]


def error_of(model, epsilon, **fit):
    (rows, y), judges, (tests, truth) = synthetic()
    if fit:
        fit["validation"] = judges
    fitted = model.set_params(epsilon=epsilon, delta=1e-6, row_norm="normalize", random_state=0).fit(rows, y, **fit)
    return float(np.mean((fitted.predict(tests) - truth) ** 2))


ERRORS = [
    (AdaSSPRegressor(), 0.5, 0.0125),
    (AdaSSPRegressor(), 10.0, 0.0103),
    (AdaSSPRegressor(accounting="published"), 0.5, 0.02),
    (AdaOPSRegressor(), 0.5, 0.021),
    (AdaOPSRegressor(), 10.0, 0.0103),
    (AdaOPSRegressor(accounting="split"), 0.5, 0.033),
]


@pytest.mark.parametrize(("model", "epsilon", "most"), ERRORS, ids=str)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_errors_are_small_on_rows_of_norm_1(model, epsilon, most):
    assert 0.0095 < error_of(model, epsilon) < most  # the noise of the targets alone is 0.01; learning nothing is 0.11


# Units


@pytest.mark.parametrize("kind", EACH)
def test_targets_are_clipped_and_in_other_units_they_give_coefficients_in_other_units(kind):
    wild = np.where(np.arange(6000) % 2 == 0, Y, 1e30 * np.sign(Y))
    far, near = (
        kind(random_state=0, target_range=(-0.2, 0.2)).fit(X, y).coef_ for y in (wild, np.clip(wild, -0.2, 0.2))
    )
    np.testing.assert_array_equal(far, near)
    plain = kind(random_state=0).fit(X, Y)
    scaled = kind(random_state=0, target_range=(-1024.0, 1024.0)).fit(X, 1024 * Y)
    np.testing.assert_allclose(scaled.coef_, 1024 * plain.coef_, rtol=1e-3, atol=1e-2)


@pytest.mark.parametrize("kind", EACH)
def test_an_intercept_is_learned(kind):
    model = kind(epsilon=20.0, fit_intercept=True, intercept_scaling=1.0, random_state=0).fit(X, Y + 0.4)
    assert model.intercept_ == pytest.approx(0.4, abs=0.05)
    assert model.privacy_.intercept_scaling == 1.0
    assert model.privacy_.verify(model)
    assert kind(random_state=0).fit(X, Y).intercept_ == 0.0


# Accounting


def test_tight_noise_of_sums_is_no_more_than_it_must_be():
    spent = AdaSSPRegressor(random_state=0).fit(X, Y).privacy_
    least = math.sqrt(3) * calibrate_gaussian(1.0, 1e-5).sigma
    assert least <= spent.gram_noise < least * (1 + 1e-9)
    assert (spent.moment_noise, spent.eigenvalue_noise) == (spent.gram_noise, spent.gram_noise)
    assert not dataclasses.replace(spent, gram_noise=0.999 * least).verify()


def test_published_noise_of_sums_is_warned_of_where_it_is_too_little():
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        model = AdaSSPRegressor(accounting="published", random_state=0).fit(X, Y)
    assert model.privacy_.verify()
    assert model.privacy_.gram_noise == pytest.approx(3 * math.sqrt(math.log(6e5)))
    model = AdaSSPRegressor(epsilon=200.0, accounting="published", random_state=0)
    with pytest.warns(UserWarning, match=r"the printed noise is not \(200, 1e-5\)-differentially private") as told:
        model.fit(X, Y)
    assert told[0].filename == __file__
    assert not model.privacy_.verify()


def test_what_is_printed_of_one_run_adds_up_to_the_promise_of_all():
    epsilon, delta = _printed_share(10.0, 1e-5, 20.0)
    assert 3 * epsilon + 3 * math.sqrt(2 * delta) == pytest.approx(10.0, rel=1e-14)
    assert math.sqrt(2 * delta) * 20 * math.log(2e5) == pytest.approx(1e-5 / 2, rel=1e-12)


@pytest.mark.parametrize("kind", [AdaOPSRegressor, OPSPTRRegressor])
def test_published_samples_are_not_certified(kind):
    model = kind(epsilon=10.0, accounting="published", random_state=0)
    with pytest.warns(UserWarning, match=r"are not \(10, 1e-5\)-differentially private; the certificate does not ver"):
        model.fit(X, Y)
    spent = model.privacy_
    assert (spent.certified, spent.verify()) == (False, False)
    assert "NOT PROVED" in repr(spent)
    assert PrivacyCertificate.from_json(spent.to_json()) == spent
    assert not dataclasses.replace(spent, certified=True).verify()  # and would not be


def test_a_refusal_is_paid_for_and_tells_no_more():
    told = {"epsilon": 0.1, "accounting": "split", "lams": [1.0], "random_state": 0}
    model = OPSPTRRegressor(**told, fallback=False)
    with pytest.raises(ReleaseRefusedError) as raised:
        model.fit(X[:5], Y[:5])
    spent = raised.value.certificate
    assert spent.verify()
    assert (spent.lattice, spent.coefficients_sha256) == (None, None)
    assert_unfitted(model)
    model = OPSPTRRegressor(**told).fit(X[:5], Y[:5])
    assert model.lam_ == pytest.approx((1 + math.log(6e5)) / 0.05, rel=1e-6)
    assert model.privacy_.about(np.zeros(3), 0.0).public() == dataclasses.replace(
        spent, lattice=model.privacy_.lattice
    ).about(np.zeros(3), 0.0)  # nothing in it tells which of both it was


# Choosing


def test_one_run_without_validation_rows_takes_the_middle_of_the_list():
    model = OPSPTRRegressor(lams=[900.0, 30.0, 300.0], epsilon=5.0, random_state=0).fit(X, Y)
    assert model.lam_ == 300.0
    assert (model.privacy_.mean_runs, model.privacy_.public_validation) == (1.0, False)
    with pytest.raises(ValueError, match="mean_runs must be None or 1 without validation rows, got 5"):
        OPSPTRRegressor(mean_runs=5).fit(X, Y)
    with pytest.raises(ValueError, match="validation must be None or a pair of rows and targets, got 3"):
        OPSPTRRegressor().fit(X, Y, validation=3)


def test_validation_rows_choose_and_are_said_to_be_public():
    told = {"lams": [300.0, 3e6], "mean_runs": 6, "epsilon": 5.0, "random_state": 0, "accounting": "split"}
    model = OPSPTRRegressor(**told, validation=JUDGES).fit(X, Y)
    assert model.lam_ == 300.0  # with the other nothing is learned
    assert "E[K] = 6; validation rows are taken as public" in repr(model.privacy_)
    other = OPSPTRRegressor(**told).fit(X, Y, validation=JUDGES)
    np.testing.assert_array_equal(other.coef_, model.coef_)
    zeros = OPSPTRRegressor(**told, validation=JUDGES).fit(X, Y, validation=(JUDGES[0], 0 * JUDGES[1]))
    assert zeros.lam_ == 3e6
    assert not {name for name in vars(model) if name.endswith("_")} & {"n_runs_", "runs_", "trials_"}  # K is not told
    for judges in ((X[:3], [1.0, 2.0]), (X[:3, :2], Y[:3]), (X[:3], [1.0, 2.0, math.nan])):
        with pytest.raises(ValueError, match=r"inconsistent|features|finite"):
            OPSPTRRegressor(**told).fit(X, Y, validation=judges)
