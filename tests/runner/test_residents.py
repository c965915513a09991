"""Which models are loaded, which are unloaded for others, and whose turn it is, with a manual clock."""

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from scripted_loop import record
from sotto.engine.contract.events import Failed, ModelInfo
from sotto.runner.commands import CancelLoad, Load, Unload
from sotto.runner.residents import (
    FOREVER,
    Admit,
    ModelRequest,
    Rank,
    Refuse,
    Residents,
    Stage,
    is_same_model,
)
from thoroughness import examples

ONE, TWO, THREE = (record(f"{name}:latest") for name in ("one", "two", "three"))
SHORT = Failed("", "With 4,096 tokens it takes more than there is.", shortage=True)


class Desk:
    """A mock of the engines' host that records decisions, and ends loads when a test says so."""

    def __init__(self, **options):
        self.now = 0.0
        self.pins = []
        self.policy = Residents(
            lambda: self.now, lambda record: any(is_same_model(record, one) for one in self.pins), **options
        )
        self.said = []

    def take(self, decisions):
        self.said += decisions
        return decisions

    def want(self, record, **request):
        visit, decisions = self.policy.want(ModelRequest(record, **request))
        self.take(decisions)
        return visit

    def leave(self, visit, **options):
        return self.take(self.policy.leave(visit, **options))

    def end(self, failed=None, context=4096):
        """End the current load or unload."""
        resident = next(one for one in self.policy.all if one.stage is not Stage.READY)
        if resident.stage is Stage.LEAVING:
            return self.take(self.policy.gone(resident.seat))
        if failed is not None:
            return self.take(self.policy.failed(resident.seat, failed))
        return self.take(self.policy.loaded(resident.seat, info_of(resident.request.record, context)))

    def loaded(self, record, **request):
        """Load and visit a model, and leave it again."""
        visit = self.want(record, **request)
        while not any(isinstance(one, Admit) and one.visit == visit for one in self.said):
            self.end()
        self.leave(visit)

    @property
    def names(self):
        return [one.record.name.split(":")[0] for one in self.policy.all]

    def told(self, visit):
        return [one for one in self.said if isinstance(one, Admit | Refuse) and one.visit == visit]

    def pass_time(self, seconds):
        self.now += seconds
        return self.take(self.policy.tick())


def info_of(record, context=4096):
    return ModelInfo(record.digest, record.name, "llama", context, 1, 1, "float32", "cpu", True, 1)


def test_a_second_model_is_loaded_beside_the_first_and_both_are_entered_at_once():
    desk = Desk()
    desk.loaded(ONE)
    desk.loaded(TWO)
    assert desk.names == ["one", "two"]
    assert [load.roomy for load in desk.said if isinstance(load, Load)] == [False, True]
    desk.said.clear()
    for wanted in (ONE, TWO):
        desk.want(wanted)
    assert [type(one) for one in desk.said] == [Admit, Admit]


def test_where_it_does_not_fit_the_idle_one_that_was_used_least_recently_leaves():
    desk = Desk()
    for number, wanted in enumerate((ONE, TWO, ONE)):
        desk.now = float(number)
        desk.loaded(wanted)
    visit = desk.want(THREE)
    assert [type(one) for one in desk.end(SHORT)] == [Unload]
    assert [one.record for one in desk.policy.all if one.stage is Stage.LEAVING] == [TWO]
    (again,) = desk.end()
    assert (again.record, again.roomy) == (THREE, True)
    desk.end()
    assert len(desk.told(visit)) == 1
    assert desk.names == ["one", "three"]


def test_what_fits_beside_nobody_is_loaded_with_the_context_there_is_room_for_or_refused():
    desk = Desk()
    desk.loaded(ONE)
    visit = desk.want(TWO)
    desk.end(SHORT)
    (last,) = desk.end()
    assert isinstance(last, Load)
    assert not last.roomy
    assert desk.end(SHORT) == [Refuse(visit, SHORT)]


def test_what_is_loaded_whether_it_fits_or_not_has_all_the_memory_there_can_be():
    desk = Desk()
    desk.pins = [TWO]
    for wanted in (ONE, TWO):
        desk.loaded(wanted)
    desk.want(THREE, anyway=True)
    assert isinstance(desk.said[-1], Unload)
    (load,) = desk.end()
    assert (load.record, load.roomy) == (THREE, False)
    assert desk.names == ["two", "three"]


