"""Intervals for private coefficients, measured: how often they cover, and how wide they are."""
