"""How good a model is, as it may be published: scores with intervals from one noisy release of counts."""

from objpert_core.evaluation.classes import ManyClasses, TwoClasses
from objpert_core.evaluation.estimates import Estimate
from objpert_core.evaluation.evaluate import evaluate, together
from objpert_core.evaluation.evaluation import Evaluation
from objpert_core.evaluation.numbers import Numbers
from objpert_core.evaluation.split import split_by_coin

__all__ = [
    "Estimate",
    "Evaluation",
    "ManyClasses",
    "Numbers",
    "TwoClasses",
    "evaluate",
    "split_by_coin",
    "together",
]
