import numpy as np
import pytest

from objpert_core.accounting import ApproximateMinima, ObjectivePerturbation, calibrate_objective_perturbation
from objpert_core.exceptions import ConvergenceError
from objpert_core.learning import PerturbedObjective, Rows, fit, noise_source, perturb_and_solve, solve
from objpert_core.learning import objective_perturbation as mechanism

DELTA = 1e-5


def data(n=200, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.where(X[:, 0] + rng.normal(size=n) > 0, 1.0, -1.0)


def calibrated(constant=0.3, **options):
    radius = mechanism.row_radius(constant)
    return calibrate_objective_perturbation(1.0, DELTA, lipschitz=radius, **({"tau": 1e-6} | options))


def on_lattice(source, sigma, spacing, size):
    """The output noise, drawn as the release draws it."""
    return source.rounded_normal(sigma / spacing, size) * spacing


def test_the_release_is_the_minimiser_under_the_drawn_noise_plus_output_noise():
    X, t = data()
    mech = calibrated()
    release = perturb_and_solve(X, t, mech, delta=DELTA, random_state=3)
    assert release.certificate.epsilon == mech.epsilon(DELTA)  # where none is claimed
    assert release.certificate.verify()
    source = noise_source(3)
    b = mech.objective.sigma * source.standard_normal(4)
    objective = PerturbedObjective(Rows(X, "normalize", 0.3), t, mech.objective.lam, b)
    exact = solve(objective, tau=1e-11).theta
    output = on_lattice(source, mech.sigma_out, release.certificate.lattice, 4)
    np.testing.assert_allclose(release.theta, exact + output, atol=1e-6 / mech.objective.lam)
    assert np.linalg.norm(objective.gradient(release.theta - output)[0]) <= mech.tau


def test_both_noises_have_the_certificates_size():
    """Where the data say nothing, θ = −b/λ plus the output noise, number for number."""
    X, t = np.zeros((1, 400)), np.array([1.0])  # a zero row without constant: the objective is the noise's alone
    objective = ObjectivePerturbation(sigma=30.0, lam=2.0)
    source = noise_source(1)
    release = perturb_and_solve(
        X, t, ApproximateMinima(objective, 1e-6, 0.5), delta=0.5, intercept_scaling=0.0, random_state=1
    )
    b = source.standard_normal(400)
    output = on_lattice(source, 0.5, release.certificate.lattice, 400)
    np.testing.assert_allclose(release.theta, -30 * b / 2.0 + output, atol=1e-6)
    assert release.certificate.sigma == 30.0
    assert release.certificate.sigma_out == 0.5


def test_a_run_that_does_not_converge_releases_nothing_and_draws_no_second_noise(monkeypatch):
    draws = []

    def counting(random_state):
        source = noise_source(random_state)
        return type(source)(lambda count: draws.append(count) or source.read(count), source.origin, True)

    monkeypatch.setattr(fit, "noise_source", counting)
    with pytest.raises(ConvergenceError, match=r"reached gradient norm .* in 1 iterations, but .* needs tau = 1e-6"):
        perturb_and_solve(*data(), calibrated(), delta=DELTA, max_iter=1)
    assert len(draws) == 2  # b, of two words a number, and nothing after it


def test_rounding_is_named_when_more_iterations_would_not_help():
    with pytest.raises(ConvergenceError, match="tau is too small for these data in double precision"):
        perturb_and_solve(*data(n=3000), calibrated(tau=1e-13, sigma_out=0.01), delta=DELTA)


@pytest.mark.parametrize("row_norm", ["normalize", "clip"])
def test_one_more_row_moves_the_gradient_by_at_most_the_lipschitz_bound(row_norm):
    X, t = data(n=50)
    X *= 1e3
    mech = calibrated()
    theta = np.array([5.0, -30.0, 2.0, 8.0])
    gradients = [
        PerturbedObjective(Rows(X[:n], row_norm, 0.3), t[:n], 1.0, np.zeros(4)).gradient(theta)[0] for n in range(1, 51)
    ]
    moved = np.linalg.norm(np.diff(gradients, axis=0), axis=1)
    assert moved.max() <= mech.objective.lipschitz
    assert moved.max() > 0.9 * mech.objective.lipschitz


REFUSED = [
    ({"epsilon": 0.5}, r"epsilon must be at least 0\.99.*got 0\.5"),
    ({"epsilon": -1.0}, "epsilon must be a finite number >= 0, got -1.0"),
    ({"delta": 1.0}, "delta must be a number strictly between 0 and 1, got 1.0"),
    ({"accountant": "gdp"}, "accountant must be one of 'profile', 'rdp', got 'gdp'"),
    ({"intercept_scaling": 1.0}, r"mechanism's lipschitz must be at least 1\.414.*got 1\.044"),
    ({"intercept_scaling": -1.0}, "intercept_scaling must be a finite number >= 0, got -1.0"),
    ({"row_norm": "none"}, "row_norm must be one of 'normalize', 'clip', got 'none'"),
    ({"solver": "sgd"}, "solver must be one of .* got 'sgd'"),
    ({"random_state": "x"}, "random_state must be None"),
    ({"targets": np.ones(3)}, r"targets must be one number for each of X's 200 rows, got shape \(3,\)"),
    ({"targets": np.full(200, 0.5)}, "targets must be -1.0 or 1.0, got .*0.5"),
    ({"targets": np.full(200, np.nan)}, "targets must be -1.0 or 1.0, got .*nan"),
    ({"X": np.empty((0, 3)), "targets": np.empty(0)}, "X must have at least one row, got 0"),
    ({"X": np.full((200, 3), np.inf)}, "X must hold finite numbers"),
]


@pytest.mark.parametrize(("change", "message"), REFUSED)
def test_bad_arguments_are_named(change, message):
    X, t = data()
    call = {"X": X, "targets": t, "mechanism": calibrated(), "delta": DELTA} | change
    with pytest.raises(ValueError, match=message):
        perturb_and_solve(**call)


def short(*numbers, **options):
    """A mechanism for rows with their constant, whose other numbers fall short."""
    objective = ObjectivePerturbation(*numbers, mechanism.row_radius(0.3), **options)
    return ApproximateMinima(objective, 1e-6, 0.1)


@pytest.mark.parametrize(
    ("mech", "accountant", "message"),
    [
        (short(9.0, 5.0, smoothness=0.2, bound="glm"), "profile", r"smoothness must be at least 0\.27.*got 0\.2"),
        (short(9.0, 5.0, bound="non-glm", dimension=3), "rdp", r"dimension must be at least 4, got 3"),
        (short(9.0, 0.1, bound="glm"), "profile", r"must be private at delta = 1e-05; .* need λ > β"),
    ],
)
def test_a_mechanism_that_falls_short_is_refused_with_the_reason(mech, accountant, message):
    with pytest.raises(ValueError, match=f"mechanism('s)? {message}"):
        perturb_and_solve(*data(), mech, delta=DELTA, accountant=accountant)
