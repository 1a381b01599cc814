"""How the pages of curves open: at the paper's values, with the core's numbers, without a ghost.

Whatever else they show once a control was moved is slow, and stands in each page's own folder.
"""

import re

import numpy as np
import pytest

import objpert_core.accounting as acc
from objpert_core.experiments.studies.solver_costs import Case
from objpert_core.learning import HuberLoss, SquaredLoss, solve
from objpert_core.theory.excess_risk import excess_risk_bound
from pages.composition.fits import DASHED
from pages.solvers.controls import NAMES as SOLVERS
from pages.tuning.numbers import GRID, WAYS
from pages.tuning.price import Price
from tests.pages.apps import answer, curves, open_app, said, spec, tables, tells, written
from tests.pages.bounds import test_page as bounds
from tests.pages.composition import test_page as composition
from tests.pages.distance import test_page as distance
from tests.pages.planner import test_page as planner
from tests.pages.renyi import test_page as renyi
from tests.pages.tuning import test_page as tuning
from tests.plotted import decode

AT = {
    "bounds": bounds.AT_FIRST,
    "distance": dict(zip(distance.KEYS, distance.PANELS["Figure 4b"], strict=True)),
    "renyi": renyi.AT_FIRST,
    "composition": composition.FIGURE_3,
    "planner": planner.PAPER,
    "solvers": {"solvers_n": 500, "solvers_lambda": 1.0, "solvers_sigma": 4.0, "solvers_tau": 1e-6},
}


def opened(page, **query):
    """The page with its controls where they belong, and no ghost."""
    app = open_app(f"pages/{page}/page.py", **query)
    assert {key: app.session_state[key] for key in AT.get(page, {})} == AT.get(page, {})
    assert curves(app)[1] == []
    return app


def alts(app):
    return [chart.proto.alt for chart in app.get("plotly_chart")]


LAWS = {
    "bounds": {name: mechanism.delta for name, mechanism in bounds.mechanisms(5.0, 20.0, 1.0, 1.0).items()},
    "distance": {name: mechanism.rdp for name, mechanism in distance.mechanisms(10.0, 2.0, 1.0, 1.0).items()},
    "renyi": {name: mechanism.rdp for name, mechanism in renyi.mechanisms(renyi.AT_FIRST).items()},
}
LEVELS = {"bounds": [], "distance": pytest.mark.thorough, "renyi": pytest.mark.slow}


@pytest.mark.parametrize("page", [pytest.param(page, marks=LEVELS[page]) for page in LAWS])
def test_its_curves_are_the_cores(page):
    shown, _ = curves(opened(page))
    if page != "renyi":  # it has guides in its legend, too
        assert list(shown) == list(LAWS[page])
    for name, law in LAWS[page].items():
        x, y = shown[name]
        assert 200 <= len(x) <= 400
        np.testing.assert_array_equal(y, law(x))


@pytest.mark.thorough
def test_renyi_makes_its_point():
    app = opened("renyi")
    assert answer(app) == "At δ = 10⁻⁵ DP-SGD is more private than one fit: ε = 1.64 against 1.68."
    tells(said(app), "ε = 1.68 (fit), 1.64 (DP-SGD), slack δ = 10⁻⁵", "add or remove one row", "loss distributions")
    tells(written(app), "at about α = 57.6", "smaller ε at δ = 10⁻⁷ and below")
    first, second = alts(app)
    assert "cross at α = 12.9" in first
    assert "Objective perturbation from" in second
    fit, _, run = renyi.mechanisms(renyi.AT_FIRST).values()
    assert fit.epsilon(1e-5) > run.epsilon(1e-5)
    assert fit.epsilon(1e-12) < run.epsilon(1e-12)


