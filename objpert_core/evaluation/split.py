"""A coin for each row: train on one part and evaluate on the other, for no more than the larger of the two budgets."""

from __future__ import annotations

from functools import partial
from threading import Lock
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils import _safe_indexing, indexable

from objpert_core._validation import in_open_unit
from objpert_core.blocks import Block, OnWorkers, as_blocks
from objpert_core.learning.noise import NoiseSource, noise_source
from objpert_core.learning.sampling import selected


def split_by_coin(
    X: Any, y: Any = None, test_share: float = 0.2, groups: Any = None, random_state: Any = None
) -> tuple[Any, Any, Any, Any]:
    """Split rows into a training part and a test part, each row by its own coin.

    A person who joins or leaves changes one part only, so a fit to one part and an evaluation on the other cost the
    larger of the two budgets, and not their sum (docs/theorems.md, T49; `together`). scikit-learn's `train_test_split`
    is no such split: one row more moves others from part to part.

    The sizes of the parts are random. If the number of all rows was declared, give the fit this number times ``1 -
    test_share`` as `public_rows`.

    Parameters
    ----------
    X : array-like, sparse matrix, data frame, `Blocks` or Dask collection, shape (n, d)
        `Blocks` give two parts that are `Blocks`; a row's coin is drawn when the row is walked first. Blocks on a
        cluster's workers are refused.
    y : array-like, shape (n,)
        Left out where `X` is `Blocks`.
    test_share : float strictly between 0 and 1
        The probability that a row is a test row.
    groups : array-like, shape (n,), optional
        Whose row it is: rows of one person share a coin. Without groups each row is a person. Where `X` is `Blocks`,
        True says that they are triples whose third part is whose rows they are; an entry a person is kept in memory.
        Rows of nobody, None or NaN in the blocks, share a coin.
    random_state : None, int, numpy RandomState or Generator
        None takes the coins from the operating system. With a seed a row's coin depends on the row's place, and a row
        that is added moves the others: such a split is for teaching and tests.

    Returns
    -------
    X_train, X_test, y_train, y_test
        For `Blocks` the targets are None.

    Examples
    --------
    >>> X, y = np.eye(6), np.array([0, 1, 0, 1, 0, 1])
    >>> X_train, X_test, y_train, y_test = split_by_coin(X, y, test_share=0.5, random_state=1)
    >>> len(X_train) + len(X_test), len(y_test) == len(X_test)
    (6, True)
    """
    share = in_open_unit("test_share", test_share)
    if (blocks := as_blocks(X, y)) is not None:
        if isinstance(blocks, OnWorkers):
            raise ValueError("X must be split before it goes to a cluster, since coins are drawn here, got OnWorkers")
        if groups is not None and groups is not True:
            raise ValueError(f"groups must be None or True where X is Blocks, got {type(groups).__name__}")
        coins = (_Coins if groups is None else _CoinsOfPeople)(noise_source(random_state), share)
        return blocks.through(partial(coins.part, False)), blocks.through(partial(coins.part, True)), None, None
    X, y, groups = indexable(X, y, groups)
    rows = X.shape[0] if hasattr(X, "shape") else len(X)
    people, whose = (rows, np.arange(rows)) if groups is None else _people(groups)
    heads = np.zeros(people, dtype=bool)
    heads[selected(noise_source(random_state), people, share)] = True
    test = heads[whose]
    parts = (np.flatnonzero(~test), np.flatnonzero(test))
    return tuple(_safe_indexing(values, part) for values in (X, y) for part in parts)


class _Coins:
    """The coins of rows that are walked: drawn once, and the same in every walk, those on other threads too."""

    def __init__(self, source: NoiseSource, share: float) -> None:
        self._source, self._share, self._one_at_a_time = source, share, Lock()
        self._heads: dict[int, np.ndarray] = {}

    def part(self, heads: bool, place: int, X: Any, *beside: Any) -> Block:
        """The rows of a block whose coin fell so."""
        rows = X.shape[0]
        with self._one_at_a_time:  # or both walks draw, and a row is in both parts
            if place not in self._heads:
                coins = np.zeros(rows, dtype=bool)
                coins[selected(self._source, rows, self._share)] = True
                self._heads[place] = coins
            coins = self._heads[place]
        if len(coins) != rows:
            raise ValueError(f"block {place + 1} must have the same rows in every walk, got {len(coins)}, then {rows}")
        chosen = np.flatnonzero(coins == heads)
        return _safe_indexing(X, chosen), *(None if one is None else _safe_indexing(one, chosen) for one in beside)


class _CoinsOfPeople:
    """The coins of people whose rows are walked: drawn when a person comes first, and the same in every walk."""

    def __init__(self, source: NoiseSource, share: float) -> None:
        self._source, self._share, self._one_at_a_time = source, share, Lock()
        self._heads: dict[Any, bool] = {}

    def part(self, heads: bool, place: int, X: Any, y: Any, people: Any) -> Block:
        """The rows of a block whose person's coin fell so."""
        nobodys = pd.isna(np.asarray(people, dtype=object))
        people = [None if no_name else name for name, no_name in zip(people, nobodys, strict=True)]  # NaN is no key
        with self._one_at_a_time:  # or both walks draw, and a person is in both parts
            new = [name for name in dict.fromkeys(people) if name not in self._heads]
            coins = np.zeros(len(new), dtype=bool)
            coins[selected(self._source, len(new), self._share)] = True
            self._heads.update(zip(new, coins.tolist(), strict=True))
            chosen = np.flatnonzero([self._heads[name] == heads for name in people])
        return _safe_indexing(X, chosen), _safe_indexing(y, chosen)


def _people(groups: Any) -> tuple[int, Any]:
    """How many there are, and the number of each row's."""
    names, whose = np.unique(np.asarray(groups), return_inverse=True)
    return len(names), whose
