"""What the page "Tilt or bend?" shows: drawn bowls and eigenvalues, profiles, true δ, stored results; no Streamlit."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd
from scipy.optimize import brentq

from objpert_core._validation import FloatArray
from objpert_core.accounting import (
    QuadraticPerturbation,
    TiltAndBend,
    calibrate_gaussian,
    calibrate_quadratic_perturbation,
    calibrate_tilt_and_bend,
)
from objpert_core.exceptions import DataUnavailableError
from objpert_core.experiments.quadratic import stored
from objpert_core.experiments.quadratic.disagreement import Disagreement, tilted_delta
from objpert_core.experiments.quadratic.plane import KINDS, Bowl, Plane
from objpert_core.experiments.quadratic.spectrum import Spectrum
from objpert_core.experiments.results import Results

PROOFS: Mapping[str, str] = {"published": "Published", "sharpened": "Sharpened", "exact": "Exact"}
POINTS = 121
BEST = 0.0
"""Of m over d: whatever makes m/s least."""


# --- a tilt and a bend ------------------------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def bowls(plane: Plane) -> dict[str, Bowl]:
    """The objective, tilted and bent."""
    return plane.bowls()


@lru_cache(maxsize=64)
def others(plane: Plane) -> dict[str, FloatArray]:
    """The minima of further draws."""
    return plane.others()


@dataclass(frozen=True)
class Moved:
    """What one perturbation did.

    Attributes
    ----------
    kind : str
        A key of `plane.KINDS`.
    minimum : tuple of float
    distance : float
        From the minimum of the objective itself.
    excess : float
        J above its least.
    typical : float
        Median distance over further draws; 0 without a perturbation.
    """

    kind: str
    minimum: tuple[float, float]
    distance: float
    excess: float
    typical: float


def moved(plane: Plane) -> dict[str, Moved]:
    """What every perturbation did, by its kind."""
    found, cloud = bowls(plane), others(plane)
    best = found["plain"].minimum
    result = {}
    for kind in KINDS:
        minimum = found[kind].minimum
        typical = float(np.median(np.linalg.norm(cloud[kind] - best, axis=1))) if kind in cloud else 0.0
        distance = float(np.linalg.norm(minimum - best))
        excess = plane.excess(minimum) if kind != "plain" else 0.0
        result[kind] = Moved(kind, (float(minimum[0]), float(minimum[1])), distance, max(excess, 0.0), typical)
    return result


def moved_frame(plane: Plane) -> pd.DataFrame:
    """The minima as a table."""
    rows = [vars(one) | {"minimum_1": one.minimum[0], "minimum_2": one.minimum[1]} for one in moved(plane).values()]
    return pd.DataFrame(rows).drop(columns="minimum")


# --- noise ------------------------------------------------------------------------------------------------------------


def degrees(dimension: int, ratio: float) -> int | None:
    """m; None where the calibration is to choose it."""
    return None if ratio == BEST else max(dimension + 1, round(ratio * dimension))


@lru_cache(maxsize=512)
def calibrated(
    epsilon: float, delta: float, dimension: int, m: int | None = None, proof: str = "exact"
) -> QuadraticPerturbation:
    """The least bend of (ε, δ) by a proof, where one row is replaced and L = 1."""
    return calibrate_quadratic_perturbation(epsilon, delta, dimension, 1.0, m, bound=proof)


@dataclass(frozen=True)
class Noise:
    """A bend that one proof calibrates, read by all of them.

    Attributes
    ----------
    epsilon, delta : float
    dimension : int
    ratio : float
        m/d; `BEST` for the best m.
    by : str
        The proof that calibrates, a key of `PROOFS`.
    """

    epsilon: float
    delta: float
    dimension: int
    ratio: float
    by: str

    @property
    def bend(self) -> QuadraticPerturbation:
        """The bend."""
        m = degrees(self.dimension, self.ratio)
        return calibrated(self.epsilon, self.delta, self.dimension, m, self.by)

    def proved(self, proof: str) -> QuadraticPerturbation:
        """The same bend under another proof."""
        bend = self.bend
        return QuadraticPerturbation(bend.scale, bend.degrees_of_freedom, self.dimension, 1.0, bound=proof)

    @property
    def epsilons(self) -> FloatArray:
        """Where profiles are drawn."""
        return np.linspace(0.0, 3 * self.epsilon, POINTS)


@lru_cache(maxsize=128)
def profile(noise: Noise, proof: str) -> FloatArray:
    """δ(ε) by one proof, at `Noise.epsilons`; 0 where it is below the smallest double."""
    return np.asarray(noise.proved(proof).delta(noise.epsilons), dtype=float)


@lru_cache(maxsize=512)
def delta_at(noise: Noise, proof: str) -> float:
    """δ at the target's ε by one proof."""
    return float(noise.proved(proof).delta(noise.epsilon))


def gaussian_profile(noise: Noise) -> FloatArray:
    """δ(ε) of the Gaussian mechanism that is calibrated to the same (ε, δ)."""
    return np.asarray(calibrate_gaussian(noise.epsilon, noise.delta).delta(noise.epsilons), dtype=float)


def gaussian_at(noise: Noise, epsilon: float) -> float:
    """δ of that Gaussian mechanism at one ε."""
    return float(calibrate_gaussian(noise.epsilon, noise.delta).delta(epsilon))


def less_noise(noise: Noise) -> float:
    """How many times the exact theorem's σ² this bend's σ² is, at the same m."""
    bend = noise.bend
    return bend.scale / calibrated(noise.epsilon, noise.delta, noise.dimension, bend.degrees_of_freedom).scale


