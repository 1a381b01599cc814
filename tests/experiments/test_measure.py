"""Memory and processor time of one call."""

import threading
from pathlib import Path

import numpy as np
import pytest

from objpert_core.experiments import measure
from objpert_core.experiments.measure import measured

MEGABYTES = 64


def large():
    return float(np.ones(MEGABYTES * 2**17).sum())


def can_reset():
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return False
    return True


@pytest.mark.slow
@pytest.mark.skipif(not can_reset(), reason="this system does not let a process reset its high-water mark")
def test_memory_is_what_the_call_itself_needed():
    held = np.ones(MEGABYTES * 2**17)  # in use before, so it does not count
    took = measured(large)
    assert took.result == held.sum()
    assert took.peak_mb == pytest.approx(MEGABYTES, rel=0.2)
    assert measured(lambda: 0).peak_mb < MEGABYTES / 4  # an earlier peak does not either


@pytest.mark.thorough
def test_beside_other_threads_memory_is_not_told():
    found = []
    thread = threading.Thread(target=lambda: found.append(measured(large)))
    thread.start()
    thread.join()
    assert found[0].peak_mb is None
    assert found[0].result > 0


def test_where_the_system_does_not_tell_memory_is_unknown(monkeypatch, tmp_path):
    monkeypatch.setattr(measure, "CLEAR_REFS", tmp_path / "absent" / "clear_refs")
    assert measured(large).peak_mb is None


def test_what_the_call_raises_is_passed_on():
    with pytest.raises(ZeroDivisionError):
        measured(lambda: 1 / 0)
