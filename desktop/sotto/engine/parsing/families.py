"""Model families: how models mark thoughts and tool calls, and how a model's family is recognised.

A chat template tells the model how to call tools, so the marks in the template decide. Without a template, the added
tokens of the vocabulary do: a model that was trained on a format mostly got tokens for it. Names of models are never
used. All marks are from the chat templates and tokenizers that the models were published with.
"""

from collections.abc import Collection
from dataclasses import dataclass

from sotto.engine.parsing import calls, message_dialects, nested_calls, tagged_calls
from sotto.engine.parsing.calls import CallReader
from sotto.engine.parsing.message_format import Dialect


@dataclass(frozen=True, slots=True)
class Thoughts:
    """A pair of tags around a thought.

    Attributes:
        opens: The opening tag.
        closes: The closing tag.
        lines: Whether templates write the tags on separate lines.
        signs: Texts, in a template or among the tokens, that show that a model uses these tags; empty for `opens`.
    """

    opens: str
    closes: str
    lines: bool = True
    signs: tuple[str, ...] = ()

    @property
    def begin(self) -> str:
        """The text that begins a thought."""
        return f"{self.opens}\n" if self.lines else self.opens

    @property
    def end(self) -> str:
        """The text that ends a thought."""
        return f"\n{self.closes}\n\n" if self.lines else self.closes

    @property
    def empty(self) -> str:
        """An empty thought, after which the answer itself begins."""
        return self.begin + self.end


@dataclass(frozen=True, slots=True)
class Calls:
    """A syntax of tool calls.

    Attributes:
        opens: The text with which calls begin.
        read: Reads what follows that.
        signs: Texts, in a template or among the tokens, that show that a model uses this syntax; empty for `opens`.
        marks: Other texts of this syntax that are special tokens in some vocabularies.
        anywhere: Whether it is recognised within code blocks as well, as nobody would write `opens` there.
        first: Whether it is recognised only at the beginning of the answer, and only where there are tools.
    """

    opens: str
    read: CallReader
    signs: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    anywhere: bool = False
    first: bool = False


@dataclass(frozen=True, slots=True)
class Family:
    """How a model marks the parts of its answers.

    Attributes:
        thoughts: Tags around thoughts, the model's own first.
        calls: Syntaxes of tool calls, the most specific to the model last.
        dropped: Marks that are removed from the text.
        thinks: Whether template or vocabulary show that the model thinks.
        messages: The dialect of answers that are a list of messages instead of text with tags; None for tags.
    """

    thoughts: tuple[Thoughts, ...] = ()
    calls: tuple[Calls, ...] = ()
    dropped: tuple[str, ...] = ()
    thinks: bool = False
    messages: Dialect | None = None

    @property
    def marks(self) -> frozenset[str]:
        """All texts that the parser must see even where they are special tokens."""
        if (dialect := self.messages) is not None:
            marks = (*dialect.heads, *dialect.bodies, *dialect.ends, *dialect.marks)
            return frozenset(mark for mark in marks if mark.strip() == mark)
        tags = (tag for pair in self.thoughts for tag in (pair.opens, pair.closes))
        return frozenset(
            (*tags, *self.dropped, *(mark for syntax in self.calls for mark in (syntax.opens, *syntax.marks)))
        )

    def opened_by(self, prompt: str) -> Thoughts | None:
        """Return the thought that the end of a prompt opens; None where it opens none."""
        end = prompt[-64:].rstrip()
        return next((pair for pair in self.thoughts if end.endswith(pair.opens)), None)

    def skip_thought(self, prompt: str) -> str:
        """Return the text to append to a prompt so that the model answers without thinking; empty if none is needed."""
        if self.messages is not None and prompt.endswith(self.messages.opening):
            return self.messages.final
        opened = self.opened_by(prompt)
        return opened.end if opened is not None else ""


# The suffix of Hy3's tags, which its template composes.
_HY3 = ":opensource"

