"""Fits of rows on a cluster's workers: the map of a fit in memory to the last bit, whoever dies, and no noise there."""

import pickle
import sys
import types

import cloudpickle
import numpy as np
import pandas as pd
import pytest

from objpert_core import estimators as est
from objpert_core.accounting import ObjectivePerturbation
from objpert_core.blocks import as_blocks
from objpert_core.datasets import Number, TableSchema, TwoValues, open_table
from objpert_core.evaluation import evaluate, split_by_coin
from objpert_core.learning.noise import NoiseSource, noise_source
from tests.estimators.test_blocks import BEARS_RANGES, PRIVATE, X, Y, assert_same_fit

distributed = pytest.importorskip("distributed", reason="a cluster needs the package distributed")
arrays = pytest.importorskip("dask.array")


@pytest.fixture(scope="module")
def whole():
    return est.ObjPertLogisticRegression(**PRIVATE).fit(X, Y)


@pytest.fixture(scope="module")
def client():
    """Two workers in this process: what a worker is sent is pickled all the same."""
    settings = {"n_workers": 2, "threads_per_worker": 1, "processes": False, "dashboard_address": None}
    with distributed.LocalCluster(**settings) as cluster, distributed.Client(cluster) as client:
        yield client


def fresh():
    return est.ObjPertLogisticRegression(**PRIVATE)


def collections():
    return arrays.from_array(X, chunks=(700, 8)), arrays.from_array(Y, chunks=700)


@pytest.mark.thorough
def test_a_fit_on_workers_is_the_fit_in_memory(client, whole):
    rows, targets = collections()
    model = fresh().fit(rows, targets)
    assert_same_fit(whole, model)
    np.testing.assert_array_equal(model.predict(rows), model.predict(X))
    assert model.score(rows, targets) == model.score(X, Y)
    there, here = (evaluate(model, *data, random_state=1) for data in ((rows, targets), (X, Y)))
    assert there.counts == here.counts
    options = PRIVATE | {"epsilon": 8.0, "intervals": True, "row_norm": "clip"}
    far, near = (est.ObjPertLogisticRegression(**options).fit(*data) for data in ((rows / 10, targets), (X / 10, Y)))
    pd.testing.assert_frame_equal(far.summary(), near.summary(), rtol=1e-4, atol=1e-5)
    for kind in (est.ObjPertLogisticRegression, est.OutputPerturbationLogisticRegression):
        far, near = (kind(**BEARS_RANGES, feature_ranges="private").fit(*data) for data in ((rows, targets), (X, Y)))
        assert_same_fit(near, far)
        assert near.feature_ranges_ is not None
    for weight in ("balanced", {"yes": 3.0}):
        options = PRIVATE | {"class_weight": weight}
        far, near = (est.ObjPertLogisticRegression(**options).fit(*data) for data in ((rows, targets), (X, Y)))
        assert_same_fit(near, far)
    bad = X.copy()
    bad[[0, 1500]] = np.nan
    asked = est.ObjPertLogisticRegression(**PRIVATE, on_error="release")
    assert_same_fit(asked.fit(bad, Y).release(), asked.fit(arrays.from_array(bad, chunks=(700, 8)), targets))
    own = np.linspace(0, 1, 3000)
    asked = est.ObjPertLogisticRegression(**PRIVATE, class_weight="balanced")
    near = asked.fit(X, Y, sample_weight=own).release()
    assert_same_fit(near, asked.fit(rows, targets, sample_weight=arrays.from_array(own, chunks=700)))
    some = rows[:, 0] > -1e9  # lengths that nobody knows, and a partition without rows
    nobody = (
        arrays.concatenate([rows, rows[rows[:, 0] > 1e9]]),
        arrays.concatenate([targets, targets[rows[:, 0] > 1e9]]),
    )
    assert_same_fit(whole, fresh().fit(rows[some], targets[some]))
    assert_same_fit(whole, fresh().fit(*nobody))


