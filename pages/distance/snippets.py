# %% curves
import numpy as np

import objpert_core.accounting as acc

curves = {
    "lower": acc.Gaussian(sigma=SIGMA, sensitivity=LIPSCHITZ),
    "half": acc.HalfNormal(sigma=SIGMA, sensitivity=LIPSCHITZ),
    "glm": acc.ObjectivePerturbation(OBJECTIVE, bound="glm"),
    "logistic": acc.ObjectivePerturbation(OBJECTIVE, bound="logistic"),
}
for name, curve in curves.items():
    print(name, curve.epsilon(DELTA), acc.distance_to_optimality(curve, DELTA), curve.rdp(ALPHA))
print("exact from lam =", acc.optimal_lam(curves["lower"].epsilon(DELTA), sigma=SIGMA, lipschitz=LIPSCHITZ))

sigmas, lams = np.geomspace(0.1, 1000, EDGES), np.geomspace(0.01, 1e4, EDGES)  # edges of the cells
sigmas, lams = np.sqrt(sigmas[1:] * sigmas[:-1]), np.sqrt(lams[1:] * lams[:-1])
maps = {
    "glm": acc.distance_map(sigmas, lams, DELTA, lipschitz=LIPSCHITZ, smoothness=SMOOTHNESS, bound="glm"),
    "logistic": acc.distance_map(sigmas, lams, DELTA, lipschitz=LIPSCHITZ),
}
