"""Bad input is one sentence on standard error and exit code 2, and nothing is written."""

import json

import pytest

from objpert_core.cli import main
from tests.cli.console import COLUMNS, run

FIT = f"fit {COLUMNS} --epsilon 1"
TYPED = "--target moved --two-values moved=no:yes --number age:18:80 --epsilon 1"
CASES = {
    "accounting --sigma 10 --lam 5": "give --delta",
    "accounting --sigma 10 --lam 5 --delta 1e-5 --epsilon 1": "and not both",
    "accounting --sigma 10 --delta 1e-5": "objective needs --lam",
    "accounting --sigma -1 --lam 5 --delta 1e-5": "sigma must be a finite number > 0, got -1.0",
    "accounting --sigma nan --lam 5 --delta 1e-5": "sigma must be a finite number > 0, got nan",
    "accounting --sigma x --lam 5 --delta 1e-5": "argument --sigma: invalid float value: 'x'",
    "accounting --sigma 10 --lam 5 --delta 2": "delta must be a number strictly between 0 and 1, got 2.0",
    "accounting --sigma 10 --lam 5 --bound best --delta 1e-5": "bound must be one of 'logistic'",
    "accounting --sigma 10 --lam 5 --delta 1e-5 --repeat 0": "--repeat must be a whole number >= 1, got 0",
    "accounting --sigma 10 --lam 5 --tau 1e-6 --delta 1e-5": "--tau and --sigma-out go together",
    "accounting gaussian --sigma 10 --lam 5 --delta 1e-5": "gaussian has no --lam; it has --sigma and --sensitivity",
    "accounting --sigma 10 --lam 5 --delta 1e-5 --rows-per-person 101": (
        "--rows-per-person must be a whole number from 1 to 100, got 101"
    ),
    "accounting laplace --delta 1e-5": "invalid choice: 'laplace'",
    "accounting gaussian --sigma 1 --all-bounds --delta 1e-5": "name no mechanism",
    "accounting --sigma 10 --lam 5 --bound kifer2012 --renyi --delta 1e-5": "Rényi",
    "accounting quadratic --scale 1 --degrees-of-freedom 2 --dimension 9 --delta 0.1": "--degrees-of-freedom must be",
    "accounting batches --noise-multiplier 1 --batch-size 1 --rows 9 --steps 1 --delta 0.1 --adjacency add-remove": (
        "--adjacency must be replace for batches, got 'add/remove'"
    ),
    "accounting --ledger fit:8,10 --delta 1e-5": "fit takes 3 or 4 or 5 numbers",
    "accounting --ledger nowhere.json --delta 1e-5": "the ledger cannot be read from 'nowhere.json'",
    "accounting --ledger gauss:1,1 --sigma 3 --delta 1e-5": "leave out --sigma",
    "accounting --ledger : --delta 1e-5": "entry 1 must look like",
    "calibrate --epsilon 1": "the following arguments are required: --delta",
    "calibrate --epsilon 0 --delta 1e-5": "epsilon must be",
    "calibrate posterior --epsilon 1 --delta 1e-5": "invalid choice: 'posterior'",
    "calibrate allocation --steps 2 --epsilon 1 --delta 1e-3 --adjacency replace": (
        "--adjacency must be add/remove for allocation, got 'replace'"
    ),
    "calibrate gaussian --epsilon 1 --delta 1e-5 --rows-per-person 2": "has no --rows-per-person here",
    f"fit nowhere.csv {TYPED}": "the data cannot be read from 'nowhere.csv': no such file or directory",
    f"{FIT} --epsilon 0": "--epsilon must be a finite number > 0, got 0.0",
    f"{FIT} --epsilon inf": "epsilon must be a finite number > 0, got inf",
    f"{FIT} --public-rows 0": "objpert: --public-rows must be a whole number >= 1, got 0",
    f"{FIT} --public-rows {'9' * 400}": "--public-rows must be at most 1,000,000,000,000,000, got a larger number",
    f"{FIT} --public-rows 41 --seed -1": "argument --seed: must be a whole number >= 0, got '-1'",
    f"{FIT} --schema schema.json": "and not both",
    f"{FIT} --intervals --public-rows 40": "intervals must be False for 40 rows",
    f"{FIT} --out people.csv": "--out must name a folder",
    f"{FIT} --out ''": "--out must name a folder, got ''",
    f"{FIT} --out no/such/folder": "'no/such/folder' cannot be written",
    f"{FIT} --decimal x": "--decimal must be one of '.', ','",
    "fit people.csv --epsilon 1": "--schema FILE, which objpert schema writes to be filled in, or --number",
    "fit people.csv --epsilon 1 --schema bad.json": "the schema must be complete JSON",
    "fit people.csv --epsilon 1 --schema people.csv": "the schema must be complete JSON",
    "fit people.csv --epsilon 1 --target moved --number age:18:80": "say what the target 'moved' may hold",
    "fit people.csv --epsilon 1 --two-values moved=no:yes --number age:18:80": "--target NAME",
    "fit people.csv --epsilon 1 --target moved --number age:eighteen:80 --two-values moved=no:yes": (
        "column 'age': a number was expected, got 'eighteen'"
    ),
    "fit people.csv --epsilon 1 --target moved --number age --two-values moved=no:yes": "must look like NAME:LOW:HIGH",
    "fit people.csv --epsilon 1 --target moved --number age:80:18 --two-values moved=no:yes": "low must be below high",
    "fit people.csv --epsilon 1 --target moved --number size:1:2 --two-values moved=no:yes": "“size”",
    "fit people.csv --epsilon 1 --target moved --categories job=office --two-values moved=no:yes": "column “job”",
    f"fit people.csv {TYPED} --missing wage=3": "--missing must name a feature that is given, got 'wage'",
    f"fit people.csv {TYPED} --missing wage": "must look like NAME=VALUE",
    f"fit people.csv {TYPED} --number age:1:2": "column 'age' must be named once",
    f"fit people.csv {TYPED} --number wage:1:2 --other wage": "--other must name a column of categories, got 'wage'",
    f"fit people.csv {TYPED} --two-values job=a:b": "--two-values is about the target",
    "fit people.csv --epsilon 1 --target moved --two-values moved=no": "must name two values",
    "fit people.csv --epsilon 1 --target moved --categories moved=no,yes": "has two or more values or is a number",
    "fit - --epsilon 1 --schema -": "standard input can be the data or the schema, and not both",
    "schema people.csv --target wage": "the file has no column 'wage'",
    "schema people.csv --target moved --out people.csv": "is there already",
    "predict nowhere people.csv": "the model cannot be read from 'nowhere'",
    "predict bad.json people.csv": "the model must be complete JSON",
    "predict model.pkl people.csv": "only such a file is read without running code",
    "verify bad.json": "",
    "verify people.csv": "",
    "guess": "invalid choice: 'guess'",
    "fit people.csv --epsilon 1 --sch schema.json": "unrecognized arguments: --sch",
}


