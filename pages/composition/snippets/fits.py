import numpy as np

import objpert_core.accounting as acc

fit = MECHANISM
alpha = 1 + np.logspace(-2, 5, 281)
alpha = np.unique(np.where(alpha < 10, np.round(alpha, 6), np.round(alpha)))
epsilon = np.linspace(0, EPS_MAX, POINTS)
bounds, renyi = {}, {}
for k in COUNTS:
    together = acc.repeat(fit, k)
    renyi[k] = acc.rdp_to_delta(alpha, k * fit.rdp(alpha), epsilon)
    drawn = epsilon[renyi[k] >= FLOOR]
    bounds[k] = together.delta_bounds(drawn, relative_width=WIDTH)
    low, high = together.epsilon_bounds(DELTA, relative_width=WIDTH)
    print(k, low, high, acc.rdp_to_epsilon(alpha, k * fit.rdp(alpha), DELTA), k * fit.epsilon(DELTA))
