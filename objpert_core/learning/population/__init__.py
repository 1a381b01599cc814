"""Private stochastic convex optimisation: noisy gradient descent in a ball, and phased empirical risk minimisation."""
