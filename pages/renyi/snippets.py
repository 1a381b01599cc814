# %% curves
import numpy as np

import objpert_core.accounting as acc

mechanisms = {
    "objective": acc.ObjectivePerturbation(sigma=SIGMA, lam=LAM, smoothness=SMOOTHNESS, bound=BOUND),
    "gaussian": acc.Gaussian(sigma=SIGMA),
    "dpsgd": acc.DPSGD(noise_multiplier=NOISE_MULTIPLIER, sample_rate=SAMPLE_RATE, steps=STEPS),
    "allocation": acc.RandomAllocation(noise_multiplier=NOISE_MULTIPLIER, steps=EPOCH, epochs=EPOCHS),
}
alpha = np.array([1.5, 2.0, 4.0, 8.0, 16.0, 64.0, 256.0, 1024.0, 4096.0])
for name, mechanism in mechanisms.items():
    by_renyi, by_distribution = acc.via_rdp(mechanism).epsilon(DELTA), mechanism.epsilon(DELTA)
    print(name, by_renyi, by_distribution, *mechanism.rdp(alpha))