# Tags that many models share; some use them although neither their template nor their vocabulary has them.
_COMMON_THOUGHTS = (
    Thoughts("<think>", "</think>"),
    Thoughts("<thinking>", "</thinking>"),
    Thoughts("<thought>", "</thought>"),
    Thoughts("<reasoning>", "</reasoning>"),
    Thoughts("[THINK]", "[/THINK]", lines=False),
)
_OTHER_THOUGHTS = (
    Thoughts("<seed:think>", "</seed:think>", lines=False),
    Thoughts("<mm:think>", "</mm:think>", lines=False),
    Thoughts("<|channel>thought", "<channel|>"),  # Gemma 4
    Thoughts("<|START_THINKING|>", "<|END_THINKING|>", lines=False),  # Command R
    Thoughts("Here are my reasoning steps:", "[BEGIN FINAL RESPONSE]"),  # Apriel
    Thoughts(f"<think{_HY3}>", f"</think{_HY3}>", lines=False, signs=("<think{}>", f"<think{_HY3}>")),
    Thoughts("<|open|>think<|sep|>", "<|close|>think<|sep|>", lines=False, signs=("<|open|>",)),  # Kimi K3
)
# Marks without meaning, each with the text that shows that a model writes it.
_DROPPED = {
    "<response>": "<response>",  # Granite 3
    "</response>": "</response>",
    "[END FINAL RESPONSE]": "[END FINAL RESPONSE]",
    "<|START_RESPONSE|>": "<|START_RESPONSE|>",
    "<|END_RESPONSE|>": "<|END_RESPONSE|>",
    "<|open|>response<|sep|>": "<|open|>",  # Kimi K3
    "<|close|>response<|sep|>": "<|open|>",
    "<|close|>message<|sep|>": "<|open|>",
    "<|end_of_msg|>": "<|end_of_msg|>",
    "<|message_sep|>": "'function call'",  # GigaChat 3.0
}
# Hermes, Qwen, Granite 4 and many others use JSON; Qwen3-Coder, Nemotron 3 and StepFun functions; GLM pairs.
_COMMON_CALLS = (
    Calls("<tool_call>", tagged_calls.in_tool_call("</tool_call>")),
    Calls("<function_call>", calls.in_json("</function_call>")),
)
_OTHER_CALLS = (
    # Llama 3.1 for custom tools; Functionary 3.1, Qwen3-Coder.
    Calls("<function=", tagged_calls.functions),
    Calls("<|python_tag|>", calls.llama, anywhere=True),
    Calls("{", calls.bare_objects, signs=('"parameters": dictionary of argument name',), first=True),
    Calls("[TOOL_CALLS]", calls.mistral, marks=("[CALL_ID]", "[ARGS]"), anywhere=True),
    # Gemma 4, FunctionGemma, and Gemma 3 prompted as its makers recommend.
    Calls("<|tool_call>", calls.gemma("<tool_call|>"), marks=("<tool_call|>", '<|"|>'), anywhere=True),
    Calls(
        "<start_function_call>",
        calls.gemma("<end_function_call>"),
        marks=("<end_function_call>", "<escape>"),
        anywhere=True,
    ),
    Calls("```tool_code", calls.python("```", listed=False), signs=("<start_of_turn>",)),
    Calls(
        "<｜tool▁calls▁begin｜>",
        calls.deepseek,
        marks=("<｜tool▁calls▁end｜>", "<｜tool▁call▁begin｜>", "<｜tool▁call▁end｜>", "<｜tool▁sep｜>"),
        anywhere=True,
    ),
    *(
        Calls(f"<｜DSML｜{name}>", tagged_calls.invocations("｜DSML｜", f"</｜DSML｜{name}>"), signs=("｜DSML｜",))
        for name in ("function_calls", "tool_calls")
    ),
    # Granite 3, Phi 4 mini.
    Calls("<|tool_call|>", calls.in_json("<|/tool_call|>", optional=True), marks=("<|/tool_call|>",), anywhere=True),
    Calls("functools", calls.in_json(), signs=("functools[",)),  # Phi 4, FireFunction
    Calls(
        "<|tool_calls_section_begin|>",
        calls.kimi,
        marks=(
            "<|tool_calls_section_end|>",
            "<|tool_call_begin|>",
            "<|tool_call_argument_begin|>",
            "<|tool_call_end|>",
        ),
        anywhere=True,
    ),
    Calls("<minimax:tool_call>", tagged_calls.invocations("", "</minimax:tool_call>")),
    Calls("<tool_calls>", calls.in_json("</tool_calls>")),  # MiniMax M1, Apriel
    Calls("<seed:tool_call>", tagged_calls.in_tool_call("</seed:tool_call>")),
    Calls("<TOOLCALL>", calls.in_json("</TOOLCALL>")),  # Nemotron 2
    Calls("<|tools_prefix|>", calls.by_name("<|tools_suffix|>"), marks=("<|tools_suffix|>",), anywhere=True),  # Apertus
    Calls("<|START_ACTION|>", calls.in_json("<|END_ACTION|>"), marks=("<|END_ACTION|>",), anywhere=True),  # Command R
    Calls("<|function_call|>", calls.in_json(), anywhere=True),  # GigaChat 3.1
    Calls(
        "function call<|role_sep|>",  # GigaChat 3.0
        calls.in_json(),
        signs=("'function call'",),
        marks=("<|role_sep|>", "<|message_sep|>"),
        anywhere=True,
    ),
    Calls('<function name="', tagged_calls.parameters),  # MiniCPM 5
    Calls(
        f"<tool_calls{_HY3}>",
        tagged_calls.named_pairs(_HY3),
        signs=("<tool_calls{}>", f"<tool_calls{_HY3}>"),
        marks=tuple(
            f"<{close}{name}{_HY3}>"
            for name in ("tool_calls", "tool_call", "tool_sep", "arg_key", "arg_value")
            for close in ("", "/")
        ),
        anywhere=True,
    ),
    Calls(
        "<|open|>tools<|sep|>",  # Kimi K3
        nested_calls.kimi,
        signs=("<|open|>",),
        marks=("<|open|>", "<|close|>", "<|sep|>"),
        anywhere=True,
    ),
    Calls(
        f"{nested_calls.MINIMAX}<tool_call>",  # MiniMax M3
        nested_calls.minimax,
        signs=(nested_calls.MINIMAX,),
        marks=(nested_calls.MINIMAX, "<tool_call>", "</tool_call>"),
        anywhere=True,
    ),
    Calls("<|tool_call_start|>", calls.python("<|tool_call_end|>", listed=True), marks=("<|tool_call_end|>",)),  # LFM 2
)

