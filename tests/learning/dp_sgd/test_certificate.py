import dataclasses
import math

import numpy as np
import pytest
from scipy.signal import fftconvolve
from scipy.stats import norm

from objpert_core.accounting import DPSGD, calibrate_gaussian, repeat, via_rdp
from objpert_core.learning import Rows, noise_source
from objpert_core.learning.dp_sgd.budget import accounted, calibrate_score, dpsgd_budget, score_mechanism
from objpert_core.learning.dp_sgd.training import Schedule, train_candidates
from tests.learning.certificates.dp_sgd import DISHONEST, HONEST, SGD, trained
from tests.learning.test_audit import lower_bound
from tests.learning.test_every_certificate import unnamed


def fitted(seed=0, judges=False, **parameters):
    return trained(seed, judges, **parameters)().privacy_


@pytest.fixture(scope="module")
def allocated():
    return SGD["allocated"].honest


@pytest.mark.slow
@pytest.mark.parametrize("judges", [False, True])
@pytest.mark.parametrize("parameters", [{}, HONEST, DISHONEST], ids=str)
def test_it_is_the_same_for_any_data_of_as_many_rows(parameters, judges):
    judges = judges and bool(parameters)
    assert unnamed(fitted(0, judges, **parameters)) == unnamed(fitted(1, judges, **parameters))


@pytest.mark.slow
def test_replaced_rows_and_several_of_a_person_are_not_proved_by_any_allocation(allocated):
    """With as much noise as one likes: the words say what the accountant does not."""
    plenty = dataclasses.replace(allocated, noise_multiplier=1e3, rows_declared=True, adjacency="add/remove one row")
    assert plenty.verify()
    assert not dataclasses.replace(plenty, adjacency="replace one row").verify()
    several = {"rows_per_person": 2, "adjacency": "add/remove up to 2 rows of one person"}
    assert not dataclasses.replace(plenty, **several).verify()
    assert not dataclasses.replace(plenty, accountant="rdp").verify()


@pytest.mark.thorough
def test_an_allocation_says_so_and_texts_without_it_stay_as_they_were(allocated):
    assert "DP-SGD by random allocation" in repr(allocated)
    assert "each of 300 rows once in 6 steps" in repr(allocated)
    assert allocated.to_dict()["sampling"] == "allocation"
    assert dataclasses.replace(fitted(epochs=1, batch_size=300), sampling="poisson").to_dict().get("sampling") is None


def test_a_budget_refuses_what_an_allocation_is_not_accounted_for_with():
    schedule = Schedule.of_epochs(300, 100, 1, "allocation")
    assert schedule.sampling == "allocation"
    for name, value in (
        ("accountant", "rdp"),
        ("mean_runs", 2.0),
        ("rows_per_person", 2),
        ("adjacency", "replace one row"),
    ):
        with pytest.raises(ValueError, match=f"^{name} must be .* for sampling='allocation'"):
            dpsgd_budget(1.0, 1e-5, schedule, **{name: value})


@pytest.mark.slow
def test_a_dishonest_certificate_says_so_in_words_and_in_a_field():
    certificate = fitted(**DISHONEST)
    assert certificate.choice_covered is False
    assert isinstance(certificate.rebuild(), DPSGD)  # one run
    assert "ONE run only: the choice of its learning rate looked at the data and is NOT covered" in repr(certificate)
    assert fitted(**HONEST).choice_covered is fitted().choice_covered is True


@pytest.mark.covered
@pytest.mark.slow
def test_the_repr_says_what_a_reader_must_know():
    text = repr(fitted(random_state=0, **HONEST))
    for part in (
        "(1, 1e-5)-differential privacy, data sets of the same size m = 300, known to all, that differ in the "
        "contribution of one row",
        "the runs and the choice among them",
        "best of K ~ Poisson(2.5) runs",
        "of 300 rows (their number is treated as public)",
        "gradients  clipped to norm 1.04403",
        "learning rates 0.01, 0.1, by the count of right answers on rows held out with probability 0.1, noise ",
        "whoever knows the seed",
    ):
        assert part in text
    declared = repr(fitted(public_rows=300, **HONEST))
    assert "(1, 1e-5)-differential privacy, add or remove one row" in declared
    assert "of 300 rows (their number is a declared one)" in declared
    assert "rows declared public" in repr(fitted(judges=True, **HONEST))
    assert "exact accuracy on rows held out" in repr(fitted(**DISHONEST))


@pytest.mark.thorough
def test_honesty_costs_noise_and_public_judges_spare_the_scores():
    one, tuned, public = fitted(), fitted(**HONEST), fitted(judges=True, **HONEST)
    assert one.noise_multiplier < public.noise_multiplier < tuned.noise_multiplier
    assert (public.score_noise, public.validation_fraction) == (None, None)
    assert public.sample_rate == one.sample_rate
    assert tuned.sample_rate == pytest.approx(40 / 270)


@pytest.mark.thorough
@pytest.mark.parametrize("accountant", [pytest.param("pld", marks=pytest.mark.slow), "rdp"])
@pytest.mark.parametrize(("epsilon", "mean_runs"), [(0.025, 15.4), (1.0, 0.4), (8.0, 15.4)])
def test_the_score_noise_is_the_least_that_meets_the_target(epsilon, mean_runs, accountant):
    found = calibrate_score(epsilon, 1e-5, mean_runs, accountant)
    mechanism = accounted(score_mechanism(found, mean_runs), accountant)
    assert mechanism.delta(epsilon) <= 1e-5
    assert mechanism.epsilon(1e-5) <= epsilon
    assert accounted(score_mechanism(found * 0.999, mean_runs), accountant).epsilon(1e-5) > epsilon
    assert found > calibrate_gaussian(epsilon, 1e-5).sigma or mean_runs < 1


