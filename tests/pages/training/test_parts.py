"""The training page's words, tables, figures and snippet."""

import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest

from objpert_core.accounting import calibrate_gaussian
from objpert_core.datasets import load
from objpert_core.experiments import waterfall
from objpert_core.experiments.compare import METHODS, NON_PRIVATE, PUBLISHED, ROC_GRID, TIGHT, Settings, compare
from objpert_core.experiments.facts import DataFacts
from objpert_core.experiments.learners import DISHONEST_PLD as DISHONEST
from objpert_core.experiments.learners import HONEST, KIFER, OUTPUT, ROUNDED, SGD, SVC, TIGHT_RAW
from objpert_core.experiments.learners import LIVE as LEARNERS
from pages.training import charts as training
from pages.training import controls as training_controls
from pages.training import duration, jobs, promises, tables
from pages.training import words as text
from pages.training.jobs import Meter, Request, together
from tests.pages.apps import execute, job_view, tells, words_of
from ui import registry, sentences
from ui.figures import GHOST_OPACITY, ROLES, of_learner
from ui.svg import decode, to_svg
from ui.words import GRIDS, fall, first_sentence, grid, times

MORE_WORK = [{}, {"repeats": 4}, {"repeats": 4, "epochs": 60}, {"repeats": 4, "epochs": 60, "mean_runs": 30.0}]
DRAWINGS = [training.accuracy, training.roc, training.coefficients, training.gradient_norms]


@pytest.fixture(scope="module")
def steps():
    return list(compare(load("breast-cancer", split_seed=1), Settings(epsilon=1.0, repeats=5)))


@pytest.fixture(scope="module")
def last(steps):
    return steps[-1]


def made_up(last, epsilon=1.0, baseline=0.75, **accuracies):
    """A comparison with these accuracies instead of the measured ones."""
    names = {"reference": NON_PRIVATE, "published": PUBLISHED, "tight": TIGHT}
    fits = []
    for key, values in accuracies.items():
        like = last.of(names[key])[0]
        fits += [replace(like, accuracy=value) for value in np.atleast_1d(values)]
    return replace(last, settings=replace(last.settings, epsilon=epsilon), baseline=baseline, fits=tuple(fits))


def reached(reference, tight):
    return {"reference": reference, "tight": tight}


FIVE = [0.84, 0.8404, 0.8396, 0.8402, 0.8398]
APART = [0.82, 0.85, 0.86, 0.83, 0.84]