def profile_frame(noise: Noise) -> pd.DataFrame:
    """The profiles as a table."""
    columns = {proof: profile(noise, proof) for proof in PROOFS}
    return pd.DataFrame({"epsilon": noise.epsilons} | columns | {"gaussian": gaussian_profile(noise)})


# --- eigenvalues ------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def eigenvalues(spectrum: Spectrum) -> FloatArray:
    """Those of all draws."""
    return spectrum.eigenvalues()


def histogram(spectrum: Spectrum, bins: int = 40) -> tuple[FloatArray, FloatArray]:
    """Edges, evenly spread on a logarithmic scale, and the share of all eigenvalues between them."""
    values = eigenvalues(spectrum).ravel()
    edges = np.geomspace(values.min() / 1.0001, values.max() * 1.0001, bins + 1)
    return edges, np.histogram(values, edges)[0] / values.size


def spectrum_frame(spectrum: Spectrum) -> pd.DataFrame:
    """The eigenvalues as a table, a row for each draw."""
    values = eigenvalues(spectrum)
    columns = [f"eigenvalue_{place + 1}" for place in range(values.shape[1])]
    return pd.DataFrame(values, columns=columns)


# --- two records that disagree ----------------------------------------------------------------------------------------

PENALTY = 10.0
"""ω of the data that disagree."""


@dataclass(frozen=True)
class Labels:
    """Two data sets that disagree in one label, which is off up or down, and a release of (ε, δ).

    Attributes
    ----------
    epsilon, delta : float
    rows : int
    off : float
        By how much.
    tilted : bool
        Whether a tilt is added, residuals being clipped to 1.
    """

    epsilon: float
    delta: float
    rows: int
    off: float
    tilted: bool

    @property
    def data(self) -> Disagreement:
        """The data under the calibrated bend."""
        bend = calibrated(self.epsilon, self.delta, 1)
        return Disagreement(bend.scale, bend.degrees_of_freedom, self.rows, PENALTY)

    def true_delta(self, off: float) -> float:
        """The true δ where the labels are off by so much."""
        if not self.tilted:
            return self.data.delta(off, self.epsilon)
        return tilted_delta(off, self.epsilon, 1.0, both(self.epsilon, self.delta).sigma)


@lru_cache(maxsize=128)
def both(epsilon: float, delta: float) -> TiltAndBend:
    """A bend and a tilt of (ε, δ) in one dimension, for residuals of at most 1."""
    return calibrate_tilt_and_bend(epsilon, delta, 1, 1.0)


OFFS = np.concatenate([np.geomspace(1e-4, 1.0, 61), [1.5, 2.0]])
"""By how much the labels are off."""


@lru_cache(maxsize=64)
def true_deltas(labels: Labels) -> FloatArray:
    """The true δ at `OFFS`."""
    return np.array([labels.true_delta(float(off)) for off in OFFS])


@lru_cache(maxsize=64)
def breaks_at(labels: Labels) -> float:
    """The least displacement at which the true δ passes the promise; infinite where none does."""
    if true_deltas(labels)[-1] <= labels.delta:
        return math.inf

    def over(log_off: float) -> float:
        return math.log(max(labels.true_delta(math.exp(log_off)), 1e-300) / labels.delta)

    low = math.log(1e-12)
    return 0.0 if over(low) > 0 else math.exp(brentq(over, low, math.log(OFFS[-1]), xtol=1e-9))


def labels_frame(labels: Labels) -> pd.DataFrame:
    """The true δ as a table."""
    return pd.DataFrame({"off": OFFS, "true_delta": true_deltas(labels), "promised": labels.delta})


# --- stored results ---------------------------------------------------------------------------------------------------


def file_of(name: str) -> Results | None:
    """The stored results of an experiment; None where there are none."""
    try:
        return stored.load(name)
    except (DataUnavailableError, ValueError):
        return None


def grid(found: Results, panel: str, proof: str) -> tuple[list[float], list[float], FloatArray, FloatArray]:
    """Of Figure 1: every ε, every δ, the least bounds and their m; arrays of shape (number of δ, number of ε)."""
    rows = [row for row in found.rows if (row["panel"], row["proof"]) == (panel, proof)]
    epsilons = sorted({float(row["epsilon"]) for row in rows})
    deltas = sorted({float(row["delta"]) for row in rows})
    values, degrees_of = np.full((2, len(deltas), len(epsilons)), np.nan)
    for row in rows:
        place = deltas.index(float(row["delta"])), epsilons.index(float(row["epsilon"]))
        values[place], degrees_of[place] = float(row["value"]), float(row["degrees_of_freedom"])
    return epsilons, deltas, values, degrees_of


def nearest(values: Sequence[float], wanted: float) -> float:
    """The stored value next to the one asked for, by ratio."""
    return min(values, key=lambda value: abs(math.log(value / wanted)))


def means(found: Results, column: str, methods: Sequence[str]) -> pd.DataFrame:
    """Mean and 95 % interval of every method at every value of a column."""
    rows = []
    for cell in found.cells(column):
        for method in methods:
            interval = found.interval(**{column: cell, "method": method})
            if interval is not None:
                low, high = (interval.low, interval.high) if interval.known else (interval.mean, interval.mean)
                rows.append({column: float(cell), "method": method, "mean": interval.mean, "low": low, "high": high})
    return pd.DataFrame(rows)


def frame_of(found: Results) -> pd.DataFrame:
    """All stored rows."""
    return pd.DataFrame(list(found.rows))


def log_range(values: Sequence[float]) -> tuple[float, float]:
    """An axis that holds all positive values, with a little air."""
    there = [value for value in values if value > 0 and np.isfinite(value)] or [1.0]
    return min(there) / 1.5, max(there) * 1.5
