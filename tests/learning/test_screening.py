"""Rows that cannot be used count as none, and a solver that fails is followed by one that does not (T23)."""

import math
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from objpert_core.accounting import calibrate_objective_perturbation
from objpert_core.exceptions import ConvergenceError
from objpert_core.learning import SquaredLoss, minimum, perturb_and_solve, solve_and_perturb
from objpert_core.learning.problem.losses import LOGISTIC
from objpert_core.learning.problem.objective import PerturbedObjective
from objpert_core.learning.problem.rows import Rows
from objpert_core.learning.screening import as_numbers, labels_as_targets, usable
from objpert_core.learning.solvers import solve_surely
from objpert_core.learning.solvers.first_order import sure_steps

RNG = np.random.default_rng(1)
X = RNG.normal(size=(120, 3))
TARGETS = np.where(X[:, 0] + 0.3 * RNG.normal(size=120) > 0, 1.0, -1.0)
BAD_ROWS = [[np.nan, 0, 0], [0, np.inf, 0], [0, 0, -np.inf], [1e150, 0, 0], [1e200, 1e200, 0]]
MECHANISM = calibrate_objective_perturbation(1.0, 1e-5, lipschitz=math.hypot(1, 0.3), tau=1e-6)


def release(rows, targets, **options):
    return perturb_and_solve(rows, targets, MECHANISM, delta=1e-5, epsilon=1.0, random_state=4, **options)


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array, sp.coo_array, np.asfortranarray])
def test_invalid_rows_contribute_nothing(convert):
    rows = np.vstack([X, BAD_ROWS, np.ones((2, 3))])
    targets = np.append(TARGETS, [1.0] * len(BAD_ROWS) + [np.nan, 3.0])
    alone = release(convert(X), TARGETS, on_error="release")
    together = release(convert(rows), targets, on_error="release")
    np.testing.assert_array_equal(alone.theta, together.theta)
    assert together.certificate == alone.certificate
    assert together.certificate.on_error == "release"
    assert together.certificate.verify()
    with pytest.raises(ValueError, match="finite numbers"):
        release(convert(rows), targets)


def test_a_row_at_the_limit_is_judged_by_itself():
    rng = np.random.default_rng(0)  # numpy sums 9,001 squares of one row otherwise than of each of two
    for _ in range(30):
        row = rng.normal(size=9001)
        row *= 1e150 / np.linalg.norm(row) * (1 + rng.integers(-4, 5) * 2.0**-53)
        for factor in (1.0, 1 - 2.0**-21):  # near what counts as usable, and near what `Rows` takes
            near = row * factor
            kept = [
                usable(rows, np.ones(rows.shape[0]), SquaredLoss())[0].shape[0]
                for rows in (near[None], np.array([near, near * np.nan]), sp.csr_array(near[None]))
            ]
            assert kept in ([0, 0, 0], [1, 1, 1])
            Rows(near[None][: kept[0]], "clip")


def test_where_all_rows_are_valid_nothing_changes_and_no_row_at_all_has_the_answer_for_no_data():
    raised = release(X, TARGETS)
    np.testing.assert_array_equal(raised.theta, release(X, TARGETS, on_error="release").theta)
    assert raised.certificate.on_error == "raise"
    nothing = release(np.array(BAD_ROWS, dtype=float), np.ones(len(BAD_ROWS)), on_error="release")
    none_given = release(np.zeros((0, 3)), np.zeros(0), on_error="release")
    np.testing.assert_array_equal(nothing.theta, none_given.theta)
    assert nothing.certificate.verify()
    data_free = perturb_and_solve(
        np.zeros((1, 3)), np.ones(1), MECHANISM, delta=1e-5, epsilon=1.0, random_state=4, row_norm="clip"
    )
    assert abs(nothing.theta - data_free.theta)[:3].max() < 1e-5  # a zero row speaks through the constant only
    with pytest.raises(ValueError, match="at least one row"):
        release(np.zeros((0, 3)), np.zeros(0))


def test_the_number_of_rows_that_a_rule_reads_is_the_number_given():
    kept, targets = usable(X, np.append(TARGETS[:-2] * 7, [np.nan, np.inf]), SquaredLoss())
    assert len(kept) == len(targets) == 118  # any finite target is one of a residual loss
    rows = np.vstack([X, np.full((80, 3), np.nan)])
    options = {"epsilon": 1.0, "delta": 1e-5, "random_state": 0, "on_error": "release"}
    certificate = solve_and_perturb(rows, np.append(TARGETS, np.ones(80)), **options).certificate
    assert certificate.public_rows == 200
    declared = solve_and_perturb(X, TARGETS, public_rows=200, **options).certificate
    assert declared.lam == certificate.lam


def test_a_solver_that_stops_early_is_followed_by_a_sure_one():
    with pytest.raises(ConvergenceError):
        release(X, TARGETS, solver="lbfgs", max_iter=1, row_norm="clip")
    found = release(X, TARGETS, solver="lbfgs", max_iter=1, row_norm="clip", on_error="release")
    np.testing.assert_allclose(found.theta, release(X, TARGETS, row_norm="clip").theta, atol=1e-5)
    assert found.certificate.verify()


