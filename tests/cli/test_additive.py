"""Additive models by the command: raw cells go in, a release that reads back and shows its shapes comes out."""

import io
import json

import numpy as np
import pandas as pd
import pytest

from objpert_core.accounting.gaussian.calibration import calibrate_gaussian
from objpert_core.accounting.steps.pieces import rows_for_pieces
from objpert_core.datasets import TableSchema, read_table
from objpert_core.estimators import ObjPertAdditiveClassifier, own_table
from objpert_core.learning import PrivacyCertificate
from tests.cli.console import run

ROWS = 6000
COLUMNS = "--number age:18:90 --number hours:private --categories job=office,café"
TARGET = "--target moved --two-values moved=no:yes"
FIT = f"objpert fit town.csv {TARGET} {COLUMNS} --epsilon 2"


def made_town() -> pd.DataFrame:
    """Who moves: the middle-aged, those whose hours nobody knows, and those whose job is no listed one."""
    draw = np.random.default_rng(0)
    age, hours = draw.integers(18, 91, ROWS), draw.integers(0, 49, ROWS).astype(float)
    hours[draw.random(ROWS) < 0.1] = np.nan
    job = draw.choice(["office", "café", "workshop"], ROWS)
    scores = 1.0 - 0.005 * (age - 50) ** 2 + 1.5 * np.isnan(hours) + 1.5 * (job == "workshop")
    rent = 400 + 100 * np.sin(age / 8) + draw.normal(0, 10, ROWS)
    moved = np.where(draw.random(ROWS) < 1 / (1 + np.exp(-scores)), "yes", "no")
    return pd.DataFrame({"age": age, "hours": hours, "job": job, "rent": rent.round(1), "moved": moved})


TOWN = made_town()


