"""`objpert experiments` is `python -m objpert_core.experiments` by another name."""

import contextlib
import io

import pytest

from objpert_core.experiments.__main__ import main
from tests.cli.console import run


def under_the_other_name(*arguments: str) -> str:
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        assert main(list(arguments)) == 0
    return shown.getvalue()


@pytest.mark.slow
def test_both_names_print_the_same():
    for form in ("text", "markdown"):
        assert run(f"objpert experiments table1 --format {form}") == (
            0,
            under_the_other_name("table1", "--format", form),
        )


def test_help_and_refusals_have_the_commands_name():
    assert run("objpert experiments --help")[1].startswith("usage: objpert experiments ")
    code, shown = run("objpert experiments table1 --results nowhere.csv")
    assert code == 2
    assert shown.startswith("error: ")
    assert run("objpert experiments figure3")[0] == 2
