"""`objpert fit`: a private fit to a table, what may be published of it in a folder, and its certificate."""

from __future__ import annotations

import argparse
import dataclasses
import math
import sys
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from objpert_core.cli import columns, mechanisms
from objpert_core.cli.files import folder_of
from objpert_core.cli.output import (
    Answer,
    add_format,
    finite,
    in_options,
    note,
    printable,
    private_note,
    show,
    typed,
    up,
)
from objpert_core.cli.parsing import Failed, epilog, seed
from objpert_core.exceptions import ConvergenceError, PrivacyBudgetWarning
from objpert_core.tables import write

MODEL, CERTIFICATE, SCHEMA, SKOPS, CARD = "model.json", "certificate.json", "schema.json", "model.skops", "README.md"
EVALUATION, TOGETHER, SHAPES = "evaluation.json", "together.json", "shapes.csv"
"""What a release's folder holds; the first three always."""
_FOLDER = "objpert-release"
_MOST_ROWS = 10**15
_BALANCED = "balanced"
_CARD_SIZE = 1_000_000
"""Bytes of an earlier release's card."""
_NOTES = """You may publish what is printed and written. Standard error, and the fact that
a file was refused, depend on people's data, and the certificate does not cover
them. Each fit spends its ε; several fits to the same people add up."""


