"""What the software says, written down: two folders made before and after a change of structure are compared by diff.

    python -m benchmarks.goldens FOLDER [--only pages views api accounting certificates estimators cli results]
    diff -r BEFORE AFTER

Every page at every preset and at each picture: its texts, charts and files, and a list of its controls; every address,
former ones too; every picture's sentences, table and numbers; every public name's signature; δ and Rényi curves of all
cases of the second opinion; a certificate of every kind of release; coefficients and certificates of all estimators at
a fixed seed; the commands' options, what they print and write; the stored results' hashes. Numbers have all their
digits.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import importlib
import inspect
import io
import json
import logging
import re
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Container, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd

ROOT = Path(__file__).resolve().parents[1]


def shortened(text: str) -> str:
    """The text without what differs from run to run, and with a hash for each long line."""
    text = re.sub(r"0x[0-9a-f]{6,}|/tmp/[\w./-]+|(?<=deferred_file_id: \")\w+|(?<=ID-)[0-9a-f]{32}", "…", text)
    return "\n".join(line if len(line) < 2000 else f"{line[:80]}… {_hash(line)}" for line in text.splitlines())


def _hash(data: str | bytes) -> str:
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()


def page_state(app: Any) -> str:
    """All that a page shows and holds."""
    lines = [f"address: {dict(sorted(app.query_params.items()))}"]

    def walk(node: Any) -> None:
        if getattr(node, "proto", None) is not None:
            if node.type == "plotly_chart":
                lines.extend(_chart(json.loads(node.proto.spec)))
            else:
                lines.append(f"{node.type}: {node.proto}")
        for child in getattr(node, "children", {}).values():
            walk(child)

    walk(app._tree)
    return shortened("\n".join(lines))


def _chart(spec: dict[str, Any]) -> Iterator[str]:
    """A line for each trace, with a hash of its data and one of its look, and one for the layout."""
    for trace in spec["data"]:
        data = {key: trace.pop(key) for key in ("x", "y", "z", "text", "customdata") if key in trace}
        yield f"trace: {trace.get('name')} {_hash(json.dumps(data))} {_hash(json.dumps(trace))}"
    yield f"layout: {_hash(json.dumps(spec['layout']))}"


def pages(chosen: Container[str] = ()) -> Iterator[tuple[str, str]]:
    """Every page as it opens, at each preset after the one before, and at each picture, with files and Python open."""
    import streamlit as st

    from tests.pages.apps import open_app
    from tests.ui.waiting import until
    from ui.registry import FORMER, PAGES
    from ui.runs import Run

    offered: dict[str, str] = {}
    button = st.download_button

    def recorded(label: str, data: Any, filename: str, *rest: Any, **options: Any) -> bool:
        made = data() if callable(data) and re.search(r"\.(csv|md|html)$|-table\.tex$", filename) else b""
        if b",seconds," in made.partition(b"\n")[0]:  # of a run that was made now
            made = pd.read_csv(io.BytesIO(made), dtype=str).drop(columns="seconds").to_csv(index=False)
        offered[filename] = f"file: {label}, {filename}\n{made if isinstance(made, str) else made.decode()}"
        return button(label, data, filename, *rest, **options)

    def state(app: Any) -> str:
        """The page after its run has ended, with its files and its Python open, and the texts of its files."""
        for held in app.session_state.values():
            if isinstance(held, Run):
                until(partial(lambda job: not job.view().active, held.job), seconds=600)
        app.run()
        offered.clear()
        for held in set(re.findall(r"\b(\w+_(?:files|code))\b", page_state(app))):
            app.session_state[held] = True
        shown = page_state(app.run())
        return "\n".join([shown, *map(shortened, offered.values())])

    yield "addresses", "\n".join(map(repr, (*PAGES, *FORMER.items())))
    with mock.patch.object(st, "download_button", recorded):
        for entry in PAGES:
            if chosen and entry.name not in chosen:
                continue
            walked = open_app(entry.path)
            found = {"opened": state(walked)}
            presets = [one.key for one in walked.button if str(one.key).startswith(f"{entry.name}_preset_")]
            for key in presets:
                walked.button(key=key).click().run()
                found[key] = state(walked)
            for option in range(len(getattr(_picture(open_app(entry.path), entry.name), "options", ()))):
                one = open_app(entry.path)
                control = _picture(one, entry.name)
                control.set_value(control.options[option]).run()
                found[f"view-{option}"] = state(one)
            controls = re.findall(r'^(\w+: id: "\$\$ID-…-.*)"\n(label: .*)$', "\n".join(found.values()), re.MULTILINE)
            yield f"{entry.name}/controls", "\n".join(sorted(set(map(", ".join, controls))))
            yield from ((f"{entry.name}/{name}", text) for name, text in found.items())


def _picture(app: Any, page: str) -> Any:
    """The control that chooses a page's picture, None where there is one only."""
    widgets = [widget for kind in ("selectbox", "radio", "button_group") for widget in app.get(kind)]
    return next((widget for widget in widgets if widget.key in (f"{page}_view", f"{page}_show")), None)


