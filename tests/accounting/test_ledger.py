"""The ledger's text: strict to read, canonical to write, harmless to show."""

import json
import string

import pytest
from dp_accounting import dp_event as google
from dp_accounting.pld import PLDAccountant
from hypothesis import given
from hypothesis import strategies as st

import objpert_core.accounting as acc
from objpert_core.accounting import ledger, ledger_file
from objpert_core.accounting import ledger as lg

ISSUE = "fit*3:8,10,1;dpsgd:1.0,0.01,1000;gauss:20,1"


def test_the_three_kinds_of_the_example_are_the_cores_mechanisms():
    fit, run, histogram = lg.parse(ISSUE)
    assert (fit.count, run.count, histogram.count) == (3, 1, 1)
    assert fit.mechanism() == acc.symmetrised(acc.ObjectivePerturbation(8.0, 10.0, 1.0))
    assert run.mechanism() == acc.DPSGD(1.0, 0.01, 1000)
    assert histogram.mechanism() == acc.Gaussian(20.0, 1.0)


def test_a_calibrated_fit_is_what_the_estimator_calibrates():
    (entry,) = lg.parse("cal:1,1e-5,2")
    calibrated = acc.calibrate_objective_perturbation(1.0, 1e-5, lipschitz=2.0, tau=1e-6)
    assert entry.mechanism() == acc.symmetrised(calibrated)
    assert entry.mechanism().epsilon(1e-5) <= 1.0


def test_bound_and_smoothness_are_optional_and_reach_the_core():
    glm, monotone, own = lg.parse("fit:8,10,1,glm,0.5;fit:8,10,2,monotone;fit:8,10,1,logistic")
    assert glm.mechanism() == acc.symmetrised(acc.ObjectivePerturbation(8.0, 10.0, 1.0, 0.5, "glm"))
    assert monotone.mechanism() == acc.symmetrised(acc.ObjectivePerturbation(8.0, 10.0, 2.0, 1.0, "monotone"))
    assert own.write() == "fit:8,10,1"


@pytest.mark.parametrize("text", [ISSUE, "cal*2:1,1e-6;fit:8,10,1,glm,1@Ärzte (2024), part 2", "gauss*1000:0.001,1e-6"])
def test_expressions_give_the_same_mechanism(text):
    for entry in lg.parse(text):
        made = eval(entry.expression(), {"acc": acc})
        assert made == (acc.repeat(entry.mechanism(), entry.count) if entry.count > 1 else entry.mechanism())


def entries():
    def number(parameter):
        if parameter.options:
            return st.sampled_from(parameter.options)
        if parameter.whole:
            return st.integers(int(parameter.low), int(parameter.high))
        return st.floats(parameter.low, parameter.high)

    def of(kind):
        parameters = lg.KINDS[kind].parameters
        shown = [p for p in parameters if p.required]
        names = st.text(string.ascii_letters + string.digits + " -'()é", max_size=lg.LONGEST_NAME)
        usable = names.map(lambda name: name.strip(" -'()"))
        return st.builds(
            lg.Entry, st.just(kind), st.tuples(*map(number, shown)), st.integers(1, lg.MOST_COPIES), usable
        )

    return st.sampled_from(list(lg.KINDS)).flatmap(of)


@pytest.mark.slow
@given(st.lists(entries(), max_size=6))
def test_what_is_written_reads_back_as_the_same(found):
    ledger = tuple(found)
    text = lg.write(ledger)
    assert lg.parse(text) == ledger
    assert lg.write(lg.parse(text)) == text


def test_canonical_text():
    text = " gauss*01:2e1, 1.0 @ A  ; fit*2:8,10,1,logistic ;cal:1,0.00001,1"
    assert lg.write(lg.parse(text)) == "gauss:20,1@A;fit*2:8,10,1;cal:1,1e-5"
    assert lg.parse("empty") == lg.parse("  ") == ()
    assert lg.write(()) == "empty"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("banana", "entry 1 must look like"),
        ("fit:8,10,1;", "entry 2 must look like"),
        ("laplace:1,1", "entry 1: kind must be one of fit, cal, dpsgd, gauss"),
        ("fit:8,10", "entry 1: fit takes 3 or 4 or 5 numbers"),
        ("gauss:1,2,3", "entry 1: gauss takes 2 numbers"),
        ("gauss:0,1", "sigma must be a number from 0.001 to 1000000000"),
        ("gauss:nan,1", "sigma must be a number"),
        ("gauss:inf,1", "sigma must be a number"),
        ("gauss:1e999,1", "sigma must be a number"),
        ("gauss:-1,1", "sigma must be a number"),
        ("gauss:1_0,1", "sigma must be a number"),
        ("gauss:٣,1", "sigma must be a number"),
        ("dpsgd:1,0.01,10.5", "steps must be a whole number from 1 to 1000000"),
        ("dpsgd:1,1.5,10", "sample_rate must be a number from 0.0001 to 1"),
        ("fit:8,10,1,kifer2012", "bound must be one of logistic, monotone, glm"),
        ("fit:8,10,1,logistic,1", "smoothness must be left out with the logistic bound"),
        ("fit*0:8,10,1", "count must be a whole number from 1 to 1000"),
        ("fit*1001:8,10,1", "count must be a whole number"),
        ("fit*9999999999999999:8,10,1", "count must be a whole number"),
        ("fit*:8,10,1", "count must be a whole number"),
        ("gauss:20,1@" + "n" * 41, "name must be letters"),
        ("gauss:20,1@=SUM(A1)", "name must be letters"),
        ("gauss:20,1@[x](http)", "name must be letters"),
        ("gauss:20,1@![x]", "name must be letters"),
        ("gauss:20,1@<b>", "name must be letters"),
        ("gauss:20,1@www.example.org", "name must be letters"),
        ("gauss:20,1@a\u202eb", "name must be letters"),
        ("gauss:20,1@a\nb", "name must be letters"),
        (";".join(["gauss:20,1"] * 21), "at most 20 entries"),
        ("gauss:20,1" + " " * 2000, "at most 2,000 characters"),
        (";".join(f"dpsgd:1,0.01,{steps}" for steps in range(1, 8)), "at most 6 different DP-SGD runs"),
    ],
)
def test_nonsense_is_refused_with_one_sentence(text, why):
    with pytest.raises(ValueError, match=r"must|takes") as refused:
        lg.parse(text)
    assert why in str(refused.value)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 250


