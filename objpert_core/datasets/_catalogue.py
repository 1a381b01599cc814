"""The data sets by name: what each one is, where its rows come from, and how to load it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from objpert_core._validation import FloatArray, IntArray, choice, nonnegative_integer
from objpert_core.datasets import adult, adult_synthetic, gisette, small, synthetic, which_library
from objpert_core.datasets._dataset import Dataset, labelled, shuffled_split
from objpert_core.datasets._files import (
    ADULT_FILES,
    GISETTE_FILES,
    Progress,
    RawFile,
    data_folder,
    obtain,
    present,
    verified,
)
from objpert_core.datasets.adult_codebook import CLASSES as INCOME
from objpert_core.datasets.adult_codebook import FEATURE_NAMES as ADULT_FEATURES
from objpert_core.datasets.tables.columns import Categories, Number
from objpert_core.exceptions import DataUnavailableError

_SYNTHETIC_ROWS_SEED = 0  # the stand-in's rows are fixed like a file's; `split_seed` only deals them out

_ADULT_CITATION = (
    "B. Becker and R. Kohavi (1996). Adult. UCI Machine Learning Repository, doi 10.24432/C5XW20; "
    "R. Kohavi (1996), Scaling up the accuracy of naive-Bayes classifiers: a decision-tree hybrid, KDD."
)
_GISETTE_CITATION = (
    "I. Guyon, S. Gunn, A. Ben-Hur and G. Dror (2004). Gisette. UCI Machine Learning Repository, doi 10.24432/C5HP5B; "
    "I. Guyon (2003), Design of experiments for the NIPS 2003 variable selection benchmark."
)
_DIGITS_CITATION = (
    "E. Alpaydin and C. Kaynak (1998). Optical Recognition of Handwritten Digits. UCI Machine Learning Repository, "
    "doi 10.24432/C50P49."
)
_SHAPE_CITATION = (
    "Sizes and recipe after R. Iyengar et al. (2019), Towards practical differentially private convex optimization, "
    "IEEE S&P, as used by R. Redberg, A. Koskela and Y.-X. Wang (2023)."
)


@dataclass
class _Pool:
    """All rows before the split; kept so that a second split does not read the files again."""

    features: FloatArray
    labels: IntArray

    @property
    def nbytes(self) -> int:
        return self.features.nbytes + self.labels.nbytes


@dataclass(frozen=True)
class _Entry:
    title: str
    origin: str
    citation: str
    licence: str
    classes: tuple[str, ...]
    feature_names: Callable[[int], Sequence[str]]  # of the number of columns
    pool: Callable[[list[Path]], tuple[FloatArray, IntArray]] | None = None  # rows that `split_seed` deals out
    records: Callable[[list[Path]], adult.AdultRecords] | None = None  # the same rows before they are encoded
    split: Callable[[int], tuple[FloatArray, IntArray, FloatArray, IntArray]] | None = None  # or both parts at once
    files: tuple[RawFile, ...] = ()
    stand_in_for: str | None = None


def _invented(_: list[Path]) -> adult.AdultRecords:
    return adult_synthetic.sample(adult_synthetic.released_counts(), _SYNTHETIC_ROWS_SEED)


def _drawn(name: str, title: str) -> _Entry:
    """A set of `synthetic`."""
    return _Entry(
        title=title,
        origin="Drawn from a fixed seed; nobody's data.",
        citation=_SHAPE_CITATION,
        licence="Apache-2.0 (made by this project)",
        classes=("below", "above"),
        feature_names=lambda columns: [f"x{position}" for position in range(1, columns + 1)],
        pool=lambda _: synthetic.make(name),
    )


_ENTRIES: dict[str, _Entry] = {
    "adult": _Entry(
        title="Predict from the 1994 US census whether a person earns more than 50,000 dollars a year: 45,222 people "
        "without missing values, 99 indicators of published categories and 6 scaled numbers.",
        origin="The files adult.data and adult.test of the UCI archive, byte for byte (SHA-256 checked).",
        citation=_ADULT_CITATION,
        licence="CC BY 4.0",
        classes=INCOME,
        feature_names=lambda _: ADULT_FEATURES,
        records=adult.read,
        files=ADULT_FILES,
    ),
    "adult-synthetic": _Entry(
        title="45,222 invented people with the columns of Adult: no row belongs to anyone.",
        origin="Drawn from noisy low-order counts of Adult that were released with differential privacy "
        "(ε = 1, δ = 1e-9, adding or removing one person) by benchmarks/make_adult_synthetic.py.",
        citation=_ADULT_CITATION,
        licence="CC BY 4.0 (derived from Adult)",
        classes=INCOME,
        feature_names=lambda _: ADULT_FEATURES,
        records=_invented,
        stand_in_for="adult",
    ),
    "gisette": _Entry(
        title="Tell a handwritten 4 from a 9: 7,000 rows of 5,000 columns, half of which carry no information.",
        origin="The labelled training and validation files of the UCI archive (SHA-256 checked), pooled. The files do "
        "not say which digit has the label +1.",
        citation=_GISETTE_CITATION,
        licence="CC BY 4.0",
        classes=("-1", "+1"),
        feature_names=lambda columns: [f"column {position}" for position in range(1, columns + 1)],
        pool=lambda paths: gisette.read(*paths),
        files=GISETTE_FILES,
    ),
    "gisette-like": _Entry(
        title="Tell a handwritten 4 from a 9: 6,000 rows of 5,000 columns (pixels, products of pixels, "
        "and probes without information).",
        origin="Made by Gisette's recipe from scikit-learn's 361 small images of these digits, each redrawn several "
        "times with a random shift, turn, scale and slant; no image serves both parts of the split.",
        citation=f"{_DIGITS_CITATION} Recipe: I. Guyon (2003), Design of experiments for the NIPS 2003 variable "
        "selection benchmark.",
        licence="CC BY 4.0 (derived from the digits)",
        classes=gisette.CLASSES,
        feature_names=lambda _: gisette.feature_names(),
        split=gisette.make,
        stand_in_for="gisette",
    ),
    "synthetic-l": _drawn(
        "synthetic-l",
        "10,000 Gaussian rows of 20 columns, labels by random normal weights, 3.6 % of the labels flipped.",
    ),
    "synthetic-h": _drawn(
        "synthetic-h",
        "5,000 Gaussian rows of 5,000 columns with standard deviations 1, 2^-1.5, 3^-1.5, …, labels by random "
        "normal weights, 2 % of the labels flipped.",
    ),
    "breast-cancer": _Entry(
        title="Tell a benign tumour from a malignant one: 569 patients, 30 measurements of cell nuclei.",
        origin="scikit-learn's copy of the Wisconsin diagnostic data; columns scaled by published ranges.",
        citation="W. Wolberg, O. Mangasarian, N. Street and W. Street (1995). Breast Cancer Wisconsin (Diagnostic). "
        "UCI Machine Learning Repository, doi 10.24432/C5DW2B.",
        licence="CC BY 4.0",
        classes=("malignant", "benign"),
        feature_names=lambda _: tuple(small.BREAST_CANCER_RANGES),
        pool=lambda _: small.breast_cancer(),
    ),
    "digits-4-9": _Entry(
        title="Tell a handwritten 4 from a 9: 361 images of 8 × 8 pixels.",
        origin="scikit-learn's copy of the optical digits; pixels divided by 16.",
        citation=_DIGITS_CITATION,
        licence="CC BY 4.0",
        classes=("4", "9"),
        feature_names=lambda _: small.DIGITS_FEATURE_NAMES,
        pool=lambda _: small.digits_4_9(),
    ),
    "digits": _Entry(
        title="Read a handwritten digit: 1,797 images of 8 × 8 pixels, ten classes.",
        origin="scikit-learn's copy of the optical digits; pixels divided by 16.",
        citation=_DIGITS_CITATION,
        licence="CC BY 4.0",
        classes=small.DIGITS,
        feature_names=lambda _: small.DIGITS_FEATURE_NAMES,
        pool=lambda _: small.digits(),
    ),
    "which-library": _Entry(
        title="Say which library a piece of text is from: 8,000 pieces of 20 lines of scipy and scikit-learn, words "
        "counted in 2,000 hashed columns.",
        origin=f"The sources of {which_library.VERSIONS}, as they are installed here: other versions are other "
        "texts. Names, imports, authors and licences are cut out; a file's pieces are on one side of the split, "
        "except those of the one file in which the split falls.",
        citation="P. Virtanen et al. (2020), SciPy 1.0, Nature Methods 17; F. Pedregosa et al. (2011), Scikit-learn: "
        "machine learning in Python, JMLR 12.",
        licence="BSD-3-Clause",
        classes=which_library.CLASSES,
        feature_names=lambda _: which_library.feature_names(),
        split=which_library.make,
    ),
}


class BoundedCache:
    """Least-recently-used cache bounded by bytes, in which each value is made once however many threads ask for it; a
    value larger than `max_bytes` is returned and not kept.
    """

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self._values: OrderedDict[Hashable, Any] = OrderedDict()
        self._making: dict[Hashable, threading.Lock] = {}
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """The value kept under `key`, made by `make()` when there is none; an error in `make` is not kept."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
            making = self._making.setdefault(key, threading.Lock())
        with making:
            with self._lock:
                if key in self._values:  # another thread made it while this one waited
                    self._values.move_to_end(key)
                    return self._values[key]
            try:
                value = make()
                self._keep(key, value)
            finally:
                with self._lock:
                    self._making.pop(key, None)
            return value

    def _keep(self, key: Hashable, value: Any) -> None:
        with self._lock:
            if value.nbytes <= self.max_bytes:
                self._values[key] = value
                while sum(kept.nbytes for kept in self._values.values()) > self.max_bytes:
                    self._values.popitem(last=False)

    def clear(self) -> None:
        """Drop every value, so that the next `get` of each makes it anew."""
        with self._lock:
            self._values.clear()

    def __len__(self) -> int:
        return len(self._values)


