"""How many small faults the tests find: mutants of the core, each run against the tests that reach it.

    python -m benchmarks.mutants FOLDER                    draws 200 of what is committed, runs them, prints the table
    python -m benchmarks.mutants FOLDER --stages daily     leaves the other tests out

A mutant is tried in stages: by the loop for every day, then by what else the README's command runs, and where it still
survives by the slow tests. FOLDER keeps which test reaches which line, how long each test takes, and every result with
the test that found it: what was stopped goes on where it was. cosmic-ray makes the mutants; which survivors change
nothing at all a person says (`benchmarks/equivalent_mutants.py`). Browser tests watch another process and are left out,
and so are the longest tests of a stage beyond `ENOUGH` seconds: what only these find counts as not found.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import re
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import accumulate, count, islice
from pathlib import Path
from queue import SimpleQueue
from xml.etree import ElementTree

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator
from coverage import CoverageData

from benchmarks.equivalent_mutants import EQUIVALENT
from benchmarks.shared import commit

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("accounting", "learning", "estimators", "datasets/tables")
STAGES = ("daily", "readme", "slow")
TRACED = (
    "not slow and not exhaustive and not browser and (thorough or not thorough)"  # tests/conftest.py reads the names
)
SLOW_TESTS = {"accounting": ("accounting", "second_opinion"), "datasets": ("datasets",)}
PROCESSES = 2
ENOUGH = 300  # seconds of tests, each as long as it took when it was traced, that a stage may take
SLOWER = 3  # times as long as traced, and a minute: a mutant that takes more processor time is found out
MANY = 7200  # seconds of processor time for the slow tests, which are not traced
BINARY = {"Add": "Sub", "Sub": "Add", "Mul": "Div", "Div": "Mul", "FloorDiv": "Div", "Pow": "Mul", "Mod": "Mul"}
COMPARED = {
    "Lt": "LtE",
    "LtE": "Lt",
    "Gt": "GtE",
    "GtE": "Gt",
    "Eq": "NotEq",
    "NotEq": "Eq",
    "Is": "IsNot",
    "IsNot": "Is",
}
OPERATORS = (
    *(f"ReplaceBinaryOperator_{one}_{other}" for one, other in BINARY.items()),
    *(f"ReplaceComparisonOperator_{one}_{other}" for one, other in COMPARED.items()),
    *("ReplaceUnaryOperator_Delete_USub", "ReplaceUnaryOperator_Delete_Not", "AddNot", "ReplaceTrueWithFalse"),
    *("ReplaceFalseWithTrue", "ReplaceAndWithOr", "ReplaceOrWithAnd", "ReplaceBreakWithContinue"),
    *("ReplaceContinueWithBreak", "NumberReplacer", "RemoveDecorator", "ZeroIterationForLoop"),
)
_SECONDS = count(int(time.time()))


@dataclass(frozen=True)
class Mutant:
    """One change of one place."""

    path: str
    line: int
    operator: str
    occurrence: int

    @cached_property
    def name(self) -> str:
        """The file and the change, which results are kept by."""
        source = (ROOT / self.path).read_text(encoding="utf-8")
        pairs = zip(source.splitlines(), self.code(source).splitlines(), strict=False)
        before, after = next(pair for pair in pairs if pair[0] != pair[1])
        return f"{self.path}: {before.strip()} → {after.strip()}"

    def says_something_else(self) -> bool:
        """Whether Python reads the changed file, and as another one."""
        source = (ROOT / self.path).read_text(encoding="utf-8")
        try:
            return ast.dump(ast.parse(self.code(source))) != ast.dump(ast.parse(source))
        except SyntaxError:
            return False

    def code(self, source: str) -> str:
        """The file with the change."""
        changed = mutate_code(source, get_operator(f"core/{self.operator}")(), self.occurrence)
        assert changed is not None
        return changed


def places() -> Iterator[Mutant]:
    """Every mutant there is."""
    for package in PACKAGES:
        for path in sorted((ROOT / "objpert_core" / package).rglob("*.py")):
            nodes = list(ast_nodes(get_ast(path.read_text(encoding="utf-8"))))
            for name in OPERATORS:
                operator = get_operator(f"core/{name}")()
                lines = [start[0] for node in nodes for start, _ in operator.mutation_positions(node)]
                for occurrence, line in enumerate(lines):
                    yield Mutant(path.relative_to(ROOT).as_posix(), line, name, occurrence)


@cache
def by_line() -> dict[tuple[str, int], list[Mutant]]:
    """Every mutant, by its path and line: read once, whatever is drawn."""
    found = defaultdict(list)
    for mutant in places():
        found[mutant.path, mutant.line].append(mutant)
    return dict(found)


def drawn(size: int, seed: int) -> list[Mutant]:
    """Some mutants: first a line of code, then a change of it, so that a long formula counts like a short one."""
    chosen, places_of = random.Random(seed), by_line()
    lines = chosen.sample(sorted(places_of), min(2 * size, len(places_of)))
    mutants = (chosen.choice(places_of[line]) for line in lines)
    return list(islice(filter(Mutant.says_something_else, mutants), size))


class Reached:
    """Which traced tests reach a line, and how long each takes."""

    def __init__(self, folder: Path) -> None:
        self._data = CoverageData(str(folder / "coverage"))
        self._data.read()
        self._files = {Path(name): name for name in self._data.measured_files()}
        cases = ElementTree.parse(folder / "junit.xml").iter("testcase")
        seconds = ((case, float(case.get("time", 0))) for case in cases)
        self.seconds = {_of_junit(case): taken for case, taken in seconds}
        self._daily = set((folder / "daily").read_text(encoding="utf-8").splitlines())

    def tests(self, mutant: Mutant, stage: str) -> list[str]:
        """Their names; where only an import reaches the line, those that reach the file and the package's contracts."""
        name = next((name for path, name in self._files.items() if path.as_posix().endswith(mutant.path)), None)
        if name is None:
            return []
        lines = self._data.contexts_by_lineno(name)
        names = _tests_of(lines.get(mutant.line, ()))
        if not names:
            contracts = f"tests/{mutant.path.split('/')[1]}/", "contract"
            names = _tests_of(context for contexts in lines.values() for context in contexts)
            names |= {name for name in self.seconds if all(part in name.partition("::")[0] for part in contracts)}
        return sorted(name for name in names if (name in self._daily) == (stage == "daily"))

    def likeliest_first(self, tests: list[str], module: str) -> Iterator[tuple[list[str], float]]:
        """Tests of files named after the module, one case of each other test, all other cases; short ones first."""
        tests = sorted(tests, key=lambda test: self.seconds.get(test, 0.0))
        near = [test for test in tests if module in test.partition("::")[0]]
        known = set(near)
        one_case = {test.partition("[")[0]: test for test in reversed(tests) if test not in known}
        known |= set(one_case.values())
        left = ENOUGH
        for asked in (near, [*reversed(one_case.values())], [test for test in tests if test not in known]):
            total = list(accumulate(self.seconds.get(test, 0.0) for test in asked))
            kept = asked[: sum(seconds <= left for seconds in total)]
            if kept:
                left -= total[len(kept) - 1]
                yield kept, total[len(kept) - 1]


