"""Noise has the shape of what it is added to: one number for several entries is refused wherever a learner adds it."""

import warnings

import numpy as np
import pytest

import objpert_core.estimators as est
from objpert_core.evaluation import evaluate
from objpert_core.learning.noise import NoiseSource

rng = np.random.default_rng(0)
X = rng.normal(size=(200, 3))
y = (X[:, 0] > 0).astype(int)
CLASSES = {"classes": [0, 1], "public_rows": 200, "random_state": 0}
UNKNOWN = np.full(3, np.nan)
PUBLISHED = est.ObjPertLogisticRegression(**CLASSES).fit(X, y)
RELEASES = {
    "objective": lambda: est.ObjPertLogisticRegression(**CLASSES, standardize=False).fit(X, y),
    "centre and scales": lambda: est.ObjPertLogisticRegression(**CLASSES, standardize=True, epsilon=8.0).fit(X, y),
    "ranges": lambda: est.ObjPertLogisticRegression(**CLASSES, feature_ranges="private", epsilon=30.0).fit(X, y),
    "weights of classes": lambda: est.ObjPertLogisticRegression(**CLASSES, class_weight="balanced").fit(X, y),
    "intervals": lambda: est.ObjPertLogisticRegression(
        **CLASSES, intervals=True, epsilon=8.0, advanced={"row_norm": "clip"}
    ).fit(X, y),
    "output": lambda: est.OutputPerturbationLogisticRegression(**CLASSES).fit(X, y),
    "DP-SGD": lambda: est.DPSGDLogisticRegression(**CLASSES, epochs=1).fit(X, y),
    "noisy SGD": lambda: est.NoisySGDClassifier(**CLASSES).fit(X, y),
    "phased": lambda: est.PhasedERMClassifier(**CLASSES).fit(X, y),
    "quadratic": lambda: est.QOPLasso(random_state=0).fit(X, X[:, 0]),
    "sums": lambda: est.AdaSSPRegressor(random_state=0).fit(X, X[:, 0]),
    "posterior": lambda: est.AdaOPSRegressor(random_state=0).fit(X, X[:, 0]),
    "counts": lambda: evaluate(PUBLISHED, X, y, random_state=0),
}
"""What draws several numbers at once, somewhere."""


@pytest.mark.thorough
@pytest.mark.parametrize("name", RELEASES)
def test_one_number_for_several_entries_is_refused(name, monkeypatch):
    release, drawn, short, whole = RELEASES[name], [], [], NoiseSource.rounded_normal

    def one_where_told(self, ratio, size):
        drawn.append(size)
        return whole(self, ratio, 1 if len(drawn) in short else size)

    monkeypatch.setattr(NoiseSource, "rounded_normal", one_where_told)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        release()
        several = [at for at, size in enumerate(drawn, 1) if size > 1]
        several = several[name == "quadratic" :]  # whose first numbers make a matrix, and are added to nothing
        assert several
        for place in several[:8]:
            drawn[:], short[:] = [], [place]
            with pytest.raises((ValueError, IndexError)):
                release()
