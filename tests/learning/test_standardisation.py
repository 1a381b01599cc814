import dataclasses
import json
import pickle
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from objpert_core.accounting import (
    ApproximateMinima,
    ObjectivePerturbation,
    Standardisation,
    calibrate_objective_perturbation,
    calibrate_remaining,
    full_standardisation,
)
from objpert_core.learning import Rows, perturb_and_solve, solve_and_perturb
from objpert_core.learning.noise import noise_source
from objpert_core.learning.objective_perturbation import described, perturb_and_solve_draws
from objpert_core.learning.problem.fine import FineRows
from objpert_core.learning.problem.rows import each_row_by_itself
from objpert_core.learning.steps import standardisation
from objpert_core.learning.steps.base import Some
from objpert_core.learning.steps.standardisation import SPACING, RowMap, SumOfDirections, SumOfSizes
from tests.learning.taking import map_rows, release_map

DELTA = 1e-5
QUIET = Standardisation(1e-6, 1e-6)
ROWS, COLUMNS = 300, 6


def some_data(rows=ROWS, columns=COLUMNS, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, columns)) * 10.0 ** -np.arange(columns) + 1.0
    return X, np.where(X[:, 0] > 1.0, 1.0, -1.0)


def unit(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


# --- the map


def test_nearly_without_noise_the_map_is_the_recipe():
    X, _ = some_data()
    row_map = release_map(X, QUIET, noise_source(0))
    u = unit(X)
    z = np.abs(unit(u - u.mean(axis=0)))
    assert_allclose(row_map.center, u.mean(axis=0), atol=1e-7)
    assert_allclose(row_map.scale, (z.mean(axis=0) ** 2 + 0.01) ** -0.5, rtol=1e-6)
    assert_allclose(row_map.apply(X), row_map.scale * (u - row_map.center), atol=1e-12)


@pytest.mark.parametrize("plan", [Standardisation(5.0, None), Standardisation(None, 5.0), Standardisation(5.0, 7.0)])
def test_a_step_without_noise_is_left_out_and_the_map_comes_with_its_rows(plan):
    X, _ = some_data()
    row_map, mapped = map_rows(X, plan, noise_source(3))
    assert (row_map.center is None) is (plan.center_noise is None)
    assert (row_map.scale is None) is (plan.scale_noise is None)
    assert_array_equal(mapped.matrix, row_map.apply(X))
    again = release_map(X, plan, noise_source(3))
    assert all(np.array_equal(one, two) for one, two in zip(vars(row_map).values(), vars(again).values(), strict=True))


@pytest.mark.parametrize("center", [None, np.full(COLUMNS, 0.1)])
def test_a_row_that_keeps_its_length_moves_no_sum_by_more_either(center):
    for row, length in zip(
        np.vstack([some_data()[0], np.eye(COLUMNS) / 4]), [1.0] * ROWS + [0.25] * COLUMNS, strict=True
    ):
        one = Some(Rows(row[None], "clip"), np.zeros(1))
        for whole, most in (
            (SumOfDirections(SPACING)(one), min(length, np.linalg.norm(row))),
            (SumOfSizes(SPACING, center)(one), 1.0),
        ):
            size = sum(int(one) ** 2 for one in whole) * SPACING**2
            assert 0.999 * most**2 < size <= min(1.0, most**2 * (1 + 1e-12))


def test_the_centre_shrinks_to_what_noise_leaves_of_it():
    X = np.repeat(np.eye(8)[:1], 50, axis=0)  # mean e₁
    drowned = release_map(X, Standardisation(1e5, None), noise_source(0)).center
    assert np.linalg.norm(drowned) <= 1 + 1e-12
    even = release_map(np.ones((50, 400)), Standardisation(1.0, None), noise_source(0)).center
    assert np.linalg.norm(even - 0.05) < 0.15  # the noise has norm 0.4, nearly all of it across (1, …, 1)


def test_scales_that_are_lost_in_noise_are_even():
    X, _ = some_data()
    scale = release_map(X, Standardisation(None, 300.0), noise_source(0)).scale
    assert scale.max() / scale.min() < 1.5


@pytest.mark.parametrize("plan", [Standardisation(2.0, 3.0), Standardisation(None, 3.0), Standardisation(2.0, None)])
def test_memory_layout_and_single_precision_are_of_no_matter(plan):
    X, _ = some_data()
    X = X.astype(np.float32)
    maps = [
        map_rows(rows, plan, noise_source(1))
        for rows in (X, X.astype(np.float64), np.asfortranarray(X), np.repeat(X, 2, axis=0)[::2])
    ]
    for row_map, mapped in maps[1:]:
        assert_array_equal(mapped.matrix, maps[0][1].matrix)
        assert row_map.scale is None or np.array_equal(row_map.scale, maps[0][0].scale)
    assert mapped.matrix.dtype == np.float64


# Rows that no one has asked for yet, and a place among them: the same rows, whichever way they are come by.
WAYS = {
    "a part": lambda rows, where: rows.part(where),
    "a part of a part": lambda rows, where: rows.part(slice(3, ROWS)).part(slice(where.start - 3, where.stop - 3)),
    "a part of a copy": lambda rows, where: copy(rows).part(where),
    "a part of a pickle": lambda rows, where: pickle.loads(pickle.dumps(rows)).part(where),
    "a pickled part": lambda rows, where: pickle.loads(pickle.dumps(rows.part(where))),
    "a fine part": lambda rows, where: FineRows(rows).part(where),
    "a part, fine": lambda rows, where: FineRows(rows.part(where)),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("layout", [np.ascontiguousarray, np.asfortranarray, np.float32])
def test_a_bound_looks_at_the_very_rows_that_a_solver_saw(layout, way):
    X = layout(some_data(columns=37)[0])
    known = Rows(X, "normalize", 0.3), Standardisation(3.0, 5.0)
    made = map_rows(*known, noise_source(0))[1]
    assert made.matrix.shape == (ROWS, 37)  # all are made, here
    for where in (slice(3, ROWS), slice(3, 4), slice(ROWS - 1, ROWS), slice(7, 90), slice(5, 5)):
        part = WAYS[way](map_rows(*known, noise_source(0))[1], where)
        assert (part.n_rows, part.dimension, part.constant) == (where.stop - where.start, 38, 0.3)
        assert_array_equal(part.matrix, made.matrix[where])
        assert_array_equal(part.factors, made.factors[where])
        assert_array_equal(part.norms(), made.norms()[where])


def test_parts_of_a_sample_are_those_of_the_sample():
    known = Rows(some_data()[0], "normalize"), Standardisation(3.0, 5.0)
    made = map_rows(*known, noise_source(0))[1]
    sample = map_rows(*known, noise_source(0))[1].every(7)
    assert_array_equal(sample.part(slice(2, 9)).matrix, made.matrix[::7][2:9])
    assert_array_equal(sample.part(slice(2, 9)).factors, made.factors[::7][2:9])


@pytest.mark.parametrize("of_single", [False, True], ids=["double", "single"])
@pytest.mark.parametrize("size", [1.0, 1e30, 0.0])
def test_rows_that_lend_a_copy_in_single_precision_stay_as_they_are(size, of_single):
    X = some_data()[0]
    X[::3] *= size
    known = Rows(X.astype(np.float32) if of_single else X, "normalize"), Standardisation(3.0, 5.0)
    fresh, other, made = (map_rows(*known, noise_source(0))[1] for _ in range(3))
    _ = made.matrix
    for rows, same in (
        (fresh, made),
        (fresh.part(slice(3, 90)), made.part(slice(3, 90))),
        (other.every(7), made.every(7)),
        (made.part(slice(3, 90)), made.part(slice(3, 90))),
    ):
        short = np.empty((rows.n_rows, rows.n_features), np.float32)
        short *= rows.shorten(short)[:, None]
        np.testing.assert_allclose(short, same.matrix * same.factors[:, None], atol=1e-6)
        assert_array_equal(rows.matrix, same.matrix)
        assert_array_equal(rows.factors, same.factors)


@pytest.mark.parametrize("first", ["matrix", "factors"])
def test_rows_are_made_while_rows_of_another_fit_are_being_made(first, monkeypatch):
    known = Rows(some_data()[0], "normalize"), Standardisation(3.0, 5.0)
    one, other = (map_rows(*known, noise_source(0))[1] for _ in range(2))
    each_block = standardisation.each_block

    another_thread = ThreadPoolExecutor(1)

    def meanwhile(rows, work):
        monkeypatch.undo()
        another_thread.submit(getattr, other, first).result(timeout=60)
        each_block(rows, work)

    monkeypatch.setattr(standardisation, "each_block", meanwhile)
    assert_array_equal(getattr(one, first), getattr(other, first))


def test_a_mapped_row_has_its_score_by_itself():
    X, theta = np.split(np.random.default_rng(1).standard_normal((4, 9000)), [3])  # wider than numpy sums at once
    row_map = release_map(X, Standardisation(3.0, 5.0), noise_source(0))
    with each_row_by_itself():
        whole, *alone = (
            np.concatenate([part.margins(theta[0]) for part in row_map.parts(rows)]) for rows in (X, *X[:, None])
        )
    assert_array_equal(np.concatenate(alone), whole)


def test_sparse_rows_are_scaled_and_stay_sparse_and_are_not_centred():
    X, _ = some_data()
    X[np.random.default_rng(2).random(X.shape) < 0.7] = 0.0
    dense, sparse = (map_rows(rows, Standardisation(None, 3.0), noise_source(1)) for rows in (X, sp.csr_array(X)))
    assert sp.issparse(sparse[1].matrix)
    assert_allclose(sparse[0].scale, dense[0].scale, rtol=1e-7)
    assert_allclose(sparse[1].matrix.toarray(), dense[1].matrix, rtol=1e-7)
    with pytest.raises(ValueError, match=r"^X must be dense where rows are centred, got sparse rows"):
        release_map(sp.csr_array(X), Standardisation(3.0, 3.0), noise_source(1))
    centred = RowMap(np.full(COLUMNS, 0.1), None)
    assert_allclose(centred.apply(sp.csr_array(X)), centred.apply(X), rtol=1e-12)
    twice = sp.coo_array(([3.0, 1.0, 2.0], ([0, 0, 0], [0, 1, 1])), shape=(1, 2))  # which is added first
    assert_allclose(RowMap().apply(twice).toarray(), unit(np.array([[3.0, 3.0]])))


def test_rows_may_be_few_and_say_nothing():
    for shape in ((0, 3), (1, 1), (7, 1), (1, 4000)):
        row_map, mapped = map_rows(np.ones(shape), Standardisation(2.0, 2.0), noise_source(0), n_rows=5)
        assert mapped.matrix.shape == shape
        assert row_map.center.shape == row_map.scale.shape == shape[1:]
    X = np.array([[0.0, 0.0], [1e-160, 0.0], [1.0, 0.0], [2.0, 0.0]])
    assert_array_equal(RowMap().apply(X)[:2], 0.0)
    row_map, mapped = map_rows(X[2:], Standardisation(1e-9, 1e-9), noise_source(0))  # both are the centre, nearly
    assert np.isfinite(mapped.matrix).all()
    assert np.isfinite(row_map.scale).all()


def test_the_rows_given_are_never_written_to():
    X, _ = some_data()
    before = X.copy()
    map_rows(X, Standardisation(2.0, 2.0), noise_source(0))
    sparse = sp.csr_array(X)
    map_rows(sparse, Standardisation(None, 2.0), noise_source(0))
    assert_array_equal(X, before)
    assert_array_equal(sparse.toarray(), before)


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e200])
def test_what_is_no_number_is_refused_before_any_noise_is_drawn(bad):
    X, _ = some_data()
    X[3, 2] = bad

    def read(count):
        raise AssertionError("noise was drawn")

    source = dataclasses.replace(noise_source(0), read=read)
    with pytest.raises(ValueError, match="in row 3"):
        release_map(X, Standardisation(2.0, 2.0), source)
    with pytest.raises(ValueError, match=r"^n_rows must be "):
        release_map(some_data()[0], Standardisation(2.0, 2.0), source, n_rows=0)


