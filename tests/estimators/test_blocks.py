"""Fits of rows that are walked: the map of a fit in memory to the last bit, θ within what τ allows, one draw."""

import sys
import warnings
import weakref
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from objpert_core import estimators as est
from objpert_core.blocks import Blocks, read_ahead
from objpert_core.evaluation import evaluate, split_by_coin
from objpert_core.exceptions import ConvergenceError, PrivacyBudgetWarning, UncoveredDataWarning
from objpert_core.learning import minimum, row_sources
from objpert_core.learning.noise import NoiseSource
from objpert_core.learning.solvers import SolverResult, solve, solve_surely
from objpert_core.learning.steps import standardisation

RNG = np.random.default_rng(0)
X = RNG.normal(size=(3000, 8)) * np.array([1, 2, 3, 1, 1, 5, 1, 0.1]) + 1.0
Y = np.where(X @ RNG.normal(size=8) + RNG.normal(size=3000) > 2, "yes", "no")
PRIVATE = {"epsilon": 2.0, "classes": ["no", "yes"], "public_rows": 3000, "random_state": 3}
BEARS_RANGES = PRIVATE | {"epsilon": 20.0}
SOME_KNOWN = ([np.nan] * 3 + [-5.0] * 5, [np.nan] * 3 + [9.0] * 5)
MODELS = {
    "mapped": est.ObjPertLogisticRegression(**PRIVATE),
    "raw": est.ObjPertLogisticRegression(**PRIVATE, standardize=False),
    "svc": est.ObjPertSVC(**PRIVATE, standardize=False),
    "output perturbation": est.OutputPerturbationLogisticRegression(**PRIVATE | {"epsilon": 8.0}),
    "output perturbation, private ranges": est.OutputPerturbationLogisticRegression(
        **BEARS_RANGES, feature_ranges="private"
    ),
    "private ranges": est.ObjPertLogisticRegression(**BEARS_RANGES, feature_ranges="private"),
    "private ranges, mapped": est.ObjPertLogisticRegression(**BEARS_RANGES, feature_ranges="private", standardize=True),
    "some ranges known": est.ObjPertSVC(**BEARS_RANGES, feature_ranges=SOME_KNOWN),
    "known ranges": est.ObjPertLogisticRegression(**PRIVATE, feature_ranges=(-5.0, 9.0)),
    "weights of classes": est.ObjPertLogisticRegression(**PRIVATE, class_weight={"yes": 3.0, "no": 0.5}),
    "balanced": est.ObjPertLogisticRegression(**PRIVATE, class_weight="balanced"),
    "balanced, private ranges": est.ObjPertSVC(**BEARS_RANGES, class_weight="balanced", feature_ranges="private"),
    "known ranges, intervals": est.ObjPertLogisticRegression(
        **PRIVATE | {"epsilon": 8.0}, feature_ranges=(-5.0, 9.0), intervals=True, advanced={"row_norm": "clip"}
    ),
}


def cut(rows, *beside_and_ends):
    beside = [one for one in beside_and_ends if np.ndim(one)]
    edges = [0, *beside_and_ends[len(beside) :], rows.shape[0]]
    return Blocks(lambda: (tuple(one[a:b] for one in (rows, *beside)) for a, b in pairwise(edges)))


def assert_same_fit(one, other):
    """Both stop within τ of the same minimum, with the same noise on the same lattice."""
    near = 2 * (one.privacy_.tau / one.privacy_.lam + one.privacy_.lattice) * np.sqrt(one.coef_.size + 1)
    np.testing.assert_allclose(other.coef_, one.coef_, rtol=0, atol=near)
    np.testing.assert_allclose(other.intercept_, one.intercept_, rtol=0, atol=near)
    np.testing.assert_array_equal(other.center_, one.center_)
    np.testing.assert_array_equal(other.scale_, one.scale_)
    np.testing.assert_array_equal(other.feature_ranges_, one.feature_ranges_)
    assert other.privacy_.feature_ranges == one.privacy_.feature_ranges
    if hasattr(one, "class_weight_"):  # which is not published
        assert other.class_weight_ == one.class_weight_
    assert one.privacy_.verify(one)
    assert other.privacy_.verify(other)
    rounding = other.privacy_.lam * np.sqrt(other.coef_.shape[-1]) * other.privacy_.lattice / 2  # of θ to its lattice
    assert other.gradient_norms_[-1] + rounding <= other.privacy_.gradient_norm <= other.privacy_.tau
    sizes = ("sigma", "lam", "tau", "sigma_out", "epsilon", "lattice", "public_rows", "weighted", "class_count_noise")
    assert all(getattr(one.privacy_, name, None) == getattr(other.privacy_, name, None) for name in sizes)


