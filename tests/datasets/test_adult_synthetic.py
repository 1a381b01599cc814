import hashlib
import json
import math
from importlib import resources
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.linear_model import LogisticRegression

from benchmarks import make_adult_synthetic
from objpert_core.accounting import Gaussian
from objpert_core.datasets import _adult_tables as tables
from objpert_core.datasets import adult, adult_synthetic, load
from objpert_core.datasets._files import ADULT_FILES, RawFile
from objpert_core.datasets.adult_codebook import CATEGORIES, EDUCATION_LEVEL, FEATURE_NAMES, MAXIMA
from objpert_core.exceptions import DataUnavailableError


def _person(draw: st.DrawFn) -> tuple[list[int], list[int], int]:
    categories = [draw(st.integers(0, len(values) - 1)) for values in CATEGORIES.values()]
    numbers = [draw(st.integers(0, 2 * maximum)) for maximum in MAXIMA.values()]  # beyond the maxima, too
    return categories, numbers, draw(st.integers(0, 1))


@st.composite
def people(draw: st.DrawFn) -> adult.AdultRecords:
    drawn = [_person(draw) for _ in range(draw(st.integers(1, 6)))]
    categories, numbers, labels = (np.array(part) for part in zip(*drawn, strict=True))
    return adult.AdultRecords(categories, numbers, labels)


@pytest.mark.slow
@given(people())
@settings(deadline=None, max_examples=60)
def test_one_person_moves_the_counts_by_exactly_the_sensitivity(records: adult.AdultRecords) -> None:
    without = adult.AdultRecords(records.categories[:-1], records.numbers[:-1], records.labels[:-1])
    with_everybody, with_one_less = make_adult_synthetic.count(records), make_adult_synthetic.count(without)
    difference = np.concatenate([(with_everybody[t.name] - with_one_less[t.name]).ravel() for t in tables.TABLES])
    assert np.linalg.norm(difference) == pytest.approx(tables.SENSITIVITY, rel=1e-12)


def test_every_column_of_adult_is_covered_and_every_parent_comes_first() -> None:
    known = {"label"}
    for table in tables.TABLES:
        assert set(table.parents) <= known
        assert not set(table.children) & known
        known |= set(table.children)
    assert known == {"label", *CATEGORIES, *MAXIMA} - {"education-num"}


def test_values_within_a_bin_come_back_to_it() -> None:
    generator = np.random.default_rng(0)
    for column, starts in tables.BIN_STARTS.items():
        codes = np.repeat(np.arange(len(starts)), 500)
        values = tables.draw_within_bins(column, codes, generator)
        assert values.max() <= MAXIMA[column]
        np.testing.assert_array_equal(np.searchsorted(starts, values, side="right") - 1, codes)


@pytest.mark.slow
@given(st.lists(st.floats(-50, 200), min_size=5, max_size=5), st.floats(0.01, 500))
@settings(deadline=None)
def test_projection_is_the_nearest_vector_with_that_sum(row: list[float], total: float) -> None:
    vector = np.array(row)
    projected = tables.project_to_total(vector[None], np.array([total]))[0]
    assert projected.min() >= 0
    assert projected.sum() == pytest.approx(total, rel=1e-9, abs=1e-9)
    # Optimality on the simplex: the residual's inner product with any corner is at most that with the projection.
    residual = vector - projected
    assert total * residual.max() <= residual @ projected + 1e-6 * (1 + abs(total) * np.abs(residual).max())


@pytest.mark.parametrize("table", tables.TABLES, ids=lambda table: table.name)
def test_conditionals_are_probabilities_even_for_pure_noise(table: tables.Table) -> None:
    noise = np.random.default_rng(1).normal(0, 20, table.shape)
    chances = tables.conditional(noise, 20.0, table)
    assert chances.shape == (*table.shape[: 1 + len(table.parents)], table.child_cells)
    assert chances.min() >= 0
    np.testing.assert_allclose(chances.sum(axis=-1), 1.0, rtol=1e-12)


