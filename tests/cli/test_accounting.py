"""What is printed is what the package says, rounded up; JSON has all digits."""

import json
import math
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

import objpert_core.accounting as acc
from objpert_core.accounting.quadratic.mechanism import QUADRATIC_BOUNDS
from objpert_core.cli import mechanisms
from objpert_core.cli.output import down, up
from tests.cli.console import run

QUADRATIC = acc.QuadraticPerturbation(1.0, 40, 10)
CASES = {
    "--sigma 10 --lam 5": acc.ObjectivePerturbation(10, 5),
    "objective --sigma 10 --lam 5 --smoothness 1 --bound glm --adjacency replace": acc.ObjectivePerturbation(
        10, 5, smoothness=1, bound="glm", adjacency=acc.REPLACE_ONE
    ),
    "--sigma 10 --lam 5 --tau 1e-6 --sigma-out 0.001": acc.ApproximateMinima(
        acc.ObjectivePerturbation(10, 5), 1e-6, 0.001
    ),
    "--sigma 10 --lam 20 --bound non-glm --dimension 3": acc.via_rdp(
        acc.ObjectivePerturbation(10, 20, bound="non-glm", dimension=3)
    ),
    "--sigma 10 --lam 5 --renyi": acc.via_rdp(acc.ObjectivePerturbation(10, 5)),
    "--sigma 10 --lam 5 --rows-per-person 2": acc.group(acc.ObjectivePerturbation(10, 5), 2),
    "--sigma 8 --lam 128 --repeat 9": acc.repeat(acc.symmetrised(acc.ObjectivePerturbation(8, 128)), 9),
    "gaussian --sigma 4 --sensitivity 2": acc.Gaussian(4, 2),
    "output --sigma 0.5 --sensitivity 0.2": acc.OutputPerturbation(0.5, 0.2),
    "dp-sgd --noise-multiplier 2 --sample-rate 0.1 --steps 5": acc.DPSGD(2, 0.1, 5),
    "dp-sgd --noise-multiplier 2 --sample-rate 0.1 --steps 5 --mean-runs 3": acc.PrivateSelection(
        acc.DPSGD(2, 0.1, 5), 3
    ),
    "batches --noise-multiplier 2 --batch-size 10 --rows 100 --steps 2": acc.SampledWithoutReplacement(2, 10, 100, 2),
    "allocation --noise-multiplier 2 --steps 3": acc.RandomAllocation(2, 3),
    "quadratic --scale 1 --degrees-of-freedom 40 --dimension 10": QUADRATIC,
    "tilt-and-bend --scale 1 --degrees-of-freedom 40 --dimension 10 --sigma 8 --sensitivity 2": acc.TiltAndBend(
        QUADRATIC, 8, 2
    ),
    "posterior --leverage 0.1 --shift 0.5": acc.PosteriorSampling(0.1, 0.5),
    "posterior --leverage 0.1 --shift 0.5 --adjacency replace": acc.replace_one(acc.PosteriorSampling(0.1, 0.5)),
    "adaptive-sampling --eigenvalue-mu 0.05 --norm-mu 0.05 --leverage 0.03 --separation 0.15 --failure 1e-7": (
        acc.AdaptiveSampling(0.05, 0.05, 0.03, 0.15, 1e-7)
    ),
}


def document(line: str):
    code, shown = run(f"objpert {line} --json")
    assert code == 0
    return json.loads(shown, parse_constant=pytest.fail)


def test_every_mechanism_has_a_case():
    named = {line.split()[0] for line in CASES if not line.startswith("--")} | {"objective"}
    assert named == set(mechanisms.MECHANISMS)


SLOWEST = "tilt-and-bend"


@pytest.mark.thorough
@pytest.mark.parametrize(
    "line", [pytest.param(line, marks=[pytest.mark.slow] * line.startswith(SLOWEST)) for line in CASES]
)
def test_epsilon_is_that_of_the_package(line):
    mechanism, delta = CASES[line], 1e-3
    epsilon = mechanism.epsilon(delta)
    found = document(f"accounting {line} --delta {delta}")
    assert (found["epsilon"], found["word"]) == (epsilon, None)
    assert found["adjacency"].split()[0] == mechanism.adjacency.split()[0]
    code, shown = run(f"objpert accounting {line} --delta {delta}")
    assert code == 0
    assert shown.startswith(f"ε = {up(epsilon)} at δ = 0.001\n")
    assert 0 <= float(up(epsilon)) - epsilon < 0.01 * epsilon


def test_delta_is_that_of_the_package_and_rounded_up():
    assert document("accounting gaussian --sigma 4 --epsilon 1")["delta"] == acc.Gaussian(4).delta(1)
    assert run("objpert accounting gaussian --sigma 4 --epsilon 1")[1].startswith("δ = 2.93e-6 at ε = 1\n")
    code, shown = run("objpert accounting gaussian --sigma 1 --epsilon 1000")  # below every double, and not 0
    assert code == 0
    assert shown.startswith("δ = 4.94065645841e-324 at ε = 1000")
    assert "no proof below  δ = 0" in shown


def test_what_is_infinite_is_null_with_a_word_and_the_reason():
    line = "accounting --sigma 10 --lam 0.5 --smoothness 1 --bound glm --delta 1e-5"
    found = document(line)
    assert (found["epsilon"], found["word"]) == (None, "infinite: nothing is proved")
    assert "need λ > β" in found["reason"]
    assert found["source"] == acc.BOUND_REGISTRY["glm"].source
    assert run(f"objpert {line}")[1].startswith("ε is infinite at δ = 1e-5: nothing is proved\n")


