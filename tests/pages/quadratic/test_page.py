"""The page "Tilt or bend?", run without a browser: what it shows is what is stored, or what the core says."""

import itertools
from functools import partial

import numpy as np
import pytest

from objpert_core.accounting import calibrate_quadratic_perturbation
from objpert_core.experiments.quadratic import figure1, stored
from objpert_core.experiments.quadratic.disagreement import Disagreement
from objpert_core.experiments.quadratic.spectrum import Spectrum
from pages.quadratic import heat, labels, spectrum
from tests.pages.apps import answer, curves, open_app, said, spec
from tests.plotted import decode

open_page = partial(open_app, "pages/quadratic/page.py")


def test_eigenvalues_between_alpha_and_beta():
    app = open_page(quadratic_view=spectrum.Spectrum.title, quadratic_m="2", quadratic_delta="0.01")
    draws = Spectrum(12, 24, 0.01)
    shown, _ = curves(app)
    x, y = shown["eigenvalues of W"]
    values = draws.eigenvalues()
    assert (x.min(), x.max()) == pytest.approx((values.min(), values.max()), rel=1e-3)
    assert len(x) == 82
    assert np.sum(y[1:-1:2]) == pytest.approx(1.0)
    assert decode(next(trace for trace in spec(app)["data"] if trace["name"].startswith("α"))["x"])[0] == draws.alpha
    assert f"{values.min():.3g}" in answer(app)


@pytest.mark.thorough
def test_labels_that_disagree_break_the_promise_and_a_tilt_mends_it():
    app = open_page()
    app.button(key="quadratic_preset_Two records disagree").click().run()
    bend = calibrate_quadratic_perturbation(1.0, 1e-5, 1)
    data = Disagreement(bend.scale, bend.degrees_of_freedom, 1000, labels.PENALTY)
    shown, _ = curves(app)
    x, y = shown["true δ, bend alone"]
    assert y[-20] == data.delta(x[-20], 1.0) > 1e-5
    assert "The true δ is 0.74, promised 10⁻⁵; the promise breaks once the label is off by" in answer(app)
    app.toggle(key="quadratic_tilt").set_value(True).run()
    assert "the promise of 10⁻⁵ holds." in answer(app)
    assert "tilt off → on: the true δ falls from 0.74 to" in said(app)
    y = curves(app)[0]["true δ, bend and tilt"][1]
    assert np.nanmax(y) < 1e-5
    assert curves(app)[1] == ["true δ, before"]


@pytest.mark.thorough
def test_figure_1_shows_the_stored_cells():
    app = open_page(quadratic_view=heat.Heat.title, quadratic_proof="exact theorem", quadratic_delta="0.01")
    (drawn,) = (trace for trace in spec(app)["data"] if trace["type"] == "heatmap")
    found = stored.load("figure1")
    z = decode(drawn["z"]).reshape(len(figure1.DELTAS), len(figure1.EPSILONS))
    for (row, delta), (column, epsilon) in itertools.product(enumerate(figure1.DELTAS), enumerate(figure1.EPSILONS)):
        (value,) = found.values(panel="exact", proof="tight", epsilon=epsilon, delta=delta)
        assert z[row, column] == pytest.approx(np.log10(value))
    assert "The bound on the risk is 8.14 (published: 334); θ* alone" in answer(app)
    app.selectbox(key="quadratic_panel").set_value("inexact").run()
    assert "The exact theorem needs an anchor without error" in app.info[0].value
    app.select_slider(key="quadratic_delta").set_value(1e-9).run()
    assert "Not stored for ε = 1, δ = 1e-09; marked: ε = 1, δ = 1e-06." in app.info[1].value


def test_the_prediction_is_true():
    """Without regulariser and inside the constraint set the bent minimum is θ* itself."""
    generator = np.random.default_rng(0)
    X, anchor = generator.standard_normal((30, 4)), generator.standard_normal(4)
    root = generator.standard_normal((4, 9))
    gram, bent = X.T @ X, 50 * root @ root.T
    np.testing.assert_allclose(np.linalg.solve(gram + bent, gram @ anchor + bent @ anchor), anchor, rtol=1e-9)
