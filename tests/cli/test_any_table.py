"""Tables as people have them, small and large, CSV and Parquet: one schema, the same rows, and the owner is told."""

import csv
import io
import json
import sys

import numpy as np
import pandas as pd
import pytest

from objpert_core.cli import main
from objpert_core.datasets import tables
from objpert_core.datasets.tables import walking
from objpert_core.learning import PrivacyCertificate
from tests.cli.console import run

pytest.importorskip("pyarrow")
TARGET = "--target y --two-values y=no:yes"
FIT = f"{TARGET} --number age:18:80 --epsilon 1 --public-rows 300 --seed 1"


def visits(rows=300, seed=0):
    """Rows of some hundred people whose chance of a yes falls with age."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 81, rows)
    yes = rng.random(rows) < 1 / (1 + np.exp((age - 50) / 5))
    return pd.DataFrame(
        {
            "id": rng.integers(0, rows // 3, rows),
            "age": age,
            "m": rng.integers(0, 2, rows),
            "y": np.where(yes, "yes", "no"),
        }
    )


@pytest.fixture
def both(folder, monkeypatch):
    """Write a frame as a CSV file that is read, one that is walked, and Parquet; all blocks are small."""
    monkeypatch.setattr(walking, "_LEAST_ROWS", 70)
    monkeypatch.setattr(walking, "_NUMBERS", 1)
    monkeypatch.setattr(walking, "_CSV_BYTES", 40_000)
    monkeypatch.setattr(tables, "MOST_BYTES", 100_000)

    def write(frame):
        padded = frame.assign(note="x" * 400)  # a column of no role, which makes the file large
        frame.to_csv(folder / "small.csv", index=False)
        padded.to_csv(folder / "large.csv", index=False)
        frame.to_parquet(folder / "rows.parquet")
        assert (folder / "large.csv").stat().st_size > 100_000
        return "small.csv", "large.csv", "rows.parquet"

    return write


def read(folder, name):
    return json.loads((folder / name).read_text(encoding="utf-8"))


def fitted(folder, options, names, code=0):
    """What each file's fit prints; all have the same coefficients, unless coins are drawn."""
    shown, coefficients = [], []
    for name in names:
        found, text = run(f"objpert fit {name} {options} --out release --overwrite")
        assert found == code, text
        shown.append(text)
        if code == 0 and "--score" not in options:
            coefficients.append(read(folder, "release/model.json")["coef"])
    for one in coefficients[1:]:
        np.testing.assert_allclose(one, coefficients[0], atol=1e-3)
    return shown


# No size decides


def test_standard_input_may_be_large(folder, monkeypatch):
    monkeypatch.setattr(tables, "MOST_BYTES", 100)
    content = visits().to_csv(index=False).encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    assert main(["fit", "-", *FIT.split()]) == 0


@pytest.mark.thorough
def test_a_file_with_one_value_of_the_target_is_refused_at_every_size(folder, both):
    for shown in fitted(folder, FIT, both(visits().assign(y="no")), code=2):
        assert "column “y” must hold both values, and every row holds “no”" in shown
    for shown in fitted(folder, f"{FIT} --drop-missing-target", both(visits().assign(y=None)), code=2):
        assert "the table must have a row that is used, and it has none" in shown


# A column of whole numbers with a gap


@pytest.mark.thorough
def test_one_schema_serves_a_whole_number_that_is_written_with_a_point(folder, both):
    frame = visits().assign(m=lambda table: table.m.astype(float))
    frame.loc[3, "m"] = np.nan
    assert "1.0" in frame.to_csv()
    names = both(frame)
    options = f"{FIT} --categories m=0,1 --mark-missing m"
    fitted(folder, options, names)
    fitted(folder, f"{FIT} --schema release/schema.json".replace(f"{TARGET} --number age:18:80", ""), names)
    predictions = {run(f"objpert predict release {name}") for name in names}
    assert len(predictions) == 1
    assert next(iter(predictions))[0] == 0
    assert (
        len({run(f"objpert evaluate release {name} --epsilon 1 --seed 1")[1].split("\n", 2)[2] for name in names}) == 1
    )
    target = frame.assign(m=frame.m.fillna(0), y=lambda table: (table.y == "yes").astype(float))
    target.loc[7, "y"] = np.nan
    line = FIT.replace("y=no:yes", "y=0:1") + " --drop-missing-target"
    fitted(folder, line, both(target))


