"""Logistic regression with intervals: what is released with it, what `summary` says, and what is refused."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

import objpert_core.accounting as acc
import objpert_core.estimators as est
from objpert_core.accounting import IntervalNoise, recommended_interval_noise
from objpert_core.estimators import PublicRangeScaler, fit_many, model_card, regression_table
from objpert_core.learning import PrivacyCertificate

ROWS, THETA = 6_000, np.array([3.0, -2.0, 0.0])
SHARED = {"classes": [0, 1], "public_rows": ROWS, "row_norm": "clip", "epsilon": 2.0, "random_state": 0}


def data(n=ROWS, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.uniform(-0.55, 0.55, size=(n, 3))
    return X, (generator.random(n) < 1 / (1 + np.exp(-X @ THETA - 0.5))).astype(int)


def model(**parameters):
    return est.ObjPertLogisticRegression(**{**SHARED, "intervals": True, **parameters})


FITTED = model().fit(*data())


def test_the_summary_has_the_columns_of_statsmodels_and_the_features_names():
    X, y = data()
    table = model().fit(pd.DataFrame(X, columns=["age", "hours", "weight"]), y).summary()
    assert list(table.columns) == ["coef", "std err", "z", "P>|z|", "[0.025", "0.975]"]
    assert list(table.index) == ["age", "hours", "weight"]
    assert table["z"].to_numpy() == pytest.approx((table["coef"] / table["std err"]).to_numpy())
    assert list(FITTED.summary(0.9).columns[-2:]) == ["[0.05", "0.95]"]
    assert FITTED.bse == pytest.approx(table["std err"].to_numpy())
    assert FITTED.pvalues == pytest.approx(table["P>|z|"].to_numpy())
    assert (abs(table["coef"] - THETA) < 5 * table["std err"]).all()
    assert table.loc["weight", "P>|z|"] > 1e-3 > table.loc["age", "P>|z|"]


def test_intervals_are_wider_for_a_higher_level_for_several_at_once_and_for_all_combinations():
    each = FITTED.conf_int()
    assert each.shape == (3, 2)
    middle = FITTED.summary()["coef"].to_numpy()[:, None]
    widths = [
        abs(FITTED.conf_int(level, together=together) - middle).min(axis=1) / FITTED.bse
        for level, together in ((0.95, "each"), (0.99, "each"), (0.95, "bonferroni"), (0.95, "simultaneous"))
    ]
    quantiles = [norm.isf(0.025), norm.isf(0.005), norm.isf(0.025 / 3), 7.8147**0.5]
    assert [float(width.mean()) for width in widths] == pytest.approx(quantiles, rel=1e-4)


def test_the_middle_is_the_estimate_without_the_pull_and_coef_predicts():
    middle = FITTED.summary()["coef"].to_numpy()
    low, high = FITTED.conf_int().T
    assert (np.sign(middle) * (high + low - 2 * middle) >= 0).all()  # no end is nearer to the middle on 0's far side
    assert (abs(middle) > abs(FITTED.coef_.ravel())).all()
    assert middle == pytest.approx(FITTED.coef_.ravel(), rel=0.05, abs=0.05)


def test_where_effects_are_strong_for_the_noise_summary_and_card_say_that_an_end_is_rough():
    X, strong = data()[0], np.array([24.0, -18.0, 6.0])
    y = (np.random.default_rng(1).random(ROWS) < 1 / (1 + np.exp(-X @ strong))).astype(int)
    steep = model(epsilon=1.0).fit(X, y)
    caution = steep.summary().attrs["caution"]
    assert caution.startswith("Effects are strong")
    assert caution in model_card(steep).render()
    assert steep.release().summary().attrs["caution"] == caution
    assert (abs(steep.conf_int()) > abs(steep.summary()["coef"].to_numpy()[:, None])).any(axis=1).all()
    assert FITTED.summary().attrs["caution"] is None
    assert "Effects are strong" not in model_card(FITTED).render()


def test_in_the_columns_own_units_coefficients_and_errors_are_divided_by_half_the_range():
    scaler = PublicRangeScaler(low=[-1.0, -10.0, 0.0], high=[1.0, 10.0, 400.0])
    table, plain = FITTED.summary(scaler=scaler), FITTED.summary()
    for column in ("coef", "std err", "[0.025", "0.975]"):
        assert table[column].to_numpy() == pytest.approx(plain[column].to_numpy() / [1.0, 10.0, 200.0])
    assert table["z"].to_numpy() == pytest.approx(plain["z"].to_numpy())


@pytest.mark.parametrize("ranges", [([20.0, 0.0, 150.0], [70.0, 60.0, 200.0]), "private"], ids=str)
def test_in_ranges_declared_or_released_coefficients_are_in_the_columns_own_units(ranges):
    slopes, generator = np.array([0.05, 0.02, 0.0]), np.random.default_rng(0)
    X = generator.uniform([20, 0, 150], [70, 60, 200], size=(20_000, 3))
    y = (generator.random(20_000) < 1 / (1 + np.exp(-(X - [45, 30, 175]) @ slopes))).astype(int)
    fitted = model(feature_ranges=ranges, public_rows=20_000).fit(X, y)
    table = fitted.summary()
    assert (abs(table["coef"] - slopes) < 3.5 * table["std err"]).all()
    assert (table["std err"] < 0.004).all()
    assert fitted.privacy_.verify(fitted)
    assert _released(fitted).summary().equals(table)
    low, high = fitted.feature_ranges_
    assert (high - low > 3**0.5 * 45).all()


@pytest.mark.parametrize("intervals", [True, "sandwich"])
def test_one_certificate_covers_coefficients_and_sums_and_goes_with_the_release(intervals):
    fitted = model(intervals=intervals).fit(*data())
    certificate, released = fitted.privacy_, _released(fitted)
    rule = recommended_interval_noise(2.0, 1e-5, ROWS, 4, sandwich=intervals == "sandwich")
    assert (certificate.epsilon, certificate.terms.step(IntervalNoise)) == (2.0, rule)
    assert certificate.verify(fitted)
    assert certificate.public().verify(released)
    assert PrivacyCertificate.from_json(certificate.to_json()) == certificate
    assert released.summary().equals(fitted.summary())
    assert "intervals" in repr(certificate)
    assert certificate.accounted(certificate.rebuild()).delta(2.0) <= 1e-5
    assert not replace(certificate, hessian_noise=rule.hessian_noise / 2).verify()
    assert not replace(certificate, hessian_noise=None, outer_noise=None).verify(fitted)


def _released(fitted):
    with pytest.warns(match="random_state"):
        return fitted.release()


@pytest.mark.parametrize("change", ["larger", "lopsided", "left out", "too large"])
def test_sums_that_are_not_the_certificates_do_not_verify(change):
    released = _released(FITTED)
    forged = released.hessian_.copy()
    forged[0, 0 if change != "lopsided" else 1] += {"larger": 1.0, "lopsided": 1.0, "too large": 1e6}.get(change, 0.0)
    released.hessian_ = None if change == "left out" else forged
    assert not FITTED.privacy_.verify(released)
    about = FITTED.privacy_.about(released.coef_, released.intercept_, {"hessian_": released.hessian_})
    assert about.verify(released) == (change == "larger")  # within what is possible nobody can tell


def test_a_fit_without_intervals_is_what_it_was_and_has_no_summary():
    plain = est.ObjPertLogisticRegression(**SHARED).fit(*data())
    assert (plain.hessian_, plain.outer_) == (None, None)
    assert "hessian_noise" not in json.loads(plain.privacy_.to_json())
    for ask in (plain.summary, plain.conf_int):
        with pytest.raises(ValueError, match="intervals must be True"):
            ask()
    for model in (plain, plain.release()):
        assert not {"bse", "pvalues"} & set(dir(model))  # and so `dir` does not raise
        with pytest.raises(AttributeError, match="intervals must be True"):
            _ = model.bse
    assert {"bse", "pvalues"} < set(dir(FITTED))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"margin": 1.0}, "margin must be None or 0 where intervals=True, got 1.0"),
        ({"standardize": True}, "row_norm|standardize must be 'auto' or False"),
        ({"standardize": True, "row_norm": "normalize"}, "standardize must be 'auto' or False where intervals=True"),
        ({"classes": [0, 1, 2]}, "classes must be None or two labels where intervals=True"),
        ({"feature_ranges": (0.0, 1.0), "row_norm": "normalize"}, "row_norm must be 'clip' beside feature_ranges"),
        ({"class_weight": {0: 1.0, 1: 0.5}}, "class_weight must be None where intervals=True"),
        ({"class_weight": "balanced"}, "class_weight must be None where intervals=True, got 'balanced'"),
        ({"bound": "kifer2012"}, "bound must be one with a privacy loss"),
        ({"intervals": "often"}, "intervals must be True, False or 'sandwich', got 'often'"),
        ({"public_rows": 50}, "intervals must be False for 50 rows and 4 parameters at epsilon=2.0"),
    ],
)
def test_what_does_not_go_together_is_refused_in_one_sentence(parameters, message):
    with pytest.raises(ValueError, match=message):
        model(**parameters).fit(*data(200))


def test_three_labels_in_the_data_are_refused():
    X, y = data(600)
    with pytest.raises(ValueError, match="classes must be two labels where intervals=True, got 3"):
        model(classes=None).fit(X, y + (X[:, 0] > 0.3))


@pytest.mark.parametrize(("wrong", "name"), [({"level": 1.0}, "level"), ({"together": "all"}, "together")])
def test_arguments_out_of_range_are_named(wrong, name):
    with pytest.raises(ValueError, match=f"{name} must be"):
        FITTED.summary(**wrong)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "parameters",
    [
        {"adjacency": "replace one row", "epsilon": 4.0},
        {"rows_per_person": 2, "epsilon": 8.0},
        {"accountant": "rdp", "bound": "glm"},
        {"fit_intercept": False},
        {"row_norm": "normalize"},
        {"on_error": "release"},
        {"lam": 3.0},
    ],
    ids=str,
)
def test_other_promises_and_other_rows_have_intervals_too(parameters):
    fitted = model(**parameters).fit(*data())
    assert fitted.privacy_.verify(fitted)
    assert fitted.hessian_.shape == (3 + fitted.fit_intercept,) * 2
    assert np.isfinite(fitted.conf_int()).all()


@pytest.mark.thorough
def test_several_draws_each_release_sums_of_their_own():
    first, second = fit_many(model(), *data(), [0, 1])
    assert first.privacy_.verify(first)
    assert not np.array_equal(first.hessian_, second.hessian_)
    assert first.hessian_ == pytest.approx(FITTED.hessian_, abs=0.1)


def test_the_noise_leaves_most_of_the_promise_to_the_fit():
    terms = acc.calibrate_gaussian(1.0, 1e-6).sigma
    noise = recommended_interval_noise(1.0, 1e-6, 10_000, 11)
    assert noise.hessian_noise == pytest.approx(terms / 0.15**0.5)
    assert recommended_interval_noise(1.0, 1e-6, 10**6, 11).hessian_noise > 5 * noise.hessian_noise
    assert recommended_interval_noise(1.0, 1e-6, 10_000, 11, adjacency="replace one row").hessian_noise == (
        pytest.approx(2**0.5 * noise.hessian_noise)
    )


@pytest.mark.slow
@pytest.mark.parametrize("intervals", [True, "sandwich"])
def test_the_estimators_own_intervals_cover(intervals):
    """700 data sets through the real code, 95 %: three coefficients each, a Monte-Carlo error of half a per cent."""
    hits = []
    for seed in range(700):
        ends = model(intervals=intervals, random_state=seed).fit(*data(2_000, seed)).conf_int()
        hits.append((ends[:, 0] <= THETA) & (ends[:, 1] >= THETA))
    print(f"{intervals}: {np.mean(hits):.4f}")
    assert 0.935 < np.mean(hits) < 0.965


def test_a_regression_table_has_errors_beneath_coefficients_and_a_column_for_each_model():
    fitted, other = FITTED, model(epsilon=4.0, random_state=1).fit(*data())
    rows = json.loads(regression_table({"one": fitted, "two": other.release()}, "json"))
    assert [row[""] for row in rows[::2]][:2] == ["x0", "x1"]
    for place, (name, line) in enumerate(fitted.summary().iterrows()):
        coef, error = rows[2 * place]["one"], rows[2 * place + 1]["one"]
        assert rows[2 * place][""] == name
        assert float(coef) == pytest.approx(line["coef"], abs=0.1 * line["std err"])
        assert float(error[1:-1]) == pytest.approx(line["std err"], rel=0.05)
        assert len(coef.partition(".")[2]) == len(error[1:-1].partition(".")[2])
    assert rows[-2:] == [{"": "ε", "one": "2", "two": "4"}, {"": "δ", "one": "1e-5", "two": "1e-5"}]
    latex = regression_table(fitted, caption="Moves & more", label="tab:moves")
    assert r"\caption{Moves \& more}\label{tab:moves}" in latex
    assert rows[0]["one"].replace("-", "$-$") + r"\phantom{)} \\" in latex
    for wrong, message in (({}, "models must be a fitted model"), (fitted.to_sklearn(), "got Pipeline")):
        with pytest.raises(ValueError, match=message):
            regression_table(wrong)
