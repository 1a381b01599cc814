"""The sweep of Figure 2: which fits there are, that they are the estimators' own, and that a stopped sweep goes on."""

import math
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.experiments.figure2 import sweep
from objpert_core import estimators
from objpert_core.datasets import load
from objpert_core.experiments.figure2 import EPSILONS, Piece, noise_seed
from objpert_core.experiments.learners import (
    DPSGD_AGAIN,
    DPSGD_MARGIN,
    JUDGED,
    LEARNERS,
    TIGHT_DISHONEST,
    TIGHT_LOGISTIC,
    UNPAID,
)
from objpert_core.experiments.methods import METHODS, PRESETS, Parameters, estimator, fit
from objpert_core.experiments.preprocessed import prepared

QUICK = Parameters(epochs=2, learning_rates=(0.001, 0.1), fine_learning_rates=(0.01, 0.03, 0.1), mean_runs=3.0)


@pytest.fixture(scope="module")
def data():
    return load("breast-cancer", split_seed=1)


class TestParameters:
    def test_the_paper_s_text_is_the_preset(self):
        # Redberg et al. (2023), section 5
        paper = PRESETS["paper"]
        assert paper == Parameters()
        assert (paper.delta, paper.epochs, paper.batch_size, paper.optimizer) == (1e-5, 60, 256, "adam")
        assert (len(paper.learning_rates), min(paper.learning_rates), max(paper.learning_rates)) == (10, 1e-8, 0.1)
        assert np.ptp(np.diff(np.log(paper.learning_rates))) < 1e-5
        assert paper.mean_runs == pytest.approx(15.4, abs=0.05)
        assert (paper.noise_ratio, paper.tau, paper.sigma_out) == (1.3, 0.01, 0.15)
        assert EPSILONS == (0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8)

    def test_the_scripts_differ_where_the_errata_say(self):
        scripts, paper = PRESETS["scripts"], PRESETS["paper"]
        assert (scripts.tau, scripts.batch_size) == (0.0005, 4096)
        assert (min(scripts.learning_rates), max(scripts.learning_rates)) == (1e-5, 0.1)
        back = replace(scripts, tau=paper.tau, batch_size=paper.batch_size, learning_rates=paper.learning_rates)
        assert back == paper

    def test_the_constant_is_the_estimators_own_default(self):
        assert Parameters().intercept_scaling == estimators.ObjPertLogisticRegression().intercept_scaling

    def test_there_and_back_through_a_configuration(self):
        assert Parameters.from_configuration(QUICK.as_configuration()) == QUICK
        with pytest.raises(ValueError, match="got 'momentum'"):
            Parameters.from_configuration({"momentum": 0.9})


PRIVATE = [method for method in METHODS if method != "non-private"]


