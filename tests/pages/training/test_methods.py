"""Any choice of methods: pictures, words and tables are about these and no other."""

from dataclasses import replace

import pytest

from objpert_core.datasets import load
from objpert_core.experiments.compare import Settings, compare
from objpert_core.experiments.learners import DISHONEST_PLD as DISHONEST
from objpert_core.experiments.learners import HONEST, KIFER, NON_PRIVATE, OUTPUT, PUBLISHED, ROUNDED, SGD, SVC, TIGHT
from objpert_core.experiments.learners import LIVE as LEARNERS
from pages.training import charts as training
from pages.training import tables
from pages.training import words as text
from tests.pages.apps import execute, words_of
from tests.pages.training.comparisons import DRAWINGS
from ui.figures import of_learner
from ui.printed import printed

QUICK = {"epochs": 2, "learning_rates": (0.03, 0.3), "mean_runs": 3.0}


@pytest.fixture(scope="module")
def everything():
    """Every method, two draws each."""
    settings = Settings(epsilon=1.0, repeats=2, methods=tuple(LEARNERS), seed=4, **QUICK)
    *_, last = compare(load("breast-cancer", split_seed=1), settings)
    return last


def only(comparison, *methods):
    """The same comparison as if only these methods had been asked for."""
    fits = tuple(fit for fit in comparison.fits if fit.method in methods)
    return replace(comparison, settings=replace(comparison.settings, methods=methods), fits=fits)


SUBSETS = [tuple(LEARNERS), (NON_PRIVATE,), (OUTPUT,), (KIFER, HONEST)]
SUBSETS += [(NON_PRIVATE, DISHONEST), (PUBLISHED, SVC, ROUNDED)]


@pytest.mark.slow
@pytest.mark.parametrize("methods", SUBSETS)
@pytest.mark.parametrize("draw", DRAWINGS)
def test_every_picture_shows_the_methods_chosen_and_no_other(everything, methods, draw):
    picture = draw(only(everything, *methods))
    assert printed(picture.figure, title=picture.alt).layout.width
    picture.numbers()
    roles = {trace["meta"]["role"] for trace in picture.figure.to_plotly_json()["data"]} - {"guide"}
    drawn_ones = set(methods)
    if draw is training.gradient_norms:
        drawn_ones -= {NON_PRIVATE, *SGD}  # nothing to reach
    assert roles == {of_learner(method) for method in drawn_ones}


@pytest.mark.slow
@pytest.mark.parametrize("methods", SUBSETS)
def test_words_and_table_are_about_the_methods_chosen(everything, methods):
    comparison = only(everything, *methods)
    words = f"{text.headline(comparison)} {text.promise(comparison)}"
    if main := comparison.settings.main:
        assert (text.LABELS[main] in words) == (main != TIGHT)
        assert ("covers one run, not the choice" in words) == (main == DISHONEST)
    rows = tables.table(comparison)
    assert list(rows[0])[1:-1] == [text.LABELS[method] for method in comparison.settings.methods]
    assert ("one run, not the choice" in str(rows)) == (DISHONEST in methods)
    assert all(any(value != "–" for value in list(row.values())[1:]) for row in rows)


@pytest.mark.thorough
def test_the_csv_keeps_what_each_certificate_says(everything):
    frame = tables.frame(everything).set_index(["method", "noise_seed"])
    for fit in everything.fits[1:]:
        row = frame.loc[(fit.method, fit.seed)]
        names = ("sigma", "lam", "noise_multiplier", "sample_rate", "steps", "sensitivity", "tuning", "loss")
        for name in names:
            value = getattr(fit.privacy, name, None)
            assert row[name] == value if value not in (None, ()) else row.isna()[name]
        if not fit.gradient_norms:
            assert (row["runs"], row["learning_rate"]) == (fit.runs, fit.learning_rate)


@pytest.mark.thorough
def test_the_snippet_gives_every_methods_numbers(everything):
    names, _ = execute(tables.snippet(everything.data, tables.reproducible(everything)))
    for method in everything.settings.private:
        assert names[method.replace("-", "_")] == [fit.accuracy for fit in everything.of(method)]


@pytest.mark.thorough
def test_the_snippet_of_a_stopped_run_repeats_what_was_fitted(everything):
    assert tables.reproducible(replace(everything, fits=everything.fits[:1])) is None
    short = tables.reproducible(replace(everything, fits=everything.fits[:4]))  # two draws of one, one of another
    assert (short.methods, short.repeats) == ((NON_PRIVATE, PUBLISHED, TIGHT), 1)
    first = tables.reproducible(replace(everything, fits=everything.fits[:2]))
    assert (first.methods, first.repeats) == ((NON_PRIVATE, PUBLISHED), 1)
    code = tables.snippet(everything.data, replace(first, methods=(NON_PRIVATE,)))
    assert "objpert_core.estimators" not in code
    compile(code, "snippet", "exec")


@pytest.mark.parametrize("learner", [name for name in LEARNERS if name != NON_PRIVATE])
def test_headline_names_the_method_unless_it_is_tight_and_stays_short(everything, learner):
    data = replace(everything.data, label="adult-synthetic (stand-in for adult)")
    for methods in {(NON_PRIVATE, learner), (learner,)}:
        for accuracy in (0.7, 0.8, 0.85, 0.851, 0.86):
            fits = [replace(everything.of(m)[0], accuracy=0.85) for m in set(methods) - {learner}]
            fits += [replace(everything.of(learner)[0], accuracy=accuracy)] * 5
            comparison = replace(only(everything, *methods), data=data, fits=tuple(fits), baseline=0.75)
            words = text.headline(comparison)
            assert words_of(words) <= 18
            assert learner == TIGHT or text.LABELS[learner] in words


def test_ghosts_are_of_the_methods_that_both_runs_have(everything):
    before = only(everything, NON_PRIVATE, OUTPUT)
    after = only(everything, OUTPUT, HONEST)
    traces = training.accuracy(after, before).figure.to_plotly_json()["data"]
    assert [t["meta"]["role"] for t in traces if t["meta"]["ghost"]] == ["output"]
