"""A Monte-Carlo audit: how much the fitted coefficients really tell about one person, estimated from below.

Worst case of our theorem (docs/theorems.md, T1): Z holds many copies of (x, −y) and Z' adds one (x, y), so
that the loss of that one row stays on its linear branch. Whatever is done with the coefficients, (ε, δ)-privacy
demands P'(S) ≤ e^ε P(S) + δ for every event S, and the same with P and P' exchanged. So

    log((lower limit of P'(S) − δ) / upper limit of P(S))

is, with the limits' confidence, a lower bound on the ε that the mechanism has at δ.
"""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import expit
from scipy.stats import beta
from sklearn.base import ClassifierMixin

from objpert_core.accounting import Gaussian
from objpert_core.estimators import ObjPertLogisticRegression, ObjPertRegressor, ObjPertSVC
from objpert_core.learning import NoiseSource

EPSILON, DELTA = 1.0, 0.05
CONFIDENCE = 0.99
PILOT = 2000  # draws that choose the event
DIRECTIONS = 20  # draws that one fit gives


SHARED = {"epsilon": EPSILON, "delta": DELTA, "fit_intercept": False}
PUBLIC = {"classes": [0, 1], "public_rows": 250 * DIRECTIONS, "standardize": False}  # one axis, one fit
LEARNERS = {  # and the share of ε that the audit finds at least in data made for logistic regression
    "logistic regression": (lambda: ObjPertLogisticRegression(**SHARED, **PUBLIC), 0.7),
    "without a margin": (lambda: ObjPertLogisticRegression(**SHARED, **PUBLIC, margin=0.0), 0.7),
    "with hardly more noise than the Gaussian": (
        lambda: ObjPertLogisticRegression(**SHARED, **PUBLIC, margin=0.0, advanced={"noise_ratio": 1.002}),
        0.7,
    ),
    "squared hinge": (lambda: ObjPertSVC(**SHARED, classes=[0, 1]), 0.4),
    "huberised hinge": (lambda: ObjPertSVC(**SHARED, classes=[0, 1], loss="huberised-hinge"), 0.4),
    "clipped squares": (lambda: ObjPertRegressor(**SHARED), 0.4),
    "huber": (lambda: ObjPertRegressor(**SHARED, loss="huber"), 0.4),
}


