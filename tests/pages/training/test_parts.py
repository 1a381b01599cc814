"""The training page's words, tables, figures and snippet."""

import contextlib
import io
import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest

from objpert_core.accounting import calibrate_gaussian
from objpert_core.datasets import load
from objpert_core.experiments.compare import (
    METHODS,
    NON_PRIVATE,
    PUBLISHED,
    ROC_GRID,
    TIGHT,
    Comparison,
    Fit,
    Settings,
    compare,
)
from objpert_core.experiments.facts import DataFacts
from objpert_core.experiments.learners import DISHONEST_PLD as DISHONEST
from objpert_core.experiments.learners import HONEST, KIFER, OUTPUT, ROUNDED, SVC
from objpert_core.experiments.learners import LIVE as LEARNERS
from pages.training import charts as training
from pages.training import controls as training_controls
from pages.training import tables
from pages.training import words as text
from pages.training.jobs import Meter, Request
from ui import registry
from ui.figures import GHOST_OPACITY, ROLES, of_learner
from ui.jobs import JobView
from ui.svg import decode, to_svg
from ui.words import GRIDS, first_sentence, grid, times

DRAWINGS = [training.accuracy, training.roc, training.coefficients, training.gradient_norms]


@pytest.fixture(scope="module")
def steps():
    return list(compare(load("breast-cancer", split_seed=1), Settings(epsilon=1.0, repeats=3)))


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


