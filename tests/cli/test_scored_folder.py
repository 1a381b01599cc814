"""A release's folder is the whole of what lies in it, for every command; a file that does not belong to it fails."""

import json
import shutil

import numpy as np
import pytest

from objpert_core.accounting import compose
from objpert_core.estimators import ObjPertLogisticRegression, PrivateSearch
from objpert_core.evaluation import Evaluation
from objpert_core.learning import PrivacyCertificate
from tests.cli.console import COLUMNS, run

pytestmark = pytest.mark.thorough
FIT = f"objpert fit {COLUMNS} --public-rows 40"


@pytest.fixture
def scored(folder):
    for seed, name in ((1, "a"), (2, "b")):
        assert run(f"{FIT} --epsilon 8 --score --test-share 0.5 --seed {seed} --out {name}")[0] == 0
    return folder / "a"


def total(delta, *names):
    code, shown = run(f"objpert accounting --certificates {' '.join(names)} --delta {delta} --json")
    assert code == 0, shown
    return json.loads(shown)["epsilon"]


def changed(path, **changes):
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | changes), encoding="utf-8")


def test_folders_together_cost_what_their_certificates_of_fit_and_scores_cost(scored):
    both = [PrivacyCertificate.from_json((scored.parent / name / "together.json").read_text("utf-8")) for name in "ab"]
    whole = [one.accounted(one.rebuild()) for one in both]
    assert total(1e-5, "a", "b") == total(1e-5, "a/together.json", "b/together.json") == compose(*whole).epsilon(1e-5)
    assert total(1e-5, "a", "b") > total(1e-5, "a/certificate.json", "b/certificate.json")
    for delta in (1e-6, 1e-4):
        parts = total(delta, "a/certificate.json"), total(delta, "a/evaluation.json")
        assert total(delta, "a") == max(parts)
        assert parts[0] != parts[1]


def test_a_fit_that_is_counted_without_its_scores_is_said(scored):
    line = "objpert accounting --delta 1e-5 --certificates"
    for file in ("certificate.json", "model.json"):
        assert f"without scores  a/{file}: name the folder, which counts them" in run(f"{line} a/{file} b")[1]
    assert "without scores" not in run(f"{line} a b/together.json")[1]


def test_the_whole_folder_is_verified_and_said(scored):
    code, shown = run("objpert verify a")
    assert code == 0, shown
    assert "counted       certificate.json and evaluation.json, by together.json" in shown
    assert json.loads(run("objpert verify a --json")[1])["holds"]


def test_scores_that_no_coin_is_known_of_are_composed(folder):
    assert run(f"{FIT} --epsilon 1 --out a")[0] == 0
    assert run("objpert evaluate a people.csv --epsilon 1 --out a/evaluation.json")[0] == 0
    fit = PrivacyCertificate.from_json((folder / "a" / "certificate.json").read_text("utf-8"))
    scores = Evaluation.from_json((folder / "a" / "evaluation.json").read_text("utf-8")).certificate
    assert total(1e-5, "a") == compose(*(one.accounted(one.rebuild()) for one in (fit, scores))).epsilon(1e-5) > 1.0
    assert "certificate.json and evaluation.json, composed" in run("objpert verify a")[1]


COMMANDS = (
    "objpert verify a",
    "objpert verify a/together.json a",
    "objpert verify a/certificate.json a --json",
    "objpert verify a/evaluation.json a",
    "objpert predict a people.csv",
    "objpert evaluate a people.csv --epsilon 1",
    "objpert accounting --certificates a --delta 1e-5",
)


def refused_everywhere(said):
    for command in COMMANDS:
        code, shown = run(command)
        assert code == (1 if command.startswith("objpert verify") else 2), (command, shown)
        if command.endswith(" a") and "/evaluation" not in command:  # whose own counts are looked at first
            assert said in shown, (command, shown)


def test_altered_counts_fail(scored):
    counts = json.loads((scored / "evaluation.json").read_text("utf-8"))["counts"]
    changed(scored / "evaluation.json", counts=[counts[0] + 1, *counts[1:]])
    refused_everywhere("evaluation.json does not hold for model.json")


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("certificate.json", "model.json carries another certificate than certificate.json"),
        ("evaluation.json", "evaluation.json does not hold for model.json"),
        ("together.json", "together.json is not about certificate.json and evaluation.json"),
    ],
)
def test_a_file_of_another_release_fails(scored, file, said):
    shutil.copy(scored.parent / "b" / file, scored / file)
    refused_everywhere(said)


