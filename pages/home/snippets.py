# %% release
import numpy as np

import objpert_core.accounting as acc
from objpert_core.theory.one_dimensional import OneDimensionalLogistic

features = FEATURES
labels = LABELS
without = OneDimensionalLogistic(features, labels, sigma=SIGMA, lam=LAM)
with_person = without.add(POSITION, LABEL)

theta = np.linspace(*without.interval(2e-3), 9)
density_without, density_with = without.density(theta), with_person.density(theta)
privacy_loss = with_person.log_density(theta) - without.log_density(theta)
epsilon = acc.ObjectivePerturbation(sigma=SIGMA, lam=LAM, lipschitz=RADIUS).epsilon(DELTA)
print(np.column_stack([theta, density_without, density_with, privacy_loss]))
print("proved epsilon:", epsilon, "largest privacy loss here:", np.abs(privacy_loss).max())
