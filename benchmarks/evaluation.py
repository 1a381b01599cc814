"""How often the intervals of an evaluation cover the truth, by simulation: nominal 95 %.

    python -m benchmarks.evaluation                     # the whole grid: about two minutes
    python -m benchmarks.evaluation --repetitions 2000

Scores are log-odds of two normal classes with the same variance, so that the model is right and its AUC is known.
Where noise and few rows leave an interval wider than 0.7, it covers more often: such rows are marked.
"""

from __future__ import annotations

import argparse
import itertools
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

from objpert_core.accounting import calibrate_gaussian
from objpert_core.evaluation.classes import BINS, THRESHOLDS
from objpert_core.evaluation.estimates import area, mean_of, part, proportion, variance_of_rounded
from objpert_core.tables import to_text

SHARES, AREAS, ROWS, EPSILONS = (0.5, 0.02), (0.6, 0.75, 0.9, 0.98), (200, 2000, 20_000, 100_000), (0.1, 0.5, 1.0, 4.0)
WIDE = 0.7


class Coverage(NamedTuple):
    """How many of the intervals cover the truth, and their mean width."""

    covered: float
    width: float


def coverage(
    share: float, auc: float, rows: int, epsilon: float, *, repetitions: int = 400, delta: float = 1e-5
) -> dict[str, Coverage]:
    """The coverage of each score's interval at one place of the grid."""
    by_class = _chances(share, auc)
    sigma = calibrate_gaussian(epsilon, delta).sigma
    noise = variance_of_rounded(sigma)
    rng = np.random.default_rng(0)
    cells = np.concatenate([(1 - share) * by_class[0], share * by_class[1]])
    drawn = rng.multinomial(rows, cells, size=repetitions) + np.rint(rng.normal(0, sigma, (repetitions, 2 * BINS)))
    half = BINS // 2
    recall, specificity = by_class[1][half:].sum(), by_class[0][:half].sum()
    truth = {
        "accuracy": (1 - share) * specificity + share * recall,
        "recall": recall,
        "balanced accuracy": (recall + specificity) / 2,
        "AUC": auc,
    }
    found: dict[str, list[tuple[bool, float]]] = {name: [] for name in truth}
    for counts in drawn:
        negatives, positives = counts.reshape(2, BINS)
        tn, fp, fn, tp = (part(own) for one in (negatives, positives) for own in (one[:half], one[half:]))
        both = [proportion(tp, fn, noise, 0.95), proportion(tn, fp, noise, 0.95)]
        estimates = {
            "accuracy": proportion(tn + tp, fp + fn, noise, 0.95),
            "recall": both[0],
            "balanced accuracy": mean_of(both),
            "AUC": area(negatives, positives, noise, 0.95),
        }
        for name, one in estimates.items():
            found[name].append((one.low <= truth[name] <= one.high, one.high - one.low))
    return {name: Coverage(*np.mean(values, axis=0).tolist()) for name, values in found.items()}


def _chances(share: float, auc: float) -> list[np.ndarray]:
    """The bins' probabilities in the first class and in the second: normal log-odds with gap = variance."""
    gap = 2 * ndtri(auc) ** 2
    middle, spread = np.log(share / (1 - share)), np.sqrt(gap)
    ends = np.log(THRESHOLDS / (1 - THRESHOLDS))
    means = (middle - gap / 2, middle + gap / 2)
    return [np.diff(np.concatenate([[0.0], ndtr((ends - mean) / spread), [1.0]])) for mean in means]


def main() -> None:
    """Print the grid."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=400)
    repetitions = parser.parse_args().repetitions
    lines = []
    for share, auc, rows, epsilon in itertools.product(SHARES, AREAS, ROWS, EPSILONS):
        found = coverage(share, auc, rows, epsilon, repetitions=repetitions)
        place = {"positives": f"{share:g}", "AUC": f"{auc:g}", "rows": f"{rows}", "ε": f"{epsilon:g}"}
        shown = {
            f"{name}: covered": f"{one.covered:.3f}{'*' if one.width > WIDE else ''}" for name, one in found.items()
        }
        lines.append(place | shown | {"width of AUC": f"{found['AUC'].width:.4f}"})
    print(to_text(lines), end="")
    print(f"standard error {np.sqrt(0.95 * 0.05 / repetitions):.4f}; *: mean width above {WIDE:g}")


if __name__ == "__main__":
    main()
