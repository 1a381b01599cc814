"""A family from outside: mechanism, certificate, release and estimator in one file, and what it gets for free.

The toy is objective perturbation with a public prior: the j-th coefficient is penalised by λ(1 + g·j), so that the
quadratic term is a matrix. It may count the rows first, with noise, and refuse to release a model of too few.

Its privacy. Every Hessian H of the objective is ⪰ Λ ⪰ λI. So a row multiplies det H by 1 + f''xᵀH⁻¹x ≤ 1 + β/λ, moves
the gradient by L at most, and a solver stops within τ/λ of the minimiser: the proof of the bound "monotone" goes
through word by word. The noisy count is one more Gaussian mechanism, and two Gaussian losses make one.
"""

import dataclasses
import math
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

import numpy as np
import pytest

from objpert_core.accounting import (
    DPSGD,
    ApproximateMinima,
    Gaussian,
    Mechanism,
    ObjectivePerturbation,
    calibrate_gaussian,
    compose,
    rdp_to_epsilon,
    repeat,
)
from objpert_core.accounting.laws.base import GaussianLoss
from objpert_core.accounting.laws.simple import PositiveGaussianLaw
from objpert_core.accounting.mechanisms.perturbation import Perturbation
from objpert_core.accounting.terms import Terms
from objpert_core.estimators.base import LinearClassifier
from objpert_core.estimators.documented import documented
from objpert_core.estimators.objective import SOLVED, constant_of, solved, solving
from objpert_core.estimators.recipe import Learned, Recipe
from objpert_core.exceptions import ReleaseRefusedError
from objpert_core.learning import (
    Fit,
    LogisticLoss,
    PerturbedObjective,
    PrivacyCertificate,
    Refused,
    Release,
    Rows,
    SolvedCertificate,
    SquaredHingeLoss,
    noise_source,
    perturb_and_solve,
    solve,
)
from objpert_core.learning.certificates.field_rules import COUNT, NONNEGATIVE, POSITIVE, fact, one_of, or_nothing
from objpert_core.learning.problem.losses import LOGISTIC
from objpert_core.learning.problem.rows import row_radius
from tests.estimators.contract import Case, parametrize_with_contract

# The family: accounting


@dataclass(frozen=True)
class PublicPrior(Mechanism):
    """Objective perturbation whose quadratic term is λ·diag(1, 1 + g, 1 + 2g, …), for the logistic loss."""

    sigma: float
    lam: float
    lipschitz: float = 1.0
    growth: float = 0.5
    tau: float = 1e-6
    sigma_out: float = 0.1
    count_noise: float | None = None  # of the count of rows; None where nobody counts

    perturbs_objective: ClassVar[bool] = True

    @property
    def law(self) -> PositiveGaussianLaw:
        """The law of the exact minimiser's privacy loss."""
        shift = math.log1p(self.lipschitz**2 / 4 / self.lam)
        return PositiveGaussianLaw(self.lipschitz / self.sigma, math.nextafter(shift, math.inf))

    @property
    def noise(self) -> GaussianLoss:
        """The output noise, which hides the distance to the exact minimiser, and the noisy count."""
        count = 1 / self.count_noise if self.count_noise else 0.0
        return GaussianLoss(math.hypot(2 * self.tau / self.lam / self.sigma_out, count))

    def losses(self, direction="remove"):
        return (self.law, 1), (self.noise, 1)

    def _log_delta(self, epsilon):
        return self.law.log_profile_with_gaussian(epsilon, self.noise.a)

    def _rdp(self, alpha):
        return self.law.rdp(alpha - 1) + alpha * self.noise.a**2 / 2

    def perturbation(self, source, dimension):
        quadratic = np.diag(self.lam * (1 + self.growth * np.arange(dimension)))
        return Perturbation(self.sigma * source.standard_normal(dimension), quadratic)


@cache
def calibrate(epsilon, delta, lipschitz, **options):
    """A tenth more noise than the Gaussian mechanism needs, and as much regularisation as that asks for."""
    mechanism = PublicPrior(1.1 * calibrate_gaussian(epsilon, delta, lipschitz).sigma, 1e-3, lipschitz, **options)
    while mechanism.delta(epsilon) > delta:
        mechanism = dataclasses.replace(mechanism, lam=1.1 * mechanism.lam)
    return mechanism


# The family: certificate and release


