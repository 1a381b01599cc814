"""Events of dp_accounting, read and written."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from dp_accounting import NeighboringRelation
from dp_accounting import dp_event as google
from dp_accounting.pld import PLDAccountant
from dp_accounting.rdp import RdpAccountant

import objpert_core.accounting as acc
from objpert_core.accounting.mechanisms import event_forms
from objpert_core.accounting.mechanisms.events import DEEPEST, FORMAT, MOST_EVENTS, MOST_STEPS

NOISE = google.GaussianDpEvent(4.0)
SAMPLED = google.PoissonSampledDpEvent(0.1, NOISE)


def of_gaussian(mechanism):
    """The same as one Gaussian release, which is what comes back."""
    a = mechanism.mu()
    return (
        acc.Gaussian(1 / a)
        if mechanism.adjacency == acc.ADD_REMOVE
        else acc.Gaussian(2 / a, 2.0, adjacency=acc.REPLACE_ONE)
    )


STEPS, TURNED = acc.DPSGD(1.1, 0.01, 300), acc.DPSGD(1.1, 0.01, 300, adjacency=acc.REPLACE_ONE)
SAME = [
    acc.Gaussian(4.0),
    acc.Gaussian(4.0, 2.0, adjacency=acc.REPLACE_ONE),
    STEPS,
    TURNED,
    acc.DPSGD(1.5, 0.1, 5, group_size=3),
    acc.repeat(acc.Gaussian(10.0), 7),
    acc.compose(acc.Gaussian(10.0), STEPS),
    acc.compose(acc.Gaussian(10.0, 2.0, adjacency=acc.REPLACE_ONE), TURNED),
]
FIT = acc.ObjectivePerturbation(5, 50)
GAUSSIAN = [acc.Gaussian(3.0, 0.5), FIT, acc.symmetrised(FIT), acc.replace_one(acc.ObjectivePerturbation(4, 32))]


@pytest.mark.parametrize(
    ("mechanism", "back"), [(one, one) for one in SAME] + [(one, of_gaussian(one)) for one in GAUSSIAN], ids=str
)
def test_there_and_back_in_every_form(mechanism, back):
    event = mechanism.to_dp_event(mechanism.adjacency)
    assert acc.from_dp_event(event, mechanism.adjacency) == back
    named = event.to_named_tuple()
    assert acc.from_dp_event(named, mechanism.adjacency) == back
    assert acc.from_dp_event(json.loads(json.dumps(named)), mechanism.adjacency) == back
    assert acc.read_dp_events(acc.write_dp_events(mechanism)) == back


def test_gaussian_noise_comes_back_as_no_more_than_it_was():
    for sensitivity in np.geomspace(1e-3, 1e3, 200):
        for adjacency in (acc.ADD_REMOVE, acc.REPLACE_ONE):
            one = acc.Gaussian(1.0, float(sensitivity), adjacency=adjacency)
            back = acc.read_dp_events(acc.write_dp_events(one))
            assert one.gaussian_ratio <= back.gaussian_ratio <= one.gaussian_ratio * (1 + 4e-16)


@pytest.mark.parametrize("form", [acc.ADD_REMOVE, "ADD_OR_REMOVE_ONE", NeighboringRelation.ADD_OR_REMOVE_ONE])
def test_the_relation_may_be_named_in_three_ways(form):
    assert acc.from_dp_event(NOISE, form) == acc.Gaussian(4.0)


def test_replaced_rows_move_a_sum_by_twice_the_norm():
    assert acc.from_dp_event(NOISE, NeighboringRelation.REPLACE_ONE) == acc.Gaussian(
        4.0, 2.0, adjacency=acc.REPLACE_ONE
    )
    without = google.SampledWithoutReplacementDpEvent(100, 10, NOISE)
    several = google.SelfComposedDpEvent(google.SampledWithReplacementDpEvent(100, 10, NOISE), 3)
    assert acc.from_dp_event(without, acc.REPLACE_ONE) == acc.SampledWithoutReplacement(4.0, 10, 100, 1)
    assert acc.from_dp_event(several, acc.REPLACE_ONE) == acc.SampledWithReplacement(4.0, 10, 100, 3)


def test_counts_multiply_and_equal_parts_are_added_up():
    nested = google.SelfComposedDpEvent(google.SelfComposedDpEvent(SAMPLED, 3), 5)
    assert acc.from_dp_event(google.ComposedDpEvent([nested, SAMPLED])) == acc.DPSGD(4.0, 0.1, 16)
    mixed = google.SelfComposedDpEvent(google.ComposedDpEvent([NOISE, SAMPLED, google.NoOpDpEvent()]), 2)
    assert acc.from_dp_event(mixed) == acc.compose(acc.repeat(acc.Gaussian(4.0), 2), acc.DPSGD(4.0, 0.1, 2))
    assert acc.from_dp_event(google.ComposedDpEvent([google.SelfComposedDpEvent(SAMPLED, 0), NOISE])) == acc.Gaussian(
        4.0
    )


def test_several_gaussian_events_on_one_sample_count_as_one():
    both = google.ComposedDpEvent([google.GaussianDpEvent(3.0), google.GaussianDpEvent(4.0)])
    step = acc.from_dp_event(google.PoissonSampledDpEvent(0.1, both))
    assert step.noise_multiplier == pytest.approx(2.4, rel=1e-15)
    assert step.noise_multiplier <= 2.4
    with pytest.raises(ValueError, match="one Gaussian event"):
        acc.from_dp_event(google.PoissonSampledDpEvent(0.1, both), acc.REPLACE_ONE)


def test_zero_concentrated_and_selected_events():
    concentrated = acc.from_dp_event(google.ZCDpEvent(0.02))
    assert concentrated.rdp(3.0) == pytest.approx(0.06, rel=1e-15)
    assert concentrated.rdp(3.0) >= 0.06
    best = google.RepeatAndSelectDpEvent(NOISE, 10.0, math.inf)
    assert acc.from_dp_event(best) == acc.PrivateSelection(acc.Gaussian(4.0), 10.0)
    assert acc.from_dp_event(google.RepeatAndSelectDpEvent(NOISE, 10.0, 1.0)) == acc.PrivateSelection(
        acc.Gaussian(4.0), 10.0, 1.0
    )


def test_zero_concentrated_privacy_is_not_taken_for_gaussian_noise():
    """ε-DP is ε²/2-zCDP, and randomised response with ε = 1 has a larger δ at 0 than the noise with that curve."""
    one = acc.from_dp_event(google.ZCDpEvent(0.5))
    response = math.tanh(0.5)
    assert acc.Gaussian(1.0).delta(0.0) < response < one.delta(0.0)
    assert one.mu() == math.inf
    assert one.rho() == pytest.approx(0.5, rel=1e-15)
    assert one.lower_bound is None
    for whole in (one, acc.compose(one, acc.Gaussian(5.0)), acc.replace_one(one)):
        assert acc.from_dp_event(whole.to_dp_event(cover=True)).rdp(2.0) == pytest.approx(whole.rdp(2.0), rel=1e-14)
        assert not PLDAccountant().supports(whole.to_dp_event(cover=True))


def test_noise_on_one_sample_and_of_a_mixture_is_rounded_down():
    draw = np.random.default_rng(0)
    for noises in draw.uniform(0.1, 100.0, (200, 3)).tolist():
        both = google.ComposedDpEvent([google.GaussianDpEvent(noise) for noise in noises])
        step = acc.from_dp_event(google.PoissonSampledDpEvent(0.1, both))
        squared = sum(1 / Fraction(noise) ** 2 for noise in noises)
        assert squared <= 1 / Fraction(step.noise_multiplier) ** 2 <= squared * (1 + Fraction(1, 10**15) * 2)
        moved, noise, _ = noises
        row = acc.from_dp_event(google.MixtureOfGaussiansDpEvent(noise, [0.0, moved], [0.9, 0.1]))
        assert Fraction(row.noise_multiplier) * Fraction(moved) <= Fraction(noise)


TOGETHER = google.ComposedDpEvent([NOISE, google.SelfComposedDpEvent(google.PoissonSampledDpEvent(0.2, NOISE), 20)])
ROWS = google.MixtureOfGaussiansDpEvent(2.0, [0.0, 0.5, 1.0], [0.81, 0.18, 0.01])


@pytest.mark.slow
@pytest.mark.parametrize(
    "event", [NOISE, TOGETHER, google.SelfComposedDpEvent(ROWS, 5)], ids=["noise", "together", "several rows"]
)
@pytest.mark.parametrize("relation", [NeighboringRelation.ADD_OR_REMOVE_ONE, NeighboringRelation.REPLACE_ONE])
def test_both_say_the_same_of_an_event(event, relation):
    theirs = PLDAccountant(relation)
    if not theirs.supports(event):
        with pytest.raises(ValueError, match="adjacency must be 'add/remove one row' for a mixture"):
            acc.from_dp_event(event, relation)
        return
    theirs.compose(event)
    mechanism = acc.from_dp_event(event, relation)
    ours = mechanism.epsilon(1e-5)
    assert ours == pytest.approx(theirs.get_epsilon(1e-5), rel=2e-3)
    optimistic = mechanism.pld(1e-3, pessimistic=False)  # what the truth is at least
    assert optimistic.delta(ours * (1 - 1e-2)) > 1e-5
    assert optimistic.delta(ours) <= 1e-5 * (1 + 1e-9)


def test_renyi_curves_are_theirs_at_whole_orders_and_below_theirs_for_selections():
    orders = [2, 8, 32]
    for event in (TOGETHER, google.ZCDpEvent(0.02)):
        theirs = RdpAccountant(orders=orders).compose(event)
        np.testing.assert_allclose(acc.from_dp_event(event).rdp(orders), theirs._rdp, rtol=1e-6)
    best = google.RepeatAndSelectDpEvent(NOISE, 10.0, math.inf)
    assert (acc.from_dp_event(best).rdp(orders) <= RdpAccountant(orders=orders).compose(best)._rdp * (1 + 1e-9)).all()


@pytest.mark.thorough
def test_their_renyi_accountant_promises_too_little_where_rows_are_replaced():
    """Why events of replaced rows are for `PLDAccountant`, as the documentation says."""
    theirs = RdpAccountant(orders=[8], neighboring_relation=NeighboringRelation.REPLACE_ONE).compose(NOISE)
    assert theirs._rdp[0] * 4 == pytest.approx(acc.from_dp_event(NOISE, acc.REPLACE_ONE).rdp(8.0))
    event, at = google.GaussianDpEvent(2.0), NeighboringRelation.REPLACE_ONE
    assert RdpAccountant(neighboring_relation=at).compose(event).get_epsilon(1e-5) == pytest.approx(2.17, abs=0.005)
    assert PLDAccountant(at).compose(event).get_epsilon(1e-5) == pytest.approx(4.38, abs=0.005)


# --- covers ---------------------------------------------------------------------------------------------------------


def test_a_cover_is_an_upper_bound_and_the_exact_parts_stay_exact():
    fit = acc.ObjectivePerturbation(8, 10)
    with pytest.raises(NotImplementedError, match="no event for ObjectivePerturbation"):
        acc.write_dp_events(acc.compose(fit, STEPS))
    covered = acc.read_dp_events(acc.write_dp_events(acc.compose(fit, STEPS), cover=True))
    assert covered.parts[1] == (STEPS, 1)
    (noise, _), _ = covered.parts
    assert fit.epsilon(1e-5) < noise.epsilon(1e-5) < 1.1 * fit.epsilon(1e-5)
    epsilon = np.linspace(0.25, 2.0, 8)  # near 0 the bound's own δ is above its pair's (T20)
    assert (noise.delta(epsilon) >= fit.delta(epsilon)).all()
    with pytest.raises(NotImplementedError, match="No Gaussian noise is known to cover it"):
        acc.PrivateSelection(acc.Gaussian(4.0), 3.0).to_dp_event(cover=True)


def test_an_event_is_for_neighbours_that_the_mechanism_is_about():
    with pytest.raises(ValueError, match="adjacency must be 'add/remove one row' for this mechanism"):
        STEPS.to_dp_event(acc.REPLACE_ONE)
    with pytest.raises(NotImplementedError, match="'replace one row' only"):
        TURNED.to_dp_event(acc.ADD_REMOVE)
    with pytest.raises(NotImplementedError, match="batches of a fixed size"):
        acc.SampledWithoutReplacement(4.0, 10, 100, 5).to_dp_event()
    turned = acc.compose(acc.Gaussian(4.0, adjacency=acc.REPLACE_ONE), TURNED).to_dp_event()
    assert turned.events[0].noise_multiplier == 8.0


# --- what is refused ------------------------------------------------------------------------------------------------


def nested(levels, event=NOISE):
    for _ in range(levels):
        event = google.SelfComposedDpEvent(event, 1)
    return event


def doubled(times):
    event = NOISE
    for _ in range(times):
        event = google.ComposedDpEvent([event, event])
    return event


def plain(name, **fields):
    return {"class_name": name, **fields}


@pytest.mark.parametrize(
    ("event", "why"),
    [
        (google.LaplaceDpEvent(1.0), "got LaplaceDpEvent: .*Tabulated.from_dp_accounting"),
        (google.SelfComposedDpEvent(google.NonPrivateDpEvent(), 2), "got NonPrivateDpEvent: it is not private"),
        (google.UnsupportedDpEvent(), "nothing is known"),
        (google.DiscreteLaplaceDpEvent(1.0, 1), "got DiscreteLaplaceDpEvent"),
        (google.RandomizedResponseDpEvent(0.5, 2), "got RandomizedResponseDpEvent"),
        (google.SingleEpochTreeAggregationDpEvent(1.0, 3), "got SingleEpochTreeAggregationDpEvent"),
        (google.TruncatedSubsampledGaussianDpEvent(10, 0.5, 5, 1.0), "got TruncatedSubsampledGaussianDpEvent"),
        (google.NoOpDpEvent(), "must release something"),
        (google.ZCDpEvent(0.0), "must release something"),
        (google.RepeatAndSelectDpEvent(google.NoOpDpEvent(), 3.0, 1.0), "must release something"),
        (google.PoissonSampledDpEvent(0.0, NOISE), "must release something"),
        (google.PoissonSampledDpEvent(0.5, google.LaplaceDpEvent(1.0)), "got LaplaceDpEvent"),
        (google.PoissonSampledDpEvent(0.5, SAMPLED), "PoissonSampledDpEvent: event must be Gaussian events"),
        (google.PoissonSampledDpEvent(1.5, NOISE), "sampling_probability must be a number from 0 to 1, got 1.5"),
        (google.PoissonSampledDpEvent([0.1, 0.2], NOISE), "sampling_probability must be a finite number >= 0"),
        (google.GaussianDpEvent(0.0), "GaussianDpEvent: noise_multiplier must be .*> 0, got 0.0"),
        (google.GaussianDpEvent(math.nan), "noise_multiplier must be .*got nan"),
        (google.GaussianDpEvent(True), "noise_multiplier must be .*got True"),
        (google.GaussianDpEvent("4"), "noise_multiplier must be .*got '4'"),
        (google.SelfComposedDpEvent(NOISE, 2.0), "count must be a whole number >= 0, got 2.0"),
        (google.SelfComposedDpEvent(NOISE, -1), "count must be a whole number >= 0"),
        (google.SelfComposedDpEvent(NOISE, MOST_STEPS + 1), "count must be a whole number from 1 to"),
        (google.ComposedDpEvent([google.SelfComposedDpEvent(NOISE, MOST_STEPS)] * 2), "count must be"),
        (google.ComposedDpEvent("NOISE"), "events must be a list"),
        (google.SampledWithoutReplacementDpEvent(10, 5, NOISE), "'replace one row' for batches of a fixed size"),
        (google.MixtureOfGaussiansDpEvent(1.0, [0.0, 1.0], [0.5, 0.4]), "several rows of one person"),
        (google.MixtureOfGaussiansDpEvent(1.0, [0.0, 1.0, 3.0], [0.25, 0.5, 0.25]), "several rows of one person"),
        (google.MixtureOfGaussiansDpEvent(1.0, [0.0, [1.0]], [0.5, 0.5]), "a list of numbers"),
        (google.ZCDpEvent(0.1, 0.1), "xi must be 0"),
        (google.RepeatAndSelectDpEvent(NOISE, 0.5, 1.0), "RepeatAndSelectDpEvent: mean_runs must be"),
        (nested(DEEPEST + 1), f"at most {DEEPEST} levels"),
        (doubled(40), f"at most {MOST_EVENTS:,} events"),
        (plain("GaussianDpEvent", noise_multiplier=1.0, kept=2.0), "no fields but .*got 'kept'"),
        (plain("GaussianDpEvent"), "must have the field 'noise_multiplier'"),
        (plain("HiddenDpEvent"), "must be an event of dp_accounting, got 'HiddenDpEvent'"),
        (plain("GaussianDpEvent", module_name="os", noise_multiplier=1.0), "must be an event of dp_accounting"),
        (plain(["GaussianDpEvent"]), "must be an event of dp_accounting"),
        (["dp_accounting.dp_event", "GaussianDpEvent", 1.0, 2.0], "got 'number 2'"),
        ([], "must be an event of dp_accounting, got list"),
        (3, "must be an event of dp_accounting, got 'int'"),
        ("GaussianDpEvent", "must be an event of dp_accounting"),
        (None, "must be an event of dp_accounting"),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else "event",  # the text of one may be endless
)
def test_what_cannot_be_read_is_refused_with_one_sentence(event, why):
    with pytest.raises(ValueError, match=why) as refused:
        acc.from_dp_event(event)
    assert len(str(refused.value)) <= 300
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("relation", [NeighboringRelation.REPLACE_SPECIAL, "REPLACE_SPECIAL", "swap", None, 2])
def test_other_neighbours_are_not_guessed(relation):
    with pytest.raises(ValueError, match="adjacency must"):
        acc.from_dp_event(NOISE, relation)


def document(**changes):
    known = {"format": FORMAT, "neighboring_relation": "ADD_OR_REMOVE_ONE", "event": plain("NoOpDpEvent")}
    return json.dumps({key: value for key, value in (known | changes).items() if value is not None})


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "complete JSON"),
        (document()[:-1] + ', "event": ["dp_accounting.dp_event", "GaussianDpEvent", 1000.0]}', "names no key twice"),
        ("[" * 100_000, "complete JSON"),
        ("[]", "must be a document"),
        (document(format="other"), "must be a document"),
        (document(event=None), "must be a document"),
        (document(neighboring_relation=None), 'must name its "neighboring_relation"'),
        (document(neighboring_relation="REPLACE_SPECIAL"), "REPLACE_SPECIAL"),
        (document(neighboring_relation=[1]), "adjacency must be one of"),
        (document(event=plain("GaussianDpEvent", noise_multiplier=math.nan)), "got nan"),
        (document(event=plain("GaussianDpEvent", noise_multiplier=10**400)), "noise_multiplier must be"),
        (document(event=[plain("NoOpDpEvent")] * 3), "must be an event of dp_accounting"),
        ('{"a":' * 20_000, "complete JSON"),
        (" " * 1_000_001, "at most 1,000,000 characters"),
        (b"{}", "must be JSON, got"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_damaged_documents_are_refused_with_one_sentence(text, why):
    with pytest.raises(ValueError, match=why) as refused:
        acc.read_dp_events(text)
    assert len(str(refused.value)) <= 300


def test_the_fields_are_those_of_the_installed_dp_accounting():
    import attr

    kinds = [kind for kind in vars(google).values() if isinstance(kind, type)]
    events = {kind for kind in kinds if issubclass(kind, google.DpEvent)} - {google.DpEvent}
    assert {kind.__name__: tuple(field.name for field in attr.fields(kind)) for kind in events} == event_forms.FIELDS
