import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from objpert_core.learning import Rows
from objpert_core.learning.dp_sgd.optimizers import OPTIMIZERS
from objpert_core.learning.dp_sgd.training import Gradients, NoisySums, Schedule, sum_spacing, train_candidates
from objpert_core.learning.sampling import Streams, poisson_batches

RATES = [0.003, 0.05, 0.4]


def data(n=300, d=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.5)
    return X, np.where(X @ rng.normal(size=d) + rng.normal(size=n) > 0, 1.0, -1.0)


def clipped_sum_by_loop(X, targets, theta, clip, constant, row_norm, margin=0.0):
    """Each row's gradient on its own, rescaled to norm `clip` where it is longer, then added up."""
    total = np.zeros(len(theta))
    for x, t in zip(np.asarray(X, dtype=float), targets, strict=True):
        norm = np.linalg.norm(x)
        if norm > 1 or (row_norm == "normalize" and norm > 0):
            x = x / norm
        if constant:
            x = np.append(x, constant)
        gradient = -t * expit(margin - t * (x @ theta)) * x
        length = np.linalg.norm(gradient)
        assert length <= np.hypot(1, constant)
        total += gradient * min(1.0, clip / length) if length > 0 else 0.0
    return total


@pytest.mark.slow
@pytest.mark.parametrize("convert", [np.asarray, np.asfortranarray, sp.csr_array, sp.csr_matrix, np.float32])
@pytest.mark.parametrize(("constant", "row_norm"), [(0.3, "normalize"), (0.0, "clip"), (1.0, "clip")])
@pytest.mark.parametrize("clip", [0.05, 0.4, 10.0])
@pytest.mark.parametrize("margin", [0.0, 1.5])
def test_clipping_in_closed_form_is_clipping_row_by_row(convert, constant, row_norm, clip, margin):
    X, targets = data()
    X[3] = 0.0
    X = convert(X)
    rows = Rows(X, row_norm, constant)
    thetas = 2 * np.random.default_rng(1).normal(size=(rows.dimension, 4))
    batch = np.sort(np.random.default_rng(2).choice(300, 120, replace=False))
    batch[:2] = 3, 4
    found = Gradients(rows, targets, clip, margin).total(np.unique(batch), thetas)
    dense = X.toarray() if sp.issparse(X) else X
    for column, theta in zip(found.T, thetas.T, strict=True):
        part = np.unique(batch)
        expected = clipped_sum_by_loop(dense[part], targets[part], theta, clip, constant, row_norm, margin)
        np.testing.assert_allclose(column, expected, rtol=1e-10, atol=1e-12)


def test_a_batch_of_many_chunks_is_summed_whole():
    X, targets = data(n=5000, d=300)
    rows = Rows(X, "normalize", 0.3)
    theta = np.random.default_rng(0).normal(size=(301, 2))
    whole = Gradients(rows, targets, 2.0).total(np.arange(5000), theta)
    slopes = expit(np.stack([rows.margins(column) for column in theta.T])) - (targets + 1) / 2
    np.testing.assert_allclose(whole.T, [rows.combine(each) for each in slopes], rtol=1e-9, atol=1e-9)


def test_no_rows_in_a_batch_give_no_gradient():
    X, targets = data()
    for convert in (np.asarray, sp.csr_array):
        gradients = Gradients(Rows(convert(X), "normalize", 0.3), targets, 1.1)
        assert not gradients.total(np.arange(0), np.ones((7, 2))).any()


@pytest.mark.slow
@pytest.mark.parametrize("optimizer", sorted(OPTIMIZERS))
@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_a_grid_equals_single_runs_seed_by_seed(optimizer, convert):
    """Whatever else is in the grid, and although its noise is drawn in several blocks."""
    X, targets = data(n=300, d=700)
    rows = Rows(convert(X), "normalize", 0.3)
    schedule = Schedule.of_epochs(300, 50, 20)
    settings = {"noise_multiplier": 1.3, "clip": 0.5, "optimizer": optimizer}
    for seed in (0, 1):
        grid = train_candidates(rows, targets, RATES, schedule, streams=Streams(seed), **settings)
        alone = [train_candidates(rows, targets, [r], schedule, streams=Streams(seed), **settings)[0] for r in RATES]
        np.testing.assert_allclose(grid, alone, rtol=1e-8, atol=1e-10)
    other = train_candidates(rows, targets, RATES, schedule, streams=Streams(2), **settings)
    assert np.abs(grid - other).max() > 0.01


