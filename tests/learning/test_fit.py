import inspect

import numpy as np
import pytest

from objpert_core.accounting import DPSGD, Gaussian, ObjectivePerturbation, calibrate_objective_perturbation
from objpert_core.accounting.terms import Terms
from objpert_core.exceptions import ConvergenceError
from objpert_core.learning import (
    LOSSES,
    ClippedLoss,
    Fit,
    FitOptions,
    LogisticLoss,
    PrivacyCertificate,
    SquaredLoss,
    perturb_and_solve,
    solve_and_perturb,
)
from objpert_core.learning.dp_sgd.budget import run_of
from objpert_core.learning.dp_sgd.training import TrainingOptions, train_candidates
from tests.learning.test_objective_perturbation import DELTA, calibrated, data


def keywords(function):
    kinds = inspect.signature(function).parameters.values()
    return {item.name for item in kinds if item.kind is item.KEYWORD_ONLY}


def test_the_options_are_the_keyword_arguments_of_what_takes_them():
    assert set(FitOptions.__annotations__) == keywords(Fit.__init__) - {"source"}  # for a fit that is a part of another
    assert set(TrainingOptions.__annotations__) == keywords(train_candidates) - {"callback"}


@pytest.mark.parametrize("fit", [perturb_and_solve, solve_and_perturb])
def test_an_option_that_there_is_not_is_refused(fit):
    needed = {"mechanism": calibrated()} if fit is perturb_and_solve else {"epsilon": 1.0}
    with pytest.raises(TypeError, match="unexpected keyword argument 'tolerance'"):
        fit(*data(), **needed, delta=DELTA, tolerance=0.1)


def test_both_fits_share_defaults_rows_and_solver():
    X, t = data()
    explicit = {"row_norm": "normalize", "intercept_scaling": 0.3, "solver": "newton", "max_iter": 1000}
    for fit in (
        lambda **options: perturb_and_solve(X, t, calibrated(), delta=DELTA, **options),
        lambda **options: solve_and_perturb(X, t, epsilon=1.0, delta=DELTA, **options),
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
        perturb_and_solve(*data(), mechanism, delta=DELTA)
    assert str(raised.value).endswith(repr(mechanism))
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("loss", [ClippedLoss(SquaredLoss(), 1.0), type("Own", (LogisticLoss,), {})()])
def test_a_loss_that_no_certificate_could_name_is_refused(loss):
    with pytest.raises(ValueError, match=r"loss must (not be clipped|be one of)"):
        perturb_and_solve(*data(), calibrated(), delta=DELTA, loss=loss)
    assert type(loss) not in LOSSES.values()


def test_only_a_mechanism_with_a_kind_of_certificate_can_be_described():
    with pytest.raises(ValueError, match=r"mechanism must be one of ApproximateMinima, .*got Gaussian"):
        PrivacyCertificate.describe(Gaussian(1.0))
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
