"""Every estimator keeps the contract; `contract` says what that is."""

import dataclasses
import inspect
import math
import re

import pytest
from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import parametrize_with_checks

import objpert_core.estimators as est
from tests.estimators.contract import Case, certificates, parametrize_with_contract
from tests.estimators.contract.case import ABOVE_ZERO, COUNT, FROM_ZERO, NEIGHBOURS, assert_unfitted, names_of

LOGISTIC = {
    "bound": ("one of 'logistic', 'monotone', 'two-signed', 'glm', 'kifer2012', 'non-glm'", ("tight", None)),
    "lam": (FROM_ZERO, (-1.0, math.inf)),
    "classes": ("None or two or more different labels", ([1, 1], [1], [])),
}
SVC = {
    "loss": ("one of 'squared-hinge', 'huberised-hinge'", ("hinge", "logistic")),
    "bound": ("one of 'monotone', 'two-signed', 'glm', 'non-glm'", ("logistic",)),
    "hinge_width": (ABOVE_ZERO, (0.0, math.nan)),
}
RANGE_OF_TARGETS = ("None or a pair (low, high)", (1.0, "0 to 1", (0.0,), (0.0, 1.0, 2.0)))
REGRESSOR = {
    "loss": ("one of 'squared', 'huber'", ("absolute", "squared-hinge")),
    "bound": ("one of 'glm', 'two-signed', 'non-glm'", ("monotone", "logistic")),
    "huber_threshold": (ABOVE_ZERO, (-1.0, 0.0)),
    "target_range": RANGE_OF_TARGETS,
}
TABLE = {
    "columns": (
        "None or a dict of columns and Number, Categories or Date",
        ([0], {0: (0, 1)}, {"a": None}),
    ),
    "missing_words": ("a list of texts", ("-", 1)),
    "pieces": ("a number from 3 to 256", (2.0, 1000.0)),
}
ADDITIVE = TABLE | {
    "classes": LOGISTIC["classes"],
    "lam": (FROM_ZERO, (-1.0,)),
    "bound": ("one of 'logistic', 'monotone', 'two-signed', 'glm'", ("non-glm",)),
}
ADDITIVE_REGRESSOR = TABLE | {
    "bound": ("one of 'two-signed', 'glm'", ("logistic",)),
    "target_range": RANGE_OF_TARGETS,
}
OUTPUT = {
    "lam": (ABOVE_ZERO, (0.0, -1.0)),
    "adjacency": ("one of 'add/remove', 'replace', 'add/remove one row', 'replace one row'", ("swap", None)),
}
DPSGD = {
    "accountant": ("one of 'pld', 'rdp'", ("prv", None)),
    "learning_rate": (ABOVE_ZERO, (-0.1, 0.0)),
    "batch_size": (COUNT, (0, 1.5)),
    "epochs": (COUNT, (0, 1.5)),
    "optimizer": ("one of 'adam', 'sgd'", ("lbfgs",)),
    "mean_runs": (ABOVE_ZERO, (-2.0, 0.0)),
    "learning_rates": ("one or more different numbers > 0", ([], [0.1, 0.1])),
    "tuning": ("one of 'honest', 'dishonest'", ("maybe",)),
    "validation_fraction": ("a number strictly between 0 and 1", (1.0, 0.0)),
    "sampling": ("one of 'poisson', 'allocation'", ("shuffle", None)),
}
NOISY = {
    "radius": (ABOVE_ZERO, (0.0, -1.0, math.inf)),
    "schedule": ("one of 'tight', 'bassily2019'", ("published", None)),
    "sampling": ("one of 'with replacement', 'without replacement', 'poisson', 'full batch'", ("shuffled",)),
    "loss": ("one of 'logistic', 'hinge', 'huberised-hinge'", ("squared-hinge", None)),
    "step_scale": (ABOVE_ZERO, (0.0, math.nan)),
    "strict": ("True or False", (None, 1)),
    "hinge_width": (ABOVE_ZERO, (0.0,)),
}
OF_RESIDUALS = {
    "quantile": ("a number strictly between 0 and 1", (0.0, 1.0)),
    "insensitive_width": (FROM_ZERO, (-0.1,)),
    "huber_threshold": (ABOVE_ZERO, (0.0,)),
    "target_range": RANGE_OF_TARGETS,
}
NOISY_REGRESSOR = (
    NOISY | OF_RESIDUALS | {"loss": ("one of 'absolute', 'pinball', 'epsilon-insensitive', 'huber'", ("squared", None))}
)
SCO = {name: NOISY[name] for name in ("radius", "schedule", "loss", "strict", "hinge_width")}
SCO |= {"lam": (FROM_ZERO, (-1.0, math.inf))}
SCO_LOSSES = "one of 'absolute', 'pinball', 'epsilon-insensitive', 'huber', 'squared'"
SCO_REGRESSOR = SCO | OF_RESIDUALS | {"loss": (SCO_LOSSES, ("hinge", None))}
QOP = {
    "alpha": (FROM_ZERO, (-1.0, math.inf)),
    "anchor": ("None or an array of numbers of size at most 1e+50, one a feature", (math.nan, [[1.0]], "zero", 1.0)),
    "target_range": RANGE_OF_TARGETS,
    "bounds": (
        "None or two numbers, or arrays of numbers, the first of them nowhere above the second",
        ((1.0, 0.0), 1.0, (0.0, math.nan), (-math.inf,), ([1.0, 2.0], [0.0])),
    ),
    "degrees_of_freedom": (COUNT, (0, 1.5)),
    "tilt_share": ("a number strictly between 0 and 1", (0.0, 1.0)),
    "solver": ("one of 'coordinate-descent', 'davis-yin'", ("newton", None)),
}
BOUNDED = {
    "target_range": RANGE_OF_TARGETS,
    "accounting": ("one of 'tight', 'published'", ("exact", None)),
}
ONE_SAMPLE = BOUNDED | {"accounting": ("one of 'tight', 'split', 'published'", ("exact", None))}
BEST_SAMPLE = ONE_SAMPLE | {
    "lams": (ABOVE_ZERO, (0.0, math.inf)),
    "validation": ("None or a pair of rows and targets", (1.0, ([[1.0]],))),
    "mean_runs": ("a finite number >= 1", (0.5, math.nan)),
    "fallback": ("True or False", (None, 1)),
}
PHASED = {name: NOISY[name] for name in ("radius", "loss", "hinge_width")}
SPLIT = {"accounting": "split", "lams": [30.0]}
WITH_CORNERS = {"loss": "hinge", "radius": 3.0, "row_norm": "clip"}
STEPS = {"epochs": 2, "batch_size": 100, "classes": [0, 1]}
HONEST = {"learning_rates": [0.03, 0.1], "mean_runs": 20.0, "clip": 0.5}
DISHONEST = {"learning_rates": [0.03, 0.1], "tuning": "dishonest"}
THREE_CLASSES = {"classes": [0, 1, 2], "lam": 200.0, "margin": 1.0}
HUBERISED = {"loss": "huberised-hinge", "clip": None, "solver": "lbfgs"}
FULL = {"sampling": "full batch", "radius": 3.0, "step_scale": 2.0}
HUBER = {"loss": "huber", "clip": None, "target_range": (1.0, 5.0)}

