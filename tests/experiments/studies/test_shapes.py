import numpy as np
import pytest

from objpert_core.experiments.studies import shapes


@pytest.mark.thorough
@pytest.mark.parametrize("name", shapes.SHAPES)
def test_a_shape_is_drawn_in_its_size_and_from_its_seed(name):
    shape = shapes.SHAPES[name]
    X, targets = shape.sample(seed=3)
    assert X.shape == (shape.rows + shapes.TEST_ROWS, shape.columns)
    assert set(targets.tolist()) == {-1.0, 1.0}
    assert 0.2 < np.mean(targets > 0) < 0.8
    again, other = shape.sample(seed=3)[0], shape.sample(seed=4)[0]
    np.testing.assert_array_equal(X, again)
    assert not np.array_equal(X, other)


def test_pixels_are_nonnegative_with_a_common_mean_and_nearly_empty_columns():
    X, _ = shapes.SHAPES["pixels"].sample(seed=0)
    assert X.min() == 0
    assert X.max() <= 1
    rows = X / np.linalg.norm(X, axis=1, keepdims=True)
    assert np.linalg.norm(rows.mean(axis=0)) > 0.5
    assert np.mean(X.mean(axis=0) < 0.01 * X.mean(axis=0).max()) > 0.1


def test_measurements_lie_between_minus_one_and_one_and_go_with_the_class():
    X, targets = shapes.SHAPES["measurements"].sample(seed=0)
    assert np.abs(X).max() <= 1
    related = [abs(np.corrcoef(column, targets)[0, 1]) for column in X.T]
    assert np.median(related) > 0.2


def test_indicators_have_one_category_each_and_rare_ones_among_them():
    X, targets = shapes.SHAPES["indicators"].sample(seed=0)
    assert np.mean(targets > 0) == pytest.approx(0.3, abs=0.1)
    binary = X[:, :-6]
    np.testing.assert_array_equal(np.unique(binary), [0.0, 1.0])
    np.testing.assert_array_equal(binary.sum(axis=1), 8.0)
    assert binary.mean(axis=0).min() < 0.02
    assert X[:, -6:].min() > 0


@pytest.mark.parametrize("signal", ["raw", "even", "few"])
def test_normal_columns_have_their_scales_mean_and_flipped_labels(signal):
    generator = np.random.default_rng(0)
    options = {"decay": 1.0, "offset": 2.0, "positive": 0.3, "flipped": 0.1, "signal": signal}
    X, targets = shapes.gaussian(generator, 20_000, 20, **options)
    spread = np.sort(X.std(axis=0))[::-1]
    assert np.linalg.norm(spread) == pytest.approx(1.0, rel=0.02)
    assert spread[9] / spread[0] == pytest.approx(0.1, rel=0.1)
    assert np.linalg.norm(X.mean(axis=0)) == pytest.approx(2.0, rel=0.02)
    assert np.mean(targets > 0) == pytest.approx(0.3 * 0.9 + 0.7 * 0.1, abs=0.01)
