"""Any choice of methods: pictures, words and tables are about these and no other."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from objpert_core.datasets import load
from objpert_core.experiments.compare import METHODS, ROC_GRID, Settings, compare
from objpert_core.experiments.learners import DISHONEST_PLD as DISHONEST
from objpert_core.experiments.learners import HONEST, KIFER, NON_PRIVATE, OUTPUT, PUBLISHED, ROUNDED, SGD, SVC, TIGHT
from objpert_core.experiments.learners import LIVE as LEARNERS
from objpert_core.experiments.live import DataFacts
from pages.training import charts as training
from pages.training import tables
from pages.training import words as text
from tests.pages.apps import execute, words_of
from tests.pages.training.comparisons import DRAWINGS, drawn, made_up
from tests.plotted import decode
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


# The pictures of a comparison


def test_accuracy_draws_means_intervals_draws_and_the_majority(last):
    picture = training.accuracy(last)
    for place, method in enumerate(METHODS):
        x, y, trace = drawn(picture, text.LABELS[method])
        assert (x[0], y[0]) == (place, last.accuracy(method).mean)
        if method != NON_PRIVATE:
            low, high = last.accuracy(method).within()
            assert decode(trace["error_y"]["array"])[0] == pytest.approx(high - y[0])
            assert decode(trace["error_y"]["arrayminus"])[0] == pytest.approx(y[0] - low)
    assert drawn(picture, "always")[1][0] == last.baseline
    dots = [t for t in picture.figure.to_plotly_json()["data"] if t["name"] == ""]
    assert [list(decode(t["y"])) for t in dots] == [[f.accuracy for f in last.of(m)] for m in (PUBLISHED, TIGHT)]
    assert "Test accuracy" in picture.alt


def test_no_bar_rises_above_100_percent(last):
    comparison = made_up(last, reference=1.0, tight=[1.0, 0.95, 1.0, 1.0, 1.0])
    _, y, trace = drawn(training.accuracy(comparison), "Algorithm 1 with our theorem")
    assert comparison.accuracy(TIGHT).high > 1
    assert y[0] + decode(trace["error_y"]["array"])[0] == pytest.approx(1.0)
    assert y[0] - decode(trace["error_y"]["arrayminus"])[0] == pytest.approx(comparison.accuracy(TIGHT).low)


@pytest.mark.parametrize("draw", DRAWINGS)
@pytest.mark.parametrize("stand_in_for", [None, "adult"])
def test_pictures_and_csv_name_their_data_and_say_if_it_stands_in(last, draw, stand_in_for):
    label = "breast-cancer" if stand_in_for is None else "adult-synthetic (stand-in for adult)"
    data = replace(last.data, label=label, stand_in_for=stand_in_for)
    picture = draw(replace(last, data=data))
    assert f"on {label}" in picture.figure.layout.xaxis.title.text.replace("<br>", " ")
    assert f"on {label}" in picture.alt
    numbers = pd.DataFrame(picture.numbers())
    assert numbers.columns[0] == "data_set"
    assert set(numbers["data_set"]) == {label}
    assert set(numbers["split_seed"]) == {1}


def test_everything_plotted_lies_within_the_axes(last):
    for picture in (training.accuracy(last), training.coefficients(last), training.gradient_norms(last)):
        layout = picture.figure.layout
        for trace in picture.figure.to_plotly_json()["data"]:
            for values, axis in ((trace["x"], layout.xaxis), (trace["y"], layout.yaxis)):
                data = decode(values).astype(float)
                data = np.log10(data) if axis.type == "log" else data
                if trace["name"].startswith("τ") and axis is layout.xaxis:
                    continue  # a horizontal line across
                assert np.nanmin(data) >= min(axis.range)
                assert np.nanmax(data) <= max(axis.range)


def test_ghosts_are_the_previous_run_on_the_same_data_only(last):
    def ghosts(picture):
        return [t for t in picture.figure.to_plotly_json()["data"] if t["meta"]["ghost"]]

    before = made_up(last, reference=0.9, published=0.7, tight=0.8)
    assert [decode(t["y"])[0] for t in ghosts(training.accuracy(last, before))] == [0.9, 0.7, 0.8]
    assert len(ghosts(training.roc(last, before))) == 3
    other = replace(before, data=DataFacts.of(load("digits-4-9")))
    assert not ghosts(training.accuracy(last, other))
    assert not ghosts(training.roc(last, other))
    assert not ghosts(training.accuracy(last, None))
    assert not ghosts(training.accuracy(last, last))


def test_roc(last):
    picture = training.roc(last)
    x, y, trace = drawn(picture, "Algorithm 1 with our theorem")
    np.testing.assert_array_equal(x, ROC_GRID)
    np.testing.assert_array_equal(y, last.roc(TIGHT))
    assert f"AUC {last.auc(TIGHT).mean:.3f}" in trace["name"]
    numbers = picture.numbers()
    np.testing.assert_array_equal(numbers[f"true_positive_rate, {TIGHT}"], last.roc(TIGHT))
    assert tuple(training.roc(last, corner=True).figure.layout.xaxis.range) == (0.0, 0.3)


def test_coefficients(last):
    picture = training.coefficients(last, small=True)
    chosen = last.largest_coefficients(training.FEW)
    x, y, _ = drawn(picture, "Algorithm 1 with our theorem")
    np.testing.assert_allclose(x, np.mean([fit.coef[chosen] for fit in last.of(TIGHT)], axis=0))
    np.testing.assert_allclose(y, np.arange(training.FEW) + 0.25)
    numbers = picture.numbers()
    assert list(numbers["feature"]) == [last.data.feature_names[column] for column in chosen]
    assert (numbers[f"{TIGHT}, least"] <= numbers[f"{TIGHT}, mean"]).all()
    assert "non-private coefficients" in picture.alt


def test_gradient_norms(last):
    picture = training.gradient_norms(last)
    _, y, _ = drawn(picture, "Algorithm 1 with our theorem")
    np.testing.assert_array_equal(y, last.of(TIGHT)[0].gradient_norms)
    tau = drawn(picture, "τ = 0.01 (Algorithm 1 with the 2023 theorem)")[1]
    assert set(tau) == {0.01}
    numbers = picture.numbers()
    assert len(numbers) == sum(len(fit.gradient_norms) for fit in last.fits)
    ends = numbers.groupby(["method", "noise_seed"]).last()
    assert (ends["gradient_norm"] <= ends["tau"]).all()


def test_a_gradient_of_exactly_zero_does_not_break_the_log_axis(last):
    fits = [replace(fit, gradient_norms=(*fit.gradient_norms, 0.0)) for fit in last.fits if fit.privacy]
    low, high = training.gradient_norms(replace(last, fits=tuple(fits))).figure.layout.yaxis.range
    assert np.isfinite([low, high]).all()
    assert low < high
