"""Descent and phases in a ball, with changes that promise more or less."""

import math

import numpy as np

from objpert_core.accounting.population.sizes import Sizes
from objpert_core.learning import HingeLoss, LogisticLoss
from objpert_core.learning.population.noisy_sgd import descend_and_certify
from objpert_core.learning.population.phased import phased_release
from objpert_core.learning.population.schedules import tight_plan
from tests.learning.certificates.kind import Kind, each, known_size, times

CORNERS = np.repeat([[1.0, 0.0], [0.0, 1.0]], 30, axis=0), np.repeat([1.0, -1.0], 30)


def phased(loss, **options):
    return lambda: phased_release(*CORNERS, loss, epsilon=1.0, delta=1e-4, radius=1.0, **options).certificate


def descent(sampling, loss, declared):
    def certificate():
        plan = tight_plan(Sizes(60, 2, 1.0, 1e-4, radius=0.2), smoothness=loss.smoothness, sampling=sampling)
        return descend_and_certify(*CORNERS, loss, plan, epsilon=1.0, delta=1e-4, rows_declared=declared).certificate

    return certificate


OF_BOTH = [
    *each(epsilon=0.99, delta=0.9e-4, noise_multiplier=1.0, lipschitz=0.999, intercept_scaling=0.3, rows_per_person=2),
    *each(loss="squared", loss_parameter=-1.0, mechanism="ApproximateMinima", accountant="rdp", schema=1, lattice=1.0),
    *each(adjacency=known_size(61) + "that differ in one row", ball_radius=math.inf, public_rows=0),
]
ADDED, LEFT_OUT = "add/remove one row", known_size(60) + "up to one row left out of the sums"
OF_PHASES = OF_BOTH + each(adjacency=[ADDED, LEFT_OUT], phases=[7, 10**12, 0], slack=[0.0, 1e-30], first_step=0.0)
OF_DESCENT = OF_BOTH + each(
    steps=10**6, batch_size=[61.0, 0.0], sampling="allocation", step_size=0.0, schedule="own", envelope=0.0
)
WEAKER_STEPS = [{"epsilon": 1.1}, {"delta": 2e-4}, {"noise_multiplier": times(2)}]
POPULATION = {
    "phased": Kind(phased(LogisticLoss()), OF_PHASES, WEAKER_STEPS, "thorough"),
    "phased, declared": Kind(phased(HingeLoss(), public_rows=60), OF_PHASES, WEAKER_STEPS, "thorough"),
    "full batch": Kind(  # where a row that is left out moves a sum by less than one that is replaced
        descent("full batch", LogisticLoss(), True),
        [*OF_DESCENT, {"loss": "absolute"}, {"adjacency": LEFT_OUT}],
        [*WEAKER_STEPS, {"adjacency": ADDED}],
        "thorough",
    ),
    "full batch, corners": Kind(
        descent("full batch", HingeLoss(), False),
        [*OF_DESCENT, {"envelope": None}, {"adjacency": ADDED}],
        [*WEAKER_STEPS, {"adjacency": LEFT_OUT}],
        "thorough",
    ),
    "without replacement": Kind(
        descent("without replacement", LogisticLoss(), True),
        OF_DESCENT + each(adjacency=[ADDED, LEFT_OUT]),
        WEAKER_STEPS,
        "thorough",
    ),
}
