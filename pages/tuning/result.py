"""What the three charts of the picture "In accuracy" share: the result that they show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from objpert_core.experiments.studies.tuning_runs import TuningRuns


@dataclass(frozen=True)
class ResultPicture:
    """A picture of a result; it is faint where it is `stale`: the controls have been moved since."""

    result: TuningRuns
    stale: bool = False

    def about(self) -> dict[str, Any]:
        """What every row of the numbers begins with."""
        fields = ("epsilon", "delta", "batch_size", "epochs", "accountant", "mean_runs")
        settings = {field: getattr(self.result.settings, field) for field in fields}
        data = {"data_set": self.result.data.label, "split_seed": self.result.data.split_seed}
        return data | settings | {"judges": self.result.judges}