class TestWords:
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
            (
                {"reference": 0.84},
                "Without privacy 84.0 % are right on breast-cancer; Algorithm 1 tight is not trained yet.",
            ),
            ({}, "Nothing is trained on breast-cancer yet."),
            (
                {"reference": 0.85, "tight": [0.6, 0.7]},
                "At ε = 1 Algorithm 1 tight learns nothing useful: 65.0 % right; always “benign” gets 75.0 %.",
            ),
        ],
    )
    def test_headline(self, last, accuracies, expected):
        words = text.headline(made_up(last, **accuracies))
        assert words == expected
        assert words_of(words) <= 18

    def test_headline_agrees_with_itself_and_with_the_unrounded_numbers(self, last):
        rng = np.random.default_rng(0)
        for reference, private in rng.uniform(0.8, 0.9, (200, 2)):
            size, course = fall(reference, private)
            before, after = (float(part) for part in course.removesuffix(" %").split(" → "))
            shown = float(size.removesuffix(" points"))
            assert shown == pytest.approx(abs(before - after), abs=1e-9)
            assert shown == pytest.approx(100 * abs(reference - private), abs=0.011)

    def test_the_promise_names_everything_and_what_it_does_not_cover(self, last):
        words = text.promise(last)
        tells(words, "ε = 1", "δ = 10⁻⁵", "add or remove", "privacy profile of our theorem")
        assert text.promise(made_up(last, reference=0.8)) == ""

    def test_why_accuracy_moved(self, last):
        settings = last.settings

        def since(**change):
            return text.why(last, replace(last, settings=replace(settings, **change)))

        assert text.why(None, last) == since() == ""
        words = text.why(last, made_up(last, epsilon=0.1, tight=0.5))
        assert re.fullmatch(r"ε 1 → 0\.1: σ stays at 4\.\d+; accuracy falls from 9\d\.\d % to 50\.0 %\.", words)
        assert since(seed=9).startswith("This is different noise of the same size")
        assert since(repeats=9).startswith("The noise has the same size")
        assert text.why(last, replace(last, data=replace(last.data, name="adult"))).startswith("With other rows")

    def test_caveats_name_the_intervals_and_what_is_outside_the_guarantee(self, last):
        words = text.caveats(last)
        tells(words, "Student", "one split", "114 test rows", "guarantee does not cover test accuracy")
        assert "96.7 to 100.0 % for the first model" in text.caveats(made_up(last, reference=1.0))

    def test_the_paper_is_quoted_for_its_own_settings_only(self, last):
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
    def test_verdict(self, last, private, guess):
        assert text.verdict(made_up(last, reference=0.8, tight=[private] * 5)) == text.GUESSES[guess]
        assert text.judged(text.GUESSES[guess], made_up(last, reference=0.8, tight=[private] * 5)).startswith("Yes")
        assert text.verdict(made_up(last, reference=0.8)) is None
        assert text.verdict(made_up(last, reference=0.8, tight=[private] * 4)) is None  # of five asked for

    def test_the_page_says_where_adult_is_not(self):
        assert text.preset_note("adult", False) is None
        assert "not on this server" in text.preset_note("adult-synthetic", False)
        assert "damaged" in text.preset_note("adult-synthetic", True)

    def test_differences_name_what_moved_and_only_that(self):
        shown = Request("adult", 0, Settings(epsilon=1.0))
        assert text.differences(shown, Request("adult", 0, Settings(epsilon=1.0))) is None
        words = text.differences(shown, Request("adult", 3, Settings(epsilon=2.0)))
        assert words.startswith("These results are for split seed = 0 (now 3), ε = 1 (now 2). Press Run")
        words = text.differences(shown, Request("adult", 0, Settings(methods=(NON_PRIVATE, HONEST))))
        assert "methods = no privacy, Algorithm 1 published, Algorithm 1 tight (now no privacy, DP-SGD paid)" in words

    def test_progress(self, steps):
        waiting, running = job_view("waiting", ahead=2), job_view("running", steps[2])
        assert text.progress(waiting) == (0.0, "Waiting for a free slot (2 ahead of you).")
        assert text.progress(job_view("running")) == (0.0, "Loading the data …")
        assert text.progress(running) == (6 / 11, "6 of 11 models, 1 s")
        assert text.progress(replace(running, stopping=True)) == (6 / 11, "Stopping …")

    def test_outcome(self, steps):
        def at(state, latest=None, message=None):
            return text.outcome(job_view(state, latest, message=message))

        assert at("finished", steps[-1]) is None
        assert at("stopped", steps[2]).startswith("Stopped after 6 of 11 models")
        assert at("stopped").startswith("Stopped before the first model")
        assert at("stopped", steps[0]).startswith("Stopped before the first model")
        assert at("failed", None, "it broke") == "It broke."
        assert at("failed", steps[2], "it broke") == "It broke. The 6 models fitted before are shown."

    def test_a_stand_in_says_so_in_its_first_sentence(self):
        from objpert_core.datasets import describe

        assert first_sentence(describe("adult-synthetic")) == "Stand-in for adult, not the real data."


