"""The raw files of the UCI archive and the digests they must have."""

from __future__ import annotations

from objpert_core.datasets._files import RawFile

ADULT_FILES = (
    RawFile(
        "adult", "adult.data", "adult/adult.data",
        "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
    ),
    RawFile(
        "adult", "adult.test", "adult/adult.test",
        "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
    ),
)  # fmt: skip

GISETTE_FILES = (
    RawFile(
        "gisette", "gisette_train.data", "gisette/GISETTE/gisette_train.data",
        "6d4c5e998afe67937b9e77a3334e03c85e545ebc65a6eb1333ffc14125cfc389",
    ),
    RawFile(
        "gisette", "gisette_valid.data", "gisette/GISETTE/gisette_valid.data",
        "5cea897956dd172a006132738254a27a8f61ecc1ceb6f5b20639c281d2942254",
    ),
    RawFile(
        "gisette", "gisette_train.labels", "gisette/GISETTE/gisette_train.labels",
        "42bd681fe51b161f033df773df14a0116e492676555ab14616c1b72edc054075",
    ),
    RawFile(
        "gisette", "gisette_valid.labels", "gisette/gisette_valid.labels",
        "a6b857a0448023f033c4dda2ef848714b4be2ae45ce598d088fb3efb406e08c5",
    ),
)  # fmt: skip
"""In the order in which `gisette.read` takes them."""
