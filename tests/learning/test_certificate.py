import dataclasses
import json
import math

import numpy as np
import pytest

from objpert_core.accounting import ObjectivePerturbation
from objpert_core.estimators import ObjPertLogisticRegression, ObjPertRegressor
from objpert_core.learning import LogisticLoss, PrivacyCertificate
from objpert_core.learning.certificate import covers


def fitted(**parameters):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    return ObjPertLogisticRegression(**parameters).fit(X, X[:, 0] > 0).privacy_


def unnamed(certificate):
    """What a certificate says in public of any coefficients: without their fingerprint."""
    return dataclasses.replace(certificate.public(), coefficients_sha256=None)


CASES = {
    "default": {},
    "seeded": {"random_state": 1},
    "rdp": {"accountant": "rdp", "noise_ratio": 1.3},
    "monotone": {"bound": "monotone", "row_norm": "clip", "fit_intercept": False},
    "glm": {"bound": "glm", "epsilon": 0.1},
    "non-glm": {"bound": "non-glm", "accountant": "rdp", "epsilon": 8.0},
}


@pytest.mark.thorough
@pytest.mark.parametrize(
    "parameters",
    [pytest.param(case, id=name, marks=[pytest.mark.slow] if name == "rdp" else []) for name, case in CASES.items()],
)
def test_every_certificate_verifies_and_survives_json(parameters):
    certificate = fitted(**parameters)
    assert certificate.verify()
    assert PrivacyCertificate.from_json(certificate.to_json()) == certificate
    assert PrivacyCertificate.from_dict(certificate.to_dict()) == certificate


@pytest.mark.parametrize(
    "forgery",
    [
        {"epsilon": 0.999},
        {"delta": 0.9999e-5},
        {"delta": 1.5, "sigma": 0.1},
        {"sigma": 3.9},
        {"lam": 0.71},
        {"sigma_out": 1e-5},
        {"tau": 1e-4},
        {"gradient_norm": 2e-6},
        {"lipschitz": 1.0440},
        {"intercept_scaling": 0.5},
        {"intercept_scaling": math.nan, "lipschitz": 1e-3, "sigma": 0.01},
        {"smoothness": 0.2},
        {"bound": "glm"},
        pytest.param({"adjacency": "replace one row"}, marks=pytest.mark.slow),
        {"row_norm": "none"},
        {"accountant": "magic"},
        {"mechanism": "Gaussian"},
        {"public_rows": -5},
        {"clip": -1.0, "bound": "two-signed", "lipschitz": 1e-3, "smoothness": 1.09, "lam": 100.0, "sigma": 0.01},
    ],
    ids=str,
)
def test_a_certificate_changed_for_the_better_does_not_verify(forgery):
    honest = fitted(lam=0.0)
    assert dataclasses.replace(honest, sigma=4.2, lam=0.8).verify()  # more noise is fine
    assert not dataclasses.replace(honest, **forgery).verify()


@pytest.mark.parametrize("field", ["lipschitz", "smoothness"])
@pytest.mark.parametrize("bound", ["monotone", "glm", "two-signed"])
def test_a_bound_on_gradient_or_hessian_that_is_a_trifle_too_small_is_not_covered(bound, field):
    radius = 1.25**0.5
    values = {"lipschitz": radius, "smoothness": radius**2 / 4}
    enough = ObjectivePerturbation(9.0, 9.0, **values, bound=bound)
    assert covers(enough, LogisticLoss(), None, radius) is None
    less = dataclasses.replace(enough, **{field: values[field] * (1 - 1e-9)})
    assert covers(less, LogisticLoss(), None, radius).startswith(f"{field} must be at least")


def test_the_constant_of_the_loss_is_told():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 2)), rng.normal(size=50)
    spent = ObjPertRegressor(loss="huber", huber_threshold=0.7).fit(X, y).privacy_
    assert "huber loss (0.7)" in repr(spent)


@pytest.mark.thorough
def test_what_depends_on_the_data_is_kept_apart_and_can_be_left_out():
    certificate = fitted()
    values = certificate.to_dict()
    assert set(values["diagnostics"]) == {"note", "gradient_norm", "n_iter"}
    assert not {"gradient_norm", "n_iter"} & set(values)
    assert "do not publish" in values["diagnostics"]["note"]
    public = certificate.public()
    assert "diagnostics" not in public.to_dict()
    assert public.gradient_norm is None is public.n_iter
    assert public.verify()
    assert PrivacyCertificate.from_json(public.to_json()) == public


def test_the_public_certificate_is_the_same_for_any_data_but_for_the_fingerprint_of_what_is_released():
    rng = np.random.default_rng(1)
    one = fitted()
    other = ObjPertLogisticRegression().fit(rng.normal(size=(100, 3)), np.arange(100) % 2).privacy_
    assert unnamed(one) == unnamed(other)
    assert one.public().coefficients_sha256 == one.coefficients_sha256 != other.coefficients_sha256


@pytest.mark.parametrize("parameters", [{"lam": 0.0}, {"noise_ratio": 1.1}, {"public_rows": 50}])
def test_it_does_not_depend_on_the_number_of_rows_unless_the_rule_for_lam_uses_it(parameters):
    rng = np.random.default_rng(1)
    one, other = (
        unnamed(ObjPertLogisticRegression(**parameters).fit(rng.normal(size=(n, 3)), np.arange(n) % 2).privacy_)
        for n in (37, 370)
    )
    assert one == other
    assert one.public_rows == parameters.get("public_rows")


def test_where_the_rule_for_lam_uses_the_number_of_rows_it_says_so():
    certificate = fitted()
    assert certificate.public_rows == 100
    assert "center or lam were chosen for 100 rows: their number is treated as public" in repr(certificate)
    raw = fitted(standardize=False)
    assert "lam was chosen for 100 rows: their number is treated as public" in repr(raw)
    assert "public" not in repr(fitted(lam=0.0))


def test_json_is_plain_and_keeps_every_digit():
    certificate = fitted()
    values = json.loads(certificate.to_json())
    assert values["sigma"] == certificate.sigma
    assert values["reproducible"] is False
    assert values["adjacency"] == certificate.adjacency
    assert values["schema"] == 2


def test_a_file_with_missing_or_unknown_fields_is_refused():
    values = fitted().to_dict()
    del values["sigma"]
    values["colour"] = "red"
    with pytest.raises(ValueError, match=r"exactly a certificate's fields.*\['colour', 'sigma'\]"):
        PrivacyCertificate.from_dict(values)


def test_it_cannot_be_changed_by_accident():
    with pytest.raises(dataclasses.FrozenInstanceError):
        fitted().epsilon = 0.1


def test_the_repr_says_what_a_reader_must_know():
    text = repr(fitted(random_state=0))
    for part in (
        "(1, 1e-05)",
        "data sets of the same size m = 100, known to all",
        "'logistic'",
        "sigma = ",
        "lam = ",
        "tau = 1e-06",
        "R = 1.04403",
    ):
        assert part in text
    assert "whoever knows the seed can subtract the noise" in text
    assert "operating system" in repr(fitted())
    assert "rows clipped to norm 1)" in repr(fitted(row_norm="clip", fit_intercept=False))


@pytest.mark.thorough
def test_the_radius_is_that_of_rows_with_their_constant():
    assert fitted(intercept_scaling=1.0).radius == pytest.approx(np.sqrt(2))
    assert fitted(fit_intercept=False).radius == 1.0
