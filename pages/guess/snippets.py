# %% bare
import numpy as np

from objpert_core.theory.minimiser_law import MinimiserLaw

RELEASED
posterior = float(np.array_equal(theta, joined.minimiser(np.zeros(theta.size))))  # one of two minimisers
print(posterior)

# %% digits
import numpy as np

from objpert_core.theory.minimiser_law import MinimiserLaw
from objpert_core.theory.naive_noise import digits_posterior

RELEASED
posterior = digits_posterior(joined, left, theta)
print(posterior)

# %% line
import numpy as np

from objpert_core.theory.minimiser_law import MinimiserLaw, log_odds
from objpert_core.theory.one_dimensional import OneDimensionalLogistic

RELEASED
posterior = 1 / (1 + np.exp(-float(log_odds(joined, left, theta))))
print(posterior)
first, second = (
    OneDimensionalLogistic(law.rows[:, 0], law.labels, sigma=law.sigma, lam=law.lam) for law in (left, joined)
)
success = 0.5 + 0.5 * first.hockey_stick(second, 0.0)
print(success)

# %% plane
import numpy as np

from objpert_core.theory.minimiser_law import MinimiserLaw, log_odds, sampled_success

RELEASED
posterior = 1 / (1 + np.exp(-float(log_odds(joined, left, theta))))
print(posterior)
success = sampled_success(joined, left)
print(success)

# %% released
rows = ROWS
labels = LABELS
left = MinimiserLaw(rows, labels, sigma=SIGMA, lam=LAM)
joined = left.add(ROW, LABEL)

theta = np.array(THETA)  # as it was published
