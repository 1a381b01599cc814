"""The training page's words: pure functions from a comparison to sentences, tested, without Streamlit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from objpert_core.experiments.compare import Comparison, Settings
from objpert_core.experiments.learners import (
    HONEST,
    LIVE,
    NON_PRIVATE,
    PUBLISHED,
    ROUNDED,
    SGD,
    SVC,
    TIGHT,
    reference_parameters,
)
from objpert_core.experiments.methods import Parameters
from objpert_core.experiments.paper import printed
from objpert_core.experiments.summary import Interval
from pages.training.jobs import Request
from pages.training.promises import LABELS, called, guarantees
from ui import live, runs, sentences
from ui.jobs import JobView
from ui.words import (
    FEWEST,
    SHOWS,
    accuracy,
    apart,
    given,
    in_points,
    interval,
    name_line,
    no_interval,
    points,
    unclear,
    undecided,
    width,
)

GUESSES = (f"nothing (below {SHOWS:g} points)", "up to 1 point", "1 to 3 points", "more than 3 points")
NOT_HERE = (
    "All methods here sort rows into two classes. A private regression has no test accuracy and cannot stand beside "
    "them: it is on the page Losses and clipping."
)
ABOUT_SOLVER = (
    "The solver does not touch privacy and hardly the numbers: each goes on until the gradient's norm is at most τ. "
    "DP-SGD and the model without privacy have their own."
)
ABOUT_SEEDS = (
    "Seeds make the page repeatable, for teaching. Whoever knows a noise seed can subtract the noise, so each "
    "certificate here is marked reproducible; a model for release is trained without one."
)
ABOUT_COEFFICIENTS = (
    "The largest coefficients of the first model, and the others' beside them: mean over the draws, line from "
    "the least to the greatest. Which are largest was looked up without privacy, as everything on this page: "
    "it teaches. What may be released is one private model with its certificate."
)
ABOUT_GRADIENTS = (
    "The proof needs the gradient's norm at the solution to be at most τ; the solver goes on until it is, and "
    "a fit that cannot reach it is not released. The path depends on the data: do not publish it. DP-SGD "
    "stops after a fixed number of steps instead and needs no such proof."
)
ABOUT_CERTIFICATES = (
    "What may be published with a model. These fits were seeded, so each certificate says reproducible: for a "
    "release, train once without a seed. Each fit spends its own ε; fits on the same people add up."
)
PAPER_TABLE_2 = printed("adult", PUBLISHED)


def worth(comparison: Comparison) -> bool:
    """Whether the next run may be compared with it: a private method has been fitted."""
    return any(comparison.of(method) for method in comparison.settings.private)


def cost(comparison: Comparison) -> float | None:
    """Points of accuracy that the main private method loses, mean over its draws; not rounded."""
    private, reference = main_accuracy(comparison), comparison.accuracy(NON_PRIVATE)
    if private is None or reference is None:
        return None
    return in_points(reference.mean - private.mean)


def main_accuracy(comparison: Comparison) -> Interval | None:
    """Accuracy of the private method that the page's sentences are about; None before its first fit."""
    main = comparison.settings.main
    return None if main is None else comparison.accuracy(main)


def verdict(comparison: Comparison) -> str | None:
    """Which of `GUESSES` turned out right."""
    lost = cost(comparison)
    if lost is None:
        return None
    return GUESSES[0 if lost < SHOWS else 1 if lost <= 1 else 2 if lost <= 3 else 3]


def headline(comparison: Comparison, *, finished: bool = True) -> str:
    """The one large sentence; `finished` says whether no further fit is to come."""
    main, reference = comparison.settings.main, comparison.accuracy(NON_PRIVATE)
    private, lost = main_accuracy(comparison), cost(comparison)
    if private is None or main is None:
        if reference is None:
            first = "Training without privacy first …" if NON_PRIVATE in comparison.settings.methods else "Training …"
            return "Nothing was trained." if finished else first
        if main is None:
            return f"Without privacy: {accuracy(reference.mean)} right. No private method was chosen."
        rest = f"No {called(main)} private model was trained." if finished else "The private models come next …"
        return f"Without privacy: {accuracy(reference.mean)} right. {rest}"
    at = f"At ε = {sentences.epsilon(comparison.settings.epsilon)}"
    with_main = "" if main == TIGHT else f" ({called(main)})"
    if private.mean <= comparison.baseline:
        return (
            f"{at} nothing useful is learned{with_main}: {accuracy(private.mean)} right, where always answering "
            f"“{majority(comparison)}” gets {accuracy(comparison.baseline)}."
        )
    if lost is None or reference is None:
        return f"{at} {called(main)} gets {accuracy(private.mean)} right; nothing was trained without privacy."
    gap = given(comparison.difference(NON_PRIVATE, main))
    both = f"{accuracy(private.mean)} with and {accuracy(reference.mean)} without it"
    if words := unclear(gap):
        return f"{at} the cost of privacy{with_main} {words}): {both}."
    if lost >= SHOWS:
        return (
            f"{at} privacy{with_main} costs {points(lost)} of accuracy{width(gap)}: {accuracy(private.mean)} "
            f"instead of {accuracy(reference.mean)}."
        )
    if lost > -SHOWS:
        return f"{at} privacy{with_main} costs nothing that shows (below {SHOWS:g} points): {both}."
    other = main in (*SGD, SVC, ROUNDED)
    why = "another learner suits these rows better" if other else "more regularisation helps here"
    return (
        f"{at} the private model{with_main} does {points(lost)} better than the one without privacy{width(gap)}: "
        f"{accuracy(private.mean)} and {accuracy(reference.mean)}; {why}."
    )


