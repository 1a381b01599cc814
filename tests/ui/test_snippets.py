"""What snippets are made of."""

from objpert_core._literals import call


def test_call_round_trips_its_values():
    text = call("dict", {"a": 0.1 + 0.2, "b": "it's", "c": None})
    assert eval(text) == {"a": 0.1 + 0.2, "b": "it's", "c": None}
