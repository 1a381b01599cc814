"""What every public mechanism is: a value that travels, answers numbers and arrays, and names what is wrong."""

import dataclasses
import inspect
import math
import pickle
import re

import numpy as np
import pytest

from objpert_core import accounting
from tests.second_opinion.cases import CASES

BY_SUMS = 1e-100  # what resolves no smaller δ adds up losses, on a grid for each question
FIRST = {case.mechanism: case for case in reversed(CASES) if not case.slow and case.mechanism != "DiscretePLD"}
ROUNDED = {name for name, case in FIRST.items() if case.resolved > BY_SUMS}
INTEGRATED = {"TiltAndBend", *ROUNDED}  # each ε for a while: the mechanism's errors are not asked for
MECHANISMS = {name: case.make(accounting) for name, case in FIRST.items()}
MECHANISMS |= {
    f"bound {bound}": accounting.ObjectivePerturbation(3.0, 2.0, bound=bound, dimension=1)
    for bound in accounting.BOUNDS
}
every = pytest.mark.parametrize("name", MECHANISMS)
NO_NUMBERS = [-1.0, math.nan, math.inf, -math.inf, True, "1", [1.0], 1j]
MAY_BE_ZERO = {"test_epsilon", "test_delta", "failure", "fallback_delta", "shift", "separation"}
MAY_BE_ZERO |= {"tolerance", "anchor_error", "sigma_out", "ApproximateDP epsilon", "ApproximateDP delta"}
MAY_BE_ZERO |= {"ProposeTestRelease epsilon", "ProposeTestRelease delta"}


def parameters(known):
    """Every name, with the marks of those that are known."""
    return [pytest.param(name, marks=known.get(name, ())) for name in MECHANISMS]


LONG = dict.fromkeys(("composed_fit", "one_vs_rest", "symmetrised"), pytest.mark.thorough)  # for an answer


def questions(name):
    """(method, two arguments) of what it has an answer to."""
    mechanism = MECHANISMS[name]
    if mechanism.has_profile:
        yield mechanism.delta, (0.4, 1.3)
        yield mechanism.log_delta, (0.4, 1.3)
        yield mechanism.epsilon, (0.01, 0.3)
    if mechanism.has_profile and name not in INTEGRATED:
        yield mechanism.tail, (0.4, 1.3)
        yield mechanism.tradeoff, (0.1, 0.7)
    if mechanism.has_rdp:
        yield mechanism.rdp, (1.0, 2.5)


@pytest.mark.parametrize("name", parameters(LONG))
def test_it_is_a_value_that_can_be_pickled_also_after_it_was_asked(name):
    mechanism = MECHANISMS[name]
    before = [method(at) for method, (at, _) in questions(name)]
    twin = pickle.loads(pickle.dumps(mechanism))
    assert twin == mechanism
    assert hash(twin) == hash(mechanism)
    assert mechanism != accounting.Gaussian(77.0)
    assert [getattr(twin, method.__name__)(at) for method, (at, _) in questions(name)] == before
    with pytest.raises(AttributeError):
        setattr(mechanism, dataclasses.fields(mechanism)[0].name, 1.0)


@pytest.mark.parametrize("name", parameters(LONG))
def test_a_number_gives_a_float_and_an_array_its_elements(name):
    for method, ends in questions(name):
        rounding = 1e-2 if name in ROUNDED else 1e-6 if method == MECHANISMS[name].tradeoff else 1e-12
        one, other = map(method, ends)
        assert type(one) is type(method(np.float64(ends[0]))) is type(method(np.array(ends[0]))) is float
        np.testing.assert_allclose(method(list(ends)), [one, other], rtol=rounding)
        np.testing.assert_allclose(method(np.full((2, 1, 2), ends)), np.full((2, 1, 2), [one, other]), rtol=rounding)
        assert method(np.empty((0, 2))).shape == (0, 2)


@pytest.mark.parametrize("ask", ["delta_bounds", "epsilon_bounds"])
@pytest.mark.parametrize("name", ["DPSGD", "SampledWithReplacement", "RandomAllocation", "repeat", "compose"])
def test_bounds_of_a_number_are_two_floats_and_those_of_an_array_two_arrays(name, ask):
    bounds = getattr(MECHANISMS[name], ask)
    assert [type(end) for end in bounds(0.3)] == [float, float]
    assert [end.shape for end in bounds(np.full((2, 3), 0.3))] == [(2, 3), (2, 3)]


