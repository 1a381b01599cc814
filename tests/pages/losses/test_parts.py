"""What the page Losses and clipping shows: numbers, words, charts, snippets."""

import math
from dataclasses import replace

import numpy as np
import pytest

import objpert_core.accounting as acc
from objpert_core.experiments.studies import clipping
from objpert_core.learning import ClippedLoss, HuberLoss, SquaredHingeLoss, SquaredLoss
from pages.losses import charts, snippets, words
from pages.losses import dimension as ld
from pages.losses import numbers as lc
from pages.losses import ordinary as lo
from tests.pages.apps import execute, tells
from ui import bounds, figures
from ui.svg import decode, to_svg

OPENS = lc.LossSetting("squared", 0.5, 1.0, 1.0)
HUBER = lc.LossSetting("huber", 2.0, 0.5, 1.0)
HINGE = lc.LossSetting("squared-hinge", 1, 1, 2)
PAPERS = lc.LossSetting("logistic", 0.0, 2**0.5, 2**0.5)
OUTLIERS = clipping.Setting("squared", 0.5, 0.2, 0.1, 1.0, 1e-5, 0)
LABELS = clipping.Setting("squared-hinge", 0.5, 0.5, 0.2, 1.0, 1e-5, 0)
LOGISTIC = replace(LABELS, loss="logistic", parameter=0.0)
FIGURE_1 = bounds.Setting(5.0, 20.0, 1.0, 1.0)


# --- the loss -------------------------------------------------------------------------------------------------------


def test_curves_are_the_cores_and_hold_the_kinks():
    drawn = lc.curves(OPENS, 4.0)
    assert {-1.0, 1.0, -4.0, 4.0} <= set(drawn["score"])
    np.testing.assert_array_equal(drawn["f"], SquaredLoss().value(drawn["score"], 0.0))
    np.testing.assert_array_equal(drawn["f_C"], ClippedLoss(SquaredLoss(), 1.0).value(drawn["score"], 0.0))
    np.testing.assert_allclose(drawn["f_C"], HuberLoss(1.0).value(drawn["score"], 0.0))  # the preset's name
    assert np.abs(drawn["slope_f_C"]).max() == 1.0
    assert list(lc.frame(OPENS, 4.0)) == ["score", "f", "f_C", "slope_f", "slope_f_C"]


def test_a_long_row_is_clipped_first_and_a_hinge_on_the_wrong_side_only():
    assert replace(OPENS, norm=0.5).kinks == (-2.0, 2.0)
    hinge = lc.LossSetting("squared-hinge", 0.5, 1.0, 2.0)
    assert hinge.kinks == (0.5, math.inf)
    drawn = lc.curves(hinge, 4.0)
    np.testing.assert_array_equal(drawn["f"], SquaredHingeLoss().value(drawn["score"]))


def test_the_papers_threshold_clips_nothing_on_its_longest_rows():
    assert not PAPERS.clips
    drawn = lc.curves(PAPERS, 4.0)
    np.testing.assert_array_equal(drawn["f"], drawn["f_C"])
    assert "They part" not in words.loss_alt(PAPERS, "Value")
    assert replace(PAPERS, clip=1.4).clips


@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        (OPENS, "Clipped at C = 1, the squared loss is Huber’s: a straight line beyond a residual of ±1."),
        (HUBER, "Clipped at C = 0.5, Huber’s loss is straight from a residual of ±0.5 on already."),
        (replace(HUBER, parameter=0.2), "C = 0.5 clips nothing: no gradient of Huber’s loss on this row exceeds 0.2."),
        (HINGE, "Clipped at C = 1, the squared hinge goes on straight below m = 0.5."),
        (PAPERS, "C = 1.41 clips nothing: no gradient of the logistic loss on this row exceeds 1.41."),
    ],
)
def test_the_answer_says_where_the_loss_becomes_straight(setting, sentence):
    assert words.loss_answer(setting) == sentence


