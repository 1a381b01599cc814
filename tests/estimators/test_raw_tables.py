"""What takes rows of numbers takes raw tables as well: searches, scores, several draws, blocks, a cluster, weights."""

from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pytest

from objpert_core.blocks import Blocks
from objpert_core.datasets import Categories, Date, Number
from objpert_core.estimators import ObjPertAdditiveClassifier, ObjPertAdditiveRegressor, PrivateSearch, fit_many
from objpert_core.evaluation import evaluate

ROWS = 3000
RNG = np.random.default_rng(0)
TABLE = pd.DataFrame({"age": RNG.integers(18, 90, ROWS).astype(float), "member": RNG.random(ROWS) < 0.5})
TABLE["town"] = RNG.choice(["A", "B", "C"], ROWS)
TABLE["since"] = np.array(["2001-02-03", "2010-01-01", "2020-12-31"])[RNG.integers(0, 3, ROWS)]
SCORE = np.sin(TABLE.age / 12) + (TABLE.town == "A") + TABLE.member
for start, name in enumerate(("age", "town", "since")):
    TABLE.loc[start::17, name] = None
Y = (RNG.random(ROWS) < 1 / (1 + np.exp(2 - 2 * SCORE))).astype(int)
KNOWN = {"town": Categories(["A", "B"]), "since": Date("2000-01-01", "2029-12-31", format="%Y-%m-%d")}
PLACES = {list(TABLE).index(name): known for name, known in KNOWN.items()}
OTHER_NEIGHBOURS = {"rows_per_person": 2}, {"adjacency": "replace one row"}
"""Their accounting takes seconds."""
UNPUBLISHED = pytest.mark.filterwarnings("ignore::objpert_core.exceptions.PrivacyBudgetWarning")


def model(**parameters):
    told = {"columns": KNOWN, "classes": [0, 1], "public_rows": ROWS, "random_state": 0}
    return ObjPertAdditiveClassifier(**{"epsilon": 4.0} | told | parameters)


def regressor(**parameters):
    told = {"columns": KNOWN, "target_range": (-1.0, 3.0), "public_rows": ROWS, "random_state": 0}
    return ObjPertAdditiveRegressor(**{"epsilon": 4.0} | told | parameters)


def in_blocks(table, y=Y, *beside, size=701):
    edges = [0, 0, *range(size, len(y), size), len(y)]
    return Blocks(lambda: (tuple(one[a:b] for one in (table, y, *beside)) for a, b in pairwise(edges)))


def assert_same_fit(one, other):
    np.testing.assert_array_equal(other.pieces_, one.pieces_)
    np.testing.assert_allclose(other.coef_, one.coef_, rtol=0, atol=1e-6)
    np.testing.assert_allclose(other.intercept_, one.intercept_, rtol=0, atol=1e-6)
    assert other.columns_ == one.columns_
    assert other.privacy_.verify(other)


@UNPUBLISHED
@pytest.mark.parametrize("kind", ["pandas", "polars", "array", "list", "regression", "rows read off"])
def test_a_search_plans_with_the_columns_of_the_table(kind):
    asked, table, y = model(random_state=None), TABLE, Y.tolist()
    grid, options = {"pieces": [4.0, 9.0]}, {}
    if kind == "polars":
        table = pl.from_pandas(TABLE)
    elif kind in ("array", "list"):
        asked, table = model(random_state=None, columns=PLACES), TABLE.to_numpy(dtype=object)
        table = table.tolist() if kind == "list" else table
    elif kind == "regression":
        asked, y, options = regressor(random_state=None), SCORE, {"largest_error": 2.0}
    elif kind == "rows read off":
        asked, grid = model(random_state=None, public_rows=None), {"missing_words": [["C"], []]}
    found = PrivateSearch(asked, grid, epsilon=8.0, random_state=0, **options).fit(table, y)
    assert found.privacy_.verify(found.best_estimator_)
    assert found.predict(table).shape == (ROWS,)
    best = found.best_estimator_
    assert best.shapes_.column.unique().tolist() == list(map(str, best.columns_.names or range(4)))


def test_scores_are_those_of_the_table_however_it_is_given():
    fitted = model().fit(TABLE, Y)
    whole = evaluate(fitted, TABLE, Y, random_state=0)
    for rows in ((pl.from_pandas(TABLE), Y), (in_blocks(TABLE),)):
        assert evaluate(fitted, *rows, random_state=0).counts == whole.counts
    assert whole.verify(fitted)
    assert fitted.score(in_blocks(TABLE)) == fitted.score(TABLE, Y)
    numbers = regressor().fit(TABLE, SCORE)
    assert evaluate(numbers, TABLE, SCORE, largest_error=2.0, random_state=0).verify(numbers)


