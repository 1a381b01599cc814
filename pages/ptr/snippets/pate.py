from objpert_core.experiments.ptr.teachers import Proposal, Teachers

teachers = Teachers(first=FIRST, second=SECOND, number=NUMBER, sigma=SIGMA, queries=QUERIES, seed=SEED)
asked = Proposal(teachers, epsilon=EPSILON, test_epsilon=TEST_EPSILON, delta=DELTA)
print(teachers.any_votes, teachers.these_votes, asked.total)
print(asked.distance, asked.threshold, asked.pass_probability)
