"""The game, run without a browser: rounds are the core's, scores are honest, the sliders hang together."""

import itertools
import re
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import objpert_core.accounting as acc
from objpert_core.theory.minimiser_law import log_odds, success_allowed
from pages.guess import linked, rounds
from pages.guess.game import MOST_GAMES, Game, note
from pages.guess.rounds import BARE, DIGITS, PRIVATE, ROUNDS, SMALL, Setting
from tests.pages.apps import answer, execute, open_app, opened, press, said, spec, tables, words_of
from tests.plotted import decode

open_page = partial(open_app, "pages/guess/page.py")
USUAL = Setting(PRIVATE, 3.8, 2.0, rounds.PLANE, rounds.DISAGREES, 0)
NEAR = Setting(PRIVATE, 0.61, 2.0, rounds.PLANE, rounds.DISAGREES, 0)


def published(app):
    """The θ on the screen."""
    trace = next(one for one in spec(app)["data"] if one["name"] == "published θ")
    return tuple(float(decode(trace[axis])[0]) for axis in "xy")


def sliders(app):
    return tuple(app.session_state[f"guess_{name}"] for name in ("epsilon", "sigma", "lambda"))


# --- the page ---------------------------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_it_opens_on_the_first_round_and_tells_no_truth():
    app = open_page()
    assert answer(app) == "Round 1 of 20: was the marked person in the data?"
    assert published(app) == rounds.round_of(USUAL, 0).theta
    assert "Worst case over all people and data: ε = 0.98, with slack δ = 10⁻⁵" in said(app)
    assert not any(one["x"] for one in spec(app)["data"] if one["name"].startswith("an earlier release"))
    assert "You" in tables(app)[0]["Who"].tolist()
    assert len(tables(app)) == 1
    drawn = spec(app)
    named = [one["name"] for one in drawn["data"] if one.get("showlegend", True)]
    assert named[0] == "published model, θ"
    assert named[-2:] == ["half of all θ if out", "half of all θ if in"]  # of one colour is named once
    assert drawn["layout"]["yaxis"]["scaleanchor"] == "x"  # what is perpendicular looks so


def test_the_reference_is_plain_text_since_worksheets_print_it():
    reference = Path("pages/guess/about.md").read_text(encoding="utf-8").split("**Reference.**")[1]
    assert "$" not in reference


@pytest.mark.slow
def test_twenty_rounds_a_table_and_the_next_game():
    app = open_page(guess_game=DIGITS)
    setting = replace(USUAL, game=DIGITS)
    found = [rounds.round_of(setting, k) for k in range(ROUNDS)]
    app.session_state["guess__games"] = {setting: [one.best for one in found[:-1]]}
    app.run()
    press(app, "In" if found[-1].best else "Out")
    right = sum(one.best == one.inside for one in found)
    assert answer(app).startswith(f"You: {right} of 20, the best attacker {right}; ε = 0.98 allows 14.6 on average")
    board, mine, played = tables(app)
    assert rounds.by_digits(setting)[0].value * ROUNDS == right
    assert board["Who"].tolist()[-1] == "The same attack on 20 other rounds, with the package’s noise"
    assert board.loc[2].tolist()[1:] == ["6 to 14 in 95 % of games", "50 %"]
    assert board.loc[0, "In the long run"] == board.loc[1, "In the long run"]  # both played alike
    draws = [tuple(map(int, cell.split(", "))) for cell in played["Draws that fit, with and without"]]
    assert all(pair[0 if one.inside else 1] >= 1 for pair, one in zip(draws, found, strict=True))
    assert mine.loc[0, "You"] == f"{right} of 20"
    assert played["The person was"].tolist() == ["in" if one.inside else "out" for one in found]
    press(app, "Next 20 rounds")
    assert app.session_state["guess_seed"] == 1
    assert answer(app).startswith("Round 1 of 20")
    assert len(tables(app)) == 2  # the score, and the game before


@pytest.mark.slow
def test_a_slider_moves_what_hangs_together_with_it():
    app = open_page()
    assert sliders(app) == (1.0, 3.8, 2.0)
    app.select_slider(key="guess_epsilon").set_value(4.0).run()
    assert sliders(app) == (4.0, 1.1, 2.0)
    assert "ε = 3.93" in said(app)
    app.select_slider(key="guess_sigma").set_value(7.6).run()
    assert sliders(app)[0] == linked.promise_of(7.6, 2.0) >= rounds.epsilon(7.6, 2.0)
    assert "σ 1.1 → 7.6: ε falls from 3.93 to 0.46" in said(app)
    app.select_slider(key="guess_lambda").set_value(0.1).run()
    assert sliders(app)[0] == linked.promise_of(7.6, 0.1) > 1.0
    app.select_slider(key="guess_epsilon").set_value(0.01).run()  # no σ keeps that at this λ
    assert sliders(app)[1] == linked.SIGMAS[-1]
    assert sliders(app)[0] >= rounds.epsilon(linked.SIGMAS[-1], 0.1)
    assert any("a larger λ helps" in block.value for block in app.caption)


