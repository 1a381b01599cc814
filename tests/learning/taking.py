"""Steps taken by themselves of rows in memory, and what there is to hear of steps that are taken."""

from contextlib import contextmanager

import numpy as np
import pytest

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
