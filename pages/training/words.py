"""The training page's words: pure functions from a comparison to sentences, tested, without Streamlit."""

from collections.abc import Sequence
from typing import Any

from objpert_core.estimators import PrivacyCertificate
from objpert_core.evaluation import Estimate
from objpert_core.experiments.compare import Comparison, Settings
from objpert_core.experiments.learners import (
    COMPARABLE,
    COVERS_ALL,
    HONEST,
    NON_PRIVATE,
    PUBLISHED,
    SGD,
    TIGHT,
    TIGHT_CENTRED,
    TIGHT_LOGISTIC,
    TIGHT_RAW,
    UNPAID_STANDARDISED,
)
from objpert_core.experiments.methods import Parameters
from objpert_core.experiments.paper import printed
from objpert_core.experiments.summary import Interval
from pages.training import jobs
from pages.training.jobs import Request
from ui import live, runs, sentences
from ui.jobs import JobView
from ui.words import ACCOUNTANTS, FEWEST, SHOWS, absent, accounted, accuracy, fall, given, in_points, unclear

_SHORT = {COMPARABLE[name].label: name for name in reversed(tuple(COMPARABLE))}
LABELS = {name: one.label if _SHORT[one.label] == name else one.full_label for name, one in COMPARABLE.items()}
"""What each learner is called here: with its variant where another one has the label."""
UNCOVERED = {name: one.covers for name, one in COMPARABLE.items() if one.private and one.covers != COVERS_ALL}
_CHOSEN = (TIGHT, TIGHT_RAW, TIGHT_CENTRED, TIGHT_LOGISTIC)  # the bound is chosen among the controls


def accountant(settings: Settings, method: str, privacy: PrivacyCertificate | None = None) -> str:
    """How a private method's (ε, δ) was accounted; "tight" by the bound that was chosen.

    A certificate says which of centre and scales were released; without one the words are about a method in general.
    """
    words = COMPARABLE[method].accountant
    if method not in _CHOSEN:
        return words
    words = words.replace(ACCOUNTANTS[Settings.bound], ACCOUNTANTS[settings.bound])
    if privacy is None:
        return words
    return accounted(words, getattr(privacy, "center_noise", None), getattr(privacy, "scale_noise", None))


GUESSES = (f"nothing (below {SHOWS:g} points)", "up to 1 point", "1 to 3 points", "more than 3 points")
NOT_HERE = "All methods here predict classes. For private regression, see the page Losses."
ABOUT_COEFFICIENTS = (
    "The largest coefficients without privacy, and beside them the same coefficients of the other models. A mark is "
    "the mean over the draws, a line goes from the least to the greatest, and hollow marks show the setting before. "
    "For models on centred and scaled rows, the coefficients are mean slopes in the original rows. Only one private "
    "model with its certificate may be released."
)
ABOUT_IMAGES = (
    "One image for each class, without privacy and for one private draw. Vermilion pixels speak for the class, blue "
    "pixels against it; each method has its own scale. For models on centred and scaled rows, the values are mean "
    "slopes in the pixels."
)
ABOUT_ROC = "The mean of {} curves, each class against the rest."
NO_CURVES = "With more than two classes, the counts that may be published give no ROC curve."
PRINTS_WHAT_MAY_BE_PUBLISHED = "Prints the accuracy of {}, and the ε of fit and score together."
ABOUT_GRADIENTS = (
    "The proof needs a gradient norm of at most τ, and the solver stops only there. DP-SGD makes a fixed "
    "number of steps and needs no τ. The path depends on the data, so do not publish it."
)
NO_STEPS = (
    "On wide rows, or with more than 20 draws, the five learners of this picture take too long here. The page "
    "Accuracy has stored runs."
)
ABOUT_CERTIFICATES = (
    "You may publish a model’s certificate with the model. These fits were seeded, so each certificate says "
    "“reproducible”. For a release, train once without a seed. Each fit spends its own ε, and the costs of fits on "
    "the same people add up."
)
ABOUT_MAPPED = (
    "DP-SGD’s own certificate states the ε that is left after the noisy centre and scales. The certificate does not "
    "mention the centre and the scales."
)
_LONG_NAME = 5  # words of a method's name that leave room for a long one of the data
PAPER_TABLE_2 = printed("adult", PUBLISHED)


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


