"""Tables as files: every cell is there in every format, hostile names stay text, LaTeX compiles and fits."""

import csv
import io
import json
import re
from pathlib import Path
from unicodedata import category

import pytest
from hypothesis import given
from hypothesis import strategies as st

from objpert_core.latex_text import escaped
from objpert_core.learning import PrivacyCertificate
from objpert_core.tables import (
    FORMATS,
    LONG,
    is_formula,
    safe_cell,
    to_csv,
    to_json,
    to_latex,
    to_markdown,
    to_text,
    write,
)
from tests.latex import compiled, harmless

ROWS = [
    {"": "ours", "ε at δ = 10⁻⁵": "0.341", "rows": "45,222", "time": "1.5 s"},
    {"": "the 2012 theorem", "ε at δ = 10⁻⁵": "12.3", "rows": "7", "time": "20 s"},
    {"": "nothing proved", "ε at δ = 10⁻⁵": "∞", "rows": "–"},
]
HOSTILE = [
    {"\\input{/etc/passwd}": "a & b % c", "| x |": "*bold*", "<script>alert(1)</script>": "$x$", "=cmd()": "=1+1"},
    {"\\input{/etc/passwd}": "[2em] ]", "| x |": "[a](http://a.example)", "=cmd()": "\\\\[9em]"},
]
texts = st.text(st.characters(codec="utf-8"), max_size=12)
tables = st.lists(texts, min_size=1, max_size=4, unique=True).flatmap(
    lambda heads: st.lists(st.fixed_dictionaries(dict.fromkeys(heads, texts)), min_size=1, max_size=4)
)
certificates = json.loads((Path(__file__).parent / "learning" / "stored_certificates.json").read_text(encoding="utf-8"))


def one_line(text: str) -> str:
    kept = (" " if (kind := category(letter)) == "Cc" else "" if kind == "Cf" else letter for letter in text)
    return " ".join("".join(kept).split())


def latex_rows(text: str) -> list[list[str]]:
    """Heads and cells of a small table, as LaTeX; & and \\\\ stand between cells only where nobody wrote them."""
    lines = [line[4:] for line in text.splitlines() if line.startswith("    ") and not re.match(r"    \\\w+rule", line)]
    return [line.removesuffix(r" \\").split(" & ") for line in lines]


@pytest.mark.thorough
@given(tables)
def test_every_cell_stands_in_its_place_and_is_text(rows):
    heads = [one_line(head) for head in rows[0]]
    cells = [heads, *([one_line(row[head]) for head in rows[0]] for row in rows)]

    markdown = to_markdown(rows).splitlines()
    assert len(markdown) == len(rows) + 2
    for line, row in zip([markdown[0], *markdown[2:]], cells, strict=True):
        split = re.split(r"(?<!\\)\|", line.replace(r"\\", "\0"))[1:-1]
        assert [re.sub(r"\\(.)", r"\1", part.strip(" ")).replace("\0", "\\") for part in split] == [
            text.strip(" ") for text in row
        ]

    for line, row in zip(latex_rows(to_latex(rows)), cells, strict=True):
        for cell in line:
            harmless(cell)
        assert [re.sub(r"\\phantom\{[.0]*\}", "", cell).replace("$-$", "-").strip() for cell in line] == [
            escaped(text).replace("$-$", "-").strip() for text in row
        ]

    read = list(csv.reader(io.StringIO(to_csv(rows))))
    assert [[text.removeprefix("'") for text in row] for row in read] == [
        [text.removeprefix("'") for text in row] for row in cells
    ]
    assert json.loads(to_json(rows)) == rows


def test_hostile_names_are_no_markup_and_no_formula():
    markdown, table = to_markdown(HOSTILE), to_csv(HOSTILE)
    for markup in ("[a](", "*bold*", "$x$"):
        assert markup not in markdown
    assert not re.search(r"(?<!\\)<script", markdown)
    assert "'=cmd()" in table.splitlines()[0]
    assert not re.search(r"(^|,)=", table, re.MULTILINE)
    assert r"\input" not in to_latex(HOSTILE)


@pytest.mark.parametrize("start", ["=", "+", "-", "−", "@", "\t", "\r", " =", "  -"])
@pytest.mark.parametrize(
    "rest", ["", "1+1", "2+3+cmd|' /C calc'!A0", "1;x", ".5x", "SUM(A1)", "1e5e", " 3 4=5", "1±", "%"]
)
def test_whatever_follows_a_formulas_sign_is_guarded(start, rest):
    assert safe_cell(start + rest) == "'" + start + rest
    assert is_formula(start + rest) is (len(start + rest) > 1)
    shown = to_csv([{start + rest: start + rest}]).strip('"')  # a tab within a table is a blank
    assert shown.startswith("'") or start.isspace()


