"""Every public function of numbers names what is not one of them, with its value, before it computes anything."""

import inspect
import math
import re

import pytest

import objpert_core.accounting as acc
from objpert_core import accounting
from objpert_core.accounting import Gaussian, ObjectivePerturbation

GIVEN = {  # what no function refuses, by the names of the parameters
    "epsilon": 0.5, "delta": 1e-5, "sample_rate": 0.1, "steps": 10, "mean_runs": 5.0, "batch_size": 2, "rows": 10,
    "dimension": 3, "degrees_of_freedom": 9, "residual_bound": 1.0, "leverage": 0.1, "gamma": 1.0, "n_rows": 100,
    "gradient_bound": 1.0, "smoothness": 1.0, "classes": 3, "more_than": 10, "probability": 0.9, "k": 2, "size": 2,
    "mechanism": Gaussian(9.0), "base": Gaussian(9.0), "fit": ObjectivePerturbation(9.0, 99.0), "bound": "logistic",
    "before": (Gaussian(99.0),), "calibrate": Gaussian, "sigma": [9.0], "lam": [9.0], "alpha": 2.0, "failure": 1e-9,
    "test": Gaussian(9.0).rdp, "budget": Gaussian(9.0).rdp, "worst": Gaussian(9.0).rdp, "tau": 1e-3,
    "copies": 3, "text": "{}",
}  # fmt: skip
NONSENSE = {
    "float": [-1.5, math.nan, math.inf, "1", [1.0], 1j, 10**400],
    "int": [-1, 2.5, math.nan, "1", True, None, 10**400],
    "str": ["none", None, 3],
    "Mechanism": [3.0, "glm", None, Gaussian],
}
NEEDED_BY_OTHERS = ("tau", "copies")


def questions():
    """(function, parameter, its nonsense) of every public one."""
    for name in accounting.__all__:
        function = getattr(accounting, name)
        if inspect.isfunction(function):
            for parameter, about in inspect.signature(function).parameters.items():
                kind = str(about.annotation).removesuffix(" | None")
                if kind in NONSENSE and parameter not in ("text", "mechanisms"):
                    yield pytest.param(function, parameter, kind, id=f"{name} {parameter}")


@pytest.mark.parametrize(("function", "parameter", "kind"), list(questions()))
def test_what_is_no_number_of_its_kind_is_named_with_its_value(function, parameter, kind):
    needed = inspect.signature(function).parameters.items()
    given = {name: GIVEN[name] for name, about in needed if about.default is about.empty or name in NEEDED_BY_OTHERS}
    optional = "None" in str(dict(needed)[parameter].annotation)
    for bad in NONSENSE[kind]:
        if bad is not None or not optional:
            with pytest.raises(ValueError, match=rf"^{parameter} must be .*got {re.escape(repr(bad))}"):
                function(**given | {parameter: bad})


def test_every_public_name_has_an_example():
    public = [getattr(acc, name) for name in acc.__all__]
    described = [o for o in public if inspect.isfunction(o) or (inspect.isclass(o) and not inspect.isabstract(o))]
    lacking = [o.__name__ for o in described if ">>>" not in (o.__doc__ or "")]
    # made by functions, each of which has one: compose, parallel, symmetrised, tabulated, via_rdp
    assert lacking == ["Composition", "Parallel", "Symmetrised", "Tabulated", "ViaRDP"]
