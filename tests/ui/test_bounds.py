"""What the Bounds page puts side by side."""

import math

import pytest

import objpert_core.accounting as acc
from ui import bounds as bc

LEFT = bc.Setting(5.0, 20.0, 1.0, 1.0)
ALL = tuple(bc.NAMES)


def test_every_bound_has_a_name_and_a_source():
    assert set(bc.NAMES) == set(bc.SOURCES)
    assert set(bc.PUBLISHED) < set(bc.NAMES)


def test_ratios_are_to_the_lower_bound():
    found = {r.bound: r for r in bc.readings(LEFT, ALL, 1e-5, 0.5)}
    lower = acc.Gaussian(5.0)
    assert found["lower"].epsilon_ratio == found["lower"].delta_ratio == 1.0
    glm = acc.ObjectivePerturbation(5.0, 20.0, 1.0, 1.0, "glm")
    assert found["glm"].epsilon_ratio == glm.epsilon(1e-5) / lower.epsilon(1e-5)
    assert found["glm"].delta_ratio == glm.delta(0.5) / lower.delta(0.5)


def test_a_lower_bound_of_zero_gives_no_ratio():
    (reading,) = bc.readings(bc.Setting(1000.0, 20.0, 1.0, 1.0), ("glm",), 0.1, 20.0)
    assert math.isnan(reading.delta_ratio)
    row = bc.table_rows([reading], 0.1, 20.0)[0]
    assert row["δ / lower bound"] == "–"


def test_equal_reasons_are_said_once():
    found = bc.readings(bc.Setting(10.0, 0.9, 1.0, 2.0), ALL, 1e-5, 1.0)
    reasons = dict(bc.reasons(found))
    assert list(reasons) == ["2012 theorem", "2023 theorem, Rényi and 2023 theorem"]
    assert "λ > β" in reasons["2023 theorem, Rényi and 2023 theorem"]
    assert not bc.reasons(bc.readings(bc.Setting(10.0, 20.0, 1.0, 1.0), ALL, 1e-5, 0.5))


def test_remembered_curves_cannot_be_written_to():
    with pytest.raises(ValueError, match="read-only"):
        bc.curve("lower", LEFT, 2.0)[0] = 0.0


@pytest.mark.slow
def test_rounding_a_calibration_up_keeps_its_promise():
    for epsilon in (0.1, 1.0, 8.0):
        setting = bc.rounded_up(acc.calibrate_objective_perturbation(epsilon, 1e-5, tau=1e-6))
        assert bc.epsilon_at("logistic", setting, 1e-5) <= epsilon
        assert bc.epsilon_at("logistic", setting, 1e-5) > 0.99 * epsilon
