"""The figures and tables of a paper are made by a command each."""

import re

import pytest

from benchmarks import figures, readme_tables
from tests.ui.test_pgf import tables
from ui.svg import MM


@pytest.mark.slow
def test_a_pages_charts_become_files_as_wide_as_the_column(tmp_path, capsys):
    controls = ["bounds_sigma=10", "bounds_lambda=5"]
    figures.main(["bounds", *controls, "--column", "100", "--out", str(tmp_path)])
    pdf, tex = (tmp_path / f"bounds-1.{kind}" for kind in ("pdf", "tex"))
    width = float(re.search(rb"/MediaBox \[ 0 0 ([\d.]+)", pdf.read_bytes()).group(1))
    assert width == pytest.approx(100 * MM, abs=0.01)
    assert tables(tex.read_text(encoding="utf-8"))
    assert "Our theorem 0.341" in capsys.readouterr().out


@pytest.mark.slow
def test_a_control_that_the_page_does_not_have_is_named(capsys):
    for wrong, words in (("distance_sigam=5", "got distance_sigam"), ("sigma", "must be name=value, got 'sigma'")):
        with pytest.raises(SystemExit):
            figures.main(["distance", wrong])
        assert words in capsys.readouterr().err


def test_tables_of_a_document_become_latex():
    text = "## Accuracy of `a_b`\n\n| | **ε**, [see](x.md) |\n|---|---|\n| a \\| b | 0.5 ± 0.1 |\n\nwords\n"
    found = readme_tables.latex(text)
    assert r"\caption{Accuracy of a\_b}" in found
    assert r"& $\varepsilon$, see \\" in found
    assert r"a $|$ b & 0.5 $\pm$ 0.1 \\" in found
    with pytest.raises(ValueError, match="columns must have different names"):
        readme_tables.latex("| a | a |\n|---|---|\n| 1 | 2 |\n")
