"""What is done with rows where a step is taken, and what certificates say of it: one file a kind, in their order."""

from objpert_core.learning.steps import class_counts, ranges, pieces, standardisation, curvature  # noqa: F401, I001 - their order
