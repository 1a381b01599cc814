"""Python that gives the numbers of the Composition page."""

from __future__ import annotations

from collections.abc import Sequence

from objpert_core.accounting.ledger import Entry
from pages.composition.numbers import PAIRED, POINTS, Fit, View
from pages.composition.totals import WIDTH

_ORDERS = """alpha = 1 + np.logspace(-2, 5, 281)
alpha = np.unique(np.where(alpha < 10, np.round(alpha, 6), np.round(alpha)))"""


def fits(fit: Fit, counts: Sequence[int], *, delta: float, view: View) -> str:
    """k fits by convolution and by Rényi; defines ``renyi``, δ at the array ``epsilon``, and ``bounds`` where drawn."""
    extra = f", smoothness={fit.smoothness!r}" if fit.base == "glm" else ""
    shared = f"sigma={fit.sigma!r}, lam={fit.lam!r}, lipschitz={fit.lipschitz!r}{extra}, bound={fit.base!r}"
    one = f"acc.ObjectivePerturbation({shared})"
    one = f"acc.symmetrised({one})" if fit.bound.endswith(PAIRED) else one
    return f"""import numpy as np

import objpert_core.accounting as acc

fit = {one}
{_ORDERS}
epsilon = np.linspace(0, {view.eps_max!r}, {POINTS})
bounds, renyi = {{}}, {{}}
for k in {list(counts)!r}:
    together = acc.repeat(fit, k)
    renyi[k] = acc.rdp_to_delta(alpha, k * fit.rdp(alpha), epsilon)
    drawn = epsilon[renyi[k] >= {view.floor!r}]
    bounds[k] = together.delta_bounds(drawn, relative_width={view.width!r})
    low, high = together.epsilon_bounds({delta!r}, relative_width={view.width!r})
    print(k, low, high, acc.rdp_to_epsilon(alpha, k * fit.rdp(alpha), {delta!r}), k * fit.epsilon({delta!r}))
"""


def ledger(entries: Sequence[Entry], *, delta: float) -> str:
    """The ledger's running totals: validated bounds, by Rényi, and the ε added up; defines the list ``totals``."""
    named = ((entry, f"  # {entry.name}" if entry.name else "") for entry in entries)
    releases = "\n".join(f"    ({entry.one()}, {entry.count}),{name}" for entry, name in named)
    return f"""import numpy as np

import objpert_core.accounting as acc

releases = [
{releases}
]
{_ORDERS}


def alone(mechanism):
    if isinstance(mechanism, acc.DPSGD):
        return mechanism.epsilon_bounds({delta!r}, relative_width={WIDTH!r})[1]
    return mechanism.epsilon({delta!r})


totals = []
for n in range(1, len(releases) + 1):
    together = acc.compose(*(acc.repeat(mechanism, k) for mechanism, k in releases[:n]))
    low, high = together.epsilon_bounds({delta!r}, relative_width={WIDTH!r})
    renyi = acc.rdp_to_epsilon(alpha, together.rdp(alpha), {delta!r})
    added = sum(k * alone(mechanism) for mechanism, k in releases[:n])
    totals.append((low, high, renyi, added))
    print(n, *totals[-1])
"""
