"""Certificates with one field changed: each is convicted, or it is harmless by a rule that stands here.

A certificate promises (ε, δ) for neighbours as its words have them, and that the choice is covered. `verify(model)`
cannot know how a fit went. It can know whether the numbers prove the promise, whether they fit together, and whether
the certificate names these coefficients. So a change is harmless if it leaves a promise that the honest one implies:

* ε or δ grew;
* a number of the proof moved to where the same numbers prove more (more noise, more regularisation, a nearer stop);
* another theorem, loss or accountant also proves the same promise;
* a word says what costs no privacy (optimiser, learning rates, margin, which rule for rows), or what nobody can check
  (`on_error`, which kind of seed);
* it is a diagnostic within its range, which no promise is made of;
* a float, or the noise by the sensitivity, moved by no more than one part in 10⁹, what calibrations resolve (for DP-SGD
  by a few parts in 10⁶, 10⁴ or 10³).

Every other change must be convicted, the wrong type first of all.
"""

import dataclasses
import decimal
import fractions
import math

import numpy as np
import pytest

import objpert_core.learning as learn
from objpert_core.accounting.objective.bounds import BOUND_REGISTRY
from objpert_core.estimators import DPSGDLogisticRegression, ObjPertRegressor
from tests.learning.certificates import EVERY, FITTED
from tests.learning.certificates.kind import of_kinds

RESOLUTION = 1e-9 * (1 + 1e-6)
RESOLUTION_OF_SGD = {"pld": 2e-4, "rdp": 2e-6}  # calibrate_dpsgd stops within 1e-5 and 1e-7 of ε; δ is steeper
RESOLUTION_OF_ALLOCATION = 5e-3  # calibrate_allocation stops within 1e-4


class Hostile:
    """A value that raises whatever is done with it."""

    def __getattribute__(self, name):
        raise RuntimeError(name)

    def _refuse(self, *others):
        raise RuntimeError("no")

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __bool__ = __float__ = __repr__ = __iter__ = _refuse
    __add__ = __radd__ = __mul__ = __rmul__ = __truediv__ = __neg__ = __len__ = __hash__ = __format__ = _refuse


class SlyFloat(float):
    """A float that is whatever one hopes for."""

    __lt__ = __le__ = __gt__ = __ge__ = __eq__ = lambda self, other: True
    __hash__ = float.__hash__


NASTY = [
    *(None, True, False, 0, 1, -1, 2, 10**400, -(10**400), 0.0, -0.0, 1.0, -1.0, math.nan, math.inf, -math.inf, 1j),
    *(5e-324, 1e-320, 1e-170, 1e170, 1.7e308, "", "x", "yes", "1.0", "nan", "None", b"x", [], (), {}, set(), [1.0]),
    *((math.nan,), (1.0, math.nan), (1,), (True,), ("a",), (0.1, 0.1), ((0.1,),), (0.1, [0.2])),
    *({"a": 1}, object(), float),
    *(np.float32(1.0), np.int64(3), np.bool_(True), np.array([1.0]), np.array(1.0), np.str_("none"), print),
    *(decimal.Decimal(1), fractions.Fraction(1, 3), SlyFloat(1.0), Hostile(), [Hostile()], (Hostile(),)),
]
WORDS = [
    *BOUND_REGISTRY, *learn.EVERY_LOSS, *learn.PrivacyCertificate.MECHANISMS, "add/remove one row",
    "replace one row", "profile", "rdp", "pld", "normalize", "clip", "operating system", "integer seed",
    "numpy RandomState", "numpy Generator", "raise", "release", "adam", "sgd", "none", "honest", "dishonest",
    "0" * 64, "F" * 64, "add/remove", "3 rows of one person", "poisson", "allocation",
    *(f"data sets of the same size m = {m}, known to all, up to one row left out of the sums" for m in (299, 300, 301)),
    *(f"data sets of the same size m = {m}, known to all, that differ in one row" for m in (299, 300, 301)),
]  # fmt: skip
FACTORS = (1 + 1e-9, 1 - 1e-9, 1 + 1e-6, 1 - 1e-6, 0.999, 1.001, 0.9, 1.1, 0.5, 2.0, 0.01, 100.0, -1.0)


# The rules: for each field, whether a certificate with `new` for `old` is harmless


def never(spent, old, new):
    return False


def always(spent, old, new):
    return True


def up(spent, old, new):
    return new >= old


def more(spent, old, new):
    """Up, of noise that there is."""
    return None not in (old, new) and new >= old


def down(spent, old, new):
    return new <= old


def fewer(spent, old, new):
    """Down from None, which stands for no limit."""
    return new is not None and (old is None or new <= old)


def one_of(*words):
    return lambda spent, old, new: old in words and new in words


