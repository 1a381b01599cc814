"""The sets made in memory: gisette-like, synthetic-l, synthetic-h, breast-cancer, digits-4-9, which-library."""

import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression

from objpert_core.datasets import Dataset, fetch, gisette, library_pieces, load, small, synthetic, which_library
from objpert_core.datasets._files import GISETTE_FILES
from objpert_core.exceptions import DataUnavailableError


def _accuracy(data: Dataset, C: float) -> float:
    model = LogisticRegression(C=C, max_iter=2000).fit(data.X_train, data.y_train)
    return float(model.score(data.X_test, data.y_test))


LINEAR = [
    ("digits-4-9", [0], 1.0, 0.95, 1.0),
    *(
        pytest.param(*case, marks=pytest.mark.slow)
        for case in (
            ("breast-cancer", [0], 100.0, 0.93, 1.0),
            ("gisette-like", [0], 1.0, 0.96, 0.995),  # linear models get about 98 % on Gisette
            ("synthetic-l", range(5), 100.0, 0.95, 0.96),
            ("synthetic-h", [1], 100.0, 0.945, 0.965),
            ("which-library", [1], 100.0, 0.85, 0.95),
        )
    ),
]


@pytest.mark.parametrize(("name", "seeds", "C", "least", "most"), LINEAR)
def test_a_linear_model_without_privacy_is_as_accurate_as_it_should_be(name, seeds, C, least, most) -> None:
    scores = [_accuracy(load(name, split_seed=seed), C) for seed in seeds]
    assert least <= np.mean(scores) <= most


class TestGisetteLike:
    def test_columns_are_pixels_products_and_as_many_probes(self) -> None:
        names = gisette.feature_names()
        probes = [name for name in names if name.startswith("probe")]
        products = [name for name in names if "·" in name]
        assert (len(probes), len(products), len(names) - len(probes) - len(products)) == (2500, 2100, 400)

    @pytest.mark.slow
    def test_probes_carry_no_information_and_the_others_do(self, monkeypatch: pytest.MonkeyPatch) -> None:
        # Before the rows are divided by their norms, which know a little about the label.
        monkeypatch.setattr(gisette, "unit_rows", lambda matrix: matrix)
        monkeypatch.setattr(gisette, "ROWS", 2000)
        monkeypatch.setattr(gisette, "TRAINING_ROWS", 1600)
        matrix, labels, _, _ = gisette.make(0)
        assert set(np.unique(matrix)) <= set(range(1000))
        probe = np.array([name.startswith("probe") for name in gisette.feature_names()])
        spread = matrix.std(axis=0) * labels.std()
        covariance = (labels - labels.mean()) @ matrix / len(labels)
        score = np.abs(covariance) / np.where(spread > 0, spread, 1.0) * np.sqrt(len(labels))
        assert np.quantile(score[probe], 0.99) < 2.9  # chance alone gives 2.58
        assert np.quantile(score[~probe], 0.5) > 5

    def test_no_image_serves_both_parts(self, monkeypatch: pytest.MonkeyPatch) -> None:
        parts = []

        def record(images, count, generator):
            parts.append({image.tobytes() for image in images})
            return np.zeros((count, 28 * 28))

        monkeypatch.setattr(gisette, "_redrawings", record)
        monkeypatch.setattr(gisette, "_expand", lambda pixels, generator: pixels)
        gisette.make(0)
        fours, nines = parts[0] | parts[1], parts[2] | parts[3]
        assert not parts[0] & parts[1]
        assert not parts[2] & parts[3]
        assert len(fours) + len(nines) == 361

    def test_a_redrawing_is_another_view_of_the_image(self) -> None:
        image = np.zeros((8, 8))
        image[2:6, 3:5] = 1.0
        generator = np.random.default_rng(0)
        first, second = (gisette._redraw(image, generator) for _ in range(2))
        assert first.shape == (28, 28)
        assert first.min() >= 0
        assert first.max() <= 1
        assert np.abs(first - second).max() > 0.1
        assert first.sum() == pytest.approx(8 * 2.75**2, rel=0.35)


class TestSynthetic:
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


class TestSmall:
    def test_breast_cancer_lies_within_the_fixed_ranges(self) -> None:
        bunch = load_breast_cancer()
        assert list(bunch.feature_names) == list(small.BREAST_CANCER_RANGES)
        low, high = np.array(list(small.BREAST_CANCER_RANGES.values())).T
        assert (bunch.data >= low).all()
        assert (bunch.data <= high).all()