class TestWords:
    @pytest.mark.parametrize(
        ("accuracies", "expected"),
        [
            (
                {"reference": 0.8496, "tight": [0.8402, 0.8398]},
                "At ε = 1 privacy costs 1.0 points of accuracy (± 0.3): 84.00 % instead of 84.96 %.",
            ),
            (  # twice rounded, 85.0 - 84.0, this would be a whole point
                {"reference": 0.8496, "tight": 0.8404},
                "At ε = 1 privacy costs 0.9 points of accuracy (one draw): 84.04 % instead of 84.96 %.",
            ),
            (
                {"reference": 0.8400, "tight": 0.8396},
                "At ε = 1 privacy costs nothing that shows (below 0.05 points): 83.96 % with and 84.00 % without it.",
            ),
            (
                {"reference": 0.8400, "tight": 0.8450},
                "At ε = 1 the private model does 0.5 points better than the one without privacy (one draw): 84.50 % "
                "and 84.00 %; more regularisation helps here.",
            ),
            (
                {"reference": 0.8450, "tight": [0.82, 0.85]},
                "At ε = 1 the cost of privacy cannot be told from 0 with two draws (+1.00 points, 95 % interval "
                "−18.06 to +20.06): 83.50 % with and 84.50 % without it.",
            ),
            ({"reference": 0.84}, "Without privacy: 84.00 % right. No tight private model was trained."),
            ({}, "Nothing was trained."),
        ],
    )
    def test_headline(self, last, accuracies, expected):
        assert text.headline(made_up(last, **accuracies)) == expected

    def test_headline_says_when_nothing_is_learned(self, last):
        words = text.headline(made_up(last, epsilon=0.01, reference=0.85, tight=[0.6, 0.7]))
        assert words.startswith("At ε = 0.01 nothing useful is learned: 65.00 % right, where always answering “benign”")
        assert words.endswith("75.00 %.")

    def test_headline_while_more_is_to_come(self, last):
        words = text.headline(made_up(last, reference=0.84), finished=False)
        assert words.endswith("The private models come next …")
        assert text.headline(made_up(last), finished=False).startswith("Training without privacy")

    def test_headline_agrees_with_the_unrounded_numbers_and_with_the_table(self, last):
        rng = np.random.default_rng(0)
        for reference, private in rng.uniform(0.8, 0.9, (200, 2)):
            comparison = made_up(last, reference=reference, tight=private)
            lost = 100 * (reference - private)
            assert text.cost(comparison) == pytest.approx(lost, abs=1e-8)
            words, row = text.headline(comparison), tables.table(comparison)[0]
            assert f"{abs(lost):.1f} points" in words or "nothing that shows" in words
            assert row["Algorithm 1 tight"] in words
            assert row["no privacy"] in words

    def test_details_name_everything_a_promise_needs(self, last):
        words = " ".join(text.details(last))
        for part in ("three noise draws", "95 % interval", "breast-cancer", "2.72 : 1", "δ = 10⁻⁵", "add or remove"):
            assert part in words
        assert "privacy profile of the tight logistic bound" in words
        assert "Rényi" in words
        assert text.details(made_up(last, reference=0.8)) == []

    @pytest.mark.parametrize(
        ("published", "part"),
        [
            (0.83, "reaches 83.00 %: 1.0 points less in one draw."),
            (0.85, "reaches 85.00 %: 1.0 points more in one draw, although its σ is larger (5.06 against 3.9"),
            (0.8403, "reaches 84.03 %: no difference that shows."),
        ],
    )
    def test_details_compare_with_the_published_calibration_honestly(self, last, published, part):
        assert part in text.details(made_up(last, tight=0.84, published=published))[0]

    @pytest.mark.parametrize(
        ("published", "part"),
        [
            ([0.831, 0.829], "reaches 83.00 %: 1.0 points less, 95 % interval −"),
            ([0.82, 0.84], "reaches 83.00 %: not told apart: −1.00 points, 95 % interval −13.71 to +11.71."),
            ([0.86, 0.82], "reaches 84.00 %: not told apart: +0.00 points, 95 % interval "),
        ],
    )
    def test_differences_have_an_interval_or_are_not_told_apart(self, last, published, part):
        narrow = [0.8405, 0.8395] if "points less" in part else [0.84, 0.84]
        assert part in text.details(made_up(last, tight=narrow, published=published))[0]

    def test_a_stopped_run_says_over_which_draws(self, last):
        words = text.details(made_up(last, tight=[0.84, 0.84], published=[0.83, 0.83, 0.5]))[0]
        assert words.endswith("1.0 points less in each of two draws, first two draws of both.")
        words = text.details(made_up(last, tight=[0.84, 0.83], published=[0.84, 0.83]))[0]
        assert words.endswith("reaches 83.50 %: the same in each of two draws.")

    def test_a_larger_noise_is_said_of_the_published_calibration_only_where_it_has_one(self, last):
        comparison = made_up(last, tight=0.84, published=0.85)
        fits = [
            replace(fit, privacy=replace(fit.privacy, sigma=9.0)) if fit.method == TIGHT else fit
            for fit in comparison.fits
        ]
        assert text.details(replace(comparison, fits=tuple(fits)))[0].endswith("1.0 points more in one draw.")

    def test_one_draw_has_no_interval(self, last):
        comparison = made_up(last, tight=0.84)
        assert "; one draw, no interval." in text.details(comparison)[0]
        assert text.interval(comparison.accuracy(TIGHT)) == "one draw, no interval"

    def test_intervals_stay_between_0_and_100_and_two_draws_are_too_few(self, last):
        assert text.interval(made_up(last, tight=[1.0, 0.9, 1.0]).accuracy(TIGHT)).endswith("to 100.00 %")
        two = made_up(last, tight=[1.0, 0.9])
        assert text.interval(two.accuracy(TIGHT)) == "two draws, too few for an interval"
        assert "; two draws, too few for an interval." in text.details(two)[0]

    def test_caveats_name_the_interval_and_what_is_outside_the_guarantee(self, last):
        words = text.caveats(last)
        for part in ("Student", "split seed 1 only", "114 held-out rows", "outside the guarantee", "C = 100"):
            assert part in words

    def test_the_test_rows_leave_doubt_also_where_all_were_right(self, last):
        assert "it lies between 96.7 and 100.0 % (Wilson, 95 %)" in text.caveats(made_up(last, reference=1.0))
        assert "of the majority class alone" in text.caveats(made_up(last))

    def test_the_paper_is_quoted_for_its_own_settings_only(self, last):
        assert text.paper(last) is None
        adult = replace(last, data=replace(last.data, name="adult"))
        assert "83.18 %" in text.paper(adult)
        assert text.paper(replace(adult, settings=replace(adult.settings, epsilon=2.0))) is None
        assert text.paper(replace(adult, settings=replace(adult.settings, delta=1e-6))) is None

    @pytest.mark.parametrize(
        ("private", "guess"),
        [
            *((0.85, 0), (0.80, 0), (0.7996, 0), (0.7995, 1), (0.795, 1), (0.79, 1), (0.7899, 2), (0.78, 2)),
            *((0.77, 2), (0.7699, 3), (0.76, 3)),  # judged before rounding: 3.01 points are more than 3
        ],
    )
    def test_verdict(self, last, private, guess):
        assert text.verdict(made_up(last, reference=0.8, tight=private)) == text.GUESSES[guess]
        assert text.verdict(made_up(last, reference=0.8)) is None

    def test_the_buttons_say_what_they_run(self):
        assert text.preset_name(0.1, "adult") == "Table 2 (Adult)  ε = 0.1"
        assert text.preset_note("adult", False) is None
        name = text.preset_name(8.0, "adult-synthetic")
        assert "not Adult" in name
        assert "adult-synthetic" in name
        assert "not on this server" in text.preset_note("adult-synthetic", False)
        assert "damaged" in text.preset_note("adult-synthetic", True)

    def test_differences_name_what_moved_and_only_that(self):
        shown = Request("adult", 0, Settings(epsilon=1.0))
        assert text.differences(shown, Request("adult", 0, Settings(epsilon=1.0))) is None
        words = text.differences(shown, Request("adult", 3, Settings(epsilon=2.0)))
        assert words.startswith("These results are for split seed = 0 (now 3), ε = 1 (now 2). Press Run")
        assert "data set = adult (now breast-cancer)" in text.differences(
            shown, Request("breast-cancer", 0, Settings())
        )
        for change in ({"delta": 1e-6}, {"bound": "glm"}, {"repeats": 2}, {"intercept_scaling": 1.0}, {"seed": 5}):
            assert text.differences(shown, Request("adult", 0, Settings(**change))) is not None

    def test_progress(self, steps):
        def at(state, latest=None, **more):
            return JobView(state, latest, None, more.get("ahead", 0), more.get("stopping", False), 1.25)

        assert text.progress(at("waiting", ahead=2)) == (0.0, "Waiting for a free slot (2 ahead of you).")
        assert text.progress(at("running")) == (0.0, "Loading the data …")
        assert text.progress(at("running", steps[3])) == (3 / 7, "3 of 7 models fitted, 1.2 s")
        assert text.progress(at("running", steps[3], stopping=True)) == (3 / 7, "Stopping …")

    def test_outcome(self, steps):
        def at(state, latest=None, message=None):
            return text.outcome(JobView(state, latest, message, 0, False, 1.0))

        assert at("finished", steps[-1]) is None
        assert at("stopped", steps[3]).startswith("Stopped after 3 of 7 models")
        assert at("stopped").startswith("Stopped before the first model")
        assert at("stopped", steps[0]).startswith("Stopped before the first model")
        assert at("failed", None, "it broke") == "It broke."
        assert at("failed", steps[2], "it broke") == "It broke. The 2 models fitted before are shown."

    def test_a_stand_in_says_so_in_its_first_sentence(self):
        from objpert_core.datasets import describe

        assert first_sentence(describe("adult-synthetic")) == "Stand-in for adult, not the real data."


