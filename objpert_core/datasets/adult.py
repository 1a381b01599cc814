"""The Adult data set: raw lines to records, records to the unit rows of the experiments.

Rows with a "?" are dropped (45,222 remain of the two files together); eight categorical columns are one-hot over the
published codebook (99 columns); six numeric ones, `fnlwgt` among them, are divided by fixed public maxima; every row is
divided by its own norm. Redberg et al. (2023) and Iyengar et al. (2019) count 104 columns, not 105: they one-hot the 98
categories that occur, which is a statistic of the data.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from objpert_core._validation import FloatArray, IntArray
from objpert_core.datasets._dataset import unit_rows
from objpert_core.datasets.adult_codebook import CATEGORIES, CLASSES, COLUMNS, MAXIMA, MISSING
from objpert_core.datasets.tables.columns import Categories, Number

_CODES = {column: {value: code for code, value in enumerate(values)} for column, values in CATEGORIES.items()}
_LABELS = {text: label for label, name in enumerate(CLASSES) for text in (name, name + ".")}


@dataclass(frozen=True, eq=False)
class AdultRecords:
    """Rows of Adult before the encoding: labels (1 above 50,000 dollars), positions in the codebook by `CATEGORIES`,
    raw values by `MAXIMA`.
    """

    categories: IntArray
    numbers: IntArray
    labels: IntArray

    def __len__(self) -> int:
        return len(self.labels)

    def column(self, name: str) -> NDArray[np.int64]:
        """One column by its name: category positions, raw numbers, or the labels under `"label"`."""
        if name == "label":
            return self.labels
        if name in CATEGORIES:
            return self.categories[:, list(CATEGORIES).index(name)]
        return self.numbers[:, list(MAXIMA).index(name)]

    def frame(self) -> pd.DataFrame:
        """The columns of the raw files in their order, categories by their names."""
        names = {name: np.array(values, dtype=object) for name, values in CATEGORIES.items()}
        own = {name: self.column(name) for name in COLUMNS}
        return pd.DataFrame({name: names[name][one] if name in names else one for name, one in own.items()})


def columns() -> dict[str, Categories | Number]:
    """What the codebook says of each column."""
    return {name: Categories(CATEGORIES[name]) if name in CATEGORIES else Number(0, MAXIMA[name]) for name in COLUMNS}


def parse(lines: Iterable[str], source: str = "adult.data") -> AdultRecords:
    """Records of the raw comma-separated lines without blank lines, comments and rows with a missing value;
    `ValueError` names the file (`source`), the line, the column and the value.
    """
    categories: list[list[int]] = []
    numbers: list[list[int]] = []
    labels: list[int] = []
    for position, line in enumerate(lines, start=1):
        fields = [field.strip() for field in line.split(",")]
        if fields == [""] or fields[0].startswith("|"):
            continue
        where = f"{source}, line {position}"
        if len(fields) != len(COLUMNS) + 1:
            raise ValueError(f"{where}: a row must have {len(COLUMNS) + 1} fields, got {len(fields)}")
        if MISSING in fields:
            continue
        row = dict(zip(COLUMNS, fields[:-1], strict=True))
        categories.append([_code(name, row[name], where) for name in CATEGORIES])
        numbers.append([_number(name, row[name], where) for name in MAXIMA])
        if fields[-1] not in _LABELS:
            raise ValueError(f"{where}: label must be one of {', '.join(CLASSES)}, got {fields[-1]!r}")
        labels.append(_LABELS[fields[-1]])
    return AdultRecords(
        np.array(categories, dtype=np.int64).reshape(-1, len(CATEGORIES)),
        np.array(numbers, dtype=np.int64).reshape(-1, len(MAXIMA)),
        np.array(labels, dtype=np.int64),
    )


def _code(column: str, value: str, where: str) -> int:
    try:
        return _CODES[column][value]
    except KeyError:
        raise ValueError(f"{where}: {column} must be a value of the published codebook, got {value!r}") from None


def _number(column: str, value: str, where: str) -> int:
    if not (value.isascii() and value.isdigit()):
        raise ValueError(f"{where}: {column} must be a whole number >= 0, got {value!r}")
    return int(value)


def read(paths: Iterable[Path]) -> AdultRecords:
    """Records of several raw files, one after the other."""
    parts = [parse(path.read_text(encoding="utf-8").splitlines(), path.name) for path in paths]
    return AdultRecords(
        np.concatenate([part.categories for part in parts]),
        np.concatenate([part.numbers for part in parts]),
        np.concatenate([part.labels for part in parts]),
    )


def encode(records: AdultRecords) -> FloatArray:
    """The 105-column matrix of unit rows (99 indicators, six scaled numbers), as `adult_codebook.FEATURE_NAMES`."""
    sizes = [len(values) for values in CATEGORIES.values()]
    matrix = np.zeros((len(records), sum(sizes) + len(MAXIMA)))
    rows = np.arange(len(records))[:, None]
    matrix[rows, records.categories + np.cumsum([0, *sizes[:-1]])] = 1.0
    maxima = np.array(list(MAXIMA.values()))
    matrix[:, sum(sizes) :] = np.minimum(records.numbers, maxima) / maxima
    return unit_rows(matrix)
