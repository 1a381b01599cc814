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
