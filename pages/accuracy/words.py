"""The accuracy page's words: pure functions from stored runs to sentences, tested, without Streamlit."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from objpert_core._literals import plain
from objpert_core.experiments import paper
from objpert_core.experiments.figure2 import Piece
from objpert_core.experiments.indexed import Stored
from objpert_core.experiments.learners import (
    COVERS_ALL,
    LEARNERS,
    NON_PRIVATE,
    TIGHT,
    UNPAID,
    label_words,
)
from objpert_core.experiments.methods import EVERY
from objpert_core.experiments.results import Run
from objpert_core.experiments.summary import Interval
from pages.accuracy.numbers import BARS
from ui import runs, sentences
from ui.jobs import JobView
from ui.request import Meter
from ui.words import accounted, accuracy, fall, interval, undecided

LABELS: Mapping[str, str] = {method: LEARNERS[method].full_label for method in EVERY}
COST, AHEAD, ORIGIN = "what privacy costs", "who is ahead", "where the accuracy comes from"
"""The questions that the page answers."""
_TOO_SMALL = 0.005  # points; less prints as 0.00


def points(value: float) -> str:
    """A difference of accuracies in points, without its sign: '0.35 points'; what two decimals hide gets more."""
    size = abs(100 * value)
    return f"{sentences.number(size, 2) if 0 < size < _TOO_SMALL else f'{size:.2f}'} points"


def share_between(share: Interval) -> str:
    """The ends of an accuracy's interval: '83.91 to 84.13 %'; the number of trials where they are too few for one."""
    return sentences.count(share.count, "trial") if share.count < BARS else interval(share)


def seconds(value: float) -> str:
    """A time: '0.263 s', '11.2 s', '340 s'."""
    return f"{sentences.number(value)} s" if value < 100 else f"{value:.0f} s"


def covers(method: str) -> str:
    """What the ε of a method is a promise about."""
    found = LEARNERS[method].covers
    return "all that was done" if found == COVERS_ALL else found


def answer(stored: Stored, epsilon: float) -> str:
    """The page's one large sentence: what privacy costs by Algorithm 1 with the tight bound."""
    at, on = f"At ε = {sentences.epsilon(epsilon)}", f"on {stored.label}"
    own, reference = stored.point(TIGHT, epsilon), stored.point(NON_PRIVATE, epsilon)
    gap = stored.difference(NON_PRIVATE, TIGHT, epsilon)
    if own is None:
        return f"{at} no run of Algorithm 1 with the tight bound is stored {on}."
    if reference is None or gap is None:
        return f"{at} Algorithm 1 with the tight bound gets {accuracy(own.accuracy.mean)} right {on}."
    size, course = fall(reference.accuracy.mean, own.accuracy.mean)
    if undecided(gap):
        trials = sentences.count(gap.count, "trial")
        return f"{at} {trials} cannot tell the cost of privacy from 0 {on} ({course})."
    if gap.mean < 0:
        return f"{at} the private model gains {size} {on} ({course})."
    return f"{at} privacy costs {size} {on} ({course})."


def why(before: tuple[Stored, float] | None, stored: Stored, epsilon: float) -> str:
    """Why the private model's accuracy moved since the setting before, (file, ε); empty at first."""
    if before is None:
        return ""
    old, then = before[0].point(TIGHT, before[1]), stored.point(TIGHT, epsilon)
    if old is None or then is None or before == (stored, epsilon):
        return ""
    if before[0] is not stored:
        return "Other rows: the noise stays the same; more people make the signal louder."
    wide, narrow = (stored.runs(TIGHT, at)[0].sigma for at in (before[1], epsilon))
    told = f"{sentences.course('σ', wide, narrow, sentences.number)}; " if wide and narrow else ""
    moved = sentences.course("accuracy", old.accuracy.mean, then.accuracy.mean, accuracy)
    return f"{sentences.shift([('ε', before[1], epsilon)])}: {told}{moved}."


def promise(stored: Stored, epsilon: float) -> str:
    """What one private model by the tight bound promises, in one line."""
    if stored.delta is None:
        return ""
    runs = stored.runs(TIGHT, epsilon)
    noises = (runs[0].center_noise, runs[0].scale_noise) if runs else (None, None)
    return sentences.promise(epsilon, stored.delta, accounted(LEARNERS[TIGHT].accountant, *noises))