# Room for Gisette's rows and one split of them.
_cache = BoundedCache(700 * 2**20)


def names(classes: int | None = None) -> tuple[str, ...]:
    """The names that `load` knows, or only those with that many classes."""
    return tuple(name for name, entry in _ENTRIES.items() if classes in (None, len(entry.classes)))


def _entry(name: str) -> _Entry:
    return _ENTRIES[choice("name", name, names())]


def describe(name: str) -> str:
    """One paragraph about a data set: what it is, where it comes from, its licence, and whether it is a stand-in.

    A name that is not one of `names()` is refused with a `ValueError`.

    >>> describe("digits-4-9")
    "Tell a handwritten 4 from a 9: 361 images of 8 × 8 pixels. scikit-learn's copy of the optical digits; pixels \
divided by 16. Licence: CC BY 4.0."
    """
    entry = _entry(name)
    stand_in = "" if entry.stand_in_for is None else f"Stand-in for {entry.stand_in_for}, not the real data. "
    return f"{stand_in}{entry.title} {entry.origin} Licence: {entry.licence}."


def available(name: str) -> bool:
    """Whether `load(name)` would work without the network: always, for sets that need no raw files.

    A damaged file counts as absent; `damage` names it. `ValueError` for a name that is not one of `names()`.
    """
    files = _entry(name).files
    return not files or present(files, data_folder())


