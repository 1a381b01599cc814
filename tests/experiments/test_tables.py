"""What stored results are said to show: means, paired differences, and the paper's printed numbers."""

import math
import re
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from benchmarks.claim_tables import variant
from objpert_core.experiments.paper import PAPER
from objpert_core.experiments.results import Results, Run
from objpert_core.experiments.tables import STANDARDISED, claims, summary, verdict

PAPER_FILE = Path(__file__).parents[2].parent / "shared" / "papers" / "redberg2023_objective_perturbation.md"


def runs(method, epsilon, accuracies, seconds=1.0, dataset="adult", first=0, **more):
    return tuple(
        Run(dataset, method, epsilon, 1e-5, trial, trial, 0, accuracy, seconds, **more)
        for trial, accuracy in enumerate(accuracies, start=first)
    )


def made(*groups, dataset="adult"):
    return Results(dataset, "0.1.0", {}, (), tuple(run for group in groups for run in group))


def test_summary_is_in_the_order_of_methods_and_epsilon():
    found = summary(
        made(
            runs("tight", 8.0, [0.9]),
            runs("tight", 0.1, [0.8]),
            runs("dpsgd-honest", 8.0, [0.7]),
            runs("non-private", math.inf, [0.95]),
        )
    )
    keys = [(point.method, point.epsilon) for point in found]
    assert keys == [("non-private", math.inf), ("dpsgd-honest", 8.0), ("tight", 0.1), ("tight", 8.0)]


def test_a_point_is_the_mean_with_student_s_interval():
    accuracies = [0.81, 0.84, 0.80, 0.83]
    (point,) = summary(made(runs("tight", 1.0, accuracies, runs=3, peak_mb=2.0), runs("tight", 1.0, [0.82], first=4)))
    every = [*accuracies, 0.82]
    low, high = stats.t.interval(0.95, 4, loc=np.mean(every), scale=stats.sem(every))
    assert (point.accuracy.mean, point.accuracy.low, point.accuracy.high) == pytest.approx((np.mean(every), low, high))
    assert point.accuracy.count == 5
    assert (point.runs, point.peak_mb) == (pytest.approx(13 / 5), 2.0)


def test_memory_that_was_not_measured_stays_unknown():
    (point,) = summary(made(runs("tight", 1.0, [0.8, 0.9])))
    assert point.peak_mb is None


