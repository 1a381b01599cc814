"""A Monte-Carlo audit of centre, scales and fits together: how much their noise really leaves to be told of one row.

The attacker knows all rows, sees both noisy sums and θ, and computes the likelihood ratio of the two data sets, with a
row more and without it: the best statistic there is (docs/theorems.md, T45). For every ε,

    P'(ratio > e^ε) − e^ε·P(ratio > e^ε)

is δ(ε) in that direction; with Clopper–Pearson limits it is a lower bound on it. It must not exceed what is promised;
on the worst data it comes near. The likelihood is written out anew, from T1 and T45 with nothing of the package.
"""

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import expit
from scipy.stats import beta

import objpert_core.accounting as acc
from objpert_core.learning import LogisticLoss, Rows
from objpert_core.learning.noise import noise_source
from objpert_core.learning.objective_perturbation import described, perturb_and_solve_draws
from objpert_core.learning.problem.derived import RestWeighted
from objpert_core.learning.steps import standardisation
from objpert_core.learning.steps.base import Some
from tests.learning.taking import listening, release_map

RISK = 0.005  # that a limit is wrong
EPSILONS = (0.0, 0.5, 1.0)
MARGIN = 3.0
FIT = acc.ApproximateMinima(acc.ObjectivePerturbation(math.sqrt(3), 6.0), tau=1e-4, sigma_out=0.01)  # λ = 2σ²
PLAN = acc.Standardisation(math.sqrt(3), math.sqrt(3))  # a third of μ² = 1 for each of the three
DRAWS = 2_500
ASKED = {
    "delta": 1e-2,
    "epsilon": 10.0,
    "loss": LogisticLoss(MARGIN),
    "intercept_scaling": 0.0,
    "public_rows": 500,
    "rows_declared": True,
}
WHOLE = acc.compose(*PLAN.mechanisms(), acc.symmetrised(FIT))
DIRECTIONS = standardisation.RowMap()  # of length 1, as far as doubles go


@dataclass(frozen=True)
class Data:
    """Rows (x, y), each `copies` times, and the row more."""

    rows: tuple[tuple[tuple[float, ...], int, int], ...]
    more: tuple[tuple[float, ...], int]

    def arrays(self, with_more):
        x, y, copies = zip(*self.rows, strict=True)
        X, targets = np.repeat(np.array(x), copies, axis=0), np.repeat(np.array(y, float), copies)
        if not with_more:
            return X, targets
        return np.vstack([X, self.more[0]]), np.append(targets, float(self.more[1]))

    def log_ratio(self, first, second, release, plan):
        """The logarithm of the likelihood of both sums and θ with the row more over that without it."""
        x, y, copies = (np.array(column, float) for column in zip(*self.rows, strict=True))
        total, theta = 0.0, release.theta
        u, (of_more,) = DIRECTIONS.apply(x), DIRECTIONS.apply(np.array([self.more[0]]))
        total += _gaussian(first - copies @ u, of_more, plan.center_noise)
        u, of_more = _units(u - release.published["center_"]), _units(of_more - release.published["center_"])
        total += _gaussian(second - copies @ np.abs(u), np.abs(of_more), plan.scale_noise)
        w, of_more = _units(u * release.published["scale_"]), _units(of_more * release.published["scale_"])
        return total + _of_fit(w, y, copies, of_more, self.more[1], theta)


def _of_fit(w, y, copies, of_more, label, theta, mechanism=FIT):
    """The same of one fit: θ decides the linear term that leads to it, and the curvature there (T1)."""
    right, right_of_more = expit(MARGIN - y * (w @ theta)), expit(MARGIN - label * (of_more @ theta))
    lam, sigma = mechanism.objective.lam, mechanism.objective.sigma
    linear = (copies * right * y) @ w - lam * theta
    curvature = lam * np.eye(len(theta)) + (w.T * (copies * right * (1 - right))) @ w
    bend = right_of_more * (1 - right_of_more) * of_more @ np.linalg.solve(curvature, of_more)
    return _gaussian(linear, -label * right_of_more * of_more, sigma) + math.log1p(bend)


def _units(rows):
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


def _gaussian(residual, shift, sigma):
    """log of the density of N(shift, σ²) over that of N(0, σ²)."""
    return float(residual @ shift - shift @ shift / 2) / sigma**2


# Copies of one row with the other label; rows that cancel, along an axis and across.
ONE = Data((((1.0,), -1, 500),), ((1.0,), 1))
CANCEL = Data((((2.0, 0.0), -1, 250), ((-1.0, 0.0), 1, 250)), ((1.0, 0.0), 1))
ACROSS = Data((((1.0, 1.0), -1, 250), ((-3.0, -3.0), 1, 250)), ((2.0, 2.0), 1))


