"""A private fit to a table of one's own, from its bytes to what may be published, and the published model read back."""

from __future__ import annotations

import importlib
import importlib.util
import io
import json
import math
import sys
import unicodedata
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils.metaestimators import available_if

from objpert_core._validation import FloatArray, from_a_stranger
from objpert_core.accounting import Mechanism, compose
from objpert_core.accounting.gaussian.calibration import calibrate_gaussian
from objpert_core.accounting.steps.pieces import rows_for_pieces
from objpert_core.blocks import Blocks, connected
from objpert_core.datasets import (
    Dialect,
    NumericTarget,
    SeveralValues,
    Table,
    TableSchema,
    TwoValues,
    open_table,
    safe_cell,
    safe_text,
)
from objpert_core.datasets.tables.encoding import EncodedBlocks
from objpert_core.datasets.tables.reading import read_or_open
from objpert_core.estimators.additive import ObjPertAdditiveClassifier, ObjPertAdditiveRegressor
from objpert_core.estimators.cards import model_card
from objpert_core.estimators.logistic_regression import ObjPertLogisticRegression
from objpert_core.estimators.recipe import Recipe
from objpert_core.estimators.regressor import ObjPertRegressor
from objpert_core.estimators.released import (
    Released,
    ReleasedProbabilisticClassifier,
    ReleasedRegressor,
    released,
    with_names,
)
from objpert_core.estimators.tables import KnownTable
from objpert_core.estimators.weights import only_answer
from objpert_core.evaluation import Evaluation, ManyClasses, TwoClasses, evaluate, split_by_coin
from objpert_core.evaluation import together as fit_and_evaluation
from objpert_core.learning import PrivacyCertificate, TogetherCertificate
from objpert_core.learning.steps.pieces import Pieces

FORMAT = "objpert released model 1"
NOT_CONVERGED = "The solver did not converge, so nothing was released. No certificate covers the fact that it failed."
LARGEST = 10_000_000
"""Characters of a model's text."""
LINEAR, ADDITIVE = MODELS = "linear", "additive"
"""A coefficient for each feature, or a curve for each column."""
BY_RULE = "by rule"
"""Whichever is expected to be more accurate, by public numbers."""
LONGEST_TITLE = 200
"""Characters of a target's name in a card's title."""
_ARRAYS = ("coef", "intercept", "center", "scale")
_FIELDS = frozenset(("format", "kind", "target", "labels", "features", "margin", "row_norm", "certificate", *_ARRAYS))
_RANGES, _TARGET_RANGE, _HESSIAN = "feature_ranges", "target_range", "hessian"
"""Further fields: of models whose columns are cut to ranges, whose answers are, and of models with intervals."""
_ADDITIVE = frozenset(("pieces", "schema"))
"""Further fields of additive models: their pieces, and what is public about the columns that these are of."""
_NUMBER, _TWO_VALUES, _SEVERAL = "regression", "two values", "several values"