# --- fits and their certificates


def fit_after(plan, epsilon=1.0, copies=1, constant=0.3):
    radius = (1 + constant**2) ** 0.5

    def calibrate(left):
        return calibrate_objective_perturbation(left, DELTA, lipschitz=radius, tau=1e-6)

    return calibrate_remaining(epsilon, DELTA, calibrate, plan.mechanisms(), copies=copies)


PLAN = full_standardisation(1.0, DELTA, ROWS, COLUMNS)
OPTIONS = {"delta": DELTA, "epsilon": 1.0, "steps": (PLAN,)}


def model_of(release):
    theta = np.atleast_2d(release.theta)
    coef, intercept = theta[:, :-1], 0.3 * theta[:, -1]
    model = SimpleNamespace(coef_=coef, intercept_=intercept, **release.published)
    return model, release.certificate.about(coef, intercept, release.published)


@pytest.fixture(scope="module")
def released():
    return perturb_and_solve(*some_data(), fit_after(PLAN), random_state=0, public_rows=ROWS, **OPTIONS)


@pytest.mark.thorough
def test_the_fit_is_that_of_the_mapped_rows(released):
    """Zero-cost checks: the noise is drawn in order, and the map's rows are what Algorithm 1 sees."""
    certificate, (X, targets) = released.certificate, some_data()
    assert (certificate.center_noise, certificate.scale_noise) == (PLAN.center_noise, PLAN.scale_noise)
    assert all(f"{word} " in repr(certificate) for word in ("center", "scale"))
    source = noise_source(0)
    row_map = release_map(X, PLAN, source, n_rows=ROWS)
    assert_array_equal(released.published["center_"], row_map.center)
    assert_array_equal(released.published["scale_"], row_map.scale)
    mechanism = fit_after(PLAN)
    linear = mechanism.perturbation(source, COLUMNS + 1).linear
    rows = Rows(row_map.apply(X), "normalize", 0.3)
    theta = released.theta
    slopes = -targets / (1 + np.exp(targets * rows.margins(theta)))
    gradient = rows.combine(slopes) + mechanism.objective.lam * theta + linear
    noise = mechanism.sigma_out * np.sqrt(COLUMNS + 1)
    assert np.linalg.norm(gradient) < 10 * noise * (mechanism.objective.lam + ROWS)


