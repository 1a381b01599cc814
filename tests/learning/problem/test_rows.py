import numpy as np
import pytest
import scipy.sparse as sp

from objpert_core.learning.problem.rows import Rows, row_radius


def random_matrix(n=300, d=7, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) * rng.uniform(0.01, 100, size=(n, 1)) * (rng.random((n, d)) < 0.6)


def explicit(X, row_norm, constant):
    norms = np.linalg.norm(X, axis=1, keepdims=True)
    if row_norm == "clip":
        scaled = X / np.maximum(norms, 1.0)
    else:
        scaled = np.divide(X, norms, out=np.zeros_like(X), where=norms > 0)
    return np.column_stack([scaled, np.full(len(X), constant)]) if constant else scaled


FORMATS = {
    "dense": np.asarray,
    "fortran": np.asfortranarray,
    "strided": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "csr": sp.csr_matrix,
    "csr array": sp.csr_array,
    "csc": sp.csc_matrix,
}


@pytest.mark.parametrize("layout", FORMATS)
@pytest.mark.parametrize("row_norm", ["normalize", "clip"])
@pytest.mark.parametrize("constant", [0.0, 0.3])
def test_products_equal_those_of_the_explicit_matrix(layout, row_norm, constant):
    X = random_matrix()
    X[5] = 0.0
    expected = explicit(X, row_norm, constant)
    rows = Rows(FORMATS[layout](X), row_norm, constant)
    rng = np.random.default_rng(1)
    theta, weights = rng.normal(size=rows.dimension), rng.uniform(0, 1, size=len(X))
    np.testing.assert_allclose(rows.margins(theta), expected @ theta, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(rows.combine(weights), expected.T @ weights, rtol=1e-11, atol=1e-12)
    gram = expected.T @ (weights[:, None] * expected)
    np.testing.assert_allclose(np.triu(rows.gram(weights)), np.triu(gram), rtol=1e-11, atol=1e-12)
    sample = slice(None, None, 3)
    sampled = 3 * expected[sample].T @ (weights[sample, None] * expected[sample])
    np.testing.assert_allclose(np.triu(rows.gram(weights, 3)), np.triu(sampled), rtol=1e-11, atol=1e-12)


def test_many_blocks_and_single_precision_give_the_same_products(monkeypatch):
    monkeypatch.setattr("objpert_core.learning.problem.rows._BLOCK_BYTES", 1)
    X = random_matrix(n=1000).astype(np.float32)
    single, double = Rows(X, "normalize", 0.3), Rows(X.astype(np.float64), "normalize", 0.3)
    rng = np.random.default_rng(1)
    theta, weights = rng.normal(size=8), rng.uniform(0, 1, size=1000)
    assert len(list(single._parts())) > 10
    np.testing.assert_allclose(single.factors, double.factors, rtol=1e-15)
    np.testing.assert_allclose(single.margins(theta), double.margins(theta), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(single.combine(weights), double.combine(weights), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(single.gram(weights), double.gram(weights), rtol=1e-12, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("row_norm", ["normalize", "clip"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_no_row_is_longer_than_one_even_in_the_last_digit(row_norm, dtype, convert):
    from fractions import Fraction

    rng = np.random.default_rng(3)
    X = (rng.normal(size=(200, 5)) * 10.0 ** rng.integers(-3, 7, size=(200, 1))).astype(dtype)
    for row, factor in zip(X, Rows(convert(X), row_norm).factors, strict=True):
        scaled = [Fraction(float(x)) * Fraction(float(factor)) for x in row]
        assert sum(x * x for x in scaled) <= 1
        if row_norm == "normalize":
            assert sum(x * x for x in scaled) > Fraction(1) - Fraction(1, 10**12)


@pytest.mark.parametrize("row", [[0.0, 0.0], [1e-160, 0.0], [5e-324, 5e-324]])
@pytest.mark.parametrize("row_norm", ["normalize", "clip"])
def test_a_zero_row_stays_zero_and_speaks_through_the_constant_only(row, row_norm):
    rows = Rows(np.array([row]), row_norm, 0.5)
    np.testing.assert_allclose(rows.margins(np.array([1.0, 1.0, 1.0])), [0.5], atol=1e-100)


def test_entries_stored_twice_cannot_smuggle_in_a_longer_row():
    # (0.6, 0.6) at one place is 1.2, although the squares stored sum to 0.72
    twice = sp.csr_matrix((np.array([0.6, 0.6]), np.array([0, 0]), np.array([0, 2])), shape=(1, 2))
    twice.has_canonical_format = True  # a flag that lies
    rows = Rows(twice, "clip")
    assert rows.margins(np.array([1.0, 0.0]))[0] == pytest.approx(1.0)
    assert rows.margins(np.array([1.0, 0.0]))[0] <= 1.0
    assert twice.nnz == 2  # the caller's matrix is not written to


REPEATED = np.repeat(np.arange(3), 20)  # columns; with 60 entries a row is long enough for an unstable sort
LOUD = np.random.default_rng(0).normal(size=60) * np.tile([1e8, -1e8, 1.0], 20)


def beside(format, columns):
    """A row that stores many entries several times, and another row with these columns."""
    count = len(columns)
    where = (np.repeat([0, 1], [60, count]), np.concatenate([REPEATED, columns]))
    entries = np.concatenate([LOUD, np.ones(count)])
    if format == "csr":
        return sp.csr_array((entries, where[1], [0, 60, 60 + count]), shape=(2, 9))
    return sp.coo_array((entries, where), shape=(2, 9)).asformat(format)


@pytest.mark.parametrize("format", ["csr", "csc", "coo"])
def test_what_is_stored_twice_is_added_up_in_an_order_that_no_other_row_decides(format):
    sums = [Rows(beside(format, columns), "clip").matrix[[0]].toarray() for columns in ([], [2, 5], [5, 2], [4, 4])]
    for other in sums[1:]:
        np.testing.assert_array_equal(other, sums[0])
    assert sums[0][0, 1] == sum(LOUD[20:40])


@pytest.mark.parametrize("layout", ["rows", "columns", "every other", "backwards", "no address of its own", "single"])
@pytest.mark.parametrize("d", [1, 7, 100, 9001])
def test_a_norm_is_the_same_to_the_last_digit_wherever_a_row_stands_in_memory(layout, d):
    X = np.random.default_rng(d).normal(size=(70, d))
    X = X.astype(np.float32).astype(float) if layout == "single" else X
    expected = Rows(X, "normalize").factors

    def laid(part):
        if layout == "no address of its own":
            memory = np.zeros(part.nbytes + 4, dtype=np.uint8)
            memory[4:] = part.reshape(-1).view(np.uint8)
            return memory[4:].view(np.float64).reshape(part.shape)
        if layout == "single":
            return np.asfortranarray(part.astype(np.float32))
        if layout == "every other":
            return np.repeat(part, 2, axis=1)[:, ::2]
        return {"rows": part, "columns": np.asfortranarray(part), "backwards": part[::-1].copy()[::-1]}[layout]

    for rows in (slice(0, 70), slice(3, 5), slice(3, 4), slice(69, 70)):
        np.testing.assert_array_equal(Rows(laid(X[rows].copy()), "normalize").factors, expected[rows])


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e160])
@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array, np.float32])
@pytest.mark.parametrize("row_norm", ["normalize", "clip"])
@pytest.mark.filterwarnings("ignore:overflow")
def test_rows_that_have_no_norm_are_refused(bad, convert, row_norm):
    X = np.ones((4, 3))
    X[2, 1] = bad
    with pytest.raises(ValueError, match=r"X must hold finite numbers \(no NaN, no inf.*in row 2"):
        Rows(convert(X), row_norm)


def test_an_unknown_row_norm_is_refused():
    with pytest.raises(ValueError, match="row_norm must be one of 'normalize', 'clip', got 'l1'"):
        Rows(np.ones((2, 2)), "l1")


def test_the_data_are_neither_copied_nor_written_to():
    X = random_matrix()
    X.setflags(write=False)
    rows = Rows(X, "normalize", 0.3)
    rows.gram(np.ones(len(X)))
    assert rows.matrix is X
    csr = sp.csr_array(X)
    assert np.shares_memory(Rows(csr, "normalize").matrix.data, csr.data)


def test_radius_covers_every_row_with_its_constant():
    rows = Rows(random_matrix(), "normalize", 0.3)
    longest = max(np.linalg.norm(np.append(x * f, 0.3)) for x, f in zip(rows.matrix, rows.factors, strict=True))
    assert longest <= row_radius(0.3) == pytest.approx(np.sqrt(1.09))


@pytest.mark.parametrize("layout", FORMATS)
@pytest.mark.parametrize("constant", [0.0, 0.3])
def test_a_part_gives_the_products_of_its_rows(layout, constant):
    X = random_matrix()
    expected = explicit(X, "clip", constant)
    rows = Rows(FORMATS[layout](X), "clip", constant)
    rng = np.random.default_rng(1)
    theta = rng.normal(size=rows.dimension)
    for where in (slice(0, 5), slice(17, 40), slice(299, 300), slice(0, 300)):
        part, weights = rows.part(where), rng.normal(size=where.stop - where.start)
        assert part.n_rows == len(weights)
        np.testing.assert_allclose(part.margins(theta), expected[where] @ theta, rtol=1e-11, atol=1e-12)
        np.testing.assert_allclose(part.combine(weights), expected[where].T @ weights, rtol=1e-11, atol=1e-12)


def test_a_part_shares_its_rows_memory():
    X = random_matrix()
    assert np.shares_memory(Rows(X, "clip").part(slice(10, 20)).matrix, X)
    csr = sp.csr_array(X)
    assert np.shares_memory(Rows(csr, "clip").part(slice(10, 20)).matrix.data, csr.data)


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array, lambda X: X.astype(np.float32)])
@pytest.mark.parametrize("constant", [0.0, 0.3])
def test_the_squared_norm_is_bounded_from_above_and_not_by_much(convert, constant):
    for n, d in ((1, 4), (6, 4), (30, 7)):
        X = random_matrix(n, d, seed=n)
        rows = Rows(convert(X), "normalize", constant)
        exact = np.linalg.norm(explicit(X, "normalize", constant), 2) ** 2
        assert exact * (1 - 1e-6) <= rows.squared_norm() <= exact * min(n, d + 1) ** (1 / 8) * (1 + 1e-6)


def test_rows_of_zeros_have_norm_zero():
    assert Rows(np.zeros((3, 2)), "clip").squared_norm() == 0.0
