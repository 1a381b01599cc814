"""Make the stored results of the papers' figures and tables; see `python -m benchmarks.experiments --help`."""

from __future__ import annotations

import argparse
import shlex
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.experiments import intervals, population, ptr, quadratic
from benchmarks.experiments.experiment import Experiment
from benchmarks.experiments.figure2 import TRIALS, sweep
from benchmarks.experiments.store import forget, session
from objpert_core.datasets import fetch, names
from objpert_core.experiments import results
from objpert_core.experiments.figure2 import EPSILONS
from objpert_core.experiments.methods import EVERY, EXPLANATIONS, METHODS, PRESETS
from objpert_core.tables import FORMATS

PROGRAM = "python -m benchmarks.experiments"
FAMILIES = {
    makers.family.name: makers for makers in (quadratic.MAKERS, ptr.MAKERS, intervals.MAKERS, population.MAKERS)
}
_RESUME = """Finished pieces are stored one by one and skipped when the same command is given again. A file holds one
configuration and one version only. On a cluster: --scheduler tcp://HOST:8786, the same version installed
on every worker and the raw files where OBJPERT_DATA_DIR says."""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=PROGRAM, description=__doc__.partition(";")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    about = "test accuracy against ε, every method, over repeated splits"
    figure = commands.add_parser(
        "figure2",
        help=about,
        description=f"{about[0].upper()}{about[1:]}. Methods: "
        + "; ".join(f"{name}: {text}" for name, text in METHODS.items())
        + ". Only if named: "
        + "; ".join(f"{name}: {text}" for name, text in EXPLANATIONS.items()),
        epilog=_RESUME,
    )
    figure.add_argument("--dataset", required=True, choices=names(classes=2))
    figure.add_argument("--methods", nargs="+", choices=list(EVERY), default=list(METHODS), metavar="METHOD")
    figure.add_argument("--epsilons", nargs="+", type=float, default=list(EPSILONS), metavar="EPSILON")
    figure.add_argument("--trials", type=int, default=TRIALS)
    figure.add_argument(
        "--preset",
        choices=list(PRESETS),
        default="paper",
        help="parameters as in the paper's text or as in its authors' scripts",
    )
    figure.add_argument("--note", help="a remark that is stored with the rows, for example what was reduced and why")
    _making(figure, "file of results, or the folder for figure2_DATASET.csv")
    for family, makers in FAMILIES.items():
        told = "; ".join(f"{name}: {one.title}" for name, one in makers.experiments.items())
        command = commands.add_parser(
            family, help=makers.about, description=f"{told[0].upper()}{told[1:]}.", epilog=_RESUME
        )
        every = ", ".join(makers.experiments)
        command.add_argument("experiments", nargs="*", metavar="EXPERIMENT", help=f"of {every}; default: all")
        _making(command, f"folder for {family}_NAME.csv")
    return parser


def _making(command: argparse.ArgumentParser, out: str) -> None:
    command.add_argument(
        "--out", type=Path, help=f"{out}; default: data/results of a checkout, otherwise the current folder"
    )
    command.add_argument("--pieces", type=int, help="stop each file after so many pieces")
    command.add_argument(
        "--redo",
        nargs="+",
        default=[],
        metavar="METHOD",
        help="take these methods' rows out of the file first, for example because their calibration has changed",
    )
    command.add_argument("--jobs", type=int, default=1, help="pieces at a time on this machine")
    command.add_argument("--scheduler", help="of a Dask cluster: its address or its scheduler file")
    command.add_argument("--report", action="store_true", help="run nothing: print the means of what is stored")
    command.add_argument("--format", choices=FORMATS, default="text", help="how the table is written; default: text")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    options = _parser().parse_args(given)
    try:
        if options.command == "figure2":
            return _figure2(options, given)
        return _family(options)
    except BrokenPipeError:
        raise
    except (ValueError, OSError, ImportError) as error:  # missing data are an OSError
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("stopped; what is done is stored, and the same command goes on from there", file=sys.stderr)
        return 130
    return 0


def _figure2(options: argparse.Namespace, given: list[str]) -> int:
    methods, epsilons = dict.fromkeys(options.methods), dict.fromkeys(options.epsilons)
    experiment = sweep(options.dataset, tuple(methods), tuple(epsilons), options.trials, PRESETS[options.preset])
    path = results.path_of(options.dataset, options.out)
    made_by = session(f"{PROGRAM} {shlex.join(given)}") | ({"note": options.note} if options.note else {})
    if not options.report and options.scheduler is None:
        fetch(options.dataset)
    failed = _made(experiment, path, made_by, options)
    print(experiment.report(results.read(path), options.format))
    return failed


def _family(options: argparse.Namespace) -> int:
    makers, failed = FAMILIES[options.command], 0
    chosen = options.experiments or list(makers.experiments)
    experiments = [makers[name] for name in chosen]  # an unknown one is refused before the first runs
    for name, experiment in zip(chosen, experiments, strict=True):
        path = makers.family.path(name, options.out)
        failed |= _made(experiment, path, session(f"{PROGRAM} {options.command} {name}"), options)
        print(experiment.report(makers.family.load(name, options.out), options.format))
    return failed


def _made(experiment: Experiment[Any], path: Path, made_by: dict[str, str], options: argparse.Namespace) -> int:
    """1 where pieces failed, else 0."""
    if options.report:
        return 0
    forget(path, options.redo, experiment.row)
    failed = experiment.make(path, made_by, most=options.pieces, jobs=options.jobs, scheduler=options.scheduler)
    if failed:
        print(
            f"{len(failed)} pieces failed, the first with {failed[0].error}; the same command tries them again",
            file=sys.stderr,
        )
    return int(bool(failed))


if __name__ == "__main__":
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `| head` ends it without a word
    sys.exit(main())
