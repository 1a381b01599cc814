"""The command `objpert`: the app, and what one asks of the package without writing Python.

Every command is one module here with two functions. ``add(commands)`` adds its parser, quickly: whatever is slow to
import is imported by ``run(options)``, which returns the exit code. An error that a module raises on purpose is one
sentence (`ValueError`, `OSError`, `ImportError`, `Failed`), which `main` prints.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence

import objpert_core
from objpert_core.cli import accounting, app, calibrate, evaluate, fit, predict, schema, verify
from objpert_core.cli.columns import MISSING_WORDS
from objpert_core.cli.output import PLAIN_LETTERS, in_options, tell
from objpert_core.cli.parsing import CODES, DONE, FAILED, STOPPED, USAGE, Failed, Parser
from objpert_core.exceptions import ConvergenceError, DataUnavailableError, ReleaseRefusedError

CLOSED_PIPE = 141  # as a shell says of a command whose reader has gone
COMMANDS = (app, accounting, calibrate, schema, fit, predict, evaluate, verify)


def parser() -> argparse.ArgumentParser:
    """The command's parser with those of its commands."""
    whole = Parser(
        prog="objpert",
        description="Objective perturbation: private linear learners, explained and computed. "
        "Without a command the app opens.",
        epilog=CODES,
    )
    whole.add_argument("--version", action="version", version=f"objpert {objpert_core.__version__}")
    commands = whole.add_subparsers(title="commands", dest="command", metavar="COMMAND [options]", required=True)
    for module in COMMANDS:
        module.add(commands)
    return whole


def main(arguments: Sequence[str] | None = None) -> int:
    """Carry out a command line (None: this process's, without the program's name), and return the exit code: 0 done, 1
    it ran and failed, 2 usage or bad input, 130 stopped, 141 nobody reads the output any more.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=PLAIN_LETTERS)  # a terminal without Greek letters shows their names
    options = argparse.Namespace()
    try:
        options = _options(given or ["app"])
        code = int(options.run(options))
        if sys.stdout is not None:  # as `>&-` leaves it
            sys.stdout.flush()
    except SystemExit as stop:  # argparse has said why
        return int(stop.code or DONE)
    except KeyboardInterrupt:
        return STOPPED
    except BrokenPipeError:
        _write_nowhere()
        return CLOSED_PIPE
    except (ConvergenceError, ReleaseRefusedError, DataUnavailableError, Failed) as error:
        return _tell(error, options, FAILED)
    except (ValueError, OSError, ImportError) as error:
        return _tell(error, options, USAGE)
    return code


def _options(given: list[str]) -> argparse.Namespace:
    """The options of a command line; arguments that a command hands on to another program are its `rest`."""
    whole = parser()
    options, rest = whole.parse_known_args(list(_joined(given)))
    if rest and not hasattr(options, "rest"):
        whole.error(f"unrecognized arguments: {' '.join(rest)}")
    options.rest = rest
    return options


def _joined(given: list[str]) -> Iterator[str]:
    """The words of a command line; words for missing values are joined to their option, as they may begin with -."""
    words = iter(given)
    for word in words:
        value = next(words, None) if word == MISSING_WORDS else None
        yield word if value is None else f"{word}={value}"


def _tell(error: Exception, options: argparse.Namespace, code: int) -> int:
    asked = getattr(error, "asks", None)
    hint = f"; say --{asked}" if asked in vars(options) else ""
    tell(f"objpert: {in_options(str(error), options)}{hint}")
    return code


def _write_nowhere() -> None:
    """Nobody reads any more: the rest that Python wants to flush goes to the null device."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
