"""Additive models of raw tables: what only they have. The contract for all estimators holds the rest."""

import copy
import json
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from objpert_core.accounting.steps.pieces import PieceNoise
from objpert_core.blocks import Blocks, Kept
from objpert_core.datasets import Categories, Number
from objpert_core.estimators import (
    ObjPertAdditiveClassifier,
    ObjPertAdditiveRegressor,
    ObjPertLogisticRegression,
    ObjPertRegressor,
    ObjPertSVC,
    OutputPerturbationLogisticRegression,
)
from objpert_core.estimators.shapes import pieces_of
from objpert_core.exceptions import PrivacyBudgetWarning
from objpert_core.learning import PrivacyCertificate, row_sources
from objpert_core.learning.problem.losses import LogisticLoss
from objpert_core.learning.problem.objective import PerturbedObjective
from objpert_core.learning.problem.rows import TableRows
from objpert_core.learning.solvers import solve

TOWNS = {"town": Categories(["A", "B", "C"])}


def people(rows, seed=0):
    rng = np.random.default_rng(seed)
    age, town = rng.integers(18, 80, rows).astype(float), rng.integers(0, 3, rows)
    gain = np.where(rng.random(rows) < 0.8, 0.0, np.exp(rng.normal(8, 1, rows)))
    score = 1.5 * np.sin(age / 12) + (gain > 3000) + np.array([0.5, -0.5, 0.0])[town] - 0.3
    table = pd.DataFrame({"age": age, "gain": gain, "town": np.array(list("ABC"))[town]})
    return table, (rng.random(rows) < 1 / (1 + np.exp(-score))).astype(int)


def test_curves_are_found_that_no_line_has():
    table, y = people(20_000)
    additive = ObjPertAdditiveClassifier(columns=TOWNS, classes=[0, 1], random_state=0).fit(table, y)
    numbers = pd.get_dummies(table, dtype=float)
    linear = ObjPertLogisticRegression(feature_ranges="private", classes=[0, 1], random_state=0).fit(numbers, y)
    assert additive.score(table, y) > linear.score(numbers, y) + 0.01
    shapes = additive.shapes_.set_index("column")
    assert shapes.loc["gain"].share.max() > 0.75
    assert "0" in set(shapes.loc["gain"].piece)


def test_what_is_declared_is_not_searched_for_and_costs_less():
    table, y = people(2000)
    told = {"classes": [0, 1], "random_state": 0, "public_rows": 2000}
    noises = []
    for age in (Number("private", "private"), Number(18, 80), Number(18, 80, pieces=[30, 40, 60])):
        columns = TOWNS | {"age": age, "gain": Number(0, 10_000)}
        model = ObjPertAdditiveClassifier(columns=columns, **told).fit(table, y)
        (step,) = model.privacy_.steps
        noises.append((step.unknown, step.numbers, step.listed))
    assert noises == [(1, 2, 1), (0, 2, 1), (0, 1, 2)]
    ages = model.shapes_[model.shapes_.column == "age"]
    assert ages.piece.tolist() == ["below 30", "30 to 40", "40 to 60", "60 or more", "missing"]
    assert model.privacy_.verify(model)


def test_bands_hold_the_effects_that_a_million_rows_have():
    many, labels = people(500_000, seed=99)
    inside = []
    for seed in range(3):
        table, y = people(20_000, seed=seed)
        model = ObjPertAdditiveClassifier(
            2.0, 1e-6, columns=TOWNS, classes=[0, 1], intervals=True, public_rows=20_000, random_state=seed
        ).fit(table, y)
        assert model.privacy_.verify(model)
        pieces, shapes = pieces_of(model), model.shapes_
        rows = pieces.apply(TableRows(model.columns_.numbers(many))).beside(0.3)
        targets = np.where(labels == 1, 1.0, -1.0)
        theta = solve(
            PerturbedObjective(rows, targets, 1e-3, np.zeros(rows.dimension), LogisticLoss(0.0)), tau=0.1
        ).theta
        truth = np.concatenate(pieces.effects(theta[:-1]))
        known = shapes.share.to_numpy() > 0.01
        assert np.isnan(shapes.low[shapes.share == 0]).all()
        inside.append(((shapes.low < truth) & (truth < shapes.high))[known])
        assert (shapes.high - shapes.low)[known].median() < 0.6
    assert np.concatenate(inside).mean() >= 0.8
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyBudgetWarning)  # the noise has a seed
        assert model.release().shapes_.equals(shapes)


def test_bands_that_noise_would_drown_are_refused_before_a_row_is_read():
    model = ObjPertAdditiveClassifier(0.1, classes=[0, 1], intervals=True)
    with pytest.raises(ValueError, match="intervals must be False for 300 rows"):
        model.planned(300, 3)
    with pytest.raises(ValueError, match="class_weight must be None where intervals=True"):
        ObjPertAdditiveClassifier(intervals=True, class_weight="balanced").planned(10**6, 3)


def test_an_answer_is_cut_to_its_range_and_shapes_are_in_units_of_the_targets():
    table, _ = people(20_000)
    y = 1000 + 100 * np.sin(table.age / 12)
    model = ObjPertAdditiveRegressor(columns=TOWNS, target_range=(800.0, 1200.0), random_state=0).fit(table, y)
    assert model.score(table, y) > 0.95
    ages = model.shapes_[model.shapes_.column == "age"]
    assert 150 < ages.effect.max() - ages.effect.min() < 250
    assert model.predict(table).max() <= 1200


