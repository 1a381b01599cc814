"""The sets made in memory: gisette-like, synthetic-l, synthetic-h, breast-cancer, digits-4-9."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression

from objpert_core.datasets import Dataset, gisette_like, load, small, synthetic


def _accuracy(data: Dataset, C: float) -> float:
    model = LogisticRegression(C=C, max_iter=2000).fit(data.X_train, data.y_train)
    return float(model.score(data.X_test, data.y_test))


@pytest.fixture(scope="module")
def digits() -> Dataset:
    return load("gisette-like")


class TestGisetteLike:
    @pytest.mark.slow
    def test_shape_norms_and_balance(self, digits: Dataset) -> None:
        assert digits.X_train.shape == (4800, 5000)
        assert digits.X_test.shape == (1200, 5000)
        np.testing.assert_allclose(np.linalg.norm(digits.X_test, axis=1), 1.0, rtol=1e-12)
        assert digits.y_train.sum() == 2400
        assert digits.y_test.sum() == 600
        assert digits.stand_in_for == "gisette"

    @pytest.mark.slow
    def test_columns_are_pixels_products_and_as_many_probes(self, digits: Dataset) -> None:
        names = digits.feature_names
        assert len(names) == len(set(names)) == 5000
        probes = [name for name in names if name.startswith("probe")]
        products = [name for name in names if "·" in name]
        assert (len(probes), len(products), len(names) - len(probes) - len(products)) == (2500, 2100, 400)

    @pytest.mark.slow
    def test_probes_carry_no_information_and_the_others_do(self, monkeypatch: pytest.MonkeyPatch) -> None:
        # Before the rows are divided by their norms, which know a little about the label.
        monkeypatch.setattr(gisette_like, "unit_rows", lambda matrix: matrix)
        monkeypatch.setattr(gisette_like, "ROWS", 2000)
        monkeypatch.setattr(gisette_like, "TRAINING_ROWS", 1600)
        matrix, labels, _, _ = gisette_like.make(0)
        assert set(np.unique(matrix)) <= set(range(1000))
        probe = np.array([name.startswith("probe") for name in gisette_like.feature_names()])
        spread = matrix.std(axis=0) * labels.std()
        covariance = (labels - labels.mean()) @ matrix / len(labels)
        score = np.abs(covariance) / np.where(spread > 0, spread, 1.0) * np.sqrt(len(labels))
        assert np.quantile(score[probe], 0.99) < 2.9  # chance alone gives 2.58
        assert np.quantile(score[~probe], 0.5) > 5

    @pytest.mark.slow
    def test_it_is_as_hard_as_gisette(self, digits: Dataset) -> None:
        """Linear models get about 98 % on Gisette."""
        assert 0.96 < _accuracy(digits, 1.0) < 0.995

    def test_no_image_serves_both_parts(self, monkeypatch: pytest.MonkeyPatch) -> None:
        parts = []

        def record(images, count, generator):
            parts.append({image.tobytes() for image in images})
            return np.zeros((count, 28 * 28))

        monkeypatch.setattr(gisette_like, "_redrawings", record)
        monkeypatch.setattr(gisette_like, "_expand", lambda pixels, generator: pixels)
        gisette_like.make(0)
        fours, nines = parts[0] | parts[1], parts[2] | parts[3]
        assert not parts[0] & parts[1]
        assert not parts[2] & parts[3]
        assert len(fours) + len(nines) == 361

    @pytest.mark.slow
    def test_the_seed_decides(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(gisette_like, "ROWS", 100)
        monkeypatch.setattr(gisette_like, "TRAINING_ROWS", 80)
        first, again, other = gisette_like.make(7), gisette_like.make(7), gisette_like.make(8)
        for a, b in zip(first, again, strict=True):
            np.testing.assert_array_equal(a, b)
        assert (first[0] != other[0]).any()

    def test_a_redrawing_is_another_view_of_the_image(self) -> None:
        image = np.zeros((8, 8))
        image[2:6, 3:5] = 1.0
        generator = np.random.default_rng(0)
        first, second = (gisette_like._redraw(image, generator) for _ in range(2))
        assert first.shape == (28, 28)
        assert first.min() >= 0
        assert first.max() <= 1
        assert np.abs(first - second).max() > 0.1
        assert first.sum() == pytest.approx(8 * 2.75**2, rel=0.35)


class TestSynthetic:
    @pytest.mark.slow
    def test_shapes_and_norms(self) -> None:
        for name, shape in (("synthetic-l", (10_000, 20)), ("synthetic-h", (5_000, 5_000))):
            features, labels = synthetic.make(name)
            assert features.shape == shape
            np.testing.assert_allclose(np.linalg.norm(features[:50], axis=1), 1.0, rtol=1e-12)
            assert 0.4 < labels.mean() < 0.6

    @pytest.mark.slow
    def test_the_rows_are_gaussian_in_direction(self) -> None:
        features, _ = synthetic.draw(20_000, 20, decay=0.0, flipped=0.0, seed=1)
        np.testing.assert_allclose(features.mean(axis=0), 0.0, atol=0.01)
        np.testing.assert_allclose(features.T @ features / 20_000, np.eye(20) / 20, atol=0.004)

    def test_without_flips_a_linear_rule_fits_and_flips_are_counted(self) -> None:
        features, labels = synthetic.draw(2000, 5, decay=0.0, flipped=0.0, seed=3)
        _, noisy = synthetic.draw(2000, 5, decay=0.0, flipped=0.1, seed=3)
        assert (labels != noisy).sum() == 200
        model = LogisticRegression(C=1e6, max_iter=5000).fit(features, labels)
        assert model.score(features, labels) > 0.995

    def test_the_decay_is_that_of_the_docstring(self) -> None:
        features, _ = synthetic.draw(40_000, 4, decay=1.5, flipped=0.0, seed=3)
        ratios = features / features[:, :1]  # the row norm cancels
        np.testing.assert_allclose(np.median(np.abs(ratios), axis=0), [1, 2**-1.5, 3**-1.5, 4**-1.5], rtol=0.05)

    @pytest.mark.slow
    def test_non_private_accuracy_of_synthetic_l_is_near_95_5(self) -> None:
        scores = [_accuracy(load("synthetic-l", split_seed=seed), 100.0) for seed in range(5)]
        assert np.mean(scores) == pytest.approx(0.955, abs=0.005)

    @pytest.mark.slow
    def test_non_private_accuracy_of_synthetic_h_is_near_95_5(self) -> None:
        assert _accuracy(load("synthetic-h", split_seed=1), 100.0) == pytest.approx(0.955, abs=0.01)


class TestSmall:
    def test_breast_cancer_lies_within_the_fixed_ranges(self) -> None:
        bunch = load_breast_cancer()
        assert list(bunch.feature_names) == list(small.BREAST_CANCER_RANGES)
        low, high = np.array(list(small.BREAST_CANCER_RANGES.values())).T
        assert (bunch.data >= low).all()
        assert (bunch.data <= high).all()

    @pytest.mark.parametrize(
        ("name", "shapes", "ones", "C", "least"),
        [
            ("digits-4-9", ((288, 64), (73, 64)), 180, 1.0, 0.95),
            # the published number of benign cases
            pytest.param("breast-cancer", ((455, 30), (114, 30)), 357, 100.0, 0.93, marks=pytest.mark.slow),
        ],
    )
    def test_two_classes_can_be_told_apart(self, name: str, shapes: tuple, ones: int, C: float, least: float) -> None:
        data = load(name)
        assert (data.X_train.shape, data.X_test.shape) == shapes
        np.testing.assert_allclose(np.linalg.norm(data.X_train, axis=1), 1.0, rtol=1e-12)
        assert data.y_train.sum() + data.y_test.sum() == ones
        assert name != "breast-cancer" or data.classes == ("malignant", "benign")
        assert _accuracy(data, C) > least

    def test_all_ten_digits(self) -> None:
        data = load("digits")
        assert data.X_train.shape == (1437, 64)
        assert data.X_test.shape == (360, 64)
        np.testing.assert_allclose(np.linalg.norm(data.X_train, axis=1), 1.0, rtol=1e-12)
        assert data.classes == tuple("0123456789")
        assert np.bincount(np.concatenate([data.y_train, data.y_test])).tolist() == [
            178, 182, 177, 183, 181, 182, 181, 179, 174, 180,
        ]  # fmt: skip
