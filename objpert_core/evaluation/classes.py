"""Evaluations of classifiers: bins of the score for two classes, a confusion matrix for more."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from scipy.special import expit

from objpert_core._validation import FloatArray, IntArray, in_open_unit
from objpert_core.evaluation.estimates import Estimate, Part, area, mean_of, part, proportion
from objpert_core.evaluation.evaluation import Evaluation, frame, only

BINS = 32
"""Bins of the score of two classes."""
_STEPS = np.arange(1, BINS)
THRESHOLDS = expit(2 * (np.log(_STEPS) - np.log(BINS - _STEPS)))
"""Where the bins meet, as probabilities p of the second class: equally wide steps of expit(log-odds/2).

These are fine where p is small, too. Steps of equal width in p would put all rows of a rare class into a bin or two."""


def bins_of(log_odds: FloatArray) -> IntArray:
    """The bin of every score: a score above 0, which predicts the second class, is in one of the upper half."""
    return np.clip(np.ceil(expit(np.asarray(log_odds) / 2) * BINS).astype(np.intp) - 1, 0, BINS - 1)


@dataclass(frozen=True, eq=False, repr=False)
class ClassEvaluation(Evaluation):
    """An evaluation of a classifier; `classes` are the labels' texts."""

    KIND: ClassVar[str] = "classification"
    classes: tuple[str, ...] = ()

    @abstractmethod
    def cell(self, true: int, predicted: int) -> Part:
        """The rows of one class that are predicted to be of another one, or of the same."""

    def _estimate(self, yes: Part, no: Part) -> Estimate:
        return proportion(yes, no, self.noise, self.level)

    def _sum(self, pairs: list[tuple[int, int]]) -> Part:
        return sum((self.cell(*pair) for pair in pairs), Part(0.0, 0))

    def _pairs(self) -> list[tuple[int, int]]:
        every = range(len(self.classes))
        return [(true, predicted) for true in every for predicted in every]

    def _recall(self, true: int) -> Estimate:
        missed = [(true, predicted) for predicted in range(len(self.classes)) if predicted != true]
        return self._estimate(self.cell(true, true), self._sum(missed))

    def accuracy(self) -> Estimate:
        """The share of rows whose class is predicted."""
        pairs = self._pairs()
        return self._estimate(
            self._sum([p for p in pairs if p[0] == p[1]]), self._sum([p for p in pairs if p[0] != p[1]])
        )

    def balanced_accuracy(self) -> Estimate:
        """The mean over classes of the share of their rows that is predicted."""
        return mean_of([self._recall(true) for true in range(len(self.classes))])

    def class_shares(self) -> pd.DataFrame:
        """The share of rows of each class, with its interval: columns ``class, value, low, high``."""
        pairs, every = self._pairs(), range(len(self.classes))
        shares = [
            self._estimate(self._sum([p for p in pairs if p[0] == k]), self._sum([p for p in pairs if p[0] != k]))
            for k in every
        ]
        return frame(shares, **{"class": list(self.classes)})

    def confusion(self) -> pd.DataFrame:
        """Columns ``class, predicted, rows, value, low, high``: a noisy number of rows, and their share of all."""
        pairs = self._pairs()
        shares = [self._estimate(self.cell(*pair), self._sum([p for p in pairs if p != pair])) for pair in pairs]
        names = {"class": [self.classes[true] for true, _ in pairs], "predicted": [self.classes[k] for _, k in pairs]}
        return frame(shares, **names, rows=[round(self.cell(*pair).rows) for pair in pairs])

    @staticmethod
    def _classes(values: Mapping[str, Any]) -> tuple[str, ...]:
        found = values.get("classes")
        if not isinstance(found, list) or not all(type(one) is str for one in found) or len(set(found)) < len(found):
            raise ValueError("the evaluation's classes must be different texts")
        return tuple(found)


