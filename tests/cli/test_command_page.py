"""docs/command.md: every command on it runs and prints what stands below it; help texts have the same examples."""

import argparse
import os
import re
import sys
from pathlib import Path

import click
import pytest

from deploy.settings import ROOT
from objpert_core import _provenance
from objpert_core.cli import app, main, parser, server
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


# Programs of the app: what they are started with, where, and in which environment


@pytest.fixture
def started(monkeypatch, tmp_path):
    """What `main` turned the process into: words, environment, folder; nothing is started."""
    seen = []

    def execve(program, command, environment):
        assert program == command[0] == sys.executable
        seen.append((command[1:], environment, Path.cwd()))
        raise SystemExit(7)  # this process's end; the other one's exit code

    monkeypatch.setattr(os, "execve", execve)
    monkeypatch.chdir(tmp_path)
    return seen


def options(words):
    return dict(zip(words[4::2], words[5::2], strict=True))


def test_without_a_command_the_app_opens_with_its_own_settings(started):
    assert main([]) == 7
    ((words, environment, folder),) = started
    assert folder == ROOT
    assert (folder / ".streamlit" / "config.toml").is_file()
    assert words[:4] == ["-m", "objpert_core.cli.server", "run", "app.py"]
    assert options(words) == {
        "--server.port": "8501",
        "--server.address": "localhost",
        "--server.headless": "false",
        "--server.showEmailPrompt": "false",
    }
    assert environment["PYTHONPATH"].split(os.pathsep)[0] == str(ROOT)


def test_choices_reach_the_server_and_every_address_is_told_as_this_computers(started):
    main(["app", "--port", "8600", "--address", "0.0.0.0", "--no-browser"])
    told = options(started[0][0])
    assert (told["--server.port"], told["--server.address"]) == ("8600", "0.0.0.0")
    assert (told["--server.headless"], told["--browser.serverAddress"]) == ("true", "localhost")


def test_a_class_is_served_by_the_script_from_where_one_stands(started, monkeypatch, tmp_path):
    monkeypatch.setenv("PYTHONPATH", "mine")
    monkeypatch.setenv("OBJPERT_LESSONS", "lessons")
    assert main(["serve", "--processes", "3", "--cert", "chain.pem"]) == 7
    ((words, environment, folder),) = started
    assert words[:5] == ["-P", "-m", "deploy.serve", "--started-as", "objpert serve"]
    assert words[5:] == ["--processes", "3", "--cert", "chain.pem"]
    assert folder == tmp_path
    assert environment["PYTHONPATH"].split(os.pathsep) == [str(ROOT), "mine"]
    assert environment["OBJPERT_LESSONS"] == str(tmp_path / "lessons")


@pytest.mark.parametrize("command", ["app", "serve"])
def test_what_is_missing_is_named_with_what_installs_it(started, monkeypatch, capsys, command):
    monkeypatch.setattr(app, "PACKAGES", ("json", "no_such_package"))
    assert main([command]) == 2
    assert capsys.readouterr().err == (
        "objpert: the app needs no_such_package, which is not installed: pip install '/path/to/checkout[app]'\n"
    )
    assert not started


def test_a_package_without_the_app_says_so(started, monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(_provenance, "PACKAGE", tmp_path / "objpert_core")
    assert main(["app"]) == 2
    assert capsys.readouterr().err.startswith(f"objpert: the app is not in '{tmp_path}'")


@pytest.mark.parametrize("port", ["0", "65536", "-1", "x", "²"])
def test_a_port_that_is_none_is_refused(started, capsys, port):
    assert main(["app", f"--port={port}"]) == 2
    assert "it must be from 1 to 65535" in capsys.readouterr().err
    assert not started


@pytest.mark.parametrize(
    ("end", "code"),
    [(None, 0), (KeyboardInterrupt(), 130), (click.Abort(), 130), (click.UsageError("no such option"), 2)],
)
def test_ctrl_c_is_a_stop_and_no_failure(monkeypatch, end, code):
    def run(**_):
        if end is not None:
            raise end

    monkeypatch.setattr("streamlit.web.cli.main", run)
    assert server.main() == code
