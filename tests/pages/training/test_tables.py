"""The tables of a comparison, its file, and its lines of Python."""

from dataclasses import replace

import pytest

from objpert_core.datasets import load
from objpert_core.experiments import waterfall
from objpert_core.experiments.compare import Settings, compare
from objpert_core.experiments.learners import TIGHT
from pages.training import tables, words
from tests.pages.apps import execute
from ui import sentences


def test_one_column_a_method_and_the_majority_the_most_important_first(last):
    rows = tables.table(last)
    columns = [
        "breast-cancer",
        "no privacy",
        "Algorithm 1 with the 2023 theorem",
        "Algorithm 1 with our theorem",
        "always “benign”",
    ]
    assert all(list(row) == columns for row in rows)
    by_name = {row["breast-cancer"]: row for row in rows}
    assert list(by_name)[:5] == ["test accuracy", "95 % interval", "minus the main method, points", "σ", "λ"]
    assert set(by_name) >= {"τ", "σ_out", "row norm R", "AUC", "noise draws"}
    privacy = last.of(TIGHT)[0].privacy
    assert by_name["σ"]["Algorithm 1 with our theorem"] == f"{privacy.sigma:.4g}"
    assert by_name["λ"]["Algorithm 1 with our theorem"] == f"{privacy.lam:.4g}"
    assert by_name["95 % interval"]["no privacy"] == "no noise"
    assert by_name["λ"]["no privacy"] == "0.01"
    assert by_name["test accuracy"]["always “benign”"] == f"{100 * last.baseline:.2f} %"
    assert by_name["σ"]["always “benign”"] == "–"
    assert [list(row) for row in tables.table(replace(last, fits=()))] == [["breast-cancer", "always “benign”"]] * 2


def test_the_certificate_shows_the_steps_and_what_is_left(last):
    privacy = last.of(TIGHT)[0].privacy
    rows = {row["Algorithm 1 with our theorem"]: row["now"] for row in tables.certificates(last, None)}
    assert privacy.center_noise
    assert rows["σ of the centre"] == f"{privacy.center_noise:.4g}"
    assert 0 < float(rows[tables.ALONE]) < privacy.epsilon
    assert rows[tables.ALONE] == sentences.epsilon(privacy.rebuild().epsilon(privacy.delta))


def test_the_accountant_names_what_was_released_before(last):
    settings, privacy = last.settings, last.of(TIGHT)[0].privacy
    fit = "the privacy profile of our theorem"
    assert words.accountant(settings, TIGHT) == f"{fit} composed with the noisy centre and scales"
    before = {(9.0, 9.0): " composed with the noisy centre and scales", (9.0, None): " composed with the noisy centre"}
    for (center, scale), ending in (before | {(None, None): ""}).items():
        released = replace(privacy, center_noise=center, scale_noise=scale)
        assert words.accountant(settings, TIGHT, released) == fit + ending
    assert "our theorem, one-signed slope" in words.accountant(replace(settings, bound="monotone"), TIGHT)


@pytest.mark.thorough
def test_the_chains_snippet_gives_the_waterfall():
    settings = Settings(epsilon=1.0, repeats=2, seed=4, methods=tuple(waterfall.CHAIN))
    *_, shown = compare(load("breast-cancer", split_seed=1), settings)
    names, _ = execute(tables.chain_snippet(shown.data, settings))
    assert names["found"] == waterfall.of_comparison(shown)
