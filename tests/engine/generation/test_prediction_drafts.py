"""Speculative decoding with the head that a model brings along."""

import logging
from functools import cache, partial

import mlx.core as mx
import pytest
from mlx.utils import tree_map_with_path

from checkpoints import load_folder
from generating import GREEDY, PLENTY, Always, Free, finished, run, task
from places import REFERENCES
from sotto.engine.caches.caches import make_caches
from sotto.engine.caches.prefix_cache import PrefixCache
from sotto.engine.contract.requests import SamplingOptions
from sotto.engine.generation.draft_depth import Costs, DraftDepth
from sotto.engine.generation.prediction_drafts import PredictionDrafts
from sotto.engine.generation.speculation import LookupDepths
from sotto.engine.generation.speculator import Speculator
from thoroughness import some

CASES = sorted(path.name for path in REFERENCES.iterdir() if path.name.endswith("-mtp"))
PROMPT = [(13 * index) % 61 for index in range(45)]
SAMPLED = SamplingOptions(seed=5, temperature=1.5)
cases = pytest.mark.parametrize("case", some(CASES, 2))


@cache
def model_of(case):
    return load_folder(REFERENCES / case).model


@cache
def agreeing(case):
    """Return a model in which each token alone decides on the next one, and whose head knows as much."""
    model = load_folder(REFERENCES / case).model
    width = model.mtp.fc.weight.shape[0]

    def change(path, weight):
        if path.endswith(("o_proj.weight", "out_proj.weight", "down_proj.weight")):
            return mx.zeros_like(weight)
        if path == "mtp.fc.weight":
            return mx.concatenate([mx.eye(width), mx.zeros((width, width))], axis=1)
        return mx.ones_like(weight) if "norm" in path else weight

    model.update(tree_map_with_path(change, model.parameters()))
    return model


def empty(model, budget=PLENTY):
    return PrefixCache(partial(make_caches, model), budget)


def head_of(model, limit=4, depths=None):
    drafts = PredictionDrafts(model, limit)
    drafts.depths = depths or Always(limit)
    return drafts


def answers(model, *tasks, drafts=None, prefix=None, **more):
    speculator = Speculator(LookupDepths(0), drafts) if drafts else None
    return run("", prefix or empty(model), *tasks, model=model, ahead=0.0, speculator=speculator, **more)


def answer(model, *arguments, drafts=None, prefix=None, **options):
    return finished(answers(model, task(PROMPT, *arguments, **options), drafts=drafts, prefix=prefix))


@cases
@pytest.mark.parametrize("sampling", [GREEDY, SAMPLED, SamplingOptions(seed=6, repeat_penalty=1.3)])
def test_a_head_does_not_change_the_answer(case, sampling):
    model = model_of(case)
    found = answer(model, 40, sampling=sampling, drafts=head_of(model))
    assert found.token_ids == answer(model, 40, sampling=sampling).token_ids
    assert found.drafted_tokens >= 100


@cases
@pytest.mark.parametrize("sampling", [GREEDY, SAMPLED])
def test_what_a_good_head_proposes_is_accepted(case, sampling):
    model = agreeing(case)
    found = answer(model, 41, sampling=sampling, drafts=head_of(model))
    assert found.token_ids == answer(model, 41, sampling=sampling).token_ids
    assert found.accepted_tokens == found.drafted_tokens >= 30


@cases
def test_a_later_answer_continues_from_the_caches_of_an_earlier_one(case):
    model = agreeing(case)
    prefix, drafts = empty(model), head_of(model)
    first = answer(model, 20, drafts=drafts, prefix=prefix)
    longer = task([*PROMPT, *first.token_ids, 7, 8, 9], 20)
    found = finished(answers(model, longer, drafts=drafts, prefix=prefix))
    assert found.cached_tokens >= len(PROMPT)
    assert found.token_ids == finished(answers(model, longer)).token_ids
    assert found.accepted_tokens >= 12


@cases
def test_branches_share_what_the_head_has_computed(case):
    model = agreeing(case)
    prefix, drafts = empty(model), head_of(model)
    answer(model, 20, drafts=drafts, prefix=prefix, boundaries=(30,))
    branch = task([*PROMPT[:30], 1, 2, 3, 4], 20, boundaries=(30,))
    found = finished(answers(model, branch, drafts=drafts, prefix=prefix))
    assert found.cached_tokens == 30
    assert found.token_ids == finished(answers(model, branch)).token_ids
    assert found.accepted_tokens >= 12


@pytest.mark.parametrize("case", ["glm4-moe-mtp", "qwen3-5-mtp"])
def test_answers_that_share_steps_go_on_with_drafts_once_they_are_alone(case):
    model = agreeing(case)
    short, long = task(PROMPT, 10, request_id="a"), task(PROMPT[:30], 50, request_id="b")
    events = answers(model, short, long, drafts=head_of(model), batches=True)
    assert finished(events, "a").token_ids == answer(model, 10).token_ids
    assert finished(events, "b").token_ids == finished(answers(model, long), "b").token_ids
    assert finished(events, "b").accepted_tokens >= 20


@pytest.mark.parametrize("case", ["glm4-moe-mtp", "qwen3-5-mtp"])
def test_an_answer_that_ends_between_drafts(case):
    model = agreeing(case)
    whole = answer(model, 30).token_ids
    end = whole[13]
    found = answer(model, 30, drafts=head_of(model), eos_ids=(end,))
    assert found.token_ids == answer(model, 30, eos_ids=(end,)).token_ids


class TestDepth:
    def test_it_grows_while_the_head_is_right(self):
        model = agreeing("glm4-moe-mtp")
        drafts = head_of(model, 8, DraftDepth(8, Free()))
        answer(model, 400, drafts=drafts)
        assert drafts.depths.planned(8) == 8

    def test_nothing_is_proposed_where_it_does_not_pay(self):
        class Dear(Costs):
            measured = tuple(range(9))

            def took(self, drafts, seconds):
                pass

            def up_to(self, drafts):
                return [1.0 + 0.2 * number for number in range(drafts + 1)]

        model = model_of("glm4-moe-mtp")
        drafts = head_of(model, 8, DraftDepth(8, Dear()))
        found = answer(model, 300, drafts=drafts)
        assert drafts.depths.planned(8) == 0
        assert found.drafted_tokens < 60


class TestFailures:
    class Failing:
        def __init__(self, model, failing):
            self._model, self._failing, self.calls = model, failing, 0

        def predict(self, *arguments):
            self.calls += 1
            found = self._model.predict(*arguments)
            if self.calls == self._failing:
                raise RuntimeError("[metal] something went wrong")
            return found

    def test_an_answer_goes_on_without_a_head_that_fails(self, caplog):
        model = agreeing("qwen3-5-mtp")
        failing = self.Failing(model, 6)
        with caplog.at_level(logging.WARNING):
            found = answer(model, 40, drafts=head_of(failing))
        assert found.token_ids == answer(model, 40).token_ids
        assert failing.calls == 6
        assert "Drafts by the prediction head failed" in caplog.text
