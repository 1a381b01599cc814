# fmt: off
import numpy as np

import objpert_core.accounting as acc
from objpert_core.learning import LogisticLoss, perturb_and_solve

X, y = GENERATED
mechanism = acc.calibrate_objective_perturbation(
    EPSILON, DELTA, lipschitz=min(2**0.5, CLIP), smoothness=(2**0.5)**2 / 4,
    bound="monotone", tau=TAU,
)
released = perturb_and_solve(
    X, y, mechanism, loss=LogisticLoss(PARAMETER), delta=DELTA, clip=CLIP,
    intercept_scaling=CONSTANT, row_norm="clip", random_state=NOISE_SEED,
)
theta = released.theta
print(*theta)
print(released.certificate)
