"""A ledger as events of dp_accounting: what comes back costs what the list costs, or more where it is covered."""

import json

import pytest
from dp_accounting import dp_event as google
from dp_accounting.pld import PLDAccountant

import objpert_core.accounting as acc
from objpert_core.accounting import ledger as lg
from objpert_core.accounting import ledger_file

EXACT = lg.parse("gauss*3:20,2@Counts;fit:8,128,1@Model;dpsgd:1,0.01,100")


def test_what_has_events_comes_back_as_dear_and_without_names():
    back = ledger_file.read(ledger_file.write_events(EXACT))
    assert back == ledger_file.Saved(lg.parse("gauss*3:10,1;gauss:8,1;dpsgd:1,0.01,100"))
    assert ledger_file.covered(EXACT) == ()


@pytest.mark.thorough
def test_dp_accounting_reads_the_event():
    document = json.loads(ledger_file.write_events(EXACT))
    assert document["neighboring_relation"] == "ADD_OR_REMOVE_ONE"
    kinds = [event.get("event", event)["class_name"] for event in document["event"]["events"]]
    assert kinds == ["GaussianDpEvent", "GaussianDpEvent", "PoissonSampledDpEvent"]
    theirs = PLDAccountant().compose(acc.read_dp_events(ledger_file.write_events(EXACT)).to_dp_event())
    ours = acc.compose(*(acc.repeat(entry.mechanism(), entry.count) for entry in EXACT)).epsilon(1e-5)
    assert theirs.get_epsilon(1e-5) == pytest.approx(ours, rel=2e-3)


def test_what_has_none_is_covered_and_costs_more():
    entries = lg.parse("gauss:20,1;cal:1,1e-5;fit*2:8,10,1")
    assert ledger_file.covered(entries) == (2, 3)
    there = ledger_file.written(entries)
    assert there.parts[0] == (acc.Gaussian(20.0), 1)
    (calibrated, _), (fit, twice) = there.parts[1:]
    assert (calibrated.epsilon(1e-5) > 1.0, twice) == (True, 2)
    assert fit.epsilon(1e-5) > entries[2].mechanism().epsilon(1e-5)


def in_a_file(event, relation="ADD_OR_REMOVE_ONE"):
    named = json.loads(json.dumps(event.to_named_tuple()))
    return json.dumps({"format": "dp_accounting events 1", "neighboring_relation": relation, "event": named})


NOISE = google.GaussianDpEvent(4.0)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (in_a_file(NOISE, "REPLACE_ONE"), "must be about 'add/remove one row', got 'replace one row'"),
        (in_a_file(google.ZCDpEvent(0.1)), "event 1 must be Gaussian noise or DP-SGD .*, got Concentrated"),
        (in_a_file(google.LaplaceDpEvent(1.0)), "got LaplaceDpEvent"),
        (in_a_file(google.SelfComposedDpEvent(NOISE, 1001)), "event 1: count must be a whole number from 1 to 1000"),
        (in_a_file(google.PoissonSampledDpEvent(1e-5, NOISE)), "event 1: sample_rate must be"),
        (in_a_file(google.ComposedDpEvent([google.GaussianDpEvent(float(s)) for s in range(1, 22)])), "at most 20"),
        ('{"class_name": "GaussianDpEvent", "noise_multiplier": 4.0}', "or “dp_accounting events 1” and have an event"),
    ],
)
def test_what_no_ledger_can_hold_is_refused_with_one_sentence(text, why):
    with pytest.raises(ValueError, match=why) as refused:
        ledger_file.read(text)
    assert len(str(refused.value)) < 300


def test_an_empty_ledger_and_one_about_which_nothing_is_proved_have_no_events():
    with pytest.raises(ValueError, match="must have an entry"):
        ledger_file.write_events(())
    with pytest.raises(NotImplementedError, match="No Gaussian noise is known to cover it"):
        ledger_file.write_events(lg.parse("fit:8,0.5,1,glm,1"))
