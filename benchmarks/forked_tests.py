"""Runs tests in forks of a process that has loaded what the project stands on, and nothing of the project.

`benchmarks.mutants` starts it as a script in a folder of its own. A request is a line of JSON: pytest's arguments and
how many seconds of processor time they may take. The answer is a line: the first test that fails, "" where the tests
took too long or broke off, null where all pass.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import signal
import sys

HEAVY = (
    *("numpy", "pandas", "scipy.integrate", "scipy.interpolate", "scipy.optimize", "scipy.signal", "scipy.stats"),
    *("sklearn.datasets", "sklearn.linear_model", "sklearn.model_selection", "sklearn.pipeline", "mpmath"),
    *("hypothesis.extra.numpy", "pytest", "xdist.scheduler", "pytest_cov.plugin", "distributed", "pyarrow.parquet"),
)
LONGEST = 3600  # seconds by the clock: for what waits and does nothing


class First:
    """Pytest's hooks that keep the first failure."""

    failed: str | None = None

    def pytest_runtest_logreport(self, report):
        if report.failed and self.failed is None:
            self.failed = report.nodeid

    pytest_collectreport = pytest_runtest_logreport


def answer(arguments: list[str], seconds: int) -> str | None:
    """Run the tests in a fork, so that the next ones meet modules that are not loaded yet."""
    ours, theirs = os.pipe()
    if not (child := os.fork()):
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        signal.alarm(LONGEST)
        os.write(theirs, json.dumps(_first_failure(arguments)).encode())
        os._exit(0)
    os.close(theirs)
    with os.fdopen(ours) as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    return json.loads(said) if said else ""


def _first_failure(arguments: list[str]) -> str | None:
    import pytest

    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    first = First()
    try:
        code = pytest.main(["-q", "-x", "-n", "0", "-p", "no:cacheprovider", *arguments], plugins=[first])
    except BaseException:  # a fork must answer, whatever its tests raise
        return first.failed or ""
    return None if code in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED) else first.failed or ""


def main() -> None:
    """Answer until standard input ends."""
    sys.path[0] = os.getcwd()
    for name in HEAVY:
        __import__(name)
    gc.freeze()
    for line in sys.stdin:
        print(json.dumps(answer(**json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
