"""Figure 2: accuracy against ε of every learner on one data set, and what privacy costs at one ε."""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from objpert_core._literals import plain
from objpert_core.experiments import paper
from objpert_core.experiments.indexed import Stored
from objpert_core.experiments.learners import COVERS_ALL, LEARNERS, NON_PRIVATE, TIGHT, UNPAID, label_words
from objpert_core.experiments.results import Run
from objpert_core.experiments.summary import Interval
from pages.accuracy.curves import AIR, Trace, bars, curve, edges, ends, ticks, upright
from pages.accuracy.reading import BARS, LABELS, ROLE, Reading, difference, points, seconds, whole
from ui import figures, page, sentences, snippets, style
from ui.words import accuracy, fall, interval, undecided

EVERYTHING, SMALL, LARGE, TOP = "everything", "small ε", "large ε", "top"
VIEWS = {EVERYTHING: (0.0, math.inf), SMALL: (0.0, 0.25), LARGE: (1.0, math.inf), TOP: (0.0, math.inf)}
"""The ε that each view shows; "top" leaves out what is more than `_TOP` below the best."""
_TOP = 0.03
HOLLOW = "hollow: the paper"  # one entry of the legend for all of them
EMPTY = "rgba(0,0,0,0)"


@dataclass(frozen=True)
class Figure2(Reading):
    """Some methods of a file, and what privacy costs there by Algorithm 1 with our theorem."""

    methods: Sequence[str] = ()  # which methods are shown
    view: str = EVERYTHING  # one of `VIEWS`
    paper: bool = True  # mark the paper's numbers, where its tables have this data set
    ghost: Stored | None = None  # another file, whose means are drawn faintly
    live: Run | None = None  # a run made just now, drawn as a mark of its own

    def answer(self) -> str:
        """What privacy costs."""
        on = f"on {self.stored.label}"
        own, reference = self.point(TIGHT), self.point(NON_PRIVATE)
        gap = self.difference(NON_PRIVATE, TIGHT)
        if own is None:
            return f"{self.at} no run of Algorithm 1 with our theorem is stored {on}."
        if reference is None or gap is None:
            return f"{self.at} Algorithm 1 with our theorem gets {accuracy(own.accuracy.mean)} right {on}."
        if undecided(gap):
            course, trials = fall(reference.accuracy.mean, own.accuracy.mean)[1], sentences.count(gap.count, "trial")
            return f"{self.at} the cost of privacy {on} is within the noise of {trials} ({course})."
        told = "the private model gains" if gap.mean < 0 else "privacy costs"
        return f"{self.at} {told} {points(gap.mean)} {on}: {accuracy(own.accuracy.mean)} are right."

    def moved(self, before: Reading | None) -> str:
        """Why the private model's accuracy moved since the reading before; empty at first."""
        if before is None or self.same(before):
            return ""
        old, now = before.point(TIGHT), self.point(TIGHT)
        if old is None or now is None:
            return ""
        if before.stored is not self.stored:
            return "With other rows the noise stays the same; more people make the signal stronger."
        wide, narrow = (self.stored.runs(TIGHT, at)[0].sigma for at in (before.epsilon, self.epsilon))
        noise = f"{sentences.course('σ', wide, narrow, sentences.number)}; " if wide and narrow else ""
        course = sentences.course("accuracy", old.accuracy.mean, now.accuracy.mean, accuracy)
        return f"{sentences.shift([('ε', before.epsilon, self.epsilon)])}: {noise}{course}."

    @property
    def _any_unpaid(self) -> bool:
        """Whether the rival is marked: only beside others of its kind."""
        return not set(UNPAID).isdisjoint(self.methods)

    @property
    def _hidden_rival(self) -> str | None:
        """The rival that is marked because its own curve is off."""
        rival = self.stored.rival(self.epsilon)
        return rival if self._any_unpaid and rival not in self.methods else None

    @property
    def _with_rival(self) -> Sequence[str]:
        return self.stored.with_rival(self.methods, self.epsilon)

    def alt(self) -> str:
        """What is plotted, and the accuracies at the marked ε, highest first."""
        methods = self._with_rival if self._any_unpaid else self.methods
        reached = {LABELS[method]: found.accuracy.mean for method in methods if (found := self.point(method))}
        ranked = sorted(reached.items(), key=lambda item: -item[1])
        order = ", ".join(f"{name} {accuracy(mean)}" for name, mean in ranked)
        return (
            f"Test accuracy on {self.stored.label} against ε on a logarithmic scale, with 95 % intervals. "
            f"{self.at}: {order or 'nothing is stored'}.{f' {self.faint()}' if self.ghost else ''}"
        )

    def faint(self) -> str:
        """What the ghost is."""
        return f"Faint lines without marks: the same methods on {self.ghost.label}, shown before." if self.ghost else ""

    def remarks(self) -> list[str]:
        return [remark for remark in (self.stand_in(), self.missing()) if remark]

    def missing(self) -> str:
        """Which of the shown methods have no run at this ε; empty if none."""
        absent = [LABELS[method] for method in self.methods if self.point(method) is None]
        return f"No run is stored at ε = {sentences.epsilon(self.epsilon)} for {', '.join(absent)}." if absent else ""

    def note(self) -> str:
        printed = self.paper_note() if self.paper else ""
        return " ".join(filter(None, (self.rival_note(), self.faint(), self.intervals(), printed, self.legend())))

    def rival_note(self) -> str:
        """That the rival is marked although it was not picked; empty where it was, or where nothing is shown."""
        if (name := self._hidden_rival) is None:
            return ""
        return f"The large mark is {LABELS[name]}, the best unpaid DP-SGD at this ε. Its curve is switched off."

    def intervals(self) -> str:
        """What the bars are, and what they are not."""
        least, most = self.stored.counts(self.methods)
        if not most:
            return ""
        over = f"{least} to {most} trials" if least < most else sentences.count(most, "trial")
        text = f"Bars: 95 % intervals of the mean over {over} (Student’s t)"
        if most < BARS:
            text = f"Points are means over {over}; small dots are single trials, too few for an interval"
        elif least < BARS:
            text += f"; small dots are single trials, where there are fewer than {BARS}"
        return f"{text}. Test accuracy is here for comparison; the guarantee does not cover it."

    def paper_note(self) -> str:
        """What the paper's marks are and what differs; empty where its tables have no such data set."""
        dataset = self.stored.dataset
        if dataset not in paper.TABLES:
            return ""
        same = (
            "the paper has the rows of Iyengar et al.; these rows are generated in the same shape by this project’s "
            "recipe"
            if dataset == "synthetic-l"
            else "the paper’s encoding has 104 columns, this one has 105"
        )
        if self.stored.constant != paper.INTERCEPT_SCALING:
            same += f", and the constant feature is {constants([self.stored.constant])}"
        return (
            f"Hollow marks: Redberg et al. (2023), {paper.TABLES[dataset]} (“paper”), over other splits. There all "
            f"three methods had their settings chosen by test accuracy; {same}."
        )

    def legend(self) -> str:
        """What the names of the shown methods mean, each word once."""
        words = [f"{word}: {meaning}" for word, meaning in label_words(self._with_rival).items()]
        return f"Names: {'; '.join(words)}." if words else ""

    def table(self) -> list[dict[str, str]]:
        """Every shown method and the rival as a row: difference, accuracy, the paper's number, time, promise."""
        rows = []
        dataset, epsilon = self.stored.dataset, self.epsilon
        with_paper = any(epsilon in paper.printed(dataset, method) for method in self.methods)
        for method in self._with_rival:
            point, share = self.point(method), paper.printed(dataset, method).get(epsilon)
            if point is None:
                continue
            row = {
                "Method": LABELS[method],
                "Ours minus the method, points": difference(
                    self.difference(TIGHT, method) if method != TIGHT else None
                ),
                "Accuracy": accuracy(point.accuracy.mean),
                "95 % interval": share_between(point.accuracy),
                **({"Paper": "–" if share is None else accuracy(share)} if with_paper else {}),
                "Processor time, median": seconds(point.seconds.median),
                "ε is a promise about": covers(method),
            }
            rows.append({column: whole(cell) for column, cell in row.items()})
            rows[-1]["Method"] += " (the\u00a0rival)" if method == self.stored.rival(epsilon) else ""
        return rows

    def frame(self) -> pd.DataFrame:
        """The plotted numbers of the shown methods at every ε, with all digits, and the paper's."""
        stored, rows = self.stored, []
        for method in self.methods:
            private = LEARNERS[method].private
            for epsilon in stored.epsilons if private else stored.epsilons[:1]:  # the same at every ε
                point = stored.point(method, epsilon)
                if point is None:
                    continue
                ahead = stored.difference(TIGHT, method, epsilon) if private else None
                names = {"": "mean", "_low": "low", "_high": "high"}
                rows.append(
                    {
                        "data_set": stored.label,
                        "method": method,
                        "epsilon": epsilon if private else None,
                        "delta": stored.delta if private else None,
                        "trials": point.accuracy.count,
                        "accuracy": point.accuracy.mean,
                        "low": point.accuracy.low,
                        "high": point.accuracy.high,
                        "median_seconds": point.seconds.median,
                        **{f"tight_minus_it{end}": getattr(ahead, field, None) for end, field in names.items()},
                        "paper": paper.printed(stored.dataset, method).get(epsilon),
                    }
                )
        return pd.DataFrame(rows)

    def code(self) -> str:
        """Python that prints the accuracies and the claim; defines ``stored``, ``points``, ``claims``."""
        return snippets.filled("accuracy", "figure", {"key": self.stored.key, "epsilon": self.epsilon})

    def show(self, left: DeltaGenerator, before: Reading | None) -> None:
        picture = page.Picture(self.chart(), self.alt(), self.frame)
        with left:
            page.answer(self.answer(), promise=self.promise(), why=self.moved(before))
            page.show(picture, key="accuracy_chart")
        if style.embedded():
            return
        for remark in self.remarks():
            st.info(remark, icon=":material/info:")
        st.caption(self.note())
        page.evidence(picture, self.table(), name=f"accuracy_{self.stored.key}", code=self.code())

    def chart(self) -> Any:
        """Mean accuracy of each method with its interval against ε; the model without privacy as a line.

        The best unpaid DP-SGD where the read-out is has a mark if others of its kind are among the methods, and not it.
        """
        stored, epsilon, (least, most) = self.stored, self.epsilon, VIEWS[self.view]
        shown = [e for e in stored.epsilons if least <= e <= most] or list(stored.epsilons) or [epsilon]
        across = (shown[0] / AIR, shown[-1] * AIR)
        traces = [trace for method in self.methods if self.ghost for trace in _ghost(self.ghost, method, across)]
        for method in self.methods:
            traces += self._level(across) if method == NON_PRIVATE else _method(stored, method)
        traces += self._rival() if epsilon in shown else []
        marks = [_hollow(stored.dataset, method, shown) for method in self.methods if self.paper]
        marks = [mark for mark in marks if mark["x"].size]
        line = {"color": figures.GREY, "width": 2}
        hollow = (
            [_mark(HOLLOW, NON_PRIVATE, [epsilon], [np.nan], color=EMPTY, symbol="circle", line=line)] if marks else []
        )
        if (live := self.live) and live.epsilon in shown:
            name = f"made now: {LABELS[live.method]}"
            marks.append(_mark(name, live.method, [live.epsilon], [live.accuracy], size=15, line=line))
        up = upright(edges([*traces, *marks], {*shown, *across}), _TOP if self.view == TOP else None)
        guide = [figures.guide((epsilon, epsilon), up)] if across[0] <= epsilon <= across[1] else []
        at = f", δ = {sentences.delta(stored.delta)}" if stored.delta else ""
        return figures.figure(
            [*guide, *traces, *marks, *hollow],
            xaxis=figures.axis(f"privacy budget ε{at}", across, log=True, **ticks(shown)),
            yaxis=figures.axis(f"test accuracy<br>on {stored.label}", up, tickformat=".1%", hoverformat=".2%"),
            height=390 + 12 * len(self.methods),  # the legend, which a telephone stacks
        )

    def _level(self, across: tuple[float, float]) -> list[Trace]:
        """The accuracy without privacy: a line with its interval as a band."""
        point = self.point(NON_PRIVATE)
        if point is None:
            return []
        x, role = np.array(across), ROLE[NON_PRIVATE]
        low, high = ends(point.accuracy)
        band = [figures.band(x, np.full(2, low), np.full(2, high), role)] if point.accuracy.count >= BARS else []
        return [*band, figures.series(LABELS[NON_PRIVATE], x, np.full(2, point.accuracy.mean), role, hoverinfo="skip")]

    def _rival(self) -> list[Trace]:
        """The rival's mean where the read-out is, if other DP-SGD of its kind are shown and its curve is not."""
        if (rival := self._hidden_rival) is None:
            return []
        found = _means(self.stored, rival)[self.epsilon]
        # the caption and the table say which it is
        name = f"best unpaid DP-SGD at ε = {sentences.epsilon(self.epsilon)}"
        mark = _mark(name, rival, [self.epsilon], [found.mean], hover="%{y:.2%} " + _spread(found))
        return [mark | {"error_y": bars([found], ROLE[rival])}]


