"""The release of quadratic perturbation: a noisy Gram matrix and a noisy tilt, once; every solution from them is free.

For the squared loss the minimiser under σ²/2·(θ − θ̃)ᵀW(θ − θ̃) is a function of B = XᵀX + σ²W and of
c = Σ xᵢ(xᵢᵀθ̃ − yᵢ) (Cortild and Cartis 2026). Releasing both, c noisy, costs what the accountant says.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from objpert_core._validation import FloatArray, choice, in_open_unit, length, nonnegative, positive
from objpert_core.accounting import QuadraticPerturbation, TiltAndBend
from objpert_core.accounting.terms import Terms
from objpert_core.learning.certificates.base import ON_ERROR
from objpert_core.learning.noise import NoiseSource, noise_source, with_noise
from objpert_core.learning.problem.rows import Rows
from objpert_core.learning.quadratic.certificate import (
    QuadraticCertificate,
    gram_spacing,
    row_smoothness,
    tilt_sensitivity,
)
from objpert_core.learning.quadratic.grid import WholeSums, residual_unit, row_unit, rows_of_squares, whole_sums
from objpert_core.learning.quadratic.wishart import ExactWishart
from objpert_core.learning.solvers.lasso import BoxedLasso

LARGEST_ANCHOR = 1e50
"""No entry of an anchor may be larger: scores at the anchor are then finite, whatever the rows."""


@dataclass(frozen=True, eq=False)
class NoisyGram:
    """What was released, and what it cost.

    Attributes
    ----------
    gram : ndarray, shape (D, D)
        B = X̃ᵀX̃ + σ²W, on a lattice.
    tilt : ndarray, shape (D,)
        c = Σ x̃·clip(x̃ᵀθ̃ − y, ±R) + N(0, σ_t²I); 0 where labels were not used.
    anchor : ndarray, shape (D,)
        θ̃.
    constant : float
        The constant in the last column of the rows; 0.0 without an intercept.
    certificate : QuadraticCertificate
    """

    gram: FloatArray
    tilt: FloatArray
    anchor: FloatArray
    constant: float
    certificate: QuadraticCertificate

    def problem(self, penalty: FloatArray, low: FloatArray, high: FloatArray, debias: bool = False) -> BoxedLasso:
        """The problem that these noisy sums pose for a penalty and a box, shape (D,) each; solving it costs no privacy.

        `debias` takes off mσ²·I, the mean of the noise on B, as far as B's least eigenvalue allows.
        """
        least = float(np.linalg.eigvalsh(self.gram)[0])
        spacing = gram_spacing(self.certificate.scale)
        lift = max(spacing - least, 0.0)
        if debias:
            noise = self.certificate
            kept = 2 * noise.scale * math.sqrt(noise.degrees_of_freedom * noise.dimension)
            lift -= min(max(least - kept, 0.0), noise.scale * noise.degrees_of_freedom)
        curvature = self.gram + lift * np.eye(len(self.gram)) if lift else self.gram
        return BoxedLasso(curvature, self.tilt, self.anchor, penalty, low, high)


def noisy_gram(
    X: Any,
    targets: FloatArray,
    mechanism: QuadraticPerturbation | TiltAndBend,
    *,
    epsilon: float,
    delta: float,
    rows_per_person: int = 1,
    residual_bound: float = 0.0,
    anchor: FloatArray | None = None,
    row_norm: str = "clip",
    intercept_scaling: float = 0.0,
    random_state: int | np.random.RandomState | np.random.Generator | None = None,
    on_error: str = "raise",
) -> NoisyGram:
    """Release a noisy Gram matrix, and a noisy tilt where the mechanism has one.

    The release is the mechanism in real numbers, rounded: docs/theorems.md, T35.

    Parameters
    ----------
    X : ndarray or scipy sparse matrix, shape (n, d)
        Rows are rescaled or clipped to norm 1 here, whatever they were.
    targets : ndarray, shape (n,)
        Finite numbers. Without a tilt, targets are not used.
    mechanism : QuadraticPerturbation or TiltAndBend
        With bound "exact", of dimension D = d, or d + 1 with an intercept.
    epsilon, delta : float
        What the certificate is to state; `ValueError` if the mechanism does not keep it on such rows and residuals.
    rows_per_person : int >= 1
        How many rows of one person that is about; the mechanism is about one.
    residual_bound : 0, or float from 1e-50 to 1e50
        R: residuals at the anchor are clipped to this size. 0 without a tilt, and only without a tilt.
    anchor : ndarray, shape (d,), optional
        θ̃, public; 0 if left out. An intercept's anchor is 0.
    row_norm, intercept_scaling, random_state
        As for `Fit`; no intercept unless asked for.
    on_error : {"raise", "release"}
        "release" leaves rows that cannot be used out of every sum (docs/theorems.md, T23).

    Examples
    --------
    >>> bend = QuadraticPerturbation(scale=8.0, degrees_of_freedom=40, dimension=2)
    >>> X = np.repeat([[1.0, 0.0], [0.0, 1.0]], 5000, axis=0)
    >>> released = noisy_gram(X, np.ones(10_000), bend, epsilon=2.0, delta=1e-3)
    >>> released.certificate.verify(), bool((abs(released.gram / 5000 - np.eye(2)) < 0.5).all())
    (True, True)
    """
    bend = mechanism.bend if isinstance(mechanism, TiltAndBend) else mechanism
    positive("epsilon", epsilon), in_open_unit("delta", delta)
    clip, constant = nonnegative("residual_bound", residual_bound), nonnegative("intercept_scaling", intercept_scaling)
    if clip:
        length("residual_bound", clip)
    releases = choice("on_error", on_error, ON_ERROR) == "release"
    _covered(mechanism, bend, clip, constant)
    spent = Terms(epsilon, delta, mechanism.adjacency, rows_per_person).proved(mechanism)
    source = noise_source(random_state)
    with np.errstate(under="ignore"):  # where the caller has numpy raise for it, that would tell of tiny entries
        rows, targets = rows_of_squares(X, targets, row_norm, constant, releases=releases)
        if bend.dimension != rows.dimension:
            raise ValueError(f"mechanism's dimension must be {rows.dimension} for these rows, got {bend.dimension}")
        centre = _centre(anchor, rows)
        gram, tilt, sums = _drawn(rows, targets, mechanism, bend, clip, centre, source)
    certificate = QuadraticCertificate.from_mechanism(
        mechanism,
        epsilon=spent,
        delta=float(delta),
        accountant="profile",
        row_norm=row_norm,
        intercept_scaling=constant,
        **source.provenance,
        lattice=gram_spacing(bend.scale),
        on_error=on_error,
        rows_per_person=rows_per_person,
        residual_bound=clip,
    )
    return NoisyGram(gram, tilt, centre, sums.constant, certificate)


def _covered(
    mechanism: QuadraticPerturbation | TiltAndBend, bend: QuadraticPerturbation, clip: float, constant: float
) -> None:
    if bend.bound != "exact":
        raise ValueError(f"mechanism's bound must be 'exact', the one about the noisy Gram matrix, got {bend.bound!r}")
    least = row_smoothness(constant)
    if not bend.smoothness >= least:
        raise ValueError(f"mechanism's smoothness must be at least {least!r}, got {bend.smoothness!r}")
    if not isinstance(mechanism, TiltAndBend):
        if clip:
            raise ValueError(f"residual_bound must be 0 for a mechanism without a tilt, got {clip!r}")
        return
    if not clip:
        raise ValueError(f"residual_bound must be a number > 0 for a mechanism with a tilt, got {clip!r}")
    needed = tilt_sensitivity(clip, bend.smoothness, mechanism.adjacency)
    if not mechanism.sensitivity >= needed * (1 - 2.0**-51):  # see tilt_sensitivity
        raise ValueError(f"mechanism's sensitivity must be at least {needed!r}, got {mechanism.sensitivity!r}")


def _centre(anchor: FloatArray | None, rows: Rows) -> FloatArray:
    centre = np.zeros(rows.dimension)
    if anchor is None:
        return centre
    if anchor.shape != (rows.n_features,):
        raise ValueError(f"anchor must hold {rows.n_features} numbers, one a feature, got shape {anchor.shape}")
    if not (np.abs(anchor) <= LARGEST_ANCHOR).all():
        raise ValueError(f"anchor must hold numbers of size at most {LARGEST_ANCHOR:g}, got {anchor.tolist()!r}")
    centre[: rows.n_features] = anchor
    return centre


def _drawn(
    rows: Rows,
    targets: FloatArray,
    mechanism: QuadraticPerturbation | TiltAndBend,
    bend: QuadraticPerturbation,
    clip: float,
    centre: FloatArray,
    source: NoiseSource,
) -> tuple[FloatArray, FloatArray, WholeSums]:
    """B and c, and the sums they came from."""
    drawn = ExactWishart(source, bend.dimension, bend.degrees_of_freedom)
    unit = row_unit(rows.constant)
    if not isinstance(mechanism, TiltAndBend):
        sums, tilt = whole_sums(rows), np.zeros(bend.dimension)
    else:
        step = residual_unit(clip, mechanism.sigma, rows.constant)
        sums = whole_sums(rows, targets, anchor=centre, bound=clip, step=step)
        noise = source.rounded_normal(mechanism.sigma / (unit * step), bend.dimension)
        noisy = with_noise(sums.tilt.astype(object), noise)  # of any size
        tilt = np.array([float(one) for one in noisy]) * (unit * step)
    power = 2 * (math.frexp(unit)[1] - 1)
    return drawn.rounded(sums.gram, power, bend.scale, gram_spacing(bend.scale)), tilt, sums
