"""``python -m objpert_core.experiments.defaults``: the command that stored results name; see `studies.defaults`."""

from objpert_core.experiments.studies.defaults import main

if __name__ == "__main__":
    main()
