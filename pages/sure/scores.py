"""Scores as they may be published: ROC curve and calibration from one noisy histogram, beside those without noise."""

from typing import Any, Self

import numpy as np
import pandas as pd

from objpert_core._validation import FloatArray
from pages.sure.controls import ADULT, CURVE, DATA, DELTA, EPSILON, PEOPLE, SEED, SHARE
from pages.sure.people import OfPeople, Scored, adult, columns_of, scored
from ui import figures, sentences
from ui.view import Course, set_by

ACCOUNTANT = "the larger ε of fit and score, as a coin puts each person into one of them"
_VAGUE = 0.6  # an interval for a share that is as wide says nothing, and is not drawn
_POINTS = 300


class Scores(OfPeople, name="sure_scores", title="Scores", snippet="scores"):
    """One fit to a part of generated people, and one evaluation on the others."""

    epsilon: float = set_by(EPSILON, "ε")
    people: int = set_by(PEOPLE, "n")
    shape: str = set_by(DATA)
    curve: str = set_by(CURVE)
    share: float = set_by(SHARE, "share of test people", aside=True)
    delta: float = set_by(DELTA, "δ", aside=True)
    seed: int = set_by(SEED, aside=True)

    snippet_note = "These lines print the scores with their intervals, and the ε of fit and scores together."

    @property
    def scored(self) -> Scored:
        """The evaluation, and what the same test people say without noise."""
        return scored(self.epsilon, self.delta, self.shape, self.people, self.share, self.seed)

    def answer(self) -> str:
        told, exact = self.scored.noisy.accuracy(), self.scored.accuracy
        half, own = (told.high - told.low) / 2, self.scored.half_width
        return (
            f"The publishable accuracy is {sentences.percent(told.value)} ± {sentences.percent(half)}; without noise "
            f"it is {sentences.percent(exact)} ± {sentences.percent(own)}."
        )

    def promise(self) -> str:
        return sentences.promise(self.scored.epsilon, self.delta, ACCOUNTANT)

    def courses(self) -> list[Course]:
        told = self.scored.noisy.accuracy()
        return [("the interval’s half width", (told.high - told.low) / 2, sentences.percent)]

    def note(self) -> str:
        return (
            f"{self.whose}, {sentences.count(columns_of(self.shape), 'column')}; {len(self.scored.labels):,} of the "
            f"people are in the test part by a coin each, seed {self.seed}. The 95 % intervals cover both the noise "
            f"and the sampling of the test people. Points less certain than ± {sentences.percent(_VAGUE / 2)} are not "
            "drawn."
        )

    def table(self) -> list[dict[str, str]]:
        scores, exact = self.scored.noisy, {"accuracy": self.scored.accuracy, "AUC": self.scored.auc}
        return [
            {
                "Score": name,
                "Published": sentences.fixed(one.value),
                "95 % interval": f"{sentences.fixed(one.low)} to {sentences.fixed(one.high)}",
                "Without noise": sentences.fixed(exact[name]) if name in exact else "–",
            }
            for name, one in scores.estimates().items()
        ]

    def numbers(self) -> pd.DataFrame:
        return self.scored.noisy.roc() if self.curve == "roc" else self.scored.noisy.calibration()

    def shows(self) -> str:
        what = (
            "True positive rate against false positive rate"
            if self.curve == "roc"
            else "Share of positives against the probability that the model states"
        )
        auc = self.scored.noisy.auc()
        return (
            f"{what}, from noisy counts with intervals and without noise. AUC {sentences.fixed(auc.value)}, "
            f"{sentences.fixed(auc.low)} to {sentences.fixed(auc.high)}; without noise "
            f"{sentences.fixed(self.scored.auc)}."
        )

    def chart(self, before: Self | None) -> Any:
        x, y = (
            ("false positive rate", "true positive rate")
            if self.curve == "roc"
            else ("probability that the model states", "share of positives")
        )
        if self.shape == ADULT:
            x += f"<br>on {adult().label}"
        traces = [figures.guide((0, 1), (0, 1))]
        if before is not None:
            old = before._noisy()
            traces.append(figures.series("as published, before", old[0], old[1], "tight", ghost=True))
        exact = self._exact()
        traces.append(figures.series("without noise", *exact, "non-private", hover="%{y:.3f}"))
        across, up, low, high, *sides = self._noisy()
        color = figures.look("tight").color
        bars = {"symmetric": False, "color": color, "thickness": 1.5, "width": 3}
        more: dict[str, Any] = {"error_y": {**bars, "array": high - up, "arrayminus": up - low}}
        if sides:
            more["error_x"] = {**bars, "array": sides[1] - across, "arrayminus": across - sides[0]}
        traces.append(
            figures.series("as published", across, up, "tight", mode="lines+markers", hover="%{y:.3f}", **more)
        )
        xaxis = figures.axis(x, (-0.02, 1.02))
        yaxis = figures.axis(y, (-0.02, 1.02))
        return figures.figure(traces, xaxis, yaxis, height=420, hovermode="closest")

    def _noisy(self) -> tuple[FloatArray, ...]:
        """Places, heights, ends of intervals, and on a ROC curve those sideways: what is sure enough to be drawn."""
        table = self.numbers()
        if self.curve == "calibration":
            table = table[(table["high"] - table["low"] < _VAGUE) & np.isfinite(table["value"])]
            return ((table["from"] + table["to"]).to_numpy() / 2, *table[["value", "low", "high"]].to_numpy().T)
        width = np.maximum(table["tpr_high"] - table["tpr_low"], table["fpr_high"] - table["fpr_low"])
        columns = ["fpr", "tpr", "tpr_low", "tpr_high", "fpr_low", "fpr_high"]
        return tuple(table[width < _VAGUE][columns].to_numpy().T)

    def _exact(self) -> tuple[FloatArray, FloatArray]:
        one = self.scored
        if self.curve == "calibration":
            negatives, positives = one.counts
            table, there = one.noisy.calibration(), negatives + positives > 0
            middle = (table["from"] + table["to"]).to_numpy() / 2
            return middle[there], (positives[there] / (negatives + positives)[there])
        order = np.argsort(-one.scores)
        hits = np.concatenate([[0], np.cumsum(one.labels[order])])
        misses = np.arange(len(hits)) - hits
        at = np.unique(np.linspace(0, len(hits) - 1, _POINTS).astype(int))
        return misses[at] / max(misses[-1], 1), hits[at] / max(hits[-1], 1)