@pytest.mark.slow
@pytest.mark.parametrize("game", rounds.GAMES)
@pytest.mark.parametrize("place", rounds.PLACES)
def test_the_snippet_prints_the_posterior_of_the_round_on_the_screen(game, place):
    setting = replace(USUAL, game=game, place=place, sigma=0.0 if game == BARE else 3.8)
    names, printed = execute(Game(setting).code())
    assert names["posterior"] == pytest.approx(rounds.round_of(setting, 0).posterior, rel=1e-12)
    assert str(names["posterior"]) in printed
    if game in (PRIVATE, SMALL):
        success = names["success"]
        assert getattr(success, "value", success) == pytest.approx(rounds.long_run(setting).value, abs=1e-12)


@pytest.mark.slow
def test_the_page_shows_that_snippet_and_the_prediction_is_true():
    app = opened(open_page(), "guess_code")
    assert app.code[0].value.rstrip() == Game(USUAL).code().rstrip()
    on_line = rounds.long_run(replace(USUAL, place=rounds.LINE)).value
    assert [round(100 * chance) for chance in (on_line, rounds.long_run(USUAL).value)] == [54, 54]
    assert np.ceil(1000 * rounds.allowed(3.8, 2.0)[1]) == 563
    assert round(100 * success_allowed(1.0, 1e-5)) == 73


@pytest.mark.slow
@pytest.mark.parametrize("game", rounds.GAMES)
def test_nothing_that_is_sent_depends_on_the_truth_of_a_round_to_come(game, monkeypatch):
    """The same θ and other truths: every element is the same, byte by byte, until the round is played."""
    drawn, played, remembering_nothing = rounds._published, 2, rounds.round_of.__wrapped__

    def sent(first_lie):
        def told(setting):
            return tuple((inside ^ (k >= first_lie), theta) for k, (inside, theta) in enumerate(drawn(setting)))

        monkeypatch.setattr(rounds, "_published", told)
        monkeypatch.setattr(rounds, "round_of", remembering_nothing)
        app = open_page(guess_game=game, guess_border="true")
        for _ in range(played):
            press(app, "In")
        opened(app, "guess_code")
        return [part.proto.SerializeToString(deterministic=True) for part in parts(app._tree)]

    truth = sent(ROUNDS)
    assert sent(played) == truth
    assert sent(played - 1) != truth


def parts(block):
    """Every element and container below a block."""
    for part in block.children.values():
        if getattr(part, "proto", None) is not None:
            yield part
        if getattr(part, "children", None):
            yield from parts(part)


# --- the rounds -------------------------------------------------------------------------------------------------------


def test_rows_are_in_the_unit_ball_as_the_proofs_ask():
    for place in rounds.PLACES:
        known = np.array([*rounds.rows(place), rounds.ROW[place]])
        assert np.linalg.norm(known, axis=1).max() <= 1.0
        assert len(known) == rounds.COUNT + 1


@pytest.mark.thorough
def test_a_setting_decides_its_rounds_and_others_differ():
    truths = [one.inside for one in map(partial(rounds.round_of, USUAL), range(ROUNDS))]
    rounds._published.cache_clear()
    rounds.round_of.cache_clear()
    assert truths == [rounds.round_of(USUAL, k).inside for k in range(ROUNDS)]
    for changes in ({"seed": 1}, {"sigma": 4.0}, {"game": SMALL}, {"place": rounds.LINE}):
        assert truths != [rounds.round_of(replace(USUAL, **changes), k).inside for k in range(ROUNDS)]


def test_the_private_games_releases_are_the_packages_own_and_on_its_lattice():
    """The page's densities are the exact minimiser's: output noise moves a posterior by less than its fifth digit."""
    mechanism = rounds.mechanism(USUAL.added, USUAL.lam)
    assert mechanism.sigma_out < 1e-5
    for k in range(ROUNDS):
        theta = np.array(rounds.round_of(USUAL, k).theta)
        lattice = 2.0 ** (np.floor(np.log2(mechanism.sigma_out)) - 25)
        assert np.all(theta % lattice == 0)
        near = log_odds(USUAL.joined, USUAL.left, theta + 6 * mechanism.sigma_out)
        assert abs(near - log_odds(USUAL.joined, USUAL.left, theta)) < 1e-5