@dataclass(frozen=True, kw_only=True, repr=False)
class PublicPriorCertificate(SolvedCertificate, mechanisms=("PublicPrior",)):
    """What a fit with a public prior promises."""

    sigma: float = fact(POSITIVE)
    lam: float = fact(POSITIVE)
    lipschitz: float = fact(POSITIVE)
    growth: float = fact(NONNEGATIVE)
    tau: float = fact(POSITIVE)
    sigma_out: float = fact(POSITIVE)
    count_noise: float | None = fact(or_nothing(POSITIVE))
    loss: str = fact(one_of("logistic"), default="logistic")
    loss_parameter: float | None = fact(or_nothing(NONNEGATIVE), default=None)
    clip: float | None = fact(or_nothing(POSITIVE), default=None)
    public_rows: int | None = fact(or_nothing(COUNT), default=None)

    @classmethod
    def numbers(cls, mechanism):
        return dataclasses.asdict(mechanism)

    def rebuild(self):
        return PublicPrior(**{item.name: getattr(self, item.name) for item in dataclasses.fields(PublicPrior)})

    @classmethod
    def uncovered(cls, mechanism, loss, clip, radius, dimension):
        if (loss.name, clip) != ("logistic", None):
            return f"proof must not be used for the loss {loss.name!r} or for clipped gradients"
        return None if mechanism.lipschitz >= radius else f"lipschitz must be at least {radius!r}"

    def holds(self):
        return self.lipschitz >= self.radius and self.reached(self.tau)


def release_if_enough(X, targets, mechanism, *, least_rows, delta, **options):
    """Count the rows with noise; release a model if there seem to be enough, and refuse otherwise."""
    fit = Fit(X, targets, LOGISTIC, **options)
    facts = {"epsilon": Terms(None, delta).proved(mechanism), "delta": delta, "accountant": "profile"}
    count = fit.rows.n_rows + mechanism.count_noise * fit.source.standard_normal(1)[0]
    if count < least_rows:
        return fit.refuse(mechanism, f"the noisy count of rows, {count:.1f}, is below {least_rows}", **facts)
    perturbation = mechanism.perturbation(fit.source, fit.rows.dimension)
    noise = {"stop_at": mechanism.tau, "output_noise": mechanism.sigma_out}
    return fit.release(mechanism, perturbation, LOGISTIC, **noise, **facts)


# The family: estimator


@documented
class PublicPriorClassifier(LinearClassifier):
    """Logistic regression with a public prior.

    Parameters
    ----------
    %(epsilon delta classes)s
    %(fit_intercept on_error random_state advanced)s

    Other Parameters
    ----------------
    %(tau solver max_iter intercept_scaling row_norm)s

    Attributes
    ----------
    %(fitted_classifier fitted_certificate fitted_features fitted_trace)s
    """

    ADVANCED = SOLVED

    def __init__(  # scikit-learn reads the parameters' names here
        self, epsilon=1.0, delta=1e-5, *, classes=None, fit_intercept=True, on_error="raise", random_state=None,
        advanced=None, **old_names,
    ):  # fmt: skip
        self.take(locals())

    def recipe(self, public):
        s = self.settings
        mechanism = calibrate(s.epsilon, s.delta, row_radius(constant_of(s)), tau=s.tau)
        told = {"delta": s.delta, "epsilon": s.epsilon}

        def run(data, random_states, callback):
            how = solving(s, s.row_norm, callback)
            for state in random_states:
                release = perturb_and_solve(data.X, data.targets, mechanism, random_state=state, **told, **how)
                yield Learned(release, solved(release))

        return Recipe("a public prior", Terms(s.epsilon, s.delta), mechanism, public, run)


class CautiousClassifier(PublicPriorClassifier):
    """The same, but it refuses where there seem to be fewer than 100 rows."""

    def recipe(self, public):
        s = self.settings
        mechanism = calibrate(s.epsilon, s.delta, row_radius(constant_of(s)), tau=s.tau, count_noise=20.0)

        def run(data, random_states, callback):
            how = solving(s, s.row_norm, callback) | {"random_state": random_states[0]}
            yield Learned(release_if_enough(data.X, data.targets, mechanism, least_rows=100, delta=s.delta, **how))

        return Recipe("a public prior", Terms(s.epsilon, s.delta), mechanism, public, run)


# What it gets for free

TOY = PublicPrior(sigma=5.0, lam=2.0)
PEER = ApproximateMinima(ObjectivePerturbation(5.0, 2.0, bound="monotone"), TOY.tau, TOY.sigma_out)
COUNTING = dataclasses.replace(TOY, count_noise=20.0)
DELTA = 1e-5


