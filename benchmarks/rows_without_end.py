"""Time and memory of private fits of rows that are walked, next to rows in memory and to reading the file once.

    python -m benchmarks.rows_without_end [--rows 100000 1000000] [--columns 100] [--folder FOLDER] [--epsilon 1]

Each size is a Parquet file of its own with float32 columns, written by a fixed seed a part at a time, and fitted in a
process of its own: `ObjPertLogisticRegression` with defaults and `public_rows`; as "clip", on rows that are cut to
norm 1 where they are longer, and neither centred nor scaled, from ranges three times as wide: then most rows have a
norm just below 1. Rivals: reading and encoding the file once, and scikit-learn's `SGDClassifier.partial_fit` of the
same blocks, five epochs, without privacy. Accuracies are of half a million rows that are in no fit; "best" is that of
the model that made the rows. The last line is the slope of log time in log rows.

    python -m benchmarks.rows_without_end --ways worker workers dask-ml

The same fit on a Dask cluster of one worker process and of two, and dask-ml's `LogisticRegression`, without privacy, on
the cluster of two, by its default solver. Reading the files is part of each. Needs distributed, and dask-ml.
"""

import argparse
import json
import math
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from objpert_core.datasets import Blocks, Number, TableSchema, TwoValues, open_table
from objpert_core.estimators import ObjPertLogisticRegression

CLUSTERS = {"worker": 1, "workers": 2, "dask-ml": 2}  # processes
PART = 100_000  # rows that are made at once
FRESH = 500_000  # rows that accuracies are of
READS_LIMIT, MEMORY_LIMIT, SLOPE_LIMIT = 20.0, 1.5e9, 0.05  # the targets of a whole fit


def schema(columns: int, reach: float = 4.0) -> TableSchema:
    return TableSchema({f"x{place}": Number(-reach, reach) for place in range(columns)}, TwoValues("y", "0", "1"))


def write(path: Path, rows: int, columns: int, seed: int | None = None) -> float:
    """Rows of a logistic model whose classes overlap, with columns that are far from centred; returns its accuracy."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    weights, shifts = rng.normal(size=columns) * 3 / math.sqrt(columns), rng.uniform(-1, 1, columns)
    rng, writer, right = rng if seed is None else np.random.default_rng(seed), None, 0
    for start in range(0, rows, PART):
        X = rng.standard_normal((min(PART, rows - start), columns), dtype=np.float32) + shifts.astype(np.float32)
        y = rng.random(len(X)) < 1 / (1 + np.exp(-(X - shifts) @ weights))
        right += int(np.sum(y == ((X - shifts) @ weights > 0)))
        columns_of = {f"x{place}": X[:, place] for place in range(columns)} | {"y": y.astype(np.int8)}
        table = pa.table(columns_of)
        writer = writer or pq.ParquetWriter(path, table.schema, compression="none", use_dictionary=["y"])
        writer.write_table(table)
    writer.close()
    return right / rows


def measured(path: Path, rows: int, columns: int, epsilon: float, what: str) -> dict:
    """Seconds, processor seconds and peak memory of one way to use the file."""
    clip = what == "clip"
    form = schema(columns, 12.0 if clip else 4.0)
    blocks, blocks_seen = open_table(path, form), 0
    start, cpu = time.perf_counter(), time.process_time()
    found = {}
    if what == "read":
        blocks_seen = sum(1 for _ in blocks)
    elif what == "sgd":
        from sklearn.linear_model import SGDClassifier

        model = SGDClassifier(loss="log_loss", random_state=0)
        for _ in range(5):
            for X, y in blocks:
                model.partial_fit(X, y, classes=[0, 1])
    elif what in CLUSTERS:
        model = on_cluster(blocks, rows, columns, epsilon, what)
        start, cpu = time.perf_counter() - model.took, time.process_time()
    elif what == "memory":
        X, y = (np.concatenate(part) for part in zip(*blocks, strict=True))
        start, cpu = time.perf_counter(), time.process_time()
        model = ObjPertLogisticRegression(epsilon, classes=[0, 1], public_rows=rows, random_state=0).fit(X, y)
    else:
        how = {"row_norm": "clip", "standardize": False} if clip else {}
        model = ObjPertLogisticRegression(epsilon, classes=[0, 1], public_rows=rows, random_state=0, **how)
        model.fit(blocks, callback=lambda *step: found.update(iterations=step[0]))
        found |= {"verifies": model.privacy_.verify(model), "reached": model.privacy_.gradient_norm}
    found |= {"seconds": time.perf_counter() - start, "processor": time.process_time() - cpu}
    found["peak"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    if what != "read":
        fresh = open_table(path.parent / fresh_rows(columns), form)
        found["accuracy"] = sum(int(np.sum(model.predict(X) == y)) for X, y in fresh) / FRESH
    return found | ({"blocks": blocks_seen} if blocks_seen else {})


def fresh_rows(columns: int) -> str:
    return f"fresh-{columns}.parquet"


def on_cluster(blocks: Blocks, rows: int, columns: int, epsilon: float, what: str) -> Any:
    """A model, and as `took` how long it took from the files on, workers being there already."""
    import dask.array
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=CLUSTERS[what], threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster, set_as_default=what == "dask-ml") as client,
    ):
        start = time.perf_counter()
        there = blocks.on(client)
        if what == "dask-ml":
            from dask_ml.linear_model import LogisticRegression

            lengths = list(there.each(lambda _place, X, _y: len(X)))
            X = [delayed_part(part, 0, (length, columns)) for part, length in zip(there._kept, lengths, strict=True)]
            y = [delayed_part(part, 1, (length,)) for part, length in zip(there._kept, lengths, strict=True)]
            model = LogisticRegression()
            model.fit(dask.array.concatenate(X), dask.array.concatenate(y))
        else:
            model = ObjPertLogisticRegression(epsilon, classes=[0, 1], public_rows=rows, random_state=0).fit(there)
        model.took = time.perf_counter() - start
    return model


def delayed_part(future: Any, place: int, shape: tuple[int, ...]) -> Any:
    """The rows, or the targets, of a block on a worker as an array of Dask's."""
    import dask

    return dask.array.from_delayed(dask.delayed(lambda pair: pair[place])(future), shape, float)