@dataclass(frozen=True)
class Ask:
    """Everything public that decides a fit: `text` is the schema, as JSON, and `model` one of `MODELS`; `intervals` are
    for linear models of two values.
    """

    text: str = field(repr=False)
    epsilon: float
    delta: float
    rows: int | None = None
    seed: int | None = None
    dialect: Dialect = field(default_factory=Dialect)
    test_share: float | None = None
    class_weight: str | tuple[tuple[str, float], ...] | None = None
    adjacency: str = "add/remove one row"
    rows_per_person: int = 1
    intervals: bool = False
    model: str = LINEAR

    @property
    def weights(self) -> str | dict[int, float] | None:
        """The estimator's `class_weight`; `ValueError` for a value that the target has not, or of a regression."""
        if self.class_weight is None:
            return None
        target = self.schema.target
        if isinstance(target, NumericTarget):
            raise ValueError("class_weight must be None where the target is a number")
        if isinstance(self.class_weight, str):
            return self.class_weight
        for value, _ in self.class_weight:
            if value not in target.values:
                raise ValueError(f"class_weight must name values of the target, got {value!r}")
        return {target.values.index(value): weight for value, weight in self.class_weight}

    @property
    def training_rows(self) -> int | None:
        """The number of rows that the fit's rules go by: of the declared ones, those that coins leave on average."""
        if self.rows is None or self.test_share is None:
            return self.rows
        return max(1, int(self.rows * (1 - self.test_share)))

    @property
    def rows_of_one(self) -> int:
        """How many rows of one person the promise covers; `ValueError` where the schema's person has another number."""
        person = self.schema.person
        if person is not None and self.rows_per_person != person.rows:
            raise ValueError(f"rows_per_person must be the schema's, {person.rows}, got {self.rows_per_person}")
        return self.rows_per_person

    def seed_of(self, step: int) -> int | None:
        """A seed for what stands beside the fit: none where the fit has none."""
        return None if self.seed is None else self.seed + step

    @cached_property
    def schema(self) -> TableSchema:
        """What is public about the table."""
        typed = TableSchema.from_json(self.text)
        return typed.with_references() if self.intervals and self.model != ADDITIVE else typed

    @cached_property
    def encoding(self) -> TableSchema:
        """The schema by which the model's rows are encoded."""
        return self.schema.raw() if self.model == ADDITIVE else self.schema

    @property
    def rows_for_curves(self) -> float:
        """From how many rows on the rule takes an additive model; see `rows_for_pieces`. With intervals never."""
        if self.intervals:
            return math.inf
        ratio = 1 / calibrate_gaussian(self.epsilon, self.delta).sigma
        number = isinstance(self.schema.target, NumericTarget)
        return rows_for_pieces(len(self.schema.columns), ratio, number=number) / (1 - (self.test_share or 0.0))

    def decided(self, rows: int) -> Ask:
        """The same with one of `MODELS`: of so many rows, of which some may be put aside, where the rule is to say."""
        if self.model != BY_RULE:
            return self
        return replace(self, model=ADDITIVE if rows >= self.rows_for_curves else LINEAR)


@dataclass(frozen=True)
class Made:
    """A fit that was made: the publishable model with the features' names, and notes for the table's holder alone.

    `much_clipped` are the notes that the holder should see at once.
    """

    ask: Ask
    model: Released
    names: tuple[str, ...]
    notes: tuple[str, ...] = field(default=(), repr=False)
    evaluation: Evaluation | None = None
    much_clipped: tuple[str, ...] = field(default=(), repr=False)

    @property
    def labels(self) -> tuple[str, ...]:
        """The target's values; empty for a number."""
        target = self.ask.schema.target
        return () if isinstance(target, NumericTarget) else tuple(target.values)

    @property
    def cautions(self) -> tuple[str, ...]:
        """What public numbers and the released model tell of its worth, one sentence each; they may be published."""
        return tuple(caution for caution in (self._no_ranges, self._one_answer) if caution)

    @property
    def _no_ranges(self) -> str:
        found = self.model.feature_ranges_ is not None or self.ask.model == ADDITIVE
        if found or not self.ask.schema.has_private_ranges:
            return ""
        return (
            f"the rows are too few for private ranges of so many columns at ε = {self.ask.epsilon:g}: none were found "
            "or paid for, and the model may be worth little. Declare ranges, or keep fewer columns"
        )

    @property
    def _one_answer(self) -> str:
        target, model = self.ask.schema.target, self.model
        if isinstance(target, NumericTarget) or self.ask.class_weight is not None:
            return ""
        if (place := only_answer(model)) is None:
            return ""
        return (
            f"by its released numbers the model answers “{safe_text(target.values[place])}” for nearly every row. If "
            "the other value is rare, its rows need weights (objpert fit --class-weight balanced)"
        )


