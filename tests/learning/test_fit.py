import copy
import inspect
import pickle
from pathlib import Path

import numpy as np
import pytest

import objpert_core.learning as learn
from objpert_core import datasets
from objpert_core.accounting import DPSGD, Gaussian, ObjectivePerturbation, calibrate_objective_perturbation
from objpert_core.accounting.terms import Terms
from objpert_core.estimators import ObjPertLogisticRegression
from objpert_core.exceptions import ConvergenceError, ReleaseRefusedError
from objpert_core.learning import PerturbedObjective, Refused, Release, Rows, minimum, perturb_and_solve
from objpert_core.learning.dp_sgd.budget import run_of
from objpert_core.learning.dp_sgd.training import TrainingOptions, train_candidates
from tests.learning.test_every_certificate import fitted
from tests.learning.test_objective_perturbation import DELTA, calibrated, data


def keywords(function):
    kinds = inspect.signature(function).parameters.values()
    return {item.name for item in kinds if item.kind is item.KEYWORD_ONLY}


def test_the_options_are_the_keyword_arguments_of_what_takes_them():
    of_a_whole_fit = keywords(learn.Fit.__init__) - {"source", "weights"}
    assert set(learn.FitOptions.__annotations__) == of_a_whole_fit
    assert set(TrainingOptions.__annotations__) == keywords(train_candidates) - {"callback"}


@pytest.mark.parametrize("fit", [learn.perturb_and_solve, learn.solve_and_perturb])
def test_an_option_that_there_is_not_is_refused(fit):
    needed = {"mechanism": calibrated()} if fit is learn.perturb_and_solve else {"epsilon": 1.0}
    with pytest.raises(TypeError, match="unexpected keyword argument 'tolerance'"):
        fit(*data(), **needed, delta=DELTA, tolerance=0.1)


def test_both_fits_share_defaults_rows_and_solver():
    X, t = data()
    explicit = {"row_norm": "normalize", "intercept_scaling": 0.3, "solver": "newton", "max_iter": 1000}
    for fit in (
        lambda **options: learn.perturb_and_solve(X, t, calibrated(), delta=DELTA, **options),
        lambda **options: learn.solve_and_perturb(X, t, epsilon=1.0, delta=DELTA, **options),
    ):
        plain, told = fit(random_state=0), fit(random_state=0, **explicit)
        np.testing.assert_array_equal(plain.theta, told.theta)
        assert plain.certificate == told.certificate
        heard = []
        fit(random_state=0, callback=lambda step, norm, heard=heard: heard.append(norm))
        assert tuple(heard) == plain.gradient_norms
        with pytest.raises(ConvergenceError, match="raise max_iter above 1 or try another solver"):
            fit(max_iter=1)


@pytest.mark.parametrize("mechanism", [Gaussian(1.0), DPSGD(1.0, 0.1, 10), ObjectivePerturbation(5.0, 2.0), "none"])
def test_what_does_not_perturb_an_objective_is_refused_in_a_sentence(mechanism):
    with pytest.raises(ValueError, match=r"^mechanism must be an ApproximateMinima, or another that .* got ") as raised:
        learn.perturb_and_solve(*data(), mechanism, delta=DELTA)
    assert str(raised.value).endswith(repr(mechanism))
    assert "\n" not in str(raised.value)


UNNAMED = [
    (learn.ClippedLoss(learn.SquaredLoss(), 1.0), r"be clipped, got .*give loss=SquaredLoss\(\) and .* as clip="),
    (type("Own", (learn.LogisticLoss,), {})(), "be one of"),
]


@pytest.mark.parametrize(("loss", "said"), UNNAMED)
def test_a_loss_that_no_certificate_could_name_is_refused(loss, said):
    with pytest.raises(ValueError, match=f"loss must (not )?{said}"):
        learn.perturb_and_solve(*data(), calibrated(), delta=DELTA, loss=loss)
    assert type(loss) not in learn.LOSSES.values()


def test_only_a_mechanism_with_a_kind_of_certificate_can_be_described():
    with pytest.raises(ValueError, match=r"mechanism must be one of ApproximateMinima, .*got Gaussian"):
        learn.PrivacyCertificate.describe(Gaussian(1.0))
    with pytest.raises(ValueError, match="mechanism must be a DPSGD, a PrivateSelection of one, or a RandomAllocation"):
        run_of(Gaussian(1.0))


@pytest.mark.slow
def test_a_certificate_states_no_less_than_what_is_proved():
    mechanism = calibrate_objective_perturbation(1.0, DELTA, tau=1e-6)
    assert Terms(1.0, DELTA).proved(mechanism) == 1.0
    assert Terms(2.0, DELTA).proved(mechanism) == 2.0
    assert Terms(None, DELTA).proved(mechanism) == mechanism.epsilon(DELTA)
    with pytest.raises(ValueError, match=r"epsilon must be at least .* got 0\.9"):
        Terms(0.9, DELTA).proved(mechanism)
    with pytest.raises(ValueError, match="epsilon must be at least"):
        Terms(1.0, DELTA, accountant="rdp").proved(mechanism)


# What comes of a fit


