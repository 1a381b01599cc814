"""What a fit will do, spend and release, decided by settings and public numbers alone: a value that runs itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, NamedTuple

import scipy.sparse as sp

from objpert_core._validation import FloatArray
from objpert_core.accounting import Mechanism, Standardisation
from objpert_core.accounting.numerics.rounding import promised
from objpert_core.accounting.steps.base import Step
from objpert_core.accounting.steps.standardisation import AS_THEY_ARE
from objpert_core.accounting.terms import Terms
from objpert_core.estimators.cautions import Caution
from objpert_core.learning.certificates.shown import adjacency_words, neighbours_in_words
from objpert_core.learning.fit import Seed
from objpert_core.learning.problem.losses import Loss
from objpert_core.learning.release import Refused, Release
from objpert_core.learning.solvers import Callback


class Public(NamedTuple):
    """What is public about data: how many rows and columns, whether they are sparse, and how many classes there are.

    `judged` says whether public rows judge models; see `Data`.
    """

    rows: int
    columns: int
    sparse: bool = False
    classes: int = 2
    judged: bool = False

    @property
    def fits(self) -> int:
        """How many fits one model takes: one for each class where there are more than two."""
        return self.classes if self.classes > 2 else 1

    @classmethod
    def of(cls, data: Data) -> Public:
        """What is public about data that are there."""
        classes = len(data.targets) if data.targets.ndim == 2 else 2
        sparse = bool(getattr(data.X, "sparse", sp.issparse(data.X)))
        rows, columns = data.X.shape
        return cls(rows, columns, sparse, classes, data.judges is not None)


class Data(NamedTuple):
    """What a fit learns from: validated rows, in memory or walked, and what stands beside them.

    `judges` are public rows and labels that choose among models, as they were given.
    """

    X: Any
    targets: FloatArray
    weights: FloatArray | None = None
    judges: Any = None


class Learned(NamedTuple):
    """One outcome of a recipe, and what else the fitted model has, by its attribute's name."""

    release: Release[Any] | Refused[Any]
    also: Mapping[str, Any] = {}


Learner = Callable[[Data, Sequence[Seed], Callback | None], Iterable[Learned]]
"""Fits data once for each random state; fits that differ by their noise alone may share work."""


@dataclass(frozen=True)
class Objective:
    """What is minimised, but for the noise.

    `lam` is the least λ, and privacy may need more; `clip` is C, `radius` M and `envelope` β, as in `Problem`.
    """

    loss: Loss
    lam: float = 0.0
    clip: float | None = None
    radius: float | None = None
    envelope: float | None = None

    def __str__(self) -> str:
        parameter = "" if self.loss.parameter is None else f" of parameter {self.loss.parameter:.6g}"
        named = ("gradients clipped to", self.clip), ("in the ball of radius", self.radius), ("envelope", self.envelope)
        told = [f"{words} {value:.6g}" for words, value in named if value is not None]
        return ", ".join([f"{self.loss.name} loss{parameter}", f"λ at least {self.lam:.6g}", *told])


@dataclass(frozen=True)
class Recipe:
    """What a fit will do, spend and release; `print` says it in words.

    Attributes
    ----------
    algorithm : str
        How the model is found, in a few words.
    terms : Terms
        The promise, and the steps that it pays for beside the fit.
    mechanism : Mechanism
        Calibrated, of one fit.
    public : Public
        The data's public numbers.
    run : Learner
        How the fit is made.
    objective : Objective or None
        What is minimised, where a solver minimises anything.
    row_norm : str
        How rows are brought to norm 1.
    declared : str
        What is done to columns by what is declared of them, in words.
    reads_rows : bool
        Whether a rule goes by the number of rows.
    released : tuple of str
        What the promise covers besides coefficients and intercept.
    cautions : tuple of Caution
        What public numbers say about the fit, and the promise does not.
    """

    algorithm: str
    terms: Terms
    mechanism: Mechanism
    public: Public
    run: Learner = field(compare=False, repr=False)
    objective: Objective | None = None
    row_norm: str = "normalize"
    declared: str = ""
    reads_rows: bool = False
    released: tuple[str, ...] = ()
    cautions: tuple[Caution, ...] = ()

    def learn(self, data: Data, random_states: Sequence[Seed], callback: Callback | None = None) -> Sequence[Learned]:
        """Fit, once for each random state."""
        return list(self.run(data, random_states, callback))

    @property
    def standardisation(self) -> Standardisation:
        """How rows are centred and scaled privately."""
        return self.terms.step(Standardisation) or AS_THEY_ARE

    @property
    def epsilon(self) -> float:
        """What the steps leave of ε for one fit."""
        return self.terms.left

    @property
    def lam(self) -> float:
        """The least λ by settings and rules; privacy may need more."""
        return 0.0 if self.objective is None else self.objective.lam

    @property
    def margin(self) -> float:
        """The loss's parameter: of the logistic loss its margin; 0.0 where it has none."""
        return 0.0 if self.objective is None else self.objective.loss.parameter or 0.0

    def statement(self) -> list[dict[str, str]]:
        """What the fit will do, spend and release: rows of a table, by public numbers."""
        terms, public = self.terms, self.public
        declared = None if terms.public_rows is None else terms.rows_declared
        whom = adjacency_words(terms.adjacency, terms.public_rows, declared, terms.rows_per_person)
        known = "a number that was declared" if terms.rows_declared else "read off the data, and treated as public"
        counted = "no rule goes by it" if terms.public_rows is None else f"{terms.public_rows}, {known}"
        promise = f"({promised(terms.epsilon or 0.0)}, {promised(terms.delta)})-differential privacy"
        left = f"; ε = {self.epsilon:.4g} is left for one fit" if terms.steps else ""
        fits = f", {public.fits} fits, each of one class against the others" if public.fits > 1 else ""
        norms = "brought to norm 1" if self.row_norm == "normalize" else "shortened to norm 1 where they are longer"
        lines = [
            ("promise", f"{promise}, {neighbours_in_words(whom)}"),
            ("number of rows", counted),
            ("rows", f"{public.columns} columns, {', '.join(filter(None, (self.declared, norms)))}"),
            *((f"{'after' if one.after else 'before'} the fit", _in_words(one)) for one in terms.steps),
            ("fit", f"{self.algorithm}{fits}{left}"),
            *([] if self.objective is None else [("minimises", str(self.objective))]),
            ("noise", _numbers(self.mechanism)),
            ("releases", ", ".join(("coefficients", "intercept", *self.released))),
            *(("caution", caution.message) for caution in self.cautions),
        ]
        return [{"what": name, "in words": text} for name, text in lines]

    def __str__(self) -> str:
        return "\n".join(f"{row['what']:<14} {row['in words']}" for row in self.statement())


def _in_words(step: Step) -> str:
    told = _told(step) if type(step).__str__ is object.__str__ else str(step)
    return f"{step.name.replace('_', ' ')}: {told}"


def _numbers(mechanism: Mechanism) -> str:
    told = _told(mechanism) if is_dataclass(mechanism) else ""
    return f"{type(mechanism).__name__}: {told}" if told else type(mechanism).__name__


def _told(numbers: Any) -> str:
    """The numbers of a dataclass and of its parts, with their names."""
    values = {item.name: getattr(numbers, item.name) for item in fields(numbers)}
    parts = [_told(value) for value in values.values() if is_dataclass(value)]
    own = [f"{name} {value:.6g}" for name, value in values.items() if isinstance(value, (int, float))]
    return ", ".join(part for part in (*parts, *own) if part)
