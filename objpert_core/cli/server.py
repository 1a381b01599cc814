"""``python -m objpert_core.cli.server run app.py …``: Streamlit's command, whose Ctrl-C is a stop and no failure."""

from __future__ import annotations

import importlib
import sys

from objpert_core.cli.parsing import STOPPED


def main() -> int:
    """Run Streamlit's command with this process's arguments; the exit code."""
    click = importlib.import_module("click")
    streamlit = importlib.import_module("streamlit.web.cli").main
    try:
        streamlit(prog_name="streamlit", standalone_mode=False)
    except (click.Abort, KeyboardInterrupt):
        return STOPPED
    except click.ClickException as error:
        error.show()
        return int(error.exit_code)
    return 0


if __name__ == "__main__":
    sys.exit(main())
