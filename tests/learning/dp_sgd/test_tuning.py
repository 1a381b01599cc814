import numpy as np
import pytest
from scipy import stats

from objpert_core.learning import Rows
from objpert_core.learning.dp_sgd import tuning
from objpert_core.learning.dp_sgd.training import Schedule, train_candidates
from objpert_core.learning.sampling import Streams

LEVEL = 1e-3
TINY = Rows(np.array([[1.0, 0.0], [0.0, 1.0]]), "normalize"), np.array([1.0, -1.0])


def honestly(seed, rates=(0.1, 1.0), mean_runs=3.0, score=None, **settings):
    arguments = {
        "noise_multiplier": 1.0,
        "optimizer": "sgd",
        "streams": Streams(seed),
        "mean_runs": mean_runs,
    } | settings
    return tuning.select_honestly(
        *TINY, rates, Schedule(1.0, 1, 2.0), score=score or tuning.exact_score(*TINY), **arguments
    )


def test_the_papers_grid_and_ours():
    assert tuning.PAPER_LEARNING_RATES[0] == pytest.approx(1e-8)
    assert tuning.PAPER_LEARNING_RATES[-1] == pytest.approx(0.1)
    assert len(tuning.PAPER_LEARNING_RATES) == 10
    assert tuple(sorted(set(tuning.FINE_LEARNING_RATES))) == tuning.FINE_LEARNING_RATES


@pytest.mark.slow
def test_candidates_are_drawn_uniformly_and_with_replacement():
    picked = [trial.learning_rate for seed in range(300) for trial in honestly(seed, rates=(1.0, 2.0, 3.0)).trials]
    assert stats.chisquare(np.unique(picked, return_counts=True)[1]).pvalue > LEVEL
    assert any(
        len({trial.learning_rate for trial in found.trials}) < len(found.trials) == 3
        for found in map(honestly, range(30))
    )


@pytest.mark.slow
def test_honest_runs_of_one_learning_rate_are_independent():
    """Without slope from the data, θ is noise: the first and the second run of one selection share none of it."""
    pairs = [
        [trial.theta[0] for trial in found.trials[:2]]
        for found in (honestly(seed, rates=(1.0,), mean_runs=8.0) for seed in range(300))
        if len(found.trials) > 1
    ]
    correlation = stats.pearsonr(*np.transpose(pairs))
    assert correlation.pvalue > LEVEL
    assert np.std(pairs) > 0.3


def test_every_honest_run_has_batches_of_its_own():
    rows = Rows(np.eye(50), "normalize")
    found = tuning.select_honestly(
        rows, np.ones(50), [1.0], Schedule(0.5, 1, 25.0), noise_multiplier=0.0, optimizer="sgd", mean_runs=20.0,
        score=tuning.exact_score(rows, np.ones(50)), streams=Streams(0),
    )  # fmt: skip
    batches = {tuple(trial.theta > 0) for trial in found.trials}
    assert len(batches) == len(found.trials) > 5


def test_the_best_score_wins_and_the_first_of_equals():
    trials = [tuning.Trial(rate, np.full(2, rate), score) for rate, score in ((1.0, 0.3), (2.0, 0.9), (3.0, 0.9))]
    best = tuning.Selection.best(trials, 2)
    assert (best.learning_rate, best.score, best.theta.tolist()) == (2.0, 0.9, [2.0, 2.0])
    assert best.trials == tuple(trials)


@pytest.mark.slow
def test_a_held_out_row_is_not_trained_on_and_every_row_tosses_its_own_coin():
    counts = np.zeros(40)
    for seed in range(2000):
        training, held_out = tuning.split_by_coins(40, 0.2, Streams(seed))
        assert np.array_equal(np.sort(np.append(training, held_out)), np.arange(40))
        counts[held_out] += 1
    chi2 = ((counts - 400) ** 2 / 320).sum()
    assert stats.chi2(40).sf(chi2) > LEVEL


def test_right_answers_are_those_of_a_loop():
    rng = np.random.default_rng(0)
    X, targets, thetas = rng.normal(size=(30, 3)), rng.choice([-1.0, 1.0], 30), rng.normal(size=(4, 4))
    rows = Rows(X, "clip", 0.5)
    members = np.arange(0, 30, 3)
    for theta, all_right, some in zip(
        thetas,
        tuning.right_answers(rows, targets, thetas),
        tuning.right_answers(rows, targets, thetas, members),
        strict=True,
    ):
        each = [
            np.sign(x @ theta[:3] / max(1.0, np.linalg.norm(x)) + 0.5 * theta[3]) == t
            for x, t in zip(X, targets, strict=True)
        ]
        assert all_right == sum(each)
        assert some == sum(each[::3])


def test_the_private_score_is_the_count_with_fresh_noise_exactly_as_it_is_given():
    rows, targets = TINY
    assert (
        tuning.private_score(rows, targets, np.arange(2), 0.0, 2.0, Streams(0))(np.ones(2)) == 0.5
    )  # the first row is right
    source = Streams(3).stream(tuning._SCORES)
    score = tuning.private_score(rows, targets, np.arange(2), 5.0, 2.0, Streams(3))
    for _ in range(4):
        spacing = 2.0**-18  # the greatest power of two that goes a million times into the noise
        noise = source.rounded_normal(5.0 / spacing, 1)[0] * spacing
        assert score(np.array([1.0, 1.0])) == (1 + noise) / 2


def test_looking_takes_the_most_accurate_of_all_candidates():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    targets = np.where(X[:, 0] > 0, 1.0, -1.0)
    rows, schedule, rates = Rows(X, "normalize"), Schedule.of_epochs(200, 50, 5), [1e-4, 0.3, 0.01]
    settings = {"noise_multiplier": 1.0, "streams": Streams(0)}
    found = tuning.select_by_looking(
        rows, targets, rates, schedule, score=tuning.exact_score(rows, targets), **settings
    )
    thetas = train_candidates(rows, targets, rates, schedule, **settings)
    np.testing.assert_array_equal([trial.theta for trial in found.trials], thetas)
    counts = tuning.right_answers(rows, targets, thetas)
    assert found.score == counts.max() / 200
    assert found.learning_rate == rates[int(counts.argmax())]


def test_the_callback_of_honest_tuning_counts_runs():
    seen = []
    found = honestly(3, callback=lambda *event: seen.append(event))
    assert [event[:3] for event in seen] == [(run + 1, len(found.trials), 1) for run in range(len(found.trials))]
    assert seen


def test_a_held_out_row_more_changes_no_other_answer():
    """BLAS sums the last rows of a matrix in another order, and an answer whose score is next to 0 may change."""
    own = np.random.default_rng(0)
    for _ in range(20):
        row, theta = own.normal(size=(2, 30))
        theta -= row * (row @ theta) / (row @ row)
        rows = np.tile(row, (34, 1))
        right = [
            int(tuning.right_answers(Rows(rows[:k], "normalize"), np.ones(k), theta[None])[0]) for k in range(1, 34)
        ]
        assert right in ([0] * 33, list(range(1, 34)))