CASES = [
    Case("logistic regression", est.ObjPertLogisticRegression, ranges=LOGISTIC, weighs=True),
    Case(
        "three classes",
        est.ObjPertLogisticRegression,
        THREE_CLASSES,
        LOGISTIC,
        labels=(0, 1, 2),
        thorough=True,
        weighs=True,
    ),
    Case("published", est.ObjPertLogisticRegression.published, ranges=LOGISTIC, slow=True, weighs=True),
    Case("kifer2012", est.ObjPertLogisticRegression.kifer2012, ranges=LOGISTIC, slow=True, composes=False, weighs=True),
    Case("svc", est.ObjPertSVC, ranges=SVC, reads_rows=False, weighs=True),
    Case("huberised svc", est.ObjPertSVC, parameters=HUBERISED, ranges=SVC, slow=True, reads_rows=False, weighs=True),
    Case("regressor", est.ObjPertRegressor, ranges=REGRESSOR, reads_rows=False, weighs=True),
    Case(
        "huber regressor",
        est.ObjPertRegressor,
        parameters=HUBER,
        ranges=REGRESSOR,
        slow=True,
        reads_rows=False,
        weighs=True,
    ),
    Case("additive", est.ObjPertAdditiveClassifier, ranges=ADDITIVE, weighs=True, table=True),
    Case(
        "three additive classes",
        est.ObjPertAdditiveClassifier,
        {"classes": [0, 1, 2]},
        ADDITIVE,
        labels=(0, 1, 2),
        slow=True,
        weighs=True,
        table=True,
    ),
    Case("additive regressor", est.ObjPertAdditiveRegressor, ranges=ADDITIVE_REGRESSOR, weighs=True, table=True),
    Case("output perturbation", est.OutputPerturbationLogisticRegression, {"margin": 0.0}, ranges=OUTPUT),
    Case("replaced rows", est.OutputPerturbationLogisticRegression, {"adjacency": "replace"}, ranges=OUTPUT, slow=True),
    Case("dp-sgd", est.DPSGDLogisticRegression, parameters=STEPS, ranges=DPSGD, first_step=1),
    Case("honest", est.DPSGDLogisticRegression, parameters=STEPS | HONEST, ranges=DPSGD, first_step=1, slow=True),
    # λ ≥ 2σ²: accounting is a closed form
    Case("sco", est.ObjPertSCOClassifier, parameters={"lam": 200.0, "radius": 0.2}, ranges=SCO),
    Case("sco regressor", est.ObjPertSCORegressor, {"lam": 5.0}, SCO_REGRESSOR, slow=True, reads_rows=False),
    Case("noisy sgd", est.NoisySGDClassifier, ranges=NOISY, first_step=1, slow=True),
    Case(
        "noisy hinge",
        est.NoisySGDClassifier,
        parameters=FULL | {"loss": "hinge"},
        ranges=NOISY,
        first_step=1,
        slow=True,
    ),
    Case("phased", est.PhasedERMClassifier, ranges=PHASED),
    Case("phased hinge", est.PhasedERMClassifier, parameters=WITH_CORNERS, ranges=PHASED, slow=True),
    Case("noisy regressor", est.NoisySGDRegressor, ranges=NOISY_REGRESSOR, first_step=1, slow=True),
    Case("qop lasso", est.QOPLasso, parameters={"adjacency": "add/remove one row"}, ranges=QOP, reads_rows=False),
    Case("ada ssp", est.AdaSSPRegressor, ranges=BOUNDED, reads_rows=False),
    Case("ada ops", est.AdaOPSRegressor, ranges=ONE_SAMPLE, reads_rows=False, slow=True),
    Case("ops ptr", est.OPSPTRRegressor, ranges=BEST_SAMPLE, reads_rows=False, slow=True),
    Case("ops ptr, split", est.OPSPTRRegressor, SPLIT, BEST_SAMPLE, reads_rows=False, slow=True),
    Case("dishonest", est.DPSGDLogisticRegression, parameters=STEPS | DISHONEST, ranges=DPSGD, first_step=1, slow=True),
]


