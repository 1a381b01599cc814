from objpert_core.accounting import Gaussian

noisy = Gaussian(sigma=SIGMA)
print(noisy.delta(EPSILON), noisy.tail(EPSILON))
