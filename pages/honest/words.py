"""The words of the page "Honest or not": pure functions from results to sentences, tested, without Streamlit."""

from __future__ import annotations

from typing import Any

from objpert_core.experiments.studies.tuning_runs import FIXED_RATE, Draw, TuningRuns
from pages.honest.jobs import Request
from ui import live, runs, sentences
from ui.jobs import JobView
from ui.sentences import scientific
from ui.words import FEWEST, SHOWS, accuracy, between, given, points, signed, times, unclear, undecided

UNDER_WAY = "The first draw is being trained."
_FIELDS = {
    "epsilon": "ε",
    "delta": "δ",
    "judges": "judges",
    "mean_runs": "μ",
    "batch_size": "batch",
    "epochs": "epochs",
    "accountant": "accountant",
}
WAYS = {
    "judges": "unpaid, its judges say",
    "fresh": "unpaid, on fresh rows",
    "honest": "paid, on fresh rows",
    "fixed": "fixed rate, on fresh rows",
}
DO_NOT_PUBLISH = (
    "Of paid tuning only the released model, its learning rate and its own score are covered by the promise. K and the "
    "other runs are not: this picture is for the page, not for publication."
)
CERTIFICATES = (
    "Both can be verified, and each is true: the unpaid one says right after the promise what it does not cover. Fits "
    "on this page are seeded, so both say reproducible."
)


def worth(result: TuningRuns) -> bool:
    """Whether there is something to show."""
    return bool(result.draws)


def answer(result: TuningRuns) -> str:
    """The page's one large sentence; only after the first draw."""
    lost = given(result.difference("fresh", "honest"))
    paid, free = (accuracy(given(result.mean(way)).mean) for way in ("honest", "fresh"))
    told, size = lost.count >= FEWEST, points(100 * lost.mean)
    if told and unclear(lost):
        verdict = "what paying for the choice costs cannot be told from 0"
    elif abs(100 * lost.mean) < SHOWS:
        verdict = "paying for the choice costs no accuracy that shows"
    elif lost.mean < 0:
        verdict = f"paying for the choice gains {size}"
    else:
        verdict = f"paying for the choice costs {size}"
    shares = f"{paid} right instead of {free}".replace(" %", "\u00a0%")
    if not told:  # one more draw may move it by points
        shares += f" ({sentences.count(lost.count, 'draw')})"
    return f"At ε = {sentences.epsilon(result.settings.epsilon)} {verdict}: {shares}."


def why(before: TuningRuns | None, now: TuningRuns) -> str:
    """What was changed since the run before on the same data, and what that did to the price of paying."""
    if before is None or before.data.name != now.data.name:
        return ""
    changes = sentences.changed(before.settings, now.settings, _FIELDS)
    if not changes:
        return ""
    then, here = (given(result.difference("fresh", "honest")).mean for result in (before, now))
    price = sentences.course("the price", 100 * then, 100 * here, lambda value: sentences.minus(f"{value:.1f} points"))
    return f"{sentences.shift(changes)}: {price}."


def accountant(result: TuningRuns) -> str:
    """What the paid model's promise rests on."""
    return f"private selection over {'Rényi curves' if result.settings.accountant == 'rdp' else 'privacy losses'}"


def price(result: TuningRuns) -> str:
    """What the unpaid ε really is, and what paying takes."""
    settings, unpaid, paid = result.settings, result.one.noise_multiplier, result.paid.noise_multiplier
    return (
        f"The unpaid model reports ε = {sentences.epsilon(settings.epsilon)}, that of one run; with the choice among "
        f"{len(settings.learning_rates)} paid for (μ = {settings.mean_runs:g} runs on average), the same noise costs "
        f"ε = {sentences.epsilon(result.true_epsilon)}. Paying takes a noise multiplier of {sentences.number(paid)} "
        f"instead of {sentences.number(unpaid)}. A rate fixed in advance, {FIXED_RATE:g}, has nothing to pay for."
    )


def flattery(result: TuningRuns) -> str:
    """What a jury says of its choice against what the other rows say, on average over all that were drawn."""
    gap, drawn = given(result.optimism), f"{result.juries:,} drawn"
    jury = (
        f"The {result.judges} test rows that chose it are its judges, together its jury. Juries of {result.judges} "
        "rows like these flatter the candidate they choose by"
    )
    if words := unclear(gap):
        return f"{jury} an amount that {words}; {drawn})."
    if 100 * gap.mean < SHOWS:
        return f"{jury} less than 0.1 points on average ({drawn})."
    size = points(100 * gap.mean)
    return f"{jury} {size} on average against the rows left over ({drawn}): the winner’s curse."


