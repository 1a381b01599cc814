"""Files of results, as the page Accuracy reads them."""

from dataclasses import replace

import pytest

from objpert_core.experiments import indexed, paper, results
from objpert_core.experiments.figure2 import EPSILONS
from objpert_core.experiments.methods import METHODS, Parameters
from objpert_core.experiments.summary import mean_interval
from pages.accuracy import controls
from tests.pages.accuracy.runs import made, runs, write

ALL = tuple(METHODS)
pytestmark = pytest.mark.usefixtures("stored_here")


def test_are_listed_as_the_catalogue_lists_data_sets_variants_last():
    assert controls.files() == ("adult", "adult-synthetic", "synthetic-l", "adult-scaling-1")
    assert controls.default_key(controls.files()) == "adult"
    assert controls.default_key(("synthetic-l",)) == "synthetic-l"


def test_hold_what_was_written(adult):
    assert {method for method, _ in adult.points} == set(ALL)
    assert adult.epsilons == EPSILONS
    assert (adult.counts(ALL), adult.delta) == ((5, 5), 1e-5)
    assert adult.parameters == Parameters()
    own = [run.accuracy for run in runs("adult") if (run.method, run.epsilon) == ("tight", 0.5)]
    assert adult.point("tight", 0.5).accuracy == mean_interval(own)
    assert [run.accuracy for run in adult.runs("tight", 0.5)] == own
    assert adult.run("tight", 0.5, 2).accuracy == own[2]
    assert adult.run("tight", 0.5, 9) is None
    assert adult.point("tight", 0.3) is None


def test_no_privacy_is_the_same_at_every_epsilon(adult):
    assert adult.point("non-private", 0.025) is adult.point("non-private", 8.0)
    assert adult.typical_seconds("non-private", 1.0) == pytest.approx(1.2, rel=0.05)


def test_a_changed_file_is_read_again(tmp_path, monkeypatch):
    monkeypatch.setattr(results, "folder", lambda: tmp_path)
    write(tmp_path, "adult", trials=2, methods=("tight",))
    assert indexed.load("adult").counts(("tight",)) == (2, 2)
    write(tmp_path, "adult", trials=3, methods=("tight",))
    assert indexed.load("adult").counts(("tight",)) == (3, 3)


def test_a_damaged_or_missing_file_is_one_sentence_and_spoils_nothing_else(tmp_path, monkeypatch):
    monkeypatch.setattr(results, "folder", lambda: tmp_path)
    write(tmp_path, "adult", trials=1, epsilons=(0.3, 1.0))
    (tmp_path / "figure2_synthetic-l.csv").write_text("rubbish\n")
    with pytest.raises(ValueError, match="line 1"):
        indexed.load("synthetic-l")
    with pytest.raises(ValueError, match="the stored results of 'gisette' cannot be read"):
        indexed.load("gisette")
    assert controls.epsilons(controls.files()) == (*EPSILONS[:4], 0.3, *EPSILONS[4:])


def test_labels(adult):
    assert adult.label == "adult"
    assert not adult.stand_in
    assert indexed.load("adult-synthetic").label == "adult-synthetic (stand-in for adult)"
    assert indexed.load("adult-synthetic").stand_in
    assert indexed.load("adult-scaling-1").label == "adult, variant adult-scaling-1"


def test_a_file_of_a_data_set_that_nobody_knows():
    stored = made(trials=1)
    stranger = indexed.indexed("mine", replace(stored.results, dataset="mine"))
    assert (stranger.label, stranger.known, stranger.stand_in) == ("mine", False, False)


def test_the_papers_numbers_are_the_tables():
    assert paper.printed("adult", "dpsgd-dishonest-rdp") == {0.1: 0.8161, 1.0: 0.8354, 8.0: 0.8419}
    assert paper.printed("adult", "published") == {0.1: 0.8137, 1.0: 0.8318, 8.0: 0.8399}
    assert paper.printed("synthetic-l", "dpsgd-honest") == {0.1: 0.7734, 1.0: 0.9315, 8.0: 0.9517}
    assert set(paper.TABLES) == set(paper.ACCURACIES)
