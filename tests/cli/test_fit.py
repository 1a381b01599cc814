"""From a file to a release and back: what is written, what is not, and what each exit code means."""

import contextlib
import io
import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from objpert_core.accounting import compose
from objpert_core.cli import main
from objpert_core.datasets import Number, TableSchema, TwoValues, read_features, read_table
from objpert_core.estimators import DPSGDLogisticRegression, ObjPertLogisticRegression, model_card, own_table
from objpert_core.exceptions import ConvergenceError
from objpert_core.learning import PrivacyCertificate
from tests.cli.console import COLUMNS, PEOPLE, run

FIT = f"objpert fit {COLUMNS} --epsilon 2 --public-rows 40"


def test_a_plan_reads_no_row_and_says_what_the_certificate_then_says(release, folder):
    fit = FIT.replace("people.csv", "nobody.csv")
    code, told = run(f"{fit} --plan --score")
    assert code == 0
    assert "(2, 1e-5)-differential privacy, add or remove one row" in told
    assert "32, a number that was declared" in told
    assert "scores          0.2 of the rows" in told
    planned = json.loads(run(f"{fit} --plan --json")[1])["plan"]["noise"]
    certificate = json.loads((folder / "release" / "certificate.json").read_text("utf-8"))
    assert {"sigma", "lam"} <= planned["objective"].keys()
    assert all(certificate[name] == planned["objective"][name] for name in ("sigma", "lam", "lipschitz", "bound"))
    assert all(certificate[name] == planned[name] for name in ("tau", "sigma_out"))
    assert not (folder / "objpert-release").exists()
    code, told = run(f"{fit.replace('--public-rows 40', '')} --plan")
    assert (code, told.startswith("objpert: --plan needs --public-rows")) == (2, True)


def test_a_folder_is_walked_and_its_model_is_that_of_the_small_file(release, folder):
    (folder / "many").mkdir()
    frame = pd.read_csv(io.BytesIO(PEOPLE), dtype={"member": str})
    frame.to_parquet(folder / "many" / "part.parquet")
    fit = FIT.replace("people.csv", "many")
    assert run(f"{fit} --seed 1 --out walked")[0] == 0
    small, walked = (json.loads((folder / name / "model.json").read_text("utf-8")) for name in ("release", "walked"))
    np.testing.assert_allclose(walked["coef"], small["coef"], atol=1e-4)
    assert run("objpert predict release many --scores") == run("objpert predict release people.csv --scores")
    assert run(f"{fit} --seed 1 --score --out scored")[0] == 0
    assert run("objpert verify scored/together.json scored")[0] == 0
    assert run("objpert evaluate scored many --epsilon 1 --out scores.json")[0] == 0
    code, told = run(f"{fit} --intervals --out other")
    assert (code, "intervals must be False for 40 rows" in told) == (2, True)
    frame.loc[3, "moved"] = "maybe"
    frame.to_parquet(folder / "many" / "part.parquet")
    code, told = run(f"{fit} --out other")
    assert (code, "part.parquet: row 4, column “moved”" in told) == (2, True)
    assert not (folder / "other").exists()


def test_a_cluster_makes_the_release_that_this_process_makes(release, folder):
    distributed = pytest.importorskip("distributed", reason="a cluster needs the package distributed")
    with distributed.LocalCluster(n_workers=2, processes=False, dashboard_address=None) as cluster:
        there = f"--scheduler {cluster.scheduler_address}"
        code, told = run(f"{FIT} --seed 1 {there} --out there")
        assert (code, "11 of 40 values outside 0 to 48 were clipped" in told) == (0, True)
        assert run("objpert verify there")[0] == 0
        models = [
            json.loads((folder / name / "model.json").read_text(encoding="utf-8")) for name in ("release", "there")
        ]
        np.testing.assert_allclose(models[1]["coef"], models[0]["coef"], atol=1e-4)
        assert models[1]["center"] == models[0]["center"]
        code, told = run(f"{FIT} {there} --score --out scored")
        assert (code, "--score must be left out with --scheduler" in told) == (2, True)
    code, told = run(f"{FIT} --scheduler nowhere --out lost")
    assert (code, "--scheduler must be the address of a Dask scheduler" in told) == (2, True)
    assert not (folder / "lost").exists()


@pytest.fixture
def release(folder):
    assert run(f"{FIT} --seed 1 --out release")[0] == 0
    return folder / "release"