@pytest.fixture
def damaged(folder):
    (folder / "bad.json").write_text("{")
    return folder


@pytest.mark.parametrize("line", CASES)
def test_bad_input_is_one_sentence(damaged, line):
    code, shown = run(f"objpert {line}")
    assert code == 2
    assert CASES[line] in shown
    assert shown.startswith("objpert")
    first, *more = shown.splitlines()
    assert all(line.startswith("- ") for line in more), first  # a list has lines of its own
    assert "Traceback" not in shown
    assert len(shown) < (1_500 if "the first 20 cells" in shown else 400)
    assert {path.name for path in damaged.iterdir()} == {"people.csv", "bad.json"}


STRANGERS = [
    ({"format": "other"}, "must say"),
    ({"kind": "other"}, "kind must be"),
    ({"labels": ["no", "no"]}, "two different texts"),
    ({"features": [1]}, "features must be text"),
    ({"coef": [[1.0]]}, "coef must be finite numbers"),
    ({"coef": [1.0, 2.0]}, "coef must be finite numbers"),
    ({"coef": [["a"]]}, "coef must be finite numbers"),
    ({"intercept": [None]}, "intercept must be finite numbers"),
    ({"margin": -1}, "margin must be"),
    ({"margin": 10**400}, "margin must be"),
    ({"labels": ["yes", "no"]}, "schema.json has other values than model.json"),
    ({"labels": ["no", "yes\x1b[2J"]}, "without control characters"),
    ({"target": "moved\x07"}, "without control characters"),
    ({"row_norm": "none"}, "row_norm must be its certificate's"),
    ({"certificate": {}}, ""),
    ({"extra": 1}, "and no others"),
    (None, "names no key twice"),
]


@pytest.mark.parametrize(("change", "told"), STRANGERS)
def test_a_strangers_model_is_refused_with_one_sentence(folder, capsys, change, told):
    assert run(f"objpert {FIT} --seed 1 --out release")[0] == 0
    model = folder / "release" / "model.json"
    text = model.read_text(encoding="utf-8").rstrip()
    text = json.dumps(json.loads(text) | change) if change else text[:-1] + ', "margin": 1.0}'
    model.write_text(text, encoding="utf-8")
    capsys.readouterr()
    assert main(["predict", "release", "people.csv"]) == 2
    shown = capsys.readouterr().err
    assert told in shown
    assert shown.count("\n") == 1