@pytest.mark.thorough
def test_all_bounds_are_there_and_the_first_line_has_the_least():
    line = "accounting --sigma 10 --lam 5 --smoothness 1 --delta 1e-5 --all-bounds"
    found = document(line)
    listed = {(one["bound"], one["accountant"]): one["epsilon"] for one in found["bounds"]}
    assert set(listed) == {(entry.key, way) for entry in acc.BOUND_REGISTRY.values() for way in entry.accountants}
    for (key, way), epsilon in listed.items():
        if key != "non-glm":
            one = acc.ObjectivePerturbation(10, 5, smoothness=1, bound=key)
            assert epsilon == (acc.via_rdp(one) if way == "rdp" else one).epsilon(1e-5)
    assert run(f"objpert {line}")[1].startswith("ε = 0.341 at δ = 1e-5, by logistic, for logistic loss\n")
    assert found["lower_bound"] == acc.Gaussian(10).epsilon(1e-5)
    assert "no proof below  ε = 0.34\n" in run(f"objpert {line}")[1]


LEDGER = "fit*3:8,10,1@Models;gauss:20,1"


def test_a_list_of_releases_has_the_total_of_its_composition(tmp_path):
    fit, noise = acc.symmetrised(acc.ObjectivePerturbation(8, 10)), acc.Gaussian(20)
    found = document(f"accounting --ledger '{LEDGER}' --delta 1e-5")
    assert found["epsilon"] == acc.compose(acc.repeat(fit, 3), noise).epsilon(1e-5)
    assert found["entries"][0]["running_epsilon"] == acc.repeat(fit, 3).epsilon(1e-5)
    (tmp_path / "ledger.txt").write_text(LEDGER)
    assert document(f"accounting --ledger {tmp_path / 'ledger.txt'} --delta 1e-5") == found


@pytest.mark.slow
def test_a_calibration_keeps_its_promise_as_printed():
    for extra in ("", " --adjacency replace", " --tau 1e-6"):
        code, shown = run(f"objpert calibrate --epsilon 1 --delta 1e-5{extra}")
        assert code == 0
        numbers = dict(line.split(maxsplit=1) for line in shown.splitlines()[1:])
        given = {name: float(numbers[name]) for name in ("sigma", "lam")}
        made = acc.ObjectivePerturbation(**given, adjacency=numbers["neighbours"])
        if "tau" in numbers:
            made = acc.ApproximateMinima(made, float(numbers["tau"]), float(numbers["sigma_out"]))
        assert 0.999 < made.epsilon(1e-5) <= 1.0


slow = partial(pytest.param, marks=pytest.mark.slow)
CALIBRATIONS = [
    "output --sensitivity 0.1",
    "quadratic --dimension 5",
    "adaptive-sampling",
    slow("dp-sgd --sample-rate 0.1 --steps 5 --rows-per-person 2"),
    slow("batches --batch-size 10 --rows 1000 --steps 2"),
    slow("allocation --steps 5"),
    slow("tilt-and-bend --dimension 5 --residual-bound 1"),
]


@pytest.mark.parametrize("words", CALIBRATIONS)
def test_every_calibration_meets_its_target(words):
    found = document(f"calibrate {words} --epsilon 1 --delta 1e-4")
    assert 0.98 < found["epsilon"] <= 1.0


PRINTED = [
    ("quadratic", "--dimension 4", "scale"),
    slow("dp-sgd", "--sample-rate 0.05 --steps 40 --rows-per-person 2", "noise_multiplier"),
    slow("batches", "--batch-size 20 --rows 400 --steps 30", "noise_multiplier"),
]


@pytest.mark.parametrize(("word", "public", "noise"), PRINTED)
def test_noise_as_printed_keeps_the_target_where_epsilon_has_a_margin_of_its_own(word, public, noise):
    code, shown = run(f"objpert calibrate {word} {public} --epsilon 0.7 --delta 1e-5")
    assert code == 0
    numbers = dict(line.split(maxsplit=1) for line in shown.splitlines()[1:])
    assert "ε = 0.7 at δ = 1e-5" in shown.splitlines()[-1]
    more = f"--degrees-of-freedom {numbers['degrees_of_freedom']}" if word == "quadratic" else ""
    flag = "--" + noise.replace("_", "-")
    found = document(f"accounting {word} {public} {more} {flag} {numbers[noise]} --delta 1e-5")
    assert 0.699 < found["epsilon"] <= 0.7


def test_every_other_format_is_a_table():
    line = "objpert accounting gaussian --sigma 4 --delta 1e-5 --format"
    assert "| neighbours | add/remove one row |" in run(f"{line} markdown")[1]
    assert r"\begin{tabular}" in run(f"{line} latex")[1]
    assert run(f"{line} csv")[1].startswith("what,value\n")


@given(st.floats(1e-300, 1e15))
def test_rounding_goes_to_the_safe_side(value):
    assert float(up(value)) >= value
    assert float(down(value)) <= value
    assert math.isclose(float(up(value)), value, rel_tol=0.011)


def test_the_help_names_the_bounds_that_there_are():
    text = mechanisms.NUMBERS["bound"].help
    objective, quadratic = text.partition(": ")[2].split("; for quadratic: ")
    assert tuple(word.split()[0] for word in objective.split(", ")) == tuple(acc.BOUND_REGISTRY)
    assert tuple(word.split()[0] for word in quadratic.split(", ")) == QUADRATIC_BOUNDS
