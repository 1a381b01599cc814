from objpert_core.experiments.population.methods import Setting
from objpert_core.experiments.population.sweep import Piece

setting = Setting(POPULATION, ROWS, DIMENSION, EPSILON, RADIUS)
fits = [Piece(setting, (METHOD,), trial)()[0] for trial in range(TRIALS)]
mean = sum(fit.excess for fit in fits) / len(fits)
print(mean, setting.zero)