def add(commands: Any) -> None:
    """Add the command to a parser's commands."""
    command = commands.add_parser(
        "fit",
        usage="objpert fit DATA --epsilon X (--schema FILE | --target NAME …) [options]",
        help="a private model of a table, and its certificate",
        description="Fit a table privately: logistic regression for a target of two or more values, a regression "
        "for a number. One row is one person, unless --rows-per-person says more.",
        epilog=epilog(
            "objpert fit people.csv --target moved --two-values moved=no:yes \\",
            "    --number age:18:80 --categories job=office,workshop,café \\",
            "    --epsilon 1 --out release",
            "objpert fit people.csv --schema schema.json --epsilon 1 --overwrite",
            "objpert fit people.csv --schema schema.json --epsilon 1 --public-rows 5000 \\",
            "    --plan",
            notes=_NOTES,
        ),
    )
    command.add_argument("data", metavar="DATA", help=columns.DATA)
    promise = command.add_argument_group("the promise")
    promise.add_argument("--epsilon", type=float, required=True, metavar="X", help="ε of everything that is released")
    promise.add_argument("--delta", type=float, default=1e-5, metavar="X", help="δ; default 1e-5")
    promise.add_argument(
        "--public-rows", type=int, metavar="N", help="the number of rows, if it is known without these data"
    )
    promise.add_argument(
        "--rows-per-person",
        type=int,
        metavar="N",
        help="how many rows one person may have, or with --person how many of each are used; default 1",
    )
    mechanisms.add_adjacency(promise, default="add/remove", words="add/remove")
    promise.add_argument(
        "--class-weight",
        type=_weight,
        action="append",
        default=[],
        metavar="VALUE=WEIGHT",
        help="the weight of rows with this value of the target; or balanced: weights by noisy counts, within ε and δ",
    )
    promise.add_argument("--seed", type=seed, metavar="N", help="draw the noise from a seed: not for publishing")
    promise.add_argument(
        "--score", action="store_true", help="put rows aside and score the model, for the same ε and δ"
    )
    promise.add_argument(
        "--test-share",
        type=float,
        metavar="X",
        help="the share of rows to put aside, each by its own coin; default 0.2 with --score",
    )
    promise.add_argument(
        "--intervals", action="store_true", help="how far coefficients or effects may be off, for the same ε and δ"
    )
    models = promise.add_mutually_exclusive_group()
    models.add_argument(
        "--additive", action="store_true", help="a curve for each column; default where public numbers speak for it"
    )
    models.add_argument("--linear", action="store_true", help="a coefficient for each feature")
    promise.add_argument(
        "--plan",
        action="store_true",
        help="say what the fit would do, spend and release, and read nothing; needs --public-rows",
    )
    promise.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="address of a Dask cluster whose workers read the files, such as tcp://host:8786",
    )
    columns.add_columns(command)
    columns.add_dialect(command)
    written = command.add_argument_group("what is written")
    written.add_argument("--out", default=_FOLDER, metavar="FOLDER", help=f"default {_FOLDER}")
    written.add_argument("--overwrite", action="store_true", help="replace files of an earlier release")
    written.add_argument("--skops", action="store_true", help="the model for scikit-learn, too")
    written.add_argument("--card", action="store_true", help=f"a model card for whoever gets the model, {CARD}")
    add_format(command)
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read, fit, write and print; an error means that nothing was released, but for a `Failed` which says that the
    release is written and only the answer cannot be shown.
    """
    from objpert_core.estimators import own_table

    if not math.isfinite(options.epsilon):
        raise ValueError(f"epsilon must be a finite number > 0, got {options.epsilon!r}")
    if options.public_rows is not None and options.public_rows > _MOST_ROWS:
        raise ValueError(f"--public-rows must be at most {_MOST_ROWS:,}, got a larger number")
    share = _test_share(options)
    if options.rows_per_person is not None and options.rows_per_person < 1:
        raise ValueError(f"--rows-per-person must be a whole number >= 1, got {options.rows_per_person}")
    known = columns.schema(options)
    rows = options.rows_per_person or (1 if known.person is None else known.person.rows)
    if share is not None and rows > 1 and known.person is None:
        raise ValueError("--score needs --person where --rows-per-person is above 1: rows of one person share a coin")
    if options.scheduler is not None and known.person is not None:
        raise ValueError("--person must be left out with --scheduler, whose workers do not see each other's rows")
    own = (options.epsilon, options.delta, options.public_rows, options.seed, columns.dialect(options), share)
    people = (_class_weight(options), mechanisms.ADJACENCIES[options.adjacency], rows)
    model = "additive" if options.additive else "linear" if options.linear else "by rule"
    ask = own_table.Ask(known.to_json(), *own, *people, options.intervals, model)
    _ = ask.weights  # which refuses values that the target has not, before anything is read
    if (options.skops or options.card) and not own_table.skops_is_there():
        raise ImportError("--skops and --card need skops: pip install '/path/to/checkout[export]'")
    if options.plan:
        if options.public_rows is None:
            raise ValueError("--plan needs --public-rows: rules go by the number of rows, and no row is read")
        return _plan(own_table.planned(ask).mechanism, own_table.plan(ask), options)
    with folder_of(options.out, _names(options), overwrite=options.overwrite) as files:
        if columns.is_walked(options.data) or options.scheduler is not None:
            fit = partial(own_table.made_of_any_size, ask, options.data, options.scheduler)
        else:
            fit = partial(own_table.made, ask, columns.content(options.data))
        try:
            made = _fitted(fit, ask, options)
        except ConvergenceError:
            raise ConvergenceError(own_table.NOT_CONVERGED) from None
        except (ValueError, OSError, ImportError, KeyboardInterrupt):
            raise
        except Exception as error:  # its text may hold values of the table
            why = f"something unexpected went wrong ({type(error).__name__}): nothing was released"
            raise Failed(why) from None
        files[MODEL] = own_table.model_json(made)
        files[CERTIFICATE] = own_table.certificate_json(made)
        files[SCHEMA] = own_table.schema_json(made)
        if made.ask.model == own_table.ADDITIVE:
            files[SHAPES] = own_table.shapes_csv(made.model, made.labels)
        if made.evaluation is not None:
            files[EVALUATION] = own_table.evaluation_json(made.evaluation)
            files[TOGETHER] = own_table.whole_json(made)
        if options.skops:
            files[SKOPS] = own_table.skops_file(made)
        if options.card:
            files[CARD] = own_table.card_file(made)
        written = list(files)
    try:
        for text in made.notes:
            private_note(text)
        for text in made.cautions:
            note(text)
        _print(options, made, known.target.column, written)
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise Failed(f"the release is in {options.out}, but the answer could not be shown: {why}") from None
    return 0


def _plan(mechanism: Any, rows: list[dict[str, str]], options: argparse.Namespace) -> int:
    """Print what the fit would do, in the words of the recipe."""
    document = {"command": "fit --plan", "plan": {"rows": rows, "noise": dataclasses.asdict(mechanism)}}
    show(Answer("what this fit would do, spend and release; no row was read", {}, document, rows), options.format)
    return 0


def _weight(text: str) -> tuple[str, float | None]:
    value, sign, weight = text.rpartition("=")
    if not sign and text == _BALANCED:
        return text, None
    try:
        if not value:
            raise ValueError
        return value, float(weight)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} must be {_BALANCED} or look like yes=5") from None


def _class_weight(options: argparse.Namespace) -> str | tuple[tuple[str, float], ...] | None:
    given = options.class_weight
    if any(weight is None for _, weight in given):
        if len(given) > 1:
            raise ValueError(f"--class-weight must be {_BALANCED} alone, or name values and their weights")
        return _BALANCED
    return tuple(given) or None


def _test_share(options: argparse.Namespace) -> float | None:
    if not options.score:
        if options.test_share is not None:
            raise ValueError("--test-share goes with --score, which scores the rows that are put aside")
        return None
    from objpert_core._validation import in_open_unit

    return in_open_unit("--test-share", 0.2 if options.test_share is None else options.test_share)


def _names(options: argparse.Namespace) -> tuple[str, ...]:
    """The files of a release, with a card where one is asked for or an earlier one goes."""
    earlier = options.overwrite and _is_a_card(Path(options.out) / CARD)
    own = (MODEL, CERTIFICATE, SCHEMA, SHAPES, EVALUATION, TOGETHER, SKOPS)
    return (*own, CARD) if options.card or earlier else own


def _is_a_card(path: Path) -> bool:
    from objpert_core.estimators.cards import is_card

    try:
        with path.open("rb") as file:
            return is_card(file.read(_CARD_SIZE).decode("utf-8", errors="replace"))
    except OSError:  # there is none
        return False


def _fitted(fit: Callable[[], Any], ask: Any, options: argparse.Namespace) -> Any:
    """The fit; each warning of the package becomes a line."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", PrivacyBudgetWarning)
        made = fit()
    if ask.rows is None:
        note("the number of rows counts as known to all; if it is known without these data, say --public-rows N")
    if ask.seed is not None:
        consequence = "whoever knows the seed can subtract the noise; do not publish this release"
        note(f"the noise comes from the seed {ask.seed}: {consequence}")
    for warning in told:
        if "public_rows" not in str(warning.message):
            note(in_options(" ".join(str(warning.message).split()), options))
    return made


