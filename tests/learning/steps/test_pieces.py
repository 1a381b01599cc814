"""Pieces of columns: what a row adds to each count, what a row becomes, and what is made of noisy counts."""

import math
import pickle

import numpy as np
import pytest

from objpert_core.accounting import (
    ADD_REMOVE,
    REPLACE_ONE,
    Standardisation,
    calibrate_objective_perturbation,
)
from objpert_core.accounting.steps.pieces import PieceNoise, recommended_pieces
from objpert_core.accounting.terms import Terms
from objpert_core.learning.fit import Problem
from objpert_core.learning.objective_perturbation import perturb_and_solve_draws
from objpert_core.learning.output_perturbation import solve_and_perturb
from objpert_core.learning.problem.codes import CodedRows
from objpert_core.learning.problem.losses import LOGISTIC
from objpert_core.learning.problem.rows import TableRows
from objpert_core.learning.steps.base import Some
from objpert_core.learning.steps.pieces import (
    MAGNITUDES,
    Column,
    Pieces,
    PiecesOf,
    TableColumns,
    cells_between,
    cells_of_magnitudes,
    maps_of,
    merged,
    pieces_of,
    places,
)

COLUMNS = [Column(), Column(categories=3), Column(low=0.0, high=10.0), Column(), Column(categories=2)]
NOISE = recommended_pieces(1.0, 1e-5, unknown=2, numbers=3, listed=2)
ODD = [0.0, -0.0, 1.0, 2.0, 10.0, -3.5, 1e-320, 1e300, math.inf, -math.inf, math.nan]


def a_table(n, seed=0):
    rng = np.random.default_rng(seed)
    gains = np.where(rng.random(n) < 0.9, 0.0, rng.choice([3000.0, 7000.0, 15000.0], n))
    columns = [rng.normal(40, 12, n), rng.integers(0, 4, n), rng.uniform(-1, 11, n), gains, rng.integers(0, 2, n)]
    table = np.column_stack(columns).astype(np.float64)
    table[rng.random(table.shape) < 0.03] = math.nan
    return table


def released(table, noise=NOISE, seed=0, pieces=8.0, columns=COLUMNS, n_rows=None):
    """The pieces, and the statistics that were asked for; noise by a generator that is good enough here."""
    rng, asked = np.random.default_rng(seed), []
    steps = pieces_of(columns, noise, len(table) if n_rows is None else n_rows, pieces)
    noisy = None
    while True:
        try:
            statistic = steps.send(noisy)
        except StopIteration as done:
            return done.value, asked
        asked.append(statistic)
        exact = statistic.of(Some(table, np.zeros(len(table))))
        sigmas = np.concatenate([np.full(count, sigma) for sigma, count in statistic.noise])
        assert exact.dtype.kind == "i"
        noisy = exact + np.round(sigmas * rng.standard_normal(len(exact)))


def test_a_row_moves_each_sum_by_as_much_as_is_paid_for():
    rows = np.array([[one] * len(COLUMNS) for one in ODD])
    _, (first, second) = released(np.vstack([a_table(20_000), rows]))
    magnitudes, cells, categories = NOISE.mechanisms()
    assert [part.sigma for part in (magnitudes, cells, categories)] == [
        first.noise[0][0],
        *(s for s, _ in second.noise),
    ]
    split = second.noise[0][1]
    for x in (*rows, *a_table(50, seed=1)):
        alone = Some(x[None], np.zeros(1))
        counts = first.of(alone), second.of(alone)[:split], second.of(alone)[split:]
        for part, own in zip((magnitudes, cells, categories), counts, strict=True):
            moved = float(np.linalg.norm(own))
            assert moved <= part.sensitivity <= moved * (1 + 1e-12), x
            assert set(own.tolist()) <= {0, 1}
    one, other = (Some(np.array([[v, 0, v, v, 0]], dtype=float), np.zeros(1)) for v in (1.0, 7.0))
    moved = float(np.linalg.norm(first.of(one) - first.of(other)))
    assert moved <= NOISE.mechanisms(REPLACE_ONE)[0].sensitivity <= moved * (1 + 1e-12)
    assert NOISE.mechanisms(ADD_REMOVE, 3)[1].sensitivity == pytest.approx(3 * math.sqrt(3), rel=1e-12)