def test_the_line_under_the_answer_says_what_a_proof_gets():
    cut, whole = (words.loss_proof(lc.LossSetting("logistic", 0, clip, 1)) for clip in (0.5, 9))
    assert "without a bound before, is cut off at C/‖x‖ = 1; the proofs" in words.loss_proof(OPENS)
    assert "up to 1 before, is cut off at C/‖x‖ = 0.5; the proofs" in cut
    assert whole.startswith("The proofs use the loss’s own slope, at most 1")


@pytest.mark.parametrize(("margin", "share"), [(0.0, "50 %"), (1.5, "82 %"), (5.0, "99 %")])
def test_a_margin_is_told_by_the_pull_of_a_row_at_zero(margin, share):
    setting = lc.LossSetting("logistic", margin, 1.0, 1.0)
    assert f"{100 / (1 + math.exp(-margin)):.0f} %" == share
    assert f"A row at m = 0 pulls with {share} of its largest force." in words.pull(setting)
    if margin:
        assert f"a row at m = 0 pulls with {share} of its largest force, not 50 %." in words.loss_answer(setting)
    else:
        assert "C = 1 clips nothing" in words.loss_answer(setting)


def test_a_margin_that_clipping_leaves_without_effect_at_zero_is_said_so():
    cut = lc.LossSetting("logistic", 1.5, 0.4, 1.0)
    assert words.loss_answer(cut).endswith("pulls with its full force, as without it.")
    assert "pulls with 100 %" in words.pull(replace(cut, parameter=0.0))


def test_it_says_what_a_change_does_to_privacy_and_to_the_error():
    def moved(**changes):
        return words.loss_moved(OPENS, replace(OPENS, **changes))

    assert moved(clip=0.5) == "C 1 → 0.5: for one and the same ε the noise is in proportion to C."
    assert moved(norm=2.0) == "‖x‖ 1 → 2: long rows are clipped first."
    assert moved() == moved(loss="huber") == moved(clip=2.0, norm=2.0) == words.loss_moved(None, OPENS) == ""
    plain = lc.LossSetting("logistic", 0.0, 2.0, 1.0)
    assert words.loss_moved(plain, replace(plain, clip=3.0)).endswith("where nothing is clipped, C has no effect.")
    assert words.loss_moved(plain, replace(plain, parameter=1.5)).endswith("largest force, σ, λ and ε stay.")
    assert words.fit_moved(OUTLIERS, replace(OUTLIERS, clip=1.0), 0.08, 0.3) == (
        "C 0.2 → 1: the error of private fits rises from 0.08 to 0.3; noise grows with C, and so does the pull of "
        "rows far off."
    )
    again = words.fit_moved(OUTLIERS, replace(OUTLIERS, seed=1), 0.1, 0.2)
    assert again.endswith("seed 0 → 1: the error of private fits rises from 0.1 to 0.2.")
    assert words.fit_moved(OUTLIERS, LABELS, 0.1, 0.2) == words.fit_moved(OUTLIERS, OUTLIERS, 0.1, 0.1) == ""


def test_a_margin_is_drawn_beside_k_0():
    moved, plain = lc.LossSetting("logistic", 1.5, 1.0, 1.0), lc.LossSetting("logistic", 0.0, 1.0, 1.0)
    drawn, without = lc.curves(moved, 4.0), lc.curves(plain, 4.0)
    np.testing.assert_array_equal(drawn["f_k0"], without["f"])
    np.testing.assert_array_equal(drawn["slope_f_k0"], without["slope_f"])
    assert list(lc.frame(moved, 4.0))[-2:] == ["f_k0", "slope_f_k0"]
    for make, name in ((charts.loss, "f at k = 0"), (charts.slope, "f′ at k = 0")):
        thin = next(trace for trace in make(moved, view=4.0).data if trace.name == name)
        assert thin.line.color == figures.GREY
        assert thin.line.width == 1
        assert name not in {trace.name for trace in make(plain, view=4.0).data}
    assert "A thin grey line shows k = 0: the same curve, 1.5 further to the left." in words.loss_alt(moved, "Value")
    assert "k = 0" not in words.loss_alt(plain, "Value")
    rows = lc.table_rows(moved)
    assert [row["Loss"] for row in rows] == ["f", "f, clipped at C", "f at k = 0"]
    assert [row["|f′| at m = 0"] for row in rows] == ["0.818", "0.818", "0.5"]
    assert len({(row["Largest |f′|"], row["Curvature ≤"]) for row in rows}) == 1


