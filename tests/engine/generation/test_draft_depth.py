"""The depth controller with simulated machines and drafts of known cost and acceptance."""

import random
from itertools import pairwise
from statistics import mean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sotto.engine.generation.draft_depth import Costs, DraftDepth
from thoroughness import examples


class Machine:
    """Simulates rounds; a draft is correct with probability `acceptance(position)` if all drafts before it are."""

    def __init__(self, acceptance, cost, limit=8, seed=0, costs=None):
        self.acceptance, self.cost = acceptance, cost
        self.controller = DraftDepth(limit, costs)
        self.random = random.Random(seed)

    def round(self, available=None, seconds=None):
        available = self.controller.limit if available is None else available
        planned = self.controller.planned(available)
        drafts = self.controller.choose(available)
        assert drafts == planned
        assert 0 <= drafts <= available
        accepted = 0
        while accepted < drafts and self.random.random() < self.acceptance(accepted + 1):
            accepted += 1
        self.controller.observed(min(accepted + 1, drafts), accepted)
        self.controller.costs.took(drafts, self.cost(drafts) if seconds is None else seconds)
        return drafts

    def depths(self, rounds, **options):
        return [self.round(**options) for _ in range(rounds)]


def always(rate):
    return lambda position: rate


def flat(drafts):
    return 1.0


def steep(drafts):
    return 1.0 + drafts


def mostly(depths):
    """Return the most frequent depth; the others are probes."""
    return max(set(depths), key=depths.count)


def best_depth(rate, cost, limit=8):
    def value(depth):
        return sum(rate**position for position in range(depth + 1)) / cost(depth)

    return max(range(limit + 1), key=value)


def test_begins_with_ordinary_steps_until_their_cost_is_known():
    machine = Machine(always(1.0), flat)
    assert machine.depths(4) == [0, 0, 0, 1]


def test_deep_when_more_rows_cost_nothing():
    machine = Machine(always(0.95), flat)
    machine.depths(300)
    assert mostly(machine.depths(100)) == 8


def test_shallow_when_each_row_is_expensive():
    def cost(drafts):
        return 0.4 + 0.7 * max(drafts, 1)

    machine = Machine(always(0.8), cost)
    machine.depths(300)
    assert mostly(machine.depths(200)) == best_depth(0.8, cost) == 1


@pytest.mark.parametrize(("rate", "cost"), [(0.0, flat), (0.02, lambda drafts: 1 + 0.1 * drafts), (0.9, steep)])
def test_no_drafts_when_they_do_not_pay(rate, cost):
    machine = Machine(always(rate), cost)
    machine.depths(300)
    assert mostly(machine.depths(300)) == 0


@examples(40)
@given(
    rate=st.floats(0.05, 0.95), each=st.floats(0.02, 0.6), seeds=st.sets(st.integers(0, 999), min_size=4, max_size=4)
)
def test_near_the_best_depth_on_any_machine(rate, each, seeds):
    def cost(drafts):
        return 1.0 + each * drafts

    def speed(depth):
        return sum(rate**position for position in range(depth + 1)) / cost(depth)

    speeds = []
    for seed in seeds:
        machine = Machine(always(rate), cost, seed=seed)
        machine.depths(600)
        speeds.append(speed(mostly(machine.depths(200))))
    # Acceptance is estimated from a few samples only, so that one in a thousand machines is much slower.
    assert mean(speeds) > 0.85 * speed(best_depth(rate, cost))


def test_climbs_one_step_at_a_time():
    machine = Machine(always(1.0), flat)
    depths = machine.depths(200)
    assert all(after <= max(depths[: place + 1]) + 1 for place, after in enumerate(depths[1:]))
    assert sorted(set(depths)) == list(range(9))
    # A depth is tried only when the previous one is trusted.
    assert all(depths.count(depth) >= 7 for depth in range(1, 8))


def settled(rate=0.9, cost=lambda drafts: 1 + 0.05 * drafts, **options):
    machine = Machine(always(rate), cost, **options)
    machine.depths(500)
    return machine, mostly(machine.depths(50))


@pytest.mark.parametrize("factor", [1000.0, 0.0])
def test_one_stall_does_not_change_the_depth(factor):
    machine = Machine(always(0.9), lambda drafts: {0: 1.0, 1: 1.1, 2: 1.2}.get(drafts, 10.0))
    machine.depths(300)
    assert machine.controller.planned(8) in (2, 3)
    while machine.controller.planned(8) != 2:
        machine.round()
    machine.round(seconds=factor)
    assert mostly(machine.depths(10)) == 2


def test_a_stall_in_the_first_rounds_of_a_depth_is_ignored():
    machine = Machine(always(1.0), flat, limit=1)
    machine.depths(3)
    machine.round(seconds=500.0)
    machine.depths(20)
    assert machine.controller.costs.up_to(1)[1] == 1.0
    assert machine.controller.planned(1) == 1