def test_nothing_has_the_projection_0_and_a_positive_rate_of_a_half() -> None:
    np.testing.assert_array_equal(tables.project_to_total(np.array([[3.0, -1.0]]), np.array([0.0])), [[0.0, 0.0]])
    empty = {table.name: np.zeros(table.shape) for table in tables.TABLES}
    assert adult_synthetic.positive_rate(adult_synthetic.NoisyCounts(empty, 1.0)) == 0.5


def test_without_noise_conditionals_are_the_shares() -> None:
    table = tables.TABLES[1]
    counts = np.random.default_rng(2).integers(1, 100, table.shape).astype(float)
    chances = tables.conditional(counts, 1e-9, table)
    np.testing.assert_allclose(chances, counts / counts.sum(axis=-1, keepdims=True), rtol=1e-6)


def _invented_counts(seed: int) -> adult_synthetic.NoisyCounts:
    generator = np.random.default_rng(seed)
    drawn = {}
    for table in tables.TABLES:
        cells = generator.gamma(0.3, size=table.shape)
        drawn[table.name] = 45_222 * cells / cells.sum()
    return adult_synthetic.NoisyCounts(drawn, 1e-9)


@pytest.mark.thorough
def test_sampled_rows_follow_the_tables() -> None:
    counts = _invented_counts(3)
    records = adult_synthetic.sample(counts, seed=1, rows=60_000)
    again = make_adult_synthetic.count(records)
    assert records.labels.mean() == pytest.approx(adult_synthetic.positive_rate(counts), abs=0.01)
    table = tables.TABLES[1]
    chances = tables.conditional(counts.tables[table.name], counts.sigma, table)
    observed = again[table.name]
    for label in (0, 1):
        busiest = observed[label].sum(axis=1).argmax()
        expected = observed[label, busiest].sum() * chances[label, busiest]
        seen = expected > 5
        distance = (np.square(observed[label, busiest] - expected) / np.maximum(expected, 1))[seen].sum()
        assert stats.chi2.sf(distance, seen.sum() - 1) > 1e-4


def test_the_noise_has_the_promised_law_and_no_seed() -> None:
    exact = {"t": np.zeros((40, 100), dtype=np.int64)}
    np.random.seed(0)  # noqa: NPY002  a seeded global generator must make no difference
    first = make_adult_synthetic.add_noise(exact, 17.0)["t"]
    np.random.seed(0)  # noqa: NPY002
    second = make_adult_synthetic.add_noise(exact, 17.0)["t"]
    assert (first != second).any()
    assert first.dtype == np.int64
    dithered = first.ravel() + np.random.default_rng(0).uniform(-0.5, 0.5, first.size)
    assert stats.kstest(dithered, stats.norm(0, math.hypot(17.0, 12**-0.5)).cdf).pvalue > 1e-4


def test_the_bundled_release_keeps_its_promise() -> None:
    folder = resources.files("objpert_core.datasets")
    text = folder.joinpath(adult_synthetic.COUNTS_FILE).read_bytes()
    content, source = (
        json.loads(text),
        json.loads(folder.joinpath(adult_synthetic.PROVENANCE_FILE).read_text(encoding="utf-8")),
    )
    assert len(text) < 1_000_000
    assert hashlib.sha256(text).hexdigest() == source["counts_sha256"]
    assert (content["epsilon"], content["delta"]) == (source["epsilon"], source["delta"]) == (1.0, 1e-9)
    assert content["sensitivity"] == source["sensitivity"] == pytest.approx(math.sqrt(len(tables.TABLES)), rel=1e-15)
    assert content["sigma"] == source["sigma"]
    assert Gaussian(source["sigma"], source["sensitivity"]).delta(1.0) <= 1e-9
    assert source["source"] == {raw.name: raw.sha256 for raw in ADULT_FILES}
    assert {"command", "date", "commit", "noise"} <= source.keys()
    assert content["columns"] == {table.name: list(table.columns) for table in tables.TABLES}
    assert all(len(content["tables"][t.name]) == math.prod(t.shape) for t in tables.TABLES)
    assert content.keys() == {"epsilon", "delta", "sensitivity", "sigma", "columns", "tables"}