def test_several_draws_are_each_what_one_alone_is(released):
    several = perturb_and_solve_draws(
        *described(*some_data(), fit_after(PLAN), public_rows=ROWS, **OPTIONS), fit_after(PLAN), [5, 0]
    )
    assert_allclose(several[1].theta, released.theta, rtol=0, atol=1e-6)
    assert_array_equal(several[1].published["center_"], released.published["center_"])
    assert not np.array_equal(several[0].published["center_"], released.published["center_"])


def test_a_model_with_another_map_does_not_verify(released):
    model, certificate = model_of(released)
    assert certificate.verify(model)
    for name in ("center_", "scale_"):
        values = getattr(model, name)
        moved = np.nextafter(values, np.inf)
        for other in (moved, None, values[:-1], values.astype(np.longdouble)):
            assert not certificate.verify(SimpleNamespace(**{**vars(model), name: other}))


def test_a_certificate_does_not_verify_that_leaves_out_a_step_of_its_model(released):
    """Scaled without paying: the certificate of a model with scales has to name their noise."""
    model, certificate = model_of(released)
    for name in ("center_noise", "scale_noise"):
        unpaid = dataclasses.replace(certificate, **{name: None})
        assert unpaid.verify()  # by itself it is one of a cheaper release
        assert not unpaid.verify(model)
        assert not dataclasses.replace(unpaid, coefficients_sha256=certificate.coefficients_sha256).verify(model)