def caption(result: TuningRuns, *, ghosts: bool = False) -> str:
    """How many draws, and what the dots and lines are."""
    drawn = sentences.count(len(result.draws), "noise draw").capitalize()
    lost = given(result.difference("fresh", "honest"))
    gap = f" What paying costs: {signed(lost.mean)} points, {between(lost)}." if len(result.draws) >= FEWEST else ""
    fresh = result.data.test_rows - result.judges
    bars = "; the line is the mean’s 95 % interval" if len(result.draws) >= FEWEST else ""
    before = " The faint hollow marks are the means of the run before." if ghosts else ""
    return (
        f"{data_line(result)}. {drawn}: a faint dot each, the large mark is their mean{bars}.{before}{gap} "
        f"{result.judges} of "
        f"{result.data.test_rows:,} test rows chose the unpaid model, the other {fresh:,} are fresh. "
        "The promise of “unpaid” does not cover its choice."
    )


def what_k_did(draw: Draw) -> str:
    """K, the candidates it met, the winner, and what a better winner would have been."""
    if draw.released is None:
        return (
            f"**K was 0** with noise seed {draw.seed}: nothing was trained, and θ = 0 was released, as was fixed in "
            f"advance. It is right on {accuracy(draw.honest)} of fresh rows."
        )
    best = int(draw.accuracy.argmax())
    other = f"The best of the runs, with {scientific(draw.runs[best])}, is right on {accuracy(draw.accuracy[best])}."
    if best == draw.released or draw.accuracy[best] <= draw.honest:
        other = "No other run would have been better."
    return (
        f"**K was {len(draw.runs)}** with noise seed {draw.seed}. The learning rates drawn: "
        f"{times(draw.runs.tolist())}. The noisy score was highest for {scientific(draw.runs[draw.released])}: "
        f"released, right on {accuracy(draw.honest)} of fresh rows. {other}"
    )


def scores(result: TuningRuns) -> str:
    """How noisy the private score is."""
    noise, held_out = given(result.paid.score_noise), result.data.train_rows * result.settings.validation_fraction
    return (
        f"The private score counts right answers on about {held_out:,.0f} held-out training rows, with noise of "
        f"standard deviation {sentences.number(noise)}: {points(100 * noise / held_out)}."
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
    gap = given(result.without_choice)
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
        return request.unready
    settings = request.settings
    return (
        f"This takes more than some seconds: {sentences.count(settings.draws, 'draw')} of about "
        f"{settings.mean_runs + 1:.0f} trainings of {settings.epochs} epochs on {request.name}. Press Run to start."
    )


def progress(view: JobView[TuningRuns], meter: live.Meter) -> tuple[float, str]:
    """The progress bar's share and text while a job is active."""

    def how_far(latest: TuningRuns) -> tuple[float, str]:
        done, total = len(latest.draws), latest.settings.draws
        share, words, now = done / total, f"Draw {min(done + 1, total)} of {total}", meter.now
        if now is not None:
            run, of, step = now
            # the unpaid candidates take about as long as two runs
            share += (run + 1 if run else min(step / 1000, 1)) / (of + 2) / total
            words += f": paid, run {run} of K = {of}" if run else ": unpaid candidates"
        return share, words

    return runs.stage(view, "Loading the data and calibrating the noise …", how_far)


def outcome(view: JobView[TuningRuns]) -> str | None:
    """One sentence about a job that ended early; None for one that finished."""
    if view.latest is None or not view.latest.draws:
        return runs.ended_early(view, "Stopped before the first draw was done. Press Run to start again.")
    done, total = len(view.latest.draws), view.latest.settings.draws
    return runs.ended_early(view, f"Stopped after {done} of {total} draws; what is shown is from these.")


def differences(shown: Request, asked: Request) -> str | None:
    """How the controls differ from what is shown; None when they agree."""

    def said(value: Any) -> str:
        return str(len(value)) if isinstance(value, tuple) else live.plain(value)

    fields: tuple[str, ...] = (
        "epsilon",
        "delta",
        "learning_rates",
        "judges",
        "mean_runs",
        "batch_size",
        "epochs",
        "accountant",
    )
    fields += ("draws", "seed")
    then, rates = "have them for the controls", "number of learning rates"
    return live.differences(shown, asked, fields, then, said, learning_rates=rates)


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
    flattered = 100 * given(result.optimism).mean
    return (
        f"How much {result.judges} judges flatter the candidate they choose: {flattered:+.1f} points on "
        f"average; for a learning rate fixed in advance {no_curse(result)}."
    )
