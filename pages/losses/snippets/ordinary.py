import objpert_core.accounting as acc
from objpert_core.theory.one_dimensional import OneDimensionalLogistic

labels = [1] * AGREE + [-1] * DIFFER
exact = {}
for margin in MARGINS:
    without = OneDimensionalLogistic([1.0] * len(labels), labels, sigma=SIGMA, lam=LAM, margin=margin)
    exact[margin] = without.pair_epsilon(without.add(1.0, 1), DELTA)
print("exact for this row:", exact)
print("certified for every row:", acc.ObjectivePerturbation(sigma=SIGMA, lam=LAM).epsilon(DELTA))
