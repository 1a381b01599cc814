"""What the software says, written down: two folders made before and after a change of structure are compared by diff.

    python -m benchmarks.goldens FOLDER [--only pages api accounting estimators cli results] [--pages bounds …]
    diff -r BEFORE AFTER

Every page at every preset and every picture, with each control's key and label and the address; every public name's
signature; δ and Rényi curves of all cases of the second opinion; coefficients and certificates of all estimators at a
fixed seed; what the commands print; the stored results' hashes. Numbers have all their digits.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import inspect
import json
import re
import subprocess
import sys
import warnings
from collections.abc import Callable, Container, Iterator
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
COMMANDS = (
    "--help",
    "accounting --sigma 10 --lam 5 --delta 1e-5",
    "accounting --sigma 10 --lam 5 --epsilon 1",
    "accounting gaussian --sigma 3 --delta 1e-5",
    "accounting dp-sgd --noise-multiplier 1 --sample-rate 0.01 --steps 100 --delta 1e-5",
    "calibrate --epsilon 1 --delta 1e-5",
    "calibrate gaussian --epsilon 1 --delta 1e-5 --json",
    "calibrate --epsilon 1 --delta 0",
    *(f"{name} --help" for name in ["accounting", "calibrate", "fit", "predict", "verify", "schema", "app", "serve"]),
)


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
                spec = json.loads(node.proto.spec)
                names = [trace.get("name") for trace in spec["data"]]
                lines.append(f"plotly_chart: {names} {_hash(node.proto.spec)}")
            else:
                lines.append(f"{node.type}: {node.proto}")
        for child in getattr(node, "children", {}).values():
            walk(child)

    walk(app._tree)
    return shortened("\n".join(lines))


def pages(chosen: Container[str] = ()) -> Iterator[tuple[str, str]]:
    """Every page as it opens, at each preset after the one before, and at each picture, with files and Python open."""
    from tests.pages.apps import open_app
    from ui.registry import PAGES

    for entry in PAGES:
        if chosen and entry.name not in chosen:
            continue
        walked = opened(open_app(entry.path))
        yield f"{entry.name}/opened", page_state(walked)
        presets = [button.key for button in walked.button if str(button.key).startswith(f"{entry.name}_preset_")]
        for key in presets:
            walked.button(key=key).click().run()
            yield f"{entry.name}/{key}", page_state(opened(walked))
        for option in range(len(_view(walked, entry.name).options if _view(walked, entry.name) else ())):
            one = open_app(entry.path)
            control = _view(one, entry.name)
            control.set_value(control.options[option]).run()
            yield f"{entry.name}/view-{option}", page_state(opened(one))


def opened(app: Any) -> Any:
    """The page with its files and its Python open."""
    for held in set(re.findall(r"\b(\w+_(?:files|code))\b", page_state(app))):
        app.session_state[held] = True
    return app.run()


def _view(app: Any, page: str) -> Any:
    """The control that chooses a page's picture, None where there is one only."""
    widgets = [widget for kind in ("selectbox", "radio", "button_group") for widget in app.get(kind)]
    return next((widget for widget in widgets if widget.key == f"{page}_view"), None)


def api() -> Iterator[tuple[str, str]]:
    """The signature and the first sentence of every public name, a file a module."""
    for document in sorted((ROOT / "docs" / "api").glob("*.md")):
        for module, names in re.findall(
            r"```\{api\} ([\w.]+)\n(.*?)```", document.read_text(encoding="utf-8"), re.DOTALL
        ):
            lines = [_described(importlib.import_module(module), name) for name in names.split() if name.isidentifier()]
            if lines:
                yield f"{document.stem}-{module}-{names.split()[0]}", "\n".join(lines)
    for module in ("accounting", "learning", "estimators", "datasets", "experiments", "theory"):
        package = importlib.import_module(f"objpert_core.{module}")
        yield f"all-{module}", "\n".join(sorted(_described(package, name) for name in getattr(package, "__all__", ())))


def _described(module: Any, name: str) -> str:
    value = getattr(module, name)
    try:
        signature = str(inspect.signature(value))
    except (TypeError, ValueError):
        signature = ""
    members = []
    if inspect.isclass(value):
        for member in sorted(dir(value)):
            if not member.startswith("_") and inspect.isfunction(getattr(value, member)):
                members.append(f"    {member}{inspect.signature(getattr(value, member))}")
    return shortened("\n".join([f"{name}{signature}", *members]))


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
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    model = case.fit(**parameters)
            except Exception as refused:
                yield f"{case.name} {rows} {adjacency[:3]}", f"{type(refused).__name__}: {refused}"
                continue
            certificate = model.privacy_
            parts = [np.asarray(model.coef_).ravel().tolist(), str(certificate), certificate.to_json()]
            yield f"{case.name} {rows} {adjacency[:3]}", shortened("\n".join(map(str, parts)))


def cli() -> Iterator[tuple[str, str]]:
    """What commands print, and their exit codes."""
    for number, command in enumerate(COMMANDS):
        given = [sys.executable, "-m", "objpert_core.cli", *command.split()]
        done = subprocess.run(given, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        yield f"{number:02d}", f"{command}\n{done.returncode}\n{done.stdout}"


def results() -> Iterator[tuple[str, str]]:
    """The stored files' hashes."""
    files = sorted((ROOT / "data" / "results").rglob("*"))
    yield "data", "\n".join(f"{path.name} {_hash(path.read_bytes())}" for path in files if path.is_file())


PARTS: dict[str, Callable[[], Iterator[tuple[str, str]]]] = {
    part.__name__: part for part in (pages, api, accounting, estimators, cli, results)
}


def main() -> int:
    """Write everything."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--pages", nargs="+", default=[], help="these pages only")
    given = parser.parse_args()
    for part in given.only:
        count = 0
        for name, text in pages(given.pages) if part == "pages" else PARTS[part]():
            path = given.folder / part / f"{name.replace(' ', '_')}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text + "\n", encoding="utf-8")
            count += 1
        print(f"{part}: {count} files", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
