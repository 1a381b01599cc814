from objpert_core.experiments.ptr.points import Points

values = VALUES
points = Points(values, people=PEOPLE, bound=BOUND, epsilon=EPSILON, delta=DELTA, published=PUBLISHED)
outcome = points.run(seed=SEED, fallback=FALLBACK)
print(points.global_epsilon, points.local_epsilon, points.own_epsilon)
print(points.distance, points.threshold, points.pass_probability, outcome)
