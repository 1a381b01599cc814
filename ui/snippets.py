"""Python that gives the numbers on the screen: one function a picture, from the same parameters the page used.

A snippet is complete (imports included), short enough to read aloud, and prints its result. Tests execute every one and
compare what it prints, and the names it defines, with the plotted numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def call(name: str, arguments: Mapping[str, Any]) -> str:
    """``name(key=value, …)`` with values as Python literals that round-trip exactly."""
    return f"{name}({', '.join(f'{key}={value!r}' for key, value in arguments.items())})"


def bounds(*, sigma: float, lam: float, smoothness: float, lipschitz: float, epsilon: float, delta: float) -> str:
    """Every bound's ε at `delta` and δ at `epsilon`, as on the Bounds page; defines the dictionary ``curves``."""
    shared = f"lipschitz={lipschitz!r}, smoothness={smoothness!r}"
    return f"""import objpert_core.accounting as acc


def bound(name):
    return acc.ObjectivePerturbation(sigma={sigma!r}, lam={lam!r}, {shared}, bound=name)


curves = {{
    "logistic": bound("logistic"),
    "monotone": bound("monotone"),
    "glm": bound("glm"),
    "rdp": acc.via_rdp(bound("glm")),
    "kifer2012": bound("kifer2012"),
    "lower": acc.Gaussian(sigma={sigma!r}, sensitivity={lipschitz!r}),
}}
for name, curve in curves.items():
    print(name, curve.epsilon({delta!r}), curve.delta({epsilon!r}))
"""


def one_dimension(
    *,
    sigma: float,
    lam: float,
    features: list[float],
    labels: list[int],
    person: tuple[float, int],
    radius: float,
    delta: float,
) -> str:
    """The Home page's densities, privacy loss and proved ε at a few θ."""
    return f"""import numpy as np

import objpert_core.accounting as acc
from objpert_core.learning.one_dimensional import OneDimensionalLogistic

features = {features!r}
labels = {labels!r}
without = OneDimensionalLogistic(features, labels, sigma={sigma!r}, lam={lam!r})
with_person = without.add({person[0]!r}, {person[1]!r})

theta = np.linspace(*without.interval(2e-3), 9)
density_without, density_with = without.density(theta), with_person.density(theta)
privacy_loss = with_person.log_density(theta) - without.log_density(theta)
epsilon = acc.ObjectivePerturbation(sigma={sigma!r}, lam={lam!r}, lipschitz={radius!r}).epsilon({delta!r})
print(np.column_stack([theta, density_without, density_with, privacy_loss]))
print("proved epsilon:", epsilon, "largest privacy loss here:", np.abs(privacy_loss).max())
"""


def renyi(
    *,
    sigma: float,
    lam: float,
    smoothness: float,
    bound: str,
    noise_multiplier: float,
    sample_rate: float,
    steps: int,
    delta: float,
) -> str:
    """The Rényi page's curves and every ε at `delta`; defines the dictionary ``mechanisms`` and the array ``alpha``."""
    extra = f"smoothness={smoothness!r}, " if bound == "glm" else ""
    return f"""import numpy as np

import objpert_core.accounting as acc

mechanisms = {{
    "objective": acc.ObjectivePerturbation(sigma={sigma!r}, lam={lam!r}, {extra}bound={bound!r}),
    "gaussian": acc.Gaussian(sigma={sigma!r}),
    "dpsgd": acc.DPSGD(noise_multiplier={noise_multiplier!r}, sample_rate={sample_rate!r}, steps={steps!r}),
}}
alpha = np.array([1.5, 2.0, 4.0, 8.0, 16.0, 64.0, 256.0, 1024.0, 4096.0])
for name, mechanism in mechanisms.items():
    by_renyi, by_distribution = acc.via_rdp(mechanism).epsilon({delta!r}), mechanism.epsilon({delta!r})
    print(name, by_renyi, by_distribution, *mechanism.rdp(alpha))
"""