def test_pinned_models_never_leave_for_others_nor_with_time():
    desk = Desk()
    desk.pins = [ONE]
    desk.loaded(ONE, keep_alive=0)
    desk.pass_time(10_000)
    visit = desk.want(TWO)
    assert [one.roomy for one in desk.said if isinstance(one, Load)] == [False, False]
    assert desk.end(SHORT) == [Refuse(visit, SHORT)]
    assert desk.names == ["one"]
    # Only on explicit request.
    assert desk.take(desk.policy.dismiss(desk.policy.of(ONE).seat)) == [Unload(desk.said[0].seat)]


def test_the_model_that_a_person_has_in_view_goes_last_and_stays_until_then():
    desk = Desk()
    desk.loaded(ONE, keep_alive=5)
    desk.policy.choose(desk.policy.of(ONE).seat)
    desk.pass_time(100)
    desk.loaded(TWO)
    desk.want(THREE)
    desk.end(SHORT)
    desk.end()
    desk.end(SHORT)
    assert desk.names == ["one"]
    desk.end()
    assert desk.policy.chosen == ""


def test_a_busy_model_is_waited_for_and_takes_nobody_in_meanwhile_but_others_do():
    desk = Desk()
    first = desk.want(ONE)
    desk.end()
    waiting = desk.want(TWO)
    desk.end(SHORT)
    late = desk.want(ONE)
    assert desk.told(waiting) == desk.told(late) == []
    # The user goes before everyone else who waits.
    person = desk.want(ONE, rank=Rank.CHAT)
    assert len(desk.told(person)) == 1
    desk.leave(person)
    desk.leave(first)
    assert isinstance(desk.said[-1], Unload)
    desk.end()
    desk.end()
    assert len(desk.told(waiting)) == 1
    assert desk.told(late) == []
    desk.leave(waiting)
    desk.end()
    assert len(desk.told(late)) == 1


def test_another_context_reloads_in_place_once_nobody_asks_anything():
    desk = Desk()
    first = desk.want(ONE)
    desk.end()
    seat = desk.policy.of(ONE).seat
    other = desk.want(ONE, num_ctx=512)
    same_again = desk.want(ONE)
    any_will_do = desk.want(ONE, num_ctx=4096)
    assert [desk.told(one) for one in (other, same_again, any_will_do)] == [[], [], []]
    assert [(one.seat, one.num_ctx) for one in desk.leave(first)] == [(seat, 512)]
    desk.end(context=512)
    assert len(desk.told(other)) == 1
    assert desk.told(same_again) == []
    assert len(desk.told(desk.want(ONE, as_it_is=True))) == 0  # another visitor waits for it to be left
    desk.leave(other)
    desk.end()
    assert len(desk.told(same_again)) == 1


@pytest.mark.parametrize(("made_for", "next_said"), [(4096, Admit), (16384, Load)])
def test_who_asks_for_more_context_than_there_can_be_is_served_by_all_there_is(made_for, next_said):
    desk, model = Desk(), record("one:latest", context_length=made_for)
    desk.loaded(model)
    desk.want(model, num_ctx=32768)
    assert isinstance(desk.said[-1], next_said)


def test_what_is_outdated_is_loaded_anew_for_whoever_comes_next_and_once():
    desk = Desk()
    desk.loaded(ONE)
    desk.policy.outdate(desk.policy.of(ONE).seat)
    desk.want(ONE, as_it_is=True)
    assert isinstance(desk.said[-1], Load)
    desk.end()
    assert isinstance(desk.said[-1], Admit)
    desk.want(ONE)
    assert isinstance(desk.said[-1], Admit)


def test_keep_alive_counts_from_the_last_end_and_holds_until_a_wish_says_otherwise():
    desk = Desk(keep_alive=300.0)
    visit = desk.want(ONE, keep_alive=10)
    desk.end()
    desk.pass_time(100)
    assert desk.policy.due == FOREVER
    desk.leave(visit)
    assert desk.policy.due == 110
    assert desk.pass_time(9) == []
    desk.loaded(ONE)
    assert desk.policy.due == 119
    desk.loaded(ONE, keep_alive=FOREVER)
    # Many clients cannot specify it, so the context that another one requested applies to them too.
    desk.loaded(ONE)
    assert desk.pass_time(1e9) == []
    second = desk.want(ONE, keep_alive=0)
    assert [type(one) for one in desk.leave(second)] == [Unload]
    desk.end()
    assert desk.policy.all == ()
    # After it is loaded again, it stays loaded as usual.
    desk.loaded(ONE)
    assert desk.policy.due == desk.now + 300