def headline(comparison: Comparison) -> str:
    """The one large sentence."""
    settings, main = comparison.settings, comparison.settings.main
    data, reference = comparison.data.label, comparison.accuracy(NON_PRIVATE)
    if main is not None and len(LABELS[main].split()) > _LONG_NAME:
        data = comparison.data.name  # the axis and the caption say if it stands in
    private, lost = main_accuracy(comparison), cost(comparison)
    if private is None or main is None:
        if reference is None:
            return f"Nothing is trained on {data} yet."
        rest = f"{_named(main)} is not trained yet" if main else "no private method is chosen"
        return f"Without privacy {_share(reference.mean)} of answers are right on {data}; {rest}."
    at = f"At ε = {sentences.epsilon(settings.epsilon)}"
    few = f" in {sentences.count(private.count, 'draw')}" if private.count < FEWEST else ""
    if (scores := comparison.evaluation(main)) is not None:
        share = scores.accuracy()
        where = f"on {data}" if main == TIGHT else f"by {_named(main)}"
        return f"{at} the publishable accuracy is {accuracy(share.value)} ({between(share)}) {where}."
    if private.mean <= comparison.baseline:
        return (
            f"{at} {_named(main)} learns nothing useful: {_share(private.mean)} right; always “{majority(comparison)}” "
            f"gets {_share(comparison.baseline)}."
        )
    if lost is None or reference is None:
        return f"{at} {_named(main)} gets {_share(private.mean)} right{few or f' on {data}'}."
    by = "" if main == TIGHT else f" by {_named(main)}"
    size, course = fall(reference.mean, private.mean)
    where = f"{few or f' on {data}'} ({course})"
    if not few and unclear(given(comparison.difference(NON_PRIVATE, main))):
        draws = sentences.count(private.count, "draw")
        return f"{at} the cost of privacy{by} is within the noise of {draws} ({course})."
    if lost >= SHOWS:
        return f"{at} privacy{by} costs {size}{where}."
    if lost > -SHOWS:
        return f"{at} privacy{by} shows no cost{where}."
    return f"{at} {'the private model' if main == TIGHT else _named(main)} gains {size}{where}."


def _named(method: str) -> str:
    """A method inside a sentence: in quotation marks where its name reads like a part of the sentence."""
    name = LABELS[method]
    return f"“{name}”" if name.startswith("DP-SGD") else name


def between(share: Estimate) -> str:
    """The ends of a published accuracy's interval: '83.91 to 84.13 %'."""
    return f"{100 * share.low:.2f} to {100 * share.high:.2f} %"


def _share(value: float) -> str:
    return sentences.percent(value, 1)


def promise(comparison: Comparison) -> str:
    """What a model of the main private method promises, in one line; empty before there is one."""
    settings, main = comparison.settings, comparison.settings.main
    if main is None or not comparison.of(main):
        return ""
    by = accountant(settings, main, comparison.of(main)[0].privacy)
    by += "; a coin puts each person into fit or score" if settings.publishable else ""
    words = sentences.promise(settings.epsilon, settings.delta, by)
    return f"{words} The promise covers {UNCOVERED[main]}." if main in UNCOVERED else words


