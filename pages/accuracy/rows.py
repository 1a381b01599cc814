"""What ε costs on few and on many rows: measured here, with and without privacy on the same rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from objpert_core.experiments.learners import NON_PRIVATE, TIGHT
from objpert_core.experiments.studies.subsampling import GENERATED, LearningCurve, Plan, learning_curve
from pages.accuracy.controls import ROWS_CONTROLS
from pages.accuracy.curves import AIR, Trace, curve, edges, ticks, upright
from pages.accuracy.reading import BARS, cannot_run, offer, whole
from ui import figures, page, runs, sentences, share, snippets
from ui.controls import Control
from ui.jobs import JobView
from ui.runs import Runs
from ui.snippets import Verbatim
from ui.words import accuracy, signed

ROWS: Runs[LearningCurve] = Runs("accuracy", "rows")


def draw(shared: Sequence[Control] = ()) -> None:
    """Draw this part of the page; `shared` is what the link holds where there is no part above."""
    st.header("What does ε cost on 500, 5,000 or 50,000 rows?", anchor=False)
    st.markdown(
        "The noise stays the same, and more people make the signal stronger. The chart sets Algorithm 1 with our "
        "theorem beside a model without privacy, on the same rows."
    )
    left, panel = page.columns("rows")
    with panel:
        dataset, epsilon, draws, seed = (control.show() for control in ROWS_CONTROLS)
        if shared:
            share.button(shared)
    with left, page.errors():
        ROWS.follow(measured, Plan(dataset, epsilon, draws=draws, seed=seed))


def measured(plan: Plan) -> None:
    """Draw the button, the progress of what it started, and the curve as far as it is."""
    place = st.container()
    seen = ROWS.look(lambda seen: progress(seen.view), runs.ended_early)
    if not (seen and seen.view.active):
        look = {"key": "accuracy_measure", "type": "primary", "icon": ":material/science:"}
        with place:
            if offer("Measure", cannot_run(plan.dataset), invitation(plan), **look):
                ROWS.start(plan, partial(learning_curve, plan))
                st.rerun()
    if seen is None:
        return
    if seen.run.request != plan:
        st.info("These results belong to other settings. Measure again.", icon=":material/sync_problem:")
    if seen.latest is not None and (seen.latest.fits or seen.latest.complete):
        FewAndMany(seen.latest).show()


def invitation(plan: Plan) -> str:
    """What a press of the button does."""
    fits = 2 * plan.draws * len(plan.sizes)
    return (
        f"Trains up to {fits} logistic regressions, with ε = {sentences.epsilon(plan.epsilon)} and without privacy, on "
        f"{plan.sizes[0]:,} to {plan.sizes[-1]:,} rows of {plan.dataset}."
    )


def progress(view: JobView[LearningCurve]) -> tuple[float, str]:
    """The progress bar's share and text while the sizes are being fitted."""
    if waiting := runs.waiting(view):
        return waiting
    curve = view.latest
    if curve is None or not curve.fits:
        return 0.0, "Drawing the rows …"
    total = curve.plan.draws * len(curve.sizes)
    return len(curve.fits) / total, f"{len(curve.fits)} of {total} pairs of models fitted, {view.seconds:.1f} s"


