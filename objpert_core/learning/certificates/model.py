"""What a certificate can tell of a model: its fingerprint, its shape, its lattice, and how far a fit can have ended."""

from __future__ import annotations

import hashlib
import math
from typing import Any

import numpy as np

from objpert_core._validation import FloatArray
from objpert_core.accounting.steps.standardisation import SCALE_FLOOR

FAR = 10.0
"""Noise longer than so many standard deviations times √d is no noise of that kind: chances are below e⁻⁴⁰."""
_SLACK = 1e-6  # relative, for what rounding adds to a length


def coefficients_sha256(
    coef: Any,
    intercept: Any,
    center: Any = None,
    scale: Any = None,
    ranges: Any = None,
    *,
    hessian: Any = None,
    outer: Any = None,
) -> str:
    """The fingerprint, 64 hexadecimal digits, of published coefficients, by which a certificate names its model.

    SHA-256 of the line ``coef_`` with the array's shape (ASCII, one blank between parts, a line feed: ``coef_ 1 30``),
    its entries as little-endian doubles in C order, and the same of ``intercept_``. What else was released follows:
    ``center_``, ``scale_``, ``feature_ranges_`` of shape (2, d), lower ends first, ``hessian_``, ``outer_``.
    """
    digest = hashlib.sha256()
    pieces = {"coef_": coef, "intercept_": intercept}
    more = {"center_": center, "scale_": scale, "feature_ranges_": ranges, "hessian_": hessian, "outer_": outer}
    pieces |= {name: values for name, values in more.items() if values is not None}
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
    maps = [
        (getattr(model, f"{step}_", None), getattr(certificate, f"{step}_noise", None)) for step in ("center", "scale")
    ]
    maps.append((getattr(model, "feature_ranges_", None), getattr(certificate, "feature_ranges", None)))
    center, scale, ranges = (None if values is None else np.asarray(values) for values, _ in maps)
    sums = {name: getattr(model, f"{name}_", None) for name in ("hessian", "outer")}
    return bool(
        all(_doubles(array) for array in (coef, intercept))
        and all((values is None) is (noise is None) for values, noise in maps)
        and all(array is None or (_doubles(array) and array.shape == (features,)) for array in (center, scale))
        and (ranges is None or _are_ranges(ranges, features))
        and _ranges_of(certificate, features)
        and certificate.coefficients_sha256 == coefficients_sha256(coef, intercept, center, scale, ranges, **sums)
        and certificate.may_have_summed(*sums.values(), dimension)
        and (promised is None or promised >= dimension)
        and (constant or (coef.ndim == 1 and certificate.HAS_OFFSET) or not intercept.any())
        and (spacing is None or certificate.fine_enough(spacing, dimension))
        and (spacing is None or certificate.lies_on_lattice(coef))
        and _within_reach(certificate, coef, intercept, center, scale)
    )


def _within_reach(certificate: Any, coef: Any, intercept: Any, center: Any, scale: Any) -> bool:
    """Whether the fit can have ended there; a regressor's units are its targets', which no certificate names."""
    mapped = (center is None or np.linalg.norm(center) <= 1 + _SLACK) and (
        scale is None or bool(np.all((scale > 0) & (scale <= SCALE_FLOOR**-0.5 * (1 + _SLACK))))
    )
    classifies, scaling = coef.ndim == 2, certificate.intercept_scaling
    theta = np.hstack([coef, intercept[:, None] / scaling]) if classifies and scaling else coef
    reach = certificate.reach(theta.shape[-1]) if classifies else None
    lengths = np.linalg.norm(theta, axis=-1)  # of coefficients that are no numbers none is below a bound
    return bool(mapped and np.all(lengths <= (math.inf if reach is None else reach * (1 + _SLACK))))


def _ranges_of(certificate: Any, features: int) -> bool:
    """Whether as many ranges were released as a model of so many features has, or fewer where others were declared."""
    released = getattr(certificate, "range_columns", None)
    mixed = getattr(certificate, "feature_ranges", None) == "public and private"  # of `SolvedCertificate`
    return released is None or (released < features if mixed else released == features)


def _are_ranges(ranges: Any, features: int) -> bool:
    """Whether there is one range for each feature, of finite numbers, the first below the second."""
    right = _doubles(ranges) and ranges.shape == (2, features) and np.isfinite(ranges).all()
    return bool(right and (ranges[0] < ranges[1]).all())


def _doubles(array: Any) -> bool:
    """Whether doubles, of which the fingerprint is made, hold all of the array; wider numbers could carry more."""
    return bool(array.dtype.kind == "f" and array.dtype.itemsize <= 8)