def estimator(ask: Ask) -> Any:
    """The estimator that a request asks for: a classifier, or a regressor where the target is a number."""
    shared: dict[str, Any] = {
        "epsilon": ask.epsilon,
        "delta": ask.delta,
        "public_rows": ask.training_rows,
        "random_state": ask.seed,
        "adjacency": ask.adjacency,
        "rows_per_person": ask.rows_of_one,
    }
    target, additive = ask.schema.target, ask.model == ADDITIVE
    if additive:
        shared["columns"] = dict(enumerate(ask.encoding.columns.values()))
    elif not ask.intervals:
        shared["feature_ranges"] = ask.schema.feature_ranges
    if isinstance(target, NumericTarget):
        if ask.intervals:
            raise ValueError(
                "intervals must be False where the target is a number: they are for a target of two values"
            )
        regressor: Any = ObjPertAdditiveRegressor if additive else ObjPertRegressor
        return regressor(target_range=(target.low, target.high), **shared)
    if ask.intervals and len(target.values) > 2:
        raise ValueError("intervals must be False where the target has several values: they are for two values")
    if ask.intervals and ask.schema.has_private_ranges and not additive:
        raise ValueError("intervals must be False where ranges are private: rows of such a schema have no fixed units")
    if ask.intervals and additive:
        shared["intervals"] = True
    elif ask.intervals:  # rows of a schema are no longer than 1, and as long as they are they have units
        shared |= {"intervals": True, "advanced": {"row_norm": "clip"}}
    classifier: Any = ObjPertAdditiveClassifier if additive else ObjPertLogisticRegression
    return classifier(classes=target.classes, class_weight=ask.weights, **shared)


def planned(ask: Ask) -> Recipe:
    """What the fit of a request will do, spend and release, by what was typed alone.

    `ValueError` where nobody has said how many rows there are: rules go by that number.
    """
    if ask.rows is None or ask.training_rows is None:
        raise ValueError("rows must be declared for a plan, whose rules go by their number, got None")
    ask = ask.decided(ask.rows)
    return estimator(ask).planned(ask.training_rows or 1, len(ask.encoding.feature_names))


def plan(ask: Ask) -> list[dict[str, str]]:
    """The same as rows of a table, scores included."""
    rows = planned(ask).statement()
    if ask.test_share is not None:
        put_aside = f"{ask.test_share:g} of the rows, each by its own coin, for the same ε and δ"
        rows.append({"what": "scores", "in words": put_aside})
    return rows


def made(ask: Ask, content: bytes) -> Made:
    """Read a file and fit to it, and score the model where that was asked for: one release.

    Raises what `read_table` and the estimator raise; an error depends on the data, and no certificate covers it.
    """
    ask = _decided(ask, lambda schema: read_or_open(content, schema, ask.dialect))
    return _made(ask, read_or_open(content, ask.encoding, ask.dialect))


def _decided(ask: Ask, table: Callable[[TableSchema], Table | Blocks]) -> Ask:
    """The request with one of `MODELS`; where nobody has said how many rows there are, the rule counts those used."""
    if ask.model != BY_RULE or ask.rows is not None:
        return ask.decided(ask.rows or 0)
    found = table(ask.schema.raw())
    return ask.decided(len(found.y) if isinstance(found, Table) else sum(found.each(_rows_of_block)))


def _rows_of_block(_place: int, X: Any, *_beside: Any) -> int:
    return int(X.shape[0])


def _made(ask: Ask, table: Table | EncodedBlocks) -> Made:
    """As `made`, of a table that was read or that is walked; a walked one is refused for what a read one is."""
    if isinstance(table, Table):
        return _of_rows(ask, table)
    try:
        found = _of_rows(ask, table)
    except ValueError:
        table.refuse_too_few()
        raise
    table.refuse_too_few()
    return found


