"""The accuracy page's words about who is ahead: claim, counter-claim, and what favours whom."""

from __future__ import annotations

import math
from collections.abc import Collection

from objpert_core.experiments import tables
from objpert_core.experiments.indexed import Stored
from objpert_core.experiments.learners import HONEST, NON_PRIVATE, TIGHT, UNPAID_STANDARDISED
from objpert_core.experiments.summary import Interval
from objpert_core.experiments.tables import WIDE, Claim
from pages.accuracy.words import LABELS, points, seconds
from ui import sentences
from ui.words import accuracy, between, ends, signed, undecided

OURS, RIVAL = "Algorithm 1 with the tight bound", "the best DP-SGD whose tuning is not paid for"
CLAIM_NOTE = (
    "Three things favour the rival: its learning rate was chosen by test accuracy, its ε is that of one run, and among "
    "the unpaid ones it is the best at each ε by hindsight. One favours tight: its rows are centred and scaled; the "
    "first lines above give that to DP-SGD, too, or take it from tight. "
    "“More” or “less accurate” where the 95 % interval of the paired difference excludes 0, “not told apart” where it "
    f"does not, “too few trials to tell” where it does not and is more than {100 * WIDE:g} points wide. Each ε is "
    "tested by itself; among many, one in twenty excludes 0 by chance. Times are medians over the trials: processor "
    "time of one thread, tuning and calibration included."
)


def time(stored: Stored, claim: Claim, rival: str) -> str:
    """How the times compare, to follow "takes": 'about 1/42 of its time (0.263 s against 11.2 s, medians)'.

    `rival` is "its" there.
    """
    own, other = (stored.typical_seconds(method, claim.epsilon) or 0.0 for method in (TIGHT, claim.rival))
    ratio, both = claim.speedup.median, f"({seconds(own)} against {seconds(other)}, medians)"
    if ratio >= 10:
        step = 10 ** (math.floor(math.log10(ratio)) - 1)
        return f"about 1/{step * math.floor(ratio / step):,} of {rival} time {both}"
    if ratio > 1.1:
        return f"{sentences.percent(1 / ratio, 0)} of {rival} time {both}"
    if ratio >= 1 / 1.1:
        return f"about {rival} time {both}"
    return f"{sentences.number(1 / ratio, 2)} times {rival} time {both}"


def verdict(stored: Stored, epsilon: float) -> str:
    """Tight against the best DP-SGD whose tuning is not paid for, in one long sentence."""
    at = f"At ε = {sentences.epsilon(epsilon)} on {stored.label}"
    claim = stored.claims.get(epsilon)
    if claim is None:
        own = stored.point(TIGHT, epsilon)
        if own is None:
            return f"{at} no run of {OURS} is stored."
        return f"{at}, {OURS} gets {accuracy(own.accuracy.mean)} right; no unpaid DP-SGD is stored beside it."
    inside, off = between(claim.difference), f"{signed(claim.difference.mean)} points"
    if claim.verdict in ("even", "unclear", "unknown"):
        took = f"the first takes {time(stored, claim, 'the second’s')}"
        if claim.verdict == "even":
            return f"{at}, {OURS} and {RIVAL} cannot be told apart ({off}, {inside}); {took}."
        if claim.verdict == "unclear":
            few, inside = "trials are too few", f"95 % interval {sentences.number(100 * claim.width, 2)} points wide"
        else:
            few, inside = "trial is too few", "no interval"
        trials = f"{sentences.count(claim.difference.count, 'trial').partition(' ')[0]} {few}"
        return f"{at}, {trials} to tell {OURS} from {RIVAL} ({off}, {inside}); {took}."
    way = "more" if claim.difference.mean >= 0 else "less"
    off = f"{points(claim.difference.mean)} {way} accurate than {RIVAL}"
    return f"{at}, {OURS} is {off} ({inside}), and takes {time(stored, claim, 'its')}."


def reached(stored: Stored, epsilon: float) -> str:
    """What tight, its rival, the paid DP-SGD and no privacy reach at one ε."""
    own, claim = stored.point(TIGHT, epsilon), stored.claims.get(epsilon)
    if own is None:
        return ""
    parts = [f"Tight, Algorithm 1 with our own bound, gets {accuracy(own.accuracy.mean)} right"]
    if claim and (rival := stored.point(claim.rival, epsilon)):
        parts.append(
            f"the rival, {LABELS[claim.rival]}, {accuracy(rival.accuracy.mean)}, unpaid because its learning rate was "
            "chosen by test accuracy and ε does not cover that"
        )
    for method, words in ((HONEST, "DP-SGD that pays for its tuning"), (NON_PRIVATE, "no privacy")):
        difference, point = stored.difference(TIGHT, method, epsilon), stored.point(method, epsilon)
        if difference and point:
            inside = f", {ends(difference)}" if difference.known else ""
            parts.append(f"{words} {accuracy(point.accuracy.mean)} (tight is {signed(difference.mean)} points{inside})")
    trials = claim.difference.count if claim else own.accuracy.count
    over = f"Paired over {sentences.count(trials, 'trial')}, each with its own split."
    return f"{'; '.join(parts)}. {over if trials > 1 else 'One trial, one split.'}"


