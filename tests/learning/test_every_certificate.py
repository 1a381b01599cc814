"""What the certificate of every kind of release promises, also those that people have stored, and that no forgery
gets past `verify`."""

import ast
import copy
import dataclasses
import importlib
import json
import math
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from objpert_core.accounting import ObjectivePerturbation
from objpert_core.estimators import (
    ObjPertLogisticRegression,
    OutputPerturbationLogisticRegression,
    own_table,
)
from objpert_core.learning import LogisticLoss, ObjectivePerturbationCertificate, PrivacyCertificate
from objpert_core.learning.certificates.field_rules import COUNT, LATER, POSITIVE, fact, or_nothing
from objpert_core.learning.certificates.objective import covers
from objpert_core.learning.certificates.text import kind_and_fields
from tests.learning.certificates import EVALUATED, EVERY, POPULATION, POSTERIOR, TESTED
from tests.learning.certificates.kind import of_kinds, times
from tests.learning.certificates.tested import by_distance

ROOT = Path(__file__).resolve().parents[2]
STORED = json.loads(Path(__file__).with_name("stored_certificates.json").read_text(encoding="utf-8"))
every_kind = of_kinds(EVERY)


def same_numbers(certificate):
    """Whether the mechanism that a certificate is of describes itself by the same numbers."""
    mechanism = certificate.rebuild()
    if "algorithm" not in certificate.to_dict():
        assert PrivacyCertificate.kind_for(mechanism) is type(certificate)
    return all(getattr(certificate, name) == one for name, one in certificate.numbers(mechanism).items())


@every_kind
def test_it_verifies_and_comes_back_from_json(kind):
    honest = kind.honest
    again = PrivacyCertificate.from_json(honest.to_json())
    assert again == honest
    assert type(again) is type(honest)
    assert PrivacyCertificate.from_dict(honest.to_dict()) == honest
    public = PrivacyCertificate.from_json(again.public().to_json())
    assert public == honest.public()
    assert again.verify()
    assert public.verify()
    assert honest.mechanism == type(honest.rebuild()).__name__
    assert same_numbers(again)
    assert "no fit has written" not in repr(again)
    assert ("diagnostics" in honest.to_dict()) is bool(honest.DIAGNOSTICS)
    if hasattr(kind.model, "coef_"):
        assert again.verify(kind.model)


@pytest.mark.slow
@pytest.mark.parametrize("text", STORED.values(), ids=STORED)
def test_it_is_read_verifies_and_is_written_again_letter_by_letter(text):
    """Certificates that people have stored keep working: these texts were written by the version before the rooms."""
    certificate = PrivacyCertificate.from_json(text)
    assert certificate.verify()
    assert certificate.to_json() == text
    assert PrivacyCertificate.from_json(certificate.public().to_json()).verify()
    assert pickle.loads(pickle.dumps(certificate)).verify()  # where equal defaults are other objects


@pytest.mark.parametrize("text", STORED.values(), ids=STORED)
def test_its_mechanism_describes_itself_by_the_same_numbers(text):
    assert same_numbers(PrivacyCertificate.from_json(text))


@pytest.mark.thorough
def test_texts_of_every_kind_are_read_by_who_imports_learning_alone():
    code = "from objpert_core.learning import PrivacyCertificate as P; print([*P.MECHANISMS, *P.ALGORITHMS])"
    printed = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    importlib.import_module("objpert_core.estimators")
    kinds = PrivacyCertificate.MECHANISMS | PrivacyCertificate.ALGORITHMS
    ours = {name for name, kind in kinds.items() if kind.__module__.startswith("objpert_core")}
    assert set(ast.literal_eval(printed)) == ours


def held_by(certificate):
    """The certificates in another one, as its text has them."""
    values = json.loads(certificate.to_json()).values()
    inside = [one for value in values for one in (value if isinstance(value, list) else [value])]
    return [PrivacyCertificate.from_dict(one) for one in inside if isinstance(one, dict) and "mechanism" in one]


@of_kinds({name: EVALUATED[name] for name in ("fit and counts", "fit and counts, same rows", "search")}, "thorough")
def test_a_part_of_a_whole_says_so_and_stands_for_nothing(kind):
    parts = held_by(kind.honest)
    assert len(parts) > 1
    for part in parts:
        assert part.part_of == kind.honest.ALGORITHM
        assert PrivacyCertificate.from_json(part.to_json()) == part
        assert not part.verify()
        assert f"it is a part of a “{part.part_of}”" in repr(part)
        assert dataclasses.replace(part, part_of=None).verify()
        with pytest.raises(ValueError, match="must be wholes"):
            own_table.together([part])


@every_kind
def test_better_promises_and_nonsense_are_convicted(kind):
    assert kind.honest.verify()
    for changes in kind.better:
        forged = kind.changed(changes)
        assert forged.verify() is False, changes
        assert "no fit has written" in repr(forged) or forged.complaint() is None, changes


@every_kind
def test_weaker_promises_verify(kind):
    for changes in kind.weaker:
        assert kind.changed(changes).verify(), changes