def bounds_hold(spent):
    """Whether the theorem covers the loss, by what is known of each loss and each theorem, told here once more."""
    h, radius = spent.loss_parameter, math.hypot(1, spent.intercept_scaling)
    slope, curvature = {
        "logistic": (1.0, 0.25),
        "squared-hinge": (math.inf, 1.0),
        "huberised-hinge": (1.0, 1 / (2 * (0.5 if h is None else max(h, 1e-300)))),
        "squared": (math.inf, 1.0),
        "huber": (1.0 if h is None else h, 1.0),
        "hinge": (1.0, math.inf),
        "absolute": (1.0, math.inf),
        "epsilon-insensitive": (1.0, math.inf),
        "pinball": (0.5 if h is None else max(h, 1 - h), math.inf),
    }[spent.loss]
    one_sign = spent.loss in ("logistic", "hinge", "squared-hinge", "huberised-hinge")
    itself = spent.envelope is None  # not an envelope, which T1 is not about
    covered = {"logistic": spent.loss == "logistic" and itself, "monotone": one_sign}.get(spent.bound, True)
    if spent.clip is not None and spent.bound != "logistic":  # which needs the whole radius
        slope = min(slope, spent.clip / radius)
    slack = 1 + 1e-12
    curved = curvature * radius**2 if itself else 1 / (1 / (curvature * radius**2) + 1 / spent.envelope)
    return covered and slope * radius <= spent.lipschitz * slack and curved <= spent.smoothness * slack


def proof(spent, old, new):
    return bounds_hold(spent)


def declared(spent, old, new):
    """A declared number chose λ and nothing else, where λ is stated; it is part of no words."""
    return spent.rows_declared is True and None not in (old, new)


def noise_ratio(spent):
    """Noise by sensitivity, the solver's distance to the minimiser included."""
    if isinstance(spent, learn.OutputPerturbationCertificate):  # T10
        moved = 2 if "differ in one row" in spent.adjacency or "replace" in spent.adjacency else 1
        return spent.sigma * spent.lam / (moved * spent.lipschitz + 2 * spent.tau)
    return 1 / math.hypot(spent.lipschitz / spent.sigma, 2 * spent.tau / spent.lam / spent.sigma_out)


def little(field):
    """Towards more noise, or with no effect on noise by sensitivity beyond one part in 10⁹."""

    def rule(spent, old, new):
        return noise_ratio(spent) >= noise_ratio(dataclasses.replace(spent, **{field: old})) * (1 - RESOLUTION)

    return rule


def shorter(spent, old, new):
    """No row gets longer."""
    return math.hypot(1, new) <= math.hypot(1, old)


def lattice(spent, old, new):
    """A finer one holds all that the coarser one does, and a coarser one may do where the proof has room for it.

    The coefficients must lie there, too: `check` looks at them.
    """
    if math.frexp(new)[0] != 0.5:
        return False
    noise = spent.sigma if isinstance(spent, learn.OutputPerturbationCertificate) else getattr(spent, "sigma_out", 0.0)
    return new <= old or (
        not isinstance(spent, DPSGD) and spent.lam * new * math.sqrt(4) / 2 <= spent.tau and new <= noise * 2.0**-10
    )


RULES = {
    **dict.fromkeys(("epsilon", "delta"), up),
    **dict.fromkeys(("sigma", "lam", "noise_multiplier", "score_noise"), up),
    "mean_runs": down,
    "intercept_scaling": shorter,
    **{field: little(field) for field in ("tau", "sigma_out")},
    **dict.fromkeys(("center_noise", "scale_noise"), more),
    **dict.fromkeys(("lipschitz", "smoothness"), up),
    **dict.fromkeys(("bound", "loss", "loss_parameter", "envelope"), proof),
    "ball_radius": lambda spent, old, new: new is None or new > 0,
    "dimension": lambda spent, old, new: new is not None and (old is None or new >= old),
    "accountant": one_of("profile", "rdp", "pld"),
    "row_norm": one_of("normalize", "clip"),
    "optimizer": one_of("adam", "sgd"),
    "on_error": one_of("raise", "release"),
    "noise_source": one_of("integer seed", "numpy RandomState", "numpy Generator"),
    "candidates": lambda spent, old, new: all(0 < rate <= 1e9 for rate in new),
    "weighted": lambda spent, old, new: new is True,  # weights of at most 1 cost nothing (T48)
    "margin": lambda spent, old, new: new >= 0,
    "lattice": lattice,
    "gradient_norm": lambda spent, old, new: new is None or 0 <= new <= spent.tau,
    "n_iter": lambda spent, old, new: new is None or new >= 0,
}
"""Fields that are not named may not change at all."""