def in_new_process(*arguments: object) -> dict:
    command = [sys.executable, "-m", "benchmarks.rows_without_end", "--one", *map(str, arguments)]
    told = subprocess.run(command, check=True, capture_output=True, text=True, cwd=Path(__file__).parents[1])
    return json.loads(told.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--columns", type=int, default=100)
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--folder", help="where files are written and kept; a temporary folder otherwise")
    parser.add_argument("--ways", nargs="+", default=["read", "fit", "memory", "clip", "sgd"])
    parser.add_argument("--one", nargs=5, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        path, rows, columns, epsilon, what = options.one
        print(json.dumps(measured(Path(path), int(rows), int(columns), float(epsilon), what)))
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder, fits = Path(options.folder or temporary), []
        best = write(folder / fresh_rows(options.columns), FRESH, options.columns, seed=1)
        print(f"accuracy of {FRESH:,} fresh rows: best {best:.4f}")
        for rows in options.rows:
            path = folder / f"rows-{rows}-{options.columns}.parquet"
            if not path.exists():
                write(path, rows, options.columns)
            print(f"{rows:,} x {options.columns}, a file of {path.stat().st_size / 1e6:,.0f} MB")
            found = {}
            for way in options.ways:
                found[way] = one = in_new_process(path, rows, options.columns, options.epsilon, way)
                rest = {name: value for name, value in one.items() if name not in ("seconds", "processor", "peak")}
                print(
                    f"  {way:7} {one['seconds']:8.2f} s, processor {one['processor']:8.2f} s, "
                    f"peak {one['peak'] / 1e6:6,.0f} MB  {rest}",
                    flush=True,
                )
            if {"read", "fit"} <= found.keys():
                ratio = found["fit"]["processor"] / found["read"]["processor"]
                print(f"  a fit takes {ratio:.1f} times the processor time of one walk (target ≤ {READS_LIMIT:g})")
                fits.append((rows, found["fit"]["processor"]))
            for way, other in (("worker", "workers"), ("dask-ml", "workers")):
                if {way, other} <= found.keys():
                    print(
                        f"  {way} takes {found[way]['seconds'] / found[other]['seconds']:.2f} times the time of {other}"
                    )
        if len(fits) > 1:
            slope = np.polyfit(*np.log(np.array(fits)).T, 1)[0]
            print(f"slope of log processor time in log rows: {slope:.2f} (target 1.00 ± {SLOPE_LIMIT:g})")


if __name__ == "__main__":
    main()