class TestTables:
    def test_one_column_a_method_and_the_majority_the_most_important_first(self, last):
        rows = tables.table(last)
        columns = ["breast-cancer", "no privacy", "Algorithm 1 published", "Algorithm 1 tight", "always “benign”"]
        assert all(list(row) == columns for row in rows)
        by_name = {row["breast-cancer"]: row for row in rows}
        assert list(by_name)[:5] == ["test accuracy", "95 % interval", "minus the main method, points", "σ", "λ"]
        assert set(by_name) >= {"τ", "σ_out", "row norm R", "AUC", "noise draws"}
        privacy = last.of(TIGHT)[0].privacy
        assert by_name["σ"]["Algorithm 1 tight"] == f"{privacy.sigma:.4g}"
        assert by_name["λ"]["Algorithm 1 tight"] == f"{privacy.lam:.4g}"
        assert by_name["95 % interval"]["no privacy"] == "no noise"
        assert by_name["λ"]["no privacy"] == "0.01"
        assert by_name["test accuracy"]["always “benign”"] == f"{100 * last.baseline:.2f} %"
        assert by_name["σ"]["always “benign”"] == "–"
        assert [list(row) for row in tables.table(replace(last, fits=()))] == [["breast-cancer", "always “benign”"]] * 2

    def test_the_csv_holds_every_fit_with_all_digits(self, last):
        frame = tables.frame(last)
        assert len(frame) == 1 + len(last.fits)
        assert list(frame["accuracy"][1:]) == [fit.accuracy for fit in last.fits]
        tight = frame[frame["method"] == TIGHT]
        assert list(tight["noise_seed"]) == [0, 1, 2, 3, 4]
        assert set(tight["sigma"]) == {last.of(TIGHT)[0].privacy.sigma}
        assert list(tight["iterations"]) == [len(fit.gradient_norms) - 1 for fit in last.of(TIGHT)]

    @pytest.mark.slow
    @pytest.mark.parametrize("name", ["breast-cancer", "digits-4-9"])
    def test_the_snippet_gives_the_numbers_on_the_screen(self, name):
        settings = Settings(epsilon=0.7, delta=1e-4, bound="monotone", repeats=2, intercept_scaling=0.5, seed=4)
        *_, shown = compare(load(name, split_seed=2), settings)
        names, printed = execute(tables.snippet(shown.data, settings))
        assert names["non_private"] == shown.fits[0].accuracy
        assert names["published"] == [fit.accuracy for fit in shown.of(PUBLISHED)]
        assert names["tight"] == [fit.accuracy for fit in shown.of(TIGHT)]
        label, numbers, *_ = printed.splitlines()
        assert label == shown.data.label
        assert [float(word) for word in numbers.split()] == pytest.approx(
            [shown.accuracy(method).mean for method in METHODS], rel=1e-12
        )
        assert "(0.7, 0.0001)-differential privacy" in printed
        assert not names["model"].privacy_.reproducible  # the last lines are for a release


def drawn(picture, name):
    """(x, y) of the first trace whose name begins so."""
    trace = next(t for t in picture.figure.to_plotly_json()["data"] if t["name"].startswith(name))
    return decode(trace["x"]), decode(trace["y"]), trace