def _tests_of(contexts: Iterable[str]) -> set[str]:
    """The tests' names of what coverage calls contexts, without "", an import's."""
    return {_without_group(context.rpartition("|")[0]) for context in contexts if context}


def _of_junit(case: ElementTree.Element) -> str:
    """A test's name, of what JUnit's files call a case."""
    return _without_group(f"{case.get('classname', '').replace('.', '/')}.py::{case.get('name')}")


def _without_group(test: str) -> str:
    """A test's name without the group of pytest-xdist."""
    return re.sub(r"(?<=[\w\]])@[\w.]+$", "", test)


def slow_tests(mutant: Mutant) -> list[str]:
    """Options that select the slow tests of the mutant's package, which take too long to be traced."""
    package = mutant.path.split("/")[1]
    return ["-m", "slow and not browser", *(f"tests/{folder}" for folder in SLOW_TESTS.get(package, (package,)))]


class Tree:
    """A clone whose tests run in forks of one process, which has loaded what the project stands on."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        given = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "CI": "true"}
        command = [sys.executable, str(ROOT / "benchmarks" / "forked_tests.py")]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self._forked = subprocess.Popen(command, cwd=folder, env=given, text=True, **pipes)

    def first_failure(self, arguments: list[str], seconds: float) -> str | None:
        """The first test that fails, "" where the tests take too long, None where all pass."""
        print(json.dumps({"arguments": arguments, "seconds": int(seconds)}), file=self._forked.stdin, flush=True)
        return json.loads(self._forked.stdout.readline())

    @contextmanager
    def changed(self, mutant: Mutant) -> Iterator[None]:
        """The tree with the change."""
        path = self.folder / mutant.path
        source = path.read_text(encoding="utf-8")
        _write(path, mutant.code(source))
        try:
            yield
        finally:
            _write(path, source)

    def asked(self, tests: list[str], seconds: float) -> str | None:
        """The first of these tests that fails."""
        (self.folder / ".asked").write_text("\n".join(tests), encoding="utf-8")
        return self.first_failure(["@.asked"], 60 + SLOWER * seconds)


def copied(folder: Path, name: str) -> Path:
    """What is committed, in a folder of its own."""
    tree = folder / name
    if not tree.exists():
        subprocess.run(["git", "clone", "-q", "--shared", str(ROOT), str(tree)], check=True)
    return tree


def traced(folder: Path) -> Reached:
    """Which test of the README's command reaches what; measured once."""
    if not (folder / "daily").exists():
        tree = copied(folder, "0")
        given = os.environ | {"OMP_NUM_THREADS": "1", "CI": "true", "COVERAGE_FILE": str(folder / "coverage")}
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        reports = ["--cov=objpert_core", "--cov-context=test", "--cov-report=", f"--junitxml={folder / 'junit.xml'}"]
        subprocess.run([*command, "-n", str(PROCESSES), "-m", TRACED, *reports], cwd=tree, env=given, check=True)
        daily = [*command, "--collect-only", "-m", "not slow and not browser"]
        told = subprocess.run(daily, cwd=tree, env=given, check=True, stdout=subprocess.PIPE, text=True).stdout
        (folder / "daily").write_text(told, encoding="utf-8")
    return Reached(folder)


