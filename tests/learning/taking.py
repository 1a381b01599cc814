"""Steps taken by themselves of rows in memory, and what there is to hear of steps that are taken."""

import tracemalloc
from contextlib import contextmanager

import numpy as np
import pytest
from scipy import stats

from objpert_core.learning import Rows
from objpert_core.learning.row_sources import InMemory, take_alone
from objpert_core.learning.steps.base import PublicRows, Taken, take


def map_rows(X, plan, source, *, n_rows=None):
    """The map that a standardisation releases, and the rows that are learned from."""
    row_map = take_alone(plan, X, source, n_rows=n_rows)
    return row_map, row_map.seen(X if isinstance(X, Rows) else Rows(X, "normalize"))


def release_map(X, plan, source, *, n_rows=None):
    return take_alone(plan, X, source, n_rows=n_rows)


def release_curvature(rows, targets, theta, noise, source):
    public = PublicRows(rows.n_rows, rows.n_features, constant=rows.constant, theta=theta)
    return take(noise, InMemory(rows, targets), source, public)


@contextmanager
def listening(step, change=lambda statistic: statistic):
    """What is heard while this is open of steps of a kind: each statistic, changed, with the noisy sum."""
    kind, heard = Taken.KINDS[step], []
    release = kind.released

    def released(self, own, public):
        asked, noisy = release(self, own, public), None
        while True:
            try:
                statistic = change(asked.send(noisy))
            except StopIteration as done:
                return done.value
            noisy = yield statistic
            heard.append((statistic, np.array(noisy)))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kind, "released", released)
        yield heard


# How likely counts are under a law, and how much memory work takes


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
