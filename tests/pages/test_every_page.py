"""What every page with a chart promises: nonsense in a link, a refused value and a setting before do no harm.

Each test is one promise, and its list names the pages it is checked on. What a page promises alone stands in its own
folder.
"""

import numpy as np
import pytest

import objpert_core.accounting as acc
from objpert_core.learning import HuberLoss
from pages.solvers import numbers as solver_runs
from pages.tuning import numbers as tuning
from pages.tuning.words import WAYS
from tests.pages.apps import curves, open_app, spec
from ui.svg import decode

QUICK = {"composition": {"ledger": "gauss:20,1@A;gauss:10,1@B"}}
"""What makes a page open sooner and has no part in these tests."""


def open_page(page, **query):
    """A page at a link; the keys of the query are without the page's name, but for one that no page knows."""
    query = QUICK.get(page, {}) | query
    prefixed = {key if key == "unknown" else f"{page}_{key}": value for key, value in query.items()}
    return open_app(f"pages/{page}/page.py", **prefixed)


def has_curve(name, law):
    """Whether the first chart has that curve, and it is this function of its x."""

    def check(app):
        x, y = curves(app)[0][name]
        np.testing.assert_array_equal(y, law(x))

    return check


def bounds(app):
    has_curve("Logistic (tight)", acc.ObjectivePerturbation(5.0, 20.0, 1.0, 1.0).delta)(app)
    np.testing.assert_array_equal(curves(app)[0]["Logistic (tight)"][0], np.linspace(0, 2, 241))


def distance(app):
    has_curve("Logistic (tight)", acc.ObjectivePerturbation(10.0, 2.0).rdp)(app)
    assert curves(app)[0]["Logistic (tight)"][0][-1] == 1e4


def planner(app):
    paper = {"epsilon": 1.0, "delta": 1e-5, "f": 1.3, "bound": "rdp", "scaling": 1.0, "rows": 45_222}
    paper |= {"features": 105, "norm": 50.0}
    assert {key: app.session_state[f"planner_{key}"] for key in paper} == paper
    assert "your point, f = 1.3" in curves(app)[0]


def composition(app):
    x, y = curves(app)[0]["k = 10"]
    known = np.isfinite(y)
    fits = acc.repeat(acc.ObjectivePerturbation(8.0, 10.0, 1.0, 1.0, "glm"), 10)
    np.testing.assert_array_equal(y[known], fits.delta_bounds(x[known], 1e-3)[1])


def tuning_costs(app):
    shown, _ = curves(app)
    paper = tuning.Setting(tuning.Base(), 1e-5, tuning.Law(), renyi=True)
    assert list(shown) == list(WAYS.values())
    for way, name in WAYS.items():
        np.testing.assert_array_equal(shown[name][0], tuning.GRID)
        np.testing.assert_array_equal(shown[name][1], tuning.curve(way, paper))


def losses(app):
    x, y = curves(app)[0]["f clipped at C"]
    np.testing.assert_allclose(y, HuberLoss(1.0).value(x, 0.0), atol=1e-15)


def solvers(app):
    setting = solver_runs.Setting(500, 1.0, 4.0, "redundant", 0, 1e-6)
    np.testing.assert_array_equal(curves(app)[0]["Newton"][0], solver_runs.run("newton", setting).evaluations)


SHOWS_DEFAULT = {
    "bounds": bounds,
    "distance": distance,
    "planner": planner,
    "renyi": has_curve("DP-SGD", acc.DPSGD(2.5, 0.01, 10_000).rdp),
    "composition": composition,
    "tuning": tuning_costs,
    "losses": losses,
    "solvers": solvers,
}
"""How a page looks without a query, told by the core's numbers."""