def _write(path: Path, code: str) -> None:
    """Write a file at a second of its own: by the second Python tells whether its bytecode is still right."""
    path.write_text(code, encoding="utf-8")
    second = next(_SECONDS)
    os.utime(path, (second, second))


def results(file: Path) -> dict[str, tuple[str, str]]:
    """Each mutant's stage, "" for none, and the test that found it."""
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return {name: (stage, test) for name, stage, test in map(json.loads, lines)}


def run(folder: Path, mutants: list[Mutant], stages: Sequence[str]) -> dict[str, str]:
    """The stage that finds each mutant, "" for none; results are kept as they come."""
    file = folder / f"results.{'-'.join(stages)}.jsonl"
    found = results(file)
    trees: SimpleQueue[Tree] = SimpleQueue()
    for number in range(PROCESSES):  # all of them now: what is committed meanwhile is of no matter
        trees.put(Tree(copied(folder, str(number))))
    reached = traced(folder)

    def tried(mutant: Mutant) -> tuple[str, str, str]:
        tree = trees.get()
        try:
            with tree.changed(mutant):
                for stage in stages:
                    if (test := _finder(tree, mutant, stage, reached)) is not None:
                        return mutant.name, stage, test
            return mutant.name, "", ""
        finally:
            trees.put(tree)

    left = [mutant for mutant in mutants if mutant.name not in found]
    with ThreadPoolExecutor(PROCESSES) as pool, file.open("a", encoding="utf-8") as log:
        for done, ended in enumerate(as_completed([pool.submit(tried, mutant) for mutant in left]), start=1):
            name, stage, test = ended.result()
            found[name] = stage, test
            print(json.dumps([name, stage, test], ensure_ascii=False), file=log, flush=True)
            print(f"{done}/{len(left)} {stage or 'SURVIVES':10} {name}  {test}", file=sys.stderr, flush=True)
    return {mutant.name: found[mutant.name][0] for mutant in mutants}


def _finder(tree: Tree, mutant: Mutant, stage: str, reached: Reached) -> str | None:
    """The test of a stage that finds the mutant, None where all pass in spite of it."""
    if stage == "slow":
        return tree.first_failure(slow_tests(mutant), MANY)
    for asked, seconds in reached.likeliest_first(reached.tests(mutant, stage), Path(mutant.path).stem):
        if (test := tree.asked(asked, seconds)) is not None:
            return test
    return None


def table(found: dict[str, str], seed: int, chosen: Sequence[str]) -> str:
    """How many each stage finds, and the survivors."""
    real = {name: stage for name, stage in found.items() if name not in EQUIVALENT}
    lines = [f"{len(found)} mutants, seed {seed}, commit {commit()}; {len(found) - len(real)} are equivalent"]
    for stage in (*chosen, ""):
        found_here = sum(one == stage for one in real.values())
        lines.append(f"{stage or 'not found':10} {found_here:4} {found_here / max(len(real), 1):7.1%}")
    return "\n".join([*lines, *(f"  {name} ({EQUIVALENT.get(name, '?')})" for name in found if not found[name])])


def main() -> int:
    """Draw, run, tell."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--stages", nargs="+", choices=STAGES, default=STAGES)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    found = run(given.folder.absolute(), drawn(given.count, given.seed), given.stages)
    print(table(found, given.seed, given.stages))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
