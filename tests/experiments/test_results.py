"""Files of results: nothing is lost by an interruption, and nothing is mixed that does not belong together."""

import json
import math
import re
from dataclasses import replace

import numpy as np
import pytest

import objpert_core
from benchmarks.experiments import store
from benchmarks.experiments.store import Store, forget, session
from objpert_core import _provenance
from objpert_core.exceptions import DataUnavailableError
from objpert_core.experiments import results
from objpert_core.experiments.figure2 import noise_seed
from objpert_core.experiments.methods import EXPLANATIONS, METHODS
from objpert_core.experiments.results import Run, load, path_of, read, stored

CONFIGURATION = {"delta": 1e-5, "learning_rates": (0.1, 0.2)}
SESSION = {"command": "python -m objpert_core.experiments figure2", "commit": "abc1234"}
TIGHT = Run(
    "adult", "tight", 0.1, 1e-5, 0, 0, 17, accuracy=0.1 + 0.2, seconds=0.25, sigma=43.4861, lam=19.9, peak_mb=3.5
)
REFERENCE = Run("adult", "non-private", math.inf, None, 3, 3, None, accuracy=0.85, seconds=4.0)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "made" / "results.csv"


def opened(path, configuration=CONFIGURATION, dataset="adult", by=SESSION):
    return Store(path, Run, by, dataset=dataset, configuration=configuration)


def filled(path, *runs):
    with opened(path) as store:
        for run in runs:
            store.append(run)


def test_what_is_written_is_read(path):
    filled(path, TIGHT, REFERENCE)
    found = read(path)
    assert found.runs == (TIGHT, REFERENCE)
    assert (found.dataset, found.version) == ("adult", objpert_core.__version__)
    assert found.configuration == {"delta": 1e-5, "learning_rates": [0.1, 0.2]}
    assert found.sessions == (SESSION,)
    assert found.done == {("tight", 0.1, 0), ("non-private", math.inf, 3)}


def test_runs_of_a_method_come_by_trial(path):
    filled(path, replace(TIGHT, trial=4), replace(TIGHT, trial=1), replace(TIGHT, epsilon=8.0), REFERENCE)
    assert [run.trial for run in read(path).of("tight", 0.1)] == [1, 4]
    assert read(path).of("output", 0.1) == ()


def test_a_store_goes_on_where_it_stopped(path):
    filled(path, TIGHT)
    with opened(path, by=SESSION | {"commit": "def5678"}) as store:
        assert store.done == {TIGHT.key}
        store.append(REFERENCE)
    assert read(path).runs == (TIGHT, REFERENCE)
    lines = path.read_text().splitlines()
    marks = [line[0] if line[0] == "#" else line.split(",")[1] for line in lines[4:]]
    assert marks == ["method", "#", "tight", "#", "non-private"]  # each session stands above its own rows
    assert [item["commit"] for item in read(path).sessions] == ["abc1234", "def5678"]


@pytest.mark.parametrize("cut", [1, 5, 30])
def test_a_row_that_was_cut_off_is_left_out_and_done_again(path, cut):
    filled(path, TIGHT, REFERENCE)
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    assert len(whole.splitlines()[-1]) >= cut
    assert [run.key for run in read(path).runs] == [TIGHT.key]
    filled(path, REFERENCE)
    assert read(path).runs == (TIGHT, REFERENCE)


def test_an_empty_or_torn_first_line_starts_afresh(path):
    path.parent.mkdir()
    path.write_text("# Test acc")
    filled(path, TIGHT)
    assert read(path).runs == (TIGHT,)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"dataset": "gisette"}, "dataset = 'adult', this run has 'gisette'"),
        ({"configuration": CONFIGURATION | {"delta": 1e-6}}, "delta = 1e-05, this run has 1e-06"),
        ({"configuration": CONFIGURATION | {"epochs": 60}}, "epochs = None, this run has 60"),
        ({"configuration": {"delta": 1e-5}}, r"learning_rates = \[0.1, 0.2\], this run has None"),
    ],
)
def test_another_configuration_is_not_mixed_in(path, change, says):
    filled(path, TIGHT)
    before = path.read_bytes()
    with pytest.raises(ValueError, match=says):
        opened(path, **change)
    assert path.read_bytes() == before
    filled(path, REFERENCE)  # the failed attempt let go of the file


