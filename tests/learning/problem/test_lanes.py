"""Sums over blocks: the same digits on one thread as on many, and BLAS gets its threads back."""

from concurrent.futures import ThreadPoolExecutor
from threading import current_thread
from types import SimpleNamespace

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController

from objpert_core.accounting import Standardisation
from objpert_core.learning.noise import noise_source
from objpert_core.learning.problem import lanes
from objpert_core.learning.problem.lanes import LANES, all_cores, mapped, shares, slices, summed
from objpert_core.learning.problem.losses import LogisticLoss
from objpert_core.learning.problem.objective import PerturbedObjective
from objpert_core.learning.problem.rounding import gradient_norm_bound
from objpert_core.learning.problem.rows import Rows
from objpert_core.learning.problem.single_precision import rough
from objpert_core.learning.solvers import solve_together
from tests.learning.taking import map_rows

THREADS = ThreadpoolController().select(user_api="blas")


class Spy:
    """A BLAS of three threads, whose limits are written down; as threadpoolctl, it obeys the first thread alone."""

    def __init__(self):
        self.threads, self.obeyed = 3, None
        self.lib_controllers = [SimpleNamespace(num_threads=3, clear_controlling_thread=self.forget)]

    def forget(self, force):
        self.obeyed = None

    def limit(self, limits):
        self.obeyed = self.obeyed or current_thread()
        if self.obeyed is current_thread():
            self.threads = limits
        return self

    def restore_original_limits(self):
        self.limit(3)


@pytest.fixture
def blas(monkeypatch):
    spy = Spy()
    monkeypatch.setattr(lanes, "_blas", lambda: spy)
    monkeypatch.setattr(lanes, "_processors", lambda: 2)
    return spy


def test_blas_has_one_thread_within_and_all_of_them_afterwards(blas):
    with all_cores():
        with all_cores():
            assert blas.threads == 1
        assert blas.threads == 1
    assert blas.threads == 3

    @all_cores()
    def failing():
        raise KeyError("one")

    with pytest.raises(KeyError):
        failing()
    assert blas.threads == 3


def test_fits_side_by_side_leave_blas_as_it_was(blas):
    def fit(_):
        with all_cores():
            return blas.threads

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(fit, range(40))) == {1}
    assert blas.threads == 3


def test_the_last_fit_to_end_restores_what_another_thread_has_limited(blas):
    with ThreadPoolExecutor(1) as first, ThreadPoolExecutor(1) as second:
        for _ in range(2):
            fits = [(first, all_cores()), (second, all_cores())]
            for thread, cores in fits:
                thread.submit(cores.__enter__).result()
                assert blas.threads == 1
            for thread, cores in fits:
                thread.submit(cores.__exit__, None, None, None).result()
            assert blas.threads == 3
            assert blas.limit(2).threads == 2  # here, too, it can be set
            blas.restore_original_limits()


def test_a_blas_with_one_thread_is_given_no_company(blas):
    blas.lib_controllers[0].num_threads = 1
    before = blas.threads
    with all_cores():
        assert blas.threads == before
        assert lanes._CORES.pool is None


def test_work_that_asks_for_threads_does_not_wait_for_itself(blas):
    with all_cores():
        assert mapped(lambda row: sum(mapped(int, range(row))), range(9)) == [row * (row - 1) // 2 for row in range(9)]


@pytest.mark.parametrize("count", [0, 1, 2, 3, 5, 8, 9, 100])
def test_every_block_is_in_the_sum_once(count, blas):
    blocks = list(range(1, count + 1))
    assert summed(lambda block: block, blocks) == count * (count + 1) // 2
    with all_cores():
        assert summed(lambda block: block, blocks) == count * (count + 1) // 2
        assert mapped(str, blocks) == [str(block) for block in blocks]
    rows = np.arange(count)
    for parts in (shares(count), slices(count, 3)):
        np.testing.assert_array_equal(np.concatenate([rows[:0], *(rows[part] for part in parts)]), rows)
    assert len(shares(count)) <= LANES
    assert sorted(np.concatenate([rows[:0], *(rows[part] for part in slices(count, 3, 4))])) == sorted(rows[::4])


def test_a_fit_has_the_same_digits_however_many_threads_it_has(blas):
    rng = np.random.default_rng(0)
    X, targets = rng.normal(size=(9000, 5)), np.where(rng.random(9000) < 0.5, 1.0, -1.0)
    plan = Standardisation(3.0, 5.0)

    def everything():
        row_map, mapped_rows = map_rows(Rows(X, "normalize", 0.3), plan, noise_source(1))
        objective = PerturbedObjective(mapped_rows, targets, 0.5, np.ones(6), LogisticLoss())
        (result,) = solve_together([objective], tau=1e-7, max_iter=100)
        hessian = rough(objective).hessian(np.full(9000, 0.2))
        return (
            row_map.center,
            row_map.scale,
            mapped_rows.matrix,
            mapped_rows.factors,
            result.theta,
            hessian,
            gradient_norm_bound(objective, result.theta),
        )

    alone = everything()
    with all_cores():
        assert lanes._CORES.pool is not None
        together = everything()
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_true_blas_is_left_as_it_was():
    before = [library.num_threads for library in THREADS.lib_controllers]
    with all_cores():
        pass
    assert [library.num_threads for library in THREADS.lib_controllers] == before
