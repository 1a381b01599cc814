from objpert_core.accounting import calibrate_tilt_and_bend
from objpert_core.experiments.quadratic.disagreement import tilted_delta

epsilon = EPSILON
release = calibrate_tilt_and_bend(epsilon, DELTA, 1, residual_bound=1.0)
delta = tilted_delta(OFF, epsilon, residual_bound=1.0, sigma=release.sigma)
print(delta)