@pytest.mark.thorough
@pytest.mark.parametrize("name", MODELS)
def test_blocks_give_the_fit_in_memory_however_the_rows_are_cut(name):
    model = MODELS[name]
    whole = model.fit(X, Y)
    assert (whole.feature_ranges_ is None) == ("ranges" not in name)
    coefficients = []
    for ends in ((), (1, 2, 1500), range(100, 3000, 100), (0, 1700, 1700)):
        blocks = cut(X, Y, *ends)
        one = type(model)(**model.get_params()).fit(blocks)
        assert_same_fit(whole, one)
        coefficients.append(one.coef_)
    np.testing.assert_allclose(coefficients, np.broadcast_to(coefficients[0], (4, 1, 8)), atol=1e-5)
    np.testing.assert_array_equal(one.predict(blocks), one.predict(X))
    assert one.score(blocks) == one.score(X, Y)


@pytest.mark.parametrize("first", [0, 1])
def test_blocks_of_both_kinds_are_refused(first):
    kinds = [np.asarray, sp.csr_array]
    walk = Blocks(lambda: iter([(kinds[first](X[:50]), Y[:50]), (kinds[1 - first](X[50:90]), Y[50:90])]))
    with pytest.raises(ValueError, match=r"^blocks must all be dense or all be sparse, got both$"):
        est.ObjPertLogisticRegression(**PRIVATE).fit(walk)


@pytest.mark.thorough
def test_targets_that_are_numbers_frames_and_sparse_blocks_are_walked():
    numbers = X @ np.arange(8.0)
    regressor = est.ObjPertRegressor(epsilon=5.0, target_range=(-50.0, 50.0), random_state=1)
    one = clone(regressor).fit(cut(X / 30, numbers, 999))
    assert_same_fit(regressor.fit(X / 30, numbers), one)
    assert one.score(cut(X / 30, numbers, 5)) == pytest.approx(one.score(X / 30, numbers))
    model = est.ObjPertLogisticRegression(**PRIVATE)
    sparse = sp.csr_array(np.where(np.abs(X) > 1, X, 0.0))
    assert_same_fit(model.fit(sparse, Y), est.ObjPertLogisticRegression(**PRIVATE).fit(cut(sparse, Y, 10, 2000)))
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    named = est.ObjPertLogisticRegression(**PRIVATE).fit(cut(frame, Y, 1000))
    assert list(named.feature_names_in_) == list("abcdefgh")


@pytest.mark.thorough
def test_dask_collections_are_walked_by_their_partitions():
    arrays = pytest.importorskip("dask.array")
    whole = est.ObjPertLogisticRegression(**PRIVATE).fit(X, Y)
    rows, targets = arrays.from_array(X, chunks=(700, 3)), arrays.from_array(Y, chunks=700)
    model = est.ObjPertLogisticRegression(**PRIVATE).fit(rows, targets)
    assert_same_fit(whole, model)
    np.testing.assert_array_equal(model.predict(rows), model.predict(X))
    unknown = rows[rows[:, 0] > -1e9]  # whose lengths nobody knows
    assert_same_fit(whole, est.ObjPertLogisticRegression(**PRIVATE).fit(unknown, targets[rows[:, 0] > -1e9]))
    with pytest.raises(ValueError, match="y must be a Dask collection"):
        est.ObjPertLogisticRegression(**PRIVATE).fit(rows, Y)
    with pytest.raises(ValueError, match="as many partitions as X, 5, got 3"):
        est.ObjPertLogisticRegression(**PRIVATE).fit(rows, arrays.from_array(Y, chunks=1000))
    weighed = clone(model).fit(X, Y, sample_weight=WEIGHTS)
    assert_same_fit(weighed, model.fit(rows, targets, sample_weight=arrays.from_array(WEIGHTS, chunks=700)))
    with pytest.raises(ValueError, match="sample_weight must be a Dask collection as X is, got ndarray"):
        model.fit(rows, targets, sample_weight=WEIGHTS)
    frames = pytest.importorskip("dask.dataframe")
    table = frames.from_pandas(pd.DataFrame(X, columns=list("abcdefgh")).assign(moved=Y), npartitions=3)
    assert_same_fit(whole, est.ObjPertLogisticRegression(**PRIVATE).fit(table[list("abcdefgh")], table["moved"]))


