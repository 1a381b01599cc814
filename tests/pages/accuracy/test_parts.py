"""The accuracy page's files, words, tables, charts and snippets, on made-up runs."""

import itertools
import math
import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest

from objpert_core import datasets
from objpert_core.experiments import indexed, paper, results, tables
from objpert_core.experiments.figure2 import EPSILONS, Piece, noise_seed
from objpert_core.experiments.learners import UNPAID
from objpert_core.experiments.methods import DISHONEST, EVERY, EXPLANATIONS, METHODS, Parameters
from objpert_core.experiments.summary import mean_interval
from pages.accuracy import ahead, figure, names, offered, provenance
from pages.accuracy.again import Point
from pages.accuracy.ahead import Ahead
from pages.accuracy.figure import Figure2
from pages.accuracy.names import LABELS
from pages.accuracy.offer import cannot_run
from pages.accuracy.reading import Reading
from tests.pages.accuracy.runs import runs, write
from tests.pages.apps import execute, tells, words_of
from ui import figures, registry
from ui.svg import decode, to_svg
from ui.words import ends, fall, signed

ALL = tuple(METHODS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    where = tmp_path_factory.mktemp("results")
    for dataset in ("synthetic-l", "adult-synthetic", "adult"):
        write(where, dataset)
    write(where, "adult", key="adult-scaling-1", note="the paper's constant feature 1")
    return where


@pytest.fixture(autouse=True)
def stored_here(monkeypatch, folder):
    monkeypatch.setattr(results, "folder", lambda: folder)


@pytest.fixture
def adult():
    return indexed.load("adult")


def made(dataset="adult", **choices):
    """A file of made-up runs without the file."""
    return indexed.indexed(dataset, results.Results(dataset, "0.1.0", {}, (), tuple(runs(dataset, **choices))))


def moved(by, trials=4):
    """Adult's runs with tight at every ε what the best unpaid DP-SGD reaches plus `by[trial]` points."""
    rivals = runs("adult", trials=trials, methods=("dpsgd-dishonest-large",))
    best = {(run.epsilon, run.trial): run.accuracy for run in rivals}

    def change(run):
        if run.method != "tight":
            return run
        return replace(run, accuracy=best[run.epsilon, run.trial] + by[run.trial] / 100)

    return made(trials=trials, change=change)


def point(stored, trial=0):
    """A point of tight at ε = 1."""
    return Point(stored, Piece(stored.dataset, "tight", 1.0, trial, Parameters()))


class TestFiles:
    def test_are_listed_as_the_catalogue_lists_data_sets_variants_last(self):
        assert offered.files() == ("adult", "adult-synthetic", "synthetic-l", "adult-scaling-1")
        assert offered.default_key(offered.files()) == "adult"
        assert offered.default_key(("synthetic-l",)) == "synthetic-l"

    def test_hold_what_was_written(self, adult):
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

    def test_no_privacy_is_the_same_at_every_epsilon(self, adult):
        assert adult.point("non-private", 0.025) is adult.point("non-private", 8.0)
        assert adult.typical_seconds("non-private", 1.0) == pytest.approx(1.2, rel=0.05)

    def test_differences_are_paired_over_common_trials(self):
        stored = made(trials=4)
        both = zip(stored.runs("tight", 1.0), stored.runs("published", 1.0), strict=True)
        pairs = [own.accuracy - other.accuracy for own, other in both]
        assert stored.difference("tight", "published", 1.0) == mean_interval(pairs)
        kept = tuple(run for run in stored.results.runs if (run.method, run.trial) != ("published", 1))
        fewer = indexed.indexed("adult", replace(stored.results, runs=kept))
        assert fewer.difference("tight", "published", 1.0) == mean_interval([pairs[0], *pairs[2:]])
        assert stored.difference("tight", "published", 0.3) is None

    def test_a_changed_file_is_read_again(self, tmp_path, monkeypatch):
        monkeypatch.setattr(results, "folder", lambda: tmp_path)
        write(tmp_path, "adult", trials=2, methods=("tight",))
        assert indexed.load("adult").counts(("tight",)) == (2, 2)
        write(tmp_path, "adult", trials=3, methods=("tight",))
        assert indexed.load("adult").counts(("tight",)) == (3, 3)

    def test_a_damaged_or_missing_file_is_one_sentence_and_spoils_nothing_else(self, tmp_path, monkeypatch):
        monkeypatch.setattr(results, "folder", lambda: tmp_path)
        write(tmp_path, "adult", trials=1, epsilons=(0.3, 1.0))
        (tmp_path / "figure2_synthetic-l.csv").write_text("rubbish\n")
        with pytest.raises(ValueError, match="line 1"):
            indexed.load("synthetic-l")
        with pytest.raises(ValueError, match="the stored results of 'gisette' cannot be read"):
            indexed.load("gisette")
        assert offered.epsilons(offered.files()) == (*EPSILONS[:4], 0.3, *EPSILONS[4:])

    def test_labels(self, adult):
        assert adult.label == "adult"
        assert not adult.stand_in
        assert indexed.load("adult-synthetic").label == "adult-synthetic (stand-in for adult)"
        assert indexed.load("adult-synthetic").stand_in
        assert indexed.load("adult-scaling-1").label == "adult, variant adult-scaling-1"

    def test_a_file_of_a_data_set_that_nobody_knows(self):
        stored = made(trials=1)
        stranger = indexed.indexed("mine", replace(stored.results, dataset="mine"))
        assert (stranger.label, stranger.known, stranger.stand_in) == ("mine", False, False)

    def test_the_papers_numbers_are_the_tables(self):
        assert paper.printed("adult", "dpsgd-dishonest-rdp") == {0.1: 0.8161, 1.0: 0.8354, 8.0: 0.8419}
        assert paper.printed("adult", "published") == {0.1: 0.8137, 1.0: 0.8318, 8.0: 0.8399}
        assert paper.printed("synthetic-l", "dpsgd-honest") == {0.1: 0.7734, 1.0: 0.9315, 8.0: 0.9517}
        assert set(paper.TABLES) == set(paper.ACCURACIES)


class TestAnswer:
    @pytest.mark.parametrize(
        ("by", "part"),
        [
            ((0.3, 0.4, 0.5, 0.4), "is 0.40 points more accurate than the best DP-SGD whose tuning is not paid for "
             "(95 % interval +0.27 to +0.53), and takes about 1/48 of its time (0.258 s against 12.4 s, medians)."),
            ((-0.3, -0.4, -0.5, -0.4), "is 0.40 points less accurate than the best DP-SGD whose tuning is not paid "
             "for (95 % interval −0.53 to −0.27), and takes about 1/48 of its time"),
            ((-0.3, 0.4, -0.1, 0.2), "cannot be told apart (+0.05 points, 95 % interval −0.44 to +0.54); the first "
             "takes about 1/48 of the second’s time"),
        ],
    )  # fmt: skip
    def test_follows_the_paired_interval(self, by, part):
        words = ahead.verdict(Reading(moved(by), 0.25))
        assert words.startswith("At ε = 0.25 on adult, Algorithm 1 with our theorem ")
        assert part in words

    def test_agrees_with_the_claim_whichever_way_it_goes(self, adult):
        said = {"ahead": "more accurate", "even": "cannot be told apart", "behind": "less accurate"}
        said |= {"unclear": "too few to tell"}
        for epsilon in EPSILONS:
            claim = adult.claims[epsilon]
            assert said[claim.verdict] in ahead.verdict(Reading(adult, epsilon))
            assert claim.rival in DISHONEST
        assert {claim.verdict for claim in adult.claims.values()} >= {"ahead", "behind"}

    def test_one_trial_has_no_interval(self):
        words = ahead.verdict(Reading(made(trials=1), 0.1))
        assert "one trial is too few to tell Algorithm 1 with our theorem from the best DP-SGD" in words
        assert re.search(r" points, no interval\); the first takes about 1/48 of the second’s time", words)
        assert "one trial only at nine of them" in ahead.everywhere(made(trials=1))

    def test_few_trials_that_differ_widely_tell_nothing(self):
        words = ahead.verdict(Reading(moved((-3.0, 3.5), trials=2), 0.25))
        assert "two trials are too few to tell Algorithm 1 with our theorem from the best DP-SGD" in words
        assert "(+0.25 points, 95 % interval 83 points wide)" in words  # t = 12.706, times 6.5
        assert "with too few trials to tell at nine of them" in ahead.everywhere(moved((-3.0, 3.5), trials=2))

    def test_without_a_rival_or_without_ours(self):
        without_rival = ahead.verdict(Reading(made(methods=("tight", "published")), 1.0))
        assert without_rival.endswith("no unpaid DP-SGD is stored beside it.")
        assert "no run of Algorithm 1 with our theorem is stored" in ahead.verdict(
            Reading(made(methods=DISHONEST), 1.0)
        )

    @pytest.mark.parametrize(
        ("factor", "words"),
        [
            *((1238, "about 1/1,200 of"), (48, "about 1/48 of"), (10, "about 1/10 of"), (5.5, "takes 18 % of")),
            *((2, "50 % of"), (1, "takes about "), (0.25, "takes 4 times ")),
        ],
    )
    def test_times(self, factor, words):
        def change(run):
            return replace(run, seconds=0.5 * factor if run.method in DISHONEST else 0.5)

        assert words in ahead.verdict(Reading(made(trials=2, change=change), 0.1))

    def test_a_slow_trial_changes_neither_the_time_nor_the_ratio(self, adult):
        def change(run):
            return replace(run, seconds=100 * run.seconds) if run.trial == 1 and run.method == "tight" else run

        busy = made(trials=5, change=change)
        own, other = (busy.point(method, 1.0).seconds.median for method in ("tight", busy.rival(1.0)))
        assert busy.claims[1.0].speedup.median == other / own
        assert f"({names.seconds(own)} against {names.seconds(other)}, medians)" in ahead.verdict(Reading(busy, 1.0))
        assert "about 1/47 of" in ahead.verdict(Reading(busy, 1.0))

    def test_what_the_others_reach_is_told_beside_the_contest(self, adult):
        words = ahead.reached(Reading(adult, 1.0))
        rival = adult.claims[1.0].rival
        for part in (
            f"the rival, {LABELS[rival]}, {100 * adult.point(rival, 1.0).accuracy.mean:.2f} %",
            "Paired over five trials",
            "unpaid because its learning rate was chosen by test accuracy",
            f"pays for its tuning {100 * adult.point('dpsgd-honest', 1.0).accuracy.mean:.2f} % (our theorem is +",
            f"no privacy {100 * adult.point('non-private', 1.0).accuracy.mean:.2f} % (our theorem is −",
        ):
            assert part in words
        assert ahead.reached(Reading(made(methods=("tight",)), 1.0)).startswith("Algorithm 1 with our theorem gets ")

    @pytest.mark.thorough
    def test_the_answer_is_what_privacy_costs(self, adult):
        own, reference = (adult.point(method, 0.1).accuracy.mean for method in ("tight", "non-private"))
        size, course = fall(reference, own)
        assert Figure2(adult, 0.1).answer() == f"At ε = 0.1 privacy costs {size} on adult ({course})."
        level = made(change=lambda run: replace(run, accuracy=0.8 + 0.01 * (run.trial % 2) * (run.method == "tight")))
        assert Figure2(level, 1.0).answer().startswith("At ε = 1 the cost of privacy on ")
        ahead = made(change=lambda run: replace(run, accuracy=0.8 + 0.01 * (run.method == "tight")))
        assert Figure2(ahead, 1.0).answer().startswith("At ε = 1 the private model gains 1.00 points on adult (80.00")
        assert Figure2(made(methods=("tight",)), 1.0).answer().startswith("At ε = 1 Algorithm 1 with our theorem gets ")
        assert Figure2(made(methods=DISHONEST), 1.0).answer().startswith("At ε = 1 no run of Algorithm 1 with")
        stand_in = indexed.load("adult-synthetic")
        assert all(words_of(Figure2(stored, e).answer()) <= 18 for stored in (adult, level, stand_in) for e in EPSILONS)

    @pytest.mark.thorough
    def test_the_promise_names_what_was_released_before_the_fit(self, adult):
        fit = "accounted by the privacy profile of our theorem"
        assert Reading(adult, 1.0).promise().endswith(f"{fit} beside the noisy centre and scales.")
        centred = made(change=lambda run: replace(run, scale_noise=None))
        assert Reading(centred, 1.0).promise().endswith(f"{fit} beside the noisy centre.")
        raw = made(change=lambda run: replace(run, center_noise=None, scale_noise=None))
        assert Reading(raw, 1.0).promise().endswith(f"{fit}.")

    def test_why_it_moved(self, adult):
        assert Figure2(adult, 1.0).moved(None) == Figure2(adult, 1.0).moved(Reading(adult, 1.0)) == ""
        assert (
            Figure2(adult, 1.0)
            .moved(Reading(adult, 0.1))
            .startswith("ε 0.1 → 1: σ falls from 40 to 4; accuracy rises from ")
        )
        assert "more people make the signal stronger" in Figure2(adult, 1.0).moved(
            Reading(indexed.load("synthetic-l"), 1.0)
        )

    @pytest.mark.thorough
    def test_variants_are_told_where_they_were_run(self, adult):
        assert [line.partition(":")[0] for line in ahead.variants(adult)] == ["The rival standardised, too"]
        words = ahead.variants(made(methods=tuple(EVERY)))
        assert len(words) == len(tables.VARIANTS)
        for line, name in zip(words, tables.VARIANTS, strict=True):
            assert line.lower().startswith(name)
            assert re.search(r"(more accurate|not told apart|less accurate) at \w+ of them", line)

    @pytest.mark.thorough
    def test_who_is_ahead_says_claim_and_counter_claim(self, adult):
        claim, gap = adult.claims[4.0], adult.difference("tight", "dpsgd-standardised", 4.0)
        assert claim.verdict == "behind"
        assert gap.high < 0
        assert Ahead(adult, 4.0).answer() == (
            f"At ε = 4 our theorem is {-100 * claim.difference.mean:.2f} points behind unpaid DP-SGD, "
            f"{-100 * gap.mean:.2f} behind DP-SGD on standardised rows."
        )
        assert f"(our theorem is {signed(gap.mean)} points, " in ahead.counter(Reading(adult, 4.0))
        assert " points ahead of unpaid DP-SGD, " in Ahead(adult, 0.025).answer()
        level = moved((-0.3, 0.4, -0.1, 0.2))
        assert Ahead(level, 0.25).answer().startswith("At ε = 0.25 our theorem is not told apart from unpaid DP-SGD, ")
        same = made(change=lambda run: replace(run, accuracy=0.8 + 0.01 * (run.trial % 2) * (run.method == "tight")))
        neither = "is not told apart from unpaid DP-SGD, on raw or standardised rows."
        assert Ahead(same, 1.0).answer().endswith(neither)
        raw = made(methods=("tight", "dpsgd-dishonest-rdp"))
        assert Ahead(raw, 1.0).answer().endswith(" unpaid DP-SGD on adult.")
        assert ahead.counter(Reading(raw, 1.0)) == ""
        alone = Ahead(made(methods=("tight",)), 1.0).answer()
        assert alone.startswith("At ε = 1 no runs of both our theorem and an unpaid DP-SGD")
        stand_in = indexed.load("adult-synthetic")
        assert all(words_of(Ahead(one, e).answer()) <= 18 for one in (adult, level, raw, stand_in) for e in EPSILONS)

    def test_why_the_lead_moved(self, adult):
        assert Ahead(adult, 1.0).moved(None) == Ahead(adult, 1.0).moved(Reading(adult, 1.0)) == ""
        words = Ahead(adult, 1.0).moved(Reading(adult, 0.1))
        assert words.startswith("ε 0.1 → 1: the lead of our theorem over unpaid DP-SGD falls from +")
        other = indexed.load("synthetic-l")
        assert (
            Ahead(adult, 1.0)
            .moved(Reading(other, 1.0))
            .startswith("adult instead of synthetic-l: the lead of our theorem ")
        )

    def test_who_is_ahead_shows_whom_it_is_about(self, adult):
        assert ahead.compared(Reading(adult, 0.1), ()) == (adult.rival(0.1), "dpsgd-standardised", "tight")
        assert set(ahead.compared(Reading(adult, 0.1), ALL)) == set(ALL)

    def test_everywhere_counts_every_epsilon_once(self, adult):
        words = ahead.everywhere(adult)
        listed = [value for group in re.findall(r"\(ε = ([^)]*)\)", words) for value in group.split(", ")]
        assert sorted(map(float, listed)) == list(EPSILONS)
        assert words.endswith("At 9 of these ε, our theorem takes at most a tenth of the rival’s time (medians).")

    def test_points_keep_small_differences(self):
        assert names.points(-0.0035) == "0.35 points"
        assert names.points(0.00001234) == "0.0012 points"
        assert names.points(0.0) == "0.00 points"
        assert signed(-0.0002) == "−0.02"

    def test_intervals_end_at_100(self):
        assert figure.share_between(mean_interval([1.0, 0.9, 1.0, 1.0, 1.0])).endswith("to 100.00 %")
        assert figure.share_between(mean_interval([1.0, 0.9])) == "two trials"
        assert figure.share_between(mean_interval([0.9])) == "one trial"
        assert ends(mean_interval([-0.3, 0.5])) == "−100.00 to +100.00"


class TestWords:
    def test_every_method_has_a_name_and_a_look(self):
        assert set(LABELS) == set(EVERY) == set(names.ROLE)
        assert len(set(LABELS.values())) == len(EVERY)

    def test_learners_on_one_chart_differ_in_colour_and_in_dash_or_symbol(self):
        for first, second in itertools.combinations(names.ROLE, 2):
            a, b = (figures.ROLES[names.ROLE[method]] for method in (first, second))
            assert a.color != b.color or {first, second} & set(EXPLANATIONS)  # a variant has its original's colour
            assert (a.dash, a.symbol) != (b.dash, b.symbol)

    def test_what_each_epsilon_promises(self):
        assert {figure.covers(method) for method in DISHONEST} == {"one run, not the choice"}
        assert figure.covers("non-private") == "nothing"
        assert figure.covers("dpsgd-honest") == figure.covers("tight") == "all that was done"
        assert figure.covers("tight-no-margin") == "all that was done"
        assert figure.covers("dpsgd-margin") == "one run, not the choice"
        assert figure.covers("tight-dishonest") == "one draw, not the choice"

    def test_provenance_names_command_commit_and_seeds(self, adult):
        words = " ".join(provenance.provenance(adult))
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
        assert "Note: The paper's constant feature 1." in " ".join(
            provenance.provenance(indexed.load("adult-scaling-1"))
        )

    def test_configuration_is_readable(self, adult):
        rows = {row["Parameter"]: row["Value"] for row in provenance.configuration(adult)}
        assert rows["delta"] == "1e-05"
        assert rows["learning_rates"].startswith("1e-08, 5.99e-08")
        assert set(rows) == set(Parameters().as_configuration())

    def test_notes_are_there_only_where_they_apply(self, adult):
        assert "Table 2" in Figure2(adult, 1.0).paper_note()
        assert "Table 1" in Figure2(indexed.load("synthetic-l"), 1.0).paper_note()
        assert Figure2(indexed.load("adult-synthetic"), 1.0).paper_note() == ""
        assert "not the real data" in Reading(indexed.load("adult-synthetic"), 1.0).stand_in()
        assert Reading(adult, 1.0).stand_in() == ""
        assert Figure2(adult, 1.0, ALL).missing() == ""
        missing = Figure2(made(methods=("tight",)), 1.0, ("non-private", "dpsgd-honest", "tight")).missing()
        assert "for no privacy, DP-SGD paid" in missing

    def test_alt_names_the_best_first(self, adult):
        words = Figure2(adult, 0.1, ("tight", "non-private", "output")).alt()
        assert "At ε = 0.1: no privacy 85.19 %, Algorithm 1 with our theorem" in words
        assert words.index("our theorem") < words.index("output")
        assert Figure2(made(methods=("tight",)), 0.1, ("output",)).alt().endswith("nothing is stored.")

    def test_alt_names_the_rival_where_it_is_drawn_and_the_ghost(self, adult):
        ghost, rival = indexed.load("adult-synthetic"), adult.rival(0.1)
        drawn = ("tight", next(name for name in UNPAID if name != rival))
        assert LABELS[rival] in Figure2(adult, 0.1, drawn).alt()
        assert LABELS[rival] in Figure2(adult, 0.1, ("tight", rival)).alt()
        words = Figure2(adult, 0.1, ("tight",), ghost=ghost).alt()
        assert LABELS[rival] not in words
        assert words.endswith("Faint lines without marks: the same methods on adult-synthetic (stand-in for adult), "
                              "shown before.")  # fmt: skip

    def test_a_rival_that_was_not_picked_is_named(self, adult):
        rival = adult.rival(0.1)
        note = Figure2(adult, 0.1, ("tight", "dpsgd-dishonest-rdp")).rival_note()
        assert f"rival at ε = 0.1, {LABELS[rival]}" in note
        assert Figure2(adult, 0.1, ("tight", rival)).rival_note() == Figure2(adult, 0.1, ("tight",)).rival_note() == ""
        assert adult.with_rival(("tight",), 0.1) == (rival, "tight")
        assert adult.with_rival((), 0.1) == ()

    def test_names_are_explained_where_they_are_shown(self, adult):
        words = Figure2(adult, 1.0, tuple(EVERY)).legend()
        explained = r"our theorem|2023 theorem|unpaid|Rényi|PLD|large batch|luckiest draw|drawn again|no margin"
        for name in re.findall(explained, " ".join(LABELS.values())):
            assert f"{name}: " in words
        assert "with the margin: " in words
        alone = made(methods=("tight", "non-private"))
        assert (
            Figure2(alone, 1.0, ("tight",))
            .legend()
            .startswith("Names: our theorem: with a margin, on rows centred and ")
        )
        assert Figure2(alone, 1.0, ("non-private",)).legend() == ""

    def test_the_caption_counts_the_trials_of_what_is_shown(self, adult):
        assert "over five trials (Student’s t)" in Figure2(adult, 1.0, ("tight",)).intervals()
        fewer = {"tight": 1, "output": 5}
        kept = [run for run in adult.results.runs if run.trial < fewer.get(run.method, 9)]
        kept += [replace(run, trial=5) for run in kept if run.method == "published" and run.trial == 4]
        mixed = indexed.indexed("adult", replace(adult.results, runs=tuple(kept)))
        assert "over 5 to 6 trials (Student’s t). Each" in Figure2(mixed, 1.0, ("output", "published")).intervals()
        assert "over 1 to 6 trials (Student’s t); small dots" in Figure2(mixed, 1.0, ("tight", "published")).intervals()
        assert Figure2(mixed, 1.0, ("tight",)).intervals().startswith("Points are means over one trial; small dots")
        assert Figure2(mixed, 1.0, ()).intervals() == ""

    def test_the_constant_is_that_of_the_files(self, adult):
        assert "the constant feature is 0.3 here for all methods (paper: 1)" in Figure2(adult, 1.0).paper_note()
        as_paper = replace(adult.results, configuration={"intercept_scaling": 1.0})
        assert "constant" not in Figure2(indexed.indexed("adult", as_paper), 1.0).paper_note()
        assert offered.constants(offered.files()) == (0.3,)
        words = registry.entry("accuracy").about.replace("CONSTANT", figure.constants((0.3, 1.0)))
        assert "except for the constant feature,\n  0.3 or 1 here for all methods (paper: 1);" in words
        assert "CONSTANT" not in words

    def test_what_a_point_will_be_compared_with(self, adult):
        words = point(adult, trial=9).invitation()
        assert "this trial is not stored" in words
        assert words.endswith("Stored trials of this point took 0.26 s (median).")

    def test_why_a_point_cannot_be_run(self, monkeypatch):
        assert cannot_run("breast-cancer", 12.0, 300.0) == cannot_run("breast-cancer") == ""
        assert "took 400 s" in cannot_run("breast-cancer", 400.0, 300.0)
        monkeypatch.setattr(datasets, "available", lambda name: False)
        assert "missing or damaged" in cannot_run("breast-cancer", 12.0, 300.0)

    def test_a_run_made_again(self, adult):
        before, again = adult.run("tight", 1.0, 0), point(adult).answer
        assert "every test row is answered alike" in again(before)
        other = replace(before, accuracy=before.accuracy + 0.001)
        words = "They are 0.10 points apart although both have the same seed"
        assert f"{words} and the same noise" in again(other)
        assert f"{words}: the calibration has changed" in again(replace(other, sigma=4.1))
        assert f"{words}: the calibration has changed" in again(replace(other, lam=0.7))
        assert point(adult, trial=9).answer(before).endswith("This trial is not stored.")

    def test_the_long_text_says_what_the_page_must_not_leave_out(self):
        words = registry.entry("accuracy").about
        tells(words, "not* paid for", "best **test** accuracy", "either way", "No row is ever repeated")


class TestTables:
    def test_the_table_is_the_points_at_the_epsilon(self, adult):
        rows = Figure2(adult, 1.0, offered.COMPARED).table()
        names = [row["Method"].replace("\u00a0", " ").replace("\u2011", "-") for row in rows]
        marked = {adult.rival(1.0): " (the rival)"}
        assert names == [LABELS[m] + marked.get(m, "") for m in offered.COMPARED]
        assert list(rows[0])[:3] == ["Method", "Tight minus it, points", "Accuracy"]  # a telephone shows no more
        by = dict(zip(offered.COMPARED, rows, strict=True))
        difference = adult.difference("tight", "published", 1.0)
        assert by["published"]["Accuracy"] == f"{100 * adult.point('published', 1.0).accuracy.mean:.2f}\u00a0%"
        assert by["published"]["Paper"] == "83.18\u00a0%"
        assert by["published"]["Tight minus it, points"].startswith(signed(difference.mean) + "\u00a0(")
        assert by["tight"]["Tight minus it, points"] == "–"
        assert "Paper" not in Figure2(adult, 0.25, offered.COMPARED).table()[0]
        assert "Paper" not in Figure2(indexed.load("adult-synthetic"), 1.0, offered.COMPARED).table()[0]

    def test_the_rival_has_a_row_whatever_is_picked(self, adult):
        rows = Figure2(adult, 1.0, ("tight",)).table()
        assert len(rows) == 2
        assert rows[0]["Method"].endswith(" (the\u00a0rival)")
        assert not Figure2(adult, 1.0, ()).table()
        assert "Paper" not in Figure2(adult, 1.0, ("tight",)).table()[0]  # none of what is shown

    def test_the_claim_at_every_epsilon(self, adult):
        rows = ahead.table(adult)
        assert [float(row["ε"]) for row in rows] == list(EPSILONS)
        assert all(row["Its time / ours"].endswith("×") for row in rows)
        nothing = ahead.table(made(methods=("output",)))
        assert {row["Tight minus best unpaid, points"] for row in nothing} == {"–"}

    def test_csv_holds_the_plotted_numbers(self, adult):
        frame = Figure2(adult, 1.0, ("non-private", "tight", "published")).frame()
        assert len(frame) == 1 + 2 * len(EPSILONS)
        own = frame[(frame.method == "tight") & (frame.epsilon == 0.1)].iloc[0]
        assert own.accuracy == adult.point("tight", 0.1).accuracy.mean
        assert own.low == adult.point("tight", 0.1).accuracy.low
        published = frame[(frame.method == "published") & (frame.epsilon == 1.0)].iloc[0]
        assert published.tight_minus_it == adult.difference("tight", "published", 1.0).mean
        assert published.paper == 0.8318

    def test_the_two_runs_of_a_point_side_by_side(self, adult):
        before = adult.run("tight", 1.0, 0)
        rows = {row[""]: row for row in point(adult).table(replace(before, accuracy=0.5))}
        assert rows["test accuracy"]["made now"] == "50.000 %"
        assert rows["noise seed"]["stored"] == str(noise_seed("adult", "tight", 1.0, 0))
        assert "learning rate" not in rows  # neither has one
        assert "stored" not in point(adult, trial=9).table(before)[0]


class TestCharts:
    def curves(self, chart):
        return {trace.name: trace for trace in chart.data if trace.name and not trace.meta["ghost"] and not trace.fill}

    def test_the_curves_are_the_means_with_their_intervals(self, adult):
        curves = self.curves(Figure2(adult, 1.0, ALL, paper=False).chart())
        assert list(curves) == [LABELS[method] for method in ALL]
        for method in ALL[1:]:
            trace = curves[LABELS[method]]
            points = [adult.point(method, epsilon).accuracy for epsilon in EPSILONS]
            np.testing.assert_array_equal(decode(trace.x), EPSILONS)
            np.testing.assert_array_equal(decode(trace.y), [point.mean for point in points])
            np.testing.assert_allclose(decode(trace.error_y.array), [point.half_width for point in points], rtol=1e-9)
        level = curves["no privacy"]
        assert set(decode(level.y)) == {adult.point("non-private", 1.0).accuracy.mean}
        assert level.mode == "lines"

    def test_only_the_chosen_methods_and_the_rival_are_drawn_and_none_is_fine(self, adult):
        label, another = LABELS[adult.rival(1.0)], "dpsgd-dishonest-rdp"
        assert list(self.curves(Figure2(adult, 1.0, ("tight",), paper=False).chart())) == [
            "Algorithm 1 with our theorem"
        ]
        curves = self.curves(Figure2(adult, 1.0, ("tight", another), paper=False).chart())
        assert set(curves) == {"Algorithm 1 with our theorem", LABELS[another], "rival at ε = 1"}
        rival, point = curves["rival at ε = 1"], adult.point(adult.rival(1.0), 1.0)
        assert (list(decode(rival.x)), list(decode(rival.y))) == ([1.0], [point.accuracy.mean])
        both = self.curves(Figure2(adult, 1.0, ("tight", adult.rival(1.0)), paper=False).chart())
        assert set(both) == {label, "Algorithm 1 with our theorem"}
        out_of_view = Figure2(adult, 1.0, (another,), paper=False, view=figure.SMALL).chart()
        assert list(self.curves(out_of_view)) == [LABELS[another]]
        assert not self.curves(Figure2(adult, 1.0, (), paper=False).chart())
        not_stored = Figure2(made(methods=("tight",)), 1.0, ("tight", "dpsgd-honest"), paper=False).chart()
        assert "DP-SGD paid" not in self.curves(not_stored)

    @pytest.mark.parametrize(("dataset", "epsilon"), [("adult", 0.1), ("synthetic-l", 8.0)])
    def test_the_papers_numbers_are_hollow_marks_named_paper(self, dataset, epsilon):
        curves = self.curves(Figure2(indexed.load(dataset), 1.0, offered.PAPERS).chart())
        marks = {name: trace for name, trace in curves.items() if name.startswith("paper: ")}
        assert list(marks) == ["paper: DP-SGD unpaid", "paper: DP-SGD paid", "paper: Algorithm 1 with the 2023 theorem"]
        trace = marks["paper: Algorithm 1 with the 2023 theorem"]
        assert trace.mode == "markers"
        at = list(decode(trace.x)).index(epsilon)
        assert decode(trace.y)[at] == paper.printed(dataset, "published")[epsilon]
        assert trace.marker.color == "rgba(0,0,0,0)"

    def test_a_stand_in_has_no_marks_of_the_paper_and_says_so_on_the_axis(self):
        chart = Figure2(indexed.load("adult-synthetic"), 1.0, ("tight",)).chart()
        assert not any(name.startswith("paper") for name in self.curves(chart))
        assert "stand-in for adult" in chart.layout.yaxis.title.text

    @pytest.mark.parametrize("view", figure.VIEWS)
    def test_views_are_ranges_around_what_they_show(self, adult, view):
        chart = Figure2(adult, 1.0, ALL, view=view).chart()
        left, right = (10**edge for edge in chart.layout.xaxis.range)
        shown = [e for e in EPSILONS if left < e < right]
        least, most = figure.VIEWS[view]
        assert shown == [e for e in EPSILONS if least <= e <= most]
        low, high = chart.layout.yaxis.range
        ends = [adult.point(m, e).accuracy.within() for m in ALL for e in shown]
        assert high >= max(end for _, end in ends)
        if view == figure.TOP:
            assert high - low < 0.04
        else:
            assert low <= min(end for end, _ in ends)
        assert list(chart.layout.xaxis.ticktext) == [f"{e:g}" for e in shown]

    def test_the_ghost_is_the_other_data_set(self, adult):
        chart = Figure2(adult, 1.0, ("tight", "non-private"), ghost=indexed.load("adult-synthetic")).chart()
        ghosts = [trace for trace in chart.data if trace.meta["ghost"]]
        assert len(ghosts) == 2
        assert ghosts[0].name == "Algorithm 1 with our theorem, adult-synthetic (stand-in for adult)"
        other = indexed.load("adult-synthetic")
        means = [other.point("tight", epsilon).accuracy.mean for epsilon in EPSILONS]
        np.testing.assert_array_equal(decode(ghosts[0].y), means)

    def test_a_run_made_now_is_a_mark_of_its_own(self, adult):
        run = replace(adult.run("output", 0.5, 0), accuracy=0.4)
        chart = Figure2(adult, 0.5, ("tight",), live=run).chart()
        mark = self.curves(chart)["made now: output perturbation"]
        assert (list(decode(mark.x)), list(decode(mark.y))) == ([0.5], [0.4])
        assert chart.layout.yaxis.range[0] < 0.4
        outside = Figure2(adult, 0.5, ("tight",), live=run, view=figure.LARGE).chart()
        assert not any(name.startswith("made now") for name in self.curves(outside))

    def test_a_file_without_private_runs_is_drawn(self):
        chart = Figure2(made(methods=("non-private",)), 1.0, ALL).chart()
        assert next(iter(self.curves(chart))) == "no privacy"

    @pytest.mark.parametrize("trials", [1, 2])
    def test_few_trials_are_dots_without_bars(self, trials):
        stored = made(trials=trials)
        chart = Figure2(stored, 1.0, ("non-private", "tight"), paper=False).chart()
        curves = self.curves(chart)
        assert not decode(curves["Algorithm 1 with our theorem"].error_y.array).any()
        assert not any(trace.fill for trace in chart.data)
        dots = curves["Algorithm 1 with our theorem, single trials"]
        assert list(decode(dots.y)) == [run.accuracy for e in EPSILONS for run in stored.runs("tight", e)]
        assert (dots.mode, dots.showlegend) == ("markers", False)
        low, high = chart.layout.yaxis.range
        assert low < min(decode(dots.y)) <= max(decode(dots.y)) < high
        assert high - low < 0.2  # the interval of two trials would need far more

    @pytest.mark.thorough
    def test_svg(self, adult):
        everything = made(methods=tuple(EVERY))
        svg = to_svg(Figure2(everything, 1.0, tuple(EVERY)).chart(), title=Figure2(adult, 1.0, ALL).alt())
        ET.fromstring(svg)
        for name in (*LABELS.values(), "paper: Algorithm 1 with the 2023 theorem"):
            assert name in svg
        assert svg.count('class="error_y"') == (len(EVERY) - 1) * len(EPSILONS)


class TestSnippets:
    def test_the_snippet_gives_the_plotted_numbers_and_the_claim(self, adult):
        names, printed = execute(Figure2(adult, 0.25).code())
        chart = Figure2(adult, 0.25, ALL, paper=False).chart()
        plotted = {trace.name: dict(zip(decode(trace.x), decode(trace.y), strict=True)) for trace in chart.data}
        assert len(names["points"]) == len(METHODS)
        for point in names["points"]:
            if point.method != "non-private":
                assert plotted[LABELS[point.method]][0.25] == point.accuracy.mean
        claim = names["claims"][0.25]
        assert ends(claim.difference) in ahead.verdict(Reading(adult, 0.25))
        assert tables.verdict(names["claims"].values()) in printed

    @pytest.mark.thorough
    @pytest.mark.parametrize("method", ["tight", "non-private"])
    def test_the_snippet_of_a_point_fits_it_as_the_sweep_did(self, tmp_path, monkeypatch, method):
        monkeypatch.setattr(results, "folder", lambda: tmp_path)
        write(tmp_path, "breast-cancer", trials=2, methods=("non-private", "tight"), epsilons=(2.0,))
        target = math.inf if method == "non-private" else 2.0
        piece = Piece("breast-cancer", method, target, 1, Parameters())
        names, _ = execute(Point(indexed.load("breast-cancer"), piece).code())
        assert names["before"] == indexed.load("breast-cancer").run(method, 2.0, 1)
        assert (names["again"].seed, names["again"].split_seed) == (piece.seed, 1)
        assert names["again"].accuracy > 0.8