@pytest.mark.slow
def test_the_bundled_counts_are_noisy(real_adult) -> None:
    """The difference to the exact counts is N(0, σ²), rounded: the noise was really added, and no more of it."""
    exact = make_adult_synthetic.count(adult.read([real_adult / "adult.data", real_adult / "adult.test"]))
    released = adult_synthetic.released_counts()
    noise = np.concatenate([(released.tables[t.name] - exact[t.name]).ravel() for t in tables.TABLES])
    assert stats.kstest(noise / released.sigma, "norm").pvalue > 1e-4


@pytest.mark.slow
def test_it_stands_in_for_adult(real_adult) -> None:
    """Trained on the stand-in, tested on real Adult: within 3 points of training on real Adult."""
    real, synthetic = load("adult"), load("adult-synthetic")
    assert synthetic.X_train.shape == real.X_train.shape
    assert synthetic.feature_names == real.feature_names
    scores = [
        LogisticRegression(C=100, max_iter=3000).fit(data.X_train, data.y_train).score(real.X_test, real.y_test)
        for data in (real, synthetic)
    ]
    assert scores[0] > 0.845
    assert scores[0] - scores[1] < 0.015


class TestScript:
    @pytest.fixture
    def invented_files(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        """Two raw files of nobody's data: a test must not spend anybody's budget."""
        row = "40, Private, 1000, HS-grad, 9, Divorced, Sales, Unmarried, White, Female, 0, 0, 40, United-States, "
        files = []
        for name, text in (("adult.data", (row + "<=50K\n") * 300), ("adult.test", (row + ">50K.\n") * 100)):
            (tmp_path / "raw" / "adult").mkdir(parents=True, exist_ok=True)
            (tmp_path / "raw" / "adult" / name).write_text(text)
            files.append(RawFile("adult", name, f"adult/{name}", hashlib.sha256(text.encode()).hexdigest()))
        monkeypatch.setenv("OBJPERT_DATA_DIR", str(tmp_path / "raw"))
        monkeypatch.setattr(make_adult_synthetic, "ADULT_FILES", tuple(files))

    @pytest.mark.usefixtures("invented_files")
    def test_it_writes_a_release_and_will_not_spend_twice(self, tmp_path: Path, capsys) -> None:
        make_adult_synthetic.main(["--output", str(tmp_path)])
        counts, provenance = (
            json.loads((tmp_path / name).read_text(encoding="utf-8"))
            for name in (adult_synthetic.COUNTS_FILE, adult_synthetic.PROVENANCE_FILE)
        )
        assert provenance["sigma"] == counts["sigma"]
        assert provenance["command"].endswith("benchmarks.make_adult_synthetic")
        for table in tables.TABLES:  # 400 people, noise of standard deviation 17 in each cell
            total, spread = sum(counts["tables"][table.name]), counts["sigma"] * math.sqrt(math.prod(table.shape))
            assert abs(total - 400) < 6 * spread
        before = (tmp_path / adult_synthetic.COUNTS_FILE).read_bytes()
        with pytest.raises(SystemExit):
            make_adult_synthetic.main(["--output", str(tmp_path)])
        assert "holds a release; another one would add to its ε and δ" in capsys.readouterr().err
        assert (tmp_path / adult_synthetic.COUNTS_FILE).read_bytes() == before
        make_adult_synthetic.main(["--output", str(tmp_path), "--again"])
        assert (tmp_path / adult_synthetic.COUNTS_FILE).read_bytes() != before

    def test_without_the_files_it_writes_nothing(self, tmp_path: Path, folder: Path) -> None:
        with pytest.raises(DataUnavailableError, match=r"adult\.data is not on disk"):
            make_adult_synthetic.main(["--output", str(tmp_path)])
        assert list(tmp_path.iterdir()) == []


# adult


ROW = (
    "39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, Male, 2174, 0, 40, "
    "United-States, <=50K"
)


def _with(**changes: str) -> str:
    fields = ROW.split(", ")
    for name, value in changes.items():
        fields[[*adult.COLUMNS, "label"].index(name.replace("_", "-"))] = value
    return ", ".join(fields)


def test_the_codebook_has_the_published_sizes() -> None:
    assert [len(values) for values in CATEGORIES.values()] == [8, 16, 7, 14, 6, 5, 2, 41]
    assert all(len(set(values)) == len(values) for values in CATEGORIES.values())
    assert len(FEATURE_NAMES) == len(set(FEATURE_NAMES)) == 105
    assert set(EDUCATION_LEVEL) == set(CATEGORIES["education"])
    assert sorted(EDUCATION_LEVEL.values()) == list(range(1, 17))


def test_a_row_is_encoded_by_hand() -> None:
    (row,) = adult.encode(adult.parse([ROW]))
    expected = dict.fromkeys(FEATURE_NAMES, 0.0)
    for name, value in zip(adult.COLUMNS, ROW.split(", "), strict=False):
        if name in CATEGORIES:
            expected[f"{name}={value}"] = 1.0
        else:
            expected[name] = float(value) / MAXIMA[name]
    norm = (8 + (39 / 90) ** 2 + (77516 / 1.5e6) ** 2 + (13 / 16) ** 2 + (2174 / 99999) ** 2 + (40 / 99) ** 2) ** 0.5
    np.testing.assert_allclose(row, np.array(list(expected.values())) / norm, rtol=1e-14)


def test_a_row_s_code_does_not_depend_on_the_others() -> None:
    alone = adult.encode(adult.parse([ROW]))
    together = adult.encode(adult.parse([_with(age="90", capital_gain="99999"), ROW, _with(sex="Female")]))
    np.testing.assert_array_equal(together[1:2], alone)


def test_values_above_a_maximum_count_as_the_maximum() -> None:
    above, at = _with(age="117", hours_per_week="168"), _with(age="90", hours_per_week="99")
    encoded = adult.encode(adult.parse([above, at]))
    np.testing.assert_array_equal(encoded[0], encoded[1])


def test_rows_with_a_missing_value_are_dropped_and_comments_skipped() -> None:
    lines = ["|1x3 Cross validator", ROW, _with(workclass="?"), "", _with(label=">50K."), _with(native_country="?")]
    records = adult.parse(lines)
    assert len(records) == 2
    np.testing.assert_array_equal(records.labels, [0, 1])
    assert adult.encode(adult.parse([])).shape == (0, 105)
    assert [records.column(name).tolist() for name in ("sex", "age", "label")] == [[1, 1], [39, 39], [0, 1]]


DAMAGED_LINES = [
    (_with(workclass="Astronaut"), r"adult.test, line 2: workclass must be .* codebook's? .*got 'Astronaut'"),
    (_with(label="rich"), r"adult.test, line 2: label must be one of <=50K, >50K, got 'rich'"),
    (_with(age="-3"), r"adult.test, line 2: age must be a whole number >= 0, got '-3'"),
    (_with(age="nan"), r"adult.test, line 2: age must be a whole number >= 0, got 'nan'"),
    (_with(fnlwgt="1e5"), r"adult.test, line 2: fnlwgt must be a whole number >= 0, got '1e5'"),
    (ROW.rsplit(",", 1)[0], r"adult.test, line 2: a row must have 15 fields, got 14"),
    (ROW + ", more", r"adult.test, line 2: a row must have 15 fields, got 16"),
]


@pytest.mark.parametrize(("line", "message"), DAMAGED_LINES)
def test_a_damaged_line_is_named(line: str, message: str) -> None:
    with pytest.raises(ValueError, match=message.replace("codebook's? .*", "codebook, ")):
        adult.parse([ROW, line], "adult.test")


@pytest.mark.slow
def test_real_adult_has_the_published_rows_and_98_of_99_categories(real_adult) -> None:
    records = adult.read([real_adult / "adult.data", real_adult / "adult.test"])
    assert len(records) == 45_222
    encoded = adult.encode(records)
    unused = [name for name, used in zip(FEATURE_NAMES, encoded.any(axis=0), strict=True) if not used]
    assert unused == ["workclass=Never-worked"]
    assert (records.numbers <= np.array(list(MAXIMA.values()))).all()
    level = np.array([EDUCATION_LEVEL[value] for value in CATEGORIES["education"]])
    np.testing.assert_array_equal(level[records.column("education")], records.column("education-num"))