@pytest.mark.thorough
def test_composition_shows_figure_3():
    app, fit = opened("composition", composition_ledger=composition.CHEAP), composition.FIT
    shown, _ = curves(app)
    assert list(shown) == [*(f"k = {k}" for k in (1, 2, 5, 10)), DASHED]
    by_renyi = {t["name"]: decode(t["y"]).astype(float) for t in spec(app)["data"] if "Rényi" in t["name"]}
    for k in (1, 2, 5, 10):
        x, y = shown[f"k = {k}"]
        known = np.isfinite(y)
        assert 200 <= len(x) <= 400
        np.testing.assert_array_equal(y[known], acc.repeat(fit, k).delta_bounds(x[known], 1e-3)[1])
        assert (by_renyi[f"k = {k}, Rényi"][known] >= y[known] * (1 - 1e-9)).all()
    tells(said(app), "Ten fits cost ε = 3.14 at δ = 10⁻⁵, not 10 × 0.562 = 5.62.")
    tells(said(app), "add or remove one row; accounted by convolution under the 2023 theorem.")
    assert 3.13 < acc.repeat(fit, 10).epsilon_bounds(1e-5, 1e-3)[1] <= 3.14
    assert 5.61 < 10 * fit.epsilon(1e-5) <= 5.62


def test_losses_shows_hubers_loss_as_clipped_squares():
    app = opened("losses")
    shown, _ = curves(app)
    assert list(shown) == ["f clipped at C", "f", "kinks"]
    x, y = shown["f"]
    assert 200 <= len(x) <= 400
    np.testing.assert_array_equal(y, SquaredLoss().value(x, 0.0))
    x, y = shown["f clipped at C"]
    np.testing.assert_allclose(y, HuberLoss(1.0).value(x, 0.0), atol=1e-15)
    assert shown["kinks"][0].tolist() == [-1.0, 1.0]
    slopes, _ = curves(app, 1)
    np.testing.assert_array_equal(slopes["f′ clipped at C"][1], np.clip(slopes["f′ clipped at C"][0], -1, 1))
    assert "the squared loss is Huber’s: a straight line beyond a residual of ±1." in said(app)


@pytest.mark.thorough
def test_planner_shows_the_papers_recipe():
    app = opened("planner")
    frontier, excess = curves(app)[0], curves(app, 1)[0]
    marks, further = planner.marks(app), planner.marks(app, 1)
    assert {"2023 theorem, Rényi", "2023 theorem", "Our theorem"} <= set(frontier)
    assert {"2012 theorem", "closed form, f = 1", "our default f = 1.02"} <= set(marks) & set(further)
    for name, bound in (
        ("2023 theorem, Rényi", "2023 theorem, Rényi"),
        ("2023 theorem", "glm"),
        ("Our theorem", "logistic"),
    ):
        x, lams = frontier[name]
        assert len(x) >= 8
        for f, lam, loss in zip(x, lams, excess[name][1], strict=True):
            mechanism = planner.calibrated(bound, float(f))
            assert lam == pytest.approx(mechanism.lam, rel=1e-9)
            assert loss == pytest.approx(excess_risk_bound(mechanism, 45_222, 106, 50.0) / 45_222, rel=1e-9)
    recipe = acc.calibrate_published(1.0, 1e-5, planner.ROOT2)
    for mark in ("your point, f = 1.3", "the paper’s f = 1.3"):
        assert marks[mark] == [[1.3], [pytest.approx(recipe.lam, rel=1e-12)]]
    tells(said(app), "σ = 6.86, λ = 3.71 keep the promise ε = 1; training loss rises by at most 0.059 nats")
    tells(said(app), "slack δ = 10⁻⁵; add or remove one row; accounted by the Rényi curve")
    assert tables(app)[0].iloc[0].tolist()[:4] == ["2023 theorem, Rényi, Theorem 3.2", "6.859", "3.708", "0.059"]
    assert "λ = R²/(ε + R²/(2σ²)) = 1.931" in written(app)
    assert "outside the picture" not in written(app)


