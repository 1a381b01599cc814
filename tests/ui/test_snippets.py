"""Every snippet runs as it stands and prints the plotted numbers."""

import numpy as np
import pytest

from objpert_core._literals import call
from tests.pages.apps import execute
from ui import bounds as bc
from ui import snippets


@pytest.mark.slow
@pytest.mark.parametrize(
    "setting", [bc.Setting(5.0, 20.0, 1.0, 1.0), bc.Setting(10.0, 5.0, 1.0, 1.0), bc.Setting(10.0, 0.9, 1.0, 2.0)]
)
def test_bounds_snippet_gives_the_read_outs_and_the_curves(setting):
    names, printed = execute(snippets.bounds(**vars(setting), epsilon=0.5, delta=1e-5))
    lines = {line.split()[0]: [float(v) for v in line.split()[1:]] for line in printed.splitlines()}
    assert list(lines) == ["logistic", "monotone", "two-signed", "glm", "rdp", "kifer2012", "lower"]
    for reading in bc.readings(setting, tuple(lines), 1e-5, 0.5):
        assert lines[reading.bound] == [reading.epsilon, reading.delta]
    x = bc.grid(2.0)
    for bound, curve in names["curves"].items():
        np.testing.assert_array_equal(curve.delta(x), bc.curve(bound, setting, 2.0))


def test_call_round_trips_its_values():
    text = call("dict", {"a": 0.1 + 0.2, "b": "it's", "c": None})
    assert eval(text) == {"a": 0.1 + 0.2, "b": "it's", "c": None}
