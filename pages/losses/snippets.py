"""Python that gives the numbers of the page Losses and clipping, complete and executable."""

from __future__ import annotations

import inspect

from objpert_core._literals import call
from objpert_core.experiments.studies import clipping
from pages.losses import numbers as lc
from pages.losses import ordinary as lo
from ui import bounds


def loss(setting: lc.LossSetting) -> str:
    """f, f_C and f_C′ at a few scores, and the kinks; defines ``clipped``."""
    own = f", {setting.parameter!r}" if setting.loss in lc.PARAMETERS else ""
    return f"""import numpy as np

from objpert_core.learning import ClippedLoss, loss_named

loss = loss_named({setting.loss!r}{own})
clipped = ClippedLoss(loss, {setting.clip!r} / {setting.norm!r})
target = {setting.target!r}
scores = np.linspace(-4, 4, 9)
slopes, curvatures = clipped.derivatives(scores, target)
print(np.column_stack([scores, loss.value(scores, target), clipped.value(scores, target), slopes]))
print("kinks:", *clipped.kinks(targets=target))
"""


def ordinary(margin: float) -> str:
    """The exact ε of an ordinary row without and with a margin, and the certified one; defines ``exact``."""
    return f"""import objpert_core.accounting as acc
from objpert_core.theory.one_dimensional import OneDimensionalLogistic

labels = [1] * {lo.AGREE} + [-1] * {lo.DIFFER}
exact = {{}}
for margin in {(0.0, margin) if margin else (0.0,)!r}:
    without = OneDimensionalLogistic([1.0] * len(labels), labels, sigma={lo.SIGMA!r}, lam={lo.LAM!r}, margin=margin)
    exact[margin] = without.pair_epsilon(without.add(1.0, 1), {lo.DELTA!r})
print("exact for this row:", exact)
print("certified for every row:", acc.ObjectivePerturbation(sigma={lo.SIGMA!r}, lam={lo.LAM!r}).epsilon({lo.DELTA!r}))
"""


def _generator(setting: clipping.Setting) -> str:
    """The source of the data's generator, its constants filled in."""
    generator = clipping.regression_data if setting.regression else clipping.classification_data
    body, centre = inspect.getsource(generator).split('"""', 2)[2], f"np.array({clipping.CENTRE.tolist()})"
    constants = {
        "TRUE_SLOPE": clipping.TRUE_SLOPE,
        "TRUE_INTERCEPT": clipping.TRUE_INTERCEPT,
        "CENTRE": centre,
        "ROWS": clipping.ROWS,
    }
    for constant, value in constants.items():
        body = body.replace(constant, str(value))
    name, arguments = generator.__name__, "outliers, seed" + ("" if setting.regression else f", rows={clipping.ROWS}")
    return f"def {name}({arguments}):{body.rstrip()}\n\n\nX, y = {name}({setting.outliers!r}, {setting.seed!r})"


def fit(setting: clipping.Setting) -> str:
    """The first private fit on the chart; defines ``theta``, its last entry the intercept."""
    start = "import numpy as np\n\n"
    seed = clipping.noise_seed(setting.seed, 0)
    shared = f'intercept_scaling={clipping.CONSTANT!r}, row_norm="clip", random_state={seed!r}'
    if setting.loss == "logistic":
        radius = "2**0.5"
        loss = f"loss=LogisticLoss({setting.parameter!r}), " if setting.parameter else ""
        names = "LogisticLoss, perturb_and_solve" if loss else "perturb_and_solve"
        return f"""{start}import objpert_core.accounting as acc
from objpert_core.learning import {names}


{_generator(setting)}
mechanism = acc.calibrate_objective_perturbation(
    {setting.epsilon!r}, {setting.delta!r}, lipschitz=min({radius}, {setting.clip!r}), smoothness=({radius})**2 / 4,
    bound="monotone", tau={clipping.TAU!r},
)
released = perturb_and_solve(
    X, y, mechanism, {loss}delta={setting.delta!r}, clip={setting.clip!r},
    {shared},
)
theta = released.theta
print(*theta)
print(released.certificate)
"""
    estimator, extra = "ObjPertRegressor", ""
    if setting.loss == "huber":
        extra = f", huber_threshold={setting.parameter!r}"
    elif not setting.regression:
        estimator = "ObjPertSVC"
        extra = f", hinge_width={setting.parameter!r}" if setting.loss == "huberised-hinge" else ""
    return f"""{start}from objpert_core.estimators import {estimator}


{_generator(setting)}
model = {estimator}(
    epsilon={setting.epsilon!r}, delta={setting.delta!r}, loss={setting.loss!r}, clip={setting.clip!r}{extra},
    {shared},
).fit(X, y)
theta = np.append(model.coef_, model.intercept_)
print(*theta)
print(model.privacy_)
"""


def dimension(setting: bounds.Setting, *, delta: float, at: int) -> str:
    """Every bound's ε at `delta`; defines the dictionary ``curves``."""
    return f"""import objpert_core.accounting as acc

parameters = {call("dict", vars(setting))}
glm = acc.ObjectivePerturbation(**parameters, bound="glm")
curves = {{
    "non-glm": acc.via_rdp(acc.ObjectivePerturbation(**parameters, bound="non-glm", dimension={at!r})),
    "rdp": acc.via_rdp(glm),
    "glm": glm,
    "lower": acc.Gaussian(sigma={setting.sigma!r}, sensitivity={setting.lipschitz!r}),
}}
for name, curve in curves.items():
    print(name, curve.epsilon({delta!r}))
"""