def test_steps_that_were_not_paid_for_and_clipped_rows_are_refused(released):
    """Calibrated as if there were no sums: neither the fit nor a certificate written by hand gets through."""
    with pytest.raises(ValueError, match=r"^row_norm must be 'normalize' where rows are centred or scaled"):
        perturb_and_solve(*some_data(), fit_after(PLAN), row_norm="clip", **OPTIONS)
    unpaid = fit_after(Standardisation(None, None))
    with pytest.raises(ValueError, match=r"^epsilon must be at least "):
        perturb_and_solve(*some_data(), unpaid, random_state=0, public_rows=ROWS, **OPTIONS)
    certificate = dataclasses.replace(
        released.certificate, sigma=unpaid.objective.sigma, lam=unpaid.objective.lam, sigma_out=unpaid.sigma_out
    )
    assert not certificate.verify()


def test_texts_without_a_map_are_what_they_were():
    mechanism = fit_after(Standardisation(None, None))
    certificate = perturb_and_solve(*some_data(), mechanism, delta=DELTA, random_state=0).certificate
    assert not {"center_noise", "scale_noise", "fits", "rest_weight"} & set(json.loads(certificate.to_json()))
    model = SimpleNamespace(coef_=np.ones((1, COLUMNS)), intercept_=np.ones(1), center_=np.ones(COLUMNS))
    named = certificate.about(model.coef_, model.intercept_)
    assert not named.verify(model)


