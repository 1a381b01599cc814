"""Data sets to learn on: two real ones fetched on first use, and seven that work offline.

    >>> from objpert_core import datasets
    >>> datasets.load("synthetic-l").X_train.shape
    (8000, 20)

Every matrix is encoded by public constants only and has rows of norm one. `Dataset.stand_in` says when the rows
are not the real data; whoever shows a result then says so too.
"""

from objpert_core.datasets._catalogue import available, damage, default_name, describe, fetch, load, names
from objpert_core.datasets._dataset import Dataset
from objpert_core.datasets._files import data_folder

__all__ = ["Dataset", "available", "damage", "data_folder", "default_name", "describe", "fetch", "load", "names"]
