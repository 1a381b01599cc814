"""docs/command.md: every command on it runs and prints what stands below it; help texts have the same examples."""

import argparse
import re
from pathlib import Path

import pytest

from objpert_core.cli import parser
from tests.cli.console import PEOPLE, console, run

PAGE = (Path(__file__).parents[2] / "docs" / "command.md").read_text(encoding="utf-8")


def parsers() -> dict[str, argparse.ArgumentParser]:
    (commands,) = [action for action in parser()._actions if isinstance(action, argparse._SubParsersAction)]
    return dict(commands.choices)


@pytest.mark.slow
@pytest.mark.covered
def test_every_command_of_the_page_prints_what_stands_there(town_too):
    commands = console(PAGE)
    assert len(commands) > 15
    for line, shown in commands:
        assert run(line) == (0, shown), line
    assert (town_too / "predicted.csv").read_text().startswith("moved\n")


def test_the_page_names_every_command():
    assert set(parsers()) == set(re.findall(r"`objpert ([a-z]+)`", PAGE.partition("## How private")[0]))


def examples() -> list[str]:
    """The command lines below `example:` in the help texts."""
    found = []
    for own in parsers().values():
        lines = re.findall(r"^  (objpert (?:[^\n]*\\\n)*[^\n]*)$", own.epilog or "", flags=re.MULTILINE)
        found += [line.replace("\\\n", " ") for line in lines]
    return found


@pytest.mark.slow
def test_the_examples_of_the_help_texts_run(folder):
    names, *rows = PEOPLE.decode().splitlines()
    (folder / "new.csv").write_text("\n".join([names, *rows[:3]]), encoding="utf-8")
    (folder / "test.csv").write_bytes(PEOPLE)
    order = (
        "calibrate",
        "accounting",
        "schema people",
        "fit people.csv --target",
        "predict",
        "evaluate",
        "verify",
        "fit",
    )
    found = [line for line in examples() if not line.startswith(("objpert app", "objpert serve"))]
    found.sort(key=lambda line: next(at for at, start in enumerate(order) if line.startswith(f"objpert {start}")))
    assert len(found) >= 12
    for line in found:
        if "--schema schema.json" in line:  # its blanks are filled in by hand
            (folder / "schema.json").write_bytes((folder / "release" / "schema.json").read_bytes())
            line = line.replace("--overwrite", "--overwrite --out release")
        assert run(line)[0] == 0, line


@pytest.mark.parametrize("name", sorted(set(parsers()) - {"serve"}))
def test_help_fits_on_80_columns_and_says_what_codes_mean(name):
    code, shown = run(f"objpert {name} --help")
    assert code == 0
    assert max(map(len, shown.splitlines())) <= 80
    assert name == "app" or "exit codes: 0 done; 1 it ran and failed" in shown