@UNPUBLISHED
def test_several_draws_are_the_fits_one_by_one():
    for asked, y in ((model(), Y), (regressor(), SCORE)):
        for seed, one in enumerate(fit_many(asked, TABLE, y, [0, 1])):
            assert_same_fit(one, asked.having({"random_state": seed}).fit(TABLE, y))


@pytest.mark.parametrize(
    ("parameters", "weights"),
    [
        ({}, None),
        ({"on_error": "release"}, None),
        ({"class_weight": "balanced"}, None),
        ({"class_weight": {1: 3.0}}, np.linspace(0, 1, ROWS)),
        ({"classes": [0, 1, 2]}, None),
        *(pytest.param(told, None, marks=pytest.mark.thorough) for told in OTHER_NEIGHBOURS),
        ({"intervals": True, "epsilon": 30.0}, None),
    ],
    ids=lambda told: "-".join(told) if isinstance(told, dict) else "",
)
def test_a_walked_table_gives_the_fit_in_memory(parameters, weights):
    y = Y + (TABLE.age > 70) if "classes" in parameters else Y
    beside = [] if weights is None else [weights]
    told = {} if weights is None else {"sample_weight": weights}
    whole = model(**parameters).fit(TABLE, y, **told)
    for table in (TABLE, pl.from_pandas(TABLE)):
        blocks = in_blocks(table, np.asarray(y), *beside)
        assert_same_fit(whole, model(**parameters).fit(blocks))
    np.testing.assert_array_equal(whole.predict(blocks), whole.predict(TABLE))
    assert whole.privacy_.verify(whole)


def test_blocks_of_arrays_and_of_numbers_are_the_table():
    whole = model().fit(TABLE, Y)
    cells = model(columns=PLACES).fit(in_blocks(TABLE.to_numpy(dtype=object)))
    np.testing.assert_array_equal(cells.pieces_, whole.pieces_)
    np.testing.assert_allclose(cells.coef_, whole.coef_, rtol=0, atol=1e-6)
    assert_same_fit(regressor().fit(TABLE, SCORE), regressor().fit(in_blocks(TABLE, SCORE.to_numpy())))


def test_a_block_of_another_table_is_named():
    def blocks(second):
        return Blocks(lambda: iter([(TABLE[:2000], Y[:2000]), (second, Y[2000:])]))

    others = {
        "block 2: X must have the 4 columns of the fit, got 3": TABLE[2000:].drop(columns="age"),
        "block 2: X must have the columns of the fit in their order": TABLE[2000:][list(TABLE)[::-1]],
        "block 2: X must hold numbers in column 'age', got another value in row 0": TABLE[2000:].assign(age="old"),
    }
    for message, second in others.items():
        with pytest.raises(ValueError, match=message):
            model().fit(blocks(second))
    with pytest.raises(ValueError, match=r"block 2: columns must say .* 'town'.*Categories"):
        model(columns=None).fit(in_blocks(TABLE))
    assert model(public_rows=None).fit(blocks(TABLE[2000:].astype({"age": object}))).n_features_in_ == 4


@pytest.mark.thorough
def test_a_fit_of_dasks_frames_is_the_fit_in_memory_here_and_on_workers():
    frames = pytest.importorskip("dask.dataframe")
    distributed = pytest.importorskip("distributed", reason="a cluster needs the package distributed")
    rows, targets = (frames.from_pandas(one, npartitions=4) for one in (TABLE, pd.Series(Y)))
    asked = [{}, {"on_error": "release"}, {"class_weight": "balanced"}]
    wholes = [model(**parameters).fit(TABLE, Y) for parameters in asked]
    settings = {"n_workers": 2, "threads_per_worker": 1, "processes": False, "dashboard_address": None}

    def compare():
        for parameters, whole in zip(asked, wholes, strict=True):
            assert_same_fit(whole, model(**parameters).fit(rows, targets))
        np.testing.assert_array_equal(whole.predict(rows), whole.predict(TABLE))
        assert evaluate(whole, rows, targets, random_state=0).counts == evaluate(whole, TABLE, Y, random_state=0).counts
        with pytest.raises(ValueError, match=r"columns must say .* 'town'.*Categories"):
            model(columns=None).fit(rows, targets)

    compare()
    with distributed.LocalCluster(**settings) as cluster, distributed.Client(cluster):
        compare()


def test_the_plan_of_a_table_is_that_of_its_fit():
    public = {"age": Number(18, 90, pieces=[30, 60]), "member": Number("private", "private")}
    for columns in (KNOWN, KNOWN | public):
        asked = model(columns=columns)
        planned, spent = asked.planned(ROWS, 4), asked.fit(TABLE, Y).privacy_
        assert [step.mechanisms() for step in planned.terms.steps] == [step.mechanisms() for step in spent.terms.steps]
        assert planned.lam == spent.lam