@parametrize_with_contract(CASES)
def test_the_contract(case, promise):
    promise(case)


def test_every_estimator_is_under_contract():
    exported = filter(inspect.isclass, (getattr(est, name) for name in est.__all__))
    models = {kind for kind in exported if issubclass(kind, BaseEstimator)} - {est.PublicRangeScaler, est.PrivateSearch}
    assert models == {type(case.new()) for case in CASES}
    assert not [kind for kind in models if "%(" in inspect.getdoc(kind)]  # every shared paragraph is in its place


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_parameter_and_every_result_is_described(case):
    model = case.fitted
    text = inspect.getdoc(type(model))
    for name in [*names_of(model), *(name for name in vars(model) if name.endswith("_"))]:
        assert re.search(rf"^ *(\w+, )*{name}(, \w+)* : ", text, re.MULTILINE), f"{name} is not described"


BY_RENYI = {"bound": "non-glm", "accountant": "rdp", "epsilon": 8.0, "noise_ratio": 4.0}
OTHER_PROMISES = [
    Case("sco, hinge", est.ObjPertSCOClassifier, {"loss": "hinge", "solver": "svrg"}),
    Case("sco, rounded hinge", est.ObjPertSCOClassifier, {"loss": "huberised-hinge", "hinge_width": 1.0, "lam": 0.0}),
    Case("svc, rdp", est.ObjPertSVC, {"accountant": "rdp", "noise_ratio": 1.4}),
    Case("svc, glm", est.ObjPertSVC, {"bound": "glm", "fit_intercept": False}),
    Case("svc, non-glm", est.ObjPertSVC, BY_RENYI),
    Case("regressor, rdp", est.ObjPertRegressor, {"accountant": "rdp", "noise_ratio": 1.4, "row_norm": "normalize"}),
    Case("regressor, non-glm", est.ObjPertRegressor, BY_RENYI),
    Case("replaced rows", est.OutputPerturbationLogisticRegression, {"adjacency": "replace", "random_state": 3}),
    Case("loose solver", est.OutputPerturbationLogisticRegression, {"lam": 0.1, "tau": 1.0}),
]


