from objpert_core.experiments.population import stored

found = stored.load(POPULATION)  # in a checkout; the file names its command, seeds and commit
winners = {(n, d): found.winner(n, d, EPSILON) for n in found.rows for d in found.dimensions}
print(winners)
