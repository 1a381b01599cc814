"""Made-up files of results for the accuracy page's tests; never part of `data/results`."""

import json
import math
from dataclasses import replace

import numpy as np

from objpert_core.experiments import indexed, results
from objpert_core.experiments.figure2 import EPSILONS, Piece, noise_seed
from objpert_core.experiments.methods import METHODS, Parameters
from pages.accuracy.again import Point

CEILING = {"adult": 0.85, "adult-synthetic": 0.855, "synthetic-l": 0.955, "breast-cancer": 0.96}
# Points below the ceiling at ε = 1 and seconds of a fit; below, what is lost grows as ε falls
BEHIND = {"non-private": (0.0, 1.2), "dpsgd-dishonest-rdp": (1.5, 9.0), "dpsgd-dishonest-pld": (1.3, 9.5)}
BEHIND |= {"dpsgd-dishonest-large": (1.0, 12.0), "dpsgd-honest": (2.6, 14.0), "published": (1.6, 0.2)}
BEHIND |= {"tight": (1.0, 0.25), "output": (4.0, 0.2), "kifer2012": (3.0, 0.2)}
BEHIND |= {"tight-dishonest": (0.9, 2.5), "tight-no-margin": (1.2, 0.25)}
BEHIND |= {"dpsgd-again": (1.6, 10.0), "dpsgd-margin": (0.8, 13.0)}
BEHIND |= {"dpsgd-standardised": (0.7, 13.0), "dpsgd-standardised-honest": (2.0, 15.0)}
BEHIND |= {"tight-raw": (1.1, 0.25), "tight-centred": (1.05, 0.25)}


def behind(method):
    """Points and seconds; of a learner that has joined since, any."""
    return BEHIND.get(method, (2.0, 1.0))


def lost(method, epsilon):
    """Points of accuracy below the ceiling: tight is ahead at small ε, level at 1 and behind at large ε."""
    if method == "non-private":
        return 0.0
    tilt = 0.05 if method == "tight" else 0.0
    return behind(method)[0] * epsilon ** (-0.6 + tilt) + (0.15 * math.log(epsilon) if method == "tight" else 0.0)


def runs(dataset, *, methods=tuple(METHODS), epsilons=EPSILONS, trials=5, change=None):
    """Every run of a sweep, with small differences between trials; `change(run)` may replace one."""
    made = []
    for trial in range(trials):
        for method in methods:
            for epsilon in (math.inf,) if method == "non-private" else epsilons:
                private = method != "non-private"
                noise = np.random.default_rng([trial, len(method), int(1000 * min(epsilon, 99))]).normal(0, 0.06)
                share = CEILING[dataset] - (lost(method, epsilon) + noise - 0.1 * trial) / 100
                seconds = behind(method)[1] * (1 + 0.02 * trial)
                delta, seed, sigma = None, None, None
                if private:
                    delta, seed, sigma = 1e-5, noise_seed(dataset, method, epsilon, trial), 4.0 / epsilon
                run = results.Run(
                    dataset, method, epsilon, delta, trial, trial, seed, float(share), seconds, sigma=sigma
                )
                center = 9.0 if method in ("tight", "tight-centred") else None
                made.append(replace(run, center_noise=center, scale_noise=9.0 if method == "tight" else None))
    return [change(run) for run in made] if change else made


def write(folder, dataset, *, key=None, note=None, **choices):
    """A file of results in `folder` with the runs of `runs`; returns its path. (`results.Store` syncs every row.)"""
    session = {
        "command": f"python -m objpert_core.experiments figure2 --dataset {dataset}",
        "commit": "abc1234+",
        "versions": "python 3.11.7, numpy 2.4.6",
        "machine": "a test, 2 cores",
        "started": "2026-11-21 12:00 UTC",
    }
    session |= {"note": note} if note else {}
    lines = [
        f"# dataset: {dataset}",
        "# version: 0.1.0",
        f"# configuration: {json.dumps(Parameters().as_configuration())}",
        ",".join(results.COLUMNS),
        f"# session: {json.dumps(session)}",
        *(",".join(run.as_row()) for run in runs(dataset, **choices)),
    ]
    path = folder / f"figure2_{key or dataset}.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def made(dataset="adult", **choices):
    """A file of made-up runs without the file."""
    return indexed.indexed(dataset, results.Results(dataset, "0.1.0", {}, (), tuple(runs(dataset, **choices))))


def moved(by, trials=4):
    """Adult's runs with tight at every ε what the best unpaid DP-SGD reaches plus `by[trial]` points."""
    rivals = runs("adult", trials=trials, methods=("dpsgd-dishonest-large",))
    best = {(run.epsilon, run.trial): run.accuracy for run in rivals}

    def change(run):
        if run.method != "tight":
            return run
        return replace(run, accuracy=best[run.epsilon, run.trial] + by[run.trial] / 100)

    return made(trials=trials, change=change)


def point_of(stored, trial=0):
    """A point of tight at ε = 1."""
    return Point(stored, Piece(stored.dataset, "tight", 1.0, trial, Parameters()))