def why(before: Comparison | None, now: Comparison) -> str:
    """Why the main private method's accuracy moved since the setting before, or that it did not; empty at first."""
    main = now.settings.main
    if before is None or main is None or not before.of(main) or not now.of(main):
        return ""
    if before.settings.publishable != now.settings.publishable:
        return "The rows are split anew, by a coin each." if now.settings.publishable else "The scores are exact again."
    if before.data != now.data:
        return "With other rows, ε and δ still set the noise; the signal grows with the number of people."
    names = {"epsilon": "ε", "delta": "δ", "intercept_scaling": "s", "bound": "bound"}
    if moves := sentences.changed(before.settings, now.settings, names):
        (symbol, then), (_, here) = _noise(before, main), _noise(now, main)
        noise = sentences.course(symbol, then, here, sentences.number)
        old, new = given(before.accuracy(main)).mean, given(now.accuracy(main)).mean
        return f"{sentences.shift(moves)}: {noise}; {sentences.course('accuracy', old, new, _share)}."
    if before.settings.seed != now.settings.seed:
        return "The new noise has the same size, so the change is chance."
    if before.settings.repeats != now.settings.repeats:
        return "The noise has the same size. More draws make the mean more certain, but not privacy cheaper."
    return ""


def _noise(comparison: Comparison, method: str) -> tuple[str, float]:
    """A method's noise: what it is called, and how much."""
    privacy = comparison.of(method)[0].privacy
    if method in SGD:
        return "the noise multiplier", float(getattr(privacy, "noise_multiplier", 0.0))
    return "σ", float(getattr(privacy, "sigma", 0.0))


def question(asked: Request) -> str:
    """What is asked before the picture is shown."""
    return f"Guess before you look: how many points will ε = {sentences.epsilon(asked.settings.epsilon)} cost?"


def verdict(comparison: Comparison) -> str | None:
    """Which of `GUESSES` turned out right; None until every draw of the main method has been made."""
    settings, lost = comparison.settings, cost(comparison)
    if lost is None or len(comparison.of(given(settings.main))) < settings.repeats:
        return None
    return GUESSES[0 if lost < SHOWS else 1 if lost <= 1 else 2 if lost <= 3 else 3]


def judged(guess: str | None, comparison: Comparison) -> str:
    """The guess beside what came out; empty without a guess."""
    right = verdict(comparison)
    if guess is None or right is None:
        return ""
    return f"Yes: ε costs {right}." if guess == right else f"You guessed {guess}; ε costs {right}."


def which_dp_sgd(settings: Settings) -> str:
    """DP-SGD's training here beside the strongest one, whose runs the Accuracy page has."""
    strong = Parameters()
    own = (settings.batch_size, settings.epochs, len(settings.learning_rates))
    best = (strong.large_batch_size, strong.epochs, len(strong.fine_learning_rates))
    rates = sentences.count(own[2], "learning rate")
    here = f"DP-SGD here: {own[0]:,} rows per batch, {sentences.count(own[1], 'epoch')}, {rates}"
    if UNPAID_STANDARDISED in settings.methods:
        more = sentences.count(len(settings.fine_learning_rates), "rate")
        here += f" (on standardised rows {settings.large_batch_size:,} per batch, {more})"
    if all(mine >= its for mine, its in zip(own, best, strict=True)):
        return f"{here}."
    return (
        f"{here}; the page Accuracy has the strongest DP-SGD ({best[0]:,} rows per batch, {best[1]} epochs, "
        f"{best[2]} rates)."
    )


def paper(comparison: Comparison) -> str:
    """What the paper's table says about this very setting; empty where it is none of the table's."""
    settings = comparison.settings
    if comparison.data.name != "adult" or settings.delta != 1e-5 or settings.epsilon not in PAPER_TABLE_2:
        return ""
    if PUBLISHED not in settings.methods:
        return ""
    reported = accuracy(PAPER_TABLE_2[settings.epsilon])
    return f"Redberg et al. (2023), Table 2, report {reported} for Algorithm 1 with the 2023 theorem."


def caveats(comparison: Comparison) -> str:
    """What the marks are, and what they are not."""
    if comparison.settings.publishable:
        return (
            f"Bars: 95 % intervals of the published scores, from noisy counts of {comparison.data.test_rows:,} test "
            f"rows, put aside by a coin each. The scores of “no privacy” and of always “{majority(comparison)}” are "
            "exact: do not publish them. Coins and noise have seeds here. For a release, train once without a seed."
        )
    low, high = comparison.test_interval
    bars = f"Bars: 95 % intervals of the mean over {FEWEST} or more noise draws (Student’s t), for this one split."
    return (
        f"Dots: single draws. Hollow marks: the setting before. {bars} With {comparison.data.test_rows:,} test rows "
        f"the accuracy itself is uncertain: {100 * low:.1f} to {100 * high:.1f} % for the first model in the chart. "
        "The guarantee does not cover test accuracy, so do not publish the accuracy with a model."
    )


