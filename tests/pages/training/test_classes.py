"""A comparison on ten classes."""

import re

import numpy as np
import pytest

from objpert_core.datasets import load
from objpert_core.experiments.compare import Settings, compare
from objpert_core.experiments.learners import NON_PRIVATE, OUTPUT, SVC, TIGHT
from pages.training import charts as training
from pages.training import jobs, tables
from pages.training import words as text


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
