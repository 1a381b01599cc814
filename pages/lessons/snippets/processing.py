from objpert_core.accounting import Gaussian

print(Gaussian(sigma=SIGMA).delta(1.0))  # not rounded
