"""Asking the data first, measured: the figures of Redberg, Zhu and Wang (2023), corrected, and what goes beyond."""