# The owner is told


@pytest.mark.thorough
def test_wrong_ranges_are_told_to_the_owner_of_every_file(folder, both):
    names = both(visits().assign(age=lambda table: table.age * 1000))
    told = "your eyes only, outside of the certificate: column “age”: 300 of 300 values outside 18 to 80 were clipped"
    for shown in fitted(folder, FIT, names):
        assert told in shown
    for shown in fitted(folder, f"{FIT} --score", names):
        assert told in shown
    for name in names:
        assert told in run(f"objpert evaluate release {name} --epsilon 1")[1]
        assert "column “age”: 300 of 300 values outside" in run(f"objpert predict release {name}")[1]


# Rows


@pytest.mark.thorough
def test_rows_without_a_target_are_left_out_where_the_owner_says_so(folder, both):
    frame = visits()
    frame.loc[[4, 9], "y"] = None
    frame.loc[[5, 4], "age"] = [30, 1000]
    names = both(frame.astype({"age": float}))
    assert all("and it is empty" in shown for shown in fitted(folder, FIT, names, code=2))
    for shown in fitted(folder, f"{FIT} --drop-missing-target", names):
        assert "2 rows without a value of “y” were left out" in shown
        assert "table      of its rows: those without a value of “y” are left out" in shown
    assert read(folder, "release/schema.json")["drop_missing_target"] is True
    certificate = PrivacyCertificate.from_json((folder / "release" / "certificate.json").read_text(encoding="utf-8"))
    assert certificate.verify()
    assert "of its rows: those without a value of “y” are left out" in run("objpert verify release")[1]
    assert certificate.rows_used == "those without a value of “y” are left out"
    model = read(folder, "release/model.json")
    frame.dropna(subset="y").to_csv(folder / "small.csv", index=False)
    run(f"objpert fit small.csv {FIT} --out clean")
    np.testing.assert_allclose(model["coef"], read(folder, "clean/model.json")["coef"], atol=1e-3)
    assert run("objpert evaluate release rows.parquet --epsilon 1")[0] == 0  # the schema says it there, too


@pytest.mark.thorough
def test_words_for_missing_values_may_be_named(folder, both):
    frame = visits().astype({"age": object})
    frame.loc[3, "age"], frame.loc[4, "age"] = "-", "Unknown"
    names = both(frame.astype(str))
    options = f'{FIT} --missing age=40 --missing-words "-,unknown"'
    for shown in fitted(folder, options, names):
        assert "column “age”: 2 of 300 values were missing and replaced" in shown
    assert read(folder, "release/schema.json")["missing_words"] == ["-", "unknown"]
    assert run("objpert predict release small.csv")[0] == 0
    for shown in fitted(folder, f"{FIT} --missing age=40", names, code=2):
        assert "- row" in shown
    numbers = visits()
    numbers.loc[3, "age"] = -999
    for shown in fitted(folder, f"{FIT} --missing age=40 --missing-words=-999", both(numbers)):
        assert "column “age”: 1 of 300 values was missing and replaced" in shown


