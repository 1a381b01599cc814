"""How likely counts are under a law, and how much memory work takes."""

import tracemalloc

import numpy as np
from scipy import stats


def p_value(counts, law):
    """Of the χ² test of counts of 0, 1, … against the expected numbers of them; all rare ones count as one."""
    common, total = law > 5, np.sum(counts)
    merged = (np.append(one[common], total - one[common].sum()) for one in (np.asarray(counts), law))
    return stats.chisquare(*merged).pvalue


def peak_of(work):
    """The most bytes that it holds at once."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