def test_another_version_is_not_mixed_in(path, monkeypatch):
    filled(path, TIGHT)
    monkeypatch.setattr(objpert_core, "__version__", "9.9.9")
    with pytest.raises(ValueError, match=r"version = .*, this run has '9\.9\.9'"):
        opened(path)


def test_a_row_is_there_once(path):
    with opened(path) as store:
        store.append(TIGHT)
        with pytest.raises(ValueError, match="already"):
            store.append(replace(TIGHT, accuracy=0.9))
    assert read(path).runs == (TIGHT,)


def test_trials_with_another_calibration_are_not_mixed_in(path):
    filled(path, TIGHT)
    with opened(path) as store:
        store.append(replace(TIGHT, trial=1))
        store.append(replace(TIGHT, epsilon=1.0, sigma=5.0))
        with pytest.raises(ValueError, match=r"tight at ε = 0.1 now has .*the calibration has changed"):
            store.append(replace(TIGHT, trial=2, lam=20.0))
    assert len(read(path).runs) == 3


def test_rows_of_a_method_can_be_taken_out_and_made_again(path):
    again = replace(TIGHT, sigma=40.0)
    assert forget(path, ["tight"]) == 0
    assert not path.exists()
    filled(path, TIGHT, REFERENCE, replace(TIGHT, trial=1))
    assert forget(path, ["tight", "output"]) == 2
    assert read(path).runs == (REFERENCE,)
    filled(path, again)  # another calibration: nothing is left that it could be mixed with
    assert read(path).runs == (REFERENCE, again)
    assert len(read(path).sessions) == 2
    assert [item.name for item in path.parent.iterdir()] == [path.name]


def narrowed(path):
    """Make a file as old as one without the columns from margin on."""
    text = path.read_text().replace(",margin,center_noise,scale_noise,map_rule\n", "\n").replace(",,,,\n", "\n")
    assert "margin" not in text
    path.write_text(text)


def test_an_older_file_is_read_and_continued(path):
    filled(path, TIGHT, REFERENCE)
    narrowed(path)
    before = path.read_text()
    assert read(path).runs == (TIGHT, REFERENCE)
    assert path.read_text() == before  # by reading nothing is changed
    path.write_text(before + "adult,tight,0.2")  # a row that was cut off
    mapped = replace(TIGHT, method="tight-raw", margin=1.5, center_noise=40.0, scale_noise=60.0, map_rule=0.25)
    filled(path, mapped)
    assert read(path).runs == (TIGHT, REFERENCE, mapped)
    narrow, wide = before.splitlines(), path.read_text().splitlines()
    assert [line[: len(narrow[place])] for place, line in enumerate(wide[: len(narrow)])] == narrow
    assert forget(path, ["tight"]) == 1


@pytest.mark.parametrize(
    "change", [{"margin": 3.0}, {"center_noise": 7.0}, {"scale_noise": 7.0}, {"map_rule": 0.1}, {"sigma": 1.0}]
)
def test_rows_of_another_rule_are_not_mixed_in(path, change):
    filled(path, TIGHT)
    narrowed(path)
    with opened(path) as store, pytest.raises(ValueError, match="the calibration has changed"):
        store.append(replace(TIGHT, trial=1, **change))


@pytest.mark.skipif(store.fcntl is None, reason="no file locks on this system")
def test_nothing_is_taken_out_while_a_run_writes(path):
    with opened(path) as writing:
        writing.append(TIGHT)
        with pytest.raises(OSError, match="written by another run"):
            forget(path, ["tight"])
    assert read(path).runs == (TIGHT,)


