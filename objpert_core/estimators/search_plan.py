"""What public numbers decide of a search: how many runs, and the ε of each fit; and the runs, one after the other."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy.sparse as sp

from objpert_core.accounting import calibrate_gaussian
from objpert_core.estimators.cautions import rows_read_off, warn_of_classes
from objpert_core.evaluation import evaluate
from objpert_core.learning import PrivacyCertificate
from objpert_core.learning.certificates.evaluated import counts_sensitivity
from objpert_core.learning.certificates.searched import search_mechanism, with_rows_read_off, without_fingerprint
from objpert_core.learning.sampling import Streams, poisson_count, uniform_choices

COINS = 0
"""The name of the stream of the coins that put rows aside."""
_COUNT, _PICKS, _FIT, _SCORE = 1, 2, 3, 4
_CHANCE = 0.9  # of a setting to be tried at least once, where the number of runs is random
_CLOSE = 0.98  # of the promise: nearer is not worth another round
_ROUNDS = 12
_FEW, _ALL = 4, 24
"""Settings up to which to try every one is cheaper, and from which on a random number of runs is."""


class Trial(NamedTuple):
    """A run: the place of its setting, the fitted model, its noisy counts."""

    place: int
    model: Any
    found: Any


class Plan:
    """What public numbers decide: how many runs, and the ε of each fit.

    A fit's certificate depends on its setting, on public numbers and on what is declared of columns alone. So a fit to
    made-up rows of the same width says what a fit to the training rows will cost.
    """

    def __init__(self, search: Any, settings: Sequence[dict[str, Any]], y: Any, X_train: Any) -> None:
        self.search, self.settings = search, settings
        own = search.estimator.get_params(deep=False)
        self.declared = own.get("public_rows") is not None
        self.fixed: dict[str, Any] = {"delta": search.delta}
        if self.declared:
            self.fixed["public_rows"] = max(1, int(own["public_rows"] * (1 - search.test_share)))
        self.read_off = max(1, X_train.shape[0] if hasattr(X_train, "shape") else len(X_train))
        if "classes" in own and own["classes"] is None:
            warn_of_classes(search.estimator)
            self.fixed["classes"] = np.unique(y)
        self.standing = _stand_in_table(X_train, own["columns"]) if "columns" in own else _stand_ins(X_train)
        self.labels = self.fixed.get("classes", own.get("classes"))
        if search.scoring == "auc" and len(self.labels) != 2:
            raise ValueError(
                f"scoring must be 'accuracy' or 'balanced_accuracy' for {len(self.labels)} classes, got "
                f"{search.scoring!r}"
            )
        self.counted = [not self.declared and self._counts_rows(one) for one in settings]
        if any(self.counted):
            rows_read_off(type(search.estimator).__name__).warn(search.estimator)
        first = self._certificates(search.epsilon, [0])[0]
        self.adjacency, self.rows_per_person = first.mechanism_adjacency, first.rows_per_person

    def made(self, place: int, epsilon: float, state: Any) -> Any:
        """An unfitted estimator with a setting, told the number of rows where a rule would read it off."""
        model = self._unfitted(self.settings[place] | {"epsilon": epsilon, "random_state": state})
        if self.counted[place]:
            model.public_rows = self.read_off
        model.may_be_dropped = True
        return model

    def _counts_rows(self, setting: dict[str, Any]) -> bool:
        """Whether a rule of a fit with this setting goes by the number of rows."""
        model = self._unfitted(setting | {"epsilon": self.search.epsilon})
        return bool(model.planned(self.read_off, self.standing.shape[1], sparse=sp.issparse(self.standing)).reads_rows)

    def _unfitted(self, parameters: Mapping[str, Any]) -> Any:
        return self.search.estimator.having(self.fixed | dict(parameters))

    def words(self, certificate: PrivacyCertificate) -> PrivacyCertificate:
        """A fit's certificate with the right words for a number of rows that was not declared."""
        return certificate if self.declared else with_rows_read_off(certificate)

    def described(self, certificate: PrivacyCertificate) -> PrivacyCertificate:
        """What of a fit's certificate setting and public numbers decide; its noise's source is the search's."""
        return self.words(without_fingerprint(certificate))

    def _certificates(self, epsilon: float, places: Sequence[int]) -> list[PrivacyCertificate]:
        rows, labels = self.standing, np.arange(self.standing.shape[0], dtype=float)
        if self.labels is not None:
            labels = np.asarray(self.labels)[np.arange(len(labels)) % len(self.labels)]
        state = None if self.search.random_state is None else np.random.default_rng(0)
        found = [self.described(self.made(one, epsilon, state).fit(rows, labels).privacy_) for one in places]
        if not all(getattr(one, "choice_covered", True) for one in found):
            raise ValueError(
                "tuning must be 'none' or 'honest' in a search, whose fits must be paid for, got 'dishonest'"
            )
        return found

    def score_noise(self, epsilon: float) -> float:
        """As `evaluate` will draw it."""
        sensitivity = self.rows_per_person * counts_sensitivity(self.adjacency)
        return calibrate_gaussian(epsilon, self.search.delta, sensitivity).sigma

    def trials(self, streams: Streams, X_train: Any, X_test: Any, y_train: Any, y_test: Any) -> Iterator[Trial]:
        """Every run: a fit to the training rows, and noisy counts of the others. `RuntimeError` if a fit costs other
        than was planned.
        """
        epsilon, mean_runs, certificates = self.calibrated
        picks = np.arange(len(self.settings))
        if mean_runs is not None:
            runs = poisson_count(streams.stream(_COUNT), mean_runs)
            picks = uniform_choices(streams.stream(_PICKS), len(self.settings), runs)
        for at, place in enumerate(map(int, picks)):
            model = self.made(place, epsilon, seed(streams, _FIT, at)).fit(X_train, y_train)
            if self.described(model.privacy_) != certificates[place]:
                raise RuntimeError("a fit's certificate is not the one that was planned: nothing was released")
            found = evaluate(
                model,
                X_test,
                y_test,
                epsilon,
                self.search.delta,
                largest_error=self.search.largest_error,
                adjacency=self.adjacency,
                rows_per_person=self.rows_per_person,
                random_state=seed(streams, _SCORE, at),
            )
            yield Trial(place, model, found)

    @cached_property
    def calibrated(self) -> tuple[float, float | None, list[PrivacyCertificate]]:
        """Nearly the largest ε for one fit that leaves all within the promise; E[K]; the fits' certificates."""
        settings = len(self.settings)
        runs = -settings * math.log(1 - _CHANCE)  # with which each setting is tried with this chance
        ways = [None] * (settings <= _ALL) + [runs] * (settings > _FEW)
        found = [(*self._within_promise(mean_runs), mean_runs) for mean_runs in ways]
        epsilon, certificates, mean_runs = max(found, key=lambda one: one[0])
        return epsilon, mean_runs, certificates

    def _within_promise(self, mean_runs: float | None) -> tuple[float, list[PrivacyCertificate]]:
        epsilon, delta = float(self.search.epsilon), float(self.search.delta)
        tried = epsilon / math.sqrt(len(self.settings))
        best: tuple[float, list[PrivacyCertificate]] = (0.0, [])
        for _ in range(_ROUNDS):
            certificates = self._certificates(tried, range(len(self.settings)))
            spent = float(search_mechanism(certificates, self.score_noise(tried), mean_runs).epsilon(delta))
            if best[0] < tried and spent <= epsilon:
                best = tried, certificates
            if best[0] and spent <= epsilon and (spent >= _CLOSE * epsilon or len(self.settings) == 1):
                break
            tried *= max(0.25, epsilon / spent * (1 - 1e-3))
        if not best[0]:
            raise ValueError(f"epsilon must be large enough for {len(self.settings)} settings, got {epsilon!r}")
        return best


def seed(streams: Streams, *name: int) -> Any:
    """A random state for what takes one: the operating system's, or a generator of the stream's own."""
    if not streams.reproducible:
        return None
    return np.random.default_rng(int.from_bytes(streams.stream(*name).read(16), "little"))


def _stand_ins(X: Any) -> Any:
    """A few made-up rows of the same width, dense or sparse as X, that no person's data are in."""
    width = int(np.shape(X)[1])
    rows = np.zeros((64, width))
    rows[np.arange(64), np.arange(64) % width] = 1.0
    return sp.csr_array(rows) if sp.issparse(X) else rows


def _stand_in_table(X: Any, declared: Mapping[Any, Any] | None) -> pd.DataFrame:
    """A few rows of a table with the same columns, in which every value is missing."""
    names = X.columns if hasattr(X, "columns") else range(int(np.shape(X)[1]))
    return pd.DataFrame({name: np.full(64, np.nan, object if name in (declared or {}) else float) for name in names})
