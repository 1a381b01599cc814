"""What each method of the training page promises: its name, what its promise covers, how that was accounted."""

from __future__ import annotations

from objpert_core.estimators import PrivacyCertificate
from objpert_core.experiments.compare import Settings
from objpert_core.experiments.learners import COMPARABLE, COVERS_ALL, TIGHT, TIGHT_CENTRED, TIGHT_LOGISTIC, TIGHT_RAW
from ui.words import ACCOUNTANTS, accounted

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