@pytest.mark.thorough
@given(st.text(max_size=60))
def test_any_text_is_a_ledger_or_a_value_error(text):
    try:
        ledger = lg.parse(text)
    except ValueError:
        return
    assert lg.parse(lg.write(ledger)) == ledger


def test_what_is_quoted_cannot_be_markdown():
    with pytest.raises(ValueError, match="must") as refused:
        lg.parse("![x](http://a.example/b.png)")
    assert not set("[]`*<>") & set(str(refused.value).partition("got")[2])


def test_moving_replacing_and_removing():
    ledger = lg.parse("gauss:1,1;gauss:2,1;gauss:3,1")

    def sigmas(changed):
        return [entry.values[0] for entry in changed]

    assert sigmas(lg.moved(ledger, 0, 1)) == [2, 1, 3]
    assert sigmas(lg.moved(ledger, 2, -1)) == [1, 3, 2]
    assert sigmas(lg.moved(ledger, 0, -1)) == [1, 2, 3]
    assert sigmas(lg.moved(ledger, 2, 1)) == [1, 2, 3]
    assert sigmas(lg.replaced(ledger, 1)) == [1, 3]
    assert sigmas(lg.replaced(ledger, 1, lg.Entry("gauss", (9.0, 1.0)))) == [1, 9, 3]


def test_a_ledger_cannot_grow_beyond_its_limits():
    full = lg.parse(";".join(["gauss:20,1"] * 20))
    with pytest.raises(ValueError, match="at most 20 entries"):
        lg.checked((*full, full[0]))
    long = tuple(lg.Entry("gauss", (20.0, 1.0), 1, "n" * 40) for _ in range(20))
    assert len(lg.write(long)) < lg.LONGEST_TEXT
    assert lg.checked(long) == long


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


TEXT = "gauss*3:20,2@Counts;fit:8,128,1@Model"
ENTRIES = TEXT.split(";")
JSON = {"format": ledger_file.FORMAT, "entries": [{"entry": one} for one in ENTRIES], "delta": 1e-5}
CSV = 'position,entry,delta,target_epsilon\n1,"gauss*3:20,2@Counts",1e-5,none\n\n2,"fit:8,128,1@Model"\n'


@pytest.mark.parametrize("content", [json.dumps(JSON), CSV, CSV.encode("utf-8-sig")], ids=["JSON", "CSV", "bytes"])
def test_entries_and_the_numbers_beside_them_read_back(content):
    assert ledger_file.read(content) == ledger_file.Saved(ledger.parse(TEXT), delta=1e-5)


@pytest.mark.parametrize("number", [True, None, "nan", "1e999", 10**400, [1.0]])
def test_what_is_no_finite_number_beside_the_entries_is_none(number):
    assert ledger_file.read(json.dumps(JSON | {"delta": number})).delta is None


def test_a_short_text_is_a_ledger_too_and_a_table_may_be_empty():
    assert ledger_file.read(TEXT) == ledger_file.Saved(ledger.parse(TEXT))
    assert ledger_file.read("position,entry") == ledger_file.Saved(())


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("x" * 100_001, "must have at most 100 kB, got 100 kB"),
        (b"\xff\xfe", "must be text in UTF-8"),
        ('{"format": 1, "format": 2}', "must be complete JSON that names no key twice"),
        ('{"format": "another"}', "must say “format”: “objpert privacy ledger 1”"),
        ('entry,delta\n"gauss', "must be a complete CSV table"),
        ("entry,entry\n1,2", "must name no column twice"),
        ("position,delta\n1,2", "must have a column or field “entry” in every row"),
        (json.dumps(JSON | {"entries": ["gauss:1,1"]}), "must have a column or field “entry” in every row"),
        (json.dumps(JSON | {"entries": [{"entry": "gauss:1,1;gauss:1,1"}]}), "field “entry”"),
        (json.dumps(JSON | {"entries": [{"entry": "gauss:1,1"}] * 21}), "at most 20 entries"),
        ("[" * 100_000, "must look like|characters"),
        ('{"a":' * 20_000, "complete JSON"),
    ],
    ids=range(12),
)
def test_a_damaged_file_is_refused_with_one_sentence(content, why):
    with pytest.raises(ValueError, match=why) as refused:
        ledger_file.read(content)
    assert "\n" not in str(refused.value)
