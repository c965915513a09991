"""Which models are loaded, which are unloaded for others, and who is served next, on a manual clock."""

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
    """A mock of the engine host that records decisions; tests end loads and unloads explicitly."""

    def __init__(self, **options):
        self.now = 0.0
        self.pins = []
        self.policy = Residents(
            lambda: self.now, lambda record: any(is_same_model(record, pin) for pin in self.pins), **options
        )
        self.decisions = []

    def take(self, decisions):
        self.decisions += decisions
        return decisions

    def want(self, record, **request):
        visit, decisions = self.policy.want(ModelRequest(record, **request))
        self.take(decisions)
        return visit

    def leave(self, visit, **options):
        return self.take(self.policy.leave(visit, **options))

    def end(self, failed=None, context=4096):
        """End the current load or unload."""
        resident = next(resident for resident in self.policy.all if resident.stage is not Stage.READY)
        if resident.stage is Stage.LEAVING:
            return self.take(self.policy.gone(resident.seat))
        if failed is not None:
            return self.take(self.policy.failed(resident.seat, failed))
        return self.take(self.policy.loaded(resident.seat, info_of(resident.request.record, context)))

    def loaded(self, record, **request):
        """Load and visit a model, and leave it again."""
        visit = self.want(record, **request)
        while not any(isinstance(decision, Admit) and decision.visit == visit for decision in self.decisions):
            self.end()
        self.leave(visit)

    @property
    def names(self):
        return [resident.record.name.split(":")[0] for resident in self.policy.all]

    def answers_to(self, visit):
        return [
            decision for decision in self.decisions if isinstance(decision, Admit | Refuse) and decision.visit == visit
        ]

    def pass_time(self, seconds):
        self.now += seconds
        return self.take(self.policy.tick())


def info_of(record, context=4096):
    return ModelInfo(record.digest, record.name, "llama", context, 1, 1, "float32", "cpu", True, 1)


def test_a_second_model_is_loaded_beside_the_first_and_both_are_available():
    desk = Desk()
    desk.loaded(ONE)
    desk.loaded(TWO)
    assert desk.names == ["one", "two"]
    assert [load.roomy for load in desk.decisions if isinstance(load, Load)] == [False, True]
    desk.decisions.clear()
    for wanted in (ONE, TWO):
        desk.want(wanted)
    assert [type(decision) for decision in desk.decisions] == [Admit, Admit]


def test_the_least_recently_used_idle_model_is_unloaded_for_another():
    desk = Desk()
    for number, wanted in enumerate((ONE, TWO, ONE)):
        desk.now = float(number)
        desk.loaded(wanted)
    visit = desk.want(THREE)
    assert [type(decision) for decision in desk.end(SHORT)] == [Unload]
    assert [resident.record for resident in desk.policy.all if resident.stage is Stage.LEAVING] == [TWO]
    (again,) = desk.end()
    assert (again.record, again.roomy) == (THREE, True)
    desk.end()
    assert len(desk.answers_to(visit)) == 1
    assert desk.names == ["one", "three"]


def test_a_model_that_fits_only_alone_gets_a_smaller_context_or_is_refused():
    desk = Desk()
    desk.loaded(ONE)
    visit = desk.want(TWO)
    desk.end(SHORT)
    (last,) = desk.end()
    assert isinstance(last, Load)
    assert not last.roomy
    assert desk.end(SHORT) == [Refuse(visit, SHORT)]


def test_a_forced_load_gets_all_the_memory_that_can_be_freed():
    desk = Desk()
    desk.pins = [TWO]
    for wanted in (ONE, TWO):
        desk.loaded(wanted)
    desk.want(THREE, anyway=True)
    assert isinstance(desk.decisions[-1], Unload)
    (load,) = desk.end()
    assert (load.record, load.roomy) == (THREE, False)
    assert desk.names == ["two", "three"]


def test_pinned_models_are_not_unloaded_for_others_or_when_idle():
    desk = Desk()
    desk.pins = [ONE]
    desk.loaded(ONE, keep_alive=0)
    desk.pass_time(10_000)
    visit = desk.want(TWO)
    assert [decision.roomy for decision in desk.decisions if isinstance(decision, Load)] == [False, False]
    assert desk.end(SHORT) == [Refuse(visit, SHORT)]
    assert desk.names == ["one"]
    # It is unloaded only on explicit request.
    assert desk.take(desk.policy.dismiss(desk.policy.of(ONE).seat)) == [Unload(desk.decisions[0].seat)]


