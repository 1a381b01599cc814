"""Promises as texts: never below the number."""

from hypothesis import given
from hypothesis import strategies as st

from objpert_core.accounting.numerics.rounding import promised, significant


@given(st.floats(1e-300, 1e300))
def test_a_promise_is_never_rounded_down_and_by_one_digit_at_most(value):
    shown = float(promised(value))
    assert value <= shown <= value * (1 + 1.01e-5)


def test_round_numbers_stay_as_they_are():
    assert [promised(value) for value in (0.1, 1.0, 1e-5, 8.0, 0.0)] == ["0.1", "1", "1e-5", "8", "0"]
    assert promised(0.3406693) == "0.34067"
    assert promised(0.99999901) == "1"
    assert str(significant(0.3406693, 3, up=False)) == "0.341"