def damage(name: str) -> tuple[str, ...]:
    """For each raw file on disk with a wrong SHA-256, a message with its path, the digest expected and the one
    found."""
    found = []
    for raw in _entry(name).files:
        try:
            verified(raw, data_folder())
        except DataUnavailableError as error:
            found.append(str(error))
    return tuple(found)


def default_name() -> str:
    """`"adult"` when its files are on disk, else its offline stand-in `"adult-synthetic"`."""
    return "adult" if available("adult") else "adult-synthetic"


def fetch(
    name: str,
    progress: Progress | None = None,
    *,
    base_url: str | None = None,
    _registry: tuple[RawFile, ...] | None = None,
) -> list[Path]:
    """Fetch the raw files of a data set that are not on disk yet, and return the paths of the verified files.

    `progress(file name, bytes so far, total bytes or None)` is called on the way; what it raises stops the transfer,
    and nothing is left behind. The files are at `base_url`, by default `OBJPERT_DATA_URL` or else the UCI archive;
    their digests must be the same whatever the place.

    Raises
    ------
    DataUnavailableError
        If a file on disk has a wrong digest, or a missing one could not be fetched in three tries; the message names
        the folder to put it in.
    """
    files = _entry(name).files if _registry is None else _registry
    return obtain(files, data_folder(), url=base_url, progress=progress)