@lru_cache(maxsize=16)
def audited(data, noise, draws):
    """Log-likelihood ratios of `draws` releases without the row more and of as many with it, and what is promised.

    All by the real code, but for the sums' noise: it is that of `noise`, while the promise is about `PLAN`.
    """
    found = []

    def with_noise(statistic):
        own = noise.center_noise if isinstance(statistic.of, standardisation.SumOfDirections) else noise.scale_noise
        return replace(statistic, noise=((own, statistic.noise[0][1]),))

    with listening(acc.Standardisation, with_noise) as heard:
        for with_more in (False, True):
            X, targets = data.arrays(with_more)
            state = np.random.RandomState(int(with_more))
            heard.clear()
            releases = perturb_and_solve_draws(
                *described(X, targets, FIT, steps=(PLAN,), **ASKED), FIT, [state] * draws
            )
            sums = [noisy for _, noisy in heard]
            seen = zip(sums[::2], sums[1::2], releases, strict=True)
            found.append(np.array([data.log_ratio(*one, noise) for one in seen]))
    certificate = releases[0].certificate
    return found, certificate.accounted(certificate.rebuild())


def delta_from_below(one, other, epsilon):
    """A lower bound on δ(ε) of the pair whose log-likelihood ratios were drawn, under one and under the other."""
    size = len(one)
    more, fewer = int((one > epsilon).sum()), int((other > epsilon).sum())
    certain = beta.ppf(RISK, more, size - more + 1) if more else 0.0
    possible = beta.ppf(1 - RISK, fewer + 1, size - fewer) if fewer < size else 1.0
    return certain - math.exp(epsilon) * possible


def found_at(ratios, epsilon):
    """The larger lower bound of both directions."""
    without, with_more = ratios
    return max(delta_from_below(with_more, without, epsilon), delta_from_below(-without, -with_more, epsilon))


def excess(ratios, mechanism):
    """The most by which a lower bound on δ exceeds what is promised; negative where the promise may be kept."""
    return max(found_at(ratios, epsilon) - float(mechanism.delta(epsilon)) for epsilon in EPSILONS)


KEPT = [
    pytest.param(ONE, DRAWS, 0.8, id="one place"),
    *(
        pytest.param(data, 50_000, 0.94, id=f"{name}, many draws", marks=pytest.mark.exhaustive)
        for name, data in {"one place": ONE, "cancelling": CANCEL, "across": ACROSS}.items()
    ),
]


@pytest.mark.no_cover
@pytest.mark.slow
@pytest.mark.parametrize(("data", "draws", "share"), KEPT)
def test_the_three_releases_keep_their_promise_and_use_nearly_all_of_it(data, draws, share):
    ratios, promised = audited(data, PLAN, draws)
    print([(epsilon, found_at(ratios, epsilon), promised.delta(epsilon)) for epsilon in EPSILONS])
    assert excess(ratios, promised) <= 0
    assert found_at(ratios, 0.0) > share * WHOLE.delta(0.0)  # the certificate's own bound is wider at so large a δ


CENTER, SCALE = PLAN.mechanisms()
PARTS = {"center": CENTER, "scale": SCALE, "fit": acc.symmetrised(FIT)}


@pytest.mark.no_cover
@pytest.mark.slow
@pytest.mark.parametrize("forgotten", PARTS)
def test_the_audit_convicts_a_composition_that_forgets_a_part(forgotten):
    promised = acc.compose(*(part for name, part in PARTS.items() if name != forgotten))
    assert excess(audited(ONE, PLAN, DRAWS)[0], promised) > 0


UNPAID = [
    pytest.param(replace(PLAN, scale_noise=PLAN.scale_noise / 2), id="half the noise on the scales"),
    pytest.param(replace(PLAN, scale_noise=2.0**-20), id="scales without noise"),
    pytest.param(replace(PLAN, center_noise=2.0**-20), id="a centre without noise"),
]


@pytest.mark.no_cover
@pytest.mark.slow
@pytest.mark.parametrize("noise", UNPAID)
def test_the_audit_convicts_noise_that_is_not_paid_for(noise):
    ratios, promised = audited(ONE, noise, 600)
    assert excess(ratios, promised) > 0.02


# A row (1, 1) that becomes (−1, −1), where all others are at (−1, 1): less the centre, the two share no column.
OTHERS, BEFORE, AFTER = (-1.0, 1.0), (1.0, 1.0), (-1.0, -1.0)


