"""The estimators, a file each; `objpert_core.estimators` is their public face."""
