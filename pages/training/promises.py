"""What each method of the training page promises, in words: its name in a sentence, its accountant, what is covered."""

from __future__ import annotations

from objpert_core.experiments.compare import Comparison
from objpert_core.experiments.learners import COVERS_ALL, DISHONEST_PLD, LIVE, PUBLISHED, TIGHT
from ui import sentences
from ui.words import ACCOUNTANTS, given

LABELS = {name: learner.label for name, learner in LIVE.items()}
UNCOVERED = {name: learner.covers for name, learner in LIVE.items() if learner.private and learner.covers != COVERS_ALL}
BY = {name: learner.accountant for name, learner in LIVE.items() if learner.private}
"""How each method's (ε, δ) was accounted; "tight" by the bound that was chosen."""


def called(method: str) -> str:
    """A method inside a sentence: 'tight', 'output perturbation', 'DP-SGD whose tuning is paid for'."""
    if method == TIGHT:
        return "tight"
    title = LIVE[method].title
    return title[0].lower() + title[1:] if title[1].islower() and method != PUBLISHED else title


def guarantees(comparison: Comparison) -> list[str]:
    """The full guarantee of the main method, and how the others came to theirs."""
    settings, main = comparison.settings, given(comparison.settings.main)
    by = BY | {TIGHT: ACCOUNTANTS[settings.bound]}
    whole = sentences.guarantee(settings.epsilon, settings.delta, by[main])
    fitted = [method for method in settings.private if comparison.of(method) and method != main]
    if fitted in ([PUBLISHED], []) and main == TIGHT:
        rest = " The published one has the same ε and δ through its Rényi curve."
        rest = rest if fitted or PUBLISHED in settings.methods else ""
        return [f"Guarantee of each private model: {whole}{rest}{_public(comparison, main, *fitted)}"]
    lines = [f"Guarantee of {LABELS[main]}: {whole}"]
    if fitted:
        others = "; ".join(f"{LABELS[method]} by {by[method]}" for method in fitted)
        lines.append(f"The same ε and δ, accounted otherwise: {others}.")
    lines[-1] += _public(comparison, main, *fitted)
    if DISHONEST_PLD in (*fitted, main):
        lines.append(
            "DP-SGD unpaid looked at held-out rows to choose its learning rate and spent nothing on that: its "
            "certificate covers one run, not what was released."
        )
    return lines


def _public(comparison: Comparison, *methods: str) -> str:
    """Which certificates take the number of rows as public, to follow a sentence."""
    privacy = {method: comparison.of(method)[0].privacy for method in methods if comparison.of(method)}
    names = [LABELS[method] for method, one in privacy.items() if getattr(one, "public_rows", None) is not None]
    return f" The number of rows is taken as public by: {', '.join(names)}." if names else ""
