"""Forged certificates of noisy descent and of phased ERM: better promises are convicted, at once, and none crashes."""

import dataclasses
import json
import time

import numpy as np
import pytest

from objpert_core.learning import HingeLoss, LogisticLoss, PrivacyCertificate
from objpert_core.learning.population.fit import descend_and_certify
from objpert_core.learning.population.phased import phased_release
from objpert_core.learning.population.schedules import tight_plan

X, TARGETS = np.repeat([[1.0, 0.0], [0.0, 1.0]], 30, axis=0), np.repeat([1.0, -1.0], 30)


def descent(sampling, loss, declared):
    smoothness = loss.smoothness
    plan = tight_plan(60, 2, 1.0, 1e-4, radius=0.2, lipschitz=1.0, smoothness=smoothness, sampling=sampling)
    return descend_and_certify(X, TARGETS, loss, plan, epsilon=1.0, delta=1e-4, rows_declared=declared).certificate


@pytest.fixture(scope="module")
def honest():
    told = {"epsilon": 1.0, "delta": 1e-4, "radius": 1.0}
    made = {
        "phased": phased_release(X, TARGETS, LogisticLoss(), **told).certificate,
        "phased, declared": phased_release(X, TARGETS, HingeLoss(), **told, public_rows=60).certificate,
        "full batch": descent("full batch", LogisticLoss(), True),
        "full batch, corners": descent("full batch", HingeLoss(), False),
        "without replacement": descent("without replacement", LogisticLoss(), True),
    }
    assert all(certificate.verify() for certificate in made.values())
    return made


KINDS = ("phased", "phased, declared", "full batch", "full batch, corners", "without replacement")
BETTER = [
    {"epsilon": 0.99},
    {"delta": 0.9e-4},
    {"noise_multiplier": 1.0},
    {"lipschitz": 0.999},
    {"intercept_scaling": 0.3},
    {"rows_per_person": 2},
    {"lattice": 1.0},
    {"loss": "squared"},
    {"loss_parameter": -1.0},
    {"schema": 1},
    {"mechanism": "ApproximateMinima"},
    {"accountant": "rdp"},
    {"adjacency": "add/remove one row"},
    {"adjacency": "data sets of the same size m = 60, known to all, up to one row left out of the sums"},
    {"adjacency": "data sets of the same size m = 61, known to all, that differ in one row"},
    {"ball_radius": float("inf")},
    {"public_rows": 0},
]
OF_DESCENT = [
    {"steps": 10**6},
    {"batch_size": 61.0},
    {"batch_size": 0.0},
    {"sampling": "allocation"},
    {"step_size": 0.0},
    {"schedule": "own"},
    {"envelope": 0.0},
]
OF_PHASES = [{"phases": 7}, {"phases": 10**12}, {"phases": 0}, {"slack": 0.0}, {"slack": 1e-30}, {"first_step": 0.0}]


@pytest.mark.thorough
@pytest.mark.parametrize("kind", KINDS)
def test_better_promises_are_convicted_at_once(honest, kind):
    spent = honest[kind]
    for changes in BETTER + (OF_PHASES if kind.startswith("phased") else OF_DESCENT):
        forged = dataclasses.replace(spent, **changes)
        start = time.perf_counter()
        assert not forged.verify(), changes
        assert type(spent).__name__ in repr(forged) or "differential privacy" in repr(forged)
        assert time.perf_counter() - start < 5, changes


@pytest.mark.thorough
def test_corners_need_an_envelope(honest):
    assert not dataclasses.replace(honest["full batch, corners"], envelope=None).verify()
    assert not dataclasses.replace(honest["full batch"], loss="absolute").verify()


@pytest.mark.thorough
@pytest.mark.parametrize("size", [10**9, 10**15, 10**300])
def test_batches_that_no_accountant_could_look_at_are_convicted_at_once(honest, size):
    forged = dataclasses.replace(
        honest["without replacement"],
        mechanism="SampledWithReplacement",
        sampling="with replacement",
        batch_size=float(size),
        public_rows=size,
    )
    start = time.perf_counter()
    assert not forged.verify()
    assert time.perf_counter() - start < 1


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_do_not_pass_for_one_another(honest, kind):
    own = honest[kind].to_dict()
    assert PrivacyCertificate.from_json(json.dumps(own)) == honest[kind]
    others = [name for name in PrivacyCertificate.ALGORITHMS if name != own["algorithm"]]
    for algorithm in (*others, None, "", "DPSGD", 1, [], {}):
        with pytest.raises(ValueError, match=r"must"):
            PrivacyCertificate.from_dict(own | {"algorithm": algorithm})
    without = {name: value for name, value in own.items() if name != "algorithm"}
    with pytest.raises(ValueError, match=r"must"):
        PrivacyCertificate.from_dict(without)
    for mechanism in ("DPSGD", "OutputPerturbation", "SampledWithReplacement", "RandomAllocation"):
        if mechanism != own["mechanism"]:
            assert not PrivacyCertificate.from_dict(own | {"mechanism": mechanism}).verify()


@pytest.mark.parametrize("kind", KINDS)
def test_words_say_what_the_number_of_rows_chose(honest, kind):
    assert ("phases and noise were" if kind.startswith("phased") else "batches and noise were") in repr(honest[kind])
