"""The words of the page "Honest or not": pure functions from results to sentences, tested, without Streamlit."""

from __future__ import annotations

from typing import Any

from objpert_core.experiments.studies.tuning_runs import FIXED_RATE, Draw, TuningRuns
from pages.honest.jobs import Meter, Request
from ui import sentences
from ui.jobs import JobView
from ui.sentences import scientific
from ui.words import accuracy, between, points, signed, times, undecided, width

WAYS = {
    "judges": "unpaid, its judges say",
    "fresh": "unpaid, on fresh rows",
    "honest": "paid, on fresh rows",
    "fixed": "fixed rate, on fresh rows",
}
SHOWS = 0.05  # points; less prints as 0.0
DO_NOT_PUBLISH = (
    "Of paid tuning only the released model, its learning rate and its own score are covered by the promise. K and the "
    "other runs are not: this picture is for the page, not for publication."
)


def answer(result: TuningRuns) -> str:
    """The page's one large sentence; only after the first draw."""
    lost, paid, free = result.difference("fresh", "honest"), result.mean("honest"), result.mean("fresh")
    assert lost is not None
    assert paid is not None
    assert free is not None
    at = f"At ε = {sentences.epsilon(result.settings.epsilon)}"
    numbers = f"{accuracy(paid.mean)} right instead of {accuracy(free.mean)}"
    if undecided(lost) and 100 * lost.half_width >= SHOWS:
        return (
            f"{at} the cost of paying for the choice of the learning rate cannot be told from 0 with "
            f"{sentences.count(lost.count, 'draw')} ({signed(lost.mean)} points, {between(lost)}): {numbers}."
        )
    if abs(100 * lost.mean) < SHOWS:
        return f"{at} paying for the choice of the learning rate costs no accuracy that shows: {numbers}."
    size = points(100 * lost.mean)
    if lost.mean < 0:
        return f"{at} the model that paid for its learning rate is even better by {size}{width(lost)}: {numbers}."
    return f"{at} paying for the choice of the learning rate costs {size} of accuracy{width(lost)}: {numbers}."


def details(result: TuningRuns) -> list[str]:
    """What the unpaid ε really is, what its judges believed, and what choosing nothing gives."""
    settings, fixed = result.settings, result.mean("fixed")
    unpaid_noise, paid_noise = (sentences.number(b.noise_multiplier) for b in (result.one, result.paid))
    assert fixed is not None
    unpaid = (
        f"The unpaid model claims ε = {sentences.epsilon(settings.epsilon)}, which is that of one run of noise "
        f"multiplier {unpaid_noise}; but it is the best of {len(settings.learning_rates)} runs. Had this choice been "
        f"paid for (μ = {settings.mean_runs:g}), the same noise would have cost ε = "
        f"{sentences.epsilon(result.true_epsilon)}. Paying at ε = {sentences.epsilon(settings.epsilon)} takes noise "
        f"multiplier {paid_noise}."
    )
    simple = (
        f"A learning rate fixed in advance, {FIXED_RATE:g}, needs no choice and so only the noise of one run: "
        f"{accuracy(fixed.mean)}."
    )
    return [unpaid, flattery(result), simple]


def flattery(result: TuningRuns) -> str:
    """What a jury says of its choice against what the other rows say, on average over all that were drawn."""
    gap = result.optimism
    assert gap is not None
    jury = (
        f"The {result.judges} test rows that chose it are its judges, together its jury. Juries of {result.judges} "
        "rows like these"
    )
    drawn = f"{result.juries:,} drawn"
    if undecided(gap) and 100 * gap.half_width >= SHOWS:
        return (
            f"{jury} flatter the candidate they choose by an amount that cannot be told from 0 with "
            f"{sentences.count(gap.count, 'draw')} ({signed(gap.mean)} points, {between(gap)}; {drawn})."
        )
    if 100 * gap.mean < SHOWS:
        return f"{jury} flatter the candidate they choose by less than 0.1 points on average ({drawn})."
    return (
        f"{jury} flatter the candidate they choose by {points(100 * gap.mean)} on average against the rows left over "
        f"({drawn}): the winner’s curse."
    )


