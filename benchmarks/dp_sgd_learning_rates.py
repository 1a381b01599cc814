"""Which learning rate DP-SGD wants, on synthetic data only: where the estimator's default and its fine grid come from.

    python -m benchmarks.dp_sgd_learning_rates [adam | sgd | few]

For several shapes, batch sizes and ε every learning rate of a grid is trained with the noise of one run (they share
their batches); what is printed is how many points of test accuracy each loses against the best one, mean and worst.
Takes some minutes. With "few" there are few rows, centred or much alike, and batches of 256 are held against all rows
in every step: where the estimator's rule for fewer than 1000 rows comes from. The rows come from a seeded generator and
are nobody's, so that looking at them costs no privacy.
"""

from __future__ import annotations

import sys

import numpy as np

from objpert_core.datasets import synthetic
from objpert_core.learning.dp_sgd.budget import dpsgd_budget
from objpert_core.learning.dp_sgd.training import Schedule, train_candidates
from objpert_core.learning.dp_sgd.tuning import right_answers
from objpert_core.learning.problem.rows import Rows
from objpert_core.learning.sampling import Streams

RATES = {"adam": np.logspace(-3.5, 0, 15), "sgd": np.logspace(-2, 2.5, 19), "few": np.array([0.03, 0.1, 0.3, 0.5, 1.0])}
SHAPES = (  # rows, columns, decay of their standard deviations, expected batch size
    (1000, 10, 0.0, 256),
    (5000, 10, 1.0, 256),
    (5000, 50, 0.0, 256),
    (20_000, 50, 1.0, 256),
    (20_000, 100, 0.0, 256),
    (20_000, 50, 1.0, 4096),
    (20_000, 100, 0.0, 4096),
)
EPSILONS, DELTA, EPOCHS = (0.1, 1.0, 8.0), 1e-5, 60
TEST_ROWS, SEEDS, FLIPPED, CONSTANT = 4000, 2, 0.036, 0.3


def accuracies(shape: tuple[int, int, float, int], epsilon: float, optimizer: str, shift: float = 0.0) -> np.ndarray:
    """Test accuracy of every learning rate, averaged over noise seeds; a `shift` of all columns makes rows alike."""
    n, columns, decay, batch_size = shape
    X, y = synthetic.draw(n + TEST_ROWS, columns, decay=decay, flipped=FLIPPED, seed=1)
    X = X + shift
    targets = np.where(y == y.max(), 1.0, -1.0)
    rows, test = Rows(X[:n], "normalize", CONSTANT), Rows(X[n:], "normalize", CONSTANT)
    schedule = Schedule.of_epochs(n, batch_size, EPOCHS)
    noise = dpsgd_budget(epsilon, DELTA, schedule, accountant="rdp").noise_multiplier
    right = []
    for seed in range(SEEDS):
        thetas = train_candidates(
            rows,
            targets[:n],
            RATES[optimizer],
            schedule,
            noise_multiplier=noise,
            optimizer="adam" if optimizer == "few" else optimizer,
            streams=Streams(seed),
        )
        right.append(right_answers(test, targets[n:], thetas) / TEST_ROWS)
    return np.mean(right, axis=0)


def main_of_few() -> None:
    """Print the mean accuracy of each learning rate for few rows, by batches and by how much alike rows are."""
    shapes = [(n, columns, decay) for n in (200, 450, 900) for columns, decay in ((10, 0.0), (30, 1.0))]
    print("batches, shift   " + "".join(f"{rate:7.2f}" for rate in RATES["few"]))
    for batch_size, words in ((256, "of 256"), (10**6, "of all")):
        for shift in (0.0, 1.0, 3.0):
            right = [
                accuracies((*shape, batch_size), epsilon, "few", shift) for shape in shapes for epsilon in (1.0, 8.0)
            ]
            print(f"{words}, {shift:g}        " + "".join(f"{100 * one:7.1f}" for one in np.mean(right, axis=0)))


def main(optimizer: str) -> None:
    """Print the points lost, case by case and together."""
    rates, lost = RATES[optimizer], []
    for shape in SHAPES:
        for epsilon in EPSILONS:
            found = accuracies(shape, epsilon, optimizer)
            lost.append(100 * (found.max() - found))
            print(f"{shape}, epsilon {epsilon:g}: best {rates[found.argmax()]:.3g} with {found.max():.2%}", flush=True)
    print("learning rate   mean points lost   worst")
    for rate, mean, worst in zip(rates, np.mean(lost, axis=0), np.max(lost, axis=0), strict=True):
        print(f"{rate:13.4g}   {mean:16.2f}   {worst:5.2f}")


if __name__ == "__main__":
    asked = sys.argv[1] if len(sys.argv) > 1 else "adam"
    main_of_few() if asked == "few" else main(asked)
