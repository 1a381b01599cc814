import numpy as np

from objpert_core.theory.minimiser_law import MinimiserLaw, log_odds, sampled_success

rows = ROWS
labels = LABELS
left = MinimiserLaw(rows, labels, sigma=SIGMA, lam=LAM)
joined = left.add(ROW, LABEL)

theta = np.array(THETA)  # as it was published
posterior = 1 / (1 + np.exp(-float(log_odds(joined, left, theta))))
print(posterior)
success = sampled_success(joined, left)
print(success)
