"""Estimators of raw tables: what they take, what a missing value is, and what people read."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import is_classifier

from objpert_core.datasets import Categories, Number
from objpert_core.exceptions import PrivacyBudgetWarning
from tests.estimators.contract.case import Case, Untouchable, assert_unfitted, scores_of

COLUMNS = {"town": Categories(["A", "B", "C"]), "age": Number(-3.0, 3.0)}


def raw_table(case: Case) -> tuple[pd.DataFrame, np.ndarray]:
    """Two columns of numbers, one of truth values and one of words, with gaps in three."""
    X, y = case.data
    whole = pd.DataFrame({"age": X[:, 0], "gain": X[:, 1], "member": X[:, 2] > 0})
    whole["town"] = np.array(list("ABCD"))[np.digitize(X[:, 3], [-0.7, 0.0, 0.7])]
    for place, name in enumerate(("age", "gain", "town")):
        whole.loc[place::17, name] = None
    return whole, y


def a_row_is_on_one_piece_of_each_column(case: Case) -> None:
    table, y = raw_table(case)
    model = case.new(random_state=0, columns=COLUMNS).fit(table, y)
    assert (model.n_features_in_, model.feature_names_in_.tolist()) == (4, list(table.columns))
    twins = pl.from_pandas(table), table.astype({"age": "Float64", "town": "string"})
    for twin in twins:
        same = case.new(random_state=0, columns=COLUMNS).fit(twin, y)
        np.testing.assert_array_equal(same.coef_, model.coef_)
        np.testing.assert_array_equal(same.predict(twin), model.predict(table))
    with pytest.raises(ValueError, match="columns of the fit"):
        model.predict(table[table.columns[::-1]])
    words = table.assign(town=table.town.fillna("unknown"))
    same = case.new(random_state=0, columns=COLUMNS, missing_words=["Unknown"]).fit(words, y)
    np.testing.assert_array_equal(same.coef_, model.coef_)
    with pytest.raises(ValueError, match=r"columns must say .* 'town' .*Categories"):
        case.new().fit(table, y)
    model = case.new()
    with pytest.raises(TypeError, match="X must be a dense table"):
        model.fit(sp.csr_array(case.data[0]), y)
    assert_unfitted(model)


def its_shapes_and_terms_are_what_it_scores(case: Case) -> None:
    table, y = raw_table(case)
    model = case.new(random_state=0, columns=COLUMNS).fit(table, y)
    shapes, by_class = model.shapes_, ["class"] if len(case.labels) > 2 and is_classifier(model) else []
    for _, one in shapes.groupby(["column", *by_class]):
        assert one.effect @ one.share == pytest.approx(0, abs=1e-9)
        assert one.share.sum() == pytest.approx(1)
        assert one.piece.is_unique
    terms = model.explain(table)
    summed = terms.T.groupby(level=0).sum().T if by_class else terms.sum(axis=1)
    np.testing.assert_allclose(np.squeeze(scores_of(model)(table)), summed, atol=1e-9)
    alone = model.explain(table.iloc[[5]])
    np.testing.assert_array_equal(alone, terms.iloc[[5]])


def its_shapes_may_be_made_monotone(case: Case) -> None:
    table, y = raw_table(case)
    model = case.new(random_state=0, columns=COLUMNS).fit(table, y)
    before = model.shapes_
    assert model.monotone(age="up", town="down") is model
    assert model.privacy_.verify(model)
    for name, rises in (("age", True), ("town", False)):
        for _, one in model.shapes_[model.shapes_.column == name].groupby(
            "class" if "class" in model.shapes_ else "column"
        ):
            own = one.effect[~one.piece.isin(["other", "missing"])]
            assert (np.diff(own if rises else -own) >= -1e-9).all()
    others = before.column.isin(["gain", "member"])
    np.testing.assert_allclose(model.shapes_.effect[others], before.effect[others], atol=1e-12)
    with pytest.raises(ValueError, match="direction of 'age' must be one of 'up', 'down', got 'left'"):
        model.monotone(age="left")
    with pytest.raises(ValueError, match="column must be one of 'age'"):
        model.monotone({"size": "up"})


def a_released_copy_reads_the_same_tables(case: Case) -> None:
    table, y = raw_table(case)
    model = case.new(random_state=0, columns=COLUMNS).fit(table, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyBudgetWarning)  # the case is seeded
        released = pickle.loads(pickle.dumps(model.release()))
    assert released.privacy_.verify(released)
    for name in ("predict", "scores", "explain", *(["predict_proba"] if hasattr(model, "predict_proba") else [])):
        np.testing.assert_array_equal(getattr(released, name)(table), getattr(model, name)(table))
    assert released.shapes_.equals(model.shapes_)
    known = {"coef_", "intercept_", "n_features_in_", "privacy_", "classes_", "margin_", "pieces_", "columns_"}
    assert not set(vars(released)) - known - {"target_range_", "feature_names_in_"}
    other = pickle.loads(pickle.dumps(released))
    for wrong in (released.pieces_[:-1], None, released.pieces_ * [1, 1, 0.5]):
        other.pieces_ = wrong
        assert not released.privacy_.verify(other)


def its_plan_tells_of_pieces_as_the_certificate_does(case: Case) -> None:
    planned, spent = case.new().planned(300, 4), case.fitted.privacy_
    (step,) = (one for one in planned.terms.steps if one.name == "pieces")
    assert str(step).startswith("4 columns, counted with noise ")
    assert f"before the fit pieces: {step}\n" in str(planned)
    assert f"\n  pieces     {step}: part of the promise\n" in repr(spent)
    assert "4 columns, in pieces (about 7 a column of numbers), " in str(case.new(pieces=7.2).planned(300, 4))
    towns = {place: Categories(["A", "B"]) for place in range(4)}
    assert "4 columns, in pieces (as they are declared), " in str(case.new(columns=towns).planned(300, 4))


def a_pipeline_of_scikit_learns_reads_the_same_tables(case: Case) -> None:
    table, y = raw_table(case)
    table["floor"] = table.age.round().astype("Int64").astype("string").astype(object)
    declared = COLUMNS | {"floor": Categories(["0", "1", "-1"])}
    model = case.new(random_state=0, columns=declared, missing_words=["none of it", "9"], public_rows=300).fit(table, y)
    ends = model.shapes_.query("column == 'age'")["from"].replace(-np.inf, np.nan).to_numpy()
    other = table.iloc[: len(ends)].assign(
        age=ends, town=(["", "NaN", "None of it", "Z", "A"] * len(ends))[: len(ends)]
    )
    other.loc[other.index[:2], "age"] = [9.0, np.nextafter(ends[1], -np.inf)]
    other["floor"] = (["1.0", "1", None, "01"] * len(ends))[: len(ends)]
    rows = pd.concat([table, other])
    arrays = rows.to_numpy(dtype=object)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyBudgetWarning)  # the case is seeded
        models = model, model.release(), pickle.loads(pickle.dumps(model.release(feature_names=False)))
    assert models[2].columns_.names is None
    for one in models:
        pipeline = pickle.loads(pickle.dumps(one.to_sklearn()))
        scored = [rows, pl.from_pandas(rows)] if one.columns_.names else [arrays]
        for name in ("predict", *(["predict_proba"] if hasattr(model, "predict_proba") else [])):
            for given in scored:
                expected = getattr(model, name)(rows)
                np.testing.assert_allclose(getattr(pipeline, name)(given), expected, rtol=0, atol=1e-9)
    with pytest.raises(ValueError, match="could not convert string to float"):
        pipeline.predict(rows.assign(age="old").to_numpy(dtype=object))


def no_cell_can_be_wrong_where_errors_must_not_tell(case: Case) -> None:
    table, y = raw_table(case)
    known = {"on_error": "release", "public_rows": len(y), "columns": COLUMNS, "random_state": 0}
    if is_classifier(case.new()):
        known["classes"] = list(case.labels)
    gaps, words = (table.astype({"age": object}) for _ in range(2))
    gaps.loc[3, "age"], words.loc[3, "age"] = None, "no number"
    one, other = (case.new(**known).fit(rows, y) for rows in (gaps, words))
    np.testing.assert_array_equal(one.coef_, other.coef_)
    assert one.privacy_.on_error == "release"
    none = case.new(**known).fit(table.iloc[:0], y[:0])
    assert none.privacy_.verify(none)
    with pytest.raises(ValueError, match="X must hold numbers in column 'age'"):
        case.new(columns=COLUMNS).fit(words, y)
    with pytest.raises(ValueError, match="columns must be None or a dict"):
        case.new(columns=["town"]).fit(Untouchable(), Untouchable())
