import numpy as np

from objpert_core.experiments.ptr.ballot import Ballot

ballot = Ballot(EPSILON, DELTA, noise=NOISE)
gap = np.array([GAP])
errors, epsilons = ballot.errors(gap), ballot.epsilons(gap)
print(errors, epsilons, ballot.least_gap)
