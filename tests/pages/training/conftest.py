"""One comparison that the tests of words, tables and pictures read."""

import pytest

from objpert_core.datasets import load
from objpert_core.experiments.compare import Settings, compare


@pytest.fixture(scope="session")
def steps():
    return list(compare(load("breast-cancer", split_seed=1), Settings(epsilon=1.0, repeats=5)))


@pytest.fixture(scope="session")
def last(steps):
    return steps[-1]