@pytest.mark.thorough
def test_a_bad_new_row_has_an_empty_prediction(folder, both):
    fitted(folder, f"{FIT} --categories m=0,1", both(visits()))
    new = visits(30, 1).astype({"age": object, "m": object})
    new.loc[3, "age"], new.loc[4, "m"], new.loc[20, "m"] = "old", "2", None
    names = both(pd.concat([new.astype(str), visits(300, 2).astype(str)]))
    answers = []
    for name in names:
        code, shown = run(f"objpert predict release {name} --scores --probabilities --out new.csv --overwrite")
        assert code == 0, shown
        assert "note: 3 of 330 rows have an empty prediction:" in shown
        rows = list(csv.DictReader((folder / "new.csv").read_text(encoding="utf-8").splitlines()))
        assert [place for place, row in enumerate(rows) if row["y"] == ""] == [3, 4, 20]
        assert all(row[column] == "" for row in (rows[3], rows[4]) for column in row)
        answers.append(rows)
        _, shown = run(f"objpert predict release {name} --json")
        found = json.loads(shown[shown.index("{") :])["predicted"]
        assert (len(found), found[3], found[5]) == (330, None, rows[5]["y"])
    assert answers[0] == answers[1] == answers[2]


@pytest.mark.thorough
def test_probabilities_are_those_of_the_model(folder):
    visits().to_csv(folder / "small.csv", index=False)
    fitted(folder, FIT, ["small.csv"])
    _, shown = run("objpert predict release small.csv --probabilities")
    rows = list(csv.DictReader(shown.splitlines()))
    no, yes = (np.array([float(row[f"probability of {label}"]) for row in rows]) for label in ("no", "yes"))
    np.testing.assert_allclose(no + yes, 1.0)
    assert [row["y"] for row in rows] == np.where(yes > 0.5, "yes", "no").tolist()
    _, shown = run("objpert predict release small.csv --probabilities --json")
    assert json.loads(shown)["probabilities"]["yes"] == yes.tolist()
    assert run("objpert fit small.csv --target age --number age:18:80 --number m:0:1 --epsilon 1 --out age")[0] == 0
    code, shown = run("objpert predict age small.csv --probabilities")
    assert (code, "--probabilities must be left out where the target is a number" in shown) == (2, True)


# People


@pytest.mark.thorough
def test_of_each_person_the_first_rows_are_used(folder, both):
    frame = visits()
    names = both(frame)
    options = f"{FIT} --person id --rows-per-person 2"
    beyond = int((frame.groupby("id").cumcount() >= 2).sum())
    for shown in fitted(folder, options, names):
        assert f"{beyond} rows beyond the first 2 of a person were left out" in shown
        assert "add or remove up to 2 rows of one person" in shown
        assert "the first 2 rows of each person by column “id”, in the table's order" in shown
    model = read(folder, "release/model.json")
    assert read(folder, "release/schema.json")["person"] == {"column": "id", "rows": 2}
    frame[frame.groupby("id").cumcount() < 2].to_csv(folder / "first.csv", index=False)
    run(f"objpert fit first.csv {FIT} --rows-per-person 2 --out first")
    np.testing.assert_allclose(model["coef"], read(folder, "first/model.json")["coef"], atol=1e-3)
    assert read(folder, "first/certificate.json")["adjacency"] == model["certificate"]["adjacency"]
    assert "rows_used" not in read(folder, "first/certificate.json")


@pytest.mark.thorough
def test_people_are_scored_by_coins_of_their_own(folder, both):
    for options in ("--person id", "--person id --rows-per-person 3"):
        for shown in fitted(folder, f"{FIT} {options} --score", both(visits())):
            assert "accuracy" in shown
        assert run("objpert verify release/together.json release")[0] == 0
        whole = read(folder, "release/together.json")
        assert whole["rows_per_person"] == (1 if "3" not in options else 3)
        assert whole["rows_used"].endswith("by column “id”, in the table's order")
        assert run("objpert evaluate release rows.parquet --epsilon 1 --out e.json --overwrite")[0] == 0
        assert read(folder, "e.json")["certificate"]["rows_per_person"] == whole["rows_per_person"]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("options", "told"),
    [
        ("--person y", "person must name a column that is no feature and not the target"),
        ("--person who", "“who”"),
        ("--person id --scheduler tcp://host:1", "--person must be left out with --scheduler"),
        ("--rows-per-person 7 --score", "--score needs --person where --rows-per-person is above 1"),
        ("--person id", "column “id” must say whose row it is"),
    ],
)
def test_what_cannot_be_with_people_is_one_sentence(folder, both, options, told):
    frame = visits().astype({"id": float})
    frame.loc[9, "id"] = np.nan
    for shown in fitted(folder, f"{FIT} {options}", both(frame), code=2):
        assert told in shown
        assert shown.count("\n") == 1