def test_candidates_have_their_own_noise():
    """Without data θ is noise alone: columns of nearly the same learning rate are uncorrelated."""
    rows = Rows(np.zeros((1, 2000)), "normalize")
    schedule = Schedule(1.0, 1, 1.0)
    one, other = train_candidates(
        rows, np.ones(1), [0.1, 0.1000001], schedule, noise_multiplier=1.0, streams=Streams(0), optimizer="sgd"
    )
    assert abs(np.corrcoef(one, other)[0, 1]) < 0.1
    assert np.std(one) == pytest.approx(0.1, rel=0.1)


@pytest.mark.parametrize("clip", [0.25, None])
def test_the_noise_is_multiplier_times_clip_on_the_sum_over_the_expected_batch(clip):
    constant, multiplier, batch = 0.5, 3.0, 20.0
    rows = Rows(np.zeros((5, 4000)), "normalize", constant)
    theta = train_candidates(
        rows, np.ones(5), [1.0], Schedule(1.0, 1, batch), noise_multiplier=multiplier, clip=clip, optimizer="sgd",
        streams=Streams(0),
    )[0]  # fmt: skip
    norm = np.hypot(1, constant) if clip is None else clip
    assert np.std(theta[:-1]) == pytest.approx(multiplier * norm / batch, rel=0.05)


def adam_by_hand(gradients, rate):
    theta, mean, square = 0.0, 0.0, 0.0
    for t, g in enumerate(gradients, start=1):
        mean, square = 0.9 * mean + 0.1 * g, 0.999 * square + 0.001 * g * g
        theta = theta - rate * (mean / (1 - 0.9**t)) / (np.sqrt(square / (1 - 0.999**t)) + 1e-8)
    return theta


def test_adam_is_adam():
    gradients = np.random.default_rng(0).normal(size=(50, 3, 2))
    adam = OPTIMIZERS["adam"]((3, 2), np.array([0.1, 0.01]))
    for gradient in gradients:
        adam.step(gradient.copy())
    for column, rate in enumerate((0.1, 0.01)):
        expected = adam_by_hand(gradients[:, :, column], rate)
        np.testing.assert_allclose(adam.weights[:, column], expected, rtol=1e-10)


def test_a_run_is_the_recipe_step_by_step():
    """Batches, clipped sum, noise, division by the expected size, update: written out once more."""
    X, targets = data()
    rows = Rows(X, "normalize", 0.3)
    schedule = Schedule.of_epochs(300, 60, 2)
    streams = Streams(5)
    spacing = sum_spacing(0.6, 7)
    source = streams.stream(1, int(np.array([0.2]).view(np.uint64)[0]))
    noise = spacing * source.rounded_normal(1.5 * 0.6 * (1 + 2.0**-16) / spacing, 7 * schedule.steps)
    theta = np.zeros(7)
    for step, batch in enumerate(poisson_batches(streams.stream(0), 300, 0.2, schedule.steps)):
        total = clipped_sum_by_loop(X[batch], targets[batch], theta, 0.6, 0.3, "normalize")
        theta = theta - 0.2 * (total + noise[7 * step : 7 * step + 7]) / 60
    found = train_candidates(
        rows, targets, [0.2], schedule, noise_multiplier=1.5, clip=0.6, optimizer="sgd", streams=streams
    )[0]
    np.testing.assert_allclose(found, theta, atol=0.2 * schedule.steps * spacing / 60)  # sums are rounded