def details(comparison: Comparison) -> list[str]:
    """The sentences under the headline: how it was measured, the other methods, odds and guarantee."""
    settings, private = comparison.settings, main_accuracy(comparison)
    if private is None or settings.main is None:
        return []
    draws = sentences.count(private.count, "noise draw")
    title = "Tight calibration" if settings.main == TIGHT else LIVE[settings.main].title
    lines = f"{title} on {comparison.data.label}, mean of {draws} for this one split"
    lines += f" (95 % interval {interval(private)})." if private.count >= FEWEST else f"; {no_interval(private.count)}."
    if comparison.accuracy(PUBLISHED) is not None and settings.main == TIGHT:
        lines += " " + _against_published(comparison)
    return [
        lines,
        *_others(comparison),
        sentences.bet(settings.epsilon, settings.delta, "one private model"),
        *guarantees(comparison),
    ]


def _others(comparison: Comparison) -> list[str]:
    """The private methods that no other sentence is about, each with its distance to the main one; which DP-SGD."""
    settings, main, parts = comparison.settings, comparison.settings.main, []
    for method in settings.private:
        share = comparison.accuracy(method)
        if share is None or method == main or (method == PUBLISHED and main == TIGHT):
            continue
        parts.append(f"{called(method)} {accuracy(share.mean)} ({_distance(comparison, method)})")
    lines = [f"For the same ε and δ: {'; '.join(parts)}."] if parts else []
    return lines + ([which_dp_sgd(settings)] if any(comparison.of(method) for method in SGD) else [])


def _distance(comparison: Comparison, method: str) -> str:
    """How far a method is from the main one, and over which draws where one has been fitted more often."""
    main = given(comparison.settings.main)
    gap = given(comparison.difference(method, main))
    most = max(len(comparison.of(method)), len(comparison.of(main)))
    return apart(gap) + (f", first {sentences.count(gap.count, 'draw')} of both" if gap.count < most else "")


def which_dp_sgd(settings: Settings) -> str:
    """DP-SGD's training here beside the strongest one, whose runs the Accuracy page has."""
    strong = Parameters()
    own = (settings.batch_size, settings.epochs, len(settings.learning_rates))
    best = (strong.large_batch_size, strong.epochs, len(strong.fine_learning_rates))
    rates = sentences.count(own[2], "learning rate")
    here = f"DP-SGD here: {own[0]:,} rows a batch, {sentences.count(own[1], 'epoch')}, {rates}"
    if all(mine >= its for mine, its in zip(own, best, strict=True)):
        return f"{here}."
    return (
        f"{here}: a quick DP-SGD; the Accuracy page has the strongest one ({best[0]:,} rows a batch, {best[1]} epochs, "
        f"{best[2]} learning rates)."
    )


def _against_published(comparison: Comparison) -> str:
    published, gap = given(comparison.accuracy(PUBLISHED)), given(comparison.difference(PUBLISHED, TIGHT))
    words = f"The published calibration, for the same ε and δ, reaches {accuracy(published.mean)}: "
    words += _distance(comparison, PUBLISHED)
    if gap.mean > 0 and not undecided(gap) and in_points(gap.mean) >= SHOWS:
        own, other = (getattr(comparison.of(method)[0].privacy, "sigma", 0.0) for method in (TIGHT, PUBLISHED))
        if own < other:
            words += (
                f", although its σ is larger ({sentences.number(other)} against {sentences.number(own)}); "
                "less noise does not make every model more accurate"
            )
    return words + "."


def paper(comparison: Comparison) -> str | None:
    """What the paper's table says about this very setting, if it is one of the table's."""
    settings = comparison.settings
    if comparison.data.name != "adult" or settings.delta != 1e-5 or settings.epsilon not in PAPER_TABLE_2:
        return None
    if PUBLISHED not in settings.methods:
        return None
    share = accuracy(PAPER_TABLE_2[settings.epsilon])
    return f"Redberg et al. (2023), Table 2, report {share} for their Algorithm 1 (here “published”) on Adult."