def harmless(field, old, new, spent):
    """Whether the promise of `spent`, in which `field` said `old`, is implied by the one that says `new`.

    `spent` is the changed certificate.
    """
    number = np.float64 if type(new) is np.float64 else type(old)
    if old is not None and new is not None and type(new) is not number:
        return False
    resolution = RESOLUTION_OF_SGD[spent.accountant] if isinstance(spent, DPSGD) else RESOLUTION
    if isinstance(spent, DPSGD) and spent.sampling == "allocation":
        resolution = RESOLUTION_OF_ALLOCATION
        if field == "batch_size":  # the same number of steps in an epoch is the same mechanism
            return math.ceil(spent.public_rows / new) == math.ceil(spent.public_rows / old)
    if isinstance(old, float) and isinstance(new, float) and abs(new - old) <= resolution * abs(old):
        return True
    if field in ("clip", "intercept_scaling") and isinstance(spent, DPSGD):
        return new >= 0  # gradients are clipped whatever the rows, and the noise is told relative to the threshold
    if field == "clip":
        return fewer(spent, old, new) or bounds_hold(spent)
    if field == "public_rows" and not isinstance(spent, DPSGD):
        return declared(spent, old, new)
    return RULES.get(field, never)(spent, old, new)


DPSGD = learn.PrivacyCertificate.MECHANISMS["DPSGD"]


def changed(rng, spent, field):
    """A random other value for a field: something nasty, a word, another field's value, or the value moved a little."""
    old = getattr(spent, field)
    how = rng.random()
    if how < 0.25:
        return NASTY[rng.integers(len(NASTY))]
    if how < 0.35:
        other = dataclasses.fields(spent)
        return getattr(spent, other[rng.integers(len(other))].name)
    if how < 0.5 or isinstance(old, str):
        return WORDS[rng.integers(len(WORDS))] if how < 0.9 else str(old).upper()
    if isinstance(old, bool):
        return (not old, int(old), int(not old), float(old), str(old))[rng.integers(5)]
    if isinstance(old, int):
        return (old + 1, old - 1, 2 * old, -old, float(old), old + 1e-9, str(old), 10**12)[rng.integers(8)]
    if isinstance(old, float):
        if how < 0.6:
            return math.nextafter(old, math.inf if how < 0.55 else -math.inf)
        if how < 0.65:
            return (np.float64(old) * 1.01, np.float32(old), int(old), str(old), 2.0 ** round(math.log2(old or 1)))[
                rng.integers(5)
            ]
        return old * (FACTORS[rng.integers(len(FACTORS))] if how < 0.9 else 10.0 ** rng.uniform(-4, 4))
    if isinstance(old, tuple):
        return (list(old), old[::-1], (*old, 0.7), old[:-1], (*old, *old[:1]), tuple(map(str, old)))[rng.integers(6)]
    return (None, 300, 5, 0.5, True, False, 1e-3)[rng.integers(7)]


def same(old, new):
    if type(old) is not type(new):
        return False
    if isinstance(old, tuple) and list(map(type, old)) != list(map(type, new)):
        return False  # what stands in a tuple may refuse to be compared
    return new == old or (isinstance(old, float) and math.isnan(old) and math.isnan(new))


def check(count, seed):
    """Change one field `count` times; the number of changes that were convicted."""
    rng = np.random.default_rng(seed)
    names, convicted = list(FITTED), 0
    for number in range(count):
        model = FITTED[names[number % len(names)]].model
        spent = model.privacy_
        fields = [item.name for item in dataclasses.fields(spent)]
        field = fields[(number // len(names)) % len(fields)]
        old, new = getattr(spent, field), changed(rng, spent, field)
        if same(old, new):
            continue
        forged = dataclasses.replace(spent, **{field: new})
        verdict = forged.verify(model)
        assert type(verdict) is bool
        assert not verdict or harmless(field, old, new, forged), (names[number % len(names)], field, old, new)
        if verdict and field == "lattice" and not isinstance(model, (DPSGDLogisticRegression, ObjPertRegressor)):
            assert not np.fmod(model.coef_, new).any()
        convicted += not verdict
    return convicted


@pytest.mark.thorough
def test_two_hundred_changes():
    assert check(200, seed=0) > 100


@pytest.mark.slow
@pytest.mark.no_cover
@pytest.mark.parametrize("count", [2_500, pytest.param(10_000, marks=pytest.mark.exhaustive)])
def test_thousands_of_changes(count):
    assert check(count, seed=1) > count // 2


def may_be_good(old, new):
    """Whether a nasty value might be a good one: its type is the field's, or the field may be None."""
    return type(new) is type(old) or new is None or (old is None and type(new) in (int, float, bool, str))


@of_kinds(EVERY, "slow")
@pytest.mark.no_cover
def test_every_field_has_a_rule_and_every_type_but_its_own_is_convicted(kind):
    spent = kind.honest
    rules = spent.field_rules()
    for item in dataclasses.fields(spent):
        assert item.name == "schema" or item.name in rules
        for new in NASTY:
            if not may_be_good(getattr(spent, item.name), new):
                forged = dataclasses.replace(spent, **{item.name: new})
                assert forged.verify() is False, (item.name, new)
                assert isinstance(repr(forged), str)
