"""Certificates of tested releases: they come back from JSON, verify, and do not when somebody changes a number."""

import dataclasses
import json
import math
from types import SimpleNamespace

import pytest

from objpert_core.accounting import ApproximateDP, Gaussian
from objpert_core.learning import PrivacyCertificate
from objpert_core.learning.ptr import BoundTest, DistanceTest, UpperBound, best_of, propose_test_release
from objpert_core.learning.ptr import release_under_bound as under_bound

SHARE = {"epsilon": 0.25, "delta": 1e-7}
MECHANISM = SimpleNamespace(covers="added", epsilon_at=lambda X, delta: 0.1, release=lambda X, source: 3)
WORST = SimpleNamespace(epsilon=0.25, delta=1e-8, release=lambda X, source: 0)
SPREAD = UpperBound(lambda X: 1.0, sensitivity=0.5, epsilon=0.5, failure=1e-6)


def by_distance(**options):
    return propose_test_release(
        None, MECHANISM, DistanceTest(lambda X: 90, 0.5, 1e-6), fallback=WORST, **SHARE, **options
    ).certificate


CERTIFICATES = {
    "distance": by_distance(),
    "seeded": by_distance(random_state=1),
    "printed": by_distance(caveat="as printed"),
    "upper bound": propose_test_release(None, MECHANISM, BoundTest(SPREAD, 30.0), **SHARE).certificate,
    "gaussian bound": propose_test_release(
        None, MECHANISM, BoundTest(dataclasses.replace(SPREAD, delta=1e-7, shifted=True), 30.0), **SHARE
    ).certificate,
    "own": propose_test_release(
        None,
        MECHANISM,
        SimpleNamespace(epsilon=0.5, delta=0.0, failure=0.0, shifted=True, passes=lambda X, source: True),
        epsilon=0.25,
        delta=0.0,
    ).certificate,
    "released bound": under_bound(None, SPREAD, lambda most: most, lambda X, most, source: 1, **SHARE).certificate,
    "best": best_of(lambda one, source: one, [1, 2], float, base=ApproximateDP(0.5, 1e-7), mean_runs=10).certificate,
    "best by poisson": best_of(
        lambda one, source: one, [1, 2], float, base=Gaussian(20.0), mean_runs=10, eta=None, delta=1e-6
    ).certificate,
}


@pytest.mark.parametrize("name", CERTIFICATES)
def test_it_comes_back_from_json_and_verifies(name):
    certificate = CERTIFICATES[name]
    again = PrivacyCertificate.from_json(certificate.to_json())
    assert again == certificate
    assert type(again) is type(certificate)
    assert again.public() == certificate
    assert again.verify() is (name != "printed")
    assert "on trust" in repr(again)
    assert "no fit has written" not in repr(again)


def test_pure_differential_privacy_has_δ_0():
    assert CERTIFICATES["own"].delta == 0.0
    assert "(0.75, 0)-differential privacy" in repr(CERTIFICATES["own"])


FORGERIES = [
    ("distance", {"epsilon": 0.74}),
    ("distance", {"delta": 1e-6}),  # without e^ε̂, and without the fallback's share
    ("distance", {"shifted": True}),
    ("distance", {"test_epsilon": 0.4}),
    ("distance", {"failure": 1e-7}),
    ("distance", {"threshold": 26.0}),
    ("distance", {"threshold": None}),
    ("distance", {"test": "own", "threshold": 27.0, "uniform": True}),
    ("distance", {"certified": False}),
    ("distance", {"caveat": "but"}),
    ("distance", {"fallback_delta": -1e-8}),
    ("distance", {"fallback_delta": 1e-7}),
    ("distance", {"rows_per_person": 2}),
    ("distance", {"rows_per_person": 2, "adjacency": "add/remove up to 2 rows of one person"}),
    ("distance", {"adjacency": "replace one row"}),
    ("distance", {"mechanism": "Gaussian"}),
    ("distance", {"release_epsilon": 1}),
    ("distance", {"release_delta": math.nan}),
    ("distance", {"lattice": 0.5}),
    ("distance", {"row_norm": "normalize"}),
    ("distance", {"intercept_scaling": 0.3}),
    ("distance", {"sensitivity": 1.0}),
    ("distance", {"sensitivity": 1.0, "shift": 1.0}),
    ("distance", {"reproducible": True}),
    ("distance", {"public_rows": 3}),
    ("upper bound", {"sensitivity": 1.0}),
    ("upper bound", {"sensitivity": None}),
    ("upper bound", {"shift": 13.0}),
    ("upper bound", {"threshold": None}),
    ("upper bound", {"test": "distance"}),
    ("gaussian bound", {"test_delta": 0.0}),
    ("gaussian bound", {"shifted": False}),
    ("released bound", {"uniform": False}),
    ("released bound", {"delta": 1.1e-6 - 1e-9}),
    ("released bound", {"fallback_delta": 0.0}),
    ("best", {"mean_runs": 20.0}),
    ("best", {"eta": None}),
    ("best", {"eta": 0.0}),
    ("best", {"base": "Wrapper"}),
    ("best", {"base": "__all__"}),
    ("best", {"arguments": (0.6, 1e-7, "add/remove one row")}),
    ("best", {"arguments": (0.5, 1e-7)}),
    ("best", {"arguments": (0.5, 1e-7, ("add",))}),
    ("best", {"arguments": [0.5, 1e-7, "add/remove one row"]}),
    ("best", {"candidates": 0}),
    ("best", {"epsilon": 0.5}),
    ("best", {"delta": 1e-7}),
    ("best by poisson", {"mean_runs": 0.0}),
    ("best by poisson", {"rows_per_person": 3, "adjacency": "add/remove up to 3 rows of one person"}),
]


@pytest.mark.parametrize(("name", "change"), FORGERIES, ids=str)
def test_a_forged_certificate_does_not_verify(name, change):
    try:
        forged = dataclasses.replace(CERTIFICATES[name], **change)
    except TypeError:  # no such field
        with pytest.raises(ValueError, match="must hold exactly"):
            PrivacyCertificate.from_dict(CERTIFICATES[name].to_dict() | change)
        return
    assert forged.verify() is False
    assert isinstance(repr(forged), str)


@pytest.mark.parametrize("name", ["distance", "best"])
def test_a_missing_field_is_refused(name):
    values = json.loads(CERTIFICATES[name].to_json())
    for field in values:
        with pytest.raises(ValueError, match="must"):
            PrivacyCertificate.from_dict(
                {key: value for key, value in values.items() if key != field} | {"schema": 2.5}
            )
    del values["delta"]
    with pytest.raises(ValueError, match="must hold exactly"):
        PrivacyCertificate.from_dict(values)


def test_the_words_say_what_was_tested_and_what_nobody_could_check():
    words = repr(CERTIFICATES["distance"])
    for said in (
        "(0.75, 1.65873e-06)-differential privacy, add/remove one row",
        "(0.25, 1e-07); covers added rows only",
        "(0.5, 0), fails with probability 1e-06: of a distance, threshold 27",
        "a mechanism that is private enough on all data",
        "as their supplier says",
    ):
        assert said in words
    assert "nothing: ⊥" in repr(CERTIFICATES["upper bound"])
    assert "next to X as well" in repr(CERTIFICATES["gaussian bound"])
    assert "ApproximateDP(epsilon=0.5, delta=1e-07" in repr(CERTIFICATES["best"])