def test_probes_become_rare_while_they_change_nothing():
    machine = Machine(always(0.0), flat)
    depths = machine.depths(6000)
    probes = [place for place, depth in enumerate(depths) if depth > 0][10:]
    gaps = [after - before for before, after in pairwise(probes)]
    assert gaps == sorted(gaps)
    assert gaps[0] >= 4
    assert gaps[-1] == 512
    assert all(after <= 2 * before for before, after in pairwise(gaps))


def test_probing_restarts_when_the_choice_changes():
    machine = Machine(always(0.0), flat, limit=2)
    machine.depths(3000)
    for _ in range(50):
        machine.controller.observed(1, 1)
    machine.acceptance = lambda position: float(position == 1)
    depths = machine.depths(40)
    # The second position had not been judged before these rounds.
    assert mostly(depths) == 1
    assert 2 <= depths[-20:].count(2) <= 4


def test_follows_drift_of_acceptance_and_of_cost():
    machine, deep = settled()
    assert deep == 8
    machine.acceptance = always(0.0)
    machine.depths(200)
    assert mostly(machine.depths(100)) == 0
    machine.acceptance = always(0.95)
    machine.depths(4000)
    assert mostly(machine.depths(100)) >= 6
    machine.cost = steep
    machine.depths(2000)
    assert mostly(machine.depths(100)) <= 1


def test_accepted_drafts_that_were_not_fed_restore_the_depth_at_once():
    # Drafts that were proposed but not fed are judged by the sampled tokens, so no probe is needed.
    machine = Machine(always(0.0), lambda drafts: 1 + 0.01 * drafts)
    machine.depths(3000)
    assert machine.controller.planned(8) == 0
    for _ in range(30):
        machine.controller.observed(8, 8)
    assert machine.controller.planned(8) > 0


def test_rounds_without_a_proposal_only_measure_the_cost_of_a_step():
    machine = Machine(always(1.0), flat)
    assert machine.depths(50, available=0) == [0] * 50
    assert machine.controller.costs.up_to(0)[0] == 1.0
    assert machine.controller.acceptance == ()
    assert machine.controller._rounds == 0
    assert machine.round() == 1


def test_a_short_proposal_counts_with_its_own_length():
    machine = Machine(always(1.0), flat)
    machine.depths(200, available=2)
    assert machine.controller.costs.measured == (0, 1, 2)
    assert machine.controller.planned(8) == 3
    assert machine.controller.planned(1) == 1
    assert len(machine.controller.acceptance) == 2


def test_an_ordinary_step_right_after_drafts_is_not_measured():
    costs = Costs()
    for _ in range(3):
        costs.took(0, 1.0)
    for _ in range(50):
        costs.took(4, 3.0)
        costs.took(0, 9.0)
    assert costs.up_to(0)[0] == 1.0
    costs.took(0, 2.0)
    assert 1.0 < costs.up_to(0)[0] <= 1.075


def test_costs_are_interpolated_between_measured_depths_and_constant_beyond():
    costs = Costs()
    assert costs.measured == ()
    for drafts, seconds in ((2, 2.0), (6, 4.0)):
        for _ in range(3):
            costs.took(drafts, seconds)
    costs.took(3, None)
    assert costs.measured == (2, 6)
    assert costs.up_to(9) == [2.0, 2.0, 2.0, 2.5, 3.0, 3.5, 4.0, 4.0, 4.0, 4.0]
    assert costs.up_to(1) == [2.0, 2.0]
    assert costs.up_to(3) == [2.0, 2.0, 2.0, 2.5]


@examples(50)
@given(
    rounds=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.floats(0, 100) | st.none()), max_size=200),
    limit=st.integers(0, 8),
)
def test_any_history_gives_a_deterministic_depth_within_bounds(rounds, limit):
    controllers = [DraftDepth(limit) for _ in range(2)]
    for available, accepted, seconds in rounds:
        drafts = [controller.choose(available) for controller in controllers]
        assert drafts[0] == drafts[1] <= min(limit, available)
        for controller in controllers:
            controller.observed(min(accepted + 1, available), min(accepted, available))
            controller.costs.took(drafts[0], seconds)
        assert all(0 <= rate <= 1 for rate in controllers[0].acceptance)


def test_the_gain_is_that_of_the_planned_depth():
    controller = DraftDepth(4)
    assert controller.gain(4) == 1.0
    machine = Machine(always(1.0), flat, limit=4)
    machine.depths(200)
    assert machine.controller.gain(4) == pytest.approx(5.0)
    assert machine.controller.gain(2) == pytest.approx(3.0)
    assert machine.controller.gain(0) == 1.0
    machine = Machine(always(0.0), lambda drafts: 1 + drafts / 2, limit=4)
    machine.depths(30)
    # A probe, which checks whether drafts have begun to pay, has a gain of less than 1.
    gains = {(machine.controller.gain(4) < 1, machine.round() > 0) for _ in range(400)}
    assert (True, True) in gains
    assert (True, False) not in gains
