"""Bending the objective, measured: the figures of Cortild and Cartis (2026), and what their theorem leaves out."""