def _of_rows(ask: Ask, table: Table | EncodedBlocks) -> Made:
    """As `made`, of a table that was read or that is walked, whatever it holds."""
    held: tuple[Any, ...] = (table.X, table.y, table.people) if isinstance(table, Table) else (table, None, None)
    (X, y, people), evaluation = held, None
    if ask.test_share is None:
        model = _released(ask, X, y)
    else:
        if ask.rows_of_one > 1 and ask.schema.person is None:
            raise ValueError(
                f"test_share must be None where rows_per_person is above 1 and no column is the person, got "
                f"{ask.test_share:g}: rows of one person share a coin, so the table must say whose rows are whose"
            )
        if isinstance(table, EncodedBlocks) and ask.schema.person is not None:
            X, people = table.with_people, True
        X, X_test, y, y_test = split_by_coin(X, y, ask.test_share, people, random_state=ask.seed_of(1))
        model = _released(ask, X, y)
        options = {"random_state": ask.seed_of(2), "adjacency": ask.adjacency, "rows_per_person": ask.rows_of_one}
        evaluation = scored(model, ask.schema, X_test, y_test, ask.epsilon, ask.delta, **options)
    return Made(ask, model, ask.encoding.feature_names, table.notes, evaluation, table.much_clipped)


def _released(ask: Ask, X: Any, y: Any = None) -> Released:
    """What may be published of a fit, whose certificate says which rows of the table were used."""
    model = released(estimator(ask).fit(X, y))
    model.privacy_ = replace(model.privacy_, rows_used=ask.schema.rows_used)
    if ask.model == ADDITIVE:
        model.columns_ = KnownTable.of_schema(ask.encoding)  # with the columns' names
    return model


def scored(
    model: Released, schema: TableSchema, X: Any, y: Any, epsilon: float, delta: float, **options: Any
) -> Evaluation:
    """`evaluate` with a target's own words: the labels' texts, and half the range as the largest error.

    A `largest_error` of None among the options is that half. The certificate says which rows of the table were used.
    """
    target = schema.target
    if isinstance(target, NumericTarget):
        options["largest_error"] = options.get("largest_error") or target.scale
    found: Evaluation = evaluate(model, X, y, epsilon, delta, **options)
    if not isinstance(target, NumericTarget) and isinstance(found, TwoClasses | ManyClasses):
        found = replace(found, classes=target.values)
    return replace(found, certificate=replace(found.certificate, rows_used=schema.rows_used))


def made_of_any_size(ask: Ask, source: str, scheduler: str | None = None) -> Made:
    """As `made`, of Parquet or CSV files of any size, or a folder of them: see `open_table`.

    Where the address of a Dask scheduler is given, its workers read the files; scores must then not be asked for.
    """
    if scheduler is None:
        ask = _decided(ask, lambda schema: open_table(source, schema, ask.dialect))
        return _made(ask, open_table(source, ask.encoding, ask.dialect))
    if ask.test_share is not None:
        raise ValueError(
            "--score must be left out with --scheduler: this process draws the coins, and with --scheduler the "
            "workers walk the rows"
        )
    with connected(scheduler) as client:
        ask = _decided(ask, lambda schema: open_table(source, schema, ask.dialect).on(client))
        table = open_table(source, ask.encoding, ask.dialect)
        model = _released(ask, table.on(client))
        notes = table.notes_by(client)
        table.refuse_too_few()
        return Made(ask, model, table.feature_names, notes, None, table.much_clipped)


def model_json(made: Made) -> bytes:
    """The released model: numbers with all their digits, names of features and labels by the schema, certificate."""
    model, target = made.model, made.ask.schema.target
    kinds = {NumericTarget: _NUMBER, TwoValues: _TWO_VALUES, SeveralValues: _SEVERAL}
    values: dict[str, Any] = {
        "format": FORMAT,
        "kind": kinds[type(target)],
        "target": target.column,
        "labels": list(made.labels) or None,
        "features": list(made.names),
        "coef": model.coef_.tolist(),
        "intercept": np.asarray(model.intercept_).tolist(),
        "center": None if model.center_ is None else model.center_.tolist(),
        "scale": None if model.scale_ is None else model.scale_.tolist(),
        "margin": getattr(model, "margin_", None),
        "row_norm": model.privacy_.row_norm,
        "certificate": model.privacy_.to_dict(),
    }
    for name in (_RANGES, _TARGET_RANGE, _HESSIAN):
        if (further := getattr(model, f"{name}_", None)) is not None:
            values[name] = further.tolist()
    if model.pieces_ is not None:
        values |= {"pieces": model.pieces_.tolist(), "schema": json.loads(made.ask.text)}
    return (json.dumps(values, ensure_ascii=False, indent=2, allow_nan=False) + "\n").encode()


