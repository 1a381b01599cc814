"""Certificates that lie, leave out what a proof needs, or are none: they are refused, or they do not verify."""

import copy
import dataclasses
import hashlib
import json
import re
import struct
from pathlib import Path

import numpy as np
import pytest

import objpert_core.estimators as est
from objpert_core.learning import PrivacyCertificate
from tests.learning.certificates import OBJECTIVE, SGD
from tests.learning.certificates.kind import some_data


@pytest.fixture(scope="module")
def objective():
    return OBJECTIVE["rule for lam"].model


@pytest.fixture(scope="module")
def trained():
    return SGD["dishonest"].model


def test_a_certificate_without_its_smoothness_does_not_verify():
    honest = est.ObjPertSVC(classes=[0, 1], clip=0.1, random_state=3).fit(*some_data()).privacy_
    assert honest.verify()
    forged = dataclasses.replace(honest, lam=honest.lam / 100, sigma_out=honest.sigma_out * 100, smoothness=None)
    truth = dataclasses.replace(forged, smoothness=honest.smoothness)
    assert truth.rebuild().epsilon(truth.delta) > 3  # the certificate says 1
    assert not truth.verify()
    assert not forged.verify()


def test_diagnostics_cannot_override_the_promise(objective):
    values = dataclasses.replace(objective.privacy_, epsilon=100.0, sigma=0.2, lam=0.05).to_dict()
    values["diagnostics"]["epsilon"] = 0.01
    with pytest.raises(ValueError, match=r"diagnostics must hold exactly .* difference in \['epsilon'\]"):
        PrivacyCertificate.from_dict(values)


MISPLACED = [
    {"gradient_norm": 1e-7},
    {"colour": "red"},
    {"diagnostics": {"n_iter": 3}},
    {"diagnostics": {"n_iter": 3, "gradient_norm": 1e-7, "schema": 2}},
    {"diagnostics": [1, 2]},
    {"schema": 3},
    {"schema": 1},
    {"schema": True},
    {"schema": 2.0},
    {"schema": None},
    {"mechanism": ["ApproximateMinima"]},
    {"mechanism": "Gaussian"},
    {1: 2},
]


@pytest.mark.parametrize("change", MISPLACED, ids=str)
def test_what_stands_where_it_does_not_belong_is_refused(objective, change):
    with pytest.raises(ValueError, match="must"):
        PrivacyCertificate.from_dict(objective.privacy_.to_dict() | change)


@pytest.mark.parametrize("values", [None, 3, "text", [1, 2], (), {}, {"mechanism": "DPSGD"}, np.zeros(2)], ids=str)
def test_what_is_no_certificates_dict_is_refused(values):
    with pytest.raises(ValueError, match="must"):
        PrivacyCertificate.from_dict(values)


@pytest.mark.parametrize(
    "text",
    ["[1,2]", "null", "3", '"x"', "", "{", "{]", "NaN", '{"mechanism": NaN}', b"\xff", None, "[" * 100_000, 5],
    ids=lambda text: repr(text)[:20],
)
def test_what_is_no_certificates_json_is_refused(text):
    with pytest.raises(ValueError, match="must"):
        PrivacyCertificate.from_json(text)


def test_a_key_that_stands_twice_is_refused(objective):
    text = objective.privacy_.to_json()
    with pytest.raises(ValueError, match="a key stands twice"):
        PrivacyCertificate.from_json(text.replace('"epsilon": 1.0', '"epsilon": 1.0, "epsilon": 0.01'))
    with pytest.raises(ValueError, match="Infinity is no number"):
        PrivacyCertificate.from_json(text.replace('"epsilon": 1.0', '"epsilon": Infinity'))


def test_a_declared_number_of_rows_and_one_read_off_the_data_are_different_promises():
    X, y = some_data()
    for kind, options in (
        (est.ObjPertLogisticRegression, {}),
        (est.OutputPerturbationLogisticRegression, {}),
        (est.OutputPerturbationLogisticRegression, {"adjacency": "replace"}),
        (est.DPSGDLogisticRegression, {"epochs": 1, "accountant": "rdp"}),
    ):
        declared, read_off = (
            kind(public_rows=rows, classes=[0, 1], **options).fit(X, y).privacy_ for rows in (60, None)
        )
        assert declared.adjacency == declared.mechanism_adjacency == read_off.mechanism_adjacency
        assert read_off.adjacency.startswith("data sets of the same size m = 60, known to all, ")
        assert (declared.rows_declared, read_off.rows_declared) == (True, False)
        for one, other in ((declared, read_off), (read_off, declared)):
            assert not dataclasses.replace(one, adjacency=other.adjacency).verify()
            assert not dataclasses.replace(one, rows_declared=other.rows_declared).verify()
            pair = {"adjacency": other.adjacency, "rows_declared": other.rows_declared}
            assert dataclasses.replace(one, **pair).verify()  # which of the two it was, only the fit knows


def test_the_margin_is_on_every_certificate_whose_loss_has_one():
    X, y = some_data()
    for kind, options in ((est.OutputPerturbationLogisticRegression, {}), (est.DPSGDLogisticRegression, {"epochs": 1})):
        assert kind(margin=1.5, classes=[0, 1], **options).fit(X, y).privacy_.margin == 1.5
    assert est.ObjPertLogisticRegression(margin=1.5, classes=[0, 1]).fit(X, y).privacy_.loss_parameter == 1.5


# The fingerprint


