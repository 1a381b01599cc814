"""What counts as learning from the data before a private estimator does, and where a pipeline is seen."""

import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn import preprocessing as prep
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.feature_selection import SelectFromModel, SelectKBest
from sklearn.frozen import FrozenEstimator
from sklearn.kernel_approximation import RBFSampler
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline, make_union

from objpert_core.accounting import Standardisation
from objpert_core.estimators import ObjPertLogisticRegression, ObjPertSVC, PrivateSearch, PublicRangeScaler, cautions
from objpert_core.estimators.cautions import forget_cautions, learn_from_data
from objpert_core.exceptions import PrivacyBudgetWarning, UncoveredDataWarning

ROOT = Path(__file__).parents[2]
RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = (X[:, 0] > 0).astype(int)


STEPS = [
    (prep.StandardScaler(), ["StandardScaler"]),
    (prep.MinMaxScaler(), ["MinMaxScaler"]),
    (PCA(2), ["PCA"]),
    (SelectKBest(k=1), ["SelectKBest"]),
    (prep.OneHotEncoder(), ["OneHotEncoder"]),
    (RBFSampler(gamma="scale"), ["RBFSampler"]),
    pytest.param(object(), ["object"], id="not an estimator"),
    (make_union(prep.Normalizer(), make_pipeline("passthrough", PCA())), ["PCA"]),
    (ColumnTransformer([("a", prep.Normalizer(), [0])], remainder=prep.MinMaxScaler()), ["MinMaxScaler"]),
    (ColumnTransformer([("a", "drop", [0]), ("b", PCA(), [1])]), ["PCA"]),
    (prep.OneHotEncoder(categories=[["a", "b"]]), []),
    (RBFSampler(gamma=1.0), []),
    (CountVectorizer(), ["CountVectorizer"]),
    (CountVectorizer(vocabulary=["fee"]), []),
    (TfidfVectorizer(vocabulary=["fee"]), ["TfidfVectorizer"]),
    (TfidfVectorizer(vocabulary=["fee"], use_idf=False), []),
    (make_pipeline(HashingVectorizer(), TfidfTransformer()), ["TfidfTransformer"]),
    (TfidfTransformer(use_idf=False), []),
    (HashingVectorizer(), []),
    (prep.PolynomialFeatures(2), []),
    (prep.Normalizer(), []),
    (prep.Binarizer(), []),
    (prep.FunctionTransformer(np.tanh), []),
    (PublicRangeScaler(), []),
    (FrozenEstimator(prep.StandardScaler().fit(X)), []),
    (SelectFromModel(ObjPertSVC()), []),
    (None, []),
]


@pytest.mark.parametrize(("step", "names"), STEPS, ids=str)
def test_what_learns_from_data(step, names):
    assert learn_from_data(step) == names


def told(fit):
    forget_cautions()
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        fit()
    return [str(one.message) for one in given if one.category is UncoveredDataWarning]


def test_only_what_is_fitted_before_is_told():
    private = ObjPertSVC(classes=[0, 1])
    assert told(lambda: private.fit(prep.StandardScaler().fit_transform(X), Y)) == []  # no pipeline: nobody can see it
    inner = make_pipeline(PCA(2), ObjPertSVC(classes=[0, 1]))
    (of_pca, of_scaler) = told(lambda: make_pipeline(prep.MinMaxScaler(), inner).fit(X, Y))
    assert of_pca.startswith("The pipeline fits PCA on the data before ObjPertSVC")
    assert of_scaler.startswith("The pipeline fits MinMaxScaler on the data before ObjPertSVC")
    first = make_pipeline(SelectFromModel(private, threshold=-np.inf), prep.StandardScaler(), "passthrough")
    assert told(lambda: first.fit(X, Y)) == []  # the scaler comes after the private estimator


def test_a_search_over_pipelines_is_told_once():
    search = GridSearchCV(
        make_pipeline(prep.StandardScaler(), ObjPertSVC(classes=[0, 1])), {"objpertsvc__clip": [0.5, 1.0]}, cv=2
    )
    (text,) = told(lambda: search.fit(X, Y))
    assert "PublicRangeScaler" in text


def test_a_filter_that_makes_errors_of_warnings_stops_the_fit_every_time():
    forget_cautions()
    model = ObjPertSVC()
    for _ in range(2):
        with warnings.catch_warnings():
            warnings.simplefilter("error", UncoveredDataWarning)
            with pytest.raises(UncoveredDataWarning, match="classes=None"):
                model.fit(X, Y)
        assert not hasattr(model, "coef_")


def test_data_that_differ_are_not_the_same_data():
    with warnings.catch_warnings():
        warnings.simplefilter("error", PrivacyBudgetWarning)
        model = ObjPertSVC(classes=[0, 1]).fit(X, Y)
        model.fit(X, 1 - Y)
        model.fit(X[:-1], Y[:-1])
        model.fit(X + 1, Y)
    with pytest.warns(PrivacyBudgetWarning, match="fitted again to the same data"):
        model.fit(X, Y)


# --- what public facts and released numbers say about the rows -------------------------------------------------------


