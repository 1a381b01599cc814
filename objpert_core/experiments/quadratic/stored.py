"""Stored results of the experiments on bends: files that are written piece by piece, continued and read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from objpert_core import _provenance
from objpert_core._validation import choice
from objpert_core.exceptions import DataUnavailableError
from objpert_core.experiments import results
from objpert_core.experiments.quadratic import figure1, figure2, matter, regression
from objpert_core.experiments.summary import Interval, mean_interval

Piece = tuple[Any, ...]


@dataclass(frozen=True)
class Experiment:
    """What is stored in one file.

    Attributes
    ----------
    title : str
        What it measures.
    names : tuple of str
        The columns that name a piece of the work.
    pieces : tuple of tuple
        Every piece.
    rows : callable
        The rows of a piece, as dataclasses; called with its name.
    value : str
        The column of what is measured.
    """

    title: str
    names: tuple[str, ...]
    pieces: tuple[Piece, ...]
    rows: Callable[..., Iterable[Any]]
    value: str


_CELLS = tuple(
    (panel, proof, epsilon, delta)
    for panel, proofs in figure1.PANELS.items()
    for proof in proofs
    for epsilon in figure1.EPSILONS
    for delta in figure1.DELTAS
)
EXPERIMENTS: Mapping[str, Experiment] = MappingProxyType(
    {
        "figure1": Experiment(
            "the least bound on the excess risk over (ε, δ), by three proofs",
            ("panel", "proof", "epsilon", "delta"),
            _CELLS,
            lambda *named: [figure1.cell(*named)],
            "value",
        ),
        "figure2": Experiment(
            "the risk of a private lasso against its box, tilted and bent",
            ("seed",),
            tuple((seed,) for seed in figure2.SEEDS),
            figure2.risks,
            "risk",
        ),
        "matter": Experiment(
            "the excess risk of a bent lasso against the number of rows",
            ("seed",),
            tuple((seed,) for seed in matter.SEEDS),
            matter.losses,
            "excess",
        ),
        "regression": Experiment(
            "the excess test error of bend and tilt beside other private regressions",
            ("seed",),
            tuple((seed,) for seed in regression.SEEDS),
            regression.losses,
            "excess",
        ),
    }
)
"""The experiments, by their keys."""


def path_of(name: str, where: Path | None = None) -> Path:
    """Where the results of an experiment are or would be; `where` is a folder, `results.folder` if left out."""
    choice("name", name, tuple(EXPERIMENTS))
    return (where or results.folder()) / f"quadratic_{name}.csv"


def names() -> tuple[str, ...]:
    """The experiments that have stored results."""
    return tuple(name for name in EXPERIMENTS if path_of(name).is_file())


def make(name: str, made_by: Mapping[str, str], where: Path | None = None, *, most: int | None = None) -> int:
    """Do what a file does not hold yet, and add it piece by piece.

    Parameters
    ----------
    name : str
        A key of `EXPERIMENTS`.
    made_by : mapping
        Comment lines about this run; written before the first row that it adds.
    where : Path or None
        The folder.
    most : int or None
        Stop after so many pieces.

    Returns
    -------
    int
        How many pieces were added.
    """
    path, experiment = path_of(name, where), EXPERIMENTS[choice("name", name, tuple(EXPERIMENTS))]
    held = _provenance.read_table(path).rows if path.is_file() else ()
    done = {tuple(row[column] for column in experiment.names) for row in held}
    left = [piece for piece in experiment.pieces if tuple(map(str, piece)) not in done]
    path.parent.mkdir(parents=True, exist_ok=True)
    for number, piece in enumerate(left[:most]):
        rows = [vars(row) for row in experiment.rows(*piece)]
        text = "".join(_provenance.row_line(row.values()) for row in rows)
        if number == 0:
            above = "".join(_provenance.note_line(key, value) for key, value in made_by.items())
            text = above + ("" if held else _provenance.row_line(rows[0])) + text
        with path.open("a", encoding="utf-8", newline="") as file:
            file.write(text)  # a piece at a time: an interrupted run leaves whole ones
    return len(left[:most])


@dataclass(frozen=True, eq=False)
class Stored:
    """A file of results.

    Attributes
    ----------
    name : str
        A key of `EXPERIMENTS`.
    notes : mapping
        How it was made last.
    rows : tuple of mapping
        All cells as text.
    """

    name: str
    notes: Mapping[str, str]
    rows: tuple[dict[str, str], ...]

    def values(self, **wanted: object) -> list[float]:
        """What was measured in the rows that have these cells."""
        texts = {column: str(value) for column, value in wanted.items()}
        value = EXPERIMENTS[self.name].value
        return [float(row[value]) for row in self.rows if texts.items() <= row.items()]

    def interval(self, **wanted: object) -> Interval | None:
        """Mean and 95 % interval over the rows that have these cells; None where there are none."""
        found = self.values(**wanted)
        return mean_interval(found) if found else None

    def cells(self, column: str) -> tuple[str, ...]:
        """Every different cell of a column, in order."""
        return tuple(dict.fromkeys(row[column] for row in self.rows))


def load(name: str, where: Path | None = None) -> Stored:
    """The stored results of one experiment, read again when they have changed.

    Raises
    ------
    DataUnavailableError
        If there are none; the message names the command that makes them.
    ValueError
        If the file is damaged, or `name` is not a key of `EXPERIMENTS`.
    """
    path = path_of(name, where)
    try:
        state = path.stat()
    except OSError:
        raise DataUnavailableError(
            f"There are no stored results of {name} ({path}): make them with "
            f"python -m objpert_core.experiments quadratic {name}"
        ) from None
    return _load(name, path, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=16)
def _load(name: str, path: Path, changed: int, size: int) -> Stored:
    table = _provenance.read_table(path)
    return Stored(name, table.notes, table.rows)


def report(found: Stored) -> str:
    """The means as text: a line for each method and setting."""
    experiment = EXPERIMENTS[found.name]
    shown = [column for column in found.rows[0] if column not in ("seed", experiment.value, "degrees_of_freedom")]
    groups = dict.fromkeys(tuple(row[column] for column in shown) for row in found.rows)
    lines = [f"{experiment.title[0].upper()}{experiment.title[1:]}"]
    for group in groups:
        named = dict(zip(shown, group, strict=True))
        mean = found.interval(**named)
        assert mean is not None
        spread = f" ± {mean.half_width:.2g}" if mean.known else ""
        lines.append(f"  {', '.join(f'{column} {cell}' for column, cell in named.items())}: {mean.mean:.5g}{spread}")
    return "\n".join(lines)
