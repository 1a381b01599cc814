from objpert_core.accounting import calibrate_quadratic_perturbation
from objpert_core.experiments.quadratic.disagreement import Disagreement

epsilon = EPSILON
bend = calibrate_quadratic_perturbation(epsilon, DELTA, 1)
data = Disagreement(bend.scale, bend.degrees_of_freedom, rows=ROWS, penalty=PENALTY)
delta = data.delta(OFF, epsilon)
print(delta)
