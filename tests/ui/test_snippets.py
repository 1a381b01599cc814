"""Every snippet runs as it stands and prints the plotted numbers."""

import contextlib
import io

import numpy as np
import pytest

from pages.home import picture as home_picture
from pages.renyi import numbers as rc
from ui import bounds as bc
from ui import snippets


def execute(code):
    printed, names = io.StringIO(), {}
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "snippet", "exec"), names)
    return names, printed.getvalue()


@pytest.mark.parametrize(
    "setting", [bc.Setting(5.0, 20.0, 1.0, 1.0), bc.Setting(10.0, 5.0, 1.0, 1.0), bc.Setting(10.0, 0.9, 1.0, 2.0)]
)
def test_bounds_snippet_gives_the_read_outs_and_the_curves(setting):
    names, printed = execute(snippets.bounds(**vars(setting), epsilon=0.5, delta=1e-5))
    lines = {line.split()[0]: [float(v) for v in line.split()[1:]] for line in printed.splitlines()}
    assert list(lines) == ["logistic", "monotone", "glm", "rdp", "kifer2012", "lower"]
    for reading in bc.readings(setting, tuple(lines), 1e-5, 0.5):
        assert lines[reading.bound] == [reading.epsilon, reading.delta]
    x = bc.grid(2.0)
    for bound, curve in names["curves"].items():
        np.testing.assert_array_equal(curve.delta(x), bc.curve(bound, setting, 2.0))


def test_home_snippet_gives_the_densities_and_epsilon():
    scene = home_picture.Scene(2.5, 1.0, "disagrees with the others", 4)
    code = snippets.one_dimension(
        sigma=2.5,
        lam=1.0,
        features=list(home_picture.FEATURES),
        labels=list(home_picture.LABELS),
        person=home_picture.PERSON[scene.person],
        radius=home_picture.RADIUS,
        delta=1e-5,
    )
    names, printed = execute(code)
    assert names["epsilon"] == home_picture.story(scene, 1e-5).epsilon
    assert repr(names["epsilon"]) in printed
    shown = home_picture.frame(scene)
    for column in ("density_without", "density_with", "privacy_loss"):
        np.testing.assert_allclose(
            names[column], np.interp(names["theta"], shown["theta"], shown[column]), rtol=5e-3, atol=1e-4
        )


@pytest.mark.parametrize("bound", ["glm", "logistic"])
def test_renyi_snippet_gives_the_read_outs_and_the_curves(bound):
    setting = rc.rounds(100, 2.5, 20.0, bound=bound)
    names, printed = execute(snippets.renyi(**vars(setting), delta=1e-5))
    lines = {line.split()[0]: [float(v) for v in line.split()[1:]] for line in printed.splitlines()}
    assert list(lines) == list(rc.NAMES)
    for which, (by_renyi, by_distribution, *curve) in lines.items():
        assert (by_renyi, by_distribution) == rc.epsilon_at(which, setting, 1e-5)
        np.testing.assert_array_equal(curve, setting.mechanism(which).rdp(names["alpha"]))
        np.testing.assert_array_equal(names["mechanisms"][which].rdp(rc.ORDERS), rc.curve(which, setting))


def test_call_round_trips_its_values():
    text = snippets.call("dict", {"a": 0.1 + 0.2, "b": "it's", "c": None})
    assert eval(text) == {"a": 0.1 + 0.2, "b": "it's", "c": None}