class TestFigures:
    def test_accuracy_draws_means_intervals_draws_and_the_majority(self, last):
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

    def test_no_bar_rises_above_100_percent(self, last):
        comparison = made_up(last, reference=1.0, tight=[1.0, 0.95, 1.0, 1.0, 1.0])
        _, y, trace = drawn(training.accuracy(comparison), "Algorithm 1 tight")
        assert comparison.accuracy(TIGHT).high > 1
        assert y[0] + decode(trace["error_y"]["array"])[0] == pytest.approx(1.0)
        assert y[0] - decode(trace["error_y"]["arrayminus"])[0] == pytest.approx(comparison.accuracy(TIGHT).low)

    @pytest.mark.parametrize("draw", DRAWINGS)
    @pytest.mark.parametrize("stand_in_for", [None, "adult"])
    def test_pictures_csv_and_svg_name_their_data_and_say_if_it_stands_in(self, last, draw, stand_in_for):
        label = "breast-cancer" if stand_in_for is None else "adult-synthetic (stand-in for adult)"
        data = replace(last.data, label=label, stand_in_for=stand_in_for)
        picture = draw(replace(last, data=data))
        assert f"on {label}" in picture.figure.layout.xaxis.title.text.replace("<br>", " ")
        assert f"on {label}" in picture.alt
        svg = ET.fromstring(to_svg(picture.figure, title=picture.alt))
        name = "{http://www.w3.org/2000/svg}"
        assert label in svg.find(f"{name}title").text
        assert any(label in "".join(element.itertext()) for element in svg.iter(f"{name}text"))  # on the picture
        numbers = picture.numbers()
        assert numbers.columns[0] == "data_set"
        assert set(numbers["data_set"]) == {label}
        assert set(numbers["split_seed"]) == {1}

    def test_close_up_leaves_the_majority_class_out_of_the_axis(self, last):
        far, near = (training.accuracy(last, close_up=close).figure.layout.yaxis.range for close in (False, True))
        assert far[0] < last.baseline < near[0]

    def test_everything_plotted_lies_within_the_axes(self, last):
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

    def test_ghosts_are_the_previous_run_on_the_same_data_only(self, last):
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

    @pytest.mark.parametrize("draw", DRAWINGS)
    def test_stale_results_are_faint(self, last, draw):
        clear, faint = draw(last), draw(last, stale=True)
        for a, b in zip(clear.figure.data, faint.figure.data, strict=True):
            assert b.opacity == pytest.approx(GHOST_OPACITY * (a.opacity or 1.0))

    def test_roc(self, last):
        picture = training.roc(last)
        x, y, trace = drawn(picture, "Algorithm 1 tight")
        np.testing.assert_array_equal(x, ROC_GRID)
        np.testing.assert_array_equal(y, last.roc(TIGHT))
        assert f"AUC {last.auc(TIGHT).mean:.3f}" in trace["name"]
        numbers = picture.numbers()
        np.testing.assert_array_equal(numbers[f"true_positive_rate, {TIGHT}"], last.roc(TIGHT))
        assert tuple(training.roc(last, corner=True).figure.layout.xaxis.range) == (0.0, 0.3)

    def test_coefficients(self, last):
        picture = training.coefficients(last, small=True)
        chosen = last.largest_coefficients(training.FEW)
        x, y, _ = drawn(picture, "Algorithm 1 tight")
        np.testing.assert_allclose(x, np.mean([fit.coef[chosen] for fit in last.of(TIGHT)], axis=0))
        np.testing.assert_allclose(y, np.arange(training.FEW) + 0.25)
        numbers = picture.numbers()
        assert list(numbers["feature"]) == [last.data.feature_names[column] for column in chosen]
        assert (numbers[f"{TIGHT}, least"] <= numbers[f"{TIGHT}, mean"]).all()
        assert "non-private coefficients" in picture.alt

    def test_long_names_keep_the_end_that_tells_them_apart(self):
        ends = ("civ-spouse", "AF-spouse", "spouse-absent")
        short = [training._short(f"marital-status=Married-{end}") for end in ends]
        assert len(set(short)) == 3
        assert max(map(len, short)) <= 30
        assert training._short("age") == "age"

    def test_gradient_norms(self, last):
        picture = training.gradient_norms(last)
        _, y, _ = drawn(picture, "Algorithm 1 tight")
        np.testing.assert_array_equal(y, last.of(TIGHT)[0].gradient_norms)
        tau = drawn(picture, "τ = 0.01 (Algorithm 1 published)")[1]
        assert set(tau) == {0.01}
        numbers = picture.numbers()
        assert len(numbers) == sum(len(fit.gradient_norms) for fit in last.fits)
        ends = numbers.groupby(["method", "noise_seed"]).last()
        assert (ends["gradient_norm"] <= ends["tau"]).all()

    @pytest.mark.slow
    def test_every_stage_of_a_run_can_be_drawn_and_saved(self, steps):
        for step in steps[1:]:
            for draw in DRAWINGS:
                picture = draw(step)
                ET.fromstring(to_svg(picture.figure, title=picture.alt))
                assert picture.alt
                picture.numbers()

    def test_a_gradient_of_exactly_zero_does_not_break_the_log_axis(self, last):
        fits = [replace(fit, gradient_norms=(*fit.gradient_norms, 0.0)) for fit in last.fits if fit.privacy]
        low, high = training.gradient_norms(replace(last, fits=tuple(fits))).figure.layout.yaxis.range
        assert np.isfinite([low, high]).all()
        assert low < high


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