def certificate_json(made: Made) -> bytes:
    """The public certificate."""
    return (made.model.privacy_.to_json() + "\n").encode()


def evaluation_json(evaluation: Evaluation) -> bytes:
    """The scores that may be published, with their certificate."""
    return (evaluation.to_json() + "\n").encode()


def whole_json(made: Made) -> bytes:
    """The certificate of fit and scores together; only where there are scores."""
    return (whole(made).to_json() + "\n").encode()


def whole(made: Made) -> TogetherCertificate:
    """As `whole_json`."""
    if made.evaluation is None:
        raise ValueError("test_share must be a number where fit and scores are certified, got None")
    return fit_and_evaluation(made.model.privacy_, made.evaluation)


def schema_json(made: Made) -> bytes:
    """The schema that was typed, with the references where there are intervals."""
    return (made.ask.schema.to_json() if made.ask.intervals else made.ask.text).encode()


def shapes(model: Released, labels: Sequence[str]) -> pd.DataFrame:
    """The shapes of an additive model, see `shapes_`, with the target's own values."""
    found = model.shapes_
    if "class" in found:
        found["class"] = [labels[place] for place in found["class"]]
    return found


def shapes_csv(model: Released, labels: Sequence[str]) -> bytes:
    """The same as a file that a spreadsheet may open."""
    found = shapes(model, labels)
    texts = found.select_dtypes(exclude="number")
    return bytes(found.assign(**texts.map(safe_cell)).to_csv(index=False, lineterminator="\n").encode())


def summary(made: Made) -> Any:
    """Coefficients with errors and intervals in the columns' own units; only of a fit with intervals."""
    model: Any = made.model
    return model.summary(scaler=made.ask.schema)


def together(certificates: Sequence[PrivacyCertificate]) -> Mechanism:
    """The mechanism of releases from the same people together.

    `ValueError` if they mean different neighbours, or if one is but a part of a certificate.
    """
    if parts := [one.part_of for one in certificates if one.part_of is not None]:
        raise ValueError(f"certificates must be wholes, got a part of a “{parts[0]}”, whose own certificate counts")
    return compose(*(certificate.accounted(certificate.rebuild()) for certificate in certificates))


def skops_is_there() -> bool:
    """Whether the package is installed that writes scikit-learn models without pickle."""
    return importlib.util.find_spec("skops") is not None


def skops_file(made: Made) -> bytes:
    """The model as a pipeline of scikit-learn's own parts, for skops; `ImportError` where skops is not installed."""
    if not skops_is_there():
        raise ImportError("a model for scikit-learn needs skops: pip install '/path/to/checkout[export]'")
    skops = importlib.import_module("skops.io")  # it takes a moment to load
    return _without_addresses(skops.dumps(with_names(made.model, made.names).to_sklearn()))


def _without_addresses(content: bytes) -> bytes:
    """A file of skops whose objects are numbered from 1, and which has no date. Skops names objects by their addresses
    in memory, and where a fit's objects lie depends on the data.
    """
    numbers: dict[int, int] = {}

    def number(address: int) -> int:
        return numbers.setdefault(address, len(numbers) + 1)

    def numbered(node: Any) -> Any:
        if isinstance(node, list):
            return [numbered(one) for one in node]
        if not isinstance(node, dict):
            return node
        node = {key: numbered(value) for key, value in node.items()}
        if isinstance(node.get("__id__"), int):
            node["__id__"] = number(node["__id__"])
        if isinstance(node.get("file"), str):
            node["file"] = f"{number(int(node['file'].removesuffix('.npy')))}.npy"
        return node

    written = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(written, "w") as new:
        texts = numbered(json.loads(old.read("schema.json")))
        arrays = {number(int(name.removesuffix(".npy"))): name for name in old.namelist() if name != "schema.json"}
        for place, name in sorted(arrays.items()):
            new.writestr(zipfile.ZipInfo(f"{place}.npy"), old.read(name))
        new.writestr(zipfile.ZipInfo("schema.json"), json.dumps(texts, indent=2))
    return written.getvalue()