def names(folder):
    return {path.name for path in folder.iterdir()}


def test_a_release_is_what_the_package_fits(release):
    schema = TableSchema.from_json((release / "schema.json").read_text(encoding="utf-8"))
    table = read_table(PEOPLE, schema)
    shared = {"epsilon": 2.0, "delta": 1e-5, "public_rows": 40, "random_state": 1}
    model = ObjPertLogisticRegression(**shared, classes=[0, 1], feature_ranges=schema.feature_ranges)
    model.fit(table.X, table.y)
    found = own_table.read_model((release / "model.json").read_text(encoding="utf-8"))
    np.testing.assert_array_equal(found.model.coef_, model.coef_)
    certificate = PrivacyCertificate.from_json((release / "certificate.json").read_text())
    assert certificate == model.privacy_.public()
    assert certificate.verify(found.model)
    _, shown = run("objpert predict release people.csv --scores --json")
    predicted = json.loads(shown[shown.index("{") :])
    assert predicted["predicted"] == [("no", "yes")[label] for label in model.predict(table.X)]
    np.testing.assert_array_equal(predicted["scores"], model.decision_function(read_features(PEOPLE, schema)))
    assert names(release) == {"model.json", "certificate.json", "schema.json"}


def test_what_may_be_published_stands_apart_from_what_may_not(folder, capsys):
    assert main([*FIT.replace('"', "").split()[1:2], "people.csv", "--schema", "-", "--epsilon", "1"]) == 2
    capsys.readouterr()
    assert run(f"{FIT} --out first")[0] == 0
    told = ["fit", "people.csv", "--schema", "first/schema.json", "--epsilon", "1", "--seed", "3", "--out", "second"]
    assert main(told) == 0
    shown = capsys.readouterr()
    assert "clipped" not in shown.out
    assert "11 of 40 values outside 0 to 48 were clipped" in shown.err
    assert "the noise comes from the seed 3" in shown.err
    assert "the number of rows counts as known to all" in shown.err
    assert '"reproducible": true' in (folder / "second" / "certificate.json").read_text()


@pytest.mark.thorough
def test_releases_of_the_same_people_add_up_by_composition(release):
    assert run(f"{FIT} --out other")[0] == 0
    read = [
        PrivacyCertificate.from_json((release.parent / name / "certificate.json").read_text())
        for name in ("release", "other")
    ]
    parts = [one.accounted(one.rebuild()) for one in read]
    line = "objpert accounting --certificates release other/certificate.json --delta 1e-5 --json"
    code, shown = run(line)
    found = json.loads(shown)
    assert (code, found["epsilon"]) == (0, compose(*parts).epsilon(1e-5))
    assert 2.0 < found["epsilon"] < 4.0
    assert found["entries"][0]["running_epsilon"] == parts[0].epsilon(1e-5) <= 2.0
    assert {found["adjacency"]} == {entry["adjacency"] for entry in found["entries"]}
    assert run(f"{FIT} --out third".replace(" --public-rows 40", ""))[0] == 0
    code, shown = run("objpert accounting --certificates release third --delta 1e-5 --json")
    found = json.loads(shown)
    assert len({entry["adjacency"] for entry in found["entries"]} | {found["adjacency"]}) == 3  # that of both


def test_a_tampered_release_does_not_verify_and_complaints_are_short_and_harmless(release):
    assert run("objpert verify release")[0] == 0
    path = release / "certificate.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(document | {"sigma": document["sigma"] / 2}))
    code, shown = run("objpert verify release/certificate.json --json")
    assert (code, json.loads(shown)["promise_holds"]) == (1, False)
    code, shown = run("objpert accounting --certificates release --delta 1e-5")
    assert (code, "does not hold" in shown) == (2, True)
    for change in ({"epsilon": "\x1b[2J", "adjacency": "\x1b[31mall"}, {"adjacency": "x" * 100_000}):
        path.write_text(json.dumps(document | change))
        code, shown = run("objpert verify release/certificate.json")
        assert code in (1, 2)
        assert "\x1b" not in shown
        assert len(shown) < 1000


TOWN = (
    'objpert fit town.csv --target moved --two-values moved=no:yes --number age:18:80 --number "weekly hours:0:48" '
    "--categories job=office,café,workshop --epsilon 1 --public-rows 5000"
)


