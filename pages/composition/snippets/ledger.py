import numpy as np

import objpert_core.accounting as acc

releases = RELEASES
alpha = 1 + np.logspace(-2, 5, 281)
alpha = np.unique(np.where(alpha < 10, np.round(alpha, 6), np.round(alpha)))


def alone(mechanism):
    if isinstance(mechanism, acc.DPSGD):
        return mechanism.epsilon_bounds(DELTA, relative_width=WIDTH)[1]
    return mechanism.epsilon(DELTA)


totals = []
for n in range(1, len(releases) + 1):
    together = acc.compose(*(acc.repeat(mechanism, k) for mechanism, k in releases[:n]))
    low, high = together.epsilon_bounds(DELTA, relative_width=WIDTH)
    renyi = acc.rdp_to_epsilon(alpha, together.rdp(alpha), DELTA)
    added = sum(k * alone(mechanism) for mechanism, k in releases[:n])
    totals.append((low, high, renyi, added))
    print(n, *totals[-1])
