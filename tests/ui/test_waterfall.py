"""Where the accuracy comes from, in words, numbers and a picture."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from objpert_core.experiments.learners import NON_PRIVATE
from objpert_core.experiments.summary import mean_interval
from objpert_core.experiments.waterfall import CHAIN, Step, Waterfall
from tests.pages.apps import words_of
from tests.plotted import decode
from ui import waterfall


def made(*means, label="synthetic-h", epsilon=1.0, trials=10, noise=0.001):
    rng = np.random.default_rng(0)
    shares = [mean + rng.normal(0, noise, trials) for mean in means]
    steps = [Step(next(iter(CHAIN)), "2023 theorem", mean_interval(shares[0].tolist()), None)]
    for (method, name), before, own in zip(list(CHAIN.items())[1:], shares, shares[1:], strict=False):
        gain = mean_interval((own - before).tolist())
        steps.append(Step(method, name, mean_interval(own.tolist()), gain))
    total = mean_interval((shares[-1] - shares[0]).tolist())
    return Waterfall(label, epsilon, 1e-5, tuple(steps), total)


USUAL = made(0.90, 0.91, 0.92, 0.925, 0.95)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (USUAL, "At ε = 1 on synthetic-h scaling brings the most: "),
        (made(0.95, 0.91, 0.92, 0.925, 0.94), "At ε = 1 on synthetic-h scaling brings 1.5"),
        (
            made(0.9, 0.9, 0.9, 0.9, 0.9, noise=0.01, trials=3),
            "At ε = 1 on synthetic-h every step’s gain is within its noise (",
        ),
        (made(0.9, 0.89, 0.88, 0.87, 0.86), "At ε = 1 on synthetic-h every step’s gain is within its noise ("),
    ],
)
def test_the_answer_follows_the_largest_gain_and_is_short(found, expected):
    assert waterfall.answer(found).startswith(expected)
    stand_in = made(*(step.accuracy.mean for step in found.steps), label="adult-synthetic (stand-in for adult)")
    assert words_of(waterfall.answer(stand_in)) <= 18


def test_answer_table_and_picture_tell_the_same_numbers():
    rows = waterfall.table(USUAL)
    assert [row["Step"] for row in rows] == ["2023 theorem", "our theorem", "margin", "centring", "scaling", "in all"]
    gain, total = (row["Change, points"].removeprefix("+") for row in rows[-2:])
    assert f"brings the most: {gain} of {total} points." in waterfall.answer(USUAL)
    picture = waterfall.picture(USUAL)
    told = [label.rpartition("<br>")[2] for label in picture.figure.layout.xaxis.ticktext]
    assert told == ["theorem", *(row["Change, points"] for row in rows[1:])]
    assert all(words in picture.alt for words in told)
    numbers = picture.numbers()
    assert list(numbers["accuracy"])[:-1] == [step.accuracy.mean for step in USUAL.steps]
    assert list(numbers["gain"])[1:] == [step.gain.mean for step in USUAL.steps[1:]] + [USUAL.total.mean]


def test_bars_go_from_one_mean_to_the_next_and_the_last_from_the_first_to_the_last():
    bars = [decode(trace.y) for trace in waterfall.picture(USUAL).figure.data if trace.fill == "toself"]
    means = [step.accuracy.mean for step in USUAL.steps]
    expected = [*itertools.pairwise(means), (means[0], means[-1])]
    np.testing.assert_allclose([sorted((bar[0], bar[-1])) for bar in bars], [sorted(pair) for pair in expected])


def test_everything_drawn_is_within_the_axis_and_what_is_far_is_left_out():
    near, far = waterfall.Level(NON_PRIVATE, "no privacy", 0.96), waterfall.Level("tight", "elsewhere", 0.5)
    picture = waterfall.picture(USUAL, [near, far], made(0.8, 0.85, 0.86, 0.80, 0.85, epsilon=0.1))
    low, high = picture.figure.layout.yaxis.range
    names = []
    for trace in picture.figure.data:
        y = decode(trace.y).astype(float)
        assert low <= np.nanmin(y) <= np.nanmax(y) <= high
        names.append(trace.name)
    assert "no privacy 96.00 %" in names
    assert not any(name.startswith("elsewhere") for name in names)
    ghost = next(trace for trace in picture.figure.data if trace.meta["ghost"])
    assert decode(ghost.y)[0] == pytest.approx(0.90 + 0.05, abs=0.002)  # as much as the step changed before


def test_what_the_steps_changed_on_other_rows_is_not_drawn():
    picture = waterfall.picture(USUAL, (), made(0.5, 0.6, 0.7, 0.8, 0.9, label="adult"))
    assert not any(trace.meta["ghost"] for trace in picture.figure.data)
    assert picture.figure.layout.yaxis.range == waterfall.picture(USUAL).figure.layout.yaxis.range


def test_a_skipped_step_says_so():
    *steps, last = USUAL.steps
    nothing = replace(last, accuracy=steps[-1].accuracy, gain=mean_interval([0.0] * 10), skipped=True)
    found = replace(USUAL, steps=(*steps, nothing))
    assert waterfall.picture(found).figure.layout.xaxis.ticktext[-2] == "scaling<br>skipped"
    assert "scaling 92.5" in waterfall.alt(found)
    row = waterfall.table(found)[-2]
    assert (row["Change, points"], row["95 % interval"]) == ("skipped", "–")
    assert waterfall.caption(found, "split").endswith("A step that a public rule skips at this ε changes nothing.")
    assert "skips" not in waterfall.caption(USUAL, "split")
