"""The claim, ours beside DP-SGD whose tuning is not paid for: tables and sentences from the stored sweeps."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from benchmarks.shared import markdown
from objpert_core.experiments import results, tables
from objpert_core.experiments.learners import (
    HONEST,
    TIGHT,
    TIGHT_DISHONEST,
    UNPAID,
    UNPAID_STANDARDISED,
)
from objpert_core.experiments.methods import Parameters

TARGETS = (0.1, 1.0, 8.0)
MANY_ROWS, WIDE, SMALL = (
    ("adult", "adult-synthetic", "synthetic-l"),
    ("gisette-like", "synthetic-h"),
    ("breast-cancer", "digits-4-9"),
)
FOURTH = (UNPAID_STANDARDISED,)
"""The rival on rows that were centred and scaled as ours are, alone."""
_VERDICTS = ("ahead", "even", "behind")
_TRIALS = 10  # of a sweep that is complete
GOALS = {"adult-synthetic": (0.840, 0.852, 0.857), "adult": (0.833, 0.843, 0.849)}
"""Mean accuracies at `TARGETS` that were set as a goal before they were measured."""


def claim() -> str:
    many, wide, small = ([c for name in names for c in _claims(name)] for names in (MANY_ROWS, WIDE, SMALL))
    head, *_ = tables.VARIANTS
    both = [claim for name in (*MANY_ROWS, *WIDE, *SMALL) for claim in tables.variant(results.load(name), head)]
    fourth = [c for n in (*MANY_ROWS, *WIDE, *SMALL) for c in tables.claims(results.load(n), TIGHT, FOURTH)]
    paid = [claim for name in MANY_ROWS for claim in tables.claims(results.load(name), TIGHT, (HONEST,))]
    gains = [100 * claim.difference.mean for claim in paid]
    ratios = [claim.speedup.median for claim in wide]
    lucky = [c for name in results.stored() for c in tables.claims(results.load(name), TIGHT_DISHONEST)]
    draws, rates = len(Parameters().learning_rates), len(Parameters().fine_learning_rates)
    return f"""## Does the claim hold?

The claim: Algorithm 1 with our theorem is never less accurate than DP-SGD whose tuning is not paid for, and takes a
tenth of the time. The rival is the best of the three unpaid DP-SGDs at each ε, on the rows that every method gets. In
the last column, DP-SGD with our centre and scales is a fourth rival. Differences are paired by split.

{verdict()}

The last column counts "more accurate / not told apart / less accurate". An interval too wide to tell counts as "not
told apart".

* **Many rows for each column** ({", ".join(MANY_ROWS)}): {_holds(many)} Ours takes a
  tenth of the time or less at {_quick(many)}.
* **Wide sets** ({", ".join(WIDE)}; 5,001 coefficients and fewer rows): {_holds(wide)} Ours takes
  1/{max(ratios):.2g} to 1/{min(ratios):.2g} of the time.
* **A few hundred rows** ({", ".join(SMALL)}): {_holds(small)}
* **Beside the best of four DP-SGDs, one of which has our centre and scales**: {_holds(both)} Like ours, the fourth
  DP-SGD learns on the mapped rows, with the ε that is left. Its learning rate is still chosen by test accuracy and not
  paid for. Against the fourth DP-SGD alone, as the README counts, ours is more accurate at {_count(fourth, "ahead")}
  and less accurate at {_count(fourth, "behind")}.
* **Against DP-SGD that pays for its tuning**, ours is more accurate at {_count(paid, "ahead")} of {len(paid)} targets
  on the three sets with many rows for each column, by {min(gains):.1f} to {max(gains):.1f} points.

{_goals()}

### What the difference is made of

{_parts()}

