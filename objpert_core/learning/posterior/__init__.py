"""Linear regression by one exact posterior draw, and by noisy sums: on a lattice, with nothing added to δ."""