def caption(result: TuningRuns, *, ghosts: bool = False) -> str:
    """How many draws, and what the dots and lines are."""
    drawn = sentences.count(len(result.draws), "noise draw").capitalize()
    fresh = result.data.test_rows - result.judges
    bars = "; the line is the mean’s 95 % interval" if len(result.draws) > 1 else ""
    before = " The faint hollow marks are the means of the run before." if ghosts else ""
    return (
        f"{drawn}: a faint dot each, the large mark is their mean{bars}.{before} {result.judges} of "
        f"{result.data.test_rows:,} test rows chose the unpaid model, the other {fresh:,} are fresh. "
        "Adjacency: add or remove one row. The promise of “unpaid” does not cover its choice."
    )


def what_k_did(draw: Draw) -> str:
    """K, the candidates it met, the winner, and what a better winner would have been."""
    if draw.released is None:
        return (
            f"**K was 0** with noise seed {draw.seed}: nothing was trained, and θ = 0 was released, as was fixed in "
            f"advance. It is right on {accuracy(draw.honest)} of fresh rows."
        )
    tried = times(draw.runs.tolist())
    best = int(draw.accuracy.argmax())
    text = (
        f"**K was {len(draw.runs)}** with noise seed {draw.seed}. The learning rates drawn: {tried}. The noisy "
        f"score was highest for {scientific(draw.runs[draw.released])}: released, right on "
        f"{accuracy(draw.honest)} of fresh rows."
    )
    if best == draw.released or draw.accuracy[best] <= draw.honest:
        return text + " No other run would have been better."
    return (
        text
        + f" The best of the runs, with {scientific(draw.runs[best])}, is right on {accuracy(draw.accuracy[best])}."
    )


def scores(result: TuningRuns) -> str:
    """How noisy the private score is."""
    assert result.paid.score_noise is not None
    held_out = result.data.train_rows * result.settings.validation_fraction
    share = points(100 * result.paid.score_noise / held_out)
    return (
        f"The private score counts right answers on about {held_out:,.0f} held-out training rows, with noise of "
        f"standard deviation {sentences.number(result.paid.score_noise)}: {share}."
    )


def curse(result: TuningRuns) -> str:
    """How often juries flatter their choice, and whether they do where there was nothing to choose."""
    gaps = [gap for draw in result.draws for gap in draw.curse]
    share = sum(gap > 0 for gap in gaps) / len(gaps)
    return (
        f"A jury is a set of judges: test rows that choose together. {result.juries:,} juries of {result.judges} test "
        f"rows were drawn, {result.juries // len(result.draws)} for each draw of noise: {sentences.percent(share, 0)} "
        "of them say more of the candidate they choose than the rows left over do. For a learning rate fixed in "
        f"advance, where nothing was chosen, {no_curse(result)}."
    )


def no_curse(result: TuningRuns) -> str:
    """The mean difference without a choice, with its interval: 'the mean is +0.3 points, not told apart from 0 (…)'."""
    gap = result.without_choice
    assert gap is not None
    words = f"the mean is {100 * gap.mean:+.1f} points".replace("-", "−")
    if not gap.known:
        return words
    return f"{words}, {'not told' if undecided(gap) else 'told'} apart from 0 ({between(gap)})"


def data_line(result: TuningRuns) -> str:
    """Which rows."""
    data = result.data
    return f"{data.label}: {data.train_rows:,} training rows, {data.test_rows:,} test rows, {data.columns} columns"


