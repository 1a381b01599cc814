"""Exact divergences of tiny releases, by the code's own steps with noise of a small law in place of the normal one.

All data sets of a few rows are gone through, and all values of the noise: so the law of what is published is known
exactly, as whole numbers. Between any neighbours its hockey-stick divergence must stay within that of the noise itself
and its worst shift by a vector of whole numbers, no longer than the stated sensitivity. The second of two sums may be
shifted by what the first has released. T45 (centre and scales), T47 (histograms), T48 (counts of the classes), T49 (a
coin for each person), T50 (curvature) and T55 (pieces of columns) say how long a shift may be.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, product
from math import isqrt, prod
from typing import Any

import numpy as np
import pytest

from objpert_core.accounting import IntervalNoise, RangeNoise, Standardisation
from objpert_core.accounting.steps.class_counts import ClassCounts
from objpert_core.accounting.steps.pieces import PieceNoise
from objpert_core.evaluation import split, split_by_coin
from objpert_core.learning.problem.rows import Rows, TableRows
from objpert_core.learning.row_sources import InMemory
from objpert_core.learning.steps import standardisation
from objpert_core.learning.steps.base import PublicRows, Some, take
from objpert_core.learning.steps.pieces import Column, TableColumns
from objpert_core.learning.steps.ranges import Ranges

LAW = {-2: 1, -1: 4, 0: 6, 1: 4, 2: 1}
"""Of the noise on one number, in sixteenths."""
ODDS = (Fraction(1), Fraction(3, 2), Fraction(4))
"""e^ε, at which divergences are compared."""
ADD, REPLACE = 1, 2

Row = tuple[tuple[float, ...], float]
Part = tuple[int, int]
"""A sum of so many numbers, and the largest squared length of a shift, in units of the lattice."""


class Scripted:
    """A source whose noise is given."""

    def __init__(self, drawn: Iterable[int]) -> None:
        self._drawn = iter(drawn)

    def rounded_normal(self, _ratio: float, size: int) -> np.ndarray:
        return np.array([next(self._drawn, 0) for _ in range(size)], dtype=np.int64)


def in_memory(rows: Sequence[Row], columns: int, targets: Any = None, constant: float = 0.0) -> InMemory:
    X = np.array([entries for entries, _ in rows], dtype=float).reshape(-1, columns)
    labels = np.array([label for _, label in rows]) if targets is None else targets
    return InMemory(Rows(X, "normalize", constant), labels)


def law_of(step: Any, rows: InMemory, public: PublicRows, places: Sequence[int]) -> Counter[str]:
    """The weights of all that may be published, with noise at these places only."""
    found, size = Counter[str](), 1 + max(places, default=0)
    for values in product(LAW, repeat=len(places)):
        drawn = np.zeros(size, dtype=np.int64)
        drawn[list(places)] = values
        published = take(step, rows, Scripted(drawn.tolist()), public).published()  # type: ignore[arg-type]
        key = repr([(name, None if one is None else one.tobytes()) for name, one in sorted(published.items())])
        found[key] += prod(LAW[value] for value in values)
    return found


def divergence(one: Counter[str], other: Counter[str], odds: Fraction) -> Fraction:
    return sum((max(Fraction(0), one[key] - odds * other[key]) for key in one), Fraction(0)) / one.total()


def shifts(size: int, squared: int) -> Iterator[tuple[int, ...]]:
    reach = range(-isqrt(squared), isqrt(squared) + 1)
    return (shift for shift in product(reach, repeat=size) if sum(one * one for one in shift) <= squared)


@cache
def limit(parts: tuple[Part, ...], odds: Fraction, left: int = 1, right: int = 1) -> Fraction:
    """The largest divergence of sums that follow each other, with any shifts that are allowed, each by those before."""
    if not parts:
        return max(Fraction(0), left - odds * right)
    (size, squared), *rest = parts
    worst = Fraction(0)
    for shift in shifts(size, squared):
        total = Fraction(0)
        for values in product(LAW, repeat=size):
            moved = prod(LAW.get(value - by, 0) for value, by in zip(values, shift, strict=True))
            total += limit(tuple(rest), odds, left * prod(LAW[value] for value in values), right * moved)
        worst = max(worst, total / 16**size)
    return worst


def neighbours(
    alphabet: Sequence[Row], most: int, persons_rows: int, how: int
) -> Iterator[tuple[tuple[Row, ...], ...]]:
    """All pairs of data sets with one person more or another one, who has so many rows."""
    for count in range(most + 1 - persons_rows):
        for others in combinations_with_replacement(alphabet, count):
            for person in combinations_with_replacement(alphabet, persons_rows):
                if how == ADD:
                    yield others, (*person, *others)
                    yield (*person, *others), others
                else:
                    for another in combinations_with_replacement(alphabet, persons_rows):
                        yield (*others, *person), (*another, *others)


def assert_within(laws: Any, pairs: Iterable[Any], parts: tuple[Part, ...]) -> None:
    """`laws` gives the law of a data set; if no two laws differed, nothing would have been tried."""
    known, largest = cache(laws), dict.fromkeys(ODDS, Fraction(0))
    for one, other in pairs:
        for odds in ODDS:
            largest[odds] = max(largest[odds], divergence(known(one), known(other), odds))
    for odds in ODDS:
        assert largest[odds] <= limit(parts, odds)
    assert largest[ODDS[0]] > 0


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(("how", "persons_rows"), [(ADD, 1), (REPLACE, 1), (ADD, 2), (REPLACE, 2)])
def test_weights_by_counts_of_classes(classes, how, persons_rows):
    """The counts move by 1, √2 where a row is replaced, and k times that for k rows."""
    alphabet = [((0.0,), float(label)) for label in range(classes)]

    def laws(rows: Any) -> Counter[str]:
        labels = np.array([label for _, label in rows])
        targets = np.where(labels == np.arange(classes)[:, None], 1.0, -1.0)
        given = in_memory(rows, 1, targets if classes > 2 else 2.0 * labels - 1)
        return law_of(ClassCounts(0.25), given, PublicRows(5, 1, classes=classes), range(classes))

    squared = persons_rows**2 * how
    assert_within(laws, neighbours(alphabet, 3, persons_rows, how), ((classes, squared),))


@pytest.mark.parametrize("how", [ADD, REPLACE])
@pytest.mark.parametrize("columns", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_centre_and_scales(monkeypatch, columns, how):
    """Σu moves by 1, or by 2 where a row is replaced, and Σ|z| by 1 or √2; the lattice is half of 1 here."""
    monkeypatch.setattr(standardisation, "SPACING", 0.5)
    entries = [(1.0,), (-3.0,), (0.0,), (-0.0,), (5e-324,), (1e149,), (-1e-150,)]
    if columns == 2:
        entries = [(1.0, 0.0), (0.0, -7.0), (0.6, 0.8), (0.0, -0.0), (5e-324, 1e149)]
    rows = [(one, 1.0) for one in entries]

    def laws(data: Any) -> Counter[str]:
        plan = Standardisation(1.0, 1.0)
        return law_of(plan, in_memory(data, columns), PublicRows(4, columns), range(2 * columns))

    parts = ((columns, 4 * (4 if how == REPLACE else 1)), (columns, 4 * how))
    assert_within(laws, neighbours(rows, 3 - columns + (how == ADD), 1, how), parts)


@pytest.mark.parametrize("plan", [RangeNoise(1.0, None, 1), RangeNoise(None, 1.0, 1)], ids=["magnitudes", "places"])
@pytest.mark.parametrize("how", [ADD, REPLACE])
def test_ranges_of_histograms(monkeypatch, plan, how):
    """One bin of each column moves by 1. Noise is gone through where the counts of some row may be, and is 0 beside."""
    monkeypatch.setattr("objpert_core.learning.steps.ranges._SPACING", 1.0)
    known = () if plan.magnitudes else (Ranges(np.array([-1.0]), np.array([3.0])),)
    entries = (0.0, -0.0, 5e-324, np.nextafter(1.0, 0.0), 1.0, 1e149)
    public = PublicRows(8, 1, outcomes=known)
    bins = {entry: place_of(plan, public, entry) for entry in entries}
    for one, other in product(entries, repeat=2):
        places = sorted({bins[one], bins[other]})
        if how == ADD and one != other:
            continue
        both = ((((one,), 1.0),) * 3, (((one,), 1.0),) * 2 + ((((other,), 1.0),) if how == REPLACE else ()))
        laws = [law_of(plan, in_memory(rows, 1), public, places) for rows in both]
        for odds, (left, right) in product(ODDS, (laws, laws[::-1])):
            assert divergence(left, right, odds) <= limit(((len(places), how),), odds)


def place_of(plan: RangeNoise, public: PublicRows, entry: float) -> int:
    """The only bin in which a row with this entry is counted."""
    seen: list[np.ndarray] = []

    class Counts(InMemory):
        def sum(self, of: Any) -> np.ndarray:
            seen.append(super().sum(of))
            return seen[-1]

    rows = Counts(Rows(np.array([[entry]]), "normalize"), np.ones(1))
    take(plan, rows, Scripted([]), public)  # type: ignore[arg-type]
    (counted,) = seen
    assert sorted(counted.tolist())[-2:] == [0, 1]
    assert counted.sum() == 1
    return int(counted.argmax())


@pytest.mark.parametrize(
    ("columns", "size", "entries"),
    [
        pytest.param((Column(categories=1),), 3, [(0.0,), (7.0,), (np.nan,)], id="a category"),
        pytest.param((Column(ends=(1.0,)),), 3, [(1.0,), (np.nextafter(1.0, 0.0),), (np.nan,)], id="declared pieces"),
        pytest.param(
            *((Column(categories=0), Column(ends=())), 4, [*product((0.0, np.nan), repeat=2)]),
            marks=pytest.mark.slow,
            id="both",
        ),
        pytest.param(
            *((Column(low=0.0, high=1.0),), 4, [(-np.inf,), (1.0,), (1e308,), (np.nan,)]),
            marks=pytest.mark.slow,
            id="a declared range",
        ),
    ],
)
@pytest.mark.parametrize("how", [ADD, REPLACE])
def test_pieces_of_columns_of_which_something_is_known(monkeypatch, columns, size, entries, how):
    """One piece or cell of each column moves by 1."""
    monkeypatch.setattr("objpert_core.accounting.steps.pieces._MOST_CELLS", 1)
    table = TableColumns(columns, 3.0)
    noises = (0.25 if table.counted[name] else None for name in ("unknown", "numbers", "listed"))
    step, public = PieceNoise(*noises, **table.counted), PublicRows(1, len(columns), outcomes=(table,))

    def laws(rows: Any) -> Counter[str]:
        return law_of(step, of_a_table([entry for entry, _ in rows], len(columns)), public, range(size))

    pairs = neighbours([(entry, 1.0) for entry in entries], 2, 1, how)
    assert_within(laws, pairs, ((size, how * len(columns)),))


def of_a_table(rows: Sequence[tuple[float, ...]], columns: int) -> InMemory:
    return InMemory(TableRows(np.array(rows, dtype=float).reshape(-1, columns)), np.ones(len(rows)))


ODD = (0.0, -0.0, 5e-324, np.nextafter(1.0, 0.0), 1.0, 1e149, -np.inf, np.nan)


@pytest.mark.parametrize("entries", [(0.0, np.nan), pytest.param(ODD, marks=pytest.mark.slow)], ids=["some", "odd"])
@pytest.mark.parametrize("how", [ADD, REPLACE])
def test_pieces_of_columns_of_which_nothing_is_known(monkeypatch, how, entries):
    """One bin and then one cell of each column move by 1, where the first counts decide on the cells. Noise is gone
    through where the counts of some row may be, and is 0 beside."""
    monkeypatch.setattr("objpert_core.accounting.steps.pieces._MOST_CELLS", 2)
    public = PublicRows(4, 1, outcomes=(TableColumns((Column(),), 3.0),))
    step = PieceNoise(0.25, 0.25, None, unknown=1, numbers=1, listed=0)
    for one, other in product(entries, repeat=2) if how == REPLACE else zip(entries, entries, strict=True):
        both = [one] * 3, [one] * 2 + ([other] if how == REPLACE else [])
        laws = [law_of_two(step, rows, {one, other}, public) for rows in both]
        for odds, (left, right) in product(ODDS, (laws, laws[::-1])):
            assert divergence(left, right, odds) <= limit(((2, how), (2, how)), odds)


def law_of_two(step: Any, rows: Sequence[float], entries: Iterable[float], public: PublicRows) -> Counter[str]:
    """The law of what two sums publish, with noise where rows with these entries are counted."""
    asked, found = list[Any](), Counter[str]()

    class Counts(InMemory):
        def sum(self, of: Any) -> np.ndarray:
            asked.append(of)
            return super().sum(of)

    given = Counts(TableRows(np.array(rows)[:, None]), np.ones(len(rows)))
    kinds = [Some(np.array([[entry]]), np.ones(1)) for entry in entries]

    def published(*noises: dict[int, int]) -> str:
        source = iter(noises)

        class Noise:
            def rounded_normal(self, _ratio: float, size: int) -> np.ndarray:
                drawn = next(source, {})
                return np.array([drawn.get(place, 0) for place in range(size)], dtype=np.int64)

        asked.clear()
        return repr(take(step, given, Noise(), public).published()["pieces_"].tobytes())  # type: ignore[arg-type]

    def places(of: Any) -> list[int]:
        return sorted({int(of(kind).argmax()) for kind in kinds})

    published()
    for first in noise_at(places(asked[0])):
        published(first)
        cells = places(asked[1])
        for second in noise_at(cells):
            weight = prod(LAW[one] for one in (*first.values(), *second.values()))
            found[published(first, second)] += weight * 16 ** (2 - len(cells))
    return found


def noise_at(places: Sequence[int]) -> Iterator[dict[int, int]]:
    return (dict(zip(places, values, strict=True)) for values in product(LAW, repeat=len(places)))


@pytest.mark.parametrize("how", [ADD, REPLACE])
def test_curvature_and_squared_gradients(how):
    """In whole numbers a + c on the diagonal and b beside it move by a² + c² + 2b² ≤ (R²/4h²)², twice if replaced."""
    entries = ((1.0, 0.0), (-0.6, 0.8), (0.0, -0.0), (1e149, 1e149))
    rows = list(product(entries, (-1.0, 1.0)))
    for theta in ([0.0, 0.0], [1e-3, 2.0], [-40.0, 7.0]):
        sums: dict[Any, np.ndarray] = {}
        for row in rows:
            for noise in (IntervalNoise(1.0, 1.0), IntervalNoise(2.0**44, 2.0**44)):  # a fine lattice, and a coarse one
                sums[row, noise] = whole_sums(noise, [row], theta)
        for (row, noise), (another, same) in product(sums, repeat=2):
            if noise != same or (how == ADD and row != another):
                continue
            moved = sums[row, noise] - (sums[another, noise] if how == REPLACE else 0)
            for half, most in zip(np.split(moved, 2), (0.25, 1.0), strict=True):
                diagonal, beside = half[:2], half[2:]
                assert diagonal @ diagonal + 2 * beside @ beside <= how * most**2
            both = whole_sums(noise, [row, another], theta)  # to the last digit
            np.testing.assert_array_equal(both, sums[row, noise] + sums[another, noise])


def whole_sums(noise: IntervalNoise, rows: Sequence[Row], theta: Sequence[float]) -> np.ndarray:
    """What is released without noise: diagonals and what stands beside them, of both sums."""
    public = PublicRows(4, 2, theta=np.array(theta))
    released = take(noise, in_memory(rows, 2), Scripted([]), public).published()  # type: ignore[arg-type]
    both = released["hessian_"], released["outer_"]
    return np.concatenate([[one[0, 0], one[1, 1], one[0, 1]] for one in both])


@pytest.mark.parametrize("how", [ADD, REPLACE])
def test_a_coin_for_each_person(monkeypatch, how):
    """Weights of the training part's classes, then counts of the test part by cells that these weights decide: all
    coins are gone through, and the divergence is within the mean of both parts' (T49)."""
    heads = Fraction(1, 4)
    alphabet = [((0.0,), -1.0), ((0.0,), 1.0)]
    public = PublicRows(5, 1)
    coins: list[int] = []
    monkeypatch.setattr(split, "selected", lambda _source, count, _share: np.flatnonzero(coins[:count]))

    def laws(rows: Any) -> Counter[str]:
        found = Counter[str]()
        X = np.zeros((len(rows), 1))
        y = np.array([label for _, label in rows])
        for fallen in product((0, 1), repeat=len(rows)):
            coins[:] = fallen
            weight = prod(1 if coin else 3 for coin in fallen) * 4 ** (3 - len(rows))
            parts = split_by_coin(X, y) if len(rows) else (X, X, y, y)
            train = law_of(ClassCounts(0.25), in_memory([((0.0,), one) for one in parts[2]], 1), public, range(2))
            for theta, chance in train.items():
                turned = [((0.0,), one if decided_by(theta) else -one) for one in parts[3]]
                for scores, share in law_of(ClassCounts(0.25), in_memory(turned, 1), public, range(2)).items():
                    found[theta + scores] += weight * chance * share
        return found

    own = {odds: limit(((2, how),), odds) for odds in ODDS}
    pairs = list(neighbours(alphabet, 2, 1, how))
    known = {rows: laws(rows) for pair in pairs for rows in pair}
    for one, other in pairs:
        for odds in ODDS:
            assert divergence(known[one], known[other], odds) <= (1 - heads) * own[odds] + heads * own[odds]


def decided_by(theta: str) -> bool:
    """Something that a released text decides."""
    return theta.count("f") % 2 == 0


def test_the_limit_is_that_of_one_shift_where_one_number_is_shifted():
    for odds in ODDS:
        by_hand = sum((max(Fraction(0), LAW[value] - odds * LAW.get(value - 1, 0)) for value in LAW), Fraction(0)) / 16
        assert limit(((1, 1),), odds) == by_hand
        assert limit(((2, 2),), odds) >= limit(((2, 1),), odds) >= by_hand
