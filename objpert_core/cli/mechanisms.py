"""The mechanisms that `objpert accounting` and `objpert calibrate` know: their numbers, and how the core makes them."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

ADJACENCIES = {"add/remove": "add/remove one row", "replace": "replace one row"}
"""Which data sets are neighbours: the word on the command line and that of `objpert_core.accounting`."""

MOST_ROWS = 100
"""Of one person."""


@dataclass(frozen=True)
class Number:
    """A parameter of mechanisms: its type, and what it is."""

    kind: type
    help: str


NUMBERS: Mapping[str, Number] = {
    "sigma": Number(float, "σ, standard deviation of the noise"),
    "lam": Number(float, "λ, regularisation"),
    "lipschitz": Number(float, "L, largest norm of a row's gradient; default 1"),
    "smoothness": Number(float, "β, largest curvature of a row's loss; default L²/4"),
    "bound": Number(str, "the proof: logistic (default), monotone, two-signed, glm, kifer2012, non-glm; "
                    "for quadratic: exact (default), glm, sharpened, published"),
    "dimension": Number(int, "number of parameters"),
    "tau": Number(float, "τ, gradient norm at which the solver may stop; needs output noise"),
    "sigma_out": Number(float, "standard deviation of the output noise"),
    "noise_ratio": Number(float, "σ over that of the Gaussian mechanism, at least 1"),
    "sensitivity": Number(float, "how far a row moves the value, in the L2 norm"),
    "noise_multiplier": Number(float, "noise on a step's sum over the clipping norm"),
    "sample_rate": Number(float, "probability that a row is in a step's batch"),
    "steps": Number(int, "number of steps; for allocation, of one epoch"),
    "mean_runs": Number(float, "account for the best of a Poisson number of runs with this mean (for "
                        "adaptive-sampling: geometric)"),
    "batch_size": Number(int, "rows in a batch"),
    "rows": Number(int, "rows in the data"),
    "selections": Number(int, "steps of an epoch that a row is in; default 1"),
    "epochs": Number(int, "default 1"),
    "scale": Number(float, "σ² of the random quadratic term"),
    "degrees_of_freedom": Number(int, "of the Wishart matrix; more than the dimension"),
    "rank": Number(int, "largest rank of a row's Hessian; default 1"),
    "tolerance": Number(float, "by how much the solver's objective may exceed the least"),
    "anchor_error": Number(float, "how far the anchor may be from the minimiser"),
    "residual_bound": Number(float, "what residuals at the anchor are clipped to"),
    "tilt_share": Number(float, "the linear term's share of the budget; default 0.5"),
    "leverage": Number(float, "h, a row's leverage; for adaptive-sampling the largest; for several or replaced rows "
                       "the largest on any data"),
    "shift": Number(float, "precision times the squared residual of the row of --leverage"),
    "eigenvalue_mu": Number(float, "sensitivity over noise of the smallest eigenvalue"),
    "norm_mu": Number(float, "sensitivity over noise of the logarithm of the norm"),
    "separation": Number(float, "d of the posterior draw"),
    "failure": Number(float, "probability that a statistic is on the unsafe side"),
}  # fmt: skip


@dataclass(frozen=True)
class Mechanism:
    """A kind of mechanism: the numbers that it `needs` and `takes`, and those of its calibration beside ε and δ.

    `make` and `calibrate` get the module `objpert_core.accounting` and numbers by name. `source` names the proof of its
    ε."""

    title: str
    needs: tuple[str, ...]
    takes: tuple[str, ...]
    source: str
    make: Callable[[Any, dict[str, Any]], Any]
    target_needs: tuple[str, ...] = ()
    target_takes: tuple[str, ...] = ()
    calibrate: Callable[[Any, dict[str, Any]], Any] | None = None


def _objective(acc: Any, numbers: dict[str, Any]) -> Any:
    output = {name: numbers.pop(name) for name in ("tau", "sigma_out") if name in numbers}
    fit = acc.ObjectivePerturbation(**numbers)
    if not output:
        return fit
    if len(output) == 1:
        raise ValueError("--tau and --sigma-out go together: the output noise covers where the solver stops")
    return acc.ApproximateMinima(fit, **output)


def _dp_sgd(acc: Any, numbers: dict[str, Any]) -> Any:
    runs = numbers.pop("mean_runs", None)
    one = acc.DPSGD(**numbers)
    return one if runs is None else acc.PrivateSelection(one, runs)


def _tilt_and_bend(acc: Any, numbers: dict[str, Any]) -> Any:
    tilt = {name: numbers.pop(name) for name in ("sigma", "sensitivity")}
    return acc.TiltAndBend(acc.QuadraticPerturbation(**numbers), **tilt)


def _output(acc: Any, numbers: dict[str, Any]) -> Any:
    same = acc.calibrate_gaussian(**numbers)
    return acc.OutputPerturbation(same.sigma, same.sensitivity, adjacency=same.adjacency)


def _called(name: str) -> Callable[[Any, dict[str, Any]], Any]:
    return lambda acc, numbers: getattr(acc, name)(**numbers)


_TILT = ("scale", "degrees_of_freedom", "dimension", "sigma", "sensitivity")
MECHANISMS: Mapping[str, Mechanism] = {
    "objective": Mechanism(
        "objective perturbation",
        ("sigma", "lam"),
        ("lipschitz", "smoothness", "bound", "dimension", "tau", "sigma_out"),
        "",
        _objective,
        (),
        ("lipschitz", "smoothness", "bound", "dimension", "tau", "sigma_out", "noise_ratio", "lam"),
        _called("calibrate_objective_perturbation"),
    ),
    "gaussian": Mechanism(
        "Gaussian noise",
        ("sigma",),
        ("sensitivity",),
        "the exact profile (Balle and Wang 2018)",
        _called("Gaussian"),
        (),
        ("sensitivity",),
        _called("calibrate_gaussian"),
    ),
    "output": Mechanism(
        "output perturbation",
        ("sigma", "sensitivity"),
        (),
        "the exact profile (Balle and Wang 2018)",
        _called("OutputPerturbation"),
        ("sensitivity",),
        (),
        _output,
    ),
    "dp-sgd": Mechanism(
        "DP-SGD, batches by coins",
        ("noise_multiplier", "sample_rate", "steps"),
        ("mean_runs",),
        "privacy loss distributions of the steps",
        _dp_sgd,
        ("sample_rate", "steps"),
        ("mean_runs",),
        _called("calibrate_dpsgd"),
    ),
    "batches": Mechanism(
        "DP-SGD, batches of a fixed size",
        ("noise_multiplier", "batch_size", "rows", "steps"),
        (),
        "privacy loss distributions of the steps (T27)",
        _called("SampledWithoutReplacement"),
        ("batch_size", "rows", "steps"),
        (),
        _called("calibrate_sampled"),
    ),
    "allocation": Mechanism(
        "DP-SGD, rows shuffled into steps",
        ("noise_multiplier", "steps"),
        ("selections", "epochs"),
        "Feldman and Shenfeld (2025), docs/theorems.md, T28",
        _called("RandomAllocation"),
        ("steps",),
        ("selections", "epochs"),
        _called("calibrate_allocation"),
    ),
    "quadratic": Mechanism(
        "quadratic perturbation",
        ("scale", "degrees_of_freedom", "dimension"),
        ("smoothness", "bound", "rank", "tolerance", "anchor_error", "sigma_out"),
        "docs/theorems.md, T31 to T33",
        _called("QuadraticPerturbation"),
        ("dimension",),
        ("smoothness", "bound", "rank", "degrees_of_freedom"),
        _called("calibrate_quadratic_perturbation"),
    ),
    "tilt-and-bend": Mechanism(
        "noisy sums of squares: a quadratic and a linear term",
        _TILT,
        ("smoothness", "bound"),
        "docs/theorems.md, T34",
        _tilt_and_bend,
        ("dimension", "residual_bound"),
        ("smoothness", "degrees_of_freedom", "tilt_share"),
        _called("calibrate_tilt_and_bend"),
    ),
    "posterior": Mechanism(
        "a posterior draw", ("leverage", "shift"), (), "docs/theorems.md, T38", _called("PosteriorSampling")
    ),
    "adaptive-sampling": Mechanism(
        "a posterior draw behind two statistics",
        ("eigenvalue_mu", "norm_mu", "leverage", "separation", "failure"),
        ("mean_runs",),
        "docs/theorems.md, T39",
        _called("AdaptiveSampling"),
        (),
        ("mean_runs",),
        _called("calibrate_adaptive_sampling"),
    ),
}


def add_mechanism(command: argparse.ArgumentParser, *, calibrating: bool) -> None:
    """Add the mechanism's name and the options of all of them to a command's parser."""
    known = [word for word, one in MECHANISMS.items() if one.calibrate or not calibrating]
    command.add_argument(
        "mechanism", nargs="?", choices=known, default="objective", metavar="MECHANISM", help="default: objective"
    )
    used = {name for word in known for name in _allowed(word, calibrating)}
    group = command.add_argument_group("numbers of the mechanism")
    for name, number in NUMBERS.items():
        if name in used:
            metavar = {float: "X", int: "N", str: "NAME"}[number.kind]
            group.add_argument(flag(name), type=number.kind, metavar=metavar, help=number.help)
    add_adjacency(command, default=None, words="the mechanism's own")


def add_adjacency(parser: Any, *, default: str | None, words: str) -> None:
    """Add the option that says which data sets are neighbours; an earlier spelling, add-remove, still works."""
    parser.add_argument(
        "--adjacency",
        type=lambda word: "add/remove" if word == "add-remove" else word,
        choices=list(ADJACENCIES),
        default=default,
        help=f"neighbours differ by a row that is added or removed, or by one that is replaced; default: {words}",
    )


def table(*, calibrating: bool) -> str:
    """What each mechanism takes, as lines for a help text."""
    lines = ["mechanisms, what they need and [may have]:"]
    for word, one in MECHANISMS.items():
        if one.calibrate or not calibrating:
            needs, takes = (one.target_needs, one.target_takes) if calibrating else (one.needs, one.takes)
            lines.append(f"  {word}: {one.title}")
            words = [*map(flag, needs), *(f"[{flag(name)}]" for name in takes)]
            line = "   "
            for part in words:
                if len(line) + len(part) > 76:
                    lines.append(line)
                    line = "   "
                line += f" {part}"
            if words:
                lines.append(line)
    return "\n".join(lines)


def numbers(options: argparse.Namespace, *, calibrating: bool) -> dict[str, Any]:
    """The numbers that were given, by name; `ValueError` where the mechanism lacks one or does not have a given one."""
    word, one = options.mechanism, MECHANISMS[options.mechanism]
    given = {name: value for name in NUMBERS if (value := getattr(options, name, None)) is not None}
    allowed = _allowed(word, calibrating)
    if strangers := [name for name in given if name not in allowed]:
        raise ValueError(f"{word} has no {flag(strangers[0])}; it has {_listed(allowed)}")
    if lacking := [name for name in (one.target_needs if calibrating else one.needs) if name not in given]:
        raise ValueError(f"{word} needs {_listed(tuple(lacking))}")
    return given


def proof(word: str, single: Any, adjacency: str, *, renyi: bool) -> tuple[dict[str, str], dict[str, Any]]:
    """What proves the answer, by which curve and for which neighbours: in words, and for JSON."""
    bound, source, losses = getattr(single, "bound", None), MECHANISMS[word].source, ""
    if getattr(single, "mean_runs", 1.0) != 1.0:
        source += "; of the best of several runs docs/theorems.md, T11"
    if (entry := getattr(getattr(single, "objective", single), "entry", None)) is not None:
        bound, source, losses = entry.key, entry.cited("rdp" if renyi else "profile"), entry.coverage.words
    words = {
        "proof": source if bound is None else f"{bound} ({source})",
        "losses": losses,
        "accounted": "by the Rényi curve alone" if renyi else "",
        "neighbours": adjacency,
    }
    accountant = "rdp" if renyi else "profile"
    return words, {"bound": bound, "source": source, "accountant": accountant, "adjacency": adjacency}


def with_adjacency(word: str, given: dict[str, Any], adjacency: str | None) -> dict[str, Any]:
    """The numbers with the neighbours (None: the mechanism's own) as an argument, for mechanisms that take it."""
    if adjacency is None or word not in _BY_ARGUMENT:
        return given
    return given | {"adjacency": ADJACENCIES[adjacency]}


_BY_ARGUMENT = ("objective", "gaussian", "output", "dp-sgd", "quadratic", "tilt-and-bend")


def several(adjacency: str, rows: int | None) -> str:
    """Say which data sets are neighbours where one person has up to so many rows."""
    return adjacency if rows in (None, 1) else adjacency.replace("one row", f"up to {rows} rows of one person")


def check_rows_per_person(rows: int | None) -> None:
    """Refuse more rows of one person than can be accounted for in a moment."""
    from objpert_core._validation import integer_up_to

    if rows is not None:
        integer_up_to("rows_per_person", rows, MOST_ROWS)


def flag(name: str) -> str:
    """A number's option: sigma_out is ``--sigma-out``."""
    return "--" + name.replace("_", "-")


def _allowed(word: str, calibrating: bool) -> tuple[str, ...]:
    one = MECHANISMS[word]
    return (*one.target_needs, *one.target_takes) if calibrating else (*one.needs, *one.takes)


def _listed(names: tuple[str, ...]) -> str:
    flags = [flag(name) for name in names]
    return flags[0] if len(flags) == 1 else f"{', '.join(flags[:-1])} and {flags[-1]}" if flags else "no numbers"