@pytest.mark.parametrize("standardize", [False, True])
def test_the_fingerprint_is_made_as_the_recipe_says(standardize):
    model = est.ObjPertLogisticRegression(classes=[0, 1], random_state=1, standardize=standardize).fit(*some_data())
    text = b"coef_ 1 3\n" + struct.pack("<3d", *model.coef_[0]) + b"intercept_ 1\n"
    text += struct.pack("<d", model.intercept_[0])
    if standardize:
        text += b"center_ 3\n" + struct.pack("<3d", *model.center_) + b"scale_ 3\n" + struct.pack("<3d", *model.scale_)
    assert model.privacy_.coefficients_sha256 == hashlib.sha256(text).hexdigest()


def test_the_recipe_in_the_docs_runs_and_gives_the_fingerprint(objective):
    page = (Path(__file__).parents[2] / "docs" / "certificates.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^```python\n(import hashlib.*?)^```$", page, flags=re.DOTALL | re.MULTILINE)
    names = {"model": objective, "np": np}
    exec(compile(code, "certificates.md", "exec"), names)
    assert names["digest"].hexdigest() == objective.privacy_.coefficients_sha256


def test_the_fingerprint_of_a_regressor_has_a_number_for_an_intercept():
    X, _ = some_data()
    model = est.ObjPertRegressor(target_range=(1.0, 3.0)).fit(X, X[:, 0])
    text = b"coef_ 3\n" + struct.pack("<3d", *model.coef_) + b"intercept_\n" + struct.pack("<d", model.intercept_)
    assert model.privacy_.coefficients_sha256 == hashlib.sha256(text).hexdigest()
    assert model.privacy_.verify(model)


def test_a_certificate_names_one_model_only(objective):
    other = est.ObjPertLogisticRegression(classes=[0, 1]).fit(*some_data())
    assert objective.privacy_.verify(objective)
    assert objective.privacy_.public().verify(objective)
    assert not objective.privacy_.verify(other)
    moved = copy.deepcopy(objective)
    moved.coef_[0, 1] = np.nextafter(moved.coef_[0, 1], 1)
    assert not objective.privacy_.verify(moved)
    assert objective.privacy_.verify()
    for stranger in (None.__class__, object(), "model", 3):
        assert not objective.privacy_.verify(stranger)
    assert not dataclasses.replace(objective.privacy_, coefficients_sha256=None).verify(objective)


@pytest.mark.parametrize("name", ["coef_", "intercept_"])
def test_numbers_that_carry_more_than_a_double_does_are_not_the_released_ones(objective, trained, name):
    """The fingerprint is one of doubles: behind equal ones all rows could be hidden in further digits."""
    for model in (objective, trained):
        assert model.privacy_.verify(model)
        released = getattr(model, name)
        for hidden in (np.longdouble(released) * (1 + np.longdouble(2) ** -62), released + 1j, released.astype(str)):
            changed = copy.deepcopy(model)
            setattr(changed, name, hidden)
            assert not model.privacy_.verify(changed)


@pytest.mark.parametrize(
    ("coef", "intercept"),
    [((5, 1, 3), (1,)), ((1, 1, 3), (1,)), ((), (1,)), ((3,), (50,)), ((3,), (0,)), ((1, 3), ()), ((2, 3), (2,))],
)
def test_one_fit_has_one_row_of_coefficients_and_one_intercept(objective, coef, intercept):
    changed = copy.deepcopy(objective)
    changed.coef_, changed.intercept_ = np.zeros(coef), np.zeros(intercept)
    changed.privacy_ = objective.privacy_.about(changed.coef_, changed.intercept_)
    assert not changed.privacy_.verify(changed)


@pytest.mark.thorough
def test_with_the_model_its_dimension_and_its_lattice_count():
    X, y = some_data()
    model = est.ObjPertLogisticRegression(
        epsilon=8.0, classes=[0, 1], random_state=0, advanced={"bound": "non-glm", "accountant": "rdp"}
    ).fit(X, y)
    spent = model.privacy_
    assert spent.dimension == 4
    assert not dataclasses.replace(spent, dimension=3).verify(model)
    coarser = dataclasses.replace(spent, lattice=2 * spent.lattice)
    assert not coarser.verify(model)  # it does not lie there
    assert dataclasses.replace(spent, lattice=spent.lattice / 2).verify(model)
    unpaid = dataclasses.replace(spent, tau=spent.lam * spent.lattice / 4, gradient_norm=None)
    assert not unpaid.verify(model)
    assert not dataclasses.replace(spent, intercept_scaling=0.0).verify(model)


def test_a_certificate_of_form_1_is_read_verified_and_says_what_it_is():
    texts = json.loads(Path(__file__).with_name("stored_certificates.json").read_text(encoding="utf-8"))
    old = PrivacyCertificate.from_json(texts["output"])
    assert (old.schema, old.lattice, old.margin, old.rows_declared) == (1, None, None, None)
    assert old.verify()
    assert "form       1: proved in exact arithmetic, not in floating point" in repr(old)
    assert "schema" not in old.to_dict()
    for later in ({"lattice": 2.0**-30}, {"margin": 0.0}, {"rows_declared": True}, {"coefficients_sha256": "0" * 64}):
        assert not dataclasses.replace(old, **later).verify()
    assert not dataclasses.replace(old, schema=2).verify()
    free = PrivacyCertificate.from_json(texts["monotone, clipped"])
    assert free.verify()
    for later in ({"ball_radius": 1.0}, {"envelope": 0.5 * free.smoothness}):
        assert not dataclasses.replace(free, **later).verify()
        with pytest.raises(ValueError, match="must hold exactly"):
            PrivacyCertificate.from_dict(free.to_dict() | later)