@lru_cache(maxsize=1)
def log_ratios_of_a_replaced_row(draws=6_000):
    """As by `audited`, of the two sums alone; the ratio is that of the data after over those before."""
    found = []
    others = np.repeat([OTHERS], 500, axis=0)
    (u, before, after) = DIRECTIONS.apply(np.array([OTHERS, BEFORE, AFTER]))
    for more in (BEFORE, AFTER):
        X, ratios = np.vstack([others, more]), []
        source = noise_source(np.random.RandomState(more is AFTER))
        with listening(acc.Standardisation) as heard:
            for _ in range(draws):
                heard.clear()
                center = release_map(X, PLAN, source, n_rows=501).center
                sizes = np.abs(_units(np.array([u, before, after]) - center))
                sums = [noisy for _, noisy in heard]
                ratio = _gaussian(sums[0] - 500 * u - before, after - before, PLAN.center_noise)
                ratio += _gaussian(sums[1] - 500 * sizes[0] - sizes[1], sizes[2] - sizes[1], PLAN.scale_noise)
                ratios.append(ratio)
        found.append(np.array(ratios))
    return found


@pytest.mark.no_cover
@pytest.mark.slow
def test_a_replaced_row_is_told_as_well_as_is_promised_and_no_better():
    ratios, promised = log_ratios_of_a_replaced_row(), acc.compose(*PLAN.mechanisms(acc.REPLACE_ONE))
    assert excess(ratios, promised) <= 0
    assert found_at(ratios, 0.0) > 0.9 * promised.delta(0.0)


@pytest.mark.no_cover
@pytest.mark.slow
@pytest.mark.parametrize("moved", [(1.0, math.sqrt(2)), (2.0, 0.5), (1.0, 1.0)])
def test_the_audit_convicts_sensitivities_of_a_row_that_is_only_added(moved):
    noises = PLAN.center_noise, PLAN.scale_noise
    claimed = [acc.Gaussian(noise, size, adjacency=acc.REPLACE_ONE) for noise, size in zip(noises, moved, strict=True)]
    assert excess(log_ratios_of_a_replaced_row(), acc.compose(*claimed)) > 0


# One fit for each of three classes: copies of (−1, class 0) and (1, class 0) more, the rest half as long; μ = 1.
CLASSES, REST = 3, 0.5
EACH = acc.ApproximateMinima(acc.ObjectivePerturbation(math.sqrt(1.5), 3.0), tau=1e-4, sigma_out=0.01)


def audited_classes(rest, draws):
    """As `audited`, of a fit for each class, without a map, for an attacker who takes the rest for `rest` as long."""
    found = []
    lengths = np.array([1.0, *[rest] * (CLASSES - 1)])
    labels = np.array([1.0, *[-1.0] * (CLASSES - 1)])
    for with_more in (False, True):
        X = np.repeat([[-1.0], [1.0]], [1000, int(with_more)], axis=0)
        targets, ratios = np.repeat(labels[:, None], len(X), axis=1), []
        states = [np.random.RandomState(int(with_more))] * draws
        for release in perturb_and_solve_draws(*described(X, targets, EACH, rest_weight=REST, **ASKED), EACH, states):
            each = zip(labels, lengths, release.theta, strict=True)
            row, copies = np.ones(1), np.array([1000.0])
            ratios.append(sum(_of_fit(-w * row[None], y[None], copies, w * row, y, t, EACH) for y, w, t in each))
        found.append(np.array(ratios))
    return found, release.certificate


@pytest.mark.no_cover
@pytest.mark.slow
def test_fits_of_all_classes_keep_their_promise_and_use_nearly_all_of_it():
    ratios, spent = audited_classes(REST, 1_500)
    assert spent.fits == CLASSES
    assert excess(ratios, spent.accounted(spent.rebuild())) <= 0
    assert excess(ratios, spent.rebuild()) > 0  # a certificate of one fit would be refuted
    assert found_at(ratios, 0.0) > 0.75 * acc.Gaussian(1.0).delta(0.0)


@pytest.mark.no_cover
@pytest.mark.slow
def test_the_audit_convicts_rows_of_other_classes_that_are_longer_than_stated(monkeypatch):
    monkeypatch.setattr(RestWeighted, "_signed", lambda self, targets: np.asarray(targets))
    ratios, spent = audited_classes(1.0, 600)
    assert excess(ratios, spent.accounted(spent.rebuild())) > 0


# Neighbours stay neighbours, to the last digit


def wild_rows(rng, n, d):
    """Rows of every length from 1e-140 to 1e140, with zeros, tiny and equal entries."""
    X = rng.standard_normal((n, d)) * 10.0 ** rng.integers(-12, 1, (n, d)) * (rng.random((n, d)) < 0.8)
    X *= 10.0 ** rng.uniform(-140, 140, (n, 1))
    X[rng.random(n) < 0.05] = 0.0
    X[rng.random(n) < 0.05] = 5e-324
    X[rng.random(n) < 0.05] = 3.0
    return X