def coefficients(n_fits, extra_row, copies=250, learner="logistic regression", directions=DIRECTIONS):
    """`n_fits` draws of the fitted coefficient on Z, or on Z' with the extra row.

    A row that lies along one axis has a gradient along that axis, so with `DIRECTIONS` axes one objective is a sum of
    as many separate ones, each with its own Z (and Z'), its own noise and its own coefficient: one private fit is as
    many independent draws of the mechanism in one dimension. Any one of the extra rows is still a single row.

    One seeded stream of noise, so that the test gives the same verdict every time.
    """
    axis = np.append(np.repeat(np.arange(directions), copies), np.arange(directions if extra_row else 0))
    X = sp.csr_array((np.ones(len(axis)), (np.arange(len(axis)), axis)), shape=(len(axis), directions))
    X = X if directions > DIRECTIONS else X.toarray()
    y = (np.arange(len(axis)) >= copies * directions).astype(int)
    model = LEARNERS[learner][0]().set_params(random_state=np.random.RandomState(int(extra_row)))
    if not isinstance(model, ClassifierMixin):
        y = 200.0 * y - 100.0  # far beyond where clipping sets in
    fits = [model.fit(X, y).coef_.ravel() for _ in range(n_fits // directions)]
    return np.concatenate(fits), model.privacy_


def lower_bound(with_row, without_row, delta=DELTA, pilot=PILOT):
    """A lower bound on ε with confidence `CONFIDENCE`.

    The event is chosen on the first draws and judged on the others (Clopper–Pearson limits), so the choice costs no
    confidence.
    """
    risk = (1 - CONFIDENCE) / 2  # for each of the two limits

    def ratio(with_row, without_row, threshold, size):
        """log((P'₋ − δ)/P₊) for θ > threshold, with the limits that `size` draws with these frequencies have."""
        most, few = (size * np.mean(sample > threshold) for sample in (with_row, without_row))
        certain = beta.ppf(risk, most, size - most + 1) - delta
        possible = beta.ppf(1 - risk, few + 1, size - few)
        return np.log(certain / possible) if certain > 0 else -np.inf

    first = max(pilot, len(with_row) // 7)
    seek, judged = (with_row[:first], without_row[:first]), (with_row[first:], without_row[first:])
    size = len(judged[0])
    thresholds = np.quantile(seek[0], np.linspace(0.05, 0.95, 91))  # never all, never none
    best = max(thresholds, key=lambda threshold: ratio(*seek, threshold, size))
    return ratio(*judged, best, size)


def test_the_audit_itself_is_sound_and_sharp_on_a_gaussian():
    """Shift 1, σ = 1: ε at δ = 0.05 is known; the audit must come close to it from below."""
    rng = np.random.default_rng(0)
    truth = Gaussian(1.0).epsilon(DELTA)
    found = lower_bound(rng.normal(1.0, 1.0, 200_000), rng.normal(0.0, 1.0, 200_000))
    assert 0.85 * truth < found <= truth


def test_a_fit_along_several_axes_is_as_many_fits_along_one(monkeypatch):
    """Given the same noise, the coefficient of an axis is that of a fit to the rows of this axis alone."""
    noise = np.random.default_rng(0).standard_normal(DIRECTIONS)
    monkeypatch.setattr(NoiseSource, "standard_normal", lambda self, size: noise[:size])
    monkeypatch.setattr(NoiseSource, "rounded_normal", lambda self, ratio, size: np.zeros(size, np.int64))
    together, certificate = coefficients(DIRECTIONS, extra_row=True)
    X, y = np.ones((251, 1)), np.append(np.zeros(250, int), 1)
    for axis in (0, DIRECTIONS - 1):
        monkeypatch.setattr(NoiseSource, "standard_normal", lambda self, size, axis=axis: noise[[axis]])
        alone = ObjPertLogisticRegression(**SHARED, **PUBLIC | {"public_rows": 250}, random_state=0).fit(X, y)
        assert together[axis] == pytest.approx(alone.coef_[0, 0], abs=1e-5)
        assert (certificate.sigma, certificate.lam) == (alone.privacy_.sigma, alone.privacy_.lam)


AUDITED = [
    "logistic regression",
    "clipped squares",
    pytest.param("huber", marks=pytest.mark.exhaustive),
    pytest.param("squared hinge", marks=pytest.mark.exhaustive),
    pytest.param("without a margin", marks=pytest.mark.exhaustive),
    pytest.param("huberised hinge", marks=pytest.mark.exhaustive),
]


@pytest.mark.no_cover
@pytest.mark.slow
@pytest.mark.parametrize("learner", AUDITED)
def test_the_fitted_estimator_keeps_its_promise_and_uses_much_of_it(learner):
    without_row, certificate = coefficients(14_000, extra_row=False, learner=learner)
    with_row, _ = coefficients(14_000, extra_row=True, learner=learner)
    found = lower_bound(with_row, without_row)
    print(f"audit of {learner}: ε ≥ {found:.3f} at δ = {DELTA}; the certificate says {certificate.epsilon}")
    assert found <= certificate.epsilon
    assert found >= LEARNERS[learner][1] * certificate.epsilon


def likelihood_ratios(theta, certificate, copies, margin):
    """The logarithm of the ratio of the two densities at θ, exact but for the output noise, which is a thousandth."""
    wrong, right = expit(margin + theta), expit(margin - theta)  # slopes of a copy, and of the extra row, less signs
    without = -(certificate.lam * theta + copies * wrong)
    with_row = without + right
    bend = certificate.lam + copies * wrong * (1 - wrong)
    noise = (without**2 - with_row**2) / (2 * certificate.sigma**2)
    return noise + np.log1p(right * (1 - right) / bend)


@pytest.mark.exhaustive  # some minutes
def test_on_the_worst_pair_the_audit_finds_nine_tenths_of_the_promise():
    """500,000 coefficients from each of two data sets, 200 copies of a row, the likelihood ratio as statistic."""
    copies, draws, directions = 200, 500_000, 200
    samples, certificate = [], None
    for extra_row in (False, True):
        theta, certificate = coefficients(
            draws, extra_row, copies, "with hardly more noise than the Gaussian", directions
        )
        samples.append(likelihood_ratios(theta, certificate, copies, 0.0))
    found = lower_bound(samples[1], samples[0])
    print(f"audit of the worst pair: ε ≥ {found:.3f} at δ = {DELTA}; the certificate says {certificate.epsilon}")
    assert 0.9 * certificate.epsilon <= found <= certificate.epsilon


@pytest.mark.no_cover
@pytest.mark.slow
@pytest.mark.parametrize(
    "learner", ["logistic regression", pytest.param("squared hinge", marks=pytest.mark.exhaustive), "clipped squares"]
)
def test_the_audit_convicts_a_mechanism_with_half_the_noise(monkeypatch, learner):
    full = NoiseSource.rounded_normal
    monkeypatch.setattr(NoiseSource, "rounded_normal", lambda self, ratio, size: full(self, ratio, size) // 2)
    without_row, certificate = coefficients(6_000, extra_row=False, learner=learner)
    with_row, _ = coefficients(6_000, extra_row=True, learner=learner)
    found = lower_bound(with_row, without_row)
    print(f"audit of the broken mechanism: ε ≥ {found:.3f}; its certificate says {certificate.epsilon}")
    assert found > 1.2 * certificate.epsilon