@pytest.mark.thorough
def test_solvers_shows_the_counts_of_appendix_f():
    app = opened("solvers")
    shown, _ = curves(app)
    assert list(shown) == list(SOLVERS.values())
    objective = Case(500, 1.0, 4.0).objective()
    for solver in ("newton", "accelerated", "sag"):
        result = solve(objective, tau=1e-6, solver=solver)
        x, y = shown[SOLVERS[solver]]
        np.testing.assert_array_equal(np.column_stack([x, y]), np.array(result.trace))
        assert y[-1] <= 1e-6 < y[-2]
        row = tables(app)[0].set_index("Solver").loc[SOLVERS[solver]]
        assert row["Gradient evaluations"] == f"{result.gradient_evaluations:,}"
    tau = next(trace for trace in spec(app)["data"] if trace["name"] == "τ")
    assert decode(tau["y"]).tolist() == [1e-6, 1e-6]
    assert re.search(r"Newton’s method visits each row \d+ times, gradient descent \d+\.", said(app))
    tells(said(app), "ε = 0.927, with slack δ = 10⁻⁵; add or remove one row", "accounted by the privacy profile")
    assert "The privacy proof does not depend on the solver" in written(app)


def test_tuning_shows_the_papers_setting():
    app = opened("tuning")
    tuning.assert_shows(app, tuning.PAPER)
    shown, _ = curves(app)
    run = acc.via_rdp(acc.calibrate_dpsgd(1.0, 1e-5, 0.0071, 8520, "rdp"))
    at = GRID.index(10)
    selection = acc.PrivateSelection(run, acc.poisson_mean(10, 0.9)).epsilon(1e-5)
    assert shown[WAYS["selection"]][1][at] == pytest.approx(selection, rel=1e-3)
    composed = acc.via_rdp(acc.repeat(run.base, 10)).epsilon(1e-5)
    assert shown[WAYS["composed"]][1][at] == pytest.approx(composed, rel=1e-3)
    tells(said(app), "If you ignore the choice among ten settings, you report ε = 1; Papernot and Steinke prove 2.96.")
    tells(said(app), "add or remove one row; accounted by Papernot and Steinke (2022), K Poisson of mean 15.4.")
    tells(written(app), "K has mean 15.4 and is larger than the 10 settings with probability 90 %")
    tells(written(app), "Very rarely there is no run, and a preset default is released.")
    tells(written(app), "Composing every run is cheaper up to s = 3", "charge for a random number of runs")
    tells(written(app), "Objective perturbation hardly needs this page")
    probability = decode(spec(app, 1)["data"][0]["y"]).astype(float)
    base = acc.PrivateSelection(acc.Gaussian(5.0), acc.poisson_mean(10, 0.9))
    np.testing.assert_allclose(probability, base.pmf(np.arange(probability.size)), rtol=1e-12)
    assert "At ten settings: Not at all 1; Liu and Talwar 2019 2.2" in alts(app)[0]
    assert "K Poisson of mean 15.4" in alts(app)[1]


def test_tunings_table_holds_the_marked_numbers_rounded_up():
    app = opened("tuning", tuning_settings="20")
    rows = tables(app)[0]
    for row, value in zip(rows.itertuples(index=False), Price(settings=20).ways().values(), strict=True):
        assert value <= float(row[2]) <= value * 1.01
    assert rows["Runs"].tolist()[:2] == ["20", "20"]
    assert rows["Runs"].tolist()[2].endswith("on average")


def test_the_panels_of_distance_show_what_the_paper_says_about_them():
    """Appendix I: the gap to the half-normal vanishes as λ grows; with σ the curves meet at larger α."""
    alpha = np.geomspace(1, 1e4, 400)
    found = {
        panel: {k: m.rdp(alpha) for k, m in distance.mechanisms(*values).items()}
        for panel, values in zip(("4a", "4b", "4c", "4d"), distance.PANELS.values(), strict=True)
    }
    gap = {k: (v["2023 theorem"] - v["Half-normal (λ → ∞)"])[0] for k, v in found.items()}
    assert max(gap["4a"], gap["4c"]) < 0.02 < 0.6 < min(gap["4b"], gap["4d"])
    meet = {k: alpha[np.argmax(v["2023 theorem"] < 1.1 * v["Gaussian lower bound"])] for k, v in found.items()}
    assert meet["4a"] > 3 * meet["4c"]
    assert meet["4b"] > 3 * meet["4d"]
