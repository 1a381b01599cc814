"""Reproduce the paper's figure and tables from the command line; see `python -m objpert_core.experiments --help`."""

from __future__ import annotations

import argparse
import shlex
import signal
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from objpert_core.datasets import names
from objpert_core.experiments import paper, results
from objpert_core.experiments.command import add_family, add_format, run_family
from objpert_core.experiments.figure2 import EPSILONS, TRIALS, Sweep, run
from objpert_core.experiments.intervals.stored import FAMILY as INTERVALS
from objpert_core.experiments.methods import EVERY, EXPLANATIONS, METHODS, PRESETS
from objpert_core.experiments.population import promises, stored, sweep
from objpert_core.experiments.ptr.stored import FAMILY as PTR
from objpert_core.experiments.quadratic.stored import FAMILY as QUADRATIC
from objpert_core.experiments.reports import paper_table, report
from objpert_core.experiments.results import Run
from objpert_core.experiments.runner import BACKENDS, Outcome
from objpert_core.experiments.store import Store, forget, session, write

TABLES = {table.lower().replace(" ", ""): dataset for dataset, table in paper.TABLES.items()}
FAMILIES = {family.name: family for family in (QUADRATIC, PTR, INTERVALS)}
_OVERRIDES = {  # options that change a preset
    "delta": (float, "δ of every private method"),
    "intercept_scaling": (float, "the constant feature of every private method; the paper's is 1"),
    "epochs": (int, "epochs of DP-SGD"),
    "batch_size": (int, "expected batch of DP-SGD, other than of dpsgd-dishonest-large"),
    "tau": (float, "gradient norm at which the published Algorithm 1 stops"),
}
_STOPPED = "stopped; what is done is in {path}, and the same command goes on from there"
_RESUME = """Finished fits are stored one by one and skipped when the same command is given again. A file holds one
configuration and one version only. On a cluster: --backend dask --scheduler tcp://HOST:8786, the same version installed
on every worker and the raw files where OBJPERT_DATA_DIR says."""


