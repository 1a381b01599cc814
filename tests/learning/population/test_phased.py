"""Phased ERM: what a row moves, which rows make a phase, and what its certificate admits."""

import math
from fractions import Fraction

import numpy as np
import pytest

from objpert_core.accounting.population.published import phased_schedule
from objpert_core.accounting.population.sizes import Sizes
from objpert_core.learning import AbsoluteLoss, Fit, HingeLoss, LogisticLoss, SquaredLoss
from objpert_core.learning import fit as fits
from objpert_core.learning.population import phased
from objpert_core.learning.population.phased import SLACK, Phase, noise_of, phased_release, phases_of

TOLD = {"epsilon": 2.0, "delta": 1e-6, "radius": 4.0, "random_state": 0}


def labelled(n, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.where(X[:, 0] + 0.3 * rng.normal(size=n) > 0, 1.0, -1.0)


@pytest.fixture
def minima(monkeypatch):
    """Where every phase ends before its noise, and the noise; the release goes on without it."""
    found = []

    def silent(values, sigma, spacing, source):
        found.append((np.rint(values / spacing) * spacing, sigma))
        return found[-1][0]

    monkeypatch.setattr(fits, "release_on_lattice", silent)
    return found


@pytest.fixture
def parts(monkeypatch):
    """The first column of the rows of every phase."""
    seen = []

    class Spy(Fit):
        def __init__(self, X, *args, **options):
            super().__init__(X, *args, **options)
            seen.append(np.asarray(self.rows.matrix)[:, 0].tolist())

    monkeypatch.setattr(phased, "Fit", Spy)
    return seen


def test_the_noise_covers_what_doubles_round():
    """σ ≥ multiplier·(2L + 2τ)/Λ, in fractions, for the τ and the Λ that the phase works with."""
    numbers = np.random.default_rng(0).lognormal(sigma=3, size=(1000, 3))
    for lipschitz, step, multiplier in numbers.tolist():
        moved = 2 * (Fraction(lipschitz) + Fraction(SLACK * lipschitz)) / Fraction(Phase(slice(0), step).lam)
        assert noise_of(lipschitz, step, SLACK, multiplier) >= Fraction(multiplier) * moved


@pytest.mark.parametrize("loss", [HingeLoss(), AbsoluteLoss(), LogisticLoss(30.0)], ids=str)
@pytest.mark.parametrize("constant", [0.0, pytest.param(0.5, marks=pytest.mark.slow)])
def test_a_replaced_row_moves_the_minimum_by_nearly_what_the_noise_is_for(minima, loss, constant):
    """Rows on straight parts of the loss: the minimum of a row's own phase moves by Lη, of (L + τ)η that are paid."""
    n, d = 64, 3
    lipschitz = math.hypot(1.0, constant)
    schedule = phased_schedule(Sizes(n, d + (constant > 0), 2.0, 1e-6, radius=1.0, lipschitz=lipschitz))

    def ends(row, sign):
        """Minima and noise of all phases with this row replaced by one that pulls that way."""
        X, targets = np.tile([0.0, 0.0, 1e-3], (n, 1)), np.ones(n)
        if isinstance(loss, AbsoluteLoss):
            X[row], targets[row] = (1.0, 0.0, 0.0), sign * 1e9
        else:
            X[row] = (sign, 0.0, 0.0)
        minima.clear()
        phased_release(X, targets, loss, **TOLD | {"radius": 1.0}, row_norm="clip", intercept_scaling=constant)
        return list(minima)

    shares = {}
    for row in range(n):  # which phase a row is in is the same for all data
        first, second = ends(row, 1.0), ends(row, -1.0)
        multiplier = first[0][1] / noise_of(lipschitz, schedule[0][1], SLACK, 1.0)
        moved = [np.linalg.norm(one - other) for (one, _), (other, _) in zip(first, second, strict=True)]
        if any(moved):  # no row is in all phases together
            own = int(np.flatnonzero(moved)[0])
            shares[own] = max(shares.get(own, 0.0), moved[own] * multiplier / first[own][1])
        if len(shares) == 3:
            break
    assert len(shares) == 3
    assert max(shares.values()) <= 1
    turned = constant == 0 or isinstance(loss, AbsoluteLoss)  # the constant does not turn round with the row
    assert max(shares.values()) > (0.99 if turned else 0.88)


def test_a_row_is_in_one_phase_and_one_that_cannot_be_used_moves_no_other(parts):
    X, targets = labelled(100)
    X[:, 0] = np.arange(100.0) + 1
    phased_release(X, targets, LogisticLoss(), **TOLD, on_error="release")
    whole = list(parts)
    together = [row for part in whole for row in part]
    assert len(set(together)) == len(together)
    assert [len(part) for part in whole] == [rows for rows, _ in phased_schedule(Sizes(100, 3, 2.0, 1e-6, radius=4.0))]
    assert together != sorted(together)
    parts.clear()
    X[[3, 50], 1], targets[20] = (np.nan, np.inf), 0.5
    phased_release(X, targets, LogisticLoss(), **TOLD, on_error="release")
    assert parts == [[row for row in part if row not in (4.0, 51.0, 21.0)] for part in whole]


@pytest.mark.parametrize("public_rows", [40, 100, 160])
def test_phases_go_by_the_declared_number_of_rows(parts, public_rows):
    X, targets = labelled(100)
    X[:, 0] = np.arange(100.0) + 1
    release = phased_release(X, targets, LogisticLoss(), **TOLD, public_rows=public_rows, on_error="release")
    used = [row for part in parts for row in part]
    assert max(used) <= public_rows
    assert len(parts) == release.certificate.phases == len(phased_schedule(Sizes(public_rows, 3, 2.0, 1e-6)))
    assert release.certificate.verify()
    with pytest.raises(ValueError, match="loss must be one of EVERY_LOSS with a bounded slope"):
        phased_release(X, targets, SquaredLoss(), **TOLD, public_rows=public_rows)
    if public_rows > 100:
        with pytest.raises(ValueError, match="public_rows must be at most the number of rows, 100, got 160"):
            phased_release(X, targets, LogisticLoss(), **TOLD, public_rows=public_rows)


@pytest.mark.parametrize("n", [*range(1, 70), 1023, 1024, 1025, 10**9])
def test_parts_fit_into_the_rows(n):
    phases = list(phases_of(phased_schedule(Sizes(n, 2, 1.0, 1e-6))))
    assert phases[-1].part.stop <= n
    assert all(phase.part.stop > phase.part.start for phase in phases)
    assert len(phases) <= n.bit_length()