def test_a_store_refuses_nan(path):
    with opened(path) as store, pytest.raises(ValueError, match="NaN"):
        store.append(replace(TIGHT, seconds=math.nan))
    assert read(path).runs == ()


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("tight,0.1", "tight,much", r"line 7: could not convert string to float: 'much'"),
        ("tight,0.1", "tight,0.1,0.2", "line 7: zip"),
        ("0.30000000000000004", "1.5", "line 7: accuracy must be a number from 0 to 1, got 1.5"),
        ("dataset,method", "data set,method", "line 5: the columns must be dataset,method,"),
        ("# version", "# Version", "no version"),
        ('"commit"', "commit", "line 6: "),
    ],
)
def test_a_damaged_file_is_refused_by_line(path, old, new, says):
    filled(path, TIGHT)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    with pytest.raises(ValueError, match=says):
        read(path)


def test_a_repeated_row_is_refused(path):
    filled(path, TIGHT)
    path.write_text(path.read_text() + path.read_text().splitlines()[-1] + "\n")
    with pytest.raises(ValueError, match="line 8: a second row"):
        read(path)


def test_another_csv_is_no_file_of_results(path):
    path.parent.mkdir()
    path.write_text("# only a comment\n")
    with pytest.raises(ValueError, match="no file of results"):
        read(path)


def test_stored_results_are_found_by_data_set(monkeypatch, tmp_path):
    monkeypatch.setattr(results, "folder", lambda: tmp_path)
    assert stored() == ()
    filled(path_of("adult"), TIGHT)
    assert stored() == ("adult",)
    assert load("adult").runs == (TIGHT,)
    with pytest.raises(DataUnavailableError, match="figure2 --dataset synthetic-l"):
        load("synthetic-l")


def test_an_installed_package_reads_its_own_results_until_there_are_newer_ones(monkeypatch, tmp_path):
    package, here = tmp_path / "objpert_core", tmp_path / "here"
    shipped = package / "_app" / "data" / "results" / "figure2_adult.csv"
    shipped.parent.mkdir(parents=True)
    here.mkdir()
    filled(shipped, TIGHT)
    monkeypatch.setattr(_provenance, "PACKAGE", package)
    monkeypatch.chdir(here)
    assert results.folder() == here
    assert stored() == ("adult",)
    assert load("adult").runs == (TIGHT,)
    with pytest.raises(DataUnavailableError, match=re.escape(str(here))):
        load("synthetic-l")
    with pytest.raises(DataUnavailableError):
        load("adult", shipped.parents[1])  # a folder that is named is the one that is read
    filled(here / shipped.name, replace(TIGHT, accuracy=0.125))
    assert [run.accuracy for run in load("adult").runs] == [0.125]


def test_a_session_says_what_made_the_rows():
    made = session("the command")
    assert made["command"] == "the command"
    assert f"numpy {np.__version__}" in made["versions"]
    assert all(isinstance(text, str) and text for text in made.values())
    assert set(made) == {"command", "commit", "versions", "machine", "started"}


@pytest.mark.parametrize("dataset", stored())
def test_committed_results_are_what_they_say(dataset):
    found = load(dataset)
    assert found.dataset == dataset
    assert {run.dataset for run in found.runs} == {dataset}
    assert found.sessions
    assert all(json.dumps(item) and item["commit"] for item in found.sessions)
    for run in found.runs:
        assert run.method in METHODS or run.method in EXPLANATIONS
        assert run.split_seed == run.trial
        if run.method == "non-private":
            assert (run.seed, run.delta, run.epsilon) == (None, None, math.inf)
        else:
            assert run.seed == noise_seed(dataset, run.method, run.epsilon, run.trial)
            assert run.delta == found.configuration["delta"]