@pytest.mark.slow
@pytest.mark.parametrize("case", OTHER_PROMISES, ids=lambda case: case.name)
def test_certificates_of_other_set_ups(case):
    certificates.the_certificate_states_what_was_asked_and_verifies(case)
    certificates.the_certificate_survives_json_and_its_public_part_hides_the_diagnostics(case)


NO_CLIP = "clip must be a finite number > 0 for the loss"


CONTRADICTIONS = [
    (
        est.ObjPertLogisticRegression(advanced={"bound": "kifer2012", "accountant": "rdp"}),
        "'kifer2012' has a profile only",
    ),
    (est.ObjPertSCORegressor(loss="squared"), f"{NO_CLIP} 'squared', whose slope has no bound"),
    (est.ObjPertSCOClassifier(loss="hinge", lam=0.0), "lam must be a number > 0 for a loss with corners"),
    (est.ObjPertLogisticRegression(advanced={"bound": "non-glm"}), "'non-glm' .*needs accountant='rdp'"),
    (est.ObjPertSVC(advanced={"bound": "non-glm"}), "'non-glm' .*needs accountant='rdp'"),
    (est.ObjPertSVC(clip=None), f"{NO_CLIP} 'squared-hinge', whose slope has no bound"),
    (est.ObjPertRegressor(advanced={"bound": "non-glm"}), "'non-glm' .*needs accountant='rdp'"),
    (est.ObjPertRegressor(clip=None), f"{NO_CLIP} 'squared', whose slope has no bound"),
]


@pytest.mark.parametrize(("model", "message"), CONTRADICTIONS, ids=str)
def test_parameters_that_contradict_each_other_are_refused(model, message):
    with pytest.raises(ValueError, match=message):
        model.fit(*CASES[0].data)
    assert_unfitted(model)


def test_more_noise_than_promised_verifies():
    honest = est.OutputPerturbationLogisticRegression(lam=5.0).fit(*CASES[0].data).privacy_
    assert dataclasses.replace(honest, sigma=2 * honest.sigma, lam=6.0).verify()


ONE, REPLACED, THREE = NEIGHBOURS[:3]


OF_NEIGHBOURS = [
    *((name, NEIGHBOURS) for name in ("output perturbation", "published", "dp-sgd")),
    ("dishonest", (ONE, THREE)),
    ("honest", (ONE, REPLACED)),
    ("kifer2012", (ONE, REPLACED)),
    ("svc", (ONE, REPLACED)),
    ("ada ssp", NEIGHBOURS),
    *((name, (ONE, REPLACED, THREE)) for name in ("sco", "noisy sgd", "ada ops")),
    ("ops ptr", (ONE, REPLACED)),
    pytest.param("qop lasso", (ONE, THREE), marks=pytest.mark.exhaustive),
    pytest.param("regressor", (ONE, REPLACED), marks=pytest.mark.exhaustive),
    pytest.param("logistic regression", (ONE, THREE), marks=pytest.mark.exhaustive),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "asked"), OF_NEIGHBOURS)
def test_neighbours_are_those_asked_for(name, asked):
    (case,) = [case for case in CASES if case.name == name]
    certificates.the_promise_is_about_the_neighbours_asked_for(case, asked)


def test_k_rows_of_one_person_cost_a_phased_fit_k_times_the_noise():
    (case,) = [case for case in CASES if case.name == "phased"]
    one, three = (case.fit(public_rows=300, rows_per_person=rows).privacy_ for rows in (1, 3))
    assert three.noise_multiplier == pytest.approx(3 * one.noise_multiplier, rel=1e-12)
    assert (three.adjacency, three.verify()) == ("replace up to 3 rows of one person", True)
    assert not dataclasses.replace(three, noise_multiplier=2.99 * one.noise_multiplier).verify()


def test_rows_read_off_the_data_stand_in_the_words_for_people_too():
    for adjacency, differ in (("add/remove", "{} left out of the sums"), ("replace", "that differ in {}")):
        model = est.OutputPerturbationLogisticRegression(rows_per_person=2, adjacency=adjacency)
        spent = model.fit(*CASES[0].data).privacy_
        differ = differ.format("up to 2 rows of one person")
        assert spent.adjacency == f"data sets of the same size m = 300, known to all, {differ}"
        assert spent.verify()


def test_both_spellings_of_neighbours_are_the_same_for_output_perturbation():
    for short, long in (("add/remove", "add/remove one row"), ("replace", "replace one row")):
        one, other = (
            est.OutputPerturbationLogisticRegression(adjacency=words, random_state=0).fit(*CASES[0].data)
            for words in (short, long)
        )
        assert one.privacy_ == other.privacy_
        assert one.privacy_.mechanism_adjacency == long