def everywhere(stored: Stored) -> str:
    """The verdict at every stored ε: at how many tight is better, worse, or cannot be told apart."""
    claims = stored.claims.values()
    if len(claims) < 2:
        return ""
    tenth = sum(claim.tenfold for claim in claims)
    return (
        f"Against the best unpaid DP-SGD at each of the {len(claims)} ε stored, tight is {_tally(claims)}. It takes "
        f"a tenth of the rival’s time or less, by medians, at {tenth} of {len(claims)}."
    )


def _tally(claims: Collection[Claim]) -> str:
    names = {"ahead": "more accurate", "even": "not told apart", "behind": "less accurate"}
    names |= {"unclear": "with too few trials to tell", "unknown": "with one trial only"}
    parts = []
    for which, words in names.items():
        at = [sentences.epsilon(claim.epsilon) for claim in claims if claim.verdict == which]
        if at:
            parts.append(f"{words} at {sentences.count(len(at), 'of them', 'of them')} (ε = {', '.join(at)})")
    return "; ".join(parts)


def variants(stored: Stored) -> tuple[str, ...]:
    """The same verdict with preprocessing, margin, or the luck of choosing taken away or given to both sides."""
    told, lines = [tuple(stored.claims.values())], []
    for name, (method, rivals) in tables.VARIANTS.items():
        found = tables.claims(stored.results, method, rivals)
        if len(found) > 1 and found not in told:  # as it would be where nobody ran what makes the difference
            told.append(found)
            lines.append(f"{name[0].upper()}{name[1:]}: tight is {_tally(found)}.")
    return tuple(lines)


def ahead(stored: Stored, epsilon: float) -> str:
    """The large sentence about who is ahead: the claim, and the counter-claim about the rival on standardised rows."""
    at, claim = f"At ε = {sentences.epsilon(epsilon)}", stored.claims.get(epsilon)
    if claim is None:
        return f"{at} no runs of tight and of an unpaid DP-SGD are stored on {stored.label}."
    own = standing(claim.difference)
    said = f"{at} tight is {own} unpaid DP-SGD"
    gap = stored.difference(TIGHT, UNPAID_STANDARDISED, epsilon)
    if gap is None:
        return f"{said} on {stored.label}."
    if undecided(gap) and undecided(claim.difference):
        return f"{said}, nor from it on standardised rows."
    return f"{said}, {standing(gap, short=' points ' in own)} it on standardised rows."


def standing(gap: Interval, *, short: bool = False) -> str:
    """Where the first of two stands: '0.54 points ahead of', '0.54 behind' where `short`, 'not told apart from'."""
    if not gap.known or undecided(gap):
        return "not told apart from"
    size = f"{abs(100 * gap.mean):.2f}" if short else points(gap.mean)
    return f"{size} {'ahead of' if gap.mean > 0 else 'behind'}"


def counter(stored: Stored, epsilon: float) -> str:
    """The counter-claim at one ε in full; empty where no DP-SGD on standardised rows is stored."""
    gap, point = stored.difference(TIGHT, UNPAID_STANDARDISED, epsilon), stored.point(UNPAID_STANDARDISED, epsilon)
    if gap is None or point is None:
        return ""
    found = f"Unpaid DP-SGD on rows centred and scaled as for tight gets {accuracy(point.accuracy.mean)}"
    return f"{found} (tight is {signed(gap.mean)} points{f', {ends(gap)}' if gap.known else ''})."


def why(before: tuple[Stored, float] | None, stored: Stored, epsilon: float) -> str:
    """How the lead moved since the setting before, (file, ε); empty at first."""
    if before is None or before == (stored, epsilon):
        return ""
    old, now = before[0].claims.get(before[1]), stored.claims.get(epsilon)
    if old is None or now is None:
        return ""
    lead = sentences.course("tight’s lead over unpaid DP-SGD", old.difference.mean, now.difference.mean, signed)
    return f"{_moved(before, stored, epsilon)}: {lead} points."


def _moved(before: tuple[Stored, float], stored: Stored, epsilon: float) -> str:
    if before[0] is not stored:
        return f"{stored.label} instead of {before[0].label}"
    return sentences.shift([("ε", before[1], epsilon)])