def legend(methods: Sequence[str]) -> str:
    """What the names of the shown methods mean, each word once."""
    words = [f"{word}: {meaning}" for word, meaning in label_words(methods).items()]
    return f"Names: {'; '.join(words)}." if words else ""


NO_RESULTS = (
    "No stored results are on this server: make them with `python -m objpert_core.experiments figure2 --dataset "
    "adult-synthetic` in a checkout, then reload this page; the last part of the page works without them."
)


def cannot_run(dataset: str, available: bool, expected: float | None, longest: float) -> str:
    """Why a fit cannot be made here; empty if it can."""
    lost = f"The files of {dataset} are missing or damaged on this server; the page “Live training” says what to do."
    if not available:
        return lost
    if expected is None or expected <= longest:
        return ""
    took = f"Stored trials of this point took {seconds(expected)} (median)"
    return f"{took}: too long for a shared server; the command line has no limit."


def linked(button: str) -> str:
    """What the page's link does for what a button has to start."""
    return f"“Share” above holds these settings too: whoever opens it presses “{button}” for the same numbers."


def point_invitation(point: Piece, before: Run | None, expected: float | None) -> str:
    """What a press of the button does, and what there is to compare it with."""
    target = "without privacy" if point.method == NON_PRIVATE else f"ε = {sentences.epsilon(point.epsilon)}"
    what = f"{LABELS[point.method]}, {target}, split and trial {point.trial} of {point.dataset}"
    took = f" Stored trials of this point took {seconds(expected)} (median)." if expected else ""
    beside = "this trial is not stored, so there will be nothing beside it"
    return f"{what}: {f'{accuracy(before.accuracy)} is stored' if before else beside}.{took}"


def point_progress(view: JobView[Run], meter: Meter, expected: float | None) -> tuple[float, str]:
    """The progress bar's share and text while a point is run; `expected` is what stored trials took, in seconds."""
    if waiting := runs.waiting(view):
        return waiting
    if meter.now is None:
        return 0.0, f"Loading the data and calibrating the noise, {view.seconds:.1f} s"
    share = min(0.95, view.seconds / expected) if expected else 0.5
    took = f"; stored trials took {expected:.3g} s" if expected else ""
    return share, f"{sentences.count(meter.now[0], 'step')}, {view.seconds:.1f} s{took}"


def again(run: Run, before: Run | None) -> str:
    made = f"Made now: **{accuracy(run.accuracy)}** in {seconds(run.seconds)}."
    if before is None:
        return f"{made} This trial is not stored."
    stored = f"Stored: **{accuracy(before.accuracy)}** in {seconds(before.seconds)}."
    if run.accuracy == before.accuracy:
        return f"{made} {stored} The same seed gives the same model: every test row is answered alike."
    apart = f"{made} {stored} They are {points(run.accuracy - before.accuracy)} apart although the seed is the same"
    noise = [(getattr(run, name), getattr(before, name)) for name in ("sigma", "lam", "noise_multiplier")]
    if any(new != old and (not new or not old or not math.isclose(new, old, rel_tol=1e-6)) for new, old in noise):
        return f"{apart}: the noise is not, the calibration has changed since that file was made."
    return f"{apart}, and so is the noise: another processor or another version of the code adds up differently."


def alt(stored: Stored, methods: Sequence[str], epsilon: float, ghost: Stored | None = None) -> str:
    """Alt text of the chart: what is plotted, and the accuracies at the marked ε, highest first."""
    if not set(UNPAID).isdisjoint(methods):  # only then is the rival marked
        methods = stored.with_rival(methods, epsilon)
    reached = {LABELS[m]: found.accuracy.mean for m in methods if (found := stored.point(m, epsilon))}
    order = ", ".join(f"{name} {accuracy(mean)}" for name, mean in sorted(reached.items(), key=lambda item: -item[1]))
    return (
        f"Test accuracy on {stored.label} against ε on a logarithmic scale, with 95 % intervals. "
        f"At ε = {sentences.epsilon(epsilon)}: {order or 'nothing is stored'}."
        f"{f' {faint(ghost)}' if ghost else ''}"
    )


def faint(ghost: Stored) -> str:
    return f"Faint lines without marks: the same methods on {ghost.label}, shown before."


