"""Its mechanism: neighbours as the fit has them, privacy as accounting says it, never mixed with the other kind."""

import math

import pytest

from objpert_core.accounting import Gaussian, OutputPerturbation, compose, repeat
from objpert_core.learning import output_sensitivity, recommended_output_lam, solve_and_perturb
from objpert_core.learning.output_perturbation import NEIGHBOURS
from tests.learning.test_objective_perturbation import DELTA, data

SHORT = ("add/remove", "replace")


def fitted(adjacency, **options):
    return solve_and_perturb(*data(), epsilon=1.0, delta=DELTA, adjacency=adjacency, **options).certificate


@pytest.mark.parametrize("adjacency", SHORT)
def test_the_certificate_rebuilds_the_mechanism_with_its_neighbours(adjacency):
    certificate = fitted(adjacency, lam=3.0, tau=0.01)
    mechanism = certificate.rebuild()
    sensitivity = output_sensitivity(3.0, math.hypot(1, 0.3), 0.01, adjacency)
    assert mechanism == OutputPerturbation(certificate.sigma, sensitivity, adjacency=NEIGHBOURS[adjacency])
    assert certificate.adjacency == mechanism.adjacency == f"{adjacency} one row"
    assert mechanism.delta(1.0) == Gaussian(certificate.sigma, sensitivity).delta(1.0) <= DELTA
    assert Gaussian(certificate.sigma * (1 - 1e-9), sensitivity).delta(1.0) > DELTA  # and no less noise would do
    assert repeat(mechanism, 4).epsilon(DELTA) == pytest.approx(
        Gaussian(certificate.sigma / 2, sensitivity).epsilon(DELTA), rel=1e-4
    )


def test_the_two_kinds_of_neighbours_do_not_mix():
    one, other = (fitted(adjacency).rebuild() for adjacency in SHORT)
    with pytest.raises(ValueError, match="adjacency"):
        compose(one, other)


@pytest.mark.parametrize("function", [output_sensitivity, recommended_output_lam])
def test_an_unknown_adjacency_is_named(function):
    with pytest.raises(ValueError, match=r"adjacency must be one of .*'add/remove one row'.*, got 'swap'"):
        function(1.0, 1e-5, 10, adjacency="swap")
