"""What is taken away: the released model, its certificate, the public schema."""

from __future__ import annotations

import importlib
import importlib.util
import json
from typing import Any

import numpy as np

from objpert_core.datasets import NumericTarget
from pages.own.jobs import Made

FORMAT = "objpert released model 1"
SKOPS = importlib.util.find_spec("skops") is not None
"""Whether the package is there that writes scikit-learn models without pickle."""


def model_json(made: Made) -> bytes:
    """The released model: numbers with all their digits, names of features and labels by the schema, certificate."""
    model, target = made.model, made.ask.schema.target
    values: dict[str, Any] = {
        "format": FORMAT,
        "kind": "regression" if isinstance(target, NumericTarget) else "two values",
        "target": target.column,
        "labels": None if isinstance(target, NumericTarget) else [target.negative, target.positive],
        "features": list(made.names),
        "coef": model.coef_.tolist(),
        "intercept": np.asarray(model.intercept_).tolist(),
        "center": None if model.center_ is None else model.center_.tolist(),
        "scale": None if model.scale_ is None else model.scale_.tolist(),
        "margin": getattr(model, "margin_", None),
        "row_norm": model.privacy_.row_norm,
        "certificate": model.privacy_.to_dict(),
    }
    return (json.dumps(values, ensure_ascii=False, indent=2, allow_nan=False) + "\n").encode()


def certificate_json(made: Made) -> bytes:
    """The public certificate."""
    return (made.model.privacy_.to_json() + "\n").encode()


def schema_json(made: Made) -> bytes:
    """What was typed about the table."""
    return made.ask.text.encode()


def skops_file(made: Made) -> bytes:
    """The model as a pipeline of scikit-learn's own parts, for skops."""
    skops = importlib.import_module("skops.io")  # it takes a moment to load
    return bytes(skops.dumps(made.model.to_sklearn()))
