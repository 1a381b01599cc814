"""The registry of learners: its entries are complete, distinct and can be made from both kinds of settings."""

import dataclasses
import re

import pytest

from objpert_core.experiments import learners, paper, results
from objpert_core.experiments.compare import Settings
from objpert_core.experiments.learners import COVERS_ALL, LABEL_WORDS, LEARNERS, LIVE, Of, label_words
from objpert_core.experiments.methods import EVERY, EXPLANATIONS, METHODS, Parameters, estimator

PRIVATE = [name for name, learner in LEARNERS.items() if learner.private]


def test_no_two_are_called_the_same():
    assert [learner.name for learner in LEARNERS.values()] == list(LEARNERS)
    for attribute in ("full_label", "title", "explanation"):
        assert len({getattr(learner, attribute) for learner in LEARNERS.values()}) == len(LEARNERS), attribute


def test_every_one_is_shown_somewhere():
    assert set(LEARNERS) == set(LIVE) | set(EVERY)
    assert not set(METHODS) & set(EXPLANATIONS)
    assert [learner.live for learner in LIVE.values()] == list(range(1, len(LIVE) + 1))


@pytest.mark.parametrize("name", PRIVATE)
def test_a_private_one_says_by_what_it_is_accounted_and_what_that_covers(name):
    learner = LEARNERS[name]
    assert learner.accountant
    assert learner.certificate
    tuned_for_nothing = learner.recipe.get("tuning") == "dishonest" or learner.training != learners.PLAIN
    assert (learner.covers == COVERS_ALL) == (not tuned_for_nothing)


@pytest.mark.parametrize("name", [name for name in PRIVATE if name in LIVE])
def test_the_live_comparison_can_make_it(name):
    model = Settings(methods=(name,), intercept_scaling=0.7).estimator(name, 0)
    assert model.intercept_scaling == 0.7


@pytest.mark.parametrize("name", [name for name in PRIVATE if name in EVERY])
def test_figure_2_can_make_it(name):
    model = estimator(name, 2.0, Parameters(intercept_scaling=0.7, row_norm="clip"), 3)
    assert (model.epsilon, model.intercept_scaling, model.row_norm, model.random_state) == (2.0, 0.7, "clip", 3)


@pytest.mark.parametrize("name", PRIVATE)
def test_what_the_settings_decide_is_an_attribute_of_one_of_them(name):
    asked = {value.name for value in LEARNERS[name].recipe.values() if isinstance(value, Of)}
    known = {field.name for kind in (Settings, Parameters) for field in dataclasses.fields(kind)}
    assert asked <= known


def test_every_word_that_needs_a_meaning_is_in_a_label():
    assert label_words(list(LEARNERS)) == dict(LABEL_WORDS)
    assert label_words([]) == {}
    assert "paid" not in label_words(["dpsgd-dishonest-pld"])
    assert all(re.escape(word) == word.replace(" ", r"\ ") for word in LABEL_WORDS)


@pytest.mark.thorough
def test_stored_results_and_the_papers_tables_name_learners():
    stored = {run.method for dataset in results.stored() for run in results.load(dataset).runs}
    assert stored | {number.method for number in paper.PAPER} <= set(EVERY)
