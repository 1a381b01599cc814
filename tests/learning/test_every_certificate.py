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

import pytest

from objpert_core.estimators import own_table
from objpert_core.learning import PrivacyCertificate
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