def test_a_declared_number_of_rows_divides_the_sums():
    X, targets = some_data()
    twice = perturb_and_solve(
        X, targets, fit_after(PLAN), random_state=0, public_rows=2 * ROWS, rows_declared=True, **OPTIONS
    )
    assert_array_equal(twice.published["center_"], release_map(X, PLAN, noise_source(0), n_rows=2 * ROWS).center)
    assert twice.certificate.rows_declared
    counted = perturb_and_solve(X, targets, fit_after(PLAN), random_state=0, **OPTIONS).certificate
    assert (counted.public_rows, counted.rows_declared) == (ROWS, False)


def test_rows_that_cannot_be_used_count_as_none():
    X, targets = some_data()
    bad = np.vstack([X, np.full((1, COLUMNS), np.nan)])
    told = {**OPTIONS, "public_rows": ROWS, "random_state": 0, "on_error": "release"}
    mechanism = fit_after(PLAN)
    with_bad = perturb_and_solve(bad, np.append(targets, 1.0), mechanism, **told)
    without = perturb_and_solve(X, targets, mechanism, **told)
    assert_array_equal(with_bad.theta, without.theta)
    assert_array_equal(with_bad.published["center_"], without.published["center_"])
    none = perturb_and_solve(bad[-1:], targets[:1], mechanism, **told)
    assert none.certificate.verify()


@pytest.mark.parametrize("lam", [None, 3.0])
@pytest.mark.parametrize("adjacency", ["add/remove", "replace"])
@pytest.mark.parametrize("people", [1, 2])
def test_output_perturbation_pays_for_the_map_as_well(lam, adjacency, people):
    options = {"epsilon": 1.0, "delta": DELTA, "lam": lam, "adjacency": adjacency, "rows_per_person": people}
    plain = solve_and_perturb(*some_data(), random_state=0, **options)
    several = [solve_and_perturb(*some_data(), random_state=seed, steps=(PLAN_OF_ALL,), **options) for seed in (0, 1)]
    certificate = several[0].certificate
    assert certificate.verify()
    assert certificate.sigma * certificate.lam > plain.certificate.sigma * plain.certificate.lam
    assert not dataclasses.replace(certificate, scale_noise=certificate.scale_noise * 0.9).verify()
    assert not np.array_equal(several[0].published["scale_"], several[1].published["scale_"])
    assert plain.published == {}


PLAN_OF_ALL = full_standardisation(1.0, DELTA, ROWS, COLUMNS, adjacency="replace one row", rows_per_person=2)


# --- several classes


OF_CLASSES = ApproximateMinima(ObjectivePerturbation(20.0, 5.0, 1.09**0.5), 1e-6, 1.0)


def three_classes():
    X, _ = some_data()
    labels = np.digitize(X[:, 0], [0.5, 1.5])
    return X, np.where(labels == np.arange(3)[:, None], 1.0, -1.0)