@pytest.mark.thorough
def test_noise_is_drawn_once_whatever_the_blocks_and_none_where_a_block_is_bad(monkeypatch):
    drawn = []
    draw = NoiseSource.rounded_normal
    monkeypatch.setattr(NoiseSource, "rounded_normal", lambda self, *sizes: drawn.append(sizes) or draw(self, *sizes))
    counts = []
    for model in (MODELS["mapped"], MODELS["private ranges, mapped"], MODELS["balanced"]):
        for ends in ((), range(50, 3000, 50)):
            drawn.clear()
            model.fit(cut(X, Y, *ends))
            counts.append(len(drawn))
    assert counts == [4, 4, 6, 6, 5, 5]  # two histograms, or the counts of classes; centre, scales, b, output
    drawn.clear()
    bad = X.copy()
    bad[2500, 3] = np.nan
    model = est.ObjPertLogisticRegression(**PRIVATE)
    with pytest.raises(ValueError, match=r"^block 3: X must hold finite numbers .* row 500, column 3"):
        model.fit(cut(bad, Y, 1000, 2000))
    assert drawn == []
    assert not model.__sklearn_is_fitted__()


def test_the_sums_of_the_first_walk_are_for_noise_on_their_own_lattice_alone(monkeypatch):
    monkeypatch.setattr(standardisation, "SPACING", 2.0**-20)  # as where noise is very wide
    model = est.ObjPertLogisticRegression(**PRIVATE)
    center = model.fit(X, Y).center_
    np.testing.assert_array_equal(model.fit(cut(X, Y, 1000)).center_, center)


def test_the_rows_that_are_kept_keep_no_block(monkeypatch):
    monkeypatch.setattr(row_sources, "_SAMPLE", 2**11)
    seen, alive = [], []

    def walk():
        for start in range(0, 3000, 100):
            rows = X[start : start + 100].copy()
            seen.append(weakref.ref(rows))
            alive.append(sum(one() is not None for one in seen))
            yield rows, row_sources.Beside(np.ones(100), 100)

    walked = row_sources.Walked(Blocks(walk))
    assert 128 <= len(walked.sample[0]) < 1000
    assert max(alive[8:]) <= 4  # this one, the next, and those under way; the first blocks are kept whole


def test_a_fit_that_is_stopped_between_two_blocks_released_nothing():
    walks = []

    def walk():
        walks.append(1)
        yield X[:1000], Y[:1000]
        if len(walks) > 3:
            raise KeyboardInterrupt
        yield X[1000:], Y[1000:]

    model = est.ObjPertLogisticRegression(**PRIVATE)
    with pytest.raises(KeyboardInterrupt):
        model.fit(Blocks(walk))
    assert not model.__sklearn_is_fitted__()


def unread():
    def walk():
        raise AssertionError("a row was read")

    return Blocks(walk)


def other_rows():
    seen = []

    def walk():
        seen.append(1)
        yield X[: 3000 - len(seen)], Y[: 3000 - len(seen)]

    return Blocks(walk)


@pytest.mark.parametrize("standardize", ["auto", False])
@pytest.mark.parametrize(
    ("ranges", "weight"),
    [
        (None, {"a": 4.0}),
        *(pytest.param(*asked, marks=pytest.mark.thorough) for asked in [(None, None), ("private", None)]),
        pytest.param(None, "balanced", marks=pytest.mark.thorough),
    ],
)
def test_many_classes_are_walked(standardize, ranges, weight):
    labels = np.array(["a", "b", "c"])[np.digitize(X[:, 1], [0, 4])]
    asked = {"epsilon": 20.0, "classes": ["a", "b", "c"], "public_rows": 3000, "standardize": standardize}
    asked |= {"feature_ranges": ranges, "class_weight": weight}
    model = est.ObjPertLogisticRegression(**asked, random_state=1)
    whole = est.ObjPertLogisticRegression(**asked, random_state=1).fit(X, labels)
    assert_same_fit(whole, model.fit(cut(X, labels, 10, 10, 1800)))
    assert model.privacy_.fits == 3
    assert model.score(cut(X, labels, 7)) == model.score(X, labels)


