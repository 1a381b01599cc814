"""Why ε of a fit moved, or why it did not: one sentence from two settings.

Our theorem has two terms: the Gaussian one, which σ and L decide, and the curvature's, which λ decides. Where the
bound equals the Gaussian lower bound, only the first one counts.
"""

from collections.abc import Mapping

from ui import bounds as proofs
from ui import sentences
from ui.controls import previous

NAMES: Mapping[str, str] = {"sigma": "σ", "lam": "λ", "smoothness": "β", "lipschitz": "L"}
"""What the fields of a `Setting` are called."""

_BETA = "our theorem uses the logistic loss’s own β; only the other theorems use this slider"
_MORE = {
    "σ": "a wider tilt hides one person’s gradient better",
    "λ": "with more regularisation, one person’s curvature shows less",
    "L": "one person’s gradient may be larger, but the tilt is the same",
}
_LESS = {
    "σ": "a narrower tilt hides one person’s gradient less",
    "λ": "with less regularisation, one person’s curvature shows more",
    "L": "one person’s gradient is smaller, and the tilt is the same",
}


def moved(before: proofs.Setting | None, now: proofs.Setting, delta: float, *, names: Mapping[str, str] = NAMES) -> str:
    """What was changed since `before`, what it did to our theorem's ε at `delta`, and which term decided it.

    Empty where nothing was changed. `names` is what the fields are called that may have been.

    >>> moved(proofs.Setting(2.5, 1, 0.25, 1), proofs.Setting(2.5, 10, 0.25, 1), 1e-5)
    'λ 1 → 10: ε stays at 1.56; the noise alone decides here, not λ.'
    """
    changes = [] if before is None else sentences.changed(before, now, names)
    if before is None or not changes:
        return ""
    told, tells = (proofs.epsilon_at("logistic", setting, delta) for setting in (before, now))
    course = sentences.course("ε", told, tells)
    gaussian = tells <= proofs.epsilon_at("lower", now, delta) * (1 + sentences.EXACT)
    reason = "the noise alone, L/σ, decides" if gaussian else "the curvature counts as well, so λ matters"
    (name, *_), *more = changes
    if name == "β" and not more:
        reason = _BETA
    elif sentences.epsilon(told) == sentences.epsilon(tells) and not more:
        reason = _unmoved(name, tells, gaussian=gaussian)
    elif name in _MORE and not more:
        field = next(field for field, called in names.items() if called == name)
        reason = (_MORE if getattr(now, field) > getattr(before, field) else _LESS)[name]
    return f"{sentences.shift(changes)}: {course}; {reason}."


def _unmoved(name: str, epsilon: float, *, gaussian: bool) -> str:
    """Why a change of σ, λ or L does not show in ε. Of these, only λ may have no effect at all."""
    if epsilon <= 0:
        return "the slack δ alone covers the release"
    if name != "λ":
        return "a change this small does not show"
    return "the noise alone decides here, not λ" if gaussian else "λ hardly matters here"


def reread(setting: proofs.Setting, before: float, now: float) -> str:
    """What reading our theorem's ε at another δ does: the proof is the same.

    >>> reread(proofs.Setting(2.5, 1, 0.25, 1), 1e-5, 1e-3)
    'δ 10⁻⁵ → 0.001: ε falls from 1.56 to 1.04; the proof is the same, read with more slack.'
    """
    told, tells = (proofs.epsilon_at("logistic", setting, delta) for delta in (before, now))
    course = sentences.course("ε", told, tells)
    slack = "more" if now > before else "less"
    change = f"δ {sentences.delta(before)} → {sentences.delta(now)}"
    return f"{change}: {course}; the proof is the same, read with {slack} slack."


def reread_or(page: str, setting: proofs.Setting, delta: float, moved: str) -> str:
    """What reading ε at another δ did, where nothing else was changed in this session; else `moved`."""
    then = previous(f"{page}_read", (setting, delta))
    return reread(setting, then[1], delta) if then and then[0] == setting else moved