def load(name: str, *, split_seed: int = 0, _registry: tuple[RawFile, ...] | None = None) -> Dataset:
    """A data set, encoded, with rows of norm one, split 80/20.

    Files that are neither in the data folder nor in its cache are fetched first. Loaded splits are kept in memory
    (bounded), so loading again is immediate, from any thread; the arrays are shared and therefore read-only.

    The sizes of the two parts are functions of the number of rows, which is hence taken as public. Equal seeds >= 0
    give equal splits; `ValueError` for a name that is not one of `names()`.

    Raises
    ------
    DataUnavailableError
        If its raw files can be neither found nor fetched, or have a wrong SHA-256.

    Examples
    --------
    >>> load("digits-4-9", split_seed=1)
    Dataset(digits-4-9: 288 training and 73 test rows, 64 columns)
    """
    entry = _entry(name)
    split_seed = nonnegative_integer("split_seed", split_seed)
    files = entry.files if _registry is None else _registry
    paths = obtain(files, data_folder()) if files else []
    # The files' times are part of the key: replaced files are read, and verified, again.
    state = tuple((path, path.stat().st_size, path.stat().st_mtime_ns) for path in paths)

    def pool() -> _Pool:
        if entry.records is not None:
            records = entry.records(paths)
            return _Pool(adult.encode(records), records.labels)
        assert entry.pool is not None
        return _Pool(*entry.pool(paths))

    def split() -> Dataset:
        if entry.split is not None:
            parts = entry.split(split_seed)
        else:
            everything: _Pool = _cache.get((name, "pool", state), pool)
            parts = shuffled_split(everything.features, everything.labels, split_seed)
        return Dataset(
            name,
            *parts,
            feature_names=tuple(entry.feature_names(parts[0].shape[1])),
            classes=entry.classes,
            origin=entry.origin,
            citation=entry.citation,
            licence=entry.licence,
            stand_in_for=entry.stand_in_for,
            split_seed=split_seed,
        )

    dataset: Dataset = _cache.get((name, split_seed, state), split)
    return dataset


class RawTable(NamedTuple):
    """Rows as they were surveyed, before any encoding, and what is publicly known of their columns.

    Parameters
    ----------
    frame : pandas.DataFrame
        Texts and whole numbers, a column for each question.
    labels : ndarray, shape (n,)
        0 and 1, as in `load`.
    columns : dict from column to Categories or Number
        From the published codebook: what an additive estimator takes as its `columns`.
    label : str
        The name as it has to appear next to results: a stand-in says what it stands in for.
    """

    frame: pd.DataFrame
    labels: IntArray
    columns: dict[str, Categories | Number]
    label: str


def load_raw(name: str) -> RawTable:
    """The rows of `"adult"` or `"adult-synthetic"` that `load` encodes, as a table of texts and numbers.

    All rows are in it, in the order of the files. `ValueError` for another name, and `DataUnavailableError` as for
    `load`.

    Examples
    --------
    >>> frame, labels, columns, label = load_raw("adult-synthetic")
    >>> label
    'adult-synthetic (stand-in for adult)'
    >>> frame.shape, columns["age"].high, columns["sex"].categories
    ((45222, 14), 90.0, ('Female', 'Male'))
    """
    entry = _ENTRIES[choice("name", name, tuple(one for one in _ENTRIES if _ENTRIES[one].records is not None))]
    assert entry.records is not None
    records = entry.records(obtain(entry.files, data_folder()) if entry.files else [])
    return RawTable(records.frame(), records.labels, adult.columns(), labelled(name, entry.stand_in_for))
