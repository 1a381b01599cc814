"""The picture of one private search: its numbers are the study's, and it says who wins."""

import pytest

from objpert_core import datasets
from objpert_core.experiments.studies.searches import searched
from pages.tuning import searched as picture
from pages.tuning.searched import Searched

NOW = Searched("breast-cancer", 1.0, 1e-5, 0)


@pytest.mark.thorough
def test_the_picture_shows_the_search_and_marks_the_winner():
    found = searched(datasets.load("breast-cancer"), 1.0, 1e-5, 0)
    assert NOW.found == found
    rows = NOW.table()
    assert [row["Setting"] for row in rows] == [
        "margin 0, raw",
        "margin 0, scaled",
        "margin 1, raw",
        "→ margin 1, scaled",
        "no search",
    ]
    assert NOW.frame()["released"].tolist() == [one is found.best for one in found.candidates]
    assert "The winner is margin 1, scaled" in NOW.shows()
    assert NOW.answer().startswith("The search leaves ε = 0.462 for each of its four fits; unpaid")
    _, score, worth, unpaid = NOW.chart(None).data
    assert score["error_x"]["array"].tolist() == [one.score.high - one.score.value for one in found.candidates]
    assert [*worth["x"]] == [one.worth for one in found.candidates]
    assert [*unpaid["x"]] == [one.unpaid for one in found.candidates]


@pytest.mark.thorough
def test_a_search_is_made_once(monkeypatch):
    asked, made = [], NOW.found
    monkeypatch.setattr(picture, "searched", lambda *args: asked.append(args) or made)
    for _ in range(2):
        picture.found("digits-4-9", 3.0, 1e-6, 99)
    assert len(asked) == 1
    picture.found.cache_clear()