def test_an_outcome_says_whether_it_was_released_and_is_neither_true_nor_false():
    spent = fitted()
    release, refusal = Release(np.zeros(3), spent, (1.0, 0.0)), Refused(spent, "the noisy test said no")
    assert (release.released, release.required()) == (True, release)
    assert refusal.released is False
    with pytest.raises(ReleaseRefusedError, match="the noisy test said no") as caught:
        refusal.required()
    assert caught.value.certificate is spent
    assert not hasattr(refusal, "theta")
    for outcome in (release, refusal):
        with pytest.raises(TypeError, match=rf"a {type(outcome).__name__} is neither true nor false: ask \.released"):
            bool(outcome)


def test_a_refusal_keeps_its_certificate_in_another_process():
    refusal = ReleaseRefusedError("the noisy test said no", {"epsilon": 1.0})
    for same in (pickle.loads(pickle.dumps(refusal)), copy.deepcopy(refusal)):
        assert (str(same), same.certificate) == (str(refusal), refusal.certificate)


# Fits of many numbers


MECHANISM = calibrate_objective_perturbation(1.0, 1e-5, lipschitz=1.044031, tau=1e-6, lam=1.0)


@pytest.fixture
def rows(monkeypatch):
    monkeypatch.setattr(minimum, "_MUCH", 1)
    generator = np.random.default_rng(0)
    X = generator.standard_normal((400, 6))
    return X, np.where(X @ np.arange(6.0) > 1, 1.0, -1.0)


def released(rows, **options):
    return perturb_and_solve(*rows, MECHANISM, delta=1e-5, epsilon=1.0, random_state=0, **options)


def test_the_release_is_the_usual_one(rows, monkeypatch):
    rough = released(rows)
    assert rough.certificate.verify()
    assert rough.certificate.gradient_norm <= MECHANISM.tau
    monkeypatch.setattr(minimum, "_MUCH", 10**9)
    usual = released(rows)
    apart = np.linalg.norm(rough.theta - usual.theta)
    assert 0 < apart <= 2 * MECHANISM.tau / MECHANISM.objective.lam + rough.certificate.lattice * 7


@pytest.mark.parametrize("much", [1, 10**9], ids=["found here", "given"])
def test_what_noise_and_lattice_cost_is_added_to_the_bound_of_a_search(much, rows, monkeypatch):
    monkeypatch.setattr(minimum, "_MUCH", much)
    X, targets = rows
    objective = PerturbedObjective(Rows(X, "clip"), targets, 1.0, np.ones(6))
    (result,) = minimum.solve_together([objective], tau=1e-7, max_iter=100)
    given = None if much == 1 else minimum.Found(result, result.bound(objective))
    found = minimum.Search().found(objective, 1e-6, 1e-8, None, given)
    assert found.result.solver == "together"
    assert found.norm == pytest.approx(found.result.bound(objective) + 1e-8, rel=1e-12)


def test_where_it_does_not_get_there_the_solver_that_was_asked_for_goes_on(rows, monkeypatch):
    calls = []

    def far(objectives, **options):
        calls.append(options["tau"])
        found = minimum.solve(objectives[0], tau=1e3, solver="newton", max_iter=1)
        return [found]

    monkeypatch.setattr(minimum, "solve_together", far)
    assert released(rows).certificate.gradient_norm <= MECHANISM.tau
    assert calls == [MECHANISM.tau / 2]


@pytest.mark.parametrize("solver", ["lbfgs", "newton-cg", "newton-cholesky"])
def test_another_solver_that_was_asked_for_is_taken(rows, monkeypatch, solver):
    monkeypatch.setattr(minimum, "solve_together", lambda *_, **__: pytest.fail("another solver was taken"))
    assert released(rows, solver=solver).certificate.verify()


def test_too_few_iterations_release_nothing(rows):
    with pytest.raises(ConvergenceError):
        released(rows, max_iter=1)


# The accuracy that the defaults promise on the real Adult data


DATA = Path(__file__).parents[2].parent / "shared" / "data"


@pytest.fixture(scope="module")
def splits():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OBJPERT_DATA_DIR", str(DATA))
        return [datasets.load("adult", split_seed=seed) for seed in range(5)]


@pytest.mark.skipif(not (DATA / "adult" / "adult.data").exists(), reason=f"the Adult files are not in {DATA}")
@pytest.mark.slow
@pytest.mark.parametrize("draws", [2, pytest.param(10, marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize(("epsilon", "target"), [(0.1, 0.820), (1.0, 0.838), (8.0, 0.846)])
def test_defaults_reach_the_target_over_five_splits(splits, epsilon, target, draws):
    scores = []
    for split in splits:
        for noise_seed in range(draws):
            model = ObjPertLogisticRegression(epsilon, delta=1e-5, random_state=noise_seed)
            scores.append(model.fit(split.X_train, split.y_train).score(split.X_test, split.y_test))
    error = 100 * np.std(scores) / len(scores) ** 0.5
    print(f"ε = {epsilon:g}: {100 * np.mean(scores):.2f} % ± {error:.2f}")
    assert np.mean(scores) >= target
