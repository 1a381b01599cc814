from dataclasses import replace

from objpert_core.accounting import calibrate_quadratic_perturbation

epsilon = EPSILON
bend = calibrate_quadratic_perturbation(epsilon, DELTA, SIZE, degrees_of_freedom=DEGREES, bound=BY)
deltas = {proof: replace(bend, bound=proof).delta(epsilon) for proof in ("published", "sharpened", "exact")}
print(bend.scale, deltas, replace(bend, bound="exact").floor)
