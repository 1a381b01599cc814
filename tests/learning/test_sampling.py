import mpmath
import numpy as np
import pytest
from scipy import stats

from objpert_core.learning import NoiseSource, noise_source, sampling
from objpert_core.learning.noise import Unfolding
from objpert_core.learning.sampling import (
    Streams,
    allocated_batches,
    poisson_batches,
    poisson_count,
    selected,
    uniform_choices,
)
from tests.learning.taking import p_value, peak_of

LEVEL = 1e-3  # seeded, so the verdict never changes


def from_words(*words):
    return NoiseSource(lambda count: np.resize(np.array(words, dtype="<u8"), count // 8).tobytes(), "fixed", True)


def counted():
    """A source, and how many words were drawn from it in each turn."""
    drawn, state = [], np.random.default_rng(0)

    def read(count):
        drawn.append(count // 8)
        return state.bytes(count)

    return NoiseSource(read, "counted", True), drawn


def inclusion(n, q, steps, seed=0):
    """Which row was in which step's batch, shape (steps, n)."""
    table = np.zeros((steps, n), dtype=bool)
    for step, batch in enumerate(poisson_batches(noise_source(seed), n, q, steps)):
        assert np.all(np.diff(batch) > 0)
        table[step, batch] = True
    return table


@pytest.mark.parametrize("p", [0.004, 0.5, 0.97])
def test_gaps_are_geometric(p):
    gaps = sampling._gaps(noise_source(0), 50_000, p)
    law = stats.geom(p, loc=-1).pmf(np.arange(gaps.max() + 1)) * len(gaps)
    assert p_value(np.bincount(gaps.astype(int)), law) > LEVEL


@pytest.mark.parametrize("p", [2.0**-3, 0.3, 1e-3, 1e-9, 1 - 2.0**-20])
def test_gaps_are_what_their_digits_say(monkeypatch, p):
    """Counted as unsure, every gap is found with as many digits as it takes: the same as in doubles."""
    quick = sampling._gaps(noise_source(1), 60, p)
    monkeypatch.setattr(sampling, "_ROUNDING", 10.0)
    np.testing.assert_array_equal(sampling._gaps(noise_source(1), 60, p), quick)


def test_a_long_gap_is_as_exact_as_a_short_one():
    """Where the coin has 10,000 tails doubles cannot tell neighbours of the edge apart."""
    with mpmath.workdps(40):
        edge = (1 - (1 - mpmath.mpf(1e-6)) ** 10_000) * 2**64  # V = 1 − k·2⁻⁶⁴
    for k in (int(edge) + step for step in (-3, -1, 2, 4)):
        expected = 9_999 if k < edge else 10_000
        assert sampling._gaps(from_words(2 * k, 2**63), 1, 1e-6)[0] == expected


def test_a_gap_at_the_very_edge_is_decided_by_more_digits():
    """V just above ½, where the gap of a fair coin goes from 0 to 1, and V with 63 zeros, which could be anything."""
    fair = Unfolding(2**63, 64, noise_source(0).read)
    assert sampling._gap_exactly(fair, True, 0.5) == 0
    below = Unfolding(2**63 - 1, 64, noise_source(0).read)
    assert sampling._gap_exactly(below, True, 0.5) == 1
    assert sampling._gaps(from_words(1, 2**63 + 5), 1, 0.5)[0] >= 63


@pytest.mark.slow
@pytest.mark.parametrize("q", [0.003, 0.2, 0.9])
def test_every_row_joins_every_batch_with_the_sample_rate(q):
    n, steps = 60, 8_000
    table = inclusion(n, q, steps)
    counts = table.sum(axis=0)
    expected = steps * q
    chi2 = ((counts - expected) ** 2 / (expected * (1 - q))).sum()
    assert LEVEL < stats.chi2(n).sf(chi2) < 1 - LEVEL
    sizes = np.bincount(table.sum(axis=1), minlength=n + 1)
    assert p_value(sizes, stats.binom(n, q).pmf(np.arange(n + 1)) * steps) > LEVEL


def test_rows_join_independently_of_each_other_and_of_other_steps():
    q = 0.3
    table = inclusion(40, q, 10_000).astype(float)
    for one, other in (
        (table[:, :-1], table[:, 1:]),  # neighbours in one batch
        (table[:-1], table[1:]),  # a row in consecutive batches
        (table[:-1, -1], table[1:, 0]),  # where one batch ends and the next begins
    ):
        together = np.mean(one * other)
        error = np.sqrt(q**2 * (1 - q**2) / one.size)
        assert abs(together - q**2) < 5 * error


def test_the_number_of_random_numbers_is_about_that_of_the_rows_taken():
    source, drawn = counted()
    taken = sum(map(len, poisson_batches(source, 100_000, 0.001, 1000)))
    assert sum(drawn) < 1.1 * taken


def test_the_largest_gap_and_the_smallest_stay_in_range_and_all_rows_join_at_rate_one():
    assert [batch.tolist() for batch in poisson_batches(noise_source(0), 3, 1.0, 2)] == [[0, 1, 2]] * 2
    assert [len(batch) for batch in poisson_batches(noise_source(0), 0, 0.4, 3)] == [0, 0, 0]
    assert selected(from_words(1), 10**6, 1e-9).size == 0
    assert selected(from_words(0), 5, 1e-9).tolist() == [0, 1, 2, 3, 4]
    assert selected(noise_source(0), 0, 0.5).size == 0
    assert selected(noise_source(0), 10**6, 1e-300).size == 0


def steps_of(n, steps, epochs):
    """In which step of an epoch every row was, shape (epochs, n)."""
    batches = list(allocated_batches(noise_source(0), n, steps, epochs))
    assert len(batches) == steps * epochs
    assert all(np.all(np.diff(batch) > 0) for batch in batches)
    rows = np.concatenate(batches).reshape(epochs, n)
    when = np.repeat(np.arange(steps * epochs) % steps, list(map(len, batches))).reshape(rows.shape)
    order = np.argsort(rows, axis=1, kind="stable")
    assert np.array_equal(np.take_along_axis(rows, order, 1), np.tile(np.arange(n), (epochs, 1)))
    return np.take_along_axis(when, order, 1)


@pytest.mark.thorough
def test_every_step_is_equally_likely_for_every_row():
    found, expected = steps_of(10, 7, 1000), 1000 / 7
    table = np.array([np.bincount(steps, minlength=7) for steps in found.T])
    assert LEVEL < stats.chi2(10 * 6).sf(((table - expected) ** 2 / expected).sum()) < 1 - LEVEL


@pytest.mark.thorough
def test_rows_and_epochs_are_allocated_independently():
    steps, first = 3, steps_of(20, 3, 5000)
    share = np.bincount(first.ravel(), minlength=steps) / first.size
    for one, other in ((first[:, :-1], first[:, 1:]), (first[:-1], first[1:])):
        together = np.bincount((one * steps + other).ravel(), minlength=steps**2).reshape(steps, steps)
        expected = np.outer(share, share) * one.size
        assert stats.chi2(steps**2 - 1).sf(((together - expected) ** 2 / expected).sum()) > LEVEL


def test_allocation_takes_the_memory_and_the_words_of_the_rows_alone():
    source, drawn = counted()
    batches = allocated_batches(source, 20_000, 50, 30)
    assert peak_of(lambda: [len(batch) for batch in batches]) < 10 * 8 * 20_000
    assert sum(drawn) == 600_000


def test_few_rows_leave_steps_empty_one_step_has_all_and_no_steps_are_refused():
    assert [len(batch) for batch in allocated_batches(noise_source(0), 0, 3, 2)] == [0] * 6
    assert sorted(len(batch) for batch in allocated_batches(noise_source(0), 1, 3, 1)) == [0, 0, 1]
    assert [batch.tolist() for batch in allocated_batches(noise_source(0), 3, 1, 2)] == [[0, 1, 2]] * 2
    for numbers, named in (((0, 1), "steps must be a whole"), ((2, 0), "epochs")):
        with pytest.raises(ValueError, match=f"^{named}"):
            next(allocated_batches(noise_source(0), 5, *numbers))


@pytest.mark.slow
@pytest.mark.parametrize("mean", [0.3, 15.4, 60.0])
def test_the_number_of_runs_is_poisson(mean):
    source = noise_source(1)
    counts = np.bincount([poisson_count(source, mean) for _ in range(3000)])
    assert p_value(counts, stats.poisson(mean).pmf(np.arange(len(counts))) * 3000) > LEVEL


def test_choices_are_uniform_and_with_replacement():
    picks = uniform_choices(noise_source(0), 7, 7000)
    assert stats.chisquare(np.bincount(picks, minlength=7)).pvalue > LEVEL
    assert len(set(uniform_choices(noise_source(0), 3, 10))) <= 3


def test_streams_of_one_seed_differ_by_name_and_repeat():
    def numbers(streams, *name):
        return tuple(streams.stream(*name).standard_normal(2))

    names = ((0,), (1,), (1, 0), (1, 2**63))
    others = (numbers(Streams(1).below(6, 1), 0), numbers(Streams(2), 0))
    seen = {*others, *(numbers(Streams(1), *name) for name in names)}
    assert len(seen) == 6
    assert numbers(Streams(1), 1) == numbers(Streams(1), 1)
    assert numbers(Streams(1).below(6), 1, 0) == numbers(Streams(1), 6, 1, 0)


def test_a_generator_is_used_once_and_moves_on_and_without_a_seed_every_stream_is_the_operating_system():
    rng = np.random.default_rng(0)
    first, second = Streams(rng), Streams(rng)
    assert first.stream(0).standard_normal(1) != second.stream(0).standard_normal(1)
    assert (first.origin, first.reproducible) == ("numpy Generator", True)
    streams = Streams()
    assert streams.stream(3) is streams.stream(4)
    assert (streams.origin, streams.reproducible) == ("operating system", False)
    assert streams.below(1).stream(3).origin == "operating system"
