"""Who is ahead: Figure 2 with claim and counter-claim, and both at every ε, with what favours whom."""

import math
from collections.abc import Collection

import streamlit as st

from objpert_core.experiments import tables
from objpert_core.experiments.indexed import Stored
from objpert_core.experiments.learners import HONEST, LEARNERS, NON_PRIVATE, PUBLISHED, TIGHT, UNPAID_STANDARDISED
from objpert_core.experiments.methods import EVERY
from objpert_core.experiments.summary import Interval
from objpert_core.experiments.tables import WIDE, Claim
from pages.accuracy.figure import Figure2
from pages.accuracy.reading import LABELS, Reading, difference, points, seconds
from ui import page, sentences
from ui.words import accuracy, between, ends, signed, undecided

OURS, RIVAL = "Algorithm 1 with our theorem", "the best DP-SGD whose tuning is not paid for"
CLAIM_NOTE = (
    "Three things favour the rival: its learning rate was chosen by test accuracy, its ε is that of one run, and at "
    "each ε it is the best unpaid method in hindsight. One thing favours our theorem: its rows are centred and "
    "scaled. The lines above also give both sides the same rows, centred and scaled or raw. The page says “more” "
    "or “less accurate” if the 95 % interval of the paired difference excludes 0, “not told apart” if it "
    f"does not, and “too few trials to tell” if it holds 0 and is more than {100 * WIDE:g} points wide. Each ε is "
    "tested by itself: where two learners are equally good, one test in twenty still excludes 0. Times are medians "
    "over the trials: processor time of one thread, including tuning and calibration."
)


class Ahead(Figure2):
    """Ours beside the rival, and beside the rival on standardised rows."""

    def answer(self) -> str:
        """The claim, and the counter-claim about the rival on standardised rows."""
        if self.claim is None:
            return f"{self.at} no runs are stored on {self.stored.label} to compare our theorem with unpaid DP-SGD."
        own = standing(self.claim.difference)
        text = f"{self.at} our theorem is {own} unpaid DP-SGD"
        gap = self.difference(TIGHT, UNPAID_STANDARDISED)
        if gap is None:
            return f"{text} on {self.stored.label}."
        if undecided(gap) and undecided(self.claim.difference):
            return f"{text}, on raw or standardised rows."
        return f"{text}, {standing(gap, short=' points ' in own)} DP-SGD on standardised rows."

    def moved(self, before: Reading | None) -> str:
        """How the lead moved since the reading before; empty at first."""
        if before is None or self.same(before) or before.claim is None or self.claim is None:
            return ""
        old, now = before.claim.difference.mean, self.claim.difference.mean
        change = sentences.shift([("ε", before.epsilon, self.epsilon)])
        if before.stored is not self.stored:
            change = f"{self.stored.label} instead of {before.stored.label}"
        return f"{change}: {sentences.course('the lead of our theorem over unpaid DP-SGD', old, now, signed)} points."


def compared(reading: Reading, methods: Collection[str]) -> tuple[str, ...]:
    """`methods`, and those in question: ours, the rival, and the rival with the same preprocessing."""
    wanted = {*methods, TIGHT, reading.stored.rival(reading.epsilon), UNPAID_STANDARDISED}
    return tuple(method for method in EVERY if method in wanted)


def standing(gap: Interval, *, short: bool = False) -> str:
    """Where the first of two stands: '0.54 points ahead of', '0.54 behind' where `short`, 'not told apart from'."""
    if not gap.known or undecided(gap):
        return "not told apart from"
    size = f"{abs(100 * gap.mean):.2f}" if short else points(gap.mean)
    return f"{size} {'ahead of' if gap.mean > 0 else 'behind'}"


def verdict(reading: Reading) -> str:
    """Tight against the best DP-SGD whose tuning is not paid for, in one long sentence."""
    at, claim = f"{reading.at} on {reading.stored.label}", reading.claim
    if claim is None:
        own = reading.point(TIGHT)
        if own is None:
            return f"{at} no run of {OURS} is stored."
        return f"{at}, {OURS} gets {accuracy(own.accuracy.mean)} right; no unpaid DP-SGD is stored beside it."
    inside, off = between(claim.difference), f"{signed(claim.difference.mean)} points"
    if claim.verdict in ("even", "unclear", "unknown"):
        took = f"the first takes {_time(reading, claim, 'the second’s')}"
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
    return f"{at}, {OURS} is {off} ({inside}), and takes {_time(reading, claim, 'DP-SGD’s')}."


