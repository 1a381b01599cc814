"""`python -m objpert_core.experiments` as people type it."""

import math
import runpy
import sys

import pytest

from objpert_core import _provenance
from objpert_core.exceptions import DataUnavailableError
from objpert_core.experiments import figure2, results
from objpert_core.experiments.__main__ import main
from objpert_core.experiments.results import read


@pytest.fixture
def out(tmp_path):
    return tmp_path / "figure2.csv"


def figure(out, *more, methods=("published", "tight"), epsilons=("1",), trials=2):
    what = ["--dataset", "digits-4-9", "--methods", *methods, "--epsilons", *epsilons, "--trials", str(trials)]
    return main(["figure2", *what, "--out", str(out), *more])


def test_a_sweep_stores_and_reports(out, capsys):
    assert figure(out, "--note", "two trials", methods=("non-private", "tight")) == 0
    said = capsys.readouterr()
    lines = said.err.splitlines()
    assert lines[0] == "digits-4-9: 4 of 4 fits to do"
    assert len(lines) == 5
    assert lines[2].startswith("[2/4] trial 0 tight ε = 1: ")
    assert "digits-4-9: test accuracy" in said.out
    found = read(out)
    assert [run.key for run in found.runs] == [
        (*one, trial) for trial in range(2) for one in (("non-private", math.inf), ("tight", 1.0))
    ]
    (session,) = found.sessions
    assert session["command"].startswith("python -m objpert_core.experiments figure2 --dataset digits-4-9 --m")
    assert session["note"] == "two trials"


@pytest.mark.thorough
def test_the_same_command_goes_on(out, capsys):
    assert figure(out, trials=1) == 0
    first = read(out).runs
    capsys.readouterr()
    assert figure(out, trials=3) == 0
    assert capsys.readouterr().err.startswith("digits-4-9: 4 of 6 fits to do")
    assert read(out).runs[: len(first)] == first
    assert figure(out, trials=3) == 0
    assert capsys.readouterr().err == "digits-4-9: 0 of 6 fits to do\n"


def test_a_method_can_be_done_again(out, capsys):
    assert figure(out, trials=1) == 0
    capsys.readouterr()
    assert figure(out, "--redo", "tight", trials=1) == 0
    assert capsys.readouterr().err.startswith("digits-4-9: 1 of 2 fits to do")
    assert [run.method for run in read(out).runs] == ["published", "tight"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("option", "name"),
    [
        (("--intercept-scaling", "1"), "intercept_scaling = 0.3, this run has 1.0"),
        (("--epochs", "30"), "epochs = 60, this run has 30"),
        (("--preset", "scripts"), "batch_size = 256, this run has 4096"),
        (("--delta", "1e-6"), "delta = 1e-05, this run has 1e-06"),
        (("--tau", "0.001"), "tau = 0.01, this run has 0.001"),
    ],
)
def test_options_change_the_configuration_and_are_not_mixed(out, capsys, option, name):
    assert figure(out, trials=1) == 0
    before = out.read_bytes()
    assert figure(out, *option, trials=1) == 2
    assert name in capsys.readouterr().err
    assert out.read_bytes() == before


@pytest.mark.thorough
def test_every_method_gets_the_constant_that_was_asked_for(out):
    assert figure(out, "--intercept-scaling", "1", trials=1) == 0
    found = read(out)
    assert found.configuration["intercept_scaling"] == 1.0
    model = figure2.Parameters.from_configuration(found.configuration)
    assert model.intercept_scaling == 1.0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--epsilons", "0"], "epsilons must be a finite number > 0, got 0.0"),
        (["--trials", "0"], "trials must be a whole number >= 1, got 0"),
        (["--jobs", "0"], "jobs must be a whole number >= 1, got 0"),
        (["--delta", "2"], "delta must be a number strictly between 0 and 1, got 2.0"),
        (["--backend", "dask"], "scheduler must be an address"),
        (["--scheduler", "tcp://127.0.0.1:1"], "absent otherwise"),
    ],
)
def test_bad_values_are_named_in_one_sentence(out, capsys, arguments, says):
    assert main(["figure2", "--dataset", "digits-4-9", "--out", str(out), *arguments]) == 2
    (line,) = [line for line in capsys.readouterr().err.splitlines() if line.startswith("error: ")]
    assert says in line
    assert not out.exists() or read(out).runs == ()


