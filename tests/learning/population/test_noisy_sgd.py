"""Noisy descent: what a row can move, how rows are drawn, and that no row decides how much noise there is."""

import dataclasses
import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import chi2

import objpert_core.learning as learn
from objpert_core.accounting.population.published import DRAWINGS, phased_schedule
from objpert_core.accounting.population.sizes import Sizes
from objpert_core.learning import AbsoluteLoss, Fit, HingeLoss, LogisticLoss, SquaredLoss
from objpert_core.learning import fit as fits
from objpert_core.learning.dp_sgd.training import NoisySums
from objpert_core.learning.population import noisy_sgd, phased
from objpert_core.learning.population.noisy_sgd import descend_and_certify
from objpert_core.learning.population.phased import SLACK, Phase, noise_of, phased_release, phases_of
from objpert_core.learning.population.schedules import MOST_DRAWN, DescentPlan, tight_plan
from objpert_core.learning.problem.losses import MarginLoss
from objpert_core.learning.problem.rounding import UNIT, gamma
from objpert_core.learning.sampling import Streams

SMOOTH = [learn.LogisticLoss(), learn.LogisticLoss(20.0), learn.HuberisedHingeLoss(0.5), learn.HuberLoss(0.5)]
CORNERS = [learn.HingeLoss(), learn.AbsoluteLoss(), learn.PinballLoss(0.2), learn.EpsilonInsensitiveLoss(3.0)]
CASES = [(loss, None) for loss in SMOOTH] + [(loss, beta) for loss in SMOOTH + CORNERS for beta in (0.5, 40.0)]
STORED = {"dense": np.array, "float32": lambda X: X.astype(np.float32), "sparse": sp.csr_array}


def some_rows(rng, n, d, constant=0.0, stored=np.asarray, longest=1.0):
    """Rows of very different lengths, some of length 0."""
    X = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-6, longest, size=(n, 1))
    X[:2] = 0.0
    return learn.Rows(stored(X), "clip", constant)


def some_targets(rng, loss, scores):
    """Labels, or numbers near and far from the loss's bends."""
    n = len(scores)
    if isinstance(loss, MarginLoss):
        return rng.choice([-1.0, 1.0], n)
    bend = rng.choice([-1.0, 0.0, 1.0], n) * (loss.parameter or 0.0)
    near = scores + bend + rng.normal(size=n) * 10.0 ** rng.uniform(-17, 1, n)
    return np.where(rng.random(n) < 0.8, near, rng.normal(size=n) * 10.0 ** rng.uniform(0, 300, n))


def silent(rows, loss, envelope, lipschitz):
    """`NoisySums` without the noise: what it adds noise to, on the lattice."""
    smoothness, margin = noisy_sgd.public_curvature(loss, envelope, math.hypot(1.0, rows.constant))
    sums = NoisySums(
        rows, lipschitz, 1.0, rows.n_rows, [learn.noise_source(0)], n_rows=rows.n_rows, margin=margin,
        smoothness=smoothness, slope=loss.lipschitz,
    )  # fmt: skip
    sums._noise = lambda step, steps: np.zeros((rows.dimension, 1))
    return sums


@pytest.mark.thorough
@pytest.mark.parametrize("stored", STORED)
@pytest.mark.parametrize(("loss", "envelope"), CASES, ids=str)
def test_a_replaced_row_moves_a_rounded_sum_by_hardly_more_than_twice_its_bound(loss, envelope, stored):
    """And by k times as much if it was drawn k times; a row that joins, by half of it."""
    rng = np.random.default_rng(0)
    n, d = 100, 5
    before = some_rows(rng, n, d, 0.3, STORED[stored])
    X = before.matrix.toarray() if before.sparse else np.array(before.matrix)
    weights = rng.normal(size=(d + 1, 1))
    weights *= 2.0 / np.linalg.norm(weights)
    lipschitz = loss.lipschitz * math.hypot(1.0, 0.3)
    targets = some_targets(rng, loss, before.margins(weights[:, 0]))
    away = np.linalg.svd(weights[:d].T)[2][-1]  # at right angles to the weights, where a row's sign moves no score
    largest = 0.0
    for sign in (1.0, -1.0):
        X[7], targets[7] = 50.0 * away, sign if isinstance(loss, MarginLoss) else sign * 1e9
        first = learn.Rows(STORED[stored](X), "clip", 0.3), targets.copy()
        if isinstance(loss, MarginLoss):
            X[7] = -X[7]
        else:
            targets[7] = -targets[7]
        second = learn.Rows(STORED[stored](X), "clip", 0.3), targets.copy()
        for copies in (0, 1, 4):
            others = np.setdiff1d(np.arange(n), [7])
            batch = np.concatenate((others, np.full(copies, 7)))
            rng.shuffle(batch)
            totals = []
            for (rows, own), drawn in ((first, batch), (second, batch), (first, others)):
                total = noisy_sgd.LossGradients(rows, own, noisy_sgd.smoothed(loss, rows, envelope)).total(
                    drawn, weights
                )
                silent(rows, loss, envelope, lipschitz).add(total, weights, 0, 1)
                totals.append(total)
            moved, joined = (float(np.linalg.norm(totals[0] - other)) for other in totals[1:])
            allowed = copies * lipschitz * (1 + 2.0**-16)
            assert moved <= 2 * allowed
            assert joined <= allowed
            if copies:
                largest = max(largest, moved / allowed)
    turned = isinstance(loss, learn.AbsoluteLoss | learn.EpsilonInsensitiveLoss | learn.HuberLoss)
    assert largest > (1.9999 if turned else 0.4)  # all of it is needed


