"""What the benchmarks share: empty caches, and where a result came from."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path


def empty_caches() -> None:
    """Forget every memoised result of ours."""
    for name, module in list(sys.modules.items()):
        if name.startswith("objpert_core"):
            for value in list(vars(module).values()):
                if callable(getattr(value, "cache_clear", None)):
                    value.cache_clear()


def commit() -> str:
    """The short commit, "with changes" where the package or the benchmarks differ from it."""

    def git(*words: str) -> str:
        return subprocess.run(["git", *words], capture_output=True, text=True, check=False).stdout.strip()

    changed = " with changes" if git("status", "--porcelain", "--", "objpert_core", "benchmarks") else ""
    return (git("rev-parse", "--short", "HEAD") or "unknown") + changed


def machine() -> str:
    """The processor and how many cores."""
    processor = platform.processor() or platform.machine()
    if Path("/proc/cpuinfo").exists():
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        processor = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), processor)
    return f"{processor}, {os.cpu_count()} cores, 1 thread used"
