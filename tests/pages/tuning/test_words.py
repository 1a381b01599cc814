"""What the tuning page says: rounded to the safe side, and right in the odd cases."""

import math

import pytest

from pages.tuning import words as t
from tests.pages.apps import tells

WAYS = {"free": 1.0, "composed": 3.551, "selection": 2.951, "liu_talwar": 2.242}


def test_the_answer_names_the_cheaper_of_composing_and_selection():
    assert t.answer(10, 1e-5, WAYS) == "Ignoring the ten trials reports ε = 1; the proven cost is 2.96."
    assert t.answer(3, 1e-5, WAYS | {"composed": 1.82}).endswith("the proven cost is 1.82.")
    assert t.cheapest(WAYS) == "selection"
    assert t.cheapest(WAYS | {"composed": 2.951}) == "composed"


def test_the_answer_in_the_odd_cases():
    told = "One run with settings fixed in advance costs ε = 1: nothing chosen, nothing added."
    assert t.answer(1, 1e-5, WAYS) == told
    nothing = dict.fromkeys(WAYS, math.inf)
    assert t.answer(10, 1e-5, nothing).startswith("Not even one run has a finite ε")
    assert t.answer(10, 1e-5, nothing | {"free": 1.0}).endswith("no finite cost is proved.")
    assert t.answer(10, 0.5, dict.fromkeys(WAYS, 0.0)) == "The ten trials cost no more than one run: ε = 0."


def test_why_the_cost_moved():
    dear, cheap = WAYS | {"selection": 3.5}, WAYS | {"composed": 1.0}
    assert t.why([], WAYS, WAYS) == ""
    told = "s 10 → 20: ε rises from 2.96 to 3.5; there is more to choose among."
    assert t.why([("s", 10, 20)], WAYS, dear) == told
    assert t.why([("s", 20, 10)], dear, WAYS).endswith("falls from 3.5 to 2.96; there is less to choose among.")
    assert t.why([("s", 10, 3)], WAYS, cheap).endswith("Composing every run is now the cheaper proof.")
    assert t.why([("K", "Poisson", "geometric")], WAYS, dear) == "K Poisson → geometric: ε rises from 2.96 to 3.5."
    assert t.why([("K", "Poisson", "geometric")], cheap, cheap).endswith("does not ask how K is drawn.")
    two = [("s", 10, 20), ("δ", 1e-5, 1e-6)]
    assert t.why(two, WAYS, dear) == "s 10 → 20, δ 10⁻⁵ → 10⁻⁶: ε rises from 2.96 to 3.5."
    assert t.why([("steps", 9, 10)], WAYS, WAYS) == "steps 9 → 10: ε stays at 2.96."


@pytest.mark.parametrize("renyi", [True, False])
def test_the_accountant_is_the_answers_own(renyi):
    for ways in (WAYS, WAYS | {"composed": 2.0}):
        said = t.accountant(10, ways, "K Poisson of mean 15.4", renyi=renyi)
        composed = t.cheapest(ways) == "composed"
        assert ("composing ten runs" in said) == composed
        assert ("Papernot and Steinke (2022), K Poisson of mean 15.4" in said) == (not composed)
        if composed:
            assert ("Rényi" in said) == renyi
    assert ("Rényi curve of one run" in t.accountant(1, WAYS, "", renyi=renyi)) == renyi


@pytest.mark.parametrize(
    ("family", "name"),
    [
        *((family, f"K {family} of mean 15.4") for family in ("Poisson", "geometric", "logarithmic")),
        ("negative binomial", "K truncated negative binomial (η = 0.5) of mean 15.4"),
    ],
)
def test_laws_have_names(family, name):
    assert t.law(family, 15.4066, 0.5) == name


def test_runs_are_said_in_words():
    poisson = t.runs(10, 15.4066, 0.9, 2.0e-7)
    assert poisson.startswith("K has mean 15.4 and is larger than the 10 settings with probability 90 %.")
    assert poisson.endswith("Very rarely no run happens; then a preset default is released.")
    assert "With probability 0.02 no run happens" in t.runs(1, 3.9, 0.9, 0.02)
    assert "It is never 0" in t.runs(10, 14.9, 0.5, 0.0)
    assert t.runs(1, 3.9, 0.9, 0.02).startswith("One setting needs no random number of runs; ")
    assert "the one setting" in t.runs(1, 3.9, 0.9, 0.02)
    assert "more training than anybody does" in t.runs(10, 1.8e11, 0.9, 0.0)
    assert "1.79×10¹¹" in t.runs(10, 1.793e11, 0.9, 0.0)


