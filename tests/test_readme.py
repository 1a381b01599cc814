"""The numbers that the README states are the package's; its Python runs in tests/site/test_blocks.py."""

import re
from pathlib import Path

import pytest

from benchmarks import additive_tables
from benchmarks import tables as blocks
from benchmarks.claim_tables import MANY_ROWS, SMALL, WIDE
from objpert_core.accounting import ObjectivePerturbation, repeat, symmetrised, via_rdp
from objpert_core.accounting.numerics.rounding import significant
from objpert_core.experiments import results, tables
from objpert_core.experiments.learners import TIGHT, UNPAID, UNPAID_STANDARDISED

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
ONE_LINE = " ".join(README.split())


def up(value: float) -> str:
    """A promise: three digits, rounded up."""
    return str(significant(value, 3, up=True))


def test_five_minutes_states_the_bounds_as_they_are_rounded_up() -> None:
    shape = {"sigma": 10.0, "lam": 5.0, "smoothness": 1.0}
    kifer = ObjectivePerturbation(**shape, bound="kifer2012").epsilon(1e-5)
    glm = ObjectivePerturbation(**shape, bound="glm")
    tight = ObjectivePerturbation(10.0, 5.0)
    own = ObjectivePerturbation(10.0, 5.0, bound="glm").epsilon(1e-5)
    assert f"the 2012 theorem certifies ε = {up(kifer)}, the 2023 theorem ε = {up(glm.epsilon(1e-5))} " in ONE_LINE
    assert f"({up(via_rdp(glm).epsilon(1e-5))} through Rényi)" in ONE_LINE
    assert f"the 2023 theorem certifies ε = {up(own)}, our theorem ε = {up(tight.epsilon(1e-5))}" in ONE_LINE
    assert f"no proof can certify less than {-significant(-tight.gaussian.epsilon(1e-5), 3, up=True)}" in ONE_LINE
    at_one = {"sigma": 10.0, "lam": 1.0, "smoothness": 1.0}
    assert ObjectivePerturbation(**at_one, bound="glm").explain() is not None
    assert ObjectivePerturbation(**at_one, bound="kifer2012").epsilon(1e-5) == 2
    ours = up(ObjectivePerturbation(10.0, 1.0).epsilon(1e-5))
    assert f"still certifies ε = 2. For the logistic loss our theorem certifies ε = {ours}." in ONE_LINE
    fit = ObjectivePerturbation(8.0, 10.0)
    hundred = repeat(symmetrised(fit), 100).epsilon(1e-5)
    assert f"a hundred fits cost ε = {up(hundred)}, not a hundred times {up(fit.epsilon(1e-5))}" in ONE_LINE


def test_the_theorem_states_from_which_epsilon_on_it_is_exact() -> None:
    """It depends on λ: rounded up."""
    near, far = (significant(ObjectivePerturbation(10.0, lam).gaussian_from, 3, up=True) for lam in (5.0, 0.1))
    words = f"from ε = {near.normalize()} on with λ = 5, but only from ε = {far:.0f} on with λ = 0.1."
    assert f"At σ = 10 this holds {words}" in ONE_LINE


def test_the_line_on_raw_tables_quotes_the_stored_results() -> None:
    found = dict(additive_tables.of_adult())
    assert f"at ε = {found['additive epsilons']} is {found['additive ours']}, with no range known;" in ONE_LINE
    assert f"DP-EBM, told all ranges, has {found['additive theirs']} (" in ONE_LINE


def test_it_is_short() -> None:
    assert len(README.splitlines()) <= 90


def test_the_test_command_is_where_ci_looks_for_it() -> None:
    assert re.search(r"<!-- test command -->\n```bash\n\S.*\n```", README)


@pytest.mark.thorough
def test_the_blocks_between_markers_quote_the_stored_results() -> None:
    assert blocks.filled(README) == README


def test_a_text_without_a_block_or_with_one_twice_is_refused() -> None:
    block = "<!-- adult -->\nold\n<!-- /adult -->\n"
    assert "our defaults" in blocks.filled(block)
    for text in ("nothing", 2 * block):
        with pytest.raises(ValueError, match="each once"):
            blocks.filled(text)


@pytest.mark.thorough
def test_the_sentences_under_the_table_say_what_the_sweeps_say() -> None:
    """docs/how_to/compare_with_dp_sgd.md says the same."""

    def at(name: str, verdict: str, rivals: tuple[str, ...]) -> list[float]:
        found = tables.claims(results.load(name), TIGHT, rivals)
        return [claim.epsilon for claim in found if claim.verdict == verdict]

    standardised = (UNPAID_STANDARDISED,)
    assert "With many rows for each column, ours is ahead nearly everywhere." in ONE_LINE
    assert sum(len(at(name, "ahead", UNPAID)) for name in MANY_ROWS) > 24  # of 27
    assert [at(name, "behind", rivals) for name in MANY_ROWS for rivals in (UNPAID, standardised)] == [[]] * 6
    assert "ours is behind at two small ε of nine, ahead at most ε from 1 on, and never ahead of the" in ONE_LINE
    for name in WIDE:
        behind = at(name, "behind", UNPAID)
        assert len(behind) == 2
        assert max(behind) <= 0.25
        assert sum(epsilon >= 1 for epsilon in at(name, "ahead", UNPAID)) > 2  # of 1, 2, 4 and 8
        assert at(name, "ahead", standardised) == []
    assert "ours is behind at three ε (breast-cancer) or seven (digits-4-9), and behind the standardised" in ONE_LINE
    assert [len(at(name, "behind", UNPAID)) for name in SMALL] == [3, 7]
    assert all(len(at(name, "behind", standardised)) > 4 for name in SMALL)
