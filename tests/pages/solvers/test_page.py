"""The Solvers page, run without a browser: its curves are the core's, presets are exact, nonsense does no harm."""

from functools import partial

import numpy as np
import pytest

from objpert_core.exceptions import DataUnavailableError
from objpert_core.experiments.studies import solver_costs
from tests.pages.apps import curves, open_app

pytestmark = pytest.mark.slow
open_page = partial(open_app, "pages/solvers/page.py")


def test_the_stored_costs_are_labelled_with_command_and_commit():
    app = open_page()
    captions = " ".join(block.value for block in app.caption)
    assert "python -m benchmarks.solvers" in captions
    assert f"commit {solver_costs.load().notes['commit']}" in captions
    shown, _ = curves(app, 1)
    cost = solver_costs.cost("sag", "redundant")
    np.testing.assert_array_equal(shown["SAG"][1], cost.evaluations)
    assert any("proved: at most $n^{1.5}" in block.value for block in app.markdown)


def test_without_stored_results_the_page_says_so(monkeypatch):
    def missing(*_):
        raise DataUnavailableError("solvers.csv cannot be read")

    monkeypatch.setattr(solver_costs, "costs", missing)
    app = open_page()
    assert [block.value for block in app.info] == ["solvers.csv cannot be read"]
    assert len(app.get("plotly_chart")) == 1


def test_the_prediction_is_true():
    cost = solver_costs.cost("accelerated", "redundant")
    means = {n: np.mean([e for m, e in zip(cost.n, cost.evaluations, strict=True) if m == n]) for n in set(cost.n)}
    assert 30 < means[10_000] / means[1000] < 50
