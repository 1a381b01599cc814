"""`objpert fit` on tables as people have them: dates, per cent, money, unknown ranges, many classes, weights."""

import json
import random

import numpy as np
import pytest

from objpert_core.datasets import SeveralValues, TableSchema, read_table, tables
from objpert_core.estimators import ObjPertLogisticRegression, own_table
from objpert_core.learning import PrivacyCertificate
from tests.cli.console import run

FIT = (
    "objpert fit visits.csv --target care --several-values care=none:some:much --number age:private "
    "--money pay:private:€ --date joined=%d.%m.%Y=1.1.2000=31.12.2020 --percent share:0:100 --categories sex=f,m "
    "--epsilon 4 --public-rows 1500 --seed 1"
)


@pytest.fixture
def visits(folder):
    draw = random.Random(0)
    lines = ["age;pay;joined;share;sex;care"]
    for _ in range(1500):
        age, day = draw.randint(18, 90), f"{draw.randint(1, 28)}.{draw.randint(1, 12)}.{draw.randint(2000, 2020)}"
        care = ("none", "some", "much")[(age > 40) + (age > 65)]
        lines.append(f"{age};€ {draw.lognormvariate(10, 1):.2f};{day};{draw.uniform(0, 100):.1f} %;f;{care}")
    (folder / "visits.csv").write_text("\n".join(lines), encoding="utf-8")
    return folder


@pytest.mark.thorough
def test_what_nobody_knows_is_learned_and_what_is_known_costs_nothing(visits, monkeypatch):
    code, shown = run(f"{FIT} --linear --class-weight much=3 --out release")
    assert code == 0, shown
    assert "2 of the columns cut to ranges from noisy counts" in shown
    schema = TableSchema.from_json((visits / "release" / "schema.json").read_text(encoding="utf-8"))
    table = read_table((visits / "visits.csv").read_bytes(), schema)
    model = ObjPertLogisticRegression(
        4.0,
        classes=[0, 1, 2],
        public_rows=1500,
        random_state=1,
        class_weight={2: 3.0},
        feature_ranges=schema.feature_ranges,
    ).fit(table.X, table.y)
    found = own_table.read_model((visits / "release" / "model.json").read_text(encoding="utf-8"))
    np.testing.assert_array_equal(found.model.coef_, model.coef_)
    np.testing.assert_array_equal(found.model.feature_ranges_, model.feature_ranges_)
    assert PrivacyCertificate.from_json((visits / "release" / "certificate.json").read_text()).verify(found.model)
    assert run("objpert verify release")[0] == 0
    _, predicted = run("objpert predict release visits.csv")
    assert predicted.split()[1:] == [("none", "some", "much")[label] for label in model.predict(table.X)]
    assert run(f"{FIT} --linear --out small")[0] == 0
    monkeypatch.setattr(tables, "MOST_BYTES", 10)  # now tables are walked
    for weights, small in (("--class-weight much=3", "release"), ("", "small")):
        code, shown = run(f"{FIT} --linear {weights} --out walked --overwrite --delimiter ;")
        assert code == 0, shown
        here, walked = (json.loads((visits / name / "model.json").read_text("utf-8")) for name in (small, "walked"))
        np.testing.assert_allclose(walked["coef"], here["coef"], atol=1e-4)
        assert walked["feature_ranges"] == here["feature_ranges"]
        assert run("objpert verify walked")[0] == 0


def test_several_rows_of_a_person_are_promised_about(visits, monkeypatch):
    asked = []

    def made(ask, content):
        asked.append(own_table.estimator(ask).get_params())
        raise ValueError("stop here")

    monkeypatch.setattr(own_table, "made", made)
    assert run(f"{FIT} --rows-per-person 3 --adjacency replace --out no")[0] == 2
    assert (asked[0]["rows_per_person"], asked[0]["adjacency"]) == (3, "replace one row")


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ("--class-weight never=2", "--class-weight must name values of the target, got 'never'"),
        ("--class-weight balanced --class-weight some=2", "--class-weight must be balanced alone"),
        ("--class-weight some", "must be balanced or look like yes=5"),
        ("--rows-per-person 0", "--rows-per-person must be a whole number >= 1, got 0"),
        ("--mark-missing age", "column 'age': missing must be a number where the range is private"),
        ("--money rent:0:10", "must look like NAME:LOW:HIGH"),
        ("--date day=%d=1", "must look like NAME=FORM=FIRST=LAST"),
    ],
)
def test_what_cannot_be_is_one_sentence(visits, more, told):
    code, shown = run(f"{FIT} {more} --out no")
    assert (code, told in shown) == (2, True), shown
    assert not (visits / "no").exists()


def test_a_blank_schema_has_the_kinds_that_are_said(visits):
    line = "objpert schema visits.csv --target care --several-values --date joined --money pay --percent share"
    code, shown = run(f"{line} --categories sex --feature-ranges private --out blank.json")
    assert code == 0, shown
    blank = json.loads((visits / "blank.json").read_text())
    kinds = {column["name"]: (column["kind"], column.get("low")) for column in blank["columns"]}
    numbers = {"age": ("number", "private"), "pay": ("money", "private"), "share": ("percent", "private")}
    assert kinds == {**numbers, "joined": ("date", None), "sex": ("categories", None)}
    assert blank["target"] == {"kind": "several values", "column": "care", "values": []}
    with pytest.raises(ValueError, match="values must be a list of 2 to 100 texts"):
        SeveralValues("care", ["none"])
    assert run(f"{line} --number")[0] == 2