def _means(stored: Stored, method: str) -> dict[float, Interval]:
    """Accuracies by ε."""
    return {e: point.accuracy for e in stored.epsilons if (point := stored.point(method, e))}


def _ghost(stored: Stored, method: str, across: tuple[float, float]) -> list[Trace]:
    found = {e: interval.mean for e, interval in _means(stored, method).items()}
    if method == NON_PRIVATE:
        level = stored.point(method, math.inf)
        found = dict.fromkeys(across, level.accuracy.mean) if level else {}
    x, y = np.array(list(found)), np.array(list(found.values()))
    return [figures.series(f"{LABELS[method]}, {stored.label}", x, y, ROLE[method], ghost=True)] if found else []


def _method(stored: Stored, method: str) -> list[Trace]:
    """One private method: means joined by a line, with bars, or with single trials where they are few."""
    found = _means(stored, method)
    if not found:
        return []
    line = curve(LABELS[method], method, list(found), list(found.values()), "%{y:.2%} %{customdata}")
    line["customdata"] = np.array([_spread(interval) for interval in found.values()], dtype=object)
    few = [run for e, interval in found.items() if interval.count < BARS for run in stored.runs(method, e)]
    x, y = [run.epsilon for run in few], [run.accuracy for run in few]
    look = {"symbol": "circle", "size": 5, "opacity": 0.7}
    dots = _mark(f"{LABELS[method]}, single trials", method, x, y, hover=None, **look)
    return [line, dots | {"showlegend": False, "hoverinfo": "skip"}] if few else [line]


