"""The tables of a comparison, its file, and its lines of Python."""

import re
from dataclasses import replace

import numpy as np
import pytest

from objpert_core.datasets import load
from objpert_core.experiments import waterfall
from objpert_core.experiments.compare import Settings, compare
from objpert_core.experiments.learners import NON_PRIVATE, OUTPUT, SVC, TIGHT
from pages.training import charts as training
from pages.training import jobs, tables, words
from pages.training import words as text
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


# A comparison on ten classes


@pytest.fixture(scope="module")
def digits():
    """Ten classes: without privacy, published and tight, two draws each."""
    *_, last = compare(load("digits"), Settings(epsilon=2.0, repeats=2))
    return last


@pytest.mark.thorough
def test_the_words_are_about_ten_classes_and_stay_short(digits):
    assert re.match(r"At ε = 2 privacy costs \d+\.\d\d points in two draws", text.headline(digits))
    rows = {row["digits"]: row for row in tables.table(digits)}
    assert rows["fits, one for each class"]["Algorithm 1 with our theorem"] == "10"
    assert "each class against the rest" in training.roc(digits).alt
    assert text.promise(digits).startswith("Worst case over all people and data: ε = 2")


@pytest.mark.thorough
def test_coefficients_are_images_of_the_reference_and_of_one_private_draw(digits):
    picture = training.coefficients(digits, small=True)
    sheet = np.array(picture.figure.data[0].z)
    assert sheet.shape == (2 * 2 * 10, 5 * 9)  # two methods of two rows of five images, eight pixels each and a gap
    for place, method in enumerate((NON_PRIVATE, TIGHT)):
        coef = digits.of(method)[0].coef
        for digit in range(10):
            top, left = 20 * place + 10 * (digit // 5) + 2, 9 * (digit % 5)
            shown = sheet[top : top + 8, left : left + 8]
            np.testing.assert_allclose(shown, coef[digit].reshape(8, 8) / np.abs(coef).max())
    numbers = picture.numbers()
    assert len(numbers) == 2 * 10 * 64
    assert list(numbers["coefficient"][:64]) == list(digits.of(NON_PRIVATE)[0].coef[0])


def test_methods_of_two_classes_are_left_out():
    assert jobs.able_to_learn("digits", (NON_PRIVATE, TIGHT, SVC)) == (NON_PRIVATE, TIGHT)
    assert jobs.able_to_learn("breast-cancer", (NON_PRIVATE, TIGHT, SVC)) == (NON_PRIVATE, TIGHT, SVC)
    assert text.two_classes_only([SVC], "digits") == "Left out on digits: SVM (two classes only)."
    assert text.two_classes_only([SVC, OUTPUT], "digits").endswith(" (two classes only).")