class TestTables:
    def test_one_column_a_method_and_the_majority_the_most_important_first(self, last):
        rows = tables.table(last)
        assert all(
            list(row)
            == ["breast-cancer", "no privacy", "Algorithm 1 published", "Algorithm 1 tight", "always “benign”"]
            for row in rows
        )
        by_name = {row["breast-cancer"]: row for row in rows}
        assert list(by_name)[:4] == ["test accuracy", "95 % interval", "σ", "λ"]
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
        assert list(tight["noise_seed"]) == [0, 1, 2]
        assert set(tight["sigma"]) == {last.of(TIGHT)[0].privacy.sigma}
        assert list(tight["iterations"]) == [len(fit.gradient_norms) - 1 for fit in last.of(TIGHT)]

    @pytest.mark.slow
    @pytest.mark.parametrize("name", ["breast-cancer", "digits-4-9"])
    def test_the_snippet_gives_the_numbers_on_the_screen(self, name):
        settings = Settings(epsilon=0.7, delta=1e-4, bound="monotone", repeats=2, intercept_scaling=0.5, seed=4)
        *_, shown = compare(load(name, split_seed=2), settings)
        code = tables.snippet(name, 2, settings, shown.data.columns)
        names, out = {}, io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(code, "snippet", "exec"), names)
        assert names["non_private"] == shown.fits[0].accuracy
        assert names["published"] == [fit.accuracy for fit in shown.of(PUBLISHED)]
        assert names["tight"] == [fit.accuracy for fit in shown.of(TIGHT)]
        label, numbers, *_ = out.getvalue().splitlines()
        assert label == shown.data.label
        printed = [float(word) for word in numbers.split()]
        assert printed == pytest.approx([shown.accuracy(method).mean for method in METHODS], rel=1e-12)
        assert "(0.7, 0.0001)-differential privacy" in out.getvalue()
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
        comparison = made_up(last, reference=1.0, tight=[1.0, 0.95, 1.0])
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
        picture = training.coefficients(last, count=6)
        chosen = last.largest_coefficients(6)
        x, y, _ = drawn(picture, "Algorithm 1 tight")
        np.testing.assert_allclose(x, np.mean([fit.coef[chosen] for fit in last.of(TIGHT)], axis=0))
        np.testing.assert_allclose(y, np.arange(6) + 0.25)
        numbers = picture.numbers()
        assert list(numbers["feature"]) == [last.data.feature_names[column] for column in chosen]
        assert (numbers[f"{TIGHT}, least"] <= numbers[f"{TIGHT}, mean"]).all()
        assert "non-private coefficients" in picture.alt

    def test_long_names_keep_the_end_that_tells_them_apart(self):
        short = [
            training._short(f"marital-status=Married-{end}") for end in ("civ-spouse", "AF-spouse", "spouse-absent")
        ]
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
        fits = tuple(
            replace(fit, gradient_norms=(*fit.gradient_norms, 0.0)) if fit.privacy else fit for fit in last.fits
        )
        low, high = training.gradient_norms(replace(last, fits=fits)).figure.layout.yaxis.range
        assert np.isfinite([low, high]).all()
        assert low < high


