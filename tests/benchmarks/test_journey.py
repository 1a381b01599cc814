"""The journey of a stranger ends nowhere on the way, and its stored numbers are those of the script."""

import pytest

from benchmarks.journey import TABLES, TEXT, measured
from objpert_core import _provenance
from objpert_core.experiments import results


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_nobody_stops_and_the_stored_numbers_come_again():
    stored = {row["table"]: row for row in _provenance.read_table(results.folder() / "journey.csv").rows}
    assert len(stored) == len(TABLES) + 1
    assert {row["stops"] for row in stored.values()} == {"none"}
    for row in measured(["ages", "wine-known", "diabetes", TEXT], 1.0, 1):
        known = stored[row["table"]]
        assert row["stops"] == "none"
        assert float(row["ours"]) == pytest.approx(float(known["ours"]), rel=0.1)
        assert float(row["no privacy"]) == pytest.approx(float(known["no privacy"]), rel=0.01)
