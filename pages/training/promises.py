"""What each method of the training page promises: its name, what its promise covers, how that was accounted."""

from __future__ import annotations

from objpert_core.experiments.compare import Settings
from objpert_core.experiments.learners import COVERS_ALL, LIVE, TIGHT
from ui.words import ACCOUNTANTS

LABELS = {name: learner.label for name, learner in LIVE.items()}
UNCOVERED = {name: learner.covers for name, learner in LIVE.items() if learner.private and learner.covers != COVERS_ALL}


def accountant(settings: Settings, method: str) -> str:
    """How a private method's (ε, δ) was accounted; "tight" by the bound that was chosen."""
    return ACCOUNTANTS[settings.bound] if method == TIGHT else LIVE[method].accountant