def test_k_rows_move_output_perturbation_by_k_gradients_and_the_solver_once():
    spent = est.OutputPerturbationLogisticRegression(
        lam=2.0, rows_per_person=4, adjacency="replace", advanced={"tau": 0.25}
    )
    spent = spent.fit(*CASES[0].data).privacy_
    assert spent.sensitivity == pytest.approx((8 * math.hypot(1, 0.3) + 0.5) / 2, rel=1e-12)


@pytest.mark.slow
def test_several_rows_of_one_person_are_refused_where_held_out_rows_choose():
    model = est.DPSGDLogisticRegression(**STEPS, **HONEST, rows_per_person=2)
    X, y = CASES[0].data
    with pytest.raises(ValueError, match="rows_per_person must be 1 for honest tuning without X_val"):
        model.fit(X, y)
    spent = model.set_params(accountant="rdp", public_rows=300).fit(X, y, X_val=X, y_val=y).privacy_
    assert (spent.adjacency, spent.choice_covered) == ("add/remove up to 2 rows of one person", True)
    assert spent.verify()
    held_out = est.DPSGDLogisticRegression(**STEPS, **HONEST, accountant="rdp").fit(X, y).privacy_
    assert not dataclasses.replace(
        held_out,
        rows_per_person=2,
        adjacency="data sets of the same size m = 300, known to all, up to 2 rows of one person left out of the sums",
        noise_multiplier=1e6,
    ).verify()


ignoring_budgets = pytest.mark.filterwarnings("ignore::objpert_core.exceptions.PrivacyBudgetWarning")


@pytest.mark.thorough
@parametrize_with_checks(
    [
        est.PublicRangeScaler(low=-3.0, high=3.0),
        est.ObjPertLogisticRegression(),
        est.ObjPertSVC(),
        est.ObjPertRegressor(target_range=(1.0, 5.0)),
        est.OutputPerturbationLogisticRegression(epsilon=8.0),
        est.QOPLasso(adjacency="add/remove one row", alpha=0.1),
    ]
)
@ignoring_budgets
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(
    [
        est.ObjPertLogisticRegression(advanced={"solver": "lbfgs", "row_norm": "clip"}),
        est.ObjPertSVC(
            loss="huberised-hinge", clip=None, fit_intercept=False, advanced={"solver": "lbfgs", "row_norm": "clip"}
        ),
        est.ObjPertRegressor(
            loss="huber", clip=None, fit_intercept=False, advanced={"solver": "lbfgs", "row_norm": "normalize"}
        ),
        est.ObjPertSCORegressor(lam=5.0, solver="lbfgs", row_norm="normalize"),
        est.OutputPerturbationLogisticRegression(
            adjacency="replace", fit_intercept=False, lam=5.0, advanced={"row_norm": "clip"}
        ),
        est.DPSGDLogisticRegression(optimizer="sgd", learning_rate=3.0, row_norm="clip", fit_intercept=False),
        est.DPSGDLogisticRegression(learning_rates=[0.03, 0.1], mean_runs=4.0, random_state=0),
        est.NoisySGDClassifier(epsilon=8.0, radius=8.0, step_scale=4.0, sampling="full batch"),
        est.NoisySGDRegressor(loss="huber", target_range=(1.0, 5.0), public_rows=100),
        est.ObjPertSCOClassifier(lam=200.0),
        est.DPSGDLogisticRegression(),
        est.PhasedERMClassifier(epsilon=50.0, radius=20.0),
        est.QOPLasso(),
        est.QOPLasso(adjacency="add/remove one row", fit_intercept=True, row_norm="normalize", solver="davis-yin"),
        est.AdaSSPRegressor(),
        est.AdaOPSRegressor(fit_intercept=True),
        est.OPSPTRRegressor(row_norm="normalize"),
    ]
)
@ignoring_budgets
def test_scikit_learns_own_checks_of_other_set_ups(estimator, check):
    check(estimator)


@pytest.mark.exhaustive
@parametrize_with_checks(
    [
        est.ObjPertLogisticRegression(fit_intercept=False, advanced={"solver": "newton-cg"}),
        est.ObjPertLogisticRegression.published(),
        est.DPSGDLogisticRegression(learning_rates=[0.03, 0.1], tuning="dishonest"),
    ]
)
@ignoring_budgets
def test_scikit_learns_own_checks_of_set_ups_whose_classes_have_others(estimator, check):
    check(estimator)