@pytest.mark.parametrize("arguments", [["figure2"], ["figure2", "--dataset", "mnist"], ["figure9"], []])
def test_nonsense_shows_the_usage(arguments, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    assert "usage: python -m objpert_core.experiments" in capsys.readouterr().err


def test_an_interrupted_sweep_says_that_it_can_go_on_and_goes_on(out, capsys, monkeypatch):
    original, calls = figure2.fit, []

    def interrupted(*arguments):
        calls.append(arguments)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return original(*arguments)

    monkeypatch.setattr(figure2, "fit", interrupted)
    assert figure(out) == 130
    assert "the same command goes on" in capsys.readouterr().err
    (before,) = read(out).runs
    assert figure(out) == 0
    assert capsys.readouterr().err.startswith("digits-4-9: 3 of 4 fits to do")
    assert read(out).runs[0] == before
    assert len(calls) == 2 + 3
    assert figure(at_once := out.with_name("at_once.csv")) == 0
    assert accuracies(out) == accuracies(at_once)
    assert len(accuracies(out)) == 4


def accuracies(path):
    return {run.key: (run.seed, run.accuracy) for run in read(path).runs}


def test_fits_that_fail_make_the_command_fail_and_are_tried_again(out, capsys, monkeypatch):
    original = figure2.fit

    def fails(data, method, *rest):
        if method == "published":
            raise RuntimeError("no")
        return original(data, method, *rest)

    with monkeypatch.context() as patch:
        patch.setattr(figure2, "fit", fails)
        assert figure(out) == 1
    said = capsys.readouterr().err
    assert "trial 1 published ε = 1 FAILED: RuntimeError: no" in said
    assert "2 fits failed, the first with RuntimeError: no" in said
    assert [run.method for run in read(out).runs] == ["tight"] * 2
    assert figure(out) == 0
    assert len(read(out).runs) == 4


@pytest.mark.parametrize(("table", "dataset"), [("table1", "synthetic-l"), ("table2", "adult")])
def test_tables_come_from_the_stored_results(table, dataset, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(results, "folder", lambda: tmp_path)
    assert main([table]) == 2
    assert f"figure2 --dataset {dataset}" in capsys.readouterr().err
    path = results.path_of(dataset)
    wrong = tmp_path / "wrong.csv"
    assert figure(wrong, methods=("tight",), trials=1) == 0
    path.write_text(wrong.read_text().replace("digits-4-9", dataset))
    capsys.readouterr()
    assert main([table]) == 0
    assert capsys.readouterr().out.startswith(f"{dataset}: test accuracy in %")
    assert main([table, "--results", str(wrong)]) == 2
    assert "got results for 'digits-4-9'" in capsys.readouterr().err


def test_an_installed_package_keeps_its_results_in_the_current_folder(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(_provenance, "PACKAGE", tmp_path / "site-packages" / "objpert_core")
    monkeypatch.chdir(tmp_path)
    what = ["figure2", "--dataset", "digits-4-9", "--methods", "tight", "--epsilons", "1", "--trials", "1"]
    assert main(what) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["figure2_digits-4-9.csv"]
    (tmp_path / "mine").mkdir()
    assert main([*what, "--output", str(tmp_path / "mine")]) == 0
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["figure2_digits-4-9.csv"]
    capsys.readouterr()
    assert main(["table1"]) == 2
    assert str(tmp_path / "figure2_synthetic-l.csv") in capsys.readouterr().err
    assert main(["table1", "--results", str(tmp_path / "mine")]) == 2
    assert str(tmp_path / "mine" / "figure2_synthetic-l.csv") in capsys.readouterr().err


@pytest.mark.slow  # starts a scheduler and two workers
def test_a_cluster_gives_the_same_numbers(out, tmp_path):
    distributed = pytest.importorskip("distributed", reason="the Dask backend needs the package distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None, protocol="inproc"
    ) as cluster:
        assert figure(out, "--backend", "dask", "--scheduler", cluster.scheduler_address) == 0
    here = tmp_path / "here.csv"
    assert figure(here) == 0
    assert accuracies(out) == accuracies(here)
    assert len(accuracies(out)) == 4


def test_missing_files_are_told_before_any_fit(out, capsys, monkeypatch):
    def absent(name):
        raise DataUnavailableError(f"{name} is not on disk")

    monkeypatch.setattr(figure2, "fetch", absent)
    assert figure(out) == 2
    assert "error: digits-4-9 is not on disk" in capsys.readouterr().err


@pytest.mark.filterwarnings("ignore:.*found in sys.modules:RuntimeWarning")
def test_it_starts_as_a_module(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["experiments", "figure2", "--help"])
    with pytest.raises(SystemExit) as stopped:
        runpy.run_module("objpert_core.experiments", run_name="__main__")
    assert stopped.value.code == 0
    said = capsys.readouterr().out
    assert "dpsgd-dishonest-large" in said
    assert "--scheduler" in said
