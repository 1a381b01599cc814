"""Mutants: the same for the same seed, each a change of one place, and files that Python reads."""

import ast

import pytest

from benchmarks.mutants import PACKAGES, ROOT, drawn


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