@pytest.mark.thorough
@pytest.mark.parametrize("weight", [1.0, 0.5])
def test_several_classes_share_one_map_and_one_certificate(weight):
    X, targets = three_classes()

    def calibrate(left):
        return calibrate_objective_perturbation(left, DELTA, lipschitz=1.09**0.5, tau=1e-6)

    mechanism = calibrate_remaining(1.0, DELTA, calibrate, PLAN.mechanisms(), copies=3, rest_weight=weight)
    release = perturb_and_solve(X, targets, mechanism, random_state=0, rest_weight=weight, **OPTIONS)
    assert release.theta.shape == (3, COLUMNS + 1)
    assert_array_equal(release.published["center_"], release_map(X, PLAN, noise_source(0)).center)
    model, certificate = model_of(release)
    assert (certificate.fits, certificate.rest_weight) == (3, weight)
    assert certificate.verify(model)
    assert not dataclasses.replace(certificate, fits=4).verify()
    assert not dataclasses.replace(certificate, fits=2).verify(model)
    assert not dataclasses.replace(certificate, clip=0.5).verify() or weight == 1.0
    one = SimpleNamespace(**{**vars(model), "coef_": model.coef_[:1], "intercept_": model.intercept_[:1]})
    assert not certificate.about(one.coef_, one.intercept_, vars(model)).verify(one)
    assert "fits" in repr(certificate)


def test_one_class_is_a_fit_like_any_other():
    X, targets = some_data()
    told = {"delta": DELTA, "random_state": 0, "epsilon": None}
    mechanism = fit_after(Standardisation(None, None))
    one = perturb_and_solve(X, targets, mechanism, **told)
    classes = perturb_and_solve(X, targets[None], mechanism, **told)
    assert_array_equal(classes.theta, one.theta[None])
    assert classes.certificate == one.certificate


def test_a_row_belongs_to_one_class_and_has_a_target_for_each():
    X, targets = three_classes()
    for shape in ((1, 1, ROWS), (0, ROWS), (3, ROWS + 1)):
        with pytest.raises(ValueError, match=r"^targets must "):
            perturb_and_solve(X, -np.ones(shape), OF_CLASSES, delta=DELTA)
    targets[:, 7] = [1.0, 1.0, -1.0]
    with pytest.raises(ValueError, match=r"^targets must be \+1\.0 for one class at most, got more in row 7"):
        perturb_and_solve(X, targets, OF_CLASSES, delta=DELTA)
    told = {"delta": DELTA, "on_error": "release", "random_state": 0}
    apart = np.arange(ROWS) != 7
    released, without = (perturb_and_solve(X[k], targets[:, k], OF_CLASSES, **told) for k in (slice(None), apart))
    assert_array_equal(released.theta, without.theta)


# --- rows about zero


def spread(rows, columns, offset, center_noise):
    """The largest weight over the smallest, of uneven columns off centre in a direction that nobody could guess."""
    generator = np.random.default_rng(0)
    scales = np.arange(1.0, columns + 1.0) ** -1.5
    X = generator.standard_normal((rows, columns)) * (scales / np.linalg.norm(scales))
    mean = generator.standard_normal(columns)
    X += offset * mean / np.linalg.norm(mean)
    weights = release_map(X, Standardisation(center_noise, 1.0), noise_source(1)).scale
    return weights.max() / weights.min()


def test_columns_are_weighted_less_where_the_centre_misses_much():
    seen, missed = spread(2000, 400, 2.0, center_noise=2.0), spread(2000, 400, 2.0, center_noise=100.0)
    assert missed < 1.2
    assert seen > 2


@pytest.mark.parametrize("center_noise", [2.0, 40.0])
def test_rows_about_zero_keep_their_weights_though_the_centre_is_nothing_but_noise(center_noise):
    assert spread(2000, 400, 0.0, center_noise) > 2


def test_no_mapped_row_is_longer_than_one():
    """In exact arithmetic, where the computed norm is off in its last digits."""
    X = np.random.default_rng(3).standard_normal((60, 300)) * 10.0 ** np.random.default_rng(4).integers(-3, 4, 300)
    rows = map_rows(X, Standardisation(3.0, 5.0), noise_source(0))[1]
    for made in (rows.part(slice(0, 30)), rows):
        for row, factor in zip(made.matrix, made.factors, strict=True):
            length = sum(Fraction(float(entry)) ** 2 for entry in row) * Fraction(float(factor)) ** 2
            assert 1 - Fraction(1, 10**12) < length <= 1