def _spread(interval: Interval) -> str:
    few = f"({sentences.count(interval.count, 'trial')})"
    return f"± {100 * interval.half_width:.2f}" if interval.count >= BARS else few


def _mark(
    name: str, method: str, x: Sequence[float], y: Sequence[float], hover: str | None = "%{y:.2%}", **style: Any
) -> Trace:
    """Marks without a line in the look of a method, as far as `style` does not say otherwise."""
    look = figures.look(ROLE[method])
    marker = {"color": look.color, "symbol": look.symbol, "size": 13} | style
    return figures.series(name, np.array(x), np.array(y), ROLE[method], mode="markers", hover=hover, marker=marker)


def _hollow(dataset: str, method: str, shown: Collection[float]) -> Trace:
    """The paper's numbers as hollow marks in the colour of what they are here."""
    numbers = {e: share for e, share in paper.printed(dataset, method).items() if e in shown}
    line = {"color": figures.look(ROLE[method]).color, "width": 2}
    name = f"paper: {LEARNERS[method].label}"
    return _mark(name, method, list(numbers), list(numbers.values()), color=EMPTY, line=line) | {"showlegend": False}


def share_between(share: Interval) -> str:
    """The ends of an accuracy's interval: '83.91 to 84.13 %'; the number of trials where they are too few for one."""
    return sentences.count(share.count, "trial") if share.count < BARS else interval(share)


def covers(method: str) -> str:
    """What the ε of a method is a promise about."""
    found = LEARNERS[method].covers
    return "all that was done" if found == COVERS_ALL else found


def constants(found: Sequence[float]) -> str:
    """The constant feature of the files beside the paper's: '0.3 here for all methods (paper: 1)'."""
    here, theirs = " or ".join(plain(value) for value in found), plain(paper.INTERCEPT_SCALING)
    return f"{here} here for all methods (paper: {theirs})"