def test_a_row_has_one_piece_of_each_column_which_no_other_row_decides():
    table = a_table(5000)
    found, asked = released(table)
    rows = np.vstack([table[:60], [[one] * len(COLUMNS) for one in ODD]])
    codes = np.array([one.codes(rows[:, j]) for j, one in enumerate(found)])
    for j, one in enumerate(found):
        assert 0 <= codes[j].min() <= codes[j].max() < len(one.shares)
        assert (codes[j] == len(one.shares) - 1).tolist() == np.isnan(rows[:, j]).tolist()
        assert one.shares.min() >= 0
        assert one.shares.sum() == pytest.approx(1.0)
        order = np.random.default_rng(1).permutation(len(rows))
        assert np.array_equal(one.codes(np.asfortranarray(rows[order])[:, j]), codes[j][order])
    rows = CodedRows(codes.astype(np.uint16), maps_of(found), 0.3)
    lines = sum(one.starts is not None and one.size > 3 for one in found)
    assert rows.dimension == 1 + sum(one.size for one in found) + lines
    assert pickle.loads(pickle.dumps(asked[1].of))(Some(table, np.zeros(5000))).sum() == 5 * 5000


def test_pieces_find_what_many_rows_share_and_hold_about_equal_counts():
    found, _ = released(a_table(100_000))
    gains = found[3]
    assert gains.shares.max() == pytest.approx(0.9 * 0.97, abs=0.01)
    assert gains.codes(np.zeros(1)) == [np.argmax(gains.shares)]
    assert len(set(gains.codes(np.array([0.0, 3000.0, 7000.0, 15000.0])).tolist())) == 4
    ages = found[0]
    assert 6 <= ages.size - 1 <= 12
    assert ages.shares[:-1].max() < 0.25
    assert ages.shares[-1] == pytest.approx(0.03, abs=0.005)
    mean = sum(one.shares @ np.einsum("ij,ij->i", own, own) for one, own in zip(found, maps_of(found), strict=True))
    assert mean == pytest.approx(1.0)


def test_where_noise_hides_all_rows_a_column_is_one_piece_and_a_fit_can_go_on():
    noise = PieceNoise(1e5, 1e5, 1e5, unknown=2, numbers=3, listed=2)
    for n in (0, 1, 50):
        found, _ = released(a_table(50)[:n], noise, n_rows=50)
        codes = np.array([one.codes(a_table(50)[:, j]) for j, one in enumerate(found)])
        assert all(np.isfinite(own).all() for own in maps_of(found))
        assert CodedRows(codes, maps_of(found), 0.3).factors.min() > 0


def test_cells_cover_every_number_once():
    counts = np.zeros(len(MAGNITUDES))
    for value, many in ((0.0, 5000), (-3.0, 800), (12.0, 2000), (1e30, 900)):
        counts[places(MAGNITUDES, np.array([value]))] += many
    cells = cells_of_magnitudes(counts, 10.0, 60, 20.0)
    assert cells.starts[0] == -math.inf
    assert (np.diff(cells.starts) > 0).all()
    assert 40 <= (cells.bins >= 0).sum() <= 70
    one, zero, other = places(cells.starts, np.array([-1e-300, 0.0, 1e-300]))
    assert one < zero < other
    between = cells_between(0.0, 10.0, 20)
    low, first, last, high = places(between.starts, np.array([-0.1, 0.0, 10.0, 10.1]))
    assert (low, first, high - last) == (0, 1, 1)


@pytest.mark.parametrize("seed", range(20))
def test_merged_cells_are_all_there_and_no_piece_is_below_its_noise(seed):
    rng = np.random.default_rng(seed)
    sigma, size = rng.uniform(0, 60), int(rng.integers(1, 80))
    counts = rng.gamma(0.3, 300, size) + sigma * rng.standard_normal(size)
    starts = merged(counts, sigma, max(counts.sum(), 1.0), rng.uniform(1, 20))
    assert starts[0] >= 0
    assert (np.diff(starts) > 0).all()
    starts[0] = 0
    totals = np.add.reduceat(counts, starts)
    if len(starts) > 1:
        assert totals.min() >= 0
        assert (totals >= 2 * sigma - 1e-9).sum() >= len(starts) - 2  # small runs at an end go with a neighbour


def test_what_is_published_says_what_the_pieces_are():
    columns = [*COLUMNS, Column(ends=(1.0, 5.0))]
    table = np.column_stack([a_table(5000), np.linspace(-1, 7, 5000)])
    counted = TableColumns(tuple(columns), 8.0).counted
    assert counted == {"unknown": 2, "numbers": 3, "listed": 3}
    found, (_, second) = released(table, recommended_pieces(1.0, 1e-5, **counted), columns=columns)
    assert second.noise[1] == (second.noise[1][0], 5 + 4 + 4)  # of declared pieces, those and missing values
    assert found[-1].starts.tolist() == [-math.inf, 1.0, 5.0]
    pieces = Pieces(tuple(found))
    published = pieces.published()["pieces_"]
    assert np.isfinite(published).all()
    back = Pieces.read(published)
    rows = np.vstack([table[:100], [[one] * 6 for one in ODD]])
    assert np.array_equal(back.codes(rows), pieces.codes(rows))
    for one, other in zip(back.maps, pieces.maps, strict=True):
        assert np.array_equal(one, other)
    theta = np.random.default_rng(0).normal(size=(3, pieces.features + 1))
    for one, effects in zip(found, pieces.effects(theta), strict=True):
        assert effects.shape == (3, one.size)
        assert effects @ one.shares == pytest.approx(np.zeros(3), abs=1e-12)
    for wrong in (published[::-1], published[:, :2], published * [1, 1, -1], published[1:]):
        with pytest.raises(ValueError, match="pieces_ must"):
            Pieces.read(wrong)


