import numpy as np

from objpert_core.theory.minimiser_law import MinimiserLaw

rows = ROWS
labels = LABELS
left = MinimiserLaw(rows, labels, sigma=SIGMA, lam=LAM)
joined = left.add(ROW, LABEL)

theta = np.array(THETA)  # as it was published
posterior = float(np.array_equal(theta, joined.minimiser(np.zeros(theta.size))))  # one of two minimisers
print(posterior)