def hits_of(setting, games):
    found = (rounds.round_of(replace(setting, seed=seed), k) for seed in range(games) for k in range(ROUNDS))
    return sum(one.best == one.inside for one in found)


@pytest.mark.slow
@pytest.mark.parametrize("place", rounds.PLACES)
@pytest.mark.parametrize("game", [PRIVATE, SMALL])
def test_the_best_attackers_score_is_what_the_law_says(game, place):
    """Real fits, hundreds of rounds: the interval of the hits holds the chance, exact on the line."""
    setting = replace(NEAR if game == PRIVATE else USUAL, game=game, place=place)
    games = 40
    counted = rounds.counted_success(hits_of(setting, games), games * ROUNDS, outside=1e-5)
    exact = rounds.long_run(setting)
    assert counted.low < exact.value < counted.high
    assert counted.high < 1.0
    promised = rounds.allowed(setting.sigma, setting.lam)[1]
    if game == PRIVATE:
        assert exact.high <= promised
    else:
        assert counted.low > promised  # what a wrong promise costs
        assert exact.value <= rounds.allowed(setting.added, setting.lam)[1]


@pytest.mark.thorough
def test_without_noise_the_attacker_is_certain():
    setting = replace(USUAL, game=BARE, sigma=0.0)
    for k in range(ROUNDS):
        one = rounds.round_of(setting, k)
        assert one.posterior == one.inside
    assert rounds.long_run(setting).value == 1.0
    assert rounds.allowed(0.0, 2.0) == (1.0, 1.0)


@pytest.mark.thorough
def test_what_is_allowed_is_no_less_than_the_core_says():
    for sigma, lam in ((3.8, 2.0), (0.61, 2.0), (12.0, 10.0)):
        by_epsilon, whole = rounds.allowed(sigma, lam)
        assert by_epsilon >= success_allowed(acc.ObjectivePerturbation(sigma, lam).epsilon(1e-5), 1e-5)
        assert acc.best_guess(rounds.mechanism(sigma, lam)) <= whole <= by_epsilon


@pytest.mark.thorough
@pytest.mark.parametrize(("epsilon", "lam"), [(1.0, 2.0), (8.0, 0.1), (0.05, 20.0)])
def test_the_noise_for_a_promise_is_the_least_that_keeps_it(epsilon, lam):
    sigma = linked.noise_for(epsilon, lam)
    below = linked.SIGMAS[linked.SIGMAS.index(sigma) - 1]
    assert rounds.epsilon(sigma, lam) <= epsilon < rounds.epsilon(below, lam)
    assert linked.promise_of(sigma, lam) == epsilon


# --- what is said -----------------------------------------------------------------------------------------------------


def test_answers_are_short_and_a_second_press_counts_for_nothing():
    kept = {}
    for number in (0, 0, 1, 1, 5):
        note(kept, USUAL, number, True)
    assert kept == {USUAL: [True, True]}
    for seed in range(MOST_GAMES):
        note(kept, replace(USUAL, seed=seed + 1), 0, False)
    assert len(kept) == MOST_GAMES
    assert USUAL not in kept
    for number, sigma in itertools.product((0, 19, 20), (300.0, 0.4, 0.0)):
        assert (
            words_of(Game(replace(USUAL, sigma=sigma, game=PRIVATE if sigma else BARE), (True,) * number).answer())
            <= 18
        )


def test_the_score_says_how_many_are_allowed_rounded_up():
    game = Game(USUAL, (True,) * ROUNDS)
    (number,) = re.findall(r"allows ([\d.]+) on average", game.answer())
    assert 0 <= float(number) - ROUNDS * success_allowed(game.epsilon, 1e-5) < 0.1


@pytest.mark.slow
def test_what_the_best_attacker_sees_can_be_seen_before_the_guess():
    def names(app):
        return [trace["name"] for trace in spec(app)["data"]]

    edge = "the best attacker’s border"
    assert edge not in names(open_page())
    app = open_page(guess_border="true")
    trace = next(one for one in spec(app)["data"] if one["name"] == edge)
    points = np.column_stack([decode(trace["x"]), decode(trace["y"])])
    points = points[np.isfinite(points).all(axis=1)]
    assert len(points) > 10
    np.testing.assert_allclose(log_odds(USUAL.joined, USUAL.left, points), 0.0, atol=1e-3)
    app = open_page(guess_border="true", guess_game=DIGITS)
    joined, left = rounds.fitting_draws(replace(USUAL, game=DIGITS), 0)
    assert f"exactly these digits: {joined} with the person, {left} without." in said(app)
    assert edge not in names(app)