@pytest.mark.slow
def test_an_ordinary_row_comes_closer_to_the_certificate_that_every_margin_has():
    assert (lo.exact("agrees", 0.0), lo.exact("agrees", 1.5)) == pytest.approx((0.5017, 0.7560), abs=1e-4)
    assert lo.certified() == acc.ObjectivePerturbation(4.0, 1.0).epsilon(1e-5)
    for row in lo.ROWS:
        assert (np.diff(lo.curve(row)) > 0).all()
        assert lo.curve(row)[-1] < lo.certified()
    said = words.ordinary(1.5)
    tells(said, "ε = 0.927 at every k", "costs nothing in the worst case")
    assert "0.502 without a margin and 0.756 with k = 1.5" in said
    assert words.ordinary(0.0).endswith("0.502 without a margin.")
    assert "80 rows with x = 1, 48 of them with label +1" in words.ordinary_design()
    assert "differs from most rows 0.689" in words.ordinary_alt(1.5)
    assert [row["exact ε at k = 1.5"] for row in lo.table_rows(1.5)] == ["0.756", "0.895"]
    assert list(lo.table_rows(0.0)[0]) == ["The row", "exact ε at k = 0", "certified at every k"]
    names, printed = execute(snippets.ordinary(1.5))
    assert names["exact"] == {k: lo.exact("agrees", k) for k in (0.0, 1.5)}
    assert str(lo.certified()) in printed
    drawn = {trace.name: decode(trace.y) for trace in charts.ordinary(1.5).data}
    np.testing.assert_array_equal(drawn["agrees with most rows"], lo.frame()["epsilon_agrees"])
    np.testing.assert_array_equal(drawn["certified for every row"], lo.frame()["epsilon_certified"])


def test_the_table_tells_f_and_its_clipped_form_apart():
    plain, clipped = lc.table_rows(OPENS)
    assert (plain["Follows f from"], plain["to"], plain["Largest |f′|"]) == ("−∞", "∞", "∞")
    assert (clipped["Follows f from"], clipped["to"], clipped["Largest |f′|"]) == ("−1", "1", "1")
    assert clipped["f′ keeps its sign"] == "no"
    assert lc.table_rows(lc.LossSetting("logistic", 0, 1, 0.5))[0]["Gradient of this row ≤"] == "0.5"


@pytest.mark.slow
@pytest.mark.parametrize("name", lc.NAMES)
@pytest.mark.parametrize("clip", [0.01, 1.0, 10.0])
@pytest.mark.parametrize("norm", [0.1, 2.0])
def test_every_loss_can_be_drawn_and_written_as_svg(name, clip, norm):
    setting = lc.LossSetting(name, 0.5, clip, norm)
    for make in (charts.loss, charts.slope):
        chart = make(setting, view=4.0, ghost=replace(setting, clip=2 * clip))
        low, high = chart.layout.yaxis.range
        assert low < high
        assert math.isfinite(high)
        assert "<svg" in to_svg(chart, title=str(setting))
    assert len([t for t in charts.loss(setting, view=4.0).data if t.name == "kinks"]) == any(
        abs(kink) <= 4 for kink in setting.kinks
    )


# --- the fit --------------------------------------------------------------------------------------------------------


