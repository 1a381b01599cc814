"""One entry a theorem: what it says about itself agrees with what it answers.

That no bound is too small, and none larger than its law, is asked in `tests/second_opinion/objective.py`.
"""

import dataclasses
import pickle

import pytest

import objpert_core.accounting as acc
from objpert_core.learning.problem.losses import HuberLoss, LogisticLoss

ENTRIES = pytest.mark.parametrize("entry", acc.BOUND_REGISTRY.values(), ids=acc.BOUNDS)


def mechanism(entry, sigma=3.0, lam=2.0, **options) -> acc.ObjectivePerturbation:
    return acc.ObjectivePerturbation(sigma, lam, bound=entry.key, **({"dimension": 4} | options))


@ENTRIES
def test_every_entry_says_what_it_is(entry):
    assert acc.BOUND_REGISTRY[entry.key] is entry
    for text in (entry.label, entry.source, entry.coverage.words, entry.statement):
        assert text
        assert text == text.strip()
    assert len(entry.label) < 30
    for accountant in entry.accountants:
        assert entry.named(accountant)
        assert entry.cited(accountant)
    assert entry.ignores <= {"smoothness", "dimension"}
    assert (entry.law is None) == bool(entry.answers_only)
    exact = mechanism(entry)
    assert (exact.has_profile, exact.has_rdp, exact.has_losses) == (entry.has_profile, entry.has_rdp, entry.has_losses)
    assert entry.accountants == ("profile",) * entry.has_profile + ("rdp",) * entry.has_rdp
    assert (entry.noise_ratio is None) == (entry.closed_form is not None)
    if entry.noise_ratio is not None:
        assert acc.default_noise_ratio(entry.key, 1.0) == entry.noise_ratio(1.0) > 1


def test_labels_are_those_of_the_pages_and_tell_bounds_apart():
    shown = [entry.named(accountant) for entry in acc.BOUND_REGISTRY.values() for accountant in entry.accountants]
    assert len(set(shown)) == len(shown)
    glm = acc.BOUND_REGISTRY["glm"]
    assert (glm.named("rdp"), glm.named("profile")) == ("2023 theorem, Rényi", "2023 theorem")
    assert (glm.cited("rdp"), glm.cited("profile")) == ("Theorem 3.2", "Theorem 3.1, corrected")
    assert [acc.BOUND_REGISTRY[key].label for key in ("kifer2012", "monotone", "two-signed", "logistic")] == [
        "2012 theorem",
        "Our theorem, one-signed slope",
        "Our theorem, any GLM loss",
        "Our theorem",
    ]


def test_where_kifers_theorem_begins():
    entry = acc.BOUND_REGISTRY["kifer2012"]
    exact = mechanism(entry, sigma=30.0, lam=2.0)
    assert entry.reason(exact, exact.least_epsilon) is None
    assert "λ ≥ 2β/ε" in entry.reason(exact, exact.least_epsilon * (1 - 1e-9))
    assert entry.reason(exact) is None


@ENTRIES
def test_losses_covered(entry):
    logistic, huber = LogisticLoss(), HuberLoss()
    assert logistic.monotone
    assert not huber.monotone
    assert entry.uncovered(logistic) is None
    refused = {
        "logistic": "bound must not be 'logistic' for the loss 'huber'",
        "monotone": "bound must not be 'monotone' for the loss 'huber', whose slope has either sign",
    }
    assert entry.uncovered(huber) == refused.get(entry.key)


# --- what a bound does not use -----------------------------------------------------------------------------------


@ENTRIES
@pytest.mark.parametrize(("name", "other"), [("smoothness", 1.5), ("dimension", 9), ("sigma", 3.1), ("lam", 2.1)])
def test_mechanisms_are_equal_exactly_where_the_bound_cannot_tell_them_apart(entry, name, other):
    one = mechanism(entry)
    two = dataclasses.replace(one, **{name: other})
    ignored = name in entry.ignores
    assert (one == two) == ignored
    assert len({one, two}) == 1 + (not ignored)
    assert (acc.ApproximateMinima(one, 0.1, 0.1) == acc.ApproximateMinima(two, 0.1, 0.1)) == ignored
    assert getattr(two, name) == other  # certificates show and check what was given
    if ignored:
        assert hash(one) == hash(two) == hash(pickle.loads(pickle.dumps(two)))
        for question, x in (("delta", 0.7), ("rdp", 3.0)):
            if getattr(one, {"delta": "has_profile", "rdp": "has_rdp"}[question]):
                assert getattr(one, question)(x) == getattr(two, question)(x)


def test_bounds_differ_and_other_types_are_never_equal():
    assert len({mechanism(entry) for entry in acc.BOUND_REGISTRY.values()}) == len(acc.BOUNDS)
    assert mechanism(acc.BOUND_REGISTRY["logistic"]) != acc.Gaussian(3.0)
    assert mechanism(acc.BOUND_REGISTRY["logistic"]) != "logistic"


@pytest.mark.parametrize("lam", [0.0, 50.0])
def test_calibration_keeps_the_smoothness_that_was_asked_for(lam):
    """Equal mechanisms may differ in what a bound ignores; a remembered one must not take the other's place."""
    for smoothness in (0.25, 0.7, 0.25):
        found = acc.calibrate_objective_perturbation(1.0, 1e-5, smoothness=smoothness, lam=lam)
        assert found.smoothness == smoothness
        assert found == acc.calibrate_objective_perturbation(1.0, 1e-5, smoothness=0.1, lam=lam)