def test_the_model_that_a_person_has_in_view_is_unloaded_last():
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


def test_a_busy_model_is_waited_for_and_admits_only_people_meanwhile():
    desk = Desk()
    first = desk.want(ONE)
    desk.end()
    waiting = desk.want(TWO)
    desk.end(SHORT)
    late = desk.want(ONE)
    assert desk.answers_to(waiting) == desk.answers_to(late) == []
    # A person is served before everyone else who waits.
    person = desk.want(ONE, rank=Rank.CHAT)
    assert len(desk.answers_to(person)) == 1
    desk.leave(person)
    desk.leave(first)
    assert isinstance(desk.decisions[-1], Unload)
    desk.end()
    desk.end()
    assert len(desk.answers_to(waiting)) == 1
    assert desk.answers_to(late) == []
    desk.leave(waiting)
    desk.end()
    assert len(desk.answers_to(late)) == 1


def test_another_context_reloads_the_model_once_it_is_idle():
    desk = Desk()
    first = desk.want(ONE)
    desk.end()
    seat = desk.policy.of(ONE).seat
    other = desk.want(ONE, num_ctx=512)
    same_again = desk.want(ONE)
    any_will_do = desk.want(ONE, num_ctx=4096)
    assert [desk.answers_to(visit) for visit in (other, same_again, any_will_do)] == [[], [], []]
    assert [(decision.seat, decision.num_ctx) for decision in desk.leave(first)] == [(seat, 512)]
    desk.end(context=512)
    assert len(desk.answers_to(other)) == 1
    assert desk.answers_to(same_again) == []
    assert len(desk.answers_to(desk.want(ONE, as_it_is=True))) == 0  # it waits until the earlier visit ends
    desk.leave(other)
    desk.end()
    assert len(desk.answers_to(same_again)) == 1


@pytest.mark.parametrize(("made_for", "next_said"), [(4096, Admit), (16384, Load)])
def test_a_request_for_too_much_context_gets_the_longest_there_can_be(made_for, next_said):
    desk, model = Desk(), record("one:latest", context_length=made_for)
    desk.loaded(model)
    desk.want(model, num_ctx=32768)
    assert isinstance(desk.decisions[-1], next_said)


def test_an_outdated_model_is_reloaded_once_by_the_next_request():
    desk = Desk()
    desk.loaded(ONE)
    desk.policy.outdate(desk.policy.of(ONE).seat)
    desk.want(ONE, as_it_is=True)
    assert isinstance(desk.decisions[-1], Load)
    desk.end()
    assert isinstance(desk.decisions[-1], Admit)
    desk.want(ONE)
    assert isinstance(desk.decisions[-1], Admit)


def test_keep_alive_counts_from_the_last_end_and_holds_until_changed():
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
    # Many clients cannot specify a keep-alive, so the last one that was requested applies to them too.
    desk.loaded(ONE)
    assert desk.pass_time(1e9) == []
    second = desk.want(ONE, keep_alive=0)
    assert [type(decision) for decision in desk.leave(second)] == [Unload]
    desk.end()
    assert desk.policy.all == ()
    # After another load, the default applies again.
    desk.loaded(ONE)
    assert desk.policy.due == desk.now + 300


def test_leaving_during_a_load_keeps_the_model_unless_told_to_stop():
    desk = Desk()
    desk.leave(desk.want(ONE, keep_alive=5))
    assert desk.end() == []
    assert [type(decision) for decision in desk.pass_time(5)] == [Unload]
    desk.end()
    first, second = desk.want(ONE), desk.want(ONE)
    assert desk.leave(first, stop=True) == []
    assert [type(decision) for decision in desk.leave(second, stop=True)] == [CancelLoad]
    # A request that arrives meanwhile is not refused; a load that completes too late is undone and begins again.
    late = desk.want(ONE)
    assert [type(decision) for decision in desk.end()] == [Unload]
    assert [type(decision) for decision in desk.end()] == [Load]
    desk.end()
    assert len(desk.answers_to(late)) == 1