@pytest.mark.parametrize(
    "text", ["-2", "+2.5e-3", "−0.31", "- 1,234.5", "-1.234,5", "−1.5 ± 0.3", "-12 %", "−∞", "+.5", "-1'000"]
)
def test_plain_numbers_and_other_texts_stay(text):
    for same in (text, " " + text, text[1:], "a" + text, "–", ""):
        assert safe_cell(same) == same
        assert not is_formula(same)


def test_numbers_stand_on_their_decimal_sign():
    assert latex_rows(to_latex(ROWS)) == [
        ["", r"$\varepsilon$ at $\delta$ = 10$^{-5}$", "rows", "time"],
        ["ours", "0.341", "45,222", "1.5 s"],
        ["the 2012 theorem", r"12.3\phantom{00}", "7", r"20 s\phantom{.0}"],
        ["nothing proved", r"$\infty$", "--", ""],
    ]
    assert r"\begin{tabular}{lrrr}" in to_latex(ROWS)
    assert to_markdown(ROWS).splitlines()[1] == "|---|---:|---:|---:|"
    assert to_text(ROWS).splitlines()[1] == "ours                      0.341  45,222  1.5 s"
    assert latex_rows(to_latex([{"a": "-0.88"}])) == [["a"], ["$-$0.88"]]
    assert r"0.5 & \\" not in to_latex([{"a": "0.5 or so, as far as we know", "b": ""}])  # words, not a number


def test_what_is_wide_is_broken_and_what_is_long_goes_over_pages():
    wide = to_latex([{"what": "a word or two " * 12, "ε": "0.5"}])
    widths = [float(width) for width in re.findall(r"p\{([\d.]+)em\}", wide)]
    assert len(widths) == 2
    assert sum(widths) < 40
    assert r"\begin{longtable}{r}" in to_latex([{"n": str(n)} for n in range(LONG + 1)])
    assert r"\begin{longtable}" not in to_latex([{"n": str(n)} for n in range(LONG)])


def test_captions_and_labels():
    assert to_markdown(ROWS, caption="A | *b*").startswith("A \\| \\*b\\*\n\n|")
    text = to_latex(ROWS, caption="50 % of\nε", label="tab:a-b_1")
    assert r"\caption{50 \% of $\varepsilon$}\label{tab:a-b_1}" in text
    with pytest.raises(ValueError, match="label must have letters, digits"):
        to_latex(ROWS, label="a}b")
    with pytest.raises(ValueError, match="form must be one of"):
        write(ROWS, "html")


@pytest.mark.parametrize("form", FORMATS)
def test_every_form_ends_its_last_line_and_no_rows_are_no_table(form):
    assert write(ROWS, form, caption="c").endswith("\n")
    assert write([], form) == ("[]\n" if form == "json" else "")


@pytest.mark.parametrize("text", certificates.values(), ids=certificates)
def test_a_certificate_is_a_table_without_what_depends_on_the_data(text):
    certificate = PrivacyCertificate.from_json(text)
    rows = certificate.statement()
    assert rows[0]["what it says"].startswith(f"({certificate.epsilon:g}, ")
    assert rows == certificate.public().statement()
    said = one_line(str(certificate))
    assert all(row["what it says"] in said for row in rows)
    assert len(latex_rows(certificate.to_latex())) == len(rows) + 1
    assert certificate.to_markdown(caption="c").count("\n|") == len(rows) + 2


def test_a_forged_certificate_is_no_table():
    forged = json.loads(next(iter(certificates.values()))) | {"row_norm": "\\input{x}"}
    with pytest.raises(ValueError, match="must be one that a fit has written"):
        PrivacyCertificate.from_dict(forged).to_latex()


@pytest.mark.slow
def test_pdflatex_compiles_them_and_nothing_stands_out(tmp_path):
    long = [{"n": str(n), "ε": f"{n}.5"} for n in range(LONG + 5)]
    sentences = [{"what": "a word or two of some length " * 9, "ε": "0.5", "and": "more words " * 9}]
    body = "\n".join(to_latex(rows, caption="ε ≤ 1") for rows in (ROWS, HOSTILE, long, sentences))
    log = compiled(body, tmp_path)
    assert "Overfull" not in log
    assert "Missing character" not in log


@pytest.mark.parametrize(
    "unseen", ["", " ", "\ufeff", "\u200b", "\u00a0", "\u2003", "\u2028", "\x00", "\x0b", "\x1f \u200d"]
)
@pytest.mark.parametrize("start", "=+-@\uff1d\uff0b\uff0d\uff20")
def test_a_formula_is_seen_behind_what_is_not_seen_and_in_wide_letters(unseen, start):
    text = f"{unseen}{start}cmd|' /C calc'!A0"
    assert safe_cell(text) == "'" + text
    assert is_formula(text)
    assert next(csv.reader([to_csv([{"a": text}]).splitlines()[1]]))[0][0] == "'"