def views() -> Iterator[tuple[str, str]]:
    """Every picture at its controls' defaults: what it says, its table, its lines of Python, its numbers."""
    from tests.pages.test_every_view import all_views

    for view in all_views():
        now = view.now()
        parts = [now.answer(), now.promise(), now.shows(), now.note(), *now.remarks(), *map(str, now.table())]
        yield view.name, shortened("\n".join([*parts, now.code(), now.frame().to_csv(index=False)]))


def api() -> Iterator[tuple[str, str]]:
    """The signatures of all that the documentation names, a file a page, and of each public class's members."""
    from tests.test_signatures import of_class, shown

    for document in sorted((ROOT / "docs" / "api").glob("*.md")):
        lines = []
        for module, names in re.findall(r"```\{api\} ([\w.]+)\n(.*?)```", document.read_text("utf-8"), re.DOTALL):
            for name in filter(str.isidentifier, names.split()):
                value = getattr(importlib.import_module(module), name)
                lines.append(f"{module}.{name}{shown(value) if inspect.isroutine(value) else ''}")
                lines += sorted(f"    {line}" for line in of_class(value)) if inspect.isclass(value) else []
        yield document.stem, shortened("\n".join(lines))


def accounting() -> Iterator[tuple[str, str]]:
    """δ and the Rényi curve of every case of the second opinion that takes no minutes, and ε of some."""
    from objpert_core import accounting as public
    from tests.second_opinion.cases import CASES
    from tests.second_opinion.measured import log_delta

    for case in CASES:
        if not case.slow:
            asked = case.make(public)
            lines = [repr(asked)]
            if case.epsilons:
                lines += [
                    f"{e!r} {d!r}"
                    for e, d in zip(case.epsilons, log_delta(asked, np.array(case.epsilons)).tolist(), strict=True)
                ]
            if case.orders:
                lines += [
                    f"{a!r} {r!r}" for a, r in zip(case.orders, asked.rdp(np.array(case.orders)).tolist(), strict=True)
                ]
            yield _hash(str(case))[:12], "\n".join([str(case), *lines])


def certificates() -> Iterator[tuple[str, str]]:
    """A certificate of every kind of release, as words and as JSON."""
    from tests.learning.certificates import EVERY

    for name, kind in EVERY.items():
        text = f"{kind.honest}\n{kind.honest.to_json()}"
        drawn = r'("(?:coefficients_sha256|gradient_norm|n_iter)": )[^,\n]+'  # some without a seed
        yield name, re.sub(drawn, r"\1…", text)


def estimators() -> Iterator[tuple[str, str]]:
    """Each estimator's coefficients and certificate, in both forms, for each kind of neighbours."""
    from tests.estimators.contract.case import NEIGHBOURS
    from tests.estimators.test_contract import CASES

    for case in CASES:
        for rows, adjacency in NEIGHBOURS:
            parameters = {"rows_per_person": rows, "adjacency": adjacency}
            if not set(parameters) <= set(case.new().get_params()):
                parameters = {}
            try:
                model = case.fit(**parameters)
            except Exception as refused:
                yield f"{case.name} {rows} {adjacency[:3]}", f"{type(refused).__name__}: {refused}"
                continue
            certificate = model.privacy_
            parts = [np.asarray(model.coef_).ravel().tolist(), str(certificate), certificate.to_json()]
            yield f"{case.name} {rows} {adjacency[:3]}", shortened("\n".join(map(str, parts)))


def cli() -> Iterator[tuple[str, str]]:
    """Every command's options; what the commands of docs/command.md print, and the files that they write."""
    from objpert_core.cli import COMMANDS
    from tests.cli.console import PEOPLE, console, run, town

    for command in ("", "serve", *(module.__name__.rpartition(".")[2] for module in COMMANDS)):
        asked = [sys.executable, "-m", "objpert_core.cli", *command.split(), "--help"]
        yield f"help-{command}", subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        Path("people.csv").write_bytes(PEOPLE)
        Path("town.csv").write_bytes(town())
        for line, _ in console((ROOT / "docs" / "command.md").read_text(encoding="utf-8")):
            line += " --seed 7" * (line.startswith("objpert fit") and "--seed" not in line)
            yield f"prints-{_hash(line)[:8]}", "\n".join([line, *map(str, run(line))])
        for path in sorted(Path().rglob("*.*")):
            yield f"writes-{'-'.join(path.parts)}", path.read_text(encoding="utf-8")


def results() -> Iterator[tuple[str, str]]:
    """The stored files' hashes."""
    files = sorted((ROOT / "data" / "results").rglob("*"))
    yield "data", "\n".join(f"{path.name} {_hash(path.read_bytes())}" for path in files if path.is_file())


PARTS: dict[str, Callable[[], Iterator[tuple[str, str]]]] = {
    part.__name__: part for part in (pages, views, api, accounting, certificates, estimators, cli, results)
}


def main() -> int:
    """Write everything."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--pages", nargs="+", default=[], help="these pages only")
    given = parser.parse_args()
    folder = given.folder.resolve()
    logging.disable(logging.WARNING)  # Streamlit tells of every control that it is drawn outside of a session
    warnings.simplefilter("ignore")
    for part in given.only:
        count = 0
        for name, text in pages(given.pages) if part == "pages" else PARTS[part]():
            path = folder / part / f"{name.replace(' ', '_')}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text + "\n", encoding="utf-8")
            count += 1
        print(f"{part}: {count} files", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