def _parser(program: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=program, description=__doc__.partition(";")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    figure = commands.add_parser(
        "figure2",
        help="test accuracy against ε, every method, over repeated splits",
        description="Test accuracy against ε, every method, over repeated splits. Methods: "
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
    for name, (kind, text) in _OVERRIDES.items():
        figure.add_argument("--" + name.replace("_", "-"), type=kind, help=text + "; default: the preset's")
    _where(figure)
    figure.add_argument(
        "--out",
        "--output",
        type=Path,
        help="file of results, or the folder for figure2_DATASET.csv; default: data/results of a checkout, "
        "otherwise the current folder",
    )
    figure.add_argument(
        "--redo",
        nargs="+",
        choices=list(EVERY),
        metavar="METHOD",
        help="take these methods' rows out of the file first, for example because their calibration has changed",
    )
    figure.add_argument("--note", help="a remark that is stored with the rows, for example what was reduced and why")
    _population_parser(commands)
    promises_of = commands.add_parser("promises", help="the accountant's ε of what Bassily et al. (2019) publish")
    promises_of.add_argument("--rows", nargs="+", type=int, default=list(sweep.ROWS), metavar="N")
    promises_of.add_argument(
        "--dimensions", nargs="+", type=int, default=list(sweep.DIMENSIONS["logistic"]), metavar="D"
    )
    promises_of.add_argument("--epsilons", nargs="+", type=float, default=list(sweep.EPSILONS), metavar="EPSILON")
    promises_of.add_argument("--out", type=Path, help="folder; default as for figure2")
    for family in FAMILIES.values():
        add_family(commands, family)
    for name, dataset in TABLES.items():
        table = commands.add_parser(name, help=f"the paper's numbers for {dataset} and ours")
        table.add_argument(
            "--results",
            type=Path,
            help="file of results, or the folder of figure2_DATASET.csv; default: where figure2 writes by default",
        )
        add_format(table)
    return parser


def _where(command: argparse.ArgumentParser) -> None:
    command.add_argument("--jobs", type=int, default=1, help="fits at a time on this machine")
    command.add_argument("--backend", choices=BACKENDS, default="loky")
    command.add_argument("--scheduler", help="Dask scheduler: address or scheduler file")


def _population_parser(commands: Any) -> None:
    about = "excess population risk against n, every method, over repeated draws"
    command = commands.add_parser(
        "population",
        help=about,
        description=f"{about[0].upper()}{about[1:]}; δ = 1/n², one row replaced. Methods: "
        + "; ".join(f"{name}: {text}" for name, text in sweep.LABELS.items() if name != "zero"),
        epilog=_RESUME,
    )
    command.add_argument("--populations", nargs="+", choices=list(sweep.POPULATIONS), default=list(sweep.POPULATIONS))
    command.add_argument("--rows", nargs="+", type=int, default=list(sweep.ROWS), metavar="N")
    command.add_argument("--dimensions", nargs="+", type=int, default=[], metavar="D")
    command.add_argument("--epsilons", nargs="+", type=float, default=list(sweep.EPSILONS), metavar="EPSILON")
    command.add_argument("--methods", nargs="+", default=[], metavar="METHOD")
    command.add_argument("--trials", type=int, default=sweep.TRIALS)
    _where(command)
    command.add_argument("--out", type=Path, help="folder for population_NAME.csv; default as for figure2")
    command.add_argument("--redo", nargs="+", default=[], metavar="METHOD", help="as for figure2")
    command.add_argument("--report", action="store_true", help="run nothing: print means and slopes of what is stored")
    add_format(command)


def main(arguments: Sequence[str] | None = None, *, program: str = "python -m objpert_core.experiments") -> int:
    """Run a command and return its exit status; `program` is what help texts call it."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    options = _parser(program).parse_args(given)
    try:
        if options.command == "figure2":
            return _figure2(options, given)
        if options.command == "population":
            return _population(options, given)
        if options.command == "promises":
            return _promises(options, given)
        if options.command in FAMILIES:
            return run_family(options, FAMILIES[options.command])
        print(paper_table(results.load(TABLES[options.command], options.results), options.format))
    except BrokenPipeError:
        raise
    except (ValueError, OSError, ImportError) as error:  # missing data are an OSError
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def _figure2(options: argparse.Namespace, given: list[str]) -> int:
    changes = {name: value for name in _OVERRIDES if (value := getattr(options, name)) is not None}
    sweep = Sweep(
        options.dataset,
        tuple(dict.fromkeys(options.methods)),
        tuple(dict.fromkeys(options.epsilons)),
        options.trials,
        replace(PRESETS[options.preset], **changes),
    )
    path = results.path_of(options.dataset, options.out)
    made_by = session("python -m objpert_core.experiments " + shlex.join(given))
    if options.note:
        made_by["note"] = options.note
    if options.redo:
        forget(path, options.redo)
    about = {"dataset": options.dataset, "configuration": sweep.parameters.as_configuration()}
    with Store(path, Run, made_by, **about) as store:
        try:
            failed = run(sweep, store, jobs=options.jobs, backend=options.backend, scheduler=options.scheduler)
        except KeyboardInterrupt:
            print(_STOPPED.format(path=path), file=sys.stderr)
            return 130
    print(report(results.read(path)))
    if failed:
        print(
            f"{len(failed)} fits failed, the first with {failed[0].error}; the same command tries them again",
            file=sys.stderr,
        )
    return 1 if failed else 0


def _promises(options: argparse.Namespace, given: list[str]) -> int:
    made_by = session("python -m objpert_core.experiments " + shlex.join(given))
    rows = [
        promises.accounted(method, n, d, epsilon)
        for epsilon in options.epsilons
        for d in options.dimensions
        for n in options.rows
        for method in ("sgd", "objective")
    ]
    path = promises.EXPERIMENT.path(options.out)
    write(path, rows, made_by | {"seeds": promises.EXPERIMENT.seeds})
    print(f"written: {path}")
    return 0


def _population(options: argparse.Namespace, given: list[str]) -> int:
    failed: list[Outcome] = []
    for name in options.populations:
        experiment = stored.EXPERIMENTS[name]
        path = experiment.path(options.out)
        if not options.report:
            wanted = sweep.Sweep(
                name,
                tuple(options.rows),
                tuple(options.dimensions),
                tuple(options.epsilons),
                options.trials,
                tuple(options.methods),
            )
            made_by = session("python -m objpert_core.experiments " + shlex.join(given))
            forget(path, options.redo, sweep.RiskRun)
            with experiment.store(made_by, options.out) as store:
                try:
                    failed += sweep.run(
                        wanted, store, jobs=options.jobs, backend=options.backend, scheduler=options.scheduler
                    )
                except KeyboardInterrupt:
                    print(_STOPPED.format(path=path), file=sys.stderr)
                    return 130
        print(stored.report(stored.load(name, options.out), options.format))
    if failed:
        print(f"{len(failed)} trials failed, the first with {failed[0].error}; the same command tries them again")
    return 1 if failed else 0


if __name__ == "__main__":
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `| head` ends it without a word
    sys.exit(main())