def test_columns_are_named_where_they_have_to_be_declared():
    table, y = people(300)
    with pytest.raises(ValueError, match=r"columns=\{'town': Categories\(\[\.\.\.\]\)\}"):
        ObjPertAdditiveClassifier(classes=[0, 1]).fit(table, y)
    with pytest.raises(ValueError, match="whose own are read off the data"):
        ObjPertAdditiveClassifier(classes=[0, 1]).fit(table.astype({"town": "category"}), y)


def test_a_certificate_answers_for_each_number_that_was_published():
    table, y = people(2000)
    columns = TOWNS | {"age": Number(18, 80)}
    model = ObjPertAdditiveClassifier(columns=columns, classes=[0, 1], random_state=0, public_rows=2000).fit(table, y)
    text = json.loads(model.privacy_.to_json())
    (step,) = text["steps"]

    def verifies(**changes):
        try:
            return PrivacyCertificate.from_dict(text | {"steps": [step | changes]}).verify(model)
        except ValueError:  # which no step has
            return False

    assert verifies()
    counted = {name: step[name] for name in ("unknown", "numbers", "listed")}
    noises = {name: step[name] for name in ("magnitudes", "cells", "categories")}
    assert counted == {"unknown": 1, "numbers": 2, "listed": 1}
    for name, value in noises.items():  # whether there was more noise nobody can know
        assert not any(verifies(**{name: other}) for other in (0.9 * value, 0.0, -value, None, "1", [value]))
    for name, value in counted.items():
        assert not verifies(**{name: value + 1})
    assert not any(verifies(**{name: counted[name] - 1}) for name in ("numbers", "listed"))
    assert not verifies(numbers=3, listed=0, categories=None)
    assert not verifies(step="class_counts")
    for place in np.ndindex(model.pieces_.shape):
        for other in (np.nextafter(model.pieces_[place], np.inf), -model.pieces_[place] - 1, np.nan):
            changed = copy.copy(model)
            changed.pieces_ = model.pieces_.copy()
            changed.pieces_[place] = other
            assert not model.privacy_.verify(changed)
    for name in ("coef_", "intercept_"):
        for place in range(getattr(model, name).size):
            changed = copy.copy(model)
            setattr(changed, name, getattr(model, name).copy())
            getattr(changed, name).flat[place] += model.privacy_.lattice
            assert not model.privacy_.verify(changed)


@pytest.mark.parametrize(
    "kind", [ObjPertLogisticRegression, ObjPertRegressor, ObjPertSVC, OutputPerturbationLogisticRegression]
)
def test_models_that_read_no_table_count_no_pieces(kind):
    X = np.random.default_rng(0).normal(size=(50, 4))
    told = {} if kind is ObjPertRegressor else {"classes": [0, 1]}
    model = kind(advanced={"steps": (PieceNoise(30.0, 20.0, None, 4, 4, 0),)}, **told)
    with pytest.raises(ValueError, match="no PieceNoise but for an additive model of a table"):
        model.fit(X, X[:, 0] > 0 if told else X[:, 0])
    assert not hasattr(model, "coef_")


def test_files_are_read_once_for_each_count_and_once_for_the_codes_which_are_kept(monkeypatch):
    table, y = people(6000)
    read = []

    def walk():
        read.append(0)
        for start in range(0, 6000, 1500):
            read[-1] += 1
            yield table[start : start + 1500], y[start : start + 1500]

    told = {"columns": TOWNS, "classes": [0, 1], "random_state": 0, "public_rows": 6000}
    kept = ObjPertAdditiveClassifier(**told).fit(Blocks(walk))
    assert read == [4] * 4  # whether rows can be used, magnitudes, cells, codes
    monkeypatch.setattr(row_sources, "_KEPT", 3 * 6000)  # bytes: enough for codes without factors
    again = ObjPertAdditiveClassifier(**told).fit(Blocks(walk))
    assert len(read) > 4 + 4
    assert np.array_equal(again.coef_, kept.coef_)
    whole = ObjPertAdditiveClassifier(**told).fit(table, y)
    assert np.array_equal(whole.pieces_, kept.pieces_)
    np.testing.assert_allclose(kept.coef_, whole.coef_, atol=1e-6)


def test_codes_are_not_kept_of_a_walk_that_was_broken_off():
    walked = []
    blocks = Kept(Blocks(lambda: (walked.append(number) or (number,) for number in range(3))))
    assert next(iter(blocks)) == (0,)
    for _ in range(2):
        assert list(blocks) == [(0,), (1,), (2,)]
    assert walked == [0, 0, 1, 2]


def test_before_the_fit_shapes_say_that_there_is_no_fit_and_a_fitted_model_lists_what_it_has():
    model = ObjPertAdditiveClassifier(columns=TOWNS, classes=[0, 1], random_state=0, public_rows=300)
    with pytest.raises(NotFittedError, match="not fitted yet"):
        _ = model.shapes_
    with pytest.raises(NotFittedError, match="not fitted yet"):
        model.monotone(age="up")
    model.fit(*people(300))
    for one in (model, model.release()):
        assert {"shapes_", "bse"} & set(dir(one)) == {"shapes_"}  # `dir` asks every property


def test_ends_of_pieces_are_written_as_people_write_numbers():
    table = pd.DataFrame({"gain": [0.0, 20_000.0] * 20})
    gain = {"gain": Number(0, 100_000, pieces=[7_800, 15_200])}
    model = ObjPertAdditiveClassifier(columns=gain, classes=[0, 1], random_state=0, public_rows=40)
    shapes = model.fit(table, [0, 1] * 20).shapes_
    assert shapes.piece.tolist() == ["below 7800", "7800 to 15200", "15200 or more", "missing"]
