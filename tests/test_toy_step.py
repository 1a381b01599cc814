"""A step from outside, whole: the noisy number of rows whose first column is positive. Nothing else knows of it."""

import dataclasses
import math
from typing import ClassVar

import numpy as np
import pytest
from sklearn.base import clone

from objpert_core.accounting import ADD_REMOVE, repeat
from objpert_core.accounting.mechanisms.base import moved_by
from objpert_core.accounting.steps.base import Step, noisy_sums
from objpert_core.blocks import Blocks
from objpert_core.estimators import ObjPertLogisticRegression, fit_many
from objpert_core.learning import PrivacyCertificate
from objpert_core.learning.noise import noise_source
from objpert_core.learning.steps.base import Outcome, Statistic, Taken
from tests.second_opinion.objective import logistic, with_noise


@dataclasses.dataclass(frozen=True)
class PositiveRows(Step):
    name: ClassVar[str] = "positive_rows"
    noise: float

    def mechanisms(self, adjacency=ADD_REMOVE, rows_per_person=1):
        return noisy_sums(adjacency, (self.noise, moved_by(adjacency, rows_per_person, replaced=1.0)))


@dataclasses.dataclass(frozen=True)
class Found(Outcome):
    rows: float

    def published(self):
        return {"positive_rows_": self.rows}


class PositiveRowsTaken(Taken[PositiveRows], takes=PositiveRows):
    fingerprinted, reads_rows = ("positive_rows_",), False

    def released(self, step, public):
        (rows,) = yield Statistic(positive, ((step.noise, 1),))
        return Found(rows)


def positive(some):
    return np.array([np.count_nonzero(some.X[:, 0] > 0)])


X = np.random.default_rng(0).normal(size=(400, 3))
Y = (X[:, 0] + X[:, 1] > 0).astype(int)
BLOCKS = Blocks(lambda: ((X[i : i + 150], Y[i : i + 150]) for i in range(0, 400, 150)))
STEPS = {"steps": (PositiveRows(20.0),)}
MODEL = ObjPertLogisticRegression(classes=[0, 1], public_rows=400, standardize=False, random_state=0, advanced=STEPS)


def test_it_is_taken_wherever_rows_are_and_everything_tells_of_it():
    distributed, arrays = pytest.importorskip("distributed"), pytest.importorskip("dask.array")
    with distributed.Client(processes=False, dashboard_address=None):
        on_workers = clone(MODEL).fit(arrays.from_array(X, (150, 3)), arrays.from_array(Y, 150))
    draw, _ = fit_many(MODEL, X, Y, [0, 1])
    for model in (on_workers, draw, clone(MODEL).fit(BLOCKS), clone(MODEL).fit(X, Y)):
        noise = noise_source(0).rounded_normal(20.0, 1)[0]
        assert model.positive_rows_ == model.release().positive_rows_ == np.count_nonzero(X[:, 0] > 0) + noise
        spent = model.privacy_
        assert spent.verify(model)
        assert PrivacyCertificate.from_json(spent.to_json()) == spent
        assert "positive_rows, noise 20.0: part of the promise" in repr(spent)
    assert not dataclasses.replace(spent, steps=(PositiveRows(15.0),)).verify(model)
    whole = spent.accounted(spent.rebuild())
    out = math.hypot(2 * spent.tau / spent.lam / spent.sigma_out, 1 / 20)
    second_opinion = with_noise(logistic(spent.radius / spent.sigma, spent.radius**2 / spent.lam), out)
    assert whole.log_delta(1.0) == pytest.approx(second_opinion.log_delta(1.0)[1], rel=1e-4)
    assert repeat(whole, 2).epsilon(1e-5) > 1.2
    model.positive_rows_ += 1
    assert not spent.verify(model)
