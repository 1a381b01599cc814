"""Code on the pages of docs/ and in the README: it runs, and what comes out is what the page says.

All ```` ```python ```` blocks of a page run one after the other, with the same names, as a reader would run them.

* `expression  # 0.341`: the value, rounded up to as many digits, as promises are. `# ≈ 0.85` is rounded to the nearest.
* `expression  # True`, a string, a whole number, a list, or what `repr` prints, `Name(…)`: equal.
* Any other comment is words.
* A ```` ```text ```` block right behind the code is all that the code prints; `…` in it stands for anything in a line.
* A ```` ```bash ```` block whose every line begins with `objpert` runs as well, line by line, and exits with 0.
"""

from __future__ import annotations

import ast
import contextlib
import io
import re
import shlex
import tokenize
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

FENCE = re.compile(r"^(?P<fence>`{3,})(?P<language>[\w{}-]*)\n(?P<code>.*?)^(?P=fence)$", re.DOTALL | re.MULTILINE)


class Block(NamedTuple):
    """A block of a page: its language, its text, the line it begins in, and what stands right behind it."""

    language: str
    code: str
    line: int
    printed: str | None


def blocks(page: Path) -> list[Block]:
    """Every fenced block of a page, those that are printed output left out."""
    text = page.read_text(encoding="utf-8")
    fences = list(FENCE.finditer(text))
    found = []
    for fence, following in zip(fences, [*fences, None][1:], strict=True):
        behind = following and following["language"] == "text" and not text[fence.end() : following.start()].strip()
        if fence["language"] != "text":
            line = text.count("\n", 0, fence.start()) + 1
            found.append(
                Block(fence["language"], fence["code"], line, following["code"] if following and behind else None)
            )
    return found


def runs(block: Block) -> bool:
    """Whether a block is one that runs here: Python, or this package's command alone."""
    lines = block.code.replace("\\\n", " ").splitlines()
    return block.language == "python" or (
        block.language == "bash" and all(line.startswith("objpert ") for line in lines if line and line[0] != "#")
    )


def run_page(page: Path, names: dict[str, Any] | None = None) -> dict[str, Any]:
    """Run all blocks of a page that run; `names` are what a page takes for granted. The names after the last one."""
    names = {} if names is None else names
    found = [block for block in blocks(page) if runs(block)]
    assert found, f"{page.name} has no code"
    for block in found:
        where = f"{page.name}, line {block.line}"
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            (run_python if block.language == "python" else run_commands)(block.code, where, names)
        if block.printed is not None:
            pattern = ".*".join(map(re.escape, block.printed.strip("\n").split("…")))
            assert re.fullmatch(pattern, printed.getvalue().strip("\n")), f"{where} prints\n{printed.getvalue()}"
    return names


def run_commands(code: str, where: str, names: dict[str, Any]) -> None:
    """Run every line of a block as `objpert` itself would, in this process."""
    from objpert_core.cli import main

    for line in code.replace("\\\n", " ").splitlines():
        if line and line[0] != "#":
            assert main(shlex.split(line)[1:]) == 0, f"{where}: {line}"


def run_python(code: str, where: str, names: dict[str, Any]) -> None:
    """Run a block, statement by statement, and hold values against the comments behind them."""
    said = comments(code)
    for statement in ast.parse(code).body:
        comment = said.get(statement.end_lineno or 0)
        if isinstance(statement, ast.Expr):
            value = eval(compile(ast.Expression(statement.value), where, "eval"), names)
            if comment is not None:
                assert agrees(value, comment), f"{where}: {ast.unparse(statement)} is {value!r}, not {comment}"
        else:
            exec(compile(ast.Module([statement], []), where, "exec"), names)


def comments(code: str) -> dict[int, str]:
    """The comment behind the code of each line."""
    tokens = list(tokenize.generate_tokens(io.StringIO(code).readline))
    return {
        token.start[0]: token.string.lstrip("# ")
        for token in tokens
        if token.type == tokenize.COMMENT and token.line[: token.start[1]].strip()
    }


def claims(page: Path) -> Iterator[str]:
    """Comments of a page that state a value."""
    for block in blocks(page):
        if block.language == "python":
            yield from (comment for comment in comments(block.code).values() if stated(comment) is not None)


def stated(comment: str) -> Any:
    """What a comment states: a number as text, a value, or None for words."""
    if re.fullmatch(r"(≈ )?-?\d[\d_]*(\.\d+)?(e-?\d+)?", comment):
        return comment
    if re.fullmatch(r"\w+\(.*\)", comment):
        return comment
    try:
        value = ast.literal_eval(comment)
    except (SyntaxError, ValueError):
        return None
    return (value,)


def agrees(value: Any, comment: str) -> bool:
    """Whether a value is what the comment behind it states; words always agree."""
    claim = stated(comment)
    if claim is None:
        return True
    if isinstance(claim, tuple):
        return bool(value == claim[0])
    if "(" in claim:
        return repr(value) == claim or str(value) == claim
    number = Decimal(claim.removeprefix("≈ ").replace("_", ""))
    if isinstance(value, int):
        return value == number
    unit, above = Decimal(1).scaleb(int(number.as_tuple().exponent)), number - Decimal(float(value))
    return abs(above) <= unit / 2 if claim.startswith("≈") else 0 <= above < unit
