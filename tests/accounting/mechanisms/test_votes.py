"""Votes against sums over every pair of neighbouring gaps, and the noisy winner against its exact law."""

import numpy as np
import pytest

from objpert_core.accounting import Gaussian, GNMax, LaplaceVote, OptimalVote, repeat
from objpert_core.accounting.ptr import gnmax


def pairs_delta(tails, epsilon):
    """The largest δ between gaps t and t + 1 >= 1, from the chances to err alone."""
    near, far = tails[:-1], tails[1:]
    both = (near - np.exp(epsilon) * far, (1 - far) - np.exp(epsilon) * (1 - near))
    return max(0.0, *(one.max() for one in both))


def test_without_δ_a_bigger_gap_is_worse_and_with_it_the_privacy_ends_at_once():
    vote = LaplaceVote(10.0)
    pure = [vote.local_epsilon(t) for t in range(30)]
    assert pure[:2] == pytest.approx([8.208, 9.394], abs=6e-4)
    assert pure[10] == pytest.approx(9.907, abs=1e-3)
    assert all(np.diff(pure) > 0)
    assert pure[-1] < 10.0
    assert [vote.local_epsilon(t, 1e-5) for t in range(4)] == pytest.approx([8.208, 9.318, 9.318, 0.0], abs=6e-4)
    assert vote.epsilon_at(0) == 10.0  # with no δ nothing but the whole ε holds for every larger gap
    assert [vote.epsilon_at(t, 1e-5) for t in (-3, 0, 2, 3, 50)] == pytest.approx([9.318] * 3 + [0.0] * 2, abs=6e-4)


@pytest.mark.parametrize(("scale", "delta"), [(0.3, 1e-5), (2.0, 1e-9), (0.05, 0.01)])
def test_ε_at_a_gap_keeps_its_promise_and_one_per_cent_less_does_not(scale, delta):
    vote = LaplaceVote(scale)
    tails = vote.error(np.arange(0, 3000))
    for gap in (1, 5, 20):
        promised = vote.epsilon_at(gap, delta)
        assert pairs_delta(tails[gap - 1 :], promised) <= delta * (1 + 1e-9)
        if promised:
            assert pairs_delta(tails[gap - 1 :], 0.99 * promised) > delta
        assert vote.local_epsilon(gap, delta) <= promised


@pytest.mark.parametrize(("epsilon", "delta", "sure"), [(0.1, 1e-5, 86), (0.3, 1e-5, 33), (2.0, 0.01, None)])
def test_the_optimal_vote_keeps_its_promise_exactly_and_nothing_below_it_does(epsilon, delta, sure):
    vote = OptimalVote(epsilon, delta)
    tails = vote.error(np.arange(0, 400))
    assert sure in (None, vote.sure_from)
    assert tails[vote.sure_from] == 0.0 < tails[vote.sure_from - 1]
    for eps in (0.0, 0.5 * epsilon, epsilon, 2 * epsilon):
        assert vote.delta(eps) == pytest.approx(pairs_delta(tails, eps), rel=1e-6, abs=1e-15)
    assert vote.delta(epsilon) == pytest.approx(delta, rel=1e-6)
    # a private vote that treats both sides alike: its errors can fall by no more than this at a time
    best = [0.5]
    while best[-1] > 0:
        best.append(max(0.0, np.exp(-epsilon) * (best[-1] - delta)))
    assert tails[: len(best)] == pytest.approx(best, abs=1e-13)
    lower = tails.copy()
    lower[1] *= 0.99
    assert pairs_delta(lower, epsilon) > delta * (1 + 1e-6)


def test_the_optimal_vote_is_the_floor_of_the_others_whose_errors_of_both_signs_add_up_to_one():
    gaps = np.arange(0, 60)
    laplace = LaplaceVote(0.3)
    assert (laplace.error(-gaps[1:]) == 1 - laplace.error(gaps[1:])).all()
    assert (OptimalVote(0.3, 1e-5).error(gaps) <= laplace.error(gaps) + 1e-15).all()


def test_the_bound_never_falls_as_votes_agree_less():
    rng = np.random.default_rng(0)
    for _ in range(300):
        sigma, alpha = 10 ** rng.uniform(-0.3, 2.5), 1 + 10 ** rng.uniform(-3, 2.5)
        curve = gnmax.rdp_of_q(-np.geomspace(1e5, 1e-3, 3000), alpha, sigma)
        assert (np.diff(curve) >= -1e-9 * curve[1:]).all()


def test_many_queries_add_up():
    noisy = GNMax(20.0)
    counts = np.random.default_rng(0).multinomial(400, [0.8] + [0.2 / 9] * 9, 200)
    assert noisy.rdp_at(counts, 20.0) == pytest.approx(sum(noisy.rdp_at(one, 20.0) for one in counts))
    assert noisy.distance(counts, 20.0, 1.0) > 50
    assert abs(noisy.rdp_at([5, 3], 2.0) - noisy.rdp_at([4, 4], 2.0)) <= noisy.smooth_sensitivity([5, 3], 2.0, 0.2)
    assert GNMax(1.5).rdp_at([12, 0, 0], 2.0) < 0.5 * GNMax(1.5).rdp(2.0)  # more than of any votes
    assert noisy.distance(counts, 20.0, 1e3) == np.inf
    assert noisy.distance([5, 5], 20.0, 1e-9) == 0.0


def test_votes_at_the_ends_of_what_doubles_hold():
    tiny = OptimalVote(1.0, 1e-30)
    assert 1e-30 <= tiny.delta(1.0) <= 1.0001e-30
    assert tiny.epsilon(1e-30) == pytest.approx(1.0, abs=1e-12)
    assert OptimalVote(1.0, 1e-18).error([41, 42]).tolist() == [pytest.approx(1.99464388e-19), 0.0]
    assert OptimalVote(20.0, 1e-12).delta(20.0) == pytest.approx(1e-12, rel=1e-9)
    assert OptimalVote(0.5, 1e-5).delta(800.0) == pytest.approx(7.2857e-6, rel=1e-4)
    assert OptimalVote(300.0, 1e-300).error([0, 1]).tolist() == [0.5, pytest.approx(2.5741e-131, rel=1e-4)]
    assert LaplaceVote(10.0).local_epsilon(80) == pytest.approx(9.98761, abs=1e-5)
    assert LaplaceVote(1e-11).local_epsilon(0) == pytest.approx(5e-12, rel=1e-9)
    assert LaplaceVote(10.0).epsilon_at(2**55, 1e-5) == 0.0
    with np.errstate(all="raise", under="ignore"):
        assert LaplaceVote(10.0).local_epsilon(300, 0.01) == 0.0
    noisy = GNMax(20.0)
    assert noisy.rdp_at([200, 100, 50], 1 + 2.3e-16) == pytest.approx(1.28063e-4, rel=1e-5)
    assert noisy.epsilon(1e-5) == Gaussian(1 / noisy.a).epsilon(1e-5)
    assert repeat(noisy, 200).epsilon(1e-5) == pytest.approx(4.3772, abs=1e-4)
