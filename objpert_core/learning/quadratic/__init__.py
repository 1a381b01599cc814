"""Quadratic perturbation: a noisy Gram matrix is released once, and problems are solved from it alone."""
