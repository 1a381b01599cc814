"""``python -m objpert_core.cli`` is the command `objpert`."""

import sys

from objpert_core.cli import main

if __name__ == "__main__":
    sys.exit(main())
