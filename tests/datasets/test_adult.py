import numpy as np
import pytest

from objpert_core.datasets import adult
from objpert_core.datasets.adult_codebook import CATEGORIES, EDUCATION_LEVEL, FEATURE_NAMES, MAXIMA

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