# Messages


def test_a_message_can_be_read_and_copied_in_a_terminal(folder):
    frame = visits()
    frame.assign(age=frame.age.astype(str) + "x").to_csv(folder / "small.csv", index=False)
    code, shown = run(f"objpert fit small.csv {FIT}")
    assert (code, shown.splitlines()[0]) == (2, "objpert: the first 20 cells that cannot be read:")
    assert len(shown.splitlines()) > 10
    assert all(line.startswith("- row") for line in shown.splitlines()[1:])
    dated = f"{TARGET} --date id=%H:%M %Y=00:00 2000=00:00 2020 --epsilon 1".replace("id=%H:%M %Y", '"id=%H:%M %Y')
    code, shown = run(f"objpert fit small.csv {dated.replace('00:00 2020', '00:00 2020' + chr(34))}")
    assert (code, "must hold a date of the form “%H:%M %Y”" in shown) == (2, True), shown


@pytest.mark.thorough
def test_letters_that_are_not_utf_8_are_not_called_so(folder, monkeypatch):
    frame = visits().assign(place="café")
    frame.to_csv(folder / "rows.csv", index=False, encoding="windows-1252")
    for most in (10**6, 100):
        monkeypatch.setattr(tables, "MOST_BYTES", most)
        code, shown = run(f"objpert fit rows.csv {FIT} --categories place=café --encoding utf-8")
        assert (code, "letters that are not utf-8; they may be windows-1252" in shown) == (2, True), shown
        assert "say --encoding" in shown
        assert run(f"objpert fit rows.csv {FIT} --categories place=café --out r --overwrite")[0] == 0
    (folder / "rows.csv").write_bytes(frame.to_csv(index=False).encode() + "1,20,1,yes,caf\xe9\n".encode("latin-1"))
    code, shown = run(f"objpert fit rows.csv {FIT} --categories place=café")
    assert (code, "neither UTF-8 nor surely Windows-1252" in shown) == (2, True), shown


def test_a_schema_is_made_of_a_table_of_any_kind(folder, both):
    blanks = []
    for name in both(visits()):
        code, shown = run(f"objpert schema {name} --target y --categories m --out blank.json --overwrite")
        assert code == 0, shown
        blanks.append(read(folder, "blank.json"))
    assert blanks[0] == blanks[2]
    assert [column["name"] for column in blanks[1]["columns"]] == ["id", "age", "m", "note"]


@pytest.mark.thorough
def test_a_strange_parquet_file_is_refused_in_one_sentence(folder):
    frame = visits()
    frame.assign(age=[[age] for age in frame.age]).to_parquet(folder / "lists.parquet")
    frame[:0].to_parquet(folder / "empty.parquet")
    (folder / "none.parquet").write_bytes(b"secret" * 100)
    for name, told in {
        "lists": "lists.parquet: column “age” must hold numbers or texts, got the type list",
        "empty": "the table must have a row that is used, and it has none",
        "none": "none.parquet must be a Parquet file, and it is none",
    }.items():
        code, shown = run(f"objpert fit {name}.parquet {FIT}")
        assert (code, told in shown, shown.count("\n")) == (2, True, 1), shown
    frame.assign(age=frame.age + 2**60).to_parquet(folder / "large.parquet")
    assert run(f"objpert fit large.parquet {FIT}")[0] == 0
