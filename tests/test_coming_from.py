"""The page for people from other libraries: its blocks run, and their comments state what comes out."""

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[1] / "docs" / "coming_from.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE, flags=re.DOTALL | re.MULTILINE)


@pytest.mark.slow
@pytest.mark.parametrize("block", BLOCKS, ids=["diffprivlib", "dp_accounting", "opacus"])
def test_the_block_runs_and_its_comments_are_true(block):
    namespace: dict[str, object] = {}
    exec(compile(block, "coming_from.md", "exec"), namespace)
    stated = re.findall(r"^(\S.*)  # (True|\w+\(.*\))$", block, flags=re.MULTILINE)
    assert stated
    for expression, value in stated:
        assert str(eval(expression, namespace)) == value, expression