LAYOUTS = {
    "rows": np.ascontiguousarray,
    "columns": np.asfortranarray,
    "every other": lambda X: np.repeat(X, 2, axis=0)[::2],
    "sparse": sp.csr_array,
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("n", "d"), [(2, 9), (70, 1), (300, 17), (34, 1000), (5, 9000)])
def test_what_a_row_becomes_depends_on_that_row_alone(layout, n, d):
    rng = np.random.default_rng(n + d)
    X = wild_rows(rng, n, d)
    centers = (None,) if layout == "sparse" else (None, _units(rng.standard_normal(d)))
    for center in centers:
        row_map = standardisation.RowMap(center, rng.uniform(0.5, 10.0, d))
        apart = np.arange(n) != n // 2
        learned = [row_map.seen(Rows(LAYOUTS[layout](rows), "normalize")) for rows in (X, X[apart], X[[n // 2]])]
        mapped, factors = [rows.matrix for rows in learned], [rows.factors for rows in learned]
        assert all(np.array_equal(rows.factors, Rows(rows.matrix, "normalize").factors) for rows in learned)
        assert np.array_equal(_dense(mapped[0]), _dense(row_map.apply(X if layout != "sparse" else sp.csr_array(X))))
        for whole, less, alone in (factors, [_dense(rows) for rows in mapped]):
            assert np.array_equal(whole[apart], less)
            assert np.array_equal(whole[n // 2], alone[0])


def _dense(rows):
    return rows.toarray() if sp.issparse(rows) else rows


def sums_without_noise(X, center, spacing=2.0**-30):
    """Both sums in whole units; Σu only where X is dense."""
    some = Some(Rows(X, "normalize"), np.zeros(X.shape[0]))
    first = None if sp.issparse(X) else standardisation.SumOfDirections(spacing)(some)
    return first, standardisation.SumOfSizes(spacing, center)(some)


@pytest.mark.thorough
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("n", "d"), [(2, 9), (70, 1), (300, 17), (34, 1000)])
def test_a_row_more_moves_both_sums_by_itself_and_by_no_more_than_one(layout, n, d):
    """In whole numbers: no rounding of the others takes part, and the step is not longer than 1 by a hair."""
    rng = np.random.default_rng(n * d)
    X = wild_rows(rng, n, d)
    for center in (None,) if layout == "sparse" else (None, _units(rng.standard_normal(d)), np.zeros(d)):
        for spacing in (2.0**-30, 2.0**-7):
            whole, less, alone = (
                sums_without_noise(LAYOUTS[layout](rows), center, spacing) for rows in (X, X[:-1], X[[-1]])
            )
            for three in zip(whole, less, alone, strict=True):
                if three[0] is not None:
                    assert np.array_equal(three[0] - three[1], three[2])
        for row in X:
            for step in sums_without_noise(LAYOUTS[layout](row[None]), center):
                if step is not None:
                    assert sum(int(entry) ** 2 for entry in step) <= 2**60
    for row in (*np.random.default_rng(0).standard_normal((20, d)), np.full(d, -1e147), np.full(d, 1e-150)):
        for step in sums_without_noise(LAYOUTS[layout](row[None]), None, standardisation.SPACING):
            if step is not None:  # what is paid for is used, but for the rounding of each entry
                size = sum(int(entry) ** 2 for entry in step) * standardisation.SPACING**2
                assert (1 - 2 * d**0.5 * standardisation.SPACING) ** 2 < size <= 1


def test_sizes_of_two_rows_are_the_root_of_two_apart_at_most_in_whole_numbers():
    rng = np.random.default_rng(3)
    for d in (1, 2, 3, 30):
        center = _units(rng.standard_normal(d))
        steps = [sums_without_noise(row[None], center)[1] for row in wild_rows(rng, 60, d)]
        for one, other in pairwise(steps):
            assert sum(int(entry) ** 2 for entry in one - other) <= 2 * 2**60


def test_the_map_goes_by_the_declared_number_of_rows_and_not_by_their_number():
    """Equal noisy sums, equal maps: or the centre would tell how many rows there are."""
    X = np.repeat([[1.0, 2.0]], 40, axis=0)
    with_zero = np.vstack([X, np.zeros((1, 2))])  # adds nothing to Σu
    plan = acc.Standardisation(2.0, None)
    maps = [release_map(rows, plan, noise_source(0), n_rows=40) for rows in (X, with_zero)]
    assert np.array_equal(maps[0].center, maps[1].center)
