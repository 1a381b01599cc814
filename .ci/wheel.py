"""How the wheel is put together, for hatchling: where the app lies in it, and what its page on an index says.

A checkout has the app beside the package: `app.py`, `pages/`, `ui/`, `deploy/` and the stored results. A wheel must not
bring names like `ui` and `pages` into everybody's environment, so there all of it lies in `objpert_core/_app`. An
editable installation has no such folder: it finds the checkout's own.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

INSIDE = "objpert_core/_app"
APP = ("app.py", ".streamlit/config.toml", "pages", "ui", "deploy", "data/results")
DEPLOYED = (".py", ".in", ".html")  # what the server reads; the container and the scripts are a checkout's
ENDS = "\n\nThe pages that are named here, and the tests, come with the source distribution.\n"


class AppInThePackage(BuildHookInterface):
    """Puts the app into the package."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Tell hatchling of the files; `version` is "standard" or "editable"."""
        if version == "editable":
            return
        root = Path(self.root)
        for path in files(root):
            build_data["force_include"][str(path)] = f"{INSIDE}/{path.relative_to(root).as_posix()}"


def files(root: Path) -> list[Path]:
    """The files beside the package that a wheel takes along."""
    found = [path for name in APP for path in (root / name, *(root / name).rglob("*")) if path.is_file()]
    return [
        path
        for path in found
        if "__pycache__" not in path.parts and (root / "deploy" not in path.parents or path.suffix in DEPLOYED)
    ]


class ReadmeOfAnIndex(MetadataHookInterface):
    """Makes of the README what can be read without the files beside it."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the field `readme`."""
        text = readable_alone(Path(self.root, "README.md").read_text(encoding="utf-8"))
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


def readable_alone(text: str) -> str:
    """A page without its pictures, and with the words in place of links to other files."""
    elsewhere = r"\((?!https?://|#)[^)]*\)"
    text = re.sub(rf"^!\[[^\]]*\]{elsewhere}\n+", "", text, flags=re.MULTILINE)
    return re.sub(rf"\[([^\]]*)\]{elsewhere}", r"\1", text).rstrip() + ENDS
