# fmt: off
# %% dimension
import objpert_core.accounting as acc

parameters = dict(sigma=SIGMA, lam=LAM, smoothness=SMOOTHNESS, lipschitz=LIPSCHITZ)
glm = acc.ObjectivePerturbation(**parameters, bound="glm")
curves = {
    "non-glm": acc.via_rdp(acc.ObjectivePerturbation(**parameters, bound="non-glm", dimension=DIMENSION)),
    "rdp": acc.via_rdp(glm),
    "glm": glm,
    "lower": acc.Gaussian(sigma=SIGMA, sensitivity=LIPSCHITZ),
}
for name, curve in curves.items():
    print(name, curve.epsilon(DELTA))

# %% fit_logistic
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

# %% fit
import numpy as np

from objpert_core.estimators import ESTIMATOR

X, y = GENERATED
model = ESTIMATOR(
    epsilon=EPSILON, delta=DELTA, loss=LOSS, clip=CLIP, WIDTH=PARAMETER,
    intercept_scaling=CONSTANT, row_norm="clip", random_state=NOISE_SEED,
).fit(X, y)
theta = np.append(model.coef_, model.intercept_)
print(*theta)
print(model.privacy_)

# %% loss
import numpy as np

from objpert_core.learning import ClippedLoss, loss_named

loss = loss_named(LOSS, PARAMETER)
clipped = ClippedLoss(loss, CLIP / NORM)
target = TARGET
scores = np.linspace(-4, 4, 9)
slopes, curvatures = clipped.derivatives(scores, target)
print(np.column_stack([scores, loss.value(scores, target), clipped.value(scores, target), slopes]))
print("kinks:", *clipped.kinks(targets=target))

# %% ordinary
import objpert_core.accounting as acc
from objpert_core.theory.one_dimensional import OneDimensionalLogistic

labels = [1] * AGREE + [-1] * DIFFER
exact = {}
for margin in MARGINS:
    without = OneDimensionalLogistic([1.0] * len(labels), labels, sigma=SIGMA, lam=LAM, margin=margin)
    exact[margin] = without.pair_epsilon(without.add(1.0, 1), DELTA)
print("exact for this row:", exact)
print("certified for every row:", acc.ObjectivePerturbation(sigma=SIGMA, lam=LAM).epsilon(DELTA))