@pytest.mark.thorough
def test_coefficients_with_errors_are_those_of_the_package_and_verify_compares_their_curvature(town_too):
    folder = town_too
    code, shown = run(f"{TOWN} --seed 7 --intervals --out sure --json")
    assert code == 0
    document = json.loads(shown.partition("\n")[2])
    told = document["coefficients"]
    assert document["caution"] is None
    schema = TableSchema.from_json((folder / "sure" / "schema.json").read_text(encoding="utf-8"))
    assert schema.references == {"job": "office"}
    table = read_table((folder / "town.csv").read_bytes(), schema)
    model = ObjPertLogisticRegression(
        1.0, 1e-5, intervals=True, classes=[0, 1], public_rows=5000, random_state=7, advanced={"row_norm": "clip"}
    ).fit(table.X, table.y)
    expected = model.summary(scaler=schema)
    np.testing.assert_array_equal([row["std err"] for row in told], expected["std err"])
    assert "Log-odds per unit of the columns," in model_card(model, scaler=schema).render()
    assert "Log-odds per unit of the rows as the model takes them," in model_card(model).render()
    assert [row["feature"] for row in told] == ["age", "weekly hours", "job = café", "job = workshop"]
    assert expected.loc["age", "[0.025"] < -0.05 < expected.loc["age", "0.975]"]
    with pytest.raises(ValueError, match="the model's 4 features, and has 5"):
        model.summary(scaler=TableSchema(schema.columns | {"more": Number(0, 1)}, schema.target))
    (folder / "parts").mkdir()
    frame = pd.read_csv(folder / "town.csv")
    for place in range(3):
        frame[place::3].to_parquet(folder / "parts" / f"{place}.parquet")
    assert run(f"{TOWN.replace('town.csv', 'parts')} --seed 7 --intervals --out walked")[0] == 0
    walked = own_table.read_model((folder / "walked" / "model.json").read_text(encoding="utf-8")).model
    pd.testing.assert_frame_equal(walked.summary(scaler=schema), expected, rtol=1e-3, atol=1e-6)
    read = own_table.read_model((folder / "sure" / "model.json").read_text(encoding="utf-8")).model
    pd.testing.assert_frame_equal(read.summary(scaler=schema), expected)
    assert run("objpert verify sure")[0] == 0
    assert run("objpert predict sure town.csv --out predicted.csv")[0] == 0
    path = folder / "sure" / "model.json"
    values = json.loads(path.read_text(encoding="utf-8"))
    values["hessian"][0][0] *= 2
    path.write_text(json.dumps(values), encoding="utf-8")
    assert run("objpert verify sure")[0] == 1
    del values["hessian"]
    path.write_text(json.dumps(values), encoding="utf-8")
    assert run("objpert verify sure")[0] == 1


def test_a_choice_that_nobody_paid_for_is_not_covered(folder):
    X = np.random.default_rng(0).standard_normal((30, 2))
    options = {"classes": [0, 1], "learning_rates": [0.1, 0.2], "public_rows": 30, "epochs": 1}
    for tuning, mean_runs in (("dishonest", None), ("honest", 2.0)):
        model = DPSGDLogisticRegression(tuning=tuning, mean_runs=mean_runs, random_state=0, **options)
        certificate = model.fit(X, (X[:, 0] > 0).astype(int)).privacy_
        (folder / f"{tuning}.json").write_text(certificate.to_json())
    code, shown = run("objpert verify dishonest.json")
    assert code == 1
    assert shown.startswith("the certificate does not cover the choice of the learning rate: ε = 1")
    assert "learning rate  chosen by looking at the data, NOT covered" in shown
    found = json.loads(run("objpert verify dishonest.json --json")[1])
    assert (found["holds"], found["promise_holds"], found["choice_covered"]) == (False, True, False)
    assert run("objpert verify honest.json")[0] == 0


FAILURES = [
    (ConvergenceError("gradient norm 3.14 after 1000 iterations"), 1, own_table.NOT_CONVERGED),
    (KeyError("Ann Onymous"), 1, "objpert: something unexpected went wrong (KeyError): nothing was released"),
    (MemoryError(), 1, "objpert: something unexpected went wrong (MemoryError): nothing was released"),
    (KeyboardInterrupt(), 130, ""),
]


@pytest.mark.parametrize(("error", "code", "told"), FAILURES)
def test_a_fit_that_fails_writes_nothing(folder, monkeypatch, error, code, told):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(ObjPertLogisticRegression, "fit", fail)
    found, shown = run(f"{FIT} --out release")
    assert found == code
    assert told in shown
    assert "Ann" not in shown
    assert "3.14" not in shown
    assert names(folder) == {"people.csv"}