def _time(reading: Reading, claim: Claim, rival: str) -> str:
    """How the times compare, to follow "takes": 'about 1/42 of DP-SGD’s time (0.263 s against 11.2 s, medians)'.

    `rival` is "DP-SGD’s" there.
    """
    own, other = (reading.stored.typical_seconds(method, claim.epsilon) or 0.0 for method in (TIGHT, claim.rival))
    ratio, both = claim.speedup.median, f"({seconds(own)} against {seconds(other)}, medians)"
    if ratio >= 10:
        step = 10 ** (math.floor(math.log10(ratio)) - 1)
        return f"about 1/{step * math.floor(ratio / step):,} of {rival} time {both}"
    if ratio > 1.1:
        return f"{sentences.percent(1 / ratio, 0)} of {rival} time {both}"
    if ratio >= 1 / 1.1:
        return f"about {rival} time {both}"
    return f"{sentences.number(1 / ratio, 2)} times {rival} time {both}"


def counter(reading: Reading) -> str:
    """The counter-claim in full; empty where no DP-SGD on standardised rows is stored."""
    gap, point = reading.difference(TIGHT, UNPAID_STANDARDISED), reading.point(UNPAID_STANDARDISED)
    if gap is None or point is None:
        return ""
    text = f"Unpaid DP-SGD on rows centred and scaled as for our theorem gets {accuracy(point.accuracy.mean)}"
    return f"{text} (our theorem’s lead: {signed(gap.mean)} points{f', {ends(gap)}' if gap.known else ''})."


def reached(reading: Reading) -> str:
    """What tight, its rival, the paid DP-SGD and no privacy reach."""
    own, claim = reading.point(TIGHT), reading.claim
    if own is None:
        return ""
    parts = [f"Algorithm 1 with our theorem gets {accuracy(own.accuracy.mean)} right"]
    if claim and (rival := reading.point(claim.rival)):
        parts.append(
            f"the rival, {LABELS[claim.rival]}, {accuracy(rival.accuracy.mean)}, unpaid because its learning rate was "
            "chosen by test accuracy, which ε does not cover"
        )
    for method, words in ((HONEST, "DP-SGD that pays for its tuning"), (NON_PRIVATE, "no privacy")):
        gap, point = reading.difference(TIGHT, method), reading.point(method)
        if gap and point:
            inside = f", {ends(gap)}" if gap.known else ""
            parts.append(
                f"{words} {accuracy(point.accuracy.mean)} (our theorem’s lead: {signed(gap.mean)} points{inside})"
            )
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
        f"Our theorem against the best unpaid DP-SGD, at the {len(claims)} stored ε: {_tally(claims)}. "
        f"Our theorem takes at most a tenth of the rival’s time (medians) at {tenth or 'none'} of these ε."
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
        claims = tables.claims(stored.results, method, rivals)
        if len(claims) > 1 and claims not in told:  # as it would be where nobody ran what makes the difference
            told.append(claims)
            lines.append(f"{sentences.capital(name)}: our theorem is {_tally(claims)}.")
    return tuple(lines)


def table(stored: Stored) -> list[dict[str, str]]:
    """Tight against the best unpaid DP-SGD at every ε, as rows, with the published and the honest beside."""
    rows = []
    for reading in (Reading(stored, epsilon) for epsilon in stored.epsilons):
        claim = reading.claim
        shown = {LABELS[method]: method for method in (TIGHT, PUBLISHED, HONEST)}
        shown |= {"Best unpaid DP-SGD": claim.rival if claim else ""}
        reached = {column: reading.point(method) for column, method in shown.items()}
        rows.append(
            {
                "ε": sentences.epsilon(reading.epsilon),
                "Ours minus best unpaid, points": difference(claim.difference if claim else None),
                **{column: accuracy(point.accuracy.mean) if point else "–" for column, point in reached.items()},
                "which DP-SGD": f"({LEARNERS[claim.rival].variant})" if claim else "–",
                "Ours minus unpaid on standardised rows": difference(reading.difference(TIGHT, UNPAID_STANDARDISED)),
                "Rival’s time / ours": f"{sentences.number(claim.speedup.median, 2)}×" if claim else "–",
            }
        )
    return rows


def draw(reading: Reading) -> None:
    """Draw the claim here and at every ε."""
    stored = reading.stored
    with st.expander("Which learner is ahead, at every ε", icon=":material/gavel:"):
        st.markdown("\n\n".join(filter(None, (verdict(reading), counter(reading), reached(reading)))))
        st.markdown(everywhere(stored) or "No ε has runs of both methods.")
        st.markdown("\n".join(f"* {line}" for line in variants(stored)))
        if rows := table(stored):
            page.table(rows, alt=everywhere(stored) or None, name="accuracy_claim")
        st.caption(CLAIM_NOTE)
