# %% frontier
import objpert_core.accounting as acc
from objpert_core.estimators import ObjPertLogisticRegression
from objpert_core.theory.excess_risk import excess_risk_bound

mechanism = acc.calibrate_objective_perturbation(
    epsilon=EPSILON, delta=DELTA, lipschitz=RADIUS, bound=BOUND, noise_ratio=RATIO, accountant="rdp"
)
excess = excess_risk_bound(
    mechanism, rows=NUMBER_OF_ROWS, dimension=LENGTH_OF_THETA, comparator_norm=GUESSED_NORM_OF_THETA
)
print("sigma", mechanism.sigma, "lambda", mechanism.lam)
print("excess training loss per row, at most", excess / NUMBER_OF_ROWS)

model = ObjPertLogisticRegression(
    epsilon=EPSILON,
    delta=DELTA,
    advanced={"bound": BOUND, "noise_ratio": FITTED, "accountant": "rdp", "intercept_scaling": SCALING},
)
