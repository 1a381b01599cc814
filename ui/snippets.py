"""Python that gives the numbers on the screen: what several pages' snippets share.

A snippet is complete (imports included), short enough to read aloud, and prints its result. It is made from the same
parameters that the page used. Tests execute every one and compare what it prints, and the names it defines, with the
plotted numbers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ui.bounds import PROOFS
from ui.registry import ROOMS


def _curves(
    sigma: float, lam: float, smoothness: float, lipschitz: float, rows: int = 1, replaced: bool = False
) -> str:
    """The dictionary ``curves`` of every proof about one fit, smallest bound first.

    `rows` of one person are added or removed together, or one row is `replaced`.
    """

    def about(made: str) -> str:
        return f"acc.replace_one({made})" if replaced else made if rows == 1 else f"acc.group({made}, {rows})"

    objective = f"sigma={sigma!r}, lam={lam!r}, lipschitz={lipschitz!r}, smoothness={smoothness!r}"
    lines = []
    for key, proof in list(PROOFS.items())[::-1]:
        if proof.bound is not None:
            bound = f'bound("{proof.bound}")'
            made = f"acc.via_rdp({bound})" if proof.accountant == "rdp" else bound
            lines.append(f'    "{key}": {about(made)},\n')
    return f"""import objpert_core.accounting as acc


def bound(name):
    return acc.ObjectivePerturbation({objective}, bound=name)


curves = {{
{"".join(lines)}    "lower": {about(f"acc.Gaussian(sigma={sigma!r}, sensitivity={lipschitz!r})")},
}}
for name, curve in curves.items():
"""


def bounds(*, epsilon: float, delta: float, **setting: Any) -> str:
    """Every bound's ε at `delta` and δ at `epsilon`, as on the Bounds page; defines the dictionary ``curves``."""
    return f"{_curves(**setting)}    print(name, curve.epsilon({delta!r}), curve.delta({epsilon!r}))\n"


def errors(*, rate: float, **setting: Any) -> str:
    """Every bound's curve of an attacker's errors at `rate`; defines the dictionary ``curves``."""
    return f"{_curves(**setting)}    print(name, curve.tradeoff({rate!r}), acc.best_guess(curve))\n"


class Verbatim(str):
    """Text that stands in a snippet as it is: a part of an expression, a capital word that is no placeholder."""

    def __repr__(self) -> str:
        return str(self)


def filled(page: str, name: str, blanks: Mapping[str, Any]) -> str:
    """The snippet ``pages/<page>/snippets/<name>.py`` with its placeholders, the capital names, filled in."""
    template = (ROOMS / page / "snippets" / f"{name}.py").read_text(encoding="utf-8").removeprefix("# fmt: off\n")
    values = {key.upper(): value for key, value in blanks.items()}
    return re.sub(r"\b[A-Z][A-Z_]+\b", lambda match: repr(values.get(match[0], Verbatim(match[0]))), template)
