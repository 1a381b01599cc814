from objpert_core.experiments.quadratic.plane import Plane

plane = Plane(EPSILON, DELTA, rows=ROWS, radius=RADIUS, seed=SEED)
minima = {kind: bowl.minimum for kind, bowl in plane.bowls().items()}
print(minima, plane.bend, plane.tilt())
