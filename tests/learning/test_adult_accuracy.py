"""The accuracy that the defaults promise on the real Adult data."""

from pathlib import Path

import numpy as np
import pytest

from objpert_core import datasets
from objpert_core.estimators import ObjPertLogisticRegression

DATA = Path(__file__).parents[2].parent / "shared" / "data"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (DATA / "adult" / "adult.data").exists(), reason=f"the Adult files are not in {DATA}"),
]


@pytest.fixture(scope="module")
def splits():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OBJPERT_DATA_DIR", str(DATA))
        return [datasets.load("adult", split_seed=seed) for seed in range(5)]


@pytest.mark.parametrize("draws", [2, pytest.param(10, marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize(("epsilon", "target"), [(0.1, 0.820), (1.0, 0.838), (8.0, 0.846)])
def test_defaults_reach_the_target_over_five_splits(splits, epsilon, target, draws):
    scores = []
    for data in splits:
        for noise_seed in range(draws):
            model = ObjPertLogisticRegression(epsilon, delta=1e-5, random_state=noise_seed)
            scores.append(model.fit(data.X_train, data.y_train).score(data.X_test, data.y_test))
    error = 100 * np.std(scores) / len(scores) ** 0.5
    print(f"ε = {epsilon:g}: {100 * np.mean(scores):.2f} % ± {error:.2f}")
    assert np.mean(scores) >= target
