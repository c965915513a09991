"""What the window says in a line."""

from sotto.engine.contract.events import ModelInfo
from sotto.ui.models.state_line import state_line
from sotto.ui.state.model_state import ModelState, Phase

INFO = ("0" * 64, "qwen3", "qwen3", 12_000, 10**9, None, "float32", "cpu", True, 0)


def test_a_model_that_is_ready_says_with_how_much_context():
    line = state_line(ModelState(Phase.READY, info=ModelInfo(*INFO)))
    assert line == "Ready · 12,000 tokens of context · CPU"


def test_why_there_is_less_context_and_what_is_held_in_few_bits_is_said():
    info = ModelInfo(*INFO, kv_note="28 of 28 layers hold keys and values in 8 bits", context_note="It is too much.")
    line = state_line(ModelState(Phase.GENERATING, info=info))
    assert line == (
        "Answering · 12,000 tokens of context · CPU · It is too much · 28 of 28 layers hold keys and values in 8 bits"
    )


def test_which_options_of_a_model_are_not_followed_is_said():
    info = ModelInfo(*INFO, options_note="Option num_gqa has no effect here and was ignored.")
    line = state_line(ModelState(Phase.READY, info=info))
    assert line == "Ready · 12,000 tokens of context · CPU · Option num_gqa has no effect here and was ignored"


def test_what_makes_the_prompts_is_said_where_that_is_no_template_of_the_models_own():
    info = ModelInfo(*INFO, template_note="It brings no chat template.")
    line = state_line(ModelState(Phase.READY, info=info))
    assert line == "Ready · 12,000 tokens of context · CPU · It brings no chat template"