LONG, SCRIPT = "x" * 5000, "<script>alert(1)</script>"
NONSENSE = [
    ("bounds", {"sigma": "banana", "lambda": "nan", "delta": "2", "view": "1e400", "floor": "", "epsilon": "🙂"}),
    ("bounds", {"sigma": "-5", "beta": "0", "L": "inf", "monotone": "maybe", "ghost": "7", "unknown": LONG}),
    ("bounds", {"sigma": ["5", "10"], "lambda": SCRIPT}),
    ("distance", {"sigma": "banana", "lambda": "nan", "delta": "2", "show": "everything", "unknown": LONG}),
    ("distance", {"sigma": "-5", "beta": "0", "L": "inf", "view": "1e400", "eps_view": "", "alpha": "🙂"}),
    ("distance", {"sigma": ["5", "x"], "lambda": SCRIPT, "ghost": "7"}),
    ("planner", {"f": "banana", "epsilon": "nan", "delta": "2", "view": "1e400", "norm": "", "scaling": "🙂"}),
    ("planner", {"f": "0.5", "rows": "-1", "features": "inf", "bound": "kifer2012", "columns": "odd", "ghost": "7"}),
    ("planner", {"f": ["1.2", "1.4"], "bound": SCRIPT, "draws": "inf", "seed": "-1e999", "unknown": LONG}),
    ("renyi", {"sigma": "banana", "lambda": "nan", "delta": "2", "noise": "-5", "q": "0", "steps": "inf"}),
    ("renyi", {"steps": "1.5", "q": "1e400", "epsilon": "🙂", "view": "", "bound": "glm", "show": "maybe"}),
    ("renyi", {"sigma": ["5", "10"], "bound": SCRIPT, "ghost": "7", "unknown": LONG}),
    ("composition", {"sigma": "banana", "lambda": "nan", "delta": "2", "view": "1e400", "floor": "", "beta": "🙂"}),
    ("composition", {"k": "banana", "bound": "none", "width": "0"}),
    ("composition", {"k": ["1", "2", "x", "1e9", "5", "10", "inf"], "show": "<script>"}),
    ("tuning", {"k": "Cauchy", "run": "🙂", "by": "", "eta": "-1", "epsilon": "banana", "delta": "2", "settings": "0"}),
    ("tuning", {"steps": "1e400", "rate": "-1", "more": "nan", "renyi": "perhaps", "ghost": "7", "afford": "maybe"}),
    ("tuning", {"settings": ["5", "10"], "k": SCRIPT, "unknown": LONG}),
    ("losses", {"C": "banana", "norm": "nan", "loss": "absolute", "show": "everything", "draws": "1e9"}),
    ("losses", {"C": "-5", "view": "inf", "seed": "inf", "parameter": "", "ghost": "7", "unknown": LONG}),
    ("losses", {"C": ["1", "x"], "loss": SCRIPT}),
    ("solvers", {"n": "banana", "lambda": "nan", "tau": "2", "shown": "💥", "cost": "", "ghost": "7", "unknown": LONG}),
    ("solvers", {"sigma": "-5", "seed": "1e400", "columns": SCRIPT}),
    ("solvers", {"n": ["500", "100"], "seed": "inf"}),
]


@pytest.mark.thorough
@pytest.mark.parametrize(("page", "query"), NONSENSE)
def test_nonsense_in_the_address_falls_back_to_the_default(page, query):
    SHOWS_DEFAULT[page](open_page(page, **query))


SIGMA = "sigma must be a finite number > 0, got -1", "Sigma must be a finite number > 0, got -1."
SIZE = "sigma must be a finite number >= 0, got -1", "Sigma must be a finite number >= 0, got -1."
DELTA = (
    "delta must be a number strictly between 0 and 1, got 2.0",
    "Delta must be a number strictly between 0 and 1, got 2.0.",
)
NOISE = "noise_multiplier must be a finite number > 0, got -1", "noise_multiplier must be a finite number > 0, got -1."
REFUSED = [
    ("bounds", {}, "ui.bounds.readings", SIGMA, {"bounds_sigma": 5.0}),
    ("distance", {}, "pages.distance.numbers.readings", SIGMA, {"distance_sigma": 10.0}),
    ("planner", {}, "pages.planner.numbers.frontier", DELTA, {"planner_f": 1.3}),
    ("renyi", {}, "pages.renyi.numbers.crossings", SIGMA, {"renyi_sigma": 2.5}),
    ("composition", {}, "pages.composition.numbers.readings", SIGMA, {"composition_sigma": 8.0}),
    ("tuning", {}, "pages.tuning.numbers.ways", NOISE, {"tuning_settings": 10}),
    ("losses", {"show": "Without GLM structure"}, "pages.losses.dimension.readings", SIGMA, {}),
    ("solvers", {}, "pages.solvers.numbers.run", SIZE, {}),
]


@pytest.mark.parametrize(("page", "query", "function", "told", "controls"), REFUSED)
def test_a_refused_value_becomes_one_sentence(monkeypatch, page, query, function, told, controls):
    reason, sentence = told

    def refuse(*_):
        raise ValueError(reason)

    monkeypatch.setattr(function, refuse)
    app = open_page(page, **query)
    assert [block.value for block in app.error] == [sentence]
    assert {key: app.select_slider(key=key).value for key in controls} == controls


GHOSTS = [
    ("bounds", "sigma", 10.0, None, {"Gaussian lower bound": acc.Gaussian(5.0).delta}),
    ("distance", "sigma", 1.0, None, {}),
    pytest.param(
        "renyi",
        "noise",
        3.0,
        ["One fit", "Gaussian", "DP-SGD"],
        {"DP-SGD": acc.DPSGD(2.5, 0.01, 10_000).rdp},
        marks=pytest.mark.slow,
    ),
    ("solvers", "lambda", 10.0, None, {}),
]


@pytest.mark.thorough
@pytest.mark.parametrize(("page", "control", "value", "names", "laws"), GHOSTS)
def test_the_previous_setting_stays_as_a_ghost_until_it_is_switched_off(page, control, value, names, laws):
    app = open_page(page)
    app.select_slider(key=f"{page}_{control}").set_value(value).run()
    shown, ghosts = curves(app)
    assert ghosts == [f"{name}, before" for name in names or shown]
    for name, law in laws.items():
        ghost = next(trace for trace in spec(app)["data"] if trace["name"] == f"{name}, before")
        np.testing.assert_array_equal(decode(ghost["y"]), law(shown[name][0]))
    app.toggle(key=f"{page}_ghost").set_value(False).run()
    assert curves(app)[1] == []