def test_request_works_in_a_plain_loop_without_threads():
    *_, last = Request("breast-cancer", 1, Settings(repeats=2)).work(lambda: False)
    assert last.complete
    assert last.data.split_seed == 1


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


class TestAnyMethods:
    @pytest.mark.slow
    @pytest.mark.parametrize("methods", SUBSETS)
    @pytest.mark.parametrize("draw", DRAWINGS)
    def test_every_picture_shows_the_methods_chosen_and_no_other(self, everything, methods, draw):
        picture = draw(only(everything, *methods))
        ET.fromstring(to_svg(picture.figure, title=picture.alt))
        picture.numbers()
        roles = {trace["meta"]["role"] for trace in picture.figure.to_plotly_json()["data"]} - {"guide"}
        drawn_ones = set(methods)
        if draw is training.gradient_norms:
            drawn_ones -= {NON_PRIVATE, *SGD}  # nothing to reach
        assert roles == {of_learner(method) for method in drawn_ones}

    @pytest.mark.slow
    @pytest.mark.parametrize("methods", SUBSETS)
    def test_words_and_table_are_about_the_methods_chosen(self, everything, methods):
        comparison = only(everything, *methods)
        words = f"{text.headline(comparison)} {text.promise(comparison)}"
        if main := comparison.settings.main:
            assert (text.LABELS[main] in words) == (main != TIGHT)
            assert ("covers one run, not the choice" in words) == (main == DISHONEST)
        rows = tables.table(comparison)
        assert list(rows[0])[1:-1] == [text.LABELS[method] for method in comparison.settings.methods]
        assert ("one run, not the choice" in str(rows)) == (DISHONEST in methods)
        assert all(any(value != "–" for value in list(row.values())[1:]) for row in rows)

    @pytest.mark.slow
    def test_each_certificate_has_its_own_rows(self, everything):
        by_name = {row["breast-cancer"]: row for row in tables.table(everything)}
        privacy = {method: everything.of(method)[0].privacy for method in LEARNERS}
        assert by_name["noise multiplier"]["DP-SGD paid"] == f"{privacy[HONEST].noise_multiplier:.4g}"
        assert by_name["noise multiplier"]["Algorithm 1 tight"] == by_name["σ"]["DP-SGD paid"] == "–"
        assert by_name["steps"]["DP-SGD unpaid"] == str(privacy[DISHONEST].steps)
        assert (by_name["mean runs μ"]["DP-SGD paid"], by_name["mean runs μ"]["DP-SGD unpaid"]) == ("3", "–")
        assert by_name["sensitivity"]["output perturbation"] == f"{privacy[OUTPUT].sensitivity:.4g}"
        assert (by_name["loss"]["SVM"], by_name["gradients clipped at"]["SVM"]) == ("squared-hinge", "1")
        assert by_name["gradients clipped at"]["Algorithm 1 tight"] == "–"
        rates = [fit.learning_rate for fit in everything.of(DISHONEST)]
        assert by_name["learning rates chosen"]["DP-SGD unpaid"] == times(rates)
        assert times([0.1, 1e-8, 0.1]) == "10⁻⁸, 0.1 (2 times)"
        runs = sorted({fit.runs for fit in everything.of(HONEST)})
        assert by_name["runs K of a draw"]["DP-SGD paid"] == " to ".join(str(k) for k in runs)

    @pytest.mark.thorough
    def test_the_csv_keeps_what_each_certificate_says(self, everything):
        frame = tables.frame(everything).set_index(["method", "noise_seed"])
        for fit in everything.fits[1:]:
            row = frame.loc[(fit.method, fit.seed)]
            names = ("sigma", "lam", "noise_multiplier", "sample_rate", "steps", "sensitivity", "tuning", "loss")
            for name in names:
                value = getattr(fit.privacy, name, None)
                assert row[name] == value if value is not None else row.isna()[name]
            if not fit.gradient_norms:
                assert (row["runs"], row["learning_rate"]) == (fit.runs, fit.learning_rate)

    @pytest.mark.thorough
    def test_the_snippet_gives_every_methods_numbers(self, everything):
        names, _ = execute(tables.snippet(everything.data, tables.reproducible(everything)))
        for method in everything.settings.private:
            assert names[method.replace("-", "_")] == [fit.accuracy for fit in everything.of(method)]

    @pytest.mark.thorough
    def test_the_snippet_of_a_stopped_run_repeats_what_was_fitted(self, everything):
        assert tables.reproducible(replace(everything, fits=everything.fits[:1])) is None
        short = tables.reproducible(replace(everything, fits=everything.fits[:4]))  # two draws of one, one of another
        assert (short.methods, short.repeats) == ((NON_PRIVATE, PUBLISHED, TIGHT), 1)
        first = tables.reproducible(replace(everything, fits=everything.fits[:2]))
        assert (first.methods, first.repeats) == ((NON_PRIVATE, PUBLISHED), 1)
        code = tables.snippet(everything.data, replace(first, methods=(NON_PRIVATE,)))
        assert "objpert_core.estimators" not in code
        compile(code, "snippet", "exec")

    @pytest.mark.parametrize("learner", [name for name in LEARNERS if name != NON_PRIVATE])
    def test_headline_names_the_method_unless_it_is_tight_and_stays_short(self, everything, learner):
        data = replace(everything.data, label="adult-synthetic (stand-in for adult)")
        for methods in {(NON_PRIVATE, learner), (learner,)}:
            for accuracy in (0.7, 0.8, 0.85, 0.851, 0.86):
                fits = [replace(everything.of(m)[0], accuracy=0.85) for m in set(methods) - {learner}]
                fits += [replace(everything.of(learner)[0], accuracy=accuracy)] * 5
                comparison = replace(only(everything, *methods), data=data, fits=tuple(fits), baseline=0.75)
                words = text.headline(comparison)
                assert words_of(words) <= 18
                assert learner == TIGHT or text.LABELS[learner] in words

    def test_ghosts_are_of_the_methods_that_both_runs_have(self, everything):
        before = only(everything, NON_PRIVATE, OUTPUT)
        after = only(everything, OUTPUT, HONEST)
        traces = training.accuracy(after, before).figure.to_plotly_json()["data"]
        assert [t["meta"]["role"] for t in traces if t["meta"]["ghost"]] == ["output"]

    def test_what_no_method_depends_on_does_not_decide_a_request(self):
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

    def test_parts_together_are_the_comparison(self):
        request = Request("breast-cancer", 1, Settings(repeats=3))
        parts = [part.result() for part in request.at_once]
        whole = request.result()
        joined = together(request.settings, parts)
        made, expected = ([(fit.method, fit.seed, fit.accuracy) for fit in one.fits] for one in (joined, whole))
        assert made == expected
        assert joined.complete

    def test_dp_sgd_says_where_the_strongest_one_is(self):
        assert text.which_dp_sgd(Settings()) == (
            "DP-SGD here: 256 rows per batch, 20 epochs, five learning rates; Accuracy has the strongest one (4,096 "
            "rows per batch, 60 epochs, 25 rates)."
        )
        both = Settings(methods=(TIGHT, "dpsgd-standardised"))
        assert "five learning rates (on standardised rows 4,096 per batch, six rates); " in text.which_dp_sgd(both)
        strong = Settings(batch_size=4096, epochs=60, learning_rates=GRIDS["fine"])
        assert text.which_dp_sgd(strong) == "DP-SGD here: 4,096 rows per batch, 60 epochs, 25 learning rates."

    def test_progress_says_where_a_long_fit_is(self, everything):
        view = job_view("running", replace(everything, fits=everything.fits[:3]))
        meter = Meter()
        assert text.progress(view, meter)[1] == f"3 of {everything.settings.fits} models, 1 s"
        for step in (1, 2, 3, 1, 2):
            meter.tell(HONEST, (step, 0.5))
        assert text.progress(view, meter)[1].endswith("1 s; DP-SGD paid: run 2, step 2")
        meter.tell(DISHONEST, (1200, 0.5))
        assert text.progress(view, meter)[1].endswith("; DP-SGD unpaid: step 1,200")
        meter.tell(TIGHT, (3, 0.5))  # over before anybody can read it
        assert text.progress(view, meter)[1].endswith("1 s")
        meter.next_fit()
        assert meter.now is None

    def test_the_invitation_counts_what_will_be_trained(self):
        words = text.invitation(Request("breast-cancer", 0, Settings(methods=(DISHONEST, HONEST), repeats=2)))
        assert words == "Run trains four models: DP-SGD unpaid, DP-SGD paid."

    def test_a_longer_run_is_said_to_take_longer_before_it_is_started(self, monkeypatch):
        monkeypatch.setattr(duration, "_unit", lambda: 2e-4)
        asked = Settings(methods=(HONEST,), repeats=2, batch_size=32)
        took = [duration.seconds(Request("breast-cancer", 0, replace(asked, **more))) for more in MORE_WORK]
        assert sorted(took) == took
        assert took[1] == pytest.approx(2 * took[0])
        monkeypatch.setattr(duration, "seconds", lambda request: float(request.split_seed))
        said = {rough: text.estimate(Request("breast-cancer", rough, asked)) for rough in (1, 7, 36, 165)}
        assert said[1] == "Two models: a moment, longer while other people train."
        assert [said[rough].split(": ")[1].split(",")[0] for rough in (7, 36, 165)] == [
            "about 7 seconds",
            "about 40 seconds",
            "about 3 minutes",
        ]

    def test_a_run_under_way_is_named_by_its_setting(self):
        before, now = (Request("adult", 0, Settings(epsilon=epsilon)) for epsilon in (1.0, 2.0))
        words = text.differences(before, now, under_way=True)
        assert words.startswith("The run under way is for ε = 1 (now 2). Press Run")

    def test_dp_sgds_schedule_in_words(self):
        tells(text.schedule(20, GRIDS["five"], 15.4), "all 5 learning rates at once", "about 15.4 times 20 passes")
        assert "nothing to choose" in text.schedule(1, GRIDS["one"], 15.4)
        assert grid(GRIDS["paper"]) == "10⁻⁸ to 0.1 (10)"

    def test_every_method_has_a_look_and_an_accountant_of_its_own(self):
        looks = [ROLES[of_learner(name)] for name in LEARNERS]
        assert len({look.color for look in looks}) == len({(look.dash, look.symbol) for look in looks}) == len(LEARNERS)
        assert len({text.LABELS[name] for name in LEARNERS}) == len(LEARNERS)

    def test_the_page_opens_with_the_comparisons_own_defaults(self):
        assert training_controls.LEARNED.default == METHODS
        asked = Settings()
        assert training_controls.BATCH.default == asked.batch_size
        assert training_controls.EPOCHS.default == asked.epochs
        assert training_controls.SOLVER.default == asked.solver
        assert training_controls.MEAN_RUNS.default == asked.mean_runs
        assert GRIDS[training_controls.RATES.default] == asked.learning_rates