def rival_note(stored: Stored, methods: Sequence[str], epsilon: float) -> str:
    """That the rival is marked although it was not picked; empty where it was, or where nothing is shown."""
    name = stored.rival(epsilon)
    if name is None or name in methods or set(UNPAID).isdisjoint(methods):
        return ""
    return f"The large mark is the rival at ε = {sentences.epsilon(epsilon)}, {LABELS[name]}, whose curve is off."


def intervals(stored: Stored, methods: Sequence[str]) -> str:
    """What the bars are, and what they are not."""
    least, most = stored.counts(methods)
    if not most:
        return ""
    over = f"{least} to {most} trials" if least < most else sentences.count(most, "trial")
    bars = f"Bars: 95 % intervals of the mean over {over} (Student’s t)"
    dots = f"Points are means over {over}; the small dots are the single trials, too few for an interval"
    if most < BARS:
        bars = dots
    elif least < BARS:
        bars += f", and small dots for the single trials where there are fewer than {BARS}"
    return (
        f"{bars}. Each trial has its own split and noise; the splits overlap: they speak about these rows only. Test "
        "accuracy is shown to compare; it is not part of what may be released."
    )


def paper_note(stored: Stored) -> str:
    """What the paper's marks are and what differs; empty where its tables have no such data set."""
    if stored.dataset not in paper.TABLES:
        return ""
    same = (
        "its rows are Iyengar et al.’s, these are drawn anew in their shape, by this project’s recipe"
        if stored.dataset == "synthetic-l"
        else "its encoding has 104 columns, this one 105"
    )
    if stored.constant != paper.INTERCEPT_SCALING:
        same += f", and the constant feature is {constants([stored.constant])}"
    return (
        f"Hollow marks: Redberg et al. (2023), {paper.TABLES[stored.dataset]} (“paper”), where all three methods chose "
        f"by test accuracy, over other splits; {same}."
    )


def constants(found: Sequence[float]) -> str:
    """The constant feature of the files beside the paper's: '0.3 here for all methods (paper: 1)'."""
    here, theirs = " or ".join(plain(value) for value in found), plain(paper.INTERCEPT_SCALING)
    return f"{here} here for all methods (paper: {theirs})"


def stand_in_note(stored: Stored) -> str:
    """The warning that goes with a stand-in; empty for others."""
    told = "these are not the real data. Compare the methods with one another, not with the paper’s numbers."
    return f"{stored.label}: {told}" if stored.stand_in else ""


def no_chain(stored: Stored, epsilon: float) -> str:
    """Where the steps were not all run."""
    return f"At ε = {sentences.epsilon(epsilon)} not every step is stored on {stored.label}."


def missing(stored: Stored, methods: Sequence[str], epsilon: float) -> str:
    """Which of the shown methods have no run at this ε; empty if none."""
    absent = [LABELS[method] for method in methods if stored.point(method, epsilon) is None]
    return f"No run is stored at ε = {sentences.epsilon(epsilon)} for {', '.join(absent)}." if absent else ""


def provenance(stored: Stored) -> list[str]:
    """Where the stored runs are from: one line for each command that added rows, and the seeds."""
    lines = []
    splits = sorted({run.split_seed for run in stored.results.runs})
    for session in stored.results.sessions:
        commit = session.get("commit", "unknown")
        dirty = " with changes that were not committed" if commit.endswith("+") else ""
        lines.append(
            f"`{session.get('command', 'unknown command')}` at commit `{commit.rstrip('+')}`{dirty}, "
            f"{session.get('started', 'unknown time')}, on {session.get('machine', 'an unknown machine')}; "
            f"{session.get('versions', 'unknown versions')}."
            + (f" Note: {sentences.sentence(session['note'])}" if session.get("note") else "")
        )
    span = f"{splits[0]} to {splits[-1]}" if len(splits) > 1 else f"{splits[0]}" if splits else ""
    seeds = (
        f"Split seeds {span}, one a trial, the same for all methods; the noise seed of every run is in the file. "
        "Whoever knows a noise seed can subtract the noise: these runs measure and are not releases."
    )
    return [*lines, f"Package version {stored.results.version}. {seeds if splits else 'The file holds no run yet.'}"]


def configuration(stored: Stored) -> list[dict[str, str]]:
    """Every parameter that all runs of the file share, as rows of a table."""
    return [{"Parameter": name, "Value": _shown(value)} for name, value in stored.results.configuration.items()]


def _shown(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return ", ".join(_shown(item) for item in value)
    return f"{value:.3g}" if isinstance(value, float) else str(value)
