"""Stored results of the experiments on intervals; `benchmarks/experiments` makes the files."""

from __future__ import annotations

from objpert_core.experiments.family import Family
from objpert_core.experiments.intervals.coverage import Coverage

FAMILY = Family("intervals", dict.fromkeys(("coverage", "share", "regression"), Coverage))
load = FAMILY.load
