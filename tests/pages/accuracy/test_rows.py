"""Accuracy on few and many rows, and the background work of the accuracy page."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.experiments.figure2 import sweep
from objpert_core import datasets
from objpert_core.experiments.figure2 import Piece
from objpert_core.experiments.methods import Parameters, fit
from objpert_core.experiments.studies.subsampling import Fits, LearningCurve, Plan, learning_curve
from pages.accuracy import again
from pages.accuracy.rows import FewAndMany
from tests.pages.apps import execute
from tests.plotted import decode
from ui.request import Meter

PLAN = Plan("synthetic-l", epsilon=0.5, sizes=(500, 5000, 50_000), draws=2)


def curve(private=(0.6, 0.8, 0.9), reference=(0.9, 0.92, 0.95), draws=2, baseline=0.7, available=50_000, plan=PLAN):
    fits = tuple(
        Fits(draw, size, own + 0.01 * draw, other, baseline)
        for draw in range(draws)
        for size, own, other in zip(plan.sizes, private, reference, strict=True)
    )
    return LearningCurve(plan, plan.dataset, available, fits)


class TestRows:
    def test_the_chart_is_the_curve(self):
        found = curve()
        shown = {trace.name: trace for trace in FewAndMany(found).chart().data}
        assert list(shown) == ["always the more frequent class", "no privacy", "Algorithm 1 with our theorem, ε = 0.5"]
        own = shown["Algorithm 1 with our theorem, ε = 0.5"]
        np.testing.assert_array_equal(decode(own.x), PLAN.sizes)
        np.testing.assert_array_equal(decode(own.y), [found.private(size).mean for size in PLAN.sizes])
        assert set(decode(shown["always the more frequent class"].y)) == {found.baseline}
        assert list(FewAndMany(found).chart().layout.xaxis.ticktext) == ["500", "5,000", "50,000"]
        assert own.error_y.array is not None
        partial = replace(found, fits=found.fits[:2])
        assert list(decode(FewAndMany(partial).chart().data[1].x)) == [500, 5000]

    def test_table_and_csv(self):
        rows = FewAndMany(curve()).table()
        assert [row["Training rows"] for row in rows] == ["500", "5,000", "50,000"]
        assert rows[0]["Change by privacy, points"] == "−29.50"
        low, high = curve().cost(500).low, curve().cost(500).high
        assert rows[0]["95 % interval"].replace("\u00a0", " ") == f"−{100 * high:.2f} to −{100 * low:.2f}"
        frame = FewAndMany(curve()).frame()
        assert len(frame) == 6
        assert frame.noise_seed.nunique() == 6
        assert list(frame.rows_seed) == [0, 0, 0, 1, 1, 1]

    @pytest.mark.slow
    def test_the_snippet_gives_the_plotted_numbers(self):
        plan = Plan("synthetic-l", epsilon=0.5, sizes=(200, 1000), draws=2, seed=3)
        *_, found = learning_curve(plan)
        names, printed = execute(FewAndMany(found).code())
        assert names["curve"] == found
        assert printed.startswith(f"200 {found.private(200).mean} {found.reference(200).mean}")
        assert "nan" not in printed


class TestJobs:
    def point(self, method="tight", epsilon=2.0):
        return Piece("breast-cancer", method, epsilon, 1, Parameters())

    @pytest.mark.thorough
    def test_a_point_is_fitted_as_its_sweep_does(self):
        (stored,) = sweep("breast-cancer", ("tight",), (2.0,), 2).run("tight", 2.0, 1)
        assert self.point().seed == stored.seed
        meter = Meter()
        (run,) = again.again(self.point(), meter, lambda: False)
        data = datasets.load("breast-cancer", split_seed=1)
        expected = fit(data, "tight", 2.0, 1, self.point().seed, Parameters())
        assert replace(run, seconds=0, peak_mb=None) == replace(expected, seconds=0, peak_mb=None)
        assert meter.now > (0,)

    def test_it_stops_inside_the_fit(self):
        answers, meter = itertools.chain([False] * 3, itertools.repeat(True)), Meter()
        assert not list(again.again(self.point(), meter, lambda: next(answers)))
        assert (0,) < meter.now < (9,)