def test_a_cheaper_geometric_law_is_named_with_its_runs():
    said = t.geometric(10, WAYS, 95.41, 15.41, "Poisson")
    tells(said, "would cost ε = 2.25", "95.4 runs on average instead of 15.4")
    assert t.geometric(10, WAYS, 95.41, 95.41, "geometric") == ""
    assert t.geometric(1, WAYS, 95.41, 15.41, "Poisson") == ""
    assert t.geometric(10, WAYS | {"liu_talwar": 3.0}, 95.41, 15.41, "Poisson") == ""


def test_crossing_tells_the_cases_apart():
    grid = (1, 2, 3, 5, 10)
    assert t.crossing(grid, (1, 1.4, 1.8, 2.5, 4), (1.5, 1.7, 1.9, 2.2, 3)) == (
        "Composing every run is cheaper up to s = 3; from s = 5 on the random number of runs is."
    )
    assert "never cheaper" in t.crossing(grid, (1, 2, 3, 4, 5), (1, 1, 1, 1, 1))
    assert "up to s = 10 at least" in t.crossing(grid, (1, 1, 1, 1, 1), (1, 2, 3, 4, 5))
    assert t.crossing(grid, (1, 2, 1, 1, 5), (1, 1, 2, 2, 1)) == "Composing every run is cheaper at s = 3, 5."
    assert t.crossing(grid, (math.inf,) * 5, (math.inf,) * 5) == ""


def test_alt_texts_carry_the_take_away():
    assert t.tuning_alt(10, 1e-5, WAYS).endswith(
        "At ten settings: Not at all 1; Liu and Talwar 2019 2.25; Papernot and Steinke 2022 2.96; "
        "Composing every run 3.56."
    )
    assert t.runs_alt(10, 0.9, "K Poisson of mean 15.4") == (
        "Probability of each number of runs, K Poisson of mean 15.4. It is larger than the grid size 10 with "
        "probability 90 %."
    )


def test_rows_of_the_ways():
    rows = t.ways_rows(WAYS | {"composed": math.inf}, t.trained(10, 95.41, 15.41), 1e-5)
    assert [row["Runs"] for row in rows] == ["10", "10", "15.4 on average", "95.4 on average"]
    assert "wrong" in rows[0]["Accounted for"]
    assert rows[1]["ε at δ = 10⁻⁵"] == "nothing proved"
    assert rows[2]["ε at δ = 10⁻⁵"] == "2.96"
    assert rows[2]["ε / one run"] == "2.96×"
    assert rows[2]["Odds"] == "19.3\u00a0:\u00a01"


NEEDS = {"free": t.Need(2.7629, 1.0), "composed": t.Need(8.4196, 0.2889)}
NEEDS |= {"selection": t.Need(7.4981, 0.3278), "liu_talwar": None}


def test_what_each_run_must_be():
    rows = t.afford_rows(NEEDS, 1e-5)
    assert rows[0]["Noise multiplier"] == "2.763"
    assert rows[0]["Noise / unpaid"] == "1×"
    assert rows[2]["Noise / unpaid"] == "2.72×"
    assert rows[2]["ε of each run at δ = 10⁻⁵"] == "0.328"
    assert rows[3]["Noise multiplier"] == "none is enough"
    said = t.afford_sentence(10, "learning rates", 1.0, NEEDS)
    assert "to cost ε = 1 in all, each run needs a noise multiplier of 7.5 instead of 2.77: 2.72 times" in said
    assert "Papernot and Steinke 2022 0.328, Liu and Talwar 2019 nothing" in t.left_alt(NEEDS, 1.0)


def test_what_each_run_must_be_in_the_odd_cases():
    nothing = NEEDS | {"composed": None, "selection": None}
    assert t.afford_sentence(10, "settings", 1.0, nothing) == "No noise multiplier meets the target."
    one = t.afford_sentence(1, "settings", 1.0, NEEDS | {"composed": NEEDS["free"]})
    assert one == "With one setting there is nothing to choose: the run stays as it is, ε = 1."