def most_told_by_the_winning_count(noise, mean_runs, held_out, fits, epsilon, step=1e-3):
    """δ at ε of so many independent fits, by the law of the best noisy count of K runs, bounded from below.

    Losses are rounded down. Of a row's coins only "held out in every fit" is counted: the chance of that is
    f = held_out^fits, and δ(ε) >= f·δ_held(ε − log f).
    """
    x = np.linspace(-12 * noise, 12 * noise + 1, 400_001)
    shown = [
        np.log(mean_runs) + norm.logpdf(x, count, noise) - mean_runs * norm.sf(x, count, noise) for count in (1, 0)
    ]
    cells = np.floor((shown[0] - shown[1]) / step).astype(int)
    law = np.bincount(cells - cells.min(), weights=np.exp(shown[0]) * (x[1] - x[0]))
    law[-cells.min()] += math.exp(-mean_runs)  # no run, no count
    whole = law
    for _ in range(fits - 1):
        whole = np.maximum(fftconvolve(whole, law), 0.0)
    losses = step * (np.arange(len(whole)) + fits * cells.min())
    chance = held_out**fits
    return chance * float(np.sum(whole * np.maximum(0.0, -np.expm1(epsilon - math.log(chance) - losses))))


@pytest.mark.thorough
@pytest.mark.parametrize("fits", [1, 3, 10])
def test_several_honest_fits_cost_what_the_held_out_rows_pay_too(fits):
    """A fit as a training row meets it proves too little: the curves of both cases meet at one δ, and nowhere else."""
    told = {"epsilon": 8.0, "mean_runs": 1.0, "validation_fraction": 0.9, "batch_size": 32, "epochs": 1}
    one = fitted(**HONEST | told, public_rows=30_000)
    assert one.verify()
    both, training = one.accounted(one.rebuild()), accounted(one.rebuild(), one.accountant)
    for mechanism, enough in ((both, True), (training, fits == 1)):
        stated = float(repeat(mechanism, fits).epsilon(1e-5))
        found = most_told_by_the_winning_count(one.score_noise, 1.0, 0.9, fits, stated)
        assert (found <= 1e-5) is enough


@pytest.mark.thorough
def test_a_replaced_row_that_is_held_out_pays_too():
    one = fitted(**HONEST, adjacency="replace one row")
    whole = one.accounted(one.rebuild())
    assert whole.adjacency == "replace one row"
    assert one.verify()
    assert not dataclasses.replace(one, score_noise=0.9 * one.score_noise).verify()


# Independent libraries


def theirs(certificate):
    event = pytest.importorskip("dp_accounting.dp_event")
    step = event.PoissonSampledDpEvent(certificate.sample_rate, event.GaussianDpEvent(certificate.noise_multiplier))
    return event, event.SelfComposedDpEvent(step, certificate.steps)


@pytest.mark.thorough
@pytest.mark.parametrize("parameters", [{}, DISHONEST, {"clip": 0.2, "fit_intercept": False, "row_norm": "clip"}])
def test_an_independent_library_agrees_with_the_certificate_of_one_run(parameters):
    module = pytest.importorskip("dp_accounting.pld.pld_privacy_accountant")
    certificate = fitted(**parameters)
    accountant = module.PLDAccountant(value_discretization_interval=1e-3)
    accountant.compose(theirs(certificate)[1])
    assert accountant.get_epsilon(certificate.delta) == pytest.approx(certificate.epsilon, rel=3e-3)


@pytest.mark.slow
def test_an_independent_library_agrees_with_both_sides_of_an_honest_certificate():
    """Integer orders and the published theorem: a little above our ε, from below never far off."""
    module = pytest.importorskip("dp_accounting.rdp.rdp_privacy_accountant")
    certificate = fitted(**HONEST, accountant="rdp", validation_fraction=0.3)
    event, training = theirs(certificate)
    for run in (training, event.GaussianDpEvent(certificate.score_noise)):
        accountant = module.RdpAccountant(range(2, 300))
        accountant.compose(event.RepeatAndSelectDpEvent(run, certificate.mean_runs, math.inf))
        assert certificate.epsilon - 1e-6 < accountant.get_epsilon(certificate.delta) < 1.1 * certificate.epsilon


# Audit

DELTA = 0.05
FITS = 6_000


def one_step_coefficients(noise_multiplier, extra_row):
    """θ after one step of DP-SGD on no row or on one, whose gradient is as long as clipping lets it be."""

    class OneStream:
        source = noise_source(int(extra_row))

        def stream(self, *_name):
            return self.source

    rows = Rows(np.ones((1, 1)), "normalize")
    members = np.arange(int(extra_row))
    arguments = {"noise_multiplier": noise_multiplier, "clip": 0.5, "optimizer": "sgd", "streams": OneStream()}
    schedule = Schedule(0.5, 1, 1.0)
    fit = [train_candidates(rows, np.ones(1), [1.0], schedule, members=members, **arguments) for _ in range(FITS)]
    return np.array(fit).ravel()


@pytest.mark.no_cover
@pytest.mark.slow
def test_a_monte_carlo_audit_finds_what_the_accountant_says_and_convicts_half_the_noise():
    promised = DPSGD(0.8, 0.5, 1).epsilon(DELTA)
    found = lower_bound(one_step_coefficients(0.8, True), one_step_coefficients(0.8, False), DELTA)
    assert 0.5 * promised < found <= promised <= via_rdp(DPSGD(0.8, 0.5, 1)).epsilon(DELTA)
    broken = lower_bound(one_step_coefficients(0.4, True), one_step_coefficients(0.4, False), DELTA)
    assert broken > 1.2 * promised