class TestClaims:
    # Splits differ by far more than the methods do: only pairs can tell them apart.
    SPLITS = np.array([0.70, 0.80, 0.75, 0.85, 0.90])
    GAIN = np.array([0.010, 0.012, 0.008, 0.011, 0.009])

    def one(self, *groups):
        (claim,) = claims(made(*groups))
        return claim

    def test_differences_are_paired_by_trial(self):
        claim = self.one(
            runs("dpsgd-dishonest-pld", 1.0, self.SPLITS), runs("tight", 1.0, (self.SPLITS + self.GAIN)[::-1])[::-1]
        )
        assert claim.difference.mean == pytest.approx(0.01)
        assert claim.verdict != "ahead"  # the splits are reversed: trial t of one is not split t of the other
        claim = self.one(runs("dpsgd-dishonest-pld", 1.0, self.SPLITS), runs("tight", 1.0, self.SPLITS + self.GAIN))
        low, high = stats.t.interval(0.95, 4, loc=self.GAIN.mean(), scale=stats.sem(self.GAIN))
        assert (claim.difference.low, claim.difference.high) == pytest.approx((low, high))
        assert claim.verdict == "ahead"

    @pytest.mark.parametrize(
        ("gain", "says"), [(GAIN, "ahead"), (-GAIN, "behind"), (GAIN - 0.01, "even"), (GAIN[:1], "unknown")]
    )
    def test_the_verdict_goes_either_way(self, gain, says):
        splits = self.SPLITS[: len(gain)]
        claim = self.one(runs("dpsgd-dishonest-rdp", 0.1, splits), runs("tight", 0.1, splits + gain))
        assert claim.verdict == says

    def test_the_rival_is_the_best_dishonest_one(self):
        rivals = {"dpsgd-dishonest-rdp": 0.01, "dpsgd-dishonest-pld": 0.03, "dpsgd-dishonest-large": 0.02}
        groups = [runs(name, 1.0, self.SPLITS + gain) for name, gain in rivals.items()]
        honest = runs("dpsgd-honest", 1.0, self.SPLITS + 0.1)
        claim = self.one(*groups, honest, runs("tight", 1.0, self.SPLITS))
        assert claim.rival == "dpsgd-dishonest-pld"
        assert claim.difference.mean == pytest.approx(-0.03)

    def test_a_rival_is_not_best_by_its_only_trial(self):
        claim = self.one(
            runs("dpsgd-dishonest-rdp", 1.0, self.SPLITS),
            runs("dpsgd-dishonest-pld", 1.0, [0.99], first=4),
            runs("tight", 1.0, self.SPLITS),
        )
        assert (claim.rival, claim.difference.count) == ("dpsgd-dishonest-rdp", 5)

    def test_only_trials_in_common_count(self):
        claim = self.one(runs("dpsgd-dishonest-pld", 1.0, self.SPLITS[:3]), runs("tight", 1.0, self.SPLITS + 0.01))
        assert claim.difference.count == 3
        assert claims(made(runs("dpsgd-dishonest-pld", 2.0, [0.9]), runs("tight", 1.0, [0.9]))) == ()
        assert claims(made(runs("dpsgd-dishonest-pld", 1.0, [0.9]), runs("tight", 1.0, [0.9], first=1))) == ()

    def test_times_are_compared_by_the_medians_that_are_printed(self):
        slow = [
            run for trial, took in enumerate((5.0, 4.9, 60.0)) for run in self.timed("dpsgd-dishonest-pld", trial, took)
        ]
        fast = [run for trial, took in enumerate((0.5, 3.0, 0.4)) for run in self.timed("tight", trial, took)]
        everything = made(slow, fast)
        (claim,) = claims(everything)
        own, other = (point.seconds for point in sorted(summary(everything), key=lambda point: point.seconds.median))
        assert (own.median, other.median) == (0.5, 5.0)
        assert claim.speedup.median == other.median / own.median == 10.0
        assert (claim.speedup.low, claim.speedup.high) == pytest.approx((4.9 / 3.0, 60.0 / 0.4))
        assert claim.tenfold  # neither side's one slow trial moves it
        assert "the smallest ratio is 10." in verdict([claim])

    def timed(self, method, trial, seconds):
        return runs(method, 1.0, [0.8], seconds, first=trial)

    def test_seconds_on_a_busy_machine(self):
        (point,) = summary(made(*(self.timed("tight", trial, took) for trial, took in enumerate((0.1, 0.2, 50.0)))))
        assert (point.seconds.median, point.seconds.low, point.seconds.high) == (0.2, 0.1, 50.0)

    @pytest.mark.parametrize(("spread", "says"), [(0.008, "even"), (0.0082, "unclear"), (0.5, "unclear")])
    def test_a_wide_interval_around_zero_says_nothing(self, spread, says):
        apart = np.array([-spread, 0.0, spread])
        claim = self.one(runs("dpsgd-dishonest-rdp", 0.1, np.full(3, 0.5)), runs("tight", 0.1, 0.5 + apart))
        assert claim.verdict == says
        assert claim.width <= 2.0
        assert ("too few trials to tell at 1 of 1" in verdict([claim])) == (says == "unclear")

    def test_a_wide_interval_on_one_side_of_zero_says_which(self):
        apart = np.array([0.2, 0.25, 0.3])
        claim = self.one(runs("dpsgd-dishonest-rdp", 0.1, np.full(3, 0.5)), runs("tight", 0.1, 0.5 + apart))
        assert (claim.width > 0.04, claim.verdict) == (True, "ahead")

    def test_another_method_can_be_asked_for(self):
        stored_runs = made(runs("dpsgd-dishonest-rdp", 1.0, [0.8, 0.9]), runs("published", 1.0, [0.7, 0.8]))
        (claim,) = claims(stored_runs, "published")
        assert (claim.method, claim.difference.mean) == ("published", pytest.approx(-0.1))

    def test_luck_can_be_given_to_both_or_taken_from_both(self):
        stored_runs = made(
            runs("dpsgd-dishonest-large", 0.1, self.SPLITS + 0.02),
            runs("dpsgd-again", 0.1, self.SPLITS - 0.02),
            runs("tight", 0.1, self.SPLITS + self.GAIN - 0.01),
            runs("tight-dishonest", 0.1, self.SPLITS + 0.02 + self.GAIN),
        )
        (plain,), (lucky,) = claims(stored_runs), claims(stored_runs, "tight-dishonest")
        (again,) = claims(stored_runs, rivals=("dpsgd-again",))
        assert [claim.verdict for claim in (plain, lucky, again)] == ["behind", "ahead", "ahead"]
        assert [claim.rival for claim in (plain, lucky, again)] == ["dpsgd-dishonest-large"] * 2 + ["dpsgd-again"]
        texts = [verdict([claim]) for claim in (plain, lucky, again)]
        assert texts[0].startswith("Against the best dishonest DP-SGD at each ε, tight is less accurate at 1 of 1")
        assert texts[1].startswith("Against the best dishonest DP-SGD at each ε, tight-dishonest is more accurate at 1")
        assert texts[2].startswith("Against dpsgd-again, tight is more accurate at 1 of 1")

    def test_a_rival_with_fewer_trials_counts_where_it_makes_the_variant(self):
        groups = (
            runs("dpsgd-dishonest-large", 1.0, self.SPLITS),
            runs("tight", 1.0, self.SPLITS + self.GAIN),
        )
        better = runs("dpsgd-standardised", 1.0, (self.SPLITS + 0.02)[:3])
        (claim,) = variant(made(*groups, better), "the rival standardised, too")
        assert (claim.rival, claim.difference.count, claim.verdict) == ("dpsgd-standardised", 3, "behind")
        (without,) = claims(made(*groups, better), rivals=STANDARDISED)
        assert (without.rival, without.difference.count) == ("dpsgd-dishonest-large", 5)
        assert variant(made(*groups), "the rival standardised, too") == ()
        assert variant(made(*groups), "ours on raw rows") == ()

    def test_one_sentence_counts_them(self):
        everything = made(
            *(
                group
                for epsilon, gain in ((0.1, -self.GAIN), (1.0, self.GAIN), (8.0, self.GAIN - 0.01))
                for group in (
                    runs("dpsgd-dishonest-large", epsilon, self.SPLITS, 12.0 / epsilon),
                    runs("tight", epsilon, self.SPLITS + gain),
                )
            )
        )
        text = verdict(claims(everything))
        assert "more accurate at 1 of 3 (ε = 1)" in text
        assert "not told apart at 1 of 3 (ε = 8)" in text
        assert "less accurate at 1 of 3 (ε = 0.1)" in text
        assert "a tenth of the time or less at 2 of 3; the smallest ratio is 1.5." in text
        assert verdict(()) == "No ε has trials of both methods."


@pytest.mark.skipif(not PAPER_FILE.exists(), reason=f"the paper is not at {PAPER_FILE}")
def test_the_paper_s_numbers_are_the_paper_s():
    printed = {}
    for line in PAPER_FILE.read_text(encoding="utf-8").splitlines():
        if match := re.match(r"\$\\epsilon = ([0-9.]+)\$(.*)", line):
            numbers = [float(number) / 100 for number in re.findall(r"\d\d\.\d\d", match.group(2))]
            printed[float(match.group(1))] = numbers
    assert sorted(printed) == [0.1, 1.0, 8.0]
    methods = ("dpsgd-dishonest-rdp", "published", "dpsgd-honest")
    expected = {
        (dataset, method, epsilon): number
        for epsilon, numbers in printed.items()
        for (dataset, method), number in zip(
            [(dataset, method) for dataset in ("synthetic-l", "adult") for method in methods], numbers, strict=True
        )
    }
    assert {(item.dataset, item.method, item.epsilon): item.accuracy for item in PAPER} == pytest.approx(expected)
