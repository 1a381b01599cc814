"""Mutants: the same for the same seed, each a change of one place, and files that Python reads."""

import ast
from itertools import chain

import pytest

from benchmarks.equivalent_mutants import EQUIVALENT
from benchmarks.mutants import PACKAGES, ROOT, by_line, drawn


@pytest.mark.slow
def test_a_seed_draws_the_same_changes_of_one_line_each():
    pytest.importorskip("cosmic_ray")
    mutants = drawn(40, 1)
    assert len(mutants) == 40
    assert [mutant.name for mutant in mutants] == [mutant.name for mutant in drawn(40, 1)]
    assert {mutant.path.split("/")[1] for mutant in mutants} == {package.split("/")[0] for package in PACKAGES}
    for mutant in mutants:
        source = (ROOT / mutant.path).read_text(encoding="utf-8")
        changed = mutant.code(source)
        assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(source)), mutant.name


@pytest.mark.parametrize("name", EQUIVALENT)
def test_what_is_said_to_change_nothing_is_said_of_a_line_that_there_is(name):
    path, _, change = name.partition(": ")
    before, _, after = change.partition(" → ")
    lines = [line.strip() for line in (ROOT / path).read_text(encoding="utf-8").splitlines()]
    assert before in lines
    assert before != after


@pytest.mark.exhaustive
def test_what_is_said_to_change_nothing_is_said_in_the_words_of_a_mutant():
    pytest.importorskip("cosmic_ray")
    told = {name.partition(" → ")[0] for name in EQUIVALENT}
    paths = {name.partition(": ")[0] for name in EQUIVALENT}
    lines = {path: (ROOT / path).read_text(encoding="utf-8").splitlines() for path in paths}
    near = (
        mutant
        for mutant in chain.from_iterable(by_line().values())
        if mutant.path in paths
        and (
            mutant.operator == "RemoveDecorator"  # which leaves nothing of its line
            or f"{mutant.path}: {lines[mutant.path][mutant.line - 1].strip()}" in told
        )
    )
    assert {mutant.name for mutant in near} >= set(EQUIVALENT)
