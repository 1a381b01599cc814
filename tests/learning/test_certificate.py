import dataclasses

import numpy as np
import pytest

from objpert_core.accounting import ObjectivePerturbation
from objpert_core.estimators import ObjPertLogisticRegression, ObjPertRegressor, OutputPerturbationLogisticRegression
from objpert_core.learning import LogisticLoss, ObjectivePerturbationCertificate
from objpert_core.learning.certificates.field_rules import COUNT, LATER, POSITIVE, fact, or_nothing
from objpert_core.learning.certificates.objective import covers
from objpert_core.learning.certificates.text import kind_and_fields


def fitted(**parameters):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    return ObjPertLogisticRegression(**parameters).fit(X, X[:, 0] > 0).privacy_


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False)
class Longer(ObjectivePerturbationCertificate):
    """A kind that grew: one more number of the promise, one more of the data, and one that nobody gave a rule."""

    mood: float = fact(POSITIVE, since=LATER, default=1.0)
    rows_seen: int | None = fact(or_nothing(COUNT), diagnostic=True, default=None)
    unruled: int = 0


Longer.OWN_MECHANISMS = ("ApproximateMinima",)


def longer(**changes):
    fields = {item.name: getattr(fitted(), item.name) for item in dataclasses.fields(ObjectivePerturbationCertificate)}
    return Longer(**fields | changes)


def read(values):
    kind, own = kind_and_fields(values, {"ApproximateMinima": Longer}, {})
    return kind(**own)


@pytest.mark.thorough
def test_texts_that_were_written_before_a_field_came_stay_as_they_are():
    older, newer = longer(), longer(mood=2.0)
    assert "mood" not in older.to_dict()
    assert newer.to_dict()["mood"] == 2.0
    assert [read(certificate.to_dict()).mood for certificate in (older, newer)] == [1.0, 2.0]


def test_a_kinds_own_diagnostics_stay_apart_and_are_not_published():
    counted = longer(rows_seen=7)
    assert counted.DIAGNOSTICS == ("gradient_norm", "n_iter", "rows_seen")
    assert "rows_seen" not in counted.to_dict()
    assert counted.to_dict()["diagnostics"]["rows_seen"] == 7
    assert read(counted.to_dict()) == counted
    assert counted.public().rows_seen is None
    assert "diagnostics" not in counted.public().to_dict()


@pytest.mark.thorough
def test_a_field_must_keep_its_rule_and_must_have_one():
    assert longer(mood=-1.0).complaint() == "mood must be a finite float > 0, got -1.0"
    assert longer(rows_seen=0).complaint() == "rows_seen must be None or a whole number >= 1, got 0"
    assert longer().complaint() == "unruled must have a rule: declare it by fact in Longer"
    assert not longer().verify()


@pytest.mark.parametrize("kind", [ObjPertLogisticRegression, OutputPerturbationLogisticRegression])
def test_the_gradient_norm_may_be_tau_and_nothing_more(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    spent = kind(random_state=0).fit(X, X[:, 0] > 0).privacy_
    for norm, holds in ((spent.tau, True), (np.nextafter(spent.tau, 1.0), False)):
        assert dataclasses.replace(spent, gradient_norm=float(norm)).holds() is holds


def unnamed(certificate):
    """What a certificate says in public of any coefficients: without their fingerprint."""
    return dataclasses.replace(certificate.public(), coefficients_sha256=None)


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
    spent = ObjPertRegressor(loss="huber", advanced={"huber_threshold": 0.7}).fit(X, y).privacy_
    assert "huber loss (threshold 0.7)" in repr(spent)


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
    assert "center or lam was chosen for 100 rows: their number is treated as public" in repr(certificate)
    raw = fitted(standardize=False)
    assert "lam was chosen for 100 rows: their number is treated as public" in repr(raw)
    assert "public" not in repr(fitted(lam=0.0))


def test_the_repr_says_what_a_reader_must_know():
    text = repr(fitted(random_state=0))
    for part in (
        "(1, 1e-5)",
        "data sets of the same size m = 100, known to all",
        "'logistic'",
        "sigma = ",
        "lam = ",
        "tau = 1e-6",
        "R = 1.04403",
    ):
        assert part in text
    assert "whoever knows the seed can subtract the noise" in text
    assert "operating system" in repr(fitted())
    assert "rows clipped to norm 1)" in repr(fitted(row_norm="clip", fit_intercept=False))
