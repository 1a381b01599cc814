"""The notebooks of docs/notebooks."""

from pathlib import Path

CHECKOUT = Path(__file__).parents[2]
FOLDER = CHECKOUT / "docs" / "notebooks"