* Centre and scales. On raw rows, ours is behind at most targets of the wide and the small sets.
* The margin. Without it ours is behind at the smallest ε. DP-SGD gains from it, too.
* Luck. A choice by test accuracy among the {rates} learning rates of `dpsgd-dishonest-large` is a choice among {rates}
  noises, and on few test rows
  such a choice is worth much. `tight-dishonest` has {draws} draws, as many as `dpsgd-dishonest-pld` has rates: with the
  luckiest of these ours is more accurate at {_count(lucky, "ahead")} of
  {len(lucky)} targets and less accurate at {_count(lucky, "behind")}."""


def fight() -> str:
    """The claim on every data set in brief: accuracies at three ε, and how often who is ahead at nine."""
    targets = " / ".join(f"{target:g}" for target in TARGETS)
    heads = ["data set", f"ours, % at ε = {targets}", "the best unpaid DP-SGD", "the same, standardised as ours"]
    heads += [
        "ours more accurate / not told apart / less accurate",
        "the same against the standardised rival",
        "the rival's time ÷ ours",
    ]
    rows = []
    for dataset in (*MANY_ROWS, *WIDE, *SMALL):
        stored = results.load(dataset)
        points = {(point.method, point.epsilon): point.accuracy.mean for point in tables.summary(stored)}
        shares = [
            [max(points.get((method, target), math.nan) for method in methods) for target in TARGETS]
            for methods in ((TIGHT,), UNPAID, FOURTH)
        ]
        found = _claims(dataset)
        ratios = [claim.speedup.median for claim in found]
        rows.append(
            [
                dataset,
                *(" / ".join("–" if math.isnan(share) else f"{100 * share:.1f}" for share in own) for own in shares),
                _counts(found),
                _counts(tables.claims(stored, TIGHT, FOURTH)),
                f"{min(ratios):.2g} to {max(ratios):.2g}",
            ]
        )
    return markdown(heads, rows)


def verdict() -> str:
    """The claim on every data set, and the same with a rival that is standardised, too."""
    heads = ["data set", "trials", "ours more accurate", "not told apart", "less accurate", "the rival's time ÷ ours"]
    head, *_ = tables.VARIANTS
    rows = []
    for dataset in results.stored():
        if not (found := _claims(dataset)):
            continue
        ratios = [claim.speedup.median for claim in found]
        cells = [dataset, str(_least_trials(found)), *(_at(found, verdict) for verdict in _VERDICTS)]
        cells.append(f"{min(ratios):.2g} to {max(ratios):.2g}")
        rows.append([*cells, _counts(tables.variant(results.load(dataset), head))])
    return markdown([*heads, "the best of four, one standardised as ours"], rows)


def _parts() -> str:
    """What the claim's differences are made of, on every data set."""
    _, *variants = tables.VARIANTS
    rows = []
    for dataset in results.stored():
        stored = results.load(dataset)
        rows.append([dataset, *(_counts(tables.variant(stored, words)) for words in variants)])
    return markdown(["data set", *variants], rows)


def _counts(found: Sequence[tables.Claim]) -> str:
    """More accurate / not told apart / less accurate, with the trials where they are few."""
    if not found:
        return "–"
    trials = _least_trials(found)
    few = "" if trials == _TRIALS else f" ({trials} trials)"
    return " / ".join(str(_count(found, verdict)) for verdict in _VERDICTS) + few


def _least_trials(found: Sequence[tables.Claim]) -> int:
    return min(claim.difference.count for claim in found)


def _is(claim: tables.Claim, verdict: str) -> bool:
    return verdict == {"unclear": "even"}.get(claim.verdict, claim.verdict)  # here a wide interval counts as any other


def _count(found: Sequence[tables.Claim], verdict: str) -> int:
    return sum(_is(claim, verdict) for claim in found)


def _at(found: Sequence[tables.Claim], verdict: str) -> str:
    targets = ", ".join(f"{claim.epsilon:g}" for claim in found if claim.verdict == verdict)
    return f"{_count(found, verdict)} of {len(found)}" + (f" (ε = {targets})" if verdict != "even" and targets else "")


def _goals() -> str:
    """What was set as a goal, and whether it is met."""
    every = {name: _claims(name) for name in (*MANY_ROWS, *WIDE, *SMALL)}

    def behind(least: float) -> dict[str, list[str]]:
        found = {
            name: [f"{claim.epsilon:g}" for claim in claims if claim.epsilon >= least and claim.verdict == "behind"]
            for name, claims in every.items()
        }
        return {name: targets for name, targets in found.items() if targets}

    most, all_sets = behind(0.1), behind(0.5)
    quick = [claim.tenfold for name in (*MANY_ROWS, *SMALL) for claim in every[name]]
    rows = []
    for dataset, goals in GOALS.items():
        points = {(point.method, point.epsilon): point.accuracy for point in tables.summary(results.load(dataset))}
        cells = []
        for target, goal in zip(TARGETS, goals, strict=True):
            reached = points[(TIGHT, target)]
            cells.append(f"{tables.accuracy_text(reached)} ({_met(reached.mean >= goal)}: {100 * goal:.1f})")
        rows.append([dataset, *cells])
    return f"""We set the goals before these runs. Never less accurate at ε ≥ 0.1 on six sets of seven:
{_met(len(most) <= 1)} {_where(most)}. Never less accurate at ε ≥ 0.5 on all:
{_met(not all_sets)} {_where(all_sets)}. At most a tenth of the rival's time where there are more rows than columns:
{_met(all(quick))} ({"" if all(quick) else "met at "}{sum(quick)} of {len(quick)} targets). The
goals for mean accuracies:

{markdown(["", *(f"ε = {epsilon:g}" for epsilon in TARGETS)], rows)}"""


def _met(reached: bool) -> str:
    return "met" if reached else "not met"


def _where(behind: Mapping[str, Sequence[str]]) -> str:
    told = "; ".join(f"{name} at ε = {', '.join(targets)}" for name, targets in behind.items())
    return f"(less accurate: {told or 'nowhere'})"


def _claims(dataset: str) -> tuple[tables.Claim, ...]:
    return tables.claims(results.load(dataset), rivals=UNPAID)


def _quick(found: Sequence[tables.Claim]) -> str:
    return f"{sum(claim.tenfold for claim in found)} of {len(found)} targets"


def _holds(found: Sequence[tables.Claim]) -> str:
    more, less = _count(found, "ahead"), _count(found, "behind")
    word = "no." if less else "in accuracy yes, as far as the trials can tell."
    return f"{word} Ours is more accurate at {more} of {len(found)} targets and less accurate at {less}."
