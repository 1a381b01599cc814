"""Fits on synthetic rows, sampled while the page watches: the button, how far they are, what they show."""

import math
from functools import partial

import streamlit as st

from objpert_core.experiments.studies.noise_ratios import (
    PUBLISHED,
    PUBLISHED_RATIO,
    RATIOS,
    TAU,
    Estimate,
    Plan,
    Point,
    sample,
)
from pages.planner.numbers import NAMES, written
from ui import page, sentences, words
from ui.jobs import JobView
from ui.runs import Runs, ended_early, waiting

RUNS: Runs[Estimate] = Runs("planner")


def sampling(plan: Plan, shown: Estimate | None) -> None:
    """The button, how far the sample is that it started, and its table; `shown` is what is in the picture."""
    if not RUNS.active:
        button, beside = st.columns([1, 3], vertical_alignment="center")
        pressed = button.button(
            "Sample rows", key="planner_sample", type="primary", icon=":material/science:", width="stretch"
        )
        beside.caption(invitation(plan))
        if pressed:
            RUNS.start(plan, partial(sample, plan))
            st.rerun()
    seen = RUNS.look(lambda seen: progress(seen.view), outcome)
    if seen is None or seen.view.active:
        return
    if seen.run.request != plan:
        other = "This sample belongs to another setting. Sample again for this setting."
        st.info(other, icon=":material/sync_problem:")
    elif seen.latest is not shown:
        st.rerun()  # the picture was drawn before the last result came
    elif shown is not None and shown.best():
        st.markdown(sampled(shown))
        st.caption(measured_norm(shown))
        for line in filter(None, (recipes(shown), failures(shown))):
            st.markdown(line)
        page.table(sample_rows(shown), alt=sampled(shown), name="planner_sampled")


def shape(plan: Plan) -> str:
    """What a sample of this plan is: '19,047 × 105 synthetic rows (planned: 45,222 × 105)'."""
    rows, features = plan.sample_shape
    text = f"{rows:,} × {features:,} synthetic rows with {plan.columns} columns"
    return f"{text} (scaled down from {plan.rows:,} × {plan.features:,})" if plan.scaled_down else text


def sampled(estimate: Estimate) -> str:
    """Which f trained best, what cannot be told from it, and the two recipes."""
    best = estimate.best()
    if best is None:
        return "No private model was fitted along this frontier."
    where = f"On {shape(estimate.plan)}, f = {written(best.recipe.noise_ratio)} trains best along this frontier"
    count = best.mean_excess.count
    spread = words.no_interval(count) if count < words.FEWEST else f"95 % interval {_interval(best)}"
    text = f"{where}: {_loss(best)} nats per row above the model without privacy ({spread})."
    if alike := [written(p.recipe.noise_ratio) for p in estimate.undecided()]:
        draws = sentences.count(estimate.plan.draws, "draw").capitalize()
        text += f" {draws} cannot tell f = {sentences.listing(alike)} apart from the best."
    return text


def recipes(estimate: Estimate) -> str | None:
    """The package's default beside the paper's recipe, in loss and accuracy."""
    ours, published = estimate.of(estimate.plan.ours), estimate.of(PUBLISHED)
    if ours is None or published is None:
        return None
    default = f"Our theorem at its default f = {written(ours.recipe.noise_ratio)} and its smallest λ"
    reference = sentences.percent(estimate.reference_accuracy)
    return (
        f"{default}: {_loss(ours)} nats, {_right(ours)} of the test rows right. The paper’s recipe (Rényi, "
        f"f = {PUBLISHED_RATIO:g}): {_loss(published)} nats, {_right(published)}. Without privacy: {reference}."
    )


def measured_norm(estimate: Estimate) -> str:
    """The sampled data's own ‖θ₀‖ and what it is for."""
    return (
        f"The model without privacy has ‖θ₀‖ = {estimate.reference_norm:.3g} on these rows; the dotted line is "
        "Theorem H.1 for these rows. A seeded generator made the rows, and the rows are about nobody. So choosing f "
        "by these rows costs no privacy; choosing f by private data would."
    )


def _loss(point: Point) -> str:
    return sentences.scientific(point.mean_excess.mean, 2)


def _right(point: Point) -> str:
    return sentences.percent(point.mean_accuracy.mean)


def _interval(point: Point) -> str:
    low, high = point.mean_excess.low, point.mean_excess.high
    return f"{sentences.scientific(low, 2)} to {sentences.scientific(high, 2)}" if math.isfinite(low) else "–"


def sample_rows(estimate: Estimate) -> list[dict[str, str]]:
    """The sampled points as texts."""
    return [
        {
            "Recipe": f"{NAMES[p.recipe.bound]}, f = {written(p.recipe.noise_ratio)}",
            "λ": sentences.scientific(p.mechanism.objective.lam, 3, up=True),
            "excess loss": _loss(p),
            "95 % interval": _interval(p),
            "test rows right": _right(p),
        }
        for p in estimate.points
        if p.measured
    ]


def failures(estimate: Estimate) -> str | None:
    """Which recipes could not be fitted."""
    lost = [written(p.recipe.noise_ratio) for p in estimate.points if p.failed]
    if not lost:
        return None
    where = f"At f = {sentences.listing(lost)} λ is so small that the solver"
    return f"{where} did not reach τ = {TAU:g}, so there is nothing to show."


def invitation(plan: Plan) -> str:
    """What Sample will do."""
    return (
        f"Fits private models on {shape(plan)} at up to {len(RATIOS) + 1} values of f along the frontier, "
        f"{sentences.count(plan.draws, 'noise draw')} each, and two recipes: the paper’s and the package’s."
    )


def progress(view: JobView[Estimate]) -> tuple[float, str]:
    """Share done, and the words beside the bar."""
    if view.latest is None or view.state == "waiting" or view.stopping:
        return waiting(view) or (0.0, "Drawing the rows and fitting them without privacy …")
    done, planned = view.latest.fits, view.latest.fits_planned
    return done / max(planned, 1), f"{done} of {planned} models fitted."


def outcome(view: JobView[Estimate]) -> str | None:
    """Why a job ended early; None when it did not."""
    done = view.latest.fits if view.latest else 0
    return ended_early(view, f"Stopped after {sentences.count(done, 'model')}.")