def test_one_piece_has_no_line():
    one = PiecesOf(np.array([-np.inf]), np.array([0.9, 0.1]))
    assert one.coordinates()[0].shape == (2, 2)


def test_numbers_that_are_looked_up_by_buckets_lie_where_comparisons_say():
    rng = np.random.default_rng(3)
    odd = [np.nan, np.inf, -np.inf, 0.0, -0.0, 5e-324, -5e-324, 1.7e308, -1.7e308]
    values = np.concatenate([rng.normal(size=9000), np.exp(rng.normal(0, 30, 3000)), rng.integers(-9, 9, 3000), odd])
    for inner in (
        rng.normal(size=300),
        np.exp(rng.normal(0, 30, 200)),
        np.array([0.0, 5e-324]),
        np.array([-1.7e308, 0.0, 1.7e308]),
        np.array([-5e-324, 5e-324, 1e-300]),
        np.arange(-9.0, 9.0),
        MAGNITUDES[1:],
        np.array([1.0, 1.0, 2.0]),
    ):
        starts = np.append(-np.inf, np.sort(inner))  # a copy of MAGNITUDES, too, which crowd
        around = np.concatenate([values, starts, np.nextafter(starts, np.inf), np.nextafter(starts, -np.inf)])
        expected = (around[:, None] >= starts).sum(axis=1) - 1
        expected[np.isnan(around)] = len(starts)
        assert np.array_equal(places(starts, around), expected)


@pytest.mark.parametrize(
    ("steps", "columns", "message"),
    [
        ([NOISE], len(COLUMNS), None),
        ([NOISE], len(COLUMNS) - 1, "must count the 4 columns of X as"),
        ([PieceNoise(30.0, 20.0, 60.0, unknown=1, numbers=3, listed=2)], len(COLUMNS), "got {'unknown': 1, "),
        ([PieceNoise(30.0, 20.0, 60.0, unknown=2, numbers=2, listed=3)], len(COLUMNS), "'numbers': 2, 'listed': 3"),
        ([NOISE, Standardisation(20.0, None)], len(COLUMNS), "no PieceNoise beside center_noise"),
        ([], len(COLUMNS), "of which no step has made pieces"),
    ],
)
def test_the_columns_that_are_paid_for_are_those_of_the_table(steps, columns, message):
    table = a_table(400)[:, :columns]
    signs = np.where(np.arange(400) % 2, 1.0, -1.0)
    fit = calibrate_objective_perturbation(1.0, 1e-5, lipschitz=1.1, smoothness=0.3, tau=1e-4)
    terms = Terms(None, 1e-5, public_rows=400, rows_declared=True, steps=tuple(steps))
    solving = {"row_norm": "clip"}
    problem = Problem(TableRows(table), signs, LOGISTIC, solving=solving, declared=TableColumns(tuple(COLUMNS), 8.0))
    if message is None:
        (release,) = perturb_and_solve_draws(problem, terms, fit, [0])
        assert release.certificate.verify()
    else:
        with pytest.raises(ValueError, match=message):
            perturb_and_solve_draws(problem, terms, fit, [0])


@pytest.mark.parametrize("on_error", ["raise", "release"])
def test_rows_of_a_table_whose_norm_nothing_bounds_are_not_learned_from(on_error):
    rows = TableRows(np.full((400, 2), 1e6))
    with pytest.raises(ValueError, match="of which no step has made pieces"):
        solve_and_perturb(rows, np.ones(400), epsilon=1.0, delta=1e-5, row_norm="clip", on_error=on_error)


def test_blocks_of_rows_share_their_maps_in_memory():
    pieces = Pieces((PiecesOf(np.array([-np.inf, 30.0]), np.array([0.5, 0.5, 0.0])),))
    one, other = (pieces.apply(TableRows(np.full((3, 1), value))) for value in (18.0, 40.0))
    assert one.maps[0] is other.maps[0]
    assert pickle.dumps(pieces) == pickle.dumps(Pieces(pieces.columns))