HARMONY, GLIMMER, SOLAR = (
    Family((Thoughts(each.thought, each.closing, lines=False),), thinks=True, messages=each)
    for each in (message_dialects.HARMONY, message_dialects.GLIMMER, message_dialects.SOLAR)
)
"""The families of gpt-oss, Muse Glimmer and Solar Open."""
_BY_MESSAGES = (
    (("<|channel|>", "<|message|>"), HARMONY),
    (("to=self<|message|>", "<atem:function_calls>"), GLIMMER),
    (("<|begin|>", "<|think|>", "<|tool_call:begin|>"), SOLAR),
)

PLAIN = Family()
"""Text without marks, for completions of raw prompts."""

STORED = Family(_COMMON_THOUGHTS, _COMMON_CALLS)
"""The form in which answers are stored, see `answer_parts.markup`, and in which older ones were."""


def family_of(template: str, tokens: Collection[str] = ()) -> Family:
    """Return how a model marks the parts of its answers.

    Args:
        template: Its chat template; may be empty.
        tokens: Added tokens of its vocabulary.
    """
    for signs, family in _BY_MESSAGES:
        if all(sign in (template or tokens) for sign in signs):
            return family
    in_template, by_tokens = (_found_in(shown) for shown in (template, tokens))
    # The template goes first, as a vocabulary may have tokens that the model does not use.
    own = in_template if in_template.thoughts else by_tokens
    others = tuple(pair for pair in _COMMON_THOUGHTS if pair not in own.thoughts)
    return Family(
        (*own.thoughts, *others),
        (*_COMMON_CALLS, *(in_template.calls or by_tokens.calls)),
        in_template.dropped or by_tokens.dropped,
        thinks=own.thinks,
    )


def _found_in(shown: str | Collection[str]) -> Family:
    """Return all tags and syntaxes that appear in a template, or among tokens."""
    thoughts = tuple(
        pair
        for pair in (*_OTHER_THOUGHTS, *_COMMON_THOUGHTS)
        if any(sign in shown for sign in pair.signs or (pair.opens,))
    )
    return Family(
        thoughts,
        tuple(syntax for syntax in _OTHER_CALLS if any(sign in shown for sign in syntax.signs or (syntax.opens,))),
        tuple(text for text, sign in _DROPPED.items() if sign in shown),
        thinks=bool(thoughts),
    )