@pytest.fixture
def town(tmp_path, monkeypatch):
    TOWN.to_csv(tmp_path / "town.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def release(town):
    code, shown = run(f"{FIT} --additive --seed 1 --out release")
    assert code == 0, shown
    return town / "release"


def read(folder):
    schema = TableSchema.from_json((folder / "schema.json").read_text(encoding="utf-8"))
    return schema, own_table.read_model((folder / "model.json").read_text(encoding="utf-8"))


def test_a_release_is_what_the_package_fits_to_the_frame(release):
    schema, found = read(release)
    known = {"columns": schema.columns, "classes": ["no", "yes"], "random_state": 1}
    model = ObjPertAdditiveClassifier(2.0, **known).fit(TOWN[["age", "hours", "job"]], TOWN["moved"])
    np.testing.assert_array_equal(found.model.pieces_, model.pieces_)
    np.testing.assert_array_equal(found.model.coef_, model.coef_)
    assert PrivacyCertificate.from_json((release / "certificate.json").read_text()).verify(found.model)
    pd.testing.assert_frame_equal(own_table.shapes(found.model, found.labels), model.shapes_)
    predicted = run("objpert predict release town.csv --probabilities --json")[1]
    told = json.loads(predicted[predicted.index("{") :])
    assert told["predicted"] == model.predict(TOWN[["age", "hours", "job"]]).tolist()
    np.testing.assert_allclose(told["probabilities"]["yes"], model.predict_proba(TOWN[["age", "hours", "job"]])[:, 1])


def test_the_release_verifies_is_scored_and_shows_its_shapes(release, town):
    assert {path.name for path in release.iterdir()} == {
        "model.json", "certificate.json", "schema.json", "shapes.csv",
    }  # fmt: skip
    assert run("objpert verify release")[0] == 0
    code, shown = run("objpert evaluate release town.csv --epsilon 1 --json")
    assert code == 0, shown
    scores = json.loads(shown[shown.index("{") :])["scores"]
    assert scores["AUC"]["low"] > 0.8  # a straight line along age has less than 0.7
    shapes = pd.read_csv(release / "shapes.csv")
    effects = shapes.set_index(["column", "piece"]).effect
    assert effects["hours", "missing"] > effects["hours"].drop("missing").max()
    assert effects["job", "other"] > max(effects["job", "office"], effects["job", "café"])
    code, shown = run(f"{FIT} --additive --seed 1 --out again")
    at = shapes[shapes.column == "hours"].share.iloc[-1]
    assert f"{effects['hours', 'missing']:+.2f}: missing, {at:.0%} of rows" in shown


def test_every_kind_of_target_may_be_scored_in_the_same_promise(town):
    several = "--target job --several-values job=office:café:workshop --number age:18:90 --number rent:200:600"
    code, shown = run(f"objpert fit town.csv {several} --epsilon 2 --additive --score --out jobs")
    assert code == 0, shown
    assert run("objpert verify jobs")[0] == 0
    shapes = pd.read_csv(town / "jobs" / "shapes.csv")
    assert set(shapes["class"]) == {"office", "café", "workshop"}
    assert "age     café " in shown


def test_a_file_that_is_walked_has_the_model_of_one_in_memory(release, town):
    frame = pd.read_csv(io.BytesIO((town / "town.csv").read_bytes()))
    frame.to_parquet(town / "town.parquet", row_group_size=2500)
    code, shown = run(f"{FIT.replace('town.csv', 'town.parquet')} --additive --seed 1 --out walked")
    assert code == 0, shown
    (_, small), (_, walked) = read(release), read(town / "walked")
    np.testing.assert_array_equal(walked.model.pieces_, small.model.pieces_)
    np.testing.assert_allclose(walked.model.coef_, small.model.coef_, atol=1e-4)
    assert run("objpert predict release town.parquet") == run("objpert predict release town.csv")


def test_a_cluster_makes_the_release_that_this_process_makes(release, town):
    distributed = pytest.importorskip("distributed", reason="a cluster needs the package distributed")
    with distributed.LocalCluster(n_workers=2, processes=False, dashboard_address=None) as cluster:
        code, shown = run(f"{FIT} --seed 1 --scheduler {cluster.scheduler_address} --out there")
    assert code == 0, shown
    (_, small), (_, there) = read(release), read(town / "there")
    np.testing.assert_array_equal(there.model.pieces_, small.model.pieces_)
    np.testing.assert_allclose(there.model.coef_, small.model.coef_, atol=1e-4)


def test_the_rule_goes_by_the_rows_that_were_declared_or_counted(town):
    least = rows_for_pieces(3, 1 / calibrate_gaussian(2.0, 1e-5).sigma)
    assert least < ROWS
    for rows, told in ((int(least), "features"), (int(least) + 1, "pieces")):
        code, shown = run(f"{FIT} --plan --public-rows {rows}")
        assert (code, "before the fit  pieces" in shown) == (0, told == "pieces"), shown
    assert run(f"{FIT} --out counted --seed 1")[0] == 0
    assert read(town / "counted")[1].model.pieces_ is not None
    TOWN.dropna().head(int(least)).to_csv("small.csv", index=False)
    line = FIT.replace("town.csv", "small.csv") + " --other job"
    code, shown = run(f"{line} --out few")
    assert code == 0, shown
    assert read(town / "few")[1].model.pieces_ is None
    code, shown = run(f"{line} --public-rows {2 * ROWS} --linear --plan")
    assert (code, "pieces" in shown) == (0, False)
    assert run(f"{line} --intervals --public-rows {2 * ROWS} --plan")[0] == 2  # of a private range


def test_what_lies_beside_a_model_must_be_its_own(release):
    shapes, schema = release / "shapes.csv", release / "schema.json"
    held = shapes.read_text(encoding="utf-8")
    shapes.write_text(held.replace("café", "cafe"), encoding="utf-8")
    code, shown = run("objpert verify release")
    assert (code, "shapes.csv is not about model.json" in shown) == (1, True)
    shapes.write_text(held, encoding="utf-8")
    schema.write_text(schema.read_text(encoding="utf-8").replace("90", "80"), encoding="utf-8")
    code, shown = run("objpert verify release")
    assert (code, "schema.json has other columns than model.json" in shown) == (1, True)
    assert run("objpert predict release town.csv")[0] == 2


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda model: model.pop("schema"), "must have the fields"),
        (lambda model: model["pieces"].pop(), "pieces"),
        (lambda model: model["pieces"][0].append(1.0), "pieces must be finite numbers"),
        (lambda model: model["pieces"].reverse(), "pieces_ must name the columns in their order"),
        (lambda model: model["schema"]["columns"].pop(), "features must be the columns of its schema"),
        (lambda model: model["schema"]["columns"][2]["categories"].pop(), "pieces must be those of the columns"),
        (lambda model: model["coef"][0].pop(), "coef must be finite numbers"),
        (lambda model: model.update(pieces=7), "pieces must be finite numbers"),
    ],
)
def test_a_strangers_file_is_refused_in_one_sentence(release, change, why):
    model = json.loads((release / "model.json").read_text(encoding="utf-8"))
    change(model)
    with pytest.raises(ValueError, match=why):
        own_table.read_model(json.dumps(model))


