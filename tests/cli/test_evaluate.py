"""`objpert evaluate` and `objpert fit --score`: scores inside the promise, written, verified and refused."""

import json

import pytest

from objpert_core.evaluation import Evaluation
from objpert_core.learning import PrivacyCertificate
from tests.cli.console import COLUMNS, run

FIT = f"objpert fit {COLUMNS} --epsilon 2 --public-rows 40"
TEST = "objpert evaluate release people.csv --epsilon 1"


@pytest.fixture
def release(folder):
    code, shown = run(f"{FIT} --score --test-share 0.5 --seed 1 --out release")
    assert code == 0
    return folder / "release", shown


def test_a_fit_with_scores_costs_what_a_fit_costs(release):
    folder, shown = release
    assert "balanced accuracy" in shown
    assert "share of yes" in shown
    files = {path.name for path in folder.iterdir()}
    assert files == {"model.json", "certificate.json", "schema.json", "evaluation.json", "together.json"}
    both = PrivacyCertificate.from_json((folder / "together.json").read_text(encoding="utf-8"))
    assert (both.epsilon, both.delta, both.public_rows) == (2.0, 1e-5, 20)
    evaluation = Evaluation.from_json((folder / "evaluation.json").read_text(encoding="utf-8"))
    assert evaluation.classes == ("no", "yes")
    for name in ("evaluation", "together"):
        code, shown = run(f"objpert verify release/{name}.json release")
        assert code == 0, shown
        assert "those of the certificate" in shown
        assert run(f"objpert verify release/{name}.json")[0] == 0
    assert run("objpert verify release")[0] == 0


def test_scores_are_written_shown_and_verified(release, folder):
    code, shown = run(f"{TEST} --out scores.json --json")
    assert code == 0
    document = json.loads(shown[shown.index("{") :])
    assert document["certificate"]["epsilon"] == 1.0
    assert set(document["scores"]["AUC"]) == {"value", "low", "high"}
    assert run("objpert verify scores.json release")[0] == 0
    assert run(f"{TEST} --out scores.json")[0] == 2  # it is there, and would have been paid for
    values = json.loads((folder / "scores.json").read_text(encoding="utf-8"))
    values["counts"][0] += 1
    (folder / "scores.json").write_text(json.dumps(values), encoding="utf-8")
    code, _ = run("objpert verify scores.json release")
    assert code == 1
    values["certificate"]["sigma"] /= 2
    (folder / "scores.json").write_text(json.dumps(values), encoding="utf-8")
    assert run("objpert verify scores.json")[0] == 1


def test_a_number_is_scored_in_its_own_units(folder):
    line = "objpert fit people.csv --target rent --number rent:300:1500 --number age:18:80 --epsilon 5 --score"
    code, shown = run(f"{line} --out rents")
    assert code == 0
    assert "MAE, errors cut at 600" in shown
    code, shown = run("objpert evaluate rents people.csv --epsilon 5 --largest-error 100")
    assert code == 0
    assert "RMSE, errors cut at 100" in shown
    assert run("objpert verify rents/together.json rents")[0] == 0


@pytest.mark.parametrize(
    "line",
    [
        f"{FIT} --test-share 0.2",
        f"{FIT} --score --test-share 1",
        "objpert evaluate release people.csv --epsilon 0",
        "objpert evaluate release people.csv --epsilon 1 --largest-error 3",
        "objpert evaluate release missing.csv --epsilon 1",
    ],
)
def test_what_makes_no_sense_is_refused(release, line):
    assert run(line)[0] == 2