@pytest.mark.parametrize(("loss", "envelope"), CASES, ids=str)
@pytest.mark.parametrize("constant", [0.0, 0.7])
def test_slopes_are_off_by_no_more_than_the_noise_pays_for(loss, envelope, constant):
    """Against 64 digits of mantissa, for each row on its own, with its length."""
    rng = np.random.default_rng(1)
    n, d = 1500, 6
    rows = some_rows(rng, n, d, constant)
    weights = rng.normal(size=rows.dimension)
    weights *= 3.0 / np.linalg.norm(weights)
    wide, wide_weights = rows.matrix.astype(np.longdouble), weights.astype(np.longdouble)
    wide = wide * rows.factors.astype(np.longdouble)[:, None]
    scores = wide @ wide_weights[:d]
    if constant:
        scores = scores + np.longdouble(constant) * wide_weights[-1]
    targets = some_targets(rng, loss, scores.astype(np.float64))
    used = noisy_sgd.smoothed(loss, rows, envelope)
    with np.errstate(over="ignore"):
        computed = noisy_sgd.LossGradients(rows, targets, used).slopes_at(np.arange(n), rows.margins(weights)[:, None])[
            :, 0
        ]
        exact = exact_slopes(used, scores, targets.astype(np.longdouble))
    norms = np.sqrt((wide**2).sum(axis=1) + np.longdouble(constant) ** 2)
    radius = math.hypot(1.0, constant)
    smoothness, margin = noisy_sgd.public_curvature(loss, envelope, radius)
    paid = smoothness * gamma(rows.dimension + 8) * radius * (radius * 3.0 + margin) + 16 * UNIT * radius * (
        loss.lipschitz
    )
    assert float((np.abs(computed - exact) * norms).max()) <= paid
    assert np.abs(computed).max() <= loss.lipschitz


def exact_slopes(loss, scores, targets):
    """The loss's own formulas in wider numbers; the logistic envelope, which iterates, by bisection."""
    if not (isinstance(loss, learn.MoreauEnvelope) and isinstance(loss.loss, learn.LogisticLoss)):
        return loss.derivatives(scores, targets)[0]
    ahead, step = targets * scores - np.longdouble(loss.loss.margin), loss.step.astype(np.longdouble)
    low, high = -ahead - step, -ahead
    for _ in range(120):
        middle = (low + high) / 2
        short = middle + ahead + step / (1 + np.exp(-middle)) < 0
        low, high = np.where(short, middle, low), np.where(short, high, middle)
    return -targets / (1 + np.exp(-(low + high) / 2))


@pytest.mark.parametrize("loss", CORNERS, ids=str)
def test_no_row_decides_how_much_noise_there_is(monkeypatch, loss):
    """The envelope of a short row is steep in its score; were the noise made wider for it, it would tell of the row."""
    told = []

    class Spy(NoisySums):
        def __init__(self, *args, **options):
            super().__init__(*args, **options)
            told.append((float(self.off(np.full((3, 1), 0.5))[0]), self._ratio, self._most))

    monkeypatch.setattr(noisy_sgd, "NoisySums", Spy)
    plan = tight_plan(Sizes(40, 3, 5.0, 1e-3, radius=2.0, lipschitz=1.0), smoothness=math.inf, sampling="full batch")
    rng = np.random.default_rng(0)
    for shortest in (1.0, 1e-3, 0.0):
        X = rng.normal(size=(40, 3))
        X[0] *= shortest
        noisy_sgd.descend(learn.Rows(X, "clip"), np.ones(40), loss, plan, Streams(0))
    assert told[0] == told[1] == told[2]


def test_how_many_rows_are_of_use_decides_no_error():
    """More rows than the sums are made for are refused, be they of use or not."""
    plan = DescentPlan("tight", "full batch", 2, 2, 1, 5.0, 0.1, 1.0, 1.0)
    for missing in (np.nan, 1.0):
        X = np.ones((2**17 + 1, 1))
        X[0] = missing
        with pytest.raises(ValueError, match="public_rows must be at least half the number of rows"):
            descend_and_certify(
                X, np.ones(len(X)), learn.LogisticLoss(), plan, epsilon=5.0, delta=0.1, on_error="release"
            )