def test_whoever_leaves_while_a_model_is_loaded_leaves_it_to_its_time_unless_it_is_to_stop():
    desk = Desk()
    desk.leave(desk.want(ONE, keep_alive=5))
    assert desk.end() == []
    assert [type(one) for one in desk.pass_time(5)] == [Unload]
    desk.end()
    first, second = desk.want(ONE), desk.want(ONE)
    assert desk.leave(first, stop=True) == []
    assert [type(one) for one in desk.leave(second, stop=True)] == [CancelLoad]
    # A visitor who arrives meanwhile is not refused too; if the load completes too late, the model is unloaded again.
    late = desk.want(ONE)
    assert [type(one) for one in desk.end()] == [Unload]
    assert [type(one) for one in desk.end()] == [Load]
    desk.end()
    assert len(desk.told(late)) == 1


def test_programs_beyond_the_limit_are_refused_and_people_are_not():
    desk = Desk(max_requests=2)
    visits = [desk.want(ONE), desk.want(TWO)]
    assert desk.told(refused := desk.want(ONE)) == [Refuse(refused, busy=True)]
    assert desk.told(desk.want(ONE, rank=Rank.CHAT)) == []
    desk.end()
    desk.leave(visits[0])
    assert desk.told(desk.want(THREE)) != []
    desk.leave(visits[1])


def test_people_are_served_before_programs_that_came_earlier():
    desk = Desk()
    desk.want(ONE)
    desk.want(TWO)
    desk.want(THREE, rank=Rank.CHAT)
    desk.end()
    assert desk.names == ["one", "three"]


def test_a_crash_fails_what_was_being_loaded_and_the_others_are_loaded_anew():
    desk = Desk()
    desk.loaded(ONE)
    inside = desk.want(ONE)
    loading, waiting = desk.want(TWO), desk.want(THREE)
    lost = Failed("", "The engine's process was ended.", bug=True)
    desk.take(desk.policy.crashed(lost))
    assert desk.told(loading) == [Refuse(loading, lost)]
    assert desk.names == ["three"]
    desk.leave(inside)
    desk.end()
    assert len(desk.told(waiting)) == 1


@pytest.mark.parametrize("at_once", [True, False])
def test_a_model_that_is_dismissed_takes_nobody_in(at_once):
    desk = Desk()
    visit = desk.want(ONE)
    desk.end()
    seat = desk.policy.of(ONE).seat
    assert desk.take(desk.policy.dismiss(seat, at_once=at_once)) == ([Unload(seat)] if at_once else [])
    late = desk.want(ONE)
    desk.leave(visit)
    assert desk.said.count(Unload(seat)) == 1
    desk.end()
    desk.end()
    assert len(desk.told(late)) == 1