@pytest.mark.parametrize("name", parameters(LONG))
def test_flags_say_what_answers(name):
    mechanism = MECHANISMS[name]
    assert mechanism.has_losses == (mechanism.losses() is not None)
    if not mechanism.has_losses:
        with pytest.raises(NotImplementedError):
            mechanism.pld()
    if mechanism.has_profile and isinstance(mechanism.lower_bound, accounting.Gaussian):
        assert mechanism.epsilon(1e-5) >= mechanism.lower_bound.epsilon(1e-5) * (1 - 1e-12)


QUESTIONS = {
    "epsilon must be a finite number >= 0": (("delta", "log_delta", "delta_bounds", "tail"), [-1e-9, [0.1, math.inf]]),
    "delta must be a number strictly between 0 and 1": (("epsilon", "epsilon_bounds"), [0.0, 1, -0.1, [1e-5, -0.1]]),
    "false_positive_rate must be a number from 0 to 1": (("tradeoff",), [-1e-9, 1.0000001, [0.1, 2.0], math.inf]),
    "alpha must be a finite Rényi order >= 1": (("rdp",), [0.999, [2, math.inf]]),
}


@pytest.mark.parametrize("name", [name for name in MECHANISMS if name not in {"bound non-glm", *INTEGRATED}])
def test_the_chance_that_the_loss_exceeds_epsilon_lies_between_delta_and_one_and_falls(name):
    mechanism, epsilons = MECHANISMS[name], np.array([0.0, 0.4, 0.8, 1.2])
    tail = mechanism.tail(epsilons)
    assert ((tail >= mechanism.delta(epsilons) * (1 - 1e-12)) & (tail <= 1)).all()
    assert (np.diff(tail) <= 1e-12).all()


@every
@pytest.mark.parametrize("words", QUESTIONS)
def test_a_question_out_of_range_is_refused_by_the_name_of_its_argument(name, words):
    answered = {method.__name__ for method, _ in questions(name)}
    answered |= {ask for ask in ("delta_bounds", "epsilon_bounds") if hasattr(MECHANISMS[name], ask)}
    asks, nonsense = QUESTIONS[words]
    for ask in answered.intersection(asks):
        for bad in (*nonsense, math.nan, "0.1", None, True):
            with pytest.raises(ValueError, match=f"^{words}, got "):
                getattr(MECHANISMS[name], ask)(bad)


def arguments(mechanism):
    """What it was made of, by the names that its class takes."""
    fields, made = [field.name for field in dataclasses.fields(mechanism)], {}
    for name in inspect.signature(type(mechanism)).parameters:
        own = name if name in fields else next(field for field in fields if field.endswith(f"_{name}"))
        made[name] = getattr(mechanism, own)
    return made


@every
def test_a_parameter_that_is_no_number_of_its_kind_is_named_with_its_value(name):
    made = arguments(MECHANISMS[name])
    for parameter, value in made.items():
        nonsense = {float: [*NO_NUMBERS, 10**400], int: [*NO_NUMBERS, 2.5]}.get(type(value), [])
        if nonsense and not {parameter, f"{name} {parameter}"} & MAY_BE_ZERO:
            nonsense = [*nonsense, 0]
        for bad in nonsense:
            with pytest.raises(ValueError, match=rf"^{parameter} must be .*got {re.escape(repr(bad))}"):
                type(MECHANISMS[name])(**made | {parameter: bad})


@every
def test_other_neighbours_are_refused(name):
    made = arguments(MECHANISMS[name])
    if "adjacency" in made:
        with pytest.raises(ValueError, match=r"^adjacency must be .*got 'swap'"):
            type(MECHANISMS[name])(**made | {"adjacency": "swap"})


@every
def test_what_is_about_other_neighbours_does_not_compose_with_it(name):
    own = MECHANISMS[name].adjacency
    others = {accounting.ADD_REMOVE, accounting.REPLACE_ONE} - {own}
    for adjacency in others:
        with pytest.raises((ValueError, NotImplementedError), match=r"share one adjacency|Rényi"):  # or with nothing
            accounting.compose(MECHANISMS[name], accounting.Gaussian(3.0, adjacency=adjacency))
