"""What each method of the training page promises: its name, what its promise covers, how that was accounted."""

from __future__ import annotations

from objpert_core.estimators import PrivacyCertificate
from objpert_core.experiments.compare import Settings
from objpert_core.experiments.learners import COMPARABLE, COVERS_ALL, TIGHT, TIGHT_CENTRED, TIGHT_LOGISTIC, TIGHT_RAW
from ui.words import ACCOUNTANTS

_SHORT = {COMPARABLE[name].label: name for name in reversed(tuple(COMPARABLE))}
LABELS = {name: one.label if _SHORT[one.label] == name else one.full_label for name, one in COMPARABLE.items()}
"""What each learner is called here: with its variant where another one has the label."""
UNCOVERED = {name: one.covers for name, one in COMPARABLE.items() if one.private and one.covers != COVERS_ALL}
_CHOSEN = (TIGHT, TIGHT_RAW, TIGHT_CENTRED, TIGHT_LOGISTIC)  # the bound is chosen among the controls
_BESIDE = " beside the noisy "


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
    released = [name for name, noise in (("centre", "center_noise"), ("scales", "scale_noise")) if _has(privacy, noise)]
    fit = words.partition(_BESIDE)[0]
    return f"{fit}{_BESIDE}{' and '.join(released)}" if released else fit


def _has(privacy: PrivacyCertificate, noise: str) -> bool:
    return getattr(privacy, noise, None) is not None