@dataclass(frozen=True, eq=False, repr=False)
class TwoClasses(ClassEvaluation):
    """An evaluation of a classifier of two classes; made by `evaluate`, common attributes: `Evaluation`.

    The score's 32 bins are fixed beforehand. `counts` has the first class's rows by bin, then those of the second, the
    positive one. A threshold is a probability of the second class, and counts as the nearest of `THRESHOLDS`.

    Examples
    --------
    >>> from objpert_core.estimators import ObjPertLogisticRegression
    >>> from objpert_core.evaluation import evaluate
    >>> X = np.linspace([-1.0, 1.0], [1.0, 1.0], 4000)
    >>> y = (X[:, 0] > 0).astype(int)
    >>> model = ObjPertLogisticRegression(classes=[0, 1], random_state=0).fit(X, y)
    >>> evaluate(model, X, y, random_state=0).accuracy().value > 0.95
    True
    """

    KIND: ClassVar[str] = "two classes"

    def cell(self, true: int, predicted: int) -> Part:
        """See `ClassEvaluation.cell`, at the threshold 0.5."""
        return self._cell(true, predicted, BINS // 2)

    def _cell(self, true: int, predicted: int, first: int) -> Part:
        """As `cell`, where the bins from `first` on are predicted to be of the second class."""
        own = self.table.reshape(2, BINS)[true]
        return part(own[first:] if predicted else own[:first])

    def accuracy(self, threshold: float = 0.5) -> Estimate:
        """The share of rows whose class is predicted."""
        first = _first(threshold)
        right, wrong = (self._cell(0, own, first) + self._cell(1, 1 - own, first) for own in (0, 1))
        return self._estimate(right, wrong)

    def recall(self, threshold: float = 0.5) -> Estimate:
        """The share of the second class's rows that is predicted: the true positive rate."""
        first = _first(threshold)
        return self._estimate(self._cell(1, 1, first), self._cell(1, 0, first))

    def specificity(self, threshold: float = 0.5) -> Estimate:
        """The share of the first class's rows that is predicted: 1 less the false positive rate."""
        first = _first(threshold)
        return self._estimate(self._cell(0, 0, first), self._cell(0, 1, first))

    def precision(self, threshold: float = 0.5) -> Estimate:
        """The share of the second class among the rows that are predicted to be of it."""
        first = _first(threshold)
        return self._estimate(self._cell(1, 1, first), self._cell(0, 1, first))

    def balanced_accuracy(self, threshold: float = 0.5) -> Estimate:
        """The mean of recall and specificity."""
        return mean_of([self.recall(threshold), self.specificity(threshold)])

    def auc(self) -> Estimate:
        """The area under the ROC curve; its interval also covers the unknown order within a bin."""
        negatives, positives = self.table.reshape(2, BINS)
        return area(negatives, positives, self.noise, self.level)

    def roc(self) -> pd.DataFrame:
        """For every threshold, from (0, 0) to (1, 1): ``threshold, tpr, tpr_low, tpr_high, fpr, fpr_low, fpr_high``."""
        rows = [(1.0, *6 * (0.0,))]
        for threshold in THRESHOLDS[::-1]:
            tpr, tnr = self.recall(threshold), self.specificity(threshold)
            rows.append((threshold, tpr.value, tpr.low, tpr.high, 1 - tnr.value, 1 - tnr.high, 1 - tnr.low))
        rows.append((0.0, *6 * (1.0,)))
        return pd.DataFrame(
            rows, columns=["threshold", *(f"{r}{end}" for r in ("tpr", "fpr") for end in ("", "_low", "_high"))]
        )

    def calibration(self) -> pd.DataFrame:
        """Columns ``from, to`` (a bin's ends), ``rows`` (noisy), ``value, low, high``: the second class's share."""
        negatives, positives = self.table.reshape(2, BINS)
        shares = [self._estimate(part(p), part(n)) for n, p in zip(negatives, positives, strict=True)]
        ends = np.concatenate([[0.0], THRESHOLDS, [1.0]])
        rows = (negatives + positives).astype(int)
        return frame(shares, **{"from": ends[:-1], "to": ends[1:], "rows": rows})

    def estimates(self) -> dict[str, Estimate]:
        positive = self._estimate(self._sum([(1, 0), (1, 1)]), self._sum([(0, 0), (0, 1)]))
        return {
            "accuracy": self.accuracy(),
            "balanced accuracy": self.balanced_accuracy(),
            "precision": self.precision(),
            "recall": self.recall(),
            "AUC": self.auc(),
            f"share of {self.classes[1]}": positive,
        }

    @classmethod
    def own_fields(cls, values: Mapping[str, Any], cells: int) -> dict[str, Any]:
        only(values, "classes")
        classes = cls._classes(values)
        if (len(classes), cells) != (2, 2 * BINS):
            raise ValueError(f"the evaluation must have 2 classes and {2 * BINS} counts")
        return {"classes": classes}


def _first(threshold: float) -> int:
    """The first bin above the place nearest to a threshold where bins meet."""
    return 1 + int(np.abs(THRESHOLDS - in_open_unit("threshold", threshold)).argmin())


@dataclass(frozen=True, eq=False, repr=False)
class ManyClasses(ClassEvaluation):
    """An evaluation of a classifier of several classes; made by `evaluate`, common attributes: `Evaluation`.

    `counts` is the confusion matrix, a row for each class and a column for each predicted one.
    """

    KIND: ClassVar[str] = "several classes"

    def cell(self, true: int, predicted: int) -> Part:
        return Part(float(self.counts[true * len(self.classes) + predicted]), 1)

    def recalls(self) -> pd.DataFrame:
        """For each class the share of its rows that is predicted: columns ``class, value, low, high``."""
        return frame([self._recall(k) for k in range(len(self.classes))], **{"class": list(self.classes)})

    def estimates(self) -> dict[str, Estimate]:
        return {"accuracy": self.accuracy(), "balanced accuracy": self.balanced_accuracy()}

    @classmethod
    def own_fields(cls, values: Mapping[str, Any], cells: int) -> dict[str, Any]:
        only(values, "classes")
        classes = cls._classes(values)
        if len(classes) ** 2 != cells:
            raise ValueError(f"the evaluation must have the square of {len(classes)} counts, got {cells}")
        return {"classes": classes}
