"""A single fit of many numbers takes the solver of several draws first; what it gives is judged as any solution is."""

import numpy as np
import pytest

from objpert_core.accounting import calibrate_objective_perturbation
from objpert_core.exceptions import ConvergenceError
from objpert_core.learning import fit as fits
from objpert_core.learning import perturb_and_solve

MECHANISM = calibrate_objective_perturbation(1.0, 1e-5, lipschitz=1.044031, tau=1e-6, lam=1.0)


@pytest.fixture
def rows(monkeypatch):
    monkeypatch.setattr(fits, "_MUCH", 1)
    generator = np.random.default_rng(0)
    X = generator.standard_normal((400, 6))
    return X, np.where(X @ np.arange(6.0) > 1, 1.0, -1.0)


def released(rows, **options):
    return perturb_and_solve(*rows, MECHANISM, delta=1e-5, epsilon=1.0, random_state=0, **options)


def test_the_release_is_the_usual_one(rows, monkeypatch):
    rough = released(rows)
    assert rough.certificate.verify()
    assert rough.certificate.gradient_norm <= MECHANISM.tau
    monkeypatch.setattr(fits, "_MUCH", 10**9)
    usual = released(rows)
    apart = np.linalg.norm(rough.theta - usual.theta)
    assert 0 < apart <= 2 * MECHANISM.tau / MECHANISM.objective.lam + rough.certificate.lattice * 7


def test_where_it_does_not_get_there_the_solver_that_was_asked_for_goes_on(rows, monkeypatch):
    calls = []

    def far(objectives, **options):
        calls.append(options["tau"])
        found = fits.solve(objectives[0], tau=1e3, solver="newton", max_iter=1)
        return [found]

    monkeypatch.setattr(fits, "solve_together", far)
    assert released(rows).certificate.gradient_norm <= MECHANISM.tau
    assert calls == [MECHANISM.tau / 2]


@pytest.mark.parametrize("solver", ["lbfgs", "newton-cg", "newton-cholesky"])
def test_another_solver_that_was_asked_for_is_taken(rows, monkeypatch, solver):
    monkeypatch.setattr(fits, "solve_together", lambda *_, **__: pytest.fail("another solver was taken"))
    assert released(rows, solver=solver).certificate.verify()


def test_too_few_iterations_release_nothing(rows):
    with pytest.raises(ConvergenceError):
        released(rows, max_iter=1)