@pytest.mark.thorough
@pytest.mark.parametrize("sandwich", [True, "sandwich"])
def test_intervals_of_blocks_are_those_of_the_rows_in_memory(sandwich):
    model = est.ObjPertLogisticRegression(
        **PRIVATE | {"epsilon": 8.0}, intervals=sandwich, advanced={"row_norm": "clip"}
    )
    known = model.fit(X / 10, Y).release()
    for ends in ((), (1, 2, 1500), range(100, 3000, 100)):
        walked = model.fit(cut(X / 10, Y, *ends))
        assert_same_fit(known, walked)
        # θ differs within what τ allows, and by so little the curvature at θ
        np.testing.assert_allclose(walked.hessian_, known.hessian_, rtol=0, atol=1e-3)
        assert (walked.outer_ is None) == (sandwich is True)
        pd.testing.assert_frame_equal(walked.summary(), known.summary(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("blocks", "options", "sentence"),
    [
        (unread(), {"classes": None}, "classes must be the labels where X is Blocks, got None"),
        (unread(), {"class_weight": {"maybe": 1.0}}, r"class_weight must name labels in classes=\['no', 'yes'\] only"),
        (Blocks(list), {"on_error": "release"}, "blocks must hold at least one row, got none"),
        (Blocks(lambda: [(X, None)]), {"on_error": "release"}, "block 1: y must be given, got None"),
        (Blocks(list), {}, "blocks must hold at least one row, got none"),
        (Blocks(lambda: [(X[:9], Y[:9]), (X[:9, :3], Y[:9])]), {}, "block 2: X has 3 features"),
        (other_rows(), {}, "blocks must have the same rows in every walk, got 2999 and then 2998"),
    ],
)
def test_what_cannot_be_walked_gets_one_sentence(blocks, options, sentence):
    model = est.ObjPertLogisticRegression(**{**PRIVATE, **options})
    with pytest.raises(ValueError, match=sentence):
        model.fit(blocks)
    assert not model.__sklearn_is_fitted__()


@pytest.mark.parametrize("target", [np.nan, np.inf])
def test_a_target_that_cannot_be_used_is_refused_before_noise_is_drawn(target, monkeypatch):
    drawn, numbers = [], X[:, 0].copy()
    monkeypatch.setattr(NoiseSource, "rounded_normal", lambda *_: drawn.append(1))
    numbers[2500] = target
    with pytest.raises(ValueError, match="block 3: Input y contains"):
        est.ObjPertRegressor(epsilon=5.0, target_range=(-50.0, 50.0)).fit(cut(X, numbers, 1000, 2000))
    assert drawn == []


def test_targets_stand_in_the_blocks_and_other_learners_need_rows_in_memory():
    with pytest.raises(ValueError, match="y must be left out where X is Blocks"):
        est.ObjPertLogisticRegression(**PRIVATE).fit(cut(X, Y), Y)
    with pytest.raises(
        ValueError, match="sample_weight must be left out where X is Blocks, which have weights as trip"
    ):
        est.ObjPertLogisticRegression(**PRIVATE).fit(unread(), sample_weight=np.ones(3000))
    with pytest.raises(ValueError, match="X must be rows in memory for DPSGDLogisticRegression"):
        est.DPSGDLogisticRegression(classes=["no", "yes"], public_rows=3000).fit(cut(X, Y))


WEIGHTS = RNG.uniform(0.1, 1.0, 3000)
WEIGHTS[[5, 1499, 2000]] = [0.0, 1e-200, 1.0]
WEIGHED = {
    "mapped": est.ObjPertLogisticRegression(**PRIVATE),
    "by class": est.ObjPertLogisticRegression(**PRIVATE, class_weight={"yes": 3.0, "no": 1e-10}),
    "hardly a class": est.ObjPertLogisticRegression(**PRIVATE, class_weight={"yes": 1.0, "no": 1e-200}),
    "balanced, private ranges": est.ObjPertSVC(**BEARS_RANGES, class_weight="balanced", feature_ranges="private"),
    "classes": est.ObjPertLogisticRegression(
        **PRIVATE | {"classes": ["no", "yes", "maybe"]}, class_weight="balanced", standardize=False
    ),
    "numbers": est.ObjPertRegressor(epsilon=5.0, target_range=(-50.0, 50.0), public_rows=3000, random_state=3),
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", WEIGHED)
@pytest.mark.parametrize("on_error", ["raise", "release"])
def test_weights_travel_with_their_block(name, on_error):
    model, weights, rows = clone(WEIGHED[name]).set_params(on_error=on_error), WEIGHTS, X.copy()
    targets = 100 * X[:, 0] if name == "numbers" else Y
    rows[5] = np.nan  # which weighs nothing
    if on_error == "release":
        weights = np.where(np.arange(3000) % 700 == 3, [np.nan, 1.5, -1.0] * 1000, WEIGHTS)
        rows[2999] = np.inf
    whole = clone(model).fit(rows, targets, sample_weight=weights)
    assert whole.privacy_.weighted
    assert np.abs(whole.coef_ - clone(model).fit(X, targets).coef_).max() > 1e-3
    for ends in ((), (1, 2, 1500), range(100, 3000, 100), (3, 3, 6, 1700)):
        assert_same_fit(whole, clone(model).fit(cut(rows, targets, weights, *ends)))


def test_rows_without_a_weight_weigh_one():
    weights = np.where(np.arange(3000) < 1000, WEIGHTS, 1.0)
    model = est.ObjPertLogisticRegression(**PRIVATE)
    whole = clone(model).fit(X, Y, sample_weight=weights)
    mixed = [(X[:1000], Y[:1000], weights[:1000]), (X[1000:], Y[1000:])]
    for blocks in (mixed, mixed[::-1]):
        assert_same_fit(whole, clone(model).fit(Blocks(lambda blocks=blocks: blocks)))


def test_coins_and_scores_take_blocks_with_weights():
    train, test, *_ = split_by_coin(cut(X, Y, WEIGHTS, 700), test_share=0.3, random_state=2)
    rows, _, weights = (np.concatenate(part) for part in zip(*train, strict=True))
    places = np.argsort(X[:, 0])[np.searchsorted(np.sort(X[:, 0]), rows[:, 0])]
    np.testing.assert_array_equal(weights, WEIGHTS[places])
    model = est.ObjPertLogisticRegression(**PRIVATE).fit(train)
    plain, _ = (np.concatenate(part) for part in zip(*((rows, y) for rows, y, _ in test), strict=True))
    np.testing.assert_array_equal(model.predict(test), model.predict(plain))
    assert (
        evaluate(model, test, random_state=1).counts
        == evaluate(model, plain, np.concatenate([y for _, y, _ in test]), random_state=1).counts
    )


@pytest.mark.parametrize(
    ("model", "kind", "sentence"),
    [
        (est.ObjPertLogisticRegression(**PRIVATE), ValueError, "block 2: sample_weight must hold .* got 2 in row 0"),
        (
            est.ObjPertLogisticRegression(**PRIVATE, intervals=True),
            ValueError,
            "sample_weight must be None where inter",
        ),
        (est.OutputPerturbationLogisticRegression(**PRIVATE), TypeError, "sample_weight must be None in a fit of Outp"),
    ],
)
def test_weights_that_cannot_be_used_are_refused_before_noise_is_drawn(model, kind, sentence, monkeypatch):
    drawn = []
    monkeypatch.setattr(NoiseSource, "rounded_normal", lambda *_: drawn.append(1))
    weights = np.where(np.arange(3000) < 1000, 1.0, 2.0)
    with pytest.raises(kind, match=sentence):
        clone(model).fit(cut(X, Y, weights, 1000))
    for given in ((X, Y, {"sample_weight": 0 * weights}), (cut(X, Y, 0 * weights, 1000), None, {})):
        with pytest.raises(ValueError, match="X must have at least one row, got 0"):
            est.ObjPertLogisticRegression(**PRIVATE).fit(*given[:2], **given[2])
    assert drawn == []


RELEASES = {
    "mapped": est.ObjPertLogisticRegression(**PRIVATE, on_error="release"),
    "private ranges": est.ObjPertSVC(**BEARS_RANGES, feature_ranges="private", on_error="release"),
    "output perturbation": est.OutputPerturbationLogisticRegression(**PRIVATE | {"epsilon": 8.0}, on_error="release"),
    "intervals": est.ObjPertLogisticRegression(**PRIVATE | {"epsilon": 8.0}, intervals=True, on_error="release"),
    "classes": est.ObjPertLogisticRegression(
        **PRIVATE | {"classes": ["no", "yes", "maybe"]}, class_weight={"maybe": 2.0}, on_error="release"
    ),
    "balanced": est.ObjPertLogisticRegression(**PRIVATE, class_weight="balanced", on_error="release"),
    "numbers": est.ObjPertRegressor(
        epsilon=5.0, target_range=(-50.0, 50.0), public_rows=3000, random_state=3, on_error="release"
    ),
}


def with_bad_rows(name):
    """The rows, and rows that cannot be used among them, by their numbers, a label, or both; and where the good are."""
    rows, targets = X.astype(object), (100 * X[:, 0] if name == "numbers" else Y).astype(object)
    bad = np.array([0, 1, 2, 700, 1500, 2999])
    rows[bad[:4], [0, 3, 7, 2]] = [np.nan, "none", 1e200, np.inf]
    targets[bad[3:]] = [np.nan, "another", None]
    return rows, targets, np.setdiff1d(np.arange(3000), bad)


@pytest.mark.thorough
@pytest.mark.parametrize("name", RELEASES)
def test_rows_that_cannot_be_used_count_as_none_in_any_block(name):
    model = RELEASES[name]
    rows, targets, good = with_bad_rows(name)
    whole = clone(model).fit(rows, targets)
    without = clone(model).fit(X[good], targets[good])
    np.testing.assert_array_equal(whole.coef_, without.coef_)
    for ends in ((), (1, 2, 1500), range(100, 3000, 100), (3, 3, 1700)):
        with warnings.catch_warnings(), np.errstate(all="raise"):
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", PrivacyBudgetWarning)
            warnings.simplefilter("ignore", UncoveredDataWarning)
            walked = clone(model).fit(cut(rows, targets, *ends))
        assert_same_fit(whole, walked)
        assert walked.privacy_.on_error == "release"


@pytest.mark.parametrize("name", RELEASES)
@pytest.mark.parametrize("given", [3000, 0])
def test_without_any_usable_row_blocks_release_what_rows_in_memory_do(name, given):
    none = np.full((given, 8), np.nan)
    targets = np.zeros(given) if name == "numbers" else Y[:given]
    for public in (3000, None) if given else (3000,):
        model = RELEASES[name].set_params(public_rows=public)
        whole, walked = clone(model).fit(none, targets), clone(model).fit(cut(none, targets, 10, 10))
        np.testing.assert_array_equal(walked.coef_, whole.coef_)
        np.testing.assert_array_equal(walked.intercept_, whole.intercept_)
        assert walked.privacy_.public() == whole.privacy_.public()
        assert walked.privacy_.verify(walked)


@pytest.mark.thorough
@pytest.mark.parametrize("shape", ["dense", "sparse"])
@pytest.mark.parametrize("failing", [0, 1])
def test_a_solver_that_stops_early_is_followed_by_a_sure_one_where_errors_must_not_tell(shape, failing, monkeypatch):
    """Whose second try computes with care."""
    asked = []

    def surely(problem, **told):
        asked.append(1)
        return solve_surely(problem.without_rows() if len(asked) <= failing else problem, **told)

    rows = X[:300] if shape == "dense" else sp.csr_array(X[:300])
    model = est.ObjPertLogisticRegression(
        **PRIVATE | {"epsilon": 1.0}, standardize=False, lam=30.0, on_error="release", advanced={"max_iter": 1}
    )
    whole = clone(model).fit(rows, Y[:300])
    monkeypatch.setattr(minimum, "solve_surely", surely)
    walked = clone(model).fit(cut(rows, Y[:300], 7, 200))
    assert_same_fit(whole, walked)
    assert len(asked) == failing + 1


def test_the_answer_for_no_data_comes_last(monkeypatch):
    """As in memory: where rounding stops the sure solver, too, which here is not asked to begin."""
    monkeypatch.setattr(minimum, "solve_surely", lambda problem, **_: solve(problem.without_rows(), tau=1.0))
    model = est.ObjPertLogisticRegression(**PRIVATE, standardize=False, on_error="release", advanced={"max_iter": 1})
    nothing = clone(model).fit(np.full((3000, 8), np.nan), Y)
    np.testing.assert_array_equal(model.fit(cut(X, Y, 1000)).coef_, nothing.coef_)


@pytest.mark.parametrize("on_error", ["raise", "release"])
def test_a_block_that_cannot_be_read_is_an_error_before_noise_is_drawn(on_error, monkeypatch):
    drawn = []
    monkeypatch.setattr(NoiseSource, "rounded_normal", lambda *_: drawn.append(1))

    def walk():
        yield X[:1000], Y[:1000]
        raise OSError("the disk is gone")

    model = est.ObjPertLogisticRegression(**PRIVATE, on_error=on_error)
    with pytest.raises(OSError, match="the disk is gone"):
        model.fit(Blocks(walk))
    assert drawn == []
    assert not model.__sklearn_is_fitted__()


def test_a_solver_that_does_not_arrive_releases_nothing():
    with pytest.raises(ConvergenceError, match="nothing was released"):
        est.ObjPertLogisticRegression(**PRIVATE, advanced={"max_iter": 2}).fit(cut(X, Y, 500))


def test_blocks_are_split_by_coins_and_scored_as_rows_in_memory_are():
    blocks = cut(X, Y, 700, 700, 2000)
    train, test, *_ = split_by_coin(blocks, test_share=0.3, random_state=2)
    for _ in range(2):  # the same coins in every walk
        parts = [np.concatenate([rows for rows, _ in part]) for part in (train, test)]
        assert sorted(np.concatenate(parts)[:, 0]) == sorted(X[:, 0])
        assert len(parts[1]) == pytest.approx(900, abs=150)
    targets = np.concatenate([y for _, y in test])
    model = est.ObjPertLogisticRegression(**PRIVATE).fit(train)
    scores = evaluate(model, test, random_state=1)
    assert scores.counts == evaluate(model, parts[1], targets, random_state=1).counts
    empty = Blocks(lambda: [(X[:0], Y[:0])])
    assert evaluate(model, empty, random_state=1).counts == evaluate(model, X[:0], Y[:0], random_state=1).counts
    with pytest.raises(ValueError, match="groups must be None or True where X is Blocks"):
        split_by_coin(blocks, groups=Y)


@pytest.mark.thorough
def test_coins_fall_once_where_both_parts_are_walked_at_the_same_time():
    """By two threads that read ahead: a coin of each would put a row into both parts, which costs both budgets."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(20):
            parts = split_by_coin(cut(X, Y, *range(50, 3000, 50)), test_share=0.5)[:2]
            walks = zip(*map(read_ahead, parts), strict=True)
            rows = np.concatenate([rows for both in walks for rows, _ in both])
            assert sorted(rows[:, 0]) == sorted(X[:, 0])
    finally:
        sys.setswitchinterval(interval)


@pytest.mark.parametrize(("first", "coarse"), [(0.0, np.inf), (np.inf, 0.0), (np.inf, np.inf)])
def test_the_finer_bound_decides_where_the_coarse_ones_are_too_large(first, coarse, monkeypatch):
    asked, fine = [], minimum.fine_norm_bound
    monkeypatch.setattr(SolverResult, "bound", lambda *_: first)
    monkeypatch.setattr(minimum, "gradient_norm_bounds", lambda *_: [coarse])
    monkeypatch.setattr(minimum, "fine_norm_bound", lambda *given: asked.append(0) or fine(*given))
    model = est.ObjPertLogisticRegression(**PRIVATE).fit(cut(X, Y, 1000))
    assert len(asked) == (min(first, coarse) > 0)
    assert model.privacy_.gradient_norm > 0  # what noise and lattice cost is added to any bound
    assert model.privacy_.verify(model)
