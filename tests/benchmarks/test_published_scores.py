"""The guide's table of published scores is what the benchmark gives."""

import pytest

from benchmarks.published_scores import PAGE, released
from objpert_core import tables
from objpert_core.datasets import load


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore::objpert_core.exceptions.PrivacyBudgetWarning")
@pytest.mark.parametrize("name", ["breast-cancer", "digits"])
def test_the_guide_has_the_released_numbers(name):
    row = tables.to_markdown([released(load(name), 1.0)]).strip().split("\n")[-1]
    assert row in PAGE.read_text(encoding="utf-8")