def card_file(made: Made) -> bytes:
    """The model's card in Markdown, from its certificate; see `model_card`."""
    title = f"A private model of {safe_text(made.ask.schema.target.column, LONGEST_TITLE)}"
    model = with_names(made.model, made.names)
    card = model_card(model, title=title, labels_named=True, evaluation=made.evaluation, scaler=made.ask.schema)
    return bytes(card.render().encode())


@dataclass(frozen=True)
class TableModel:
    """A model that was read from its file: it predicts the column `target` from the matrix of `TableSchema.encode`.

    An additive one predicts from the matrix of `TableSchema.raw`; `encoding` says which it is. A frame must have the
    columns `features` in their order. `labels` are the target's values, that of label 0 first; empty for a number.
    """

    model: Released
    target: str
    labels: tuple[str, ...]
    features: tuple[str, ...]

    def encoding(self, schema: TableSchema) -> TableSchema:
        """The schema by which rows of a table are encoded for this model."""
        return schema if self.model.columns_ is None else schema.raw()

    def reads(self, schema: TableSchema) -> bool:
        """Whether an additive model's own columns are those of a schema; a linear model does not know."""
        return self.model.columns_ in (None, KnownTable.of_schema(schema.raw()))

    def predict(self, X: Any) -> list[Any]:
        """The predicted value of every row, as the table would have it: a label's text, or a number."""
        found = self._checking(X).predict(X).tolist()
        return [self.labels[one] for one in found] if self.labels else found

    @available_if(lambda self: bool(self.labels))
    def predict_proba(self, X: Any) -> FloatArray:
        """The probability of each of `labels` for every row, shape (n, K); only of a model that has labels."""
        return np.asarray(self._checking(X).predict_proba(X))

    def _checking(self, X: Any) -> Any:
        """The model; one that checks names where `X` is a frame, since a matrix has none."""
        return with_names(self.model, self.features) if hasattr(X, "columns") else self.model


def read_model(text: str) -> TableModel:
    """The model in a file that `model_json` wrote; anybody may have written the file, and it is not trusted."""
    values = from_a_stranger("model", text, LARGEST)
    if not isinstance(values, dict) or values.get("format") != FORMAT:
        raise ValueError(f"the model must say “format”: “{FORMAT}”")
    additive = "pieces" in values
    needed = _FIELDS | _ADDITIVE if additive else _FIELDS
    if set(values) - {_RANGES, _TARGET_RANGE, _HESSIAN} != needed:
        raise ValueError(f"the model must have the fields {', '.join(sorted(needed))}, and no others")
    number = values["kind"] == _NUMBER
    if not number and values["kind"] not in (_TWO_VALUES, _SEVERAL):
        raise ValueError(f"the model's kind must be “{_NUMBER}”, “{_TWO_VALUES}” or “{_SEVERAL}”")
    features = _texts("features", values["features"])
    labels = () if number else _texts("labels", values["labels"])
    if not number and (len(set(labels)) != len(labels) or len(labels) < 2):
        raise ValueError("the model's labels must be two different texts, or more")
    if values["kind"] == _TWO_VALUES and len(labels) != 2:
        raise ValueError("the model's labels must be two different texts")
    shape = () if number else (1,) if len(labels) == 2 else (len(labels),)
    model: Any = ReleasedRegressor() if number else ReleasedProbabilisticClassifier()
    width = len(features)
    if additive:
        model.columns_ = _columns(values["schema"], features)
        model.pieces_, width = _pieces(values["pieces"], model.columns_)
    model.coef_ = _numbers("coef", values["coef"], (*shape, width))
    intercept = _numbers("intercept", values["intercept"], shape)
    model.intercept_ = float(intercept) if number else intercept
    for name in ("center", "scale"):
        if values[name] is not None:
            setattr(model, f"{name}_", _numbers(name, values[name], (len(features),)))
    if values.get(_RANGES) is not None:
        model.feature_ranges_ = _numbers(_RANGES, values[_RANGES], (2, len(features)))
        if not (model.feature_ranges_[0] / 2 < model.feature_ranges_[1] / 2).all():
            raise ValueError(f"the model's {_RANGES} must have lower ends below the upper ones")
    if values.get(_TARGET_RANGE) is not None:
        if not number:
            raise ValueError(f"the model's {_TARGET_RANGE} must be left out where it has labels")
        model.target_range_ = _numbers(_TARGET_RANGE, values[_TARGET_RANGE], (2,))
        if not model.target_range_[0] < model.target_range_[1]:
            raise ValueError(f"the model's {_TARGET_RANGE} must have its lower end below the upper one")
    model.n_features_in_ = len(features)
    model.privacy_ = PrivacyCertificate.from_dict(values["certificate"])
    if values["row_norm"] != model.privacy_.row_norm:
        raise ValueError("the model's row_norm must be its certificate's")
    if not number:
        model.classes_ = np.arange(len(labels))
        model.margin_ = _margin(values["margin"])
    if _HESSIAN in values:
        size = width + bool(model.privacy_.intercept_scaling)
        model.hessian_ = _numbers(_HESSIAN, values[_HESSIAN], (size, size))
    (target,) = _texts("target", [values["target"]])
    return TableModel(model, target, labels, features)