def test_where_no_solver_arrives_the_answer_for_no_data_is_released(monkeypatch):
    nothing = release(np.zeros((0, 3)), np.zeros(0), on_error="release")
    bound = minimum.gradient_norm_bound
    monkeypatch.setattr(
        minimum, "gradient_norm_bound", lambda problem, theta: bound(problem, theta) + float(problem.n_rows)
    )
    found = release(X, TARGETS, on_error="release")
    np.testing.assert_array_equal(found.theta, nothing.theta)
    assert found.certificate.public() == nothing.certificate.public()
    assert found.certificate.verify()


def test_a_tau_that_no_arithmetic_reaches_is_refused_before_the_data_are_asked(monkeypatch):
    def asked(*_, **__):
        raise AssertionError("the data were asked")

    monkeypatch.setattr(minimum, "solve", asked)
    monkeypatch.setattr(minimum, "gradient_norm_bound", lambda problem, theta: 1.0)
    with pytest.raises(ConvergenceError, match="closed form"):
        release(X, TARGETS, on_error="release")


@pytest.mark.parametrize("spread", [0.0, 1.0, 3.0])
@pytest.mark.parametrize("lam", [1e-2, 1.0, 100.0])
def test_the_sure_solver_needs_no_more_steps_than_its_bound(lam, spread):
    rng = np.random.default_rng(3)
    rows = Rows(rng.normal(size=(200, 4)) * 10.0 ** -(spread * np.arange(4)), "clip", 0.3)
    targets = np.where(rng.random(200) < 0.5, 1.0, -1.0)
    problem = PerturbedObjective(rows, targets, lam, 5.0 * rng.normal(size=5), LOGISTIC)
    for tau in (1e-2, 1e-5, 1e-8):
        result = solve_surely(problem, tau=tau)
        start = result.gradient_norms[0]
        assert result.converged
        assert 1 < result.iterations <= sure_steps(problem.smoothness, lam, start, tau)
    # It is no idle bound: a tenth of the steps does not get there.
    assert result.gradient_norms[result.iterations // 10] > 1e-8


def test_entries_that_are_no_numbers_become_nan():
    class Odd:
        def __float__(self):
            raise RuntimeError("no")

    rows = [[1, "2.5"], [None, True], [pd.NA, Odd()], [10**400, 1j], ["x", np.float32(0.5)]]
    expected = [[1, 2.5], [np.nan, 1], [np.nan, np.nan], [np.nan, np.nan], [np.nan, 0.5]]
    np.testing.assert_array_equal(as_numbers(rows), expected)
    frame = pd.DataFrame(rows, columns=["a", "a"], index=range(7, 12), dtype=object)
    np.testing.assert_array_equal(as_numbers(frame).to_numpy(), expected)
    assert as_numbers(frame).columns.tolist() == ["a", "a"]
    np.testing.assert_array_equal(as_numbers(np.array([[1 + 0j, 2 + 1j]])), [[1.0, np.nan]])
    for same in (X, sp.csr_array(X), pd.DataFrame(X)):
        assert as_numbers(same) is same
    good = [[0.1, 2], [3, 4.5]]
    for bad in (["x", 1], [None, 1], [1j, 1]):  # one row does not change what becomes of another
        np.testing.assert_array_equal(as_numbers([*good, bad])[:2], as_numbers(good))


def test_masked_and_complex_entries_are_no_numbers_and_nothing_warns():
    hidden = np.ma.array([[1, 2], [3, 4]], mask=[[False, True], [False, False]])
    entries = [[np.ma.masked, 1], [np.complex128(1 + 2j), np.complex128(2)], [np.longdouble("1e4000"), np.array([1.0])]]
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        np.testing.assert_array_equal(as_numbers(hidden), [[1, np.nan], [3, 4]])
        np.testing.assert_array_equal(as_numbers(list(hidden)), [[1, np.nan], [3, 4]])
        found = as_numbers(entries)
        complex_rows = as_numbers(sp.coo_array(np.array([[1j, 0], [2, 1]])))
    np.testing.assert_array_equal(np.isfinite(found), [[False, True], [False, True], [False, False]])
    np.testing.assert_array_equal(complex_rows.toarray(), [[np.nan, 0], [2, 1]])


def test_labels_are_compared_one_by_one():
    class Odd:
        def __eq__(self, other):
            raise RuntimeError("no")

        __hash__ = None

    y = np.array([0, 1, 1.0, True, "1", None, np.nan, pd.NA, Odd(), [1]], dtype=object)
    np.testing.assert_array_equal(labels_as_targets(y, np.array([0, 1])), [-1, 1, 1, 1, *[np.nan] * 6])
    classless = type("Classless", (), {"__class__": property(lambda _: 1 / 0)})()
    np.testing.assert_array_equal(
        labels_as_targets(np.array([1, classless], dtype=object), np.array([0, 1])), [1, np.nan]
    )
    np.testing.assert_array_equal(labels_as_targets(np.array(["a", "b"]), np.array([0, 1])), [np.nan] * 2)
    np.testing.assert_array_equal(labels_as_targets(np.array(["no", "yes"]), np.array(["no", "yes"])), [-1, 1])