def test_requests_over_the_limit_are_refused_except_those_of_people():
    desk = Desk(max_requests=2)
    visits = [desk.want(ONE), desk.want(TWO)]
    assert desk.answers_to(refused := desk.want(ONE)) == [Refuse(refused, busy=True)]
    assert desk.answers_to(desk.want(ONE, rank=Rank.CHAT)) == []
    desk.end()
    desk.leave(visits[0])
    assert desk.answers_to(desk.want(THREE)) != []
    desk.leave(visits[1])


def test_people_are_served_before_earlier_programs():
    desk = Desk()
    desk.want(ONE)
    desk.want(TWO)
    desk.want(THREE, rank=Rank.CHAT)
    desk.end()
    assert desk.names == ["one", "three"]


def test_a_crash_fails_the_current_load_and_waiting_models_are_loaded():
    desk = Desk()
    desk.loaded(ONE)
    inside = desk.want(ONE)
    loading, waiting = desk.want(TWO), desk.want(THREE)
    lost = Failed("", "The engine's process was ended.", bug=True)
    desk.take(desk.policy.crashed(lost))
    assert desk.answers_to(loading) == [Refuse(loading, lost)]
    assert desk.names == ["three"]
    desk.leave(inside)
    desk.end()
    assert len(desk.answers_to(waiting)) == 1


@pytest.mark.parametrize("at_once", [True, False])
def test_a_dismissed_model_admits_nobody(at_once):
    desk = Desk()
    visit = desk.want(ONE)
    desk.end()
    seat = desk.policy.of(ONE).seat
    assert desk.take(desk.policy.dismiss(seat, at_once=at_once)) == ([Unload(seat)] if at_once else [])
    late = desk.want(ONE)
    desk.leave(visit)
    assert desk.decisions.count(Unload(seat)) == 1
    desk.end()
    desk.end()
    assert len(desk.answers_to(late)) == 1


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
        for decision in decisions:
            if isinstance(decision, Load | Unload):
                self.under_way.append(decision)
            elif isinstance(decision, CancelLoad):
                self.stopped.add(decision.seat)
            if isinstance(decision, Unload):
                resident = self.desk.policy.resident(decision.seat)
                busy = resident.visits and decision.seat not in self.ejected
                assert not busy, "a busy model is unloaded"
                pinned = any(is_same_model(resident.record, pin) for pin in self.desk.pins)
                assert not pinned or resident.dismissed or decision.seat in self.ejected, "a pinned model is unloaded"
            if isinstance(decision, Admit):
                assert self.desk.policy.resident(decision.resident.seat).info is not None
                assert decision.resident.seat in self.held
            if isinstance(decision, Refuse):
                self.open.pop(decision.visit, None)
                assert not decision.busy or len(self.open) >= 6, "a request is refused although there are not too many"
        seats = {decision.seat for decision in self.desk.policy.all}
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
        assert not [
            resident for resident in self.desk.policy.all if resident.idle and self.desk.policy.expires(resident) <= now
        ]

    @precondition(lambda self: self.desk.policy.all)
    @rule(chance=st.randoms(use_true_random=False), at_once=st.booleans())
    def dismiss(self, chance, at_once):
        seat = chance.choice([resident.seat for resident in self.desk.policy.all])
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
    def each_request_is_answered_at_most_once(self):
        visits = [decision.visit for decision in self.desk.decisions if isinstance(decision, Admit | Refuse)]
        assert len(visits) == len(set(visits))

    @invariant()
    def nobody_waits_without_cause(self):
        policy = self.desk.policy
        busy = any(resident.visits for resident in policy.all)
        assert self.under_way or busy or not policy.waiting

    @invariant()
    def no_model_is_loaded_twice(self):
        records = [resident.record.digest for resident in self.desk.policy.all]
        assert len(records) == len(set(records))

    def teardown(self):
        """Check that waiting requests are answered once the others end, and that only models kept forever remain."""
        for _ in range(200):
            policy = self.desk.policy
            if self.under_way:
                self.engine_answers(broken=1)
            elif inside := [visit for visit in self.open if self.desk.answers_to(visit)]:
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
        assert all(resident.keep_alive == FOREVER for resident in policy.all)


Machine.TestCase.settings = examples(100, stateful_step_count=40)
TestResidents = Machine.TestCase