@pytest.fixture(scope="module")
def digits():
    """Ten classes: without privacy, published and tight, two draws each."""
    *_, last = compare(load("digits"), Settings(epsilon=2.0, repeats=2))
    return last


class TestManyClasses:
    @pytest.mark.thorough
    def test_the_words_are_about_ten_classes_and_stay_short(self, digits):
        assert re.match(r"At ε = 2 privacy costs \d+\.\d\d points in two draws", text.headline(digits))
        rows = {row["digits"]: row for row in tables.table(digits)}
        assert rows["fits, one for each class"]["Algorithm 1 tight"] == "10"
        assert "each class against the rest" in training.roc(digits).alt
        assert text.promise(digits).startswith("Worst case over all people and data: ε = 2")

    @pytest.mark.thorough
    def test_every_picture_of_ten_classes_can_be_drawn_and_saved(self, digits):
        for picture in (draw(digits) for draw in DRAWINGS):
            ET.fromstring(to_svg(picture.figure, title=picture.alt))
            assert "digits" in picture.alt
            assert set(picture.numbers()["data_set"]) == {"digits"}

    @pytest.mark.thorough
    def test_coefficients_are_images_of_the_reference_and_of_one_private_draw(self, digits):
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

    def test_methods_of_two_classes_are_left_out(self):
        assert jobs.able_to_learn("digits", (NON_PRIVATE, TIGHT, SVC)) == (NON_PRIVATE, TIGHT)
        assert jobs.able_to_learn("breast-cancer", (NON_PRIVATE, TIGHT, SVC)) == (NON_PRIVATE, TIGHT, SVC)
        assert text.two_classes_only([SVC], "digits") == "Left out on digits: SVM (two classes only)."
        assert text.two_classes_only([SVC, OUTPUT], "digits").endswith(" (two classes only).")

    @pytest.mark.thorough
    def test_the_snippet_gives_the_numbers_on_the_screen(self, digits):
        names, _ = execute(tables.snippet(digits.data, digits.settings))
        for method in (PUBLISHED, TIGHT):
            assert names[method] == [fit.accuracy for fit in digits.of(method)]


