"""A Monte-Carlo audit of several fits under one certificate: what all their coefficients tell about one row together.

The worst case of docs/theorems.md, T46: Z holds many copies of (−x, class 0) and Z' adds one (x, class 0), which is
then wrong in the fits of all classes. `test_audit` says what the bound from below is, and how one fit along several
axes is as many draws of the mechanism in one dimension.
"""

import numpy as np
import pytest
from scipy.special import expit

from objpert_core.estimators import ObjPertLogisticRegression
from tests.learning.test_audit import DELTA, DIRECTIONS, EPSILON, lower_bound

CLASSES = 4
COPIES = 250


def ratios(n_draws, extra_row, epsilon=EPSILON):
    """`n_draws` of the logarithm of the ratio of the densities with and without the row, at what was released."""
    copies = np.repeat(np.arange(DIRECTIONS), COPIES)
    X = np.zeros((len(copies) + DIRECTIONS * extra_row, DIRECTIONS))
    X[np.arange(len(copies)), copies] = -1.0
    X[len(copies) :] = np.eye(DIRECTIONS)[: len(X) - len(copies)]
    y = np.zeros(len(X), int)
    model = ObjPertLogisticRegression(
        epsilon,
        DELTA,
        fit_intercept=False,
        standardize=False,
        margin=0.0,
        classes=list(range(CLASSES)),
        public_rows=len(copies),
        random_state=np.random.RandomState(int(extra_row)),
    )
    found = []
    for _ in range(n_draws // DIRECTIONS):
        coef = model.fit(X, y).coef_
        found.append(log_ratios(coef, model.privacy_))
    return np.concatenate(found), model.privacy_


def log_ratios(coef, spent):
    """Summed over the fits, exact but for the output noise, for every axis; the copies push every `far` up."""
    total = np.zeros(coef.shape[1])
    for own, theta in enumerate(coef):
        weight, far = (1.0, -theta) if own == 0 else (spent.rest_weight, theta)
        copy, row = expit(-weight * far), expit(weight * far)
        without = COPIES * weight * copy - spent.lam * far
        with_row = without - weight * row
        bend = spent.lam + COPIES * weight**2 * copy * (1 - copy)
        total += (without**2 - with_row**2) / (2 * spent.sigma**2) + np.log1p(weight**2 * row * (1 - row) / bend)
    return total


@pytest.mark.no_cover
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::objpert_core.exceptions.PrivacyBudgetWarning")
def test_all_fits_together_keep_their_promise_and_use_most_of_it():
    without_row, spent = ratios(14_000, extra_row=False)
    with_row, _ = ratios(14_000, extra_row=True)
    found = lower_bound(with_row, without_row)
    print(f"audit of {CLASSES} classes: ε ≥ {found:.3f} at δ = {DELTA}; the certificate says {spent.epsilon}")
    assert spent.fits == CLASSES
    assert 0.7 * spent.epsilon <= found <= spent.epsilon
    assert spent.rebuild().epsilon(DELTA) < found  # a certificate of one fit would be refuted