def test_clipping_helps_where_there_are_outliers_and_hurts_where_it_is_too_strong():
    for setting in (OUTLIERS, LABELS):
        plain, clipped = (clipping.error(setting, clipping.without_privacy(setting, c)) for c in (None, setting.clip))
        assert clipped < plain / 2
        assert " helps: the fit " in words.fit_answer(setting, plain, clipped)
    hurts = replace(OUTLIERS, clip=0.02, outliers=0.0)
    plain, clipped = (clipping.error(hurts, clipping.without_privacy(hurts, c)) for c in (None, 0.02))
    assert clipped > 3 * plain
    assert " hurts: the fit " in words.fit_answer(hurts, plain, clipped)
    level = words.fit_answer(hurts, 0.1, 0.1)
    assert level.endswith(" hardly matters: the fit is off the true line by 0.1 either way.")
    assert words.fit_answer(OUTLIERS, 0.5, 0.08).endswith("is off the true line by 0.08, not by 0.5.")
    assert words.fit_answer(LABELS, 0.3, 0.08).endswith("gets 8.0 % of fresh rows wrong, not 30.0 %.")


def test_the_table_of_fits_has_every_plotted_one():
    frame = lc.fits_frame(OUTLIERS, 3)
    assert frame["fit"].tolist() == ["f", "f_C", "private 1", "private 2", "private 3"]
    first = clipping.private(OUTLIERS, 0)
    np.testing.assert_array_equal(frame.iloc[2][["slope", "intercept"]].astype(float), first)


@pytest.mark.slow
@pytest.mark.parametrize("name", lc.NAMES)
def test_every_fit_can_be_drawn_and_its_snippet_gives_the_first_private_fit(name):
    setting = clipping.Setting(name, 0.4, 0.3, 0.1, 1.5, 1e-6, 3)
    chart = charts.fits(setting, draws=2, ghost=replace(setting, clip=1.0))
    drawn = {trace.name for trace in chart.data}
    assert {"private fits", words.PLAIN, words.CLIPPED, "clipped at C/4", "clipped at 4C", "clipped, before"} <= drawn
    assert "<svg" in to_svg(chart, title=str(setting))
    names, printed = execute(snippets.fit(setting))
    np.testing.assert_allclose(names["theta"], clipping.private(setting, 0), rtol=1e-5, atol=1e-7)
    assert "(1.5, 1e-06)-differential privacy" in printed
    np.testing.assert_array_equal(names["X"], clipping.data(setting)[0])


def test_words_of_the_fit_name_what_depends_on_the_threshold():
    said = words.best(OUTLIERS, 0.2)
    assert "is proportional to C; λ = 10.3 does not depend on it" in said
    assert "C ≈ 0.2 would be best for private fits; to find that out costs privacy." in said
    assert "which C does not lower" in words.best(replace(LOGISTIC, clip=5.0), 1.0)
    assert "Theorem 3.1" in words.PROVED[OUTLIERS.bound]
    assert "slope keeps its sign" in words.PROVED[LABELS.bound]
    assert "logistic (margin 1.5), C = " in words.fit_title(replace(LOGISTIC, parameter=1.5))
    assert "the mean of four private fits at each C, with a band" in words.errors_lines()
    tells(words.fit_alt(OUTLIERS, 0.5, 0.1, 5), "five private fits", "10 % of them far below it on the right")
    assert "20 % of them of class −1 deep in" in words.fit_alt(LABELS, 0.5, 0.1, 5)
    assert "of them" not in words.fit_alt(replace(OUTLIERS, outliers=0.0), 0.5, 0.1, 5)
    assert "at C = 10 it is" in words.errors_alt(OUTLIERS, clipping.errors(OUTLIERS))
    rows = words.fit_rows(LABELS, 0.09)
    assert [row["Fit"] for row in rows] == ["not clipped, no noise", "clipped at C, no noise", "private, mean of 4"]
    assert rows[2]["Wrong labels on fresh rows"] == "9.0 %"


# --- without GLM structure ------------------------------------------------------------------------------------------


def test_the_curve_is_a_valid_bound_close_to_the_best_and_grows():
    found = ld.curve(FIGURE_1, 1e-5)
    assert (np.diff(found) > 0).all()
    for dimension in (1, 100, 10_000):
        best = ld.epsilon_at("non-glm", FIGURE_1, 1e-5, dimension)
        assert best <= found[ld.DIMENSIONS.index(dimension)] <= 1.01 * best
    assert found[-1] > 10_000 * ld.price(FIGURE_1)
    with pytest.raises(ValueError, match="read-only"):
        found[0] = 0.0


