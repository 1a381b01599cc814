from objpert_core.theory.population_risk import descent_parts

parts = descent_parts(ROWS, DIMENSION, EPSILON, DELTA, STEPS, radius=RADIUS, smoothness=SMOOTHNESS)
print(parts.optimisation, parts.noise, parts.stability, parts.total)
