# %% bowls
from objpert_core.experiments.quadratic.plane import Plane

plane = Plane(EPSILON, DELTA, rows=ROWS, radius=RADIUS, seed=SEED)
minima = {kind: bowl.minimum for kind, bowl in plane.bowls().items()}
print(minima, plane.bend, plane.tilt())

# %% heat
from objpert_core.experiments.quadratic import figure1

found = figure1.cell(PANEL, PROOF, EPSILON, DELTA)
print(found.value, found.degrees_of_freedom)

# %% labels
from objpert_core.accounting import calibrate_quadratic_perturbation
from objpert_core.experiments.quadratic.disagreement import Disagreement

epsilon = EPSILON
bend = calibrate_quadratic_perturbation(epsilon, DELTA, 1)
data = Disagreement(bend.scale, bend.degrees_of_freedom, rows=ROWS, penalty=PENALTY)
delta = data.delta(OFF, epsilon)
print(delta)

# %% labels_tilted
from objpert_core.accounting import calibrate_tilt_and_bend
from objpert_core.experiments.quadratic.disagreement import tilted_delta

epsilon = EPSILON
release = calibrate_tilt_and_bend(epsilon, DELTA, 1, residual_bound=1.0)
delta = tilted_delta(OFF, epsilon, residual_bound=1.0, sigma=release.sigma)
print(delta)

# %% means
from objpert_core.experiments.quadratic import stored

found = stored.load(EXPERIMENT)
means = {method: found.interval(**{COLUMN: AT}, method=method).mean for method in METHODS}
print(means)

# %% profile
from dataclasses import replace

from objpert_core.accounting import calibrate_quadratic_perturbation

epsilon = EPSILON
bend = calibrate_quadratic_perturbation(epsilon, DELTA, SIZE, degrees_of_freedom=DEGREES, bound=BY)
deltas = {proof: replace(bend, bound=proof).delta(epsilon) for proof in ("published", "sharpened", "exact")}
print(bend.scale, deltas, replace(bend, bound="exact").floor)

# %% regression
from objpert_core.experiments.quadratic import stored

found, case = stored.load("regression"), {"n": ROWS, "d": DIMENSION, "epsilon": EPSILON}
means = {method: found.interval(**case, method=method).mean for method in METHODS}
print(means)

# %% spectrum
from objpert_core.experiments.quadratic.spectrum import Spectrum

spectrum = Spectrum(SIZE, DEGREES, DELTA, seed=SEED)
eigenvalues = spectrum.eigenvalues()
print(spectrum.alpha, spectrum.beta, eigenvalues.min(), eigenvalues.max())
