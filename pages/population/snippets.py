# %% excess
from objpert_core.experiments.population import stored

found = stored.load(POPULATION)  # in a checkout; the file names its command, seeds and commit
n, points = found.curve(DIMENSION, EPSILON, METHOD)
means = [point.excess.mean for point in points]
print(dict(zip(n, means)))

# %% gap
from objpert_core.experiments.population import stored

found = stored.load(POPULATION)  # in a checkout; the file names its command, seeds and commit
n, points = found.curve(DIMENSION, EPSILON, METHOD)
means = [point.gap.mean for point in points]
print(dict(zip(n, means)))

# %% leak
from objpert_core.accounting.population.published import published_sgd_mechanism

n, epsilon = ROWS, EPSILON
step = published_sgd_mechanism(n, DIMENSION, epsilon, 1 / n**2, strict=False, steps=1)
attained = step.attained_delta(epsilon)
print(attained * n**2, step.delta(epsilon) * n**2)  # in units of the target

# %% methods
from objpert_core.experiments.population.methods import Setting
from objpert_core.experiments.population.sweep import Piece

setting = Setting(POPULATION, ROWS, DIMENSION, EPSILON, RADIUS)
fits = [Piece(setting, (METHOD,), trial)()[0] for trial in range(TRIALS)]
mean = sum(fit.excess for fit in fits) / len(fits)
print(mean, setting.zero)

# %% passes
from objpert_core.theory.population_risk import descent_parts

parts = descent_parts(ROWS, DIMENSION, EPSILON, DELTA, STEPS, radius=RADIUS, smoothness=SMOOTHNESS)
print(parts.optimisation, parts.noise, parts.stability, parts.total)

# %% winners
from objpert_core.experiments.population import stored

found = stored.load(POPULATION)  # in a checkout; the file names its command, seeds and commit
winners = {(n, d): found.winner(n, d, EPSILON) for n in found.rows for d in found.dimensions}
print(winners)
