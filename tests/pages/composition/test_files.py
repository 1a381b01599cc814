"""A ledger survives its files; of a file nothing is believed but the entries, δ and the target."""

import json

import pytest

import objpert_core.accounting as acc
from objpert_core.accounting import ledger as lg
from objpert_core.accounting import ledger_file
from pages.composition import files as lf
from pages.composition import totals as lt

LEDGER = lg.parse("fit*3:8,10,1@Modèles (a, b);gauss:20,1;cal:1,1e-5")
LINES = lt.totals(LEDGER, 1e-6)


def csv_bytes(lines):
    return lf.frame(lines, 1e-6, 2.5).to_csv(index=False, float_format="%.17g", lineterminator="\n").encode()


@pytest.mark.parametrize("content", [csv_bytes(LINES), lf.to_json(LINES, 1e-6, 2.5)])
def test_files_read_back(content):
    assert ledger_file.read(content) == ledger_file.Saved(LEDGER, 1e-6, 2.5)
    again = content if isinstance(content, bytes) else content.encode()
    assert ledger_file.read(b"\xef\xbb\xbf" + again.replace(b"\n", b"\r\n")) == ledger_file.Saved(LEDGER, 1e-6, 2.5)


def test_the_short_text_reads_too_and_empty_ledgers_have_files_as_well():
    assert ledger_file.read(lg.write(LEDGER)) == ledger_file.Saved(LEDGER)
    assert ledger_file.read(lf.to_json([], 1e-5, 3.0)) == ledger_file.Saved((), 1e-5, 3.0)
    assert ledger_file.read(csv_bytes([])) == ledger_file.Saved(())


@pytest.mark.slow
@pytest.mark.parametrize("which", ["csv", "json"])
def test_the_mechanism_column_recomputes_the_running_total(which):
    rows = lf.rows(LINES, 1e-6, 2.5) if which == "csv" else json.loads(lf.to_json(LINES, 1e-6, 2.5))["entries"]
    parts = []
    for row in rows:
        parts.append(eval(row["mechanism"], {"acc": acc}))
        assert acc.compose(*parts).epsilon_bounds(1e-6, lt.WIDTH)[1] == pytest.approx(row["running_epsilon"], rel=1e-9)


def test_json_has_no_infinity():
    lines = lt.totals(lg.parse("fit:8,0.5,1,glm,1"), 1e-5)
    document = json.loads(lf.to_json(lines, 1e-5, 3.0), parse_constant=pytest.fail)
    assert document["entries"][0]["running_epsilon"] is None
    assert document["adjacency"] == "add or remove one row"


def tampered(**changes):
    document = json.loads(lf.to_json(LINES, 1e-6, 2.5)) | changes
    return json.dumps(document)


def test_numbers_in_a_file_are_not_believed():
    entries = json.loads(lf.to_json(LINES, 1e-6, 2.5))["entries"]
    for entry in entries:
        entry["running_epsilon"], entry["mechanism"] = 0.0, "__import__('os')"
    assert ledger_file.read(tampered(entries=entries)).entries == LEDGER


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("{", "complete JSON"),
        (tampered()[:-1] + ', "entries": [{"entry": "gauss:1000,1"}]}', "name no key twice"),
        ('position,entry,entry\n1,"gauss:1,1","gauss:1000,1"\n', "name no column twice"),
        ("{}", "must say"),
        ("[" * 100_000, "must look like|characters"),
        ('{"a":' * 20_000, "complete JSON"),
        (tampered(format="other"), "must say"),
        (tampered(entries="no"), "must say"),
        (tampered(entries=[1, 2]), "field “entry”"),
        (tampered(entries=[{"entry": "gauss:1,1;gauss:1,1"}]), "field “entry”"),
        (tampered(entries=[{"entry": ""}]), "field “entry”"),
        (tampered(entries=[{"entry": "gauss:1"}]), "entry 1: gauss takes"),
        (tampered(entries=[{"entry": "gauss:1,1"}] * 21), "at most 20 entries"),
        ("a,b\n1,2\n", "column"),
        ('entry\n"gauss:1,1', "complete CSV"),
        (b"\xff\xfe\x00", "UTF-8"),
        (b"x" * 100_001, "at most 100 kB"),
    ],
)
def test_damaged_files_are_refused_with_one_sentence(content, why):
    with pytest.raises(ValueError, match=why) as refused:
        ledger_file.read(content)
    assert len(str(refused.value)) < 250


@pytest.mark.parametrize("delta", [None, "x", True, "1e999", [1]])
def test_a_delta_that_is_no_number_is_left_out(delta):
    assert ledger_file.read(tampered(delta=delta)).delta is None