def test_the_explanation_quotes_the_calibrations_own_numbers():
    data = load("digits-4-9")
    explanation = registry.entry("training").about
    for method in (PUBLISHED, TIGHT):
        model = Settings(epsilon=1.0, delta=1e-5, bound="logistic", intercept_scaling=0.3).estimator(method, 0)
        model.set_params(lam=0.0)  # the least that privacy allows, as on Adult
        privacy = model.fit(data.X_train, data.y_train).privacy_
        for value in (privacy.sigma, privacy.lam, privacy.radius):
            assert f"{value:.2f}" in explanation
    ratio = privacy.sigma / privacy.radius / calibrate_gaussian(1.0, 1e-5).sigma
    assert rf"${ratio:.3g}\,\sigma_{{\text{{Gauss}}}}$" in explanation


def test_request_works_in_a_plain_loop_without_threads():
    request = Request("breast-cancer", 1, Settings(repeats=2))
    *_, last = request.work(lambda: False)
    assert isinstance(last, Comparison)
    assert last.complete
    assert all(isinstance(fit, Fit) for fit in last.fits)
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


SUBSETS = [
    tuple(LEARNERS),
    (NON_PRIVATE,),
    (OUTPUT,),
    (KIFER, HONEST),
    (NON_PRIVATE, DISHONEST),
    (PUBLISHED, SVC, ROUNDED),
]


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
            drawn_ones -= {NON_PRIVATE, DISHONEST, HONEST}  # nothing to reach
        assert roles == {of_learner(method) for method in drawn_ones}

    @pytest.mark.slow
    @pytest.mark.parametrize("methods", SUBSETS)
    def test_words_and_table_are_about_the_methods_chosen(self, everything, methods):
        comparison = only(everything, *methods)
        main = comparison.settings.main

        def order(method):  # the one that the sentences are about comes first
            return method != main, list(LEARNERS).index(method)

        words = " ".join([text.headline(comparison), *text.details(comparison), text.caveats(comparison)])
        for method in comparison.settings.private:
            assert text.accuracy(comparison.accuracy(method).mean) in words
        assert ("“No privacy” is scikit-learn's" in words) == (NON_PRIVATE in methods)
        assert ("covers one run, not what was released" in words) == (DISHONEST in methods)
        public = [m for m in methods if getattr(comparison.of(m)[0].privacy, "public_rows", None) is not None]
        labels = {
            part for part in re.findall(r"taken as public by: (.*?)\.(?: |$)", words) for part in part.split(", ")
        }
        assert labels == {text.LABELS[m] for m in public}
        assert {OUTPUT, DISHONEST, HONEST} & set(methods) <= set(public)
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

    def test_the_snippet_gives_every_methods_numbers(self, everything):
        code = tables.snippet("breast-cancer", 1, tables.reproducible(everything), everything.data.columns)
        names = {}
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(code, "snippet", "exec"), names)
        for method in everything.settings.private:
            assert names[method.replace("-", "_")] == [fit.accuracy for fit in everything.of(method)]

    def test_the_snippet_of_a_stopped_run_repeats_what_was_fitted(self, everything):
        assert tables.reproducible(replace(everything, fits=everything.fits[:1])) is None
        short = tables.reproducible(replace(everything, fits=everything.fits[:10]))  # two draws of two, one of others
        assert (short.methods, short.repeats) == (tuple(LEARNERS), 1)
        first = tables.reproducible(replace(everything, fits=everything.fits[:2]))
        assert (first.methods, first.repeats) == ((NON_PRIVATE, PUBLISHED), 1)
        code = tables.snippet("breast-cancer", 1, replace(first, methods=(NON_PRIVATE,)), 30)
        assert "objpert_core.estimators" not in code
        compile(code, "snippet", "exec")

    @pytest.mark.parametrize(
        ("methods", "accuracies", "expected"),
        [
            (
                (NON_PRIVATE, OUTPUT),
                (0.85, 0.84),
                "At ε = 1 privacy (output perturbation) costs 1.0 points of accuracy (one draw): 84.00 % instead "
                "of 85.00 %.",
            ),
            (
                (NON_PRIVATE, SVC),
                (0.85, 0.86),
                "At ε = 1 the private model (support vector machine by Algorithm 1) does 1.0 points better than "
                "the one without privacy (one draw): 86.00 % and 85.00 %; another learner suits these rows better.",
            ),
            ((HONEST,), (0.84,), "At ε = 1 DP-SGD whose tuning is paid for gets 84.00 % right; nothing was trained "),
            ((NON_PRIVATE,), (0.85,), "Without privacy: 85.00 % right. No private method was chosen."),
            ((KIFER,), (0.5,), "At ε = 1 nothing useful is learned (classical objective perturbation of 2012): "),
        ],
    )
    def test_headline_names_the_method_unless_it_is_tight(self, everything, methods, accuracies, expected):
        fits = tuple(replace(everything.of(m)[0], accuracy=a) for m, a in zip(methods, accuracies, strict=True))
        comparison = replace(only(everything, *methods), fits=fits, baseline=0.75)
        assert text.headline(comparison).startswith(expected)

    def test_ghosts_are_of_the_methods_that_both_runs_have(self, everything):
        before = only(everything, NON_PRIVATE, OUTPUT)
        after = only(everything, OUTPUT, HONEST)
        traces = training.accuracy(after, before).figure.to_plotly_json()["data"]
        assert [t["meta"]["role"] for t in traces if t["meta"]["ghost"]] == ["output"]

    def test_changed_methods_are_named_and_dp_sgds_parameters_matter_with_dp_sgd_only(self):
        def moved(before, after):
            return text.differences(Request("adult", 0, Settings(**before)), Request("adult", 0, Settings(**after)))

        words = moved({}, {"methods": (NON_PRIVATE, HONEST)})
        assert "methods = no privacy, Algorithm 1 published, Algorithm 1 tight (now no privacy, DP-SGD paid)" in words
        change = {"batch_size": 64, "epochs": 3, "learning_rates": (0.1, 1.0), "mean_runs": 2.0}
        assert moved({}, change) is None
        paid = {"methods": (HONEST,)}
        words = moved(paid, paid | change)
        for part in ("batch = 256 (now 64)", "epochs = 20 (now 3)", "(now 0.1, 1)", "mean runs μ = 15.4 (now 2)"):
            assert part in words
        unpaid = {"methods": (DISHONEST,)}
        assert "mean runs" not in moved(unpaid, unpaid | change)

    def test_a_changed_solver_is_named_where_a_method_has_one(self):
        def moved(*methods):
            before, after = Settings(methods=methods), Settings(methods=methods, solver="lbfgs")
            return text.differences(Request("adult", 0, before), Request("adult", 0, after))

        assert "solver = newton (now lbfgs)" in moved(TIGHT)
        assert moved(HONEST) is None

    def test_dp_sgd_is_called_quick_unless_it_is_the_strongest(self, everything):
        words = text.details(everything)
        assert text.which_dp_sgd(everything.settings) in words
        assert not any("quick DP-SGD" in line for line in text.details(only(everything, TIGHT, OUTPUT)))
        assert text.which_dp_sgd(Settings()) == (
            "DP-SGD here: 256 rows a batch, 20 epochs, five learning rates: a quick DP-SGD; the Accuracy page has the "
            "strongest one (4,096 rows a batch, 60 epochs, 25 learning rates)."
        )
        strong = Settings(batch_size=4096, epochs=60, learning_rates=GRIDS["fine"])
        assert text.which_dp_sgd(strong) == "DP-SGD here: 4,096 rows a batch, 60 epochs, 25 learning rates."

    def test_without_files_the_invitation_does_not_ask_for_run(self):
        request = Request("gisette", 0, Settings())
        assert "press Run" in text.invitation(request, "Digits.")
        assert "Run" not in text.invitation(request, "Digits.", ready=False)

    def test_progress_says_where_a_long_fit_is(self, everything):
        view = JobView("running", replace(everything, fits=everything.fits[:3]), None, 0, False, 1.25)
        meter = Meter()
        assert text.progress(view, meter)[1] == "3 of 17 models fitted, 1.2 s"
        for step in (1, 2, 3, 1, 2):
            meter.tell(HONEST, (step, 0.5))
        assert text.progress(view, meter)[1].endswith("1.2 s; DP-SGD paid: run 2, step 2")
        meter.tell(DISHONEST, (1200, 0.5))
        assert text.progress(view, meter)[1].endswith("; DP-SGD unpaid: step 1,200")
        meter.tell(TIGHT, (3, 0.5))  # over before anybody can read it
        assert text.progress(view, meter)[1].endswith("1.2 s")
        meter.next_fit()
        assert meter.now is None

    def test_the_invitation_counts_what_will_be_trained(self):
        def words(**settings):
            return text.invitation(Request("breast-cancer", 0, Settings(**settings)), "Tumours.")

        assert "21 models are trained on breast-cancer, one without privacy and ten noise draws each of two" in words()
        assert "one model is trained on breast-cancer, one without privacy." in words(methods=(NON_PRIVATE,))
        assert "three models are trained on breast-cancer, three noise draws of one private method." in words(
            methods=(TIGHT,), repeats=3
        )

    def test_dp_sgds_schedule_in_words(self):
        assert "all 5 learning rates at once" in text.schedule(20, GRIDS["five"], 15.4)
        assert "about 15.4 times 20 passes" in text.schedule(20, GRIDS["five"], 15.4)
        assert "nothing to choose" in text.schedule(1, GRIDS["one"], 15.4)
        assert grid(GRIDS["paper"]) == "10⁻⁸ to 0.1 (10)"

    def test_every_method_has_a_look_and_an_accountant_of_its_own(self):
        looks = [ROLES[of_learner(name)] for name in LEARNERS]
        assert len({look.color for look in looks}) == len({(look.dash, look.symbol) for look in looks}) == len(LEARNERS)
        assert len({learner.label for learner in LEARNERS.values()}) == len(LEARNERS)

    def test_the_page_opens_with_the_comparisons_own_defaults(self):
        assert training_controls.LEARNED.default == METHODS
        asked = Settings()
        assert training_controls.BATCH.default == asked.batch_size
        assert training_controls.EPOCHS.default == asked.epochs
        assert training_controls.SOLVER.default == asked.solver
        assert training_controls.MEAN_RUNS.default == asked.mean_runs
        assert GRIDS[training_controls.RATES.default] == asked.learning_rates