@pytest.mark.parametrize(("options", "size"), [(5, 1), (5, 2), (5, 3), (4, 4), (6, 3)])
def test_every_set_of_rows_is_equally_likely(options, size):
    source, draws = learn.noise_source(3), 2000
    sets = dict.fromkeys(combinations(range(options), size), 0)
    for _ in range(draws):
        sets[tuple(noisy_sgd.different_choices(source, options, size).tolist())] += 1
    expected = draws / len(sets)
    statistic = sum((count - expected) ** 2 / expected for count in sets.values())
    assert statistic <= chi2.ppf(1 - 1e-6, max(len(sets) - 1, 1))


@pytest.mark.parametrize("sampling", ["without replacement", pytest.param("with replacement", marks=pytest.mark.slow)])
def test_a_row_that_cannot_be_used_moves_no_other(monkeypatch, sampling):
    seen = []
    total = noisy_sgd.LossGradients.total
    monkeypatch.setattr(
        noisy_sgd.LossGradients,
        "total",
        lambda self, batch, weights: (
            seen[-1].append(sorted(self.rows.matrix[batch, 0].tolist())) or total(self, batch, weights)
        ),
    )
    plan = DescentPlan("tight", sampling, 30, 12, 20, 30.0, 0.1, 1.0, 1.0)
    X = np.column_stack((np.arange(30.0) + 1, np.ones(30)))
    for missing in (False, True):
        seen.append([])
        if missing:
            X[4, 1] = np.nan
        descend_and_certify(
            X, np.ones(30), learn.LogisticLoss(), plan, epsilon=9.0, delta=0.1, random_state=0, on_error="release"
        )
    assert any(5.0 in batch for batch in seen[0])
    assert [[row for row in batch if row != 5.0] for batch in seen[0]] == seen[1]


PLAN = {"schedule": "tight", "sampling": "poisson", "rows": 20, "batch_size": 5.0, "steps": 3, "noise_multiplier": 9.0,
        "step_size": 0.1, "radius": 1.0, "lipschitz": 1.0}  # fmt: skip


@pytest.mark.parametrize("schedule", ["tight", "bassily2019"])
def test_the_published_mean_is_of_the_places_before_each_step_and_the_tight_one_of_those_after(schedule):
    plan = DescentPlan(**PLAN | {"schedule": schedule, "steps": 1})
    rows = learn.Rows(np.ones((20, 2)), "clip")
    found = noisy_sgd.descend(rows, np.ones(20), learn.LogisticLoss(), plan, Streams(0))
    assert found.any() == (schedule == "tight")


NO_PLANS = [
    ({"batch_size": 21.0}, "batch_size must be at most rows = 20, got 21.0"),
    ({"batch_size": 2.5, "sampling": "with replacement"}, "batch_size must be a whole number from 1 to 20, got 2.5"),
    ({"batch_size": 21, "sampling": "with replacement"}, "batch_size must be a whole number from 1 to 20, got 21"),
    ({"batch_size": 21, "sampling": "without replacement"}, "batch_size must be a whole number from 1 to 20"),
    ({"batch_size": 19, "sampling": "full batch"}, "batch_size must be rows = 20, got 19"),
    ({"batch_size": MOST_DRAWN + 1, "rows": 2 * MOST_DRAWN, "sampling": "with replacement"}, "and at most 10000000"),
    ({"noise_multiplier": 0.0}, "noise_multiplier must be"),
    ({"envelope": math.inf}, "envelope must be"),
    ({"radius": math.inf}, "radius must be"),
    ({"steps": 0}, "steps must be"),
    ({"schedule": "own"}, "schedule must be"),
    ({"sampling": "own"}, "sampling must be"),
]


@pytest.mark.parametrize(("changes", "said"), NO_PLANS)
def test_a_plan_that_could_not_be_drawn_is_refused(changes, said):
    DescentPlan(**PLAN)
    with pytest.raises(ValueError, match=said):
        DescentPlan(**PLAN | changes)
    with pytest.raises(ValueError, match=r"radius times step_scale must be smaller, or the loss less curved"):
        tight_plan(Sizes(100, 3, 1.0, 1e-6, radius=1e50, lipschitz=1.0), smoothness=0.25)  # which would not end


DRAWN = [pytest.param(one, marks=pytest.mark.slow if one == "with replacement" else ()) for one in DRAWINGS]


@pytest.mark.parametrize("sampling", DRAWN)
def test_the_tight_plan_has_the_least_noise_that_keeps_the_promise(sampling):
    plan = tight_plan(Sizes(200, 3, 2.0, 1e-3), smoothness=0.25, sampling=sampling)
    less = dataclasses.replace(plan, noise_multiplier=0.98 * plan.noise_multiplier)
    assert plan.mechanism.epsilon(1e-3) <= 2.0 < less.mechanism.epsilon(1e-3)


# Phased ERM: what a row moves, which rows make a phase, and what its certificate admits


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
