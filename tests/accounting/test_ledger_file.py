"""A ledger in a file: what was downloaded reads back, and what is damaged is refused with one sentence."""

import json

import pytest

from objpert_core.accounting import ledger, ledger_file

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
        ('{"format": 1, "format": 2}', "must be complete JSON, .* and name no key twice"),
        ('{"format": "another"}', "must say “format”: “objpert privacy ledger 1”"),
        ('entry,delta\n"gauss', "must be a complete CSV table"),
        ("entry,entry\n1,2", "must name no column twice"),
        ("position,delta\n1,2", "must have a column or field “entry” in every row"),
        (json.dumps(JSON | {"entries": ["gauss:1,1"]}), "must have a column or field “entry” in every row"),
    ],
    ids=range(8),
)
def test_a_damaged_file_is_refused_with_one_sentence(content, why):
    with pytest.raises(ValueError, match=why) as refused:
        ledger_file.read(content)
    assert "\n" not in str(refused.value)