def test_nothing_is_overwritten_unless_it_is_said(release):
    before = (release / "model.json").read_bytes()
    (release / "model.skops").write_bytes(b"of this release")
    (release / "notes.txt").write_text("somebody's own")
    code, shown = run(f"{FIT} --seed 2 --out release")
    assert code == 2
    assert "say --overwrite" in shown
    assert (release / "model.json").read_bytes() == before
    assert run(f"{FIT} --seed 2 --out release --overwrite")[0] == 0
    assert (release / "model.json").read_bytes() != before
    assert names(release) == {"model.json", "certificate.json", "schema.json", "notes.txt"}
    assert run("objpert verify release")[0] == 0


def test_a_card_of_an_earlier_release_goes_with_it_and_a_readme_of_ones_own_stays(folder):
    pytest.importorskip("skops.card")
    card = folder / "release" / "README.md"
    assert run(f"{FIT} --out release --card")[0] == 0
    assert "this card cannot tell" not in card.read_text(encoding="utf-8")
    assert run(f"{FIT} --out release")[0] == 2
    assert card.exists()
    assert run(f"{FIT} --out release --overwrite")[0] == 0
    assert not card.exists()
    card.write_text("# Mine")
    assert run(f"{FIT} --out release --overwrite")[0] == 0
    assert card.read_text() == "# Mine"


TARGETS = {
    "two": "--target moved --two-values moved=no:yes --number age:18:80",
    "several": "--target job --several-values job=office:café:workshop --number age:18:80",
    "number": "--target age --number age:40:42",
}


@pytest.mark.thorough
@pytest.mark.parametrize("target", TARGETS)
def test_every_file_of_a_release_answers_as_the_command_does(folder, target):
    skops = pytest.importorskip("skops.io")
    columns = f"{TARGETS[target]} --categories member=FALSE,TRUE"
    assert run(f"objpert fit people.csv {columns} --linear --epsilon 2 --public-rows 40 --skops --out release")[0] == 0
    told = run("objpert predict release people.csv --json")[1]
    predicted, release = json.loads(told)["predicted"], folder / "release"
    model = own_table.read_model((release / "model.json").read_text(encoding="utf-8"))
    known = TableSchema.from_json((release / "schema.json").read_text(encoding="utf-8"))
    rows = pd.DataFrame(read_features(PEOPLE, known), columns=list(known.feature_names))
    assert model.predict(rows) == predicted
    pipeline = skops.load(release / "model.skops", trusted=[])
    answers = pipeline.predict(rows)
    if target == "number":
        np.testing.assert_allclose(answers, predicted, rtol=1e-9)
        values = json.loads((release / "model.json").read_text(encoding="utf-8"))
        steep = values | {"coef": [1e3 * one for one in values["coef"]]}
        (release / "model.json").write_text(json.dumps(steep), encoding="utf-8")
        told = json.loads(run("objpert predict release people.csv --scores --json")[1])
        assert told["predicted"] == np.clip(told["scores"], 40, 42).tolist() != told["scores"]
        schema = json.loads((release / "schema.json").read_text(encoding="utf-8"))
        schema["target"]["high"] = 43
        (folder / "other.json").write_text(json.dumps(schema), encoding="utf-8")
        code, refused = run("objpert predict release people.csv --schema other.json")
        assert (code, "got one with another range" in refused) == (2, True)
        return
    assert [model.labels[one] for one in answers] == predicted
    np.testing.assert_allclose(pipeline.predict_proba(rows), model.predict_proba(rows), atol=1e-9)
    with pytest.raises(ValueError, match="feature names"):
        pipeline.predict(rows[rows.columns[::-1]])


class Standard(io.TextIOWrapper):
    """Standard input that holds a file."""

    def __init__(self, content: bytes) -> None:
        super().__init__(io.BytesIO(content))


def test_standard_input_is_a_file(release, monkeypatch):
    monkeypatch.setattr(sys, "stdin", Standard(PEOPLE))
    code, shown = run("objpert predict release -")
    assert (code, shown) == run("objpert predict release people.csv")
    monkeypatch.setattr(sys, "stdin", Standard((release / "certificate.json").read_bytes()))
    assert run("objpert verify -")[0] == 0


