import numpy as np

from objpert_core.theory.minimiser_law import MinimiserLaw
from objpert_core.theory.naive_noise import digits_posterior

rows = ROWS
labels = LABELS
left = MinimiserLaw(rows, labels, sigma=SIGMA, lam=LAM)
joined = left.add(ROW, LABEL)

theta = np.array(THETA)  # as it was published
posterior = digits_posterior(joined, left, theta)
print(posterior)