class TestStandardised:
    def test_the_certificate_shows_the_steps_and_what_is_left(self, last):
        privacy = last.of(TIGHT)[0].privacy
        rows = {row["Algorithm 1 tight"]: row["now"] for row in tables.certificates(last, None)}
        assert privacy.center_noise
        assert rows["σ of the centre"] == f"{privacy.center_noise:.4g}"
        assert 0 < float(rows[tables.ALONE]) < privacy.epsilon
        assert rows[tables.ALONE] == sentences.epsilon(privacy.rebuild().epsilon(privacy.delta))

    def test_the_accountant_names_what_was_released_before(self, last):
        settings, privacy = last.settings, last.of(TIGHT)[0].privacy
        fit = "the privacy profile of our theorem"
        assert promises.accountant(settings, TIGHT) == f"{fit} beside the noisy centre and scales"
        before = {(9.0, 9.0): " beside the noisy centre and scales", (9.0, None): " beside the noisy centre"}
        for (center, scale), words in (before | {(None, None): ""}).items():
            released = replace(privacy, center_noise=center, scale_noise=scale)
            assert promises.accountant(settings, TIGHT, released) == fit + words
        assert "our theorem, one-signed slope" in promises.accountant(replace(settings, bound="monotone"), TIGHT)

    @pytest.mark.thorough
    def test_the_chains_snippet_gives_the_waterfall(self):
        settings = Settings(epsilon=1.0, repeats=2, seed=4, methods=tuple(waterfall.CHAIN))
        *_, shown = compare(load("breast-cancer", split_seed=1), settings)
        names, _ = execute(tables.chain_snippet(shown.data, settings))
        assert names["found"] == waterfall.of_comparison(shown)

    def test_a_learner_whose_label_another_one_has_is_told_apart(self):
        assert text.LABELS["dpsgd-dishonest-pld"] == "DP-SGD unpaid"
        assert text.LABELS["dpsgd-standardised"] == "DP-SGD unpaid (standardised)"
