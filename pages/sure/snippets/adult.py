import numpy as np

from objpert_core.datasets import load

data = load(DATA)
people = np.random.default_rng(SEED).permutation(len(data.y_train))[:PEOPLE]
columns = [data.feature_names.index(name) for name in NAMES]
X, y = data.X_train[np.ix_(people, columns)], data.y_train[people]