def test_effects_may_have_intervals(town):
    code, shown = run(f"{FIT.replace('--epsilon 2', '--epsilon 8')} --additive --intervals --seed 1 --out sure")
    assert code == 0, shown
    assert run("objpert verify sure")[0] == 0
    shapes = pd.read_csv(town / "sure" / "shapes.csv").dropna(subset="low")
    assert ((shapes.low < shapes.effect) & (shapes.effect < shapes.high)).all()
    schema, found = read(town / "sure")
    assert schema.references == {}
    assert own_table.shapes_csv(found.model, found.labels).decode() == (town / "sure" / "shapes.csv").read_text("utf-8")
    missing = shapes[(shapes.column == "hours") & (shapes.piece == "missing")].iloc[0]
    assert f"{missing.effect:+.2f} ({missing.low:+.2f} to {missing.high:+.2f}): missing" in shown


def test_a_number_is_predicted_within_its_range(town):
    schema = TableSchema.from_json(_rent())
    ask = own_table.Ask(schema.to_json(), 2.0, 1e-5, seed=1, test_share=0.2, model=own_table.ADDITIVE)
    made = own_table.made(ask, (town / "town.csv").read_bytes())
    assert made.evaluation is not None
    back = own_table.read_model(own_table.model_json(made).decode())
    table = read_table((town / "town.csv").read_bytes(), back.encoding(schema))
    predicted = np.array(back.predict(table.X))
    assert predicted.min() >= 250
    assert predicted.max() <= 550
    assert 1 - np.var(table.y - predicted) / np.var(table.y) > 0.9  # a straight line along age has less than 0.3


def _rent() -> str:
    columns = [{"name": "age", "kind": "number", "low": 18, "high": 90, "missing": None, "missing_indicator": False}]
    target = {"kind": "number", "column": "rent", "low": 250, "high": 550}
    return json.dumps({"format": "objpert table schema 1", "columns": columns, "target": target})


def test_a_strangers_scikit_learn_reads_the_release_and_its_card_shows_effects(town):
    skops = pytest.importorskip("skops.io", reason="skops is an extra of the tests")
    for name in ("one", "two"):
        code, shown = run(f"{FIT} --additive --seed 1 --skops --card --out {name}")
        assert code == 0, shown
    schema, found = read(town / "one")
    frame = TOWN[["age", "hours", "job"]]
    pipeline = skops.load(town / "one" / "model.skops", trusted=[])
    expected = found.predict_proba(read_table(TOWN.to_csv(index=False).encode(), schema.raw()).X)
    np.testing.assert_allclose(pipeline.predict_proba(frame), expected, rtol=0, atol=1e-12)
    assert (town / "one" / "model.skops").read_bytes() == (town / "two" / "model.skops").read_bytes()
    card = (town / "one" / "README.md").read_text(encoding="utf-8")
    assert "An additive classifier of 2 classes on 3 columns in " in card
    assert "# Effects" in card
