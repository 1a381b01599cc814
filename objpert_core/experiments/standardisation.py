"""``python -m objpert_core.experiments.standardisation``: what stored results name; see `studies.standardisation`."""

from objpert_core.experiments.studies.standardisation import main

if __name__ == "__main__":
    main()
