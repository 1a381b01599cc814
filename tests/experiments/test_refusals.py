"""What is out of range is refused by its own name before anything is drawn, read or fitted."""

import numpy as np
import pytest

from benchmarks.experiments import quadratic, regressions, votes
from benchmarks.experiments.figure2 import sweep
from benchmarks.experiments.quadratic import box_lasso
from benchmarks.experiments.regressions import Posterior, best_of_runs
from objpert_core.experiments.compare import MAX_REPEATS, Settings
from objpert_core.experiments.learners import TIGHT
from objpert_core.experiments.methods import Parameters
from objpert_core.experiments.population.methods import Setting
from objpert_core.experiments.population.methods import method as population_method
from objpert_core.experiments.ptr.points import Points
from objpert_core.experiments.ptr.teachers import Teachers
from objpert_core.experiments.quadratic import figure1
from objpert_core.experiments.quadratic.disagreement import Disagreement, ScaledChiSquare, divergence, tilted_delta
from objpert_core.experiments.quadratic.plane import Plane, least_in_ball
from objpert_core.experiments.quadratic.spectrum import Spectrum
from objpert_core.experiments.studies import noise_ratios, solver_costs, subsampling, tuning_runs
from objpert_core.experiments.summary import mean_interval, wilson_interval

RANGES = [
    (
        lambda **named: Points(**{"values": (0.1, 0.2)} | named),
        ("values", (0.1,), "must be at least two numbers from 0 to 1"),
        ("values", (0.1, float("nan")), "must be at least two numbers from 0 to 1"),
        ("bound", 1.0, "must be"),
        ("people", 0, "must be"),
        ("published", "all", "must be"),
    ),
    (
        lambda **named: Teachers(**{"first": 0.5, "second": 0.5} | named),
        ("first", 0.0, "must be"),
        ("second", 1.5, "must be"),
        ("number", 0, "must be"),
    ),
    (
        lambda **named: Disagreement(**{"scale": 1.0, "degrees_of_freedom": 5, "rows": 10, "penalty": 1.0} | named),
        ("scale", 0.0, "must be a finite number > 0, got 0.0"),
        ("degrees_of_freedom", 0, "must be a whole number >= 1, got 0"),
        ("rows", 0, "must be a whole number >= 1, got 0"),
        ("penalty", -1.0, "must be a finite number > 0, got -1.0"),
    ),
    (
        lambda **named: Disagreement(1.0, 5, 10, 1.0).delta(**{"displacement": 0.1, "epsilon": 1.0} | named),
        ("displacement", 1.0, "must be a number strictly between -1 and 1, got 1.0"),
        ("epsilon", -1.0, "must be a finite number >= 0, got -1.0"),
    ),
    (
        lambda residual_bound: tilted_delta(0.1, 1.0, residual_bound, 1.0),
        ("residual_bound", 0.0, "must be a finite number > 0, got 0.0"),
    ),
    (
        lambda degrees_of_freedom: divergence(
            ScaledChiSquare(0.0, 1.0, 3), ScaledChiSquare(0.0, 1.0, degrees_of_freedom), 1.0
        ),
        ("degrees_of_freedom", 4, "must be those of the first law, 3, got 4"),
    ),
    (
        Plane,
        ("rows", 0, "must be a whole number >= 1, got 0"),
        ("radius", 0.0, "must be a finite number > 0, got 0.0"),
        ("seed", -1, "must be a whole number >= 0, got -1"),
    ),
    (
        lambda **named: Spectrum(**{"dimension": 5, "degrees_of_freedom": 9, "delta": 0.1} | named),
        ("degrees_of_freedom", 5, "must be more than the dimension 5, got 5"),
        ("delta", 1.0, "must be a number strictly between 0 and 1, got 1.0"),
    ),
    (lambda penalty: box_lasso(np.eye(2), np.ones(2), penalty), ("penalty", -1.0, "must be")),
    (
        lambda radius: least_in_ball(np.eye(2), np.ones(2), radius),
        ("radius", 0.0, "must be a finite number > 0, got 0"),
    ),
    *(
        (make, ("epsilon", 0, "must be a finite number > 0, got 0"))
        for make in (quadratic.bend_and_tilt, quadratic.adassp, quadratic.objective)
    ),
    (
        lambda **named: figure1.cell(**{"panel": "inexact", "proof": "tight", "epsilon": 1.0, "delta": 1e-5} | named),
        ("proof", "tight", "must be one of 'published', 'sharpened', got 'tight'"),
        ("panel", "left", "must be one of 'exact', 'inexact'"),
    ),
    (lambda panel: list(votes.costs(panel, 1.0)), ("panel", "c", "must be one of 'a', 'b', got 'c'")),
    (votes.votes, ("source", "all", "must be one of 'high', 'mid', 'low', 'digits', got 'all'")),
    (
        regressions.load_table,
        ("name", "boston", "must be one of 'synthetic-r', 'diabetes', 'california', got 'boston'"),
    ),
    (
        lambda accounting: best_of_runs(
            Posterior(np.eye(3), np.ones(3)), (np.eye(3), np.ones(3)), 1.0, 1e-6, accounting, np.random.default_rng(0)
        ),
        ("accounting", "published", "must be one of 'tight', 'split', got 'published'"),
    ),
    (
        lambda **named: Setting(**{"population": "logistic", "n": 100, "d": 3, "epsilon": 1.0} | named),
        ("population", "adult", "must be one of 'logistic', 'absolute', 'hard'"),
        ("n", 1, "must be a whole number >= 2"),
        ("d", 0, "must be a whole number >= 1"),
        ("epsilon", 0.0, "must be a finite number > 0"),
        ("radius", -1.0, "must be a finite number > 0"),
    ),
    (
        lambda method: population_method(method, Setting("logistic", 200, 3, 2.0)),
        ("method", "zero", "must be one of 'sgd', 'objective'"),
    ),
    (
        noise_ratios.Plan,
        ("epsilon", 0.0, "must be"),
        ("delta", 1.0, "must be"),
        ("bound", "kifer2012", "must be one of 'logistic'"),
        ("rows", 0, "must be"),
        ("features", -1, "must be"),
        ("columns", "odd", "must be one of"),
        ("draws", 21, "must be a whole number from 1 to 20, got 21"),
        ("seed", -1, "must be"),
        ("intercept_scaling", -0.1, "must be"),
    ),
    (
        lambda **named: solver_costs.Case(**{"n": 10} | named).objective(),
        ("n", 0, "must be a whole number >= 1, got 0"),
        ("lam", 0.0, "must be a finite number > 0, got 0.0"),
        ("sigma", -1.0, "must be"),
        ("columns", "purple", "must be one of 'redundant', 'diverse', got 'purple'"),
    ),
    (lambda epsilon: noise_ratios.Recipe("rdp", 1.3).mechanism(epsilon, 1e-5, 1.0), ("epsilon", -1.0, "must be")),
    (
        lambda noise_ratio: noise_ratios.Recipe("rdp", noise_ratio).mechanism(1.0, 1e-5, 1.0),
        ("noise_ratio", 0.9, "must be"),
    ),
    (
        subsampling.Plan,
        ("dataset", "iris", "must be one of"),
        ("epsilon", 0.0, "must be"),
        ("delta", 1.0, "must be"),
        ("sizes", (), "must be increasing"),
        ("sizes", (500, 100), "must be increasing"),
        ("sizes", (0,), "must be"),
        ("sizes", (10**6,), "must be whole numbers from 1 to 200000"),
        ("draws", 21, "must be a whole number from 1 to 20"),
        ("seed", -1, "must be"),
    ),
    (
        tuning_runs.Settings,
        ("epsilon", 0.0, "must be a finite number > 0, got 0.0"),
        ("delta", 1.0, "must be a number strictly between 0 and 1"),
        ("learning_rates", (), "must hold at least one number > 0, got none"),
        ("learning_rates", (0.1, -1.0), "must be a finite number > 0, got -1.0"),
        ("judges", 0, "must be a whole number >= 1, got 0"),
        ("draws", 51, "must be a whole number from 1 to 50, got 51"),
        ("accountant", "prv", "must be one of 'pld', 'rdp'"),
        ("seed", -1, "must be a whole number >= 0, got -1"),
    ),
    (
        Settings,
        ("epsilon", 0.0, r"must be .* got 0\.0"),
        ("epsilon", float("nan"), "must be .* got nan"),
        ("delta", 1.0, r"must be .* got 1\.0"),
        ("bound", "kifer2012", "must be one of 'logistic', 'monotone', 'two-signed', 'glm', got 'kifer2012'"),
        ("repeats", 0, "must be a whole number >= 1, got 0"),
        ("repeats", MAX_REPEATS + 1, "must be a whole number from 1 to 50, got 51"),
        ("intercept_scaling", -1.0, r"must be .* got -1\.0"),
        ("seed", -1, "must be a whole number >= 0, got -1"),
        ("methods", (), r"must be one or more names, each once, got \(\)"),
        ("methods", (TIGHT, TIGHT), "must be one or more names, each once"),
        ("methods", ("magic",), "must be one of 'non-private', .* got 'magic'"),
        ("batch_size", 0, "must be a whole number >= 1, got 0"),
        ("epochs", 2.5, r"must be a whole number >= 1, got 2\.5"),
        ("large_batch_size", 0, "must be a whole number >= 1, got 0"),
        ("fine_learning_rates", (), "must hold at least one number > 0, got none"),
        ("learning_rates", (), "must hold at least one number > 0, got none"),
        ("learning_rates", (0.1, -0.1), r"must be a finite number > 0, got -0\.1"),
        ("mean_runs", 0.0, r"must be a finite number > 0, got 0\.0"),
        ("solver", "magic", "must be one of"),
    ),
    (
        Parameters,
        ("delta", 1.0, "must be a number strictly between 0 and 1"),
        ("intercept_scaling", 0.0, "must be"),
        ("epochs", 0, "must be a whole number >= 1, got 0"),
        ("row_norm", "none", "must be one of"),
        ("optimizer", "rmsprop", "must be one of"),
        ("learning_rates", (), "must hold at least one"),
        ("fine_learning_rates", (0.1, -1.0), "must be a finite number > 0, got -1.0"),
    ),
    (
        lambda **named: sweep(**{"dataset": "breast-cancer"} | named),
        ("dataset", "mnist", "must be one of"),
        ("methods", ("tight", "ridge"), "must be one of .*, got 'ridge'"),
        ("epsilons", (1.0, 0.0), "must be a finite number > 0, got 0.0"),
        ("trials", 0, "must be a whole number >= 1, got 0"),
    ),
    (
        lambda **named: mean_interval(**{"values": [1.0, 2.0]} | named),
        ("values", [], "must hold at least one number"),
        ("level", 1.0, r"must be .* got 1\.0"),
    ),
    (
        lambda **named: wilson_interval(**{"share": 0.5, "count": 5} | named),
        ("share", 1.1, "must be"),
        ("share", float("nan"), "must be"),
        ("count", 0, "must be"),
        ("level", 1.0, "must be"),
    ),
]


@pytest.mark.parametrize(
    ("call", "name", "value", "says"), [(call, *case) for call, *cases in RANGES for case in cases]
)
def test_what_is_out_of_range_is_refused_by_its_name(call, name, value, says):
    with pytest.raises(ValueError, match=f"^{name} {says}"):
        call(**{name: value})