def caveats(comparison: Comparison) -> str:
    """What the numbers are and what they are not."""
    low, high = comparison.test_interval
    first = "the majority class"
    if comparison.fits:
        own = comparison.fits[0].method
        first = "the one without privacy" if own == NON_PRIVATE else f"the first “{LABELS[own]}” model"
    doubt = f"of {first} alone they say only that it lies between {100 * low:.1f} and {100 * high:.1f} %"
    return (
        f"Intervals and ± (Student's t, 95 %) cover the noise draws for split seed {comparison.data.split_seed} only; "
        "differences are taken between draws of the same noise seed. "
        f"All methods are judged on the same {comparison.data.test_rows:,} held-out rows, which leave a doubt of their "
        f"own: {doubt} (Wilson, 95 %). Test accuracy looks at data outside the guarantee: it is shown to teach and "
        f"is not part of what may be released.{_about_reference(comparison)}"
    )


def _about_reference(comparison: Comparison) -> str:
    if NON_PRIVATE not in comparison.settings.methods:
        return ""
    return (
        " “No privacy” is scikit-learn's LogisticRegression with C = "
        f"{reference_parameters(1)['C']:g}, almost without regularisation, and has no noise to average over."
    )


def majority(comparison: Comparison) -> str:
    """The name of the class that is more frequent in the training rows."""
    return comparison.data.classes[comparison.data.majority]


def preset_name(epsilon: float, data: str) -> str:
    """What a Table 2 button says, which is what it will run: Adult itself or what takes its place here."""
    on = "Table 2 (Adult)" if data == "adult" else f"Table 2's setting on {data}, not Adult"
    return f"{on}  ε = {epsilon:g}"


def preset_note(data: str, damaged: bool) -> str | None:
    """Under the buttons: why they do not run Adult, or None when they do."""
    if data == "adult":
        return None
    why = "are damaged" if damaged else "are not on this server"
    return (
        f"Adult's files {why}, so the buttons run **{data}**, its stand-in: the paper's ε and δ on other "
        "rows. Their accuracies are not to be compared with the paper's."
    )


def differences(shown: Request, asked: Request) -> str | None:
    """How the controls differ from what is shown, in what its methods depend on; None when they agree."""
    methods, private = set(asked.settings.methods), set(asked.settings.private)
    fields = ["epsilon", "delta", "bound", "repeats", "intercept_scaling", "seed", "methods"]
    if methods & set(SGD):
        fields += ["batch_size", "epochs", "learning_rates"]
    if HONEST in methods:
        fields.append("mean_runs")
    if private - set(SGD):
        fields.append("solver")

    def said(value: Any) -> str:
        if isinstance(value, tuple):
            return ", ".join(LABELS.get(item, live.plain(item)) for item in value)
        return live.plain(value)

    return live.differences(shown, asked, fields, "train with the controls as they are now", said)


def schedule(epochs: int, rates: Sequence[float], mean_runs: float) -> str:
    """What DP-SGD's two methods will train, under their controls."""
    passes = sentences.count(epochs, "pass", "passes")
    if len(rates) == 1:
        return f"One learning rate leaves nothing to choose: {passes} over the data for the unpaid one."
    return (
        f"Unpaid: {passes} over the data, all {len(rates)} learning rates at once; the best on held-out rows is kept. "
        f"Paid: about {mean_runs:g} times {passes}, a learning rate drawn for each."
    )


def invitation(asked: Request, description: str, *, ready: bool = True) -> str:
    """What pressing Run will do; without the files of the data set, what to do first."""
    if not ready:
        return asked.unready
    settings = asked.settings
    models = sentences.count(settings.fits, "model") + (" is" if settings.fits == 1 else " are")
    parts = ["one without privacy"] if NON_PRIVATE in settings.methods else []
    if settings.private:
        draws, kinds = sentences.count(settings.repeats, "noise draw"), len(settings.private)
        each = f" each of {sentences.count(kinds, 'private method')}" if kinds > 1 else " of one private method"
        parts.append(f"{draws}{each}")
    return f"Choose, guess, press Run: {models} trained on {name_line(asked.name, description)}, {' and '.join(parts)}."


def progress(view: JobView[Comparison], meter: live.Meter | None = None) -> tuple[float, str]:
    """The progress bar's share and text while a job is active; of a long fit also where it is."""

    def how_far(latest: Comparison) -> tuple[float, str]:
        done, total = len(latest.fits), latest.settings.fits
        words = f"{done} of {total} models fitted, {view.seconds:.1f} s"
        if meter is not None and (now := meter.now) is not None and now[0] in SGD:
            method, run, step = now
            words += f"; {LABELS[method]}: {f'run {run}, ' if method == HONEST else ''}step {step:,}"
        return done / total, words

    return runs.stage(view, "Loading the data …", how_far)


def outcome(view: JobView[Comparison]) -> str | None:
    """One sentence about a job that ended early; None for one that finished."""
    if view.latest is None or not view.latest.fits:
        return runs.ended_early(view, "Stopped before the first model was fitted. Press Run to start again.")
    fits, total = len(view.latest.fits), view.latest.settings.fits
    words = runs.ended_early(view, f"Stopped after {fits} of {total} models; what is shown is from these.")
    return f"{words} The {fits} models fitted before are shown." if view.state == "failed" else words