def test_training_on_members_is_training_on_those_rows():
    X, targets = data()
    members = np.flatnonzero(np.random.default_rng(0).random(300) < 0.7)
    schedule = Schedule.of_epochs(210, 40, 5)
    settings = {"noise_multiplier": 1.0, "streams": Streams(0)}
    part = train_candidates(Rows(X, "clip", 0.3), targets, RATES, schedule, members=members, **settings)
    alone = train_candidates(Rows(X[members], "clip", 0.3), targets[members], RATES, schedule, **settings)
    np.testing.assert_allclose(part, alone, rtol=1e-9, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(("optimizer", "rates"), [("adam", [0.02, 0.005]), ("sgd", [4.0, 1.0])])
def test_without_noise_it_reaches_the_unregularised_optimum(optimizer, rates):
    X, targets = data(n=400, d=4)
    rows = Rows(X, "normalize", 0.3)
    peer = np.column_stack([rows.matrix * rows.factors[:, None], np.full(400, 0.3)])
    best = LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-10, max_iter=1000).fit(peer, targets).coef_[0]
    schedule = Schedule.of_epochs(400, 400, 4000)
    found = train_candidates(rows, targets, rates, schedule, noise_multiplier=0.0, optimizer=optimizer)
    for theta in found:
        np.testing.assert_allclose(theta, best, rtol=1e-4)


def test_the_schedule_is_the_papers():
    assert Schedule.of_epochs(32561, 256, 60) == Schedule(256 / 32561, 60 * 128, pytest.approx(256))
    assert Schedule.of_epochs(100, 256, 3) == Schedule(1.0, 3, 100)
    assert Schedule.of_epochs(90.5, 10, 1).steps == 10


def test_the_callback_sees_every_step_and_may_stop():
    X, targets = data()
    seen = []

    def stop(step, norm):
        seen.append((step, norm))
        if step == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_candidates(Rows(X, "clip"), targets, RATES, Schedule(0.1, 50, 30), noise_multiplier=1.0, callback=stop)
    assert [step for step, _ in seen] == [1, 2, 3, 4]
    assert all(np.isfinite(norm) and norm > 0 for _, norm in seen)


OUT_OF_RANGE = [
    ({"learning_rates": [0.1, -1.0]}, "learning_rates must be a finite number > 0, got -1.0"),
    ({"noise_multiplier": -1}, "noise_multiplier must be a finite number >= 0, got -1"),
    ({"clip": 0.0}, "clip must be a finite number > 0, got 0.0"),
    *(({"clip": clip}, r"clip must be a (finite )?number") for clip in (1e-60, 1e60, np.inf)),
    ({"optimizer": "lbfgs"}, "optimizer must be one of 'adam', 'sgd', got 'lbfgs'"),
]


@pytest.mark.parametrize(("change", "message"), OUT_OF_RANGE)
def test_arguments_out_of_range_are_named(change, message):
    X, targets = data()
    arguments = {"learning_rates": [0.1], "noise_multiplier": 1.0} | change
    with pytest.raises(ValueError, match=message):
        train_candidates(Rows(X, "clip"), targets, schedule=Schedule(0.1, 5, 30), **arguments)


@pytest.mark.parametrize("entry", [1e300, np.inf, np.nan, 1e30])
def test_weights_beyond_all_accuracy_leave_nothing_of_the_sum(entry):
    """A score of inf − inf is NaN for some rows and not for others: such a sum must not reach the release."""
    rows = Rows(np.eye(3), "clip", 0.3)
    weights = np.full((4, 1), entry)

    def released(total):
        sums = NoisySums(rows, 1.0, 2.0, 3.0, [Streams(5).stream(1)], n_rows=3)
        found = np.full((4, 1), total)
        sums.add(found, weights, 0, 1)
        return found

    noise = released(0.0)
    assert np.isfinite(noise).all()
    assert np.abs(noise).max() < 20
    for total in (np.nan, np.inf, 3.0):
        np.testing.assert_array_equal(released(total), noise)


def test_the_largest_learning_rate_does_not_make_weights_overflow():
    """Noise is made larger along with the weights, and these with the noise; not without end."""
    X, targets = data(n=50, d=3)
    schedule = Schedule(sample_rate=0.02, steps=300, batch_size=1.0)
    options = {"noise_multiplier": 1e4, "optimizer": "sgd", "streams": Streams(1)}
    found = train_candidates(Rows(X, "clip", 0.3), targets, [1e9], schedule, **options)
    assert np.isfinite(found).all()
    assert np.abs(found).max() > 1e20  # where every sum is left out
