"""The words about accuracy against the number of rows: pure functions from a learning curve to sentences."""

from __future__ import annotations

from objpert_core.experiments.studies.subsampling import GENERATED, LearningCurve, Plan
from pages.accuracy.numbers import BARS
from ui import runs, sentences
from ui.jobs import JobView
from ui.words import accuracy, signed


def invitation(plan: Plan) -> str:
    """What a press of the button does."""
    fits = 2 * plan.draws * len(plan.sizes)
    return (
        f"Trains up to {fits} logistic regressions, with ε = {sentences.epsilon(plan.epsilon)} and without privacy, on "
        f"{plan.sizes[0]:,} to {plan.sizes[-1]:,} rows of {plan.dataset}."
    )


def answer(curve: LearningCurve) -> str:
    """What ε costs on how many rows, in one sentence."""
    eps = sentences.epsilon(curve.plan.epsilon)
    costs = ((rows, curve.cost(rows)) for rows in curve.sizes)
    parts = [f"{signed(-cost.mean)} points on {rows:,} rows" for rows, cost in costs if cost]
    if not curve.sizes:
        return f"{curve.label} has {curve.available or 0:,} training rows, fewer than the smallest size asked for."
    if not parts:
        return "Nothing has been fitted yet."
    return f"On {curve.label}, ε = {eps} changes the accuracy by {sentences.listing(parts)}."


def notes(curve: LearningCurve) -> list[str]:
    """Below the baseline, left out, and how it was measured."""
    lines = []
    share = curve.baseline
    below = [rows for rows in curve.sizes if (found := curve.private(rows)) and share and found.mean <= share]
    if below:
        sizes = sentences.listing([f"{rows:,}" for rows in below])
        lines.append(
            f"On {sizes} rows the private model is on average no better than always answering the class that is more "
            f"frequent ({accuracy(share or 0.0)}): nothing useful is learned from so few people at this ε."
        )
    if curve.left_out:
        sizes = sentences.listing([f"{rows:,}" for rows in curve.left_out])
        lines.append(
            f"{curve.label} has {curve.available or 0:,} training rows, so {sizes} are left out: rows are never "
            "repeated. adult-synthetic and synthetic-l are drawn and can have any number."
        )
    done = len({fit.draw for fit in curve.fits})
    fresh = "a fresh sample" if curve.plan.dataset in GENERATED else "another split"
    lines.append(
        f"{sentences.count(done, 'draw').capitalize()}; each is {fresh} of the rows with its own noise, and both "
        f"models of a draw see the same rows.{' Bars: 95 % intervals (Student’s t).' if done >= BARS else ''}"
    )
    return lines


def alt(curve: LearningCurve) -> str:
    """Alt text of the chart of accuracy against rows."""
    parts = []
    for rows in curve.sizes:
        own, other = curve.private(rows), curve.reference(rows)
        if own and other:
            parts.append(f"{rows:,} rows {accuracy(own.mean)} and {accuracy(other.mean)}")
    return (
        f"Test accuracy on {curve.label} against the number of training rows, with ε = "
        f"{sentences.epsilon(curve.plan.epsilon)} and without privacy: {'; '.join(parts) or 'nothing yet'}."
    )


def progress(view: JobView[LearningCurve]) -> tuple[float, str]:
    """The progress bar's share and text while the sizes are being fitted."""
    if said := runs.waiting(view):
        return said
    curve = view.latest
    if curve is None or not curve.fits:
        return 0.0, "Drawing the rows …"
    total = curve.plan.draws * len(curve.sizes)
    return len(curve.fits) / total, f"{len(curve.fits)} of {total} pairs of models fitted, {view.seconds:.1f} s"