@dataclass(frozen=True)
class FewAndMany:
    """Accuracy against the number of rows, as far as it is measured."""

    curve: LearningCurve

    def show(self) -> None:
        """Draw the answer, the chart and its evidence."""
        found = self.curve
        st.markdown(f"**{self.answer()}**")
        picture = page.Picture(self.chart(), self.alt(), self.frame)
        if found.fits:
            page.show(picture, key="accuracy_rows_chart")
        st.caption(" ".join(self.notes()))
        if found.fits:
            code = self.code() if found.complete else ""
            page.evidence(picture, self.table(), name=f"accuracy_rows_{found.plan.dataset}", code=code)

    @property
    def promise(self) -> str:
        """The ε of every private model."""
        return f"ε = {sentences.epsilon(self.curve.plan.epsilon)}"

    def answer(self) -> str:
        """What ε costs on how many rows."""
        label, sizes = self.curve.label, self.curve.sizes
        costs = ((rows, self.curve.cost(rows)) for rows in sizes)
        parts = [f"{signed(-cost.mean)} points on {rows:,} rows" for rows, cost in costs if cost]
        if not sizes:
            return f"{label} has {self.curve.available or 0:,} training rows, fewer than the smallest size you chose."
        if not parts:
            return "Nothing has been fitted yet."
        return f"On {label}, {self.promise} changes the accuracy by {sentences.listing(parts)}."

    def notes(self) -> list[str]:
        """Below the baseline, left out, and how it was measured."""
        curve, lines = self.curve, []
        share = curve.baseline
        below = [rows for rows in curve.sizes if (found := curve.private(rows)) and share and found.mean <= share]
        if below:
            sizes = sentences.listing([f"{rows:,}" for rows in below])
            lines.append(
                f"On {sizes} rows the private model is on average no better than always predicting the more frequent "
                f"class ({accuracy(share or 0.0)}). At this ε so few people teach the model nothing useful."
            )
        if curve.left_out:
            sizes = sentences.listing([f"{rows:,}" for rows in curve.left_out])
            lines.append(
                f"{curve.label} has {curve.available or 0:,} training rows, so {sizes} are left out, because no row is "
                "repeated. adult-synthetic and synthetic-l are generated and can have any number of rows."
            )
        done = len({fit.draw for fit in curve.fits})
        fresh = "a fresh sample" if curve.plan.dataset in GENERATED else "another split"
        lines.append(
            f"{sentences.count(done, 'draw').capitalize()}: each draw is {fresh} of the rows with its own noise, and "
            f"both "
            f"models of a draw see the same rows.{' Bars: 95 % intervals (Student’s t).' if done >= BARS else ''}"
        )
        return lines

    def alt(self) -> str:
        parts = []
        for rows in self.curve.sizes:
            own, other = self.curve.private(rows), self.curve.reference(rows)
            if own and other:
                parts.append(f"{rows:,} rows {accuracy(own.mean)} and {accuracy(other.mean)}")
        return (
            f"Test accuracy on {self.curve.label} against the number of training rows, with {self.promise} and without "
            f"privacy: {'; '.join(parts) or 'nothing yet'}."
        )

    def table(self) -> list[dict[str, str]]:
        """Every number of rows as a row: both accuracies and what privacy costs."""
        rows = []
        for size in self.curve.sizes:
            private, reference, cost = self.curve.private(size), self.curve.reference(size), self.curve.cost(size)
            if private is None or reference is None or cost is None:
                continue
            rows.append(
                {
                    "Training rows": f"{size:,}",
                    self.promise: accuracy(private.mean),
                    "No privacy": accuracy(reference.mean),
                    "Change by privacy, points": signed(-cost.mean),
                    "95 % interval": whole(f"{signed(-cost.high)} to {signed(-cost.low)}") if cost.known else "–",
                }
            )
        return rows

    def frame(self) -> pd.DataFrame:
        """Every pair of fits as one row, with all digits."""
        plan = self.curve.plan
        return pd.DataFrame(
            [
                {
                    "data_set": self.curve.label,
                    "epsilon": plan.epsilon,
                    "delta": plan.delta,
                    "rows_seed": plan.seed + fit.draw,
                    "noise_seed": plan.noise_seed(fit.draw, fit.rows),
                    "training_rows": fit.rows,
                    "accuracy_private": fit.private,
                    "accuracy_without_privacy": fit.reference,
                    "accuracy_majority_class": fit.baseline,
                }
                for fit in self.curve.fits
            ]
        )

    def code(self) -> str:
        """Python that prints what privacy costs on each number of rows, with its interval where the page has one."""
        plan = self.curve.plan
        arguments = ", ".join(f"{name}={value!r}" for name, value in vars(plan).items())
        cost = "cost.mean, cost.low, cost.high" if plan.draws >= BARS else "cost.mean"
        return snippets.filled("accuracy", "rows", {"arguments": Verbatim(arguments), "cost": Verbatim(cost)})

    def chart(self) -> Any:
        """Accuracy with and without privacy, and the majority class as a line."""
        found = self.curve
        sizes = [size for size in found.sizes if found.of(size)]
        across = (min(found.plan.sizes) / AIR, max(found.sizes, default=max(found.plan.sizes)) * AIR)
        traces: list[Trace] = []
        if found.baseline is not None:
            line = figures.guide(across, (found.baseline, found.baseline), name="always the more frequent class")
            traces.append(line | {"showlegend": True})
        private = f"Algorithm 1 with our theorem, {self.promise}"
        for method, name, mean in ((NON_PRIVATE, "no privacy", found.reference), (TIGHT, private, found.private)):
            means = [interval for size in sizes if (interval := mean(size))]
            traces.append(curve(name, method, sizes, means, "%{y:.2%}"))
        marks = ticks(found.sizes) | {"ticktext": [f"{size:,}" for size in found.sizes]}
        xaxis = figures.axis("training rows", across, log=True, **marks)
        yaxis = figures.axis(
            f"test accuracy<br>on {found.label}", upright(edges(traces, [*sizes, *across])), tickformat=".0%"
        )
        return figures.figure(traces, xaxis, yaxis, height=400)
