"""What a certificate can tell of a model: its fingerprint, its shape, its lattice, and how far a fit can have ended."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from objpert_core._validation import FloatArray
from objpert_core.learning.steps.base import kinds
from objpert_core.learning.steps.stated import fingerprinted, published_by

FAR = 10.0
"""Noise longer than so many standard deviations times √d is no noise of that kind: chances are below e⁻⁴⁰."""
_SLACK = 1e-6  # relative, for what rounding adds to a length


def coefficients_sha256(coef: Any, intercept: Any, published: Mapping[str, Any] | None = None) -> str:
    """The fingerprint, 64 hexadecimal digits, of published coefficients, by which a certificate names its model.

    SHA-256 of the line ``coef_`` with the array's shape (ASCII, one blank between parts, a line feed: ``coef_ 1 30``),
    its entries as little-endian doubles in C order, and the same of ``intercept_``. What else was released follows,
    under its attribute's name: ``center_``, ``scale_``, ``feature_ranges_`` of shape (2, d), lower ends first,
    ``hessian_``, ``outer_``, and by name what steps from outside release.
    """
    digest, given = hashlib.sha256(), published or {}
    pieces = {"coef_": coef, "intercept_": intercept}
    pieces |= {name: given[name] for name in fingerprinted() if given.get(name) is not None}
    for name, values in pieces.items():
        array = np.asarray(values, dtype="<f8")
        digest.update(" ".join([name, *map(str, array.shape)]).encode("ascii") + b"\n")
        digest.update(array.tobytes(order="C"))
    return digest.hexdigest()


def on_lattice(coef: FloatArray, spacing: float | None) -> bool:
    """Whether the coefficients are multiples of `spacing`; any are where there is no lattice."""
    return spacing is None or not np.fmod(coef, spacing).any()


def is_about(certificate: Any, model: Any) -> bool:
    """Whether this is the certificate of this model's coefficients, and a fit can have ended at them."""
    coef, intercept = np.asarray(model.coef_), np.asarray(model.intercept_)
    fits, features = getattr(certificate, "fits", 1), coef.shape[-1]
    if coef.ndim == 1:
        as_many = fits == 1 and intercept.size == 1
    else:
        as_many = coef.ndim == 2 and (len(coef), intercept.shape) == (fits, (fits,))
    if not as_many:
        return False
    constant, spacing = certificate.intercept_scaling > 0, certificate.lattice
    dimension = features + constant
    promised = getattr(certificate, "dimension", None)
    published = {name: None if array is None else np.asarray(array) for name, array in published_by(model).items()}
    return bool(
        all(array is None or _doubles(array) for array in (coef, intercept, *published.values()))
        and all(kind.plausible(certificate, published, features) for kind in kinds())
        and certificate.coefficients_sha256 == coefficients_sha256(coef, intercept, published)
        and (promised is None or promised >= dimension)
        and (constant or coef.ndim == 1 or not intercept.any())  # a regressor's may be the middle of its targets
        and (spacing is None or certificate.fine_enough(spacing, dimension))
        and (spacing is None or certificate.lies_on_lattice(coef))
        and _within_reach(certificate, coef, intercept)
    )


def _within_reach(certificate: Any, coef: Any, intercept: Any) -> bool:
    """Whether the fit can have ended there; a regressor's units are its targets', which no certificate names."""
    classifies, scaling = coef.ndim == 2, certificate.intercept_scaling
    theta = np.hstack([coef, intercept[:, None] / scaling]) if classifies and scaling else coef
    reach = certificate.reach(theta.shape[-1]) if classifies else None
    lengths = np.linalg.norm(theta, axis=-1)  # of coefficients that are no numbers none is below a bound
    return bool(np.all(lengths <= (math.inf if reach is None else reach * (1 + _SLACK))))


def _doubles(array: Any) -> bool:
    """Whether doubles, of which the fingerprint is made, hold all of the array; wider numbers could carry more."""
    return bool(array.dtype.kind == "f" and array.dtype.itemsize <= 8)
