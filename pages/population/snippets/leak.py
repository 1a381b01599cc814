from objpert_core.accounting.population.published import published_sgd_mechanism

n, epsilon = ROWS, EPSILON
step = published_sgd_mechanism(n, DIMENSION, epsilon, 1 / n**2, strict=False, steps=1)
attained = step.attained_delta(epsilon)
print(attained * n**2, step.delta(epsilon) * n**2)  # in units of the target