def _print(options: argparse.Namespace, made: Any, target: str, written: list[str]) -> None:
    from objpert_core.estimators import own_table, regression_table

    certificate, evaluation = made.model.privacy_, made.evaluation
    promise = f"ε = {up(certificate.epsilon)}, δ = {typed(certificate.delta)}"
    headline = f"a model of {target!r} with {promise} is in {options.out}: {', '.join(written)}"
    document = {
        "command": "fit",
        "inputs": {"target": target, "epsilon": options.epsilon, "delta": options.delta},
        "folder": options.out,
        "files": written,
        "certificate": certificate.to_dict(),
    }
    if evaluation is not None:
        document["scores"] = scores_document(evaluation)
    shapes = _shapes(made)
    told = options.intervals and not shapes
    if told:
        coefficients = own_table.summary(made)
        document["coefficients"] = coefficients.reset_index(names="feature").to_dict("records")
        document["caution"] = coefficients.attrs["caution"]
    if shapes:
        document["shapes"] = shapes
    if options.format == "text":
        print(headline)
        print(certificate)
        if told:
            print(_coefficients(made), end="")
        if shapes:
            print("\n" + write(shapes, "text"), end="")
        if evaluation is not None:
            print("\n" + write(evaluation.statement(), "text"), end="")
    else:
        show(Answer(headline, {}, document, certificate.statement()), options.format)
        if told and options.format in ("markdown", "latex"):
            print("\n" + regression_table(made.model, options.format, scaler=made.ask.schema), end="")
            if document["caution"]:
                print(f"\n{document['caution']}")
        if shapes and options.format in ("markdown", "latex"):
            print("\n" + write(shapes, options.format), end="")


def _coefficients(made: Any) -> str:
    from objpert_core.estimators import own_table

    table = own_table.summary(made)
    rows = [
        {"feature": name}
        | {
            column: f"{value:{'.3f' if '|' in column else '.3g'}}"
            for column, value in zip(table.columns, row, strict=True)
        }
        for name, row in zip(table.index, table.to_numpy().tolist(), strict=True)
    ]
    told = "log-odds for one unit of the column"
    if known := made.ask.schema.references:
        told += ", against " + ", ".join(f"{name} = {category}" for name, category in known.items())
    caution = table.attrs["caution"]
    return f"\n{write(rows, 'text')}{printable(told)}\n" + (f"{caution}\n" if caution else "")


def _shapes(made: Any) -> list[dict[str, str]]:
    """Where each column of an additive model adds most to a score and least, by pieces that somebody may be on."""
    from objpert_core.estimators import own_table

    if made.ask.model != own_table.ADDITIVE:
        return []
    found: Any = own_table.shapes(made.model, made.labels)
    rows = []
    for of, own in found[found.share > 0].groupby(found.columns.intersection(["column", "class"]).tolist(), sort=False):
        ends = {"adds most": own.loc[own.effect.idxmax()], "adds least": own.loc[own.effect.idxmin()]}
        told = {name: f"{_effect(one)}: {one.piece}, {_share(one.share)} of rows" for name, one in ends.items()}
        rows.append(dict(zip(("column", "value"), of, strict=False)) | told)
    return rows


def _share(share: float) -> str:
    return f"{share:.0%}" if share >= 0.005 else "under 1%"


def _effect(row: Any) -> str:
    return f"{row.effect:+.2f}" + (f" ({row.low:+.2f} to {row.high:+.2f})" if "low" in row else "")


def scores_document(evaluation: Any) -> dict[str, Any]:
    """An evaluation's scores for JSON."""
    names = ("value", "low", "high")
    return {
        score: {name: finite(getattr(one, name)) for name in names} for score, one in evaluation.estimates().items()
    }
