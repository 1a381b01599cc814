"""The figures and tables of a paper are made by a command each."""

import re
from pathlib import Path

import numpy as np
import pytest

import objpert_core.tables
import ui.figures
from benchmarks import figures, journey, rare_class, tables
from benchmarks.learners_peers import FITS, scores
from benchmarks.published_scores import PAGE, released
from objpert_core.datasets import load
from ui.printed import draw, drawable


@pytest.mark.slow
@pytest.mark.skipif(not drawable(), reason="needs kaleido and a Chromium")
def test_a_thumbnail_has_the_curves_and_no_words():
    x = np.linspace(0, 10, 500)
    traces = [ui.figures.series("Named", x, np.exp(-x), "rdp"), ui.figures.series("Text", [1], [1], "glm", mode="text")]
    axes = {"xaxis": ui.figures.axis("across", (0, 10)), "yaxis": ui.figures.axis("up", (0, 1))}
    small = draw(figures.thumbnail(ui.figures.figure(traces, **axes).to_plotly_json()), "svg").decode()
    assert "<text" not in small
    assert len(small) < 6_000
    assert "stroke: rgb(0, 158, 115)" in small  # the colour of its role


@pytest.mark.slow
@pytest.mark.skipif(not drawable(), reason="needs kaleido and a Chromium")
def test_a_pages_charts_become_files_as_wide_as_the_column(tmp_path, capsys):
    controls = ["bounds_sigma=10", "bounds_lambda=5"]
    figures.main(["paper", "bounds", *controls, "--column", "100", "--out", str(tmp_path)])
    pdf, svg = ((tmp_path / f"bounds-1.{form}").read_bytes() for form in ("pdf", "svg"))
    assert float(re.search(rb"/MediaBox \[0 0 ([\d.]+)", pdf)[1]) == pytest.approx(100 / 25.4 * 72, abs=0.75)
    assert pdf.count(b"/FontFile2") >= 1
    assert b"Our theorem" in svg
    assert "Our theorem 0.341" in capsys.readouterr().out


@pytest.mark.slow
def test_a_control_that_the_page_does_not_have_is_named(capsys):
    for wrong, words in (("distance_sigam=5", "got distance_sigam"), ("sigma", "must be name=value, got 'sigma'")):
        with pytest.raises(SystemExit):
            figures.main(["paper", "distance", wrong])
        assert words in capsys.readouterr().err


# What documents quote is what the benchmarks measure


CONSTANT = 0.3
OWN_DATA = Path(__file__).parents[2] / "docs" / "own_data.md"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_nobody_stops_and_the_stored_numbers_come_again():
    stored = {row["table"]: row for row in tables.stored("journey")}
    assert len(stored) == len(journey.TABLES) + 1
    assert {row["stops"] for row in stored.values()} == {"none"}
    for row in journey.measured(["ages", "wine-known", "diabetes", journey.TEXT], 1.0, 1):
        known = stored[row["table"]]
        assert row["stops"] == "none"
        assert float(row["ours"]) == pytest.approx(float(known["ours"]), rel=0.1)
        assert float(row["no privacy"]) == pytest.approx(float(known["no privacy"]), rel=0.01)


def test_coefficients_are_of_rows_with_the_constant():
    X = np.array([[1.0, 2.0], [0.0, -1.0]])
    assert scores(np.array([1.0, 0.5, 10.0]), X, CONSTANT).tolist() == [5.0, 2.5]


@pytest.mark.slow
def test_a_model_of_ours_is_judged_with_its_centre_and_scales():
    data = load("breast-cancer")
    task = {"epsilon": 8.0, "delta": 1e-5, "seed": 0, "parameters": {"estimator": "ObjPertLogisticRegression"}}
    model = FITS["objpert"](data.X_train, data.y_train, task)
    assert model.center_ is not None
    right = (scores(model, data.X_test, CONSTANT) > 0) == (data.y_test == 1)
    assert np.mean(right) == model.score(data.X_test, data.y_test) > 0.85


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore::objpert_core.exceptions.PrivacyBudgetWarning")
@pytest.mark.parametrize("name", ["breast-cancer", "digits"])
def test_the_guide_has_the_released_numbers(name):
    row = objpert_core.tables.to_markdown([released(load(name), 1.0)]).strip().split("\n")[-1]
    assert row in PAGE.read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_table_of_a_rare_class_is_measured():
    lines = OWN_DATA.read_text(encoding="utf-8").splitlines()
    for name, numbers in rare_class.measured(20_000, 4).items():
        (line,) = [line for line in lines if line.startswith(f"| {name} |")]
        told = [float(cell) for cell in line.strip("|").split("|")[1:]]
        for told_number, number, error in zip(told, numbers, (0.01, 3.0, 3.0), strict=True):
            assert told_number == pytest.approx(number, abs=error), name
