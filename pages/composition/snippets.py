# %% filter
import math

import objpert_core.accounting as acc

releases = RELEASES
budget = acc.PrivacyFilter.for_target(TARGET, DELTA)
for release in releases[:RELEASED]:
    if math.isfinite(release.mu()) and budget.allows(release):
        budget.spend(release)
print(budget.mu, budget.reading, budget.left, budget.epsilon(DELTA))
for release in releases[RELEASED:PLANNED]:
    print(math.isfinite(release.mu()) and budget.allows(release))

# %% fits
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

# %% ledger
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
