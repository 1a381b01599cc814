# %% errors
import objpert_core.accounting as acc


def bound(name):
    return acc.ObjectivePerturbation(sigma=SIGMA, lam=LAM, lipschitz=LIPSCHITZ, smoothness=SMOOTHNESS, bound=name)


curves = CURVES
for name, curve in curves.items():
    print(name, curve.tradeoff(RATE), acc.best_guess(curve))

# %% profile
import objpert_core.accounting as acc


def bound(name):
    return acc.ObjectivePerturbation(sigma=SIGMA, lam=LAM, lipschitz=LIPSCHITZ, smoothness=SMOOTHNESS, bound=name)


curves = CURVES
for name, curve in curves.items():
    print(name, curve.epsilon(DELTA), curve.delta(EPSILON))
