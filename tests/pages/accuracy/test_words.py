"""What the page says beside its answer."""

import itertools
import re
from dataclasses import replace

import pytest

from objpert_core import datasets
from objpert_core.experiments import indexed
from objpert_core.experiments.methods import DISHONEST, EVERY, EXPLANATIONS, METHODS
from pages.accuracy import controls, figure, names, reading
from pages.accuracy.figure import Figure2
from pages.accuracy.names import LABELS, cannot_run
from pages.accuracy.reading import Reading
from tests.pages.accuracy.runs import made, point_of
from tests.pages.apps import tells
from ui import figures, registry

ALL = tuple(METHODS)
pytestmark = pytest.mark.usefixtures("stored_here")


def test_every_method_has_a_name_and_a_look():
    assert set(LABELS) == set(EVERY) == set(names.ROLE)
    assert len(set(LABELS.values())) == len(EVERY)


def test_learners_on_one_chart_differ_in_colour_and_in_dash_or_symbol():
    for first, second in itertools.combinations(names.ROLE, 2):
        a, b = (figures.ROLES[names.ROLE[method]] for method in (first, second))
        assert a.color != b.color or {first, second} & set(EXPLANATIONS)  # a variant has its original's colour
        assert (a.dash, a.symbol) != (b.dash, b.symbol)


def test_what_each_epsilon_promises():
    assert {figure.covers(method) for method in DISHONEST} == {"one run, not the choice"}
    assert figure.covers("non-private") == "nothing"
    assert figure.covers("dpsgd-honest") == figure.covers("tight") == "all that was done"
    assert figure.covers("tight-no-margin") == "all that was done"
    assert figure.covers("dpsgd-margin") == "one run, not the choice"
    assert figure.covers("tight-dishonest") == "one draw, not the choice"


def test_provenance_names_command_commit_and_seeds(adult):
    words = " ".join(reading.provenance(adult))
    tells(
        words,
        "`python -m objpert_core.experiments figure2 --dataset adult`",
        "commit `abc1234` with changes that were not committed",
        "2026-11-21 12:00 UTC",
        "a test, 2 cores",
        "Package version 0.1.0",
        "Split seeds 0 to 4",
        "measurements, not releases",
    )
    assert "Note: The paper's constant feature 1." in " ".join(reading.provenance(indexed.load("adult-scaling-1")))


def test_notes_are_there_only_where_they_apply(adult):
    assert "Table 2" in Figure2(adult, 1.0).paper_note()
    assert "Table 1" in Figure2(indexed.load("synthetic-l"), 1.0).paper_note()
    assert Figure2(indexed.load("adult-synthetic"), 1.0).paper_note() == ""
    assert "not the real data" in Reading(indexed.load("adult-synthetic"), 1.0).stand_in()
    assert Reading(adult, 1.0).stand_in() == ""
    assert Figure2(adult, 1.0, ALL).missing() == ""
    missing = Figure2(made(methods=("tight",)), 1.0, ("non-private", "dpsgd-honest", "tight")).missing()
    assert "for no privacy, DP-SGD paid" in missing


def test_a_rival_that_was_not_picked_is_named(adult):
    rival = adult.rival(0.1)
    note = Figure2(adult, 0.1, ("tight", "dpsgd-dishonest-rdp")).rival_note()
    assert f"best unpaid DP-SGD at ε = 0.1, {LABELS[rival]}" in note
    assert Figure2(adult, 0.1, ("tight", rival)).rival_note() == Figure2(adult, 0.1, ("tight",)).rival_note() == ""
    assert adult.with_rival(("tight",), 0.1) == (rival, "tight")
    assert adult.with_rival((), 0.1) == ()


def test_names_are_explained_where_they_are_shown(adult):
    words = Figure2(adult, 1.0, tuple(EVERY)).legend()
    explained = r"our theorem|2023 theorem|unpaid|Rényi|PLD|large batch|luckiest draw|drawn again|no margin"
    for name in re.findall(explained, " ".join(LABELS.values())):
        assert f"{name}: " in words
    assert "with the margin: " in words
    alone = made(methods=("tight", "non-private"))
    assert (
        Figure2(alone, 1.0, ("tight",)).legend().startswith("Names: our theorem: with a margin, on rows centred and ")
    )
    assert Figure2(alone, 1.0, ("non-private",)).legend() == ""


def test_the_caption_counts_the_trials_of_what_is_shown(adult):
    assert "over five trials (Student’s t)" in Figure2(adult, 1.0, ("tight",)).intervals()
    fewer = {"tight": 1, "output": 5}
    kept = [run for run in adult.results.runs if run.trial < fewer.get(run.method, 9)]
    kept += [replace(run, trial=5) for run in kept if run.method == "published" and run.trial == 4]
    mixed = indexed.indexed("adult", replace(adult.results, runs=tuple(kept)))
    assert "over 5 to 6 trials (Student’s t). Each" in Figure2(mixed, 1.0, ("output", "published")).intervals()
    assert "over 1 to 6 trials (Student’s t); small dots" in Figure2(mixed, 1.0, ("tight", "published")).intervals()
    assert Figure2(mixed, 1.0, ("tight",)).intervals().startswith("Points are means over one trial; small dots")
    assert Figure2(mixed, 1.0, ()).intervals() == ""


def test_the_constant_is_that_of_the_files(adult):
    assert "the constant feature is 0.3 here for all methods (paper: 1)" in Figure2(adult, 1.0).paper_note()
    as_paper = replace(adult.results, configuration={"intercept_scaling": 1.0})
    assert "constant" not in Figure2(indexed.indexed("adult", as_paper), 1.0).paper_note()
    assert controls.constants(controls.files()) == (0.3,)
    words = registry.entry("accuracy").about.replace("CONSTANT", figure.constants((0.3, 1.0)))
    assert "except for the constant feature,\n  0.3 or 1 here for all methods (paper: 1);" in words
    assert "CONSTANT" not in words


def test_why_a_point_cannot_be_run(monkeypatch):
    assert cannot_run("breast-cancer", 12.0, 300.0) == cannot_run("breast-cancer") == ""
    assert "took 400 s" in cannot_run("breast-cancer", 400.0, 300.0)
    monkeypatch.setattr(datasets, "available", lambda name: False)
    assert "missing or damaged" in cannot_run("breast-cancer", 12.0, 300.0)


def test_a_run_made_again(adult):
    before, again = adult.run("tight", 1.0, 0), point_of(adult).answer
    assert "The same seed gives the same model" in again(before)
    other = replace(before, accuracy=before.accuracy + 0.001)
    words = "They are 0.10 points apart although both have the same seed"
    assert f"{words} and the same noise" in again(other)
    assert f"{words}: the calibration has changed" in again(replace(other, sigma=4.1))
    assert f"{words}: the calibration has changed" in again(replace(other, lam=0.7))
    assert point_of(adult, trial=9).answer(before).endswith("This trial is not stored.")