def test_a_schema_has_the_names_of_the_columns_and_nothing_of_the_values(folder):
    code, shown = run("objpert schema people.csv --target moved --categories job --out blank.json")
    assert code == 0
    text = (folder / "blank.json").read_text(encoding="utf-8")
    document = json.loads(text)
    assert [column["name"] for column in document["columns"]] == ["age", "weekly hours", "job", "member", "rent"]
    assert all(column["low"] is None for column in document["columns"] if column["kind"] == "number")
    assert not any(value in text for value in ("office", "café", "TRUE", "yes", "80", "48"))
    code, shown = run("objpert fit people.csv --schema blank.json --epsilon 1")
    assert code == 2
    assert "low must be a finite number, got None" in shown


def test_hostile_names_and_values_reach_no_terminal_and_no_spreadsheet(folder):
    table = 'age,"=1+1"\n' + "".join(f"{20 + i},{('yes', '@evil')[i % 2]}\n" for i in range(20))
    (folder / "bad.csv").write_text(table)
    line = "objpert fit bad.csv --target =1+1 --two-values '=1+1=yes:@evil' --number age:0:99 --epsilon 1 --out x"
    code, shown = run(line)
    assert code == 2  # a name with "=" is for a schema
    schema = TableSchema({"age": Number(0, 99)}, TwoValues("=1+1", negative="yes", positive="@evil"))
    (folder / "s.json").write_text(schema.to_json())
    assert run("objpert fit bad.csv --schema s.json --epsilon 1 --public-rows 20 --out x")[0] == 0
    lines = run("objpert predict x bad.csv")[1].splitlines()
    assert lines[0] == "'=1+1"
    assert set(lines[1:]) <= {"yes", "'@evil"}
    (folder / "bad.csv").write_text("age,y\n20,<b>evil\u202e\n30,no\n", encoding="utf-8")
    code, shown = run("objpert fit bad.csv --target y --two-values y=no:yes --number age:0:99 --epsilon 1 --out y")
    assert code == 2
    assert "\u202e" not in shown
    assert "row 2, column “y”" in shown


ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "objpert_core.cli"]


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), **more}


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="pipes of POSIX")
def test_a_reader_that_leaves_and_a_terminal_without_greek_letters(folder):
    command = [*COMMAND, "accounting", "--sigma", "10", "--lam", "5", "--delta", "1e-5"]
    plain = environment(PYTHONIOENCODING="ascii")
    found = subprocess.run(command, env=plain, capture_output=True, text=True, check=True)
    assert found.stdout.startswith("epsilon = 0.341 at delta = 1e-5\n")
    reader, writer = os.pipe()
    os.close(reader)
    found = subprocess.run(command, env=plain, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert (found.returncode, found.stderr) == (141, "")


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a full disk of Linux")
def test_a_release_whose_answer_cannot_be_shown_is_there_and_said_to_be(folder):
    command = [*COMMAND, *shlex.split(f"{FIT} --json --out release")[1:]]
    with open("/dev/full", "w") as full:
        found = subprocess.run(
            command, env=environment(), stdout=full, stderr=subprocess.PIPE, text=True, encoding="utf-8", check=False
        )
    assert found.returncode == 1
    last = found.stderr.splitlines()[-1]
    assert last == "objpert: the release is in release, but the answer could not be shown: no space left on device"
    assert run("objpert verify release")[0] == 0


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_ctrl_c_is_130_and_leaves_nothing(folder):
    os.mkfifo(folder / "data.csv")  # a fit that waits for its data is at work
    words = ["fit", "data.csv", "--target", "y", "--two-values", "y=no:yes", "--number", "age:0:1", "--epsilon", "1"]
    process = subprocess.Popen([*COMMAND, *words], env=environment(), stderr=subprocess.PIPE, text=True)
    with opened_by_a_reader(folder / "data.csv", process):
        process.send_signal(signal.SIGINT)
    _, told = process.communicate()  # with the pipe closed: the signal may have come just before the read began
    assert (process.returncode, told) == (130, "")
    assert names(folder) == {"people.csv", "data.csv"}


@contextlib.contextmanager
def opened_by_a_reader(pipe, process):
    """The pipe's other end, from when the process reads it on."""
    while True:
        try:
            end = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
            break
        except OSError:  # nobody reads it yet
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.05)
                pytest.fail(process.stderr.read())
    try:
        yield
    finally:
        os.close(end)
