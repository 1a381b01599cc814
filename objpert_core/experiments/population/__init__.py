"""Excess population risk, measured: every method on populations whose risk is known."""
