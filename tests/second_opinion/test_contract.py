"""One contract: no mechanism promises more than its definition, and none much less; every public mechanism is asked."""

from __future__ import annotations

import ast
import inspect
import math
import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.second_opinion import BLOCK, DOCUMENT
from objpert_core import accounting
from tests.second_opinion import batches, objective
from tests.second_opinion.case import Case
from tests.second_opinion.cases import CASES
from tests.second_opinion.measured import log_delta, points

HERE = Path(__file__).parent
MAY_IMPORT = {"test_contract.py", "test_beside_the_mechanisms.py"}
WIDE = [case for case in CASES if case.slow]
IN_CI = set(WIDE[::6])  # the others by hand; the command that makes the table asks all
TAKE_LONGER = {"Composition", "SampledWithReplacement", "SampledWithoutReplacement", "ViaRDP", "one_vs_rest"}
EVERY_DAY = {case.mechanism: case for case in reversed(CASES) if not (case.slow or case.mechanism in TAKE_LONGER)}
"""The first of each mechanism, where that takes less than a fifth of a second."""
BY_SUMS = 1e-100  # what resolves no smaller δ adds up losses, and looks for ε for seconds


def _asked(case: Case, *, wide: Any = pytest.mark.exhaustive) -> Any:
    """Return a test's parameter: when it runs."""
    when = wide if case.slow else pytest.mark.thorough
    return pytest.param(case, id=str(case), marks=[] if case is EVERY_DAY.get(case.mechanism) else [when])


PARTS = [_asked(case, wide=pytest.mark.slow if case in IN_CI else pytest.mark.exhaustive) for case in CASES]
FORMS = [_asked(case) for case in CASES]
BOTH_WAYS = [
    pytest.param(*asked.values, id=asked.id, marks=[*asked.marks, *[pytest.mark.slow] * (case.resolved > BY_SUMS)])
    for case, asked in zip(CASES, FORMS, strict=True)
    if case.epsilons and case.mechanism != "DiscretePLD"
]


@cache
def mechanism(case: Case) -> Any:
    return case.make(accounting)


@pytest.mark.parametrize("case", PARTS)
def test_the_definition_is_covered_and_not_by_much_more_than_is_said(case: Case) -> None:
    found = list(points(case, mechanism(case)))
    assert not [f"unsafe: {point}" for point in found if point.unsafe]
    assert not [f"loose: {point}" for point in found if point.loose]


@pytest.mark.exhaustive
@pytest.mark.parametrize("family", [batches, objective], ids=["batches", "objective"])
@pytest.mark.parametrize("seed", range(150))
def test_nothing_is_promised_in_excess_anywhere(family: Any, seed: int) -> None:
    case = family.anywhere(np.random.default_rng(seed))
    assert not [f"{case}, unsafe: {point}" for point in points(case, case.make(accounting)) if point.unsafe]


@pytest.mark.parametrize("case", FORMS)
def test_curves_are_monotone(case: Case) -> None:
    asked = mechanism(case)
    if case.epsilons:
        epsilons = np.unique(case.epsilons)
        deltas = log_delta(asked, epsilons)
        assert np.all(deltas <= 0)
        assert np.all(deltas[1:] <= deltas[:-1] + 1e-12 * (0.01 + np.abs(np.fmax(deltas[:-1], -1e4))))
        if attained := getattr(asked, "attained_delta", None):
            assert all(attained(float(e)) <= asked.delta(float(e)) * (1 + 1e-9) for e in epsilons if e < 700)
    if case.orders:
        curve = asked.rdp(np.unique([*case.orders, *np.geomspace(1, 1e4, 9)]))
        assert np.all(curve >= 0)
        assert np.all((curve[1:] >= curve[:-1] * (1 - 1e-9)) | np.isinf(curve[1:]))


@pytest.mark.parametrize("case", BOTH_WAYS)
def test_epsilon_is_the_inverse_of_delta_and_bounds_lie_in_order(case: Case) -> None:
    asked = mechanism(case)
    deltas = log_delta(asked, np.array(case.epsilons))
    targets = np.unique(np.exp(deltas[(deltas > -600) & (deltas < -1e-6)]))
    if not targets.size:
        return
    lowest, highest = float(targets[0]), float(targets[-1])
    enough, least = asked.epsilon(lowest), asked.epsilon(highest)
    assert least <= enough
    assert math.isinf(enough) or asked.delta(enough) <= lowest
    if case.resolved <= BY_SUMS and 0 < enough < math.inf:
        less = 1e-2 if case.looseness is None else 1e-5
        assert asked.log_delta(enough * (1 - less)) >= math.log(lowest) - 1e-9
    assert math.isinf(least) or asked.delta(least) <= highest
    if hasattr(asked, "delta_bounds"):
        if case.looseness is not None:
            most = max(direction.log_delta(case.epsilons[0])[1] for direction in case.directions)
            assert asked.delta_bounds(case.epsilons[0])[0] <= math.exp(most) * (1 + 1e-9)
            below = asked.epsilon_bounds(lowest)[0]
            attained = max(direction.log_delta(below)[1] for direction in case.directions)
            assert below == 0 or attained >= math.log(lowest) - 1e-6
        assert np.all(np.less_equal(*asked.delta_bounds(np.array(case.epsilons[:2]))))
        assert np.less_equal(*asked.epsilon_bounds(lowest))


def test_every_public_mechanism_has_a_second_opinion() -> None:
    public = {name for name in accounting.__all__ if _makes_a_mechanism(getattr(accounting, name))}
    assert len(public) > 20
    assert public <= {case.mechanism for case in CASES}


def _makes_a_mechanism(public: Any) -> bool:
    """Whether it is a mechanism, a distribution of losses, or a function that makes a mechanism of mechanisms."""
    if inspect.isclass(public):
        concrete = issubclass(public, accounting.Mechanism) and not inspect.isabstract(public)
        return concrete or public is accounting.DiscretePLD
    if not inspect.isfunction(public) or public.__name__.startswith(("calibrate", "from_", "read_")):
        return False
    made = getattr(accounting, str(inspect.signature(public).return_annotation), None)
    return inspect.isclass(made) and issubclass(made, accounting.Mechanism)


def test_the_names_are_public_ones() -> None:
    assert {case.mechanism for case in CASES} <= set(accounting.__all__)
    assert len({str(case) for case in CASES}) == len(CASES)


@pytest.mark.parametrize("path", sorted(HERE.glob("*.py")), ids=lambda path: path.name)
def test_no_definition_imports_what_it_judges(path: Path) -> None:
    allowed = {
        "__future__",
        "abc",
        "collections",
        "dataclasses",
        "fractions",
        "functools",
        "itertools",
        "math",
        "typing",
    }
    allowed |= {"numpy", "scipy", "mpmath"}
    imported = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add(str(node.module))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in {"__import__", "exec", "eval"}
    strange = {
        name for name in imported if name.split(".")[0] not in allowed and not name.startswith("tests.second_opinion")
    }
    assert path.name in MAY_IMPORT or not strange


def test_the_table_in_the_document_has_a_row_for_every_mechanism() -> None:
    (block,) = re.findall(BLOCK.replace(".*?", "(?P<table>.*?)"), DOCUMENT.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert re.findall(r"^\| `(\w+)` \|", block[1], flags=re.MULTILINE) == sorted({case.mechanism for case in CASES})