ONLY_SOME_HAVE = {
    "hessian_noise",
    "outer_noise",
    "diagnostics",
    "ball_radius",
    "envelope",
    "center_noise",
    "scale_noise",
    "fits",
    "rest_weight",
    "part_of",
    "steps",
}
ONLY_SOME_HAVE |= {"sampling"}
FIELDS = {field.name for kind in PrivacyCertificate.ALGORITHMS.values() for field in dataclasses.fields(kind)}


@every_kind
def test_a_text_has_exactly_the_fields_of_its_kind(kind):
    values = json.loads(kind.honest.to_json())
    for field in values.keys() - ONLY_SOME_HAVE:
        with pytest.raises(ValueError, match="must"):
            PrivacyCertificate.from_dict({name: value for name, value in values.items() if name != field})
    foreign = FIELDS - {field.name for field in dataclasses.fields(kind.honest)}
    for name in {"colour", *foreign} | (set() if kind.honest.DIAGNOSTICS else {"diagnostics"}):
        with pytest.raises(ValueError, match="must hold exactly"):
            PrivacyCertificate.from_dict(values | {name: 1})


@every_kind
def test_kinds_do_not_pass_for_one_another(kind):
    own = kind.honest.to_dict()
    if "algorithm" in own:
        others = [name for name in PrivacyCertificate.ALGORITHMS if name != own["algorithm"]]
        for algorithm in (*others, None, "", "DPSGD", 1, [], {}):
            with pytest.raises(ValueError, match="must"):
                PrivacyCertificate.from_dict(own | {"algorithm": algorithm})
        for mechanism in {"DPSGD", "OutputPerturbation", "SampledWithReplacement", "RandomAllocation"}:
            if mechanism != own["mechanism"]:
                assert not PrivacyCertificate.from_dict(own | {"mechanism": mechanism}).verify()


NASTY = (None, True, 0, -1, 10**400, 0.0, -1.0, math.nan, math.inf, 5e-324, 1.7e308, "", "exact", b"x", [], {}, (1.0,))


@of_kinds({name: kind for name, kind in EVERY.items() if kind.harmless is not None}, "slow")
def test_no_nonsense_in_any_field_verifies_or_raises(kind):
    def same(one, other):
        return type(one) is type(other) and one == other

    for field in dataclasses.fields(kind.honest):
        for value in NASTY:
            forged = dataclasses.replace(kind.honest, **{field.name: value})
            allowed = same(value, getattr(kind.honest, field.name)) or (
                field.name in kind.harmless and same(value, kind.harmless[field.name])
            )
            assert forged.verify() <= allowed, (field.name, value)
            repr(forged)


@of_kinds(POSTERIOR)
def test_a_draw_names_its_coefficients_on_their_lattice_and_its_intercept(kind):
    model = copy.copy(kind.model)
    assert kind.honest.DIAGNOSTICS == ()
    model.coef_ = kind.model.coef_ + kind.honest.lattice
    assert not kind.honest.verify(model)
    model.coef_, model.intercept_ = kind.model.coef_, 1e-9  # without a constant it is the middle of the targets' range
    assert not kind.honest.verify(model)
    if kind is not POSTERIOR["sums"]:  # whose θ is solved from what lies on a lattice
        assert not kind.changed({"lattice": times(2**20)}).verify(kind.model)


@pytest.mark.thorough
@pytest.mark.parametrize("size", [10**9, 10**15, 10**300])
def test_batches_that_no_accountant_could_look_at_are_convicted(size):
    batches = {"mechanism": "SampledWithReplacement", "sampling": "with replacement"}
    forged = POPULATION["without replacement"].changed(batches | {"batch_size": float(size), "public_rows": size})
    assert not forged.verify()


@of_kinds(POPULATION)
def test_words_say_what_the_number_of_rows_chose(kind):
    assert ("phases and noise were" if hasattr(kind.honest, "phases") else "batches and noise were") in repr(
        kind.honest
    )


def test_printed_numbers_are_marked_come_back_from_json_and_do_not_verify():
    printed = by_distance(caveat="Theorem 0, as printed, is not valid")()
    assert PrivacyCertificate.from_json(printed.to_json()) == printed
    assert not printed.certified
    assert not printed.verify()
    assert "NOT PROVED Theorem 0, as printed, is not valid" in repr(printed)


def test_pure_differential_privacy_has_δ_0():
    assert TESTED["own"].honest.delta == 0.0
    assert "(0.75, 0)-differential privacy" in repr(TESTED["own"].honest)


def test_the_words_of_a_tested_release_say_what_was_tested_and_what_nobody_could_check():
    words = {name: repr(kind.honest) for name, kind in TESTED.items()}
    assert all("on trust" in one for one in words.values())
    for said in (
        "(0.75, 1.65873e-6)-differential privacy, add or remove one row",
        "(0.25, 1e-7); covers added rows only",
        "(0.5, 0), fails with probability 1e-6: of a distance, threshold 27",
        "a mechanism that is private enough on all data",
        "as their supplier says",
    ):
        assert said in words["distance"]
    assert "nothing: ⊥" in words["upper bound"]
    assert "next to X as well" in words["gaussian bound"]
    assert "ApproximateDP(epsilon=0.5, delta=1e-7" in words["best of several"]


def test_a_test_of_one_row_promises_nothing_for_two():
    honest = by_distance()()
    assert honest.holds()
    assert not dataclasses.replace(honest, rows_per_person=2).holds()


# certificate


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
