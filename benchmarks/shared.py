"""What the benchmarks share: empty caches, and where a result came from."""

from __future__ import annotations

import sys
from pathlib import Path

from objpert_core import _provenance


def empty_caches() -> None:
    """Forget every memoised result of ours."""
    for name, module in list(sys.modules.items()):
        if name.startswith("objpert_core"):
            for value in list(vars(module).values()):
                if callable(getattr(value, "cache_clear", None)):
                    value.cache_clear()


def commit() -> str:
    """The short commit, with a + where the package or the benchmarks have changes that are not committed."""
    return _provenance.commit(_provenance.PACKAGE, Path(__file__).parent)
