"""The contract of every mechanism: adjacency, what it can answer, what it adds to an objective."""

import dataclasses

import numpy as np
import pytest

from objpert_core.accounting import (
    ADD_REMOVE,
    DPSGD,
    REPLACE_ONE,
    ApproximateMinima,
    Gaussian,
    HalfNormal,
    ObjectivePerturbation,
    OutputPerturbation,
    PrivateSelection,
    calibrate_gaussian,
    compose,
    distance_to_optimality,
    repeat,
    replace_one,
    symmetrised,
    tabulated,
    via_rdp,
)

EITHER = [Gaussian(2.0), OutputPerturbation(2.0, 1.5), HalfNormal(2.0)]
ADD_REMOVE_ONLY = [ObjectivePerturbation(3.0, 2.0), DPSGD(1.0, 0.01, 10)]
FITS = [ObjectivePerturbation(3.0, 2.0), ApproximateMinima(ObjectivePerturbation(3.0, 2.0), 1e-3, 0.1)]
WRAPPERS = [via_rdp, tabulated, symmetrised, lambda m: PrivateSelection(m, 5.0), lambda m: repeat(m, 3), compose]


# --- adjacency ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mechanism", [*EITHER, *ADD_REMOVE_ONLY], ids=lambda m: type(m).__name__)
def test_adjacency_is_a_keyword_only_field_that_defaults_to_add_remove(mechanism):
    assert mechanism.adjacency == ADD_REMOVE == "add/remove one row"
    (field,) = [field for field in dataclasses.fields(mechanism) if field.name == "adjacency"]
    assert field.kw_only


@pytest.mark.parametrize("mechanism", EITHER, ids=lambda m: type(m).__name__)
def test_noise_on_a_value_goes_with_either_adjacency(mechanism):
    replaced = dataclasses.replace(mechanism, adjacency=REPLACE_ONE)
    assert replaced.adjacency == "replace one row"
    assert replaced != mechanism
    assert replaced.epsilon(1e-5) == mechanism.epsilon(1e-5)  # the sensitivity is meant under it
    assert replaced.lower_bound.adjacency == REPLACE_ONE


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", ADD_REMOVE_ONLY, ids=lambda m: type(m).__name__)
def test_a_row_that_is_replaced_costs_more_than_one_more_or_less(mechanism):
    replaced = dataclasses.replace(mechanism, adjacency=REPLACE_ONE)
    assert replaced == replace_one(mechanism) != mechanism
    assert replaced.adjacency == "replace one row"
    assert replaced.epsilon(1e-5) > mechanism.epsilon(1e-5)
    assert (replaced.rdp([1.0, 2.0, 30.0]) > mechanism.rdp([1.0, 2.0, 30.0])).all()


@pytest.mark.parametrize("adjacency", [ADD_REMOVE, REPLACE_ONE])
@pytest.mark.parametrize("wrap", WRAPPERS)
def test_wrappers_take_it_from_their_part(wrap, adjacency):
    assert wrap(Gaussian(2.0, adjacency=adjacency)).adjacency == adjacency


def test_approximate_minima_take_it_from_the_objective():
    assert FITS[1].adjacency == FITS[1].output.adjacency == ADD_REMOVE


@pytest.mark.parametrize("wrap", WRAPPERS)
def test_mixing_adjacencies_is_refused(wrap):
    one, other = Gaussian(2.0), wrap(Gaussian(2.0, adjacency=REPLACE_ONE))
    with pytest.raises(ValueError, match=r"must share one adjacency .* 'add/remove one row' and 'replace one row'"):
        compose(one, other)
    assert compose(wrap(one), one).adjacency == ADD_REMOVE


def test_calibration_says_for_which_adjacency():
    for adjacency in (ADD_REMOVE, REPLACE_ONE):
        assert calibrate_gaussian(1.0, 1e-5, adjacency=adjacency).adjacency == adjacency


# --- what it can answer ------------------------------------------------------------------------------------------


def test_a_composition_has_a_curve_only_if_all_its_parts_have():
    kifer = symmetrised(ObjectivePerturbation(30.0, 20.0, bound="kifer2012"))
    assert not kifer.has_rdp
    for call in (lambda: compose(kifer, Gaussian(1.0)), lambda: via_rdp(kifer), lambda: PrivateSelection(kifer, 2.0)):
        with pytest.raises(NotImplementedError, match="no Rényi curve"):
            call()


# --- output perturbation -----------------------------------------------------------------------------------------


def test_output_perturbation_is_the_gaussian_mechanism_in_all_but_name():
    fit, plain = OutputPerturbation(0.5, 0.2, adjacency=REPLACE_ONE), Gaussian(0.5, 0.2, adjacency=REPLACE_ONE)
    assert repeat(fit, 9).epsilon(1e-5) == repeat(plain, 9).epsilon(1e-5)
    assert fit != plain
    assert distance_to_optimality(fit, 1e-5) == 1.0


def test_output_perturbation_asks_for_its_sensitivity():
    with pytest.raises(TypeError, match="sensitivity"):
        OutputPerturbation(0.5)


# --- what it adds to an objective --------------------------------------------------------------------------------


@pytest.mark.parametrize("mechanism", FITS, ids=lambda m: type(m).__name__)
def test_objective_perturbation_adds_a_linear_term_and_lambda(mechanism):
    assert mechanism.perturbs_objective
    drawn = mechanism.perturbation(np.random.default_rng(3), 5)
    assert (drawn.linear == 3.0 * np.random.default_rng(3).standard_normal(5)).all()
    assert drawn.quadratic == 2.0


@pytest.mark.parametrize("mechanism", [*EITHER, DPSGD(1.0, 0.01, 10), via_rdp(FITS[0])], ids=lambda m: type(m).__name__)
def test_what_does_not_perturb_an_objective_says_so(mechanism):
    assert not mechanism.perturbs_objective
    with pytest.raises(NotImplementedError, match=f"{type(mechanism).__name__} does not perturb an objective"):
        mechanism.perturbation(np.random.default_rng(0), 2)