def _columns(schema: Any, features: tuple[str, ...]) -> KnownTable:
    """What an additive model's schema says of its columns."""
    known = KnownTable.of_schema(TableSchema.from_json(json.dumps(schema)).raw())
    if known.names != features:
        raise ValueError("the model's features must be the columns of its schema")
    return known


def _pieces(values: Any, known: KnownTable) -> tuple[FloatArray, int]:
    """The pieces of known columns, and how many coordinates they have."""
    found = _numbers("pieces", values, (len(values) if isinstance(values, list) else 0, 3))
    pieces = Pieces.read(found)
    listed = [kind.categories for kind in known.kinds]
    if listed != [one.size - 2 if one.starts is None else None for one in pieces.columns]:
        raise ValueError("the model's pieces must be those of the columns of its schema")
    return found, pieces.features


def _texts(name: str, values: Any) -> tuple[str, ...]:
    if not isinstance(values, list) or not values or not all(isinstance(one, str) and one for one in values):
        raise ValueError(f"the model's {name} must be text")
    if any(unicodedata.category(letter) in ("Cc", "Cs") for one in values for letter in one):  # a terminal obeys them
        raise ValueError(f"the model's {name} must be text without control characters")
    return tuple(values)


def _numbers(name: str, values: Any, shape: tuple[int, ...]) -> FloatArray:
    """Finite numbers in an array of this shape; the lists are as deep as it, so that nothing is guessed."""
    entries = _entries(values, shape)
    try:
        if entries is not None and all(type(entry) in (int, float) for entry in entries):
            array = np.array(entries, dtype=np.float64)
            if np.isfinite(array).all():
                return array.reshape(shape)
    except OverflowError:  # a whole number beyond the doubles
        pass
    wanted = " by ".join(map(str, shape)) or "one"
    raise ValueError(f"the model's {name} must be finite numbers, {wanted} of them")


def _entries(values: Any, shape: tuple[int, ...]) -> list[Any] | None:
    """The entries of lists of this shape, one after the other; None where the lists are of another one."""
    if not shape:
        return [values]
    if not isinstance(values, list) or len(values) != shape[0]:
        return None
    inner = [_entries(value, shape[1:]) for value in values]
    return None if None in inner else [entry for part in inner if part is not None for entry in part]


def _margin(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= sys.float_info.max:
        raise ValueError("the model's margin must be a finite number >= 0")
    return float(value)
