"""Release the noisy counts behind `adult-synthetic`: the only code that looks at Adult's exact counts.

    OBJPERT_DATA_DIR=/folder/with/adult python -m benchmarks.make_adult_synthetic --output folder

One Gaussian mechanism over all tables stacked, calibrated to (ε, δ) under adding or removing one person. The
noise comes from the operating system and no seed exists. Running it again is a second release of the same
people's data and the two add up, so an existing release is not overwritten unless asked for.
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import json
import math
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from objpert_core._provenance import commit
from objpert_core._validation import IntArray
from objpert_core.accounting import calibrate_gaussian
from objpert_core.datasets import _adult_tables, adult, adult_synthetic
from objpert_core.datasets._files import ADULT_FILES, data_folder, obtain
from objpert_core.datasets.adult_synthetic import COUNTS_FILE, PROVENANCE_FILE

EPSILON, DELTA = 1.0, 1e-9


def cell_codes(records: adult.AdultRecords, column: str) -> IntArray:
    """The category or bin of each row; a value outside the bins counts in the nearest one."""
    values = records.column(column)
    if column not in _adult_tables.BIN_STARTS:
        return values
    return np.maximum(np.searchsorted(_adult_tables.BIN_STARTS[column], values, side="right") - 1, 0)


def count(records: adult.AdultRecords) -> dict[str, IntArray]:
    """The exact tables, by name. They are not private: nothing else may look at them."""
    exact = {}
    for table in _adult_tables.TABLES:
        codes = tuple(cell_codes(records, column) for column in table.columns)
        cells = np.ravel_multi_index(codes, table.shape)
        exact[table.name] = np.bincount(cells, minlength=math.prod(table.shape)).reshape(table.shape)
    return exact


def add_noise(exact: dict[str, IntArray], sigma: float) -> dict[str, IntArray]:
    """The tables with independent N(0, sigma²) noise in every cell, rounded to whole numbers.

    Rounding is post-processing; it also hides the last bits, in which floating-point noise can betray the sum.
    """
    source = random.SystemRandom()  # the operating system's generator: nothing to seed, nothing to store
    return {
        name: np.rint(table + np.reshape([source.gauss(0.0, sigma) for _ in range(table.size)], table.shape)).astype(
            np.int64
        )
        for name, table in exact.items()
    }


def release(records: adult.AdultRecords, epsilon: float = EPSILON, delta: float = DELTA) -> dict[str, Any]:
    """Noisy counts of `records` with (ε, δ) where one person is added or removed, and what checks them."""
    mechanism = calibrate_gaussian(epsilon, delta, _adult_tables.SENSITIVITY)
    noisy = add_noise(count(records), mechanism.sigma)
    return {
        "epsilon": epsilon,
        "delta": delta,
        "sensitivity": _adult_tables.SENSITIVITY,
        "sigma": mechanism.sigma,
        "columns": {table.name: list(table.columns) for table in _adult_tables.TABLES},
        "tables": {name: table.ravel().tolist() for name, table in noisy.items()},
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Read Adult, release the counts, write them and their provenance."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.make_adult_synthetic",
        description="Release the noisy counts behind adult-synthetic (spends ε = 1, δ = 1e-9).",
    )
    parser.add_argument(
        "--output", type=Path, default=Path(adult_synthetic.__file__).parent, help="folder for the two JSON files"
    )
    parser.add_argument("--again", action="store_true", help="replace a release: spends the budget a second time")
    options = parser.parse_args(arguments)
    counts_path, provenance_path = options.output / COUNTS_FILE, options.output / PROVENANCE_FILE
    if counts_path.exists() and not options.again:
        parser.error(f"{counts_path} holds a release; another one would add to its ε and δ (--again to insist)")
    content = release(adult.read(obtain(ADULT_FILES, data_folder())))
    text = json.dumps(content, separators=(",", ":")) + "\n"
    counts_path.write_text(text, encoding="utf-8")
    provenance = {
        "command": parser.prog + (" --again" if options.again else ""),
        "mechanism": "one Gaussian mechanism over all tables stacked, then rounding to whole numbers",
        "adjacency": "add or remove one person; the number of rows, 45,222, is published and not protected",
        "epsilon": content["epsilon"],
        "delta": content["delta"],
        "sensitivity": content["sensitivity"],
        "sigma": content["sigma"],
        "noise": "operating system (random.SystemRandom), no seed",
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "commit": commit(),
        "source": {raw.name: raw.sha256 for raw in ADULT_FILES},
        "counts_sha256": hashlib.sha256(text.encode()).hexdigest(),
    }
    provenance_path.write_text(json.dumps(provenance, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"wrote {counts_path} and {provenance_path}")


if __name__ == "__main__":
    main()
