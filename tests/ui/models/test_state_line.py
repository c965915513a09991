"""The one-line state of a model in the window."""

from sotto.engine.contract.events import ModelInfo
from sotto.ui.models.state_line import state_line
from sotto.ui.state.model_state import ModelState, Phase

INFO = ("0" * 64, "qwen3", "qwen3", 12_000, 10**9, None, "float32", "cpu", True, 0)


def test_a_ready_model_shows_its_context():
    line = state_line(ModelState(Phase.READY, info=ModelInfo(*INFO)))
    assert line == "Ready · 12,000 tokens of context · CPU"


def test_a_head_that_is_used_is_mentioned():
    line = state_line(ModelState(Phase.READY, info=ModelInfo(*INFO, predicts=True)))
    assert line == "Ready · 12,000 tokens of context · CPU · predicts tokens ahead"


def test_a_reduced_context_and_quantized_caches_are_explained():
    info = ModelInfo(*INFO, kv_note="28 of 28 layers hold keys and values in 8 bits", context_note="It is too much.")
    line = state_line(ModelState(Phase.GENERATING, info=info))
    assert line == (
        "Answering · 12,000 tokens of context · CPU · It is too much · 28 of 28 layers hold keys and values in 8 bits"
    )


def test_why_images_are_not_shown_to_a_model_with_a_tower_is_mentioned():
    info = ModelInfo(*INFO, vision_note="The tower does not fit the model.")
    line = state_line(ModelState(Phase.READY, info=info))
    assert line == "Ready · 12,000 tokens of context · CPU · The tower does not fit the model"


def test_ignored_options_are_shown():
    info = ModelInfo(*INFO, options_note="Option num_gqa has no effect here and was ignored.")
    line = state_line(ModelState(Phase.READY, info=info))
    assert line == "Ready · 12,000 tokens of context · CPU · Option num_gqa has no effect here and was ignored"


def test_a_template_that_is_not_the_models_own_is_mentioned():
    info = ModelInfo(*INFO, template_note="It brings no chat template.")
    line = state_line(ModelState(Phase.READY, info=info))
    assert line == "Ready · 12,000 tokens of context · CPU · It brings no chat template"