class Machine(RuleBasedStateMachine):
    """Random requests, ends, cancellations and crashes on an engine with limited memory."""

    def __init__(self):
        super().__init__()
        self.desk = Desk(max_requests=6, keep_alive=20.0)
        self.open = {}
        self.under_way = []
        self.stopped, self.ejected = set(), set()
        self.held = {}

    @initialize(memory=st.integers(3, 7))
    def begin(self, memory):
        self.memory = memory

    def obey(self, decisions):
        """Carry out decisions as an engine does, with loads and unloads in a queue."""
        for one in decisions:
            if isinstance(one, Load | Unload):
                self.under_way.append(one)
            elif isinstance(one, CancelLoad):
                self.stopped.add(one.seat)
            if isinstance(one, Unload):
                resident = self.desk.policy.resident(one.seat)
                busy = resident.visits and one.seat not in self.ejected
                assert not busy, "a busy model is told to leave"
                pinned = any(is_same_model(resident.record, pin) for pin in self.desk.pins)
                assert not pinned or resident.dismissed or one.seat in self.ejected, "a pinned model is told to leave"
            if isinstance(one, Admit):
                assert self.desk.policy.resident(one.resident.seat).info is not None
                assert one.resident.seat in self.held
            if isinstance(one, Refuse):
                self.open.pop(one.visit, None)
                assert not one.busy or len(self.open) >= 6, "one is refused, and there are not too many"
        seats = {one.seat for one in self.desk.policy.all}
        assert seats >= self.held.keys()

    @rule(
        record=st.sampled_from([ONE, TWO, THREE]),
        num_ctx=st.sampled_from([None, None, 512]),
        keep_alive=st.sampled_from([None, 0.0, 5.0, FOREVER]),
        rank=st.sampled_from(Rank),
        as_it_is=st.booleans(),
    )
    def want(self, record, **request):
        visit, decisions = self.desk.policy.want(ModelRequest(record, **request))
        self.open[visit] = record
        self.obey(self.desk.take(decisions))

    @precondition(lambda self: self.open)
    @rule(chance=st.randoms(use_true_random=False), stop=st.booleans())
    def leave(self, chance, stop):
        visit = chance.choice(sorted(self.open))
        del self.open[visit]
        self.obey(self.desk.leave(visit, stop=stop))

    @precondition(lambda self: self.under_way)
    @rule(broken=st.integers(0, 9))
    def engine_answers(self, broken):
        done = self.under_way.pop(0)
        policy = self.desk.policy
        self.held.pop(done.seat, None)
        if isinstance(done, Unload):
            self.ejected.discard(done.seat)
            return self.obey(self.desk.take(policy.gone(done.seat)))
        if done.seat in self.stopped:
            self.stopped.discard(done.seat)
            return self.obey(self.desk.take(policy.gone(done.seat)))
        if broken == 0:
            return self.obey(self.desk.take(policy.failed(done.seat, Failed("", "The weights are damaged."))))
        size = {ONE: 1, TWO: 2, THREE: 4}[done.record]
        if size + sum(self.held.values()) > self.memory:
            shortage = size <= self.memory
            return self.obey(self.desk.take(policy.failed(done.seat, Failed("", "Too large.", shortage=shortage))))
        self.held[done.seat] = size
        return self.obey(self.desk.take(policy.loaded(done.seat, info_of(done.record))))

    @rule(seconds=st.sampled_from([0.0, 1.0, 30.0]))
    def time_passes(self, seconds):
        self.obey(self.desk.pass_time(seconds))
        now = self.desk.now
        assert not [one for one in self.desk.policy.all if one.idle and self.desk.policy.expires(one) <= now]

    @precondition(lambda self: self.desk.policy.all)
    @rule(chance=st.randoms(use_true_random=False), at_once=st.booleans())
    def dismiss(self, chance, at_once):
        seat = chance.choice([one.seat for one in self.desk.policy.all])
        if at_once:
            self.ejected.add(seat)
        self.obey(self.desk.take(self.desk.policy.dismiss(seat, at_once=at_once)))

    @rule(pins=st.lists(st.sampled_from([ONE, TWO]), max_size=2))
    def pin(self, pins):
        self.desk.pins = pins

    @precondition(lambda self: self.held)
    @rule(chance=st.randoms(use_true_random=False))
    def choose(self, chance):
        self.obey(self.desk.take(self.desk.policy.choose(chance.choice(sorted(self.held)))))

    @rule()
    def crash(self):
        self.under_way.clear()
        self.held.clear()
        self.stopped.clear()
        self.ejected.clear()
        self.obey(self.desk.take(self.desk.policy.crashed(Failed("", "It is gone.", bug=True))))

    @invariant()
    def each_wish_is_answered_once_at_most(self):
        told = [one.visit for one in self.desk.said if isinstance(one, Admit | Refuse)]
        assert len(told) == len(set(told))

    @invariant()
    def nobody_waits_for_nothing(self):
        policy = self.desk.policy
        busy = any(one.visits for one in policy.all)
        assert self.under_way or busy or not policy.waiting

    @invariant()
    def one_model_is_there_once(self):
        records = [one.record.digest for one in self.desk.policy.all]
        assert len(records) == len(set(records))

    def teardown(self):
        """Everyone who still waits is answered once the others leave, and only pinned models remain loaded."""
        for _ in range(200):
            policy = self.desk.policy
            if self.under_way:
                self.engine_answers(broken=1)
            elif inside := [visit for visit in self.open if self.desk.told(visit)]:
                del self.open[inside[0]]
                self.obey(self.desk.leave(inside[0]))
            else:
                break
        assert not self.open
        assert policy.waiting == 0
        self.desk.pins = []
        self.obey(self.desk.take(policy.choose("")))
        self.desk.now += 1e9
        self.obey(self.desk.take(policy.tick()))
        while self.under_way:
            self.engine_answers(broken=1)
        assert all(one.keep_alive == FOREVER for one in policy.all)


Machine.TestCase.settings = examples(100, stateful_step_count=40)
TestResidents = Machine.TestCase