def test_a_schema_of_other_columns_fails(scored):
    schema = json.loads((scored / "schema.json").read_text("utf-8"))
    number = {"kind": "number", "low": 0.0, "high": 1.0}
    for changes in ({"columns": schema["columns"][1:]}, {"target": schema["target"] | number}):
        (scored / "schema.json").write_text(json.dumps(schema | changes), encoding="utf-8")
        refused_everywhere("schema.json")


def test_scores_behind_a_link_that_leads_nowhere_are_not_left_out_in_silence(scored):
    for file in ("evaluation.json", "together.json"):
        (scored / file).unlink()
        (scored / file).symlink_to("nowhere")
        for command in COMMANDS:
            if "a/" not in command or command.endswith("json a"):
                assert run(command)[0] != 0, command
    assert "without scores" in run("objpert accounting --delta 1e-5 --certificates a/certificate.json b")[1]


def test_scores_of_other_values_fail(scored):
    classes = json.loads((scored / "evaluation.json").read_text("utf-8"))["classes"]
    changed(scored / "evaluation.json", classes=classes[::-1])
    refused_everywhere("evaluation.json names other values of the target than model.json")


def test_a_schema_with_another_rule_about_rows_fails(scored):
    changed(scored / "schema.json", person={"column": "who", "rows": 1})
    refused_everywhere("schema.json has another rule about rows than model.json")


def test_scores_of_the_same_model_that_together_does_not_name_fail(scored):
    code, shown = run("objpert evaluate a people.csv --epsilon 1 --out a/evaluation.json --overwrite")
    assert (code, "--out must not replace scores that together.json counts" in shown) == (2, True)
    assert run("objpert evaluate a people.csv --epsilon 1 --out other.json")[0] == 0
    shutil.copy(scored.parent / "other.json", scored / "evaluation.json")
    refused_everywhere("together.json is not about certificate.json and evaluation.json")


def test_scores_of_other_neighbours_that_no_coin_is_known_of_are_counted_by_themselves(folder):
    assert run(f"{FIT} --epsilon 1 --adjacency replace --out a")[0] == 0
    assert run("objpert evaluate a people.csv --epsilon 1 --out a/evaluation.json")[0] == 0
    for command in ("objpert verify a", "objpert accounting --certificates a --delta 1e-5"):
        code, shown = run(command)
        assert (code, "evaluation.json cannot be counted with certificate.json: adjacency must" in shown) == (2, True)


def test_something_else_in_the_place_of_a_file_fails(scored):
    for file in ("together.json", "evaluation.json"):
        shutil.copy(scored / "certificate.json", scored / file)
        refused_everywhere(file)


def test_files_that_are_not_there_are_not_missed(scored):
    """The model carries its certificate, and together.json has that of the scores."""
    for file in ("certificate.json", "evaluation.json"):
        (scored / file).unlink()
    for command in ("objpert predict a people.csv", "objpert verify a", "objpert verify a/together.json a"):
        assert run(command)[0] == 0
    assert total(1e-5, "a") == total(1e-5, "a/together.json")


def test_a_card_of_another_release_fails(folder):
    pytest.importorskip("skops.card")
    for seed, name in ((1, "a"), (2, "b")):
        assert run(f"{FIT} --epsilon 8 --card --seed {seed} --out {name}")[0] == 0
    assert run("objpert verify a")[0] == 0
    shutil.copy(folder / "b" / "README.md", folder / "a" / "README.md")
    assert "README.md is the card of another model" in run("objpert verify a")[1]
    (folder / "a" / "README.md").write_text("somebody's own, in Latin-1: \xe9", encoding="latin-1")
    assert run("objpert verify a")[0] == 0


def test_a_part_stands_for_no_release(folder):
    X = np.random.default_rng(0).normal(size=(400, 2))
    one = ObjPertLogisticRegression(classes=[0, 1], public_rows=400, standardize=False)
    found = PrivateSearch(one, {"margin": [0.0, 1.0]}, random_state=0).fit(X, (X[:, 0] > 0).astype(int))
    (folder / "whole.json").write_text(found.privacy_.to_json())
    (folder / "part.json").write_text(found.privacy_.fit_certificate.to_json())
    assert run("objpert verify whole.json")[0] == 0
    assert total(1e-5, "whole.json") > 0.9
    code, shown = run("objpert verify part.json")
    assert code == 1
    assert shown.startswith("the certificate does not hold: it is a part of a “private search”, whose own certificate")
    code, shown = run("objpert accounting --certificates part.json --delta 1e-5")
    assert (code, "does not hold" in shown) == (2, True)