def data(n=300, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.where(X[:, 0] + 0.5 * rng.normal(size=n) > 0, 1.0, -1.0)


def test_profile_renyi_curve_and_trade_off_are_those_of_the_theorem():
    epsilons, alphas = np.array([0.0, 0.1, 0.5, 1.0, 2.0]), np.array([1.0, 1.5, 4.0, 32.0])
    np.testing.assert_allclose(TOY.delta(epsilons), PEER.delta(epsilons), rtol=1e-9)
    np.testing.assert_allclose(TOY.rdp(alphas), PEER.rdp(alphas), rtol=1e-9)
    assert TOY.delta(TOY.epsilon(DELTA)) <= DELTA
    assert TOY.tradeoff(0.05) == pytest.approx(PEER.tradeoff(0.05), rel=1e-6)
    orders = np.linspace(1.1, 200, 2000)
    assert TOY.epsilon(DELTA) <= rdp_to_epsilon(orders, TOY.rdp(orders), DELTA)
    assert COUNTING.epsilon(DELTA) > TOY.epsilon(DELTA)


@pytest.mark.slow
def test_it_composes_with_itself_and_with_every_other_mechanism():
    alone = TOY.delta(0.7)
    low, high = compose(TOY).delta_bounds(0.7)
    assert low * (1 - 1e-9) <= alone <= high * (1 + 1e-9)
    both = compose(TOY, Gaussian(20.0), DPSGD(2.0, 0.01, 50))
    parts = TOY.epsilon(DELTA / 3) + Gaussian(20.0).epsilon(DELTA / 3) + DPSGD(2.0, 0.01, 50).epsilon(DELTA / 3)
    assert TOY.epsilon(DELTA) < both.epsilon(DELTA) < parts
    assert repeat(TOY, 3).epsilon(DELTA) == pytest.approx(repeat(PEER, 3).epsilon(DELTA), rel=1e-4)
    # what counts the rows first is the composition of the fit with the count
    assert COUNTING.epsilon(DELTA) == pytest.approx(compose(TOY, Gaussian(20.0)).epsilon(DELTA), rel=1e-4)


def test_algorithm_1_takes_its_matrix():
    X, t = data()
    mechanism = calibrate(1.0, DELTA, row_radius(0.3))
    release = perturb_and_solve(X, t, mechanism, delta=DELTA, epsilon=1.0, random_state=3)
    source = noise_source(3)
    matrix = np.diag(mechanism.lam * (1 + 0.5 * np.arange(5)))
    objective = PerturbedObjective(Rows(X, "normalize", 0.3), t, matrix, mechanism.sigma * source.standard_normal(5))
    spacing = release.certificate.lattice
    noise = source.rounded_normal(mechanism.sigma_out / spacing, 5) * spacing
    expected = solve(objective, tau=1e-11).theta + noise
    np.testing.assert_allclose(release.theta, expected, atol=1e-6 / mechanism.lam)


def test_the_certificate_is_the_mechanisms_and_a_better_one_does_not_verify():
    certificate = perturb_and_solve(*data(), calibrate(1.0, DELTA, 1.1), delta=DELTA, epsilon=1.0).certificate
    assert isinstance(certificate, PublicPriorCertificate)
    assert certificate.verify()
    assert certificate.rebuild() == calibrate(1.0, DELTA, 1.1)
    for forgery in ({"epsilon": 0.9}, {"sigma": 1.0}, {"lam": 1e-3}, {"lipschitz": 1.0}, {"gradient_norm": 1.0}):
        assert not dataclasses.replace(certificate, **forgery).verify(), forgery


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"loss": SquaredHingeLoss(), "clip": 0.5}, "mechanism's proof must not be used for the loss 'squared-hinge'"),
        ({"intercept_scaling": 1.0}, r"mechanism's lipschitz must be at least 1\.41"),
        ({"epsilon": 0.01}, "epsilon must be at least"),
        (
            {"mechanism": Gaussian(1.0)},
            "mechanism must be an ApproximateMinima, or another that perturbs the objective",
        ),
    ],
)
def test_what_its_proof_does_not_cover_is_refused(change, message):
    X, t = data()
    call = {"mechanism": calibrate(1.0, DELTA, 1.1), "delta": DELTA, "loss": LogisticLoss()} | change
    with pytest.raises(ValueError, match=message):
        perturb_and_solve(X, t, **call)


def test_a_family_that_does_not_say_what_it_covers_covers_nothing():
    silent = type("Silent", (PublicPriorCertificate,), {"uncovered": PrivacyCertificate.uncovered})
    assert "must say which losses are covered" in silent.uncovered(TOY, LogisticLoss(), None, 1.0, 3)


def test_a_refusal_costs_what_a_release_costs():
    mechanism = calibrate(1.0, DELTA, row_radius(0.3), count_noise=20.0)
    options = {"least_rows": 150, "delta": DELTA, "random_state": 0}
    released = release_if_enough(*data(), mechanism, **options)
    refused = release_if_enough(*data(n=20), mechanism, **options)
    assert isinstance(released, Release)
    assert isinstance(refused, Refused)
    assert (released.released, refused.released) == (True, False)
    assert refused.certificate == dataclasses.replace(released.certificate.public(), lattice=None)
    assert refused.certificate.verify()
    assert refused.reason.startswith("the noisy count of rows, ")


@pytest.mark.thorough
@parametrize_with_contract([Case("public prior", PublicPriorClassifier)])
@pytest.mark.filterwarnings("ignore::objpert_core.exceptions.PrivacyBudgetWarning")
def test_the_estimator_keeps_the_contract(case, promise):
    promise(case)


def test_an_estimator_whose_release_is_refused_is_left_unfitted():
    X, t = data(n=3000)
    model = CautiousClassifier(epsilon=4.0, random_state=0).fit(X, t > 0)
    assert model.privacy_.verify()
    with pytest.raises(ReleaseRefusedError, match="the noisy count of rows") as caught:
        model.fit(X[:20], t[:20] > 0)
    assert caught.value.certificate.verify()
    assert not hasattr(model, "coef_")