def invitation(request: Request, *, ready: bool = True) -> str:
    """What Run will do, where it does not start by itself; without the files, what to do first."""
    if not ready:
        return f"The files of {request.name} are missing or damaged here: choose another data set, or fetch them first."
    settings = request.settings
    return (
        f"This takes more than some seconds: {sentences.count(settings.draws, 'draw')} of about "
        f"{settings.mean_runs + 1:.0f} trainings of {settings.epochs} epochs on {request.name}. Press Run to start."
    )


def progress(view: JobView[TuningRuns], meter: Meter) -> tuple[float, str]:
    """The progress bar's share and text while a job is active."""
    if view.state == "waiting":
        return 0.0, view.queue_words
    if view.latest is None:
        return 0.0, "Loading the data and calibrating the noise …"
    done, total = len(view.latest.draws), view.latest.settings.draws
    share, words, now = done / total, f"Draw {min(done + 1, total)} of {total}, {view.seconds:.1f} s", meter.now
    if now is not None:
        run, runs, step = now
        # the unpaid candidates take about as long as two runs
        share += (run + 1 if run else min(step / 1000, 1)) / (runs + 2) / total
        words += f"; paid tuning, run {run} of K = {runs}" if run else "; all candidates of unpaid tuning"
    return min(share, 1.0), "Stopping …" if view.stopping else words


def outcome(view: JobView[TuningRuns]) -> str | None:
    """One sentence about a job that ended early; None for one that finished."""
    draws = len(view.latest.draws) if view.latest else 0
    if view.state == "failed":
        return sentences.sentence(view.message or "")
    if view.state == "stopped":
        if view.latest is None or not draws:
            return "Stopped before the first draw was done. Press Run to start again."
        return f"Stopped after {draws} of {view.latest.settings.draws} draws; what is shown is from these."
    return None


def differences(shown: Request, asked: Request) -> str | None:
    """How the controls differ from what is shown; None when they agree."""
    names: dict[str, tuple[Any, Any]] = {
        "data set": (shown.name, asked.name),
        "split seed": (shown.split_seed, asked.split_seed),
    }
    labels = {
        "epsilon": "ε",
        "delta": "δ",
        "learning_rates": "number of learning rates",
        "judges": "judges",
        "mean_runs": "mean runs μ",
        "batch_size": "batch",
        "epochs": "epochs",
        "accountant": "accountant",
        "draws": "draws",
        "seed": "noise seed",
    }
    names |= {label: (getattr(shown.settings, key), getattr(asked.settings, key)) for key, label in labels.items()}
    parts = [f"{name} = {_plain(old)} (now {_plain(new)})" for name, (old, new) in names.items() if old != new]
    return f"These results are for {', '.join(parts)}. Press Run to have them for the controls." if parts else None


def _plain(value: Any) -> str:
    if isinstance(value, tuple):
        return str(len(value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def accuracy_alt(result: TuningRuns) -> str:
    """Alt text of the chart of accuracies."""
    means = {label: mean.mean for way, label in WAYS.items() if (mean := result.mean(way))}
    parts = ", ".join(f"{label} {accuracy(value)}" for label, value in means.items())
    return f"Accuracy on {result.data.label} over {sentences.count(len(result.draws), 'draw')}: {parts}."


def runs_alt(draw: Draw) -> str:
    """Alt text of the chart of paid tuning's runs."""
    if draw.released is None:
        return "No run was made: K was 0."
    return (
        f"{sentences.count(len(draw.runs), 'run')} of paid tuning: noisy score and accuracy on fresh rows against the "
        f"learning rate; released is {scientific(draw.runs[draw.released])} with {accuracy(draw.honest)} on fresh rows."
    )


def curse_alt(result: TuningRuns) -> str:
    """Alt text of the chart of the winner's curse."""
    optimism = result.optimism
    assert optimism is not None
    return (
        f"How much {result.judges} judges flatter the candidate they choose: {100 * optimism.mean:+.1f} points on "
        f"average; for a learning rate fixed in advance {no_curse(result)}."
    )