def has_curves(comparison: Comparison) -> bool:
    """Whether the scores have ROC curves: counts that may be published have some of two classes only."""
    return not comparison.settings.publishable or len(comparison.data.classes) == 2


def majority(comparison: Comparison) -> str:
    """The name of the class that is more frequent in the training rows."""
    return comparison.data.classes[comparison.data.majority]


def two_classes_only(methods: Sequence[str], data: str) -> str:
    """Which of the chosen methods are left out where there are more than two classes."""
    names = sentences.listing([LABELS[method] for method in methods])
    return f"Left out on {data}: {names} (two classes only)."


def preset_note(data: str) -> str | None:
    """Under the buttons: why they do not run Adult, or None when they do."""
    if data == "adult":
        return None
    why = absent("adult")
    return f"Adult’s files {why}, so **{data}** stands in for Adult. Do not compare accuracies here with the paper’s."


def differences(shown: Request, asked: Request, *, under_way: bool = False) -> str | None:
    """How the controls differ from what is shown, or is being trained; None when they agree."""
    if shown == asked:
        return None
    names = ["epsilon", "delta", "bound", "repeats", "intercept_scaling", "seed", "methods", "solver"]
    names += ["batch_size", "epochs", "learning_rates", "mean_runs", "publishable"]

    def said(value: Any) -> str:
        if isinstance(value, tuple):
            return ", ".join(LABELS.get(item, live.plain(item)) for item in value)
        return "yes" if value is True else "no" if value is False else live.plain(value)

    what = "The run under way is" if under_way else live.SHOWN
    return live.differences(shown, asked, names, "train with the controls as they are now", said, what=what)


def schedule(epochs: int, rates: Sequence[float], mean_runs: float) -> str:
    """What DP-SGD's two methods will train, under their controls."""
    every = sentences.count(epochs, "epoch")
    if len(rates) == 1:
        return f"With one learning rate there is nothing to choose: unpaid takes {every}."
    return (
        f"Unpaid: {every}, all {len(rates)} learning rates at once; the best on held-out rows wins. "
        f"Paid: about {mean_runs:g} times {every}, each with a learning rate drawn at random."
    )


def invitation(later: Request) -> str:
    """What pressing Run will do."""
    settings = later.settings
    models = sentences.count(settings.fits, "model")
    return f"Run trains {models}: {', '.join(LABELS[method] for method in settings.methods)}."


def estimate(later: Request) -> str:
    """How long that will take, under the button."""
    models = sentences.count(later.settings.fits, "model")
    return f"{sentences.capital(models)}: {jobs.in_words(later)}, longer while other people train."


def progress(view: JobView[Comparison], meter: live.Meter | None = None) -> tuple[float, str]:
    """The progress bar's share and text while a job is active; of a long fit also where it is."""

    def how_far(latest: Comparison) -> tuple[float, str]:
        done, total = len(latest.fits), latest.settings.fits
        words = f"{done} of {total} models, {view.seconds:.0f} s"
        if meter is not None and (now := meter.now) is not None and now[0] in SGD:
            method, run, step = now
            words += f"; {LABELS[method]}: {f'run {run}, ' if method == HONEST else ''}step {step:,}"
        return done / total, words

    return runs.stage(view, "Loading the data …", how_far)


def outcome(view: JobView[Comparison]) -> str | None:
    """One sentence about a job that ended early; None for one that finished."""
    if view.latest is None or not view.latest.fits:
        return runs.ended_early(view, "Stopped before the first model was fitted.")
    fits, total = len(view.latest.fits), view.latest.settings.fits
    words = runs.ended_early(view, f"Stopped after {fits} of {total} models.")
    return f"{words} The {fits} models fitted before are shown." if view.state == "failed" else words
