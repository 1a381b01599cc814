"""What the page "Live training" says of a comparison, of what a press on "Run" will train, and meanwhile."""

from dataclasses import replace

import numpy as np
import pytest

from objpert_core.accounting import calibrate_gaussian
from objpert_core.datasets import load
from objpert_core.experiments.compare import METHODS, Settings
from objpert_core.experiments.learners import HONEST, NON_PRIVATE, PUBLISHED, TIGHT, TIGHT_RAW
from pages.training import controls as training_controls
from pages.training import words as text
from pages.training.jobs import Request, together
from tests.pages.apps import tells, words_of
from tests.pages.training.comparisons import made_up
from ui import registry
from ui.words import GRIDS, fall


def test_what_no_method_depends_on_does_not_decide_a_request():
    base = Request("adult", 0, Settings(methods=(NON_PRIVATE, TIGHT, HONEST)))
    many = replace(base, settings=replace(base.settings, repeats=50))
    for change, moved in (
        ({"epsilon": 2.0}, (TIGHT, HONEST)),
        ({"bound": "glm"}, (TIGHT,)),
        ({"solver": "lbfgs"}, (TIGHT,)),
        ({"mean_runs": 3.0, "batch_size": 64}, (HONEST,)),
    ):
        other = replace(base, settings=replace(base.settings, **change))
        assert [m for m in base.settings.methods if base.of(m) != other.of(m)] == list(moved)
    assert [part.settings.methods for part in base.at_once] == [(NON_PRIVATE,), (TIGHT,)]
    assert base.later == base.of(HONEST)
    assert replace(base, name="gisette-like").at_once == ()
    assert many.later == many.of(TIGHT, HONEST)


def test_parts_together_are_the_comparison():
    request = Request("breast-cancer", 1, Settings(repeats=3))
    parts = [part.result() for part in request.at_once]
    whole = request.result()
    joined = together(request.settings, parts)
    made, expected = ([(fit.method, fit.seed, fit.accuracy) for fit in one.fits] for one in (joined, whole))
    assert made == expected
    assert joined.complete


def test_the_page_opens_with_the_comparisons_own_defaults():
    assert training_controls.LEARNED.default == METHODS
    asked = Settings()
    assert training_controls.BATCH.default == asked.batch_size
    assert training_controls.EPOCHS.default == asked.epochs
    assert training_controls.SOLVER.default == asked.solver
    assert training_controls.MEAN_RUNS.default == asked.mean_runs
    assert GRIDS[training_controls.RATES.default] == asked.learning_rates


def reached(reference, tight):
    return {"reference": reference, "tight": tight}


FIVE = [0.84, 0.8404, 0.8396, 0.8402, 0.8398]
APART = [0.82, 0.85, 0.86, 0.83, 0.84]


@pytest.mark.parametrize(
    ("accuracies", "expected"),
    [
        (reached(0.8496, FIVE), "At ε = 1 privacy costs 0.96 points on breast-cancer (84.96 → 84.00 %)."),
        (reached(0.8496, 0.8404), "At ε = 1 privacy costs 0.92 points in one draw (84.96 → 84.04 %)."),
        (reached(0.8402, FIVE), "At ε = 1 privacy shows no cost on breast-cancer (84.02 → 84.00 %)."),
        (reached(0.83, FIVE), "At ε = 1 the private model gains 1.00 points on breast-cancer (83.00 → 84.00 %)."),
        (
            reached(0.845, APART),
            "At ε = 1 the cost of privacy is within the noise of five draws (84.50 → 84.00 %).",
        ),
    ],
)
def test_headline(last, accuracies, expected):
    words = text.headline(made_up(last, **accuracies))
    assert words == expected
    assert words_of(words) <= 18


def test_headline_agrees_with_itself_and_with_the_unrounded_numbers(last):
    rng = np.random.default_rng(0)
    for reference, private in rng.uniform(0.8, 0.9, (200, 2)):
        size, course = fall(reference, private)
        before, after = (float(part) for part in course.removesuffix(" %").split(" → "))
        shown = float(size.removesuffix(" points"))
        assert shown == pytest.approx(abs(before - after), abs=1e-9)
        assert shown == pytest.approx(100 * abs(reference - private), abs=0.011)


def test_the_promise_names_everything_and_what_it_does_not_cover(last):
    words = text.promise(last)
    tells(words, "ε = 1", "δ = 10⁻⁵", "add or remove", "privacy profile of our theorem")
    assert text.promise(made_up(last, reference=0.8)) == ""


def test_the_paper_is_quoted_for_its_own_settings_only(last):
    assert text.paper(last) == ""
    adult = replace(last, data=replace(last.data, name="adult"))
    assert "83.18 %" in text.paper(adult)
    assert text.paper(replace(adult, settings=replace(adult.settings, epsilon=2.0))) == ""
    assert text.paper(replace(adult, settings=replace(adult.settings, delta=1e-6))) == ""


@pytest.mark.parametrize(
    ("private", "guess"),
    [
        *((0.85, 0), (0.80, 0), (0.7996, 0), (0.7995, 1), (0.795, 1), (0.79, 1), (0.7899, 2), (0.78, 2)),
        *((0.77, 2), (0.7699, 3), (0.76, 3)),  # judged before rounding: 3.01 points are more than 3
    ],
)
def test_verdict(last, private, guess):
    assert text.verdict(made_up(last, reference=0.8, tight=[private] * 5)) == text.GUESSES[guess]
    assert text.judged(text.GUESSES[guess], made_up(last, reference=0.8, tight=[private] * 5)).startswith("Yes")
    assert text.verdict(made_up(last, reference=0.8)) is None
    assert text.verdict(made_up(last, reference=0.8, tight=[private] * 4)) is None  # of five asked for


def test_the_explanation_quotes_the_calibrations_own_numbers():
    data = load("digits-4-9")
    explanation = registry.entry("training").about
    for method in (PUBLISHED, TIGHT_RAW):
        model = Settings(epsilon=1.0, delta=1e-5, bound="logistic", intercept_scaling=0.3).estimator(method, 0)
        model.set_params(lam=0.0)  # the least that privacy allows, as on Adult
        privacy = model.fit(data.X_train, data.y_train).privacy_
        for value in (privacy.sigma, privacy.lam, privacy.radius):
            assert f"{value:.2f}" in explanation
    ratio = privacy.sigma / privacy.radius / calibrate_gaussian(1.0, 1e-5).sigma
    assert rf"${ratio:.3g}\,\sigma_{{\text{{Gauss}}}}$" in explanation