def test_other_bounds_do_not_know_the_dimension_and_one_dimension_is_a_glm():
    few, many = ld.readings(FIGURE_1, 1e-5, 1), ld.readings(FIGURE_1, 1e-5, 10_000)
    assert {b: v for b, v in few.items() if b != "non-glm"} == {b: v for b, v in many.items() if b != "non-glm"}
    assert few["non-glm"] == pytest.approx(few["rdp"], rel=1e-9)
    assert few["lower"] < few["glm"] < few["rdp"]


def test_where_lambda_is_not_above_beta_nothing_is_proved_and_said_so():
    silent = replace(FIGURE_1, lam=1.0)
    assert np.isinf(ld.curve(silent, 1e-5)).all()
    found = ld.readings(silent, 1e-5, 10)
    assert words.dimension_answer(found, 10) == "Neither theorem proves a finite ε: both need λ > β."
    assert "infinite" in words.dimension_more(ld.price(silent))
    assert ld.table_rows(found, 10)[0]["ε with 10 parameters"] == "nothing proved"
    assert charts.dimension(silent, delta=1e-5, at=10, ghost=FIGURE_1).data


def test_the_answer_compares_a_glm_with_any_other_loss():
    found = ld.readings(FIGURE_1, 1e-5, 100)
    assert words.dimension_answer(found, 100) == (
        "Without GLM structure 100 parameters cost ε = 7.71; with it any number costs ε = 0.811."
    )
    read = ld.Read(FIGURE_1, 1e-5, 100)
    assert words.dimension_moved(replace(read, dimension=50), read) == (
        "d 50 → 100: ε rises from 4.57 to 7.71; every parameter costs −log(1 − β/λ)."
    )
    more = ld.Read(replace(FIGURE_1, lam=50.0), 1e-6, 100)
    assert words.dimension_moved(read, more).startswith("λ 20 → 50, δ 10⁻⁵ → 10⁻⁶: ε falls from 7.71 to ")
    assert words.dimension_moved(read, read) == ""
    assert ld.table_rows(found, 100)[0]["ε / lower bound"] == f"{found['non-glm'] / found['lower']:.3g}×" == "10.6×"
    assert "ε with 1 parameter" in ld.table_rows(found, 1)[0]
    assert "−log(1 − β/λ) = 0.0513" in words.dimension_more(ld.price(FIGURE_1))
    assert "With 100 parameters" in words.dimension_alt(found, 1e-5, 100)


def test_snippets_print_the_numbers_on_the_screen():
    names, printed = execute(snippets.dimension(FIGURE_1, delta=1e-6, at=50))
    for bound, curve in names["curves"].items():
        assert curve.epsilon(1e-6) == ld.epsilon_at(bound, FIGURE_1, 1e-6, 50)
    assert str(ld.epsilon_at("non-glm", FIGURE_1, 1e-6, 50)) in printed
    for setting in (OPENS, lc.LossSetting("huberised-hinge", 0.3, 2**0.5, 2.0)):
        names, printed = execute(snippets.loss(setting))
        printed_one, own = (loss.value(names["scores"], setting.target) for loss in (names["clipped"], setting.clipped))
        np.testing.assert_array_equal(printed_one, own)
        assert f"kinks: {setting.kinks[0]!s}" in printed


@pytest.mark.slow
def test_every_role_in_use_has_a_look():
    drawn = [charts.loss(OPENS, view=4.0), charts.fits(LABELS, draws=1)]
    drawn += [charts.errors(LABELS, ghost=replace(LABELS, outliers=0.1)), charts.dimension(FIGURE_1, delta=1e-5, at=10)]
    assert {trace.meta["role"] for chart in drawn for trace in chart.data} <= set(figures.ROLES)