class TestMethods:
    @pytest.mark.slow
    @pytest.mark.parametrize("method", PRIVATE)
    def test_a_run_is_the_estimator_s_fit(self, data, method):
        done = fit(data, method, 2.0, 1, 5, QUICK)
        ready = prepared(LEARNERS[method], estimator(method, 2.0, QUICK, 5), data.X_train, data.X_test)
        judges = chooser(method, replace(data, X_test=ready.X_test))
        model = ready.model.fit(ready.X_train, data.y_train, **judges)
        assert done.accuracy == model.score(ready.X_test, data.y_test)
        assert (done.dataset, done.method, done.epsilon, done.delta) == ("breast-cancer", method, 2.0, 1e-5)
        assert (done.trial, done.split_seed, done.seed) == (1, 1, 5)
        assert done.learning_rate == getattr(model, "learning_rate_", None)
        for name in ("sigma", "lam", "noise_multiplier"):
            expected = getattr(model.privacy_, name, None)
            assert getattr(done, name) == (None if expected is None else pytest.approx(expected, rel=1e-9))
        assert any(value is not None for value in (done.sigma, done.noise_multiplier))

    @pytest.mark.slow
    @pytest.mark.parametrize("method", UNPAID)
    def test_dishonest_means_the_best_candidate_by_test_accuracy(self, data, method):
        model = estimator(method, 2.0, QUICK, 5).fit(data.X_train, data.y_train, **chooser(method, data))
        rates = QUICK.fine_learning_rates if method.endswith("large") else QUICK.learning_rates
        assert tuple(item["learning_rate"] for item in model.candidates_) == rates
        assert fit(data, method, 2.0, 1, 5, QUICK).accuracy == max(item["score"] for item in model.candidates_)
        assert not model.privacy_.choice_covered
        assert fit(data, method, 2.0, 1, 5, QUICK).runs == len(rates)

    def test_the_dishonest_differ_in_accountant_and_batch(self):
        accountants = {name: estimator(name, 1.0, QUICK, 0).accountant for name in UNPAID}
        assert list(accountants.values()) == ["rdp", "pld", "pld"]
        assert [estimator(name, 1.0, QUICK, 0).batch_size for name in UNPAID] == [256, 256, 4096]

    @pytest.mark.slow
    def test_honest_tuning_pays_and_never_sees_the_test_rows(self, data):
        model = estimator("dpsgd-honest", 2.0, QUICK, 5).fit(data.X_train, data.y_train)
        assert model.privacy_.choice_covered
        assert model.privacy_.mean_runs == 3.0
        shuffled = replace(data, y_test=data.y_test[::-1].copy())
        one, other = (fit(part, "dpsgd-honest", 2.0, 1, 5, QUICK) for part in (data, shuffled))
        assert one.learning_rate == other.learning_rate

    def test_the_published_recipe(self):
        model = estimator("published", 1.0, PRESETS["scripts"], 0)
        assert (model.bound, model.accountant, model.noise_ratio) == ("glm", "rdp", 1.3)
        assert (model.tau, model.sigma_out) == (0.0005, 0.15)

    @pytest.mark.thorough
    def test_the_same_dishonesty_for_algorithm_1_is_the_luckiest_of_its_draws(self, data):
        many = replace(QUICK, learning_rates=(0.001, 0.01, 0.1))
        lucky = fit(data, TIGHT_DISHONEST, 0.1, 1, 5, many)
        seeds = np.random.SeedSequence(5).generate_state(3).tolist()
        draws = [fit(data, "tight", 0.1, 1, seed, many).accuracy for seed in seeds]
        assert len(set(draws)) > 1
        assert lucky.accuracy == max(draws)
        assert (lucky.runs, lucky.seed) == (3, 5)

    def test_the_margin_can_be_taken_from_one_and_given_to_the_other(self, data):
        tight = estimator("tight", 0.5, QUICK, 3)
        without = estimator(TIGHT_LOGISTIC, 0.5, QUICK, 3)
        assert (tight.margin, without.margin) == (None, 0.0)
        margin = tight.fit(data.X_train, data.y_train).margin_
        assert margin > 1.0
        ours = estimator(DPSGD_MARGIN, 0.5, QUICK, 5).set_params(margin=margin)
        ours.fit(data.X_train, data.y_train, X_val=data.X_test, y_val=data.y_test)
        run, plain = (fit(data, name, 0.5, 1, 5, QUICK) for name in (DPSGD_MARGIN, "dpsgd-dishonest-large"))
        assert run.accuracy == ours.score(data.X_test, data.y_test)
        assert (run.noise_multiplier, run.runs) == (plain.noise_multiplier, plain.runs)

    @pytest.mark.slow
    def test_the_choice_again_with_fresh_noise(self, data):
        chosen = fit(data, "dpsgd-dishonest-pld", 0.1, 1, 5, QUICK)
        again = fit(data, DPSGD_AGAIN, 0.1, 1, 5, QUICK)
        assert again.learning_rate == chosen.learning_rate
        assert again.noise_multiplier == chosen.noise_multiplier
        assert again.runs == 3
        single = estimators.DPSGDLogisticRegression(
            0.1,
            learning_rate=chosen.learning_rate,
            epochs=2,
            random_state=np.random.SeedSequence(5).generate_state(1)[0],
        ).fit(data.X_train, data.y_train)
        assert again.accuracy == single.score(data.X_test, data.y_test)

    def test_unknown_methods_are_refused(self, data):
        with pytest.raises(ValueError, match="method must be one of 'non-private'"):
            fit(data, "ridge", 1.0, 0, 0, QUICK)
        with pytest.raises(ValueError, match="method must be one of 'dpsgd"):
            estimator("non-private", 1.0, QUICK, 0)


def chooser(method, data):
    return {"X_val": data.X_test, "y_val": data.y_test} if LEARNERS[method].training == JUDGED else {}


class TestSweep:
    def test_pieces_come_by_trial_and_the_reference_once(self):
        one = [("non-private", math.inf), ("published", 0.5), ("tight", 0.5), ("published", 4.0), ("tight", 4.0)]
        found = sweep("breast-cancer", ("non-private", "published", "tight"), (0.5, 4.0), 2).pieces
        assert found == tuple((method, epsilon, trial) for trial in range(2) for method, epsilon in one)

    def test_no_two_pieces_share_their_noise(self):
        pieces = [(name, *piece) for name in ("adult", "synthetic-l") for piece in sweep(name).pieces]
        private = len(METHODS) - 1  # all but the reference
        assert len(pieces) == 2 * (private * 9 + 1) * 10
        assert len({noise_seed(*piece) for piece in pieces}) == len(pieces)

    def test_a_piece_gives_the_same_again(self):
        piece = Piece("breast-cancer", "tight", 1.0, 3, QUICK)
        first, second = piece(), piece()
        assert first.accuracy == second.accuracy
        assert first.seed == noise_seed("breast-cancer", "tight", 1.0, 3)
        assert first.split_seed == first.trial == 3