@pytest.mark.thorough
def test_files_are_read_by_the_workers(client, whole, tmp_path):
    schema = TableSchema({f"x{place}": Number(-30, 30) for place in range(8)}, TwoValues("moved", "no", "yes"))
    table = pd.DataFrame(X, columns=list(schema.columns)).assign(moved=Y)
    table[:1700].to_parquet(tmp_path / "1.parquet", row_group_size=400)
    table[1700:].to_csv(tmp_path / "2.csv", index=False)
    here = open_table(tmp_path, schema)
    assert_same_fit(
        est.ObjPertLogisticRegression(**PRIVATE | {"classes": [0, 1]}).fit(here),
        est.ObjPertLogisticRegression(**PRIVATE | {"classes": [0, 1]}).fit(here.on(client)),
    )
    table.loc[900, "x3"] = np.inf
    table[:1700].to_parquet(tmp_path / "1.parquet", row_group_size=400)
    for blocks in (here, here.on(client)):
        with pytest.raises(ValueError, match=r"1\.parquet.*row 901"):
            est.ObjPertLogisticRegression(**PRIVATE | {"classes": [0, 1]}).fit(blocks)


def test_coins_and_targets_are_asked_for_where_they_can_be_had(client):
    rows, targets = collections()
    with pytest.raises(ValueError, match="X must be split before it goes to a cluster"):
        split_by_coin(rows, targets)
    with pytest.raises(ValueError, match="y must be given, or be part of the blocks, got None"):
        evaluate(fresh().fit(X, Y), rows)


def test_no_number_of_the_noise_is_in_what_workers_are_sent(client, monkeypatch):
    drawn, sent = [], []
    perturb = ObjectivePerturbation.perturbation
    monkeypatch.setattr(
        ObjectivePerturbation, "perturbation", lambda self, *told: drawn.append(perturb(self, *told)) or drawn[-1]
    )
    for name in ("submit", "map"):
        ask = getattr(type(client), name)

        def watched(self, *work, ask=ask, **told):
            sent.append([part for part in work if not isinstance(part, (distributed.Future, list))])
            return ask(self, *work, **told)

        monkeypatch.setattr(type(client), name, watched)
    model = fresh().fit(*collections())
    (b,) = [one.linear for one in drawn]
    messages = [cloudpickle.dumps(work) for work in sent]
    assert len(messages) > 12  # one for each walk, and those that read
    assert not [message for message in messages for number in b if number.tobytes() in message]
    assert any(model.center_.tobytes() in message for message in messages)  # what is sent would be found


@pytest.mark.parametrize(
    "noise", [noise_source(3), ObjectivePerturbation(5, 20).perturbation(noise_source(3), 3)], ids=["source", "b"]
)
def test_noise_cannot_be_sent(noise):
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(noise)


def test_a_fault_on_a_worker_is_raised_here_and_writes_no_row_there(client):
    broken = arrays.from_array(X, chunks=(1000, 8)), arrays.from_array(Y, chunks=1000)
    there = as_blocks(*broken)
    with pytest.raises(RuntimeError, match="a block could not be worked on, ZeroDivisionError: division"):
        list(there.each(lambda place, rows, _targets: len(rows) / (place - 2)))
    assert "Compute Failed" not in str(client.get_worker_logs())


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_workers_that_die_change_nothing(whole, monkeypatch):
    """One of two worker processes is killed in the middle of every fit; the nanny starts another."""
    monkeypatch.setitem(sys.modules, "__main__", types.ModuleType("__main__"))  # a page's test leaves its script there
    drawn, killed = [], []
    draw = NoiseSource.rounded_normal
    monkeypatch.setattr(NoiseSource, "rounded_normal", lambda self, *sizes: drawn.append(1) or draw(self, *sizes))
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        rng = np.random.default_rng(0)
        for _ in range(4):
            passes, fatal = [], rng.integers(1, 4)

            def kill(_iteration, _norm, passes=passes, fatal=fatal):
                passes.append(1)
                if len(passes) == fatal:
                    cluster.workers[int(rng.integers(2))].process.process.kill()
                    killed.append(1)

            drawn.clear()
            model = fresh()
            model.fit(*collections(), callback=kill)
            assert_same_fit(whole, model)
            assert len(drawn) == 4  # centre, scales, b, output: each once
        logs = str(client.get_worker_logs()) + str(client.get_scheduler_logs())
    assert len(killed) == 4
    assert f"{X[0, 0]:.4f}"[:6] not in logs