def given(fit):
    """The texts of all warnings, each once a process."""
    forget_cautions()
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        fit()
        fit()
    return [str(one.message) for one in found if one.category is UserWarning]


def private(**parameters):
    return ObjPertLogisticRegression(**{"classes": [0, 1], "public_rows": 60, "random_state": 0} | parameters)


FRAME = pd.DataFrame({"age": np.arange(60), "rate": X[:, 0]})


@pytest.mark.parametrize(
    ("fit", "text"),
    [
        (lambda: private().fit(X[:, :1], Y), "X has one column"),
        (lambda: private(on_error="release").fit(X[:, :1], Y), "X has one column"),
        (lambda: private(row_norm="clip").fit(X[:, :1], Y), None),
        (lambda: private().fit(FRAME, Y), "By its type column 'age' holds whole numbers"),
        (lambda: private().fit(pl.DataFrame(FRAME), Y), "By its type column 'age' holds whole numbers"),
        (lambda: private(row_norm="clip").fit(FRAME, Y), None),
        (lambda: private().fit(FRAME.astype(float), Y), None),
        (lambda: private().fit(FRAME.to_numpy(), Y), None),
        (lambda: private().fit(1000 * X, Y), None),
        (lambda: make_pipeline(prep.FunctionTransformer(), private()).fit(FRAME, Y), None),
        (lambda: private(standardize=True).fit(sp.csr_array(X), Y), "X is sparse"),
        (lambda: private(standardize=False).fit(sp.csr_array(X), Y), None),
        (lambda: private(standardize=False).fit(sp.csr_array((X > 0).astype(float)), Y), None),
        (lambda: private(standardize=Standardisation(None, 30.0)).fit(sp.csr_array(X), Y), None),
    ],
)
def test_types_and_shapes_tell_what_rows_lose(fit, text):
    """By public facts alone: 1000 times as large numbers are no reason to speak."""
    told = [one for one in given(fit) if "released numbers" not in one]
    assert [one.startswith(text or "") for one in told] == [True] * (text is not None)


TEXTS = ["a late fee", "free as a bird"] * 30


def test_what_texts_teach_a_vectoriser_is_told_where_it_can_be_seen():
    """In a pipeline by its steps, outside of one by the type of its counts; idf outside of one nobody can see."""
    one = private(standardize=False)
    counted = CountVectorizer().fit_transform(TEXTS)
    for fit, begins in (
        (lambda: make_pipeline(CountVectorizer(), one).fit(TEXTS, Y), "The pipeline fits CountVectorizer on the data"),
        (
            lambda: make_pipeline(TfidfVectorizer(), PrivateSearch(one, {"margin": [0.0]}, 8.0)).fit(TEXTS, Y),
            "The pipeline fits TfidfVectorizer on the data",
        ),
        (lambda: one.fit(counted, Y), "By its type X is sparse and holds whole numbers, as CountVectorizer makes"),
    ):
        (message,) = told(fit)
        assert message.startswith(begins)
        assert "HashingVectorizer" in message
    public = CountVectorizer(vocabulary=["fee", "bird"])
    for fit in (
        lambda: make_pipeline(public, one).fit(TEXTS, Y),
        lambda: one.fit(HashingVectorizer(n_features=16).transform(TEXTS), Y),
        lambda: one.fit(TfidfTransformer().fit_transform(counted), Y),
    ):
        assert told(fit) == []


@pytest.mark.thorough
def test_a_model_that_answers_with_one_label_says_so_by_its_released_numbers():
    rows = np.random.default_rng(1).normal(size=(4000, 6))
    rare, often = np.arange(4000) % 50 == 0, np.arange(4000) % 2 == 0
    known = {"classes": [False, True], "public_rows": 4000, "epsilon": 8.0}
    assert [one[:30] for one in given(lambda: private(**known).fit(rows, rare))] == ["By its released numbers this O"]
    assert given(lambda: private(**known, class_weight="balanced").fit(rows, rare)) == []
    assert given(lambda: private(**known).fit(rows, often)) == []


@pytest.mark.slow
def test_a_search_in_several_processes_says_each_thing_once(tmp_path):
    script = tmp_path / "search.py"
    script.write_text(
        "import numpy as np\n"
        "from sklearn.model_selection import GridSearchCV\n"
        "from objpert_core.estimators import ObjPertLogisticRegression\n"
        "X = np.random.default_rng(0).normal(size=(60, 3))\n"
        "GridSearchCV(ObjPertLogisticRegression(), {'lam': [1.0, 2.0]}, cv=2, n_jobs=2, refit=False)"
        ".fit(X, X[:, 0] > 0)\n"
    )
    run = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, cwd=ROOT, env=dict(os.environ, PYTHONPATH=str(ROOT))
    )
    for text in ("Several copies of one", "classes=None"):
        assert run.stderr.count(text) == 1, run.stderr


def test_equal_labels_have_one_fingerprint_whichever_objects_they_are():
    first, again = (np.array(["".join(("y", str(k % 2))) for k in range(60)], dtype=object) for _ in range(2))
    assert cautions._fingerprint(X, first) == cautions._fingerprint(X, again)
    assert cautions._fingerprint(X, first) != cautions._fingerprint(X, first[::-1])