class TestWhichLibrary:
    @pytest.mark.thorough
    def test_pieces_are_twenty_lines_and_nothing_tells_their_library_by_name(self) -> None:
        texts, labels = library_pieces(3)
        assert {text.count("\n") for text in texts} == {which_library.LINES - 1}
        assert not any(
            re.search(r"scipy|scikit|sklearn|^\s*#.*licen[cs]e|^\s*import ", text, re.I | re.M) for text in texts
        )
        assert np.bincount(labels).tolist() == [4000, 4000]
        again, _ = library_pieces(4)
        assert again != texts
        assert sorted(again) == sorted(texts)

    @pytest.mark.thorough
    def test_one_file_at_most_stands_on_both_sides(self) -> None:
        files, texts, _ = which_library._everything()
        file_of = dict(zip(texts, files.tolist(), strict=True))  # of a text that several files have, one
        twice = {text for text, times in Counter(texts).items() if times > 1}
        ordered = [file_of[text] for text in library_pieces(0)[0] if text not in twice]
        cut = [file_of[text] for text in library_pieces(0)[0][:6400] if text not in twice]
        assert len(set(cut) & set(ordered[len(cut) :])) <= 1

    def test_without_sources_the_set_says_what_is_missing(self, monkeypatch, tmp_path) -> None:
        which_library._everything.cache_clear()
        monkeypatch.setattr(which_library.scipy, "__file__", str(tmp_path / "__init__.py"))
        with pytest.raises(DataUnavailableError, match="needs 4,000 pieces of scipy's sources, and 0 are installed"):
            load("which-library")


# gisette


@pytest.fixture
def parts(tmp_path: Path) -> list[Path]:
    texts = {
        "train.data": "3 0 4 \n0 5 12 \n",
        "valid.data": "1 0 0 \n",
        "train.labels": "1\n-1\n",
        "valid.labels": "1\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    return [tmp_path / name for name in texts]


def test_handmade_files(parts: list[Path]) -> None:
    features, labels = gisette.read(*parts)
    np.testing.assert_allclose(features, [[0.6, 0, 0.8], [0, 5 / 13, 12 / 13], [1, 0, 0]], rtol=1e-15)
    np.testing.assert_array_equal(labels, [1, 0, 1])


DAMAGED_FILES = [
    ("train.data", "3 0 4\n0 5\n", "every line must hold the same number of whole numbers"),
    ("train.data", "3 0 x\n0 5 1\n", "every line must hold the same number of whole numbers"),
    ("train.data", "3 0 4\n", "1 rows, but 2 labels"),
    ("valid.data", "1 0\n", "2 columns, but train.data has 3"),
    ("train.labels", "1\n0\n", "every line must be -1 or 1"),
    ("train.labels", "1 1\n-1 1\n", "every line must be -1 or 1"),
]


@pytest.mark.parametrize(("name", "text", "message"), DAMAGED_FILES)
def test_a_damaged_file_is_named(tmp_path: Path, parts: list[Path], name: str, text: str, message: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match=f"{name}: {message}"):
        gisette.read(*parts)


def test_load_fetches_from_a_server_and_splits(archive, small_gisette) -> None:
    archive.failures["/gisette/GISETTE/gisette_train.data"] = [503]
    data = load("gisette", _registry=small_gisette)
    assert data.X_train.shape == (40, 12)
    assert data.X_test.shape == (10, 12)
    assert data.feature_names[0] == "column 1"
    assert len(data.feature_names) == 12
    assert set(data.y_train) == {0, 1}
    np.testing.assert_allclose(np.linalg.norm(data.X_train, axis=1), 1.0, rtol=1e-12)
    asked = len(archive.requests)
    assert asked == 5  # four files and one second try
    other = load("gisette", split_seed=1, _registry=small_gisette)
    assert (other.X_train != data.X_train).any()
    assert len(archive.requests) == asked


def test_fetch_reports_each_file_and_the_rows_are_those_that_were_served(server, small_gisette, folder) -> None:
    seen: dict[str, tuple[int, int | None]] = {}
    paths = fetch(
        "gisette", lambda name, *done: seen.update({name: done}), base_url=server.url, _registry=small_gisette
    )
    sizes = [len(server.content["/" + raw.remote]) for raw in GISETTE_FILES]
    assert list(seen.items()) == [(raw.name, (n, n)) for raw, n in zip(GISETTE_FILES, sizes, strict=True)]
    assert [path.name for path in paths] == list(seen)
    rows = np.concatenate([np.loadtxt(path) for path in paths[:2]])
    rows /= np.linalg.norm(rows, axis=1)[:, None]
    data = load("gisette", _registry=small_gisette)
    ours = np.concatenate([data.X_train, data.X_test])
    np.testing.assert_allclose(ours[np.lexsort(ours.T)], rows[np.lexsort(rows.T)], rtol=1e-12)


def test_the_real_digests_refuse_files_of_the_same_form(server, small_gisette, folder) -> None:
    with pytest.raises(DataUnavailableError, match=r"gisette_train\.data .*what arrived has SHA-256 .*expected 6d4c5e"):
        fetch("gisette", base_url=server.url)
